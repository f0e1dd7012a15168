"""Scores and votes by model: by hand, by a slow resampling, by properties."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.reports.agreement.tables import answers, rows
from tests.reports.mad_logs import ballot, cast, judged, write_log
from urs_inspect.discrepancy.ballots import write_ballots
from urs_inspect.errors import InputError
from urs_inspect.rating import Battle, MeanDraws, battles_of, rank
from urs_inspect.rating.mean_correlation import correlate_means, derived_seed
from urs_inspect.reports.agreement.models import model_level, model_names
from urs_inspect.reports.agreement.report import ModelLevel
from urs_inspect.reports.agreement.resampling import Resampling
from urs_inspect.reports.agreement.vote_sources import Votes, read_vote_ranking
from urs_inspect.reports.intent.question_table import question_table

# At this level two questions make an interval.
HOW = Resampling(rounds=60, level=0.5, seed=3)
FINALS: dict[str, dict[str, float]] = {
    "x": {"a1": 9, "a2": 8, "b1": 7},
    "y": {"a1": 8, "a2": 4, "b1": 6},
    "z": {"a1": 2, "a2": 3, "b1": 7},
}
FOUGHT = [("x", "y", 1.0)] * 6 + [("y", "z", 1.0)] * 5 + [("z", "x", 0.0)] * 4 + [("y", "x", 1.0), ("z", "y", 1.0)]


def votes(fought: list[tuple[str, str, float]] = FOUGHT) -> Votes:
    battles = battles_of(Battle(*one, cluster=f"{number}") for number, one in enumerate(fought))
    return Votes(rank(battles, **HOW.options), ())


def level(cast_votes: Votes, **finals: dict[str, float]) -> "ModelLevel | str":
    table = answers(*[rows(model, scores) for model, scores in (finals or FINALS).items()]).table
    models = list(dict.fromkeys(table["model"]))
    return model_level(question_table(table, models), model_names(table), cast_votes, HOW)


def test_values_are_those_of_the_means_and_the_ranking() -> None:
    found = level(votes())
    assert isinstance(found, ModelLevel)
    assert [(point.model, point.score.value) for point in found.points] == [("x", 8), ("y", 6), ("z", 4)]
    ratings = [point.rating.value for point in found.points]
    # The means 8 6 4 are evenly spaced: with ratings r1 r2 r3, r = (r1 - r3) / sqrt(2 * squared deviations).
    deviations = sum((rating - sum(ratings) / 3) ** 2 for rating in ratings)
    assert found.correlation.pearson.value == pytest.approx((ratings[0] - ratings[2]) / math.sqrt(2 * deviations))
    assert found.correlation.spearman == pytest.approx(1)
    assert (found.comparisons, found.instructions, found.ties, found.questions) == (17, 17, 0, 3)
    assert found.notes == ()


def test_the_interval_is_that_of_a_slow_resampling() -> None:
    given = votes()
    found = level(given)
    assert isinstance(found, ModelLevel)
    order = given.ranking.players
    drawn = np.random.default_rng(derived_seed(3, 2)).integers(3, size=(60, 3))
    finals = np.array([[FINALS[model][question] for question in ("a1", "a2", "b1")] for model in order])
    means = [finals[:, picked].mean(axis=1) for picked in drawn]
    expected = correlate_means(
        MeanDraws(finals.mean(axis=1), np.array(means), np.full(3, 3), 3),
        MeanDraws(np.array([one.value for one in given.ranking.bradley_terry]), given.ranking.draws, np.full(3, 9), 3),
        clusters=3,
        level=0.5,
        seed=3,
    )
    pearson = found.correlation.pearson
    assert (pearson.low, pearson.high) == pytest.approx((expected.pearson.low, expected.pearson.high))


def test_one_question_or_instruction_leaves_no_interval_and_that_is_said() -> None:
    found = level(votes(), **{**FINALS, "x": {"a1": 9, "a2": math.nan, "b1": math.nan}})
    assert isinstance(found, ModelLevel)
    assert found.why_no_interval == "fewer than 2 questions with a score of x"
    together = [Battle(*one, cluster="the only one") for one in FOUGHT]
    found = level(Votes(rank(battles_of(together), **HOW.options), ()))
    assert isinstance(found, ModelLevel)
    assert found.why_no_interval == "fewer than 2 instructions with votes"
    assert not math.isnan(found.correlation.pearson.value)
    assert math.isnan(found.correlation.pearson.low) and math.isnan(found.correlation.without_noise)


def test_models_of_one_side_are_left_out_and_named() -> None:
    fought = [*FOUGHT, ("x", "w", 1.0), ("w", "x", 1.0)]
    found = level(votes(fought), **FINALS, v={"a1": 1, "a2": 1, "b1": 2})
    assert isinstance(found, ModelLevel)
    assert [point.model for point in found.points] == ["x", "y", "z"]
    assert found.notes == (
        "With votes but without a score, and left out: w.",
        "With scores but without votes, and left out: v.",
    )


def test_a_bare_name_will_do_where_one_model_has_it() -> None:
    finals = {"x (temperature=0)": FINALS["x"], "y": FINALS["y"], "z (a)": FINALS["z"], "z (b)": FINALS["z"]}
    table = answers(*[rows(model, scores) for model, scores in finals.items()]).table
    names = model_names(table)
    assert names == {**{name: name for name in finals}, "x": "x (temperature=0)"}
    found = level(votes(), **finals)
    assert isinstance(found, str)
    assert "2 have both scores and votes" in found


def test_votes_that_do_not_link_all_models_are_said() -> None:
    found = level(votes([("x", "y", 1.0), ("z", "w", 1.0)]), **FINALS, w=FINALS["x"])
    assert isinstance(found, ModelLevel)
    assert found.notes[0].startswith("NOT ALL MODELS COMPARE: No chain of comparisons links")


def test_two_models_are_too_few() -> None:
    found = level(votes(), x=FINALS["x"], y=FINALS["y"], z={"a1": math.nan, "a2": math.nan, "b1": math.nan})
    assert found == (
        "No correlation over models: 2 have both scores and votes, at least 3 are needed. Votes are about: x, y, z; "
        "scored were: x, y."
    )


# --- files of votes ---


def test_a_log_of_another_task_is_named(tmp_path: Path) -> None:
    log = write_log(tmp_path / "urs.eval", task="urs_inspect/urs")
    with pytest.raises(InputError, match=r"urs\.eval is a log of urs_inspect/urs; allowed: one of urs_inspect/mad"):
        read_vote_ranking([str(log)], HOW)


def plain(path: Path) -> Path:
    lines = [{"model_a": a, "model_b": b, "winner": "model_a" if out else "model_b"} for a, b, out in FOUGHT]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_a_list_of_votes(tmp_path: Path) -> None:
    found = read_vote_ranking([str(plain(tmp_path / "votes.jsonl"))], HOW)
    assert (found.ranking.players, found.ranking.battles, found.ranking.rounds) == (("x", "y", "z"), 17, 60)
    assert found.notes == ()
    assert read_vote_ranking([str(tmp_path)], HOW).ranking.bradley_terry == found.ranking.bradley_terry


def test_votes_about_ballots_with_their_log_or_file(tmp_path: Path) -> None:
    ballots = [ballot(f"Question {n}?", "x", "y") for n in range(4)]
    log = write_log(tmp_path / "mad.eval", *[judged(one, 1.0) for one in ballots])
    write_ballots(ballots, tmp_path / "ballots.jsonl")
    people = tmp_path / "people"
    for name in ("ann", "bob"):
        cast(people / f"{name}.jsonl", *[(name, one.id, "b") for one in ballots[:3]], (name, "gone", "a"))
    for sources in ([log, people], [tmp_path / "ballots.jsonl", *sorted(people.iterdir())]):
        found = read_vote_ranking(map(str, sources), HOW)
        assert (found.ranking.players, found.ranking.battles) == (("y", "x"), 3)  # not the judge's verdicts
        assert found.notes == (
            "6 votes by 2 people on 3 of 4 ballots; the majority counts, a shared one is a tie.",
            "2 votes about other ballots, left out.",
        )


def test_verdicts_of_a_judge_are_no_votes(tmp_path: Path) -> None:
    log = write_log(tmp_path / "logs" / "mad.eval", judged(ballot("Why?", "x", "y"), 1.0))
    for source in (log, log.parent):
        with pytest.raises(InputError, match="has no people's choices, only verdicts of a judge or ballots"):
            read_vote_ranking([str(source)], HOW)


def test_votes_without_their_ballots(tmp_path: Path) -> None:
    path = cast(tmp_path / "v.jsonl", ("ann", "1", "a"))
    with pytest.raises(InputError, match="name the log or file with the ballots as well"):
        read_vote_ranking([str(path)], HOW)
    with pytest.raises(InputError, match="votes: no file or directory 'none'"):
        read_vote_ranking(["none"], HOW)
