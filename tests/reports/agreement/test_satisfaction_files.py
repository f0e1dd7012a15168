"""Satisfaction by intent: single people, or means of many."""

import math
from pathlib import Path

import numpy as np
import pytest

from urs_inspect.errors import InputError
from urs_inspect.rating.mean_correlation import derived_seed
from urs_inspect.reports.agreement.satisfaction_files import Satisfaction, read_satisfaction
from urs_inspect.rubrics import load_rubric

SCALE = (1.0, 5.0)
GROUPS = ("Leisure", "Factual QA")


def read(path: Path, text: str, scale: tuple[float, float] = SCALE) -> Satisfaction:
    path.write_text(text, encoding="utf-8")
    return read_satisfaction(path, scale, load_rubric())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.csv"


def test_means_of_many_count_as_exact(path: Path) -> None:
    found = read(path, "intent,satisfaction,n\nLeisure,3.5,40\nfactual_qa,4,100\n")
    assert (found.groups, found.by_respondent) == (GROUPS, False)
    assert [found.people(group) for group in GROUPS] == [40, 100]
    means = found.means(GROUPS, 10, 0)
    assert means.values.tolist() == [3.5, 4.0]
    assert len(means.draws) == 1


def test_several_means_are_weighted_by_people(path: Path) -> None:
    # A histogram: 10 people say 2, 30 people say 4: (20 + 120) / 40
    found = read(path, "intent,satisfaction,n\nLeisure,2,10\nLeisure,4,30\n")
    assert found.means(["Leisure"], 5, 0).values.tolist() == [3.5]
    assert (found.people("Leisure"), found.by_respondent) == (40, False)


def test_one_mean_an_intent_without_a_count(path: Path) -> None:
    found = read(path, "intent,satisfaction\nLeisure,3.5\nfactual_qa,4\n")
    assert (found.by_respondent, found.people("Leisure")) == (False, None)


def test_rows_of_single_people_are_resampled_within_their_intent(path: Path) -> None:
    rows = "Leisure,1\nLeisure,3\nFactual QA,4\nFactual QA,5\nFactual QA,3\n"
    found = read(path, f"intent,satisfaction\n{rows}")
    assert found.by_respondent
    assert [found.people(group) for group in GROUPS] == [2, 3]
    means = found.means(GROUPS, 60, 9)
    assert means.values.tolist() == [2.0, 4.0]
    for place, values in enumerate(([1, 3], [4, 5, 3])):
        drawn = np.random.default_rng(derived_seed(9, 1, place)).integers(len(values), size=(60, len(values)))
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
    means = read(path, f"intent,satisfaction,respondent\n{rows}").means(["Solve Problem", "Leisure"], 5, 0)
    assert means.values.tolist() == [3.75, 3.0]  # (2.5 + 5) / 2


def test_one_person_an_intent_is_no_exact_mean(path: Path) -> None:
    found = read(path, "intent,satisfaction,respondent\nLeisure,3,x\nFactual QA,4,x\n")
    assert (found.by_respondent, found.mixed) == (True, False)
    assert [found.people(group) for group in GROUPS] == [1, 1]
    found = read(path, "intent,satisfaction,n\nLeisure,3,1\nFactual QA,4,1\n")
    assert (found.by_respondent, found.people("Leisure")) == (True, 1)


def test_a_person_with_two_rows_is_one_person(path: Path) -> None:
    rows = "api,1,x\nsolve_professional_problem,4,x\nLeisure,3,x\nLeisure,2,y\nLeisure,5,\n"
    found = read(path, f"intent,satisfaction,respondent\n{rows}")
    assert [found.people(group) for group in ("Solve Problem", "Leisure")] == [1, 3]


def test_single_people_beside_means_of_many(path: Path) -> None:
    # (3 * 1 + 4 * 9) / 10; the one person who spoke of facts is known to be one.
    found = read(path, "intent,satisfaction,respondent,n\nLeisure,3,x,\nLeisure,4,,9\nFactual QA,2,x,\n")
    assert (found.by_respondent, found.mixed) == (False, True)
    assert found.means(GROUPS, 10, 0).values.tolist() == [3.9, 2.0]
    assert [found.people(group) for group in GROUPS] == [10, 1]


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
        ("Factual QA,3,x,7", "line 3: column 'n': must be 1 or empty where a respondent is named, is 7"),
        ("leisure,3,x,1", "line 3: column 'respondent': 'x' answered about 'leisure' on line 2 already"),
    ],
)
def test_faults_are_named(row: str, message: str, path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(path, f"intent,satisfaction,respondent,n\nLeisure,3,x,1\n{row}\n")
    assert str(caught.value).startswith(f"{path}: {message}")


def test_files_and_scales_that_hold_nothing(path: Path) -> None:
    with pytest.raises(InputError, match="no row"):
        read(path, "intent,satisfaction\n")
    with pytest.raises(InputError, match="scale: must have a lowest value below a highest, got 5 and 1"):
        read(path, "intent,satisfaction\nLeisure,3\n", (5.0, 1.0))
