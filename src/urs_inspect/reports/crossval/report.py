"""The typed report of a cross-validation: everything that its tables, files and figures show."""

import math
from dataclasses import dataclass

from urs_inspect.stats import Estimate
from urs_inspect.stats.crossval import SelfPreference

ALL = "all"
"""In place of one source of references or one model: all of them, each with the same weight."""


@dataclass(frozen=True)
class Conditions:
    """What logs must have in common to be read as one grid.

    Attributes:
        dataset: Name of the data.
        dataset_sha256: Its hash.
        cases: Number of cases.
        cases_sha256: Hash of their ids.
        folds: Number of parts of the cases.
        rubric: Name and version of the rubric.
        rubric_sha256: Its hash.
        prompts_sha256: Hash of all prompts without their material.
        reference_score: What a reference is worth.
        task_version: Version of the task, its number.
    """

    dataset: str
    dataset_sha256: str
    cases: int
    cases_sha256: str
    folds: int
    rubric: str
    rubric_sha256: str
    prompts_sha256: str
    reference_score: float
    task_version: str


@dataclass(frozen=True)
class Cell:
    """The judgements of one evaluator about one model, with references from one source.

    Attributes:
        evaluator: The judge.
        source: The model that the references are by, or `dataset`.
        model: The model whose answers are judged.
        mean: Mean final score, 1 to 10, with its interval over cases.
        folds: Mean of each fold; NaN for one without a score.
        fold_mean: Mean of these means.
        fold_deviation: Their standard deviation, which is that of parts of the cases and not the error of the mean.
        outcomes: How the judging ended, with counts; `missing` for judgements that no log has.
        unscored: Judgements without a score, `missing` ones among them.
    """

    evaluator: str
    source: str
    model: str
    mean: Estimate
    folds: tuple[float, ...]
    fold_mean: float
    fold_deviation: float
    outcomes: dict[str, int]
    unscored: int


@dataclass(frozen=True)
class Bias:
    """Rating bias of an evaluator (URS paper, Equation 1).

    Attributes:
        evaluator: The judge.
        bias: Over all models that are both tested and a source of references.
        by_model: Of each of them; NaN where the evaluator gave it no score.
    """

    evaluator: str
    bias: Estimate
    by_model: dict[str, Estimate]


@dataclass(frozen=True)
class Preference:
    """How an evaluator rates its own answers.

    Attributes:
        evaluator: The judge, which is also a tested model.
        source: Source of the references, or `all`.
        others: The other evaluators.
        result: The differences.
        p_holm: `result.p` after Holm's correction over all evaluators, sources and sets of runs of the report.
        p_beyond_holm: The same of `result.p_beyond`.
    """

    evaluator: str
    source: str
    others: tuple[str, ...]
    result: SelfPreference
    p_holm: float = math.nan
    p_beyond_holm: float = math.nan


@dataclass(frozen=True)
class Gap:
    """Two models in one setting.

    Attributes:
        first: The one with the higher mean.
        second: The other.
        difference: Mean of the paired differences, at least 0, with its interval over cases.
        p: Two-sided p-value of no difference, 0 to 1.
        p_holm: The same after Holm's correction over all pairs and settings of the grid.
        apart: Whether `p_holm` is below 1 less the level.
    """

    first: str
    second: str
    difference: Estimate
    p: float
    p_holm: float
    apart: bool


@dataclass(frozen=True)
class SettingOrder:
    """The order of the models in one setting, over the cases on which all of them have a score.

    Attributes:
        evaluator: The judge.
        source: Source of the references.
        models: The models, the best first.
        means: Their means, in that order.
        share: Share of resamples of the cases that give this order, 0 to 1.
        cases: Number of the cases.
        gaps: Every two models, in that order.
    """

    evaluator: str
    source: str
    models: tuple[str, ...]
    means: tuple[float, ...]
    share: float
    cases: int
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class Reversal:
    """Two models that do not come in the same order in all settings.

    Attributes:
        first: The one that comes first in the first setting.
        second: The other.
        ahead: In how many settings `first` comes first.
        ahead_apart: In how many of these the two can be told apart.
        behind: In how many settings `second` comes first.
        behind_apart: In how many of these the two can be told apart.
    """

    first: str
    second: str
    ahead: int
    ahead_apart: int
    behind: int
    behind_apart: int


@dataclass(frozen=True)
class Grid:
    """Judgements that can be read together.

    Attributes:
        conditions: What their logs have in common.
        apart_because: Why they do not stand with the first grid; empty for the first.
        evaluators: The judges, in the order in which logs name them.
        sources: The sources of references, likewise.
        models: The tested models, the best by the mean over all settings first.
        cells: Every cell that a log has, evaluators first, then sources, then models.
        biases: Rating bias of each evaluator; empty if no model is both tested and a source.
        preferences: Self-preference of each evaluator that is also tested, by source and over all.
        orders: The order of the models in each setting.
        reversals: Pairs of models whose order changes; empty if it is the same in all settings.
        copies: Model -> how many of its answers are word for word its references; judgements of these, which are about
            one output and not two, are left out of biases and preferences.
        notes: What else a reader must know, a sentence each.
    """

    conditions: Conditions
    apart_because: tuple[str, ...]
    evaluators: tuple[str, ...]
    sources: tuple[str, ...]
    models: tuple[str, ...]
    cells: tuple[Cell, ...]
    biases: tuple[Bias, ...]
    preferences: tuple[Preference, ...]
    orders: tuple[SettingOrder, ...]
    reversals: tuple[Reversal, ...]
    copies: dict[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class JudgedAnswers:
    """Self-preference in ordinary runs, whose answers several judges have judged.

    Attributes:
        dataset: Name of the data.
        references: Where the reference answers come from; empty for those of the data.
        rubric: Name and version of the rubric.
        prompts: First digits of a hash over the prompts.
        judges: The judges.
        models: The models whose answers they judged.
        questions: Number of questions.
        preferences: Self-preference of each judge that is also among the models.
        notes: What else a reader must know, a sentence each.
    """

    dataset: str
    references: str
    rubric: str
    prompts: str
    judges: tuple[str, ...]
    models: tuple[str, ...]
    questions: int
    preferences: tuple[Preference, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CrossvalReport:
    """A report.

    Attributes:
        grids: Judgements that can be read together, the largest grid first.
        judged: Self-preference in ordinary runs.
        logs: Names of the logs.
        left_out: What was left out and why, a sentence each, with counts.
        simulated: Whether any model is a simulation.
        level: Confidence level of all intervals, 0 to 1.
        rounds: Rounds of the bootstrap.
        seed: Its seed.
        command: The command that made the report.
    """

    grids: tuple[Grid, ...]
    judged: tuple[JudgedAnswers, ...]
    logs: tuple[str, ...]
    left_out: tuple[str, ...]
    simulated: bool
    level: float
    rounds: int
    seed: int
    command: str
