"""Sections about adjusted ratings."""

import numpy as np

from tests.reports.golden_files import check_golden
from urs_inspect.logs.battles import JudgeBattles
from urs_inspect.reports.adjusted import controlled_section, corrected_section
from urs_inspect.reports.rankings import ranking_report
from urs_inspect.stats import Battles, rank
from urs_inspect.stats.controlled import rank_controlled
from urs_inspect.stats.corrected import JudgedBallots, rank_corrected

SIZE, VOTES = 360, 90


def test_both_sections_of_a_ranking() -> None:
    draws = np.random.default_rng(7)
    names = ("lab/one", "lab/three", "lab/two")
    first, second = (np.tile(side, SIZE // 3) for side in np.triu_indices(3, 1))
    style = np.tanh(np.array([0.0, 0.8, 0.2])[first] - np.array([0.0, 0.8, 0.2])[second] + draws.normal(0, 0.4, SIZE))
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
    verdicts = JudgeBattles(
        ballots.battles(judge), dict.fromkeys(map(str, range(SIZE - 2)), 1.0), ("lab/judge", "lab/two"), 1, 1, 0, 5
    )
    plain = rank(battles, rounds=200)
    adjusted = [
        corrected_section(rank_corrected(ballots, rounds=200), verdicts, plain),
        controlled_section(rank_controlled(battles, style[voted][:, None], ["length"], rounds=200), plain),
    ]
    report = ranking_report(plain, adjusted=adjusted)
    assert {"corrected", "controlled"} < report.facts.keys()
    check_golden("rank_adjusted", report.markdown())
