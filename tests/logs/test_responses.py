"""Logs become a pool: whose answers count, and whose do not."""

import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai._util.json import JsonChange
from inspect_ai.event import StoreEvent
from inspect_ai.log import EvalError, EvalSample, EvalSampleLimit
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageUser,
    Logprob,
    Logprobs,
    ModelOutput,
)

from tests.reports.mad_logs import answered, write_answer_log
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.datasets._references import question_sha256
from urs_inspect.discrepancy._pools import Instruction
from urs_inspect.logs._responses import (
    read_pool,
    read_reference_logs,
    read_references,
    store_of,
)

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


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_of_two_answers_the_last_of_the_first_epoch_counts(tmp_path: Path, suffix: str) -> None:
    """A log in JSON may hold a sample twice, with epochs in any order."""
    later = answered("x", "of a later epoch", epoch=2)
    last = answered("x", "last")
    samples = [answered("x", "first"), last, later, answered("y", "only")]
    if suffix == "json":
        samples = [later, samples[0], last, answered("x", "third", epoch=3), samples[3]]
    pool = read_pool([log(tmp_path / f"a.{suffix}", "p/a", *samples)])
    assert pool.responses == {"p/a": {"x": "last", "y": "only"}}


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
        "p/a": {"text": " one\n"},
        "p/b": {"text": "", "error": "gone"},
        "p/c": {"text": "three"},
    }
    replies["p/c"]["log_probabilities"] = [-0.5, -1.0]  # type: ignore[assignment]
    sample = answered(
        "x", "all of them", metadata={"phase": "answer"}, store={"responses": replies}
    )
    comparison = answered("x-1", "one", metadata={"phase": "compare"})
    pool = read_pool([log(tmp_path / "a.eval", "none/none", sample, comparison)])
    assert pool.responses == {"p/a": {"x": " one\n"}, "p/c": {"x": "three"}}
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
    chinese = answered("x", "one", input=turns, metadata={"language": "zh"})
    [of_chinese] = read_pool([log(tmp_path / "c.eval", "p/c", chinese)]).instructions
    lines = of_chinese.text.splitlines()
    assert {"Hi", "Yes?", "Why?"} < set(lines)
    assert not {"[User]", "[Assistant]"} & set(lines)


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


def test_answers_that_a_limit_or_an_error_of_the_endpoint_ended_are_none(tmp_path: Path) -> None:
    limited = answered("b", "half", limit=EvalSampleLimit(type="token", limit=1))
    refused = answered("c", "words")
    refused.output = ModelOutput(model="m", error="gone", choices=refused.output.choices)
    pool = read_pool([log(tmp_path / "a.eval", "p/a", answered("a", "one"), limited, refused)])
    assert pool.responses == {"p/a": {"a": "one"}}


def test_a_pool_has_the_source_of_its_data_and_names_another_by_it(tmp_path: Path) -> None:
    one = log(tmp_path / "a.eval", "p/a", answered("x", "one"))
    for changes in ({"data": "other"}, {"sha256": "1" * 64}):
        other = log(tmp_path / "b.eval", "p/b", answered("x", "one"), **changes)
        with pytest.raises(InputError) as caught:
            read_pool([one, other], "pool")
        assert tells(str(caught.value), f"pool: ... {one} has 'd' ... 000000000000 ... {other} has")
    bare = log(tmp_path / "c.eval", "p/c", answered("x", "one"), metadata={})
    assert (read_pool([bare]).name, read_pool([bare]).sha256) == ("d", "")


@pytest.mark.parametrize("changes", [{"input": "Another"}, {"target": "another"}])
def test_one_question_with_two_texts_or_references_is_refused(
    changes: dict[str, str], tmp_path: Path
) -> None:
    one = log(tmp_path / "a.eval", "p/a", answered("x", "one"))
    other = log(tmp_path / "b.eval", "p/b", answered("x", "two", **changes))
    what = "text" if "input" in changes else "reference"
    with pytest.raises(InputError) as caught:
        read_pool([one, other])
    assert tells(str(caught.value), f"'x' has another {what} in {other} than in {one}")
    if what == "reference":
        pool = read_pool([one, other], same_references=False)
        assert pool.instructions[0].reference == "ref"
        assert pool.contestants == ("p/a", "p/b")


