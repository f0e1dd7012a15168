"""Ratings at equal style."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.stats.fights import checked, random_fights, swapped
from urs_inspect._util import InputError
from urs_inspect.logs.battles import read_styled_battles
from urs_inspect.stats import Battles, fit_bradley_terry
from urs_inspect.stats.bootstrap import Floats
from urs_inspect.stats.bradley_terry import StyledBattles
from urs_inspect.stats.controlled import (
    FEATURES,
    Coefficients,
    rank_controlled,
    read_coefficients,
    style_difference,
)

POINTS = 400 / np.log(10)
MARKUP = """# Title

Some **bold** text, 2*3*4 and __more__.

- one
* two
1. three
   2) four
#hashtag

```python
# a comment in code
- x
```
"""


def test_what_is_counted_by_hand() -> None:
    counts = {name: count(MARKUP) for name, count in FEATURES.items()}
    assert counts == {"length": len(MARKUP), "lists": 5, "headings": 2, "bold": 2, "code": 1}


def test_differences_of_style_by_hand() -> None:
    assert style_difference("aaa", "a", ["length", "bold"]) == (0.5, 0.0)
    assert style_difference("", "**a**", ["length", "bold"]) == (-1.0, -1.0)


@given(st.text(alphabet="a*_#-1. \n`", max_size=20), st.text(alphabet="a*_#-1. \n`", max_size=20))
@checked
def test_the_difference_turns_with_the_sides(first: str, second: str) -> None:
    there, back = (style_difference(*pair, list(FEATURES)) for pair in ((first, second), (second, first)))
    assert there == tuple(-value for value in back)
    assert all(-1 <= value <= 1 for value in there)


def styled(seed: int, size: int = 300, liking: float = 1.0) -> tuple[Battles, Floats]:
    """Four models, the weaker the longer its answers, and voters that like length."""
    draws = np.random.default_rng(seed)
    strengths, habits = np.array([0.6, 0.2, -0.2, -0.6]), np.array([-0.6, -0.2, 0.2, 0.6])
    first = draws.integers(4, size=size)
    second = (first + draws.integers(1, 4, size=size)) % 4
    styles = np.tanh(habits[first] - habits[second] + draws.normal(0, 0.5, size))
    gap = strengths[first] - strengths[second] + liking * styles
    outcome = (draws.random(size) < 1 / (1 + np.exp(-gap))).astype(float)
    return Battles(("a", "b", "c", "d"), first, second, outcome, np.arange(size) // 2), styles[:, None]


def test_it_is_the_most_likely_fit() -> None:
    battles, styles = styled(0)
    scale = float(np.sqrt((styles**2).mean()))

    def loss(values: Floats) -> float:
        total = 0.0
        for i, j, outcome, style in zip(battles.first, battles.second, battles.outcome, styles[:, 0], strict=True):
            gap = values[i] - values[j] + values[4] * style / scale
            total += outcome * np.log1p(np.exp(-gap)) + (1 - outcome) * np.log1p(np.exp(gap))
        return float(total + sum(np.log1p(np.exp(-value)) / 2 + np.log1p(np.exp(value)) / 2 for value in values))

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8}).x
    found = rank_controlled(battles, styles, ["length"], rounds=2)
    rating = {name: value.value for name, value in zip(found.places.players, found.places.ratings, strict=True)}
    expected = 1000 + POINTS * (best[:4] - best[:4].mean())
    assert [rating[name] for name in battles.players] == pytest.approx(expected, abs=0.01)
    assert found.effects[0].value == pytest.approx(POINTS * best[4], abs=0.01)
    assert found.coefficients.values == pytest.approx([best[4]], abs=1e-4)


def test_without_covariates_it_is_bradley_terry() -> None:
    battles = random_fights(5, 80, 20, seed=1)
    rows = StyledBattles(battles.first, battles.second, battles.clusters, np.zeros((80, 0)), np.zeros(80), 5)
    values, _, _ = rows.fit(battles.outcome, np.ones(80))
    assert 1000 + POINTS * (values - values.mean()) == pytest.approx(fit_bradley_terry(battles), abs=1e-6)


def test_the_influence_of_an_instruction_is_what_leaving_it_out_changes() -> None:
    battles, styles = styled(1, size=600)
    clusters = np.arange(len(battles))
    rows = StyledBattles(battles.first, battles.second, clusters, styles, np.zeros(len(battles)), 4)
    values, inverse, scores = rows.fit(battles.outcome, np.ones(len(battles)))
    influences = rows.influences(scores, inverse)
    for place in range(0, 600, 97):
        without, _, _ = rows.fit(battles.outcome, np.where(clusters == place, 0.0, 1.0))
        assert values - without == pytest.approx(influences[place], rel=0.05, abs=1e-4)


def test_sides_do_not_matter() -> None:
    battles, styles = styled(2)
    there, back = (
        rank_controlled(*given, ["length"], rounds=50) for given in ((battles, styles), (swapped(battles), -styles))
    )
    assert there.places.players == back.places.players
    for one, other in zip(there.places.ratings, back.places.ratings, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-6)


def test_planted_liking_of_length_is_removed_and_planted_quality_stays() -> None:
    found = rank_controlled(*styled(3, size=20_000, liking=1.0), ["length"], rounds=200)
    truth = {"a": 0.6, "b": 0.2, "c": -0.2, "d": -0.6}
    values = {name: value.value - 1000 for name, value in zip(found.places.players, found.places.ratings, strict=True)}
    assert values == pytest.approx({name: POINTS * value for name, value in truth.items()}, abs=12)
    changes = dict(zip(found.places.players, found.places.extra, strict=True))
    # The weakest model writes most: control takes away what length gave it.
    assert changes["d"].high < -50
    assert changes["a"].low > 50


def test_given_coefficients_stay_when_a_model_joins(tmp_path: Path) -> None:
    battles, styles = styled(4, size=2_000)
    kept = rank_controlled(battles, styles, ["length"], rounds=2).coefficients
    kept.write(tmp_path / "length.json")
    assert read_coefficients(tmp_path / "length.json") == kept
    # A model joins about which voters think otherwise: they dislike length.
    size, draws = 4_000, np.random.default_rng(0)
    other, further = np.arange(size) % 4, draws.uniform(-0.9, 0.9, (size, 1))
    gap = 0.1 - np.array([0.6, 0.2, -0.2, -0.6])[other] - 3 * further[:, 0]
    joined = Battles(
        (*battles.players, "new"),
        np.concatenate([battles.first, np.full(size, 4)]),
        np.concatenate([battles.second, other]),
        np.concatenate([battles.outcome, (draws.random(size) < 1 / (1 + np.exp(-gap))).astype(float)]),
        np.concatenate([battles.clusters, 10_000 + np.arange(size)]),
    )

    def lead(battles: Battles, styles: Floats, kept: Coefficients | None) -> tuple[float, Coefficients]:
        found = rank_controlled(battles, styles, ["length"], given=kept, rounds=2)
        rating = dict(zip(found.places.players, (value.value for value in found.places.ratings), strict=True))
        return rating["a"] - rating["d"], found.coefficients

    before, _ = lead(battles, styles, None)
    with_kept, same = lead(joined, np.vstack([styles, further]), kept)
    with_new, others = lead(joined, np.vstack([styles, further]), None)
    assert same == kept
    assert others.values[0] < 0 < kept.values[0]
    assert abs(with_kept - before) < 0.5 * abs(with_new - before)


def test_given_coefficients_are_an_exact_effect() -> None:
    battles, styles = styled(5)
    found = rank_controlled(battles, styles, ["length"], given=Coefficients(("length",), (0.5,), (0.3,)), rounds=50)
    assert found.coefficients.values == (0.3,)
    assert found.effects[0].value == pytest.approx(POINTS * 0.3)
    assert np.isnan(found.effects[0].low)


def test_coefficients_of_other_features_are_refused() -> None:
    battles, styles = styled(6)
    with pytest.raises(InputError, match="coefficients are for bold, not for length"):
        rank_controlled(battles, styles, ["length"], given=Coefficients(("bold",), (0.5,), (0.3,)))


def test_a_feature_without_any_difference_is_refused() -> None:
    battles, styles = styled(7)
    with pytest.raises(InputError, match="bold does not differ in any of the 300 comparisons"):
        rank_controlled(battles, np.hstack([styles, np.zeros_like(styles)]), ["length", "bold"])


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"features": [], "scales": [], "values": []}',
        '{"features": ["length"], "scales": [0], "values": [1]}',
        '{"features": ["size"], "scales": [1], "values": [1]}',
        '{"features": ["length"], "scales": [1, 2], "values": [1]}',
        '{"features": ["length"], "scales": [1], "values": [NaN]}',
        '{"features": ["length", "length"], "scales": [1, 1], "values": [1, 1]}',
        '{"features": [["length"]], "scales": [1], "values": [1]}',
    ],
)
def test_a_file_that_holds_no_coefficients_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "coefficients.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"coefficients.json"):
        read_coefficients(path)


def test_coefficients_never_replace_a_file(tmp_path: Path) -> None:
    path = tmp_path / "there.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="cannot write the coefficients"):
        Coefficients(("length",), (1.0,), (0.5,)).write(path)
    assert json.loads(path.read_text(encoding="utf-8")) == {}


ARENA_RANK = {
    ("length",): (1184.55, 1118.44, 1086.05, 987.75, 920.51, 894.87, 807.83),
    ("length", "lists", "bold"): (1183.39, 1110.0, 1087.03, 989.77, 922.48, 896.77, 810.58),
}
"""Ratings of the published votes by arena-rank 0.1.1, in the order of `MODELS`, their mean moved to 1000:

    data = ContextualPairDataset.from_pandas(frame, columns, reweighted=False, normalize_features=False)
    ContextualBradleyTerry(len(data.competitors), data.n_features, reg=1e-4).compute_ratings_and_cis(data)

`frame` has one row a vote (model_a, model_b, winner, differences of style over their root mean square).
"""
MODELS = ("gpt-4", "claude-v1", "gpt-3.5-turbo", "vicuna-13b", "koala-13b", "alpaca-13b", "chatglm-6b")


@pytest.mark.data
@pytest.mark.parametrize("features", ARENA_RANK)
def test_the_published_votes_are_rated_as_by_arena_rank(data_dir: Path, features: tuple[str, ...]) -> None:
    battles, styles = read_styled_battles([data_dir / "mad" / "chatbot_arena"], features)
    found = rank_controlled(battles, styles, features, rounds=200)
    assert found.places.players == MODELS
    assert [value.value for value in found.places.ratings] == pytest.approx(ARENA_RANK[features], abs=1)
    if features == ("length",):
        change = found.places.extra[MODELS.index("alpaca-13b")]
        assert change.value == pytest.approx(47.3, abs=0.1)
        assert 38 < change.low < 42
        assert 53 < change.high < 57
