"""Sections about adjusted ratings."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reports.golden_files import check_golden
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.adjusting._adjusted import (
    Coefficient,
    JudgedBallots,
    rank_controlled,
    rank_corrected,
)
from urs_inspect.adjusting._adjustments import read_coefficients
from urs_inspect.adjusting._judge_prior import JudgePrior, rank_with_prior
from urs_inspect.adjusting._report import controlled_section, corrected_section, prior_section
from urs_inspect.adjusting._verdicts import JudgeVerdicts
from urs_inspect.reports.words._rankings import ranking_report
from urs_inspect.stats import Battles, rank

SIZE, VOTES = 360, 90


def test_both_sections_of_a_ranking() -> None:
    draws = np.random.default_rng(7)
    names = ("lab/one", "lab/three", "lab/two")
    first, second = (np.tile(side, SIZE // 3) for side in np.triu_indices(3, 1))
    style = np.tanh(
        np.array([0.0, 0.8, 0.2])[first]
        - np.array([0.0, 0.8, 0.2])[second]
        + draws.normal(0, 0.4, SIZE)
    )
    gap = np.array([0.5, -0.5, 0.0])[first] - np.array([0.5, -0.5, 0.0])[second] + 1.5 * style
    people = (draws.random(SIZE) < 1 / (1 + np.exp(-gap))).astype(float)
    judge = np.where(draws.random(SIZE) < 0.6, people, (style > 0).astype(float))
    judge[:2] = np.nan
    votes = np.full(SIZE, np.nan)
    chosen = draws.permutation(SIZE)[:VOTES]
    votes[chosen] = people[chosen]
    voted = ~np.isnan(votes)
    ballots = JudgedBallots(names, first, second, np.arange(SIZE), votes, judge)
    battles: Battles = ballots.battles(votes)
    verdicts = JudgeVerdicts(
        dict.fromkeys(map(str, range(SIZE - 2)), 1.0), ("lab/judge", "lab/two"), 1, 1, 0, 5
    )
    plain = rank(battles, rounds=200)
    adjusted = [
        corrected_section(rank_corrected(ballots, rounds=200), verdicts, plain),
        controlled_section(rank_controlled(battles, style[voted][:, None], ["length"], rounds=200)),
    ]
    report = ranking_report(plain, adjusted=adjusted)
    assert {"corrected", "controlled"} < report.facts.keys()
    check_golden("rank_adjusted", report.markdown())


def test_a_prior_that_changes_the_order_stands_out() -> None:
    first, second = (
        np.append(np.tile(side, 3), last)
        for side, last in zip(np.triu_indices(4, 1), (1, 2), strict=True)
    )
    # People and the judge see a and d as each other does; b is better than c by one vote, worse by
    # the judge.
    votes, verdicts = (
        Battles(
            tuple("abcd"),
            first,
            second,
            np.array([1, 1, 1, middle, 1, 1] * 3 + [last]),
            np.arange(19),
        )
        for middle, last in ((0.5, 1.0), (0.0, 0.0))
    )
    prior, plain = JudgePrior.of(verdicts, ["judge"]), rank(votes, rounds=20)
    weighed = rank_with_prior(votes, prior, rounds=200)
    adjusted = prior_section(plain, prior, weighed)
    section = adjusted.section
    facts = adjusted.facts
    assert any(tells(line, "THE ORDER CHANGES: ... c is above b") for line in section.warnings)
    assert facts["prior"].keys() > {"models", "bradley_terry", "ranks", "intervals", "above_next"}
    screen = ranking_report(plain, adjusted=[adjusted]).first
    assert screen is not None and screen.table is not None
    shown = screen.table.data.set_index("model")
    assert list(shown.index) == list(plain.players) != list(weighed.players)
    assert list(shown["rating"]) == list(plain.bradley_terry)
    assert dict(shown["with the judge"]) == dict(zip(weighed.players, weighed.ratings, strict=True))
    assert tells(screen.claim, f"{weighed.players[0]} is first ... {weighed.weight:.2f}")


@pytest.mark.parametrize(
    "rows",
    [
        "1",
        "[1]",
        '[{"feature": "length", "scale": 0, "value": 1}]',
        '[{"feature": "size", "scale": 1, "value": 1}]',
        '[{"feature": "length", "scale": 1}]',
        '[{"feature": "length", "scale": 1, "value": NaN}]',
        '[{"feature": "length", "scale": true, "value": "1"}, {}]',
        '[{"feature": ["length"], "scale": 1, "value": 1}]',
        "[]}, {",
    ],
)
def test_a_file_that_holds_no_coefficients_is_named(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "ranking.json"
    path.write_text(f'{{"controlled": {{"coefficients": {rows}}}}}', encoding="utf-8")
    with pytest.raises(InputError, match=r"ranking.json"):
        read_coefficients(path)


@pytest.mark.parametrize(
    ("feature", "scale", "value", "is_one"),
    [
        ("length", 1.5, -0.25, True),
        ("length", "1.5", 0, True),
        ("colour", 1.5, -0.25, False),
        ("length", 0, -0.25, False),
        ("length", -1, -0.25, False),
        ("length", math.inf, -0.25, False),
        ("length", 1.5, math.inf, False),
        ("length", 1.5, math.nan, False),
        ("length", 1.5, None, False),
    ],
)
def test_coefficients_are_read_or_refused(
    tmp_path: Path, feature: str, scale: Any, value: Any, is_one: bool
) -> None:
    rows = [{"feature": feature, "scale": scale, "value": value}]
    text = json.dumps({"controlled": {"coefficients": rows}})
    path = tmp_path / "rank.json"
    path.write_text(text, encoding="utf-8")
    if is_one:
        assert read_coefficients(path) == {"length": Coefficient(1.5, float(value))}
        return
    with pytest.raises(InputError, match=r"rank\.json.*no coefficients"):
        read_coefficients(path)
