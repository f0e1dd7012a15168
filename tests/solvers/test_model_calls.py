"""Calls of models of the harness: tiny requests before a run, calls that stop, temperatures that
were sent.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval, score
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    StopReason,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState

from tests.servers import (
    DROPS,
    ChatServer,
    LoopbackServer,
    Request,
    Response,
    Script,
    fails,
    says,
    serving,
)
from tests.tasks.commands import refused
from tests.tasks.scripted import Script as Judge
from tests.tasks.scripted import judged, one_case, output, run, samples_of, say, score_of
from tests.telling import tells
from urs_inspect import mad, md_eval, urs
from urs_inspect._util import InputError
from urs_inspect.judging._ask import GIVE_UP, CircuitBreaker
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.scorers import intent_judge
from urs_inspect.solvers import _model_calls as model_calls
from urs_inspect.solvers import _preflight as preflight

FINAL_7 = says(json.dumps({"Final Score": 7}))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    context: AbstractContextManager[ChatServer] = serving(lambda request: FINAL_7, monkeypatch)
    with context as running:
        yield running


def at(server: ChatServer, name: str = "judge") -> Model:
    return get_model(
        f"openai-api/local/{name}",
        base_url=server.url,
        memoize=False,
        config=GenerateConfig(max_retries=0),
        max_retries=0,  # of the client library
    )


def weak(
    tmp_path: Path, grader: Any, limit: int | None, *, preflight: bool = False, **options: Any
) -> EvalLog:
    """The log of a run with a simulated model and these judges, one sample after the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("URS_INSPECT_PREFLIGHT", str(preflight).lower())
        task = urs(dataset="sample")
    return run(
        task,
        tmp_path,
        model="urs_simulation/weak",
        grader=grader,
        limit=limit,
        max_samples=1,
        **options,
    )


def only(model: str, response: Response) -> Script:
    """One model gets this response to everything, all others work."""
    return lambda request: response if request.model == model else FINAL_7


def to_judges(response: Response) -> Script:
    """This response to every call of a judge: only judges are sent a system message here."""
    return lambda request: (
        response if request.messages[0]["role"] == "system" else says("An answer.")
    )


def metadata_of(log: EvalLog) -> list[dict[str, Any]]:
    return [(sample.scores or {})["intent_judge"].metadata or {} for sample in samples_of(log)]


def outcomes(log: EvalLog) -> dict[str, int]:
    return dict(Counter(str(facts["outcome"]) for facts in metadata_of(log)))


# Before the first sample


