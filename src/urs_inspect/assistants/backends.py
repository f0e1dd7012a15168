"""Search engines and translators: what they must offer, those that come with the package, how users add one."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

from urs_inspect._util import InputError, choices
from urs_inspect.datasets.rows import read_records


@dataclass(frozen=True)
class Page:
    """A page that a search found.

    Attributes:
        title: Its title.
        url: Where it is: an address, or a name.
        text: Its content.
    """

    title: str
    url: str
    text: str


class AssistantError(Exception):
    """A search or a translation that did not work; the message says why, in one line."""


class SearchBackend(Protocol):
    """A search engine."""

    @property
    def name(self) -> str:
        """What it is called in logs."""

    async def search(self, query: str, count: int) -> Sequence[Page]:
        """Find pages.

        Args:
            query: What is looked for.
            count: How many pages at most.

        Returns:
            The best first; none if nothing was found.

        Raises:
            AssistantError: If the search did not work. Whatever else it raises counts as one as well.
        """


class Translator(Protocol):
    """A translator."""

    @property
    def name(self) -> str:
        """What it is called in logs."""

    async def translate(self, text: str, language: str) -> str:
        """Translate a text.

        Args:
            text: The text.
            language: English name of the language to translate to, such as `English` or `Traditional Chinese`.

        Returns:
            The translation.

        Raises:
            AssistantError: If there is none. Whatever else it raises counts as one as well.
        """


_TEXT, _TRANSLATION, _LANGUAGE = "text", "translation", "language"


class GlossaryTranslator:
    """Gives the translations of a file, and none of other texts.

    So the output of any translation service can be judged: translate the texts with it, and write them down.

    Args:
        file: JSON Lines with `text`, `translation` and, if there are several of one text, `language` (English name).

    Raises:
        InputError: Naming file and row of the first fault.
    """

    def __init__(self, file: str) -> None:
        path = Path(file).expanduser()
        if not file or not path.is_file():
            raise InputError(f"translator: no file '{file}'; give one of JSON Lines: glossary:<path>")
        rows, faults = read_records(path)
        if faults:
            raise InputError(faults[0])
        self._known: dict[tuple[str, str], str] = {}
        for row in rows:
            text, translation = (row.values.get(key) for key in (_TEXT, _TRANSLATION))
            language = row.values.get(_LANGUAGE, "")
            if not all(isinstance(value, str) for value in (text, translation, language)):
                raise InputError(f"{path}: {row.place}: needs '{_TEXT}' and '{_TRANSLATION}', both text")
            self._known[_key(str(text)), str(language).casefold()] = str(translation)
        if not self._known:
            raise InputError(f"translator: no translations in '{path}'")
        self._name = f"glossary ({len(self._known)} texts)"

    @property
    def name(self) -> str:
        """What it is called in logs."""
        return self._name

    async def translate(self, text: str, language: str) -> str:
        """Look a text up; white space does not matter."""
        key = _key(text)
        found = self._known.get((key, language.casefold())) or self._known.get((key, ""))
        if found is None:
            raise AssistantError(f"the glossary has no translation to {language} of: {text.strip()[:80]}")
        return found


def _key(text: str) -> str:
    return " ".join(text.split())


_SUFFIXES = (".txt", ".md", ".html", ".htm")
_INSTALL = "pip install 'urs-inspect[assistants]'"
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]", re.IGNORECASE)
_WIDE = "\u3400"


class FolderSearch:
    """Finds pages in a folder by BM25 over words and, for Chinese, over pairs of characters.

    Args:
        folder: Folder with `.txt`, `.md` and `.html` files, at any depth.

    Raises:
        InputError: If there is no such folder, it has no page, a page cannot be read, or bm25s is missing.
    """

    def __init__(self, folder: str) -> None:
        root = Path(folder).expanduser()
        if not folder or not root.is_dir():
            raise InputError(f"search: no folder '{folder}'; give one with {', '.join(_SUFFIXES)} files: folder:<path>")
        files = sorted(path for path in root.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
        pages = [_page(path, root) for path in files]
        self._pages = [page for page in pages if _words(page.text)]
        if not self._pages:
            raise InputError(f"search: no page with text in '{folder}'; allowed: {', '.join(_SUFFIXES)}")
        try:
            self._library: Any = import_module("bm25s")
        except ImportError as error:
            raise InputError(f"search in a folder needs bm25s, which cannot be imported: {_INSTALL}") from error

    @property
    def name(self) -> str:
        """What it is called in logs."""
        return f"folder ({len(self._pages)} pages)"

    async def search(self, query: str, count: int) -> Sequence[Page]:
        """Find the pages that share words with the query, the best first."""
        # Words that no page has are unknown to the index.
        words = [word for word in _words(query) if word in self._vocabulary]
        if not words:
            return []
        scores = self._index.get_scores(words)
        order = sorted(range(len(self._pages)), key=lambda place: (-scores[place], place))
        return [self._pages[place] for place in order[:count] if scores[place] > 0]

    @cached_property
    def _vocabulary(self) -> set[str]:
        return {word for page in self._pages for word in _words(_searched(page))}

    @cached_property
    def _index(self) -> Any:
        index = self._library.BM25()
        index.index([_words(_searched(page)) for page in self._pages], show_progress=False)
        return index


def _searched(page: Page) -> str:
    return f"{page.title}\n{page.text}"


def _words(text: str) -> list[str]:
    found = [word.lower() for word in _WORD.findall(text)]
    pairs = [one + other for one, other in pairwise(found) if one >= _WIDE and other >= _WIDE]
    return [word for word in found if word < _WIDE] + pairs


def _page(path: Path, root: Path) -> Page:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"search: cannot read the page '{path}' as UTF-8: {error}") from error
    title = path.stem
    if path.suffix.lower() in (".html", ".htm"):
        from bs4 import BeautifulSoup

        soup = BeautifulSoup(text, "html.parser")
        title = soup.title.get_text(strip=True) if soup.title else title
        for part in soup(["script", "style", "noscript", "template", "title"]):
            part.decompose()
        text = soup.get_text("\n", strip=True)
    return Page(title, str(path.relative_to(root)), text.strip())


_Made = TypeVar("_Made")

_SEARCH: dict[str, Callable[[str], SearchBackend]] = {"folder": FolderSearch}
_TRANSLATORS: dict[str, Callable[[str], Translator]] = {"glossary": GlossaryTranslator}


def register_search(name: str, make: Callable[[str], SearchBackend]) -> None:
    """Make a search engine known.

    Args:
        name: Its name.
        make: Makes it of what stands behind `<name>:`, empty if nothing does; raises `InputError` if that cannot be
            used.
    """
    _SEARCH[name] = make


def register_translator(name: str, make: Callable[[str], Translator]) -> None:
    """Make a translator known; arguments as for `register_search`."""
    _TRANSLATORS[name] = make


def open_search(given: str) -> SearchBackend:
    """Open a search engine.

    Args:
        given: `<name>` or `<name>:<what it needs>`, such as `folder:pages`.

    Raises:
        InputError: If there is none of that name, or it cannot be opened.
    """
    return _open(given, "search", _SEARCH)


def open_translator(given: str) -> Translator:
    """Open a translator.

    Args:
        given: `<name>` or `<name>:<what it needs>`, such as `glossary:phrases.jsonl`.

    Raises:
        InputError: If there is none of that name, or it cannot be opened.
    """
    return _open(given, "translator", _TRANSLATORS)


def _open(given: str, what: str, known: dict[str, Callable[[str], _Made]]) -> _Made:
    name, _, rest = given.partition(":")
    if name not in known:
        raise InputError(f"{what}: unknown backend '{name}'; allowed: {choices(known)}, or one that was registered")
    return known[name](rest)
