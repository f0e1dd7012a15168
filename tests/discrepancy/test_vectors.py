"""Vectors in blocks: products are right, and rounding stays below its
bound.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.discrepancy._vectors import (
    InstructionVectors,
    Singles,
    check_shapes,
    cosine_error,
    give_back,
    in_blocks,
    products,
)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("workers", [1, 2])
def test_blocks_hold_all_rows_of_all_arrays_side_by_side(dtype: type, workers: int) -> None:
    arrays: Any = np.random.default_rng(0).standard_normal((2, 11, 7)).astype(dtype)
    found = np.zeros((11, 2, 7), np.float32)

    def use(start: int, stop: int, block: Singles) -> None:
        found[start:stop] += block

    in_blocks(list(arrays), 2, 5, use, workers)
    assert np.array_equal(found, arrays.astype(np.float32).swapaxes(0, 1))


@pytest.mark.parametrize(
    ("size", "width", "count"), [(0, 3, 2), (1, 3, 1), (8, 5, 1), (21, 1536, 40), (16, 30_000, 3)]
)
def test_products(size: int, width: int, count: int) -> None:
    generator = np.random.default_rng(1)
    rows = generator.standard_normal((size, width), dtype=np.float32)
    targets = generator.standard_normal((count, width), dtype=np.float32)
    expected = targets.astype(np.float64) @ rows.astype(np.float64).T
    assert np.allclose(products(rows, targets), expected, atol=1e-5 * width)


@pytest.mark.parametrize("width", [2, 28, 384, 1536, 8192])
def test_the_rounding_of_cosines_stays_below_its_bound(width: int) -> None:
    generator = np.random.default_rng(width)
    rows = np.abs(
        generator.standard_normal((200, width), dtype=np.float32)
    )  # of one sign: rounding adds up
    exact = rows.astype(np.float64)
    exact = exact @ exact.T / np.sqrt(np.outer((exact**2).sum(1), (exact**2).sum(1)))
    scales = 1 / np.sqrt(np.einsum("nd,nd->n", rows, rows))
    found = products(rows, rows) * scales * scales[:, None]
    assert np.abs(found - exact).max() < cosine_error(width)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"b": np.zeros((3, 2), np.float32)}, "'b' ... (3, 2) ... 'a' ... (4, 2)"),
        ({"b": np.zeros((4, 3), np.float32)}, "'b' ... (4, 3) ... 'a' ... (4, 2)"),
        ({"b": np.zeros((4, 0), np.float32)}, "'b' ... (4, 0) ... (instructions, width)"),
        ({"a": np.zeros(4, np.float32)}, "'a' ... (4,) ... (instructions, width)"),
        ({"b": np.zeros((4, 2), np.int64)}, "'b' ... int64 ... float16, float32, float64"),
        ({"c": np.zeros((4, 2), np.float32)}, ""),  # of a model that is not asked for
        ({"c": np.zeros((1, 1), np.int8)}, ""),
    ],
)
def test_vectors_that_do_not_go_together_are_named(changed: dict[str, Any], said: str) -> None:
    given = {"a": np.zeros((4, 2), np.float32), "b": np.zeros((4, 2), np.float16), **changed}
    if not said:
        assert check_shapes(given, ["a", "b"]) == (4, 2)
        return
    with pytest.raises(InputError) as caught:
        check_shapes(given, ["a", "b"])
    assert tells(caught.value, said)


def test_models_without_vectors_are_named_beside_those_with_some() -> None:
    given = {name: np.zeros((4, 2), np.float32) for name in ("d", "a")}
    with pytest.raises(InputError) as caught:
        check_shapes(given, ["a", "b", "c"])
    assert tells(caught.value, "no vectors for b, c; ... some for a, d")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.zeros(3, np.float32), "(3,) and type float32"),
        (np.zeros((3, 0), np.float32), "(3, 0) and type float32"),
        (np.zeros((3, 2), np.int32), "(3, 2) and type int32"),
    ],
)
def test_vectors_of_instructions_are_rows_of_numbers(rows: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        InstructionVectors(rows)
    assert tells(caught.value, f"instructions ... {said} ... float16, float32 or float64")


def test_giving_back_pages_keeps_the_content(tmp_path: Path) -> None:
    rows = np.arange(60_000, dtype=np.float16).reshape(6000, 10)
    path = tmp_path / "rows"
    path.write_bytes(b"\0" * 128 + rows.tobytes())
    mapped = np.memmap(path, np.float16, "r", offset=128, shape=rows.shape)
    part = mapped[1000:]
    expected = np.array(part)
    give_back(part, 0, len(part))
    give_back(mapped, 0, 3)
    give_back(rows, 0, 6000)
    assert np.array_equal(part, expected, equal_nan=True)


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="reads Linux's own count of pages"
)
def test_giving_back_pages_frees_them(tmp_path: Path) -> None:
    size = 4 << 20
    path = tmp_path / "rows"
    path.write_bytes(os.urandom(size))
    mapped = np.memmap(path, np.float16, "r", shape=(size // 32, 16))
    int(mapped.view(np.int16).max())

    def resident() -> int:
        text = Path("/proc/self/smaps").read_text(encoding="utf-8")
        block = text[text.index(str(path)) :]
        return int(block[block.index("Rss:") + 4 :].split()[0])

    before = resident()
    give_back(mapped, 0, len(mapped))
    assert before >= size // 1024
    assert resident() < before // 10
