"""Reads a page as a browser does, as far as tests want to know."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "wbr", "img", "input", "hr"}


@dataclass
class Table:
    """Rows of cells, each as text."""

    rows: list[list[str]] = field(default_factory=list)

    def row(self, head: str) -> list[str]:
        """The cells after the one that holds a text."""
        [found] = [row for row in self.rows if head in row[0]]
        return found[1:]


class HtmlPage(HTMLParser):
    """Elements, attributes, tables and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.sections: dict[str, list[Table]] = {}
        self.text = ""
        self._open: list[str] = []
        self._sections: list[str] = []
        self._cell: list[str] | None = None
        self.feed(page)
        self.close()
        assert self._open == [], f"never closed: {self._open}"

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    def values(self, name: str) -> list[str]:
        """Values of an attribute, wherever it stands."""
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.elements.append((tag, found))
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "section":
            self._sections.append(found.get("id", ""))
        tables = self.sections.setdefault(self._sections[-1] if self._sections else "", [])
        if tag == "table":
            tables.append(Table())
        elif tag == "tr":
            tables[-1].rows.append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attributes}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag in ("td", "th") and self._cell is not None:
            self.sections[self._sections[-1]][-1].rows[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
        if tag == "section":
            self._sections.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            return
        self.text += data
        if self._cell is not None:
            self._cell.append(data)
