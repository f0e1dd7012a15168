"""`compare --human`: means and differences of any task that people's labels correct."""

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Said
from tests.comparison.test_samples import write_log, write_saved
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.comparison._compare import compare_with_people
from urs_inspect.reports.numbers._human_data import HumanRatings, read_human_ratings
from urs_inspect.reports.words._corrected import corrected_start, corrected_warnings

Row = Sequence[Any]
MODELS = ("lab/alpha", "lab/beta", "lab/gamma")


def labels(folder: Path, rows: Iterable[Row], *more: str) -> Path:
    """A file of labels: id, model and rating, and more columns."""
    file = folder / "labels.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([("id", "model", "rating", *more), *rows])
    return file


def truth_and_judge(
    seed: int, number: int = 300, bias: Sequence[float] = (0.0, 0.0, 0.0)
) -> tuple[Any, Any]:
    """Whether answers are right, and a judge that calls some wrong ones right, by model."""
    generator = np.random.default_rng(seed)
    hard = generator.normal(size=(number, 1))
    chances = 1 / (1 + np.exp(hard - np.array([1.0, 0.4, -0.2])))
    right = (generator.random(chances.shape) < chances).astype(float)
    lenient = generator.random(right.shape) < np.array(bias)
    return right, np.where(lenient, 1.0, right)


def frame(judge: Any) -> pd.DataFrame:
    rows = [
        (f"s{place:03}", MODELS[model], value) for (place, model), value in np.ndenumerate(judge)
    ]
    return pd.DataFrame(rows, columns=["sample", "model", "value"])


def rows_of(right: Any, chosen: Iterable[int], *more: Any) -> list[Row]:
    return [
        (f"s{place:03}", name, int(right[place, model]), *more)
        for place in chosen
        for model, name in enumerate(MODELS)
    ]


def read(folder: Path, rows: Iterable[Row], *more: str) -> HumanRatings:
    return read_human_ratings(labels(folder, rows, *more), (0.0, 1.0))


def test_labels_turn_an_order_that_the_judge_reversed(tmp_path: Path) -> None:
    right, judge = truth_and_judge(1, bias=(0.0, 0.0, 0.9))
    people = read(tmp_path, rows_of(right, range(60), "ann"), "rater")
    compared, corrected, unused = compare_with_people(frame(judge), people, rounds=800)
    assert compared.names[0] == "lab/gamma"
    assert list(corrected.over_all.index) == list(MODELS)
    for model, name in enumerate(MODELS):
        mean: Any = corrected.over_all.loc[name, "corrected"]
        assert mean.low <= right[:, model].mean() <= mean.high
    assert corrected.trusted
    assert not unused
    last: Any = corrected.pairs.set_index(["first", "second"]).loc[("lab/alpha", "lab/gamma")]
    assert last["verdict"] == "significant"
    assert last["better_by_judge"] == "lab/gamma"


def test_intervals_hold_the_truth_and_differences_too(tmp_path: Path) -> None:
    """100 studies with 30 labels a model and a judge that is partial to one model."""
    # Over many questions of this kind.
    many, _ = truth_and_judge(9, 200_000)
    means = dict(zip(MODELS, many.mean(axis=0), strict=True))
    held = []
    for seed in range(100):
        right, judge = truth_and_judge(seed, 200, bias=(0.0, 0.1, 0.4))
        chosen = np.random.default_rng(seed).choice(200, 30, replace=False)
        people = read(tmp_path, rows_of(right, chosen))
        _, corrected, _ = compare_with_people(frame(judge), people, rounds=300, seed=seed)
        mean: Any
        for name, mean in corrected.over_all["corrected"].items():
            held.append(mean.low <= means[str(name)] <= mean.high)
        pair: Any
        for pair in corrected.pairs.itertuples():
            gap = means[str(pair.first)] - means[str(pair.second)]
            held.append(pair.difference.low <= gap <= pair.difference.high)
    assert np.mean(held) > 0.935


