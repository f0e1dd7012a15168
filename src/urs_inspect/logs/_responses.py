"""Answers in logs: those of several models as a pool, those of one as references."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    EvalSampleSummary,
    read_eval_log_sample,
    resolve_sample_attachments,
)
from inspect_ai.util import store_from_events

from urs_inspect._util import InputError, choices, naming
from urs_inspect.annotation._campaign import LOG_SUFFIXES
from urs_inspect.datasets._references import (
    NO_ANSWER,
    Reference,
    References,
    gather,
    question_sha256,
    read_reference_file,
)
from urs_inspect.datasets._rows import data_file
from urs_inspect.discrepancy._pools import Instruction, Pool
from urs_inspect.logs._files import (
    finished_headers,
    finished_logs,
    nothing_left,
    short_name,
    whole_logs,
    without_checks_of_judges,
)
from urs_inspect.scorers._reference_outcome import outcome_of
from urs_inspect.solvers._contest import RESPONSES
from urs_inspect.solvers._conversations import conversation_of

logger = getLogger(__name__)

ANSWER = "answer"
COMPARE = "compare"
"""Phases of a competition, as the samples' metadata name them."""

ANSWERS_ONLY = frozenset({"events", "messages", "scores", "error_retries"})
"""Fields of a sample that are not read where only answers are wanted."""

NO_MODEL = "none/none"
"""Name of the model of a run without one."""


@dataclass
class _Reading:
    """The content of the logs read so far."""

    same_references: bool = True
    source: tuple[str, str] | None = None  # name and SHA-256 of the data
    first_file: str = ""
    instructions: dict[str, Instruction] = field(default_factory=dict)
    responses: dict[str, dict[str, str]] = field(default_factory=dict)
    probabilities: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    earlier: dict[str, tuple[str, ...]] = field(default_factory=dict)


def read_pool(
    logs: Iterable[str], argument: str = "responses", *, same_references: bool = True
) -> Pool:
    """Read the answers of several models to the same instructions from the logs of their runs.

    Logs of any task whose samples have one answer are read, such as `urs`, and logs of `mad`, where
    a sample holds the answers of all contestants. The first epoch of a sample counts, and the later
    one of two logs of one model. An answer that is missing, after an error or at a limit, has no
    entry; the notes of the pool name skipped logs. Errors begin with the `argument`.
    """
    names = list(logs)
    reading = _Reading(same_references)
    with naming(argument):
        headers = finished_headers(names, reading.notes)
        headers = without_checks_of_judges(headers, reading.notes)
        for log in whole_logs(headers, reading.notes, without=ANSWERS_ONLY):
            _add(reading, log)
        if not reading.responses:
            raise nothing_left("no finished log with answers", names, reading.notes)
    name, sha256 = reading.source or ("", "")
    return Pool(
        name=name,
        sha256=sha256,
        instructions=tuple(reading.instructions.values()),
        responses=reading.responses,
        notes=tuple(reading.notes),
        probabilities=reading.probabilities,
        earlier=reading.earlier,
    )


def _add(reading: _Reading, log: EvalLog) -> None:
    _check_source(reading, log)
    file = log.location
    arguments = log.eval.task_args
    if arguments.get("previous"):
        named = arguments.get("responses") or arguments["previous"]
        if not isinstance(named, list):
            named = [named]
        reading.earlier[file] = tuple(map(str, named))
    answers: dict[str, dict[str, str]] = defaultdict(dict)
    probabilities: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for sample in log.samples or []:
        if sample.epoch != 1 or _phase(sample) != ANSWER:
            continue
        _add_instruction(reading, sample, file)
        for model, (text, tokens) in _answers(sample, log).items():
            answers[model][str(sample.id)] = text
            if tokens:
                probabilities[model][str(sample.id)] = tokens
    if not answers:
        reading.notes.append(f"{file} was left out: it has {_instead_of_answers(log)}")
    for model, texts in answers.items():
        if model in reading.responses:
            reading.notes.append(
                f"{reading.files[model]} was left out: {file} is a later run of {model}"
            )
        reading.responses[model] = texts
        reading.files[model] = file
        reading.probabilities[model] = probabilities[model]


def _instead_of_answers(log: EvalLog) -> str:
    """What a log without answers has."""
    if any(_phase(sample) == COMPARE for sample in log.samples or []):
        return (
            "only comparisons; name the logs whose answers they compare. With the same k, seed,"
            " pool_size, similarity and selection the comparisons are the same"
        )
    return "no answers"


def _check_source(reading: _Reading, log: EvalLog) -> None:
    """Raise unless the log is of the same data as the first one."""
    facts = log.eval.metadata or {}
    name = str(facts.get("dataset") or log.eval.dataset.name or log.eval.task)
    source = name, str(facts.get("dataset_sha256", ""))
    if reading.source is None:
        reading.source = source
        reading.first_file = log.location
    elif source != reading.source:
        raise InputError(
            f"logs of different data cannot be compared: {reading.first_file} has"
            f" {_words(reading.source)}, {log.location} has {_words(source)}"
        )


