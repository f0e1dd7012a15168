"""Logs of scripted judges on eight labelled pairs."""

import json
from pathlib import Path

from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage

from tests.tasks.scripted import Script, run
from urs_inspect.tasks import judge_pairwise

LABELS = ("a", "a", "a", "a", "a", "a", "b", "tie")
LONGER = ("a", "a", "a", "a", "b", "b", "b", "a")
"""Of the seven labels that are no ties, five are the longer response."""


def write_pairs(path: Path) -> Path:
    lines = [
        {
            "id": f"p{n}",
            "prompt": f"Prompt {n}?",
            "response_a": f"Answer {n}" + " indeed" * (longer == "a"),
            "response_b": f"Reply {n}" + " indeed" * (2 * (longer == "b")),
            "label": label,
        }
        for n, (label, longer) in enumerate(zip(LABELS, LONGER, strict=True))
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def _reply(messages: list[ChatMessage], right: bool) -> str:
    [number] = [n for n in range(len(LABELS)) if f"Prompt {n}?" in messages[-1].text]
    if LABELS[number] == "tie":
        return "I would rather not say."
    first = (LABELS[number] == "a") == right
    return json.dumps({"comparison": "so", "winner": "1" if first else "2"})


def judge_pairs(directory: Path) -> dict[str, EvalLog]:
    """Logs of a judge that is always right, one that is always wrong, and a baseline; none reads the tie."""
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
        judge_pairwise(bench, orders="ab", judge="baseline/longest"), directory / "logs", model="none/none", grader=None
    )
    return {name: read_eval_log(log.location) for name, log in logs.items()}
