"""Tests of `urs_inspect.judging._number_reply`."""

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urs_inspect.judging._number_reply import chinese_number, read_result, sum_outcome

READ: list[tuple[int | Decimal, list[str]]] = [
    # bare
    (96, ["96", "96.", "**96**", "It's 96!", "96\n\n1. I added them all up.", "1. 96"]),
    # marked
    (96, ["12 + 34 = 46\n46 + 50 = 96\n\nAnswer: 96", "Answer: 96.", "**Answer:** 96", "**Answer: 96**",
        "### Answer:\n\n96", "Answer (in digits): 96",
        "The answer to the whole problem is 96, which is 4 more than 92.", "Answer: The sum is 96",
        '{"steps": [46, 96], "answer": 96}', "Answer: 96 points", "Answer: 96pts", "Answer: $96",
        "Answer: 12 + 34 + 50 = 96", "Answer: 96 = 12 + 34 + 50", "Answer: 96\n\nSteps: 12 + 34 = 46",
        "Answer: 96 (46 + 50 = 96, 12 + 34 = 46)", "Answer:\n\n12 + 34 = 46\n46 + 50 = 96",
        "Answer: 12 + 34 = 46, 46 + 50 = 96, in 2 steps",
        "Answer: 97\n\nLet me check: 46 + 50 = 96. So the answer is 96.",
        "The answer is 12 + 34 + 50, which equals 96. I used 3 steps.",
        "I will answer step by step: 12 + 34 = 46, 46 + 50 = 96"]),
    # boxed
    (96, [r"The total is $\boxed{96}$.", r"\[\boxed{96}\] There were 3 numbers, 12 + 34 = 46 being the first sum.",
        r"\boxed{46} and then \boxed{96}", r"\boxed{96} \boxed{done}",
        r"\boxed{46 + 50 = 96}", r"\boxed{\text{The sum is } 96}"]),
    (1234, [r"\boxed{\mathbf{1{,}234}}", r"\boxed{1\,234}"]),
    # steps
    (96, ["12+34=46, 46+50=96", "1. 12 + 34 = 46\n2. 46 + 50 = 96", "12 → 46 → 96", "12, 46, 96",
        "12 + 34 = 46 + 50 = 96", "46 + 50 = 96 (carry 1)", "The sum of 12 and 34 is 46. Then 46 + 50 = 96.",
        "(12+34)+50=46+50=96", "  12\n+ 34\n+ 50\n----\n  96", "12 + 34 + 50 = ?\n\n96", r"\(12 + 34 + 50 = 96\)",
        "Total = 96\n- 12\n- 34\n- 50", "| step | total |\n|---|---|\n| 1 | 46 |\n| 2 | 96 |",
        "<think>Answer: 95?</think>\n96"]),
    (46, ["12\n+34\n=46"]),
    # prose
    (96, ["Adding them gives 96.", "12 + 34 = 46, and with 50 that's 96.",
        "After the 2nd step it is 96; the 3rd is not needed.", "It is 96. I am 100% sure.",
        "The sum is 96 for all 3 numbers.", "The sum is 96. Number of steps: 2",
        "It is 96, and the number of terms is 3.", "Steps: 12 + 34 = 46, 46 + 50 = 96", "Steps: 46 + 50 = 96", "Total count: 96",
        "总和是96。\n步骤数：2，个数：3"]),
    (147, ["147 is the sum of 51, 76 and 20.", "147是最终答案，加了51、76、20。"]),
    (57, ["57\n\nStep count: 3"]),
    # separators and decimals
    (1234, ["Answer: 1,234", "The total comes to 1,234.", "Answer: 1 234", "Answer: 1\u00a0234",
        "Answer: 1\u202f234.", "Answer: 1'234"]),
    (1234567, ["Answer: 1,234,567"]),
    (96, ["Answer: 96.00", "Answer - 96", "- 96", "Answer: 096"]),
    (Decimal("1.234"), ["Answer: 1.234"]),
    (Decimal("96.5"), ["46 + 50 = 96. Answer: 96.5"]),
    (50, ["12,34,50"]),
    (-96, ["Answer: -96"]),
    # Chinese
    (96, ["答案：96", "答案：９６", "第1步：12+34=46\n第2步：46+50=96\n所以，一共是 96 。",
        "这3个数相加等于96，共用了2步。", "**答案：96**（共3个数）",
        "答案：九十六", "12加34再加50，得96元。", "这十分简单，千万别算错：答案是96"]),
    (1234, ["总和是 1,234。", "答案：１，２３４。", "答案是1，234。", "总和是一千二百三十四。", "最终结果：**1234**"]),
    (146, ["46，96，146。"]),
    (205, ["50+60=110，110+95=205，205就是总和"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), [(text, number) for number, texts in READ for text in texts]
)
def test_the_result_is_read(text: str, expected: int | Decimal) -> None:
    assert read_result(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I add 46 and 50.\nThe sum is:\n96. That is all.", 96),
        ("I add 46 and 50.\nThe answer:\n96. That is all.", 96),
        ("Take 46 and 50.\n1. Add them.", 50),
        ("1. Add them.\n2. Look again.", 2),
    ],
)
def test_a_number_before_a_sentence_is_an_item_only_where_nothing_calls_it_the_result(
    text: str, expected: int
) -> None:
    assert read_result(text) == expected


