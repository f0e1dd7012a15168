"""Search engines and translators.

What they must offer, those that come with the package, and how users add one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

from urs_inspect._util import CallFailed, InputError, choices
from urs_inspect.datasets._rows import Fields, read_records
from urs_inspect.judging._frames import Frame, JudgePrompt, build_frame


@dataclass(frozen=True)
class Page:
    """A page that a search found.

    Attributes:
        title: Its title.
        url: Its address, or a name.
        text: Its text.
    """

    title: str
    url: str
    text: str


class AssistantError(CallFailed):
    """A search or a translation that did not work; the message gives the reason, in one line."""


class SearchBackend(Protocol):
    """A search engine."""

    @property
    def name(self) -> str:
        """What it is called in logs."""

    async def search(self, query: str, count: int) -> Sequence[Page]:
        """Find at most `count` pages.

        Args:
            query: What to search for.
            count: How many pages at most.

        Returns:
            The pages, the best first; none if nothing was found.

        Raises:
            AssistantError: If the search did not work. Any other error counts as one as well.
        """


class Translator(Protocol):
    """A translator."""

    @property
    def name(self) -> str:
        """What it is called in logs."""

    async def translate(self, text: str, language: str) -> str:
        """Translate a text to a language.

        Args:
            text: The text.
            language: English name of the language, such as `Traditional Chinese`.

        Returns:
            The translation.

        Raises:
            AssistantError: If there is none. Any other error counts as one as well.
        """


class GlossaryTranslator:
    """Gives the translations of a file, and none of other texts.

    The file is such as the output of a translation service.

    The file is JSON Lines with `text`, `translation` and, if a text has several, `language`
    (English name); an `InputError` names file and row of the first error.
    """

    def __init__(self, file: str) -> None:
        path = Path(file).expanduser()
        if not file or not path.is_file():
            raise InputError(
                f"translator: no file '{file}'; give one of JSON Lines: glossary:<path>"
            )
        rows, faults = read_records(path)
        if faults:
            raise InputError(faults[0])
        self._known: dict[tuple[str, str], str] = {}
        for row in rows:
            fields = Fields(row)
            text = fields.text("text")
            translation = fields.text("translation")
            language = fields.optional("language")
            if fields.problems:
                raise InputError(f"{path}: {row.place}: {choices(fields.problems)}")
            self._known[_key(text), language.casefold()] = translation
        if not self._known:
            raise InputError(f"translator: no translations in '{path}'")
        self.name = f"glossary ({len(self._known)} texts)"

    async def translate(self, text: str, language: str) -> str:
        """Look a text up; white space does not matter."""
        key = _key(text)
        translation = self._known.get((key, language.casefold())) or self._known.get((key, ""))
        if translation is None:
            raise AssistantError(
                f"the glossary has no translation to {language} of: {text.strip()[:80]}"
            )
        return translation


def _key(text: str) -> str:
    return " ".join(text.split())


_SUFFIXES = (".txt", ".md", ".html", ".htm")
_INSTALL = "pip install 'urs-inspect[assistants]'"
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]", re.IGNORECASE)
_WIDE = "\u3400"


class FolderSearch:
    """Finds pages in a folder of `.txt`, `.md` and `.html` files by BM25.

    It goes by words and, for Chinese, character pairs.

    `InputError` if there is no such folder, it has no page, a page cannot be read, or bm25s is
    missing.
    """

    def __init__(self, folder: str) -> None:
        root = Path(folder).expanduser()
        if not folder or not root.is_dir():
            raise InputError(
                f"search: no folder '{folder}'; give one with {', '.join(_SUFFIXES)} files:"
                " folder:<path>"
            )
        files = sorted(
            path for path in root.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file()
        )
        pages = [_page(path, root) for path in files]
        self._pages = [page for page in pages if _words(page.text)]
        if not self._pages:
            raise InputError(
                f"search: no page with text in '{folder}'; allowed: {', '.join(_SUFFIXES)}"
            )
        try:
            self._library: Any = import_module("bm25s")
        except ImportError as error:
            raise InputError(
                f"search in a folder needs bm25s, which cannot be imported: {_INSTALL}"
            ) from error
        self.name = f"folder ({len(self._pages)} pages)"

    async def search(self, query: str, count: int) -> Sequence[Page]:
        """Find the pages that share words with the query, the best first."""
        known, index = self._index
        words = [word for word in _words(query) if word in known]
        if not words:
            return []
        scores = index.get_scores(words)
        order = sorted(range(len(self._pages)), key=lambda place: (-scores[place], place))
        return [self._pages[place] for place in order[:count] if scores[place] > 0]

    @cached_property
    def _index(self) -> tuple[set[str], Any]:
        """The words of all pages, which are those that an index knows, and the index."""
        words = [_words(f"{page.title}\n{page.text}") for page in self._pages]
        index = self._library.BM25()
        index.index(words, show_progress=False)
        return set().union(*words), index


def _words(text: str) -> list[str]:
    words = [word.lower() for word in _WORD.findall(text)]
    pairs = [
        first + second for first, second in pairwise(words) if first >= _WIDE and second >= _WIDE
    ]
    return [word for word in words if word < _WIDE] + pairs


def _page(path: Path, root: Path) -> Page:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"search: cannot read the page '{path}' as UTF-8: {error}") from error
    title = path.stem
    if path.suffix.lower() in (".html", ".htm"):
        from bs4 import BeautifulSoup

        soup = BeautifulSoup(text, "html.parser")
        if soup.title:
            title = soup.title.get_text(strip=True)
        for part in soup(["script", "style", "noscript", "template", "title"]):
            part.decompose()
        text = soup.get_text("\n", strip=True)
    return Page(title, str(path.relative_to(root)), text.strip())


MadeT = TypeVar("MadeT")

_SEARCH: dict[str, Callable[[str], SearchBackend]] = {"folder": FolderSearch}
_TRANSLATORS: dict[str, Callable[[str], Translator]] = {"glossary": GlossaryTranslator}


def register_search(name: str, make: Callable[[str], SearchBackend]) -> None:
    """Make a search engine available as `<name>` or `<name>:<what it needs>`.

    Args:
        name: Its name.
        make: Makes it from what follows `<name>:`, empty if nothing does, and raises `InputError`
            if that cannot be used.
    """
    _SEARCH[name] = make


def register_translator(name: str, make: Callable[[str], Translator]) -> None:
    """Make a translator available as `<name>` or `<name>:<what it needs>`.

    Args:
        name: Its name.
        make: Makes it from what follows `<name>:`, empty if nothing does, and raises `InputError`
            if that cannot be used.
    """
    _TRANSLATORS[name] = make


def open_search(given: str) -> SearchBackend:
    """Open a search engine, such as `folder:pages`; `InputError` if it cannot be used."""
    return _opened("search", given, _SEARCH)


def open_translator(given: str) -> Translator:
    """Open a translator, such as `glossary:phrases.jsonl`; `InputError` if it cannot be used."""
    return _opened("translator", given, _TRANSLATORS)


def _opened(kind: str, given: str, known: dict[str, Callable[[str], MadeT]]) -> MadeT:
    name, _, rest = given.partition(":")
    if name not in known:
        raise InputError(
            f"{kind}: unknown backend '{name}'; allowed: {choices(known)}, or one that was"
            " registered"
        )
    return known[name](rest)


# --- what is asked ---


_TEMPLATES = Path(__file__).parent / "templates"
_VERSION = "pages 1"


def page_prompt(question: str, pages: Sequence[Page], language: str, longest: int) -> JudgePrompt:
    """Ask for an answer from pages alone, the best first (URS paper, Appendix D.6).

    A page is cut after `longest`.

    The prompt is in Chinese for `zh`, in English for other languages. Text that could pass for the
    end of a page is sanitized.
    """
    texts = {
        f"page{n}": f"{page.title}\n{page.url}\n\n{page.text[:longest]}"
        for n, page in enumerate(pages, start=1)
    }
    frame = _frame(len(pages), "zh" if language == "zh" else "en")
    return frame.prompt({"question": question, **texts})


@lru_cache(maxsize=32)
def _frame(pages: int, language: str) -> Frame:
    file = _TEMPLATES / f"answer_from_pages.{language}.jinja"
    names = [f"page{n}" for n in range(1, pages + 1)]
    # The template has a list of pages; each of them is a material by a name of its own.
    source = file.read_text(encoding="utf-8").replace("in pages", f"in [{', '.join(names)}]")
    materials = ("question", *names)
    return build_frame(source, f"prompt '{file.name}'", _VERSION, {}, materials, materials)


_ASKS = re.compile(r"translat|翻译|翻成|译成|译为|译文", re.IGNORECASE)
_WIDE_CHARACTER = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[a-zA-Z]")
_LANGUAGES = (
    ("Traditional Chinese", r"traditional\s+chinese|繁体|繁體"),
    ("Chinese", r"\bchinese\b|\bmandarin\b|中文|汉语|漢語"),
    ("English", r"\benglish\b|英文|英语|英語"),
    ("Japanese", r"\bjapanese\b|日文|日语|日語"),
    ("Korean", r"\bkorean\b|韩文|韩语|韓語"),
    ("French", r"\bfrench\b|法文|法语"),
    ("German", r"\bgerman\b|德文|德语"),
    ("Spanish", r"\bspanish\b|西班牙[文语]"),
    ("Russian", r"\brussian\b|俄文|俄语"),
)
_TARGET = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _LANGUAGES)
_ANYHOW = re.IGNORECASE | re.DOTALL
_TOWARDS = re.compile(r"(?:\b(?:in)?to\b|翻译[成为到]?|[成为])\s*(.{0,40})", _ANYHOW)
_VERB = r"(?:translat\w*|翻译|翻成|译成|译为)"
_WHAT = r"(?:一下|下面)?(?:这|以下|下列)?[段句篇]?(?:话|文字|文本|内容)?"
_FORMS = (
    # translate <text> to <language>
    re.compile(r"^(?:please\s+)?translate\s+(?P<text>.+?)\s+(?:in)?to\s+[\w\s]+$", _ANYHOW),
    # <text>, and the order on the last line
    re.compile(rf"^(?P<text>.+)\n[^\n]{{0,60}}{_VERB}[^\n]{{0,60}}$", _ANYHOW),
    # <order>: <text>
    re.compile(rf"^[^\n:：]{{0,80}}?{_VERB}[^\n:：]{{0,80}}?[:：\n]\s*(?P<text>.+)$", _ANYHOW),
    # <order in Chinese><text in Latin letters>
    re.compile(rf"^[^\n]{{0,30}}?译{_WHAT}(?P<text>[A-Za-z].+)$", re.DOTALL),
)


@dataclass(frozen=True)
class TranslationRequest:
    """The text to translate, without the order to do so, and the target language.

    The language has its English name.
    """

    text: str  # the whole request where the order cannot be separated
    language: str


def asks_for_translation(question: str) -> bool:
    """Whether a request asks for a translation, in English or Chinese.

    Of URS' Text Assistant 8 questions do, as in Table 15 of the URS paper.

    Args:
        question: What a user asks.

    Returns:
        Whether it asks for a translation.

    Examples:
        >>> from urs_inspect.studies import asks_for_translation
        >>> asks_for_translation("Translate into French: Good morning")
        True
    """
    return _ASKS.search(question) is not None


def read_request(question: str) -> TranslationRequest:
    """Separate the text from the order to translate it, as a person would who uses a translator.

    The rules know an order before a colon or a line break, one on the last line, `translate ... to
    ...`, and a Chinese order with a text in Latin letters behind it.

    Args:
        question: What a user asks.

    Returns:
        The text, and the language that the order names; else Chinese for a text that is mostly in
        Latin letters, and English for others.

    Examples:
        >>> from urs_inspect.studies import read_request
        >>> read_request("Translate into French: Good morning").text
        'Good morning'
    """
    asked = question.strip()
    for form in _FORMS:
        match = form.match(asked)
        if match and match["text"].strip():
            order = asked.replace(match["text"], " ")
            text = match["text"].strip()
            return TranslationRequest(text, _language(order, text))
    return TranslationRequest(asked, _language("", asked))


def _language(order: str, text: str) -> str:
    towards = _TOWARDS.search(order)
    for part in (towards[1] if towards else "", order):
        for name, pattern in _TARGET:
            if pattern.search(part):
                return name
    mostly_latin = len(_LATIN.findall(text)) > len(_WIDE_CHARACTER.findall(text))
    if mostly_latin:
        return "Chinese"
    return "English"
