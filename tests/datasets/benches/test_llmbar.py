"""LLMBar: five subsets."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.datasets.conftest import Publish
from urs_inspect.datasets import PairCase, load_pairs
from urs_inspect.datasets.benches.llmbar import load_llmbar
from urs_inspect.datasets.pinned import LLMBAR
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.errors import InputError

FILE = "benches.llmbar.LLMBAR"
PAIRS = {"Natural": 100, "Neighbor": 134, "GPTInst": 92, "GPTOut": 47, "Manual": 46}


def rows(count: int, **changes: object) -> list[dict[str, object]]:
    """Good rows, the last of them with the changes."""
    good: dict[str, object] = {"input": "Why?", "output_1": "Because.", "output_2": "It is so.", "label": 2}
    return [*([good] * (count - 1)), {**good, **changes}]


@pytest.mark.data
@pytest.mark.parametrize(("subset", "labels"), [("Natural", {"a": 42, "b": 58}), ("GPTInst", {"a": 45, "b": 47})])
def test_the_published_subsets_at_hand_have_their_pairs(subset: str, labels: dict[str, int], data_dir: Path) -> None:
    data = load_pairs(f"llmbar/{subset}")
    raw = json.loads((data_dir / LLMBAR[subset].path).read_text(encoding="utf-8"))
    assert Counter(case.label for case in data.cases) == labels
    assert data.cases == tuple(
        PairCase(
            id=f"llmbar_{subset.lower()}_{number:04d}",
            prompt=each["input"],
            response_a=each["output_1"],
            response_b=each["output_2"],
            label="a" if each["label"] == 1 else "b",
            group=subset,
        )
        for number, each in enumerate(raw, start=1)
    )
    assert (data.name, data.sha256, data.skipped) == (f"llmbar/{subset}", LLMBAR[subset].sha256, ())


def test_all_five_are_one_bench_with_a_hash_of_their_hashes(publish: Publish) -> None:
    paths = [publish(FILE, rows(count), subset) for subset, count in PAIRS.items()]
    data = load_pairs("llmbar")
    assert Counter(case.group for case in data.cases) == PAIRS  # 419
    assert len({case.id for case in data.cases}) == 419
    assert data.sha256 == hashlib.sha256("".join(map(sha256_of, paths)).encode()).hexdigest()
    assert data.name == "llmbar"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"label": 0}, "column 'label': unknown label 0; allowed: 1, 2"),
        ({"label": "tie"}, "column 'label': unknown label \"tie\"; allowed: 1, 2"),
        ({"output_1": None}, "column 'output_1': must be text, is null"),
        ({"input": ["Why?"]}, "column 'input': must be text, is [\"Why?\"]"),
    ],
)
def test_a_faulty_row_is_named(changes: dict[str, object], fault: str, publish: Publish) -> None:
    path = publish(FILE, rows(46, **changes), "Manual")
    with pytest.raises(InputError) as caught:
        load_pairs("llmbar/Manual")
    assert str(caught.value) == f"{path}: row 46: {fault}"


def test_an_unknown_subset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        load_llmbar("natural")
    assert str(caught.value) == (
        "unknown subset 'natural' of llmbar; allowed: Natural, Neighbor, GPTInst, GPTOut, Manual"
    )


def test_all_subsets_are_downloaded_and_checked_by_their_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("URS_INSPECT_DATA_DIR", raising=False)
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    asked: list[str] = []

    def download(url: str, sha256: str, target: Path, **options: object) -> Path:
        asked.append(sha256)
        target.parent.mkdir(parents=True)
        target.write_text(json.dumps(rows(PAIRS["Natural"])), encoding="utf-8")
        return target

    monkeypatch.setattr("inspect_ai.util.download", download)
    monkeypatch.setattr("urs_inspect.datasets.loading.is_pinned", lambda *_: True)
    load_pairs("llmbar")
    assert asked == [source.sha256 for source in LLMBAR.values()]


def test_an_empty_output_is_kept(publish: Publish) -> None:
    publish(FILE, rows(3, output_2=""), "Manual")
    assert [case.response_b for case in load_pairs("llmbar/Manual").cases] == ["It is so.", "It is so.", ""]
