"""`urs-lm-eval rejudge`: judges answers that lm-eval has saved; nothing is generated."""

import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from lm_eval.api.metrics import mean_stderr
from lm_eval.utils import make_table
from tqdm import tqdm

from urs_inspect._util import InputError
from urs_inspect.judging import AnswerJudging, JudgeFailure
from urs_inspect.lmeval_tasks.clients import call_parameters
from urs_inspect.lmeval_tasks.judging import Record, judge_answers, judging_of, read_record, run_async
from urs_inspect.lmeval_tasks.settings import JudgeSettings, read_settings
from urs_inspect.lmeval_tasks.urs_task import UrsTask, answer_of, failures, measures_of, metrics_of, preflight

_FIELDS = ("intent", "intent_group", "language", "question", "reference")
_START = "samples_"
_MOST_OF_A_NAME = 80
_DIGITS = 8


class OtherTaskError(InputError):
    """A file of samples is of a task that is not judged."""


@dataclass(frozen=True)
class Saved:
    """An answer as lm-eval saved it."""

    line: dict[str, Any]
    response: str
    record: Record | None  # None if it was not judged


def read_saved(file: Path) -> list[Saved]:
    """Read a file of samples of `urs`, `urs_en` or `urs_zh`; `OtherTaskError` if it is of another task."""
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not in UTF-8, as lm-eval writes samples ({error.reason})") from error
    saved = [_saved(text, f"{file}, line {number}") for number, text in enumerate(lines, start=1) if text.strip()]
    if not saved:
        raise InputError(f"{file}: no samples")
    return saved


def written_to(file: Path, judge: str, judged_with: Mapping[str, Any], folder: Path | None) -> Path:
    """Where the samples of a file go when a judge has judged them; by default into the same folder.

    The name does not begin with `samples_`, so that a pattern for what lm-eval saved never finds it; it holds the
    judge and a digest of all settings on which scores depend, so that no two of them share a file; and what is judged
    again with the same settings keeps it.
    """
    who = re.sub(r"[^\w.-]+", "-", judge).strip("-")[-_MOST_OF_A_NAME:]
    digest = hashlib.sha256(json.dumps(dict(judged_with), sort_keys=True).encode()).hexdigest()[:_DIGITS]
    return (file.parent if folder is None else folder) / f"rejudged_{who}-{digest}_{_original(file.stem)}.jsonl"


def write_saved(
    target: Path, saved: Sequence[Saved], records: Sequence[Record], metrics: Sequence[Mapping[str, float]]
) -> None:
    """Write judged samples in one go: the file is the old one or the new one, never half of it."""
    lines = []
    for sample, record, values in zip(saved, records, metrics, strict=True):
        old = set(sample.line.get("metrics", ()))
        line = {key: value for key, value in sample.line.items() if key not in old}
        lines.append({**line, "filtered_resps": [record.to_json()], "metrics": list(values), **values})
    unfinished = target.with_name(f"{target.name}.unfinished")
    unfinished.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    unfinished.replace(target)


