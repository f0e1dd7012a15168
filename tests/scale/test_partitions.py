"""Partitions of a pool: the same selection as from the whole, and vectors that are kept once they
are made.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.discrepancy.small_pools import pool
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.discrepancy import load_similarity, register_similarity, select
from urs_inspect.discrepancy._greedy import Selected, contenders
from urs_inspect.discrepancy._vector_cache import cached_vectors
from urs_inspect.scale import _partitions as partitions
from urs_inspect.scale import embed_partitions, select_partitions
from urs_inspect.scale._partitions import _Worker

PAIR = ("m0", "m1")


def cut(
    folder: Path, responses: Any, instructions: Any, ids: Sequence[str], places: Sequence[int]
) -> list[Path]:
    """Files of a pool that is cut at some places."""
    rows, paths = np.stack([instructions, *responses.values()]), []
    for number, (start, stop) in enumerate(zip((0, *places), (*places, len(ids)), strict=True)):
        paths.append(folder / f"{number}.npy")
        np.save(paths[-1], rows[:, start:stop])
        about = {
            "made_from": {"similarity": "any"},
            "models": list(responses),
            "ids": list(ids[start:stop]),
        }
        paths[-1].with_suffix(".json").write_text(json.dumps(about))
    return paths


def shuffled(count: int) -> list[str]:
    return [f"i{number}" for number in np.random.default_rng(0).permutation(count)]


def outcome(function: Any, *given: Any) -> Any:
    try:
        return function(*given[:-1], **given[-1])
    except InputError as error:  # k is above the candidates
        return str(error)


@given(st.data())
def test_partitions_select_what_the_whole_does(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    size, width, count = (
        data.draw(st.integers(1, 14)),
        data.draw(st.integers(1, 4)),
        data.draw(st.integers(2, 3)),
    )
    # Small whole numbers: ties everywhere, and zero vectors, which are blank answers.
    cells = st.lists(st.integers(-1, 2), min_size=size * width, max_size=size * width)
    rows = [np.array(data.draw(cells), np.float16).reshape(size, width) for _ in range(count + 1)]
    responses = {f"m{number}": rows[number] for number in range(count)}
    options: Any = {
        "lam": data.draw(st.sampled_from([0.0, 1.0, 1.5])),
        "k": data.draw(st.integers(0, size)),
    }
    options["set_similarity"] = data.draw(st.sampled_from(["max", "mean"]))
    places = sorted(
        data.draw(st.lists(st.integers(0, size), max_size=6))
    )  # some partitions are empty
    paths = cut(tmp_path_factory.mktemp("parts"), responses, rows[-1], shuffled(size), places)
    expected = outcome(select, responses, rows[-1], shuffled(size), options)
    with mock.patch.object(partitions, "_KEPT", data.draw(st.sampled_from([0, 4, 14]))):
        assert outcome(select_partitions, paths, options) == expected


@pytest.mark.parametrize("set_similarity", ["max", "mean"])
@pytest.mark.parametrize("places", [[], [3000], [1, 2, 3, 900, 4000, 5999]])
def test_a_large_pool_has_the_same_numbers(
    tmp_path: Path, places: list[int], set_similarity: Any
) -> None:
    responses, instructions = pool(3, 6000, 24, 4)
    for array in (*responses.values(), instructions):
        array[5000:5400] = array[100:500]  # copies, in other partitions
    expected = select(responses, instructions, shuffled(6000), k=12, set_similarity=set_similarity)
    paths = cut(tmp_path, responses, instructions, shuffled(6000), places)
    assert select_partitions(paths, k=12, set_similarity=set_similarity) == expected


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=9))
def test_the_best_of_the_contenders_of_partitions_is_the_best_of_all(
    found: list[tuple[int, int]],
) -> None:
    every = [
        (Selected(str(name), 0.0, 0.0, value * 3e-13), part)
        for name, (value, part) in enumerate(found)
    ]
    kept = [
        choice
        for part in range(4)
        for choice in contenders(each for each in every if each[1] == part)
    ]
    lowest = min(selected.objective for selected, _ in every)
    best = min(selected.id for selected, _ in every if selected.objective <= lowest + 1e-12)
    assert contenders(kept)[-1][0].id == best


def test_a_worker_that_starts_again_goes_on(tmp_path: Path) -> None:
    paths = cut(tmp_path, *pool(2, 300, 8, 5), shuffled(300), [100])
    chosen: list[Any] = []
    for expected in select_partitions(paths, k=5).selected[PAIR]:
        chosen.append(_Worker(paths, {}).propose({PAIR: list(chosen)})[PAIR][-1])
        assert chosen[-1][0] == expected


def test_what_cannot_be_one_pool_is_refused(tmp_path: Path) -> None:
    first, second = cut(tmp_path, *pool(2, 20, 4, 6), shuffled(20), [10])
    (tmp_path / "copy.json").write_bytes(first.with_suffix(".json").read_bytes())
    np.save(tmp_path / "copy.npy", np.load(first))
    with pytest.raises(InputError, match=r"id 'i\d+'.*\S+0\.npy.*\S+copy\.npy"):
        select_partitions([first, second, tmp_path / "copy.npy"])
    np.save(tmp_path / "copy.npy", np.load(first)[:, :, :3])
    with pytest.raises(InputError, match=r"copy\.npy has .*3\)"):
        select_partitions([first, tmp_path / "copy.npy"])
    np.save(tmp_path / "copy.npy", np.load(second))
    about = json.loads(second.with_suffix(".json").read_text("utf-8"))
    made_from = {**about["made_from"], "similarity": "another"}
    for changed in ({"made_from": made_from}, {"models": ["m0", "another"]}):
        (tmp_path / "copy.json").write_text(json.dumps({**about, **changed}), encoding="utf-8")
        with pytest.raises(InputError, match=r"copy\.npy has .*another.*\S+0\.npy"):
            select_partitions([first, tmp_path / "copy.npy"])
    with pytest.raises(InputError, match=r"absent\.npy: no partition"):
        select_partitions([tmp_path / "absent.npy"])


def test_files_of_one_name_have_no_two_places_in_a_folder(tmp_path: Path) -> None:
    sources = [tmp_path / "one" / "x.jsonl", tmp_path / "two" / "x.parquet"]
    with pytest.raises(InputError, match="2 files"):
        embed_partitions(sources, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_that_make_no_partition_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"

    def refused(*rows: dict[str, Any]) -> str:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            embed_partitions([file], tmp_path / "out")
        assert not list((tmp_path / "out").glob("*.npy"))
        return str(caught.value)

    whole = {"id": "a", "instruction": "Why?", "m0": "So.", "m1": "No."}
    without = {name: text for name, text in whole.items() if name != "instruction"}
    assert tells(refused(without), f"{file}: ... expected id, instruction")
    assert tells(refused(whole, {**whole, "m1": 3}), f"{file}: ... 'm1' ... no texts")
    with mock.patch.object(partitions, "_loaded", lambda spec: object()):
        assert tells(refused(whole), "'lexical' has no vectors ... lexical has")


def test_partitions_without_any_instruction_are_refused(tmp_path: Path) -> None:
    empty = cut(tmp_path, *pool(2, 3, 4, 6), shuffled(3), [3])[1:]
    for parts in ([], empty):
        with pytest.raises(InputError, match=f"{len(parts)} partitions"):
            select_partitions(parts)


def texts(folder: Path) -> list[Path]:
    """Two files of texts, of both kinds.

    Some answers are missing or blank, all of one model in one file.
    """
    rows: Any = [
        {"id": f"q{n}", "instruction": f"{n * n}?", "m0": f"{n % 7}!", "m1": f"{n} it is"}
        for n in range(30)
    ]
    for row in (rows[3], *rows[20:]):
        row["m0"] = " "
    rows[4]["m1"] = None
    pd.DataFrame(rows[:20]).to_parquet(folder / "first.parquet")
    pd.DataFrame(rows[20:]).to_json(folder / "second.jsonl", orient="records", lines=True)
    return [folder / "first.parquet", folder / "second.jsonl"]


def test_what_was_embedded_is_not_embedded_again(tmp_path: Path) -> None:
    asked: list[str] = []

    class Costly:
        name, costly = "costly", True

        def encode(self, given: Sequence[str]) -> Any:
            asked.extend(given)
            if given[0].startswith("20 it is"):  # the last column of the second file
                (tmp_path / "works").read_bytes()
            return np.array([[len(text), 1.0] for text in given])

    register_similarity("costly", lambda _: Costly())
    sources, out = texts(tmp_path), tmp_path / "out"
    with pytest.raises(FileNotFoundError):
        embed_partitions(sources, out, similarity="costly")
    assert [path.name for path in out.glob("*.npy")] == ["first.npy"]
    first, before = (out / "first.npy").stat().st_mtime_ns, len(asked)
    (tmp_path / "works").touch()
    embed_partitions(sources, out, similarity="costly")
    assert (out / "first.npy").stat().st_mtime_ns == first and len(asked) == before + 10
    assert sorted(path.name for path in out.iterdir()) == [
        "first.json",
        "first.npy",
        "second.json",
        "second.npy",
    ]
    with pytest.raises(InputError, match=r"first\.npy was not made.*first\.parquet.*lexical/2048"):
        embed_partitions(sources, out)
    rows = sources[1].read_text(encoding="utf-8")
    sources[1].write_text(rows.replace("20 it is", "21 it is"), encoding="utf-8")
    with pytest.raises(InputError, match=r"second\.npy was not made.*second\.jsonl"):
        embed_partitions(sources, out, similarity="costly")


@pytest.mark.ray
def test_workers_of_ray_make_and_select_the_same(tmp_path: Path) -> None:
    ray, (first, second) = pytest.importorskip("ray"), texts(tmp_path)
    alone = embed_partitions([first, second], tmp_path / "alone", similarity="lexical/64")
    frame = pd.concat([pd.read_parquet(first), pd.read_json(second, lines=True)]).fillna("")
    similarity: Any = load_similarity("lexical/64")
    rows = {
        name: cached_vectors(similarity, frame[name].tolist()) for name in ("instruction", *PAIR)
    }
    expected = select(
        {name: rows[name] for name in PAIR}, rows["instruction"], frame["id"].tolist(), k=5
    )
    assert select_partitions(alone, k=5) == expected and expected.candidates[PAIR] == 18
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        paths = embed_partitions(
            [first, second], tmp_path / "by_ray", similarity="lexical/64", ray=True
        )
        assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in alone]
        assert select_partitions(paths, k=5, ray=True) == expected
    finally:
        ray.shutdown()
