"""`urs-lm-eval rejudge`: judges answers that lm-eval has saved; nothing is generated."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version as package_version
from itertools import combinations
from pathlib import Path
from typing import Any

import click
from lm_eval.api.metrics import mean_stderr
from lm_eval.utils import make_table
from tqdm import tqdm

from urs_inspect._util import InputError, check_folder, choices, counted, writing
from urs_inspect.datasets._conversations import (
    KINDS,
    NOT_SHOWN,
    TURNS_NOT_SEEN,
    Conversation,
    NotShown,
    Role,
    Turn,
    named_kinds,
    single,
)
from urs_inspect.datasets._rows import read_records
from urs_inspect.judging import JudgeFailure
from urs_inspect.lmeval_tasks._clients import call_parameters
from urs_inspect.lmeval_tasks._judging import (
    JUDGEMENT,
    Record,
    judge_answers,
    read_record,
    run_async,
)
from urs_inspect.lmeval_tasks._measured_task import Measure
from urs_inspect.lmeval_tasks._settings import JudgeSettings, read_settings
from urs_inspect.lmeval_tasks._urs_task import (
    UrsTask,
    about_replies,
    answer_of,
    failures,
    measures_of,
    metrics_of,
    preflight,
)
from urs_inspect.logs._lm_eval_files import saved_results, task_and_date
from urs_inspect.rubrics import Rubric

_FIELDS = ("intent", "intent_group", "language", "question", "reference")
_OWN_METRICS = ("urs_", "samer_", "bypass")
_START = "samples_"
_MOST_OF_A_NAME = 80
_DIGITS = 8
_PROMPT = "judge_prompt, judge_rubric, judge_language or intent"


class OtherTaskError(InputError):
    """A file of samples is of a task that is not judged."""


@dataclass(frozen=True)
class Saved:
    """An answer as lm-eval saved it."""

    line: dict[str, Any]
    response: str
    record: Record | None  # None if it was not judged
    doc: Mapping[str, Any]  # a case as of `load_cases`

    @property
    def given(self) -> dict[str, str]:
        """Intent and language of a sample that has none of its own."""
        if self.doc is self.line["doc"]:
            return {}
        return {name: self.doc[name] for name in ("intent", "language")}


@dataclass(frozen=True)
class _Task:
    """A file of samples to judge."""

    file: Path
    saved: list[Saved]
    judged_with: dict[str, Any]  # all on which scores depend
    target: Path
    settings: JudgeSettings


def read_saved(file: Path, others: Mapping[str, str] | str = "") -> list[Saved]:
    """Read a file of samples, of several filters those of the first.

    `others` has `intent`, `intent_group` and `language` of samples of tasks other than `urs`,
    `urs_en` and `urs_zh`; or it says what is missing to judge them, and `OtherTaskError` is raised
    for such a file.
    """
    rows, faults = read_records(file)
    if faults:
        raise InputError(f"{faults[0]}; not a sample as lm-eval saves it")
    saved = [_saved(row.values, f"{file}, {row.place}", others) for row in rows]
    if not saved:
        raise InputError(f"{file}: no samples")
    first_filter = saved[0].line.get("filter")
    judged = [sample for sample in saved if sample.line.get("filter") == first_filter]
    several = sum(len(sample.line["resps"][0]) > 1 for sample in judged)
    unreferenced = sum(
        bool(sample.given) and not sample.doc["reference"].strip() for sample in judged
    )
    other = f"of filters other than '{judged[0].line.get('filter')}' skipped: the same responses"
    for number, sentence in (
        (len(saved) - len(judged), other),
        (several, "with several responses (repeats): the first of each is judged"),
        (unreferenced, "without a reference: `target` is empty or None"),
    ):
        if number:
            click.echo(f"{file.name}: {counted(number, 'sample')} {sentence}.", err=True)
    return judged


def written_to(file: Path, judge: str, judged_with: Mapping[str, Any], folder: Path | None) -> Path:
    """Where the samples of a file go when a judge has judged them; by default into the same folder.

    The name does not begin with `samples_`, so that a pattern for what lm-eval saved never finds
    it; it holds the judge and a digest of all settings on which scores depend, so that no two of
    them share a file; and what is judged again with the same settings keeps it.
    """
    who = re.sub(r"[^\w.-]+", "-", judge).strip("-")[-_MOST_OF_A_NAME:]
    settings = json.dumps(dict(judged_with), sort_keys=True)
    digest = hashlib.sha256(settings.encode()).hexdigest()[:_DIGITS]
    saved = file.stem[max(file.stem.find(_START), 0) :]
    return (folder or file.parent) / f"rejudged_{who}-{digest}_{saved}.jsonl"


def write_saved(
    target: Path,
    saved: Sequence[Saved],
    records: Sequence[Record],
    metrics: Sequence[Mapping[str, float]],
) -> None:
    """Write judged samples in one go: the file is the old one or the new one, never half of it."""
    lines = []
    for sample, record, values in zip(saved, records, metrics, strict=True):
        names = sample.line.get("metrics", ())
        old = {name for name in names if name.startswith(_OWN_METRICS)}
        line = {key: value for key, value in sample.line.items() if key not in old}
        rest = [name for name in names if name not in old]
        doc = {**line["doc"], JUDGEMENT: record.model_dump()}
        lines.append({**line, "doc": doc, "metrics": [*rest, *values], **values})
    unfinished = target.with_name(f"{target.name}.unfinished")
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        unfinished.write_text(text, encoding="utf-8")
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.replace(target)


def _saved(line: dict[str, Any], place: str, others: Mapping[str, str] | str) -> Saved:
    try:
        doc = line["doc"]
        response = line["resps"][0][0]
        record = read_record(doc.get(JUDGEMENT))
        missing = [name for name in _FIELDS if name not in doc]
        wrong = [name for name in _FIELDS if name in doc and not isinstance(doc[name], str)]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(
            f"{place}: not a sample as lm-eval saves it ({type(error).__name__}: {error})"
        ) from error
    if missing:
        if isinstance(others, str):
            raise OtherTaskError(
                f"{place}: not a sample of urs, urs_en or urs_zh: no {', '.join(missing)}. {others}"
            )
        return Saved(line, response, record, {**others, **_asked(line, place)})
    if wrong or not isinstance(response, str):
        raise InputError(
            f"{place}: not a sample of urs: {', '.join(wrong) or 'its response'} is no text"
        )
    return Saved(line, response, record, doc)


def _asked(line: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Question and reference of a sample of any task: the prompt that was sent, and the target."""
    try:
        arguments = line["arguments"]["gen_args_0"]
        target = str(line.get("target"))
        prompt = arguments["arg_0"]
        options = arguments.get("arg_1")
        # a chat by an API is a list of one text
        text = str(prompt[0] if isinstance(prompt, list) else prompt)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(
            f"{place}: no prompt in arguments.gen_args_0.arg_0, where lm-eval saves it"
        ) from error
    if not isinstance(options, dict) or not isinstance(line["resps"][0][0], str):
        raise OtherTaskError(
            f"{place}: no answer in words, as of a task of multiple_choice or loglikelihood"
        )
    if "arg_2" in arguments:
        raise OtherTaskError(
            f"{place}: a prompt with images or sounds, which the judge would not be shown"
        )
    return {"question": _conversation(text), "reference": "" if target == "None" else target}


