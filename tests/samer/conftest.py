"""Checkpoints that the tests of SaMer share; tests that break one take a copy."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import facts, refused, run, said  # noqa: F401 - fixtures
from tests.samer.checkpoints import tiny_checkpoint

SMALL = {"scoring": (24, 16, 16, 16), "predictor": (16, 16, 16), "weighter": (16, 16, 16)}


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny checkpoint with the published heads' widths, in one file."""
    return tiny_checkpoint(tmp_path_factory.mktemp("samer") / "released")


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny checkpoint with narrow heads, in three files."""
    return tiny_checkpoint(tmp_path_factory.mktemp("samer") / "small", inner_widths=SMALL, shards=3)


@pytest.fixture
def copied(small: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Makes a copy of the small checkpoint under a name, to break."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(small, tmp_path / name, copy_function=shutil.copyfile))

    return copy
