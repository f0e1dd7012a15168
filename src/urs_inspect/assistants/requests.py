"""Prompts to answer from pages, and requests for a translation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from urs_inspect.assistants.backends import Page
from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame

_TEMPLATES = Path(__file__).parent / "templates"
_VERSION = "pages 1"
_FALLBACK = "en"


def page_prompt(question: str, pages: Sequence[Page], language: str, longest: int) -> JudgePrompt:
    """Ask for an answer from pages alone, the best first (URS paper, Appendix D.6); a page is cut after `longest`.

    The prompt is in Chinese for `zh`, in English for other languages. Text that could pass for the end of a page is
    sanitized.
    """
    texts = {f"page{n}": f"{page.title}\n{page.url}\n\n{page.text[:longest]}" for n, page in enumerate(pages, start=1)}
    frame = _frame(len(pages), "zh" if language == "zh" else _FALLBACK)
    return frame.prompt({"question": question, **texts})


@lru_cache(maxsize=32)
def _frame(pages: int, language: str) -> Frame:
    file = _TEMPLATES / f"answer_from_pages.{language}.jinja"
    names = [f"page{n}" for n in range(1, pages + 1)]
    # The template has a list of pages; each of them is a material by a name of its own.
    source = file.read_text(encoding="utf-8").replace(
        "{% for page in pages %}", "{% for page in [" + ", ".join(names) + "] %}"
    )
    return build_frame(source, f"prompt '{file.name}'", _VERSION, {}, ("question", *names), ("question", *names))


_ASKS = re.compile(r"translat|翻译|翻成|译成|译为|译文", re.IGNORECASE)
_WIDE = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
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
    """The text to translate, without the order to do so, and the English name of the language to translate to."""

    text: str  # the whole request where the order cannot be separated
    language: str


def asks_for_translation(question: str) -> bool:
    """Whether a request asks for a translation, in English or Chinese: 8 of URS' Text Assistant, as in Table 15."""
    return _ASKS.search(question) is not None


def read_request(question: str) -> TranslationRequest:
    """Separate the text from the order to translate it, as a person would who uses a translator.

    The rules know an order before a colon or a line break, one on the last line, `translate ... to ...`, and a Chinese
    order with a text in Latin letters behind it. The language is the one that the order names, else Chinese for a text
    that is mostly in Latin letters, and English for others.
    """
    asked = question.strip()
    for form in _FORMS:
        if (match := form.match(asked)) is not None and match["text"].strip():
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
    return "Chinese" if len(_LATIN.findall(text)) > len(_WIDE.findall(text)) else "English"