def _conversation(prompt: str) -> Conversation:
    """What was asked: the chat that a prompt in JSON holds, else the prompt as one message."""
    try:
        chat = of_messages(json.loads(prompt))
    except (ValueError, KeyError, TypeError, AttributeError):
        return single(prompt)
    if chat.turns:
        return chat
    return single(prompt)


_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def of_messages(messages: Sequence[Mapping[str, Any]]) -> Conversation:
    """A conversation from messages `{role, content}` as they are sent to a server of models.

    Content is a text, or a list of parts such as `{type: text, text}` and `{type: image_url, ...}`.
    A call of a tool, and what a tool returned, is not shown. `ValueError` for a message that cannot
    be read.
    """
    return Conversation(tuple(_turn(message) for message in messages))


def _turn(message: Mapping[str, Any]) -> Turn:
    role = _ROLES.get(str(message["role"]))
    if role is None:
        raise ValueError(f"unknown role {message['role']!r}")
    content = message["content"]
    if role == "tool":
        return Turn(role, (NotShown("tool_result"),))
    given = content if isinstance(content, list) else [content]
    parts = [_part(part) for part in given if part is not None]
    calls = message.get("tool_calls") or []
    return Turn(role, (*parts, *[NotShown("tool_call")] * len(calls)))


def _part(part: object) -> str | NotShown:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise ValueError(f"content {part!r} is no text")
    if isinstance(part.get("text"), str):
        return str(part["text"])
    return NotShown(KINDS.get(str(part.get("type")), "other"))


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option("--judge-model", help="Name of the judge at its provider.")
@click.option(
    "--rubric",
    help="File of a rubric (judge_rubric); one with one intent judges samples of any task.",
)
@click.option(
    "--intent", help="Intent of the rubric by which samples of other tasks than urs are judged."
)
@click.option("--language", help="Language of the judge's prompt (judge_language).")
@click.option("--metadata", default="{}", help="Further settings as for `run`, as JSON.")
@click.option("--failed-only", is_flag=True, help="Keep what is judged; judge the rest.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder of the new files; else beside the old ones.",
)
def rejudge(
    files: tuple[Path, ...],
    judge_model: str | None,
    rubric: str | None,
    intent: str | None,
    language: str | None,
    metadata: str,
    failed_only: bool,
    output: Path | None,
) -> None:
    """Judge the answers in FILES, samples_*.jsonl of lm-eval.

    Those of urs have an intent of their own. Those of any other task that generates text are judged
    by the only intent of the rubric, or --intent: the question is the saved prompt, the reference
    the target, the answer the first response before any filter. Without an intent they are left
    out.

    Writes rejudged_<judge>-<digest of its settings>_<name>.jsonl and .json, and prints the table.
    What failed here can be judged again with --failed-only and the file written.
    """
    given = {"judge_model": judge_model, "judge_rubric": rubric, "judge_language": language}
    settings = _settings(metadata, given)
    about_others = _others(settings.judging.rubric, settings.judge_language, intent)
    read = _read(files, about_others)
    if intent is not None and not any(saved[0].given for saved in read.values()):
        raise InputError("--intent: all samples are of urs and have an intent of their own")
    common = _judged_with(settings)
    tasks: list[_Task] = []
    for file, saved in read.items():
        judged_with = {**common, **saved[0].given}
        target = written_to(file, settings.judge_name, judged_with, output)
        tasks.append(_Task(file, saved, judged_with, target, settings))
    _check_targets(tasks)
    kept = [_kept(task) if failed_only else {} for task in tasks]
    preflight(settings)
    for place, task in enumerate(tasks):
        records = _judged(task, kept[place])
        _write(task, records)
        left = [str(later.file) for later in tasks[place + 1 :]]
        if left and any(record.not_asked for record in records):
            click.echo(f"Not begun: {', '.join(left)}", err=True)
            return


