"""`intent_judge` scores an answer by the criteria of the user's intent; `judge_outcome` counts how judging ended."""

from logging import getLogger

from inspect_ai.model import Model, get_model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from urs_inspect._arguments import Count, Flag, Temperature, Text, checked
from urs_inspect.judging import AnswerJudging
from urs_inspect.scorers.answer_judge import AnswerJudge
from urs_inspect.scorers.metrics import groups_of, intent_report, last_score, outcome_counts
from urs_inspect.solvers.role_models import bound_models

logger = getLogger(__name__)


@scorer(metrics=[intent_report()])
@checked
def intent_judge(
    rubric: Text | None = None,
    prompt: Text | None = None,
    judge_language: Text | None = None,
    role: Text = "grader",
    attempts: Count = 2,
    temperature: Temperature | None = 0.0,
    cache: Flag = False,
) -> Scorer:
    """Score answers from 1 to 10, on the criteria of the user's intent and as a whole, with a model as judge.

    Judges are the models bound to the role `grader` (`--model-role grader=...`, a list is a panel whose mean counts).
    Without the role the model under test judges itself; a warning and every score report it.

    The sample's metadata must name its `intent` and `language`, its target is the reference answer. An empty
    answer gets the lowest score without a call. A judgement that fails leaves the sample unscored, with `reason` and
    `metadata["failure_mode"]`; it never becomes a score and never ends the run.

    Args:
        rubric: Path of a rubric of your own (YAML), laid over the URS rubric.
        prompt: Path of a Jinja file that replaces the frame of the prompt.
        judge_language: Language of the prompt for all cases; by default each case's own.
        role: Model role of the judge or judges.
        attempts: How often a judge is asked at most when its reply cannot be read; it is told the reason.
        temperature: Temperature of the judge, unless its role sets one; None for the provider's default.
        cache: Let the harness answer repeated judgements from its cache.

    Returns:
        The scorer. Its value holds `final` and every criterion of the rubric, NaN for those of other intents.

    Raises:
        InputError: If an argument cannot be used.
    """
    judge = AnswerJudge(AnswerJudging(rubric, prompt, judge_language, attempts), temperature, cache)
    warned: set[str] = set()

    def judges() -> list[Model]:
        if bound := bound_models(role):
            return bound
        own = get_model()
        _warn_of_self_judging(role, str(own), warned)
        return [own]

    async def score(state: TaskState, target: Target) -> Score:
        return await judge.score(state, target, judges, str(state.model))

    return score


def _warn_of_self_judging(role: str, model: str, warned: set[str]) -> None:
    if model not in warned:
        warned.add(model)
        logger.warning(
            f"No model has the role '{role}': {model} JUDGES ITS OWN ANSWERS, and every score is marked self_judged. "
            f"Name a judge with --model-role {role}=<model>."
        )


@scorer(metrics=[outcome_counts()])
def judge_outcome() -> Scorer:
    """Report for each sample whether it was judged, and count the outcomes.

    An unscored sample is invisible to the metrics of the scorer that left it unscored; this scorer runs after
    `intent_judge`, calls no model, and makes every failure countable and visible in the list of samples. Outcomes:
    `judged`, `partial_panel` (some judges of a panel failed), `answer_cut_off` (judged; the answer ended at the token
    limit), `no_response` (empty answer, lowest score), `no_response_cut_off` (the same at the token limit),
    `no_response_withheld` (the same by a content filter), `unscored_<failure mode>`.

    Returns:
        The scorer; its value holds `outcome`, `intent` and `language` as text.
    """

    async def score(state: TaskState, target: Target) -> Score | None:
        judged = last_score(state, "intent_judge")
        if judged is None:
            return None
        facts = judged.metadata or {}
        return Score(
            value={"outcome": str(facts.get("outcome", "unknown")), **groups_of(state.metadata)},
            # The list of samples shows the answer of one scorer, and not always that of the judge.
            answer=judged.answer,
            reason=judged.reason,
            metadata={name: facts[name] for name in ("unkeyed", "criteria_missing") if facts.get(name)},
        )

    return score
