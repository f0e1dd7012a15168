"""`urs-lm-eval rejudge`: judges answers that lm-eval has saved; nothing is generated."""

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from urs_inspect.errors import InputError
from urs_inspect.lmeval_tasks.metrics import higher_is_better, metrics_of
from urs_inspect.lmeval_tasks.settings import JudgeSettings, read_settings
from urs_inspect.lmeval_tasks.urs_task import answer_of, judge_answers, preflight

_FIELDS = ("intent", "intent_group", "language", "question", "reference")


@dataclass(frozen=True)
class Saved:
    """An answer as lm-eval saved it.

    Attributes:
        line: The line of the file.
        response: The answer.
        record: What became of it; None if it was not judged.
    """

    line: dict[str, Any]
    response: str
    record: str | None


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--judge-model", help="Name of the judge at its provider.")
@click.option("--metadata", default="{}", help="Further settings as for `run`, as JSON.")
@click.option("--failed-only", is_flag=True, help="Keep what is judged; judge the rest.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder of the new files; else beside the old ones."
)
def rejudge(
    files: tuple[Path, ...], judge_model: str | None, metadata: str, failed_only: bool, output: Path | None
) -> None:
    """Judge the answers in FILES (samples_urs_*.jsonl of lm-eval).

    Writes <name>_rejudged.jsonl and results_<name>_rejudged.json, and prints the table.
    """
    settings = _settings(metadata, judge_model)
    read = {file: read_saved(file) for file in files}
    preflight(settings)
    for file, saved in read.items():
        records = _judged(saved, settings, failed_only)
        results = results_of([one.line["doc"] for one in saved], records, settings)
        _write(file, saved, records, results, settings, output)
        click.echo(_table(file.stem, results))
        failed = sum(json.loads(record)["scores"] is None for record in records)
        if failed:
            click.echo(f"{failed} of {len(records)} answers have no score.", err=True)


def _settings(metadata: str, judge_model: str | None) -> JudgeSettings:
    try:
        given = json.loads(metadata)
    except ValueError as error:
        raise InputError(f"--metadata: no JSON: {error}") from error
    if not isinstance(given, dict):
        raise InputError("--metadata: must be a JSON object")
    return read_settings(given if judge_model is None else {**given, "judge_model": judge_model})


def read_saved(file: Path) -> list[Saved]:
    """Read answers that lm-eval saved.

    Args:
        file: A file of samples of `urs`, `urs_en` or `urs_zh`.

    Raises:
        InputError: Naming file and line of the first fault.
    """
    found: list[Saved] = []
    for number, text in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
            doc, response = line["doc"], line["resps"][0][0]
            missing = [name for name in _FIELDS if not isinstance(doc[name], str)]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise InputError(
                f"{file}, line {number}: not a sample of urs as lm-eval saves it ({type(error).__name__}: {error})"
            ) from error
        if missing or not isinstance(response, str):
            raise InputError(f"{file}, line {number}: not a sample of urs: {', '.join(missing) or 'its response'}")
        found.append(Saved(line, response, _record(line)))
    if not found:
        raise InputError(f"{file}: no samples")
    return found


def _record(line: dict[str, Any]) -> str | None:
    [kept, *_] = line.get("filtered_resps") or [None]
    try:
        record = json.loads(kept) if isinstance(kept, str) else None
    except ValueError:
        return None  # the answer itself, of a run that did not judge
    return kept if isinstance(record, dict) and {"scores", "judge", "outcome"} <= set(record) else None


def _judged(saved: Sequence[Saved], settings: JudgeSettings, failed_only: bool) -> list[str]:
    kept = [one.record if failed_only and one.record and _usable(one.record, settings) else None for one in saved]
    todo = [place for place, record in enumerate(kept) if record is None]
    answers = [answer_of(saved[place].line["doc"], saved[place].response) for place in todo]
    with tqdm(total=len(answers), desc="Judging") as bar:
        judged = judge_answers(answers, settings, bar.update)
    fresh = {place: record.to_json() for place, record in zip(todo, judged, strict=True)}
    return [record if record is not None else fresh[place] for place, record in enumerate(kept)]


def _usable(record: str, settings: JudgeSettings) -> bool:
    found = json.loads(record)
    if found["judge"] != settings.judge_name:
        raise InputError(
            f"--failed-only: the file was judged by {found['judge']}, not by {settings.judge_name}; scores of two "
            "judges do not mix"
        )
    return found["scores"] is not None


def results_of(docs: Sequence[dict[str, Any]], records: Sequence[str], settings: JudgeSettings) -> dict[str, Any]:
    """Means with standard errors, under the keys of lm-eval.

    Args:
        docs: The cases.
        records: What became of their answers.
        settings: Who judged.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for doc, record in zip(docs, records, strict=True):
        for name, value in metrics_of(doc, record, settings).items():
            values[name].append(value)
    found: dict[str, Any] = {}
    for name, known in sorted(values.items()):
        mean = math.fsum(known) / len(known)
        spread = math.fsum((value - mean) ** 2 for value in known)
        error = math.sqrt(spread / (len(known) - 1) / len(known)) if len(known) > 1 else "N/A"
        found |= {f"{name},none": mean, f"{name}_stderr,none": error}
    return found


def _write(
    file: Path,
    saved: Sequence[Saved],
    records: Sequence[str],
    results: dict[str, Any],
    settings: JudgeSettings,
    output: Path | None,
) -> None:
    folder = file.parent if output is None else output
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for one, record in zip(saved, records, strict=True):
        metrics = metrics_of(one.line["doc"], record, settings)
        old = set(one.line.get("metrics", ()))
        line = {key: value for key, value in one.line.items() if key not in old}
        lines.append({**line, "filtered_resps": [record], "metrics": list(metrics), **metrics})
    new = folder / f"{file.stem}_rejudged.jsonl"
    new.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    judged = {"results": {file.stem: results}, "judge": settings.model_dump(), "n-samples": len(saved)}
    (folder / f"results_{file.stem}_rejudged.json").write_text(
        json.dumps(judged, ensure_ascii=False, indent=2), encoding="utf-8"
    )


def _table(name: str, results: dict[str, Any]) -> str:
    rows = [f"|{name}|Metric|   |Value|   |Stderr|", "|---|---|---|---:|---|---:|"]
    for key, value in results.items():
        metric = key.partition(",")[0]
        if metric.endswith("_stderr"):
            continue
        error = results[f"{metric}_stderr,none"]
        shown = error if isinstance(error, str) else f"{error:.4f}"
        rows.append(f"||{metric}|{'↑' if higher_is_better(metric) else '↓'}|{value:.4f}|±|{shown}|")
    return "\n".join(rows)