NONE = (
    "", " \n", "I cannot add these numbers.", "Answer: ninety-six", "Answer: ?", "12 + 34 + 50 =", "version 1.2.3",
    "1.2e3", "96%", "the 96th", "x96", "第96步", "答案：很多", "<think>12 + 34 = 46, and so",
)  # fmt: skip


@pytest.mark.parametrize("text", NONE)
def test_a_reply_without_a_result_has_none(text: str) -> None:
    assert read_result(text) is None


NUMERALS = {
    "十": 10, "十二": 12, "二十": 20, "九十九": 99, "一百": 100, "一百零五": 105, "一百一十": 110, "一百十五": 115,
    "二百五十": 250, "两千零八": 2008, "一千零二十": 1020, "一千九百八十": 1980, "九千九百九十九": 9999,
    **dict.fromkeys(("", "千万", "百", "二二", "十百", "一千二百百", "五", "零")),
}  # fmt: skip


@pytest.mark.parametrize(("text", "number"), NUMERALS.items())
def test_chinese_numerals(text: str, number: int | None) -> None:
    assert chinese_number(text) == number


def in_chinese(number: int) -> str:
    """A slow, obvious way to write a number from 10 to 9999."""
    digits = "零一二三四五六七八九"
    text = "".join(
        digits[int(digit)] + unit if digit != "0" else "零"
        for digit, unit in zip(f"{number:04d}", ("千", "百", "十", ""), strict=True)
    )
    while "零零" in text:
        text = text.replace("零零", "零")
    return text.strip("零")


@given(number=st.integers(10, 9999))
def test_every_number_in_chinese_is_read(number: int) -> None:
    assert chinese_number(in_chinese(number)) == number
    assert read_result(f"总和是{in_chinese(number)}。") == number


FORMS = (
    "{n}", "Answer: {n}", "**Answer:** {n}.", "{steps}\n\nAnswer: {n}", "The sum is **{n}**.", "{steps}", "答案：{n}",
    "{steps}，所以总和是 {n}。", "$$\\boxed{{{n}}}$$", "{chain} = {n}",
)  # fmt: skip
WRITTEN = ("{:d}", "{:,d}")


@given(
    numbers=st.lists(st.integers(10, 99), min_size=2, max_size=20),
    form=st.sampled_from(FORMS),
    written=st.sampled_from(WRITTEN),
)
def test_every_sum_is_read_in_every_form(numbers: list[int], form: str, written: str) -> None:
    totals = [sum(numbers[: at + 1]) for at in range(len(numbers))]
    steps = "，".join(
        f"{totals[at - 1]}+{numbers[at]}={written.format(totals[at])}"
        for at in range(1, len(numbers))
    )
    text = form.format(
        n=written.format(totals[-1]), steps=steps, chain=" + ".join(map(str, numbers))
    )
    assert read_result(text) == totals[-1]


PIECES = [
    "Answer",
    "答案",
    ":",
    "：",
    "=",
    " ",
    "\n",
    "1",
    "96",
    ",",
    "，",
    ".",
    "+",
    "-",
    "\\boxed{",
    "}",
    "{",
    "**",
]
PIECES += [
    "is",
    "和",
    "是",
    "千",
    "百",
    "十",
    "一",
    "零",
    "第",
    "<think>",
    "</think>",
    "e",
    "%",
    "$",
    "(",
    ")",
    "_",
]


@settings(max_examples=150)
@given(text=st.text() | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_no_reply_raises(text: str) -> None:
    found = read_result(text)
    assert found is None or isinstance(found, Decimal)
    if (
        found is not None
    ):  # nothing is made up: every digit stands in the reply, or comes of Chinese numerals
        assert any(character.isdigit() or character in "十百千" for character in text)


ENDLESS = (*"1=a ({}一千\n", "1,", "1+", "1 ", "Answer:", "\\boxed{", "1.", "is ", "<think>")


@pytest.mark.parametrize("piece", ENDLESS)
def test_a_long_reply_takes_no_longer_than_its_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece)) + "96"
        started = time.process_time()
        read_result(text)
        return time.process_time() - started

    assert seconds(400_000) < 5  # quadratic time would take minutes


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("12 + 34 = 46\nAnswer: 46", ("right", Decimal(46))),
        ("Answer: 46.0", ("right", Decimal(46))),
        ("Answer: 47", ("wrong", Decimal(47))),
        ("I will not.", ("no_number", None)),
        (" \n", ("no_response", None)),
    ],
)
def test_the_sum_must_be_exact(reply: str, expected: tuple[str, Decimal | None]):
    assert sum_outcome(reply, Decimal(46)) == expected
