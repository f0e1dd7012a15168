"""Turns a judge's reply into readable Markdown, one heading per criterion."""

import re
from collections.abc import Sequence

from urs_inspect.judging.keys import holds_key
from urs_inspect.judging.outcomes import ScoreRecord
from urs_inspect.judging.records import Span, records
from urs_inspect.judging.reply import read_reply
from urs_inspect.rubrics import FINAL, Rubric, normalise_key

_LEAD = re.compile(r"^[\s#*>\-•\d.、()（）]*")
_HEAD_END = re.compile(r"[:：(（\-—–*]")
_BRACKETS = re.compile(r"[\s*]*[(（]([^()（）]*)[)）]")
_FENCE = re.compile(r"```\w*\s*\Z")
_FENCE_END = re.compile(r"\s*(?:```|\Z)")
_MAX_HEADING = 80


def explain(text: str, record: ScoreRecord, rubric: Rubric, language: str, key: str = "") -> str:
    """Format a judgement for people.

    Args:
        text: The judge's reply.
        record: The scores read from it.
        rubric: The rubric.
        language: Language of the headings.
        key: The key that the prompt asks for; empty if it asks for none.

    Returns:
        Markdown: the final score, then a heading with score and reason for each criterion. A reply that has
        no recognisable parts is quoted whole below the scores.
    """
    parts = _parts(_without_record(text, record, rubric, key), rubric, {*record.criteria, FINAL})
    lines = [f"**{rubric.languages[language].final.name}: {record.final}**"]
    opening = parts.pop("", "").strip()
    found = False
    for criterion, score in record.criteria.items():
        name = rubric.criteria[criterion][language].name
        lines.append(f"### {name}: {'no whole number given' if score is None else score}")
        if reason := parts.pop(criterion, "").strip():
            found = True
            lines.append(reason)
    closing = parts.pop(FINAL, "").strip()
    if opening:
        lines.insert(1, opening) if found else lines.append(opening)
    if closing:
        lines += [f"### {rubric.languages[language].final.name}", closing]
    return "\n\n".join(lines)


def _without_record(text: str, record: ScoreRecord, rubric: Rubric, key: str) -> str:
    complete = [span for span, found in records(text, rubric) if found.is_complete]
    span = _chosen(text, complete, record, rubric, key)
    if span is None:
        return text
    before, after = text[: span.start], text[span.end :]
    if (fence := _FENCE.search(before)) and (end := _FENCE_END.match(after)):
        before, after = before[: fence.start()], after[end.end() :]
    return (before + after).strip()


def _chosen(text: str, complete: Sequence[Span], record: ScoreRecord, rubric: Rubric, key: str) -> Span | None:
    """The object from which the record was read: the last with the key, else the last with these scores."""
    for span in complete if key else ():
        if holds_key(text[span.start : span.end], key):
            return span
    criteria = tuple(record.criteria)
    same = (span for span in complete if read_reply(text[span.start : span.end], rubric, criteria) == record)
    return next(same, complete[0] if complete else None)


def _parts(text: str, rubric: Rubric, keys: set[str]) -> dict[str, str]:
    """Cut the reasoning at lines that name one of the keys; the key '' holds what comes before the first."""
    parts: dict[str, list[str]] = {"": []}
    current = ""
    for line in text.splitlines():
        key, rest = _heading(line, rubric)
        if key in keys and key not in parts:
            current = key
            parts[current] = [rest] if rest else []
        else:
            parts[current].append(line)
    return {key: "\n".join(lines) for key, lines in parts.items()}


def _heading(line: str, rubric: Rubric) -> tuple[str, str]:
    """The score key that a line names as its heading, '' if none, and what follows on the line."""
    body = _LEAD.sub("", line, count=1)
    if not body or line == body:  # a heading has a mark: #, *, a number
        return "", ""
    name = _HEAD_END.split(body, maxsplit=1)[0]
    if len(name) > _MAX_HEADING:
        return "", ""
    rest = body[len(name) :]
    if (brackets := _BRACKETS.match(rest)) and _is_label(brackets.group(1), rubric):
        rest = rest[brackets.end() :]
    return rubric.keys_by_spelling.get(normalise_key(name), ""), rest.lstrip(" *:：-—–").rstrip(" *")


def _is_label(text: str, rubric: Rubric) -> bool:
    """Whether brackets behind a heading hold the score or the name in another language, and no reason."""
    return any(char.isdigit() for char in text) or normalise_key(text) in rubric.keys_by_spelling
