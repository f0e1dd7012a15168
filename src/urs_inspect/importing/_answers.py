"""Logs of answers that exist already, from the files in which people publish them."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, EvalStats
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput

from urs_inspect._util import (
    InputError,
    check_folder,
    check_new_file,
    choices,
    counted,
    did_you_mean,
    is_blank,
)
from urs_inspect.datasets._columns import columns_of
from urs_inspect.datasets._references import question_sha256
from urs_inspect.datasets._rows import (
    READABLE,
    FaultyRow,
    Fields,
    Row,
    read_table,
    refuse,
    told_once,
)
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.logs._battles import write_copy

ANSWERS_TASK = "imported_answers"
IMPORTED = "imported"
"""Key of a log's metadata: the files that its content was imported from, with their hashes."""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "prompt", "instruction", "input"),
    "answer": ("answer", "output", "response", "generation", "completion"),
    "model": ("model", "generator", "model_id"),
    "question_id": ("question_id", "id"),
    "answer_id": ("answer_id",),
    "reference": ("reference", "reference_answer", "references", "target"),
    "model_a": ("model_a", "model_1", "generator_1"),
    "model_b": ("model_b", "model_2", "generator_2"),
    "answer_a": ("answer_a", "response_a", "response_1", "response1", "output_1"),
    "answer_b": ("answer_b", "response_b", "response_2", "response2", "output_2"),
    "answer_a_id": ("answer_a_id", "answer1_id"),
    "answer_b_id": ("answer_b_id", "answer2_id"),
    "first": ("first", "first_shown", "order"),
    "verdict": ("verdict", "winner", "preference", "score"),
    "score": ("score", "rating", "verdict"),
    "judge": ("judge", "judge_model", "annotator", "reviewer"),
    "label": ("label",),
    "reason": ("reason", "explanation", "text"),
}
"""What is read, and the names that its column may have without a mapping, the first one first."""

_KEPT = ("intent", "language", "scenario", "category", "group")
"""Columns about a question that samples keep, for scorers, reports and `mad`."""
VALUES = (*ALIASES, *_KEPT)
"""What may be the same for all rows of files."""
_ID_DIGITS = 16
_LONG = 20  # characters of a question that an answer repeats hardly by chance
_UNSAFE = re.compile(r"[^\w.-]+")


_Read = TypeVar("_Read")


@dataclass(frozen=True)
class ImportedFile:
    """A file whose rows are read under the names of `ALIASES`, beside all columns of its own."""

    path: Path
    rows: tuple[Row, ...]
    names: Mapping[str, str]  # what is read -> its column, empty where there is none
    common: Mapping[str, str]  # what is read -> value of all rows
    text: str = ""  # what a column `text` may hold beside its other names

    @property
    def columns(self) -> list[str]:
        """Columns as the file has them."""
        return columns_of(self.rows)

    def has(self, what: str) -> bool:
        """Whether the rows have a value, or a column for it."""
        return what in self.common or bool(self.names[what])

    def require(self, *needed: str) -> None:
        """Refuse the file if it lacks what is needed, with the names that are read."""
        missing = [what for what in needed if not self.has(what)]
        if missing:
            allowed = {what: list(ALIASES[what]) for what in missing}
            if self.text in allowed:
                allowed[self.text].append("text")
            names = "; ".join(f"{what}: {choices(columns)}" for what, columns in allowed.items())
            raise InputError(
                f"{self.path}: no column for the {choices(missing)} (allowed: {names}); there are:"
                f" {choices(self.columns)}. --columns names others, --set gives all rows one value"
            )

    def read(self, build: Callable[[Fields], _Read | None]) -> list[_Read]:
        """What `build` makes of the rows, None left out.

        Raises:
            InputError: Once for the file, if `build` finds fault with any row.
        """
        made: list[_Read] = []
        faulty: list[FaultyRow] = []
        for row in self.rows:
            fields = self._fields(row)
            one = build(fields)
            if fields.faults:
                faulty.append(FaultyRow(row, fields.faults))
            elif one is not None:
                made.append(one)
        refuse(told_once(self.path, faulty))
        return made

    def _fields(self, row: Row) -> Fields:
        fields = Fields(row)
        read = {}
        named = {}
        for what, column in self.names.items():
            read[what] = row.values.get(column)
            if column:
                named[what] = column
        fields.read_as({**row.values, **read, **self.common}, named)
        return fields


