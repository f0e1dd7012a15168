"""`urs-lm-eval rejudge`: judges answers that lm-eval has saved; nothing is generated."""

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from lm_eval.api.metrics import mean_stderr
from lm_eval.utils import make_table
from tqdm import tqdm

from urs_inspect.errors import InputError
from urs_inspect.judging import PromptBuilder
from urs_inspect.lmeval_tasks.judging import judging_of
from urs_inspect.lmeval_tasks.metrics import higher_is_better, metrics_of
from urs_inspect.lmeval_tasks.saved_samples import Saved, read_saved, task_of, write_saved, written_to
from urs_inspect.lmeval_tasks.settings import JudgeSettings, read_settings
from urs_inspect.lmeval_tasks.urs_task import UrsTask, answer_of, judge_answers, preflight


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

    Writes rejudged_<judge>_<name>.jsonl and .json, and prints the table. What failed here can be judged again with
    --failed-only and the file written.
    """
    settings = _settings(metadata, judge_model)
    read = {file: read_saved(file) for file in files}
    targets = {file: written_to(file, settings.judge_name, output) for file in files}
    for file, target in targets.items():
        if twice := [other for other in files if other != file and targets[other] == target]:
            raise InputError(f"{file} and {twice[0]} would both be written to {target}; give one of them")
    kept = {file: _kept(saved, settings) if failed_only else {} for file, saved in read.items()}
    preflight(settings)
    for file, saved in read.items():
        target, records = targets[file], _judged(saved, kept[file], settings)
        metrics = [metrics_of(one.line["doc"], record, settings) for one, record in zip(saved, records, strict=True)]
        results = results_of(metrics)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_saved(target, saved, records, metrics)
        facts = {"results": {file.stem: results}, "judge": settings.model_dump(), "n-samples": len(saved)}
        target.with_suffix(".json").write_text(json.dumps(facts, ensure_ascii=False, indent=2), encoding="utf-8")
        click.echo(f"{len(saved)} answers of {file.name}, judged by {settings.judge_name} -> {target}")
        click.echo(_table(task_of(file), results))
        if failed := sum(json.loads(record)["scores"] is None for record in records):
            click.echo(f"{failed} of {len(saved)} answers have no score; once more: --failed-only {target}", err=True)


def _settings(metadata: str, judge_model: str | None) -> JudgeSettings:
    try:
        given = json.loads(metadata)
    except ValueError as error:
        raise InputError(f"--metadata: no JSON: {error}") from error
    if not isinstance(given, dict):
        raise InputError("--metadata: must be a JSON object")
    return read_settings(given if judge_model is None else {**given, "judge_model": judge_model})


def _kept(saved: Sequence[Saved], settings: JudgeSettings) -> dict[int, str]:
    """Records that stay, by place.

    Raises:
        InputError: If another judge or another prompt made them.
    """
    builder = PromptBuilder(judging_of(settings).rubric)
    found: dict[int, str] = {}
    for place, one in enumerate(saved):
        record = json.loads(one.record) if one.record else {"scores": None}
        if one.record is None or record["scores"] is None:
            continue
        if record["judge"] != settings.judge_name:
            raise InputError(
                f"--failed-only: the file was judged by {record['judge']}, not by {settings.judge_name}; scores of two "
                "judges do not mix"
            )
        if settings.judge == "model" and record.get("prompt_sha256") != _prompt_sha256(one, builder, settings):
            raise InputError(
                "--failed-only: the file was judged with another judge_prompt, judge_rubric or judge_language; scores "
                "of two prompts do not mix. Give those of that run, or judge all answers again"
            )
        found[place] = one.record
    return found


def _prompt_sha256(saved: Saved, builder: PromptBuilder, settings: JudgeSettings) -> str:
    doc, rubric = saved.line["doc"], builder.rubric
    language = rubric.language_code(settings.judge_language or doc["language"])
    material = {"question": doc["question"], "reference": doc["reference"], "answer": saved.response}
    return builder.build(rubric.intent_id(doc["intent"]), language, **material).sha256


def _judged(saved: Sequence[Saved], kept: Mapping[int, str], settings: JudgeSettings) -> list[str]:
    todo = [place for place in range(len(saved)) if place not in kept]
    answers = [answer_of(saved[place].line["doc"], saved[place].response) for place in todo]
    with tqdm(total=len(answers), desc="Judging") as bar:
        judged = judge_answers(answers, settings, bar.update)
    found = {**kept, **{place: record.to_json() for place, record in zip(todo, judged, strict=True)}}
    return [found[place] for place in range(len(saved))]


def results_of(metrics: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Means with standard errors, under the keys of lm-eval.

    Args:
        metrics: The metrics of each answer, which has those of its own intent and language.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for found in metrics:
        for name, value in found.items():
            values[name].append(value)
    results: dict[str, Any] = {}
    for name, known in sorted(values.items()):
        error = mean_stderr(known) if len(known) > 1 else "N/A"
        results |= {f"{name},none": math.fsum(known) / len(known), f"{name}_stderr,none": error}
    return results


def _table(task: str, results: Mapping[str, Any]) -> str:
    names = [key.partition(",")[0] for key in results]
    upwards = {name: higher_is_better(name) for name in names if not name.endswith("_stderr")}
    shown = {"results": {task: results}, "versions": {task: UrsTask.VERSION}, "n-shot": {task: 0}}
    return str(make_table({**shown, "higher_is_better": {task: upwards}}))
