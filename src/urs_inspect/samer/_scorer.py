"""SaMer as scorer, its metrics, and how the evaluations ended."""

import math
from collections.abc import Mapping, Sequence
from functools import cache, partial
from logging import getLogger
from pathlib import Path
from typing import Any

import pandas as pd
from anyio import to_thread
from inspect_ai.hooks import Hooks, RunEnd, hooks
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

from urs_inspect._arguments import Count, Text, check, checked
from urs_inspect.datasets._conversations import NOT_SHOWN, TURNS_NOT_SEEN
from urs_inspect.judging._scores import last_score
from urs_inspect.samer._checkpoint import Dtype, fingerprint
from urs_inspect.samer._conversation import Bos, Overlong
from urs_inspect.samer._engines import EngineFailure, QueryResponse
from urs_inspect.samer._engines.protocol import Engine
from urs_inspect.samer._engines.shared import check_engine, close_engines, shared_engine
from urs_inspect.samer._evaluation import WeightsAt
from urs_inspect.samer._judgement import (
    Judgement,
    engine_facts,
    explain_judgement,
    judge,
    judgement_facts,
    score_values,
)
from urs_inspect.samer._options import SamerOptions
from urs_inspect.samer._reward import REWARD, Kind
from urs_inspect.scorers._metrics import (
    cluster_of,
    count_rows,
    facts_of,
    groups_of,
    interval_rows,
    number_of,
    value_of,
)
from urs_inspect.solvers._conversations import asked

logger = getLogger(__name__)


async def engine_of_run(choice: SamerOptions) -> Engine | EngineFailure:
    """The engine of a choice, as `shared_engine` opens it; it is closed however the run ends."""
    _close_after_runs()
    return await shared_engine(choice, concurrency)


@cache
def _close_after_runs() -> None:
    # When an engine is used and not before, because the harness prints at the start of each command
    # the hooks that it finds then.
    @hooks("samer_engines", "Closes SaMer's engines at the end of a run.")
    class _ClosingEngines(Hooks):
        async def on_run_end(self, data: RunEnd) -> None:
            await close_engines()


OVERALL = "overall"
SCALE = (0.0, 1.0)
_GROUPS = ("intent_group", "language")
_COUNTS = {
    "no response": "no_response",
    "shortened": "shortened",
    "empty selection": "empty_selection",
}


@metric(scores="unreduced")
def samer_report(headline: str = OVERALL) -> Metric:
    """The overall score or reward with its interval, means by group, and counts.

    Groups are by intent and language; counts are of everything special.

    One metric of the whole score, because the harness copies every score once for each key that has
    metrics of its own, at every refresh of the display.

    Rows: `overall`; `low` and `high`, its 95% interval, and `stderr`; `overall
    intent_group=<intent>`
        and `overall language=<code>`, if there are several; counts of `no response`, `shortened`,
        `empty selection` and `failures <mode>`, and `not all seen`, answers to more than one
        message of text, if there are any. Epochs of a sample are averaged first, so that intervals
        are over samples. The 42 dimensions and the means by scenario are in `urs-inspect samer
        weights`. Of a reward model also the mean of each output.
    """

    def compute(scores: list[SampleScore]) -> Value:
        frame = pd.DataFrame(map(_row, scores), columns=[*_GROUPS, "sample", "cluster"])
        frame[headline] = [number_of(score, headline) for score in scores]
        scored = frame.dropna(subset=[headline])
        samples = scored.groupby("sample", sort=False)
        scale = None
        if headline == OVERALL:
            scale = SCALE
        clusters = samples["cluster"].first().tolist()
        rows = interval_rows(headline, samples[headline].mean().tolist(), scale, clusters)
        if headline == REWARD:
            rows |= _output_rows(scores, frame["sample"])
        for key in _GROUPS:
            groups = scored.groupby(key)
            if len(groups) < 2:
                continue
            for group, own in groups:
                mean = own.groupby("sample")[headline].mean().mean()
                rows[f"{headline} {key}={group}"] = float(mean)
        return {**rows, **_special_rows(list(map(facts_of, scores)), headline)}

    return compute


def _row(score: SampleScore) -> tuple[str | None, ...]:
    """Groups of a score, None where its sample names none; then its sample and cluster."""
    facts = score.sample_metadata or {}
    groups = [str(facts[key]) if facts.get(key) else None for key in _GROUPS]
    return (*groups, str(score.sample_id), cluster_of(score))


