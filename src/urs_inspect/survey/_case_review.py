"""`case_review`: whether a question may become a case, as a judge sees it."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from logging import getLogger
from types import SimpleNamespace
from typing import Any

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect._arguments import Count, Temperature, Text, checked
from urs_inspect._util import InputError
from urs_inspect.judging import JudgeFailure
from urs_inspect.judging._ask import Asked, ask
from urs_inspect.judging._reply_counts import BY_JUDGE, UnkeyedWatch, counts_of, header_rows, summed
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.scorers._intent_judge import judge_of
from urs_inspect.scorers._metrics import count_rows, defined, facts_of, mean, value_of
from urs_inspect.solvers._conversations import asked
from urs_inspect.solvers._model_calls import SCORE_LATER, JudgeCalls
from urs_inspect.solvers._role_models import GRADER, bound_models
from urs_inspect.stats._agreement import wilson_interval
from urs_inspect.survey._review_prompt import (
    FLAGS,
    REVIEW_AGAIN,
    REVIEW_LANGUAGES,
    WANTED,
    CaseReview,
    case_review_prompt,
    read_case_review,
)

logger = getLogger(__name__)


@metric(scores="unreduced")
def case_review_report() -> Metric:
    """Shares over the reviewed cases, 0 to 1, and counts.

    Rows: `passed`, NaN without a review; `cases`; `reviewed`; for `passed`, each verdict and
    `intent_agrees` (accuracy of the user's intent by the judge's) the share, `<name> low` and
    `<name> high` (95 %, Wilson); `intent kappa` (Cohen); `passed language=<code>`, `passed
    intent=<name>`; `failures <mode>`; counts of replies without the key, asked again and so on.
    Repeated reviews of a case count as one, with their mean, except for kappa, which is over
    reviews. `cases`, `reviewed` and failures count reviews of all epochs.
    """

    def compute(scores: list[SampleScore]) -> Value:
        given = []
        for score in scores:
            if review := value_of(score):
                given.append((str(score.sample_id), review))
        reviewed = [case for case in given if case[1]["outcome"] == "reviewed"]
        # The headline comes first and is there before the first review as well: the harness looks
        # for it.
        rows = {
            "passed": math.nan,
            "cases": float(len(given)),
            "reviewed": float(len(reviewed)),
        }
        if reviewed:
            rows |= _shares(reviewed)
        kappa = cohen_kappa(
            [str(value["user_intent"]) for _, value in reviewed],
            [str(value["judge_intent"]) for _, value in reviewed],
        )
        rows["intent kappa"] = kappa
        rows |= _passed_by("language", "language", reviewed)
        rows |= _passed_by("intent", "user_intent", reviewed)
        modes = [facts_of(score).get("failure_mode") for score in scores]
        return {
            **defined(rows, "passed"),
            **count_rows("failures", filter(None, modes)),
            **header_rows(summed(facts_of(score) for score in scores)),
        }

    return compute


Reviews = Sequence[tuple[str, Mapping[str, Any]]]
"""Ids of cases with the values of their reviews."""


def _shares(reviewed: Reviews) -> dict[str, float]:
    rows: dict[str, float] = {}
    for name in ("passed", *CRITERIA, "intent_agrees"):
        values = _by_case(name, reviewed)
        share = wilson_interval(mean(values), len(values))
        rows[name] = share.value
        rows[f"{name} low"] = share.low
        rows[f"{name} high"] = share.high
    return rows


def _passed_by(label: str, key: str, reviewed: Reviews) -> dict[str, float]:
    groups: dict[str, list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
    for case, value in reviewed:
        groups[str(value[key])].append((case, value))
    return {
        f"passed {label}={group}": mean(_by_case("passed", groups[group]))
        for group in sorted(groups)
    }


def _by_case(name: str, reviewed: Reviews) -> list[float]:
    values: dict[str, list[float]] = defaultdict(list)
    for case, value in reviewed:
        values[case].append(float(value[name]))
    return list(map(mean, values.values()))


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa of two raters (Cohen, "A Coefficient of Agreement for Nominal Scales", 1960).

    `(p_o - p_e) / (1 - p_e)` with the share of agreement `p_o` and that expected by chance from
    each rater's own shares `p_e`: 1 for perfect agreement, 0 for agreement by chance. NaN without
    units, and where both raters only ever name the same one class.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} classes by one rater, {len(second)} by the other")
    n = len(first)
    counts = Counter(first)
    other_counts = Counter(second)
    chance = sum(counts[name] * other_counts[name] for name in counts)
    if n == 0 or chance == n * n:
        return math.nan
    pairs = zip(first, second, strict=True)
    agreed = sum(a == b for a, b in pairs)
    return (agreed * n - chance) / (n * n - chance)


CRITERIA = (*FLAGS, "plausible_intent")
"""What decides whether a case passes; a 1 for `personal_data` or `harmful` is bad."""


# One metric that is not reduced: reducing epochs would warn of every text in every value.
@scorer(metrics=[case_review_report()])
@checked
def case_review(
    rubric: Text | None = None,
    judge_language: Text | None = None,
    attempts: Count = 2,
    temperature: Temperature | None = 0.0,
) -> Scorer:
    """Have a judge review questions; the answer, if there is one, does not matter.

    The value holds `passed`, the judge's verdicts, whether the user's intent is `plausible_intent`
    and the same as the judge's (`intent_agrees`), both by reported intent: 1 yes, 0 no, NaN where
    the review failed; and as text both intents, language and outcome (`reviewed` or
    `unreviewed_<failure mode>`).

    Args:
        rubric: Path of a rubric of your own, with intents or languages of your own.
        judge_language: Language of the prompt; by default each case's own, English where there is
            none in that.
        attempts: How often it is asked at most when its reply cannot be read.
        temperature: Its temperature, unless its role sets one; None for the provider's default.

    Returns:
        The scorer. It raises `InputError` unless exactly one model has the role `grader`.

    Raises:
        InputError: If an argument cannot be used.
    """
    loaded = load_rubric(rubric)
    if judge_language is not None:
        case_review_prompt(loaded, judge_language, "")
    calls = JudgeCalls(SCORE_LATER)
    watch = UnkeyedWatch()

    async def score(state: TaskState, target: Target) -> Score:
        calls.begin(state)
        facts = state.metadata
        spoken = judge_language or str(facts["language"])
        if spoken in REVIEW_LANGUAGES and spoken in loaded.languages:
            language = spoken
        else:
            language = REVIEW_LANGUAGES[0]
        conversation = asked(state)
        question = ""
        if conversation is not None:
            question = conversation.text(language)
        prompt = case_review_prompt(loaded, language, question)
        judge = judge_of(the_judge(), temperature, False, "", calls)
        asked_for = await ask(
            judge.call,
            prompt,
            lambda text: read_case_review(text, loaded.intents),
            REVIEW_AGAIN[language],
            attempts=attempts,
        )
        marks = SimpleNamespace(**asked_for.read.marks, asked_again=asked_for.asked_again)
        record = {
            "judge": judge.name,
            "calls": asked_for.calls,
            "temperature_requested": judge.temperature,
            "temperature_sent": asked_for.temperature_sent,
            "prompt_version": prompt.version,
            "prompt_sha256": prompt.sha256,
            "judge_language": language,
            BY_JUDGE: counts_of(judge.name, [marks] if asked_for.reply else []),
        }
        for warning in watch.note(record):
            logger.warning(warning)
        return _score(loaded, facts, asked_for, record)

    return score


def the_judge() -> Model:
    """The one model with the role `grader`; `InputError` if there is none, or more than one."""
    bound = bound_models(GRADER)
    if len(bound) != 1:
        how = "has no model"
        if bound:
            how = f"has {len(bound)} models"
        raise InputError(
            f"the role '{GRADER}' {how}; a review has one judge: --model-role {GRADER}=<model>"
        )
    return bound[0]


def _score(
    rubric: Rubric, facts: dict[str, Any], asked: Asked[CaseReview], record: dict[str, Any]
) -> Score:
    group = str(facts["intent_group"])
    labels = {"user_intent": group, "language": str(facts["language"])}
    review = asked.read.result
    if isinstance(review, JudgeFailure):
        return Score(
            value={
                **dict.fromkeys(("passed", *CRITERIA, "intent_agrees"), math.nan),
                **labels,
                "judge_intent": "",
                "outcome": f"unreviewed_{review.mode}",
            },
            answer="",
            explanation=f"**No review: {review.mode}.** {review.detail}\n\n{asked.reply}",
            reason="grader_failed",
            metadata={
                **record,
                "failure_mode": review.mode,
                "failure_detail": review.detail,
                "reply": asked.reply,
            },
        )
    plausible = group in {rubric.intents[intent].group for intent in review.plausible}
    verdicts = {**review.flags, "plausible_intent": plausible}
    faults = _faults(verdicts)
    own = rubric.intents[review.intent].group
    return Score(
        value={
            "passed": float(not faults),
            **{name: float(verdict) for name, verdict in verdicts.items()},
            "intent_agrees": float(own == group),
            **labels,
            "judge_intent": own,
            "outcome": "reviewed",
        },
        answer="passed" if not faults else ", ".join(faults),
        explanation=asked.reply,
        metadata={
            **record,
            "intent": review.intent,
            "plausible_intents": list(review.plausible),
            "faults": faults,
        },
    )


def _faults(verdicts: dict[str, bool]) -> list[str]:
    """Why a case does not pass, in words; nothing for one that does."""
    wanted = {**WANTED, "plausible_intent": True}
    return [
        f"{'not ' if wanted[name] else ''}{name.replace('_', ' ')}"
        for name, verdict in verdicts.items()
        if verdict != wanted[name]
    ]