@dataclass(frozen=True)
class Naming:
    """How the columns of files are named, and what their rows have in common."""

    columns: Mapping[str, str] = field(default_factory=dict)  # name in `ALIASES` -> column
    # name in `VALUES` -> value of all rows
    constants: Mapping[str, str] = field(default_factory=dict)
    file_name: re.Pattern[str] | None = None  # its groups are the same for a file, by its name

    def __post_init__(self) -> None:
        """Refuse names that nothing reads."""
        groups = {} if self.file_name is None else self.file_name.groupindex
        refuse_unknown("columns", self.columns, tuple(ALIASES))
        refuse_unknown("set", self.constants, VALUES)
        refuse_unknown("file-name", groups, VALUES)

    def read(self, path: Path, text: str = "") -> ImportedFile:
        """Read a .csv, .json or .jsonl file in UTF-8; `text` says what a column `text` may hold."""
        rows, errors = read_table(path, ())
        refuse(errors)
        if not rows:
            raise InputError(f"{path}: no rows")
        present = columns_of(rows)
        unknown = [column for column in self.columns.values() if column not in present]
        if unknown:
            raise InputError(
                f"{path}: columns: there is no '{unknown[0]}'{did_you_mean(unknown[0], present)};"
                f" there are: {choices(present)}"
            )
        names = {what: self._column(what, present) for what in ALIASES}
        if text and not names[text] and "text" in present:
            names[text] = "text"
        common = {**self.constants, **self._from_name(path)}
        return ImportedFile(path, tuple(rows), names, common, text)

    def _column(self, what: str, present: Sequence[str]) -> str:
        if what in self.columns:
            return self.columns[what]
        taken = self.columns.values()
        free = (name for name in ALIASES[what] if name in present and name not in taken)
        return next(free, "")

    def _from_name(self, path: Path) -> Mapping[str, str]:
        if self.file_name is None:
            return {}
        match = self.file_name.search(path.name)
        if match is None:
            raise InputError(f"file-name: '{self.file_name.pattern}' does not match '{path.name}'")
        return match.groupdict()


def refuse_unknown(option: str, names: Iterable[str], allowed: Sequence[str]) -> None:
    """Raise for the first name that is not allowed."""
    for name in names:
        if name not in allowed:
            near = did_you_mean(name, allowed)
            raise InputError(f"{option}: unknown '{name}'{near}; allowed: {choices(allowed)}")


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


def needed_text(fields: Fields, what: str) -> str:
    """A text that must be there; one that shows nothing is a fault."""
    value = fields.values.get(what)
    if value is None or (isinstance(value, str) and is_blank(value)):
        fields.note(what, f"empty; must be the {what}")
        return ""
    return fields.written(what)


def read_questions(path: Path) -> dict[str, str]:
    """Read questions by their ids from a file, which may call the question `text`."""
    file = Naming().read(path, "question")
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
    path: Path, naming: Naming, questions: Mapping[str, str], notes: list[str]
) -> list[ImportedAnswer]:
    """Read the answers of a file, each once; `questions` are by id, for files without their texts.

    Raises:
        InputError: If columns are missing, or any row has no question, model or answer as text, or
            another answer of the same model to the same question; once, with counts.
    """
    file = naming.read(path, "answer")
    file.require("question_id" if questions else "question", "answer", "model")
    answers: dict[tuple[str, str], ImportedAnswer] = {}

    def build(fields: Fields) -> ImportedAnswer:
        answer = _answer(fields, questions)
        if not fields.faults:
            first = answers.setdefault((answer.asked, answer.model), answer)
            if first.text != answer.text:
                fields.note("answer", "a second answer of the same model to a question")
        return answer

    read = file.read(build)
    kept = list(answers.values())
    empty = sum(is_blank(answer.text) for answer in kept)
    copies = len(read) - len(kept)
    if empty:
        notes.append(f"{path}: {counted(empty, 'empty answer')} kept.")
    if copies:
        notes.append(f"{path}: {counted(copies, 'row')} left out, being a copy of an earlier one.")
    of_long_questions = [answer for answer in kept if len(answer.question) > _LONG]
    quoting = sum(answer.asked in answer.text for answer in of_long_questions)
    if quoting > len(kept) / 2:
        notes.append(f"{path}: {quoting:,} answers contain their question; is it another column?")
    return kept


def _answer(fields: Fields, questions: Mapping[str, str]) -> ImportedAnswer:
    question_id = fields.name("question_id")
    if not questions:
        question = needed_text(fields, "question")
    elif question_id in questions:
        question = questions[question_id]
    else:
        question = ""
        fields.note("question_id", "is not among --questions")
    facts = {}
    for key in _KEPT:
        if fields.values.get(key):
            facts[key] = fields.values[key]
    answer_id = fields.name("answer_id")
    if answer_id:
        facts["answer_id"] = answer_id
    return ImportedAnswer(
        question=question,
        question_id=question_id,
        model=needed_text(fields, "model").strip(),
        text=fields.written("answer"),
        reference=fields.written("reference"),
        facts=facts,
    )


