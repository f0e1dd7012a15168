"""Logs of scripted judges on eight labelled pairs, as wholes and on dimensions."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage

from tests.reports.json_files import write_rows
from tests.tasks.scripted import Script, run, run_all
from urs_inspect.datasets._sources import SOURCES, sha256_of
from urs_inspect.judging._prompts import Orders
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.stats import BASELINES
from urs_inspect.tasks import judge_pairwise, md_eval

Logs = dict[str, EvalLog]
"""Logs by judge."""

LABELS = ("a", "a", "a", "a", "a", "a", "b", "tie")
LONGER = ("a", "a", "a", "a", "b", "b", "b", "a")
"""Of the seven labels that are no ties, five are the longer response."""


def _responses(number: int) -> dict[str, str]:
    longer = LONGER[number]
    return {
        "response_a": f"Answer {number}" + " indeed" * (longer == "a"),
        "response_b": f"Reply {number}" + " indeed" * (2 * (longer == "b")),
    }


def write_pairs(path: Path) -> Path:
    rows = [
        {
            "id": f"p{n}",
            "prompt": f"Prompt {n}?",
            **_responses(n),
            "label": label,
        }
        for n, label in enumerate(LABELS)
    ]
    return write_rows(path, *rows)


def _reply(messages: list[ChatMessage], right: bool) -> str:
    [number] = [n for n in range(len(LABELS)) if f"Prompt {n}?" in messages[-1].text]
    if LABELS[number] == "tie":
        return "I would rather not say."
    first = (LABELS[number] == "a") == right
    return json.dumps({"comparison": "so", "winner": "1" if first else "2"})


def judge_pairs(directory: Path) -> Logs:
    """Logs of a judge that is always right, one that is always wrong, and a baseline; none reads
    the tie.
    """
    bench = str(write_pairs(directory / "pairs.jsonl"))
    logs = {
        name: run(
            judge_pairwise(bench, orders="ab"),
            directory / "logs",
            model=Script(lambda messages, right=right: _reply(messages, right)).model(name),  # type: ignore[misc]
            grader=None,
        )
        for name, right in (("good", True), ("bad", False))
    }
    logs["longest"] = run(
        judge_pairwise(bench, orders="ab", judge="baseline/longest"),
        directory / "logs",
        model="none/none",
        grader=None,
    )
    return {name: read_eval_log(log.location) for name, log in logs.items()}


SCENARIO = "chitchat"
DIMENSIONS = tuple(load_taxonomy().scenarios[SCENARIO].dimensions)[:2]
"""Two dimensions of the scenario.

The labels on the first are those of the pair, on the second they are all ties.
"""


def publish_md_eval(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put eight pairs in the place of MD-Eval."""
    names = {"a": "model_a", "b": "model_b", "tie": "tie"}
    rows = [
        {
            "prompt": f"Prompt {n}?",
            **_responses(n),
            "winner": names[label],
            "scenario": SCENARIO,
            "annotation": {DIMENSIONS[0]: names[label], DIMENSIONS[1]: "tie"},
        }
        for n, label in enumerate(LABELS)
    ]
    path = directory / SOURCES["md_eval"].path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(directory))
    pinned = replace(SOURCES["md_eval"], sha256=sha256_of(path))
    monkeypatch.setattr("urs_inspect.datasets._benches.SOURCES", {**SOURCES, "md_eval": pinned})


def _joint(messages: list[ChatMessage], right: bool) -> str:
    [number] = [n for n in range(len(LABELS)) if f"Prompt {n}?" in messages[-1].text]
    truth = {"a": "1", "b": "2", "tie": "tie"}[LABELS[number]]
    wrong = {"1": "2", "2": "1", "tie": "1"}[truth]
    record = {DIMENSIONS[0]: truth if right else wrong, DIMENSIONS[1]: "tie", "Overall": truth}
    return json.dumps(
        {name: {"comparison": "so", "winner": winner} for name, winner in record.items()}
    )


def judge_as(directory: Path, *, orders: Orders, seed: int = 0) -> Logs:
    """Joint logs of the judge `sharp` and of every baseline, by judge, asked in the same orders."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        publish_md_eval(directory / "published", monkeypatch)
        model = Script(lambda messages: _joint(messages, True)).model("sharp")
        logs = [
            run(md_eval(orders=orders, seed=seed), directory / "logs", model=model, grader=None)
        ]
        tasks = [md_eval(orders=orders, seed=seed, judge=f"baseline/{kind}") for kind in BASELINES]
        logs += run_all(tasks, directory / "logs", model="none/none", grader=None)
    return dict(
        zip(("sharp", *BASELINES), (read_eval_log(log.location) for log in logs), strict=True)
    )


def judge_dimensions(directory: Path) -> Logs:
    """Joint logs of two judges that are right overall; `sharp` is right on the first dimension,
    `halo` wrong.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        publish_md_eval(directory / "published", monkeypatch)
        logs = {
            name: run(
                md_eval(),
                directory / "logs",
                model=Script(lambda messages, right=right: _joint(messages, right)).model(name),  # type: ignore[misc]
                grader=None,
            )
            for name, right in (("sharp", True), ("halo", False))
        }
    return {name: read_eval_log(log.location) for name, log in logs.items()}


def change(log: EvalLog, **arguments: object) -> EvalLog:
    """The log as if its task had had other arguments."""
    made = log.model_copy(deep=True)
    made.eval.task_args = {**made.eval.task_args, **arguments}
    return made


def is_baseline(log: EvalLog) -> bool:
    return str(log.eval.task_args["judge"]).startswith("baseline/")


def priced(log: EvalLog, cost: float, seconds: float) -> EvalLog:
    """The log as if each call had cost and taken so much."""
    made = log.model_copy(deep=True)
    for sample in made.samples or []:
        for event in sample.events:
            if event.event == "model":
                assert event.output.usage is not None
                event.output.usage.total_cost, event.output.time = cost, seconds
    return made
