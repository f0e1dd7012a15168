"""Records of judged answers, judging by SaMer, and what becomes of a run whose judge fails."""

import json
import math
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lmeval_tasks.conftest import judging
from tests.lmeval_tasks.runs import answering, metric, numbers, records, run, settings
from tests.samer.checkpoints import tiny_checkpoint
from tests.servers import ChatServer, LoopbackServer, Request, Response, fails, says, serving
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.lmeval_tasks import _judging as samer_judging
from urs_inspect.lmeval_tasks._judging import Record, call_failed, of_values, read_record
from urs_inspect.samer._judgement import judge


def test_samer_judges(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "samer", max_positions=2048)
    metadata = {
        "judge": "samer",
        "samer": str(folder),
        "samer_engine": "transformers",
        "urs_dataset": "sample",
    }
    model = answering(lambda question: "" if len(question) % 9 == 0 else f"About {question[:20]}")
    found = run("urs_en", model, metadata, limit=12)
    judged = records(found, "urs_en").values()
    assert [one["explanation"] for one in judged if one["scores"] is None] == []
    values = [one["scores"]["overall"] for one in judged]
    assert len(set(values)) > 5
    assert metric(found, "urs_en", "samer_overall") == pytest.approx(sum(values) / 12)
    assert metric(found, "urs_en", "samer_judge_failed") == 0
    assert not [name for name in found["results"]["urs_en"] if name.startswith("urs_")]


def test_a_folder_that_is_no_samer_is_named_before_anything_is_generated(tmp_path: Path) -> None:
    model = answering(lambda _: "An answer.")
    with pytest.raises(InputError, match="no weights; expected model"):
        run(
            "urs",
            model,
            {"judge": "samer", "samer": str(tmp_path), "urs_dataset": "sample"},
            limit=2,
        )
    assert model.seen == []


