"""`crossval_judge` and `crossval_cell`: one evaluator's judgement of one answer against one source's reference."""

import math
from collections import defaultdict

from inspect_ai.model import Model
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState

from urs_inspect._util import InputError, choices
from urs_inspect.scorers.answer_judge import AnswerJudge
from urs_inspect.scorers.metrics import final_of, outcome_counts
from urs_inspect.solvers.role_models import bound_models
from urs_inspect.stats.crossval import REFERENCE_SCORE, bias_of_means

_CELL = ("evaluator", "source", "model")
"""Keys of a sample's metadata that say whose judgement this is, whose reference, and whose answer."""
COPY = "copy"
"""Key of a sample's metadata: the answer is word for word the reference, which is by the same model."""


@metric
def crossval_report() -> Metric:
    """Rating bias of each evaluator (URS paper, Equation 1), then the mean final score that each one gave.

    Rows are called `<evaluator> rating bias`, where some model is both tested and a source of references, and
    `<evaluator> mean`, names beginning with what tells them apart, because the viewer shows beginnings: `gpt-4o
    (openai)`. A rating bias does not count answers that are word for word their own reference. The cells of the grid,
    and all intervals, are in `urs-inspect robustness`.

    Returns:
        The metric; evaluators without a score have no row.
    """

    def compute(scores: list[SampleScore]) -> Value:
        given: dict[str, list[float]] = defaultdict(list)
        own: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        reference_score = float(REFERENCE_SCORE)
        for one in scores:
            facts, final = one.sample_metadata or {}, final_of(one)
            if final == final:
                evaluator, source, model = (str(facts.get(key)) for key in _CELL)
                given[evaluator].append(final)
                if source == model and not facts.get(COPY):
                    own[evaluator][model].append(final)
                reference_score = float(facts.get("reference_score", reference_score))
        biases = {
            f"{_short_first(name)} rating bias": bias_of_means(
                [math.fsum(values) / len(values) for values in by_model.values()], reference_score
            )
            for name, by_model in sorted(own.items())
        }
        return {
            **biases,
            **{f"{_short_first(name)} mean": math.fsum(values) / len(values) for name, values in sorted(given.items())},
        }

    return compute


@scorer(metrics=[crossval_report()])
def crossval_judge(
    rubric: str | None = None,
    prompt: str | None = None,
    judge_language: str | None = None,
    role: str = "grader",
    attempts: int = 2,
    temperature: float | None = 0.0,
    cache: bool = False,
) -> Scorer:
    """Score as `intent_judge` does, with the one judge that the sample's metadata names as `evaluator`.

    Args:
        rubric: As for `intent_judge`, here and below.
        prompt: Path of a frame.
        judge_language: Language of the prompt; by default each case's own.
        role: Role whose models are the evaluators.
        attempts: How often an evaluator is asked at most when its reply cannot be read.
        temperature: Temperature of the evaluators; None for the provider's default.
        cache: Let the harness answer repeated judgements from its cache.

    Returns:
        The scorer.

    Raises:
        InputError: If an argument cannot be used.
    """
    judge = AnswerJudge(rubric, prompt, judge_language, attempts, temperature, cache)

    async def score(state: TaskState, target: Target) -> Score:
        name = str(state.metadata["evaluator"])
        return await judge.score(state, target, lambda: [evaluator(role, name)], str(state.metadata["model"]))

    return score


def evaluator(role: str, name: str) -> Model:
    """The model of that name among those with a role.

    Raises:
        InputError: If there is none.
    """
    bound = bound_models(role)
    for model in bound:
        if str(model) == name:
            return model
    raise InputError(f"evaluator '{name}' does not have the role '{role}'; those that have: {choices(bound) or 'none'}")


@scorer(metrics=[outcome_counts()])
def crossval_cell() -> Scorer:
    """Say for each sample which cell it belongs to and how its judging ended, and count the outcomes.

    Outcomes are those of `judge_outcome`. Runs after `crossval_judge` and calls no model.

    Returns:
        The scorer; its value holds `evaluator`, `source`, `model`, `outcome`, `intent` and `language` as text, names of
        models beginning with what tells them apart, since columns are narrow: `gpt-4o (openai)`.
    """

    async def score(state: TaskState, target: Target) -> Score | None:
        judged = [value for name, value in (state.scores or {}).items() if name.startswith("crossval_judge")]
        if not judged:
            return None
        facts = state.metadata
        return Score(
            value={
                **{key: _short_first(str(facts[key])) for key in _CELL},
                "outcome": str((judged[-1].metadata or {}).get("outcome", "unknown")),
                "intent": str(facts.get("intent_group", "unknown")),
                "language": str(facts.get("language", "unknown")),
            },
            answer=judged[-1].answer,
            reason=judged[-1].reason,
        )

    return score


def _short_first(name: str) -> str:
    provider, _, rest = name.rpartition("/")
    return f"{rest} ({provider})" if provider and rest else name
