"""Tests of `urs_inspect.judging._score_reply`."""

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.judging.replies import (
    PROPERTY,
    QA,
    RUBRIC,
    Written,
    full_names,
    noise,
    record_soup,
    spellings,
    writes_final,
    written_replies,
)
from urs_inspect.judging import JudgeFailure, ScoreRecord, read_reply
from urs_inspect.judging._failures import FAILURE_MODES
from urs_inspect.judging._objects import spans
from urs_inspect.judging._score_reply import explain
from urs_inspect.rubrics import FINAL

MISSING: dict[str, int | None] = dict.fromkeys(QA)


def read(text: str) -> ScoreRecord | JudgeFailure:
    """Read a reply about a factual question."""
    return read_reply(text, RUBRIC, QA)


def mode_of(text: str) -> str | None:
    """The failure mode of a reply, None if it was read."""
    result = read(text)
    return result.mode if isinstance(result, JudgeFailure) else None


# Records that are read. Unless a row says otherwise, it says factuality 8 and final 7.

EIGHT_AND_SEVEN = ScoreRecord(7, {**MISSING, "factuality": 8})

NOTATIONS = {
    "JSON": '{"Factuality": 8, "Final Score": 7}',
    "python dictionary": "{'Factuality': 8, 'Final Score': 7}",
    "curly quotes": "{“Factuality”: 8, “Final Score”: 7}",
    "low and curly quotes": "{„Factuality“: 8, „Final Score“: 7}",
    "single curly quotes": "{‘Factuality’: 8, ‘Final Score’: 7}",
    "full-width quotes": "{＂Factuality＂: 8, ＂Final Score＂: 7}",
    "corner brackets as quotes": "{「事实正确性」: 8, 「综合得分」: 7}",
    "no quotes": "{Factuality: 8, Final Score: 7}",
    "full-width colons": '{"事实正确性"：8, "综合得分"：7}',
    "full-width commas": '{"事实正确性": 8，"综合得分": 7}',
    "full-width digits": '{"事实正确性": ８, "综合得分": ７}',
    "full-width everything": "｛“事实正确性”：“８／１０”，“综合得分”：７．０｝",
    "quotes of two kinds": '{“Factuality": 8, "Final Score”: 7}',
    "Chinese keys": '{"事实正确性": 8, "综合得分": 7}',
    "keys of both languages": '{"Factuality": 8, "综合得分": 7}',
    "combined key": '{"事实正确性(Factuality)": 8, "综合得分": 7}',
    "combined key with full-width brackets": '{"事实正确性（Factuality）": 8, "综合得分": 7}',
    "combined key, English first": '{"Factuality (事实正确性)": 8, "综合得分": 7}',
    "combined key of the final score": '{"事实正确性(Factuality)": 8, "综合得分(Final Score)": 7}',
    "aliases": '{"Factual Correctness": 8, "Overall Score": 7}',
    "Chinese aliases": '{"事实准确性": 8, "最终得分": 7}',
    "ids": '{"factuality": 8, "final": 7}',
    "case and blanks in keys": '{"FACTUALITY": 8, " final_score ": 7}',
    "bold keys": '{"**Factuality**": 8, "**Final Score**": 7}',
    "bold values": '{"Factuality": **8**, "Final Score": "**7**"}',
    "out of ten": '{"Factuality": "8/10", "Final Score": "7 / 10"}',
    "out of ten without quotes": '{"Factuality": 8/10, "Final Score": 7/10}',
    "Chinese unit": '{"事实正确性": "8分", "综合得分": 7分}',
    "Chinese unit out of ten": '{"事实正确性": "8/10分", "综合得分": "7分/10分"}',
    "points": '{"Factuality": "8 points", "Final Score": "7 points"}',
    "decimals that are zero": '{"Factuality": 8.0, "Final Score": "7.00"}',
    "decimals out of ten": '{"Factuality": "8.0/10.0", "Final Score": "7.0 / 10"}',
    "numbers in strings": '{"Factuality": "8", "Final Score": " 7 "}',
    "trailing comma": '{"Factuality": 8, "Final Score": 7,}',
    "lines without commas": '{\n"Factuality": 8\n"Final Score": 7\n}',
    "comments": '{"Factuality": 8, // good\n "Final Score": 7}',
    "nested scores": '{"Factuality": {"score": 8}, "Final Score": {"score": 7}}',
    "nested scores with reasons": (
        '{"Factuality": {"reason": "Right.", "score": 8}, "Final Score": {"Score": "7/10"}}'
    ),
    "nested scores, python, apostrophe": (
        "{'Factuality': {'score': 8, 'why': 'isn\\'t'}, 'Final Score': {'score': 7}}"
    ),
    "nested Chinese scores": (
        '{"事实正确性": {"得分": 8, "理由": "对"}, "综合得分": {"分数": "7分"}}'
    ),
    "nested full-width scores": '{"事实正确性": {"得分": "８"}, "综合得分": {"分数": "７．０分"}}',
    "wrapped": '{"scores": {"Factuality": 8, "Final Score": 7}}',
    "criteria wrapped": '{"scores": {"Factuality": 8}, "Final Score": 7}',
    "extra keys": (
        '{"Factuality": 8, "Final Score": 7, "Confidence": 0.9, "Notes": ["a", "b"], "Meta":'
        ' {"k": 1}}'
    ),
    "criterion of another intent": '{"Factuality": 8, "Richness": 99, "Final Score": 7}',
    "final first": '{"Final Score": 7, "Factuality": 8}',
    "equal duplicates": '{"Factuality": 8, "事实正确性": "8/10", "Final Score": 7, "Total": 7}',
    "fenced": '```json\n{"Factuality": 8, "Final Score": 7}\n```',
    "fenced, no language": '```\n{"Factuality": 8, "Final Score": 7}\n```',
    "fence never closed": '```json\n{"Factuality": 8, "Final Score": 7}',
    "in a list": '[{"Factuality": 8, "Final Score": 7}]',
    "Windows line ends": '{\r\n  "Factuality": 8,\r\n  "Final Score": 7\r\n}\r\n',
    "byte order mark": '\ufeff{"Factuality": 8, "Final Score": 7}',
    "prose around": (
        'Solid, 9 of 10 facts hold.\n\n{"Factuality": 8, "Final Score": 7}\n\nI hope this helps!'
    ),
    "Chinese prose around": '总体不错。\n{"事实正确性": 8, "综合得分": 7}\n以上是我的评分，谢谢。',
    "stray braces before": '} {{x}} { and {"Factuality": 8, "Final Score": 7}',
    "stray braces after": '{"Factuality": 8, "Final Score": 7} } {x} {',
    "unrelated total before": 'The bill says {"total": 3}. {"Factuality": 8, "Final Score": 7}',
    "unrelated total after": '{"Factuality": 8, "Final Score": 7} The bill says {"total": 3}.',
    "unrelated JSON after": (
        '{"Factuality": 8, "Final Score": 7} It returned {"id": 1, "rows": [{"n": 2}]}.'
    ),
    "braces in a reason": (
        '{"Factuality": {"score": 8, "reason": "uses {y} and f(x) {"}, "Final Score": {"score": 7}}'
    ),
    "closing brace in a reason": '{"Factuality": 8, "reason": "a } is missing", "Final Score": 7}',
    "opening brace in a reason": '{"Factuality": 8, "reason": "a { too many", "Final Score": 7}',
    "braces in a python reason": "{'Factuality': 8, 'reason': 'a { too many', 'Final Score': 7}",
    "curly quotes in a JSON string": (
        '{"Factuality": 8, "note": "It wrote “Final Score”: 10, “x”.", "Final Score": 7}'
    ),
    "full-width digits in a JSON string": '{"Factuality": "８／１０", "Final Score": "７．０分"}',
    "a long reason that names a score": (
        '{"评语": "' + "很好，" * 60 + '综合得分：10，", "Factuality": 8, "综合得分": 7分}'
    ),
    "escaped quotes": '{\\"Factuality\\": 8, \\"Final Score\\": 7}',
    "braces in a curly-quoted reason": (
        "{“Factuality”: 8, “reason”: “a } is missing”, “Final Score”: 7}"
    ),
}


