"""Pages of the voting server: safe Markdown, texts, templates."""

import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from urs_inspect._util import InputError, choices
from urs_inspect.annotation._campaign import Campaign, Session
from urs_inspect.annotation._rating_campaign import RatingCampaign, RatingSession
from urs_inspect.annotation._rating_queue import ToRate
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric

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


@cache
def texts(language: str) -> dict[str, Any]:
    """Texts of the page by name.

    `criteria` is a list of `name` and `text`, `rules` a list of texts. `rating` has those that are
    different on the rating page.
    """
    if language not in LANGUAGES:
        raise InputError(f"language '{language}' of the voting page; allowed: {choices(LANGUAGES)}")
    source = files("urs_inspect.annotation") / "languages" / f"{language}.yaml"
    text = source.read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def session_page(session: Session | RatingSession, language: str) -> str:
    """The whole page of a session."""
    kind, shown = _shown(session, language)
    shown["material_language"] = _material_language(session, language)
    return _render(
        f"{kind}.html.jinja", language, kind, **shown, here=f"/{kind}/{session.annotator}"
    )


def _material_language(session: Session | RatingSession, language: str) -> str:
    """Language of the document.

    That of the questions in the log, where the page has no texts in it.
    """
    current = session.current
    item = current.answer if isinstance(current, ToRate) else current
    read = item.language if item else ""
    if read in LANGUAGES or not _CODE.fullmatch(read):
        return language
    return read


def session_fragment(session: Session | RatingSession, language: str) -> str:
    """The part of the page that changes from pair to pair, or from answer to answer."""
    kind, shown = _shown(session, language)
    template = "pair.html.jinja"
    if kind == "rate":
        template = "answer.html.jinja"
    return _render(template, language, kind, **shown)


def _shown(session: Session | RatingSession, language: str) -> tuple[str, dict[str, Any]]:
    if isinstance(session, RatingSession):
        return "rate", _to_rate(session, language)
    return "vote", _pair(session)


def sign_in_page(campaign: Campaign | RatingCampaign, language: str, name: str = "") -> str:
    """The page that asks who is voting or rating."""
    return _render(
        "sign_in.html.jinja",
        language,
        campaign.kind,
        annotators=campaign.annotators,
        annotator=name,
        here="/",
    )


def token_page(language: str, *, wrong: bool) -> str:
    """The page that asks for the token."""
    return _render("token.html.jinja", language, wrong=wrong, here=None)


def entered_page(language: str) -> str:
    """Leads on after a token.

    A redirect would not do: coming from a link on another site, the browser would not send the
    strict cookie with it.
    """
    return _render("entered.html.jinja", language, here=None)


def problem_page(language: str, reason: str, kind: str = "vote") -> str:
    """Says what is wrong, on a server for votes (`vote`) or ratings (`rate`)."""
    return _render("problem.html.jinja", language, kind, reason=reason, here=None)


def report_page(campaign: Campaign | RatingCampaign, language: str, back: str) -> str:
    """How far people agree; models, results and scores of judges stay hidden."""
    shown: dict[str, Any] = {
        "percent": _percent,
        "decimal": _decimal,
        "back": back,
        "here": "/report",
    }
    if isinstance(campaign, RatingCampaign):
        rated, ratings = campaign.report()
        shown["found"] = rated
        shown["total"] = len(campaign.queue)
        shown["faults"] = len(ratings.errors)
        shown["others"] = len(ratings.ratings) - rated.ratings
        return _render("rating_report.html.jinja", language, "rate", **shown)
    found, reading = campaign.report()
    shown["found"] = found
    shown["total"] = len(campaign.ballots)
    shown["faults"] = len(reading.errors)
    shown["others"] = len(reading.votes) - found.votes
    shown["voting"] = campaign.queue.state() if campaign.queue else None
    return _render("report.html.jinja", language, **shown)


def _pair(session: Session) -> dict[str, Any]:
    ballot = session.current
    done, total = session.progress
    shown: dict[str, Any] = {"session": session, "ballot": ballot, "done": done, "total": total}
    if ballot is not None:
        sides = [ballot.response_a, ballot.response_b]
        if session.left(ballot.id) == "b":
            sides.reverse()
        shown["answers"] = [_material(text) for text in sides]
        shown["instruction"] = _material(ballot.instruction)
        shown["reference"] = _material(ballot.reference)
    return shown


def _to_rate(session: RatingSession, language: str) -> dict[str, Any]:
    item = session.current
    campaign = session.campaign
    shown: dict[str, Any] = {
        "session": session,
        "item": item,
        "done": session.done,
        "total": session.total,
    }
    if item is None:
        return shown
    rubric = campaign.rubric
    answer = item.answer
    code = language
    if language not in rubric.languages:
        code = next(iter(rubric.languages))
    scales = []
    for name in campaign.criteria(answer):
        term = rubric.criteria[name][code]
        scales.append((name, term.name, term.definition))
    scales.append((FINAL, rubric.languages[code].final.name, ""))
    reference = None
    if campaign.plan.reference:
        reference = _material(answer.reference)
    return shown | {
        "instruction": _material(answer.instruction),
        "answer": _material(answer.text),
        "reference": reference,
        "intent": rubric.intents[answer.intent].text[code],
        "scales": scales,
        "bands": list(zip(rubric.bands, _bands(rubric, code, reference), strict=True)),
        "rubric_language": code,
        "scores": range(LOWEST, HIGHEST + 1),
        "given": _scores_before(session, item),
    }


def _bands(rubric: Rubric, code: str, reference: Markup | None) -> Sequence[str]:
    """What the bands of scores mean, in the words for answers without a reference if it is None."""
    bands = rubric.languages[code].bands
    if reference is not None or code not in LANGUAGES:
        return bands
    others = {
        text["band"]: text["instead"] for text in texts(code)["rating"]["bands_without_reference"]
    }
    return [others.get(band, band) for band in bands]


def _scores_before(session: RatingSession, item: ToRate) -> dict[str, int]:
    """The scores of a rating that was just taken back, so that one can be changed."""
    before = session.taken_back
    if before is None or before.about != item.id or before.cannot_tell:
        return {}
    return {FINAL: before.final, **before.criteria}


def _material(text: str) -> Markup | None:
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


def _render(template: str, language: str, kind: str = "vote", **values: Any) -> str:
    said = texts(language)
    if kind == "rate":
        said = said | said["rating"]
    known = {
        "t": said,
        "language": language,
        "other": next(other for other in LANGUAGES if other != language),
        "material_language": language,
    }
    return _environment().get_template(template).render(known | values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("urs_inspect.annotation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
