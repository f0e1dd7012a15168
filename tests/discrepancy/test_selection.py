"""Selection: equal to the plain loop, deterministic, ties by id, and plain words for what cannot be
selected from.
"""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.discrepancy.small_pools import pool, slow_selection
from urs_inspect._util import InputError
from urs_inspect.discrepancy import Selection, Selector, select
from urs_inspect.discrepancy._greedy import Selected, contenders
from urs_inspect.discrepancy._vectors import response_similarities


def names(count: int) -> list[str]:
    """Ids whose order is not that of the rows."""
    return [f"i{(number * 7919) % 100_003:06}" for number in range(count)]


def picked(found: Selection) -> dict[tuple[str, str], list[str]]:
    """Ids by pair."""
    return {pair: [item.id for item in chosen] for pair, chosen in found.selected.items()}


def plane(*angles: int) -> Any:
    """Unit vectors by angle in degrees: the cosine of two is that of their angles' difference."""
    radians = np.deg2rad(angles)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def test_a_selection_by_hand() -> None:
    # Response similarities: cos 90 = 0, cos 80 = .1736, cos 60 = .5, cos 85 = .0872. Eq. (1) takes
    # them in the order w, z, x, y. With lambda 1: first w (0). Then x: .1736 + cos 10 = 1.1585; y:
    # .5 + cos 90 = .5; z: .0872 + cos 5 = 1.0834: y. Then x: .1736 + max(cos 10, cos 80) = 1.1585;
    # z: .0872 + max(cos 5, cos 85) = 1.0834: z. With the mean x has (cos 10 + cos 80) / 2 = .5792,
    # z (cos 5 + cos 85) / 2 = .5417, so that z wins again, with .6289.
    given: Any = (
        {"a": plane(0, 0, 0, 0), "b": plane(90, 80, 60, 85)},
        plane(0, 10, 90, 5),
        ["w", "x", "y", "z"],
    )
    assert picked(select(*given, k=4, lam=0.0)) == {("a", "b"): ["w", "z", "x", "y"]}
    diverse, mean = (
        select(*given, k=3, set_similarity=way).selected["a", "b"] for way in ("max", "mean")
    )
    assert [item.id for item in diverse] == [item.id for item in mean] == ["w", "y", "z"]
    assert [item.objective for item in diverse] == pytest.approx([0.0, 0.5, 1.0834], abs=1e-4)
    third = (diverse[2].response_similarity, diverse[2].instruction_similarity, mean[2].objective)
    assert third == pytest.approx((0.0872, 0.9962, 0.6289), abs=1e-4)
    found = select(*given, k=3)
    assert (found.lam, found.set_similarity, found.size, found.candidates["a", "b"]) == (
        1.0,
        "max",
        4,
        4,
    )


@pytest.mark.parametrize("set_similarity", ["max", "mean"])
@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_it_is_what_the_loop_selects(lam: float, set_similarity: Any, dtype: Any) -> None:
    responses, instructions = pool(3, 60, 24, 5, dtype)
    ids = names(60)
    found = select(responses, instructions, ids, k=6, lam=lam, set_similarity=set_similarity)
    slow = slow_selection(responses, instructions, ids, 6, lam, set_similarity)
    assert picked(found) == {pair: [name for name, _ in chosen] for pair, chosen in slow.items()}
    for pair, chosen in slow.items():
        assert [item.objective for item in found.selected[pair]] == pytest.approx(
            [v for _, v in chosen], abs=1e-12
        )


@given(st.data())
def test_it_is_what_the_loop_selects_among_ties_and_duplicates(data: st.DataObject) -> None:
    size, width = data.draw(st.integers(2, 14)), data.draw(st.integers(1, 4))
    cell = st.integers(-2, 2)

    def rows() -> Any:
        row = st.lists(cell, min_size=width, max_size=width).filter(any)
        return np.array(data.draw(st.lists(row, min_size=size, max_size=size)), np.float32)

    responses = {name: rows() for name in ("b", "a", "c")[: data.draw(st.integers(2, 3))]}
    instructions, ids = rows(), names(size)
    k, lam = data.draw(st.integers(1, size)), data.draw(st.sampled_from([0.0, 1.0, 1.5]))
    way: Any = data.draw(st.sampled_from(["max", "mean"]))
    found = select(responses, instructions, ids, k=k, lam=lam, set_similarity=way)
    slow = slow_selection(responses, instructions, ids, k, lam, way)
    for pair, chosen in slow.items():
        assert [item.objective for item in found.selected[pair]] == pytest.approx(
            [v for _, v in chosen], abs=1e-9
        )
        assert len({item.id for item in found.selected[pair]}) == k


