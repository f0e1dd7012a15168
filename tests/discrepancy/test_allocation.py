"""Tests of `urs_inspect.discrepancy._allocation`."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.discrepancy import _allocation
from urs_inspect.discrepancy._allocation import (
    Allocator,
    Posterior,
    Standing,
    adaptive,
    allocation_names,
    laplace,
    near,
    prior_type,
    read_prior,
    register_allocation,
    uniform,
)
from urs_inspect.stats._battles import Battles

ABC = ("a", "b", "c")
RULES = ("uniform", "adaptive", "random")


def battles(rows: list[tuple[str, str, float]], players: Sequence[str] = ABC) -> Battles:
    index = {name: place for place, name in enumerate(players)}
    first, second = (
        np.array([index[str(row[side])] for row in rows], dtype=np.int64) for side in (0, 1)
    )
    return Battles(
        tuple(players), first, second, np.array([row[2] for row in rows]), np.arange(len(rows))
    )


def play(
    allocator: Allocator, strengths: dict[str, float], size: int, seed: int = 0, ties: float = 0.2
) -> tuple[list[tuple[str, str, float]], str | None]:
    """Compare simulated players until the allocator stops."""
    draws = np.random.default_rng(seed)
    rows: list[tuple[str, str, float]] = []
    for _ in range(10_000):
        asked = Counter(pair(first, second) for first, second, _ in rows)
        allotment = allocator.ask(battles(rows, allocator.players), asked, size=size)
        assert allotment.spent == len(rows) + len(allotment.pairs)
        if allotment.stopped:
            assert allotment.pairs == ()
            return rows, allotment.stopped
        assert 1 <= len(allotment.pairs) <= size
        for first, second in allotment.pairs:
            chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
            outcome = draws.choice(
                [0.5, 1.0, 0.0], p=[ties, (1 - ties) * chance, (1 - ties) * (1 - chance)]
            )
            rows.append((first, second, float(outcome)))
    raise AssertionError("the allocator never stopped")


def pair(first: str, second: str) -> tuple[str, str]:
    return min(first, second), max(first, second)


def test_uniform_asks_every_pair_once_before_any_twice() -> None:
    allocator = Allocator(ABC, rule="uniform", budget=7, confidence=None)
    pairs = allocator.ask(size=7).pairs
    assert set(pairs[:3]) == set(pairs[3:6]) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert allocator.ask(asked=Counter(pairs)).stopped == "budget"


def test_adaptive_asks_the_pair_in_doubt() -> None:
    # c lost 40 of 40 to both; a and b are level. Only their order is open.
    rows = [("a", "c", 1.0)] * 40 + [("b", "c", 1.0)] * 40 + [("a", "b", 1.0), ("a", "b", 0.0)] * 5
    assert Allocator(ABC, rule="adaptive", budget=9).ask(battles(rows)).pairs == (("a", "b"),)


def test_adaptive_worth_by_hand() -> None:
    # Two players, gap 0 with variance 2, information 1/4 a comparison: five shift the estimate by a
    # normal amount with deviation s = 2 * sqrt((5/4) / (1 + 5/4 * 2)) = 2 * sqrt(5/14), worth s *
    # phi(0) = s / sqrt(2 pi).
    posterior = Posterior(np.zeros(2), np.eye(2))
    standing = Standing(
        np.array([[0, 1]]), np.zeros(1, np.int64), lambda: posterior, np.random.default_rng(0)
    )
    assert adaptive(standing) == pytest.approx([2 * np.sqrt(5 / 14) / np.sqrt(2 * np.pi)])


def test_adaptive_worth_agrees_with_slow_simulation_of_outcomes() -> None:
    draws = np.random.default_rng(1)
    root = draws.standard_normal((4, 4))
    posterior = Posterior(
        np.array([0.6, 0.1, 0.0, -0.9]), 0.2 * root @ root.T + 0.1 * np.eye(4), 0.8
    )
    pairs = np.array(list(combinations(range(4), 2)))
    standing = Standing(pairs, np.zeros(6, np.int64), lambda: posterior, draws)
    gaps = posterior.strengths[pairs[:, 0]] - posterior.strengths[pairs[:, 1]]
    truths = draws.multivariate_normal(posterior.strengths, posterior.covariance, size=200_000)
    for worth, chosen in zip(adaptive(standing), pairs, strict=True):
        # Five comparisons measure the gap with this variance; the estimates move by the usual
        # normal update.
        direction = np.zeros(4)
        direction[chosen] = 1, -1
        chance = 1 / (1 + np.exp(-direction @ posterior.strengths))
        noise = 0.8 / (5 * chance * (1 - chance))
        seen = truths @ direction + np.sqrt(noise) * draws.standard_normal(len(truths))
        gain = (
            posterior.covariance
            @ direction
            / (direction @ posterior.covariance @ direction + noise)
        )
        means = posterior.strengths + np.outer(seen - direction @ posterior.strengths, gain)
        moved = means[:, pairs[:, 0]] - means[:, pairs[:, 1]]
        # Who calls the pair by the sign of its gap wins max(0, gap) over calling it never; knowing
        # more wins more.
        gained = (np.maximum(np.sign(gaps) * -moved, 0)).mean(axis=0).sum()
        assert worth == pytest.approx(gained, rel=0.03)


@given(
    st.sampled_from(RULES),
    st.integers(2, 5),
    st.integers(1, 30),
    st.integers(1, 7),
    st.integers(0, 9),
    st.booleans(),
)
def test_never_more_than_the_budget_or_the_items(
    rule: str, count: int, budget: int, size: int, items: int, stops: bool
) -> None:
    players = tuple(f"model {number}" for number in range(count))
    allocator = Allocator(
        players, rule=rule, budget=budget, confidence=0.9 if stops else None, items=items
    )
    rows, stopped = play(allocator, {name: 2.0 * place for place, name in enumerate(players)}, size)
    used = Counter(pair(first, second) for first, second, _ in rows)
    assert len(rows) <= budget
    assert max(used.values(), default=0) <= items
    room = items * count * (count - 1) // 2
    allowed = (
        {"separated"} if len(rows) < min(budget, room) else {"budget", "exhausted", "separated"}
    )
    assert stopped in (allowed if stops else allowed - {"separated"})


@pytest.mark.parametrize("rule", RULES)
def test_same_arguments_same_pairs(rule: str) -> None:
    first, again, other = (
        play(
            Allocator(ABC, rule=rule, budget=40, confidence=None, seed=seed),
            {"a": 1.0, "b": 0.5, "c": 0.0},
            3,
        )[0]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_adaptive_does_not_care_for_names_or_sides() -> None:
    draws, names = np.random.default_rng(3), "abcde"
    for _ in range(20):
        sides = [draws.choice(5, 2, replace=False) for _ in range(25)]
        rows = [(names[i], names[j], float(draws.choice([0.0, 0.5, 1.0]))) for i, j in sides]
        renamed = dict(zip(names, draws.permutation(list(names)), strict=True))
        turned = [(renamed[second], renamed[first], 1 - outcome) for first, second, outcome in rows]
        [found], [image] = (
            Allocator(names, rule="adaptive", budget=9, confidence=None)
            .ask(battles(each, names))
            .pairs
            for each in (rows, turned)
        )
        assert pair(*image) == pair(renamed[found[0]], renamed[found[1]])


def test_stops_when_neighbours_are_separated_and_not_before() -> None:
    allocator = Allocator(ABC, rule="adaptive", budget=1000, confidence=0.95)
    rows, stopped = play(allocator, {"a": 2.0, "b": 0.0, "c": -2.0}, 1)
    assert stopped == "separated"
    assert len(rows) < 100
    asked = Counter(pair(first, second) for first, second, _ in rows[:-1])
    assert allocator.standing(battles(rows[:-1]), asked)[1] is None
    surer = Allocator(ABC, rule="adaptive", budget=1000, confidence=0.99)
    assert len(play(surer, {"a": 2.0, "b": 0.0, "c": -2.0}, 1)[0]) > len(rows)


@pytest.mark.parametrize("confidence", [None, 0.8])
@pytest.mark.parametrize(("beyond", "stopped"), [(-1e-6, None), (1e-6, "separated")])
def test_neighbours_are_separated_from_the_confidence_on(
    confidence: float | None, beyond: float, stopped: str | None
) -> None:
    """By default 95%; the belief is that of a normal distribution of the gap."""
    chance = (confidence or 0.95) + beyond
    gap = float(norm.ppf(chance))

    def belief(_: Battles) -> Posterior:
        return Posterior(np.array([gap, 0.0, -9.0]), np.diag([0.5, 0.5, 0.5]))

    allocator = Allocator(ABC, rule="uniform", budget=9, belief=belief)
    if confidence is not None:
        allocator = Allocator(ABC, rule="uniform", budget=9, belief=belief, confidence=confidence)
    assert allocator.ask().stopped == stopped
    assert allocator.standing(None)[1] == stopped


@pytest.mark.parametrize("rule", RULES)
def test_who_is_named_first_in_the_comparisons_does_not_matter(rule: str) -> None:
    rows = [("a", "b", 1.0)] * 6 + [("a", "c", 1.0)] * 6 + [("c", "b", 0.5)] * 3
    allocator = Allocator(ABC, rule=rule, budget=99, confidence=None)
    one, other = (battles(rows, players) for players in (ABC, ("c", "b", "a")))
    assert allocator.ask(one, size=5) == allocator.ask(other, size=5)
    found, again = (allocator.standing(votes)[0] for votes in (one, other))
    assert found.strengths == pytest.approx(again.strengths)
    assert found.strengths.argmax() == 0


def test_nothing_but_ties_is_never_separated() -> None:
    rows, stopped = play(
        Allocator(ABC, rule="adaptive", budget=60), dict.fromkeys(ABC, 0.0), 2, ties=1.0
    )
    counts = Counter(pair(first, second) for first, second, _ in rows)
    assert stopped == "budget" and set(counts.values()) == {
        20
    }  # the pairs stay alike, so they take turns


def test_a_batch_is_spread_and_what_is_under_way_counts_as_asked_but_not_as_known() -> None:
    level = battles([("a", "b", 0.5), ("b", "c", 0.5), ("a", "c", 0.5)])
    allocator = Allocator(ABC, rule="adaptive", budget=9)
    assert set(allocator.ask(level, size=3).pairs) == {("a", "b"), ("a", "c"), ("b", "c")}
    waiting = [("b", "a")] * 3 + [("a", "c")] * 3
    asked = dict.fromkeys(allocator.pairs, 1)
    assert allocator.ask(level, asked, waiting).pairs == (("b", "c"),)
    assert allocator.ask(level, asked, waiting * 50).stopped is None


def test_failed_comparisons_are_spent() -> None:
    allocator = Allocator(ABC, rule="uniform", budget=5)
    asked = Counter[tuple[str, str]]()
    for _ in range(5):
        asked.update(allocator.ask(None, asked).pairs)
    assert allocator.ask(None, asked).stopped == "budget"
    assert sorted(asked.values()) == [1, 2, 2]


def test_joining_models_meet_all_others_and_nothing_else_is_asked() -> None:
    old = battles([("a", "b", 1.0)] * 30 + [("b", "c", 1.0)] * 30)
    joining = {(name, "new"): 30 for name in ABC}
    for rule in RULES:
        allocator = Allocator((*ABC, "new"), rule=rule, budget=30, items=joining, confidence=None)
        asked = allocator.ask(old, size=30).pairs
        assert len(asked) == 30
        assert all("new" in names for names in asked)
        assert allocator.pairs == (("a", "new"), ("b", "new"), ("c", "new"))


def test_joining_stops_when_the_new_model_has_its_place_though_old_ones_are_level() -> None:
    rows = (
        [("a", "b", 0.5)] * 20
        + [("c", "a", 0.0)] * 40
        + [("c", "b", 0.0)] * 40
        + [("c", "new", 1.0)] * 40
    )
    known, options = battles(rows, (*ABC, "new")), {"rule": "adaptive", "budget": 30}
    joining = {(name, "new"): 30 for name in ABC}
    assert Allocator(known.players, items=joining, **options).ask(known).stopped == "separated"  # type: ignore[arg-type]
    assert Allocator(known.players, **options).ask(known).pairs == (("a", "b"),)  # type: ignore[arg-type]


def test_only_these_models() -> None:
    allocator = Allocator(
        ("a", "b", "c", "d"), rule="adaptive", budget=20, items={("d", "b"): 20}, confidence=None
    )
    asked = allocator.ask(battles([("a", "c", 1.0)], ("a", "c")), size=20).pairs
    assert set(asked) == {("b", "d")}


def test_neighbours_are_those_among_the_models_compared() -> None:
    # a > b > c, clearly. With only a and c they are neighbours, separated; with nothing known they
    # are not.
    rows = [("a", "b", 1.0)] * 30 + [("b", "c", 1.0)] * 30
    assert (
        Allocator(ABC, rule="adaptive", budget=9, items={("a", "c"): 9}).ask(battles(rows)).stopped
        == "separated"
    )
    assert (
        Allocator(ABC, rule="adaptive", budget=9, items={("a", "c"): 9}).ask(battles([])).stopped
        is None
    )


def test_an_exhausted_pair_gives_way() -> None:
    rows = [("a", "c", 1.0)] * 40 + [("b", "c", 1.0)] * 40
    allocator = Allocator(ABC, rule="adaptive", budget=9, items={("b", "a"): 2, ("a", "c"): 1})
    pairs = allocator.ask(battles(rows), size=9).pairs
    assert pairs[:2] == (("a", "b"),) * 2
    assert Counter(pairs) == {("a", "b"): 2, ("a", "c"): 1}  # ("b", "c") has no items
    assert allocator.ask(battles(rows), Counter(pairs)).stopped == "exhausted"


def test_random_draws_all_pairs_alike() -> None:
    counts = Counter(
        Allocator(ABC, rule="random", budget=3000, confidence=None).ask(size=3000).pairs
    )
    # 1,000 each, standard deviation sqrt(3000 * 1/3 * 2/3) = 26.
    assert all(abs(count - 1000) < 110 for count in counts.values())
    assert len(counts) == 3


def test_adaptive_needs_fewer_comparisons_than_uniform() -> None:
    # Two pairs of near equals far apart: four of six pairs are clear at once.
    strengths = {"a": 2.3, "b": 1.7, "c": -1.7, "d": -2.3}
    right = Counter[str]()
    for rule, seed in product(("uniform", "adaptive"), range(40)):
        rows, _ = play(
            Allocator("abcd", rule=rule, budget=90, confidence=None, seed=seed), strengths, 6, seed
        )
        for close in (("a", "b"), ("c", "d")):
            right[rule] += (
                sum(outcome - 0.5 for *names, outcome in rows if tuple(names) == close) > 0
            )
    assert right["adaptive"] > right["uniform"] + 5


def test_a_rule_of_ones_own() -> None:
    def last(standing: Standing) -> np.ndarray:
        return np.arange(len(standing.pairs), dtype=np.float64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("urs_inspect.discrepancy._allocation._RULES", {"uniform": uniform})
        register_allocation("last", last)
        assert allocation_names() == ("uniform", "last")
        assert Allocator(ABC, rule="last", budget=9).ask(size=2).pairs == (("b", "c"),) * 2
        with pytest.raises(ValueError, match="allocation 'last' already"):
            register_allocation("last", last)


def test_near_a_target() -> None:
    ranking = ["a", "b", "c", "d", "e"]
    assert near(ranking, "c", 1) == ("b", "c", "d")
    assert near(ranking, "a", 2) == ("a", "b", "c")
    assert near(ranking, "e", 9) == tuple(ranking)


@pytest.mark.parametrize(
    ("players", "change", "message"),
    [
        (ABC, {"rule": "best"}, "allocation 'best'; allowed: uniform, adaptive, random"),
        (ABC, {"budget": 0}, "budget is 0; allowed: 1 or more"),
        (ABC, {"confidence": 1.0}, "confidence is 1.0; allowed: between 0.5 and 1"),
        (ABC, {"confidence": 0.5}, "confidence is 0.5; allowed: between 0.5 and 1"),
        (ABC, {"confidence": float("nan")}, "confidence is nan; allowed: between 0.5 and 1"),
        (ABC, {"items": {("a", "x"): 1}}, "unknown model 'x'; allowed: a, b, c"),
        (ABC, {"items": {}}, "no pair of models to compare"),
        (("a",), {}, "models to compare: a; allowed: two or more different names"),
        (("a", "a"), {}, "models to compare: a, a; allowed: two or more different names"),
        (("a", "b", "a"), {}, "models to compare: a, b, a; allowed: two or more different names"),
    ],
)
def test_bad_arguments(players: tuple[str, ...], change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Allocator(players, **{"rule": "uniform", "budget": 5, **change})
    assert tells(str(caught.value), message)


def test_bad_questions() -> None:
    allocator = Allocator(ABC, rule="uniform", budget=5)
    questions: dict[str, Callable[[], object]] = {
        "size of a batch is 0; allowed: 1 or more": lambda: allocator.ask(size=0),
        "comparisons of unknown model 'x'; allowed: a, b, c": lambda: allocator.ask(
            battles([("a", "x", 1.0)], "ax")
        ),
        "pending comparison of unknown model 'x'; allowed: a, b, c": lambda: allocator.ask(
            pending=[("a", "x")]
        ),
        "target 'x' is not in the ranking; allowed: a, b, c": lambda: near(ABC, "x", 1),
        "width around 'a' is 0; allowed: 1 or more": lambda: near(ABC, "a", 0),
    }
    for message, ask in questions.items():
        with pytest.raises(InputError, match=message):
            ask()


PAIR = np.array([[0, 1]])


def test_the_posterior_by_hand() -> None:
    # Two ties with an average player hold each strength with curvature 2 * 0.5 * 0.5, so the
    # variance is 2, of a gap 4.
    found = laplace(battles([]))
    assert np.allclose(found.strengths, 0) and np.allclose(found.covariance, 2 * np.eye(3))
    assert [*found.gaps(PAIR)[1], *found.certainty(PAIR), found.dispersion] == pytest.approx(
        [2, 0.5, 1]
    )
    # 5 wins each: strengths 0, curvature of the gap 10/4 from the comparisons. Along (1, -1) /
    # sqrt(2) the curvature is 2/4 + 2 * 10/4 = 22/4, so the gap has variance 2 * 4/22. No ties: the
    # scatter is 10 * 1/4, as expected.
    won = [("a", "b", 1.0), ("a", "b", 0.0)]
    found = laplace(battles(won * 5, "ab"))
    assert found.dispersion == pytest.approx(1)
    assert found.gaps(PAIR)[1] ** 2 == pytest.approx([8 / 22])
    assert found.information(PAIR) == pytest.approx([1 / 4])
    # 10 comparisons between equals, 6 of them ties: squared deviations 4 / 4, expected 10 / 4, and
    # 20 / 4 presumed.
    found = laplace(battles(won * 2 + [("a", "b", 0.5)] * 6, "ab"))
    assert found.dispersion == pytest.approx((1 + 5) / (2.5 + 5))
    assert found.gaps(PAIR)[1] ** 2 == pytest.approx([0.8 * 8 / 22])
    assert found.information(PAIR) == pytest.approx([0.25 / 0.8])


def test_certainty_agrees_with_a_slow_exact_posterior() -> None:
    wins = {("a", "b"): (30, 20), ("b", "c"): (26, 24), ("a", "c"): (20, 14)}
    counted = [(names, float(won), wins[names][1 - won]) for names in wins for won in (0, 1)]
    found = laplace(battles([(*names, won) for names, won, count in counted for _ in range(count)]))
    axis = np.linspace(-3, 3, 121)
    grid = dict(zip(ABC, np.meshgrid(axis, axis, axis, indexing="ij"), strict=True))

    def log_chance(gap):
        return -np.log1p(np.exp(-gap))

    logs = sum(log_chance(values) + log_chance(-values) for values in grid.values())
    for (i, j), won, count in counted:
        logs = logs + count * log_chance((grid[i] - grid[j]) * (1 if won else -1))
    weights = np.exp(logs - logs.max())
    for (i, j), certain in zip(
        wins, found.certainty(np.array([(0, 1), (1, 2), (0, 2)])), strict=True
    ):
        # Grid points on the diagonal count half to either side.
        exact = (weights * ((grid[i] > grid[j]) + 0.5 * (grid[i] == grid[j]))).sum() / weights.sum()
        # The dispersion differs from 1 by under 2% here.
        assert certain == pytest.approx(max(exact, 1 - exact), abs=0.01)


def test_one_more_comparison_by_the_formula_is_one_more_in_the_curvature() -> None:
    found = laplace(
        battles([("a", "b", 1.0), ("b", "c", 0.0), ("c", "d", 1.0), ("a", "d", 1.0)], "abcd")
    )
    gap = np.array([0.0, 1.0, 0.0, -1.0])
    [information] = found.information(np.array([[1, 3]]))
    slow = np.linalg.inv(np.linalg.inv(found.covariance) + information * np.outer(gap, gap))
    assert np.allclose(found.after(np.array([1, 3])).covariance, slow)


ROWS = st.lists(
    st.permutations("abcd").flatmap(
        lambda order: st.tuples(*map(st.just, order[:2]), st.sampled_from([0.0, 0.5, 1.0]))
    )
)


@given(ROWS, st.permutations(range(4)))
def test_other_numbers_or_sides_change_nothing(
    rows: list[tuple[str, str, float]], places: list[int]
) -> None:
    found = laplace(battles(rows, "abcd"))
    renamed = dict(zip("abcd", ("abcd"[place] for place in places), strict=True))
    turned = laplace(
        battles([(renamed[two], renamed[one], 1 - outcome) for one, two, outcome in rows], "abcd")
    )
    assert np.allclose(turned.strengths[places], found.strengths, atol=1e-7)
    assert np.allclose(turned.covariance[np.ix_(places, places)], found.covariance, atol=1e-7)


@given(ROWS)
def test_comparisons_only_add_certainty_about_a_gap(rows: list[tuple[str, str, float]]) -> None:
    found = laplace(battles(rows, "abcd"))
    assert (np.linalg.eigvalsh(found.covariance) > 0).all()
    after = found.after(np.array([0, 1]))
    pairs = np.array([(0, 1), (0, 2), (1, 3), (2, 3)])
    assert (after.gaps(pairs)[1] <= found.gaps(pairs)[1] + 1e-12).all()
    assert after.gaps(pairs[:1])[1] < found.gaps(pairs[:1])[1]


def test_worths_that_differ_by_rounding_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    def even(standing: Standing) -> Any:
        return np.full(len(standing.pairs), 0.3)

    def nearly_even(standing: Standing) -> Any:
        return even(standing) + 1e-12 * np.arange(len(standing.pairs))

    chosen = []
    for rule in (even, nearly_even):
        monkeypatch.setitem(_allocation._RULES, "own", rule)
        allocators = [Allocator("abcd", rule="own", budget=9, seed=seed) for seed in range(8)]
        chosen.append([allocator.ask().pairs for allocator in allocators])
    assert chosen[0] == chosen[1]
    assert len(set(chosen[0])) > 1  # the seed decides


def test_without_the_satellite_a_prior_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_allocation, "offered", lambda point: {})
    with pytest.raises(InputError, match="the folder `adjusting` of urs_inspect is missing"):
        prior_type()
    with pytest.raises(InputError, match="the folder `adjusting` of urs_inspect is missing"):
        read_prior("log.eval")
