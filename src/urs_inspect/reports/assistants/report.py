"""The typed report of models and assistants: everything that its tables and files show."""

from dataclasses import dataclass

from urs_inspect.rating import Estimate
from urs_inspect.reports.intent.report import Conditions


@dataclass(frozen=True)
class ServiceScore:
    """One model or assistant.

    Attributes:
        service: Who answered.
        mean: Mean final score over the common questions, 1 to 10, with its interval.
        with_nothing: The same where an answer that a search found nothing for has the lowest score, over the questions
            that are then common.
        questions: Questions that it was asked.
        scored: Questions of these with a score.
        became: What became of its answers, with counts; several of a question if it was asked in several epochs.
        self_judged: Scored answers that the model judged itself.
        because: Commonest reason why a search or translation failed; empty if none did.
    """

    service: str
    mean: Estimate
    with_nothing: Estimate
    questions: int
    scored: int
    became: dict[str, int]
    self_judged: int
    because: str


@dataclass(frozen=True)
class ServiceDifference:
    """Two of them on the common questions.

    Attributes:
        first: The one with the higher mean.
        second: The other.
        difference: Mean of first less second, with its interval.
        p: Two-sided bootstrap p-value, 0 to 1; NaN with fewer than two questions.
        p_holm: The same after Holm's correction over all pairs of the comparison.
        apart: Whether the two can be told apart.
    """

    first: str
    second: str
    difference: Estimate
    p: float
    p_holm: float
    apart: bool


@dataclass(frozen=True)
class WithoutSome:
    """What leaving some of them out would change.

    Attributes:
        services: Those to leave out.
        common: Questions that the others have in common.
    """

    services: tuple[str, ...]
    common: int


@dataclass(frozen=True)
class Comparison:
    """Models and assistants whose scores compare.

    Attributes:
        cases: `factual` (Table 14), `translation` (Table 15) or `chosen`.
        conditions: What they have in common.
        apart_because: Why they do not stand with the first ones of the same cases, a sentence a reason.
        questions: Questions that any of them was asked.
        common: Questions that all of them have a score for.
        common_with_nothing: Questions that all of them have a score for, or found nothing for.
        services: They, the best first.
        differences: All pairs.
        without: The fewest to leave out so that the others have more questions in common; None if nothing is to gain.
    """

    cases: str
    conditions: Conditions
    apart_because: tuple[str, ...]
    questions: int
    common: int
    common_with_nothing: int
    services: tuple[ServiceScore, ...]
    differences: tuple[ServiceDifference, ...]
    without: WithoutSome | None


@dataclass(frozen=True)
class AssistantReport:
    """What logs say about models and assistants.

    Attributes:
        comparisons: Those of Table 14 first.
        simulated: Whether a model or a judge is a simulation.
        left_out: What was left out and why, a sentence each.
        level: Confidence level of the intervals.
        rounds: Rounds of the bootstrap over questions.
        seed: Its seed.
        command: The command that makes the report.
    """

    comparisons: tuple[Comparison, ...]
    simulated: bool
    left_out: tuple[str, ...]
    level: float
    rounds: int
    seed: int
    command: str
