"""The explanation: what the judge wrote, as Markdown that people can read in the viewer."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging.replies import PROPERTY, QA, RUBRIC, Written, record_soup, written_replies
from urs_inspect.judging import ScoreRecord, explain, read_reply

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

SAME_LINE = "### {n}. {}: 8/10\n{}"
FORMS = {
    "headings as asked for": "### {}\n{}",
    "headings with a colon": "### {}:\n{}",
    "numbered headings": "## {n}. {}\n\n{}\n",
    "score in the heading": "### {} (Score: 8)\n{}",
    "bold": "**{}**\n{}",
    "bold, reason on the same line": "**{}**: {}",
    "bold colon": "**{}:** {}",
    "dash": "**{}** – {}",
    "long dash and score": "- **{} (8/10)** — {}",
    "hyphen": "- {} - {}",
    "numbered, bold": "{n}. **{}**: {}",
    "bullets": "* {}: {}",
    "quotation": "> {}: {}",
}
REASONS = ("All true.", "Half of the need.", "Clear.", "Little is missing.", "A leap.")


def _reasoning(form: str, names: list[str]) -> str:
    return "\n\n".join(
        form.format(name, reason, n=number)
        for number, (name, reason) in enumerate(zip(names, REASONS, strict=True), start=1)
    )


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_each_reason_stands_below_its_criterion(form: str):
    names = [RUBRIC.criteria[criterion]["en"].name for criterion in QA]
    assert explained(f"{_reasoning(form, names)}\n\n{JSON}") == EXPECTED


def test_a_score_on_the_line_of_the_heading_stays_with_the_reason():
    text = _reasoning(SAME_LINE, [RUBRIC.criteria[c]["en"].name for c in QA])
    assert "### Clarity: 7\n\n8/10\nClear." in explained(f"{text}\n\n{JSON}")


def test_reasons_of_several_paragraphs_stay_together():
    text = f"### Clarity\nFirst.\n\n- a point: with a colon\n- another\n\nLast.\n### Completeness\nB.\n{JSON}"
    assert (
        "### Clarity: 7\n\nFirst.\n\n- a point: with a colon\n- another\n\nLast.\n\n### Completeness: 8"
        in explained(text)
    )


def test_criteria_stand_in_the_order_of_the_record_not_of_the_reply():
    text = f"### Clarity\nC.\n### Factuality\nF.\n{JSON}"
    shown = explained(text)
    assert shown.index("### Factuality: 9\n\nF.") < shown.index("### Clarity: 7\n\nC.")


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


def test_the_final_score_opens_the_explanation_in_the_judges_language():
    assert explained(JSON).startswith("**Final Score: 7**\n\n### Factuality: 9")
    assert explained(JSON, "zh").startswith("**综合得分: 7**\n\n### 事实正确性: 9")


def test_a_criterion_without_a_score_says_so():
    record = ScoreRecord(7, {**RECORD.criteria, "clarity": None})
    shown = explain("### Clarity\nHard to say.", record, RUBRIC, "en")
    assert "### Clarity: no whole number given\n\nHard to say." in shown


# What belongs to no criterion.


def test_what_comes_first_stays_first():
    shown = explained(f"The reference names Paris.\n\n### Factuality\nF.\n{JSON}")
    assert shown.startswith("**Final Score: 7**\n\nThe reference names Paris.\n\n### Factuality: 9\n\nF.")


@pytest.mark.parametrize("heading", ["### Final Score", "**Final Score**: 7", "## 综合得分", "### Overall"])
def test_what_the_judge_says_in_the_end_has_a_heading_of_its_own(heading: str):
    shown = explained(f"### Factuality\nF.\n{heading}\nOn the whole fair.\n{JSON}")
    assert re.search(r"### Final Score\n\n(7\n)?On the whole fair\.$", shown)


def test_a_reply_without_headings_follows_the_scores_as_a_whole():
    text = "The answer is right about Paris.\n\nFactuality suffers nowhere.\n\nI would give a seven."
    assert explained(f"{text}\n\n{JSON}").endswith(f"### Logical Coherence: 5\n\n{text}")


def test_reasons_about_other_criteria_are_not_lost():
    shown = explained(f"### Factuality\nF.\n### Richness\nRich in examples.\n{JSON}")
    assert "Rich in examples." in shown


def test_the_same_heading_twice_loses_nothing():
    shown = explained(f"### Factuality\nFirst look.\n### Clarity\nC.\n### Factuality\nSecond look.\n{JSON}")
    assert "First look." in shown
    assert "Second look." in shown


# The record has been read; it is not shown again.


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "```\n{}\n```", "{}\n\n"])
def test_the_record_is_taken_out(form: str):
    shown = explained("### Factuality\nF.\n\n" + form.replace("{}", JSON))
    assert "{" not in shown
    assert "```" not in shown
    assert shown.endswith("### Logical Coherence: 5")


def test_only_the_last_record_is_taken_out():
    earlier = '{"Factuality": 2, "Final Score": 2}'
    shown = explained(f"### Factuality\nIt planted {earlier}.\n\n{JSON}")
    assert earlier in shown
    assert JSON not in shown


@pytest.mark.parametrize("key", ["bcdfghjk", ""])
@pytest.mark.parametrize("form", ["{own}\nIt planted {quoted}.", "It planted {quoted}.\n{own}", "[{own}, {quoted}]"])
def test_the_record_that_was_read_is_taken_out_and_a_quotation_stays(form: str, key: str):
    quoted = JSON.replace("7}", "10}").replace("9", "10")
    own = JSON.replace("{", f'{{"key": "{key}", ') if key else JSON
    reply = f"### Factuality\nF.\n\n{form.replace('{own}', own).replace('{quoted}', quoted)}"
    shown = explain(reply, RECORD, RUBRIC, "en", key)
    assert quoted in shown and own not in shown


def test_a_record_whose_scores_are_wrapped_is_taken_out_whole():
    own = f'{{"key": "bcdfghjk", "evaluation": {JSON}}}'
    assert "{" not in explain(f"### Factuality\nF.\n\n{own}", RECORD, RUBRIC, "en", "bcdfghjk")


def test_code_of_the_judge_stays_whole():
    code = "```python\nprint({1: 2})\n```"
    shown = explained(f"### Factuality\nIt should be\n{code}\n```json\n{JSON}\n```")
    assert shown.startswith(f"**Final Score: 7**\n\n### Factuality: 9\n\nIt should be\n{code}\n\n### User")


def test_a_judges_empty_code_block_stays():
    shown = explained(f"### Factuality\nThe answer was\n```\n```\nF.\n{JSON}")
    assert "The answer was\n```\n```\nF." in shown


def test_text_after_the_record_stays():
    assert "I hope this helps!" in explained(f"### Factuality\nF.\n{JSON}\nI hope this helps!")


# Properties.


@PROPERTY
@given(record_soup | st.text(), st.sampled_from(["en", "zh"]))
def test_any_reply_is_explained(text: str, language: str):
    lines = explained(text, language).splitlines()
    assert lines[0] == f"**{RUBRIC.languages[language].final.name}: 7**"
    places = [lines.index(f"### {RUBRIC.criteria[c][language].name}: {RECORD.criteria[c]}") for c in QA]
    assert places == sorted(places)


@PROPERTY
@given(written_replies(), st.sampled_from(["en", "zh"]))
def test_every_reply_that_is_read_is_explained_with_its_scores(written: Written, language: str):
    record = read_reply(written.text, RUBRIC, written.criteria)
    assert isinstance(record, ScoreRecord)
    shown = explain(written.text, record, RUBRIC, language)
    assert shown.startswith(f"**{RUBRIC.languages[language].final.name}: {record.final}**")
    for criterion, score in record.criteria.items():
        if score is not None:
            assert f"### {RUBRIC.criteria[criterion][language].name}: {score}" in shown


_NAMES = [term.name for texts in RUBRIC.criteria.values() for term in texts.values()]
_HEADINGS = st.builds(
    str.format,
    st.sampled_from(["### {}", "**{}**", "- {}: ", "1. **{}** - ", "> {} (7/10) — ", "## {}（8分）：", "{}", "{}: "]),
    st.sampled_from([*_NAMES, *(language.final.name for language in RUBRIC.languages.values()), "Summary"]),
)


@PROPERTY
@given(st.lists(_HEADINGS, max_size=8))
def test_no_word_of_the_reasoning_is_lost(headings: list[str]):
    # A word on the line of the heading, and one below it.
    lines = [f"{heading} same{number}\nbelow{number}" for number, heading in enumerate(headings)]
    shown = explained("\n".join(["first", *lines, JSON, "last"]))
    words = ["first", "last", *(f"{place}{number}" for number in range(len(headings)) for place in ("same", "below"))]
    assert [word for word in words if len(re.findall(rf"{word}\b", shown)) != 1] == []
