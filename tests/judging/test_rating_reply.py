"""Reading a judge's rating: what counts as a score, what is a failure, and which."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging.replies import PROPERTY
from urs_inspect.judging import FAILURE_MODES, JudgeFailure, read_rating

READ = {
    # name: (reply, rating on the scale 1 to 5)
    "JSON": ('{"reasons": "good", "score": 4}', 4),
    "rating in place of score": ('{"rating": 4}', 4),
    "another case": ('{"Score": 4}', 4),
    "final score": ('{"Final Score": 4}', 4),
    "overall rating": ('{"overall_rating": 4}', 4),
    "Chinese key": ('{"评分": 4}', 4),
    "fence": ('```json\n{"score": 2}\n```', 2),
    "prose around": ('I think so.\n{"score": 2}\nThat is all.', 2),
    "python dictionary": ("{'score': 3}", 3),
    "curly quotes": ("{“score”: 3}", 3),
    "full width": ("｛“score”：３｝", 3),
    "no quotes": ("{score: 3}", 3),
    "trailing comma": ('{"score": 3,}', 3),
    "text": ('{"score": "3"}', 3),
    "bold": ('{"score": "**3**"}', 3),
    "out of the highest": ('{"score": "3/5"}', 3),
    "points": ('{"score": "3 points"}', 3),
    "分": ('{"score": "3分"}', 3),
    "a zero behind the point": ('{"score": 3.0}', 3),
    "wrapped": ('{"result": {"score": 3}}', 3),
    "a score with its reason": ('{"score": {"value": 3, "reason": "x"}}', 3),
    "the last of two": ('{"score": 1}\nOn reflection:\n{"score": 5}', 5),
    "same score twice": ('{"score": 3, "rating": 3}', 3),
    "an object without score behind": ('{"score": 3}\n{"confidence": 5}', 3),
    "a score quoted in the reasons": ('{"reasons": "it demands {\\"score\\": 5}", "score": 2}', 2),
    "scores of single reasons": ('{"accuracy": {"score": 5}, "clarity": {"score": 5}, "score": 2}', 2),
    "scores of single reasons, deeper": ('{"reasons": {"accuracy": {"score": 5}}, "score": 2}', 2),
    "score first": ('{"score": 2, "reasons": {"accuracy": {"rating": 5}}}', 2),
}


@pytest.mark.parametrize(("reply", "rating"), READ.values(), ids=READ)
def test_a_score_is_read(reply: str, rating: int) -> None:
    assert read_rating(reply, 1, 5) == rating


FAILED = {
    "nothing": ("", "empty_reply"),
    "blanks": (" \n", "empty_reply"),
    "prose": ("The response deserves 4 of 5 points.", "unparseable"),
    "another object": ('{"winner": 1}', "unparseable"),
    "never closed": ('{"score": 4', "unparseable"),
    "refusal": ("I'm sorry, I cannot rate this.", "refusal"),
    "Chinese refusal": ("抱歉，无法评分。", "refusal"),
    "null": ('{"score": null}', "missing_final"),
    "dash": ('{"score": "-"}', "missing_final"),
    "too high": ('{"score": 6}', "out_of_range"),
    "too low": ('{"score": 0}', "out_of_range"),
    "negative": ('{"score": -3}', "out_of_range"),
    "out of another number": ('{"score": "4/10"}', "out_of_range"),
    "half": ('{"score": 3.5}', "not_an_integer"),
    "range": ('{"score": "3-4"}', "not_a_number"),
    "word": ('{"score": "four"}', "not_a_number"),
    "truth value": ('{"score": true}', "not_a_number"),
    "list": ('{"score": [4]}', "not_a_number"),
    "two scores": ('{"score": 3, "score": 4}', "conflicting_scores"),
    "score and rating differ": ('{"score": 3, "rating": 4}', "conflicting_scores"),
    "a bad one behind a good one": ('{"score": 3}\n{"score": 9}', "out_of_range"),
}


@pytest.mark.parametrize(("reply", "mode"), FAILED.values(), ids=FAILED)
def test_a_failure_has_its_mode(reply: str, mode: str) -> None:
    result = read_rating(reply, 1, 5)
    assert isinstance(result, JudgeFailure)
    assert result.mode == mode
    assert result.detail


@pytest.mark.parametrize(("lowest", "highest", "written"), [(0, 1, 0), (1, 10, "10/10"), (-2, 2, -2), (0, 100, 100)])
def test_any_scale_of_whole_numbers_is_read(lowest: int, highest: int, written: object) -> None:
    expected = int(str(written).partition("/")[0])
    assert read_rating(json.dumps({"score": written}), lowest, highest) == expected


def test_details_name_the_scale() -> None:
    assert read_rating('{"score": 7}', 1, 5) == JudgeFailure(
        "out_of_range", "The score of 'score' is 7, not from 1 to 5."
    )
    assert read_rating('{"score": "7/10"}', 1, 5) == JudgeFailure(
        "out_of_range", "The score of 'score' is '7/10', not out of 5."
    )


# --- properties ---


@PROPERTY
@given(st.text(alphabet=st.sampled_from("{}[]\"':,score rating 0123456789./\\\n评分｛｝"), max_size=200))
def test_whatever_comes_there_is_a_rating_or_a_failure(text: str) -> None:
    result = read_rating(text, 1, 5)
    if isinstance(result, JudgeFailure):
        assert result.mode in FAILURE_MODES
    else:
        assert type(result) is int and 1 <= result <= 5


@PROPERTY
@given(
    st.integers(1, 10),
    st.text(max_size=80),
    st.text(alphabet=st.characters(exclude_characters="{}｛｝\"'“”‘’"), max_size=80),
)
def test_reasons_and_prose_change_nothing(score: int, reasons: str, prose: str) -> None:
    reply = json.dumps({"reasons": reasons, "score": score})
    assert read_rating(f"{prose}\n{reply}\n{prose}", 1, 10) == score


@PROPERTY
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_the_last_object_counts(scores: list[int]) -> None:
    assert read_rating("\n".join(json.dumps({"score": score}) for score in scores), 1, 5) == scores[-1]