def _check_targets(tasks: Sequence[_Task]) -> None:
    """Refuse two files that would be written to the same one, and folders that cannot be used."""
    for one, other in combinations(tasks, 2):
        if one.target == other.target:
            raise InputError(
                f"{one.file} and {other.file} would both be written to {one.target}; give one of"
                " them"
            )
    for task in tasks:
        check_folder(task.target.parent, make=True)


def _settings(metadata: str, options: Mapping[str, str | None]) -> JudgeSettings:
    try:
        given = json.loads(metadata)
    except ValueError as error:
        raise InputError(f"--metadata: no JSON: {error}") from error
    if not isinstance(given, dict):
        raise InputError("--metadata: must be a JSON object")
    given |= {name: value for name, value in options.items() if value is not None}
    return read_settings(given)


def _others(rubric: Rubric, language: str | None, intent: str | None) -> dict[str, str] | str:
    """Intent and language of samples that have none of their own.

    Or a sentence on what is missing to know them.
    """
    if intent is not None and intent not in rubric.intents:
        raise InputError(f"--intent: unknown intent '{intent}'; allowed: {choices(rubric.intents)}")
    intents = list(rubric.intents) if intent is None else [intent]
    languages = list(rubric.languages) if language is None else [rubric.language_code(language)]
    for option, allowed in (("intent", intents), ("language", languages)):
        if len(allowed) > 1:
            return (
                f"To judge it, give --{option}, one of {choices(allowed)}, or --rubric FILE with"
                f" one {option} only."
            )
    return {
        "intent": intents[0],
        "intent_group": rubric.intents[intents[0]].group,
        "language": languages[0],
    }


