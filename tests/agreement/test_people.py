"""Tests of `urs_inspect.agreement._people`: files of satisfaction and of votes."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests.agreement.test_levels import FOUGHT, MODELS_HOW
from tests.ballot_files import write_ballots
from tests.reports.json_files import write_rows
from tests.reports.mad_logs import ballot, cast, judged, write_log
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.agreement._people import Satisfaction, read_satisfaction, read_vote_ranking
from urs_inspect.reports.words._rankings import people_notes
from urs_inspect.rubrics import load_rubric
from urs_inspect.stats._correlation import derived_seed

GROUPS = ("Leisure", "Factual QA")


def read(path: Path, text: str, scale: tuple[float, float] = (1.0, 5.0)) -> Satisfaction:
    path.write_text(text, encoding="utf-8")
    return read_satisfaction(path, scale, load_rubric())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.csv"


@pytest.mark.parametrize(
    ("text", "people", "means", "kind"),
    [
        pytest.param(
            "intent,satisfaction,n\nLeisure,3.5,40\nfactual_qa,4,100\n",
            [40, 100],
            [3.5, 4],
            "",
            id="exact",
        ),
        pytest.param(
            "intent,satisfaction\nLeisure,3.5\nfactual_qa,4\n",
            [None, None],
            [3.5, 4],
            "",
            id="no count",
        ),
        # A histogram: 10 people say 2, 30 people say 4: (20 + 120) / 40
        pytest.param(
            "intent,satisfaction,n\nLeisure,2,10\nLeisure,4,30\nFactual QA,1,2\n",
            [40, 2],
            [3.5, 1],
            "",
            id="weighted",
        ),
        # (3 * 1 + 4 * 9) / 10; the one person who spoke of facts is known to be one.
        pytest.param(
            "intent,satisfaction,respondent,n\nLeisure,3,x,\nLeisure,4,,9\nFactual QA,2,x,\n",
            *([10, 1], [3.9, 2], "mixed"),
            id="single people beside means of many",
        ),
        pytest.param(
            "intent,satisfaction,respondent\nLeisure,3,x\nFactual QA,4,x\n",
            [1, 1],
            [3, 4],
            "people",
            id="one person",
        ),
        pytest.param(
            "intent,satisfaction,n\nLeisure,3,1\nFactual QA,4,1\n",
            [1, 1],
            [3, 4],
            "people",
            id="n of 1",
        ),
    ],
)
def test_means_and_people(
    path: Path, text: str, people: list[int | None], means: list[float], kind: str
) -> None:
    found = read(path, text)
    assert found.groups == GROUPS
    assert (found.by_respondent, found.mixed) == (kind == "people", kind == "mixed")
    assert [found.people(group) for group in GROUPS] == people
    drawn = found.means(GROUPS, 10, 0)
    assert drawn.values.tolist() == means
    assert len(drawn.draws) == (10 if kind == "people" else 1)  # means count as exact


def test_rows_of_single_people_are_resampled_within_their_intent(path: Path) -> None:
    rows = "Leisure,1\nLeisure,3\nFactual QA,4\nFactual QA,5\nFactual QA,3\n"
    found = read(path, f"intent,satisfaction\n{rows}")
    assert found.by_respondent
    assert [found.people(group) for group in GROUPS] == [2, 3]
    means = found.means(GROUPS, 60, 9)
    assert means.values.tolist() == [2.0, 4.0]
    for place, values in enumerate(([1, 3], [4, 5, 3])):
        drawn = np.random.default_rng(derived_seed(9, 1, place)).integers(
            len(values), size=(60, len(values))
        )
        assert means.draws[:, place] == pytest.approx(np.array(values)[drawn].mean(axis=1))


def test_named_people_are_resampled_as_a_whole(path: Path) -> None:
    rows = "Leisure,1,x\nFactual QA,5,x\nLeisure,3,y\nFactual QA,3,y\n"
    means = read(path, f"intent,satisfaction,respondent\n{rows}").means(GROUPS, 50, 0)
    # x and y answer contrariwise, so that whoever is drawn, both means add up to 6.
    assert means.draws.sum(axis=1) == pytest.approx(6)
    assert len(np.unique(means.draws[:, 0])) == 3


def test_a_row_without_a_name_is_a_person_of_its_own(path: Path) -> None:
    rows = "Leisure,1,x\nLeisure,5,\nLeisure,3,\nFactual QA,2,x\n"
    found = read(path, f"intent,satisfaction,respondent\n{rows}")
    means = found.means(GROUPS, 200, 0)
    assert means.values.tolist() == [3.0, 2.0]
    assert means.n.tolist() == [3, 1]
    assert math.isnan(means.draws[:, 1].min())  # rounds without x say nothing about facts
    assert set(means.draws[:, 1][~np.isnan(means.draws[:, 1])]) == {2.0}


def test_a_person_may_answer_about_intents_that_are_reported_together(path: Path) -> None:
    rows = "api,1,x\nsolve_professional_problem,4,x\napi,5,y\nLeisure,3,x\n"
    means = read(path, f"intent,satisfaction,respondent\n{rows}").means(
        ["Solve Problem", "Leisure"], 5, 0
    )
    assert means.values.tolist() == [3.75, 3.0]  # (2.5 + 5) / 2


def test_a_person_with_two_rows_is_one_person(path: Path) -> None:
    rows = "api,1,x\nsolve_professional_problem,4,x\nLeisure,3,x\nLeisure,2,y\nLeisure,5,\n"
    found = read(path, f"intent,satisfaction,respondent\n{rows}")
    assert [found.people(group) for group in ("Solve Problem", "Leisure")] == [1, 3]


def test_intents_by_id_label_or_reported_name(path: Path) -> None:
    rows = ["api,3", "Solve Professional Problem,4", "solve problem,5", "SEEK_CREATIVITY,2"]
    found = read(path, "\n".join(["user_intent,satisfaction", *rows]))
    assert [row.group for row in found.rows] == ["Solve Problem"] * 3 + ["Seek Creativity"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Sport,3,x,1", "line 3: column 'intent': unknown intent 'Sport'; allowed: factual_qa, "),
        ("Leisure,6,y,1", "line 3: column 'satisfaction': must be a number from 1 to 5, is \"6\""),
        ("Leisure,0,y,1", "line 3: column 'satisfaction': must be a number from 1 to 5, is \"0\""),
        ("Leisure,,y,1", "line 3: column 'satisfaction': must be a number"),
        ("Leisure,3,y,0", "line 3: column 'n': must be a whole number of at least 1, is \"0\""),
        (
            "Factual QA,3,x,7",
            "line 3: column 'n': must be 1 or empty where a respondent is named, is 7",
        ),
        (
            "Factual QA,3,x,2",
            "line 3: column 'n': must be 1 or empty where a respondent is named, is 2",
        ),
        (
            "leisure,3,x,1",
            "line 3: column 'respondent': 'x' answered about 'leisure' on line 2 already",
        ),
    ],
)
def test_satisfaction_files_faults_are_named(row: str, message: str, path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(path, f"intent,satisfaction,respondent,n\nLeisure,3,x,1\n{row}\n")
    assert str(caught.value).startswith(f"{path}: {message}")


def test_faults_of_rows_and_of_the_file_are_said_together(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = ['{"intent": "Leisure", "satisfaction": 9}', "{torn", '{"intent": "x"}']
    with pytest.raises(InputError) as caught:
        read(path, "\n".join(lines))
    said = str(caught.value)
    for words in ("line 1: column 'satisfaction'", "line 2", "line 3: column 'intent'"):
        assert words in said


def test_files_and_scales_that_hold_nothing(path: Path) -> None:
    with pytest.raises(InputError, match="no row"):
        read(path, "intent,satisfaction\n")
    with pytest.raises(InputError, match=r"scale:.*got 5 and 1"):
        read(path, "intent,satisfaction\nLeisure,3\n", (5.0, 1.0))


@pytest.mark.parametrize(
    ("rows", "by_respondent", "mixed", "people"),
    [
        (["Leisure,3,,", "Factual QA,3,,"], False, False, [None, None]),
        (["Leisure,3,,", "Leisure,4,,", "Factual QA,3,,"], True, False, [2, 1]),
        (["Leisure,3,x,", "Factual QA,3,,"], True, False, [1, 1]),
        (["Leisure,3,,1", "Factual QA,3,,"], True, False, [1, 1]),
        (["Leisure,3,,9", "Factual QA,3,,"], False, True, [9, None]),
        (["Leisure,3,,9", "Factual QA,3,,8"], False, False, [9, 8]),
        (["Leisure,3,x,", "Leisure,4,x2,", "Factual QA,3,,8"], False, True, [2, 8]),
        (["Leisure,3,,9", "Leisure,4,,", "Factual QA,3,,8"], False, True, [None, 8]),
    ],
)
def test_who_is_behind_the_rows_of_a_file(
    rows: list[str], by_respondent: bool, mixed: bool, people: list[int | None], path: Path
) -> None:
    found = read(path, "\n".join(["intent,satisfaction,respondent,n", *rows]))
    assert (found.by_respondent, found.mixed) == (by_respondent, mixed)
    assert [found.people(group) for group in GROUPS] == people


# --- files of votes ---


def test_a_list_of_votes(tmp_path: Path) -> None:
    lines = [
        {"model_a": a, "model_b": b, "winner": "model_a" if out else "model_b"}
        for a, b, out in FOUGHT
    ]
    found = read_vote_ranking([str(write_rows(tmp_path / "votes.jsonl", *lines))], MODELS_HOW)
    assert (found.ranking.players, found.ranking.battles, found.ranking.rounds) == (
        ("x", "y", "z"),
        17,
        60,
    )
    assert (found.skipped, found.people) == ((), None)
    (tmp_path / "more").mkdir()
    copy = write_rows(tmp_path / "more" / "copy.jsonl", *lines)
    twice = read_vote_ranking([str(tmp_path / "votes.jsonl"), str(copy)], MODELS_HOW)
    [skipped] = twice.skipped
    assert tells(skipped, "copy.jsonl ... votes.jsonl")
    assert twice.ranking.battles == 17
    assert (
        read_vote_ranking([str(tmp_path)], MODELS_HOW).ranking.bradley_terry
        == found.ranking.bradley_terry
    )


def test_votes_about_ballots_with_their_log_or_file(tmp_path: Path) -> None:
    ballots = [ballot(f"Question {n}?", "x", "y") for n in range(4)]
    log = write_log(tmp_path / "mad.eval", *[judged(one, 1.0) for one in ballots])
    write_ballots(ballots, tmp_path / "ballots.jsonl")
    people = tmp_path / "people"
    for name in ("ann", "bob"):
        cast(
            people / f"{name}.jsonl",
            *[(name, one.id, "b") for one in ballots[:3]],
            (name, "gone", "a"),
        )
    for sources in ([log, people], [tmp_path / "ballots.jsonl", *sorted(people.iterdir())]):
        found = read_vote_ranking(map(str, sources), MODELS_HOW)
        assert (found.ranking.players, found.ranking.battles) == (
            ("y", "x"),
            3,
        )  # not the judge's verdicts
        assert found.people is not None
        votes_of_people, agreed, unknown = people_notes(found.people)
        assert tells(votes_of_people, "6 votes of 2 people ... 3 of 4 comparisons")
        assert tells(agreed, "3 comparisons ... 100% of")
        assert tells(unknown, "2 votes ... other comparisons")
        assert found.skipped == ()


def test_files_without_votes_of_people_are_named(tmp_path: Path) -> None:
    urs = write_log(tmp_path / "urs.eval", task="urs_inspect/urs")
    log = write_log(tmp_path / "logs" / "mad.eval", judged(ballot("Why?", "x", "y"), 1.0))
    cast_votes = cast(tmp_path / "v.jsonl", ("ann", "1", "a"))
    for source, message in (
        (urs, r"urs\.eval is a log of urs_inspect/urs; allowed: of mad"),
        (log, "has no people's choices, only verdicts of a judge or comparisons"),
        (log.parent, "has no people's choices, only verdicts of a judge or comparisons"),
        (cast_votes, "name the log or file with these as well"),
        ("none", "votes: no file or directory 'none'"),
    ):
        with pytest.raises(InputError, match=message):
            read_vote_ranking([str(source)], MODELS_HOW)
    for sources in (["none", log], [log, "none"], [cast_votes, log, "none"]):
        with pytest.raises(InputError, match="no file or directory 'none'"):
            read_vote_ranking(map(str, sources), MODELS_HOW)
