"""A drawing as a part of a page."""

import io
import re
import warnings
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from markupsafe import Markup

from urs_inspect.reports.crossval.canvas import PALETTE, printable, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NUMBER = re.compile(r"-?\d+\.\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"(?:(?P<style>italic|oblique) )?(?:(?P<weight>\d+|bold) )?(?P<size>[\d.]+px)")
_NO_TURN = re.compile(r"rotate\(-?0 [^)]*\)")
_LARGEST = 1.18
"""How much a drawing may be enlarged to fill its column."""
_LEFT_OUT = ("metadata", "style")


def inline_svg(figure: "Figure", key: str, title: str, description: str) -> Markup:
    """Turn a drawing into SVG for the middle of an HTML page.

    Colours become the page's CSS variables, so that the drawing follows the scheme; fonts are the page's; ids are those
    that something refers to, and begin with the key.

    Args:
        figure: What a `Canvas` holds.
        key: Letters, digits and hyphens; different for each drawing of a page.
        title: Its name, for those who cannot see it.
        description: What it shows, likewise.

    Returns:
        The element `svg`; the same figure and key always give the same.
    """
    root = ElementTree.fromstring(svg_bytes(figure, key))  # noqa: S314 (our own drawing)
    _tidy(root)
    _rename(root, key)
    _, _, width, height = root.get("viewBox", "0 0 1 1").split()
    shown = ElementTree.Element(
        "svg",
        {
            "viewBox": f"0 0 {width} {height}",
            "style": f"max-width: {_LARGEST * float(width):.0f}px",
            "role": "img",
            "aria-labelledby": f"{key}-title",
            "aria-describedby": f"{key}-description",
        },
    )
    for name, text in (("title", title), ("desc", description)):
        kind = "title" if name == "title" else "description"
        ElementTree.SubElement(shown, name, {"id": f"{key}-{kind}"}).text = printable(text)
    shown.extend(_flat(root))
    return Markup(ElementTree.tostring(shown, encoding="unicode"))  # noqa: S704 (escaped by ElementTree)


def svg_bytes(figure: "Figure", key: str) -> bytes:
    """A drawing as a file of SVG; ids depend on the key alone, and nothing on the day."""
    buffer = io.BytesIO()
    empty = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with settings(salt=key), warnings.catch_warnings():
        # The browser has glyphs for every script; those of matplotlib's font are not drawn.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(buffer, format="svg", metadata=empty)
    return buffer.getvalue()


def _tidy(root: ElementTree.Element) -> None:
    for element in list(root.iter()):
        element.tag = element.tag.rpartition("}")[2]
        for child in list(element):
            if child.tag.rpartition("}")[2] in _LEFT_OUT:
                element.remove(child)
        for name, value in list(element.attrib.items()):
            del element.attrib[name]
            if name != "transform" or not _NO_TURN.fullmatch(value):
                element.set(name.rpartition("}")[2], _attribute(name, value))
        if element.tag != "text":
            element.text = None
        element.tail = None


def _attribute(name: str, value: str) -> str:
    if name == "style":
        return _style(value)
    return value if name == "id" or "href" in name else " ".join(_NUMBER.sub(_short, value).split())


def _style(style: str) -> str:
    kept = []
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font" and (font := _FONT.match(value)):
            kept += [f"font-{part}: {given}" for part, given in font.groupdict().items() if given]
        elif name and name != "font-family":
            kept.append(f"{name}: {_NUMBER.sub(_short, value)}")
    text = "; ".join(kept)
    for colour, variable in PALETTE.items():
        text = text.replace(colour, f"var({variable})")
    return text


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _rename(root: ElementTree.Element, key: str) -> None:
    """Keep the ids that something refers to, and make them the drawing's own."""
    used = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            used |= {value[1:]} if name == "href" else set(_REFERENCE.findall(value)) if name != "id" else set()
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            if name == "id":
                del element.attrib["id"]
                if value in used:
                    element.set("id", f"{key}-{value}")
            elif name == "href":
                element.set("href", f"#{key}-{value[1:]}")
            else:
                element.set(name, _REFERENCE.sub(rf"url(#{key}-\1)", value))


def _flat(element: ElementTree.Element) -> list[ElementTree.Element]:
    """The elements without groups that do nothing."""
    found: list[ElementTree.Element] = []
    for child in element:
        if child.tag in ("g", "defs") and not child.attrib:
            inner = _flat(child)
            if child.tag == "defs" and inner:
                kept = ElementTree.Element("defs")
                kept.extend(inner)
                inner = [kept]
            found += inner
        else:
            found.append(child)
    return found
