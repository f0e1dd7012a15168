"""What the report of `compare` says, in every case, and where models and scores are counted."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.comparison.test_compare import frame, right, sample_scores
from tests.comparison.test_people import labels
from tests.reports.golden_files import check_golden
from tests.reports.test_words import corrected
from urs_inspect._util import InputError
from urs_inspect.comparison import compare
from urs_inspect.comparison._compare import compare_with_people, match_answers
from urs_inspect.comparison._report import _formats, report_comparison, unmatched_ratings
from urs_inspect.comparison._samples import SampleScores
from urs_inspect.reports import Report
from urs_inspect.reports._unused_ratings import Lost
from urs_inspect.reports.numbers._human_data import HumanRating, read_human_ratings
from urs_inspect.reports.numbers._scores import ALL

NAN = math.nan


def report_of(table: pd.DataFrame, facts: dict[str, Any], **options: Any) -> Report:
    difference = options.pop("difference", None)
    scores: SampleScores = sample_scores(table, **({"left_out": ()} | facts))
    compared = compare(table, rounds=200, **options)
    baseline = options.get("baseline")
    return report_comparison(compared, scores, baseline=baseline, difference=difference)


def beside_a_baseline() -> pd.DataFrame:
    """Models that are better than the second, worse, and neither."""
    values = right(5, 120, 2.5, 0.4, 0.5, -1.8)
    return frame(values, group=["x", "y", "y"] * 40)


SHIFTS = {"a": 0, "b": 2, "c": 30}


def losses() -> pd.DataFrame:
    """Scores with three digits, of which a lower one is better."""
    draws = np.random.default_rng(1)
    hard = draws.normal(200, 40, 60)
    return frame({name: hard + draws.normal(shift, 9, 60) for name, shift in SHIFTS.items()})


def other_samples() -> pd.DataFrame:
    """A model that lacks scores, one that was asked less, and one that is not ranked."""
    values = right(2, 150, 0.0, 1.0, 0.5)
    values["lab/model-0"][[3, 70]] = NAN
    values["lab/model-2"][40:] = NAN
    table = frame(values)
    is_asked_less = (table["model"] == "lab/model-1") & (table["sample"] >= "s130")
    return table[~is_asked_less]


def in_clusters() -> pd.DataFrame:
    values = {"p/a": [1.0, 2, 3] * 20, "p/b": [2.0, 2, 4] * 20, "p/c": [1.0, 3, 3] * 20}
    return frame(values, cluster=[str(place // 3) for place in range(60)])


def equal() -> pd.DataFrame:
    return frame({"p/a": [1.0, 0.0] * 30, "p/b": [1.0, 0.0] * 30})


def alike() -> pd.DataFrame:
    """Two models with the same scores, and two others."""
    draws = np.random.default_rng(3)
    values = {name: draws.integers(0, 2, 60) * 1.0 for name in ("p/a", "p/c")}
    wide = values["p/a"].copy()
    wide[::2] = draws.normal(0.5, 2, 30)
    return frame(values | {"p/b": values["p/a"], "p/d": wide})


def lacking(*numbers: int) -> Callable[[], pd.DataFrame]:
    def table() -> pd.DataFrame:
        values = right(4, 100, 0.0, 2.5)
        for model, number in zip(values, numbers, strict=True):
            values[model][:number] = NAN
        return frame(values)

    return table


CASES: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, Any], dict[str, Any]]] = {
    "a baseline by its short name": (
        beside_a_baseline,
        {"judge": "p/judge", "higher_is_better": None},
        {"baseline": "model-1", "difference": 0.1},
    ),
    "the same without a baseline": (beside_a_baseline, {"judge": "p/judge"}, {}),
    "lower is better, on no known scale": (
        losses,
        {"scale": None, "simulated": True, "notes": ("Epochs are reduced by mean.",)},
        {"lower_is_better": True, "difference": 5},
    ),
    "a direction that is not known": (
        losses,
        {"scale": None, "higher_is_better": None, "left_out": ("b.eval was left out.",)},
        {"level": 0.9},
    ),
    "other samples, and a model that is not ranked": (other_samples, {}, {"scale": (0, 1)}),
    "2% without a score": (lacking(2, 0), {}, {"scale": (0, 1)}),
    "3% without a score": (lacking(0, 3), {}, {"scale": (0, 1), "lower_is_better": True}),
    "a lead that missing scores may have made": (lacking(0, 45), {}, {"scale": (0, 1)}),
    "clusters": (in_clusters, {"scale": (0.0, 5.0)}, {"difference": 0.5}),
    "alike, on a wide scale": (alike, {"scale": (0.0, 100.0)}, {}),
    "equal scores": (equal, {}, {"difference": 0.1}),
    "twelve samples": (lambda: frame(right(9, 12, 0.0, 0.4)), {}, {}),
}


def test_the_report_of_every_kind_of_comparison() -> None:
    parts = []
    for name, (table, facts, options) in CASES.items():
        made = report_of(table(), facts, **options)
        shown = {key: made.as_dict()[key] for key in FACTS}
        parts.append(
            f"<!-- {name} {options or ''} -->\n\n{made.markdown()}\n"
            f"    {json.dumps(shown, ensure_ascii=False)}\n"
        )
    check_golden("comparison_cases", "\n".join(parts))


FACTS = (
    *("headline", "baseline", "lower_is_better", "task", "scorer", "judge", "simulated"),
    *("chosen", "scale", "left_out", "asked", "question_counts", "notes"),
)


def people(folder: Path, kind: str) -> Report:
    """A comparison with labels that are trusted, worst first, or in part of other answers."""
    draws = np.random.default_rng(3)
    truth = {name: (draws.random(120) < chance) * 1.0 for name, chance in RATES.items()}
    judged = {name: values.copy() for name, values in truth.items()}
    judged["lab/gamma"][draws.random(120) < 0.8] = 1.0
    groups = {"group": ["x", "y"] * 60} if kind == "trusted" else {}
    table = frame(judged, **groups)
    rows = []
    for name, values in truth.items():
        places = np.arange(60)
        if kind == "worst":
            places = np.argsort(judged[name], kind="stable")[:30]
        rows += [(f"s{place:03}", name, int(values[place])) for place in places]
    if kind == "lost":
        rows += [(f"other{place}", "lab/alpha", 1) for place in range(7)]
    human = read_human_ratings(labels(folder, rows), (0.0, 1.0))
    compared, corrected, unused = compare_with_people(table, human, scale=(0, 1), rounds=200)
    facts: dict[str, Any] = {"left_out": tuple(unused)}
    if kind == "worst":
        facts["judge"] = "p/judge"
    scores = sample_scores(table, **facts)
    return report_comparison(compared, scores, corrected)


RATES = {"lab/alpha": 0.8, "lab/beta": 0.6, "lab/gamma": 0.3}


def test_the_report_of_a_comparison_that_people_correct(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = []
    for kind in ("trusted", "worst", "lost"):
        Path(kind).mkdir()
        made = people(Path(kind), kind)
        assert made.first is not None
        parts.append(
            f"<!-- labels: {kind}; warnings that are kept: {made.first.kept} -->\n\n"
            f"{made.markdown()}\n    {made.as_dict()['headline']}\n"
        )
    check_golden("comparison_people", "\n".join(parts))


@pytest.mark.parametrize(("models", "shown"), [(10, 45), (11, 10 + 9)])
def test_of_more_than_ten_models_some_pairs_are_shown(models: int, shown: int) -> None:
    table = frame(right(8, 20, *np.linspace(0, 1, models)))
    compared = compare(table, rounds=50)
    made = report_comparison(compared, sample_scores(table), difference=0.2)
    [_, differences, *_] = made.sections
    pairs = differences.tables[0].data
    assert "Needed for 0.2" in pairs
    assert len(pairs) == shown
    best = compared.short[compared.names[0]]
    assert (pairs["First"] == best).sum() == models - 1


# --- counts and scales ---


def test_files_of_a_comparison_have_every_model_in_every_column() -> None:
    table = other_samples()
    table["group"] = table["sample"].str[-1]
    tables = report_of(table, {}).tables()
    names = sorted(table["model"].unique())
    means = tables["means"]
    for _, column in means.groupby("column"):
        assert sorted(column["model"]) == names
    by_model = tables["models"].set_index("model")["mean"]
    of_all = means[means["column"] == ALL].set_index("model")["mean"]
    assert of_all.to_dict() == by_model.to_dict()
    assert list(tables["models"]["model"]) == list(means["model"][: len(names)])


@pytest.mark.parametrize(
    ("scale", "factor", "shown"),
    [
        ((0.0, 1.0), 1, ["0.667", "+0.333"]),
        ((-10.0, 10.0), 1, ["0.67", "+0.33"]),
        ((0.0, 100.0), 1, ["0.7", "+0.3"]),
        ((-101.0, -1.0), 1, ["0.7", "+0.3"]),
        (None, 1, ["0.667", "+0.333"]),
        (None, 10, ["0.67", "+0.33"]),
        (None, -100, ["0.7", "+0.3"]),
    ],
)
def test_decimals_are_those_of_the_scale_or_of_the_largest_mean(
    scale: tuple[float, float] | None, factor: float, shown: list[str]
) -> None:
    table = frame({"a": [1.0 * factor] * 20, "b": [0.5 * factor] * 20})
    scores = sample_scores(table, left_out=(), scale=scale)
    plain, signed = _formats(compare(table, rounds=50), scores)
    assert [plain(2 / 3), signed(1 / 3)] == shown


def test_options_of_the_bootstrap_are_used() -> None:
    table = frame(right(3, 60, 0.0, 1.0))
    for options in ({}, {"level": 0.8, "seed": 4}, {"rounds": 300}):
        used: dict[str, Any] = {"rounds": 200, "level": 0.95, "seed": 0} | options
        [pair] = compare(table, **({"rounds": 200} | options)).comparisons[ALL]
        assert pair.difference.rounds == used["rounds"]
        assert pair.difference.level == used["level"]
    low = [
        compare(table, rounds=200, seed=seed).comparisons[ALL][0].difference.low
        for seed in (1, 1, 2)
    ]
    assert low[0] == low[1] != low[2]


@pytest.mark.parametrize(
    ("values", "clusters", "two_valued"),
    [
        ([1, 0, 1, 0], None, True),
        ([3, 7, 3, 7], None, True),
        ([0.5, 0, 1, 0], None, False),
        ([1, 0, 1, 0], list("ppqq"), False),
        ([1, 1, 1, 1], None, True),
        ([1, 0, NAN, 0], None, True),
    ],
)
def test_scores_of_two_values_are_known_as_such(
    values: list[float], clusters: list[str] | None, two_valued: bool
) -> None:
    facts = {"cluster": clusters * 3} if clusters else {}
    table = frame({"a": values * 3, "b": [values[0], values[1]] * 6}, **facts)
    assert compare(table, rounds=50).two_valued == two_valued


@pytest.mark.parametrize("lower", [False, True])
def test_means_at_worst_and_best_are_those_of_the_lowest_and_the_highest_score(lower: bool) -> None:
    values = {"a": np.array([2.0, 3, 5, 4] * 10), "b": np.array([4.0, 5, 5, 6] * 10)}
    values["a"][0] = NAN
    values["b"][[1, 2, 3]] = NAN
    models = compare(frame(values), scale=(1, 10), rounds=50, lower_is_better=lower).models
    for name, given in values.items():
        assert models.loc[name, "mean_scored"] == pytest.approx(np.nanmean(given))
        lowest, highest = (np.nan_to_num(given, nan=end).mean() for end in (1.0, 10.0))
        assert models.loc[name, "mean_lowest"] == pytest.approx(lowest)
        assert models.loc[name, "mean_highest"] == pytest.approx(highest)
        assert models.loc[name, "unscored"] == np.isnan(given).sum()
    assert list(models.index) == (["a", "b"] if lower else ["b", "a"])


def test_groups_and_clusters_that_are_missing_have_names_of_their_own() -> None:
    values = right(7, 60, 0.0, 0.5)
    groups = [None, "z", "b"] * 20
    compared = compare(frame(values, group=groups), rounds=50)
    assert list(compared.question_counts.items()) == [
        (ALL, 60),
        ("(none)", 20),
        ("b", 20),
        ("z", 20),
    ]
    clusters = [None, None, "p", "p"] * 15
    table = frame(values, cluster=clusters)
    assert compare(table, rounds=50).means[ALL][0].clusters == 31


def test_numbers_as_text_are_numbers_and_truth_values_too() -> None:
    table = frame({"a": ["1", "0.5"] * 6, "b": [True, False] * 6})
    means = compare(table, rounds=50).means[ALL]
    assert [mean.value for mean in means] == [0.75, 0.5]
    lacking = pd.array([True, None, False] * 4, dtype="boolean")
    means = compare(frame({"a": lacking, "b": [1.0] * 12}), rounds=50).means[ALL]
    assert [(mean.value, mean.n) for mean in means] == [(1.0, 8), (0.5, 8)]


@pytest.mark.parametrize(
    ("scale", "refused"),
    [((0, 1), False), ((0, 0.9), True), ((0.1, 1), True), ((-5, 5), False), (None, False)],
)
def test_a_scale_holds_all_scores(scale: Any, refused: bool) -> None:
    table = frame({"a": [1.0, 0.0] * 6, "b": [0.5, 1.0] * 6})
    if not refused:
        compare(table, scale=scale, rounds=50)
        return
    with pytest.raises(InputError, match="scale"):
        compare(table, scale=scale, rounds=50)


def test_equal_scores_of_all_need_no_scale() -> None:
    table = frame({"a": [3.0] * 12, "b": [3.0] * 12})
    assert not compare(table, rounds=50).comparisons[ALL][0].significant
    with pytest.raises(InputError, match="scale"):
        compare(table, scale=(3, 3), rounds=50)


def test_a_baseline_with_too_few_scores_is_refused() -> None:
    values = right(1, 40, 0.0, 1.0, 2.0)
    values["lab/model-1"][:25] = NAN
    table = frame(values)
    verdicts = [pair.verdict for pair in compare(table, rounds=50).comparisons[ALL]]
    assert verdicts.count("not comparable") == 2
    assert compare(table, rounds=50, baseline="model-0").ranked[0] == "lab/model-2"
    with pytest.raises(InputError) as refused:
        compare(table, rounds=50, baseline="model-1")
    for words in ("lab/model-1 15", "lab/model-0 40", "lab/model-2 40"):
        assert words in refused.value.message


# --- labels of people ---


def test_labels_meet_the_mean_of_all_epochs_and_the_clusters(tmp_path: Path) -> None:
    once = frame({"lab/alpha": [1.0] * 12, "lab/beta": [0.0] * 12}, cluster=list("pqrstu") * 2)
    again = once.assign(value=[0.0] * 6 + [1.0] * 6 + [0.0] * 12)
    table = pd.concat([once, again], ignore_index=True)
    rows = [(f"s{place:03}", model, 1) for place in range(10) for model in RATES]
    file = labels(tmp_path, [*rows, ("s900", "lab/alpha", 1)])
    human = read_human_ratings(file, (0.0, 1.0))
    left_out: list[str] = []
    names = {name: name for name in ("lab/alpha", "lab/beta")} | {"alpha": "lab/alpha"}
    matched = match_answers(table, names, human, left_out)
    found = {}
    for answer in matched.answers.to_dict("records"):
        found[answer["question"], answer["model"]] = answer
    assert len(found) == 20
    assert found["s001", "lab/alpha"]["score"] == 0.5
    assert found["s007", "lab/alpha"]["score"] == 1.0
    assert found["s007", "lab/beta"]["score"] == 0.0
    assert found["s001", "lab/alpha"]["cluster"] == found["s007", "lab/beta"]["cluster"]
    assert len(left_out) >= 1
    of_epochs = [(f"s{place:03}", "lab/alpha", 1, place % 2 + 1) for place in range(4)]
    file = labels(tmp_path, of_epochs, "epoch")
    by_epoch = match_answers(table, names, read_human_ratings(file, (0.0, 1.0)), []).answers
    assert by_epoch.set_index("question")["score"].tolist() == [0.5] * 4
    compared, _, unused = compare_with_people(table, human, rounds=100)
    assert unused == left_out
    assert compared.means[ALL][0].clusters == 6


def test_the_scale_of_labelled_scores_is_given_or_known(tmp_path: Path) -> None:
    rows = [(f"s{place:03}", model, place % 2) for place in range(12) for model in "ab"]
    human = read_human_ratings(labels(tmp_path, rows), (0.0, 1.0))
    letters = frame({"a": [1.0, 0.0] * 6, "b": [1.0, NAN, 0.0] * 4})
    halves = letters.assign(value=letters["value"].where(letters["value"] != 0, 0.5))
    for table, scale, known in (
        (letters, None, True),
        (halves, None, False),
        (halves, (0, 1), True),
    ):
        if known:
            compared, *_ = compare_with_people(table, human, scale=scale, rounds=50)
            of_b = compared.models.loc[["b"]].to_dict("records")[0]
            assert of_b["mean_highest"] - of_b["mean_lowest"] == pytest.approx(1 / 3)
        else:
            with pytest.raises(InputError, match=r"scale.*0.5 to 1"):
                compare_with_people(table, human, scale=scale, rounds=50)
    with pytest.raises(InputError, match="human"):
        compare_with_people(letters, human, lower_is_better=True, rounds=50)


def test_a_baseline_is_kept_where_people_correct(tmp_path: Path) -> None:
    rows = [(f"s{place:03}", model, place % 2) for place in range(12) for model in "abc"]
    human = read_human_ratings(labels(tmp_path, rows), (0.0, 1.0))
    draws = np.random.default_rng(2)
    table = frame({name: draws.integers(0, 2, 40) * 1.0 for name in "abc"}, group=["x", "y"] * 20)
    compared, _, _ = compare_with_people(table, human, baseline="b", rounds=100, seed=3)
    plain = compare(table, baseline="b", scale=(0, 1), rounds=100, seed=3)
    assert compared.comparisons == plain.comparisons
    assert len(compared.comparisons[ALL]) == 2
    assert list(replace(compared).question_counts) == [ALL, "x", "y"]


@pytest.mark.parametrize("lost", [1, 2])
def test_ratings_of_nothing_are_counted(lost: int) -> None:
    found, _ = corrected()
    rating = found.human.ratings[0]
    given: dict[HumanRating, Lost] = {
        replace(rating, place=str(place)): "answer" for place in range(lost)
    }
    text = unmatched_ratings(replace(found, matched=replace(found.matched, lost=given)))
    assert text.startswith(f"{lost} of 144 ratings in ratings.csv ")
    assert (" is about" in text) is (lost == 1)
