"""Logs of intent-judged answers -> one typed result a log."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import Score

from urs_inspect.logs.scores import SIMULATED, answered_by, cut_off, last_judgement, prompts_digest, value_of
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST
from urs_inspect.scorers.metrics import SCALE, epoch_deviation, panel_alpha
from urs_inspect.stats import Estimate, mean_interval

_Group = TypeVar("_Group", bound=Hashable)
_Pairs = list[tuple[EvalSample, Score]]


@dataclass(frozen=True)
class Conditions:
    """What must be equal for two results to compare, beside the judges.

    Attributes:
        dataset: Name of the data and the first digits of its hash.
        rubric: Name and version of the rubric.
        prompts: First digits of a hash over the prompts of all intents and judge languages that occur.
        questions: Number of different questions.
    """

    dataset: str
    rubric: str
    prompts: str
    questions: int


@dataclass(frozen=True)
class IntentResult:
    """What one log says about one model.

    Attributes:
        model: The model under test.
        judges: The judges whose scores these are, in order.
        samples: Number of answers in the log.
        outcomes: How the judging of these answers ended, with counts.
        cut_off: Number of answers that were cut off at the token limit, whatever the judging led to.
        final: Final score over questions, 1 to 10, with its 95% interval.
        answers: Number of samples, those that ended in an error before they were judged included.
        unscored: How many of these have no final score.
        lowest: Mean final score over all questions if each missing score were 1.
        highest: The same if each were 10.
        conditions: Everything under which these scores came about: data, rubric and prompts. Scores of different
            judges or conditions do not compare.
        by_group: The same for each reported intent.
        by_part: The same for each intent that shares its reported group with another one, as API does in URS.
        by_language: The same for each language.
        by_group_and_language: The same for each cell.
        by_criterion: The same for each criterion.
        self_judged: Share of the scored answers that the model judged itself.
        judge_alpha: Krippendorff's alpha (interval) of the final scores across the judges of a panel; NaN for one
            judge.
        epoch_deviation: Standard deviation of a question's final score over epochs, pooled; NaN with one epoch.
        simulated: Whether the model or a judge is a simulation.
        location: Where the log is.
    """

    model: str
    judges: tuple[str, ...]
    samples: int
    outcomes: dict[str, int]
    cut_off: int
    final: Estimate
    answers: int
    unscored: int
    lowest: float
    highest: float
    conditions: Conditions
    by_group: dict[str, Estimate]
    by_part: dict[str, Estimate]
    by_language: dict[str, Estimate]
    by_group_and_language: dict[tuple[str, str], Estimate]
    by_criterion: dict[str, Estimate]
    self_judged: float
    judge_alpha: float
    epoch_deviation: float
    simulated: bool
    location: str


def read_result(log: EvalLog) -> IntentResult | None:
    """Read the result of a log from its samples.

    Args:
        log: A complete log, samples included. If it was judged several times, the last judgement counts.

    Returns:
        The result; None if no sample was scored by `intent_judge`. Epochs of a question are averaged first, so
        that intervals are over questions.
    """
    pairs = [(sample, score) for sample in log.samples or [] if (score := last_judgement(sample)) is not None]
    if not pairs:
        return None
    facts = [score.metadata or {} for _, score in pairs]
    judges = tuple(dict.fromkeys(str(j["judge"]) for fact in facts for j in fact.get("judges", ())))
    if not judges:  # all answers are empty, so that no judge was asked
        judges = tuple(dict.fromkeys(str(name) for fact in facts for name in fact.get("judges_not_asked", ())))
    scored = [fact for (_, score), fact in zip(pairs, facts, strict=True) if isinstance(score.value, dict)]
    finals = [(str(sample.id), value_of(score, FINAL)) for sample, score in pairs]
    failed = [(str(sample.id), math.nan) for sample in log.samples or [] if last_judgement(sample) is None]
    criteria = dict.fromkeys(key for _, score in pairs if isinstance(score.value, dict) for key in score.value)
    return IntentResult(
        model=answered_by(log),
        judges=judges,
        samples=len(pairs),
        outcomes=dict(Counter(str(fact.get("outcome", "unknown")) for fact in facts)),
        cut_off=sum(map(cut_off, facts)),
        final=_interval(pairs, FINAL),
        answers=len(finals) + len(failed),
        unscored=sum(math.isnan(value) for _, value in (*finals, *failed)),
        lowest=_filled_mean([*finals, *failed], LOWEST),
        highest=_filled_mean([*finals, *failed], HIGHEST),
        conditions=_conditions(log, pairs),
        by_group=_grouped(pairs, lambda s: _fact(s, "intent_group")),
        by_part=_parts(pairs),
        by_language=_grouped(pairs, lambda s: _fact(s, "language")),
        by_group_and_language=_grouped(pairs, lambda s: (_fact(s, "intent_group"), _fact(s, "language"))),
        by_criterion={key: _interval(pairs, key) for key in criteria if key != FINAL},
        self_judged=sum(bool(fact.get("self_judged")) for fact in scored) / len(scored) if scored else math.nan,
        judge_alpha=panel_alpha(scored),
        epoch_deviation=epoch_deviation(finals),
        simulated=any(name.startswith(SIMULATED) for name in (log.eval.model, *judges)),
        location=log.location,
    )


def _conditions(log: EvalLog, pairs: _Pairs) -> Conditions:
    metadata = log.eval.metadata or {}
    prompts = {
        f"{_fact(sample, 'intent')}/{facts['judge_language']}/{facts['prompt_sha256']}"
        for sample, score in pairs
        if "prompt_sha256" in (facts := score.metadata or {})
    }
    rubrics = {str((score.metadata or {}).get("prompt_version")) for _, score in pairs} - {"None"}
    digits = str(metadata.get("dataset_sha256", ""))[:8]
    return Conditions(
        dataset=f"{metadata.get('dataset', log.eval.dataset.name)} {digits}".strip(),
        rubric=", ".join(sorted(rubrics)),
        prompts=prompts_digest(prompts),
        questions=len({str(sample.id) for sample, _ in pairs}),
    )


def _parts(pairs: _Pairs) -> dict[str, Estimate]:
    by_intent = _grouped(pairs, lambda s: (_fact(s, "intent_group"), _fact(s, "intent")))
    groups = Counter(group for group, _ in by_intent)
    return {f"{group}: {intent}": value for (group, intent), value in by_intent.items() if groups[group] > 1}


def _grouped(pairs: _Pairs, group_of: Callable[[EvalSample], _Group]) -> dict[_Group, Estimate]:
    groups: dict[_Group, _Pairs] = defaultdict(list)
    for sample, score in pairs:
        groups[group_of(sample)].append((sample, score))
    return {group: _interval(members, FINAL) for group, members in groups.items()}


def _filled_mean(finals: Iterable[tuple[str, float]], missing: float) -> float:
    """Mean over questions of the means over epochs, with a number in place of each missing score."""
    questions: dict[str, list[float]] = defaultdict(list)
    for question, value in finals:
        questions[question].append(missing if math.isnan(value) else value)
    return math.fsum(math.fsum(values) / len(values) for values in questions.values()) / len(questions)


def _interval(pairs: Iterable[tuple[EvalSample, Score]], key: str) -> Estimate:
    questions: dict[str, list[float]] = defaultdict(list)
    for sample, score in pairs:
        number = value_of(score, key)
        if not math.isnan(number):
            questions[str(sample.id)].append(number)
    return mean_interval([math.fsum(values) / len(values) for values in questions.values()], scale=SCALE)


def _fact(sample: EvalSample, key: str) -> str:
    return str(sample.metadata.get(key, "unknown"))