@pytest.mark.parametrize("text", NOTATIONS.values(), ids=NOTATIONS.keys())
def test_what_judges_really_write_is_read(text: str):
    assert read(text) == EIGHT_AND_SEVEN


@pytest.mark.parametrize("key", [FINAL, *RUBRIC.criteria])
def test_every_spelling_of_every_key_is_read(key: str):
    # Another criterion stands by, since an everyday word such as "total" alone is no score.
    other = "Clarity" if key != "clarity" else "Factuality"
    for spelling in spellings(key):
        result = read_reply(
            f'{{"{other}": 2, "综合得分": 7, "{spelling}": 7}}', RUBRIC, list(RUBRIC.criteria)
        )
        assert isinstance(result, ScoreRecord), spelling
        assert (result.final if key == FINAL else result.criteria[key]) == 7, spelling


@pytest.mark.parametrize(
    "absent", ["null", "None", '""', '"-"', '"N/A"', '"n/a"', "NaN", '"无"', '"不适用"']
)
def test_a_criterion_left_out_is_none_and_the_record_counts(absent: str):
    assert read(f'{{"Factuality": {absent}, "Clarity": 6, "Final Score": 7}}') == ScoreRecord(
        7, {**MISSING, "clarity": 6}
    )


# Two records: the last complete one is the judge's.


