import json
import math

import pytest

from urs_inspect.lmeval_tasks.record import Record, call_failed, of_values, read_record


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
