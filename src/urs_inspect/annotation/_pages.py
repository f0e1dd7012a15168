"""Pages of the voting server: safe Markdown, texts, templates."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import yaml
from fastapi import FastAPI, Request
from fastapi.responses import Response
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup
from pydantic import Field

from urs_inspect._util import InputError, choices
from urs_inspect.annotation._campaign import OwnItems, People

_DEEPEST_HEADING = 6
# level of the page's heading above an answer; headings of the answer are below it
_HEADINGS_BELOW = 3


class _InertRenderer(RendererHTML):
    """Renders addresses as text, and nothing that needs an inline style.

    The page's policy forbids these.
    """

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Show what the image is said to be and where it would come from."""
        token = tokens[idx]
        alt = self.renderInlineAsText(token.children or [], options, env)
        source = str(token.attrGet("src") or "")
        parts = [part for part in (alt, source) if part]
        return f'<span class="image">{escapeHtml(" · ".join(parts))}</span>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return '<span class="link">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Show the address of a link, unless it is its text."""
        opening, text = _link(tokens, idx)
        address = str(opening.attrGet("href") or "")
        shown = address
        if address.removeprefix("mailto:") == text:
            shown = ""
        if shown:
            return f'</span> <span class="address">{escapeHtml(shown)}</span>'
        return "</span>"

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Put a heading below the page's own."""
        return f"<{_heading(tokens[idx])}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"</{_heading(tokens[idx])}>\n"

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Let wide code scroll by itself, with the keyboard as well.

        Its declared language is left out.
        """
        return f'<pre tabindex="0"><code>{escapeHtml(tokens[idx].content)}</code></pre>\n'

    fence = code_block

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Let a wide table scroll by itself, with the keyboard as well."""
        return '<div class="wide" tabindex="0"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</table></div>\n"

    def td_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Begin a cell, with its alignment as a class."""
        token = tokens[idx]
        side = str(token.attrGet("style") or "").removeprefix("text-align:")
        kind = ""
        if side in {"left", "right", "center"}:
            kind = f' class="{side}"'
        return f"<{token.tag}{kind}>"

    th_open = td_open


# Line breaks count, because people write instructions so. Without the two rules, angle brackets are
# text.
_READER = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_InertRenderer)
_READER.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])


def render(text: str) -> Markup:
    """Render untrusted Markdown (CommonMark with tables and strikethrough; HTML in it is text).

    The result has no attribute that runs, loads or links anything, and no inline styles. Images
    appear as their description and address, links as their text and address.
    """
    return Markup(_READER.render(text))  # noqa: S704 - the reader above escapes everything


def _link(tokens: Sequence[Token], closing: int) -> tuple[Token, str]:
    opening = closing - 1
    while tokens[opening].type != "link_open":
        opening -= 1
    inside = tokens[opening + 1 : closing]
    return tokens[opening], "".join(token.content for token in inside)


def _heading(token: Token) -> str:
    return f"h{min(_DEEPEST_HEADING, int(token.tag[1:]) + _HEADINGS_BELOW - 1)}"


LANGUAGES = ("en", "zh")
_CODE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
"""What can be the language of an HTML element, of what a log may say."""


PACKAGE = "urs_inspect.annotation"
"""Has the templates, texts and scripts of voting, and those that all pages share."""

DAY = 86_400.0
Seconds = Annotated[float, Field(ge=0, le=DAY * 365, allow_inf_nan=False)]
"""How long something was in view, as a page sends it."""

PeopleT = TypeVar("PeopleT", bound=People[Any])
Reply = Callable[[Request, OwnItems[Any]], Response]
"""Answers a decision with the part of the page that it changes."""


class Page(ABC, Generic[PeopleT]):
    """What people see of a campaign, and what they send."""

    package: ClassVar[str] = PACKAGE  # whose templates, texts and scripts come before the shared
    part: ClassVar[str]  # template of what changes from one item to the next
    decision: ClassVar[str]  # what people make
    material: ClassVar[str]  # what people read

    def __init__(self, campaign: PeopleT) -> None:
        self.campaign = campaign

    @abstractmethod
    def shown(self, session: Any, language: str) -> dict[str, Any]:
        """Values of the page of a session."""

    @abstractmethod
    def agreement(self) -> dict[str, Any]:
        """Values of the report; models, results and scores of judges stay hidden."""

    @abstractmethod
    def add_decisions(self, app: FastAPI, reply: Reply) -> None:
        """Let people send what they decide."""

    def session_page(self, session: OwnItems[Any], language: str) -> str:
        """The whole page of a session."""
        kind = self.campaign.kind
        values = self.shown(session, language)
        values["material_language"] = _material_language(session, language)
        values["here"] = f"/{kind}/{session.annotator}"
        return _render(f"{kind}.html.jinja", language, self.package, **values)

    def session_fragment(self, session: OwnItems[Any], language: str) -> str:
        """The part of the page that changes from pair to pair, or from answer to answer."""
        return _render(self.part, language, self.package, **self.shown(session, language))

    def sign_in_page(self, language: str, name: str = "") -> str:
        """The page that asks who takes part."""
        return _render(
            "sign_in.html.jinja",
            language,
            self.package,
            annotators=self.campaign.annotators,
            annotator=name,
            kind=self.campaign.kind,
            here="/",
        )

    def problem_page(self, language: str, reason: str) -> str:
        """Says what is wrong."""
        return _render("problem.html.jinja", language, self.package, reason=reason, here=None)

    def report_page(self, language: str, back: str) -> str:
        """How far people agree."""
        values = {"percent": _percent, "decimal": _decimal, "back": back, "here": "/report"}
        return _render("report.html.jinja", language, self.package, **values, **self.agreement())


def _material_language(session: OwnItems[Any], language: str) -> str:
    """Language of the document.

    That of the questions in the log, where the page has no texts in it.
    """
    item = session.current
    read = item.language if item else ""
    if read in LANGUAGES or not _CODE.fullmatch(read):
        return language
    return read


def token_page(language: str, *, wrong: bool) -> str:
    """The page that asks for the token."""
    return _render("token.html.jinja", language, wrong=wrong, here=None)


def entered_page(language: str) -> str:
    """Leads on after a token.

    A redirect would not do: coming from a link on another site, the browser would not send the
    strict cookie with it.
    """
    return _render("entered.html.jinja", language, here=None)


def material(text: str) -> Markup | None:
    """What people read, rendered; None if there is nothing."""
    if text.strip():
        return render(text)
    return None


def _percent(share: float) -> str:
    if math.isnan(share):
        return "–"
    return f"{min(1.0, max(0.0, share)):.0%}"


def _decimal(value: float, digits: int = 2) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.{digits}f}"


@cache
def texts(language: str, package: str = PACKAGE) -> dict[str, Any]:
    """Texts of the page by name: those of voting, or those that a package has in their place.

    `criteria` is a list of `name` and `text`, `rules` a list of texts.
    """
    if language not in LANGUAGES:
        raise InputError(f"language '{language}' of the voting page; allowed: {choices(LANGUAGES)}")
    found: dict[str, Any] = {}
    for place in (PACKAGE, package):
        source = files(place) / "languages" / f"{language}.yaml"
        found |= yaml.safe_load(source.read_text(encoding="utf-8"))
    return found


def _render(template: str, language: str, package: str = PACKAGE, **values: Any) -> str:
    known = {
        "t": texts(language, package),
        "language": language,
        "other": next(other for other in LANGUAGES if other != language),
        "material_language": language,
    }
    return _environment(package).get_template(template).render(known | values)


@cache
def _environment(package: str) -> Environment:
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(PACKAGE)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
