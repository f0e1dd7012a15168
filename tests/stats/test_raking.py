"""Weights with given shares: by hand, by slow obvious code, by properties."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stats.fights import checked
from urs_inspect.stats.means import Margin, MeanColumn, bootstrap_means, effective_number, mean_estimates, raking

Floats = npt.NDArray[np.float64]


def margin(categories: list[int], *shares: float) -> Margin:
    return Margin(np.array(categories), np.array(shares))


def weights(questions: int, *margins: Margin) -> Floats:
    found: Floats = raking(margins)(np.ones((1, questions)))[0]
    return found


def test_one_margin_by_hand() -> None:
    # Three questions of kind 0 share 0.6, one of kind 1 has 0.4.
    assert weights(4, margin([0, 0, 0, 1], 0.6, 0.4)) == pytest.approx([0.2, 0.2, 0.2, 0.4])


def test_two_margins_by_hand() -> None:
    # One question in each of four cells, margins 0.5/0.5 and 0.8/0.2: independence gives 0.4, 0.1, 0.4, 0.1.
    found = weights(4, margin([0, 0, 1, 1], 0.5, 0.5), margin([0, 1, 0, 1], 0.8, 0.2))
    assert found == pytest.approx([0.4, 0.1, 0.4, 0.1])


def test_what_has_no_category_has_no_weight() -> None:
    assert weights(3, margin([0, -1, 1], 0.5, 0.5)).tolist() == [0.5, 0, 0.5]
    assert weights(3, margin([0, 1, 2], 1.0, 0.0, 0.0)).tolist() == [1, 0, 0]


@checked
@given(seed=st.integers(0, 10_000))
def test_shares_are_met_and_the_association_of_the_data_is_kept(seed: int) -> None:
    generator = np.random.default_rng(seed)
    intents, languages = np.repeat([0, 0, 1, 1, 2, 2], 1), np.tile([0, 1], 3)
    sizes = generator.integers(1, 6, 6)
    wanted = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(2))
    first, second = np.repeat(intents, sizes), np.repeat(languages, sizes)
    found = raking([Margin(first, wanted[0]), Margin(second, wanted[1])])(np.ones((1, len(first))))[0]
    assert np.bincount(first, found, 3) == pytest.approx(wanted[0], abs=1e-6)
    assert np.bincount(second, found, 2) == pytest.approx(wanted[1], abs=1e-6)
    # Raking leaves odds ratios as they were.
    cells = np.array([[found[(first == i) & (second == j)].sum() for j in range(2)] for i in range(3)])
    counts = sizes.reshape(3, 2)
    for i in range(2):
        ratio = cells[i, 0] * cells[i + 1, 1] / (cells[i, 1] * cells[i + 1, 0])
        expected = counts[i, 0] * counts[i + 1, 1] / (counts[i, 1] * counts[i + 1, 0])
        assert ratio == pytest.approx(expected, rel=1e-3)


@checked
@given(seed=st.integers(0, 10_000))
def test_it_agrees_with_plain_loops(seed: int) -> None:
    generator = np.random.default_rng(seed)
    first, second = generator.integers(0, 3, 40), generator.integers(0, 2, 40)
    wanted = [np.array([0.5, 0.3, 0.2]), np.array([0.7, 0.3])]
    counts = generator.integers(1, 4, (3, 40)).astype(np.float64)
    found = raking([Margin(first, wanted[0]), Margin(second, wanted[1])])(counts)
    for row, weighted in zip(counts, found, strict=True):
        slow = row / row.sum()
        for _ in range(60):
            for kind, shares in ((first, wanted[0]), (second, wanted[1])):
                for category, share in enumerate(shares):
                    slow[kind == category] *= share / slow[kind == category].sum()
        assert weighted == pytest.approx(slow, abs=1e-6)


def test_rounds_that_drew_nothing_of_a_kind_are_not_defined() -> None:
    found = raking([margin([0, 0, 1], 0.5, 0.5)])(np.array([[1.0, 1, 1], [2, 1, 0], [0, 3, 0]]))
    assert found[0] == pytest.approx([0.25, 0.25, 0.5])
    assert np.isnan(found[1:]).any(axis=1).all()


def test_shares_that_contradict_each_other_are_not_defined() -> None:
    # Kind 0 occurs in language 0 alone; it cannot have more weight than that language.
    assert np.isnan(weights(3, margin([0, 1, 1], 0.9, 0.1), margin([0, 0, 1], 0.2, 0.8))).any()


def test_effective_number_by_hand() -> None:
    # (3 + 1)^2 / (9 + 1)
    assert effective_number(np.array([3.0, 1.0])) == pytest.approx(1.6)
    assert effective_number(np.full(7, 0.2)) == pytest.approx(7)
    assert effective_number(np.zeros(3)) == 0


def test_intervals_under_given_shares_cover_the_truth() -> None:
    # Two kinds of means 4 and 8, drawn in equal numbers, weighted 0.8 to 0.2: the truth is 4.8. Were the shares not
    # given anew in every round, the interval would hold the chance of how many of each kind were drawn as well.
    generator = np.random.default_rng(0)
    wanted, covered, widths = np.array([0.8, 0.2]), 0, []
    for _ in range(300):
        kinds = generator.integers(0, 2, 60)
        values = generator.normal(np.where(kinds == 0, 4.0, 8.0), 1)[:, None]
        [found] = bootstrap_means(
            [MeanColumn(np.arange(60), values)], 60, reweight=raking([Margin(kinds, wanted)]), rounds=400
        )
        [one] = mean_estimates(found)
        covered += one.low <= 4.8 <= one.high
        widths.append(one.high - one.low)
    assert 0.915 < covered / 300 < 0.985
    # 1.96 * 2 * sqrt(0.8^2 / 30 + 0.2^2 / 30)
    assert np.mean(widths) == pytest.approx(0.59, rel=0.1)
