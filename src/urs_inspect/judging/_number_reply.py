"""The number that a reply gives as its result, compared with the sum that was asked for."""

import re
from decimal import Decimal
from typing import Literal

from urs_inspect._util import is_blank

_Kind = Literal["answer", "statement", "mention"]

_LONGEST = 20_000
"""A result stands at the end; of a longer reply so many last characters are read."""
_LONGEST_LEAD = 60

_THOUGHT = re.compile(r"^.*</think>|<think>.*\Z", re.DOTALL)
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) != "，"}
_PLAIN = {**_WIDE, **str.maketrans("−–—\u3000", "--- ", '*`"“”「」『』#')}
_LATEX = (
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[,;:!]"), "\u2009"),
    (re.compile(r"\\(?:implies|Rightarrow|rightarrow|to)(?![A-Za-z])"), "→"),
    (re.compile(r"\\(?:[A-Za-z]++|[()\[\]$ ])|[{}$]"), " "),
    (re.compile(r"(?<=[0-9])_(?=[0-9]{3})"), ","),
)
_WIDE_GROUPS = re.compile(r"[０-９]++(?:，[０-９]{3})++(?![０-９，])")
_BOX = re.compile(r"\\boxed\s{0,3}\{((?:[^{}]|\{[^{}]{0,40}\}){0,200})\}")

_DIGITS = "一二三四五六七八九"
_NUMERAL = re.compile(
    rf"(?:([{_DIGITS}两])千)?+(零?)(?:([{_DIGITS}两])百)?+(零?)(?:([{_DIGITS}]?)(十))?+(零?)([{_DIGITS}]?)"
)
_IN_CHINESE = re.compile(rf"[{_DIGITS}两十][{_DIGITS}两零十百千]*+")

_LOOSE = r"[1-9][ ，][0-9]{3}(?=[ \t]*(?:\Z|[\n。.!！)）;；元]))"
_STRICT = r"[0-9]++(?:[,'’\u00a0\u202f\u2009][0-9]++)*+(?:\.[0-9]++)*+"
_NUMBER = (
    rf"(?<![A-Za-z0-9_.第])(?:{_LOOSE}|{_STRICT})(?![A-Za-z]?[0-9]|[eE][+-]?[0-9]|(?:st|nd|rd|th)\b|["
    r" ]?%)"
)
_BETWEEN = r"[ \t\u2009]{0,3}(?:=>|->|[-+×÷/=≈→])[ \t\u2009]{0,3}"
_EXPRESSION = re.compile(rf"(?:(?<![0-9A-Za-z)-])-(?=[0-9]))?{_NUMBER}(?:{_BETWEEN}{_NUMBER})*+")
_EQUALS = re.compile(r"=>|->|[=≈→]")
_GROUPED = re.compile(r"[0-9]{1,3}(?:([,'’\u00a0\u202f\u2009 ，])[0-9]{3})(?:\1[0-9]{3})*+")

_LEADS_IN = (
    r"(?:\b(?:is|was|be|equals|equal to|gives|get|got|makes|yields|becomes|comes"
    r" to|reaches)\b|'s|’s|=>|->|[=≈→]"
    r"|等于|得到|得出|得|是|为|共|计)"
)
_TOTAL = r"(?:\b(?:total|sum|result)\b|总和|合计|总计|总数|总共|结果|得数|和)"
_ANSWER_LEAD = re.compile(
    r"(?:(?<!to )\banswer\b|\bfinal (?:sum|total|result)\b|答案?|最终(?:答案|结果|总和|得数))"
    r"(?:\s*\([^()\n]{0,30}\))?(?:\s+(?:to|of|for)\b[^\n:=0-9]{0,40}?)?"
    rf"\s*(?:{_LEADS_IN}|[:-])?\s*(?:[A-Za-z]{{0,12}}\s?{_TOTAL}\s*{_LEADS_IN}?)?[\s:]*\Z",
    re.IGNORECASE,
)
_STATEMENT_LEAD = re.compile(
    rf"(?:{_LEADS_IN}|{_TOTAL}[^0-9\n:]{{0,15}}:|{_TOTAL})[\s:]{{0,5}}\Z|\b(?:us|up|comes) to\s?\Z",
    re.IGNORECASE,
)
_STATEMENT_TAIL = re.compile(
    rf"\s?(?:(?:is|was) (?:the |your |our )?(?:final |correct |whole )?(?:{_TOTAL}|answer\b)"
    rf"|就?是[^0-9\n]{{0,6}}(?:{_TOTAL}|答案))",
    re.IGNORECASE,
)
_COUNTS = re.compile(
    r"\s?(?:[个步位项次]|(?:two-digit )?(?:numbers?|steps?|terms?|digits?|addends?|additions?)\b)",
    re.IGNORECASE,
)
_COUNT_LEAD = re.compile(
    rf"(?<!total )(?:\b(?:steps?|numbers?|terms?|addends?|additions?)\s+count|\bcount|\bsteps"
    rf"|\bnumber of (?:two-digit )?(?:numbers|steps|terms|addends|additions)|步骤?数|个数|项数)"
    rf"\s*(?:{_LEADS_IN}|:)?\s*\Z",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[.)、][ \t]+\S")