def _output_rows(scores: Sequence[SampleScore], samples: "pd.Series[str]") -> dict[str, float]:
    """The mean of each output of a reward model."""
    values = pd.DataFrame([dict(value_of(score)) for score in scores]).astype(float)
    means = values.groupby(samples.to_numpy()).mean().mean()
    return {str(name): float(mean) for name, mean in means.items()}


def _special_rows(facts: Sequence[Mapping[str, Any]], headline: str) -> dict[str, float]:
    """Counts of everything special, and of failures by mode."""
    flags = dict(_COUNTS)
    if headline != OVERALL:
        del flags["empty selection"]  # a reward model selects nothing
    rows = {}
    for title, flag in flags.items():
        count = sum(bool(fact.get(flag)) for fact in facts)
        rows[title] = float(count)
    unseen = sum(bool(fact.get(TURNS_NOT_SEEN) or fact.get(NOT_SHOWN)) for fact in facts)
    if unseen:
        rows["not all seen"] = float(unseen)
    modes = filter(None, (fact.get("failure_mode") for fact in facts))
    return rows | count_rows("failures", map(str, modes))


@scorer(metrics=[samer_report()])
@checked
def samer(  # noqa: PLR0913 - an argument of a scorer is an option of a run
    model: Text,
    engine: Text = "auto",
    weights_at: WeightsAt | None = None,
    bos: Bos = "single",
    overlong: Overlong = "shorten",
    max_length: Count | None = None,
    folder: Text | None = None,
    dtype: Dtype = "auto",
    engine_options: dict[str, Any] | None = None,
) -> Scorer:
    """Score answers with a SaMer model (SaMer paper, section 4): no judge model is called.

    The value holds `overall` (0 to 1) and every dimension: its score (0 to 1) if the model selects
    it for the query, and NaN if not. Selection, weights and the heads' raw outputs are in the
    metadata. The query is the text of the last user message of the input. SaMer has no place for
    earlier turns, system messages or a reference; `metadata["turns_not_seen"]` says how many
    messages of the conversation it did not see, `metadata["not_shown"]` what is no text.

    An empty answer has 0 overall and on every selected dimension, with the reason `no_response`. A
    sample that could not be evaluated has NaN everywhere, `reason` and `metadata["failure_mode"]`;
    that never ends the run.

    An engine in this process is opened for the first answer and closed when the run ends. Scoring a
    finished log is no run: there it stays open until the process ends.

    Args:
        model: Folder of a checkpoint, or address of a vLLM server.
        engine: `vllm`, `server`, `transformers`; `auto`: `server` for an address, else `vllm` if it
            is installed, else `transformers`.
        weights_at: Where weights are read: at the end of the `response` (the released code) or the
            `query` (the paper). By default where the heads' file says, else `response`; if the two
            contradict, there is a warning.
        bos: `single`: one start token, as in training; `double`: two, as in the released inference.
        overlong: More tokens than fit: `shorten` cuts the end of the answer and notes it, `error`
            leaves it unscored.
        max_length: Length that the model is run with, by default its limit; query and answer have
            one token less at most.
        folder: For a server on another machine: a folder with its tokeniser and heads.
        dtype: Type that an engine in this process computes the backbone in: `float32`, `bfloat16`,
            `float16`; `auto`: the type of the checkpoint's weights, but with `transformers` on a
            CPU `float32`. The type that was used is in `metadata["samer"]`.
        engine_options: Of vLLM in this process: `gpu_memory_utilization`, `tensor_parallel_size`
            and `max_num_batched_tokens`.

    Returns:
        The scorer.

    Raises:
        InputError: If the folder is no SaMer checkpoint, the server cannot be used, or an argument
            is unknown.
    """
    return _scorer(
        "samer",
        model=model,
        engine=engine,
        weights_at=weights_at,
        bos=bos,
        overlong=overlong,
        max_length=max_length,
        folder=folder,
        dtype=dtype,
        engine_options=engine_options,
    )


def _scorer(kind: Kind, **options: Any) -> Scorer:
    """Scores answers by an engine, which is checked here."""
    choice = check(kind, options, SamerOptions)
    reward = check_engine(choice, concurrency, kind)
    known: dict[str, str] = {}
    cautioned = False

    async def score(state: TaskState, target: Target) -> Score:
        nonlocal cautioned
        answer = state.output.completion
        not_scored = partial(_not_scored, score_values(None, reward), answer)
        if not state.output.choices:
            return not_scored("no_answer", "The model gave no answer at all: a limit, or an error.")
        conversation = asked(state)
        if conversation is None:
            return not_scored(
                "no_query", "The input has no user message, which the evaluator needs."
            )
        opened = await engine_of_run(choice)
        if isinstance(opened, EngineFailure):
            return not_scored(opened.mode, opened.detail)
        [result] = await judge(opened, [QueryResponse(conversation.query, answer)])
        if isinstance(result, EngineFailure):
            return not_scored(result.mode, result.detail)
        if (
            reward is not None
            and not known
            and (folder := Path(getattr(opened, "folder", choice.model))).is_dir()
        ):
            known["fingerprint"] = await to_thread.run_sync(fingerprint, folder)
        unseen = conversation.not_in_query
        if unseen and not cautioned:
            cautioned = True
            logger.warning(
                f"{kind} reads the last message of a user only: of a conversation it does"
                f" not see the other turns, nor what is no text ({', '.join(unseen)}; for the first"
                " time in this run). Such answers are counted as 'not all seen'."
            )
        return _scored(result, {**engine_facts(opened), **known}, answer, unseen)

    return score