def _phase(sample: EvalSample) -> object:
    return (sample.metadata or {}).get("phase", ANSWER)


def _words(source: tuple[str, str]) -> str:
    name, sha256 = source
    return f"'{name}'" + (f" (sha256 {sha256[:12]})" if sha256 else "")


def text_of(sample: EvalSample | EvalSampleSummary) -> str:
    """The question of a sample, as one text.

    A conversation as a judge is shown it, in the sample's language.
    """
    if isinstance(sample.input, str):
        return sample.input
    conversation = conversation_of(sample.input)
    facts = sample.metadata or {}
    language = str(facts.get("language", ""))
    return conversation.text(language)


def _add_instruction(reading: _Reading, sample: EvalSample, file: str) -> None:
    facts = sample.metadata or {}
    target = sample.target
    if not isinstance(target, str):
        target = "\n".join(target)
    item = Instruction(
        id=str(sample.id),
        text=text_of(sample),
        reference=target,
        language=str(facts.get("language", "")),
        scenario=str(facts.get("scenario", "")),
        intent=str(facts.get("intent", "")),
    )
    known = reading.instructions.setdefault(item.id, item)
    what = ""
    if known.text != item.text:
        what = "text"
    elif reading.same_references and known.reference != item.reference:
        what = "reference"
    if what:
        raise InputError(
            f"sample '{item.id}' has another {what} in {file} than in"
            f" {reading.first_file}; logs of different versions of the data cannot be compared"
        )


def store_of(sample: EvalSample) -> Mapping[str, Any]:
    """The store of a sample with its events.

    Where a retry found the sample of a killed run in the harness's buffer, it has no store, but
    events that tell what was put there.
    """
    if sample.store:
        return sample.store
    resolved = resolve_sample_attachments(sample, "full")
    return dict(store_from_events(list(resolved.events)).items())


def _answers(sample: EvalSample, log: EvalLog) -> dict[str, tuple[str, list[float]]]:
    """Answers by model, with log probabilities of tokens.

    None where a run ended before the model had answered.
    """
    stored: Mapping[str, Any] = sample.store or {}
    if not stored and (sample.metadata or {}).get("phase") == ANSWER:
        stored = store_of(read_eval_log_sample(log.location, sample.id, sample.epoch))
    replies: dict[str, dict[str, Any]] = stored.get(RESPONSES, {})
    if replies:
        answers = {}
        for model, reply in replies.items():
            if reply.get("error"):
                continue
            text = str(reply["text"])
            answers[model] = (text, list(reply.get("log_probabilities", ())))
        return answers
    output = sample.output
    if log.eval.model == NO_MODEL or ended(sample) or not output.choices or output.error:
        return {}
    tokens = output.choices[0].logprobs
    probabilities = []
    if tokens:
        probabilities = [token.logprob for token in tokens.content]
    return {log.eval.model: (output.completion, probabilities)}


def ended(sample: EvalSample) -> bool:
    """Whether an error or a limit ended a sample."""
    return sample.error is not None or sample.limit is not None


def read_references(place: str) -> References:
    """Read reference answers."""
    path = Path(place).expanduser()
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return read_reference_file(data_file(place, "references"))
    if suffix not in LOG_SUFFIXES and not path.is_dir():
        raise InputError(
            f"references: cannot read '{place}'; allowed: a .jsonl file, a log"
            f" ({choices(LOG_SUFFIXES)}), or a folder of logs"
        )
    skipped: list[str] = []
    with naming("references"):
        found = read_reference_logs([str(path)], skipped)
    for sentence in skipped:
        logger.warning(f"references: {sentence}")
    return found


def read_reference_logs(logs: Iterable[str], skipped: list[str]) -> References:
    """Read the answers in logs of one model as reference answers.

    The first epoch of a sample counts. Of several answers to one question the last usable one
    counts, so that a later run over some of the questions repairs an earlier one. `skipped` gets
    sentences as from `finished_headers`.
    """
    names = list(logs)
    places: list[str] = []
    items: list[Reference] = []
    for log in finished_logs(names, skipped, without=ANSWERS_ONLY):
        if log.eval.model == NO_MODEL:
            skipped.append(
                f"{short_name(log.location)} was left out: it has no answers of a model (it ran"
                " with 'none')."
            )
            continue
        places.append(log.location)
        for sample in log.samples or []:
            if sample.epoch == 1:
                items.append(_reference(sample, log))
    if not places:
        raise nothing_left("references: no finished log with answers", names, skipped)
    return gather(items, ", ".join(places))


def _reference(sample: EvalSample, log: EvalLog) -> Reference:
    return Reference(
        id=str(sample.id),
        question_sha256=question_sha256(text_of(sample)),
        text=sample.output.completion.strip(),
        source=log.eval.model,
        created=log.eval.created,
        outcome=NO_ANSWER if ended(sample) else outcome_of(sample.output),
    )