def test_models_that_are_not_asked_for_do_not_matter() -> None:
    responses, instructions = pool(3, 20, 8, 1)
    one, other, third = sorted(responses)
    wanted = [(one, other)]
    expected = select(responses, instructions, names(20), k=4).selected[one, other]
    for odd in (np.zeros((3, 2), np.float32), np.zeros(4, np.int64), np.full((20, 8), np.nan)):
        given: dict[str, Any] = {**responses, third: odd}
        selector = Selector.from_vectors(given, instructions, names(20), pairs=wanted)
        chosen: list[str] = []
        for item in expected:
            found = selector.next((one, other), chosen)
            assert found is not None and found.id == item.id
            chosen.append(found.id)


def test_thousands_of_copies_tie_by_id() -> None:
    size = 1500
    responses = {
        "a": np.ones((size, 3), np.float16),
        "b": np.tile(np.array([1, 2, 3], np.float16), (size, 1)),
    }
    ids = [f"{size - number:05}" for number in range(size)]
    found = select(responses, np.ones((size, 2), np.float16), ids, k=3)
    assert picked(found) == {("a", "b"): ["00001", "00002", "00003"]}


def test_the_lazy_search_looks_at_whatever_could_be_best() -> None:
    # Chosen: c along x, d along y. 3,000 instructions like p have response similarity 0 and cosines
    # .3 with c and .45 with d: bound .3 while only c counts, objective .45. One like q has .12, and
    # cosine .3 with both: bound and objective .42. Each p that is looked at makes .45 the best so
    # far, close above the bound of q.
    p, q = (0.3, 0.45, np.sqrt(1 - 0.3**2 - 0.45**2)), (0.3, 0.3, np.sqrt(1 - 2 * 0.3**2))
    instructions = np.array([(1, 0, 0), (0, 1, 0), *[p] * 3000, q])
    similarities = np.array([0.9, 0.9, *[0.0] * 3000, 0.12])
    ids = ["c", "d", *(f"p{number}" for number in range(3000)), "q"]
    selector = Selector.from_similarities({("a", "b"): similarities}, instructions, ids)
    found = selector.next(("a", "b"), ["c", "d"])
    assert found is not None and (found.id, round(found.objective, 9)) == ("q", 0.42)


def test_a_large_pool_is_what_numpy_selects() -> None:
    # Larger than a block, a share and the first look of the lazy search; similarities in float64
    # all at once.
    responses, instructions = pool(3, 6000, 32, 11)
    ids = names(6000)
    found = select(responses, instructions, ids, k=12)
    wide = instructions.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    for one, other in combinations(sorted(responses), 2):
        a, b = responses[one].astype(np.float64), responses[other].astype(np.float64)
        similar = (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))
        closest = np.full(len(ids), -np.inf)
        for place, chosen in enumerate(found.selected[one, other]):
            objective = similar if place == 0 else similar + closest
            item = int(objective.argmin())
            assert chosen.id == ids[item]
            assert chosen.objective == pytest.approx(objective[item], abs=1e-12)
            similar[item] = np.inf
            closest = np.maximum(closest, wide @ wide[item])


def test_order_of_models_and_rows_and_threads_changes_nothing() -> None:
    responses, instructions = pool(4, 300, 16, 2)
    ids = names(300)
    found = picked(select(responses, instructions, ids, k=5))
    order = np.random.default_rng(1).permutation(300)
    shuffled = {name: responses[name][order] for name in reversed(responses)}
    assert picked(select(shuffled, instructions[order], [ids[i] for i in order], k=5)) == found
    alone = Selector.from_vectors(responses, instructions, ids, workers=1)
    assert picked(alone.select(5)) == found
    longer = {name: rows * np.float16(4) for name, rows in responses.items()}
    assert picked(select(longer, instructions * np.float16(0.25), ids, k=5)) == found
    swapped = select(responses, instructions, ids, k=5, pairs=[("m1", "m0")])
    assert (
        swapped.selected["m1", "m0"]
        == select(responses, instructions, ids, k=5).selected["m0", "m1"]
    )


