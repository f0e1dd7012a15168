"""Datasheet of cases in the tables of the URS paper (Tables 2, 3 and 5), as Markdown."""

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from urs_inspect._util import counted, escaped
from urs_inspect.datasets._cases import UrsCase, Vocabulary, load_urs
from urs_inspect.datasets._rows import READABLE, read_table
from urs_inspect.survey._case_file import REASONS, Dropped, Removed

_UNIT = re.compile("[\u3400-\u9fff]|[^\\W\u3400-\u9fff]+")
_LONGEST_EXAMPLE = 160
_TOP_SERVICES = 5


@dataclass(frozen=True)
class Described:
    """Cases and what a datasheet reports of them."""

    name: str
    sha256: str  # of the file
    cases: tuple[UrsCase, ...]
    services: Mapping[str, str]  # id of a case -> the service that was asked, where it is named
    groups: Mapping[str, str]  # intent -> its reported name, in the order of the tables
    languages: Mapping[str, str]  # language code -> its name, in the order of the tables


def read_described(
    dataset: str, vocabulary: Vocabulary, groups: Mapping[str, str], languages: Mapping[str, str]
) -> Described:
    """Read cases, which need no references, and the column `service`."""
    data = load_urs(dataset, vocabulary, need_references=False)
    services: dict[str, str] = {}
    if dataset.lower().endswith(READABLE):
        rows, _ = read_table(Path(dataset).expanduser(), [])
        for case, row in zip(data.cases, rows, strict=True):
            service = row.values.get("service")
            if isinstance(service, str) and service.strip():
                services[case.id] = " ".join(service.split())
    return Described(data.name, data.sha256, data.cases, services, groups, languages)


def datasheet(
    described: Described,
    dropped: Sequence[Dropped] | None = None,
    removed: Sequence[Removed] | None = None,
) -> str:
    """Describe cases as Markdown; groups, languages and columns without a case are left out.

    Intents by language (Table 2), the shortest questions as examples (Table 3), services (Table 5),
    countries, lengths, the rows that the import dropped, and the cases that a review removed, where
    these are known.
    """
    name = escaped(described.name)
    lines = [
        f"# Datasheet of {Path(name).name}",
        "",
        f"{counted(len(described.cases), 'case')}; sha256 of the file `{described.sha256}`.",
        *_intents(described),
        *_examples(described),
        *_services(described),
        *_countries(described),
        *_lengths(described),
    ]
    if dropped is not None:
        lines += _dropped(dropped)
    if removed is not None:
        lines += _removed(removed)
    lines += _account(described, dropped, removed)
    return "\n".join([*lines, ""])


def _languages(described: Described) -> dict[str, str]:
    present = {case.language for case in described.cases}
    return {code: name for code, name in described.languages.items() if code in present}


def _groups(described: Described) -> list[str]:
    present = {described.groups[case.intent] for case in described.cases}
    return [group for group in dict.fromkeys(described.groups.values()) if group in present]


def _intents(described: Described) -> list[str]:
    counts = Counter((described.groups[case.intent], case.language) for case in described.cases)
    languages = _languages(described)
    groups = _groups(described)
    totals = [sum(counts[group, code] for group in groups) for code in languages]
    rows = [["Total", *totals, sum(totals)]]
    for group in groups:
        cells = [counts[group, code] for code in languages]
        rows.append([group, *cells, sum(cells)])
    header = ["Intent", *languages.values(), "Total"]
    return _section("Intents by language", header, rows, *_parts(described))