def test_answers_that_were_labelled_worst_first_make_no_headline(tmp_path: Path) -> None:
    right, judge = truth_and_judge(2, bias=(0.1, 0.1, 0.1))
    worst = np.argsort(judge[:, 1], kind="stable")[:60]
    rows = rows_of(right, worst)
    compared, corrected, _ = compare_with_people(frame(judge), read(tmp_path, rows), rounds=2000)
    assert not corrected.trusted
    assert any(
        "beta" in warning and "unlike" in warning
        for warning in corrected_warnings(corrected, compared)
    )
    # With weights the file says how it was drawn, and a warning is enough.
    weighted = [(*row, 1) for row in rows]
    people = read(tmp_path, weighted, "weight")
    compared, corrected, _ = compare_with_people(frame(judge), people, rounds=2000)
    assert corrected.trusted
    assert any("unlike" in warning for warning in corrected_warnings(corrected, compared))
    # A random sample raises neither.
    people = read(tmp_path, rows_of(right, range(60)))
    compared, corrected, _ = compare_with_people(frame(judge), people, rounds=400)
    assert corrected.trusted
    assert not any("unlike" in warning for warning in corrected_warnings(corrected, compared))


def test_random_samples_are_rarely_called_unlike(tmp_path: Path) -> None:
    called = []
    for seed in range(75):
        right, judge = truth_and_judge(seed, 200, bias=(0.2, 0.2, 0.2))
        chosen = np.random.default_rng(seed).choice(200, 40, replace=False)
        people = read(tmp_path, rows_of(right, chosen))
        _, corrected, _ = compare_with_people(frame(judge), people, rounds=200, seed=seed)
        called.append(not corrected.trusted)
    assert np.mean(called) <= 0.03


def test_half_of_the_models_labelled(tmp_path: Path) -> None:
    right, judge = truth_and_judge(3)
    rows = [row for row in rows_of(right, range(40)) if row[1] != "lab/beta"]
    compared, corrected, _ = compare_with_people(frame(judge), read(tmp_path, rows), rounds=400)
    known = corrected.over_all["rank_from"].notna()
    assert known.to_dict() == {"lab/alpha": True, "lab/gamma": True, "lab/beta": False}
    assert any("beta" in sentence for sentence in corrected_start(corrected, compared))


def test_labels_that_are_all_right_give_bounds(tmp_path: Path) -> None:
    right = np.ones((100, 3))
    people = read(tmp_path, rows_of(right, range(20)))
    _, corrected, _ = compare_with_people(frame(right), people, rounds=400)
    for mean in corrected.over_all["corrected"]:
        assert 0.7 < mean.low < 1
        assert mean.high == 1


def test_labels_of_other_samples_and_models_are_counted(tmp_path: Path) -> None:
    right, judge = truth_and_judge(4)
    rows = [*rows_of(right, range(30)), ("other", "lab/alpha", 1), ("s000", "lab/unknown", 1)]
    _, _, unused = compare_with_people(frame(judge), read(tmp_path, rows), rounds=100)
    assert len(unused) == 2
    with pytest.raises(InputError) as error:
        compare_with_people(frame(judge), read(tmp_path, rows[-2:]), rounds=100)
    for words in ("labels.csv", "none of 2", "lab/unknown", "lab/gamma", "s000"):
        assert tells(error.value, words)


# --- the command ---


def write_runs(folder: Path, judge: Any, **spec: Any) -> list[str]:
    """A log of an inspect task for each model, with letters as scores."""
    return [
        write_log(
            folder,
            name,
            ["C" if value else "I" for value in judge[:, model]],
            scorer="model_graded_qa",
            **spec,
        )
        for model, name in enumerate(MODELS)
    ]


def numbered(rows: Iterable[Row]) -> list[Row]:
    """The ids of `write_log`, and letters as labels."""
    return [(int(row[0][1:]), row[1], "CI"[1 - row[2]], *row[3:]) for row in rows]


def test_logs_of_a_task_with_letters(tmp_path: Path, said: Said, facts: Callable[..., Any]) -> None:
    right, judge = truth_and_judge(5, 120, bias=(0.0, 0.0, 0.8))
    logs = write_runs(tmp_path, judge)
    rows = numbered(rows_of(right, range(40), "ann"))
    file = labels(tmp_path, rows, "rater")
    words = said("compare", *logs, "--human", file)
    assert "corrected by people" in words
    assert words.index("alpha") < words.index("gamma")
    read = facts("compare", *logs, "--human", file)
    assert read["raters"] == 1
    assert tells(read["headline"], "one person ... alpha")
    two = [(*row[:-1], f"p{place // 3 % 2}") for place, row in enumerate(rows)]
    (tmp_path / "two").mkdir()
    by_two = labels(tmp_path / "two", two, "rater")
    assert tells(said("compare", *logs, "--human", by_two), "these 2 people ... alpha")
    tables = {"corrected", "corrected_differences"}
    assert tables <= set(read["tables"])
    output = tmp_path / "out"
    said("compare", *logs, "--human", file, "-o", output)
    assert {"corrected.csv", "corrected_differences.csv"} <= {
        each.name for each in output.iterdir()
    }


