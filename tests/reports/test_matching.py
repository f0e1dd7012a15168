"""Tests of `urs_inspect.reports.numbers._matching`."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.reports.answer_rows import answers
from tests.reports.golden_files import rows_of
from tests.reports.rated_answers import GROUPS, ONE, RATED, ratings, rows
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.reports.numbers._conditions import blocks_of
from urs_inspect.reports.numbers._matching import (
    match_blocks,
    match_ratings,
    model_names,
    unused,
)


def test_of_two_logs_of_a_model_the_later_has_the_answer_that_a_rating_names() -> None:
    later = [one | {"log": "later"} for one in rows("m", {"a1": 9.0})]
    found = answers(rows("m", ONE), later)
    given = ratings(("a1", "m", 3, "ann", 1), ("a2", "m", 3, "ann", 1))
    matched = match_ratings(found.table, model_names(found.table), given)
    assert list(matched.answers["score"]) == [9, 4]


def test_ratings_are_matched_as_plain_counting_says() -> None:
    generator = np.random.default_rng(6)
    table: list[dict[str, Any]] = []
    for model in ("m", "n"):
        for number in range(12):
            name = f"{'abc'[number % 3]}{number}"
            for epoch in (1, 2):
                final = float(generator.integers(1, 11))
                if generator.random() < 0.2:
                    final = math.nan
                table += rows(model, {name: final}, epoch=epoch)
    for one in table:
        one["cluster"] = {"a": "ann", "b": ""}.get(one["question"][0], one["question"])
    found = answers(table)
    given: list[tuple[Any, ...]] = []
    for place in range(60):
        name = f"{'abc'[place % 14 % 3]}{place % 14}"  # two of these are no questions
        model = ("m", "n", "gpt")[int(generator.integers(3))]
        named_epoch = (None, 1, 2, 3)[int(generator.integers(4))]
        given.append((name, model, generator.integers(1, 6), f"r{place // 14}", named_epoch))
    human = ratings(*given)
    matched = match_ratings(found.table, {"m": "m", "n": "n"}, human)

    wanted: dict[tuple[str, str, int], dict[str, float]] = {}
    lost = {}
    without_epoch = 0
    for rating in human.ratings:
        epochs = [
            answered
            for answered in table
            if (answered["model"], answered["question"]) == (rating.model, rating.question)
            and rating.epoch in (None, answered["epoch"])
        ]
        if not epochs:
            known = rating.model in ("m", "n")
            lost[rating] = "epoch" if known else "model"
            continue
        key = (rating.model, rating.question, rating.epoch or 0)
        wanted.setdefault(key, {})[rating.rater] = rating.rating
        without_epoch += rating.epoch is None
    assert matched.without_epoch == without_epoch > 0
    assert {rating: reason.split()[-1] for rating, reason in matched.lost.items()} == {
        rating: {"epoch": "answer", "model": "model"}[kind] for rating, kind in lost.items()
    }
    assert len(matched.answers) == len(wanted)
    for shown in rows_of(matched.answers):
        key = (str(shown.model), str(shown.question), int(shown.epoch))
        assert shown.ratings == wanted[key]
        finals = [
            other["final"]
            for other in table
            if (other["model"], other["question"]) == key[:2] and key[2] in (0, other["epoch"])
        ]
        known_finals = [final for final in finals if not math.isnan(final)]
        mean = sum(known_finals) / len(known_finals) if known_finals else math.nan
        assert shown.score == pytest.approx(mean, nan_ok=True)
        assert shown.group == GROUPS[shown.question[0]] and shown.weight == 1
    clusters = dict(zip(matched.answers["question"], matched.answers["cluster"], strict=True))
    of_ann = {cluster for question, cluster in clusters.items() if question[0] == "a"}
    others = [cluster for question, cluster in clusters.items() if question[0] != "a"]
    assert len(of_ann) == 1 and len(set(others)) == len(others) and of_ann.isdisjoint(others)


def test_a_rating_is_lost_by_what_the_block_that_knows_its_model_says() -> None:
    given = ratings(("a1", "m", 3), ("zz", "m", 3), ("zz", "gpt", 3), ("b1", "n", 3), repeated=1)
    one = match_ratings(RATED.table, {"m": "m"}, given)
    other = match_ratings(answers(rows("n", ONE)).table, {"n": "n"}, given)
    more = replace(given, unused=replace(given.unused, columns=["remark"]))
    notes = unused(more, [one, other])
    assert notes == [
        Telling("1 rating of r.csv ... without an answer ... 'zz' of m (line 3)"),
        Telling("1 rating of r.csv ... another model ... 'zz' of gpt (line 4)"),
        Telling("1 repeated row of r.csv"),
        Telling("not read: remark"),
    ]
    assert [len(block.answers) for block in (one, other)] == [1, 1]


def test_a_rating_without_an_epoch_is_vague_only_beside_several() -> None:
    second = answers(rows("m", {"a1": 2.0}, epoch=2), rows("m", {"a2": 4.0, "b1": 9.0}))
    given = ratings(("a1", "m", 1), ("a2", "m", 3), ("b1", "m", 5))
    assert match_ratings(second.table, {"m": "m"}, given).without_epoch == 0


def test_ratings_that_are_about_no_answer_are_told_with_examples() -> None:
    lost = [(f"q{n}", "m", 2) for n in range(5)]
    made = ratings(("a1", "m", 1), ("a2", "m", 3), *lost, ("a1", "gpt", 4), repeated=2)
    assert unused(made, [match_ratings(RATED.table, {"m": "m"}, made)]) == [
        Telling(
            "5 ratings of r.csv ... skipped: 'q0' of m (line 4); 'q1' of m (line 5); 'q2' of m"
            " (line 6) and 2 more"
        ),
        Telling("1 rating of r.csv ... model, skipped: 'a1' of gpt (line 9)"),
        Telling("2 repeated rows ... r.csv"),
    ]


def test_ratings_of_which_none_is_about_an_answer_are_refused() -> None:
    table = answers(rows("m", ONE), rows("n", {"a1": 2.0})).table
    with pytest.raises(InputError) as caught:
        match_blocks(table, blocks_of(table), ratings(("x1", "m", 1), ("x2", "m", 2)))
    assert tells(
        str(caught.value),
        "r.csv: none of 2 ratings ... 'x1' of m (line 2) and 'x2' of m (line 3). ... m, n to 4"
        " questions ... a1, a2, b1",
    )


def test_a_bare_name_will_do_where_one_model_has_it() -> None:
    names = ("x (temperature=0)", "y", "z (a)", "z (b)")
    table = answers(*[rows(name, ONE) for name in names]).table
    assert model_names(table) == {**{name: name for name in names}, "x": "x (temperature=0)"}
