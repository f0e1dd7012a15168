"""Answers that exist already: from files, from logs, and the logs that are made of them."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, EvalStats
from inspect_ai.model import ChatMessageUser, ModelOutput

from urs_inspect._util import (
    InputError,
    check_folder,
    check_new_file,
    choices,
    counted,
    is_blank,
)
from urs_inspect.datasets._references import question_sha256
from urs_inspect.datasets._rows import READABLE, Fields
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.importing._files import (
    ANSWER_ALIASES,
    KEPT,
    QUESTION_ALIASES,
    Naming,
    needed_model,
    needed_text,
    of_all,
)
from urs_inspect.logs._battles import write_copy
from urs_inspect.logs._files import finished_logs
from urs_inspect.logs._responses import ANSWERS_ONLY, text_of

IMPORTED = "imported"
"""Key of a log's metadata: the files that its content was imported from, with their hashes."""
_ID_DIGITS = 16
_LONG = 20  # characters of a question that an answer repeats hardly by chance
_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class ImportedAnswer:
    """One answer of one model."""

    question: str
    question_id: str  # of the file; empty if it has none
    model: str
    text: str
    reference: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)  # metadata of its sample

    @property
    def asked(self) -> str:
        """The question without white space at its edges, by which answers are compared."""
        return self.question.strip()


def write_answers(
    paths: Sequence[Path],
    naming: Naming,
    questions: Path | None,
    output: Path,
    notes: list[str],
) -> str:
    """Write a log for each model of the answers in files; returns what was written."""
    asked = {} if questions is None else read_questions(questions)
    answers: dict[tuple[str, str], ImportedAnswer] = {}
    read = of_all(paths, lambda path: read_answers_file(path, naming, asked, answers, notes))
    bare = sorted({answer.model for answer in read if "/" not in answer.model})
    if bare:
        notes.append(
            f"{counted(len(bare), 'model')} without a slash, such as {bare[0]}: `inspect score`"
            " takes only names such as lab/name; --set lab=NAME puts one before all."
        )
    samples = samples_by_model(read, sample_ids(read, notes))
    logs = {
        model: made_log("imported_answers", model, by_id.values(), paths)
        for model, by_id in samples.items()
    }
    write_logs(logs, output)
    return f"{counted(len(read), 'answer')} of {counted(len(logs), 'model')} in {output}"


def read_questions(path: Path) -> dict[str, str]:
    """Read questions by their ids from a file, which may call the question `text`."""
    file = Naming().read(path, QUESTION_ALIASES)
    file.require("question_id", "question")
    questions: dict[str, str] = {}

    def build(fields: Fields) -> None:
        question_id = needed_text(fields, "question_id")
        question = needed_text(fields, "question")
        if questions.setdefault(question_id, question) != question:
            fields.note("question", "another question under the same id")

    file.read(build)
    return questions


def read_answers_file(
    path: Path,
    naming: Naming,
    questions: Mapping[str, str],
    answers: dict[tuple[str, str], ImportedAnswer],
    notes: list[str],
) -> list[ImportedAnswer]:
    """Read the answers of a file that are not among `answers`, by question and model, and add them.

    `questions` are by id, for files without their texts.

    Raises:
        InputError: If columns are missing, or any row has no question, model or answer as text, or
            another answer of the same model to the same question; once, with counts.
    """
    file = naming.read(path, ANSWER_ALIASES)
    file.require("question_id" if questions else "question", "answer", "model")
    before = len(answers)

    def build(fields: Fields) -> ImportedAnswer:
        answer = _answer(fields, questions)
        if not fields.faults:
            first = answers.setdefault((answer.asked, answer.model), answer)
            if first.text != answer.text:
                fields.note("answer", "a second answer of the same model to a question")
        return answer

    read = file.read(build)
    kept = list(answers.values())[before:]
    empty = sum(is_blank(answer.text) for answer in kept)
    copies = len(read) - len(kept)
    if empty:
        notes.append(f"{path}: {counted(empty, 'empty answer')} kept.")
    if copies:
        notes.append(f"{path}: {counted(copies, 'row')} left out, being a copy of an earlier one.")
    quoting = sum(len(one.question) > _LONG and one.asked in one.text for one in kept)
    if quoting > len(kept) / 2:
        notes.append(f"{path}: {quoting:,} answers contain their question; is it another column?")
    return kept


def _answer(fields: Fields, questions: Mapping[str, str]) -> ImportedAnswer:
    question_id = fields.name("question_id")
    question = questions.get(question_id, "")
    if not questions:
        question = needed_text(fields, "question")
    elif not question:
        fields.note("question_id", "is not among --questions")
    facts = {key: fields.values[key] for key in KEPT if fields.values.get(key)}
    answer_id = fields.name("answer_id")
    if answer_id:
        facts["answer_id"] = answer_id
    return ImportedAnswer(
        question=question,
        question_id=question_id,
        model=needed_model(fields, "model"),
        text=fields.written("answer"),
        reference=fields.written("reference"),
        facts=facts,
    )


Known = Mapping[tuple[str, str], ImportedAnswer]
"""Answers by question and model, by id of question and model, and by `answer_id` and nothing."""


def known_answers(logs: Sequence[str], notes: list[str]) -> Known:
    """The answers in logs, by which verdicts on them are completed; models without a lab, too."""
    known: dict[tuple[str, str], ImportedAnswer] = {}
    for log in finished_logs(logs, notes, without=ANSWERS_ONLY):
        model = log.eval.model
        for sample in log.samples or []:
            facts = dict(sample.metadata or {})
            answer = ImportedAnswer(
                question=text_of(sample),
                question_id=str(sample.id),
                model=model,
                text=sample.output.completion,
                facts=facts,
            )
            known[str(facts.get("answer_id", "")), ""] = answer
            for asked in (answer.question_id, answer.asked):
                known[asked, _bare(model)] = answer
                known[asked, model] = answer
    return known