def test_references_of_several_lines_are_one_text(tmp_path: Path) -> None:
    pool = read_pool([log(tmp_path / "a.eval", "p/a", answered("x", "one", target=["a", "b"]))])
    assert pool.instructions[0].reference == "a\nb"


def test_a_competition_that_went_on_names_the_logs_before_it(tmp_path: Path) -> None:
    def earlier(name: str, **arguments: Any) -> tuple[str, ...] | None:
        path = log(tmp_path / f"{name}.eval", "p/a", answered("x", "one"), task_args=arguments)
        return read_pool([path]).earlier.get(path)

    assert earlier("a") is None
    assert earlier("b", responses="r.eval") is None
    assert earlier("c", previous="p.eval") == ("p.eval",)
    assert earlier("d", previous="p.eval", responses=["r.eval", "s.eval"]) == ("r.eval", "s.eval")


# --- references ---


def reference_log(path: Path, *samples: EvalSample, model: str = "p/a", **facts: Any) -> str:
    return log(path, model, *samples, **facts)


def test_answers_of_the_first_epoch_are_references_with_how_they_ended(tmp_path: Path) -> None:
    cut = answered("cut", "half")
    cut.output.choices[0].stop_reason = "max_tokens"
    path = reference_log(
        tmp_path / "a.eval",
        answered("one", " The answer. \n"),
        answered("one", "Another one.", epoch=2),
        cut,
        answered("failed", "words", error=ERROR),
        answered("limited", "words", limit=EvalSampleLimit(type="token", limit=1)),
        answered("empty", " "),
        created="2026-01-05T00:00:00+00:00",
    )
    found = read_reference_logs([path], [])
    assert {item.id: (item.text, item.outcome) for item in found.items} == {
        "one": ("The answer.", "usable"),
        "cut": ("half", "cut"),
        "failed": ("words", "no_answer"),
        "limited": ("words", "no_answer"),
        "empty": ("", "empty"),
    }
    [usable] = found.usable
    assert usable.question_sha256 == question_sha256("Ask one")
    assert (usable.source, usable.created[:10]) == ("p/a", "2026-01-05")
    assert (found.source, found.place) == ("p/a", path)


def test_a_later_run_over_some_questions_repairs_an_earlier_one(tmp_path: Path) -> None:
    def at(day: int, **texts: str) -> str:
        samples = [answered(name, text) for name, text in texts.items()]
        created = f"2026-01-0{day}T00:00:00+00:00"
        path = tmp_path / f"{9 - day}.eval"
        return reference_log(path, *samples, created=created, eval_id=str(day))

    at(1, a="old", b="old", c="")
    at(2, a="new", b="", c="new")
    nobody = reference_log(
        tmp_path / "none.eval", answered("a", "x"), model="none/none", eval_id="n"
    )
    skipped: list[str] = []
    found = read_reference_logs([str(tmp_path)], skipped)
    assert {item.id: item.text for item in found.usable} == {"a": "new", "b": "old", "c": "new"}
    assert skipped == [Telling("none.eval ... no answers of a model")]
    with pytest.raises(InputError) as caught:
        read_reference_logs([nobody], [])
    assert tells(str(caught.value), f"references: no finished log ... {nobody} none.eval was")


def test_references_of_several_logs_name_all_of_them_in_the_order_of_their_runs(
    tmp_path: Path,
) -> None:
    late, early = (
        reference_log(
            tmp_path / f"{name}.eval",
            answered(name, "x"),
            created=f"2026-01-0{day}T00:00:00+00:00",
            eval_id=name,
        )
        for name, day in (("a", 2), ("b", 1))
    )
    found = read_reference_logs([late, early], [])
    assert found.place == f"{early}, {late}"
    assert {item.id for item in found.items} == {"a", "b"}


def test_references_are_read_of_logs_folders_and_files_of_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "logs"
    path = reference_log(folder / "a.eval", answered("a", "x"))
    reference_log(folder / "b.eval", answered("a", "x"), status="error", eval_id="b")
    assert read_references(path).items == read_references(str(folder)).items
    [record] = [one for one in caplog.records if one.name.startswith("urs_inspect")]
    assert tells(record.message, "references: b.eval ... 'error'")
    with pytest.raises(InputError, match=r"references: .*answers\.csv.*allowed: a \.jsonl file"):
        read_references(str(tmp_path / "answers.csv"))
    with pytest.raises(InputError, match=r"references: no data file"):
        read_references(str(tmp_path / "missing.jsonl"))
