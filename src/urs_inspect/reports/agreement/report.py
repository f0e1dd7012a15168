"""The typed report on how far judge and people agree: everything that tables and files show."""

from dataclasses import dataclass

from urs_inspect.reports.intent.blocks import Conditions
from urs_inspect.stats import Correlations, Estimate
from urs_inspect.stats.mean_correlation import MeanCorrelation, fisher_interval


@dataclass(frozen=True)
class PublishedCorrelation:
    """A correlation that the URS paper prints, with its judge; it printed no interval.

    Attributes:
        pearson: Pearson's r as printed.
        points: Number of points that it is over.
        place: Where it stands in the paper.
        basis: What people said.
    """

    pearson: float
    points: int
    place: str
    basis: str

    @property
    def over_points(self) -> tuple[float, float]:
        """Bounds by Fisher's z that follow from the printed r and the number of points; ours, not the paper's."""
        return fisher_interval(self.pearson, self.points)


PUBLISHED_INTENTS = PublishedCorrelation(
    0.95, 6, "section 4.5, Figure 5", "the satisfaction of 420 people on a five-point scale"
)
PUBLISHED_MODELS = PublishedCorrelation(
    0.94, 10, "section 4.5, appendix D.3, Figure 6", "350 decided of 400 comparisons by five annotators"
)


@dataclass(frozen=True)
class IntentPoint:
    """One reported intent (URS paper, Figure 5).

    Attributes:
        group: The intent.
        score: Mean final score, 1 to 10: over questions, then over models.
        satisfaction: Mean satisfaction on the scale of the file; without bounds where it counts as exact.
        questions: Questions with a score.
        people: How many people were asked; None if the file does not say.
    """

    group: str
    score: Estimate
    satisfaction: Estimate
    questions: int
    people: int | None


@dataclass(frozen=True)
class IntentLevel:
    """Mean score against mean satisfaction, over intents.

    Attributes:
        points: The intents, most satisfaction first.
        correlation: Over these intents; questions are resampled within each, people where the file has single ones.
            What the interval is about, `MeanCorrelation` says.
        by_model: The same for each model's own means.
        people_resampled: Whether people were resampled; else satisfaction counts as exact.
        why_no_interval: What an interval would need and is not there, in words; empty if there is one.
        scale: Scale of the satisfaction.
        notes: What was left out, and how the questions were chosen, a sentence each.
    """

    points: tuple[IntentPoint, ...]
    correlation: MeanCorrelation
    by_model: dict[str, MeanCorrelation]
    people_resampled: bool
    why_no_interval: str
    scale: tuple[float, float]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ModelPoint:
    """One model (URS paper, Figure 6).

    Attributes:
        model: Its name.
        score: Mean final score over questions, 1 to 10.
        rating: Bradley-Terry rating by people's votes.
    """

    model: str
    score: Estimate
    rating: Estimate


@dataclass(frozen=True)
class ModelLevel:
    """Mean score against the rating by people's votes, over models.

    Attributes:
        points: The models, the best rated first.
        correlation: Over these models; instructions of votes and questions of scores are resampled independently.
        comparisons: Comparisons that the ratings are from.
        instructions: Instructions that these are on.
        ties: Comparisons that are ties.
        questions: Questions that the scores are over.
        why_no_interval: As in `IntentLevel`.
        notes: What was left out and what else a reader must know, a sentence each.
    """

    points: tuple[ModelPoint, ...]
    correlation: MeanCorrelation
    comparisons: int
    instructions: int
    ties: int
    questions: int
    why_no_interval: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CaseAgreement:
    """The judge's final scores against people's ratings, answer by answer.

    Attributes:
        correlations: Pearson, Spearman and Kendall, with intervals clustered by question.
        alpha: Krippendorff's alpha (interval) of judge and mean rating, both on the judge's scale.
        difference: Mean of score less mean rating, on the judge's scale.
        answers: Number of answers.
        questions: Number of questions that they are to.
    """

    correlations: Correlations
    alpha: Estimate
    difference: Estimate
    answers: int
    questions: int


@dataclass(frozen=True)
class PeopleAgreement:
    """How far people agree with each other.

    Attributes:
        alpha: Krippendorff's alpha (interval), with its interval clustered by question.
        raters: How many people rated.
        ratings: Their ratings.
        answers: Answers that several of them rated.
    """

    alpha: Estimate
    raters: int
    ratings: int
    answers: int


@dataclass(frozen=True)
class CaseLevel:
    """People's ratings of single answers.

    Attributes:
        all: Over all rated answers.
        by_group: The same for each reported intent.
        by_model: The same for each model.
        people: Agreement among people; None if the file does not say who rated.
        scale: Scale of the ratings.
        notes: How ratings and scores were laid side by side, with counts, a sentence each.
    """

    all: CaseAgreement
    by_group: dict[str, CaseAgreement]
    by_model: dict[str, CaseAgreement]
    people: PeopleAgreement | None
    scale: tuple[float, float]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class AgreementBlock:
    """Agreement with one judge under one set of conditions.

    Attributes:
        conditions: The judge and everything else under which the scores came about.
        apart_because: Why they do not stand with the first block, a sentence a reason; empty for the first.
        models: The models.
        simulated: Whether a model or the judge is a simulation.
        intents: Scores and satisfaction by intent; None if there is no such file, or a note says why.
        ratings: Scores and votes by model; None likewise.
        cases: Scores and ratings by answer; None likewise.
        notes: Why something is None, a sentence each.
    """

    conditions: Conditions
    apart_because: tuple[str, ...]
    models: tuple[str, ...]
    simulated: bool
    intents: IntentLevel | None
    ratings: ModelLevel | None
    cases: CaseLevel | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class AgreementReport:
    """A report.

    Attributes:
        blocks: One for each judge and set of conditions; they are never mixed.
        sources: What people said: kind -> files.
        left_out: Logs that were left out and why, a sentence each.
        notes: What else a reader must know about the files, and what of them no block used, a sentence each.
        level: Confidence level of all intervals, 0 to 1.
        rounds: Rounds of the bootstrap.
        seed: Its seed.
    """

    blocks: tuple[AgreementBlock, ...]
    sources: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    level: float
    rounds: int
    seed: int
