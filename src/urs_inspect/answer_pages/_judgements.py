"""What a judge wrote about an answer: for a page to show, and in short for a card."""

import re

from markupsafe import Markup, escape

from urs_inspect.judging._answers import BETWEEN_JUDGES, CUT_OFF_NOTE, OTHER_CRITERIA

_SENTENCES = 2
_REASON = 200
"""Characters of a reason in short."""
_SENTENCE_END = re.compile(r"(?<=[^\d\s][.!?])\s+|(?<=[。！？])")
_EARLIER = re.compile(r"NaN: criteria by which (answers to .{1,200}) are not judged\.")
"""How earlier logs say which criteria have no score."""
_NEXT_JUDGE = re.compile(rf"{BETWEEN_JUDGES}(?=Judge: )")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+(.+)")
_BOLD = re.compile(r"(?<![A-Za-z0-9])\*\*(?=\S)([^*]+)(?<=\S)\*\*(?![A-Za-z0-9])")
_CODE = re.compile(r"`([^`]+)`")
_NUMBERED = re.compile(r".*\d\s*|.*: no whole number given\s*")
"""A heading with the score of a criterion; that of the closing words has none."""
_NO_REASON = re.compile(
    rf"#|```|\{{|\[simulated|Judge: `|\*\*[^*]+\*\*$|(?:Score|分数|得分)\s*[:：]"
    rf"|{OTHER_CRITERIA}|{re.escape(CUT_OFF_NOTE)}|\*\*No score: "
)
"""How lines begin that are no reason: headings, scores and what the scorer adds."""


def judgement_markup(text: str) -> Markup:
    """A judgement as text that is all escaped; headings, bold and code are marked as such."""
    lines = []
    in_code = False
    for line in str(escape(_plain(text))).split("\n"):
        if _FENCE.match(line):
            in_code = not in_code
        lines.append(line if in_code else _marked(line))
    return Markup("\n".join(lines))  # noqa: S704 (escaped above)


def reason_of(judgement: str) -> str:
    """The first sentences of the first judge's reason that has one."""
    reasons = (_judge_reason(each) for each in _NEXT_JUDGE.split(_plain(judgement)))
    reason = next(filter(None, reasons), "")
    sentences = _SENTENCE_END.split(reason)
    short = " ".join(sentences[:_SENTENCES])
    if len(short) <= _REASON:
        return short
    return f"{short[:_REASON].rstrip()}…"


def _judge_reason(judgement: str) -> str:
    """What one judge says as a reason: its closing words, if it wrote some."""
    _, _, last = judgement.rpartition("\n### ")
    heading, _, closing = last.partition("\n")
    reason = ""
    if not _NUMBERED.fullmatch(heading):
        reason = _reason_in(closing)
    return reason or _reason_in(judgement)


def _reason_in(text: str) -> str:
    """What a text says as a reason, on one line."""
    lines = [line for line in text.splitlines() if not _NO_REASON.match(line.strip())]
    plain = _BOLD.sub(r"\1", " ".join(lines))
    return " ".join(plain.split())


def _plain(text: str) -> str:
    """A judgement of an earlier log in the words of now."""
    return _EARLIER.sub(rf"{OTHER_CRITERIA}: \1 are not judged by them.", text)


def _marked(line: str) -> str:
    """A line that is escaped already, with tags in the place of marks."""
    heading = _HEADING.fullmatch(line)
    if heading is not None:
        return f"<b>{heading[1].replace('**', '')}</b>"
    bold = _BOLD.sub(r"<b>\1</b>", line)
    return _CODE.sub(r"<code>\1</code>", bold)
