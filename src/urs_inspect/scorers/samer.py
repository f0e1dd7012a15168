"""`samer`: 42 dimensions of an answer by a SaMer model, those that matter for the query, and their weighted sum."""

import math

from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

from urs_inspect.samer.checkpoint import Dtype
from urs_inspect.samer.conversation import Bos, Overlong
from urs_inspect.samer.engines import Engine, EngineFailure, QueryResponse
from urs_inspect.samer.engines.shared import EngineChoice, check_engine, shared_engine, when_used
from urs_inspect.samer.evaluation import WeightsAt
from urs_inspect.samer.explanation import explain_judgement
from urs_inspect.samer.judgement import Judgement, engine_facts, judge, judgement_facts, score_values
from urs_inspect.scorers.known_arguments import known_arguments
from urs_inspect.scorers.samer_metrics import samer_report
from urs_inspect.scorers.samer_run_end import close_after_run

when_used(close_after_run)  # for solvers in which SaMer judges as well


@scorer(metrics=[samer_report()])
@known_arguments
def samer(
    model: str,
    engine: str = "auto",
    weights_at: WeightsAt | None = None,
    bos: Bos = "single",
    overlong: Overlong = "shorten",
    max_length: int | None = None,
    folder: str | None = None,
    dtype: Dtype = "auto",
) -> Scorer:
    """Score answers with a SaMer model (SaMer paper, section 4): no judge model is called.

    The value holds `overall` (0 to 1) and every dimension: its score (0 to 1) if the model selects it for the query,
    and NaN if not. Selection, weights and the heads' raw outputs are in the metadata. The query is the text of the last
    user message of the input. SaMer has no place for earlier turns, system messages or a reference;
    `metadata["turns_not_seen"]` says how many messages of the input it did not see.

    An empty answer has 0 overall and on every selected dimension, with the reason `no_response`. A sample that could
    not be evaluated has NaN everywhere, `reason` and `metadata["failure_mode"]`; that never ends the run.

    An engine in this process is opened for the first answer and closed when the run ends. Scoring a finished log is no
    run: there the process ends, or a script awaits `samer.engines.shared.close_engines()`.

    Args:
        model: Folder of a checkpoint, or address of a vLLM server.
        engine: `vllm`, `plugin`, `server`, `transformers`; `auto`: `server` for an address, else `vllm` if it is
            installed, else `transformers`.
        weights_at: Where weights are read: at the end of the `response` (the released code) or the `query` (the paper).
            By default where the file of the heads says, else `response`. A warning says if the two contradict.
        bos: `single`: one start token, as in training; `double`: two, as in the released inference.
        overlong: More tokens than fit: `shorten` cuts the end of the answer and says so, `error` leaves it unscored.
        max_length: Length that the model is run with, by default its limit; query and answer have one token less at
            most.
        folder: For a server on another machine: a folder with its tokeniser and heads.
        dtype: Type that an engine in this process computes the backbone in: `float32`, `bfloat16`, `float16`; `auto`:
            the type of the checkpoint's weights, but with `transformers` on a CPU `float32`. What it came to be is in
            `metadata["samer"]`.

    Returns:
        The scorer.

    Raises:
        InputError: If the folder is no SaMer checkpoint, the server cannot be used, or an argument is unknown.
    """
    choice = EngineChoice(model, engine, weights_at, bos, overlong, max_length, folder, dtype)
    check_engine(choice, concurrency)

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        if not state.output.choices:
            return _not_scored("no_answer", "The model gave no answer at all: a limit, or an error.", answer)
        query, not_seen = _query(state)
        if query is None:
            return _not_scored("no_query", "The input has no user message, which SaMer needs.", answer)
        opened = await shared_engine(choice, concurrency)
        if isinstance(opened, EngineFailure):
            return _not_scored(opened.mode, opened.detail, answer)
        [result] = await judge(opened, [QueryResponse(query, answer)])
        if isinstance(result, EngineFailure):
            return _not_scored(result.mode, result.detail, answer)
        return _scored(result, opened, answer, not_seen)

    return score


def _query(state: TaskState) -> tuple[str | None, int]:
    """The query, None if there is none, and how many messages of the input are not part of it."""
    given = state.input
    if isinstance(given, str):
        return given, 0
    if not any(isinstance(message, ChatMessageUser) for message in given):
        return None, len(given)
    return state.input_text, len(given) - 1


def _scored(result: Judgement, engine: Engine, answer: str, not_seen: int) -> Score:
    return Score(
        value={**score_values(result)},
        reason="no_response" if result.no_response else None,
        answer=answer,
        explanation=explain_judgement(result),
        metadata={
            "outcome": "no_response" if result.no_response else "scored",
            **judgement_facts(result),
            **({"turns_not_seen": not_seen} if not_seen else {}),
            "samer": engine_facts(engine),
        },
    )


def _not_scored(mode: str, detail: str, answer: str) -> Score:
    return Score(
        value=dict.fromkeys(score_values(None), math.nan),
        reason="scoring_failed" if mode in {"no_answer", "no_query"} else "grader_failed",
        answer=answer,
        explanation=f"**No score: {mode}.** {detail}",
        metadata={"outcome": f"unscored_{mode}", "failure_mode": mode, "detail": detail},
    )
