"""`crossval_judge` and `crossval_cell`: one evaluator's judgement of one answer.

It is made against the reference of one source.
"""

from collections import defaultdict

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from urs_inspect._arguments import Count, Structured, Temperature, Text, checked
from urs_inspect._util import InputError, choices
from urs_inspect.judging import AnswerJudging
from urs_inspect.judging._reply_counts import BY_JUDGE
from urs_inspect.judging._scores import last_score
from urs_inspect.scorers._intent_judge import AnswerJudge
from urs_inspect.scorers._metrics import final_of, groups_of, mean, outcome_counts
from urs_inspect.solvers._role_models import GRADER, bound_models
from urs_inspect.stats._crossval import REFERENCE_SCORE, bias_of_means

_CELL = ("evaluator", "source", "model")
"""Keys of a sample's metadata that say whose judgement this is, whose reference, and whose
answer.
"""
COPY = "copy"
"""Key of a sample's metadata: the answer is word for word the reference, which is by the same
model.
"""


@metric
def crossval_report() -> Metric:
    """Rating bias of each evaluator, then the mean final score that each one gave.

    Source: URS paper, Equation 1.

    Rows: `<evaluator> rating bias`, where some model is both tested and a source of references,
    without answers that are word for word their own reference; and `<evaluator> mean`. Evaluators
    without a score have none. Names begin with the model, because the viewer shows beginnings:
    `gpt-4o (openai)`. `urs-inspect robustness` has all intervals.
    """

    def compute(scores: list[SampleScore]) -> Value:
        given: dict[str, list[float]] = defaultdict(list)
        own: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        reference_score = float(REFERENCE_SCORE)
        for score in scores:
            facts = score.sample_metadata or {}
            final = final_of(score)
            if final == final:
                evaluator, source, model = (str(facts.get(key)) for key in _CELL)
                given[evaluator].append(final)
                if source == model and not facts.get(COPY):
                    own[evaluator][model].append(final)
                reference_score = float(facts.get("reference_score", reference_score))
        rows = {}
        for name, by_model in sorted(own.items()):
            means = list(map(mean, by_model.values()))
            rows[f"{_short_first(name)} rating bias"] = bias_of_means(means, reference_score)
        for name, values in sorted(given.items()):
            rows[f"{_short_first(name)} mean"] = mean(values)
        return rows

    return compute


@scorer(metrics=[crossval_report()])
@checked
def crossval_judge(
    rubric: Text | None = None,
    prompt: Text | None = None,
    judge_language: Text | None = None,
    attempts: Count = 2,
    temperature: Temperature | None = 0.0,
    structured: Structured = "auto",
) -> Scorer:
    """Score as `intent_judge` does, with one judge.

    The sample's metadata names it as `evaluator`.

    Arguments are those of `intent_judge`; the models with the role `grader` are the evaluators.
    """
    judging = AnswerJudging(rubric, prompt, judge_language, attempts)
    judge = AnswerJudge(judging, temperature, structured=structured)

    async def score(state: TaskState, target: Target) -> Score:
        name = str(state.metadata["evaluator"])
        bound = bound_models(GRADER)

        def evaluators() -> list[Model]:
            if named := [model for model in bound if str(model) == name]:
                return named[:1]
            have = choices(bound) or "none"
            raise InputError(
                f"evaluator '{name}' does not have the role '{GRADER}'; those that have: {have}"
            )

        return await judge.score(state, target, evaluators, str(state.metadata["model"]))

    return score


@scorer(metrics=[outcome_counts()])
def crossval_cell() -> Scorer:
    """Report for each sample its cell and how its judging ended, and count the outcomes.

    Calls no model.

    The value holds `evaluator`, `source`, `model`, `outcome` (as in `judge_outcome`), `intent` and
    `language` as text; names of models begin with the model, since columns are narrow: `gpt-4o
    (openai)`.
    """

    async def score(state: TaskState, target: Target) -> Score | None:
        judged = last_score(state, "crossval_judge")
        if judged is None:
            return None
        facts = judged.metadata or {}
        return Score(
            value={
                **{key: _short_first(str(state.metadata[key])) for key in _CELL},
                "outcome": str(facts.get("outcome", "unknown")),
                **groups_of(state.metadata),
            },
            answer=judged.answer,
            reason=judged.reason,
            metadata={BY_JUDGE: facts[BY_JUDGE]} if facts.get(BY_JUDGE) else {},
        )

    return score


def _short_first(name: str) -> str:
    provider, _, rest = name.rpartition("/")
    if provider and rest:
        return f"{rest} ({provider})"
    return name
