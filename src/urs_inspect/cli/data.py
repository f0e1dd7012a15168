"""`urs-inspect data`: the pinned files, where they are, and whether they are intact."""

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from urs_inspect._util import InputError
from urs_inspect.datasets.sources import (
    SOURCES,
    PinnedFile,
    actual_hash,
    cache_path,
    fetch,
    find_source,
    is_pinned,
    locate,
    sha256_of,
)


@click.group()
def data() -> None:
    """List, fetch and verify the published data."""


@data.command("list")
def list_() -> None:
    """Show every published file and whether a copy is here."""
    console = Console(soft_wrap=True, highlight=False)
    for source in SOURCES.values():
        console.print(f"[bold]{source.name}[/bold]")
        console.print(f"  here:    {escape(str(locate(source) or 'no'))}")
        console.print(f"  address: {source.url}")
        console.print(f"  hash:    {source.expected}")
        console.print(f"  licence: {source.licence}")


@data.command("fetch")
@click.argument("names", nargs=-1)
def fetch_(names: tuple[str, ...]) -> None:
    """Download what is not here yet: all files, or those NAMED."""
    console = Console(soft_wrap=True)
    for source in _chosen(names):
        console.print(f"{source.name}: {fetch(source)}", markup=False, highlight=False)


@data.command()
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Hash the copies again: all files, or those NAMED. Fails if one is missing or damaged."""
    console = Console(soft_wrap=True)
    errors = 0
    for source in _chosen(names):
        try:
            path = locate(source)
        except InputError as error:
            path, state = None, str(error)
        else:
            state = _presence(source, path) if path else _absence(source)
        errors += path is None
        console.print(f"{source.name}: {state}", markup=False, highlight=False)
    if errors:
        raise SystemExit(1)


def _chosen(names: tuple[str, ...]) -> list[PinnedFile]:
    return [find_source(name) for name in names] or list(SOURCES.values())


def _presence(source: PinnedFile, path: Path) -> str:
    if is_pinned(source, path):
        return f"intact: {path}"
    return f"another published form, which no hash can check: {path} has sha256 {sha256_of(path)}"


def _absence(source: PinnedFile) -> str:
    path = cache_path(source)
    if not path.is_file():
        return f"not here; `urs-inspect data fetch {source.name}` gets it"
    return f"damaged: {path} has {actual_hash(source, path)}, expected {source.expected}"