@pytest.mark.parametrize(
    "text",
    [
        '{"Factuality": 2, "Final Score": 2}\nOn reflection:\n{"Factuality": 8, "Final Score": 7}',
        '{"Factuality": 2, "Final Score": 11}\n{"Factuality": 8, "Final Score": 7}',
        '{"Factuality": 8, "Final Score": 7}\n{"Factuality": 3}',
        '{"Factuality": 8, "Final Score": 7}\n{"Factuality": 3, "Final Score": 2',
        '{"Factuality": 8, "Final Score": 7}\n{}',
        '[{"Factuality": 2, "Final Score": 2}, {"Factuality": 8, "Final Score": 7}]',
        # The judge's own record speaks of another one in its text.
        (
            '{"Factuality": 8, "Final Score": 7, "note": "It planted {\\"Final Score\\": 10}, which'
            ' I ignore."}'
        ),
        (
            "{'Factuality': 8, 'Final Score': 7, 'note': 'It planted {\"Final Score\": 10}, which I"
            " ignore.'}"
        ),
        (
            '{“Factuality”: 8, “Final Score”: 7, “note”: “It planted {"Final Score": 10}, which I'
            " ignore.”}"
        ),
    ],
)
def test_the_last_complete_record_wins(text: str):
    assert read(text) == EIGHT_AND_SEVEN


# Failures and their modes.

# fmt: off
FAILURES: dict[str, tuple[str, ...]] = {
    "empty_reply": (
        "", " ", "\n\t", "\u3000",
    ),
    "unparseable": (
        "{}", "{ }", "｛｝", "[]", "null", "7", "garbage", "The answer is good.", "Final Score: 7", "综合得分：7分",
        "Factuality: 8\nFinal Score: 7", '{"total": 7}', '{"Overall": 7, "id": 3}',
        'The bill says {"total": 7, "currency": "EUR"}.', '{"score": 7}', '{"Factuality": 8, "Final Score": 7',
        '{"Factuality": 8, "Final Sc', "{", "}", '"Factuality": 8, "Final Score": 7}',
        '}"Factuality": 8, "Final Score": 7{',
    ),
    "missing_final": (
        '{"Clarity": {"a": {"b": {"c": {"d": {"Factuality": 8}}}}}, "Final Score": 7}',
        '{"Factuality": 8}', '{"事实正确性": 8, "清晰度": 7}', '{"Factuality": 8, "Final Score": null}',
        '{"Factuality": 8, "Final Score": ""}', '{"Factuality": 8, "Final Score": "N/A"}',
        '{"Factuality": 8, "Final Score": NaN}', '{"Factuality": 8, "Score": 7}',
        "{'note': 'Final Score: 10', 'Factuality': 8}",
        "{'note': 'they wrote \"Final Score\": 10', 'Factuality': 8}",
        '{"Factuality": 8, "note": "It planted {\\"Final Score\\": 10}."}',
        '{"Factuality": 8, "note": "It planted \\"Final Score\\": 10."}',
        '{"Factuality": 8, "note": "They wrote “Final Score”: 10."}',
        '{"Factuality": 8分, "评语": "' + "很好，" * 60 + '综合得分：10，"}',
    ),
    "out_of_range": (
        '{"Factuality": 8, "Final Score": 0}', '{"Factuality": 8, "Final Score": 11}',
        '{"Factuality": 8, "Final Score": -3}', '{"Factuality": 8, "Final Score": "11/10"}',
        '{"Factuality": 8, "Final Score": "0分"}', '{"Factuality": 8, "Final Score": "４/５"}',
        '{"Factuality": 8, "Final Score": "85/100"}', '{"Factuality": 8, "Final Score": 100}',
        '{"Factuality": 8, "Final Score": "8/100"}',
        '{"Factuality": 8, "Final Score": 99999999999}', '{"Factuality": 0, "Final Score": 7}',
        '{"Factuality": 11, "Final Score": 7}',
        # The judge's last word cannot be used; an earlier one is not what the judge ended with.
        '{"Factuality": 8, "Final Score": 7}\n{"Factuality": 8, "Final Score": 11}',
    ),
    "not_a_number": (
        '{"Factuality": 8, "Final Score": "high"}', '{"Factuality": 8, "Final Score": "高"}',
        '{"Factuality": 8, "Final Score": true}', '{"Factuality": 8, "Final Score": false}',
        "{'Factuality': 8, 'Final Score': True}", '{"Factuality": 8, "Final Score": [7]}',
        '{"Factuality": 8, "Final Score": "7-8"}', '{"Factuality": 8, "Final Score": "7 or 8"}',
        '{"Factuality": 8, "Final Score": "7/"}', '{"Factuality": 8, "Final Score": "Score"}',
        '{"Factuality": 8, "Final Score": {}}', '{"Factuality": 8, "Final Score": {"reason": "good"}}',
        '{"Factuality": 8, "Final Score": {"score": 7, "rating": 9}}', '{"Factuality": 8, "Final Score": Infinity}',
    ),
    "not_an_integer": (
        '{"Factuality": 8, "Final Score": 7.5}', '{"Factuality": 8, "Final Score": "7.5/10"}',
        '{"Factuality": 8, "Final Score": "７．５分"}', '{"Factuality": 8, "Final Score": 7.000000001}',
    ),
    "conflicting_scores": (
        # One apostrophe in single quotes hides where the string ends.
        "{'comment': 'it's {Final Score: 10, Factuality: 10}', 'Final Score': 3, 'Factuality': 2}",
        '{"Factuality": 8, "Final Score": 7, "Final Score": 8}',
        '{"Factuality": 8, "Final Score": 7, "综合得分": 8}',
        '{"Factuality": 8, "Final Score": 7, "Overall": "8/10"}',
        '{"Factuality": 8, "事实正确性": 7, "Final Score": 7}',
        "{'Factuality': 8, 'Final Score': 7, 'Final Score': 8}",
    ),
    "refusal": (
        "I'm sorry, but I can't help with that.", "I’m sorry, but I can’t rate this answer.",
        "I cannot evaluate this content.", "I am unable to judge this answer.", "As an AI, I cannot rate this.",
        "抱歉，我无法评判该内容。", "我无法评估这个回答。", "该请求我不能协助完成。",
    ),
}
# fmt: on


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        pytest.param(mode, text, id=f"{mode}: {text[:60]}")
        for mode, texts in FAILURES.items()
        for text in texts
    ],
)
def test_what_is_not_plainly_a_score_fails_with_its_mode(mode: str, text: str):
    assert mode_of(text) == mode