def _read(files: Sequence[Path], about_others: Mapping[str, str] | str) -> dict[Path, list[Saved]]:
    """The samples of each file.

    Those of other tasks, which a pattern may find as well, are left out.
    """
    read: dict[Path, list[Saved]] = {}
    others: list[OtherTaskError] = []
    for file in dict.fromkeys(files):
        try:
            read[file] = read_saved(file, about_others)
        except OtherTaskError as error:
            others.append(error)
    if not read:
        raise others[0]
    for other in others:
        click.echo(f"Left out: {other}", err=True)
    return read


def _judged_with(settings: JudgeSettings) -> dict[str, Any]:
    """All settings on which scores depend."""
    if settings.judge == "samer":
        return {"judge": settings.judge_name, "samer_engine": settings.samer_engine}
    return {
        **run_async(call_parameters(settings)),
        "judge_language": settings.judge_language,
        "rubric_sha256": settings.judging.rubric.sha256,
    }


def _kept(task: _Task) -> dict[int, Record]:
    """Records that stay, by place.

    `InputError` if another judge, other settings or another prompt made them.
    """
    kept: dict[int, Record] = {}
    settings = task.settings
    for place, sample in enumerate(task.saved):
        record = sample.record
        if record is None or record.scores is None:
            continue
        before: dict[str, Any] = {"judge": record.judge}
        now: dict[str, Any] = {"judge": settings.judge_name}
        if settings.judge == "model":
            if not isinstance(record.facts.get("judge_call"), dict):
                raise InputError(
                    "--failed-only: the file does not say how its judge was called (judge_call);"
                    " judge all answers again"
                )
            prompt = settings.judging.prompt(answer_of(sample.doc, sample.response))
            before |= record.facts["judge_call"]
            before[_PROMPT] = record.facts.get("prompt_sha256")
            now |= task.judged_with
            now[_PROMPT] = None if isinstance(prompt, JudgeFailure) else prompt.sha256
        for name, value in before.items():
            if value != now.get(name):
                raise InputError(
                    f"--failed-only: the file was judged with another {name} ({value}, not"
                    f" {now.get(name)}); scores of both do not mix. Give that of the file, or judge"
                    " all answers again"
                )
        kept[place] = record
    return kept


def _judged(task: _Task, kept: Mapping[int, Record]) -> list[Record]:
    saved = task.saved
    todo = [place for place in range(len(saved)) if place not in kept]
    answers = [answer_of(saved[place].doc, saved[place].response) for place in todo]
    with tqdm(total=len(answers), desc="Judging") as bar:
        judged = judge_answers(answers, task.settings, bar.update)
    records = {**kept, **dict(zip(todo, judged, strict=True))}
    return [records[place] for place in range(len(saved))]


