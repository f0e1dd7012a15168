"""Records of judged answers, and judging by SaMer."""

import json
import math
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.lmeval_tasks.runs import metric, records, run
from tests.lmeval_tasks.scripted_lm import answering
from tests.samer.checkpoints import tiny_checkpoint
from urs_inspect._util import InputError
from urs_inspect.lmeval_tasks import judging as samer_judging
from urs_inspect.lmeval_tasks.judging import Record, call_failed, of_values, read_record
from urs_inspect.samer.judgement import judge


def test_samer_judges(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "samer", max_positions=2048)
    metadata = {"judge": "samer", "samer": str(folder), "samer_engine": "transformers", "urs_dataset": "sample"}
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
        run("urs", model, {"judge": "samer", "samer": str(tmp_path), "urs_dataset": "sample"}, limit=2)
    assert model.seen == []


def test_an_interrupt_ends_evaluation_after_the_batch_and_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_checkpoint(tmp_path / "samer", max_positions=2048)
    metadata = {"judge": "samer", "samer": str(folder), "samer_engine": "transformers", "urs_dataset": "sample"}
    evaluate, before = judge, signal.signal(signal.SIGINT, signal.default_int_handler)

    async def interrupted(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return await evaluate(*given)

    monkeypatch.setattr("urs_inspect.samer.judgement.judge", interrupted)
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
        Record("Ä", {"final": 7, "clarity": 6.5}, "j", "judged", "Why.", {"prompt_sha256": "0", "judges": []}),
        call_failed("An answer.", "j", "gone", not_asked=True),
    ):
        assert read_record(record.to_json()) == record


@pytest.mark.parametrize(
    "text",
    [
        None,
        3,
        "An answer.",
        "{",
        "[]",
        '{"scores": {}}',
        json.dumps({"response": "", "scores": {"final": "7"}, "judge": "j", "outcome": "judged", "explanation": ""}),
    ],
)
def test_what_is_no_record_is_none(text: object) -> None:
    assert read_record(text) is None


def test_scores_that_are_not_there_are_left_out() -> None:
    assert of_values({"final": 7.0, "clarity": math.nan}) == {"final": 7.0}
    assert of_values(None) is None


def test_the_reason_is_one_plain_line() -> None:
    judges = [{"failure_detail": "first"}, {"failure_detail": "No JSON:\n  here"}]
    assert Record("", None, "j", "unscored_unparseable", "**No**", {"judges": judges}).why == "No JSON: here"
    assert call_failed("", "j", "gone\nfor good").why == "gone for good"
