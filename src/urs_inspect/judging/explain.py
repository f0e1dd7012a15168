"""Turns a judge's reply into readable Markdown, one heading a criterion."""

import re

from urs_inspect.judging.outcomes import ScoreRecord
from urs_inspect.judging.records import records
from urs_inspect.rubrics import FINAL, Rubric, normalise_key

_LEAD = re.compile(r"^[\s#*>\-•\d.、()（）]*")
_HEAD_END = re.compile(r"[:：(（\-—–*]")
_MAX_HEADING = 80


def explain(text: str, record: ScoreRecord, rubric: Rubric, language: str) -> str:
    """Format a judgement for people.

    Args:
        text: The judge's reply.
        record: The scores read from it.
        rubric: The rubric.
        language: Language of the headings.

    Returns:
        Markdown: the final score, then a heading with score and reason for each criterion. A reply that has
        no recognisable parts is quoted whole below the scores.
    """
    parts = _parts(_without_record(text, rubric), rubric)
    lines = [f"**{rubric.languages[language].final.name}: {record.final}**"]
    opening = parts.pop("", "").strip()
    found = False
    for criterion, score in record.criteria.items():
        name = rubric.criteria[criterion][language].name
        lines.append(f"### {name}: {'not given' if score is None else score}")
        if reason := parts.pop(criterion, "").strip():
            found = True
            lines.append(reason)
    closing = parts.pop(FINAL, "").strip()
    if opening:
        lines.insert(1, opening) if found else lines.append(opening)
    if closing:
        lines += [f"### {rubric.languages[language].final.name}", closing]
    return "\n\n".join(lines)


def _without_record(text: str, rubric: Rubric) -> str:
    for span, record in records(text, rubric):
        if record.is_complete:
            text = text[: span.start] + text[span.end :]
            return re.sub(r"```\w*\s*```", "", text).strip()
    return text


def _parts(text: str, rubric: Rubric) -> dict[str, str]:
    """Cut the reasoning at lines that name a criterion; the key '' holds what comes before the first."""
    parts: dict[str, list[str]] = {"": []}
    current = ""
    for line in text.splitlines():
        key = _heading(line, rubric)
        if key is not None and key not in parts:
            current, rest = key, _after_heading(line)
            parts[current] = [rest] if rest else []
        else:
            parts[current].append(line)
    return {key: "\n".join(lines) for key, lines in parts.items()}


def _heading(line: str, rubric: Rubric) -> str | None:
    body = _LEAD.sub("", line, count=1)
    if not body or line == body:  # a heading has a mark: #, *, a number
        return None
    name = _HEAD_END.split(body, maxsplit=1)[0]
    return rubric.keys_by_spelling.get(normalise_key(name)) if len(name) <= _MAX_HEADING else None


def _after_heading(line: str) -> str:
    _, colon, rest = line.replace("：", ":").partition(":")
    return rest.strip(" *") if colon else ""
