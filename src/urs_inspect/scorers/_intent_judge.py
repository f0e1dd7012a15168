"""`intent_judge` scores an answer by the criteria of the user's intent.

`judge_outcome` counts how judging ended.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from logging import getLogger
from typing import Any

from inspect_ai.event import ScoreEvent
from inspect_ai.log import transcript
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from urs_inspect._arguments import Count, Flag, Structured, Temperature, Text, checked
from urs_inspect._util import InputError, choices
from urs_inspect.datasets._conversations import NOT_SHOWN, named_kinds
from urs_inspect.judging import Answer, AnswerJudging, Judge, Judged, Judgement, Message, Reply
from urs_inspect.judging._failures import STOPPED_AT_LIMIT, JudgeFailure
from urs_inspect.judging._frames import Schema
from urs_inspect.judging._reply_counts import BY_JUDGE, UnkeyedWatch
from urs_inspect.judging._scores import last_score, scores_named
from urs_inspect.scorers._metrics import groups_of, intent_report, outcome_counts
from urs_inspect.solvers._conversations import asked, not_all_text
from urs_inspect.solvers._model_calls import SCORE_LATER, JudgeCalls, chat_messages
from urs_inspect.solvers._role_models import bound_models

logger = getLogger(__name__)

JUDGE_THE_REST = "--scorer urs_inspect/intent_judge -S only_unscored=true --action append"
"""Options of `inspect score` by which samples without a score are judged, and only those."""


@scorer(metrics=[intent_report()])
@checked
def intent_judge(  # noqa: PLR0913 - an argument of a scorer is an option of a run
    rubric: Text | None = None,
    prompt: Text | None = None,
    judge_language: Text | None = None,
    role: Text = "grader",
    attempts: Count = 2,
    temperature: Temperature | None = 0.0,
    cache: Flag = False,
    only_unscored: Flag = False,
    structured: Structured = "auto",
) -> Scorer:
    """Score answers from 1 to 10, with a model as judge.

    Scores are on the criteria of the user's intent and as a whole.

    Judges are the models bound to the role `grader` (`--model-role grader=...`, a list is a panel
    whose mean counts). A model under test that has the role, or without the role any, judges
    itself; a warning and every score report it.

    The sample's metadata must name its `intent` and `language`, its target is the reference answer.
    An empty answer gets the lowest score without a call. A judgement that fails leaves the sample
    unscored, with `reason` and `metadata["failure_mode"]`; it never becomes a score and never ends
    the run.

    Args:
        rubric: Path of a rubric of your own (YAML), laid over the URS rubric.
        prompt: Path of a Jinja file that replaces the frame of the prompt.
        judge_language: Language of the prompt for all cases; by default each case's own.
        role: Model role of the judge or judges.
        attempts: How often a judge is asked at most when its reply cannot be read; it is told the
            reason.
        temperature: Temperature of the judge, unless its role sets one; None for the provider's
            default.
        cache: Let the harness answer repeated judgements from its cache.
        only_unscored: With `inspect score`, keep the last score of each sample that has one,
            without a call, and judge the others. The judges, their temperature and the prompt must
            be those of the log.
        structured: Whether judges are asked by a JSON schema of their reply: `true`, `false`, or
            `auto`, where the preflight of the run saw that the judge's server follows one.

    Returns:
        The scorer. Its value holds `final` and every criterion of the rubric, NaN for those of
        other intents.

    Raises:
        InputError: If an argument cannot be used.
    """
    judging = AnswerJudging(rubric, prompt, judge_language, attempts)
    judge = AnswerJudge(judging, temperature, cache, structured)
    warned: set[str] = set()

    def judges(tested: str) -> list[Model]:
        bound = bound_models(role)
        chosen = bound or [get_model()]
        if (not bound or tested in map(str, chosen)) and tested not in warned:
            warned.add(tested)
            whose = "no model has"
            if bound:
                whose = "it is a model with"
            logger.warning(
                f"{tested} JUDGES ITS OWN ANSWERS, because {whose} the role '{role}'; every score"
                f" is marked self_judged. Name another judge with --model-role {role}=<model>."
            )
        return chosen

    async def score(state: TaskState, target: Target) -> Score:
        tested = str(state.model)
        earlier = None
        if only_unscored:
            earlier = _earlier_score(state)
        if earlier is not None:
            judge.refuse_other_judging(earlier, state, target, judges(tested))
            if isinstance(earlier.value, dict):
                return earlier.model_copy(deep=True)
        return await judge.score(state, target, lambda: judges(tested), tested)

    return score


def _earlier_score(state: TaskState) -> Score | None:
    """The last score of `intent_judge` in the log of a sample that is scored again.

    None if there is none.

    Where scores are overwritten, the sample comes without them; its events still hold them.
    """
    if (score := last_score(state, "intent_judge")) is not None:
        return score
    events = [event for event in transcript().events if isinstance(event, ScoreEvent)]
    scores = {
        event.scorer: event.score for event in events if event.scorer and not event.intermediate
    }
    return next(reversed(scores_named(scores, "intent_judge")), None)


@scorer(metrics=[outcome_counts()])
def judge_outcome() -> Scorer:
    """Report for each sample whether it was judged, and count the outcomes.

    An unscored sample is invisible to the metrics of the scorer that left it unscored; this scorer
    runs after `intent_judge`, calls no model, and makes every failure countable and visible in the
    list of samples. Outcomes: `judged`, `partial_panel` (some judges of a panel failed),
    `answer_cut_off` (judged; the answer ended at the token limit), `no_response` (empty answer,
    lowest score), `no_response_cut_off` (the same at the token limit), `no_response_withheld` (the
    same by a content filter), `unscored_<failure mode>`.

    Returns:
        The scorer; its value holds `outcome`, `intent` and `language` as text.
    """

    async def score(state: TaskState, target: Target) -> Score | None:
        judged = last_score(state, "intent_judge")
        if judged is None:
            return None
        facts = judged.metadata or {}
        outcome = str(facts.get("outcome", "unknown"))
        kept = {}
        for name in (BY_JUDGE, "criteria_missing"):
            if facts.get(name):
                kept[name] = facts[name]
        return Score(
            value={"outcome": outcome, **groups_of(state.metadata)},
            # The list of samples shows the answer of one scorer, and not always that of the judge.
            answer=judged.answer,
            reason=judged.reason,
            metadata=kept,
        )

    return score


class AnswerJudge:
    """Judges the answer of a sample (URS paper, section 4.1) with models of inspect-ai.

    The sample's metadata must name its `intent` and `language`; its target is the reference answer.
    """

    def __init__(
        self,
        judging: AnswerJudging,
        temperature: float | None,
        cache: bool = False,
        structured: Structured = False,
    ) -> None:
        self._judging = judging
        self._temperature = temperature
        self._cache = cache
        self._calls = JudgeCalls(SCORE_LATER, structured)
        self._warned: set[str] = set()
        self._unkeyed = UnkeyedWatch()

    async def score(
        self,
        state: TaskState,
        target: Target,
        judges: Callable[[], Sequence[Model]],
        model_under_test: str,
    ) -> Score:
        """Judge the answer; never raises for what a judge or its endpoint does.

        `judges` gives the judges of the run; one with the name of the `model_under_test` judges
        itself.
        """
        self._calls.begin(state)
        output = state.output

        def panel() -> list[Judge]:
            return [
                judge_of(model, self._temperature, self._cache, model_under_test, self._calls)
                for model in judges()
            ]

        judged = await self._judging.judge(_answer(state, target), panel, _collect)
        self._warn(judged, model_under_test)
        facts: dict[str, Any] = {
            "answer": output.completion,
            "explanation": judged.explanation,
            "metadata": dict(judged.metadata),
        }
        if judged.value is not None:
            return Score(value=dict(judged.value), reason=judged.reason, **facts)
        return Score.unscored(reason=judged.reason or "scoring_failed", **facts)

    def refuse_other_judging(
        self, earlier: Score, state: TaskState, target: Target, judges: Sequence[Model]
    ) -> None:
        """Raise `InputError` if an earlier score was judged in another way.

        That is by other judges, at another temperature or with another prompt.
        """
        facts = earlier.metadata or {}
        names = [str(model) for model in judges]
        names_before = [name for name, _ in facts.get("judge_finals", ())]
        if not names_before:
            names_before = facts.get("judges_not_asked", names)
        configs = [_judge_config(model, self._temperature, self._cache) for model in judges]
        temperatures = [config.temperature for config in configs]
        asked_before = facts.get("judges") or ()
        before = [judge.get("temperature_requested") for judge in asked_before]
        prompt = self._judging.prompt(_answer(state, target))
        sha256 = None if isinstance(prompt, JudgeFailure) else prompt.sha256
        compared = (
            ("judge", choices(names_before), choices(names)),
            ("temperature", choices(before or temperatures), choices(temperatures)),
            ("prompt_sha256", facts.get("prompt_sha256", sha256), sha256),
        )
        for what, then, now in compared:
            if then != now:
                raise InputError(
                    f"only_unscored: sample {state.sample_id} was judged with {what} {then}, not"
                    f" {now}; scores of two settings do not mix. Give those of that log, or judge"
                    " all answers again"
                )

    def _warn(self, judged: Judged, model: str) -> None:
        """Warn once per run of a failed judge, a cut answer, and what no judge can see."""
        warnings: dict[str, str] = {}
        if not_shown := judged.metadata.get(NOT_SHOWN):
            warnings["not shown"] = (
                "A question or an answer holds what the judge cannot see"
                f" ({named_kinds(not_shown)}), for the first time in this run. The prompt names it"
                " at its place; such answers are counted as 'not shown'."
            )
        for judgement in judged.metadata.get("judges", ()):
            if judgement.get("failure_mode") == "call_failed":
                warnings[f"failed/{judgement['judge']}"] = (
                    f"The judge {judgement['judge']} failed, for the first time in this run: "
                    f"{judgement['failure_detail']} "
                    f"{SCORE_LATER} `inspect score LOG {JUDGE_THE_REST}` judges only those."
                )
        if judged.metadata.get("answer_stop_reason") in STOPPED_AT_LIMIT:
            warnings[f"cut off/{model}"] = (
                f"An answer of {model} was cut off at the token limit, for the first time in this"
                " run. Answers that are cut off keep their scores and are counted as"
                " answer_cut_off, or as no_response_cut_off where nothing was left of them; raise"
                " --max-tokens if the model needs more room."
            )
        for warning in self._unkeyed.note(judged.metadata):
            logger.warning(warning)
        for key in warnings.keys() - self._warned:
            self._warned.add(key)
            logger.warning(warnings[key])


def judge_of(
    model: Model, temperature: float | None, cache: bool, model_under_test: str, calls: JudgeCalls
) -> Judge:
    """A model as a judge; its role may set a temperature of its own.

    One with the name of the `model_under_test` judges itself. `calls` is what its calls share with
    those of others.
    """
    config = _judge_config(model, temperature, cache)

    async def call_by_schema(schema: Schema | None, messages: Sequence[Message]) -> Reply:
        output, facts = await calls.generate(model, chat_messages(messages), config, schema)
        stop_reason = "unknown"
        if output.choices:
            stop_reason = output.stop_reason
        return Reply(
            output.completion, stop_reason, output.error or "", facts.sent, facts.structured
        )

    name = str(model)
    call = partial(call_by_schema, None)
    return Judge(name, call, config.temperature, name == model_under_test, call_by_schema)


def _judge_config(model: Model, temperature: float | None, cache: bool) -> GenerateConfig:
    """How a judge is called; its role may set a temperature of its own."""
    # Without a role the judge is the model under test, whose own temperature is meant for its
    # answers.
    own = None
    if model.role:
        own = model.config.temperature
    return GenerateConfig(
        temperature=temperature if own is None else own, cache=True if cache else None
    )


def _answer(state: TaskState, target: Target) -> Answer:
    """The answer of a sample, with what it answers."""
    output = state.output
    metadata = state.metadata or {}
    return Answer(
        intent=str(metadata.get("intent", "")),
        language=str(metadata.get("language", "")),
        question=asked(state),
        reference=target.text,
        text=output.completion if output.choices else None,
        stop_reason=output.stop_reason if output.choices else "unknown",
        error=output.error or "",
        parts=not_all_text(output.message) if output.choices else None,
    )


async def _collect(judgements: Sequence[Awaitable[Judgement]]) -> Sequence[Judgement]:
    return await collect(*judgements)