def test_the_first_screen_names_labels_that_do_not_count(tmp_path: Path, said: Said) -> None:
    right, judge = truth_and_judge(9, 120)
    logs = write_runs(tmp_path, judge)
    rows = []
    for model, name in enumerate(MODELS):
        worst = np.argsort(judge[:, model], kind="stable")[:30]
        rows += [(int(place), name, int(right[place, model])) for place in worst]
    given = ("compare", *logs, "--human-scale", "0,1", "--human")
    words = said(*given, labels(tmp_path, rows))
    assert tells(words, "unlike the others ... alpha ... beta ... 1 more model")
    assert "corrected by people" not in words
    unknown = [(900 + place, "lab/alpha", 1) for place in range(7)]
    words = said(*given, labels(tmp_path, [*rows, *unknown]))
    assert tells(words, "7 of 97 ratings ... none of these answers ... unlike the others")
    half = [row for row in numbered(rows_of(right, range(40))) if row[1] != "lab/beta"]
    words = said(*given, labels(tmp_path, half))
    assert tells(words, "No corrected mean ... beta 0")


def test_samples_that_lm_eval_saved(tmp_path: Path, said: Said) -> None:
    right, judge = truth_and_judge(6, 80, bias=(0.0, 0.0, 0.8))
    for model, name in enumerate(MODELS):
        lines = [{"doc_id": place, "acc": float(judge[place, model])} for place in range(80)]
        write_saved(tmp_path, name.replace("/", "_"), lines)
    named = [
        (int(row[0][1:]), row[1].replace("/", "_"), row[2]) for row in rows_of(right, range(40))
    ]
    words = said("compare", tmp_path, "--human", labels(tmp_path, named), "--human-scale", "0,1")
    assert "corrected by people" in words


def test_what_is_refused(tmp_path: Path, refused: Said) -> None:
    right, judge = truth_and_judge(7, 40)
    logs = write_runs(tmp_path, judge)
    file = labels(tmp_path, numbered(rows_of(right, range(20))))
    assert "higher" in refused("compare", *logs, "--human", file, "--lower-is-better")
    assert "--human" in refused("compare", *logs, "--human-scale", "0,1")
    numbers = labels(tmp_path, [(0, "lab/alpha", 3)])
    assert "human-scale" in refused("compare", *logs, "--human", numbers)
    mixed = labels(tmp_path, [(0, "lab/alpha", "C"), (1, "lab/alpha", 3)])
    error = refused("compare", *logs, "--human", mixed, "--human-scale", "0,5")
    assert "line 2" in error and "0 to 5" in error
    both = [(0, "lab/alpha", "C", "ann"), (0, "lab/alpha", "I", "ann")]
    error = refused("compare", *logs, "--human", labels(tmp_path, both, "rater"))
    assert "ann" in error and "line 3" in error
    assert "no data file" in refused("compare", *logs, "--human", tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("ratings", "named"),
    [
        ((), "no rating in ... labels.csv"),
        (("", " "), "no rating in ... labels.csv"),
        ((1, "maybe", 3), "labels.csv ... 3 ... maybe ... allowed"),
        (("C", "maybe"), "labels.csv ... 3 ... maybe ... allowed"),
        ((1, ""), "labels.csv ... lines 2, 3 ... allowed ... --human-scale"),
    ],
)
def test_a_file_that_is_no_set_of_labels_is_refused_before_its_scale_is_asked_for(
    ratings: Sequence[Any], named: str, tmp_path: Path
) -> None:
    file = labels(tmp_path, [(place, "a", rating) for place, rating in enumerate(ratings)])
    with pytest.raises(InputError) as refusal:
        read_human_ratings(file, None)
    assert tells(refusal.value.message, named)
    assert "name the lowest" not in refusal.value.message


def test_labels_in_json_lines_are_booleans(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    rows = [{"id": place, "model": "a", "rating": place % 2 == 0} for place in range(4)]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    read = read_human_ratings(file, None)
    assert read.scale == (0.0, 1.0)
    assert [rating.rating for rating in read.ratings] == [1.0, 0.0, 1.0, 0.0]