def sample_ids(answers: Iterable[ImportedAnswer], notes: list[str]) -> dict[str, str]:
    """Ids of samples by question.

    Ids of files count where each is of one question and each question has one; else an id is the
    first 16 hexadecimal digits of the SHA-256 of the question without edge whitespace.
    """
    pairs = {(one.asked, one.question_id) for one in answers}
    by_question = Counter(question for question, _ in pairs)
    by_name = Counter(name for _, name in pairs)
    if all(name for _, name in pairs):
        counts = [*by_question.values(), *by_name.values()]
        if max(counts) == 1:
            return dict(pairs)
    if any(name for _, name in pairs):
        notes.append("Ids of the files do not name questions; ids are made from the questions.")
    return {question: question_sha256(question)[:_ID_DIGITS] for question, _ in pairs}


def with_lab(answer: ImportedAnswer, lab: str) -> ImportedAnswer:
    """An answer whose model has a lab before its name, that of its file if it has one."""
    if "/" in answer.model:
        return answer
    return replace(answer, model=f"{lab}/{answer.model}")


def refuse_twice(keys: Iterable[tuple[str, str, str]], what: str) -> None:
    """Refuse what several files say of one question, model and judge (empty without one)."""
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        question, model, judge = twice[0]
        by = ""
        if judge:
            by = f" by {judge}"
        raise InputError(
            f"{counted(len(twice), what)} in several files, such as of {model}{by} to"
            f" '{question[:60]}'; allowed: one"
        )


def answer_logs(
    answers: Sequence[ImportedAnswer], files: Iterable[Path], notes: list[str]
) -> list[EvalLog]:
    """A finished log for each model, with its answers as samples; see `sample_ids`."""
    ids = sample_ids(answers, notes)
    by_model: dict[str, list[EvalSample]] = defaultdict(list)
    for answer in answers:
        sample = answer_sample(answer, ids[answer.asked])
        by_model[answer.model].append(sample)
    sources = sources_of(files)
    logs = []
    for name, samples in by_model.items():
        logs.append(made_log(ANSWERS_TASK, name, samples, sources))
    return logs


def answer_sample(answer: ImportedAnswer, sample_id: str) -> EvalSample:
    """A sample with an answer, as if a model had been asked."""
    reply = ChatMessageAssistant(content=answer.text, source="generate", model=answer.model)
    return EvalSample(
        id=sample_id,
        epoch=1,
        input=answer.question,
        target=answer.reference,
        messages=[ChatMessageUser(content=answer.question, source="input"), reply],
        output=ModelOutput.from_message(reply).model_copy(update={"model": answer.model}),
        metadata=dict(answer.facts),
    )


def sources_of(files: Iterable[Path]) -> list[dict[str, str]]:
    """Names and hashes of files, for a log."""
    return [{"file": path.name, "sha256": sha256_of(path)} for path in files]


def made_log(
    task: str,
    model: str,
    samples: Sequence[EvalSample],
    sources: Sequence[Mapping[str, str]],
    **facts: Any,
) -> EvalLog:
    """A finished log whose content was imported; the same content has the same id of a run."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
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
        metadata={IMPORTED: list(sources)},
        **facts,
    )
    stats = EvalStats(started_at=now, completed_at=now)
    return EvalLog(eval=spec, status="success", stats=stats, samples=list(samples))


def log_places(names: Sequence[str], output: Path) -> list[Path]:
    """Where named logs go: into a folder, or the only one to a file `.eval`; none may be there."""
    if output.suffix.lower() == ".eval":
        if len(names) > 1:
            raise InputError(
                f"output: {len(names)} logs are written ({choices(names)}); name a folder"
            )
        paths = [output]
    elif output.suffix.lower() in READABLE:
        raise InputError(f"output: must be a folder or an .eval file, got '{output}'")
    else:
        check_folder(output, make=True)
        output.mkdir(parents=True, exist_ok=True)
        paths = [output / f"{_UNSAFE.sub('_', name)}.eval" for name in names]
    if len(set(paths)) < len(paths):
        raise InputError(f"output: two of these names are the same as files: {choices(names)}")
    for path in paths:
        check_new_file(path, ".eval")
    return paths


def write_logs(logs: Mapping[str, EvalLog], output: Path) -> list[Path]:
    """Write named logs to their places; none of them if one is there already."""
    paths = log_places(list(logs), output)
    for path, log in zip(paths, logs.values(), strict=True):
        write_copy(log, path)
    return paths