def run_of(file: Path) -> dict[str, Any]:
    """`model`, `urs_dataset` and `version` of the run whose samples a file holds, if its results are in the folder."""
    task, date = _task_and_date(file)
    try:
        results = json.loads((file.parent / f"results_{date}.json").read_text(encoding="utf-8"))
        metadata = results["configs"][task].get("metadata") or {}
        facts = {"model": results.get("model_name"), "version": results.get("versions", {}).get(task)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    facts["urs_dataset"] = metadata.get("urs_dataset", "urs")
    return {name: value for name, value in facts.items() if value is not None}


def _original(name: str) -> str:
    return name[name.find(_START) :] if _START in name else name


def _task_and_date(file: Path) -> tuple[str, str]:
    task, _, date = _original(file.stem).removeprefix(_START).rpartition("_")
    return task or date, date


def _saved(text: str, place: str) -> Saved:
    try:
        line = json.loads(text)
        doc, response = line["doc"], line["resps"][0][0]
        missing = [name for name in _FIELDS if name not in doc]
        wrong = [name for name in _FIELDS if name in doc and not isinstance(doc[name], str)]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise InputError(
            f"{place}: not a sample of urs, urs_en or urs_zh as lm-eval saves it ({type(error).__name__}: {error})"
        ) from error
    if missing:
        raise OtherTaskError(f"{place}: not a sample of urs, urs_en or urs_zh: no {', '.join(missing)}")
    if wrong or not isinstance(response, str):
        raise InputError(f"{place}: not a sample of urs: {', '.join(wrong) or 'its response'} is no text")
    [kept, *_] = line.get("filtered_resps") or [None]
    return Saved(line, response, read_record(kept))


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
    """Judge the answers in FILES (samples_urs_*.jsonl of lm-eval; those of other tasks are left out).

    Writes rejudged_<judge>-<digest of its settings>_<name>.jsonl and .json, and prints the table. What failed here can
    be judged again with --failed-only and the file written.
    """
    settings = _settings(metadata, judge_model)
    read = _read(files)
    judging = judging_of(settings)
    judged_with = _judged_with(settings, judging)
    targets = {file: written_to(file, settings.judge_name, judged_with, output) for file in read}
    for file, target in targets.items():
        if twice := [other for other in read if other != file and targets[other] == target]:
            raise InputError(f"{file} and {twice[0]} would both be written to {target}; give one of them")
    kept = {file: _kept(saved, settings, judging, judged_with) if failed_only else {} for file, saved in read.items()}
    preflight(settings)
    for place, (file, saved) in enumerate(read.items()):
        records = _judged(saved, kept[file], settings, judging)
        _write(file, targets[file], saved, records, settings, judging, judged_with)
        if any(record.not_asked for record in records) and (left := list(read)[place + 1 :]):
            click.echo(f"Not begun: {', '.join(map(str, left))}", err=True)
            return


def _settings(metadata: str, judge_model: str | None) -> JudgeSettings:
    try:
        given = json.loads(metadata)
    except ValueError as error:
        raise InputError(f"--metadata: no JSON: {error}") from error
    if not isinstance(given, dict):
        raise InputError("--metadata: must be a JSON object")
    return read_settings(given if judge_model is None else {**given, "judge_model": judge_model})


def _read(files: Sequence[Path]) -> dict[Path, list[Saved]]:
    """The samples of each file; those of other tasks, which a pattern may find as well, are left out."""
    read: dict[Path, list[Saved]] = {}
    others: list[OtherTaskError] = []
    for file in dict.fromkeys(files):
        try:
            read[file] = read_saved(file)
        except OtherTaskError as error:
            others.append(error)
    if not read:
        raise others[0]
    for other in others:
        click.echo(f"Left out: {other}", err=True)
    return read


def _judged_with(settings: JudgeSettings, judging: AnswerJudging) -> dict[str, Any]:
    """All settings on which scores depend."""
    if settings.judge == "samer":
        return {"judge": settings.judge_name, "samer_engine": settings.samer_engine}
    parameters = run_async(call_parameters(settings))
    return {**parameters, "judge_language": settings.judge_language, "rubric_sha256": judging.rubric.sha256}


def _kept(
    saved: Sequence[Saved], settings: JudgeSettings, judging: AnswerJudging, judged_with: Mapping[str, Any]
) -> dict[int, Record]:
    """Records that stay, by place; `InputError` if another judge, other settings or another prompt made them."""
    kept: dict[int, Record] = {}
    for place, sample in enumerate(saved):
        record = sample.record
        if record is None or record.scores is None:
            continue
        if record.judge != settings.judge_name:
            raise InputError(
                f"--failed-only: the file was judged by {record.judge}, not by {settings.judge_name}; scores of two "
                "judges do not mix"
            )
        if settings.judge == "model":
            _check_call(record, judged_with)
            prompt = judging.prompt(answer_of(sample.line["doc"], sample.response))
            if isinstance(prompt, JudgeFailure) or record.facts.get("prompt_sha256") != prompt.sha256:
                raise InputError(
                    "--failed-only: the file was judged with another judge_prompt, judge_rubric or judge_language; "
                    "scores of two prompts do not mix. Give those of that run, or judge all answers again"
                )
        kept[place] = record
    return kept


def _check_call(record: Record, judged_with: Mapping[str, Any]) -> None:
    before = record.facts.get("judge_call")
    if not isinstance(before, dict):
        raise InputError(
            "--failed-only: the file does not say how its judge was called (judge_call); judge all answers again"
        )
    for name, value in before.items():
        if value != judged_with.get(name):
            raise InputError(
                f"--failed-only: the file was judged with {name} {value}, not {judged_with.get(name)}; scores of two "
                "settings do not mix. Give those of that run, or judge all answers again"
            )


def _judged(
    saved: Sequence[Saved], kept: Mapping[int, Record], settings: JudgeSettings, judging: AnswerJudging
) -> list[Record]:
    todo = [place for place in range(len(saved)) if place not in kept]
    answers = [answer_of(saved[place].line["doc"], saved[place].response) for place in todo]
    with tqdm(total=len(answers), desc="Judging") as bar:
        judged = judge_answers(answers, settings, judging, bar.update)
    records = {**kept, **dict(zip(todo, judged, strict=True))}
    return [records[place] for place in range(len(saved))]


def _write(
    file: Path,
    target: Path,
    saved: Sequence[Saved],
    records: Sequence[Record],
    settings: JudgeSettings,
    judging: AnswerJudging,
    judged_with: Mapping[str, Any],
) -> None:
    metrics = [metrics_of(sample.line["doc"], record, settings) for sample, record in zip(saved, records, strict=True)]
    task, results = _task_and_date(file)[0], results_of(metrics)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_saved(target, saved, records, metrics)
    upwards = {measure.name: measure.higher_is_better for measure in measures_of(judging.rubric, settings)}
    facts = {
        "results": {task: results},
        "versions": {task: UrsTask.VERSION},
        "n-shot": {task: 0},
        "higher_is_better": {task: {name: up for name, up in upwards.items() if f"{name},none" in results}},
        "n-samples": {task: {"original": len(saved), "effective": len(saved)}},
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "urs_inspect": version("urs-inspect"),
        "judged_with": dict(judged_with),
        "answers": {
            "samples": file.name,
            "dataset_sha256": sorted({str(sample.line["doc"].get("dataset_sha256")) for sample in saved}),
            **run_of(file),
        },
        # The cases are described under `answers`.
        "judge": settings.model_dump(exclude={"urs_dataset"}),
    }
    target.with_suffix(".json").write_text(json.dumps(facts, ensure_ascii=False, indent=2), encoding="utf-8")
    click.echo(f"{len(saved)} answers of {file.name}, judged by {settings.judge_name} -> {target}")
    click.echo(make_table(facts))
    if summary := failures(records):
        click.echo(f"{summary} Once more: --failed-only {target}", err=True)


def results_of(metrics: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Means with standard errors, under the keys of lm-eval; an answer has the metrics of its intent and language."""
    values: dict[str, list[float]] = defaultdict(list)
    for metrics_of_answer in metrics:
        for name, value in metrics_of_answer.items():
            values[name].append(value)
    results: dict[str, Any] = {}
    for name, known in sorted(values.items()):
        error = mean_stderr(known) if len(known) > 1 else "N/A"
        results |= {f"{name},none": math.fsum(known) / len(known), f"{name}_stderr,none": error}
    return results
