"""Tests of `urs_inspect.judging.number_reply`."""

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urs_inspect.judging.number_reply import chinese_number, read_result, sum_outcome

READ = {
    # bare
    "alone": ("96", 96),
    "with a full stop": ("96.", 96),
    "bold": ("**96**", 96),
    "a sentence": ("It's 96!", 96),
    # marked
    "asked for": ("12 + 34 = 46\n46 + 50 = 96\n\nAnswer: 96", 96),
    "marked, with a full stop": ("Answer: 96.", 96),
    "bold mark": ("**Answer:** 96", 96),
    "all bold": ("**Answer: 96**", 96),
    "on the next line": ("### Answer:\n\n96", 96),
    "with a note": ("Answer (in digits): 96", 96),
    "with words between": ("The answer to the whole problem is 96, which is 4 more than 92.", 96),
    "with a clause": ("Answer: The sum is 96", 96),
    "in JSON": ('{"steps": [46, 96], "answer": 96}', 96),
    "with a unit": ("Answer: 96 points", 96),
    "with a unit attached": ("Answer: 96pts", 96),
    "with money": ("Answer: $96", 96),
    "with the whole equation": ("Answer: 12 + 34 + 50 = 96", 96),
    "with the equation turned round": ("Answer: 96 = 12 + 34 + 50", 96),
    "before its steps": ("Answer: 96\n\nSteps: 12 + 34 = 46", 96),
    "with its steps in brackets": ("Answer: 96 (46 + 50 = 96, 12 + 34 = 46)", 96),
    "a heading above the steps": ("Answer:\n\n12 + 34 = 46\n46 + 50 = 96", 96),
    "steps behind the mark": ("Answer: 12 + 34 = 46, 46 + 50 = 96, in 2 steps", 96),
    "put right later": ("Answer: 97\n\nLet me check: 46 + 50 = 96. So the answer is 96.", 96),
    "with the chain first": ("The answer is 12 + 34 + 50, which equals 96. I used 3 steps.", 96),
    "to answer is no mark": ("I will answer step by step: 12 + 34 = 46, 46 + 50 = 96", 96),
    # boxed
    "boxed": (r"The total is $\boxed{96}$.", 96),
    "boxed before a remark": (r"\[\boxed{96}\] There were 3 numbers, 12 + 34 = 46 being the first sum.", 96),
    "boxed with an equation": (r"\boxed{46 + 50 = 96}", 96),
    "boxed with markup": (r"\boxed{\mathbf{1{,}234}}", 1234),
    "boxed with a thin space": (r"\boxed{1\,234}", 1234),
    "boxed text": (r"\boxed{\text{The sum is } 96}", 96),
    # steps
    "steps on one line": ("12+34=46, 46+50=96", 96),
    "numbered steps": ("1. 12 + 34 = 46\n2. 46 + 50 = 96", 96),
    "steps with arrows": ("12 → 46 → 96", 96),
    "running totals": ("12, 46, 96", 96),
    "a chain of equal signs": ("12 + 34 = 46 + 50 = 96", 96),
    "a remark after the steps": ("46 + 50 = 96 (carry 1)", 96),
    "a sum of part of it": ("The sum of 12 and 34 is 46. Then 46 + 50 = 96.", 96),
    "in brackets": ("(12+34)+50=46+50=96", 96),
    "in a column": ("  12\n+ 34\n+ 50\n----\n  96", 96),
    "a column with a sign": ("12\n+34\n=46", 46),
    "the question repeated": ("12 + 34 + 50 = ?\n\n96", 96),
    "TeX": (r"\(12 + 34 + 50 = 96\)", 96),
    "a list below": ("Total = 96\n- 12\n- 34\n- 50", 96),
    "a table": ("| step | total |\n|---|---|\n| 1 | 46 |\n| 2 | 96 |", 96),
    "thinking aloud": ("<think>Answer: 95?</think>\n96", 96),
    # prose
    "gives": ("Adding them gives 96.", 96),
    "that's": ("12 + 34 = 46, and with 50 that's 96.", 96),
    "before what it is": ("147 is the sum of 51, 76 and 20.", 147),
    "said to be the answer": ("147是最终答案，加了51、76、20。", 147),
    "an ordinal": ("After the 2nd step it is 96; the 3rd is not needed.", 96),
    "percent": ("It is 96. I am 100% sure.", 96),
    "a count after it": ("The sum is 96 for all 3 numbers.", 96),
    "a labelled count after it": ("57\n\nStep count: 3", 57),
    "how many there were, after it": ("The sum is 96. Number of steps: 2", 96),
    "counts in a sentence, after it": ("It is 96, and the number of terms is 3.", 96),
    "steps that are equations": ("Steps: 12 + 34 = 46, 46 + 50 = 96", 96),
    "a total count": ("Total count: 96", 96),
    "a count in Chinese, after it": ("总和是96。\n步骤数：2，个数：3", 96),
    # separators and decimals
    "comma": ("Answer: 1,234", 1234),
    "comma in prose": ("The total comes to 1,234.", 1234),
    "two commas": ("Answer: 1,234,567", 1234567),
    "blank": ("Answer: 1 234", 1234),
    "no-break space": ("Answer: 1\u00a0234", 1234),
    "narrow space": ("Answer: 1\u202f234.", 1234),
    "apostrophe": ("Answer: 1'234", 1234),
    "zeros behind the point": ("Answer: 96.00", 96),
    "a point is no separator": ("Answer: 1.234", Decimal("1.234")),
    "half": ("46 + 50 = 96. Answer: 96.5", Decimal("96.5")),
    "a list is no number": ("12,34,50", 50),
    "negative": ("Answer: -96", -96),
    "a dash": ("Answer - 96", 96),
    "a bullet": ("- 96", 96),
    "a leading zero": ("Answer: 096", 96),
    # Chinese
    "Chinese mark": ("答案：96", 96),
    "Chinese mark and separator": ("总和是 1,234。", 1234),
    "full width": ("答案：９６", 96),
    "full width with separator": ("答案：１，２３４。", 1234),
    "Chinese comma as separator": ("答案是1，234。", 1234),
    "Chinese commas in a list": ("46，96，146。", 146),
    "Chinese commas between steps": ("50+60=110，110+95=205，205就是总和", 205),
    "Chinese steps": ("第1步：12+34=46\n第2步：46+50=96\n所以，一共是 96 。", 96),
    "Chinese prose": ("这3个数相加等于96，共用了2步。", 96),
    "Chinese mark before a remark": ("**答案：96**（共3个数）", 96),
    "Chinese numerals": ("总和是一千二百三十四。", 1234),
    "short Chinese numerals": ("答案：九十六", 96),
    "with a unit in Chinese": ("12加34再加50，得96元。", 96),
    "Chinese words that hold a numeral": ("这十分简单，千万别算错：答案是96", 96),
    "half of it Chinese": ("最终结果：**1234**", 1234),
}


@pytest.mark.parametrize(("text", "expected"), READ.values(), ids=READ.keys())
def test_the_result_is_read(text: str, expected: "int | Decimal") -> None:
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
    steps = "，".join(f"{totals[at - 1]}+{numbers[at]}={written.format(totals[at])}" for at in range(1, len(numbers)))
    text = form.format(n=written.format(totals[-1]), steps=steps, chain=" + ".join(map(str, numbers)))
    assert read_result(text) == totals[-1]


PIECES = ["Answer", "答案", ":", "：", "=", " ", "\n", "1", "96", ",", "，", ".", "+", "-", "\\boxed{", "}", "{", "**"]
PIECES += ["is", "和", "是", "千", "百", "十", "一", "零", "第", "<think>", "</think>", "e", "%", "$", "(", ")", "_"]


@settings(max_examples=150)
@given(text=st.text() | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_no_reply_raises(text: str) -> None:
    found = read_result(text)
    assert found is None or isinstance(found, Decimal)
    if found is not None:  # nothing is made up: every digit stands in the reply, or comes of Chinese numerals
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
