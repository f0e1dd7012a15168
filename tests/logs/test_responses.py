"""Logs become a pool: whose answers count, and whose do not."""

import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai._util.json import JsonChange
from inspect_ai.event import StoreEvent
from inspect_ai.log import EvalError, EvalSample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, Logprob, Logprobs

from tests.reports.mad_logs import answered, write_answer_log
from tests.telling import Telling
from urs_inspect._util import InputError
from urs_inspect.discrepancy._pools import Instruction
from urs_inspect.logs._responses import read_pool, store_of

ERROR = EvalError(message="gone", traceback="", traceback_ansi="")


def log(path: Path, model: str, *samples: EvalSample, **facts: Any) -> str:
    return str(write_answer_log(path, model, *samples, **facts))


def test_answers_of_one_model_a_log(tmp_path: Path) -> None:
    one = answered("x", "one", metadata={"language": "zh", "scenario": "coding", "intent": "api"})
    pool = read_pool(
        [log(tmp_path / "a.eval", "p/a", one), log(tmp_path / "b.eval", "p/b", answered("y", " "))]
    )
    assert (pool.name, pool.sha256, pool.contestants) == ("d", "0" * 64, ("p/a", "p/b"))
    assert pool.responses == {"p/a": {"x": "one"}, "p/b": {"y": " "}}
    assert pool.instructions[0] == Instruction("x", "Ask x", "ref", "zh", "coding", "api")


def test_logs_that_check_the_judge_are_no_pool(tmp_path: Path) -> None:
    log(tmp_path / "a.eval", "p/a", answered("x", "one"))
    log(tmp_path / "b.eval", "p/b", answered("y", "two"), task="urs_inspect/urs_probe")
    pool = read_pool([str(tmp_path)])
    assert pool.contestants == ("p/a",)
    assert pool.notes == (Telling("1 log ... urs_probe"),)


def test_what_never_came_has_no_entry(tmp_path: Path) -> None:
    failed = answered("y", "", error=ERROR)
    cut = EvalSample(id="z", epoch=1, input="Ask z", target="ref")
    again = answered("x", "second epoch", epoch=2)
    pool = read_pool([log(tmp_path / "a.eval", "p/a", answered("x", "one"), failed, cut, again)])
    assert pool.responses == {"p/a": {"x": "one"}}
    assert [item.id for item in pool.instructions] == ["x", "y", "z"]


def test_the_later_of_two_runs_of_a_model_counts(tmp_path: Path) -> None:
    late = log(
        tmp_path / "a.eval", "p/a", answered("x", "late"), created="2026-02-01T00:00:00+00:00"
    )
    early = log(tmp_path / "b.eval", "p/a", answered("x", "early"))
    for order in ([late, early], [early, late]):
        pool = read_pool(order)
        assert pool.responses == {"p/a": {"x": "late"}}
        assert pool.notes == (Telling(f"{early} ... {late} ... p/a"),)


def test_answers_of_a_competition_that_were_asked_for_during_the_run_count(tmp_path: Path) -> None:
    """Samples that a source added are not among the ids of the log's data."""
    replies = {
        "p/a": {"text": "one"},
        "p/b": {"text": "", "error": "gone"},
        "p/c": {"text": "three"},
    }
    replies["p/c"]["log_probabilities"] = [-0.5, -1.0]  # type: ignore[assignment]
    sample = answered(
        "x", "all of them", metadata={"phase": "answer"}, store={"responses": replies}
    )
    comparison = answered("x-1", "one", metadata={"phase": "compare"})
    pool = read_pool([log(tmp_path / "a.eval", "none/none", sample, comparison)])
    assert pool.responses == {"p/a": {"x": "one"}, "p/c": {"x": "three"}}
    assert pool.probabilities == {"p/a": {}, "p/c": {"x": [-0.5, -1.0]}}
    assert [item.id for item in pool.instructions] == ["x"]


def test_answers_count_that_a_retry_found_in_the_buffer_of_a_killed_run(tmp_path: Path) -> None:
    """The harness keeps no store there, but events, whose long texts are attachments."""
    long = "A long answer. " * 40
    replies = {name: {"text": f"attachment://{name}", "stop_reason": "stop"} for name in "ab"}
    change = JsonChange(op="add", path="/responses", value=replies)
    found = answered("x", "all of them", metadata={"phase": "answer"}, store={})
    found.events = [StoreEvent(changes=[change])]
    found.attachments = {"a": f"{long}one", "b": f"{long}other"}
    assert store_of(found)["responses"]["a"]["text"] == f"{long}one"
    pool = read_pool([log(tmp_path / "mad.eval", "none/none", found)])
    assert pool.responses == {"a": {"x": f"{long}one"}, "b": {"x": f"{long}other"}}


def test_log_probabilities_of_a_log_are_read(tmp_path: Path) -> None:
    sample = answered("x", "one")
    sample.output.choices[0].logprobs = Logprobs(content=[Logprob(token="one", logprob=-0.25)])
    assert read_pool([log(tmp_path / "a.eval", "p/a", sample)]).probabilities == {
        "p/a": {"x": [-0.25]}
    }


def test_a_conversation_is_shown_whole(tmp_path: Path) -> None:
    turns = [
        ChatMessageUser(content="Hi"),
        ChatMessageAssistant(content="Yes?"),
        ChatMessageUser(content="Why?"),
    ]
    pool = read_pool([log(tmp_path / "a.eval", "p/a", answered("x", "one", input=turns))])
    assert pool.instructions[0].text.endswith("[User]\nHi\n\n[Assistant]\nYes?\n\n[User]\nWhy?")
    alone = read_pool([log(tmp_path / "b.eval", "p/a", answered("x", "one", input=turns[:1]))])
    assert alone.instructions[0].text == "Hi"


def test_unfinished_logs_and_logs_without_answers_are_noted(tmp_path: Path) -> None:
    good = log(tmp_path / "a.eval", "p/a", answered("x", "one"))
    broken = log(tmp_path / "b.eval", "p/b", answered("x", "one"), status="error")
    judge = log(tmp_path / "c.eval", "none/none", answered("x", "one"))
    ballots = log(
        tmp_path / "d.eval", "none/none", answered("x", "one", metadata={"phase": "compare"})
    )
    notes = "\n".join(sorted(read_pool([good, broken, judge]).notes))
    assert re.fullmatch(r".*c\.eval .*no answers\nb\.eval .*'error'.*", notes)
    for name, words in (
        (broken, "no finished log with answers in"),
        (ballots, "comparisons; name the logs whose answers"),
    ):
        with pytest.raises(InputError, match=words):
            read_pool([name])


def test_logs_of_other_data_of_the_same_name_are_refused(tmp_path: Path) -> None:
    one = log(tmp_path / "a.eval", "p/a", answered("x", "one"))
    other = log(tmp_path / "b.eval", "p/b", answered("x", "one"), sha256="1" * 64)
    with pytest.raises(InputError, match=r"different data.*0{12}.*1{12}"):
        read_pool([one, other])


def test_long_answers_come_whole(tmp_path: Path) -> None:
    """The harness keeps long texts apart."""
    text = "very long " * 5_000
    assert (
        read_pool([log(tmp_path / "a.eval", "p/a", answered("x", text))]).responses["p/a"]["x"]
        == text
    )
