"""Statistics: intervals, agreement, and how good a judge is.

Plain Python and numpy, usable from a script.
"""

from urs_inspect.stats._agreement import interval_alpha
from urs_inspect.stats._battles import Battle, Battles, battles_of
from urs_inspect.stats._bootstrap import Estimate, Resampling, mean_interval
from urs_inspect.stats._bradley_terry import fit_bradley_terry
from urs_inspect.stats._correlation import (
    CorrelationDifferences,
    Correlations,
    correlate,
    correlation_difference,
)
from urs_inspect.stats._elo import fit_elo
from urs_inspect.stats._means import (
    Margin,
    MeanColumn,
    MeanDraws,
    bootstrap_means,
    clustered_mean,
    mean_estimates,
    raking,
)
from urs_inspect.stats._measures import (
    BASELINES,
    JudgeMeasures,
    Verdicts,
    baseline_verdicts,
    correctness,
    encode,
    longer_response,
    measure,
)
from urs_inspect.stats._paired import MeanDifference, compare_means, holm, rank_intervals
from urs_inspect.stats._ranking import LeaderboardAgreement, Ranking, compare_leaderboard, rank

__all__ = [
    "BASELINES",
    "Battle",
    "Battles",
    "CorrelationDifferences",
    "Correlations",
    "Estimate",
    "JudgeMeasures",
    "LeaderboardAgreement",
    "Margin",
    "MeanColumn",
    "MeanDifference",
    "MeanDraws",
    "Ranking",
    "Resampling",
    "Verdicts",
    "baseline_verdicts",
    "battles_of",
    "bootstrap_means",
    "clustered_mean",
    "compare_leaderboard",
    "compare_means",
    "correctness",
    "correlate",
    "correlation_difference",
    "encode",
    "fit_bradley_terry",
    "fit_elo",
    "holm",
    "interval_alpha",
    "longer_response",
    "mean_estimates",
    "mean_interval",
    "measure",
    "raking",
    "rank",
    "rank_intervals",
]
