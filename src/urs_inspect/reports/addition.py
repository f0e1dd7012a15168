"""How long a chain models add up right (URS paper, Table 7)."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log_sample_summaries
from inspect_ai.scorer import Score

from urs_inspect._util import InputError, counted
from urs_inspect.logs.files import finished_headers, latest_runs, short_name
from urs_inspect.logs.naming import distinct_names
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.intent.answers import ERROR, NOT_JUDGED, model_settings, version_number, whole_characters
from urs_inspect.reports.intent.page.tables import NONE, share_text
from urs_inspect.reports.output import (
    ReportKind,
    Section,
    TextTable,
    csv_text,
    report_json,
    sections_markdown,
    write_directory,
)
from urs_inspect.reports.published import published_section
from urs_inspect.scorers.exact_sum import RIGHT, SUMMANDS
from urs_inspect.stats import MeanInterval
from urs_inspect.stats.chain_lengths import HEADLINE, TEXT, Trial, accuracy, between, longest

TASK = "urs_addition"
_SCORER = re.compile(r"exact_sum(-?\d+)?")


@dataclass(frozen=True)
class ChainConditions:
    """What must be equal for two models to stand in one table.

    Attributes:
        task_version: The part of the task's version that changes when scores do.
        language: Language of the question.
        prompt_version: Name and version of the question.
        prompt_sha256: Hash of its text.
        chains: Number of different chains.
        chains_sha256: Hash of them.
    """

    task_version: str
    language: str
    prompt_version: str
    prompt_sha256: str
    chains: int
    chains_sha256: str


@dataclass(frozen=True)
class AdditionRun:
    """One log.

    Attributes:
        file: Where it is.
        model: The model.
        settings: Its settings that may change its answers, name -> value.
        conditions: Under what it answered.
        trials: Its scored answers.
        outcomes: How all answers ended, with counts: `right`, `wrong`, `no_number`, `no_response`, and what left one
            unscored.
        epochs: How often each chain was asked.
        run_id: What all files of its run have in common; empty if that is not known.
    """

    file: str
    model: str
    settings: dict[str, str]
    conditions: ChainConditions
    trials: tuple[Trial, ...]
    outcomes: dict[str, int]
    epochs: int
    run_id: str

    @property
    def of(self) -> str:
        """Its model."""
        return self.model

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its chains."""
        return frozenset(trial.chain for trial in self.trials)

    def replaces(self, other: "AdditionRun") -> bool:
        """Whether it has answers of the same model with the same settings to the same chains."""
        return (self.model, self.settings, self.conditions) == (other.model, other.settings, other.conditions)


def read_runs(logs: Iterable[str], left_out: list[str]) -> list[AdditionRun]:
    """Read logs of additions.

    The last score of an answer counts, and of several logs of one model with the same settings under the same
    conditions the one that was made last.

    Args:
        logs: Log files and directories.
        left_out: Gets a sentence about what is left out, with counts.

    Returns:
        The runs, named so that two of one model with other settings can be told apart.

    Raises:
        InputError: If a name does not exist or nothing is left; the message says what was left out.
    """
    names = list(logs)
    runs = [run for log in finished_headers(names, left_out, TASK) if (run := _read(log, left_out)) is not None]
    kept = latest_runs(runs, left_out)
    if not kept:
        what = f"no finished log of {TASK} with scored answers in: {', '.join(names)}"
        raise InputError("\n".join([what, *left_out]))
    return kept


def names_of(runs: Sequence[AdditionRun]) -> list[str]:
    """Names of the models of some runs, with the settings in which the runs of one model differ."""
    return distinct_names([(whole_characters(run.model), run.settings) for run in runs])


def _read(log: EvalLog, left_out: list[str]) -> AdditionRun | None:
    name = short_name(log.location)
    try:
        samples = read_eval_log_sample_summaries(log.location)
    except Exception as error:  # whatever a damaged file does to its reader
        left_out.append(f"{name} was left out: its samples cannot be read: {type(error).__name__}: {error}.")
        return None
    ended = [_ended(sample) for sample in samples]
    trials = tuple(trial for _, trial in ended if trial is not None)
    outcomes = Counter(outcome for outcome, _ in ended)
    if not trials:
        why = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
        left_out.append(
            f"{name} of {log.eval.model} was left out: none of its {len(samples)} answers is scored ({why})."
        )
        return None
    settings = {key: str(value) for key, value in model_settings(log).items()}
    return AdditionRun(
        file=log.location,
        model=log.eval.model,
        settings=settings,
        conditions=_conditions(log, samples),
        trials=trials,
        outcomes=dict(outcomes),
        epochs=log.eval.config.epochs or 1,
        run_id=log.eval.eval_id,
    )


