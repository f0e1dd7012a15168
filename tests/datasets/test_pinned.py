"""Every published file is pinned as far as it can be, and says so where it cannot."""

import hashlib
import re
from pathlib import Path, PurePosixPath

import pytest

from urs_inspect.datasets.pinned import LLMBAR, SOURCES, URS, PinnedFile
from urs_inspect.datasets.sources import fetch, locate, sha256_of

COMMIT = re.compile(r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/.+")
GIT_IDS = {
    "flask": "0563a5769832269d52b8099406966fc127766b2f",
    "feedback_bench": "28919454bf5aba9e0c082a0171ee50ff278c5e18",
    "preference_bench": "8ec84131739db801757cb76107035650dce8dbd7",
    "alpaca_eval": "de4304dacfec51201d33970cf371c1074e78a3e1",
}
HERE = sorted(set(SOURCES) - set(GIT_IDS) - {"llmbar/Neighbor", "llmbar/GPTOut", "llmbar/Manual"})
every = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


def test_sources_are_known_by_their_names() -> None:
    assert SOURCES["urs"] is URS
    assert {name: source.name for name, source in SOURCES.items()} == {name: name for name in SOURCES}
    assert len({source.path for source in SOURCES.values()}) == len(SOURCES)


@every
def test_an_address_holds_a_commit_or_the_id_of_the_content(source: PinnedFile) -> None:
    if source.git_id:
        assert source.url.endswith(f"/prometheus-eval/prometheus-eval/git/blobs/{source.git_id}")
    else:
        assert COMMIT.fullmatch(source.url)
        assert PurePosixPath(source.url).name == PurePosixPath(source.path).name


@every
def test_every_file_can_be_checked_by_one_hash(source: PinnedFile) -> None:
    assert source.git_id == GIT_IDS.get(source.name, "")
    assert re.fullmatch("" if source.git_id else "[0-9a-f]{64}", source.sha256)


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
