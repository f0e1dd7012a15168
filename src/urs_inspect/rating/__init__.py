"""Statistics: intervals, agreement, and how good a judge is. Plain Python and numpy, usable from a script."""

from urs_inspect.rating.accuracies import accuracies, group_accuracies
from urs_inspect.rating.agreement import interval_alpha
from urs_inspect.rating.baselines import BASELINES, Baseline, baseline_verdicts
from urs_inspect.rating.battles import OUTCOMES, WINNERS, Battle, Battles, battles_of, outcome_of
from urs_inspect.rating.bootstrap import (
    Estimate,
    bootstrap_counts,
    bootstrap_statistic,
    cluster_counts,
    number_clusters,
)
from urs_inspect.rating.bradley_terry import PRIOR, bootstrap_bradley_terry, fit_bradley_terry
from urs_inspect.rating.connectivity import Connectivity, connectivity_of
from urs_inspect.rating.correlations import CorrelationDifferences, Correlations, correlate, correlation_difference
from urs_inspect.rating.elo import bootstrap_elo, fit_elo, shuffle_elo
from urs_inspect.rating.intervals import MeanInterval, mean_interval, pooled_deviation, student_interval
from urs_inspect.rating.leaderboard import LeaderboardAgreement, compare_leaderboard
from urs_inspect.rating.mean_columns import MeanColumn, MeanDraws, bootstrap_means, mean_estimates
from urs_inspect.rating.means import clustered_mean
from urs_inspect.rating.measures import JudgeMeasures, measure
from urs_inspect.rating.paired import PairedComparison, compare, holm, mcnemar, sign_flip
from urs_inspect.rating.paired_means import (
    MeanDifference,
    all_pairs,
    compare_means,
    difference_column,
    mean_differences,
    rank_intervals,
    worst_p_values,
)
from urs_inspect.rating.raking import Margin, effective_number, raking
from urs_inspect.rating.rank_correlation import rank_correlation
from urs_inspect.rating.ranking import Difference, Ranking, rank
from urs_inspect.rating.ranks import Rank
from urs_inspect.rating.verdicts import (
    TIE,
    UNREAD,
    A,
    B,
    Codes,
    Verdicts,
    combine_orders,
    correctness,
    encode,
    longer_response,
)
from urs_inspect.rating.win_rates import WinRates, win_rates_of

__all__ = [
    "BASELINES",
    "OUTCOMES",
    "PRIOR",
    "TIE",
    "UNREAD",
    "WINNERS",
    "A",
    "B",
    "Baseline",
    "Battle",
    "Battles",
    "Codes",
    "Connectivity",
    "CorrelationDifferences",
    "Correlations",
    "Difference",
    "Estimate",
    "JudgeMeasures",
    "LeaderboardAgreement",
    "Margin",
    "MeanColumn",
    "MeanDifference",
    "MeanDraws",
    "MeanInterval",
    "PairedComparison",
    "Rank",
    "Ranking",
    "Verdicts",
    "WinRates",
    "accuracies",
    "all_pairs",
    "baseline_verdicts",
    "battles_of",
    "bootstrap_bradley_terry",
    "bootstrap_counts",
    "bootstrap_elo",
    "bootstrap_means",
    "bootstrap_statistic",
    "cluster_counts",
    "clustered_mean",
    "combine_orders",
    "compare",
    "compare_leaderboard",
    "compare_means",
    "connectivity_of",
    "correctness",
    "correlate",
    "correlation_difference",
    "difference_column",
    "effective_number",
    "encode",
    "fit_bradley_terry",
    "fit_elo",
    "group_accuracies",
    "holm",
    "interval_alpha",
    "longer_response",
    "mcnemar",
    "mean_differences",
    "mean_estimates",
    "mean_interval",
    "measure",
    "number_clusters",
    "outcome_of",
    "pooled_deviation",
    "raking",
    "rank",
    "rank_correlation",
    "rank_intervals",
    "shuffle_elo",
    "sign_flip",
    "student_interval",
    "win_rates_of",
    "worst_p_values",
]
