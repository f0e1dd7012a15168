"""Small files in the place of published ones."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from urs_inspect.datasets import SOURCES, PinnedFile, Vocabulary
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.rubrics import load_rubric

Publish = Callable[[str, object], Path]
WriteRows = Callable[[str, object], Path]


def _as_text(rows: object, lines: bool) -> str:
    if isinstance(rows, str):
        return rows
    return "".join(f"{json.dumps(row)}\n" for row in rows) if lines else json.dumps(rows)  # type: ignore[attr-defined]


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Puts rows where the published file of a benchmark is looked for, and pins their hash."""
    pinned: dict[str, PinnedFile] = dict(SOURCES)

    def to_file(name: str, rows: object) -> Path:
        path = tmp_path / "published" / SOURCES[name].path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_as_text(rows, lines=False), encoding="utf-8")
        pinned[name] = replace(SOURCES[name], sha256=sha256_of(path), git_id="")
        monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "published"))
        monkeypatch.setattr("urs_inspect.datasets._benches.SOURCES", pinned)
        return path

    return to_file


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    """Writes a user's file: a text as it is, rows as lines of JSON."""

    def to_file(name: str, rows: object) -> Path:
        path = tmp_path / name
        path.write_text(_as_text(rows, lines=True), encoding="utf-8")
        return path

    return to_file


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """The labels of the URS rubric."""
    rubric = load_rubric()
    return Vocabulary(rubric.intent_id, rubric.language_code)