def _ended(sample: EvalSampleSummary) -> tuple[str, Trial | None]:
    """How an answer ended, and whether it was right if that counts."""
    if sample.error is not None:
        return ERROR, None
    scores = [score for name, score in (sample.scores or {}).items() if _SCORER.fullmatch(name)]
    if not scores:
        return NOT_JUDGED, None
    outcome = str((scores[-1].metadata or {}).get("outcome", "unknown"))
    return outcome, _trial(sample, scores[-1])


def _trial(sample: EvalSampleSummary, score: Score) -> Trial | None:
    value = score.value
    if not isinstance(value, dict):
        return None
    right, summands = value.get(RIGHT), value.get(SUMMANDS)
    if not isinstance(right, (int, float)) or not isinstance(summands, (int, float)):
        return None
    return Trial(str(sample.id), int(summands), bool(right))


def _conditions(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> ChainConditions:
    facts = log.eval.metadata or {}
    # With the same number of summands and the same sum, a chain of this id is the same but for a rare chance.
    chains = sorted({f"{sample.id} {sample.target}" for sample in samples})
    languages = {str((sample.metadata or {}).get("language", "")) for sample in samples}
    return ChainConditions(
        task_version=version_number(str(log.eval.task_version)),
        language=", ".join(sorted(languages)),
        prompt_version=str(facts.get("prompt_version", "")),
        prompt_sha256=str(facts.get("prompt_sha256", "")),
        chains=len(chains),
        chains_sha256=hashlib.sha256("\n".join(chains).encode()).hexdigest(),
    )


@dataclass(frozen=True)
class AdditionResult:
    """One model.

    Attributes:
        model: Its name.
        longest: Summands of the longest chains of which 80% and more are right (Max L); 0 for none.
        unbroken: The same, if no shorter ones that were tried have less.
        at_longest: Accuracy at `longest`, 0 to 1, with its interval over chains.
        accuracy: Accuracy over chains of 2 to 9 numbers, as the caption of Table 7 has it.
        accuracy_to_ten: Accuracy over chains of 2 to 10 numbers, as the text has it.
        by_length: Number of summands -> accuracy.
        outcomes: How all answers ended, with counts.
        unscored: Answers of these that do not count.
        epochs: How often each chain was asked.
    """

    model: str
    longest: int
    unbroken: int
    at_longest: MeanInterval
    accuracy: MeanInterval
    accuracy_to_ten: MeanInterval
    by_length: dict[int, MeanInterval]
    outcomes: dict[str, int]
    unscored: int
    epochs: int


@dataclass(frozen=True)
class AdditionTable:
    """Models that were asked the same chains in the same words.

    Attributes:
        conditions: What they have in common.
        apart_because: Why they do not stand in the first table, a sentence a reason.
        models: They, the longest Max L first, then the highest accuracy.
    """

    conditions: ChainConditions
    apart_because: tuple[str, ...]
    models: tuple[AdditionResult, ...]


@dataclass(frozen=True)
class AdditionReport:
    """What logs say about adding up.

    Attributes:
        tables: The one of most models first.
        simulated: Whether a model is a simulation.
        left_out: What was left out and why, a sentence each.
        command: The command that makes the report.
    """

    tables: tuple[AdditionTable, ...]
    simulated: bool
    left_out: tuple[str, ...]
    command: str


def read_addition(logs: Iterable[str], command: str = "") -> AdditionReport:
    """Read what logs say about adding up (URS paper, Table 7).

    Args:
        logs: Log files and directories.
        command: The command that makes the report.

    Raises:
        InputError: As from `read_runs`.
    """
    left_out: list[str] = []
    runs = read_runs(logs, left_out)
    blocks: dict[ChainConditions, list[AdditionRun]] = {}
    for run in runs:
        blocks.setdefault(run.conditions, []).append(run)
    several = sorted(blocks.items(), key=lambda block: (-len(block[1]), -block[0].chains))
    first = several[0][0]
    return AdditionReport(
        tables=tuple(_table(conditions, block, first) for conditions, block in several),
        simulated=any(run.model.startswith(SIMULATED) for run in runs),
        left_out=tuple(left_out),
        command=command,
    )


def _table(conditions: ChainConditions, runs: Sequence[AdditionRun], first: ChainConditions) -> AdditionTable:
    results = [_result(name, run) for name, run in zip(names_of(runs), runs, strict=True)]
    ordered = sorted(results, key=lambda one: (-one.longest, -_share(one.accuracy), one.model))
    return AdditionTable(conditions, tuple(_reasons(conditions, first)), tuple(ordered))


def _share(found: MeanInterval) -> float:
    return found.mean if found.n else 0.0


def _reasons(mine: ChainConditions, theirs: ChainConditions) -> list[str]:
    reasons = []
    if mine.task_version != theirs.task_version:
        reasons.append(f"Another version of the task: {mine.task_version}, not {theirs.task_version}.")
    if mine.language != theirs.language:
        reasons.append(f"Asked in another language: {mine.language}, not {theirs.language}.")
    elif mine.prompt_sha256 != theirs.prompt_sha256:
        reasons.append(f"Asked in other words: {mine.prompt_version}, not {theirs.prompt_version}, or of another text.")
    if mine.chains != theirs.chains:
        reasons.append(f"Other chains: {mine.chains}, not {theirs.chains}.")
    elif mine.chains_sha256 != theirs.chains_sha256:
        reasons.append("Other chains: as many, of other numbers (lengths or seed).")
    return reasons


def _result(name: str, run: AdditionRun) -> AdditionResult:
    trials: list[Trial] = list(run.trials)
    any_length, unbroken = longest(trials)
    lengths = sorted({trial.summands for trial in trials})
    return AdditionResult(
        model=name,
        longest=any_length,
        unbroken=unbroken,
        at_longest=accuracy(between(trials, any_length, any_length)),
        accuracy=accuracy(between(trials, *HEADLINE)),
        accuracy_to_ten=accuracy(between(trials, *TEXT)),
        by_length={length: accuracy(between(trials, length, length)) for length in lengths},
        outcomes=run.outcomes,
        unscored=sum(run.outcomes.values()) - len(trials),
        epochs=run.epochs,
    )


SIMULATION = "SIMULATION: models whose names begin with `urs_simulation/` are simulated; their results mean nothing."

_COUNTED = {"right": "right", "wrong": "wrong", "no_number": "no number", "no_response": "empty"}
_PUBLISHED = 7


def sections_of(report: AdditionReport) -> list[Section]:
    """The sections of a report in their order."""
    found: list[Section] = []
    for number, table in enumerate(report.tables, start=1):
        found += _sections_table(table, "" if len(report.tables) == 1 else f", {number} of {len(report.tables)}")
    found.append(published_section(_PUBLISHED, judged=False))
    if report.left_out:
        found.append(Section("Left out", 2, report.left_out))
    found.append(Section("Method", 2, _METHOD))
    return found


_METHOD = (
    "Max L: the longest chains of which 80% and more are right, whatever became of shorter ones; unbroken: the longest "
    "such that no shorter ones have less.",
    "Accuracy is over chains of 2 to 9 numbers, with its 95% score interval (Wilson); answers to a chain in several "
    "epochs are averaged first. An answer without a number, or an empty one, is wrong. Unscored ones do not count.",
)


def _sections_table(table: AdditionTable, number: str) -> list[Section]:
    apart = [f"Apart from the first table: {reason}" for reason in table.apart_because]
    facts = table.conditions
    lines = (
        *apart,
        f"{counted(facts.chains, 'chain')}, asked in '{facts.language}' ({facts.prompt_version} "
        f"{facts.prompt_sha256[:8]}).",
        *_notes(table),
    )
    return [
        Section(f"Addition (laid out as Table 7){number}", 2, lines, (_results(table),)),
        Section("Right answers by how many numbers there were to add", 3, (), (_by_length(table),)),
        Section("What became of the answers", 3, (), (_outcomes(table),)),
    ]


def _results(table: AdditionTable) -> TextTable:
    headings = ("model", "Max L", "right at Max L", "unbroken", "accuracy", "interval", "chains")
    rows = tuple(
        (
            one.model,
            str(one.longest or NONE),
            _with_interval(one.at_longest),
            str(one.unbroken or NONE),
            _percent(one.accuracy.mean),
            _interval(one.accuracy) or NONE,
            str(one.accuracy.n),
        )
        for one in table.models
    )
    return TextTable(headings, rows, 1)


def _notes(table: AdditionTable) -> list[str]:
    notes = []
    for one in table.models:
        if one.unscored:
            why = ", ".join(f"{_named(what)} {count}" for what, count in _unscored(one).items())
            of = sum(one.outcomes.values())
            notes.append(f"{one.model}: {one.unscored} of {counted(of, 'answer')} not scored and not counted ({why}).")
        if one.epochs > 1:
            notes.append(f"{one.model}: each chain was asked in {one.epochs} epochs.")
    if any(one.accuracy.n == 0 for one in table.models):
        notes.append("Without chains of 2 to 9 numbers there is no accuracy to lay beside Table 7.")
    reached = [one.at_longest for one in table.models if one.longest]
    if widest := max(reached, key=lambda found: found.high - found.low, default=None):
        notes.append(
            f"Max L is coarse where chains of a length are few: {share_text(widest.mean)} right of "
            f"{counted(widest.n, 'chain')} has a 95% interval of {_interval(widest)}%."
        )
    return notes


def _by_length(table: AdditionTable) -> TextTable:
    rows = tuple((one.model, _lengths(one.by_length)) for one in table.models)
    return TextTable(("model", "numbers: right"), rows, 2)


def _lengths(by_length: Mapping[int, MeanInterval]) -> str:
    """Accuracies by length, neighbours that are equal together: `2–6: 100%, 7: 90%`."""
    parts = []
    # Neighbours have one number less their place in common.
    numbered = enumerate(by_length.items())
    for (_, shown), group in groupby(numbered, key=lambda one: (one[1][0] - one[0], share_text(one[1][1].mean))):
        lengths = [length for _, (length, _) in group]
        parts.append(f"{lengths[0]}{f'–{lengths[-1]}' if len(lengths) > 1 else ''}: {shown}")
    return ", ".join(parts)


def _outcomes(table: AdditionTable) -> TextTable:
    others = sorted({what for one in table.models for what in _unscored(one)})
    rows = tuple(
        (
            one.model,
            str(sum(one.outcomes.values())),
            *[str(one.outcomes.get(what, 0)) for what in (*_COUNTED, *others)],
        )
        for one in table.models
    )
    return TextTable(("model", "answers", *_COUNTED.values(), *map(_named, others)), rows, 1)


def _unscored(one: AdditionResult) -> dict[str, int]:
    return {what: count for what, count in one.outcomes.items() if what not in _COUNTED}


def _named(outcome: str) -> str:
    return outcome.removeprefix("unscored_").replace("_", " ")


def _percent(share: float) -> str:
    return NONE if math.isnan(share) else f"{100 * share:.1f}%"


def _interval(found: MeanInterval) -> str:
    return "" if math.isnan(found.low) else f"{100 * found.low:.0f}–{100 * found.high:.0f}"


def _with_interval(found: MeanInterval) -> str:
    return f"{share_text(found.mean)} ({_interval(found)})" if found.n else NONE


ADDITION = ReportKind(
    "urs-inspect addition",
    1,
    "urs-inspect addition",
    "addition.json",
    ("addition.csv", "addition_lengths.csv", "addition.md"),
)
"""How these reports are told from other files."""

_BOUNDS = ("low", "high", "chains")
_Rows = Iterator[tuple[object, ...]]


def write_files(report: AdditionReport, directory: Path) -> tuple[Path, ...]:
    """Write the report; an earlier one is replaced.

    Raises:
        InputError: As from `write_directory`.
    """
    outcomes = sorted({what for table in report.tables for one in table.models for what in one.outcomes})
    to_ten = ("accuracy_to_ten", *[f"accuracy_to_ten_{name}" for name in _BOUNDS])
    at_longest = ("at_longest", *[f"at_longest_{name}" for name in _BOUNDS])
    results = (
        *("table", "model", "longest", "unbroken", *at_longest, "accuracy", *_BOUNDS, *to_ten),
        *("epochs", "unscored", *outcomes),
    )
    lengths = ("table", "model", "summands", "accuracy", *_BOUNDS)
    warning = [Section("Simulation", 2, (SIMULATION,))] if report.simulated else []
    contents = {
        "addition.csv": csv_text(results, _files_results(report, outcomes)),
        "addition_lengths.csv": csv_text(lengths, _files_lengths(report)),
        "addition.md": sections_markdown("Addition", [*warning, *sections_of(report)]),
        ADDITION.json: report_json(ADDITION, report),
    }
    return write_directory(directory, contents, ADDITION)


def _files_results(report: AdditionReport, outcomes: list[str]) -> _Rows:
    for number, table in enumerate(report.tables, start=1):
        for one in table.models:
            counts = [one.outcomes.get(what, 0) for what in outcomes]
            found = (*_numbers(one.at_longest), *_numbers(one.accuracy), *_numbers(one.accuracy_to_ten))
            yield (number, one.model, one.longest, one.unbroken, *found, one.epochs, one.unscored, *counts)


def _files_lengths(report: AdditionReport) -> _Rows:
    for number, table in enumerate(report.tables, start=1):
        for one in table.models:
            for length, found in one.by_length.items():
                yield (number, one.model, length, *_numbers(found))


def _numbers(found: MeanInterval) -> tuple[float, float, float, int]:
    return found.mean, found.low, found.high, found.n
