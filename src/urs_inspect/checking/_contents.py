"""What is in a file, as the loader of its kind reads it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urs_inspect._satellites import at
from urs_inspect._util import choices
from urs_inspect.checking._recognition import kinds, names_in
from urs_inspect.cli._reports import parse_scale
from urs_inspect.datasets import UrsData, Vocabulary, load_urs
from urs_inspect.datasets._rows import refuse
from urs_inspect.judging import PromptBuilder
from urs_inspect.rubrics import Rubric, load_rubric


@dataclass
class _Reader:
    """Reads files with the names of a rubric."""

    rubric_file: str | None
    cases_files: Sequence[str]
    scale: tuple[float, float]

    def rubric(self) -> Rubric:
        """The rubric among the files, or that of URS."""
        return load_rubric(self.rubric_file)

    def cases(self, file: str) -> UrsData:
        """The cases in a file, which need no references."""
        rubric = self.rubric()
        names = Vocabulary(rubric.intent_id, rubric.language_code)
        return load_urs(file, names, need_references=False)

    def countries(self, file: str) -> set[str]:
        """The countries of all cases; without cases, any that a file with traffic may name."""
        if not self.cases_files:
            return names_in(Path(file))
        countries: set[str] = set()
        for cases_file in self.cases_files:
            countries.update(row.country for row in self.cases(cases_file).cases)
        return countries

    def read(self, kind: str, file: str, columns: Mapping[str, Any] | None = None) -> Any:
        """What the loader of a kind makes of a file, with names of columns as of `load_pairs`."""
        if kind == "cases":
            return self.cases(file)
        _, address, names = kinds()[kind]
        load = at(address)
        arguments: dict[str, Callable[[], Any]] = {
            "path": lambda: Path(file),
            "paths": lambda: [Path(file)],
            "text": lambda: file,
            "scale": lambda: self.scale,
            "rubric": self.rubric,
            "rubric_path": lambda: self.rubric_file,
            "countries": lambda: self.countries(file),
        }
        if kind == "ratings":
            return load(file, scale=self.scale, columns=columns)
        if kind == "pairs":
            return load(file, columns=columns)
        return load(*(arguments[name.partition("=")[0]]() for name in names.split()))


def _usual_scale(kind: str) -> str:
    """The default scale of a kind of files."""
    for name in kinds()[kind][2].split():
        argument, _, scale = name.partition("=")
        if argument == "scale" and scale:
            return scale
    return "1,10"


def contents_of(
    kind: str,
    file: str,
    rubric: str | None,
    cases: Sequence[str],
    scale: str | None,
    columns: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What is in a file, as the loader of its kind reads it."""
    limits = parse_scale(scale or _usual_scale(kind), "scale")
    read = _Reader(rubric, cases, limits).read(kind, file, columns)
    refuse(getattr(read, "errors", ()))
    if isinstance(read, Rubric):
        return _contents_of_rubric(kind, read)
    if kind == "traffic":
        return dict(read.shares)
    if kind == "pool":
        read = read[-1]
    contents = _contents_of_rows(kind, read)
    if "scale" in kinds()[kind][2]:
        contents = {"entries": contents.pop("entries"), "scale": limits, **contents}
    return contents


def _contents_of_rubric(kind: str, rubric: Rubric) -> dict[str, Any]:
    PromptBuilder(rubric)  # renders every prompt, or says what is wrong with it
    contents: dict[str, Any] = {"rubric": f"{rubric.name} {rubric.version}"}
    if kind == "rubric":
        for part in ("intents", "criteria", "languages", "bands"):
            contents[part] = choices(getattr(rubric, part))
    return contents


_ROWS = ("cases", "ratings", "rows", "usable", "votes", "own", "columns")
"""Where the loaders of several kinds keep what they read."""
_COUNTED = ("intent", "group", "language", "label", "choice", "rater", "source")


def _contents_of_rows(kind: str, read: Any) -> dict[str, Any]:
    """How many entries there are, and how often each label occurs in them."""
    items = read
    for name in _ROWS:
        if hasattr(read, name):
            items = getattr(read, name)
            break
    contents: dict[str, Any] = {"entries": len(items)}
    for name in _COUNTED:
        values = Counter(str(value) for item in items if (value := getattr(item, name, "")))
        if values:
            contents[name] = dict(sorted(values.items()))
    if kind == "cases":
        blank = sum(not case.reference.strip() for case in items)
        if blank:
            contents["without reference"] = blank
    for name in ("dropped", "skipped"):
        if getattr(read, name, ()):
            contents[name] = len(getattr(read, name))
    return contents
