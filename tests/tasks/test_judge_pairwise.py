"""`judge_pairwise` on published benches and on files of one's own."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog

from tests.tasks.scripted import Script, judge_numbers, run, samples_of
from urs_inspect._util import InputError
from urs_inspect.tasks import judge_pairwise


def judged(
    log_dir: Path, bench: str, script: Script | None = None, /, *, limit: int | None = None, **task_args: Any
) -> EvalLog:
    model = script.model() if script else "none/none"
    log = run(judge_pairwise(bench, **task_args), log_dir, model=model, grader=None, limit=limit)
    assert log.status == "success", log.error
    return log


def own_file(tmp_path: Path, *labels: str, **columns: object) -> str:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"prompt": f"Why {n}?", "response_a": "longer", "response_b": "short", "label": label, **columns}
        for n, label in enumerate(labels)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


# --- published files ---

# Pairs in the files, and those that are no ties: 373 of AutoJ are.
PUBLISHED = {"llmbar/Natural": (100, 100), "hhh": (221, 221), "autoj": (1392, 1019)}


@pytest.mark.data
@pytest.mark.parametrize(("bench", "counts"), PUBLISHED.items(), ids=PUBLISHED)
def test_a_baseline_runs_to_the_end(bench: str, counts: tuple[int, int], data_dir: Path, tmp_path: Path):
    log = judged(tmp_path, bench, judge="baseline/longest")
    labels = [sample.target for sample in samples_of(log)]
    assert (len(labels), sum(label != "tie" for label in labels)) == counts
    metrics = judge_numbers(log)
    assert metrics["overall accuracy"] == metrics["baseline longest overall accuracy"]
    assert metrics["overall accuracy low"] < metrics["overall accuracy"] < metrics["overall accuracy high"]
    assert not [name for name in metrics if name.startswith("dimension ")]


@pytest.mark.data
def test_autoj_without_ties_has_none_and_offers_none(data_dir: Path, tmp_path: Path):
    judge = Script('{"winner": "1"}')
    log = judged(tmp_path, "autoj/no_ties", judge, limit=3)
    assert log.eval.dataset.samples == 1019
    assert not ['"tie"' for messages in judge.seen if '"tie"' in messages[0].text]


@pytest.mark.data
def test_hhh_is_reported_by_its_four_groups(data_dir: Path, tmp_path: Path):
    metrics = judge_numbers(judged(tmp_path, "hhh", judge="baseline/longest"))
    groups = [
        name for name in metrics if name.startswith("overall accuracy scenario=") and not name.endswith(("low", "high"))
    ]
    assert len(groups) == 4


# --- own files ---


def test_own_file_is_judged_overall_in_a_seeded_order(tmp_path: Path):
    judge = Script('{"winner": "1"}')
    path = own_file(tmp_path, *["a", "b"] * 8)
    log = judged(tmp_path, path, judge)
    firsts = {next(iter((s.scores or {})["pair_verdict"].metadata["verdicts"])) for s in samples_of(log)}  # type: ignore
    assert firsts == {"a", "b"}
    assert len(judge.seen) == 16
    metrics = judge_numbers(log)
    assert metrics["overall first_preference"] == 1
    assert metrics["baseline longest overall accuracy"] == 0.5


@pytest.mark.parametrize(("labels", "offered"), [(("a", "b"), False), (("a", "tie"), True)])
def test_a_tie_is_offered_where_the_labels_have_one(labels: tuple[str, ...], offered: bool, tmp_path: Path):
    judge = Script('{"winner": "1"}')
    judged(tmp_path, own_file(tmp_path, *labels), judge)
    assert ('"tie"' in judge.seen[0][0].text) is offered


def test_dimensions_of_an_own_file_are_not_asked_for_and_not_unread(tmp_path: Path):
    path = own_file(tmp_path, "a", "b", dimensions={"Clarity": "a"})
    for log in (judged(tmp_path, path, Script('{"winner": "1"}')), judged(tmp_path, path, judge="baseline/first")):
        metrics = judge_numbers(log)
        assert metrics["overall unread"] == 0
        assert not [name for name in metrics if name.startswith("dimension ")]


def test_unused_labels_on_dimensions_are_said_aloud(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = own_file(tmp_path, "a", "b", dimensions={"Clarity": "tie"})
    with Path(path).open("a", encoding="utf-8") as file:
        file.write('\n{"prompt": "Who?", "response_a": "me", "response_b": "you", "label": "b"}')
    judge = Script('{"winner": "1"}')
    judged(tmp_path, path, judge)
    assert "labels on dimensions (2 of 3 pairs) are not used: judge_pairwise asks for one verdict" in caplog.text
    # Nor does a tie among them make the judge be offered one.
    assert '"tie"' not in judge.seen[0][0].text


def test_nothing_is_said_where_there_are_no_labels_on_dimensions(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    judge_pairwise(own_file(tmp_path, "a", "b"))
    assert "dimensions" not in caplog.text


# --- headline ---


def test_the_headline_counts_unread_verdicts_as_wrong(tmp_path: Path):
    replies = iter(['{"winner": "1"}', "Hard to say.", '{"winner": "2"}', '{"winner": "tie"}'])
    judge = Script(lambda messages: next(replies))
    log = judged(tmp_path, own_file(tmp_path, "a", "a", "a", "tie"), judge, orders="ab")
    assert log.results is not None and log.results.headline is not None
    headline = log.results.headline
    assert (headline.scorer, headline.metric) == ("pair_verdict", "overall accuracy_all")
    # Right, unread, wrong; the tie is no label of the paper's accuracy.
    assert judge_numbers(log)["overall accuracy_all"] == pytest.approx(1 / 3)


# --- bad input ---


def test_a_label_outside_the_set_names_row_and_allowed_values(tmp_path: Path):
    with pytest.raises(InputError, match=r"pairs\.jsonl: line 2: column 'label': .*\bc\b.*allowed: a, b, tie"):
        judge_pairwise(own_file(tmp_path, "a", "c"))
