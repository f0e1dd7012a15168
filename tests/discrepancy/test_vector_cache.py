"""Vectors on disk: computed once, healed after a crash, shared by processes, refused when they do
not fit.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.discrepancy._lexical import LexicalSimilarity
from urs_inspect.discrepancy._vector_cache import VectorCache, cached_vectors
from urs_inspect.discrepancy._vectors import Vectors


class Model:
    """Vectors from the letters of a text; counts what it is asked."""

    name, costly = "test/model", True

    def __init__(self, width: int = 4, fault: float = 0.0) -> None:
        self.width, self.fault = width, fault
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The first letters' codes."""
        self.asked += texts
        rows = [
            [ord(c) / 1024 for c in (text + "\x01" * self.width)[: self.width]] for text in texts
        ]
        return np.array(rows, np.float32) + np.float32(self.fault)


def expected(texts: Sequence[str], width: int = 4) -> list[list[float]]:
    """What the model gives, as halves."""
    return [
        [float(value) for value in row] for row in Model(width).encode(texts).astype(np.float16)
    ]


def assert_kept(texts: Sequence[str], cache: VectorCache) -> None:
    """The cache has the vectors of all texts, and a model is asked for none."""
    model = Model()
    assert cached_vectors(model, texts, cache).tolist() == expected(texts)
    assert model.asked == []


def test_each_text_is_computed_once() -> None:
    model = Model()
    assert cached_vectors(model, ["one", "two", "one"]).tolist() == expected(["one", "two", "one"])
    assert sorted(model.asked) == ["one", "two"]
    again = Model()
    found = cached_vectors(again, ["three", "two", "", "one", " "])
    assert found.dtype == np.float16
    assert found[[0, 1, 3]].tolist() == expected(["three", "two", "one"])
    assert not found[[2, 4]].any()
    assert again.asked == ["three"]


def test_it_lies_in_the_package_s_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(tmp_path / "here"))
    cached_vectors(Model(), ["one"])
    [folder] = (tmp_path / "here" / "vectors").iterdir()
    assert folder.name.startswith("test-model-")
    assert (folder / "vectors").stat().st_size == 8
    other = Model()
    other.name = "test:model"
    cached_vectors(other, ["one"])
    assert other.asked == ["one"]
    assert len(list((tmp_path / "here" / "vectors").iterdir())) == 2


def test_what_costs_nothing_is_not_kept_and_blank_texts_need_no_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(tmp_path / "here"))
    assert cached_vectors(LexicalSimilarity(), ["one", ""]).shape == (2, 2048)
    model = Model()
    assert not cached_vectors(model, ["", " "]).any() and cached_vectors(model, []).shape[0] == 0
    assert not model.asked and not (tmp_path / "here").exists()


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_whatever_a_crash_leaves_is_healed(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = VectorCache("m", tmp_path_factory.mktemp("cache"))
    texts = ["alpha", "beta", "gamma", "delta"]
    cached_vectors(Model(), texts, cache)
    vectors, keys = cache.folder / "vectors", cache.folder / "keys"
    # A write that was cut: of the vectors only, or of the vectors and a part of the keys.
    extra = data.draw(st.integers(0, 24))
    with vectors.open("ab") as file:
        file.write(os.urandom(extra))
    if extra >= 8:
        with keys.open("ab") as file:
            file.write(os.urandom(data.draw(st.integers(0, 31))))
    os.truncate(keys, data.draw(st.integers(0, keys.stat().st_size)))
    model = Model()
    assert cached_vectors(model, [*texts, "new"], cache).tolist() == expected([*texts, "new"])
    assert "new" in model.asked
    assert cached_vectors(Model(fault=9), texts, cache).tolist() == expected(texts)
    assert keys.stat().st_size % 32 == 0 and vectors.stat().st_size == keys.stat().st_size // 32 * 8


def fill(folder: str, start: int) -> None:
    """Compute 300 texts, two thirds of which the other process computes as well."""
    cache = VectorCache("m", Path(folder))
    for first in range(start, start + 300, 10):
        cached_vectors(Model(), [f"{number:04}" for number in range(first, first + 10)], cache)


def test_several_processes_do_not_hurt_each_other(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=fill, args=(str(tmp_path), start)) for start in (0, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert_kept([f"{number:04}" for number in range(400)], VectorCache("m", tmp_path))
    assert len(VectorCache("m", tmp_path)) == 400


def test_a_killed_process_loses_no_finished_batch(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from tests.discrepancy.test_vector_cache import Model\n"
        "from urs_inspect.discrepancy._vector_cache import VectorCache, cached_vectors\n"
        "cache = VectorCache('m', Path(sys.argv[1]))\n"
        "for number in range(100000):\n"
        "    cached_vectors(Model(), [f'{number:05}'], cache); print(number, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        done = -1
        while done < 20:
            done = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    assert_kept([f"{number:05}" for number in range(done + 1)], VectorCache("m", tmp_path))


def test_another_width_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    cache = VectorCache("m", tmp_path)
    cached_vectors(Model(4), ["one"], cache)
    with pytest.raises(
        InputError,
        match=r"width 4, but 'm' gave 5:.*Remove",
    ):
        cached_vectors(Model(5), ["two"], cache)
    assert cached_vectors(Model(4, fault=1), ["one"], cache).tolist() == expected(["one"])


@pytest.mark.parametrize("fault", [np.nan, np.inf, 1e6])
def test_vectors_that_no_half_can_hold_are_refused(tmp_path: Path, fault: float) -> None:
    cache = VectorCache("m", tmp_path)
    with pytest.raises(
        InputError, match="2 vectors that are not finite" if fault == 1e6 else "not finite"
    ):
        cached_vectors(Model(fault=fault), ["one", "two"], cache)
    assert len(cache) == 0


def test_a_damaged_cache_is_named(tmp_path: Path) -> None:
    cache = VectorCache("m", tmp_path)
    cached_vectors(Model(), ["one", "two"], cache)
    (cache.folder / "vectors").write_bytes(np.full(8, np.nan, np.float16).tobytes())
    with pytest.raises(InputError, match=r"vector cache .*not finite"):
        cached_vectors(Model(), ["one"], cache)
    for content, words in (
        ("{", "about.json: "),
        ("[]", "is not of 'm' in format 1"),
        ('{"format": 2, "model": "m", "width": 4}', "is not of 'm' in format 1"),
        ('{"format": 1, "model": "x", "width": 4}', "is not of 'm' in format 1"),
        ('{"format": 1, "model": "m", "width": 0}', "width 0; allowed: 1 or more"),
    ):
        (cache.folder / "about.json").write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=words):
            cached_vectors(Model(), ["one"], cache)


def test_rows_are_memory_mapped(tmp_path: Path) -> None:
    cache = VectorCache("m", tmp_path)
    assert cache.rows().shape == (0, 0)
    cached_vectors(Model(), ["one", "two"], cache)
    rows = cache.rows()
    assert isinstance(rows, np.memmap) and rows.shape == (2, 4)
    assert rows.tolist() == expected(["one", "two"])
    assert cache.find(["two", "none", "one"]).tolist() == [1, -1, 0]