@pytest.mark.parametrize(
    "value", ['"' + "very " * 500 + 'good"', "1" * 5000, "[" + "7," * 5000 + "7]"]
)
def test_the_detail_of_a_failure_stays_short(value: str):
    # It is sent to the judge and stands in the log.
    result = read(f'{{"Factuality": 7, "Final Score": {value}}}')
    assert isinstance(result, JudgeFailure)
    assert len(result.detail) < 150


def test_an_apology_with_scores_is_a_judgement_and_a_long_reply_with_one_is_no_refusal():
    assert (
        read('I\'m sorry to say that the answer is poor.\n{"Factuality": 8, "Final Score": 7}')
        == EIGHT_AND_SEVEN
    )
    assert (
        mode_of("The answer says: I cannot help. " + "It is weak in every way. " * 40)
        == "unparseable"
    )


# Properties.


@PROPERTY
@given(st.text())
@example("\ud800{")
@example("\x00{}\x00")
def test_any_text_is_read_without_an_exception(text: str):
    result = read(text)
    assert isinstance(result, ScoreRecord) or result.mode in FAILURE_MODES


@PROPERTY
@given(record_soup)
@example('{"Factuality": 8, "Final Score": "10/7"}')
def test_no_score_is_ever_invented(text: str):
    result = read(text)
    if isinstance(result, JudgeFailure):
        assert result.mode in FAILURE_MODES
        assert result.detail
        return
    assert tuple(result.criteria) == QA
    for score in (
        result.final,
        *(score for score in result.criteria.values() if score is not None),
    ):
        assert type(score) is int
        assert 1 <= score <= 10
    assert writes_final(text, result.final)


def test_the_second_opinion_can_tell_written_scores_from_others():
    # It guards the test above, which would pass for ever with an opinion that always says yes.
    assert writes_final('{"Final Score": 7}', 7)
    assert writes_final("｛“综合得分”：{“score”: “０７／１０”}｝", 7)
    assert not writes_final('{"Final Score": 7}', 8)
    assert not writes_final('{"Final Score": 10}', 1)
    assert not writes_final('{"Factuality": 7, "Final Score": "high"}', 7)


