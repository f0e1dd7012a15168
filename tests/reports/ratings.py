"""Logs of scripted judges that rate twelve labelled responses to six prompts."""

import json
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage

from tests.reports.json_files import write_rows
from tests.reports.pairs import Logs
from tests.tasks.scripted import Script, record, run
from urs_inspect.tasks import judge_rating

LABELS = (1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 5)
PROMPTS = (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5)


def write_ratings(path: Path, **columns: Any) -> Path:
    rows = [
        {
            "id": f"r{n}",
            "prompt": f"Prompt {prompt}?",
            "response": f"Answer {n}.",
            "rating": label,
            **columns,
        }
        for n, (label, prompt) in enumerate(zip(LABELS, PROMPTS, strict=True))
    ]
    return write_rows(path, *rows)


def number_of(messages: list[ChatMessage]) -> int:
    [number] = [n for n in range(len(LABELS)) if f"Answer {n}." in messages[-1].text]
    return number


def rate(name: str, messages: list[ChatMessage]) -> str:
    """`same` gives the label, `other` six less it, `coarse` a guess that says little; `coarse` says
    nothing to r0.
    """
    number = number_of(messages)
    if name == "coarse" and number == 0:
        return "No idea."
    given = {"same": LABELS[number], "other": 6 - LABELS[number], "coarse": 2 + number % 2}[name]
    return json.dumps({"reasons": "so", "score": given})


def judge_ratings(directory: Path) -> Logs:
    """Logs of the three judges."""
    bench = str(write_ratings(directory / "ratings.jsonl"))
    logs = {
        name: run(
            judge_rating(bench, scale="1,5"),
            directory / "logs",
            model=Script(lambda messages, name=name: rate(name, messages)).model(name),  # type: ignore[misc]
            grader=None,
        )
        for name in ("same", "other", "coarse")
    }
    return {name: read_eval_log(log.location) for name, log in logs.items()}


def judge_with_rubric(directory: Path) -> EvalLog:
    """Log of a judge that was asked with the rubric and gives twice the label."""
    path = write_ratings(
        directory / "urs.jsonl", reference="The best.", language="en", intent="leisure"
    )
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows[6:]:
        row["intent"] = "factual_qa"
    write_rows(path, *rows)

    def reply(messages: list[ChatMessage]) -> str:
        number = number_of(messages)
        return record(2 * LABELS[number], intent=rows[number]["intent"])

    task = judge_rating(str(path), rubric="urs", scale="1,5")
    return read_eval_log(
        run(task, directory / "logs", model=Script(reply).model("same"), grader=None).location
    )