def test_memory_mapped_vectors_give_the_same(tmp_path: Path) -> None:
    responses, instructions = pool(3, 5000, 48, 6)
    ids = names(5000)

    def mapped(name: str, rows: Any) -> Any:
        rows.tofile(tmp_path / name)
        return np.memmap(tmp_path / name, rows.dtype, "r", shape=rows.shape)

    files = {name: mapped(name, rows) for name, rows in responses.items()}
    found = select(files, mapped("instructions", instructions), ids, k=7)
    assert found == select(responses, instructions, ids, k=7)


def test_one_at_a_time_is_the_same_as_all_at_once() -> None:
    responses, instructions = pool(3, 200, 16, 8)
    selector = Selector.from_vectors(responses, instructions, names(200))
    whole = selector.select(6)
    for pair in selector.pairs:
        chosen: list[str] = []
        for expected in whole.selected[pair]:
            assert selector.next(pair, chosen) == expected
            chosen.append(expected.id)
        # Asked again from the middle, as after a resumed log, and with the models the other way
        # round.
        assert selector.next((pair[1], pair[0]), chosen[:3]) == whole.selected[pair][3]


@pytest.mark.parametrize("set_similarity", ["max", "mean"])
def test_what_was_selected_before_counts_as_chosen(set_similarity: Any) -> None:
    responses, instructions = pool(2, 200, 16, 9)
    selector = Selector.from_vectors(
        responses, instructions, names(200), set_similarity=set_similarity
    )
    whole = selector.select(8).selected["m0", "m1"]
    rest = selector.select(5, given={("m0", "m1"): [item.id for item in whole[:3]]})
    assert rest.selected["m0", "m1"] == whole[3:]


def test_a_mask_by_pair_and_k_by_pair() -> None:
    responses, instructions = pool(3, 50, 8, 12)
    ids = names(50)
    mask = np.zeros(50, np.bool_)
    mask[10:20] = True
    found = select(
        responses,
        instructions,
        ids,
        k={("m1", "m0"): 3, ("m1", "m2"): 2},
        allowed={("m1", "m0"): mask},
    )
    assert {pair: len(chosen) for pair, chosen in found.selected.items()} == {
        ("m0", "m1"): 3, ("m0", "m2"): 0, ("m1", "m2"): 2,
    }  # fmt: skip
    assert {item.id for item in found.selected["m0", "m1"]} <= set(ids[10:20])
    assert found.candidates == {("m0", "m1"): 10, ("m0", "m2"): 50, ("m1", "m2"): 50}
    slow = slow_selection(responses, instructions, ids, 3, 1.0, allowed=mask, pairs=[("m0", "m1")])
    assert picked(found)["m0", "m1"] == [name for name, _ in slow["m0", "m1"]]


def test_the_whole_pool_can_be_selected_but_for_blank_answers_and_instructions() -> None:
    responses, instructions = pool(2, 12, 4, 13)
    ids = names(12)
    selector = Selector.from_vectors(responses, instructions, ids)
    chosen = [item.id for item in selector.select(12).selected["m0", "m1"]]
    assert sorted(chosen) == sorted(ids) and selector.next(("m0", "m1"), chosen) is None
    responses["m0"][3], instructions[7] = 0, 0
    found = select(responses, instructions, ids, k=10)
    assert found.candidates["m0", "m1"] == 10
    assert {item.id for item in found.selected["m0", "m1"]} == set(ids) - {ids[3], ids[7]}


def test_given_similarities_are_taken_as_they_are() -> None:
    responses, instructions = pool(3, 80, 8, 16)
    ids = names(80)
    cosines = response_similarities(responses, list(combinations(sorted(responses), 2)))
    given_values = {pair: cosines.of(pair).astype(np.float64) for pair in cosines.pairs}
    given_values["m0", "m1"][5] = np.nan
    selector = Selector.from_similarities(given_values, instructions, ids)
    assert selector.candidates(("m1", "m0")) == 79
    found = selector.select(5)
    assert (
        picked(found)["m1", "m2"] == picked(select(responses, instructions, ids, k=5))["m1", "m2"]
    )
    assert found.selected["m1", "m2"][0].response_similarity == given_values["m1", "m2"].min()