def test_an_interrupt_ends_evaluation_after_the_batch_and_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_checkpoint(tmp_path / "samer", max_positions=2048)
    metadata = {
        "judge": "samer",
        "samer": str(folder),
        "samer_engine": "transformers",
        "urs_dataset": "sample",
    }
    evaluate, before = judge, signal.signal(signal.SIGINT, signal.default_int_handler)

    async def interrupted(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return await evaluate(*given)

    monkeypatch.setattr("urs_inspect.samer._judgement.judge", interrupted)
    monkeypatch.setattr(samer_judging, "_BATCH", 2)
    try:
        found = run("urs_en", answering(lambda _: "An answer."), metadata, limit=5)
    finally:
        signal.signal(signal.SIGINT, before)
    judged = records(found, "urs_en").values()
    assert [one["scores"] is not None for one in judged] == [True, True, False, False, False]
    assert {one["response"] for one in judged} == {"An answer."}
    assert metric(found, "urs_en", "samer_judge_failed") == 0.6


def test_a_record_is_read_as_it_was_written() -> None:
    for record in (
        Record(
            response="Ä",
            scores={"final": 7, "clarity": 6.5},
            judge="j",
            outcome="judged",
            explanation="Why.",
            prompt_sha256="0",
            judges=[],
        ),
        call_failed("An answer.", "j", "gone", not_asked=True),
    ):
        assert read_record(json.loads(json.dumps(record.model_dump()))) == record


@pytest.mark.parametrize(
    "judgement",
    [
        None,
        3,
        "An answer.",
        [],
        {"scores": {}},
        {
            "response": "",
            "scores": {"final": "7"},
            "judge": "j",
            "outcome": "judged",
            "explanation": "",
        },
    ],
)
def test_what_is_no_record_is_none(judgement: object) -> None:
    assert read_record(judgement) is None


def test_scores_that_are_not_there_are_left_out() -> None:
    assert of_values({"final": 7.0, "clarity": math.nan}) == {"final": 7.0}
    assert of_values(None) is None


def test_the_reason_is_one_plain_line() -> None:
    judges = [{"failure_detail": "first"}, {"failure_detail": "No JSON:\n  here"}]
    failed = Record(
        response="",
        scores=None,
        judge="j",
        outcome="unscored_unparseable",
        explanation="**No**",
        judges=judges,
    )
    assert failed.why == "No JSON: here"
    assert call_failed("", "j", "gone\nfor good").why == "gone for good"


# ## A judge that fails, and how the run is finished later

KEY = "sk-never-to-be-seen-0123456789"


def answer(question: str) -> str:
    return f"About {question[:40]}"


def kept(server: ChatServer, tmp_path: Path, **changed: Any) -> dict[str, Any]:
    cache = str(tmp_path / "replies.sqlite3")
    return settings(server, judge_cache=cache, judge_preflight=False, **changed)


@pytest.mark.parametrize(
    "unread", [says("Fine answer, well done."), says("Reasons, cut off", "length")]
)
def test_what_was_read_is_not_paid_for_twice_and_what_was_not_is_asked_for_again(
    judge: ChatServer, tmp_path: Path, unread: Response
) -> None:
    def found() -> dict[str, Any]:
        return run("urs", answering(answer), kept(judge, tmp_path, judge_concurrency=1), limit=2)

    judge.script = lambda _: unread
    failed = found()
    assert (
        metric(failed, "urs", "urs_judge_failed") == 1
        and "urs_final,none" not in failed["results"]["urs"]
    )
    calls = judge.count()
    judge.script = lambda request: unread if request.number == calls else judging(request)
    before = found()
    assert metric(before, "urs", "urs_judge_failed") == 0
    assert judge.count() == calls + 3
    assert numbers(found(), "urs") == numbers(before, "urs")
    assert judge.count() == calls + 3


class Echo(LoopbackServer):
    """Refuses, and says back what it was sent as authorization."""

    lead = ""

    def post(self, path: str, body: dict[str, Any], key: str | None) -> Response:
        message = f"{self.lead}bad header 'Authorization: {key or ''} {KEY}'"
        return Response(
            401, json.dumps({"error": {"message": message, "type": "x", "code": None}}).encode()
        )


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Iterator[Echo]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    server = Echo()
    server.start()
    yield server
    server.stop()


def at(echo: Echo, provider: str, **changed: Any) -> dict[str, Any]:
    base = f"{echo.address}/v1" if provider == "openai" else echo.address
    told = {
        "judge_model": "j",
        "judge_provider": provider,
        "judge_base_url": base,
        "judge_retries": 0,
    }
    return {**told, "judge_cache": False, "urs_dataset": "sample", **changed}


# The third one would show the first half of the key, where the text is cut at 500 characters.
@pytest.mark.parametrize(
    ("provider", "lead"), [("openai", ""), ("anthropic", ""), ("openai", "x" * 365)]
)
def test_a_key_that_an_endpoint_repeats_is_kept_nowhere(
    echo: Echo, provider: str, lead: str, caplog: pytest.LogCaptureFixture
) -> None:
    echo.lead = lead
    found = run("urs", answering(answer), at(echo, provider, judge_preflight=False), limit=2)
    assert metric(found, "urs", "urs_judge_failed") == 1
    written = json.dumps(found["samples"], default=str) + caplog.text
    assert KEY[:12] not in written
    assert "AuthenticationError" in written and (
        lead or "Bearer …" in written or "bad header" in written
    )


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_key_that_an_endpoint_repeats_is_not_printed(echo: Echo, provider: str) -> None:
    with pytest.raises(InputError) as caught:
        run("urs", answering(answer), at(echo, provider), limit=2)
    assert KEY not in str(caught.value) and "…" in str(caught.value)


def test_a_server_named_by_the_environment_has_replies_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    finals, cache = [], str(tmp_path / "replies.sqlite3")
    told = {
        "judge_model": "j",
        "judge_cache": cache,
        "judge_preflight": False,
        "urs_dataset": "sample",
    }

    def constant(level: int) -> Any:
        def script(request: Request) -> Response:
            names = json.loads(str(judging(request).body, "utf-8"))["choices"][0]["message"][
                "content"
            ]
            scores = json.loads(names.partition("\n")[2])
            return says(json.dumps({**dict.fromkeys(scores, level), "key": scores["key"]}))

        return script

    for level in (3, 9):
        with serving(constant(level), monkeypatch) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            found = run("urs", answering(answer), told, limit=2)
            finals.append(metric(found, "urs", "urs_final"))
            [asked] = {
                json.dumps(one["judge_call"], sort_keys=True)
                for one in records(found, "urs").values()
            }
            assert json.loads(asked) == {
                "provider": "openai",
                "base_url": server.url,
                "model": "j",
                "temperature": 0.0,
                "max_tokens": 4096,
            }
    assert finals == [3, 9]


def test_a_judge_that_refuses_these_settings_is_found_out_before_anything_is_generated(
    judge: ChatServer,
) -> None:
    seen: list[int] = []

    class Strict(ChatServer):
        def post(self, path: str, body: dict[str, Any], key: str | None) -> Response:
            seen.append(body["max_tokens"])
            return fails(400) if body["max_tokens"] > 2048 else super().post(path, body, key)

    strict = Strict(judging)
    strict.start()
    model = answering(answer)
    with pytest.raises(InputError, match="is unavailable: BadRequestError"):
        run("urs", model, settings(strict), limit=2)
    assert model.seen == []
    assert (
        metric(
            run("urs", model, settings(strict, judge_max_tokens=2048), limit=2),
            "urs",
            "urs_judge_failed",
        )
        == 0
    )
    strict.stop()
    assert seen[:2] == [4096, 2048]


@pytest.mark.parametrize("preflight", [True, False])
def test_a_cache_that_cannot_be_used_is_named_before_anything_is_generated(
    judge: ChatServer, preflight: bool, tmp_path: Path
) -> None:
    model, notes = answering(answer), tmp_path / "notes.txt"
    notes.write_text("not a database, but long enough to be read as one" * 30)
    for file in ("/dev/null/y", str(notes)):
        with pytest.raises(InputError, match=f"judge_cache: cannot use '{file}'"):
            run("urs", model, settings(judge, judge_cache=file, judge_preflight=preflight), limit=2)
    assert model.seen == []


def test_no_key_is_written_anywhere(
    judge: ChatServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = run("urs", answering(answer), kept(judge, tmp_path), limit=2)
    text = json.dumps({key: found[key] for key in ("results", "configs", "samples")}, default=str)
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert judge.count() == 2 and files
    assert KEY not in text and not any(KEY.encode() in content for content in files)


def now_and_then_nothing(question: str) -> str:
    return "" if len(question) % 7 == 0 else answer(question)


def test_a_judge_that_fails_again_and_again_is_given_up(
    judge: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    judge.script = lambda _: fails(500)
    told = settings(judge, judge_give_up=3, judge_concurrency=1, judge_preflight=False)
    found = run("urs", answering(now_and_then_nothing), told)
    assert judge.count() == 3
    judged = records(found, "urs").values()
    empty = [one for one in judged if one["outcome"] == "no_response"]
    assert empty and len(judged) == 42  # what needs no judge is scored all the same
    left = [one["explanation"] for one in judged if one.get("not_asked")]
    assert len(left) == 42 - 3 - len(empty)
    assert all(tells(one, "3 times") and "scripted 500" in one for one in left)
    assert {one["outcome"] for one in judged} == {"no_response", "unscored_call_failed"}
    assert f"not asked for {len(left)} of them" in caplog.text
    assert tells(caplog.text, f"{len(empty)} are empty")
    assert metric(found, "urs", "urs_no_response") == pytest.approx(
        len(empty) / 42
    )  # of all answers
    assert {sample["urs_no_response"] for sample in found["samples"]["urs"]} == {0.0, 1.0}


@pytest.fixture
def _interruptible() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_ends_judging_and_costs_no_answer(
    judge: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: Request) -> Response:
        if request.number < 4:
            return judging(request)
        os.kill(os.getpid(), signal.SIGINT)
        return Response(delay=3600)  # what is under way is not waited for

    judge.script = script
    told = settings(judge, judge_concurrency=1, judge_preflight=False)
    found = run("urs", answering(answer), told, limit=9)
    assert judge.count() == 5
    judged = records(found, "urs").values()
    assert all(one["response"] for one in judged)
    assert [one["scores"] is not None for one in judged] == [True] * 4 + [False] * 5
    assert all("interrupted" in one["explanation"] for one in judged if one["scores"] is None)
    assert metric(found, "urs", "urs_judge_failed") == pytest.approx(5 / 9)
    assert "once more" in caplog.text
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("_interruptible")
def test_a_second_interrupt_ends_the_run(
    judge: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from urs_inspect.lmeval_tasks import _judging as interrupts

    def script(request: Request) -> Response:
        # One signal in all: another would come when nobody expects it any more, and end the tests
        # themselves.
        if request.number == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return Response(delay=3600)

    # The second one comes while the first one is being dealt with, in the middle of whatever was
    # interrupted.
    monkeypatch.setattr(interrupts.logger, "warning", lambda _: signal.raise_signal(signal.SIGINT))
    judge.script = script
    with pytest.raises(KeyboardInterrupt):
        run(
            "urs",
            answering(answer),
            settings(judge, judge_concurrency=1, judge_preflight=False),
            limit=2,
        )
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