def _parts(described: Described) -> list[str]:
    """A line for each group that holds several intents, as API counts in Solve Problem."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in described.cases:
        counts[described.groups[case.intent]][case.intent] += 1
    lines = []
    for group, parts in counts.items():
        if len(parts) > 1:
            held = ", ".join(f"{number} of {intent}" for intent, number in parts.items())
            lines.append(f"{group} holds {held}.")
    return lines


def _examples(described: Described) -> list[str]:
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for case in described.cases:
        group = described.groups[case.intent]
        texts[group, case.language].append(case.question)
    rows = []
    for group in _groups(described):
        for code, name in _languages(described).items():
            if (group, code) in texts:
                shortest = min(texts[group, code], key=lambda text: (len(text), text))
                rows.append([group, name, _short(shortest)])
    return _section("Examples, the shortest of each kind", ["Intent", "Language", "Question"], rows)


def _services(described: Described) -> list[str]:
    if not described.services:
        return ["", "## Services", "", "The cases do not say which service was asked."]
    rows: list[list[object]] = []
    for code, name in _languages(described).items():
        counts = Counter(
            described.services[case.id]
            for case in described.cases
            if case.language == code and case.id in described.services
        )
        rows.append([name, "Total", counts.total()])
        rows += [[name, service, number] for service, number in _first(counts, _TOP_SERVICES)]
    without = len(described.cases) - len(described.services)
    different = set(described.services.values())
    note = f"{counted(len(different), 'service')} in all; {_none_named(without)}."
    title = f"Services, the first {_TOP_SERVICES} of each language"
    return _section(title, ["Language", "Service", "Cases"], rows, note)


def _countries(described: Described) -> list[str]:
    counts = Counter(case.country for case in described.cases if case.country)
    if not counts:
        return ["", "## Countries", "", "The cases do not say which country their users came from."]
    languages = _languages(described)
    by_language = Counter((case.country, case.language) for case in described.cases)
    rows = []
    for country, number in _first(counts, len(counts)):
        cells = [by_language[country, code] for code in languages]
        rows.append([country, *cells, number])
    without = len(described.cases) - counts.total()
    note = f"{counted(len(counts), 'country', 'countries')}; {_none_named(without)}."
    return _section("Countries", ["Country", *languages.values(), "Total"], rows, note)


def _lengths(described: Described) -> list[str]:
    rows: list[list[object]] = []
    for code, name in _languages(described).items():
        texts = [case.question.strip() for case in described.cases if case.language == code]
        for unit, lengths in (
            ("characters", [len(text) for text in texts]),
            ("words", [_words(text) for text in texts]),
        ):
            mean = f"{statistics.fmean(lengths):.1f}"
            median = f"{statistics.median(lengths):g}"
            rows.append([name, unit, mean, median, min(lengths), max(lengths)])
    note = "A word is a run of letters and digits, or a single Chinese character."
    return _section(
        "Length of questions",
        ["Language", "Unit", "Mean", "Median", "Shortest", "Longest"],
        rows,
        note,
    )


def _dropped(dropped: Sequence[Dropped]) -> list[str]:
    counts = Counter(row.reason for row in dropped)
    rows: list[list[object]] = [[reason, counts[reason]] for reason in REASONS if counts[reason]]
    rows.append(["all", counts.total()])
    return _section("Rows of the survey that became no case", ["Reason", "Rows"], rows)


def _removed(removed: Sequence[Removed]) -> list[str]:
    counts = Counter(chain.from_iterable(case.faults for case in removed))
    rows: list[list[object]] = [[fault, number] for fault, number in _first(counts, len(counts))]
    rows.append(["all", len(removed)])
    return _section(
        "Cases that the review took out",
        ["Fault", "Cases"],
        rows,
        "A case may have several faults.",
    )


def _account(
    described: Described, dropped: Sequence[Dropped] | None, removed: Sequence[Removed] | None
) -> list[str]:
    """The sum of the counts, to compare with the survey."""
    parts = [counted(len(described.cases), "case")]
    together = len(described.cases)
    if dropped is not None:
        parts.append(f"{counted(len(dropped), 'row')} dropped by the import")
        together += len(dropped)
    if removed is not None:
        parts.append(f"{counted(len(removed), 'case')} taken out by the review")
        together += len(removed)
    if len(parts) == 1:
        return []
    return ["", f"{', '.join(parts)}: {counted(together, 'row')} of the survey are accounted for."]


def _first(counts: Counter[str], number: int) -> list[tuple[str, int]]:
    """The most frequent ones; those of equal number by name, and all that tie with the last one."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    last = min(number, len(ordered))
    if not last:
        return []
    _, least = ordered[last - 1]
    return [(name, count) for name, count in ordered if count >= least]


def _none_named(number: int) -> str:
    return f"{counted(number, 'case')} {'names' if number == 1 else 'name'} none"


def _words(text: str) -> int:
    return len(_UNIT.findall(text))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_EXAMPLE else f"{line[: _LONGEST_EXAMPLE - 1]}…"


def _section(
    title: str, header: Sequence[object], rows: Iterable[Sequence[object]], *notes: str
) -> list[str]:
    lines = [_line(header), f"| {' | '.join('---' for _ in header)} |", *map(_line, rows)]
    section = ["", f"## {title}", "", *lines]
    if notes:
        section += ["", *notes]
    return section


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(escaped(str(cell)) for cell in cells)} |"
