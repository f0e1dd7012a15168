"""Logs of answers that exist already, from the files in which people publish them."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, EvalStats
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput

from urs_inspect._util import (
    InputError,
    check_folder,
    check_new_file,
    choices,
    counted,
    file_kind,
    is_blank,
)
from urs_inspect.datasets._references import question_sha256
from urs_inspect.datasets._rows import SURPLUS, SURROGATE, Row, read_records, read_table, refuse
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
    "model_a": ("model_a", "model_1"),
    "model_b": ("model_b", "model_2"),
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
_SUFFIXES = (".csv", ".json", ".jsonl")
_ID_DIGITS = 16
_LONG = 20  # characters of a question that an answer repeats hardly by chance
_UNSAFE = re.compile(r"[^\w.-]+")


class Faults:
    """What is wrong with the rows of a file, by kind."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[str, list[str]] = defaultdict(list)

    def add(self, kind: str, place: str) -> None:
        """Count a row."""
        self._places[kind].append(place)

    def sentences(self) -> list[str]:
        """A sentence for each kind, with its count and first place."""
        return [
            f"{self._path}: {counted(len(places), 'row')} {kind}, such as {places[0]}"
            for kind, places in self._places.items()
        ]


@dataclass(frozen=True)
class ImportedFile:
    """A file of rows under the names of `ALIASES`, with all its own columns beside them."""

    path: Path
    rows: tuple[Row, ...]
    columns: tuple[str, ...]  # as the file has them
    text: str = ""  # what a column `text` may hold beside its other names

    def has(self, what: str) -> bool:
        """Whether any row has a value."""
        return any(what in row.values for row in self.rows)

    def require(self, *needed: str) -> None:
        """Refuse the file if it lacks what is needed, with the names that are read."""
        missing = [what for what in needed if not self.has(what)]
        if missing:
            also = {self.text: ("text",)}
            allowed = {what: (*ALIASES[what], *also.get(what, ())) for what in missing}
            names = "; ".join(f"{what}: {choices(columns)}" for what, columns in allowed.items())
            raise InputError(
                f"{self.path}: no column for the {choices(missing)} (allowed: {names}); there are:"
                f" {choices(self.columns)}. --columns names others, --set gives all rows one value"
            )


@dataclass(frozen=True)
class Naming:
    """How the columns of files are named, and what their rows have in common."""

    columns: Mapping[str, str] = field(default_factory=dict)  # name in `ALIASES` -> column
    constants: Mapping[str, str] = field(default_factory=dict)  # the same -> value of all rows
    file_name: re.Pattern[str] | None = None  # its groups are the same for a file, by its name

    def __post_init__(self) -> None:
        """Refuse names that nothing reads."""
        grouped = {} if self.file_name is None else self.file_name.groupindex
        for option, given in (
            ("columns", self.columns),
            ("set", self.constants),
            ("file-name", grouped),
        ):
            if unknown := [name for name in given if name not in ALIASES]:
                raise InputError(f"{option}: unknown '{unknown[0]}'; allowed: {choices(ALIASES)}")

    def read(self, path: Path, text: str = "") -> ImportedFile:
        """Read a .csv, .json or .jsonl file in UTF-8; `text` says what a column `text` may hold."""
        suffix = path.suffix.lower()
        if suffix not in _SUFFIXES:
            raise InputError(
                f"{path}: cannot read {file_kind(path)}; allowed: {choices(_SUFFIXES)}"
            )
        is_json = suffix == ".json"
        rows, errors = read_records(path) if is_json else read_table(path, ())
        refuse(errors)
        if not rows:
            raise InputError(f"{path}: no rows")
        if longer := [row.place for row in rows if row.values.pop(SURPLUS, 0)]:
            raise InputError(
                f"{path}: {counted(len(longer), 'row')} with more cells than the header, such as"
                f" {longer[0]}; put texts that hold commas in quotes"
            )
        present = dict.fromkeys(key for row in rows for key in row.values)
        if unknown := [column for column in self.columns.values() if column not in present]:
            raise InputError(
                f"{path}: columns: there is no '{unknown[0]}'; there are: {choices(present)}"
            )
        names = {what: self._column(what, present) for what in ALIASES}
        if text and not names[text] and "text" in present:
            names[text] = "text"
        common = {**self.constants, **self._from_name(path)}
        renamed = []
        for row in rows:
            own = {what: row.values.get(name) for what, name in names.items() if name}
            renamed.append(Row(row.number, {**row.values, **own, **common}, row.unit))
        return ImportedFile(path, tuple(renamed), tuple(present), text)

    def _column(self, what: str, present: Iterable[str]) -> str:
        there = set(present) - set(self.columns.values())
        if what in self.columns:
            return self.columns[what]
        return next((name for name in ALIASES[what] if name in there), "")

    def _from_name(self, path: Path) -> Mapping[str, str]:
        if self.file_name is None:
            return {}
        found = self.file_name.search(path.name)
        if found is None:
            raise InputError(f"file-name: '{self.file_name.pattern}' does not match '{path.name}'")
        return found.groupdict()


@dataclass(frozen=True)
class ImportedAnswer:
    """One answer of one model."""

    question: str
    question_id: str  # of the file; empty if it has none
    model: str
    text: str
    reference: str
    facts: Mapping[str, Any]  # metadata of its sample


def text_in(row: Row, what: str) -> str | None:
    """The text of a column, empty where it has none; None where it is no text."""
    value = row.values.get(what)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or SURROGATE.search(value):
        return None
    return value


def texts_in(row: Row, faults: Faults, wanted: Sequence[str]) -> dict[str, str] | None:
    """Texts of columns that must not be blank; None, with a fault, if one is."""
    texts = {}
    for what in wanted:
        text = text_in(row, what)
        if text is None or is_blank(text):
            faults.add(f"without a text as {what}", row.place)
            return None
        texts[what] = text
    return texts


