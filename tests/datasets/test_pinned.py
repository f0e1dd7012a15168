"""Every published file is pinned as far as it can be, and says so where it cannot."""

import hashlib
import re
from pathlib import Path, PurePosixPath

import pytest

from urs_inspect.datasets.pinned import LLMBAR, SOURCES, URS, PinnedFile
from urs_inspect.datasets.sources import fetch, locate, sha256_of

COMMIT = re.compile(r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/.+")
BY_HAND = {"preference_bench", "alpaca_eval", "flask", "feedback_bench"}
UNKNOWN_HASH = {"llmbar/Neighbor", "llmbar/GPTOut", "llmbar/Manual"} | BY_HAND
HERE = sorted(set(SOURCES) - UNKNOWN_HASH)
every = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


def test_sources_are_known_by_their_names() -> None:
    assert SOURCES["urs"] is URS
    assert {name: source.name for name, source in SOURCES.items()} == {name: name for name in SOURCES}
    assert len({source.path for source in SOURCES.values()}) == len(SOURCES)


@every
def test_an_address_holds_a_commit_and_the_name_of_the_file(source: PinnedFile) -> None:
    assert bool(source.url) == (source.name not in BY_HAND)
    if source.url:
        assert COMMIT.fullmatch(source.url)
        assert PurePosixPath(source.url).name == PurePosixPath(source.path).name
    else:
        assert source.instead  # says where the file comes from


@every
def test_a_hash_that_is_not_known_is_visible(source: PinnedFile) -> None:
    assert source.verified == (source.name not in UNKNOWN_HASH)
    assert re.fullmatch("[0-9a-f]{64}" if source.verified else "", source.sha256)


@every
def test_the_place_is_relative_and_the_licence_said(source: PinnedFile) -> None:
    assert not PurePosixPath(source.path).is_absolute()
    assert ".." not in PurePosixPath(source.path).parts
    assert source.licence


def test_llmbar_is_laid_out_as_published() -> None:
    for subset, source in LLMBAR.items():
        folder = subset if subset == "Natural" else f"Adversarial/{subset}"
        assert source.path == f"judge_bench/llmbar/{folder}/dataset.json"
        assert source.url.endswith(f"/Dataset/LLMBar/{folder}/dataset.json")


@pytest.mark.data
@pytest.mark.parametrize("name", HERE)
def test_the_copy_at_hand_is_the_pinned_one(name: str, data_dir: Path) -> None:
    source = SOURCES[name]
    assert fetch(source) == locate(source) == data_dir / source.path
    assert sha256_of(data_dir / source.path) == hashlib.sha256((data_dir / source.path).read_bytes()).hexdigest()
    assert sha256_of(data_dir / source.path) == source.sha256
