"""What a judge wrote, as a page shows it."""

import time

import pytest

from tests.telling import tells
from urs_inspect.answer_pages._judgements import judgement_markup, reason_of

_JUDGED = """Criteria without a score: answers to Leisure are not judged by them.

Judge: `p/j`

**Final Score: 4**

### Clarity: 5

Hard to **follow**.
Score: 5

### Final Score

Off the subject. Too long. Rude.
Score: 4
"""
_CHINESE = """Judge: `p/j`

**综合得分: 4**

### 清晰度: 5

不清楚。太长。不礼貌。

---

Judge: `p/other`

**综合得分: 9**

很好。"""


def test_marks_become_bold_and_code_and_all_else_is_escaped() -> None:
    shown = judgement_markup(
        "# A <b>\n**No `c`** 2**3**4\n```\n# not <i>\n**x**\n```\n**<script>**\n#1 & * one"
    )
    assert shown.split("\n") == [
        "<b>A &lt;b&gt;</b>",
        "<b>No <code>c</code></b> 2**3**4",
        "```",
        "# not &lt;i&gt;",
        "**x**",
        "```",
        "<b>&lt;script&gt;</b>",
        "#1 &amp; * one",
    ]


@pytest.mark.parametrize("text", ["", "plain", "**", "`", "### ", "* a\n- b", "a ** b ** c"])
def test_text_without_marks_stays(text: str) -> None:
    assert judgement_markup(text) == text


@pytest.mark.parametrize(
    ("judgement", "reason"),
    [
        (_JUDGED, "Off the subject. Too long."),
        (_JUDGED.replace("Off the subject. Too long. Rude.\n", ""), "Hard to follow."),
        (_CHINESE, "不清楚。 太长。"),
        ("NaN: criteria by which answers to API are not judged.\n\nWrong.", "Wrong."),
        ("because of 0", "because of 0"),
        ("Judge: `p/j`\n\n**No score: timeout.** slow\n\n---\n\nJudge: `p/k`\n\nBad.", "Bad."),
        ("**The answer was cut off at the token limit** and was judged as it is.\n\nOh.", "Oh."),
        ("Judge: `p/j`\n\nOne\n\n---\n\nand two. 1. Three. Four.", "One --- and two. 1. Three."),
        ("", ""),
    ],
)
def test_the_reason_in_short_is_the_judges(judgement: str, reason: str) -> None:
    assert reason_of(judgement) == reason


@pytest.mark.parametrize("part", ["**a ", "** ", "`a", "NaN: criteria by which answers to ", "1 "])
def test_a_long_hostile_judgement_does_not_hold_up_a_page(part: str) -> None:
    """Where a pattern takes quadratic time, this takes minutes."""
    text = part * (400_000 // len(part))
    start = time.process_time()
    judgement_markup(text)
    reason_of(text)
    assert time.process_time() - start < 5


def test_bold_is_found_within_text_without_blanks() -> None:
    assert judgement_markup("这**很**好") == "这<b>很</b>好"


def test_a_long_reason_is_shortened() -> None:
    assert len(reason_of("very " * 200)) <= 201


def test_earlier_logs_say_in_plain_words_which_criteria_have_no_score() -> None:
    shown = judgement_markup("NaN: criteria by which answers to Ask for Advice are not judged.")
    assert "NaN" not in shown and tells(shown, "without a score ... answers to Ask for Advice")


@pytest.mark.parametrize("size", [199, 200, 201])
def test_a_reason_is_cut_after_two_hundred_characters(size: int) -> None:
    reason = reason_of("x" * size)
    assert (reason == "x" * size) is (size <= 200)
    assert reason.endswith("…") is (size > 200)