def read_result(text: str) -> Decimal | None:
    r"""Read the number that a reply gives as its result.

    In this order: what the last `\boxed{}` holds; what follows the last word for an answer; the
    last equation or statement ("46 + 50 = 96", "the sum is 96"); the last number. Of an equation,
    the last side that is one number counts. Thoughts between `<think>` and `</think>` are no part
    of the reply.

    Thousands may be separated by commas (1,234, also of full width), blanks, apostrophes or TeX's
    thin space. A point is the decimal mark, as both languages have it: 1.234 is not 1234. Numbers
    may be written in Chinese from 十 to 9999, not in English words. Percentages, ordinals and
    numbers with an exponent are none.

    The number is exact; None if the reply has none. Never raises.
    """
    spoken = _THOUGHT.sub("", text)[-_LONGEST:]
    for box in reversed(_BOX.findall(spoken)):
        value = _last(_plain(box))
        if value is not None:
            return value
    return _last(_plain(spoken))


def chinese_number(text: str) -> int | None:
    """Read a numeral from 10 to 9999 in Chinese with its units, such as 一百零五.

    None if it is no such numeral.
    """
    match = _NUMERAL.fullmatch(text)
    if match is None or not any(unit in text for unit in "十百千"):
        return None
    thousands, _, hundreds, _, tens, ten, _, ones = match.groups()
    number = 1000 * _digit(thousands) + 100 * _digit(hundreds) + _digit(ones)
    if ten:
        number += 10 * (_digit(tens) or 1)
    return number


def _digit(character: str | None) -> int:
    if not character:
        return 0
    if character == "两":
        return 2
    return _DIGITS.index(character) + 1


def _plain(text: str) -> str:
    """The text without markup, in characters of half width, with numerals as digits."""
    text = _WIDE_GROUPS.sub(lambda match: match[0].replace("，", ","), text)
    text = text.translate(_PLAIN)
    for pattern, instead in _LATEX:
        text = pattern.sub(instead, text)
    return _IN_CHINESE.sub(lambda match: str(chinese_number(match[0]) or match[0]), text)


def _last(text: str) -> Decimal | None:
    """The last number of the kind that says most plainly that it is the result."""
    found: dict[_Kind, Decimal] = {}
    item: Decimal | None = None  # counts if there is no other number
    # Where an answer may go on, and whether by equations only: "the answer is 12 + 34, that is 46",
    # or "the answer is 12 + 34 = 46, 46 + 50 = 96".
    goes_on: tuple[int, bool] | None = None
    for match in _EXPRESSION.finditer(text):
        kind = _kind(text, match)
        value = _value(match[0])
        equation = _EQUALS.search(match[0]) is not None
        if goes_on is not None and _continues(*goes_on, text, match.start(), equation):
            kind = "answer"
        if kind == "answer":
            goes_on = None
            if equation or value is None:
                goes_on = (match.end(), equation)
        if value is None or (kind != "answer" and _is_count(text, match, equation)):
            continue
        if kind == "mention" and _is_item(text, match):
            item = value
        else:
            found[kind] = value
    kinds: tuple[_Kind, ...] = ("answer", "statement", "mention")
    for kind in kinds:
        if kind in found:
            return found[kind]
    return item


def _continues(end: int, by_equations: bool, text: str, start: int, equation: bool) -> bool:
    """Whether an answer that ended here goes on with what starts there, on the same line."""
    return (equation or not by_equations) and "\n" not in text[end:start]


def _kind(text: str, match: re.Match[str]) -> _Kind:
    before = text[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    equation = _EQUALS.search(match[0])
    # Below a heading come the steps, of which the last counts.
    lead = _ANSWER_LEAD.search(before)
    if lead and not (equation and "\n" in lead[0]):
        return "answer"
    stated = equation or _STATEMENT_LEAD.search(before) or _STATEMENT_TAIL.match(text, match.end())
    if stated:
        return "statement"
    return "mention"


def _is_count(text: str, match: re.Match[str], equation: bool) -> bool:
    """Whether a number says how many numbers or steps there are."""
    before = text[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    if _COUNTS.match(text, match.end()):
        return True
    return not equation and _COUNT_LEAD.search(before) is not None


def _is_item(text: str, match: re.Match[str]) -> bool:
    """Whether a number is that of an item in a list."""
    start = text.rfind("\n", 0, match.start()) + 1
    before = text[start : match.start()]
    return not before.strip() and _ITEM.match(text, match.end()) is not None


def _value(expression: str) -> Decimal | None:
    """The last side of an equation that is one number."""
    for side in reversed(_EQUALS.split(expression)):
        written = side.strip()
        size = written.removeprefix("-")
        if re.fullmatch(_NUMBER, size):
            value = _number(size)
            if value is not None and size != written:
                return value.copy_negate()
            return value
    return None


def _number(written: str) -> Decimal | None:
    whole, *decimals = written.split(".")
    if len(decimals) > 1:
        return None  # a version or a date
    groups = re.split(r"[^0-9]", whole)
    digits = groups[-1]
    if _GROUPED.fullmatch(whole):
        digits = "".join(groups)
    return Decimal(".".join([digits, *decimals]))


SumOutcome = Literal["right", "wrong", "no_number", "no_response"]


def sum_outcome(reply: str, total: Decimal) -> tuple[SumOutcome, Decimal | None]:
    """Compare the number that a reply gives, None if there is none, with the sum.

    They must be equal.
    """
    if is_blank(reply):
        return "no_response", None
    number = read_result(reply)
    if number is None:
        return "no_number", None
    return ("right" if number == total else "wrong"), number
