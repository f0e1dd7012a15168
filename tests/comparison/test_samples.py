"""Scores of samples, from logs of any task and from samples of lm-eval."""

import json
import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalPlan,
    EvalResults,
    EvalSample,
    EvalSampleReductions,
    EvalSpec,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import GenerateConfig, ModelConfig
from inspect_ai.scorer import Score, value_to_float

from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.comparison._samples import SampleScores, read_sample_scores

Values = Sequence[Any]
FAILED = object()
"""In the place of a value: the sample failed."""


def write_log(  # noqa: PLR0913 - one argument a fact of a log
    folder: Path,
    model: str = "a",
    values: Values = ("C", "I"),
    *,
    day: int = 1,
    epochs: int = 1,
    first: int = 0,
    task: str = "pub/quiz",
    text: str = "Question {}?",
    scorer: str = "match",
    metadata: Sequence[Mapping[str, Any]] = (),
    headline: tuple[str, str] | None = None,
    reduced: tuple[str, Sequence[Any]] | None = None,
    status: Any = "success",
    others: Mapping[str, Any] | None = None,
    suffix: str = "eval",
    metric: str = "mean",
    plan: EvalPlan | None = None,
    **spec: Any,
) -> str:
    """A log of one sample for each `epochs` values; `others` are scores of other scorers, equal for
    all samples.
    """
    samples = [
        EvalSample(
            id=first + place // epochs,
            epoch=place % epochs + 1,
            input=text.format(first + place // epochs),
            target="",
            metadata=dict(metadata[place // epochs]) if metadata else {"topic": f"t{place % 2}"},
            scores=(
                None
                if value is None or value is FAILED
                else {
                    name: Score(value=each)
                    for name, each in {scorer: value, **(others or {})}.items()
                }
            ),
            error=(
                EvalError(message="failed", traceback="", traceback_ansi="")
                if value is FAILED
                else None
            ),
        )
        for place, value in enumerate(values)
    ]
    name, key = headline or (scorer, scorer)
    results = {
        "scorer": name,
        "score": key,
        "metric": metric,
        "reducer": reduced[0] if reduced else None,
    }
    log = EvalLog(
        eval=EvalSpec(
            **{
                **{
                    "task": task,
                    "task_version": 1,
                    "model": model,
                    "created": f"2026-01-{day:02d}T00:00:00+00:00",
                },
                **{
                    "eval_id": f"e-{folder.name}-{model}-{day}-{first}",
                    "task_id": f"t-{model}-{day}-{first}",
                },
                "dataset": EvalDataset(name="quiz", samples=len(samples)),
                "config": EvalConfig(
                    epochs=epochs, epochs_reducer=[reduced[0]] if reduced else None
                ),
                **spec,
            }
        ),
        status=status,
        plan=plan or EvalPlan(),
        samples=samples,
        results=EvalResults.model_validate(
            {"headline": results, "scores": [{"name": key, "scorer": name}]}
        ),
    )
    if reduced:
        scores = [
            {"sample_id": first + place, "value": value} for place, value in enumerate(reduced[1])
        ]
        log.reductions = [
            EvalSampleReductions.model_validate(
                {"scorer": scorer, "reducer": reduced[0], "samples": scores}
            )
        ]
    file = (
        folder / f"2026-01-{day:02d}T00-00-00+00-00_quiz_{model.replace('/', '-')}{first}.{suffix}"
    )
    write_eval_log(log, str(file))
    return str(file)


def write_saved(
    folder: Path, model: str, lines: Sequence[Mapping[str, Any]], *, day: int = 1, **facts: Any
) -> str:
    """Samples of lm-eval and the results beside them.

    A line has a metric `acc` and a filter unless it says so.
    """
    (where := folder / model).mkdir(exist_ok=True)
    date = f"2026-01-{day:02d}T00-00-00.000001"
    results = {
        "model_name": model,
        "versions": {"quiz": 1.0},
        "higher_is_better": {"quiz": {"loss": False}},
        **facts,
    }
    (where / f"results_{date}.json").write_text(json.dumps(results))
    same = {"doc": {"passage": "p"}, "filter": "none", "metrics": ["acc"], "doc_hash": "h"}
    text = "".join(
        json.dumps({"doc_id": place, **same, **line}) + "\n" for place, line in enumerate(lines)
    )
    (file := where / f"samples_quiz_{date}.jsonl").write_text(text)
    return str(file)


def by_model(scores: SampleScores) -> dict[str, list[float]]:
    """Values of each model, by the number of the sample."""
    ordered = scores.table.sort_values("sample", key=lambda ids: ids.astype(int))
    return {str(model): list(each["value"]) for model, each in ordered.groupby("model")}


@pytest.mark.parametrize(
    "value", ["C", "I", "P", "N", True, False, 1, 0.25, "0.75", "yes", "No", "true", "FALSE", -3]
)
def test_values_count_as_in_inspect(tmp_path: Path, value: Any) -> None:
    scores = read_sample_scores([write_log(tmp_path, values=[value, "C"])])
    assert by_model(scores) == {"a": [value_to_float()(value), 1.0]}


@pytest.mark.parametrize(
    ("values", "scale"),
    [(["C", "P", True], (0.0, 1.0)), (["C", 1], None), ([1, 0], None), (["C", "3"], None)],
)
def test_scale_is_known_for_letters_and_booleans(
    tmp_path: Path, values: Values, scale: object
) -> None:
    assert read_sample_scores([write_log(tmp_path, values=values)]).scale == scale
    epochs = [value for one in values for value in (one, "C")]
    log = write_log(tmp_path / "epochs", values=epochs, epochs=2)
    assert read_sample_scores([log]).scale == scale


@pytest.mark.parametrize(("values", "scale"), [([4, 10], (1.0, 10.0)), ([4, 11], None)])
def test_scale_of_the_judge_by_criteria_is_known(
    tmp_path: Path, values: Values, scale: tuple[float, float] | None
) -> None:
    log = write_log(tmp_path, values=values, scorer="intent_judge")
    assert read_sample_scores([log]).scale == scale


def test_what_failed_or_was_not_scored_has_no_score(tmp_path: Path) -> None:
    scores = read_sample_scores([write_log(tmp_path, values=["C", FAILED, None, math.nan])])
    assert [math.isnan(value) for value in by_model(scores)["a"]] == [False, True, True, True]
    assert (scores.left_out, scores.table["value"].isna().sum()) == ((), 3)


def test_key_of_a_dictionary(tmp_path: Path) -> None:
    values = [{"good": "C", "long": 3, "none": None}, {"good": "I", "long": 5, "none": None}]
    log = write_log(tmp_path, values=values, headline=("match", "good"))

    headline, named = read_sample_scores([log]), read_sample_scores([log], value="long")
    assert (headline.scorer, by_model(headline)) == ("match: good", {"a": [1.0, 0.0]})
    assert "headline" in headline.chosen and "good" in headline.chosen
    assert named.chosen == ""
    assert (
        by_model(named)
        == by_model(read_sample_scores([log], value="match.long"))
        == {"a": [3.0, 5.0]}
    )
    assert all(
        map(math.isnan, by_model(read_sample_scores([log], scorer="match", value="none"))["a"])
    )


@pytest.mark.parametrize("scorer", [None, "match"])
def test_headline_metric_that_is_no_mean_is_named(tmp_path: Path, scorer: str | None) -> None:
    rate, mean = (
        read_sample_scores([write_log(tmp_path, name, metric=name)], scorer=scorer)
        for name in ("failure_rate", "accuracy")
    )
    assert "not failure_rate" in rate.chosen and " not " not in mean.chosen


def test_key_is_the_headline_metric_of_this_name(tmp_path: Path) -> None:
    log = write_log(tmp_path, values=[{"clarity": 3, "final": 8}, {"final": 6}], metric="final")
    scores = read_sample_scores([log])
    assert (scores.scorer, by_model(scores)) == ("match: final", {"a": [8.0, 6.0]})
    assert str(by_model(read_sample_scores([log], value="clarity"))["a"]) == "[3.0, nan]"


def test_scorer_is_named_or_that_of_the_headline_metric(tmp_path: Path) -> None:
    log = write_log(tmp_path, others={"length": 7}, headline=("length", "length"))
    headline, named = read_sample_scores([log]), read_sample_scores([log], scorer="match")
    assert by_model(headline) == {"a": [7.0, 7.0]} and "length" in headline.chosen
    assert by_model(named) == {"a": [1.0, 0.0]} and named.chosen == ""


def test_epochs_count_by_their_mean_over_those_with_a_score(tmp_path: Path) -> None:
    scores = read_sample_scores(
        [write_log(tmp_path, values=["C", "I", "P", FAILED, None, None], epochs=2)]
    )
    assert str(by_model(scores)["a"]) == "[0.5, 0.5, nan]"
    assert [
        part for part in ("mean", "3 of 6", "fewer epochs: 1;") if part not in scores.chosen
    ] == []


def test_rows_of_epochs_have_the_mean_of_those_with_a_score(tmp_path: Path) -> None:
    answers = read_sample_scores(
        [write_log(tmp_path, values=["C", "I", "P", FAILED, None, None], epochs=2)]
    ).answers
    assert [part["value"].dropna().tolist() for _, part in answers.groupby("sample")] == [
        [0.5, 0.5],
        [0.5],
        [],
    ]
    assert len(answers) == 6


@pytest.mark.parametrize("values", ["CCII", ["C", FAILED, "I", None]])
def test_epochs_without_a_score_are_counted_only_where_there_are_any(
    tmp_path: Path, values: Values
) -> None:
    write_log(tmp_path, values=values, epochs=2)
    write_log(tmp_path, "b", "CC")
    about = read_sample_scores([str(tmp_path)]).chosen
    assert tells(about, "epochs: 2 (1 model ... a), 1 (1 model")
    assert ("2 of 6" in about) == (values != "CCII")


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_epochs_count_as_the_log_reduced_them(tmp_path: Path, suffix: str) -> None:
    values = ["C", "I", "I", "I"]
    log = write_log(tmp_path, values=values, epochs=2, reduced=("max", [1.0, 0.0]), suffix=suffix)
    assert by_model(read_sample_scores([log])) == {"a": [1.0, 0.0]}
    lacking = write_log(
        tmp_path / "c", values=["C", FAILED, "I", "I"], epochs=2, reduced=("max", [1.0, 0.0])
    )
    scores = read_sample_scores([lacking])
    assert scores.table["value"].tolist() == [pytest.approx(math.nan, nan_ok=True), 0.0]
    assert scores.answers["value"].notna().tolist() == [False, True]
    write_log(tmp_path, "b", values, epochs=2)
    with pytest.raises(InputError, match="reducers"):
        read_sample_scores([str(tmp_path)])


def test_clusters_and_groups_are_metadata(tmp_path: Path) -> None:
    facts: list[dict[str, Any]] = [
        {"page": "x", "lang": "en"},
        {"page": "x"},
        {"page": None, "lang": "zh"},
    ]
    scores = read_sample_scores(
        [write_log(tmp_path, values="CCI", metadata=facts)], cluster="page", by="lang"
    )

    table = scores.table.set_index("sample")
    assert list(table["cluster"][:2]) == ["x", "x"]
    assert table["cluster"].nunique() == 2
    assert list(table["group"]) == ["en", "(none)", "zh"]
    words = (
        "1 of 3 samples ... 'page' ... cluster of its own ... 1 of 3 samples ... 'lang' ... (none)"
    )
    assert tells(scores.chosen, words)
    plain = read_sample_scores([str(tmp_path)]).table
    assert list(plain["cluster"]) == list(plain["sample"])
    assert set(plain["group"]) == {""}


def test_clusters_that_a_task_of_this_package_names_count_without_an_option(tmp_path: Path) -> None:
    facts: list[dict[str, Any]] = [{"cluster": "ann"}, {"cluster": "ann"}, {"cluster": ""}, {}]
    own = read_sample_scores(
        [write_log(tmp_path, values="CCIC", metadata=facts, task="urs_inspect/urs")]
    )
    assert list(own.table["cluster"]) == ["ann", "ann", "sample 2", "sample 3"]
    assert "2 of 4 samples have no 'cluster'" in own.chosen
    (tmp_path / "foreign").mkdir()
    (tmp_path / "unnamed").mkdir()
    foreign = read_sample_scores([write_log(tmp_path / "foreign", values="CCIC", metadata=facts)])
    unnamed = read_sample_scores(
        [write_log(tmp_path / "unnamed", values="CCIC", task="urs_inspect/urs")]
    )
    for scores in (foreign, unnamed):
        assert (
            list(scores.table["cluster"]) == list(scores.table["sample"])
            and "cluster" not in scores.chosen
        )


def test_long_metadata_is_read_from_whole_samples(tmp_path: Path) -> None:
    facts = [{"page": "word " * 400 + end, "user": "ann"} for end in "xyx"]
    log = write_log(tmp_path, values="CCI", metadata=facts)
    table = read_sample_scores([log], cluster="page").table
    assert table["cluster"].nunique() == 2
    table = read_sample_scores([log], cluster="user", by="page").table
    assert (table["cluster"].nunique(), table["group"].nunique()) == (1, 2)


def test_later_run_counts_and_other_samples_are_joined(tmp_path: Path) -> None:
    write_log(tmp_path, values="CC")
    write_log(tmp_path, values="IC", day=2)
    write_log(tmp_path, values="CI", day=3, first=2)
    scores = read_sample_scores([str(tmp_path)])
    assert by_model(scores) == {"a": [0.0, 1.0, 1.0, 0.0]}
    assert [run.samples for run in scores.runs] == [2, 2]
    assert any("later run" in sentence for sentence in scores.left_out)


def test_other_settings_are_a_model_of_its_own(tmp_path: Path) -> None:
    for day, shots in ((1, 0), (2, 5)):
        write_log(tmp_path, day=day, task_args={"shots": shots, "api_key": f"secret{day}"})
    assert set(by_model(read_sample_scores([str(tmp_path)]))) == {"a (shots=0)", "a (shots=5)"}


@pytest.mark.parametrize(
    ("configs", "models"),
    [
        (
            [{"temperature": 0.0}, {"temperature": 1.0}],
            {"a (temperature=0.0)", "a (temperature=1.0)"},
        ),
        ([{"max_connections": 1, "cache_prompt": True}, {"max_connections": 9}], {"a"}),
    ],
)
def test_settings_of_a_task_make_a_model_of_its_own_unless_they_only_change_speed(
    tmp_path: Path, configs: Sequence[dict[str, Any]], models: set[str]
) -> None:
    for day, config in enumerate(configs, 1):
        write_log(tmp_path, day=day, plan=EvalPlan(config=GenerateConfig(**config)))

    assert set(by_model(read_sample_scores([str(tmp_path)]))) == models


def judged_by(model: str, scorer: str = "graded") -> dict[str, Any]:
    return {"model_roles": {"grader": ModelConfig(model=model)}, "scorer": scorer}


def test_scores_of_different_judges_are_refused(tmp_path: Path) -> None:
    first, same = (write_log(tmp_path, model, **judged_by("x/judge")) for model in "ab")
    others = [
        write_log(tmp_path, "c", **judged_by("y/judge")),
        write_log(tmp_path, "d", scorer="graded"),
    ]
    assert read_sample_scores([first, same]).judge == "x/judge"
    for other, judge in zip(others, ("y/judge", "no judge named"), strict=True):
        with pytest.raises(InputError, match=f"x/judge .1 log.*{judge} .1 log"):
            read_sample_scores([first, other])
    # Scores without a judge compare whatever the judge.
    assert (
        read_sample_scores([write_log(tmp_path, m, **judged_by(m, "match")) for m in "ef"]).judge
        == ""
    )


@pytest.mark.parametrize(
    ("facts", "structured"),
    [
        ({}, "false"),
        ({"structured": True}, "true"),
        ({"structured": [True, False]}, "in part"),
        ({"structured": 2, "judge_finals": [["x", 7], ["y", 8]]}, "true"),
        ({"structured": 1, "judge_finals": [["x", 7], ["y", 8]]}, "in part"),
        ({"structured": 0, "judge_finals": [["x", 7]]}, "false"),
    ],
)
def test_runs_judged_with_structured_output_are_named(
    tmp_path: Path, facts: dict[str, Any], structured: str
) -> None:
    plain = write_log(tmp_path, "a", task_args={"structured": "auto"})
    other = write_log(tmp_path, "b", task_args={"structured": "auto"})
    log = read_eval_log(other)
    for sample in log.samples or []:
        for score in (sample.scores or {}).values():
            score.metadata = facts
    write_eval_log(log, other)
    assert read_sample_scores([other]).structured == structured
    sentence = read_sample_scores([plain, other]).chosen
    assert ("structured:" in sentence) == (structured != "false")


def test_task_arguments_that_differ_between_models_are_named(tmp_path: Path) -> None:
    logs = [
        write_log(tmp_path, model, task_args={"shots": n, "fixed": 1})
        for model, n in (("a", 0), ("b", 5))
    ]

    about = read_sample_scores(logs).chosen
    assert tells(about, "shots: 0 (1 model ... a), 5 (1 model ... b)")
    assert "fixed" not in about


@pytest.mark.parametrize(
    ("model", "judge", "simulated"),
    [("a", "b", 0), ("urs_simulation/a", "b", 1), ("a", "urs_simulation/b", 1)],
)
def test_simulated_models_and_judges(
    tmp_path: Path, model: str, judge: str, simulated: bool
) -> None:
    assert (
        read_sample_scores([write_log(tmp_path, model, **judged_by(judge))]).simulated == simulated
    )


def test_skipped_runs_are_counted_by_kind(tmp_path: Path) -> None:
    for day in range(1, 7):
        write_log(tmp_path, day=day)
    left_out = read_sample_scores([str(tmp_path)]).left_out
    assert len(left_out) == 4 and left_out[-1].startswith("2 more logs")


def test_lone_surrogates_can_be_written(tmp_path: Path) -> None:
    lines = [{"doc_id": "\ud800", "acc": 1.0, "doc": {"passage": "\udfff"}}]
    saved = write_saved(tmp_path, "m", lines, model_name="m\ud800")
    assert (
        read_sample_scores([saved], cluster="passage", by="passage").table.to_csv().encode("utf-8")
    )


def test_samples_of_lm_eval(tmp_path: Path) -> None:
    names = ("strict", "loose")
    lines = [
        {"doc_id": doc, "filter": name, "acc": float(name == "loose")}
        for doc in range(3)
        for name in names
    ]
    write_saved(tmp_path, "old", lines)
    write_saved(tmp_path, "new", lines)
    scores = read_sample_scores([str(tmp_path)], scorer="acc,loose", cluster="passage")
    assert by_model(scores) == {"new": [1.0] * 3, "old": [1.0] * 3}
    assert (scores.task, scores.scorer, scores.higher_is_better) == ("quiz", "acc,loose", None)
    assert set(scores.table["cluster"]) == {"p"}
    assert "acc,strict" in read_sample_scores([str(tmp_path)]).chosen
    with pytest.raises(InputError, match="acc,strict; acc,loose"):
        read_sample_scores([str(tmp_path)], scorer="acc")


def test_samples_of_former_lm_eval_name_neither_metrics_nor_filter(tmp_path: Path) -> None:
    file = Path(write_saved(tmp_path, "m", [{}]))
    line = {"doc_id": 0, "doc": {}, "target": "t", "arguments": [], "resps": [["r"]]}
    line |= {"filtered_resps": ["r"], "doc_hash": "h", "prompt_hash": "h", "target_hash": "h"}
    lines = [{**line, "doc_id": place, "acc": place % 2, "f1": 0.5} for place in range(3)]
    file.write_text("\n".join(map(json.dumps, lines)))
    found = read_sample_scores([str(file), f"{file.parent}/../{file.parent.name}"])
    assert by_model(found) == {"m": [0.0, 1.0, 0.0]}  # by the first metric of the file
    assert not found.left_out  # one file under two names


@pytest.mark.parametrize(
    ("recorded", "known"), [([True, None], True), ([None], None), ([False, True], None)]
)
def test_direction_is_known_where_lm_eval_recorded_it(
    tmp_path: Path, recorded: list[Any], known: bool | None
) -> None:
    for place, higher in enumerate(recorded):
        write_saved(
            tmp_path, f"m{place}", [{"acc": 1.0}], higher_is_better={"quiz": {"acc": higher}}
        )
    assert read_sample_scores([str(tmp_path)]).higher_is_better is known
    assert read_sample_scores([write_log(tmp_path)]).higher_is_better is None


def test_direction_and_newest_run_of_lm_eval(tmp_path: Path) -> None:
    for day in (1, 2):
        write_saved(tmp_path, "m", [{"loss": float(day), "metrics": ["loss"]}], day=day)
    scores = read_sample_scores([str(tmp_path)], scorer="loss")
    assert (by_model(scores), scores.higher_is_better, len(scores.left_out)) == (
        {"m": [2.0]},
        False,
        1,
    )


def test_the_newest_run_of_lm_eval_counts_whatever_its_folder_is_called(tmp_path: Path) -> None:
    for folder, day in (("a", 2), ("b", 1)):
        write_saved(tmp_path, folder, [{"acc": float(day)}], day=day, model_name="m")
    scores = read_sample_scores([str(tmp_path)])
    assert by_model(scores) == {"m": [2.0]}


def test_samples_that_lm_eval_gave_no_metric(tmp_path: Path) -> None:
    bare: dict[str, Any] = {"metrics": []}
    write_saved(tmp_path, "m", [{"acc": 1.0}, bare, bare])
    write_saved(tmp_path, "n", [{"acc": 0.0}, {"acc": 1.0}, bare])
    scores = read_sample_scores([str(tmp_path)])
    assert by_model(scores)["n"] == [0.0, 1.0]
    assert math.isnan(by_model(scores)["m"][1])
    assert any("1 of 3 samples" in sentence for sentence in scores.left_out)


def test_files_of_lm_eval_that_do_not_count_are_named_and_in_the_error_as_well(
    tmp_path: Path,
) -> None:
    good = Path(write_saved(tmp_path, "m", [{"acc": 1.0}] * 2))
    damaged = good.with_name("samples_quiz_2026-01-09T00-00-00.jsonl")
    damaged.write_text('{"doc_id": 1, ')
    for day in (1, 2):
        riddle = good.with_name(f"samples_riddle_2026-01-0{day}T00-00-00.jsonl")
        riddle.write_text(good.read_text())
    write_saved(tmp_path, "n", [{"metrics": []}] * 2)
    scores = read_sample_scores([str(tmp_path)], task="quiz")
    assert by_model(scores) == {"m": [1.0, 1.0]}
    left_out = " ".join(scores.left_out)
    assert tells(left_out, "2 files ... quiz")
    assert damaged.name in left_out
    assert "acc,none" in left_out
    with pytest.raises(InputError) as caught:
        read_sample_scores([str(tmp_path)], task="quiz", scorer="f1")
    message = caught.value.message
    assert tells(message, "'f1' ... quiz ... acc,none")
    assert damaged.name in message
    assert tells(message, "2 files ... quiz")


def test_settings_of_lm_eval_as_text_are_settings_by_name(tmp_path: Path) -> None:
    for name, given in (("a", "pretrained=x,revision=a=b"), ("b", {"pretrained": "x"})):
        config = {"model_args": given}
        write_saved(tmp_path, name, [{"acc": 1.0}], model_name="m", config=config)
    models = [run.model for run in read_sample_scores([str(tmp_path)]).runs]
    assert len(set(models)) == 2
    assert any(tells(name, "m ... revision=a=b") for name in models)
    assert not any("pretrained" in name for name in models)


def _two(**second: Any) -> Callable[[Path], list[str]]:
    return lambda path: [write_log(path, "a"), write_log(path, "b", **second)]


def _one(**facts: Any) -> Callable[[Path], list[str]]:
    return lambda path: [write_log(path, **facts)]


def _saved(**line: Any) -> Callable[[Path], list[str]]:
    return lambda path: [write_saved(path, "m", [{"acc": 1, **line}])]


ACC: dict[str, Any] = {"acc": 1}
XY: dict[str, Any] = {"values": [{"x": 1, "y": 2}]}
BAD: dict[str, tuple[Callable[[Path], list[str]], dict[str, str], list[str]]] = {
    "tasks": (
        _two(task="pub/other"),
        {},
        ["pub/other (1 log)", "pub/quiz (1 log)", "--task pub/other"],
    ),
    "task": (_two(), {"task": "nope"}, ["nope", "pub/quiz (2 logs)"]),
    "versions": (_two(task_version=2), {}, ["versions", "1 (1 log", "2 (1 log"]),
    "version 0": (_two(task_version=0), {}, ["versions", "0 (1 log", "1 (1 log"]),
    "datasets": (_two(dataset=EvalDataset(name="new")), {}, ["datasets", "quiz (1 log", "new (1"]),
    "inputs": (_two(text="Other {}?"), {}, ["2 of 2 samples", "input", "'0'"]),
    "clusters": (_two(metadata=[{"topic": "x"}] * 2), {"cluster": "topic"}, ["2 of 2", "topic"]),
    "text": (_two(values=["C", "bad"]), {}, ["1 of 2", "'bad'", "sample '1'"]),
    "list": (_two(values=[[1, 2], "C"]), {}, ["1 of 2", "[1, 2]"]),
    "infinite": (_two(values=[math.inf, "C"]), {}, ["1 of 2", "inf"]),
    "scorer": (_two(), {"scorer": "nope"}, ["'nope'", "match"]),
    "no keys": (_two(), {"value": "nope"}, ["'nope'", "match"]),
    "key": (_one(**XY), {"value": "nope"}, ["'nope'", "x, y"]),
    "keys": (_one(**XY), {}, ["x, y"]),
    "metadata": (_two(), {"by": "nope"}, ["'nope'", "topic"]),
    "unfinished": (_one(status="error"), {}, ["'error'"]),
    "no log": (lambda path: [str(path / "nope")], {}, ["nope"]),
    "empty": (lambda path: [str(path)], {}, ["no logs"]),
    "mixed": (lambda path: _one()(path) + _saved()(path), {}, ["1 log", "1 of lm-eval"]),
    "lm-eval list": (_saved(acc=[1]), {}, ["1 of 1", "[1]"]),
    "lm-eval metric": (_saved(), {"scorer": "x"}, ["'x'", "acc,none"]),
    "lm-eval version 0": (
        lambda at: [write_saved(at, str(m), [ACC], versions={"quiz": m}) for m in (0, 1)],
        {},
        ["versions", "0 (1 log"],
    ),
    "lm-eval versions": (
        lambda at: [write_saved(at, m, [ACC], versions={"quiz": m}) for m in "12"],
        {},
        ["versions"],
    ),
    "lm-eval inputs": (
        lambda at: [write_saved(at, m, [ACC | {"doc_hash": m}]) for m in "12"],
        {},
        ["1 of 1 sample"],
    ),
}


def test_logs_that_check_the_judge_are_left_out(tmp_path: Path) -> None:
    write_log(tmp_path, "a", task="urs_inspect/urs")
    write_log(tmp_path, "b", task="urs_inspect/urs")
    probe = write_log(tmp_path, "c", task="urs_inspect/urs_probe")
    scores = read_sample_scores([str(tmp_path)])
    assert [run.model for run in scores.runs] == ["a", "b"]
    assert Telling("1 log ... urs_probe") in scores.left_out
    assert read_sample_scores([str(tmp_path)], task="urs_probe").task == "urs_inspect/urs_probe"
    assert read_sample_scores([probe]).task == "urs_inspect/urs_probe"


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_words(tmp_path: Path, case: str) -> None:
    make, options, words = BAD[case]
    with pytest.raises(InputError) as caught:
        read_sample_scores(make(tmp_path), **options)
    assert [word for word in words if word not in caught.value.message] == []


def test_damaged_logs_are_skipped_in_words(tmp_path: Path) -> None:
    log = write_log(tmp_path)
    (tmp_path / "damaged.eval").write_bytes(Path(log).read_bytes()[:300])
    (tmp_path / "saved").mkdir()
    saved = write_saved(tmp_path / "saved", "m", [{"acc": 1.0}])
    Path(saved).with_name("samples_quiz_2026-01-09T00-00-00.jsonl").write_text('{"doc_id": 1, ')
    for names in ([log, str(tmp_path / "damaged.eval")], [str(tmp_path / "saved")]):
        scores = read_sample_scores(names)
        assert (len(scores.runs), len(scores.left_out)) == (1, 1)


def test_logs_with_an_unreadable_sample_are_skipped(tmp_path: Path) -> None:
    facts = [{"page": "word " * 400}] * 2
    good, bad = (write_log(tmp_path, model, metadata=facts) for model in "ab")
    with zipfile.ZipFile(bad) as log:
        parts = {name: log.read(name) for name in log.namelist()}
    for name, unreadable in (("samples/0_epoch_1.json", b'{"id": '), ("summaries.json", b"[{")):
        with zipfile.ZipFile(bad, "w") as log:
            for part, content in (parts | {name: unreadable}).items():
                log.writestr(part, content)
        scores = read_sample_scores([good, bad], cluster="page")
        assert set(by_model(scores)) == {"a"}
        assert [Path(bad).name in sentence for sentence in scores.left_out] == [True]
