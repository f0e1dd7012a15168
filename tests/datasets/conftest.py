"""Small files in the place of published ones."""

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from urs_inspect.datasets import PinnedFile
from urs_inspect.datasets.sources import sha256_of

Publish = Callable[..., Path]
WriteRows = Callable[[str, object], Path]


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Puts rows where a published file is looked for, and pins their hash."""

    def to_file(constant: str, rows: object, key: str = "") -> Path:
        module, _, name = f"urs_inspect.datasets.{constant}".rpartition(".")
        pinned: PinnedFile | Mapping[str, PinnedFile] = getattr(importlib.import_module(module), name)
        source = pinned if isinstance(pinned, PinnedFile) else pinned[key]
        path = tmp_path / "published" / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(rows if isinstance(rows, str) else json.dumps(rows), encoding="utf-8")
        monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "published"))
        own = replace(source, sha256=sha256_of(path), git_id="")
        monkeypatch.setattr(f"{module}.{name}", own if isinstance(pinned, PinnedFile) else {**pinned, key: own})
        return path

    return to_file


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    """Writes a user's file: a text as it is, rows as lines of JSON."""

    def to_file(name: str, rows: object) -> Path:
        path = tmp_path / name
        text = rows if isinstance(rows, str) else "".join(f"{json.dumps(row)}\n" for row in rows)  # type: ignore[attr-defined]
        path.write_text(text, encoding="utf-8")
        return path

    return to_file