def test_coarse_similarities_tie_often_and_go_by_id() -> None:
    # A judge's similarities have two decimals; with lambda 0 the order is that of value and id.
    values = np.array([0.3, 0.1, 0.3, 0.1, 0.2])
    ids = ["b", "e", "a", "c", "d"]
    selector = Selector.from_similarities(
        {("x", "y"): values}, np.ones((5, 2), np.float32), ids, lam=0.0
    )
    assert [item.id for item in selector.select(5).selected["x", "y"]] == ["c", "e", "d", "a", "b"]


def change(**changes: Any) -> Callable[[dict[str, Any]], None]:
    """Change arguments of `select`: the rows of a model or the instructions, or an option."""

    def apply(given: dict[str, Any]) -> None:
        for name, value in changes.items():
            where = given["responses"] if name in ("m0", "m1") else given
            where[name] = value(where[name]) if callable(value) else value

    return apply


def spoilt(value: float, dtype: Any, place: tuple[int, int] = (4, 2)) -> Callable[[Any], Any]:
    """Vectors with a number that is not finite."""

    def rows(vectors: Any) -> Any:
        vectors = vectors.astype(dtype)
        vectors[place] = value
        return vectors

    return rows


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (lambda given: given["responses"].pop("m1"), r"1 contestants \(m0\); at least two"),
        (lambda given: given["responses"].clear(), r"0 contestants \(none\)"),
        (change(m1=lambda rows: rows[:9]), r"'m1' have shape \(9, 4\), those of 'm0' \(10, 4\)"),
        (
            change(m1=lambda rows: rows[:, :3]),
            r"'m1' have shape \(10, 3\), those of 'm0' \(10, 4\)",
        ),
        (change(m0=lambda rows: rows[:, 0]), r"'m0' have shape \(10,\)"),
        (
            change(m0=lambda rows: rows[:, :0], m1=lambda rows: rows[:, :0]),
            r"'m0' have shape \(10, 0\); allowed: \(instructions, width\)",
        ),
        (change(m0=lambda rows: rows.astype(np.int64)), "'m0' are int64"),
        (
            change(m1=spoilt(np.nan, np.float32)),
            "1 vectors of 'm1'.*not finite.*'i031676'",
        ),
        (change(m1=spoilt(np.inf, np.float16), m0=np.float16), "1 vectors of 'm1' are not finite"),
        (change(m1=spoilt(np.nan, np.float16), m0=np.float16), "1 vectors of 'm1' are not finite"),
        (
            change(instructions=spoilt(np.nan, np.float32, (6, 0))),
            "1 of 10 vectors.*not finite.*row 6",
        ),
        (
            change(instructions=lambda rows: rows[:8]),
            "10 instruction ids, 8 instruction vectors, 10 answers",
        ),
        (change(ids=lambda ids: ids[:9]), "9 instruction ids, 10 instruction vectors, 10 answers"),
        (
            change(ids=lambda ids: [*ids[:9], ids[0]]),
            "'i000000' occurs more",
        ),
        (change(k=11), "k=11.*10 instructions.*m0 and m1"),
        (change(k=-1), "k=-1 of m0 and m1"),
        (change(k=2.5), "k=2.5 of m0 and m1; allowed: a whole number"),
        (change(lam=-0.5), "lambda is -0.5; allowed: 0 or more"),
        (change(lam=float("nan")), "lambda is nan"),
        (change(set_similarity="median"), "similarity 'median'; allowed: max, mean"),
        (change(pairs=[("m0", "m9")]), "pair m0 and m9: unknown contestant 'm9'; allowed: m0, m1"),
        (change(pairs=[("m0", "m0")]), "m0 and m0: allowed.*different"),
        (
            change(pairs=[("m0", "m1"), ("m1", "m0")]),
            "m1 and m0: allowed.*different",
        ),
        (change(allowed=np.ones(9, np.bool_)), r"mask of m0 and m1.*\(9,\)"),
        (
            change(
                m0=lambda rows: rows[:0],
                m1=lambda rows: rows[:0],
                instructions=lambda rows: rows[:0],
                ids=[],
                k=0,
            ),
            "no instructions",
        ),
    ],
)
def test_bad_input_is_named(changes: Callable[[dict[str, Any]], Any], words: str) -> None:
    responses, instructions = pool(2, 10, 4, 1, np.float32)
    given: dict[str, Any] = {
        "responses": responses,
        "instructions": instructions,
        "ids": names(10),
        "k": 2,
    }
    changes(given)
    with pytest.raises(InputError, match=words):
        select(**given)