def _scored(
    result: Judgement, engine: Mapping[str, Any], answer: str, unseen: Mapping[str, Any]
) -> Score:
    return Score(
        value={**score_values(result)},
        reason="no_response" if result.no_response else None,
        answer=answer,
        explanation=explain_judgement(result),
        metadata={
            "outcome": "no_response" if result.no_response else "scored",
            **judgement_facts(result),
            **unseen,
            "samer" if result.reward is None else "reward_model": engine,
        },
    )


def _not_scored(value: dict[str, float], answer: str, mode: str, detail: str) -> Score:
    return Score(
        value={**value},
        reason="scoring_failed" if mode in {"no_answer", "no_query"} else "grader_failed",
        answer=answer,
        explanation=f"**No score: {mode}.** {detail}",
        metadata={"outcome": f"unscored_{mode}", "failure_mode": mode, "detail": detail},
    )


@scorer(metrics=[samer_report(REWARD)])
@checked
def reward_model(
    model: Text,
    engine: Text = "auto",
    overlong: Overlong = "shorten",
    max_length: Count | None = None,
    folder: Text | None = None,
    dtype: Dtype = "auto",
    description: Text | None = None,
    engine_options: dict[str, Any] | None = None,
) -> Scorer:
    """Score answers with a reward model: a decoder with a linear head at the last token.

    No judge model is called.

    The value holds `reward`, which has no common scale, and each output by name if the head has
    several. An empty answer has the model's own number and the reason `no_response`. What cannot be
    scored has NaN, a reason and `metadata["failure_mode"]`. The model's fingerprint is in
    `metadata["reward_model"]`.

    Args:
        model: Folder of a classifier of transformers, or address of a vLLM server.
        engine: As for `samer`.
        overlong: As for `samer`.
        max_length: As for `samer`.
        folder: For a server on another machine: a folder with its configuration, tokeniser and
            description.
        dtype: As for `samer`.
        description: File that says what the outputs mean; `reward.yaml` in the folder if there is
            one.
        engine_options: As for `samer`.

    Returns:
        The scorer.

    Raises:
        InputError: If the folder is no reward model's, the server cannot be used, or an argument is
            unknown.
    """
    return _scorer(
        "reward_model",
        model=model,
        engine=engine,
        overlong=overlong,
        max_length=max_length,
        folder=folder,
        dtype=dtype,
        description=description,
        engine_options=engine_options,
    )


LEADING = ("first", "second", "third")
"""Keys of the dimensions with the largest weights: one each, because the viewer's columns are
narrow.
"""


@scorer(metrics=[])
def samer_outcome() -> Scorer:
    """Repeat what `samer` left in the metadata of its score as values.

    The viewer's columns are scores.

    Runs after `samer`; calls no model. It is a scorer of its own because the harness makes numbers
    of all values that stand beside one whose mean is taken.

    Returns:
        The scorer; its value holds `evaluation` (`scored`, `no_response`, `unscored_<failure
        mode>`), `percent` (the overall score, 0 to 100, for narrow columns), `first`, `second` and
        `third` (the dimensions with the largest weights, empty where there are fewer), `intent` and
        `language`.
    """

    async def score(state: TaskState, target: Target) -> Score | None:
        last = last_score(state, "samer")
        if last is None:
            return None
        facts = last.metadata or {}
        overall = facts.get("overall")
        return Score(
            value={
                "evaluation": str(facts.get("outcome", "unknown")),
                "percent": math.nan if overall is None else round(100 * overall),
                **_leading(facts.get("weights") or {}),
                **groups_of(state.metadata),
            },
            reason=last.reason,
        )

    return score


def _leading(weights: dict[str, float]) -> dict[str, str]:
    names = [*weights, *[""] * len(LEADING)]  # the largest first
    return dict(zip(LEADING, names, strict=False))