def test_command_with_a_refused_judge_ends_before_anything_is_asked(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script = only("judge", fails(401))
    refusal = refused(
        *("eval", "urs_inspect/urs", "-T", "dataset=sample", "--model", "openai-api/local/answers"),
        *("--model-role", "grader=openai-api/local/judge", "--display", "none"),
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    assert refusal.status == 1
    for part in ("grader openai-api/local/judge", "401", "URS_INSPECT_PREFLIGHT=false"):
        assert part in refusal.error
    assert (server.count("judge"), server.count("answers")) == (1, 0)


def refusing(status: int, words: str) -> Response:
    return Response(status, json.dumps({"error": {"message": words, "type": "scripted"}}).encode())


@pytest.mark.parametrize("value", ["no", "", "True", "0", " true"])
def test_another_value_than_true_or_false_in_the_environment_is_refused(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URS_INSPECT_PREFLIGHT", value)
    words = f"URS_INSPECT_PREFLIGHT: must be true or false, got '{value}'"
    with pytest.raises(InputError, match=words):
        urs(dataset="sample")


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (fails(403), "403"),
        (fails(404), "404"),
        (refusing(400, "API_KEY_INVALID"), "API_KEY_INVALID"),
        (refusing(400, "authentication failed"), "authentication failed"),
    ],
)
def test_script_with_a_refused_judge_ends_before_the_first_answer(
    refusal: Response, said: str, server: ChatServer, tmp_path: Path
) -> None:
    server.script = only("judge", refusal)
    log = run(
        urs(dataset="sample"),
        tmp_path,
        model=at(server, "answers"),
        grader=at(server),
        max_samples=1,
    )
    assert log.status == "error" and log.error is not None
    assert "openai-api/local/judge" in log.error.message and said in log.error.message
    assert (server.count("judge"), server.count("answers")) == (1, 0)


def test_every_judge_of_a_panel_is_checked_once_and_no_sample_counts_it(
    server: ChatServer, tmp_path: Path
) -> None:
    panel = [at(server, "a"), at(server, "b")]
    log = weak(tmp_path, panel, 3, preflight=True)
    assert log.status == "success"
    assert (server.count("a"), server.count("b")) == (1 + 3, 1 + 3)
    for sample in samples_of(log):
        assert sample.role_usage["grader"].total_tokens == 2 * 2  # each reply of the server has two


@pytest.mark.parametrize(
    ("fault", "warned"), [(fails(500), True), (DROPS, True), (fails(400), False)]
)
def test_faults_that_may_pass_are_warnings_and_models_that_refuse_tiny_replies_none_the_worse(
    fault: Response,
    warned: bool,
    server: ChatServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.script = lambda request: fault if request.number == 0 else FINAL_7
    log = weak(tmp_path, at(server), 2, preflight=True)
    assert outcomes(log) == {"judged": 2}
    warnings = [one.getMessage() for one in caplog.records if "first request" in one.getMessage()]
    assert len(warnings) == warned and all("openai-api/local/judge" in one for one in warnings)


def test_models_are_checked_at_the_same_time(server: ChatServer, tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def script(request: Request) -> Response:
        try:
            if request.number == 0:
                together.wait(10)
        except threading.BrokenBarrierError:
            return fails(404)
        return FINAL_7

    server.script = script
    panel = [at(server, name) for name in "abc"]
    log = weak(tmp_path, panel, 1, preflight=True)
    assert outcomes(log) == {"judged": 1}


def test_models_that_take_long_to_reply_are_named(
    server: ChatServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(preflight, "_PATIENCE_S", 0.4)
    slow = replace(FINAL_7, delay=0.9)
    server.script = only("slow", slow)
    panel = [at(server, "slow"), at(server, "quick")]
    weak(tmp_path, panel, 1, preflight=True)
    [line] = [one.getMessage() for one in caplog.records if "Waiting" in one.getMessage()]
    assert "grader openai-api/local/slow" in line and "quick" not in line


def test_every_refused_model_is_named(server: ChatServer, tmp_path: Path) -> None:
    server.script = lambda request: fails(401 if request.model == "a" else 404)
    panel = [at(server, "a"), at(server, "b")]
    log = weak(tmp_path, panel, None, preflight=True)
    assert log.error is not None
    assert all(part in log.error.message for part in ("local/a", "401", "local/b", "404"))


@pytest.fixture
def vllm_starts(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Models for which the harness starts a server of vLLM, which is that of the test."""
    vllm = pytest.importorskip("inspect_ai.model._providers.vllm")
    started: list[str] = []
    processes: list[subprocess.Popen[bytes]] = []

    def start(
        self: Any, model_path: str, port: int | None = None
    ) -> tuple[str, subprocess.Popen[bytes], int]:
        started.append(model_path)
        processes.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
        return server.url, processes[-1], 0

    monkeypatch.setattr(vllm.VLLMAPI, "_start_server", start)
    monkeypatch.setattr(vllm, "_vllm_servers", {})
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    yield started
    for process in processes:
        process.kill()
        process.wait()


def test_server_that_the_harness_starts_itself_is_started_once(
    vllm_starts: list[str],
    server: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = refused(
        *(
            "eval",
            "urs_inspect/urs",
            "-T",
            "dataset=sample",
            "--model",
            "urs_simulation/weak",
            "--limit",
            "2",
        ),
        *("--model-role", "grader=vllm/some/judge", "--display", "none", "--max-samples", "1"),
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    assert ended.status in (None, 0)
    assert (
        vllm_starts == ["some/judge"] and server.count("some/judge") == 1 + 2
    )  # with the tiny request


def test_server_of_vllm_that_is_there_already_is_asked_before_the_run(
    vllm_starts: list[str], server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = lambda request: fails(401)
    judge = get_model("vllm/some/judge", base_url=server.url, memoize=False)
    monkeypatch.setattr(preflight, "roles_known", lambda: True)
    monkeypatch.setattr(preflight, "bound_models", lambda role: [judge])
    with pytest.raises(InputError, match=r"vllm/some/judge .*401"):
        preflight.preflight_setup(["grader"])
    assert vllm_starts == [] and server.count() == 1


def test_refused_contestant_ends_a_competition_before_any_answer(
    server: ChatServer, tmp_path: Path
) -> None:
    server.script = only("b", fails(404))
    roles: dict[str, Any] = {"contestant": [at(server, "a"), at(server, "b")], "grader": at(server)}
    [log] = eval(
        mad(pool="sample", pool_size=4, k=1),
        model="none",
        model_roles=roles,
        display="log",
        log_dir=str(tmp_path),
        max_samples=1,
    )
    assert log.status == "error" and log.error is not None
    assert "contestant openai-api/local/b" in log.error.message and "404" in log.error.message
    assert (server.count("a"), server.count("b")) == (1, 1)  # tiny requests


@pytest.mark.data
def test_refused_model_that_judges_pairs_ends_the_run(
    server: ChatServer, tmp_path: Path, data_dir: Path
) -> None:
    server.script = only("judge", fails(401))
    log = run(md_eval(), tmp_path, model=at(server), grader=None, max_samples=1)
    assert log.status == "error" and server.count() == 1


# When calls stop


def test_judge_that_fails_again_and_again_is_no_longer_called(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = only("judge", fails(401))
    log = weak(tmp_path, at(server), GIVE_UP + 5)

    assert log.status == "success" and server.count() == GIVE_UP
    assert outcomes(log) == {"unscored_call_failed": GIVE_UP + 5}
    assert all(sample.output.completion for sample in samples_of(log))
    judges = [facts["judges"][0] for facts in metadata_of(log)]
    assert sorted(one["calls"] for one in judges) == [0] * 5 + [1] * GIVE_UP
    for one in judges:
        assert (one["calls"] == 0) == (tells(one["failure_detail"], f"{GIVE_UP} times"))
        assert "scripted 401" in one["failure_detail"]
    said = [
        one
        for one in caplog.records
        if f"{GIVE_UP} times in a row" in one.getMessage() and one.levelname == "ERROR"
    ]
    assert len(said) == 2  # when it stops, and below the results
    assert all(
        "openai-api/local/judge" in one.getMessage() and "inspect score" in one.getMessage()
        for one in said
    )


def test_calls_under_way_when_a_judge_is_stopped_do_not_report_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(model_calls, "_report_at_run_end", said.append)
    model = Judge("Yes.").model()
    calls = model_calls.JudgeCalls()

    async def refused(schema: object) -> ModelOutput:
        await asyncio.sleep(0)
        return output("", error="gone")

    async def ask() -> None:
        messages = [ChatMessageUser(content="Is it?")]
        asking = [
            calls.watch(model, messages, GenerateConfig(), refused) for _ in range(GIVE_UP + 5)
        ]
        await asyncio.gather(*asking)

    asyncio.run(ask())
    assert len(said) == 1


@pytest.mark.usefixtures("no_preflight")
def test_command_ends_with_status_1_when_a_judge_was_stopped_and_keeps_its_log(
    server: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.script = only("judge", fails(401))
    ended = refused(
        *(
            "eval",
            "urs_inspect/urs",
            "-T",
            "dataset=sample",
            "--model",
            "urs_simulation/weak",
        ),
        *(
            "--model-role",
            "grader=openai-api/local/judge",
            "--display",
            "none",
            "--log-dir",
            str(tmp_path / "kept"),
        ),
        *("--limit", str(GIVE_UP + 1), "--max-samples", "1"),
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    assert ended.status == 1 and server.count() == GIVE_UP
    [log] = list_eval_logs(str(tmp_path / "kept"))
    header = read_eval_log(log)
    assert header.status == "success" and len(samples_of(header)) == GIVE_UP + 1


FEW = 4


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges are given up after few failures in a row, so that runs are short."""
    monkeypatch.setattr(model_calls, "CircuitBreaker", lambda: CircuitBreaker(FEW))


@pytest.mark.usefixtures("no_preflight")
def test_calls_begin_anew_in_the_next_run_of_the_same_task(
    few: None, server: ChatServer, tmp_path: Path
) -> None:
    task = urs(dataset="sample")
    judge = at(server)
    for response, outcome in ((fails(401), "unscored_call_failed"), (FINAL_7, "judged")):
        server.script = only("judge", response)
        log = run(
            task, tmp_path, model="urs_simulation/weak", grader=judge, limit=FEW + 1, max_samples=1
        )
        assert outcomes(log) == {f"{outcome}": FEW + 1}


@pytest.mark.usefixtures("no_preflight")
def test_calls_of_a_model_that_judges_itself_begin_anew_in_the_next_run(
    few: None, server: ChatServer, tmp_path: Path
) -> None:
    task = urs(dataset="sample")
    model = at(server)
    for response, outcome in ((fails(401), "unscored_call_failed"), (FINAL_7, "judged")):
        server.script = to_judges(response)
        log = run(task, tmp_path, model=model, limit=FEW + 1, max_samples=1)
        assert outcomes(log) == {outcome: FEW + 1}


def test_judge_of_a_panel_that_stops_leaves_the_others_to_judge(
    few: None, server: ChatServer, tmp_path: Path
) -> None:
    server.script = only("judge", fails(404))
    size = FEW + 2
    panel = [at(server), at(server, "alive")]
    log = weak(tmp_path, panel, size)
    assert outcomes(log) == {"partial_panel": size}
    assert (server.count("judge"), server.count("alive")) == (FEW, size)


CUT: tuple[StopReason, ...] = ("content_filter", "model_length", "max_tokens")


@pytest.mark.usefixtures("no_preflight")
@pytest.mark.parametrize(
    "reply",
    [
        *(output("cut", reason, error="the provider's words") for reason in CUT),
        TimeoutError("slow"),
    ],
)
def test_replies_that_were_withheld_too_long_or_too_slow_stop_no_judge(
    few: None, reply: Any, tmp_path: Path
) -> None:
    script, size = Judge(reply), FEW + 3
    task = urs(dataset="sample", judge_calls={"attempts": 1})
    log = run(
        task,
        tmp_path,
        model="urs_simulation/weak",
        grader=script.model(),
        limit=size,
        max_samples=1,
    )
    assert len(script.seen) == size
    assert all(facts["judges"][0]["calls"] == 1 for facts in metadata_of(log))


def test_judge_whose_replies_are_errors_is_no_longer_called(few: None, tmp_path: Path) -> None:
    """Some clients put a refusal into a reply and raise nothing."""
    script = Judge(output("", error="the key is not valid"))
    task = urs(dataset="sample", judge_calls={"attempts": 1})
    judges = {"model": "urs_simulation/weak", "grader": script.model()}
    log = run(task, tmp_path, **judges, limit=FEW + 3, max_samples=1)
    assert len(script.seen) == FEW
    assert outcomes(log) == {"unscored_call_failed": FEW + 3}


def test_the_status_of_a_call_is_found_wherever_a_client_puts_it() -> None:
    refusal = RuntimeError("refused")
    refusal.status_code = 401  # type: ignore[attr-defined]
    wrapped = RuntimeError("the call failed")
    wrapped.__cause__ = refusal
    of_aws = RuntimeError("refused")
    of_aws.response = {"ResponseMetadata": {"HTTPStatusCode": 403}}  # type: ignore[attr-defined]
    errors = (refusal, wrapped, of_aws, RuntimeError("none"))
    assert [model_calls.http_status(error) for error in errors] == [401, 401, 403, None]
    assert model_calls.refusal_of(wrapped) == "401, not authorized; check its API key"


@pytest.mark.parametrize("fault", [fails(429), fails(503), DROPS])
def test_faults_that_may_pass_stop_no_judge(
    few: None, fault: Response, server: ChatServer, tmp_path: Path
) -> None:
    """As when a server fails for a minute."""
    server.script = lambda request: fault if request.number < FEW + 5 else FINAL_7
    size = FEW + 7
    log = weak(tmp_path, at(server), size)
    assert server.count() == size
    assert outcomes(log) == {"unscored_call_failed": FEW + 5, "judged": 2}


def test_fault_that_may_pass_neither_counts_nor_begins_the_count_anew(
    few: None, server: ChatServer, tmp_path: Path
) -> None:
    server.script = lambda request: fails(503 if request.number == FEW - 1 else 401)
    size = FEW + 5
    weak(tmp_path, at(server), size)
    assert server.count() == FEW + 1


def test_judge_whose_server_refuses_connections_is_no_longer_called(
    few: None, server: ChatServer, tmp_path: Path
) -> None:
    judge = at(server)
    server.stop()
    size = FEW + 2
    log = weak(tmp_path, judge, size)
    assert sum(facts["judges"][0]["calls"] for facts in metadata_of(log)) == FEW


@scorer(metrics=[mean()])
def raises_once() -> Scorer:
    """Raises at its first sight of a sample."""
    seen: set[object] = set()

    async def score(state: TaskState, target: Target) -> Score:
        if state.sample_id not in seen:
            seen.add(state.sample_id)
            raise RuntimeError("once")
        return Score(value=1)

    return score


def test_samples_that_are_tried_again_do_not_begin_calls_anew(
    few: None, server: ChatServer, tmp_path: Path
) -> None:
    server.script = only("judge", fails(401))
    samples = [one_case().model_copy(update={"id": number}) for number in range(FEW + 5)]
    task = Task(
        dataset=MemoryDataset(samples), solver=say("Yes."), scorer=[intent_judge(), raises_once()]
    )
    log = run(task, tmp_path, model="none", grader=at(server), max_samples=1, retry_on_error=1)
    assert log.status == "success" and server.count() == FEW


def pairs_file(tmp_path: Path, count: int, **given: str) -> str:
    texts = {
        "prompt": "Hello?",
        "response_a": "Hi!",
        "response_b": "Go away.",
        "winner": "a",
        **given,
    }
    lines = [json.dumps({"id": f"p{number}", **texts}) for number in range(count)]
    (path := tmp_path / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.satellites
@pytest.mark.usefixtures("no_preflight")
@pytest.mark.parametrize("given", [{"scenario": "chitchat"}, {}])
def test_model_that_annotates_pairs_is_no_longer_called_either(
    few: None, given: dict[str, str], server: ChatServer, tmp_path: Path
) -> None:
    from urs_inspect.samer._annotate_task import samer_annotate

    server.script = lambda request: fails(401)
    task = samer_annotate(pairs_file(tmp_path, FEW + 3, **given), orders="ab")
    log = run(task, tmp_path / "logs", model="none/none", grader=at(server), max_samples=1)
    assert log.status == "success" and server.count() == FEW


@pytest.mark.usefixtures("no_preflight")
def test_model_that_is_asked_for_similarities_is_no_longer_called_either(
    few: None, server: ChatServer, tmp_path: Path
) -> None:
    server.script = lambda request: (
        fails(401)
        if request.model == "similar"
        else says(f"{request.model} {request.messages[-1]['content']}")
    )
    pool = tmp_path / "pool.jsonl"
    lines = [
        json.dumps({"id": f"i{number}", "instruction": f"Write {number}."}) for number in range(40)
    ]
    pool.write_text("\n".join(lines), encoding="utf-8")
    roles: dict[str, Any] = {
        "contestant": [at(server, "a"), at(server, "b")],
        "grader": at(server),
        "similarity": at(server, "similar"),
    }
    task = mad(str(pool), k=1, similarity="llm", selection={"shortlist": 40})
    eval(task, model="none", model_roles=roles, display="log", log_dir=str(tmp_path / "logs"))
    assert FEW <= server.count("similar") < FEW + 32  # so many are under way at once


@pytest.mark.usefixtures("no_preflight")
@pytest.mark.data
def test_model_that_judges_pairs_is_no_longer_called_either(
    few: None, server: ChatServer, tmp_path: Path, data_dir: Path
) -> None:
    server.script = only("judge", fails(401))
    log = run(
        md_eval(),
        tmp_path,
        model=at(server),
        grader=None,
        limit=FEW + 3,
        max_samples=1,
    )
    assert log.status == "success" and server.count() == FEW
    modes = [(sample.scores or {})["pair_verdict"].metadata or {} for sample in samples_of(log)]
    assert [facts["failures"] for facts in modes] == [["call_failed"]] * (FEW + 3)


# Temperatures


def temperatures(log: EvalLog) -> tuple[object, object]:
    [judge] = (score_of(log).metadata or {})["judges"]
    return judge["temperature_requested"], judge["temperature_sent"]


def openai_model(server: ChatServer, name: str) -> Model:
    return get_model(
        f"openai/{name}", base_url=server.url, api_key="none", responses_api=False, memoize=False
    )


def test_a_call_has_its_own_temperature_also_where_a_later_one_sent_the_same_words() -> None:
    model = Judge("Yes.").model()
    messages: list[ChatMessage] = [ChatMessageUser(content="Is it?")]

    async def both(schema: object) -> ModelOutput:
        asked = await model.generate(messages, config=GenerateConfig(temperature=0))
        await model.generate(messages, config=GenerateConfig(temperature=0.7))
        return asked

    calls = model_calls.JudgeCalls().watch(model, messages, GenerateConfig(temperature=0), both)
    _, facts = asyncio.run(calls)
    assert facts.requested == 0


def test_temperature_that_was_sent_is_recorded(server: ChatServer, tmp_path: Path) -> None:
    assert temperatures(judged(tmp_path, at(server))) == (0.0, 0.0)
    assert temperatures(judged(tmp_path, at(server), temperature=0.7)) == (0.7, 0.7)
    assert temperatures(judged(tmp_path, at(server), temperature=None)) == (None, None)
    assert temperatures(judged(tmp_path, openai_model(server, "gpt-4o"), temperature=0.7)) == (
        0.7,
        0.7,
    )


class MessagesServer(LoopbackServer):
    """Speaks enough of Anthropic's protocol; `bodies` holds what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[dict[str, Any]] = []

    def post(self, path: str, body: dict[str, Any], key: str | None) -> Response:
        self.bodies.append(body)
        message = {
            "id": "msg_0",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": json.dumps({"Final Score": 7})}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return Response(body=json.dumps(message).encode())


def test_temperature_that_the_client_of_anthropic_drops_is_recorded_as_not_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    messages = MessagesServer()
    messages.start()
    # The client streams longer replies, which this server does not.
    options: dict[str, Any] = {
        "streaming": False,
        "memoize": False,
        "config": GenerateConfig(max_tokens=1000),
    }
    judge = get_model(
        "anthropic/claude-sonnet-4-5", base_url=messages.address, api_key="none", **options
    )
    try:
        log = judged(tmp_path, judge)
    finally:
        messages.stop()
    assert temperatures(log) == (0.0, None)
    assert [body.get("temperature") for body in messages.bodies] == [None]
    assert_warned_once(caplog, "anthropic/claude-sonnet-4-5")


def test_temperature_that_a_reasoning_model_does_not_take_is_recorded_as_not_sent(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = weak(tmp_path, openai_model(server, "o3-mini"), 3)
    found = [facts["judges"][0] for facts in metadata_of(log)]
    assert [(one["temperature_requested"], one["temperature_sent"]) for one in found] == [
        (0.0, None)
    ] * 3
    assert_warned_once(caplog, "openai/o3-mini")


def assert_warned_once(caplog: pytest.LogCaptureFixture, model: str) -> None:
    warned = [one.getMessage() for one in caplog.records if "temperature_sent" in one.getMessage()]
    assert len(warned) == 1 and model in warned[0]


def test_nothing_is_claimed_of_a_request_that_the_harness_did_not_keep(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = judged(tmp_path, at(server))
    again = score(
        log, intent_judge(), model_roles={"grader": at(server)}, action="overwrite", display="log"
    )
    assert temperatures(again) == (0.0, "unknown")
    assert "temperature_sent" not in caplog.text


@pytest.mark.satellites
@pytest.mark.usefixtures("no_preflight")
@pytest.mark.parametrize("scenario", ["", "chitchat"])
def test_temperatures_of_models_that_annotate_pairs_are_recorded(
    scenario: str, server: ChatServer, tmp_path: Path
) -> None:
    from urs_inspect.samer._annotate_task import samer_annotate

    names = load_taxonomy().scenarios["chitchat"].dimensions
    verdicts = {name: {"comparison": "x", "winner": "1"} for name in [*names, "Overall"]}
    server.script = lambda request: says(
        json.dumps({"scenario": "chitchat"} if request.model == "names" else verdicts)
    )
    task = samer_annotate(pairs_file(tmp_path, 1, scenario=scenario))
    roles: dict[str, Any] = {
        "grader": openai_model(server, "o3-mini"),
        "classifier": at(server, "names"),
    }
    [log] = eval(
        task, model="none/none", model_roles=roles, display="log", log_dir=str(tmp_path / "logs")
    )
    facts = score_of(log, "annotated_pair").metadata or {}
    assert (facts["temperature_requested"], facts["temperature_sent"]) == ([0.0], [None])
    found = (
        facts.get("scenario_temperature_requested", "none"),
        facts.get("scenario_temperature_sent", "none"),
    )
    assert found == (("none", "none") if scenario else (0.0, 0.0))


@pytest.mark.usefixtures("no_preflight")
@pytest.mark.data
def test_temperature_of_a_model_that_judges_pairs_is_recorded(
    server: ChatServer, tmp_path: Path, data_dir: Path
) -> None:
    for model, sent in ((at(server), 0.0), (openai_model(server, "o3-mini"), None)):
        log = run(md_eval(), tmp_path, model=model, grader=None, limit=1)
        facts = score_of(log, "pair_verdict").metadata or {}
        assert (facts["temperature_requested"], facts["temperature_sent"]) == ([0.0], [sent])
