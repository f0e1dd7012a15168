"""`judge_pairwise` and `md_eval` on published files, with baselines and with scripted judges, and
on one's own.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage

from tests.tasks.scripted import Reply, Script, judge_numbers, run, samples_of
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.tasks import judge_pairwise, md_eval

FIRST = '{"winner": "1"}'


def judged(
    task: Task, log_dir: Path, script: Script | None = None, limit: int | None = None
) -> EvalLog:
    log = run(task, log_dir, model=script.model() if script else "none/none", limit=limit)
    assert log.status == "success", log.error
    return log


def facts_of(log: EvalLog) -> list[dict[str, Any]]:
    return [(sample.scores or {})["pair_verdict"].metadata or {} for sample in samples_of(log)]


def own_file(tmp_path: Path, *labels: str, **columns: object) -> str:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {
            "prompt": f"Why {n}?",
            "response_a": "longer",
            "response_b": "short",
            "label": label,
            **columns,
        }
        for n, label in enumerate(labels)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


# ## judge_pairwise


@pytest.mark.data
def test_hhh_is_reported_by_its_four_groups(data_dir: Path, tmp_path: Path):
    log = judged(judge_pairwise("hhh", judge="baseline/longest"), tmp_path)
    assert len(samples_of(log)) == 221
    metrics = judge_numbers(log)
    assert metrics["overall accuracy"] == metrics["baseline longest overall accuracy"]
    assert (
        metrics["overall accuracy low"]
        < metrics["overall accuracy"]
        < metrics["overall accuracy high"]
    )
    assert not [name for name in metrics if name.startswith("dimension ")]
    groups = [name for name in metrics if re.fullmatch(r"overall accuracy scenario=\w+", name)]
    assert len(groups) == 4


@pytest.mark.data
def test_autoj_without_ties_has_none_and_offers_none(data_dir: Path, tmp_path: Path):
    judge = Script(FIRST)
    log = judged(judge_pairwise("autoj/no_ties"), tmp_path, judge, limit=3)
    assert log.eval.dataset.samples == 1019  # 373 of 1,392 are ties
    assert not [messages for messages in judge.seen if '"tie"' in messages[0].text]


def test_own_file_is_judged_overall_in_a_seeded_order(tmp_path: Path):
    judge = Script(FIRST)
    log = judged(judge_pairwise(own_file(tmp_path, *["a", "b"] * 8)), tmp_path, judge)
    assert {next(iter(facts["verdicts"])) for facts in facts_of(log)} == {"a", "b"}
    assert len(judge.seen) == 16
    metrics = judge_numbers(log)
    assert metrics["overall first_preference"] == 1
    assert metrics["baseline longest overall accuracy"] == 0.5


@pytest.mark.parametrize(("labels", "offered"), [(("a", "b"), False), (("a", "tie"), True)])
def test_a_tie_is_offered_where_the_labels_have_one(
    labels: tuple[str, ...], offered: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    judge = Script(FIRST)
    judged(judge_pairwise(own_file(tmp_path, *labels)), tmp_path, judge)
    assert ('"tie"' in judge.seen[0][0].text) is offered
    assert "dimensions" not in caplog.text


def test_unused_labels_on_dimensions_are_said_aloud(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    path = own_file(tmp_path, "a", "b", dimensions={"Clarity": "tie"})
    with Path(path).open("a", encoding="utf-8") as file:
        file.write('\n{"prompt": "Who?", "response_a": "me", "response_b": "you", "label": "b"}')
    judge = Script(FIRST)
    log = judged(judge_pairwise(path), tmp_path, judge)
    assert tells(caplog.text, "2 of 3 pairs ... judge_pairwise")
    # Nor does a tie among them make the judge be offered one, or a verdict on them be unread.
    assert '"tie"' not in judge.seen[0][0].text
    metrics = judge_numbers(log)
    assert metrics["overall unread"] == 0
    assert not [name for name in metrics if name.startswith("dimension ")]


def test_the_headline_counts_unread_verdicts_as_wrong(tmp_path: Path):
    judge = Script([FIRST, "Hard to say.", '{"winner": "2"}', '{"winner": "tie"}'])
    task = judge_pairwise(own_file(tmp_path, "a", "a", "a", "tie"), orders="ab")
    log = run(task, tmp_path, model=judge.model(), max_samples=1)
    assert log.results is not None and log.results.headline is not None
    headline = log.results.headline
    assert (headline.scorer, headline.metric) == ("pair_verdict", "overall accuracy_all")
    # Right, unread, wrong; the tie is no label of the paper's accuracy.
    assert judge_numbers(log)["overall accuracy_all"] == pytest.approx(1 / 3)


def test_a_label_outside_the_set_names_row_and_allowed_values(tmp_path: Path):
    with pytest.raises(
        InputError, match=r"pairs\.jsonl: line 2: column 'label': .*\bc\b.*allowed: a, b, tie"
    ):
        judge_pairwise(own_file(tmp_path, "a", "c"))


def test_a_published_file_is_judged_under_its_own_names(tmp_path: Path):
    path = tmp_path / "dataset=mine,model=x.json"
    row = {"question": "Why?", "response_A": "longer", "response_B": "short", "label": "A>B"}
    path.write_text(json.dumps([row, row | {"label": "B>A"}, row | {"label": None}]), "utf-8")
    columns = {
        "prompt": "question",
        "response_a": "response_A",
        "response_b": "response_B",
        "labels": {"A>B": "a", "B>A": "b"},
    }
    # as the command line splits a text at its commas
    task = judge_pairwise(str(path).split(","), columns=columns, judge="baseline/longest")  # type: ignore[arg-type]
    log = judged(task, tmp_path)
    assert [sample.target for sample in samples_of(log)] == ["a", "b"]
    assert judge_numbers(log)["overall accuracy"] == 0.5
    assert len((log.eval.metadata or {})["dataset_skipped"]) == 1
    with pytest.raises(InputError, match=r"^columns: must be a mapping"):
        judge_pairwise(str(path), columns=7)  # type: ignore[arg-type]


# ## md_eval


@pytest.mark.data
def test_longest_is_right_on_255_of_342(data_dir: Path, tmp_path: Path):
    log = judged(md_eval(judge="baseline/longest"), tmp_path)
    metrics = judge_numbers(log)

    assert len(samples_of(log)) == 349
    assert metrics["overall accuracy"] == pytest.approx(255 / 342)
    assert metrics["overall accuracy_all"] == pytest.approx(255 / 342)
    assert metrics["overall unread"] == 0
    assert metrics["overall longer_preference"] == 1
    # Its interval is about 4.6 points either side: sqrt(.746 * .254 / 342) * 1.96 = .046.
    assert 0.68 < metrics["overall accuracy low"] < 0.72
    assert 0.77 < metrics["overall accuracy high"] < 0.81
    # Every result holds the baselines, whoever judged.
    assert metrics["baseline longest overall accuracy"] == metrics["overall accuracy"]
    assert metrics["baseline longest dimension accuracy"] == metrics["dimension accuracy"]
    assert metrics["baseline second overall accuracy"] == pytest.approx(201 / 342)
    # 3,248 dimension labels are no ties, and 2,955 of them equal the overall label. For 8 of them
    # that is a tie, which is a wrong verdict; without those it is 2,955 of 3,240, 91.2%.
    assert metrics["baseline copy_overall dimension accuracy"] == pytest.approx(2955 / 3248)
    assert metrics["dimension label_halo"] == pytest.approx(2955 / 3240)
    for kind in ("longest", "shortest", "first", "second", "random"):
        for name in (f"baseline {kind} overall accuracy", f"baseline {kind} dimension accuracy"):
            assert metrics[f"{name} low"] < metrics[name] < metrics[f"{name} high"]
    # The header of the log is short, and begins with the same number and its bounds.
    assert log.results is not None
    [header] = [
        {name: one.value for name, one in result.metrics.items()} for result in log.results.scores
    ]
    assert len(header) <= 30
    expected = [metrics[f"overall accuracy_all{end}"] for end in ("", " low", " high")]
    assert list(header.values())[:3] == pytest.approx(expected)

    # What was judged.
    labels = [facts["labels"] for facts in facts_of(log)]
    # 4,475 dimension labels in the file, 13 of them in the row without responses.
    assert sum(len(given) - 1 for given in labels) == 4475 - 13
    overall = [given["Overall"] for given in labels]
    assert (overall.count("b"), overall.count("tie")) == (201, 7)
    metadata = log.eval.metadata or {}
    assert (
        metadata["dataset_sha256"]
        == "df44c4b8d1d5026aa4057f93bd05ba0cc2ebd922919509d165725f8f1abead02"
    )
    assert len(metadata["dataset_skipped"]) == 1 and "null" in metadata["dataset_skipped"][0]


@pytest.mark.data
def test_copying_the_overall_label_shows_the_ceiling_of_halo(data_dir: Path, tmp_path: Path):
    log = judged(md_eval(judge="baseline/copy_overall"), tmp_path, limit=60)
    metrics = judge_numbers(log)
    assert len(samples_of(log)) == 60
    assert all(one["verdicts"]["a"]["Overall"] == one["labels"]["Overall"] for one in facts_of(log))
    assert metrics["dimension accuracy"] == metrics["baseline copy_overall dimension accuracy"]
    assert 0.8 < metrics["dimension accuracy"] <= metrics["dimension label_halo"] < 1
    assert metrics["dimension halo"] == 1


@pytest.mark.data
def test_a_judge_that_answers_first_scores_as_the_baseline_in_the_chosen_scenarios(
    data_dir: Path, tmp_path: Path
):
    def answer(messages: list[ChatMessage]) -> Reply:
        names = re.findall(r"^- (.+?): ", messages[0].text, re.MULTILINE)
        return json.dumps(
            {name: {"comparison": "x", "winner": "1"} for name in [*names, "Overall"]}
        )

    judge = Script(answer)
    log = judged(md_eval(scenarios="chitchat, roleplay"), tmp_path, judge)
    scenarios = load_taxonomy().scenarios
    assert {(one.metadata["scenario"], one.metadata["need"]) for one in samples_of(log)} == {
        (name, scenarios[name].need) for name in ("chitchat", "roleplay")
    }
    assert {config.temperature for config in judge.configs} == {0}
    metrics = judge_numbers(log)
    for measured in ("overall", "dimension"):
        assert metrics[f"{measured} accuracy"] == metrics[f"baseline first {measured} accuracy"]
        assert metrics[f"{measured} unread"] == 0


@pytest.mark.data
def test_no_model_to_judge_is_a_clear_error(data_dir: Path, tmp_path: Path):
    log = run(md_eval(), tmp_path, model="none/none", limit=1)
    assert log.status == "error" and log.error is not None
    assert "--model none cannot judge" in log.error.message
    assert "-T judge=baseline/longest" in log.error.message


@pytest.mark.usefixtures("no_preflight")
def test_a_judge_of_pairs_sees_the_conversation_and_samer_its_last_message(
    tmp_path: Path, stub_engine: Callable[..., Any], caplog: pytest.LogCaptureFixture
):
    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    row = {"messages": talk, "response_a": "Because.", "response_b": "It is so.", "label": "a"}
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    judge = Script('{"comparison": "x", "winner": "1"}')
    judged(judge_pairwise(bench=str(path)), tmp_path / "model", judge)
    assert "[System prompt]\nBe brief.\n\n[User]\nWhy?" in judge.seen[0][-1].text
    assert "conversations" not in caplog.text
    opening = stub_engine()
    samer = {"model": str(tmp_path), "engine": "stub"}
    log = run(
        judge_pairwise(bench=str(path), judge="samer", samer=samer),
        tmp_path / "samer",
        model="none/none",
    )
    assert log.status == "success", log.error
    assert {item.query for item in opening.asked} == {"Why?"}
    assert "1 of 1 prompts are conversations" in caplog.text