def _write(task: _Task, records: Sequence[Record]) -> None:
    settings = task.settings
    metrics = [
        metrics_of(sample.doc, record, settings)
        for sample, record in zip(task.saved, records, strict=True)
    ]
    target = task.target
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_saved(target, task.saved, records, metrics)
    facts = {
        **_results(task, results_of(metrics), measures_of(settings)),
        # The cases are described under `answers`.
        "judge": settings.model_dump(exclude={"urs_dataset"}),
    }
    with writing(target.with_suffix(".json")):
        target.with_suffix(".json").write_text(
            json.dumps(facts, ensure_ascii=False, indent=2), encoding="utf-8"
        )
    name = task.file.name
    click.echo(f"{len(records)} answers of {name}, judged by {settings.judge_name} -> {target}")
    click.echo(make_table(facts))
    warnings = [*_not_all_seen(records), about_replies(records)]
    if summary := failures(records):
        warnings.append(f"{summary} Once more: --failed-only {target}")
    for sentence in filter(None, warnings):
        click.echo(sentence, err=True)


def _results(
    task: _Task, results: Mapping[str, Any], measures: Sequence[Measure]
) -> dict[str, Any]:
    """What lm-eval writes about a run, and what the answers are."""
    name, _ = task_and_date(task.file)
    run = saved_results(task.file)
    version = run.get("versions", {}).get(name)
    digests = {str(sample.doc.get("dataset_sha256") or "") for sample in task.saved}
    answers = {
        "samples": task.file.name,
        "dataset_sha256": sorted(digests - {""}),
        "model": run.get("model_name"),
        "version": version,
    }
    shots: dict[str, int] = {}
    if not task.saved[0].given:
        config = run.get("configs", {}).get(name) or {}
        metadata = config.get("metadata") or {}
        if run:
            answers["urs_dataset"] = metadata.get("urs_dataset", "urs")
        version = UrsTask.VERSION
        shots = {name: 0}
    number = len(task.saved)
    upwards = {
        measure.name: measure.higher_is_better
        for measure in measures
        if f"{measure.name},none" in results
    }
    return {
        "results": {name: results},
        "versions": {} if version is None else {name: version},
        "n-shot": shots,
        "higher_is_better": {name: upwards},
        "n-samples": {name: {"original": number, "effective": number}},
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "urs_inspect": package_version("urs-inspect"),
        "judged_with": task.judged_with,
        "answers": {key: value for key, value in answers.items() if value is not None},
    }


def _not_all_seen(records: Sequence[Record]) -> list[str]:
    """Sentences on what the judge could not see of the questions; empty if it saw everything."""
    sentences = []
    kinds = Counter[str]()
    hidden = [record.facts[NOT_SHOWN] for record in records if record.facts.get(NOT_SHOWN)]
    for not_shown in hidden:
        kinds.update(not_shown)
    if hidden:
        sentences.append(
            f"{len(hidden)} of {len(records)} questions hold what the judge cannot see, which the"
            f" prompt names at its place: {named_kinds(kinds)}."
        )
    if cut := sum(bool(record.facts.get(TURNS_NOT_SEEN)) for record in records):
        sentences.append(
            f"Of {cut} of {len(records)} conversations SaMer saw the last message of the user only."
        )
    return sentences


def results_of(metrics: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Means with standard errors, under the keys of lm-eval.

    An answer has the metrics of its intent and language.
    """
    results: dict[str, Any] = {}
    for name in sorted(set().union(*metrics)):
        known = [values[name] for values in metrics if name in values]
        error = "N/A"
        if len(known) > 1:
            error = mean_stderr(known)
        results |= {f"{name},none": math.fsum(known) / len(known), f"{name}_stderr,none": error}
    return results
