"""Statistics: intervals and agreement. Plain Python and numpy, usable from a script."""

from urs_inspect.rating.agreement import interval_alpha
from urs_inspect.rating.intervals import MeanInterval, mean_interval, pooled_deviation

__all__ = ["MeanInterval", "interval_alpha", "mean_interval", "pooled_deviation"]
