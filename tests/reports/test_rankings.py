"""Tests of `urs_inspect.reports.numbers._rankings`."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score

from tests.reports.mad_logs import XY, XZ, YZ, judged, write_log
from tests.stats.fights import fights, random_fights, rows
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.logs._battles import read_battles
from urs_inspect.logs._comparisons import read_comparisons
from urs_inspect.reports.layout._tables import plain
from urs_inspect.reports.numbers._rankings import RankingsBy, rankings_by, read_leaderboard
from urs_inspect.reports.words._rankings import ranking_dict, ranking_report
from urs_inspect.stats import Battles, Ranking, compare_leaderboard, rank


def test_everything_is_there_by_model() -> None:
    ranking = rank(random_fights(3, 100, 10, seed=1), rounds=50, seed=2)
    found = json.loads(json.dumps(plain(ranking_dict(ranking)), allow_nan=False))
    assert found["models"] == list(ranking.players)
    for name in ("bradley_terry", "elo", "elo_shuffled"):
        ratings = [one.value for one in getattr(ranking, name)]
        assert found[name] == dict(zip(ranking.players, ratings, strict=True))
    assert found["ranks"] == {name: place for place, name in enumerate(ranking.players, start=1)}
    for name in ("bradley_terry", "elo"):
        assert list(found["intervals"][name].values()) == [
            [one.low, one.high] for one in getattr(ranking, name)
        ]
    assert list(found["intervals"]["ranks"].values()) == [
        [one.low, one.high] for one in ranking.ranks
    ]
    assert "elo_shuffled" not in found["intervals"]
    assert found["parameters"] == {
        "rounds": 50, "level": 0.95, "seed": 2, "prior": 1.0, "k": 4.0, "scale": 400.0, "start": 1000.0,
    }  # fmt: skip
    assert (found["battles"], found["instructions"], found["connected"], found["message"]) == (
        100,
        10,
        True,
        "",
    )
    assert "leaderboard" not in found


def test_pairs_and_differences_by_hand() -> None:
    found = ranking_dict(rank(fights("a>b", "a=b", "a>b", "b>a"), rounds=5))
    assert found["pairs"] == [
        {
            "model_a": "a",
            "model_b": "b",
            "battles": 4,
            "wins_a": 2,
            "wins_b": 1,
            "ties": 1,
            "win_rate_a": 0.625,
        }
    ]
    [gap] = found["differences"]
    assert (gap["better"], gap["other"], gap["interval"], gap["verdict"]) == (
        "a",
        "b",
        None,
        "cannot be distinguished",
    )
    assert gap["difference"] == pytest.approx(
        found["bradley_terry"]["a"] - found["bradley_terry"]["b"], abs=1e-5
    )
    assert found["intervals"]["bradley_terry"] == {"a": None, "b": None}
    assert found["intervals"]["ranks"] == {"a": [1, 2], "b": [1, 2]}


def test_groups_that_do_not_compare_are_said() -> None:
    found = ranking_dict(rank(fights("a=b", "c=d"), rounds=5))
    assert (found["connected"], found["groups"]) == (False, [["a", "b"], ["c", "d"]])
    assert tells(found["message"], "(a, b) and (c, d)")


def test_the_ranks_of_a_table_are_not_said_to_hold_together() -> None:
    report = ranking_report(rank(random_fights(3, 100, 30, seed=3), rounds=50))
    [note] = [
        note
        for section in report.sections
        for note in section.notes
        if "interval of a rank" in note
    ]
    assert "that model alone" in note and tells(note, "not all hold")
    single, together = re.findall(r"(\d+)%", note)
    assert int(together) < int(single) < 95


def test_who_may_be_first_is_named_with_the_ranks() -> None:
    a, b = "urs_simulation/a", "b"
    even = [f"{a}>{b}", f"{b}>{a}"] * 10
    ranking = rank(fights(*even, *[f"{a}>c", f"{b}>c"] * 10), rounds=100)
    screen = ranking_report(ranking).first
    assert screen is not None
    assert [place.low for place in ranking.ranks[:2]] == [1, 1]
    assert all(tells(screen.claim, f"{name} ... rank 1 to 2") for name in ranking.players[:2])
    assert any(warning.startswith("SIMULATED") for warning in screen.warnings)


def test_a_leaderboard_comes_along() -> None:
    ranking = rank(random_fights(3, 100, 30, seed=3, spread=0.3), rounds=50)
    agreement = compare_leaderboard(
        ranking, {name: -place for place, name in enumerate(ranking.players)} | {"z": 0.0}
    )
    found = ranking_dict(ranking, agreement)["leaderboard"]
    assert (found["spearman"], found["kendall"]) == pytest.approx((1, 1))
    assert (found["models"], found["only_ranked"], found["only_leaderboard"]) == (
        list(ranking.players),
        [],
        ["z"],
    )
    assert found["intervals"]["kendall"][1] == pytest.approx(1)
    equals = compare_leaderboard(ranking, dict.fromkeys(ranking.players, 1.0))
    assert (
        json.loads(json.dumps(plain(ranking_dict(ranking, equals)), allow_nan=False))[
            "leaderboard"
        ]["spearman"]
        is None
    )


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "ratings"),
    [
        ("board.csv", "model,rating,votes\nx,1189,10\n y ,1132.5,20\n", (1189.0, 1132.5)),
        (
            "board.jsonl",
            '{"model": "x", "rating": 1189}\n{"model": "y", "rating": "1132.5"}\n',
            (1189.0, 1132.5),
        ),
        (
            "board.json",
            '[{"model": "x", "rating": 1189}, {"model": "y", "rating": 1132.5}]',
            (1189.0, 1132.5),
        ),
        ("board.json", '{"x": 1189, "y": 1132.5}', (1189.0, 1132.5)),
        ("BOARD.JSON", '{" x ": 1189, "y": 1132.5}', (1189.0, 1132.5)),
        # With the byte order mark that some programs write.
        ("board.json", '\ufeff{"x": 1189, "y": 1132.5}', (1189.0, 1132.5)),
        ("board.csv", "\ufeffmodel,rating\nx,1189\ny,1132.5\n", (1189.0, 1132.5)),
        ("board.csv", "rank,model\n1,x\n2,y\n", (-1.0, -2.0)),
        ("board.csv", "rank,model,rating\n1,x,5\n2,y,4\n", (5.0, 4.0)),
    ],
)
def test_ratings_by_model(
    tmp_path: Path, name: str, text: str, ratings: tuple[float, float]
) -> None:
    assert read_leaderboard(write(tmp_path, name, text)) == dict(zip("xy", ratings, strict=True))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("board.csv", "name,rating\nx,1\n", "line 1: column 'model' is missing"),
        ("board.csv", "model,elo\nx,1\n", "needs a column 'rating' or 'rank' beside 'model'"),
        ("board.csv", "model,rating\n", "needs a column 'rating' or 'rank' beside 'model'"),
        ("board.csv", "model,rating\nx,1\ny,high\n", 'line 3: rating must be a number, is "high"'),
        ("board.csv", "model,rating\nx,nan\n", "line 2: rating must be a number"),
        ("board.csv", "model,rating\nx,inf\n", "line 2: rating must be a number"),
        ("board.csv", "model,rank\nx,-inf\n", "line 2: rank must be a number"),
        ("board.csv", "model,rating\nx,1\n x,2\n", "line 3: 'x' is listed twice"),
        ("board.csv", "model,rating\n ,1\n", "line 2: model must be text"),
        ("board.json", '{"model": "x"}', "needs a column 'rating' or 'rank' beside 'model'"),
        ("board.csv", "model,rating\nx,1\nx,2\n", "line 3: 'x' is listed twice"),
        ("board.jsonl", '{"model": 3, "rating": 1}\n', "line 1: model must be text, is 3"),
        ("board.json", '{"x": true}', "row 1: rating must be a number, is true"),
        ("board.json", '[{"model": "x", "rating": 1}', "not JSON"),
        ("board.json", "{", "line 1: not JSON"),
        ("board.txt", "x", "cannot read '.txt' files"),
        ("none.csv", None, ""),
        ("none.json", None, ""),
    ],
)
def test_a_fault_is_named(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    path = tmp_path / name if text is None else write(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        read_leaderboard(path)
    assert (f"{path}: {message}" if message else name) in str(caught.value)


# --- rankings of groups of comparisons ---

FOUGHT = ["a>b", "a>b", "b>a", "b>c", "b>c", "a>c", "c>a", "c>b", "a=b", "b>a", "b>a", "c>d"]
GROUPS = ["x", "x", "x", "w", "w", "w", "w", "w", "", "y", "y", "z"]


def ranked(battles: Battles) -> Ranking:
    return rank(battles, rounds=50, seed=1)


def by_group(board: Mapping[str, float] | None = None) -> RankingsBy:
    battles = fights(*FOUGHT)
    return rankings_by("scenario", ranked(battles), battles, GROUPS, ranked, board)


def points(ranking: Ranking) -> dict[str, float]:
    values = [rating.value for rating in ranking.bradley_terry]
    return dict(zip(ranking.players, values, strict=True))


def test_each_group_is_ranked_by_its_own_comparisons_alone() -> None:
    found = by_group()
    assert (found.by, found.without, found.board, found.agreement) == ("scenario", 1, None, None)
    assert found.overall.battles == 12
    assert list(found.groups) == ["w", "x", "y", "z"]
    for group, ranking in found.groups.items():
        own = [fight for fight, name in zip(FOUGHT, GROUPS, strict=True) if name == group]
        assert points(ranking) == pytest.approx(points(ranked(fights(*own))))
        assert ranking.battles == len(own)
    assert set(found.groups["x"].players) == {"a", "b"}
    assert set(found.groups["w"].players) == {"a", "b", "c"}


def test_groups_beside_a_leaderboard() -> None:
    # Three share the second place; `d` is not on it.
    found = by_group({"a": 9.0, "c": 5.0, "x": 5.0, "y": 5.0, "b": 1.0})
    assert found.board == {"a": 1, "c": 2, "x": 2, "y": 2, "b": 5}
    # a group with one of its models alone does not compare
    assert found.agreement is not None
    assert list(found.agreement) == ["overall", "w", "x", "y"]
    for group, (spearman, kendall) in found.agreement.items():
        ranking = found.overall if group == "overall" else found.groups[group]
        compared = compare_leaderboard(ranking, {"a": 9.0, "c": 5.0, "b": 1.0})
        assert (spearman, kendall) == (compared.spearman, compared.kendall)
    overall = found.agreement["overall"]
    assert overall[0].value != overall[1].value
    assert (found.agreement["x"][0].value, found.agreement["y"][0].value) == (1, -1)


def also_by_people(sample: EvalSample, outcome: float, number: int = 0) -> EvalSample:
    name = "human_choice" if number == 0 else f"human_choice-{number}"
    facts = {
        "model_a": sample.metadata["ballot"]["model_a"],
        "model_b": sample.metadata["ballot"]["model_b"],
    }
    assert sample.scores is not None
    sample.scores[name] = Score(value={"outcome": outcome}, metadata=facts)
    return sample


def taken_over(sample: EvalSample) -> EvalSample:
    assert sample.scores is not None
    for score in sample.scores.values():
        score.metadata = {**(score.metadata or {}), "previous": True}
    return sample


def found(log: Path) -> dict[str, float]:
    return {one.ballot.id: one.outcome for one in read_comparisons(str(log))}


def wins(*logs: Path) -> list[tuple[str, str, float]]:
    return sorted(
        (one, other, outcome)
        for one, other, outcome, _ in rows(read_battles(logs, lambda line: None))
    )


def test_the_last_judgement_that_was_read_counts(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", judged(XY, 1.0, 0.0), judged(XZ, math.nan), judged(YZ))
    outcomes = found(log)
    assert outcomes[XY.id] == 0
    assert math.isnan(outcomes[XZ.id]) and math.isnan(outcomes[YZ.id])
    epochs = write_log(tmp_path / "epochs.eval", judged(XY, 1.0), judged(XY, math.nan, epoch=2))
    assert found(epochs) == {XY.id: 1.0}


def test_people_s_choices_count_in_place_of_a_judge_s(tmp_path: Path) -> None:
    samples = [
        also_by_people(judged(XY, 1.0), 0.0),
        also_by_people(judged(XZ, 1.0), math.nan),
        judged(YZ, 1.0),
    ]
    log = write_log(tmp_path / "log.eval", *samples)
    outcomes = found(log)
    assert outcomes[XY.id] == 0
    assert math.isnan(outcomes[XZ.id]) and math.isnan(outcomes[YZ.id])
    assert wins(log) == [("x", "y", 0.0)]
    undecided = write_log(tmp_path / "undecided.eval", also_by_people(judged(XY, 1.0), math.nan))
    assert (found(undecided), wins(undecided)) == ({XY.id: 1.0}, [("x", "y", 1.0)])
    again = also_by_people(also_by_people(judged(XY, 1.0), 0.0), 0.5, number=1)
    assert wins(write_log(tmp_path / "again.eval", again)) == [("x", "y", 0.5)]


@pytest.mark.parametrize(("verdicts", "said"), [([1.0], 1), ([math.nan], 0), ([], 0)])
def test_verdicts_beside_people_s_choices_are_mentioned(
    tmp_path: Path, verdicts: list[float], said: int
) -> None:
    log = write_log(tmp_path / "log.eval", also_by_people(judged(XY, *verdicts), 0.0))
    told: list[str] = []
    read_battles([log], told.append)
    assert len(told) == said


def test_what_was_taken_over_counts_once(tmp_path: Path) -> None:
    first = write_log(tmp_path / "first.eval", judged(XY, 1.0))
    second = write_log(tmp_path / "second.eval", taken_over(judged(XY, 1.0)), judged(XZ, 0.0))
    third = write_log(
        tmp_path / "third.eval",
        taken_over(judged(XY, 1.0)),
        taken_over(judged(XZ, 0.0)),
        judged(YZ, 0.5),
    )
    everything = [("x", "y", 1.0), ("x", "z", 0.0), ("y", "z", 0.5)]
    for logs in ((third,), (second, third), (third, second, first), (first, second, third)):
        assert wins(*logs) == everything
    assert wins(first, second) == everything[:2]
    again = write_log(
        tmp_path / "again.eval", judged(XY, 1.0)
    )  # judged in two runs, it counts twice
    assert wins(first, again) == [("x", "y", 1.0)] * 2


def test_a_log_without_comparisons_is_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", EvalSample(id="a", epoch=1, input="?", target=""))
    with pytest.raises(
        InputError,
        match=r"previous: no comparison.*log.eval'",
    ):
        read_comparisons(str(log))
