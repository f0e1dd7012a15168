"""Means corrected by people's ratings: what a report says, skips and warns of."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.reports.answer_rows import answers, answers_of, rows
from tests.reports.golden_files import check_golden
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.annotation._ratings import RaterReport
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._corrected import (
    CorrectedMeans,
    FromAll,
    _worth,
    compare_means,
)
from urs_inspect.reports.numbers._human_data import read_human_ratings
from urs_inspect.reports.numbers._leaderboard import Leaderboard, Ranking, make_leaderboard
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.reports.words._corrected import (
    corrected_section,
    corrected_start,
    corrected_warnings,
)
from urs_inspect.reports.words._first_screen import leaderboard_screen
from urs_inspect.reports.words._leaderboard import report_leaderboard
from urs_inspect.stats import Estimate
from urs_inspect.stats._adjusted_means import PoweredMeans
from urs_inspect.stats._bootstrap import Floats, Resampling
from urs_inspect.stats._means import MeanDraws

NAN = math.nan
NAMES = [f"{('leisure', 'factual_qa')[number % 2]}-en-{number:03}" for number in range(120)]
MODELS = ("p/first", "p/second", "p/third", "p/few")
QUALITY, BIAS = np.array([7.8, 7.4, 5.5, 4.5]), np.array([-1.2, 0.5, 0.3, 0.0])


@pytest.fixture(scope="module")
def scores() -> tuple[Floats, Floats]:
    """Judge's scores and people's ratings of all answers."""
    generator = np.random.default_rng(0)
    level = QUALITY + generator.normal(0, 1, (120, 1)) + generator.normal(0, 0.8, (120, 4))
    people, judge = (
        np.clip(np.rint(level + bias + generator.normal(0, 0.5, level.shape)), 1, 10)
        for bias in (0, BIAS)
    )
    return judge, people


def judged(judge: Floats) -> Answers:
    return answers_of(dict(zip(MODELS, judge.T, strict=True)), NAMES)


def ratings_of(people: Floats, every: int = 3, few: int = 5) -> list[str]:
    """Lines of a file: every third question of three models, five of the last."""
    numbers = [(model, number) for model in range(3) for number in range(model % every, 120, every)]
    numbers += [(3, number) for number in range(few)]
    return [
        f"{NAMES[number]},{MODELS[model]},{people[number, model]:g},ann"
        for model, number in numbers
    ]


def board(
    path: Path,
    found: Answers,
    lines: list[str],
    header: str = "id,model,rating,rater",
    scale: Any = (1.0, 10.0),
    **how: Any,
) -> Leaderboard:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return make_leaderboard(found, human=read_human_ratings(path, scale), **{"rounds": 400, **how})


def corrected_of(made: Leaderboard) -> tuple[Ranking, CorrectedMeans]:
    [ranking] = made.rankings
    assert ranking.corrected is not None
    return ranking, ranking.corrected


def warnings_of(made: Leaderboard) -> list[str]:
    ranking, corrected = corrected_of(made)
    return corrected_warnings(corrected, ranking.compared)


def start_of(made: Leaderboard) -> list[str]:
    ranking, corrected = corrected_of(made)
    return corrected_start(corrected, ranking.compared)


def section_notes(made: Leaderboard) -> list[str]:
    """Notes of the section about corrected means."""
    ranking, corrected = corrected_of(made)
    return list(corrected_section(corrected, ranking.compared, 1).notes)


def row_of(corrected: CorrectedMeans, name: str) -> Any:
    """Row of a model over all questions."""
    return corrected.over_all.loc[name]


def names_of(corrected: CorrectedMeans) -> list[str]:
    """The models with a corrected mean, the best first."""
    return list(corrected.over_all.index[corrected.over_all["rank_from"].notna()])


def width(found: Any) -> float:
    return float(found.high - found.low)


def ranking_section(made: Leaderboard) -> Section:
    return next(
        section for section in report_leaderboard(made).sections if section.title == "Ranking"
    )


def notes_of(made: Leaderboard) -> list[str]:
    return list(ranking_section(made).notes)


def leaderboard_of(made: Leaderboard) -> Table:
    return next(table for table in ranking_section(made).tables if table.title == "Leaderboard")


@pytest.fixture(scope="module")
def plain(scores: tuple[Floats, Floats], tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """Means corrected by the ratings as they are."""
    judge, people = scores
    return board(tmp_path_factory.mktemp("plain") / "a.csv", judged(judge), ratings_of(people))


@pytest.fixture(scope="module")
def made(scores: tuple[Floats, Floats], tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    judge, people = scores
    judge = judge.copy()
    judge[1:3, 2] = NAN
    more = [
        f"unknown,{MODELS[0]},5,ann",
        f"{NAMES[0]},p/other,5,ann",
        f"{NAMES[0]},{MODELS[0]},9,bo",
    ]
    return board(
        tmp_path_factory.mktemp("ratings") / "ratings.csv",
        judged(judge),
        [*ratings_of(people), *more],
    )


def test_the_report_as_markdown(made: Leaderboard) -> None:
    text = report_leaderboard(made).markdown()
    shown = (
        text[: text.index("### Differences")]
        + text[text.index("## Left out") : text.index("## Runs")]
    )
    check_golden("corrected", re.sub(r"/\S*ratings\.csv", "ratings.csv", shown))


def test_corrected_means_are_near_what_all_people_would_say(
    made: Leaderboard, scores: tuple[Floats, Floats]
) -> None:
    ranking, corrected = corrected_of(made)
    truth = dict(zip(MODELS, scores[1].mean(axis=0), strict=True))
    assert ranking.compared.names[0] == "p/second"
    assert names_of(corrected) == ["p/first", "p/second", "p/third"]
    for name in names_of(corrected):
        row = row_of(corrected, name)
        assert row["corrected"].low <= truth[name] <= row["corrected"].high
        assert width(row["corrected"]) < width(row["people"])
        assert row["worth"] > row["rated"]
    assert math.isnan(row_of(corrected, "p/few")["corrected"].value)
    assert row_of(corrected, "p/few")["rank_from"] is None
    assert [
        tuple(row_of(corrected, name)[["rank_from", "rank_to"]]) for name in names_of(corrected)
    ][2] == (3, 3)


def test_the_rounds_the_level_and_the_seed_are_those_that_were_asked_for(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    judge, people = scores
    lines = ratings_of(people)
    how: list[dict[str, Any]] = [
        {"rounds": 60, "level": 0.8, "seed": 3},
        {"rounds": 60, "level": 0.95, "seed": 3},
    ]
    found = []
    for number, options in enumerate(how):
        made = board(tmp_path / f"{number}.csv", judged(judge), lines, **options)
        _, corrected = corrected_of(made)
        mean = row_of(corrected, MODELS[0])["corrected"]
        assert {name: getattr(mean, name) for name in options} == options
        found.append(mean)
    first, wider = found
    assert first.value == wider.value
    assert wider.low < first.low < first.high < wider.high


def test_warnings_are_among_the_notes_and_every_rating_is_counted(made: Leaderboard) -> None:
    _, corrected = corrected_of(made)
    section = ranking_section(made)
    warnings = warnings_of(made)
    assert len(warnings) > 1 and set(warnings) == set(section.warnings) <= set(section.notes)
    # 3 times 40 and 5 rated answers, less those to the two questions that one model has no score
    # for.
    assert corrected.over_all["rated"].sum() == 125 - 4


def test_another_scale_is_mapped_and_said(
    scores: tuple[Floats, Floats], plain: Leaderboard, tmp_path: Path
) -> None:
    judge, people = scores
    halves = ratings_of((people - 1) / 9 * 4 + 1)
    mapped = board(tmp_path / "b.csv", judged(judge), halves, scale=(1.0, 5.0))
    value, same = (
        row_of(corrected_of(found)[1], "p/first")["corrected"].value for found in (mapped, plain)
    )
    assert value == pytest.approx(same, abs=1e-3)
    assert any("from 1 to 5 are mapped linearly" in note for note in start_of(mapped))
    assert warnings_of(mapped) == warnings_of(plain)


def test_a_forgotten_scale_is_warned_of(scores: tuple[Floats, Floats], tmp_path: Path) -> None:
    judge, people = scores
    for lines, scale, right in (
        (ratings_of(np.rint((people - 1) / 9 * 4 + 1)), (1.0, 10.0), "1,5"),
        (ratings_of(people), (0.0, 100.0), "1,10"),
    ):
        found = board(tmp_path / "a.csv", judged(judge), lines, scale=scale)
        [warning] = [text for text in warnings_of(found) if f"Is the scale {right}?" in text]
        assert "of 125 ratings" in warning
        assert warning in notes_of(found)


def test_weights_undo_a_sample_that_favours_bad_answers(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    judge, people = scores
    generator, lines, weighted = np.random.default_rng(1), [], []
    for model in range(3):
        chance = np.where(judge[:, model] < np.median(judge[:, model]), 0.8, 0.2)
        for number in np.flatnonzero(generator.random(120) < chance):
            lines.append(f"{NAMES[number]},{MODELS[model]},{people[number, model]:g}")
            weighted.append(f"{lines[-1]},{1 / chance[number]:g}")
    plain = board(tmp_path / "a.csv", judged(judge), lines, "id,model,rating")
    balanced = board(tmp_path / "b.csv", judged(judge), weighted, "id,model,rating,weight")
    assert tells(warnings_of(plain)[0], "unlike the others")
    assert not any(tells(text, "unlike the others") for text in warnings_of(balanced))
    _, even = corrected_of(plain)
    _, right = corrected_of(balanced)
    truth = people.mean(axis=0)[:3]
    for part in ("people", "corrected"):
        off, far = (
            np.abs(
                [
                    row_of(found, name)[of].value - mean
                    for name, mean in zip(MODELS, truth, strict=False)
                ]
            ).mean()
            for found, of in ((right, part), (even, "people"))
        )
        assert off < 0.6 * far


def test_too_few_ratings_make_no_claim(scores: tuple[Floats, Floats], tmp_path: Path) -> None:
    judge, people = scores
    found = board(tmp_path / "a.csv", judged(judge), ratings_of(people, every=120))
    _, corrected = corrected_of(found)
    assert names_of(corrected) == [] and corrected.pairs.empty and warnings_of(found) == []
    notes = notes_of(found)
    assert tells(notes[0], "10 rated ... second 1, first 1, third 1, few 5 ... judge")
    sections = {section.title: section for section in report_leaderboard(found).sections}
    assert "Corrected by people" not in leaderboard_of(found).data
    assert not any(table.text().headings for table in sections["Corrected by people"].tables)
    assert any(tells(note, "judge's scores alone: second") for note in notes)


def test_ratings_without_a_model_are_about_the_only_one(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    judge, people = scores
    lines = [f"{name},{value:g}" for name, value in zip(NAMES[:40], people[:, 0], strict=False)]
    with pytest.raises(InputError, match=r"whose answers.*'model'"):
        board(tmp_path / "a.csv", judged(judge), lines, "id,rating")
    alone = answers_of({"p/first": judge[:, 0]}, NAMES)
    found = board(tmp_path / "a.csv", alone, lines, "id,rating")
    assert names_of(corrected_of(found)[1]) == ["p/first"]
    assert tells(notes_of(found)[0], "corrected ... 40 answers, first has ")


def test_an_epoch_is_compared_with_its_own_score(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    finals = generator.integers(2, 10, (60, 2)).astype(float)
    found = answers(
        *[
            rows("p/m", dict(zip(NAMES, finals[:, epoch].tolist(), strict=False)), epoch=epoch + 1)
            for epoch in (0, 1)
        ]
    )
    # People agree with the judge to the point: the rated epochs' scores predict their ratings
    # exactly.
    lines = [f"{NAMES[number]},{finals[number, 1]:g},2" for number in range(30)]
    _, corrected = corrected_of(board(tmp_path / "a.csv", found, lines, "id,rating,epoch"))
    mean = row_of(corrected, "p/m")["corrected"]
    assert mean.value == pytest.approx(finals.mean())
    assert sum(corrected.facts["coefficients_of_the_judge"]) == pytest.approx(2)


def test_the_worst_case_of_missing_scores_holds_for_corrected_means(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    judge, people = scores
    judge = judge.copy()
    judge[50:100, 2] = NAN
    _, corrected = corrected_of(board(tmp_path / "a.csv", judged(judge), ratings_of(people)))
    pairs: Any = corrected.pairs.set_index(["first", "second"])
    assert pairs.loc[("p/second", "p/third"), "verdict"] == "depends on unscored answers"
    assert pairs.loc[("p/second", "p/third"), "p_holm"] < 0.05


def test_more_ratings_halve_the_interval_as_was_said(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    names = [f"leisure-en-{number:04}" for number in range(1500)]
    level = generator.normal(6, 1.5, 1500)
    people, judge = (
        np.clip(np.rint(level + generator.normal(0, 0.8, 1500)), 1, 10) for _ in range(2)
    )
    found = answers_of({"p/m": judge}, names)

    def rated(count: int) -> Any:
        lines = [f"{name},{value:g}" for name, value in zip(names[:count], people, strict=False)]
        _, corrected = corrected_of(
            board(tmp_path / "a.csv", found, lines, "id,rating", rounds=600)
        )
        return row_of(corrected, "p/m")

    before = rated(100)
    after = rated(100 + int(before["more"]))
    assert width(after["corrected"]) == pytest.approx(width(before["corrected"]) / 2, rel=0.12)


def test_several_rankings_and_models_without_scores(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    judge, people = scores
    none, other = np.full_like(judge, NAN), judged(judge)
    found = board(tmp_path / "a.csv", judged(none), ratings_of(people))
    assert names_of(corrected_of(found)[1]) == []
    assert tells(section_notes(found), "125 rated answers ... skipped")
    few = rows("p/few", dict(zip(NAMES, judge[:, 3].tolist(), strict=True)), judges="p/other")
    table = pd.concat(
        [other.table[other.table["model"] != "p/few"], pd.DataFrame(few)], ignore_index=True
    )
    lines = [line for line in ratings_of(people) if "p/few" not in line]
    found = board(tmp_path / "b.csv", replace(other, table=table), lines)
    first, second = (ranking.corrected for ranking in found.rankings)
    assert first and second
    assert (names_of(first), names_of(second)) == (["p/first", "p/second", "p/third"], [])
    assert len(report_leaderboard(found).tables()["corrected"]) == len(first.means) + 1


def test_means_follow_the_traffic(
    scores: tuple[Floats, Floats], plain: Leaderboard, tmp_path: Path
) -> None:
    judge, people = scores
    mix = TrafficMix("mix.yaml", {"intents": {"leisure": 1.0, "factual_qa": 0.0}})
    _, weighted = corrected_of(
        board(tmp_path / "a.csv", judged(judge), ratings_of(people), traffic=mix)
    )
    leisure: Any = (
        corrected_of(plain)[1]
        .means.set_index(["column", "model"])
        .loc[("Leisure", "p/first"), "corrected"]
    )
    mean = row_of(weighted, "p/first")["corrected"]
    assert mean.value == pytest.approx(leisure.value, abs=0.15)
    assert mean.value != pytest.approx(row_of(corrected_of(plain)[1], "p/first")["corrected"].value)


def test_equal_ratings_share_the_highest_mean_and_have_no_worth(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    judge, people = scores
    first, *others = notes_of(
        board(tmp_path / "a.csv", judged(judge), ratings_of(np.full_like(people, 5.0)))
    )
    assert tells(first, "second, first and third share ... 5.00")
    assert not any("nan" in note.split() or "the precision of" in note for note in others)
    assert any(tells(note, "second, first and third ... vary") for note in others)


def test_unequal_weights_add_nothing_to_what_ratings_are_worth(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    _, people = scores
    flat = judged(np.tile(np.random.default_rng(5).integers(1, 11, (120, 1)).astype(float), 4))
    weights = np.where(np.arange(120) % 2, 1, 9)
    lines = ratings_of(people, every=1)
    weighted = [f"{line},{weights[NAMES.index(line.split(',')[0])]}" for line in lines]
    _, found = corrected_of(
        board(tmp_path / "a.csv", flat, weighted, "id,model,rating,rater,weight")
    )
    # Of 60 ratings that count nine times and 60 that count once: 600^2 / (60 * 81 + 60).
    assert row_of(found, "p/first")["worth"] == pytest.approx(360_000 / 4920, rel=0.1)


def test_ratings_of_an_answer_by_the_same_person_are_not_left_out(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    judge, people = scores
    board(tmp_path / "a.csv", judged(judge), ratings_of(people))
    ann = RaterReport("ann", 9, 5.0, 1.0, checks=2, from_own=0.5, seconds=9.0, cannot_tell=0)
    human = replace(read_human_ratings(tmp_path / "a.csv", (1, 10)), repeats=(ann,))
    found = make_leaderboard(judged(judge), human=human, rounds=200)
    assert Telling("ann rated 2 answers twice ... 0.5;") in section_notes(found)
    assert found.skipped == ()


def test_the_table_is_in_the_order_of_corrected_means(
    scores: tuple[Floats, Floats], tmp_path: Path
) -> None:
    judge, people = scores
    found = board(tmp_path / "a.csv", judged(judge), ratings_of(people, few=20))
    ranking, corrected = corrected_of(found)
    table = leaderboard_screen(found).table
    assert table is not None
    assert (
        list(table.data["model"])
        == [ranking.compared.short[name] for name in names_of(corrected)]
        != list(ranking.compared.names)
    )
    assert list(table.data["judge's mean"]) == [
        ranking.compared.mean(name) for name in names_of(corrected)
    ]
    by_judge = leaderboard_of(found)
    assert "Judge's mean" in by_judge.text().headings
    assert [by_judge.data["Model"][row] for row, _ in by_judge.marked] == [
        ranking.compared.names[0]
    ]
    assert any(tells(text, "1 of them ... significant") for text in warnings_of(found))


def test_a_lead_that_only_the_correction_for_comparisons_takes_says_so(
    plain: Leaderboard,
) -> None:
    ranking, corrected = corrected_of(plain)
    better, worse = ranking.compared.leads[0]
    pairs = corrected.pairs.copy()
    row = pairs.index[
        [{better, worse} == {*names} for names in zip(pairs["first"], pairs["second"], strict=True)]
    ][0]
    pairs.loc[row, ["first", "second", "verdict"]] = [better, worse, "not distinguishable"]
    difference: Any = pairs["difference"][row]
    for low, is_said in ((0.1, True), (-0.1, False)):
        pairs["difference"] = pairs["difference"].where(
            pairs.index != row, replace(difference, value=0.4, low=low, high=0.8)
        )
        warnings = corrected_warnings(replace(corrected, pairs=pairs), ranking.compared)
        text = next(warning for warning in warnings if "not survive" in warning)
        assert tells(text, f"{len(pairs)} comparisons (Holm)") == is_said


# --- who rated what ---


def rated_by(raters: Mapping[str, tuple[str, ...]], every: int = 3) -> list[str]:
    """Ratings of equal models by raters of some of them, of whom the first is the most lenient."""
    generator = np.random.default_rng(7)
    level = 6 + generator.normal(0, 0.7, (120, len(MODELS)))
    lines = []
    for place, (rater, models) in enumerate(raters.items()):
        for model in models:
            for number in range(place, 120, every):
                rating = np.clip(np.rint(level[number, MODELS.index(model)] + 1.5 - place), 1, 10)
                lines.append(f"{NAMES[number]},{model},{rating:g},{rater}")
    return lines


@pytest.fixture(scope="module")
def equal() -> Answers:
    """Models that a judge finds equal."""
    generator = np.random.default_rng(8)
    return judged(np.clip(np.rint(6 + generator.normal(0, 1, (120, 4))), 1, 10))


def test_raters_of_one_model_each_decide_no_ranking(equal: Answers, tmp_path: Path) -> None:
    first, second = MODELS[:2]
    made = board(tmp_path / "a.csv", equal, rated_by({"ann": (first,), "bo": (second,)}))
    ranking, corrected = corrected_of(made)
    notes = notes_of(made)
    assert "confounded" in notes[0] and (
        "first and second" in notes[0] or "second and first" in notes[0]
    )
    assert any("confounded" in text for text in ranking_section(made).warnings)
    assert names_of(corrected) == [] and corrected.pairs.empty
    assert not any("significantly above" in note or "change the order" in note for note in notes)
    assert "Corrected by people" not in leaderboard_of(made).data
    assert ranking.compared.names[0] in {*MODELS}


def test_a_model_with_raters_of_its_own_is_not_ranked_with_the_others(
    equal: Answers, tmp_path: Path
) -> None:
    first, second, third = MODELS[:3]
    raters = {"ann": (first,), "bo": (second, third), "cy": (second, third)}
    made = board(tmp_path / "a.csv", equal, rated_by(raters))
    _, corrected = corrected_of(made)
    assert set(names_of(corrected)) == {second, third}
    [warning] = [text for text in warnings_of(made) if "confounded" in text]
    assert tells(warning, "first and the other") and warning in notes_of(made)
    assert math.isnan(row_of(corrected, first)["corrected"].value)


def test_leniency_is_taken_out_where_raters_rated_several_models(
    equal: Answers, tmp_path: Path
) -> None:
    # Ann rates mostly the first model, and is two points more lenient than bo, who rates mostly the
    # second.
    first, second = MODELS[:2]
    raters = {"ann": (first, second), "bo": (first, second), "cy": (first, second)}
    lines = rated_by(raters)
    few = [
        line
        for n, line in enumerate(lines)
        if n % 3 == 0 or not ((first in line) ^ ("ann" in line))
    ]
    nameless = [line.rsplit(",", 1)[0] for line in few]
    without = board(tmp_path / "a.csv", equal, nameless, "id,model,rating")
    _, blind = corrected_of(without)
    made = board(tmp_path / "b.csv", equal, few)
    _, known = corrected_of(made)
    gaps = [
        row_of(found, first)["corrected"].value - row_of(found, second)["corrected"].value
        for found in (blind, known)
    ]
    assert gaps[0] > 0.6 and abs(gaps[1]) < 0.3
    assert blind.pairs["verdict"].tolist() == ["significant"]
    assert known.pairs["verdict"].tolist() == ["not distinguishable"]
    [note] = [note for note in notes_of(made) if note.startswith("Intervals are about")]
    assert "3 people" in note and "taken out" in note
    assert known.facts["raters"] == 3
    assert any("names no raters" in text for text in start_of(without))
    assert "file without raters" in start_of(without)[0]


# --- pairs of models ---


def means(values: list[float], n: list[int]) -> MeanDraws:
    """Means with hardly any noise, over so many questions."""
    noise = np.random.default_rng(0).normal(0, 0.01, (200, len(values)))
    return MeanDraws(np.array(values), np.array(values) + noise, np.array(n), 0, np.array(n))


@pytest.mark.parametrize(("worse", "significant"), [(20, True), (4, False)])
def test_a_worst_case_rests_on_the_fewer_questions_of_both_models(
    worse: int, significant: bool
) -> None:
    judged: Any = SimpleNamespace(leads=(("b", "a"),))
    plain = means([1.0, 5.0], [20, 20])
    worst = (means([0.5, 4.0], [worse, 20]), means([1.5, 6.0], [worse, 20]))
    pairs, ranks = compare_means(plain, worst, ["a", "b"], judged, Resampling())
    [row] = pairs.to_dict("records")
    assert (row["first"], row["second"], row["better_by_judge"]) == ("b", "a", "b")
    assert row["difference"].value == 4
    assert (row["p_worst"] < 0.05) == significant  # four questions that agree: 2 / 2^4
    assert ranks == (((2, 2), (1, 1)) if significant else ((1, 2), (1, 2)))


def test_without_missing_scores_the_worst_case_is_the_comparison_itself() -> None:
    # 40 questions in 8 clusters: both p-values rest on what was drawn, the 8.
    questions = np.full(2, 40)
    plain = replace(means([1.0, 1.013], [40, 40]), n=questions, clusters=np.full(2, 8))
    judged: Any = SimpleNamespace(leads=())
    pairs, _ = compare_means(plain, (plain, plain), ["a", "b"], judged, Resampling())
    [row] = pairs.to_dict("records")
    assert 0.01 < row["p"] == row["p_worst"]


# --- numbers by hand ---


@pytest.mark.parametrize(
    ("p", "deviations", "least_p", "is_unlike"),
    [
        (0.009, 0.1, 0.01, True),
        (0.01, 0.5, 0.01, False),
        (0.009, 0.099, 0.01, False),
        (0.004, 0.5, 0.005, True),
        (0.006, 0.5, 0.005, False),
        (NAN, 0.5, 0.01, False),
    ],
)
def test_rated_answers_are_unlike_the_others_by_a_test_and_a_size(
    p: float, deviations: float, least_p: float, is_unlike: bool
) -> None:
    found = FromAll("a", Estimate(1, 0, 2, 9, 9), deviations, p, least_p)
    assert found.is_unlike == is_unlike


def drawn(values: Floats) -> MeanDraws:
    """Means of two models in so many rounds."""
    number = np.array([20, 20])
    return MeanDraws(values.mean(axis=0), values, number, 0, number)


def spread(deviation: float) -> Floats:
    return np.array([[5 - deviation, 5.0], [5 + deviation, 5.0]] * 2)


@pytest.mark.parametrize(
    ("whole", "alone", "floor", "worth", "more"),
    [
        # weights 1, 1, 2: 16 / 6 of equal weight; four times the variance without the judge
        (1.0, 2.0, 0.0, 4 * 16 / 6, 9),  # a quarter of the variance needs four times as many
        (1.0, 1.0, 0.0, 16 / 6, 9),
        # (1 - 0.04) * 3 / (0.25 - 0.04) = 13.7, less the three there are
        (1.0, 1.0, 0.2, 16 / 6, 11),
        (1.0, 1.0, 0.5, 16 / 6, NAN),  # the questions alone make a quarter
        (1.0, 1.0, 0.49, 16 / 6, NAN),  # it would need more answers than there are
        (0.0, 1.0, 0.0, NAN, NAN),
        (1.0, 0.0, 0.0, NAN, NAN),
    ],
)
def test_what_ratings_are_worth_and_how_many_more_halve_the_interval(
    whole: float, alone: float, floor: float, worth: float, more: float
) -> None:
    parts = [drawn(spread(deviation)) for deviation in (whole, alone, floor)]
    powered = PoweredMeans(*parts)
    weights = np.full(40, NAN)
    weights[:3] = [1, 1, 2]
    assert _worth(powered, 0, weights) == pytest.approx((worth, more), nan_ok=True)


def judged_models(leads: list[tuple[str, str]]) -> Any:
    return SimpleNamespace(leads=leads)


def test_models_are_compared_by_other_means_by_hand() -> None:
    generator = np.random.default_rng(0)
    rounds = generator.normal(0, 0.1, (400, 3)) + np.array([5.0, 7.0, 6.9])
    number = np.array([30, 20, 25])
    means = MeanDraws(np.array([5.0, 7.0, 6.9]), rounds, number, 0, number)
    # of the second model, scores may be missing that take its lead over the first
    low = MeanDraws(means.values - [0, 2.5, 0], rounds - [0, 2.5, 0], number, 0, number)
    judge = judged_models([("x", "y"), ("z", "x")])
    how = Resampling(400, 0.95, 0)
    found, ranks = compare_means(means, (low, means), ["x", "y", "z"], judge, how, (-9.0, 9.0))
    columns = ["first", "second", "better_by_judge", "verdict"]
    assert found[columns].to_numpy().tolist() == [
        ["y", "x", "x", "depends on unscored answers"],
        ["z", "x", "z", "significant"],
        ["y", "z", "", "not distinguishable"],
    ]
    assert [one.value for one in found["difference"]] == pytest.approx([2, 1.9, 0.1])
    assert [one.n for one in found["difference"]] == [20, 25, 20]
    assert found["p_worst"][0] == 1 and found["p_holm"][0] < 0.05
    assert found["p_worst"][1] == pytest.approx(found["p_holm"][1])
    # `z` alone is significantly better than `x`
    assert list(ranks) == [(2, 3), (1, 3), (1, 2)]


def lines_of(
    raters: Mapping[str, float], number: int, model: str, weight: float = 1.0
) -> list[str]:
    return [
        f"{NAMES[number]},{model},{given:g},{rater},{weight:g}" for rater, given in raters.items()
    ]


def test_every_mean_of_ratings_and_count_by_hand(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    judge = np.clip(np.rint(generator.normal(5, 2, (120, 2))), 1, 10)
    judge[100:, 1] = NAN  # twenty questions are not common
    found = answers_of({"p/a": judge[:, 0], "p/b": judge[:, 1]}, NAMES)
    lines = []
    ratings: dict[tuple[str, int], float] = {}
    weight_of = {}
    for model, numbers in (("p/a", range(0, 72, 2)), ("p/b", range(3, 48, 3))):
        for number in numbers:
            raters = {"ann": 1.0 + number % 7, "bo": 2.0 + number % 5}
            weight = 1.0 + number % 3
            lines += lines_of(raters, number, model, weight)
            ratings[model, number] = (raters["ann"] + raters["bo"]) / 2
            weight_of[model, number] = weight
    lines += lines_of({"ann": 5.0}, 110, "p/a")  # no common question
    lines += lines_of({"ann": 5.0}, 111, "p/b")  # and no score either
    header = "id,model,rating,rater,weight"
    _, corrected = corrected_of(board(tmp_path / "a.csv", found, lines, header))
    assert dict(corrected.skipped) == {"score": 1, "column": 0, "row": 1}
    assert list(corrected.raters) == ["ann", "bo"] and corrected.facts["raters"] == 2
    for one in corrected.means.to_dict("records"):
        keys = [key for key in ratings if key[0] == one["model"]]
        if one["column"] != "all":
            even = one["column"] == "Leisure"
            keys = [key for key in keys if (key[1] % 2 == 0) == even]
        own = [ratings[key] for key in keys]
        weights = [weight_of[key] for key in keys]
        assert one["rated"] == len(own)
        plain = sum(w * r for w, r in zip(weights, own, strict=True)) / sum(weights)
        assert one["people"].value == pytest.approx(plain)
        chosen = [
            number
            for number in range(100)
            if one["column"] == "all" or (number % 2 == 0) == (one["column"] == "Leisure")
        ]
        scores_of_model = judge[chosen, MODELS_OF_TWO.index(one["model"])]
        assert one["mean"].value == pytest.approx(scores_of_model.mean())
        assert (one["rank_from"] is None) == (one["column"] != "all")
    columns = corrected.means[["model", "column"]].to_numpy().tolist()
    # of `b`, eight and seven answers to questions of each intent were rated, which are too few
    assert sorted(columns) == [["p/a", "Leisure"], ["p/a", "all"], ["p/b", "all"]]
    assert corrected.means["column"].tolist()[:2] == ["all", "all"]
    # the judge's scores of rated answers, weighted, beside the means of all common ones
    whole, *by_model = corrected.from_all
    [of_a] = [one for one in by_model if one.model == "p/a"]
    above = [
        weight_of[key] * (judge[key[1], 0] - judge[:100, 0].mean())
        for key in ratings
        if key[0] == "p/a"
    ]
    total = sum(weight for key, weight in weight_of.items() if key[0] == "p/a")
    assert of_a.difference.value == pytest.approx(sum(above) / total)
    deviation = judge[:100, 0].std()
    assert of_a.deviations == pytest.approx(abs(of_a.difference.value) / deviation)
    assert [one.least_p for one in corrected.from_all] == [0.01, 0.005, 0.005]
    assert {one.model: one.difference.n for one in by_model} == {"p/a": 36, "p/b": 15}
    of_both = [
        weight_of[key] * (judge[key[1], place] - judge[:100, place].mean())
        for place, name in enumerate(MODELS_OF_TWO)
        for key in ratings
        if key[0] == name
    ]
    assert whole.model == ""
    assert whole.difference.value == pytest.approx(sum(of_both) / sum(weight_of.values()))
    assert whole.difference.n == len({number for _, number in ratings})


MODELS_OF_TWO = ("p/a", "p/b")


@pytest.mark.parametrize(("number", "has_mean"), [(10, True), (9, False)])
def test_ten_rated_answers_make_a_corrected_mean(
    number: int, has_mean: bool, tmp_path: Path
) -> None:
    generator = np.random.default_rng(4)
    judge = np.clip(np.rint(generator.normal(5, 2, (60, 2))), 1, 10)
    found = answers_of({"p/a": judge[:, 0], "p/b": judge[:, 1]}, NAMES[:60])
    lines = [f"{NAMES[place]},p/a,{1 + place % 9},ann" for place in range(30)]
    lines += [f"{NAMES[place]},p/b,{1 + place % 8},ann" for place in range(number)]
    _, corrected = corrected_of(board(tmp_path / "a.csv", found, lines))
    assert ("p/b" in corrected.models) == has_mean
    last = row_of(corrected, "p/b")
    assert last["rated"] == number
    assert math.isnan(last["corrected"].value) != has_mean
    assert (last["rank_from"] is None) != has_mean
    # means over all questions come first, with or without a corrected one
    kinds = ["all", "all", "Leisure", "Factual QA"]
    assert sorted(corrected.means["column"]) == sorted(kinds)
    assert corrected.means["column"].tolist()[:2] == ["all", "all"]