@PROPERTY
@given(noise)
def test_noise_without_the_name_of_a_score_is_never_a_record(text: str):
    assert isinstance(read(text), JudgeFailure)


@PROPERTY
@given(written_replies())
def test_valid_scores_are_read_back_from_every_notation(written: Written):
    assert read_reply(written.text, RUBRIC, written.criteria) == written.expected


@PROPERTY
@given(written_replies(), st.sampled_from([0, 11, -1, 100, 7.5, "high", True]))
def test_one_bad_value_spoils_the_record(written: Written, value: object):
    name = full_names(FINAL)[0]
    result = read_reply(json.dumps({"Clarity": 5, name: value}), RUBRIC, written.criteria)
    assert isinstance(result, JudgeFailure)
    # After a good record too, if it is as full, for then it is the judge's last word.
    whole = {full_names(criterion)[0]: 5 for criterion in written.criteria}
    result = read_reply(written.text + json.dumps({**whole, name: value}), RUBRIC, written.criteria)
    assert isinstance(result, JudgeFailure)


def test_a_fragment_after_the_record_changes_nothing():
    record = '{"Factuality": 8, "Final Score": 7}'
    for fragment in (
        'Again: {"Final Score": 7}.',
        '{"Final Score": 0}',
        '{"Final Score": "high"}',
        '{"total": 3}',
    ):
        assert read_reply(f"{record} {fragment}", RUBRIC, QA) == read_reply(record, RUBRIC, QA)


@pytest.mark.parametrize(
    "fragment",
    [
        'The form was {"Final Score": 10}.',
        'So: {"Factuality": 3, "Final Score": 3}',
        'So: {"Factuality": 42, "Final Score": 3}',
    ],
)
def test_a_shorter_record_with_another_final_score_after_the_full_one_is_a_conflict(fragment: str):
    # Either the judge corrected itself, or it quotes: neither may be taken for granted.
    full = json.dumps(
        {**dict.fromkeys(full_names("factuality")[:1], 8), "Clarity": 8, "Final Score": 8}
    )
    assert mode_of(f"Draft: {full} On reflection: {fragment}") == "conflicting_scores"