def test_a_fault_outside_the_mask_does_not_matter() -> None:
    responses, instructions = pool(2, 10, 4, 1, np.float32)
    responses["m1"][4] = np.nan
    mask = np.ones(10, np.bool_)
    mask[4] = False
    assert (
        len(select(responses, instructions, names(10), k=9, allowed=mask).selected["m0", "m1"]) == 9
    )


def test_unknown_ids_and_pairs_are_named() -> None:
    responses, instructions = pool(2, 10, 4, 1)
    selector = Selector.from_vectors(responses, instructions, names(10))
    pair, two = ("m0", "m1"), (instructions[:2], ["x", "y"])
    refused: dict[str, Callable[[], object]] = {
        "instruction 'x' is not in the pool of 10": lambda: selector.next(pair, ["x"]),
        "no pair m0 and m5; there are m0 and m1": lambda: selector.next(("m0", "m5"), []),
        "k=9 is more than the 8": lambda: selector.select(9, given={pair: names(10)[:2]}),
        r"m1 is 1\.5; allowed: -1 to 1": lambda: Selector.from_similarities(
            {pair: [0.1, 1.5]}, *two
        ),
        r"similarities of m0 and m1 have shape \(3,\)": lambda: Selector.from_similarities(
            {pair: [0.1] * 3}, *two
        ),
    }
    for words, ask in refused.items():
        with pytest.raises(InputError, match=words):
            ask()


def test_what_was_selected_before_counts_only_where_it_is_a_candidate() -> None:
    pair = ("x", "y")
    selector = Selector.from_similarities(
        {pair: [np.nan, 0.1, 0.2, 0.3]}, np.eye(4, dtype=np.float32), list("abcd")
    )
    found = selector.select(3, given={pair: ["a"]})  # of which no similarity is known
    assert sorted(picked(found)[pair]) == ["b", "c", "d"]
    with pytest.raises(InputError, match="k=3 is more than the 2"):
        selector.select(3, given={pair: ["a", "b"]})


def test_a_similarity_may_be_above_1_by_rounding_alone() -> None:
    def selector(highest: float) -> Selector:
        return Selector.from_similarities(
            {("x", "y"): [0.5, highest]}, np.eye(2, dtype=np.float32), ["a", "b"]
        )

    for sign in (1, -1):
        assert selector(sign * (1 + 5e-7)).candidates(("x", "y")) == 2
        with pytest.raises(InputError, match="allowed: -1 to 1"):
            selector(sign * (1 + 5e-6))


def test_ten_instructions_are_selected_where_nothing_else_is_said() -> None:
    responses, instructions = pool(2, 30, 8, 16)
    found = select(responses, instructions, names(30))
    assert {pair: len(chosen) for pair, chosen in found.selected.items()} == {("m0", "m1"): 10}
    assert (found.lam, found.set_similarity, found.size) == (1.0, "max", 30)


def test_contenders_are_those_that_may_be_best_by_id() -> None:
    def proposal(name: str, objective: float) -> tuple[Selected, str]:
        return Selected(name, 0.0, 0.0, objective), name

    given = [
        proposal("d", 0.5),
        proposal("e", 0.4),
        proposal("c", 0.4 + 5e-13),
        proposal("a", 0.4 + 1e-6),
        proposal("b", 0.4 + 9e-13),
        proposal("f", 0.4),
    ]
    # a is better by id, but worse by more than rounding.
    assert [name for _, name in contenders(given)] == ["e", "c", "b"]
    assert [name for _, name in contenders(reversed(given))] == ["e", "c", "b"]
    assert contenders([]) == []
