"""What `make docs` adds to MkDocs: pages that lie outside docs/, the reference, and a check of what
was built.

Home page, changes, contributing and security are the Markdown files at the top of the repository;
links between these and docs/ hold on the forge and on the site. The reference documents the names
that docs/api.md lists. Once the site is built, every address in it must lead somewhere, and no page
may load anything from another host.
"""

import logging
import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
PAGES = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
TEXTS = {"LICENSE.txt": "LICENSE", "NOTICE.txt": "NOTICE"}
# The forge shows Markdown, and HTML as source code.
SITE = {"docs/example/example.md": "example/index.html"}
SITE |= {source: page for page, source in {**PAGES, **TEXTS}.items()}
LOADING = {"script", "img", "iframe", "source", "link", "audio", "video", "embed", "object"}
# Names that a package loads by their path alone, so that their sources do not say where they are.
PATHS = {"urs_inspect.samer.train": "urs_inspect.samer._neural.trainer.train"}
logger = logging.getLogger("mkdocs.hooks.urs_inspect")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and texts that lie at the top of the repository, and one page of the reference
    per package.
    """
    for page, source in {**PAGES, **TEXTS}.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    for package, names in _packages():
        blocks = "\n\n".join(f"::: {_path(package, name)}" for name in names)
        files.append(
            File.generated(config, _reference(package), content=f"# `{package}`\n\n{blocks}\n")
        )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Have links lead to pages of the site, and to the forge where the site has none."""
    if page.file.src_uri == "index.md":
        page.meta["hide"] = ["navigation"]
    here = posixpath.dirname(PAGES.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def moved(link: re.Match[str]) -> str:
        target, _, anchor = link[1].partition("#")
        if not target or urlsplit(target).scheme:
            return link[0]
        path = posixpath.normpath(posixpath.join(here, target))
        if not (ROOT / path).exists():
            logger.warning(f"{page.file.src_uri} links to '{target}', which does not exist")
        place = SITE.get(path) or path.removeprefix("docs/")
        if place == path:
            place = f"{config.extra['repository']}/blob/main/{path}"
        else:
            place = posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")
        return f"]({place}{'#' if anchor else ''}{anchor})"

    markdown = re.sub(r"\]\(([^)\s]+)\)", moved, markdown)
    return _with_reference(markdown) if page.file.src_uri == "api.md" else markdown


def on_post_build(config: MkDocsConfig) -> None:
    """Publish the Markdown files that llms.txt lists, and check every address of the site."""
    site = Path(config.site_dir)
    docs = ROOT / "docs"
    for file in (*docs.glob("*.md"), *(docs / "appendix").glob("*.md")):
        shutil.copy(file, site / file.relative_to(docs))
    for path in site.rglob("*.css"):
        for address in re.findall(
            r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", path.read_text("utf-8")
        ):
            logger.warning(f"{path.relative_to(site)} loads {address} from another host")
    pages = {path: _Addresses(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in page.loaded:
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                logger.warning(f"{name} loads {address} from another host")
        for address in page.loaded | page.linked:
            if fault := _fault(path, address, pages):
                logger.warning(f"{name} links to {address}, {fault}")


def _fault(path: Path, address: str, pages: Mapping[Path, "_Addresses"]) -> str:
    """What is wrong with an address on a page; empty if nothing is."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc or path.name == "404.html":
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return "which does not exist"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        return f"and {target.name} has no such anchor"
    return ""


class _Addresses(HTMLParser):
    """Addresses and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: set[str] = set()
        self.linked: set[str] = set()
        self.ids = {"", "__top"}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element loads, links to, or is called."""
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        addresses = {given[name] for name in ("href", "src", "data") if name in given}
        if tag in LOADING and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded |= addresses
        else:
            self.linked |= addresses


def _packages() -> Iterator[tuple[str, list[str]]]:
    """The packages and names that docs/api.md lists."""
    for section in (ROOT / "docs" / "api.md").read_text("utf-8").split("\n## ")[1:]:
        yield section.split("`")[1], re.findall(r"(?m)^\| `(\w+)` \|", section)


def _reference(package: str) -> str:
    return f"reference/{package}.md"


def _path(package: str, name: str) -> str:
    if package == "urs_inspect.tasks":  # each lies in a module of its own name
        return f"{package}.{name}.{name}"
    return PATHS.get(f"{package}.{name}", f"{package}.{name}")


def _with_reference(markdown: str) -> str:
    """The list of public names, each with a link to its reference."""
    package = ""
    lines = []
    for line in markdown.splitlines():
        if heading := re.fullmatch(r"## `(.+)`", line):
            package = heading[1]
        row = re.match(r"\| `(\w+)` \|", line)
        link = f"| [`{row[1]}`]({_reference(package)}#{_path(package, row[1])}) |" if row else ""
        lines.append(link + line[row.end() if row else 0 :])
    return "\n".join(lines)