def _bare(model: str) -> str:
    return model.rpartition("/")[2]


def answer_of(fields: Fields, known: Known, side: str = "") -> ImportedAnswer | None:
    """The answer that a row is about, on one `side` (`_a`, `_b`; empty where there is one).

    None, with a fault, if the row does not say, or there are known answers and not this one.
    """
    answer_id = fields.name(f"answer{side}_id")
    if known and answer_id:
        found = known.get((answer_id, ""))
    else:
        question = fields.name("question")
        question_id = fields.name("question_id")
        model = needed_model(fields, f"model{side}")
        if not (question or question_id):
            fields.note("question", "empty, and there is no question_id")
        if not known:
            asked = question or f"question {question_id}"
            return ImportedAnswer(asked, question_id, model, fields.written(f"answer{side}"))
        found = known.get((question, model)) or known.get((question_id, model))
        if found is None:
            models = sorted({_bare(name) for _, name in known if name})
            if _bare(model) not in models:
                fields.note(
                    f"model{side}",
                    f"the logs of --answers have no answer of '{{value}}'; they are of"
                    f" {choices(models)}. One name on both sides: import the answers with"
                    " --file-name or --set model=NAME",
                    model,
                )
    if found is None and not fields.faults:
        fields.note("", "the logs of --answers do not have this answer")
    return found


# --- logs ---


def sample_ids(answers: Iterable[ImportedAnswer], notes: list[str]) -> dict[str, str]:
    """Ids of samples by question.

    Ids of files count where each is of one question and each question has one; else an id is the
    first 16 hexadecimal digits of the SHA-256 of the question without edge whitespace.
    """
    pairs = {(one.asked, one.question_id) for one in answers}
    ids = dict(pairs)
    names = {name for _, name in pairs}
    if "" not in names and len(ids) == len(names) == len(pairs):
        return ids
    if any(names):
        notes.append("Ids of the files do not name questions; ids are made from the questions.")
    return {question: question_sha256(question)[:_ID_DIGITS] for question in ids}


def samples_by_model(
    answers: Iterable[ImportedAnswer], ids: Mapping[str, str]
) -> dict[str, dict[str, EvalSample]]:
    """The samples of each model's log, by id, as if the model had been asked."""
    samples: dict[str, dict[str, EvalSample]] = defaultdict(dict)
    for answer in answers:
        sample_id = ids[answer.asked]
        of_model = samples[answer.model]
        if sample_id in of_model:
            continue
        output = ModelOutput.from_content(answer.model, answer.text)
        of_model[sample_id] = EvalSample(
            id=sample_id,
            epoch=1,
            input=answer.question,
            target=answer.reference,
            messages=[ChatMessageUser(content=answer.question, source="input"), output.message],
            output=output,
            metadata=dict(answer.facts),
        )
    return samples


def made_log(
    task: str, model: str, samples: Collection[EvalSample], files: Iterable[Path], **facts: Any
) -> EvalLog:
    """A finished log whose content was imported; the same content has the same id of a run."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    sources = [{"file": path.name, "sha256": sha256_of(path)} for path in files]
    known = repr([task, model, [source["sha256"] for source in sources]])
    run = hashlib.sha256(known.encode()).hexdigest()[:22]
    spec = EvalSpec(
        created=now,
        run_id=run,
        eval_id=run,
        task_id=run,
        task=task,
        model=model,
        config=EvalConfig(),
        dataset=EvalDataset(
            name=IMPORTED, samples=len(samples), sample_ids=[sample.id for sample in samples]
        ),
        metadata={IMPORTED: sources},
        **facts,
    )
    return EvalLog(
        eval=spec,
        status="success",
        stats=EvalStats(started_at=now, completed_at=now),
        samples=list(samples),
    )


def log_places(names: Collection[str], output: Path) -> list[Path]:
    """Where named logs go: into a folder, or the only one to a file `.eval`; none may be there."""
    suffix = output.suffix.lower()
    if suffix in READABLE:
        raise InputError(f"output: must be a folder or an .eval file, got '{output}'")
    paths = [output]
    if suffix != ".eval":
        check_folder(output, make=True)
        output.mkdir(parents=True, exist_ok=True)
        paths = [output / f"{_UNSAFE.sub('_', name)}.eval" for name in names]
    elif len(names) > 1:
        raise InputError(f"output: {len(names)} logs are written ({choices(names)}); name a folder")
    if len(set(paths)) < len(paths):
        raise InputError(f"output: two of these names are the same as files: {choices(names)}")
    for path in paths:
        check_new_file(path, ".eval")
    return paths


def free_place(output: Path, name: str) -> Path:
    """The place of a further file, which must be free: in the folder of logs, or by a log."""
    place = output / name
    if output.suffix.lower() == ".eval":
        place = output.with_suffix(f".{name}")
    if place.exists():
        raise InputError(f"output: there is a file '{place}' already; name another place")
    return place


def write_logs(logs: Mapping[str, EvalLog], output: Path) -> str:
    """Write named logs, or none if one is there already; returns what was written."""
    for path, log in zip(log_places(logs.keys(), output), logs.values(), strict=True):
        write_copy(log, path)
    return f"{counted(len(logs), 'log')} in {output}: {choices(logs)}"
