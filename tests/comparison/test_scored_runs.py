"""What counts of logs and files of samples: panels, raters, epochs, settings, tasks, arguments."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inspect_ai.log import (
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalPlan,
    EvalResults,
    EvalScore,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import GenerateConfig, ModelConfig

from tests.comparison.test_samples import ACC, FAILED, by_model, write_log, write_saved
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.comparison._samples import read_sample_scores, refuse_beyond, task_of

NAN = math.nan
Facts = Mapping[str, Any]


def changed(log: str, *, results: EvalResults | None = None, **spec: Any) -> str:
    """A log with another header."""
    read = read_eval_log(log)
    for name, value in spec.items():
        setattr(read.eval, name, value)
    if results is not None:
        read.results = results
    write_eval_log(read, log)
    return log


def with_facts(log: str, facts: Sequence[Facts]) -> str:
    """A log whose scores have these metadata, one for each sample."""
    read: EvalLog = read_eval_log(log)
    for sample, known in zip(read.samples or [], facts, strict=True):
        for score in (sample.scores or {}).values():
            score.metadata = dict(known)
    write_eval_log(read, log)
    return log


def values_of(*logs: str, **options: Any) -> dict[str, str]:
    scores = read_sample_scores(logs, **options)
    return {model: str(values) for model, values in by_model(scores).items()}


# --- panels of judges, raters and replies ---

WHOLE: Facts = {"outcome": "scored", "judge_finals": [["x", 7], ["y", 8]]}


def part_of(*finals: tuple[str, float | None]) -> Facts:
    return {"outcome": "partial_panel", "judge_finals": [list(each) for each in finals]}


def test_a_score_that_lacks_a_judge_of_the_panel_is_none(tmp_path: Path) -> None:
    facts = [
        WHOLE,
        part_of(("x", 7), ("y", None)),
        part_of(("x", 7), ("y", 8), ("dead", None)),  # which gave no score in any log
        {"outcome": "partial_panel"},  # whoever they were
        part_of(("x", 7), ("y", None), ("dead", None)),
    ]
    one = with_facts(write_log(tmp_path, "a", [7, 7, 7, 7, 7]), facts)
    given = [WHOLE, WHOLE, facts[1], WHOLE, WHOLE]
    other = with_facts(write_log(tmp_path, "b", [5, 6, 7, 8, 9]), given)
    scores = read_sample_scores([one, other])
    assert str(by_model(scores)["a"]) == "[7.0, nan, 7.0, nan, nan]"
    assert str(by_model(scores)["b"]) == "[5.0, 6.0, nan, 8.0, 9.0]"
    assert scores.scored_by == {"x", "y"}
    assert tells(scores.chosen, "4 scores (3 in ... a0.eval, 1 in ... b0.eval)")
    whole = with_facts(write_log(tmp_path, "c", [7, 7, 7, 7]), [WHOLE] * 4)
    assert "panel" not in read_sample_scores([whole]).chosen


def test_a_final_score_of_0_is_one_and_judges_that_a_summary_cuts_off_are_not_known(
    tmp_path: Path,
) -> None:
    facts = [
        WHOLE,
        part_of(("x", 0), ("y", 8), ("dead", None)),
        {"outcome": "partial_panel", "judge_finals": "[['x', 7], ['y', 8], ..."},
        {"outcome": "scored", "judge_finals": "[['x', 7], ['y', 8], ..."},
    ]
    log = with_facts(write_log(tmp_path, "a", [7, 4, 7, 7]), facts)
    assert values_of(log) == {"a": "[7.0, 4.0, nan, 7.0]"}
    assert read_sample_scores([log]).scored_by == {"x", "y"}


def test_a_judge_that_another_log_lacks_is_missing_there(tmp_path: Path) -> None:
    facts = part_of(("x", 7), ("y", None))
    alone = with_facts(write_log(tmp_path, "a", [7, 7]), [facts] * 2)
    assert values_of(alone) == {"a": "[7.0, 7.0]"}
    both = with_facts(write_log(tmp_path, "b", [7, 7]), [WHOLE] * 2)
    assert values_of(alone, both)["a"] == "[nan, nan]"


def raters(*names: str) -> Facts:
    return {"raters": dict.fromkeys(names, 5)}


def test_people_whose_ratings_the_scores_are_are_named(tmp_path: Path) -> None:
    given: dict[str, list[Facts]] = {
        "a": [raters("ann", "ben"), raters("ann"), raters("ann")],
        "b": [raters("ann"), raters("ben"), {}],
        "c": [{}, {}, {}],
    }
    for model, facts in given.items():
        values = [5.0 if known or model == "c" else None for known in facts]
        with_facts(
            write_log(tmp_path, model, values, scorer="human_rating", others={"x": 1}), facts
        )
    about = read_sample_scores([str(tmp_path)]).chosen
    for words in ("a by ann (3), ben (1)", "b by ann (1), ben (1)", "c by nobody"):
        assert words in about
    alone = read_sample_scores([next(map(str, tmp_path.glob("*_a*.eval")))]).chosen
    assert tells(alone, "a by ann (3), ben (1)") and "confounded" not in alone
    other = with_facts(write_log(tmp_path, "d", [5.0], scorer="graded"), [raters("ann")])
    assert "ann" not in read_sample_scores([other]).chosen


@pytest.mark.parametrize(("by_same", "confounded"), [(10, False), (9, True), (0, True)])
def test_models_that_no_rater_links_are_confounded(
    tmp_path: Path, by_same: int, confounded: bool
) -> None:
    for model, rater in (("a", "ann"), ("b", "ben")):
        facts = [raters("cas")] * by_same + [raters(rater)] * (14 - by_same)
        log = write_log(tmp_path, model, [5.0] * 14, scorer="human_rating")
        with_facts(log, facts)
    assert ("confounded" in read_sample_scores([str(tmp_path)]).chosen) == confounded


def facts_of_every_kind() -> Facts:
    """What the metadata of a score may say that changes what is read of it, or what is told."""
    counts = {"p/judge": {"unkeyed": 3, "replies": 4, "near_key": 1}}
    return {**part_of(("x", 7), ("y", None)), **raters("ann"), "reply_counts": counts}


@pytest.mark.parametrize("of_others", [True, False])
def test_the_facts_of_a_score_are_those_of_its_own_scorer(tmp_path: Path, of_others: bool) -> None:
    """Scorers before it and behind it say something else of the same sample."""
    others = {"a_rating": 3, "z_rating": 4}
    files = []
    for model in ("a", "b"):
        file = write_log(tmp_path, model, [7.0, 8.0], scorer="human_rating", others=others)
        log = read_eval_log(file)
        for place, sample in enumerate(log.samples or []):
            given = dict(sample.scores or {})
            own = given.pop("human_rating")
            sample.scores = {"a_rating": given["a_rating"], "human_rating": own, **given}
            for name, score in sample.scores.items():
                whole = {**WHOLE, "structured": (name != "human_rating") == of_others}
                score.metadata = {**whole, "reply_counts": {"p/judge": {"replies": 5}}}
                if place == 0 and (name != "human_rating") == of_others:
                    score.metadata = dict(facts_of_every_kind())
        write_eval_log(log, file)
        files.append(file)
    scores = read_sample_scores(files)
    first = 7.0 if of_others else NAN
    for values in by_model(scores).values():
        assert values == pytest.approx([first, 8.0], nan_ok=True)
    assert ("ann" in scores.chosen) == (not of_others)
    assert ("unkeyed" in scores.chosen) == (not of_others)


def test_replies_without_a_key_are_counted_over_all_logs(tmp_path: Path) -> None:
    for model, unkeyed in (("a", 1), ("b", 0)):
        facts = {"reply_counts": {"p/judge": {"unkeyed": unkeyed, "replies": 4, "near_key": 1}}}
        with_facts(write_log(tmp_path, model, [5.0, 5.0]), [facts, facts])
    about = read_sample_scores([str(tmp_path)]).chosen
    assert tells(about, "p/judge: 16 ... unkeyed 2, near key 4 ... p/judge ... 2 of 16")
    quiet = write_log(tmp_path / "quiet", "a", [5.0])
    assert "p/judge" not in read_sample_scores([quiet]).chosen


# --- epochs ---


def test_samples_with_fewer_epochs_lack_some(tmp_path: Path) -> None:
    """A sample that was not asked as often as the others lacks epochs."""
    log = read_eval_log(write_log(tmp_path, "a", ["C", "I", "C", "C"], epochs=2))
    assert log.samples is not None
    log.samples = log.samples[:3]
    write_eval_log(log, log.location)
    scores = read_sample_scores([log.location])
    assert scores.table["epochs"].tolist() == [2, 2]
    assert scores.table["scored"].tolist() == [2, 1]
    assert tells(scores.chosen, "1 of 4 answers ... epochs: 1 ... none: 0")
    assert scores.answers["value"].notna().sum() == 3


@pytest.mark.parametrize(
    ("reducer", "differ"), [("median", False), ("pass_at_1", False), ("max", True), ("mode", True)]
)
def test_reducers_that_depend_on_the_number_of_epochs_do_not_compare(
    tmp_path: Path, reducer: str, differ: bool
) -> None:
    two = write_log(tmp_path, "a", "CICI", epochs=2, reduced=(reducer, [0.5, 0.25]))
    three = write_log(tmp_path, "b", "CICICI", epochs=3, reduced=(reducer, [0.75, 0.0]))
    assert values_of(two) == {"a": "[0.5, 0.25]"}
    if differ:
        with pytest.raises(InputError, match=f"{reducer} of 2 .*{reducer} of 3 "):
            read_sample_scores([two, three])
    else:
        assert values_of(two, three) == {"a": "[0.5, 0.25]", "b": "[0.75, 0.0]"}
    scores = read_sample_scores([two])
    assert reducer in scores.chosen
    assert scores.table["epochs"].tolist() == scores.table["scored"].tolist() == [1, 1]


def test_one_epoch_and_several_by_their_mean_compare(tmp_path: Path) -> None:
    once = write_log(tmp_path, "a", "CI")
    twice = write_log(tmp_path, "b", "CIII", epochs=2)
    assert values_of(once, twice) == {"a": "[1.0, 0.0]", "b": "[0.5, 0.0]"}


def test_the_reduced_scores_are_those_of_the_scorer_the_reducer_and_the_key(tmp_path: Path) -> None:
    pairs = [{"x": value, "y": 9} for value in (1, 2, 3, 4)]
    log = write_log(
        tmp_path,
        "a",
        pairs,
        epochs=2,
        reduced=("max", [{"x": 2, "y": 8}, {"x": 4, "y": 8}]),
        others={"other": 1},
    )
    read = read_eval_log(log)
    assert read.reductions is not None
    first = read.reductions[0]
    assert isinstance(first.samples[0].value, dict)
    by_mean = first.model_copy(deep=True, update={"reducer": "mean"})
    of_other = first.model_copy(deep=True, update={"scorer": "other"})
    for reduction in (by_mean, of_other):
        for sample in reduction.samples:
            sample.value = {"x": 100, "y": 100}
    read.reductions = [by_mean, of_other, first]
    write_eval_log(read, log)
    assert values_of(log, value="x") == {"a": "[2.0, 4.0]"}
    assert values_of(log, value="y") == {"a": "[8.0, 8.0]"}


def test_a_sample_without_a_score_of_each_epoch_has_no_reduced_score(tmp_path: Path) -> None:
    """It would be the best of fewer answers than the scores of others are."""
    for model, lost in (("a", None), ("b", FAILED)):
        values = ["C", lost, "I", "C", lost, lost]
        log = write_log(tmp_path, model, values, epochs=2, reduced=("max", [1.0, 1.0, 0.0]))
        scores = read_sample_scores([log])
        assert by_model(scores)[model] == pytest.approx([NAN, 1.0, NAN], nan_ok=True)
        assert sorted(scores.table["scored"]) == [0, 0, 1]
    by_mean = write_log(tmp_path, "c", ["C", None, "I", "C"], epochs=2)
    assert values_of(by_mean) == {"c": "[1.0, 0.5]"}


def test_a_reduced_score_that_is_no_number_is_none(tmp_path: Path) -> None:
    log = write_log(tmp_path, "a", "CICI", epochs=2, reduced=("max", ["many words", 1.0]))
    assert values_of(log) == {"a": "[nan, 1.0]"}


def test_a_log_that_lacks_what_it_reduced_is_left_out(tmp_path: Path) -> None:
    lacking = read_eval_log(write_log(tmp_path, "a", "CICI", epochs=2, reduced=("max", [1.0, 1.0])))
    lacking.reductions = None
    write_eval_log(lacking, lacking.location)
    whole = write_log(tmp_path, "b", "CICI", epochs=2, reduced=("max", [1.0, 0.0]))
    scores = read_sample_scores([lacking.location, whole])
    assert set(by_model(scores)) == {"b"}
    assert tells(scores.left_out[0], "a0.eval ... max")


# --- what is read ---


def test_an_answer_whose_sample_failed_has_no_score(tmp_path: Path) -> None:
    log = read_eval_log(write_log(tmp_path, "a", ["C", "C"]))
    assert log.samples is not None
    log.samples[0].error = EvalError(message="late", traceback="", traceback_ansi="")
    write_eval_log(log, log.location)
    assert values_of(log.location) == {"a": "[nan, 1.0]"}


def header(scorer: str, name: str, *metrics: str) -> EvalResults:
    """Results without a headline, as former versions of the harness wrote."""
    made = {metric: EvalMetric(name=metric, value=0.5) for metric in metrics}
    return EvalResults(scores=[EvalScore(name=name, scorer=scorer, metrics=made)])


@pytest.mark.parametrize(
    ("results", "read", "value"),
    [
        (header("match", "match", "mean"), "match", 1.0),
        (header("pair", "x", "mean"), "pair: x", 3.0),
        (header("pair", "pair", "y"), "pair: y", 4.0),  # a key with the name of the metric
    ],
)
def test_without_a_headline_the_first_scores_count(
    tmp_path: Path, results: EvalResults, read: str, value: float
) -> None:
    log = write_log(tmp_path, "a", ["C", "C"], others={"pair": {"x": 3, "y": 4}})
    scores = read_sample_scores([changed(log, results=results)])
    assert (scores.scorer, by_model(scores)) == (read, {"a": [value, value]})


def test_a_log_without_metrics_takes_the_name_of_a_scorer(tmp_path: Path) -> None:
    log = changed(write_log(tmp_path, "a", ["C", "I"]), results=EvalResults())
    with pytest.raises(InputError, match="scorer"):
        read_sample_scores([log])
    assert values_of(log, scorer="match") == {"a": "[1.0, 0.0]"}


def test_the_newest_log_says_what_the_headline_is(tmp_path: Path) -> None:
    for day, model, headline in ((1, "a", "match"), (2, "b", "length")):
        write_log(tmp_path, model, day=day, others={"length": 7}, headline=(headline, headline))
    assert read_sample_scores([str(tmp_path)]).scorer == "length"


def test_logs_without_the_scorer_are_left_out_with_what_they_have(tmp_path: Path) -> None:
    one = write_log(tmp_path, "a", others={"zeta": 1, "beta": 1})
    other = write_log(tmp_path, "b", scorer="graded")
    scores = read_sample_scores([one, other], scorer="graded")
    assert set(by_model(scores)) == {"b"}
    [sentence] = scores.left_out
    assert sentence.startswith(f"{Path(one).name} ")
    assert tells(sentence, "a0.eval ... 'graded' ... beta, match, zeta")


def test_a_scorer_is_named_before_a_value_with_the_name_of_its_own(tmp_path: Path) -> None:
    log = write_log(
        tmp_path, values=[{"x": 1}, {"x": 2}], others={"pair": {"x": 3}}, headline=("pair", "x")
    )
    results = read_eval_log(log, header_only=True).results
    assert results is not None
    results.scores += [EvalScore(name="x", scorer="match")]
    changed(log, results=results)
    assert values_of(log, value="x") == {"a": "[3.0, 3.0]"}
    assert values_of(log, value="match.x") == {"a": "[1.0, 2.0]"}
    assert values_of(log, value="x", scorer="match") == {"a": "[1.0, 2.0]"}


def test_a_key_is_not_one_of_scores_without_keys(tmp_path: Path) -> None:
    log = write_log(tmp_path, values=[{"x": 1}, 2])
    with pytest.raises(InputError, match=r"match.*'x'"):
        read_sample_scores([log], value="x")


def test_the_metric_is_named_where_it_is_no_mean(tmp_path: Path) -> None:
    for metric, named in (("mean", False), ("accuracy", False), ("stderr", True)):
        about = read_sample_scores([write_log(tmp_path, metric, metric=metric)]).chosen
        assert tells(about, f"headline ... {metric}")
        assert ("not stderr" in about) == named
    key = write_log(tmp_path, "k", [{"x": 1}], headline=("match", "x"), metric="x")
    assert not read_sample_scores([key]).chosen


# --- what may be compared ---


def test_versions_compare_up_to_the_dash_and_datasets_by_their_content(tmp_path: Path) -> None:
    one = write_log(tmp_path, "a", task_version="2-A")
    other = write_log(tmp_path, "b", task_version="2-B")
    scores = read_sample_scores([one, other])
    assert (scores.version, scores.dataset) == ("2", "quiz")
    moved = EvalDataset(name=None, location="/data/folder/quiz.csv", samples=2)
    assert read_sample_scores([write_log(tmp_path, "c", dataset=moved)]).dataset == "quiz.csv"
    hashed = [
        changed(write_log(tmp_path, model), metadata={"dataset_sha256": sha256})
        for model, sha256 in (("d", "0123456789ab"), ("e", "0123456789cd"), ("f", "fedc"))
    ]
    assert read_sample_scores(hashed[:2]).dataset == "quiz 01234567"
    with pytest.raises(InputError, match=r"datasets.*01234567 .*fedc "):
        read_sample_scores(hashed)


def test_runs_replace_those_of_the_same_conditions_only(tmp_path: Path) -> None:
    conditions: list[dict[str, Any]] = [
        {},
        {"task_args": {"shots": 1}},
        {"model_args": {"revision": "x"}},
        {"solver": "own"},
        {"solver": "own", "solver_args": {"steps": 2}},
        {"plan": EvalPlan(config=GenerateConfig(temperature=0.5))},
        {"model_roles": {"helper": ModelConfig(model="p/helper")}},
    ]
    for day, facts in enumerate(conditions, 1):
        write_log(tmp_path, "a", day=day, **facts)
    models = set(by_model(read_sample_scores([str(tmp_path)])))
    assert len(models) == len(conditions)
    for words in ("shots=1", "revision=x", "solver=own", "steps", "temperature=0.5", "p/helper"):
        assert any(words in model for model in models), words
    write_log(tmp_path, "a", ["I", "I"], day=20)
    assert len(by_model(read_sample_scores([str(tmp_path)]))) == len(conditions)


@pytest.mark.parametrize(
    ("role", "is_judge"),
    [("grader", True), ("judge", True), ("scorer", True), ("evaluator", True), ("helper", False)],
)
def test_roles_of_judges_and_of_others(tmp_path: Path, role: str, is_judge: bool) -> None:
    roles = {role: ModelConfig(model="p/one")}
    log = write_log(tmp_path, "a", scorer="graded", model_roles=roles)
    assert read_sample_scores([log]).judge == ("p/one" if is_judge else "")
    # A scorer that asks no model has no judge.
    other = write_log(tmp_path, "b", scorer="match", model_roles=roles)
    assert read_sample_scores([other]).judge == ""
    differing = {role: ModelConfig(model="p/two")}
    more = write_log(tmp_path, "c", scorer="graded", model_roles=differing)
    if is_judge:
        with pytest.raises(InputError, match=r"p/one.*p/two"):
            read_sample_scores([log, more])
    else:
        assert tells(read_sample_scores([log, more]).chosen, f"{role}: p/one ... p/two")


def test_a_log_of_another_judge_replaces_none(tmp_path: Path) -> None:
    for day, judge in ((1, "p/one"), (2, "p/two")):
        roles = {"grader": ModelConfig(model=judge)}
        write_log(tmp_path, "a", day=day, scorer="graded", model_roles=roles)
    with pytest.raises(InputError, match=r"p/one.*p/two"):
        read_sample_scores([str(tmp_path)])


def test_arguments_that_differ_are_named_in_short(tmp_path: Path) -> None:
    long = "word " * 40
    write_log(tmp_path, "b", task_args={"style": long})
    write_log(tmp_path, "c", task_args={"style": long})
    write_log(tmp_path, "a")
    about = read_sample_scores([str(tmp_path)]).chosen
    assert tells(about, "not given (1 model, such as a)")
    assert tells(about, f"{long[:60].strip()} (2 models, such as b)")
    assert long[:65] not in about
    # Settings in which each model was run alike do not differ.
    for day, model in enumerate("de" * 2, 5):
        write_log(tmp_path / "x", model, day=day, task_args={"shots": day // 7})
    assert "shots" not in read_sample_scores([str(tmp_path / "x")]).chosen


def test_one_simulated_model_of_several_is_said(tmp_path: Path) -> None:
    logs = [write_log(tmp_path, model) for model in ("a", "urs_simulation/b")]
    assert read_sample_scores(logs).simulated


def test_tasks_are_named_by_their_last_part_and_the_most_frequent_is_proposed(
    tmp_path: Path,
) -> None:
    for model, task in (("a", "pub/aaa"), ("b", "pub/quiz"), ("c", "pub/quiz")):
        write_log(tmp_path, model, task=task)
    with pytest.raises(InputError) as refused:
        read_sample_scores([str(tmp_path)])
    assert tells(refused.value.message, "pub/aaa (1 log), pub/quiz (2 logs) ... --task pub/quiz")
    for name in ("quiz", "pub/quiz"):
        scores = read_sample_scores([str(tmp_path)], task=name)
        assert (scores.task, len(scores.runs)) == ("pub/quiz", 2)
        assert tells(scores.left_out[0], "1 log ... pub/aaa")
        assert task_of([str(tmp_path)], name) == "pub/quiz"


# --- the table ---


def test_the_runs_that_were_read(tmp_path: Path) -> None:
    first = write_log(tmp_path, "a", "CCC", day=3)
    second = write_log(tmp_path, "b", "CI", day=2, task_args={"shots": 1})
    scores = read_sample_scores([first, second])
    found = [(run.log, run.model, run.created[:10], run.samples) for run in scores.runs]
    assert sorted(found, key=lambda run: run[1]) == [
        (Path(first).name, "a", "2026-01-03", 3),
        (Path(second).name, "b", "2026-01-02", 2),
    ]
    names = {Path(file).name: model for file, model in scores.files.items()}
    assert names == {Path(first).name: "a", Path(second).name: "b"}


def test_a_model_with_other_settings_has_its_name_in_runs_and_files(tmp_path: Path) -> None:
    for day, shots in ((1, 0), (2, 5)):
        write_log(tmp_path, day=day, task_args={"shots": shots})
    scores = read_sample_scores([str(tmp_path)])
    names = {"a (shots=0)", "a (shots=5)"}
    assert {run.model for run in scores.runs} == set(scores.files.values()) == names


def test_groups_and_clusters_are_text_whatever_they_were(tmp_path: Path) -> None:
    facts: list[dict[str, Any]] = [
        {"page": {"b": 1, "a": 2}, "lang": 3},
        {"page": {"a": 2, "b": 1}, "lang": 3.5},
        {"page": "x", "lang": ""},
        {"page": True, "lang": "en"},
    ]
    table = read_sample_scores(
        [write_log(tmp_path, values="CCCC", metadata=facts)], cluster="page", by="lang"
    ).table
    assert table["cluster"].tolist() == ['{"a": 2, "b": 1}', '{"a": 2, "b": 1}', "x", "true"]
    assert table["group"].tolist() == ["3", "3.5", "(none)", "en"]


def test_what_a_log_does_not_know_is_taken_from_the_others(tmp_path: Path) -> None:
    one = write_log(tmp_path, "a", metadata=[{"lang": "en"}, {"page": "p"}])
    other = write_log(tmp_path, "b", metadata=[{"page": "p"}, {"lang": "zh"}])
    scores = read_sample_scores([one, other], by="lang", cluster="page")
    assert scores.table["group"].tolist() == ["en", "zh"] * 2
    assert set(scores.table["cluster"]) == {"p"}
    assert "samples have no" not in scores.chosen


def test_samples_without_a_group_are_counted_once(tmp_path: Path) -> None:
    facts = [{"lang": "en"}, {"lang": ""}, {}]
    logs = [write_log(tmp_path, model, "CIC", metadata=facts) for model in "ab"]
    about = read_sample_scores(logs, by="lang").chosen
    assert tells(about, "2 of 3 samples have no 'lang' ... (none)")
    assert "cluster" not in about
    about = read_sample_scores(logs, cluster="lang").chosen
    assert tells(about, "2 of 3 samples have no 'lang' ... cluster of its own")
    assert "(none)" not in about


def test_a_long_group_is_read_from_whole_samples(tmp_path: Path) -> None:
    facts = [{"lang": "word " * 400 + end} for end in "xyx"]
    log = write_log(tmp_path, values="CCI", metadata=facts)
    table = read_sample_scores([log], by="lang").table
    assert table["group"].nunique() == 2


def test_different_groups_of_a_sample_are_refused_with_both_logs(tmp_path: Path) -> None:
    """Of three logs the two that differ are named."""
    facts = ("x", "x", "y")
    for model, lang in zip("abc", facts, strict=True):
        write_log(tmp_path, model, metadata=[{"lang": lang}, {"lang": "z"}])
    with pytest.raises(InputError) as refused:
        read_sample_scores([str(tmp_path)], by="lang")
    message = refused.value.message
    assert tells(message, "1 of 2 samples ... lang ... '0' ... a0.eval and ... c0.eval")


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (["C", 0.5], None),
        ([True, False, True], (0.0, 1.0)),
        (["1", "0"], (0.0, 1.0)),
        ([None, "C"], (0.0, 1.0)),
    ],
)
def test_the_scale_of_two_logs_is_that_of_both(
    tmp_path: Path, values: Sequence[Any], scale: Any
) -> None:
    letters = write_log(tmp_path, "a", "CIC"[: len(values)])
    other = write_log(tmp_path, "b", values)
    assert read_sample_scores([letters, other]).scale == scale


def test_the_scale_of_a_scorer_with_keys_is_known(tmp_path: Path) -> None:
    values = [{"final": 4, "clarity": 3}, {"final": 10, "clarity": 2}]
    log = write_log(tmp_path, values=values, scorer="intent_judge", metric="final")
    assert read_sample_scores([log]).scale == (1.0, 10.0)


@pytest.mark.parametrize(
    ("values", "beyond"), [([0, 1, NAN], 0), ([-0.1, 0.5], 1), ([1.1, 1.2, 0.5], 2), ([-1, 2], 2)]
)
def test_scores_beyond_either_end_are_counted(values: list[float], beyond: int) -> None:
    if not beyond:
        refuse_beyond(pd.Series(values), (0.0, 1.0), "scale")
        return
    with pytest.raises(InputError, match=f"scale.*{beyond} of {len(values)}"):
        refuse_beyond(pd.Series(values), (0.0, 1.0), "scale")


# --- lm-eval ---


def test_files_in_folders_below_are_read_by_their_date(tmp_path: Path) -> None:
    (deep := tmp_path / "deep" / "deeper").mkdir(parents=True)
    write_saved(deep, "m", [ACC], day=2)
    write_saved(tmp_path, "n", [ACC], day=1)
    scores = read_sample_scores([str(tmp_path)])
    assert [(run.model, run.created[:10]) for run in scores.runs] == [
        ("n", "2026-01-01"),
        ("m", "2026-01-02"),
    ]


def test_files_of_other_tasks_and_without_the_metric_are_left_out(tmp_path: Path) -> None:
    file = Path(write_saved(tmp_path, "m", [ACC]))
    text = file.read_text()
    file.with_name(file.name.replace("quiz", "other")).write_text(text)
    write_saved(tmp_path, "n", [{"f1": 1, "metrics": ["f1"]}])
    scores = read_sample_scores([str(tmp_path)], task="quiz", scorer="acc")
    assert set(by_model(scores)) == {"m"}
    about = " ".join(scores.left_out)
    assert tells(about, "1 file ... quiz")
    assert tells(about, "samples_quiz ... acc,none")
    assert task_of([str(tmp_path)], "other") == "other"
    with pytest.raises(InputError, match=r"other.*quiz"):
        read_sample_scores([str(tmp_path)])


def test_a_sample_that_a_filter_took_away_counts_as_missing(tmp_path: Path) -> None:
    """The lines of another filter are other scores."""
    lines = [{"doc_id": n, "filter": name, "acc": n} for n in range(2) for name in ("x", "y")]
    write_saved(tmp_path, "m", lines)
    lacking: list[dict[str, Any]] = [*lines[:3], {"doc_id": 1, "filter": "y", "metrics": []}]
    write_saved(tmp_path, "n", lacking)
    assert values_of(str(tmp_path), scorer="acc,y") == {"m": "[0.0, 1.0]", "n": "[0.0, nan]"}
    assert values_of(str(tmp_path), scorer="acc,x") == {"m": "[0.0, 1.0]", "n": "[0.0, 1.0]"}
    assert values_of(str(tmp_path), value="acc,y")["n"] == "[0.0, nan]"
    assert "acc,x" in read_sample_scores([str(tmp_path)]).chosen


def test_settings_of_models_of_lm_eval(tmp_path: Path) -> None:
    settings: list[dict[str, Any]] = [
        {"config": {"model_args": "revision=x,dtype=float"}},
        {"config": {"model_args": {"revision": "y", "dtype": "float"}}},
        {"config": {"model_args": "revision=x,dtype=float", "gen_kwargs": {"top_k": 4}}},
        {"config": {"model_args": "revision=x,dtype=float"}, "n-shot": {"quiz": 5}},
    ]
    for place, facts in enumerate(settings):
        write_saved(tmp_path, f"m{place}", [ACC], model_name="p/m", **facts)
    models = sorted(by_model(read_sample_scores([str(tmp_path)])))
    assert len(models) == len(settings)
    for words in ("revision=y", "top_k", "num_fewshot=5"):
        assert sum(words in model for model in models) == 1, models
    assert not any("dtype" in model for model in models)  # which all have alike


def test_models_of_lm_eval_without_a_name_have_that_of_their_folder(tmp_path: Path) -> None:
    for name in ("m", "n"):
        write_saved(tmp_path, name, [ACC], model_name=None)
    scores = read_sample_scores([str(tmp_path)])
    assert set(by_model(scores)) == {"m", "n"}
    assert not scores.simulated
    simulated = write_saved(tmp_path, "o", [ACC], model_name="urs_simulation/x")
    assert read_sample_scores([simulated]).simulated


def test_a_result_file_that_is_missing_leaves_the_samples(tmp_path: Path) -> None:
    file = Path(write_saved(tmp_path, "m", [ACC]))
    [results] = file.parent.glob("results_*.json")
    results.unlink()
    scores = read_sample_scores([str(file)])
    assert (by_model(scores), scores.version) == ({"m": [1.0]}, "")
    results.write_text(json.dumps({"versions": {"quiz": 3}, "model_name": "x"}))
    scores = read_sample_scores([str(file)])
    assert (by_model(scores), scores.version) == ({"x": [1.0]}, "3")
