"""A local folder of pages as a search engine."""

import re
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from urs_inspect.assistants.protocols import Page
from urs_inspect.errors import InputError

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
