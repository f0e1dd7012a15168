"""What a judge prefers beside people: by hand, by a slow fit, and with planted biases."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.judge_bias import PEOPLES, TASTES, Design, Taste, flag_rates, simulate
from scipy.optimize import minimize
from scipy.stats import t as student

from tests.stats.slow import SlowFit
from tests.stats.slow import slow_fit as slow_influences
from urs_inspect._util import InputError
from urs_inspect.judges import JudgeBias, ShownPair, judge_bias
from urs_inspect.judges._bias_regression import (
    BIASES,
    LENGTH,
    LISTS,
    OWN,
    PLACE,
    answer_doublings,
)
from urs_inspect.stats import Estimate
from urs_inspect.stats._bootstrap import Floats

SMALL = Design(questions=30, models=4, votes=1)
OWN_MODEL = {"m0"}


def drawn(taste: Taste = PEOPLES, seed: int = 0) -> tuple[list[ShownPair], list[ShownPair]]:
    return simulate(SMALL, taste, np.random.default_rng(seed))


def test_the_first_place_by_hand() -> None:
    rows = [ShownPair(f"p{n}", f"q{n}", float(n > 0), 0.0, 0.0) for n in range(4)]
    found = judge_bias(rows).judge
    # Three wins of four and the tie of the prior are 3.5 to 1.5.
    assert found[PLACE].value == pytest.approx(math.log(3.5 / 1.5))
    assert math.isnan(found[PLACE].low)  # four questions are too few
    assert all(math.isnan(found[name].value) for name in (LENGTH, LISTS, OWN))


def test_ties_count_as_half_a_win_of_each() -> None:
    tied = [ShownPair(f"p{n}", f"q{n}", 0.5, 1.0, 0.0) for n in range(4)]
    split = [ShownPair(f"p{n}", f"q{n}", float(n % 2), 1.0, 0.0) for n in range(4)]
    for rows in (tied, split):
        placed = [replace(row, length=(-1.0) ** (n // 2)) for n, row in enumerate(rows)]
        assert judge_bias(placed).judge[LENGTH].value == pytest.approx(0.0, abs=1e-9)


def slow_fit(rows: list[ShownPair], models: list[str]) -> Floats:
    """Strengths and coefficients of the penalised likelihood, verdict by verdict."""

    def loss(values: Floats) -> float:
        strengths = dict(zip(models, values, strict=False))
        place, length, lists = values[len(models) :]
        total = 0.0
        for row in rows:
            odds = strengths[row.first] - strengths[row.second]
            odds += place + length * row.length + lists * row.lists
            total += row.outcome * math.log1p(math.exp(-odds))
            total += (1 - row.outcome) * math.log1p(math.exp(odds))
        for value in values:
            total += 0.5 * (math.log1p(math.exp(-value)) + math.log1p(math.exp(value)))
        return total

    found: Floats = minimize(loss, np.zeros(len(models) + 3), tol=1e-8).x
    return found


def test_values_are_those_of_a_slow_fit() -> None:
    rows, _ = simulate(Design(12, 3, 1), TASTES["place"], np.random.default_rng(4))
    values = slow_fit(rows, ["m0", "m1", "m2"])
    found = judge_bias(rows, own=OWN_MODEL).judge
    by_hand = [*values[3:], values[0] - (values[1] + values[2]) / 2]
    for name, value in zip(BIASES, by_hand, strict=True):
        assert found[name].value == pytest.approx(value, abs=1e-3)


def seen_second(rows: list[ShownPair], model: str) -> list[ShownPair]:
    """The same verdicts as if a model had always been shown second."""
    found = []
    for row in rows:
        if row.first == model:
            row = replace(
                row,
                outcome=1 - row.outcome,
                length=-row.length,
                lists=-row.lists,
                first=row.second,
                second=row.first,
            )
        found.append(row)
    return found


@pytest.mark.parametrize("model", ["m0", "m2"])
def test_a_model_may_always_be_shown_second(model: str) -> None:
    rows, _ = simulate(Design(12, 3, 1), TASTES["place"], np.random.default_rng(4))
    rows = seen_second(rows, model)
    values = slow_fit(rows, ["m0", "m1", "m2"])
    found = judge_bias(rows, own=OWN_MODEL)
    own = values[0] - (values[1] + values[2]) / 2
    assert found.judge[OWN].value == pytest.approx(own, abs=1e-3)
    assert found.judge[LENGTH].value == pytest.approx(values[4], abs=1e-3)
    unnamed = [replace(row, second="") if row.second == model else row for row in rows]
    assert found.named and not judge_bias(unnamed).named


def test_strengths_of_models_that_one_side_does_not_name_are_left_out_of_both() -> None:
    judge, people = drawn(seed=3)
    without = [[replace(row, first="", second="") for row in rows] for rows in (judge, people)]
    expected = judge_bias(without[0], without[1])
    for one, other in ((without[0], people), (judge, without[1])):
        found = judge_bias(one, other, OWN_MODEL)
        assert not found.named and math.isnan(found.beyond[OWN].value)
        for name in (PLACE, LENGTH, LISTS):
            assert found.judge[name] == expected.judge[name]
            assert found.people[name] == expected.people[name]
            assert found.beyond[name].value == expected.beyond[name].value


def test_intervals_are_those_of_a_bootstrap_of_questions() -> None:
    judge, people = drawn(TASTES["length"], seed=5)
    found = judge_bias(judge, people, OWN_MODEL)
    generator = np.random.default_rng(6)
    draws = []
    for _ in range(120):
        questions = generator.integers(SMALL.questions, size=SMALL.questions)
        sides = []
        for rows in (judge, people):
            drawn_rows = []
            for number, question in enumerate(questions):
                drawn_rows += [
                    replace(row, question=f"{number}", pair=f"{number} {row.pair}")
                    for row in rows
                    if row.question == str(question)
                ]
            sides.append(drawn_rows)
        again = judge_bias(sides[0], sides[1], OWN_MODEL)
        draws.append([[again.judge[name].value, again.beyond[name].value] for name in BIASES])
    spread = np.std(draws, axis=0)
    for number, name in enumerate(BIASES):
        single = found.judge[name]
        assert (single.high - single.low) / 2 == pytest.approx(2.05 * spread[number, 0], rel=0.25)
        joint = found.beyond[name]
        # 2.66 is Student's quantile for 29 degrees of freedom and a fourth of 5%.
        assert (joint.high - joint.low) / 2 == pytest.approx(2.66 * spread[number, 1], rel=0.25)


def fit_of(rows: list[ShownPair], models: list[str]) -> SlowFit:
    design = np.zeros((len(rows), len(models) + 3))
    for line, row in zip(design, rows, strict=True):
        if models:
            line[models.index(row.first)] += 1
            line[models.index(row.second)] -= 1
        line[len(models) :] = [1, row.length, row.lists]
    outcome = np.array([row.outcome for row in rows])
    questions = sorted({row.question for row in rows})
    clusters = [questions.index(row.question) for row in rows]
    nothing = np.zeros(len(rows))
    return slow_influences(design, outcome, clusters, nothing + 1, nothing, nothing)


Side = tuple[float, Floats, float]
"""A value, what each question moves it by, and its variance were all verdicts independent."""


def weighted(fit: SlowFit, weights: Floats) -> Side:
    moved = np.array([one @ weights for one in fit.influences.values()])
    return float(fit.values @ weights), moved, float(weights @ fit.covariance @ weights)


def assert_interval(found: Estimate, side: Side, items: int, level: float) -> None:
    value, moved, variance = side
    groups = len(moved)
    assert found.value == pytest.approx(value, abs=1e-6)
    assert (found.n, found.clusters) == (items, groups)
    assert found.level == pytest.approx(level)
    squares = ((moved - moved.mean()) ** 2).sum()
    error = max(math.sqrt(squares * groups / (groups - 1)), 0.5 * math.sqrt(variance))
    t = student.ppf((1 + level) / 2, groups - 1)
    bounds = (value - t * error, value + t * error)
    assert (found.low, found.high) == pytest.approx(bounds, abs=1e-6)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("always", [True, False])
def test_intervals_are_those_of_slow_influences(level: float, named: bool, always: bool) -> None:
    verdicts, labels = simulate(Design(12, 3, 1), TASTES["place"], np.random.default_rng(4))
    # Both orders of each pair, and people's votes on some pairs alone, twice on one of them.
    judge = [row for row in verdicts if row.question != "3"]
    people = [*labels[:-2], labels[0]]
    if always:
        judge = [replace(row, outcome=1.0) for row in judge]
    models = ["m0", "m1", "m2"] if named else []
    if not named:
        people[1] = replace(people[1], first="")
    common = {row.pair for row in judge} & {row.pair for row in people}
    shared = [row for row in judge if row.pair in common]
    votes = [row for row in people if row.pair in common]
    found = judge_bias(judge, people, own={"m0"}, level=level)
    assert (found.pairs, found.named) == (len(common), named)
    of_judge = fit_of(shared, models)
    of_people = fit_of(votes, models)
    unit = np.eye(len(models) + 3)
    weights = {name: unit[len(models) + at] for at, name in enumerate((PLACE, LENGTH, LISTS))}
    if named:
        weights[OWN] = np.array([1, -0.5, -0.5, 0, 0, 0])
    joint = 1 - (1 - level) / len(weights)
    for name, weight in weights.items():
        one = weighted(of_judge, weight)
        other = weighted(of_people, weight)
        assert_interval(found.judge[name], one, len(shared), level)
        assert_interval(found.people[name], other, len(votes), level)
        less = (one[0] - other[0], one[1] - other[1], one[2] + other[2])
        assert_interval(found.beyond[name], less, len(shared), joint)
    alone = judge_bias(shared, own={"m0"}, level=level)
    of_models = weighted(fit_of(shared, ["m0", "m1", "m2"]), np.eye(6)[3])
    assert_interval(alone.judge[PLACE], of_models, len(shared), level)
    assert (alone.people, alone.beyond, alone.flagged) == ({}, {}, ())
    assert (alone.pairs, alone.named) == (len(common), True)
    unnamed = [replace(row, first="", second="") for row in shared]
    assert not judge_bias(unnamed).named


@pytest.mark.parametrize(
    ("bounds", "flagged"),
    [
        ({PLACE: (0.1, 0.5), LENGTH: (0.0, 0.5)}, (PLACE,)),
        ({PLACE: (-0.5, -0.1), LENGTH: (-0.5, -0.1), OWN: (-2.0, -1.0)}, (PLACE,)),
        ({PLACE: (-0.5, 0.0), LISTS: (-0.1, 0.5)}, ()),
        ({OWN: (0.01, 0.5), LISTS: (0.1, 0.5), LENGTH: (1.0, 2.0)}, (LENGTH, LISTS, OWN)),
        ({PLACE: (math.nan, math.nan), LENGTH: (math.nan, math.nan)}, ()),
        ({}, ()),
    ],
)
def test_a_bias_is_flagged_by_its_bounds_alone(
    bounds: dict[str, tuple[float, float]], flagged: tuple[str, ...]
) -> None:
    beyond = {name: Estimate(0.05, *both, 9, 9) for name, both in bounds.items()}
    assert JudgeBias({}, {}, beyond, pairs=9, named=True).flagged == flagged


def test_names_and_order_of_verdicts_change_nothing() -> None:
    judge, people = drawn()
    found = judge_bias(judge, people, OWN_MODEL)
    renamed = [
        replace(row, first=f"z{9 - int(row.first[1])}", second=f"z{9 - int(row.second[1])}")
        for row in reversed(judge)
    ]
    votes = [
        replace(row, first=f"z{9 - int(row.first[1])}", second=f"z{9 - int(row.second[1])}")
        for row in people
    ]
    again = judge_bias(renamed, votes, {"z9"})
    for name in BIASES:
        one = found.beyond[name]
        other = again.beyond[name]
        assert [other.value, other.low] == pytest.approx([one.value, one.low], abs=1e-6)


def test_a_judge_of_one_place_has_finite_values() -> None:
    judge, people = drawn()
    always = [replace(row, outcome=1.0) for row in judge]
    found = judge_bias(always, people)
    assert found.flagged == (PLACE,)
    place = found.judge[PLACE]
    assert 3 < place.value < 15
    assert place.high - place.low > 1  # the value is the prior's
    never = [replace(row, outcome=0.0) for row in judge]
    assert judge_bias(never, people).flagged == (PLACE,)


def test_only_pairs_of_both_count() -> None:
    judge, people = drawn()
    few = [row for row in people if int(row.question) < 10]
    found = judge_bias(judge, few)
    assert found.judge[PLACE].clusters == found.beyond[PLACE].clusters == 10
    same = [row for row in judge if int(row.question) < 10]
    assert found.judge == judge_bias(same).judge
    with pytest.raises(InputError, match="people"):
        judge_bias(judge, [replace(people[0], pair="another")])
    with pytest.raises(InputError, match="outcome"):
        judge_bias([replace(judge[0], outcome=0.7)])


def test_what_follows_from_the_models_is_not_estimated() -> None:
    judge, _ = drawn()
    doublings = {"m0": 0.0, "m1": 1.0, "m2": -1.0, "m3": 0.5}
    fixed = [
        replace(row, length=doublings[row.first] - doublings[row.second], lists=0.0)
        for row in judge
    ]
    found = judge_bias(fixed).judge
    assert math.isnan(found[LENGTH].value) and math.isnan(found[LISTS].value)
    assert not math.isnan(found[PLACE].low)
    # Without models the same lengths can be told from the place.
    unnamed = [replace(row, first="", second="") for row in fixed]
    assert not math.isnan(judge_bias(unnamed, own=OWN_MODEL).judge[LENGTH].low)
    assert math.isnan(judge_bias(unnamed, own=OWN_MODEL).judge[OWN].value)
    assert math.isnan(judge_bias(judge, own={"m0", "m1", "m2", "m3"}).judge[OWN].value)


@pytest.mark.parametrize(("share", "is_known"), [(0.0201, True), (0.0199, False)])
def test_a_coefficient_needs_a_fiftieth_of_its_own_that_the_others_leave(
    share: float, is_known: bool
) -> None:
    """Lengths that are lists but for a part that is at right angles to place and lists."""
    own = math.sqrt(share / (1 - share))
    rows = []
    for number in range(16):
        lists = 1.0 if number % 2 else -1.0
        length = lists + (own if number % 4 < 2 else -own)
        rows.append(ShownPair(f"p{number}", f"q{number}", float(number % 3 > 0), length, lists))
    found = judge_bias(rows).judge
    assert math.isnan(found[LENGTH].value) != is_known
    assert math.isnan(found[LISTS].value) != is_known
    assert not math.isnan(found[PLACE].value)


def test_doublings_of_two_answers() -> None:
    first = "- one\n- two\n- three"
    assert answer_doublings(first, first) == (0.0, 0.0)
    length, lists = answer_doublings(first, first[:5])
    assert (length, lists) == (math.log2(len(first) / 5), 1.0)
    with pytest.raises(ValueError, match="empty"):
        answer_doublings("", first)
    with pytest.raises(ValueError, match="empty"):
        answer_doublings(first, "")


@pytest.mark.parametrize("planted", [PLACE, LENGTH, LISTS, "own models"])
def test_planted_biases_are_caught(planted: str) -> None:
    rates = flag_rates(Design(80, 5, 1), TASTES[planted], 12, seed=2)
    name = OWN if planted == "own models" else planted
    assert rates[name] >= 0.5
    assert sum(rates[other] for other in BIASES if other != name) <= 2 / 12


def test_people_s_own_taste_is_no_bias() -> None:
    clean = next(taste for taste in TASTES.values() if taste == PEOPLES)
    assert clean.length > 1
    rates = flag_rates(SMALL, clean, 60, seed=3)
    # More than 8 of 60 at a rate of 5% happens once in 300 times; the seed is fixed.
    assert rates["any"] <= 8 / 60
    judge, people = drawn(seed=8)
    assert judge_bias(judge, people).judge[LENGTH].low > 0
