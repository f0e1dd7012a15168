"""What a run will take, before it is paid for."""

from urs_inspect.reports.estimate.actual import BOTH, Actual, ActualUse, read_actual
from urs_inspect.reports.estimate.amount import Amount
from urs_inspect.reports.estimate.crossval import estimate_crossval
from urs_inspect.reports.estimate.lengths import Lengths, assumed_lengths
from urs_inspect.reports.estimate.measured_lengths import measured_lengths
from urs_inspect.reports.estimate.prices import Prices, load_prices
from urs_inspect.reports.estimate.roles import RoleEstimate, RunEstimate
from urs_inspect.reports.estimate.run import estimate_pairs, estimate_urs
from urs_inspect.reports.estimate.tokens import TokenCounter, load_counter

__all__ = [
    "BOTH",
    "Actual",
    "ActualUse",
    "Amount",
    "Lengths",
    "Prices",
    "RoleEstimate",
    "RunEstimate",
    "TokenCounter",
    "assumed_lengths",
    "estimate_crossval",
    "estimate_pairs",
    "estimate_urs",
    "load_counter",
    "load_prices",
    "measured_lengths",
    "read_actual",
]
