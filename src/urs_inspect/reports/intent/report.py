"""The typed report: everything that its page, tables and files show."""

from dataclasses import dataclass
from typing import Literal

from urs_inspect.stats import Estimate

Verdict = Literal[
    "significant",
    "not distinguishable",
    "depends on unscored answers",
    "not significant over all questions",
    "not comparable",
]
"""What a comparison says: the first model is significantly better, whatever the missing scores are; nothing; it would
be significant if the missing scores were like the others; it is significant over the common questions, but not over all
that were asked, though neither model lacks a score; or there is no question to compare the models on."""
UNSCORED_ALERT = 0.02
"""Share of answers without a score above which a report draws attention to it."""


@dataclass(frozen=True)
class Conditions:
    """What must be equal for two models to stand in one ranking.

    Attributes:
        judges: The judges, in order; of a panel all.
        dataset: Name of the data.
        dataset_sha256: Its hash; empty if the log does not say.
        rubric: Name and version of the rubric.
        prompts: First digits of a hash over the prompts of all intents and judge languages that occur.
        references: Where the reference answers come from; empty for those of the data.
        task_version: Version of the task.
        task: Name of the task.
    """

    judges: tuple[str, ...]
    dataset: str
    dataset_sha256: str
    rubric: str
    prompts: str
    references: str
    task_version: str
    task: str = "urs_inspect/urs"


@dataclass(frozen=True)
class Usage:
    """Tokens, money and time of a model's answers that count, all together.

    Where a number is known of some answers only, their mean stands for the others.

    Attributes:
        input_tokens: Tokens sent to the model under test; NaN if not known of any answer, here and below.
        output_tokens: Tokens that it gave, reasoning included.
        judge_input_tokens: Tokens sent to the judges.
        judge_output_tokens: Tokens that they gave.
        cost: US dollars of the model under test.
        judge_cost: US dollars of the judges.
        seconds: Working time of all samples, one after the other.
    """

    input_tokens: float
    output_tokens: float
    judge_input_tokens: float
    judge_output_tokens: float
    cost: float
    judge_cost: float
    seconds: float


@dataclass(frozen=True)
class LengthBin:
    """Answers of about one length.

    Attributes:
        length: Median length, in characters.
        score: Mean final score, 1 to 10.
        answers: Number of answers.
    """

    length: float
    score: float
    answers: int


@dataclass(frozen=True)
class Lengths:
    """Length of a model's answers against their scores.

    Attributes:
        median: Median length, in characters; NaN if not known.
        correlation: Spearman's rho of length and final score over questions, -1 to 1.
        bins: Answers from the shortest to the longest in up to ten equal parts.
    """

    median: float
    correlation: Estimate
    bins: tuple[LengthBin, ...]


@dataclass(frozen=True)
class ModelReport:
    """What a block says about one model. Means are of the final score, 1 to 10, over questions.

    Means and intervals are over the questions for which every ranked model has a score, so that those of two models
    compare.

    Attributes:
        model: Its name.
        simulated: Whether it, or a judge, is a simulation.
        all: Over all these questions.
        by_group: For each reported intent.
        by_part: For each intent that shares its reported group with another one, as API does in URS.
        by_language: For each language.
        by_group_and_language: For each cell.
        by_country: For each country that is shown; empty if the cases have none.
        by_criterion: For each criterion, the mean of its own score.
        ranks: First and last rank that it may have: 1 + the number of models that are significantly better, and the
            number of ranked models less those that are significantly worse; None if it is not ranked.
        unscored_share: Share of its answers without a score, 0 to 1.
        mean_scored: Mean over all questions that it has a score for.
        mean_lowest: Mean over all questions it was asked if each missing score were 1.
        mean_highest: The same if each were 10.
        questions: Questions for which it has a score.
        answers: Answers to the questions of the block, epochs included.
        epochs: Most answers to one question.
        outcomes: How their judging ended, with counts.
        unscored: Answers without a score, for whatever reason.
        empty: Empty answers, which have the lowest score.
        errors: Samples that ended in an error before they were judged.
        self_judged: Share of the scored answers that the model judged itself, 0 to 1; NaN without scores.
        epoch_deviation: Standard deviation between epochs of one question, pooled, of answers and judge together; NaN
            with one epoch.
        judge_deviation: Standard deviation between judgements of one answer by the same judges, pooled; NaN if no
            answer was judged twice.
        lengths: Length against score.
        usage: Tokens, money and time.
        log: Name of its log, or of its logs, joined by a comma.
    """

    model: str
    simulated: bool
    all: Estimate
    by_group: dict[str, Estimate]
    by_part: dict[str, Estimate]
    by_language: dict[str, Estimate]
    by_group_and_language: dict[tuple[str, str], Estimate]
    by_country: dict[str, Estimate]
    by_criterion: dict[str, Estimate]
    ranks: tuple[int, int] | None
    unscored_share: float
    mean_scored: float
    mean_lowest: float
    mean_highest: float
    questions: int
    answers: int
    epochs: int
    outcomes: dict[str, int]
    unscored: int
    empty: int
    errors: int
    self_judged: float
    epoch_deviation: float
    judge_deviation: float
    lengths: Lengths
    usage: Usage
    log: str


