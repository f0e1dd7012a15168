"""`case_review`: whether a question may become a case, as a judge sees it."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect._util import InputError
from urs_inspect.judging import JudgeFailure, check_temperature
from urs_inspect.judging.ask import Asked, ask
from urs_inspect.judging.prompts import REVIEW_AGAIN, REVIEW_LANGUAGES, case_review_prompt
from urs_inspect.judging.replies import FLAGS, WANTED, CaseReview, read_case_review
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.scorers.answer_judge import judge_of
from urs_inspect.solvers.model_calls import SCORE_LATER, JudgeCalls
from urs_inspect.solvers.role_models import bound_models
from urs_inspect.stats.agreement import cohen_kappa, wilson_interval

_SHARES = (
    "passed", "understandable", "self_contained", "plausible_intent", "personal_data", "harmful", "intent_agrees",
)  # fmt: skip


@metric(scores="unreduced")
def case_review_report() -> Metric:
    """Shares over the reviewed cases, 0 to 1, and counts.

    Rows: `passed`, NaN without a review; `cases`; `reviewed`; for `passed`, each verdict and `intent_agrees` (accuracy
    of the user's intent by the judge's) the share, `<name> low` and `<name> high` (95 %, Wilson); `intent
    kappa` (Cohen); `passed language=<code>`, `passed intent=<name>`; `failures <mode>`. Repeated reviews of a case
    count as one, with their mean, except for kappa, which is over reviews. `cases`, `reviewed` and failures count
    reviews of all epochs.

    Returns:
        The metric.
    """

    def compute(scores: list[SampleScore]) -> Value:
        given = [(str(score.sample_id), score.score.value) for score in scores if isinstance(score.score.value, dict)]
        reviewed = [(case, value) for case, value in given if value.get("outcome") == "reviewed"]
        modes = Counter(str(value.get("outcome")).removeprefix("unreviewed_") for _, value in given)
        modes.pop("reviewed", None)
        # The headline comes first and is there before the first review as well: the harness looks for it.
        rows = {"passed": math.nan, "cases": float(len(given)), "reviewed": float(len(reviewed))}
        for name in _SHARES:
            rows |= _share(name, reviewed)
        pairs = [(str(value["user_intent"]), str(value["judge_intent"])) for _, value in reviewed]
        kappa = cohen_kappa([user for user, _ in pairs], [judge for _, judge in pairs])
        rows |= {} if math.isnan(kappa) else {"intent kappa": kappa}
        for label, key in (("language", "language"), ("intent", "user_intent")):
            for group in sorted({str(value[key]) for _, value in reviewed}):
                part = _by_case("passed", ((case, value) for case, value in reviewed if value[key] == group))
                rows[f"passed {label}={group}"] = math.fsum(part) / len(part)
        return {**rows, **{f"failures {mode}": float(number) for mode, number in sorted(modes.items())}}

    return compute


def _by_case(name: str, reviewed: Iterable[tuple[str, Mapping[str, Any]]]) -> list[float]:
    values: dict[str, list[float]] = defaultdict(list)
    for case, value in reviewed:
        values[case].append(float(value[name]))
    return [math.fsum(several) / len(several) for several in values.values()]


def _share(name: str, reviewed: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, float]:
    values = _by_case(name, reviewed)
    if not values:
        return {}
    found = wilson_interval(math.fsum(values) / len(values), len(values))
    return {name: found.value, f"{name} low": found.low, f"{name} high": found.high}


CRITERIA = (*FLAGS, "plausible_intent")
"""What a case passes by; each is reported as it is, so that `personal_data` and `harmful` are bad."""


# One metric that is not reduced: reducing epochs would warn of every text in every value.
@scorer(metrics=[case_review_report()])
def case_review(
    rubric: str | None = None,
    judge_language: str | None = None,
    role: str = "grader",
    attempts: int = 2,
    temperature: float | None = 0.0,
    cache: bool = False,
) -> Scorer:
    """Have a judge review questions; the answer, if there is one, does not matter.

    The value holds `passed`, the judge's verdicts, whether the user's intent is `plausible_intent` and the same as the
    judge's (`intent_agrees`), both by reported intent: 1 yes, 0 no, NaN where the review failed; and as text both
    intents, language and outcome (`reviewed` or `unreviewed_<failure mode>`).

    Args:
        rubric: Path of a rubric of your own, with intents or languages of your own.
        judge_language: Language of the prompt; by default each case's own, English where there is none in that.
        role: Model role of the judge; one model.
        attempts: How often it is asked at most when its reply cannot be read.
        temperature: Its temperature, unless its role sets one; None for the provider's default.
        cache: Let the harness answer repeated reviews from its cache.

    Returns:
        The scorer. It raises `InputError` unless exactly one model has the role.

    Raises:
        InputError: If an argument cannot be used.
    """
    loaded, chosen = load_rubric(rubric), check_temperature(temperature)
    if judge_language is not None:
        case_review_prompt(loaded, judge_language, "")
    if attempts < 1:
        raise InputError(f"judge_attempts: must be at least 1, got {attempts}")

    calls = JudgeCalls(SCORE_LATER)

    async def score(state: TaskState, target: Target) -> Score:
        calls.begin(state)
        facts = state.metadata
        spoken = judge_language or str(facts["language"])
        language = spoken if spoken in REVIEW_LANGUAGES and spoken in loaded.languages else REVIEW_LANGUAGES[0]
        prompt = case_review_prompt(loaded, language, state.input_text)
        judge = judge_of(the_judge(role), chosen, cache, "", calls)
        found = await ask(
            judge.call,
            prompt,
            lambda text: read_case_review(text, loaded.intents),
            REVIEW_AGAIN[language],
            attempts=attempts,
        )
        record = {
            "judge": judge.name,
            "calls": found.calls,
            "temperature_requested": judge.temperature,
            "temperature_sent": found.temperature_sent,
            "prompt_version": prompt.version,
            "prompt_sha256": prompt.sha256,
            "judge_language": language,
        }
        return _score(loaded, facts, found, record)

    return score


def the_judge(role: str) -> Model:
    """The one model with the role.

    Raises:
        InputError: If there is none, or more than one.
    """
    bound = bound_models(role)
    if len(bound) != 1:
        how = f"has {len(bound)} models" if bound else "has no model"
        raise InputError(f"the role '{role}' {how}; a review has one judge: --model-role {role}=<model>")
    return bound[0]


def _score(rubric: Rubric, facts: dict[str, Any], found: Asked[CaseReview], record: dict[str, Any]) -> Score:
    group = str(facts["intent_group"])
    labels = {"user_intent": group, "language": str(facts["language"])}
    review = found.result
    if isinstance(review, JudgeFailure):
        return Score(
            value={
                **dict.fromkeys(("passed", *CRITERIA, "intent_agrees"), math.nan),
                **labels,
                "judge_intent": "",
                "outcome": f"unreviewed_{review.mode}",
            },
            answer="",
            explanation=f"**No review: {review.mode}.** {review.detail}\n\n{found.reply}",
            reason="grader_failed",
            metadata={**record, "failure_mode": review.mode, "failure_detail": review.detail, "reply": found.reply},
        )
    plausible = group in {rubric.intents[intent].group for intent in review.plausible}
    verdicts = {**review.flags, "plausible_intent": plausible}
    faults = faults_of(verdicts)
    own = rubric.intents[review.intent].group
    return Score(
        value={
            "passed": float(not faults),
            **{name: float(said) for name, said in verdicts.items()},
            "intent_agrees": float(own == group),
            **labels,
            "judge_intent": own,
            "outcome": "reviewed",
        },
        answer="passed" if not faults else ", ".join(faults),
        explanation=found.reply,
        metadata={**record, "intent": review.intent, "plausible_intents": list(review.plausible), "faults": faults},
    )


def faults_of(verdicts: dict[str, bool]) -> list[str]:
    """Why a case does not pass, in words; nothing for one that does."""
    wanted = {**WANTED, "plausible_intent": True}
    return [
        f"{'not ' if wanted[name] else ''}{name.replace('_', ' ')}"
        for name, said in verdicts.items()
        if said != wanted[name]
    ]