EVERY = dict.fromkeys(QA, 8)
LISTED = [{"criterion": RUBRIC.criteria[name]["en"].name, "score": 8} for name in QA]
SHAPES = {
    "a list of criteria": {"scores": LISTED, "Final Score": 7},
    "a list that has the final score as well": {
        "scores": [*LISTED, {"criterion": "Final Score", "score": 7}]
    },
    "a list with reasons": {
        "results": [{**one, "reason": "Good: {7}"} for one in LISTED],
        "overall_score": 7,
    },
    "a list with capitals": {
        "Scores": [{"Criterion": one["criterion"], "Score": 8} for one in LISTED],
        "Final Score": 7,
    },
    "a list of objects of one pair": {"scores": [{name: 8} for name in QA], "Final Score": 7},
    "three levels": {
        "evaluation": {"scores": {name: {"score": 8} for name in QA}, "Final Score": 7}
    },
    "four levels": {"result": {"evaluation": {"scores": EVERY, "Final Score": 7}}},
    "Chinese list": {
        "评分": [{"维度": RUBRIC.criteria[name]["zh"].name, "分数": "8分"} for name in QA],
        "综合得分": 7,
    },
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("write", [json.dumps, repr, lambda shape: json.dumps(shape)[:-1] + ",}"])
def test_every_shape_of_a_record_keeps_all_scores(shape: object, write: Callable[[object], str]):
    assert read(write(shape)) == ScoreRecord(7, {**EVERY})


@pytest.mark.parametrize(
    "entry",
    [
        {"criterion": "Clarity", "score": 3, "rating": 9},
        {"criterion": "Clarity", "name": "Factuality", "score": 3},
        {"criterion": "Clarity"},
        {"criterion": "Wit", "score": 3},
        {"criterion": 3, "score": 3},
        {"remark": "Clarity", "score": 3},
    ],
)
def test_an_entry_that_names_no_criterion_or_several_scores_none(entry: object):
    others = [one for one in LISTED if one["criterion"] != "Clarity"]
    text = json.dumps({"scores": [*others, entry], "Final Score": 7})
    assert read(text) == ScoreRecord(7, {**EVERY, "clarity": None})


# fmt: off
PLAIN = (
    '"8 out of 10"', '"8 of 10"', "8 out of 10", '"8 (good)"', '"8 - good"', "8 (good)",
    '"**8**"', "**8**", '"**8**/10"', '"`8`"', '"8分（很好）"',
    '"8（满分10分）"', '"8 (out of 10)"',
    '"8/10 points"', '"8 points out of 10"', '"8: clear and right"', '"8 — good"', '"8, clear"',
    '"8 (one minor flaw)"', '"8 (as the answer is one of the best)"',
)
AMBIGUOUS = (
    "8 (9 for style)", "8 - 9", "7 to 8", "8 (was 7)", "8 - or rather nine", "8 (half a point off)", "八分半",
    "八点五分", "十一", "二十", "8+", "8 out of", "8 (七分也可)", "8*9", "1 0", "8 (one point off)",
    "8 (one for style)", "8 percent", "8%", "8 plus", "8 to nine", "8 good, 9 great",
    "9 out", "约8到9分", "8左右9", "8 hundred", "above 8",
    "almost 8", "8 not good", "8 out of ten, or nine",
    # No judge was seen to write these: benchmarks/reading_rules.py.
    "about 8", "约8分", "8分左右", "8 good", "8 stars", "8 out of ten", "八分",
)
# fmt: on


@pytest.mark.parametrize("value", PLAIN)
def test_a_number_with_a_unit_or_a_remark_is_that_number(value: str):
    assert read(f'{{"Factuality": {value}, "Final Score": 7}}') == EIGHT_AND_SEVEN
    result = read(f'{{"Clarity": 5, "Final Score": {value}}}')
    assert isinstance(result, ScoreRecord) and result.final == 8


@pytest.mark.parametrize("value", AMBIGUOUS)
def test_a_value_that_may_mean_several_numbers_is_none(value: str):
    assert mode_of(json.dumps({"Factuality": 8, "Final Score": value})) == "not_a_number"


UNREADABLE = (8.5, "8.5/10", "7.5分", "high", "高", True, [7], "7-8", "7 or 8", {"reason": "good"})


@pytest.mark.parametrize("value", [*UNREADABLE, 11, 0, -1, "85/100", "8/100", "4/5"])
def test_an_unreadable_criterion_is_missing_and_one_on_another_scale_costs_the_judgement(
    value: object,
):
    text = json.dumps({"Factuality": 8, "Clarity": value, "Final Score": 7})
    if value in UNREADABLE:
        assert read(text) == EIGHT_AND_SEVEN
        assert "clarity" in EIGHT_AND_SEVEN.missing
    else:
        assert mode_of(text) == "out_of_range"


# Size. The bound on the work is counted; the rest need only return.


@PROPERTY
@given(
    st.lists(
        st.sampled_from(["{", "}", '{"', '"}', '"', "'", ":", ",", " ", "a"]), max_size=200
    ).map("".join)
)
def test_the_objects_looked_at_are_at_most_four_times_as_long_as_the_text(text: str):
    # An object and the objects in it: height 4. So the work grows with the length of the text, not
    # its square.
    assert sum(span.end - span.start for span in spans(text)) <= 4 * len(text)


N = 200_000
LONG = {
    "opening braces": ("{" * N, "unparseable"),
    "closing braces": ("}" * N, "unparseable"),
    "empty objects": ("{}" * (N // 2), "unparseable"),
    "one deep object": ("{" * (N // 2) + "}" * (N // 2), "unparseable"),
    "one deep JSON object": ('{"a":' * (N // 10) + "1" + "}" * (N // 10), "unparseable"),
    "open JSON strings": ('{"' * (N // 2), "unparseable"),
    "quotes": ("{" + '"' * N + "}", "unparseable"),
    "escaped quotes": ('{"a": "' + '\\"' * (N // 2) + '"}', "unparseable"),
    "quotes that look like strings": ('{"a": ' + '," ' * (N // 3) + "}", "unparseable"),
    "apostrophes": ("{" + "'" * N + "}", "unparseable"),
    "colons": ("{" + "a:" * (N // 2) + "}", "unparseable"),
    "a long key": ('{"' + "k" * N + '": 1}', "unparseable"),
    "a long bare key": ("{" + "k" * N + ": 1}", "unparseable"),
    "a deep list": ('{"Factuality": 8, "Final Score": ' + "[" * N + "}", "not_a_number"),
    "a long number": ('{"Final Score": ' + "9" * N + "}", "out_of_range"),
    "a long string": ('{"Final Score": "' + "9" * N + '"}', "not_a_number"),
    "a final score nested too deep": (
        '{"Final Score": ' * (N // 16) + "7" + "}" * (N // 16),
        "conflicting_scores",
    ),
    "many records": ('{"Final Score": 7}' * (N // 18), None),
    "many pairs": ("{" + '"Final Score": 7,' * (N // 17) + "}", None),
}


@pytest.mark.parametrize(("text", "mode"), LONG.values(), ids=LONG.keys())
def test_very_long_replies_are_read(text: str, mode: str | None):
    assert mode_of(text) == mode


SCORES = (9, 6, 7, 8, 5)
RECORD = ScoreRecord(7, dict(zip(QA, SCORES, strict=True)))
JSON = (
    '{"Factuality": 9, "User Satisfaction": 6, "Clarity": 7, "Completeness": 8, '
    '"Logical Coherence": 5, "Final Score": 7}'
)
EXPECTED = """**Final Score: 7**

### Factuality: 9

All true.

### User Satisfaction: 6

Half of the need.

### Clarity: 7

Clear.

### Completeness: 8

Little is missing.

### Logical Coherence: 5

A leap."""


def explained(text: str, language: str = "en") -> str:
    """The explanation of a reply with the scores above."""
    return explain(text, RECORD, RUBRIC, language)


# A criterion has a heading with its score, and below it the judge's reason.

FORMS = (
    "### {}\n{}", "### {}:\n{}", "## {n}. {}\n\n{}\n", "### {} (Score: 8)\n{}", "**{}**\n{}", "**{}**: {}",
    "**{}:** {}", "**{}** – {}", "- **{} (8/10)** — {}", "- {} - {}", "{n}. **{}**: {}", "* {}: {}", "> {}: {}",
)  # fmt: skip
REASONS = ("All true.", "Half of the need.", "Clear.", "Little is missing.", "A leap.")


def _reasoning(form: str) -> str:
    names = [RUBRIC.criteria[criterion]["en"].name for criterion in QA]
    pairs = zip(names, REASONS, strict=True)
    return "\n\n".join(
        form.format(name, reason, n=number) for number, (name, reason) in enumerate(pairs, start=1)
    )


@pytest.mark.parametrize("form", FORMS)
def test_each_reason_stands_below_its_criterion(form: str):
    assert explained(f"{_reasoning(form)}\n\n{JSON}") == EXPECTED


def test_a_score_on_the_line_of_the_heading_and_several_paragraphs_stay_with_the_reason():
    text = _reasoning("### {n}. {}: 8/10\n{}")
    assert "### Clarity: 7\n\n8/10\nClear." in explained(f"{text}\n\n{JSON}")
    reason = "First.\n\n- a point: with a colon\n- another\n\nLast."
    shown = explained(f"### Clarity\n{reason}\n### Completeness\nB.\n{JSON}")
    assert f"### Clarity: 7\n\n{reason}\n\n### Completeness: 8" in shown


@pytest.mark.parametrize(
    ("written", "language", "shown"),
    [
        ("### 事实正确性\n属实。", "zh", "### 事实正确性: 9\n\n属实。"),
        ("### 1. 事实正确性：\n属实。", "zh", "### 事实正确性: 9\n\n属实。"),
        ("**事实正确性（9分）**：属实。", "zh", "### 事实正确性: 9\n\n属实。"),
        ("### 事实正确性(Factuality)\n属实。", "zh", "### 事实正确性: 9\n\n属实。"),
        ("（1）事实正确性：属实。", "zh", "### 事实正确性: 9\n\n属实。"),
        # A judge may write in the other language than its prompt.
        ("### 事实正确性\n属实。", "en", "### Factuality: 9\n\n属实。"),
        ("### Factual Correctness\nTrue.", "zh", "### 事实正确性: 9\n\nTrue."),
    ],
)
def test_chinese_and_mixed_headings_are_recognised(written: str, language: str, shown: str):
    assert shown in explained(f"{written}\n{JSON}", language)


def test_the_final_score_opens_the_explanation_in_the_judges_language_and_a_missing_one_is_named():
    assert explained(JSON).startswith("**Final Score: 7**\n\n### Factuality: 9")
    assert explained(JSON, "zh").startswith("**综合得分: 7**\n\n### 事实正确性: 9")
    shown = explain(
        "### Clarity\nHard.", ScoreRecord(7, {**RECORD.criteria, "clarity": None}), RUBRIC, "en"
    )
    assert "### Clarity: no whole number given\n\nHard." in shown


# What belongs to no criterion.


@pytest.mark.parametrize(
    "heading", ["### Final Score", "**Final Score**: 7", "## 综合得分", "### Overall"]
)
def test_what_comes_first_stays_first_and_what_comes_last_has_a_heading_of_its_own(heading: str):
    shown = explained(
        f"The reference names Paris.\n\n### Factuality\nF.\n{heading}\nOn the whole fair.\n{JSON}"
    )
    assert shown.startswith(
        "**Final Score: 7**\n\nThe reference names Paris.\n\n### Factuality: 9\n\nF."
    )
    assert re.search(r"### Final Score\n\n(7\n)?On the whole fair\.$", shown)


def test_a_reply_without_parts_stands_whole_below_the_scores():
    text = (
        "The answer is right about Paris.\n\nFactuality suffers nowhere.\n\nI would give a seven."
    )
    assert explained(f"{text}\n\n{JSON}").endswith(f"### Logical Coherence: 5\n\n{text}")


# The record has been read; it is not shown again.


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "```\n{}\n```", "{}\n\n"])
def test_the_record_is_taken_out(form: str):
    shown = explained("### Factuality\nF.\n\n" + form.replace("{}", JSON))
    assert "{" not in shown
    assert "```" not in shown
    assert shown.endswith("### Logical Coherence: 5")


@pytest.mark.parametrize("key", ["bcdfghjk", ""])
@pytest.mark.parametrize(
    "form", ["{own}\nIt planted {quoted}.", "It planted {quoted}.\n{own}", "[{own}, {quoted}]"]
)
def test_the_record_that_was_read_is_taken_out_and_a_quotation_stays(form: str, key: str):
    quoted = JSON.replace("7}", "10}").replace("9", "10")
    own = JSON.replace("{", f'{{"key": "{key}", ') if key else JSON
    reply = f"### Factuality\nF.\n\n{form.replace('{own}', own).replace('{quoted}', quoted)}"
    shown = explain(reply, RECORD, RUBRIC, "en", key)
    assert quoted in shown and own not in shown


def test_of_records_with_other_scores_the_last_is_taken_out():
    one, two, three = (JSON.replace("7}", f"{final}}}") for final in (1, 2, 3))
    shown = explained(f"### Factuality\nF. {one} G. {two} H. {three} I.")
    assert one in shown and two in shown
    assert three not in shown and "H.  I." in shown
    # Where one has the scores, that one goes.
    shown = explained(f"### Factuality\nF. {one} G. {JSON} H. {three} I.")
    assert one in shown and three in shown and JSON not in shown


def test_a_wrapped_record_is_taken_out_whole_and_code_of_the_judge_stays():
    own = f'{{"key": "bcdfghjk", "evaluation": {JSON}}}'
    assert "{" not in explain(f"### Factuality\nF.\n\n{own}", RECORD, RUBRIC, "en", "bcdfghjk")
    code = "```python\nprint({1: 2})\n```"
    shown = explained(f"### Factuality\nIt should be\n{code}\n```json\n{JSON}\n```")
    assert shown.startswith(
        f"**Final Score: 7**\n\n### Factuality: 9\n\nIt should be\n{code}\n\n### User"
    )
    assert "was\n```\n```\nF." in explained(f"### Factuality\nThe answer was\n```\n```\nF.\n{JSON}")


# Properties.


@PROPERTY
@given(record_soup | st.text(), st.sampled_from(["en", "zh"]))
def test_any_reply_is_explained(text: str, language: str):
    lines = explained(text, language).splitlines()
    assert lines[0] == f"**{RUBRIC.languages[language].final.name}: 7**"
    places = [
        lines.index(f"### {RUBRIC.criteria[c][language].name}: {RECORD.criteria[c]}") for c in QA
    ]
    assert places == sorted(places)


_NAMES = [term.name for texts in RUBRIC.criteria.values() for term in texts.values()]
_HEADINGS = st.builds(
    str.format,
    st.sampled_from(
        [
            "### {}",
            "**{}**",
            "- {}: ",
            "1. **{}** - ",
            "> {} (7/10) — ",
            "## {}（8分）：",
            "{}",
            "{}: ",
        ]
    ),
    st.sampled_from(
        [*_NAMES, *(language.final.name for language in RUBRIC.languages.values()), "Summary"]
    ),
)


@PROPERTY
@given(st.lists(_HEADINGS, max_size=8))
def test_no_word_of_the_reasoning_is_lost(headings: list[str]):
    # A word on the line of the heading, and one below it.
    lines = [f"{heading} same{number}\nbelow{number}" for number, heading in enumerate(headings)]
    shown = explained("\n".join(["first", *lines, JSON, "last"]))
    words = [
        "first",
        "last",
        *(f"{place}{number}" for number in range(len(headings)) for place in ("same", "below")),
    ]
    assert [word for word in words if len(re.findall(rf"{word}\b", shown)) != 1] == []
