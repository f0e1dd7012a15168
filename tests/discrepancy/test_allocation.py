"""Tests of `urs_inspect.discrepancy.allocation`."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.discrepancy.allocation import (
    Allocator,
    Posterior,
    Standing,
    adaptive,
    allocation_names,
    laplace,
    near,
    register_allocation,
    uniform,
)
from urs_inspect.stats.battles import Battles

ABC = ("a", "b", "c")
RULES = ("uniform", "adaptive", "random")


def battles(rows: list[tuple[str, str, float]], players: tuple[str, ...] = ABC) -> Battles:
    index = {name: place for place, name in enumerate(players)}
    first = np.array([index[row[0]] for row in rows], dtype=np.int64)
    second = np.array([index[row[1]] for row in rows], dtype=np.int64)
    return Battles(players, first, second, np.array([row[2] for row in rows]), np.arange(len(rows)))


def play(
    allocator: Allocator, strengths: dict[str, float], size: int, seed: int = 0, ties: float = 0.2
) -> tuple[list[tuple[str, str, float]], str | None]:
    """Compare simulated players until the allocator stops."""
    draws = np.random.default_rng(seed)
    rows: list[tuple[str, str, float]] = []
    for _ in range(10_000):
        allotment = allocator.ask(battles(rows, allocator.players), size)
        if allotment.stopped:
            assert allotment.pairs == ()
            return rows, allotment.stopped
        assert 1 <= len(allotment.pairs) <= size
        for first, second in allotment.pairs:
            chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
            outcome = draws.choice([0.5, 1.0, 0.0], p=[ties, (1 - ties) * chance, (1 - ties) * (1 - chance)])
            rows.append((first, second, float(outcome)))
    raise AssertionError("the allocator never stopped")


def pair(first: str, second: str) -> tuple[str, str]:
    return min(first, second), max(first, second)


def test_uniform_asks_every_pair_once_before_any_twice() -> None:
    allocator = Allocator(ABC, rule="uniform", budget=7, confidence=None)
    pairs = allocator.ask(size=7).pairs
    assert set(pairs[:3]) == set(pairs[3:6]) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert allocator.asked == Counter(pairs)
    assert allocator.ask().stopped == "budget"


def test_adaptive_asks_the_pair_in_doubt() -> None:
    # c lost 40 of 40 to both; a and b are level. Only their order is open.
    rows = [("a", "c", 1.0)] * 40 + [("b", "c", 1.0)] * 40 + [("a", "b", 1.0), ("a", "b", 0.0)] * 5
    assert Allocator(ABC, rule="adaptive", budget=9).ask(battles(rows)).pairs == (("a", "b"),)
    assert Allocator(ABC, rule="adaptive", budget=9).unseparated(battles(rows)) == (("a", "b"),)


def test_adaptive_worth_by_hand() -> None:
    # Two players, gap 0 with variance 2, information 1/4 a comparison: five shift the estimate by a normal amount with
    # deviation s = 2 * sqrt((5/4) / (1 + 5/4 * 2)) = 2 * sqrt(5/14), worth s * phi(0) = s / sqrt(2 pi).
    posterior = Posterior(np.zeros(2), np.eye(2))
    standing = Standing(np.array([[0, 1]]), np.zeros(1, np.int64), lambda: posterior, np.random.default_rng(0))
    assert adaptive(standing) == pytest.approx([2 * np.sqrt(5 / 14) / np.sqrt(2 * np.pi)])


def test_adaptive_worth_agrees_with_slow_simulation_of_outcomes() -> None:
    draws = np.random.default_rng(1)
    root = draws.standard_normal((4, 4))
    posterior = Posterior(np.array([0.6, 0.1, 0.0, -0.9]), 0.2 * root @ root.T + 0.1 * np.eye(4), 0.8)
    pairs = np.array(list(combinations(range(4), 2)))
    standing = Standing(pairs, np.zeros(6, np.int64), lambda: posterior, draws)
    gaps = posterior.strengths[pairs[:, 0]] - posterior.strengths[pairs[:, 1]]
    truths = draws.multivariate_normal(posterior.strengths, posterior.covariance, size=200_000)
    for worth, chosen in zip(adaptive(standing), pairs, strict=True):
        # Five comparisons measure the gap with this variance; the estimates move by the usual normal update.
        direction = np.zeros(4)
        direction[chosen] = 1, -1
        chance = 1 / (1 + np.exp(-direction @ posterior.strengths))
        noise = 0.8 / (5 * chance * (1 - chance))
        seen = truths @ direction + np.sqrt(noise) * draws.standard_normal(len(truths))
        gain = posterior.covariance @ direction / (direction @ posterior.covariance @ direction + noise)
        means = posterior.strengths + np.outer(seen - direction @ posterior.strengths, gain)
        moved = means[:, pairs[:, 0]] - means[:, pairs[:, 1]]
        # Who calls the pair by the sign of its gap wins max(0, gap) over calling it never; knowing more wins more.
        gained = (np.maximum(np.sign(gaps) * -moved, 0)).mean(axis=0).sum()
        assert worth == pytest.approx(gained, rel=0.03)


@given(
    st.sampled_from(RULES), st.integers(2, 5), st.integers(1, 30), st.integers(1, 7), st.integers(0, 9), st.booleans()
)
def test_never_more_than_the_budget_or_the_items(
    rule: str, count: int, budget: int, size: int, items: int, stops: bool
) -> None:
    players = tuple(f"model {number}" for number in range(count))
    allocator = Allocator(players, rule=rule, budget=budget, confidence=0.9 if stops else None, items=items)
    rows, stopped = play(allocator, {name: 2.0 * place for place, name in enumerate(players)}, size)
    used = Counter(pair(first, second) for first, second, _ in rows)
    assert len(rows) == allocator.spent == sum(allocator.asked.values()) <= budget
    assert max(used.values(), default=0) <= items
    room = items * count * (count - 1) // 2
    assert stopped == "separated" if len(rows) < min(budget, room) else stopped in ("budget", "exhausted", "separated")


@pytest.mark.parametrize("rule", RULES)
def test_same_arguments_same_pairs(rule: str) -> None:
    strengths = {"a": 1.0, "b": 0.5, "c": 0.0}
    first, again, other = (
        play(Allocator(ABC, rule=rule, budget=40, confidence=None, seed=seed), strengths, 3)[0] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_adaptive_does_not_care_for_names_or_sides() -> None:
    draws = np.random.default_rng(3)
    names = ("a", "b", "c", "d", "e")
    for _ in range(20):
        rows = []
        for _ in range(25):
            first, second = draws.choice(5, 2, replace=False)
            rows.append((names[first], names[second], float(draws.choice([0.0, 0.5, 1.0]))))
        renamed = dict(zip(names, draws.permutation(names), strict=True))
        turned = [(renamed[second], renamed[first], 1 - outcome) for first, second, outcome in rows]
        [found] = Allocator(names, rule="adaptive", budget=9, confidence=None).ask(battles(rows, names)).pairs
        [image] = Allocator(names, rule="adaptive", budget=9, confidence=None).ask(battles(turned, names)).pairs
        assert pair(*image) == pair(renamed[found[0]], renamed[found[1]])


def test_stops_when_neighbours_are_separated_and_not_before() -> None:
    allocator = Allocator(ABC, rule="adaptive", budget=1000, confidence=0.95)
    rows, stopped = play(allocator, {"a": 2.0, "b": 0.0, "c": -2.0}, 1)
    assert stopped == "separated"
    assert len(rows) < 100
    assert allocator.unseparated(battles(rows)) == ()
    assert allocator.unseparated(battles(rows[:-1])) != ()


def test_a_higher_confidence_asks_more() -> None:
    strengths = {"a": 1.0, "b": 0.0, "c": -1.0}
    spent = [len(play(Allocator(ABC, rule="adaptive", budget=999, confidence=c), strengths, 1)[0]) for c in (0.8, 0.99)]
    assert spent[0] < spent[1]


def test_without_a_confidence_the_budget_is_spent() -> None:
    rows, stopped = play(
        Allocator(ABC, rule="adaptive", budget=90, confidence=None), {"a": 9.0, "b": 0.0, "c": -9.0}, 4
    )
    assert (len(rows), stopped) == (90, "budget")


def test_nothing_but_ties_is_never_separated() -> None:
    allocator = Allocator(ABC, rule="adaptive", budget=60)
    rows, stopped = play(allocator, dict.fromkeys(ABC, 0.0), 2, ties=1.0)
    assert stopped == "budget"
    counts = Counter(pair(first, second) for first, second, _ in rows)
    assert set(counts.values()) == {20}  # the pairs stay alike, so they take turns


def test_a_batch_is_spread() -> None:
    rows = [("a", "b", 0.5), ("b", "c", 0.5), ("a", "c", 0.5)]
    assert set(Allocator(ABC, rule="adaptive", budget=9).ask(battles(rows), 3).pairs) == {
        ("a", "b"), ("a", "c"), ("b", "c")
    }  # fmt: skip


def test_what_is_under_way_counts_as_asked_but_not_as_known() -> None:
    rows = [("a", "b", 0.5), ("b", "c", 0.5), ("a", "c", 0.5)]
    allocator = Allocator(ABC, rule="adaptive", budget=9)
    waiting = [("b", "a")] * 3 + [("a", "c")] * 3
    assert allocator.ask(battles(rows), pending=waiting).pairs == (("b", "c"),)
    assert allocator.ask(battles(rows), pending=waiting * 50).stopped is None


def test_failed_comparisons_are_spent() -> None:
    allocator = Allocator(ABC, rule="uniform", budget=5)
    assert [allocator.ask(None).stopped for _ in range(6)] == [None] * 5 + ["budget"]
    assert sorted(allocator.asked.values()) == [1, 2, 2]


def test_joining_models_meet_all_others_and_nothing_else_is_asked() -> None:
    old = battles([("a", "b", 1.0)] * 30 + [("b", "c", 1.0)] * 30)
    for rule in RULES:
        allocator = Allocator((*ABC, "new"), rule=rule, budget=30, joining=["new"], confidence=None)
        asked = allocator.ask(old, 30).pairs
        assert len(asked) == 30
        assert all("new" in names for names in asked)
    # Uniform shares 30 out over the three pairs with the new model (Algorithm 2: N * K).
    assert set(Allocator((*ABC, "new"), rule="uniform", budget=30, joining=["new"]).pairs) == {
        ("a", "new"), ("b", "new"), ("c", "new")
    }  # fmt: skip


def test_joining_stops_when_the_new_model_has_its_place_though_old_ones_are_level() -> None:
    rows = [("a", "b", 0.5)] * 20 + [("c", "a", 0.0)] * 40 + [("c", "b", 0.0)] * 40
    lost = [("c", "new", 1.0)] * 40
    allocator = Allocator((*ABC, "new"), rule="adaptive", budget=30, joining=["new"])
    assert allocator.ask(battles(rows + lost, (*ABC, "new"))).stopped == "separated"
    assert Allocator((*ABC, "new"), rule="adaptive", budget=30).ask(battles(rows + lost, (*ABC, "new"))).pairs == (
        ("a", "b"),
    )


def test_only_these_models() -> None:
    allocator = Allocator(("a", "b", "c", "d"), rule="adaptive", budget=20, only=["d", "b"], confidence=None)
    assert set(allocator.ask(battles([("a", "c", 1.0)], ("a", "c")), 20).pairs) == {("b", "d")}


def test_neighbours_are_those_among_the_models_compared() -> None:
    # a > b > c, clearly. With only a and c they are neighbours, separated; with nothing known they are not.
    rows = [("a", "b", 1.0)] * 30 + [("b", "c", 1.0)] * 30
    assert Allocator(ABC, rule="adaptive", budget=9, only=["a", "c"]).ask(battles(rows)).stopped == "separated"
    assert Allocator(ABC, rule="adaptive", budget=9, only=["a", "c"]).unseparated(battles([])) == (("a", "c"),)


def test_an_exhausted_pair_gives_way() -> None:
    rows = [("a", "c", 1.0)] * 40 + [("b", "c", 1.0)] * 40
    allocator = Allocator(ABC, rule="adaptive", budget=9, items={("b", "a"): 2, ("a", "c"): 1})
    pairs = allocator.ask(battles(rows), 9).pairs
    assert pairs[:2] == (("a", "b"),) * 2
    assert Counter(pairs) == {("a", "b"): 2, ("a", "c"): 1}  # ("b", "c") has no items
    assert allocator.ask(battles(rows)).stopped == "exhausted"


def test_random_draws_all_pairs_alike() -> None:
    counts = Counter(Allocator(ABC, rule="random", budget=3000, confidence=None).ask(size=3000).pairs)
    # 1,000 each, standard deviation sqrt(3000 * 1/3 * 2/3) = 26.
    assert all(abs(count - 1000) < 110 for count in counts.values())
    assert len(counts) == 3


def test_adaptive_needs_fewer_comparisons_than_uniform() -> None:
    # Two pairs of near equals far apart: four of six pairs are clear at once.
    strengths = {"a": 2.3, "b": 1.7, "c": -1.7, "d": -2.3}
    right = {}
    for rule in ("uniform", "adaptive"):
        hits = 0
        for seed in range(40):
            allocator = Allocator(tuple(strengths), rule=rule, budget=90, confidence=None, seed=seed)
            rows, _ = play(allocator, strengths, 6, seed)
            share = {name: [0.0, 1e-9] for name in strengths}
            for first, second, outcome in rows:
                if pair(first, second) in (("a", "b"), ("c", "d")):
                    share[first][0] += outcome
                    share[second][0] += 1 - outcome
            hits += (share["a"][0] > share["b"][0]) + (share["c"][0] > share["d"][0])
        right[rule] = hits
    assert right["adaptive"] > right["uniform"] + 5


def test_a_rule_of_ones_own() -> None:
    def last(standing: Standing) -> np.ndarray:
        return np.arange(len(standing.pairs), dtype=np.float64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("urs_inspect.discrepancy.allocation._RULES", {"uniform": uniform})
        register_allocation("last", last)
        assert allocation_names() == ("uniform", "last")
        assert Allocator(ABC, rule="last", budget=9).ask(size=2).pairs == (("b", "c"),) * 2
        with pytest.raises(ValueError, match="there is an allocation 'last' already"):
            register_allocation("last", last)


def test_near_a_target() -> None:
    ranking = ["a", "b", "c", "d", "e"]
    assert near(ranking, "c", 1) == ("b", "c", "d")
    assert near(ranking, "a", 2) == ("a", "b", "c")
    assert near(ranking, "e", 9) == tuple(ranking)
    with pytest.raises(InputError, match="target 'x' is not in the ranking; allowed: a, b, c, d, e"):
        near(ranking, "x", 1)
    with pytest.raises(InputError, match="width around 'a' is 0; allowed: 1 or more"):
        near(ranking, "a", 0)


@pytest.mark.parametrize(
    ("players", "change", "message"),
    [
        (ABC, {"rule": "best"}, "unknown allocation 'best'; allowed: uniform, adaptive, random"),
        (ABC, {"budget": 0}, "budget is 0; allowed: 1 or more comparisons"),
        (ABC, {"confidence": 1.0}, "confidence is 1.0; allowed: between 0.5 and 1"),
        (ABC, {"confidence": float("nan")}, "confidence is nan; allowed: between 0.5 and 1"),
        (ABC, {"only": ["a", "x"]}, "unknown model 'x'; allowed: a, b, c"),
        (ABC, {"joining": ["x"]}, "unknown model 'x'; allowed: a, b, c"),
        (ABC, {"only": ["a"]}, "no pair of models to compare among: a; at least two are needed"),
        (("a",), {}, "models to compare: a; allowed: two or more different names"),
        (("a", "a"), {}, "models to compare: a, a; allowed: two or more different names"),
    ],
)
def test_bad_arguments(players: tuple[str, ...], change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"rule": "uniform", "budget": 5} | change
    with pytest.raises(InputError) as caught:
        Allocator(players, **arguments)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_bad_questions() -> None:
    allocator = Allocator(ABC, rule="uniform", budget=5)
    with pytest.raises(InputError, match="size of a batch is 0; allowed: 1 or more"):
        allocator.ask(size=0)
    with pytest.raises(InputError, match="comparisons of unknown model 'x'; allowed: a, b, c"):
        allocator.ask(battles([("a", "x", 1.0)], ("a", "x")))
    with pytest.raises(InputError, match="pending comparison of unknown model 'x'; allowed: a, b, c"):
        allocator.ask(pending=[("a", "x")])
    assert allocator.spent == 0


PAIR = np.array([[0, 1]])


def posterior_battles(rows: list[tuple[int, int, float]], players: int) -> Battles:
    names = tuple(f"model {number}" for number in range(players))
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    first, second = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    return Battles(names, first, second, table[:, 2], np.arange(len(rows)))


def test_without_comparisons_it_is_the_prior() -> None:
    # Two ties with an average player hold each strength with curvature 2 * 0.5 * 0.5, so the variance is 2, of a gap 4.
    found = laplace(posterior_battles([], 3))
    assert np.allclose(found.strengths, 0)
    assert np.allclose(found.covariance, 2 * np.eye(3))
    assert np.allclose(found.gaps(PAIR)[1], 2)
    assert found.certainty(PAIR) == pytest.approx([0.5])
    assert found.dispersion == 1


def test_two_players_by_hand() -> None:
    # 5 wins each: strengths 0, curvature of the gap 10/4 from the comparisons. Along (1, -1) / sqrt(2) the curvature is
    # 2/4 + 2 * 10/4 = 22/4, so the gap has variance 2 * 4/22. No ties: the scatter is 10 * 1/4, as expected.
    found = laplace(posterior_battles([(0, 1, 1.0)] * 5 + [(0, 1, 0.0)] * 5, 2))
    assert found.dispersion == pytest.approx(1)
    assert found.gaps(PAIR)[1] ** 2 == pytest.approx([8 / 22])
    assert found.information(PAIR) == pytest.approx([1 / 4])


def test_ties_scatter_less() -> None:
    # 10 comparisons between equals, 6 of them ties: squared deviations 4 / 4, expected 10 / 4, and 20 / 4 presumed.
    found = laplace(posterior_battles([(0, 1, 1.0), (0, 1, 0.0)] * 2 + [(0, 1, 0.5)] * 6, 2))
    assert found.dispersion == pytest.approx((1 + 5) / (2.5 + 5))
    assert found.gaps(PAIR)[1] ** 2 == pytest.approx([0.8 * 8 / 22])
    assert found.information(PAIR) == pytest.approx([0.25 / 0.8])


def test_certainty_agrees_with_a_slow_exact_posterior() -> None:
    rows = [(0, 1, 1.0)] * 30 + [(0, 1, 0.0)] * 20 + [(1, 2, 1.0)] * 26 + [(1, 2, 0.0)] * 24 + [(0, 2, 1.0)] * 20
    rows += [(0, 2, 0.0)] * 14
    found = laplace(posterior_battles(rows, 3))
    axis = np.linspace(-3, 3, 121)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)

    def log_chance(gap):
        return -np.log1p(np.exp(-gap))

    likelihood = sum(log_chance(grid[:, k]) + log_chance(-grid[:, k]) for k in range(3))
    for (first, second, outcome), count in Counter(rows).items():
        likelihood = likelihood + count * log_chance((grid[:, first] - grid[:, second]) * (1 if outcome else -1))
    weights = np.exp(likelihood - likelihood.max())
    for (i, j), certain in zip(
        ((0, 1), (1, 2), (0, 2)), found.certainty(np.array([(0, 1), (1, 2), (0, 2)])), strict=True
    ):
        # Grid points on the diagonal count half to either side.
        exact = (weights * ((grid[:, i] > grid[:, j]) + 0.5 * (grid[:, i] == grid[:, j]))).sum() / weights.sum()
        # The dispersion differs from 1 by under 2% here.
        assert certain == pytest.approx(max(exact, 1 - exact), abs=0.01)


def test_one_more_comparison_by_the_formula_is_one_more_in_the_curvature() -> None:
    found = laplace(posterior_battles([(0, 1, 1.0), (1, 2, 0.0), (2, 3, 1.0), (0, 3, 1.0)], 4))
    gap = np.array([0.0, 1.0, 0.0, -1.0])
    [information] = found.information(np.array([[1, 3]]))
    slow = np.linalg.inv(np.linalg.inv(found.covariance) + information * np.outer(gap, gap))
    assert np.allclose(found.after(np.array([1, 3])).covariance, slow)


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0])).filter(
        lambda row: row[0] != row[1]
    )
)


@given(ROWS, st.permutations(range(4)))
def test_other_numbers_or_sides_change_nothing(rows: list[tuple[int, int, float]], places: list[int]) -> None:
    found = laplace(posterior_battles(rows, 4))
    renamed = laplace(
        posterior_battles([(places[second], places[first], 1 - outcome) for first, second, outcome in rows], 4)
    )
    assert np.allclose(renamed.strengths[places], found.strengths, atol=1e-7)
    assert np.allclose(renamed.covariance[np.ix_(places, places)], found.covariance, atol=1e-7)


@given(ROWS)
def test_comparisons_only_add_certainty_about_a_gap(rows: list[tuple[int, int, float]]) -> None:
    found = laplace(posterior_battles(rows, 4))
    assert (np.linalg.eigvalsh(found.covariance) > 0).all()
    after = found.after(np.array([0, 1]))
    pairs = np.array([(0, 1), (0, 2), (1, 3), (2, 3)])
    assert (after.gaps(pairs)[1] <= found.gaps(pairs)[1] + 1e-12).all()
    assert after.gaps(pairs[:1])[1] < found.gaps(pairs[:1])[1]
