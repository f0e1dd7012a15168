"""Where the noise of a ranking comes from, in its report."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inspect_ai.log import EvalLog

from tests.reports.answer_rows import answers, ranking_of, row
from tests.reports.judged_logs import answered, judgement, write_judged
from tests.telling import tells
from urs_inspect.judges._judges import read_judges, read_ratings
from urs_inspect.judges._report import judges_report
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._leaderboard import Ranking
from urs_inspect.reports.numbers._panels import panel_of
from urs_inspect.reports.words._leaderboard import noise_section
from urs_inspect.reports.words._panels import panel_section

PANEL = ("p/one", "p/two", "p/three")


def model(
    name: str, epochs: int = 1, panel: tuple[str, ...] = PANEL, questions: int = 30
) -> list[dict[str, Any]]:
    """Answers judged by a panel; questions are harder or easier for all models."""
    generator = np.random.default_rng(len(name))
    ease = np.random.default_rng(0).normal(0, 1, questions)
    rows = []
    for question in range(questions):
        for epoch in range(1, epochs + 1):
            level = 5 + ease[question] + generator.normal()
            finals = {
                judge: float(np.clip(level + place + generator.normal(), 1, 10))
                for place, judge in enumerate(panel)
            }
            mean = sum(finals.values()) / len(finals)
            facts = {"epoch": epoch, "judges": ", ".join(panel), "judge_finals": finals}
            rows.append(row(name, f"leisure-en-{question:02}", mean, **facts))
    return rows


def said(ranking: Ranking) -> str:
    section = noise_section(ranking, 1)
    cells = [cell for table in section.tables for row in table.text().rows for cell in row]
    return "\n".join([*section.notes, *cells])


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return ranking_of(answers(model("p/a", 2), model("p/bb", 2), model("p/ccc", 2)))


def test_epochs_and_a_panel_are_split_for_means_and_differences(ranking: Ranking) -> None:
    table = ranking.noise
    assert list(table["kind"]) == ["mean"] * 3 + ["difference"] * 2
    assert (table["first"][3:] == ranking.compared.names[0]).all()
    shares = table[["share_question", "share_answering", "share_judges"]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(np.ones(5))
    assert table["share_judging"].isna().all()
    assert (table["twice_the_questions"] < table["margin"]).all()
    assert (table["one_more_epoch"] < table["margin"]).all()
    assert (table["variance_judge"][:3] > 0.5).all()  # judges differ by a point on the whole
    assert (table["variance_judge"][3:] < 0.1).all()  # of which a difference is free


def test_the_half_width_is_that_of_the_reports_interval(ranking: Ranking) -> None:
    for place, name in enumerate(ranking.compared.names):
        mean = ranking.compared.mean(name)
        assert ranking.noise["margin"][place] == pytest.approx((mean.high - mean.low) / 2, rel=0.15)


def test_what_is_not_measured_is_named_with_a_command(ranking: Ranking) -> None:
    one = ("p/one",)
    single = ranking_of(answers(model("p/a", panel=one), model("p/bb", panel=one)))
    again, epochs, judges = "inspect score", "--epochs 2", "--model-role 'grader=[JUDGE, OTHER]'"
    assert single.noise.empty
    assert [command for command in (again, epochs, judges) if command in said(single)] == [epochs]
    for notes, named in (
        (said(ranking), [again]),
        (said(ranking_of(answers(model("p/a"), model("p/bb")))), [again, epochs]),
        (said(ranking_of(answers(model("p/a", 2, one), model("p/bb", 2, one)))), [again, judges]),
    ):
        assert [command for command in (again, epochs, judges) if command in notes] == named
        assert "±" in notes


def test_the_half_width_with_more_data_is_said_where_it_was_measured(ranking: Ranking) -> None:
    first = ranking.noise.iloc[0]
    measured = ["twice_the_questions", "one_more_epoch", "one_more_judge"]
    assert math.isnan(first["judged_once_more"])
    for name in measured:
        assert f"± {first[name]:.2f}" in said(ranking)


def test_unequal_epochs_and_judges_that_fail_or_never_differ_leave_estimates() -> None:
    first, second = model("p/a", 2), model("p/bb", 3)
    first = first[:-2]  # neither epoch of the last question
    del second[1]
    for given in second[:4]:
        given["judge_finals"]["p/two"] = math.nan
    for given in first + second:
        given["judge_finals"]["p/three"] = 7.0
    table = ranking_of(answers(first, second)).noise
    assert table["questions"].tolist() == [29, 29, 29]
    assert table["margin"].notna().all()


def test_an_empty_answer_has_its_score_from_every_judge() -> None:
    first, second = model("p/a", 2), model("p/bb", 2)
    for given in first[:2]:
        given |= {
            "final": 1.0,
            "outcome": "no_response",
            "judge_finals": dict.fromkeys(PANEL, math.nan),
        }
    found = ranking_of(answers(first, second))
    assert found.noise["questions"].tolist() == [30, 30, 30]


def test_repeated_judgements_are_read_from_logs(tmp_path: Path) -> None:
    """Every log was judged twice by a panel; the first judgements differ by a point."""
    generator = np.random.default_rng(0)
    for name in ("p/a", "p/b"):
        samples = []
        for question in range(12):
            given = {judge: float(generator.integers(3, 9)) for judge in PANEL}
            before = {judge: value + 1 for judge, value in given.items()}
            both = (judgement(sum(x.values()) / 3, panel={**x}) for x in (before, given))
            samples.append(answered(f"q{question}", *both))
        write_judged(
            tmp_path / f"{name[-1]}.eval", *samples, model=name, roles={"grader": list(PANEL)}
        )
    found = ranking_of(read_answers([str(tmp_path)]))
    table = found.noise
    assert table["variance_judgement"][:2].tolist() == pytest.approx([0.5, 0.5])
    assert table["variance_judgement"][2] == pytest.approx(1)
    assert (table["judged_once_more"] < table["margin"]).all()
    assert "inspect score" not in said(found)


def test_a_panel_is_reported_with_its_best_part() -> None:
    generator = np.random.default_rng(1)
    chances = {"a": 0.9, "b": 0.85, "c": 0.8, "d": 0.6, "never wrong": 1.0}
    right = pd.DataFrame(
        {name: generator.random(200) < chance for name, chance in chances.items()}
    ).astype(float)
    prompts = [f"p{number // 2}" for number in range(200)]
    section = panel_section(panel_of(right, None, prompts))
    text = "\n".join(section.notes)
    assert "Left out" in text
    assert "4 judges are worth" in text
    assert "a, b, c" in text
    assert list(section.tables[0].data["judge"]) == ["a", "b", "c", "d"]
    labels = generator.normal(size=200)
    ratings = pd.DataFrame(
        0.2 * labels[:, None] + generator.normal(size=(200, 3))
    )  # a narrow scale is no shared error
    ratings.loc[0, 0] = math.nan
    text = "\n".join(panel_section(panel_of(ratings, labels, prompts)).notes)
    assert "199 items" in text
    assert "Pearson's r" in text
    assert "worth 2." in text or "worth 3.0" in text


def test_judges_that_never_differ_are_named() -> None:
    generator = np.random.default_rng(1)
    right = pd.DataFrame({name: generator.random(200) < 0.6 for name in "bc"}).astype(float)
    right.insert(0, "a", (generator.random(200) < 0.95).astype(float))
    right["twin"] = right["a"]
    prompts = [f"p{number}" for number in range(200)]
    notes = panel_section(panel_of(right, None, prompts)).notes
    assert any(
        "never differ" in note and "a and twin" in note
        for note in notes
        if not note.startswith("Best")
    )
    assert tells(
        next(note for note in notes if note.startswith("Best majority")), "a and twin never"
    )
    assert not any(
        "never differ" in note
        for note in panel_section(panel_of(right.drop(columns="twin"), None, prompts)).notes
    )
    assert " points on average" in notes[-1]


@pytest.mark.parametrize("verdicts", [True, False])
def test_a_judge_of_noise_makes_a_panel_worth_more_and_is_seen_to_make_it_worse(
    verdicts: bool,
) -> None:
    generator = np.random.default_rng(2)
    labels = generator.normal(size=400)
    shared = generator.normal(size=400)
    sure = pd.DataFrame(
        {name: labels + shared + 0.4 * generator.normal(size=400) for name in "abc"}
    )
    with_noise = sure.assign(noise=2 * generator.normal(size=400))
    if verdicts:
        sure, with_noise = (
            (given.mul(labels, axis=0) > 0).astype(float) for given in (sure, with_noise)
        )
    worth, error = [], []
    for given in (sure, with_noise):
        section = panel_section(panel_of(given, None if verdicts else labels, list(range(400))))
        text = " ".join(section.notes)
        [number] = re.findall(r"judges are worth ([\d.]+)", text)
        [off] = re.findall(r"of all judges is ([\d.]+)", text)
        worth.append(float(number))
        error.append(float(off))
    assert worth[1] > worth[0] + 0.4 and error[1] > error[0]
    assert "without noise" in text
    table = section.tables[0].data.set_index("judge")
    assert table["error alone"].idxmax() == "noise"
    [without] = [str(column) for column in table if "without it" in str(column)]
    assert verdicts or table[without].idxmin() == "noise"


def test_too_few_judges_or_prompts_are_said() -> None:
    assert (
        "3 prompts"
        in panel_section(panel_of(pd.DataFrame(np.eye(3)), None, ["x", "y", "z"])).notes[-1]
    )
    assert (
        "0 prompts"
        in panel_section(
            panel_of(pd.DataFrame({name: [math.nan] for name in "abc"}), None, ["x"])
        ).notes[-1]
    )


def renamed(log: EvalLog, model: str) -> EvalLog:
    return log.model_copy(update={"eval": log.eval.model_copy(update={"model": model})})


def test_judges_of_three_logs_have_a_panel(
    logs: dict[str, EvalLog], rating_logs: dict[str, EvalLog]
) -> None:
    """A baseline is no member."""
    title = "How many votes the judges are worth"
    three = [*logs.values(), renamed(logs["good"], "p/third")]
    for given, panels in ((list(logs.values()), 0), (three, 1)):
        assert [section.title for section in judges_report(read_judges(given), []).sections].count(
            title
        ) == panels
    ratings = read_ratings(
        [renamed(log, f"p/{name}{n}") for name, log in rating_logs.items() for n in range(3)]
    )
    [section] = [
        section for section in judges_report([], ratings).sections if section.title == title
    ]
    assert len(section.notes) > 1