def read_questions(path: Path) -> dict[str, str]:
    """Read questions by their ids from a file, which may call the question `text`."""
    file = Naming(file_name=None).read(path, "question")
    file.require("question_id", "question")
    faults = Faults(path)
    found: dict[str, str] = {}
    for row in file.rows:
        texts = texts_in(row, faults, ("question_id", "question"))
        if texts and found.setdefault(texts["question_id"], texts["question"]) != texts["question"]:
            faults.add("with another question under the same id", row.place)
    refuse(faults.sentences())
    return found


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
    faults = Faults(path)
    answers: dict[tuple[str, str], ImportedAnswer] = {}
    counts: Counter[str] = Counter()
    quoting = 0
    for row in file.rows:
        answer = _answer(row, questions, faults)
        if answer is None:
            continue
        counts["with an empty answer, which stays one"] += is_blank(answer.text)
        quoting += len(answer.question) > _LONG and answer.question.strip() in answer.text
        first = answers.setdefault((answer.question.strip(), answer.model), answer)
        if first.text != answer.text:
            faults.add("with a second answer of the same model to a question", row.place)
        elif first is not answer:
            counts["left out, being a copy of an earlier one"] += 1
    refuse(faults.sentences())
    notes += [f"{path}: {counted(n, 'row')} {what}." for what, n in counts.items() if n]
    if quoting > len(file.rows) / 2:
        notes.append(f"{path}: {quoting:,} answers contain their question; is it another column?")
    return list(answers.values())


def _answer(row: Row, questions: Mapping[str, str], faults: Faults) -> ImportedAnswer | None:
    question_id = text_in(row, "question_id") or ""
    if questions and question_id not in questions:
        faults.add("whose question_id is not among --questions", row.place)
        return None
    known = {"question": questions[question_id]} if questions else {}
    texts = texts_in(Row(row.number, {**row.values, **known}, row.unit), faults, _OF_AN_ANSWER)
    text = text_in(row, "answer")
    if texts is None:
        return None
    if text is None:
        faults.add("whose answer is no text", row.place)
        return None
    facts = {key: row.values[key] for key in _KEPT if row.values.get(key)}
    if answer_id := text_in(row, "answer_id"):
        facts["answer_id"] = answer_id
    return ImportedAnswer(
        question=texts["question"],
        question_id=question_id.strip(),
        model=texts["model"].strip(),
        text=text,
        reference=text_in(row, "reference") or "",
        facts=facts,
    )


_OF_AN_ANSWER = ("question", "model")


def sample_ids(named: Iterable[tuple[str, str]], notes: list[str]) -> dict[str, str]:
    """Ids of samples by question, of pairs of a question and its id in a file, if it has one.

    Ids of files count where each is of one question and each question has one; else an id is the
    first 16 hexadecimal digits of the SHA-256 of the question without edge whitespace.
    """
    pairs = {(question.strip(), name) for question, name in named}
    by_question = Counter(question for question, _ in pairs)
    by_name = Counter(name for _, name in pairs)
    if all(name for _, name in pairs) and max([*by_question.values(), *by_name.values()]) == 1:
        return dict(pairs)
    if any(name for _, name in pairs):
        notes.append("Ids of the files do not name questions; ids are made from the questions.")
    return {question: question_sha256(question)[:_ID_DIGITS] for question, _ in pairs}


def with_lab(answer: ImportedAnswer, lab: str) -> ImportedAnswer:
    """An answer whose model has a lab before its name, that of its file if it has one."""
    return answer if "/" in answer.model else replace(answer, model=f"{lab}/{answer.model}")


def refuse_twice(keys: Iterable[tuple[str, str, str]], what: str) -> None:
    """Refuse what several files say of one question, model and judge (empty without one)."""
    if twice := [key for key, count in Counter(keys).items() if count > 1]:
        question, model, judge = twice[0]
        by = f" by {judge}" if judge else ""
        raise InputError(
            f"{counted(len(twice), what)} in several files, such as of {model}{by} to"
            f" '{question[:60]}'; allowed: one"
        )


def answer_logs(
    answers: Sequence[ImportedAnswer], files: Iterable[Path], notes: list[str]
) -> list[EvalLog]:
    """A finished log for each model, with its answers as samples; see `sample_ids`."""
    ids = sample_ids(((one.question, one.question_id) for one in answers), notes)
    by_model: dict[str, list[EvalSample]] = defaultdict(list)
    for one in answers:
        sample_id = ids[one.question.strip()]
        by_model[one.model].append(answer_sample(one, sample_id))
    sources = sources_of(files)
    return [made_log(ANSWERS_TASK, name, samples, sources) for name, samples in by_model.items()]


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


def write_logs(logs: Mapping[str, EvalLog], output: Path) -> list[Path]:
    """Write named logs into a folder, or the only one to a file `.eval`; none of them if one is
    there already.
    """
    if output.suffix.lower() == ".eval":
        if len(logs) > 1:
            raise InputError(
                f"output: {len(logs)} logs are written ({choices(logs)}); name a folder"
            )
        paths = [output]
    elif output.suffix.lower() in _SUFFIXES:
        raise InputError(f"output: must be a folder or an .eval file, got '{output}'")
    else:
        check_folder(output, make=True)
        output.mkdir(parents=True, exist_ok=True)
        paths = [output / f"{_UNSAFE.sub('_', name)}.eval" for name in logs]
    if len(set(paths)) < len(paths):
        raise InputError(f"output: two of these names are the same as files: {choices(logs)}")
    for path in paths:
        check_new_file(path, ".eval")
    for path, log in zip(paths, logs.values(), strict=True):
        write_copy(log, path)
    return paths
