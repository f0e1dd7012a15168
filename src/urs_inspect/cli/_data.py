"""`urs-inspect data` and `references`: the pinned files and whether they are intact; answers as
reference answers.
"""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from urs_inspect._util import InputError, check_new_file, choices, counted, write_new_file
from urs_inspect.datasets._collections import COLLECTIONS, Collection
from urs_inspect.datasets._sources import (
    GITHUB_RAW,
    SOURCES,
    PinnedFile,
    actual_hash,
    cache_path,
    fetch,
    locate,
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
        if source.labels:
            console.print(f"  labels:  {source.labels}")
    for collection in COLLECTIONS.values():
        _print_collection(console, collection)


def _print_collection(console: Console, collection: Collection) -> None:
    here = sum(locate(file) is not None for file in collection.files.values())
    console.print(f"[bold]{collection.name}[/bold]")
    console.print(f"  here:    {here} of {counted(len(collection.files), 'file')}")
    console.print(f"  address: {GITHUB_RAW}/{collection.address}")
    console.print("  hash:    one of each file, which verify checks")
    console.print(f"  licence: {collection.licence}")
    if collection.labels:
        console.print(f"  labels:  {collection.labels}")


@data.command("fetch")
@click.argument("names", nargs=-1)
def fetch_(names: tuple[str, ...]) -> None:
    """Download what is not here yet: all single files, or the files and folders NAMED."""
    console = Console(soft_wrap=True)
    for source in chain.from_iterable(_chosen(names).values()):
        console.print(f"{source.name}: {fetch(source)}", markup=False, highlight=False)


@data.command()
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Hash the copies again: all single files, or the files and folders NAMED.

    Of a folder, one line says how many files are intact, and each file that is not has a line of
    its own. Fails if a file is missing or damaged.
    """
    console = Console(soft_wrap=True)
    failed = False
    for name, sources in _chosen(names).items():
        states = [_verified(source) for source in sources]
        intact = [state.told for state in states if state.intact]
        told = [state.told for state in states if not state.intact]
        failed = failed or bool(told)
        if len(sources) == 1:
            told += intact
        else:
            told.insert(0, f"{name}: {len(intact)} of {len(sources)} files intact")
        for line in told:
            console.print(line, markup=False, highlight=False)
    if failed:
        raise SystemExit(1)


@dataclass(frozen=True)
class _Verified:
    """What is known of a copy."""

    told: str
    intact: bool


def _verified(source: PinnedFile) -> _Verified:
    """Hash a copy again."""
    try:
        path = locate(source)
    except InputError as error:
        return _Verified(f"{source.name}: {error}", intact=False)
    return _Verified(f"{source.name}: {_state(source, path)}", intact=path is not None)


def _chosen(names: tuple[str, ...]) -> dict[str, list[PinnedFile]]:
    """The files of these names, of label sets with parts and of folders, by set; all single files
    by default.
    """
    chosen: dict[str, list[PinnedFile]] = {}
    for name in names:
        parts = [source for part, source in SOURCES.items() if part.startswith(f"{name}/")]
        if name in COLLECTIONS:
            chosen[name] = list(COLLECTIONS[name].files.values())
        elif name in SOURCES:
            chosen[name] = [SOURCES[name]]
        elif parts:
            chosen[name] = parts
        else:
            allowed = choices([*SOURCES, *COLLECTIONS])
            raise InputError(f"unknown data '{name}'; allowed: {allowed}")
    if not names:
        for name, source in SOURCES.items():
            chosen.setdefault(name.partition("/")[0], []).append(source)
    return chosen


def _state(source: PinnedFile, path: Path | None) -> str:
    """What is at the path of a copy that is as published, else what is wrong."""
    if path is not None:
        return f"intact: {path}"
    if not (path := cache_path(source)).is_file():
        return f"not here; `urs-inspect data fetch {source.name}` gets it"
    return f"damaged: {path} has {actual_hash(source, path)}, expected {source.expected}"


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The .jsonl file to write.",
)
def references(logs: tuple[str, ...], output: Path) -> None:
    """Write the answers in LOGS (files or directories, of one model) to a file for `-T
    references=FILE`.

    Of several answers to one question the last usable one counts, so that a later run over some
    questions corrects an earlier one. The file may be edited by hand; later logs have its hash.
    """
    from urs_inspect.datasets._references import (
        CUT,
        OUTCOMES,
        USABLE,
        named,
        reference_lines,
    )
    from urs_inspect.logs._responses import read_reference_logs

    check_new_file(output, ".jsonl")
    skipped: list[str] = []
    answers = read_reference_logs(logs, skipped)
    write_new_file(output, "".join(reference_lines(answers)))
    console = Console()
    verb = "are"
    if len(answers.usable) == 1:
        verb = "is"
    console.print(
        f"{counted(len(answers.usable), 'reference')} by {escape(answers.source)} {verb} in"
        f" {escape(str(output))} (sha256 {answers.sha256[:12]}).",
        highlight=False,
        soft_wrap=True,
    )
    for sentence in skipped:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    for outcome in OUTCOMES:
        ids = [item.id for item in answers.items if item.outcome == outcome]
        if ids and outcome != USABLE:
            hint = ""
            if outcome == CUT:
                hint = "; run these with more --max-tokens"
            console.print(
                f"Left out, {outcome.replace('_', ' ')}: {escape(named(ids))}{hint}",
                highlight=False,
                soft_wrap=True,
            )
