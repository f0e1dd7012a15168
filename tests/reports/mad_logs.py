"""Logs, above all of judged comparisons, and votes about them, written without running anything."""

from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score

from tests.reports.json_files import write_rows
from urs_inspect.discrepancy._ballots import Ballot

SCORE = "pair_choice"


def ballot(instruction: str, model_a: str, model_b: str) -> Ballot:
    responses = {model: f"{model} about {instruction}" for model in (model_a, model_b)}
    return Ballot.between(f"id of {instruction}", instruction, responses)


XY, XZ, YZ = ballot("Why?", "x", "y"), ballot("Why?", "x", "z"), ballot("How?", "y", "z")


def judged(one: Ballot, *outcomes: float, epoch: int = 1) -> EvalSample:
    """A comparison and its scores, one for each time that the log was scored."""
    facts = {"model_a": one.model_a, "model_b": one.model_b}
    scores = {
        SCORE if number == 0 else f"{SCORE}-{number}": Score(
            value={"outcome": outcome}, metadata=facts
        )
        for number, outcome in enumerate(outcomes)
    }
    return sample(one.id, {"ballot": one.to_dict()}, scores, epoch)


def sample(
    name: str, metadata: dict[str, Any], scores: dict[str, Score], epoch: int = 1
) -> EvalSample:
    return EvalSample(id=name, epoch=epoch, input="?", target="", metadata=metadata, scores=scores)


def write_log(path: Path, *samples: EvalSample, status: Any = "success", **facts: Any) -> Path:
    """Write a log of the task `mad`, or of what the facts say; the folder is made."""
    usual = {
        "created": "2026-01-01T00:00:00+00:00",
        "task": "urs_inspect/mad",
        "model": "none/none",
        "dataset": EvalDataset(name="pool"),
    }
    path.parent.mkdir(exist_ok=True)
    spec = EvalSpec(config=EvalConfig(), **{**usual, **facts})
    write_eval_log(EvalLog(eval=spec, status=status, samples=list(samples)), str(path))
    return path


def write_answer_log(
    path: Path,
    model: str,
    *samples: EvalSample,
    data: str = "d",
    sha256: str = "0" * 64,
    **facts: Any,
) -> Path:
    """Write a log of the task `urs`, with a model's answers."""
    metadata = {"dataset": data, "dataset_sha256": sha256}
    facts = {
        "task": "urs_inspect/urs",
        "dataset": EvalDataset(name=data, sample_ids=[]),
        "metadata": metadata,
    } | facts
    return write_log(path, *samples, model=model, **facts)


def answered(name: str, text: str, **facts: Any) -> EvalSample:
    """A sample with an answer."""
    given = {"input": f"Ask {name}", "target": "ref", "epoch": 1, **facts}
    return EvalSample(id=name, output=ModelOutput.from_content("m", text), **given)


def cast(path: Path, *votes: tuple[str, str, str]) -> Path:
    """Write votes of (annotator, ballot, choice); the choice `undo` takes one back."""
    rows = []
    for annotator, one, choice in votes:
        said = (
            {"undo": True} if choice == "undo" else {"choice": choice, "left": "b", "seconds": 2.0}
        )
        rows.append(
            {"ballot": one, "annotator": annotator, **said, "time": "2026-01-01T00:00:00+00:00"}
        )
    return write_rows(path, *rows)