@dataclass(frozen=True)
class PairedDifference:
    """Two models on the same questions.

    Attributes:
        first: The one with the higher mean.
        second: The other.
        difference: Mean of the paired differences of final scores, first less second, with its interval.
        p: Two-sided bootstrap p-value of no difference, 0 to 1; NaN where nothing can be tested.
        p_holm: The same after Holm's correction over all pairs, or over the comparisons with the best of a column.
        p_worst: The same if each missing score of the first were 1 and each of the second 10.
        verdict: What this says.
        depends_on: The models of the pair that lack scores, with the number of answers without one, if the verdict
            depends on them; else empty.
        questions: Questions that both are compared on.
    """

    first: str
    second: str
    difference: Estimate
    p: float
    p_holm: float
    p_worst: float
    verdict: Verdict
    depends_on: dict[str, int]
    questions: int

    @property
    def significant(self) -> bool:
        """Whether the first model is significantly better."""
        return self.verdict == "significant"


@dataclass(frozen=True)
class Best:
    """The best model of a column, and what can be said about the others.

    Attributes:
        model: The one with the highest mean; empty if none has a score.
        others: It beside each other ranked model. p-values are corrected by Holm over these comparisons, and for the
            choice of the best by the same data; in the column `all` over all pairs.
    """

    model: str
    others: tuple[PairedDifference, ...]

    @property
    def marked(self) -> frozenset[str]:
        """The best model, and those that are not significantly worse; empty without two models to compare."""
        unclear = (one.second for one in self.others if not one.significant)
        return frozenset((self.model, *unclear)) if self.others else frozenset()


@dataclass(frozen=True)
class Traffic:
    """The user's own share of kinds of questions.

    Attributes:
        source: The file.
        shares: Kind (`intents`, `languages`, `countries`) -> id -> share; those of a kind add up to 1.
        effective_questions: Kish's effective number of questions under the weights.
    """

    source: str
    shares: dict[str, dict[str, float]]
    effective_questions: float


@dataclass(frozen=True)
class Block:
    """Models that may be ranked together.

    Attributes:
        conditions: What they have in common.
        apart_because: Why they do not stand with the first block, a sentence a reason; empty for the first.
        models: The models, the best first; those that are not ranked come last.
        differences: Every pair of them, in the order of `models`.
        best: Column key (`all`, a reported intent or a language) -> its best model.
        questions: Questions that means, ranks and tests are about: all ranked models have a score for them.
        asked: Questions that all models were asked.
        groups: Ids of reported intents, in the order of the rubric.
        parts: Keys of `by_part`, in order.
        languages: Codes of languages, in order.
        countries: Names of countries, the most frequent first; the rest together as the last.
        criteria: Ids of criteria, in the order of the rubric.
        titles: Id of an intent, language or criterion -> its English name.
        question_counts: Column key (`all`, a group, language or country, or `group/language`) -> number of questions.
        traffic: The shares that means and intervals are weighted by; None for those of the data.
        notes: What else a reader must know, a sentence each.
    """

    conditions: Conditions
    apart_because: tuple[str, ...]
    models: tuple[ModelReport, ...]
    differences: tuple[PairedDifference, ...]
    best: dict[str, Best]
    questions: int
    asked: int
    groups: tuple[str, ...]
    parts: tuple[str, ...]
    languages: tuple[str, ...]
    countries: tuple[str, ...]
    criteria: tuple[str, ...]
    titles: dict[str, str]
    question_counts: dict[str, int]
    traffic: Traffic | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """A log that the report was made from.

    Attributes:
        log: Its file name.
        model: The model under test.
        judges: The judges.
        command: A command that repeats the run; nothing in it that sounds like a secret.
        created: When it began, ISO 8601.
        dataset_sha256: Hash of the data.
        rubric_sha256: Hash of the rubric.
        prompts: As in `Conditions`.
        package: Version of inspect-ai that made it.
        samples: Number of samples.
    """

    log: str
    model: str
    judges: tuple[str, ...]
    command: str
    created: str
    dataset_sha256: str
    rubric_sha256: str
    prompts: str
    package: str
    samples: int


@dataclass(frozen=True)
class IntentReport:
    """A report.

    Attributes:
        blocks: Models that may be ranked together, the block of most models first.
        runs: The logs.
        left_out: What was left out and why, a sentence each, with counts.
        simulated: Whether any model or judge is a simulation.
        level: Confidence level of all intervals, 0 to 1.
        rounds: Rounds of the bootstrap.
        seed: Its seed.
        command: The command that made the report.
    """

    blocks: tuple[Block, ...]
    runs: tuple[Run, ...]
    left_out: tuple[str, ...]
    simulated: bool
    level: float
    rounds: int
    seed: int
    command: str
