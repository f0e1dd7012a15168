"""How long a chain models add up right (URS paper, Table 7)."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary

from urs_inspect._util import counted
from urs_inspect.logs._files import (
    finished_headers,
    latest_runs,
    nothing_left,
    read_summaries,
    short_name,
)
from urs_inspect.logs._naming import distinct_names, model_settings, whole_characters
from urs_inspect.logs._scores import SIMULATED, last_score, value_of
from urs_inspect.reports._texts import DASH, Format, number, share
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._answers import ERROR, NOT_JUDGED
from urs_inspect.reports.numbers._conditions import (
    Shown,
    comparable_groups,
    differences,
    version_number,
)
from urs_inspect.reports.words._published import published_section
from urs_inspect.stats import Estimate
from urs_inspect.stats._chain_lengths import HEADLINE, TEXT, Trial, accuracy, between, longest
from urs_inspect.studies._exact_sum import RIGHT, SUMMANDS

TASK = "urs_addition"
_TABLES = ("addition", "addition_lengths")
ADDITION = ReportKind("urs-inspect addition", 2, "urs-inspect paper addition", "addition", _TABLES)

_COUNTED = {
    "right": "right",
    "wrong": "wrong",
    "no_number": "no number",
    "no_response": "empty",
}
_SHOWN: Shown = (
    {"task_version": "task_version"},
    {"language": "language", "prompt_sha256": "prompt_version"},
    {"chains": "chains", "chains_sha256": "chains"},
)
_DIFFERENCES = {
    "task_version": "Another version of the task: {ours}, not {theirs}.",
    "language": "Asked in another language: {ours}, not {theirs}.",
    "prompt_sha256": "Asked in other words: {ours}, not {theirs}, or of another text.",
    "chains": "Other chains: {ours}, not {theirs}.",
    "chains_sha256": "Other chains: as many, of other numbers (lengths or seed).",
}
_METHOD = (
    (
        "Max L: the longest chains of which 80% and more are right, whatever the results for"
        " shorter ones; unbroken: the longest such that no shorter ones have less."
    ),
    (
        "Accuracy is over chains of 2 to 9 numbers, with its 95% score interval (Wilson); answers"
        " to a chain in several epochs are averaged first. An answer without a number, or an empty"
        " one, is wrong. Unscored ones do not count."
    ),
)


@dataclass(frozen=True)
class _Run:
    """A log as `latest_runs` takes it; outcomes are counts of how all answers ended."""

    file: str
    run_id: str
    of: str
    settings: Mapping[str, str]
    conditions: Mapping[str, Any]
    trials: tuple[Trial, ...]
    outcomes: Mapping[str, int]
    epochs: int

    @property
    def questions(self) -> frozenset[str]:
        return frozenset(trial.chain for trial in self.trials)

    def replaces(self, other: "_Run") -> bool:
        return (self.of, self.settings, self.conditions) == (
            other.of,
            other.settings,
            other.conditions,
        )


def report_addition(logs: Iterable[str], command: str = "") -> Report:
    """Report how long a chain models add up right.

    The last score of an answer counts, and of several logs of one model with the same settings
    under the same conditions the one that was made last.

    Args:
        logs: Log files and directories of logs of `urs_addition`.
        command: The command that makes the report.

    Returns:
        The report, with the tables `addition` (one row per model) and `addition_lengths` (one row
        per model and number of summands).

    Raises:
        InputError: If a name does not exist or nothing is left; the message reports what was
            skipped.
    """
    names = list(logs)
    skipped = list[str]()
    read = [
        run
        for log in finished_headers(names, skipped, TASK)
        if (run := _read(log, skipped)) is not None
    ]
    runs = latest_runs(read, skipped)
    if not runs:
        raise nothing_left(f"no finished log of {TASK} with scored answers", names, skipped)
    simulated = any(run.of.startswith(SIMULATED) for run in runs)
    blocks = comparable_groups(runs, lambda block, run: block[0].conditions != run.conditions)
    blocks.sort(key=lambda block: (-len(block), -block[0].conditions["chains"]))
    outcomes = sorted({outcome for run in runs for outcome in run.outcomes})
    sections = simulation_section(simulated)
    for place, block in enumerate(blocks, start=1):
        title = f", {place} of {len(blocks)}" if len(blocks) > 1 else ""
        sections += _sections(block, blocks[0][0].conditions, place, title, outcomes)
    sections.append(published_section(7, judged=False))
    sections += [Section("Skipped", skipped)] if skipped else []
    sections.append(Section("Method", _METHOD))
    facts = [
        {
            "table": place,
            "conditions": block[0].conditions,
            "logs": [short_name(run.file) for run in block],
        }
        for place, block in enumerate(blocks, start=1)
    ]
    about = {
        "skipped": skipped,
        "simulated": simulated,
        "command": command,
    }
    return Report(
        ADDITION,
        "Addition",
        sections,
        {
            "blocks": facts,
            **about,
        },
    )


def _read(log: EvalLog, skipped: list[str]) -> _Run | None:
    name = short_name(log.location)
    if (samples := read_summaries(log, skipped)) is None:
        return None
    ended = [_ended(sample) for sample in samples]
    trials = tuple(trial for _, trial in ended if trial is not None)
    outcomes = Counter(outcome for outcome, _ in ended)
    if not trials:
        why = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
        skipped.append(
            f"{name} of {log.eval.model} was left out: none of its {len(samples)} answers is scored"
            f" ({why})."
        )
        return None
    settings = {key: str(value) for key, value in model_settings(log).items()}
    about = log.location, log.eval.eval_id, log.eval.model, settings, _conditions(log, samples)
    return _Run(*about, trials, outcomes, log.eval.config.epochs or 1)


def _ended(sample: EvalSampleSummary) -> tuple[str, Trial | None]:
    """How an answer ended, and whether it was right if that counts."""
    if sample.error is not None:
        return ERROR, None
    if (score := last_score(sample, "exact_sum")) is None:
        return NOT_JUDGED, None
    right = value_of(score, RIGHT)
    summands = value_of(score, SUMMANDS)
    known = not math.isnan(right) and not math.isnan(summands)
    outcome = str((score.metadata or {}).get("outcome", "unknown"))
    return outcome, Trial(str(sample.id), int(summands), bool(right)) if known else None


def _conditions(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> dict[str, Any]:
    facts = log.eval.metadata or {}
    # With the same number of summands and the same sum, a chain of this id is the same but for a
    # rare chance.
    chains = sorted({f"{sample.id} {sample.target}" for sample in samples})
    return {
        "task_version": version_number(str(log.eval.task_version)),
        "language": ", ".join(
            sorted({str((sample.metadata or {}).get("language", "")) for sample in samples})
        ),
        "prompt_version": str(facts.get("prompt_version", "")),
        "prompt_sha256": str(facts.get("prompt_sha256", "")),
        "chains": len(chains),
        "chains_sha256": hashlib.sha256("\n".join(chains).encode()).hexdigest(),
    }


def _sections(
    runs: Sequence[_Run], first: Mapping[str, Any], place: int, title: str, outcomes: Sequence[str]
) -> list[Section]:
    """Everything about models that were asked the same chains in the same words, the longest Max L
    first.
    """
    names = distinct_names([(whole_characters(run.of), run.settings) for run in runs])
    rows = [_row(place, name, run) for name, run in zip(names, runs, strict=True)]
    order = sorted(range(len(runs)), key=lambda place: _rank(rows[place]))
    data = pd.DataFrame([rows[place] for place in order])
    runs = [runs[place] for place in order]
    models = list(data["model"])
    facts = runs[0].conditions
    of_lengths: list[tuple[Any, ...]] = []
    for name, run in zip(models, runs, strict=True):
        of_lengths += [(place, name, *pair) for pair in _by_length(run).items()]
    lengths = pd.DataFrame(of_lengths, columns=["table", "model", "summands", "accuracy"])
    ended = (
        pd.DataFrame([dict(run.outcomes) for run in runs], columns=list(outcomes))
        .fillna(0)
        .astype(int)
    )
    kinds = [*_COUNTED, *(name for name in outcomes if name not in _COUNTED and ended[name].any())]
    by_outcome = ended.reindex(columns=kinds, fill_value=0).rename(columns=_words)
    by_outcome = pd.DataFrame(
        {
            "model": models,
            "answers": by_outcome.sum(axis=1),
            **by_outcome,
        }
    )
    by_length = pd.DataFrame(
        {
            "model": models,
            "summands: right": [_lengths(_by_length(run)) for run in runs],
        }
    )
    shown = data.assign(interval=data["accuracy"], n=[found.n for found in data["accuracy"]])
    notes = []
    for reason in differences(facts, first, _SHOWN):
        text = _DIFFERENCES[reason.name].format(ours=reason.ours, theirs=reason.theirs)
        notes.append(f"Not compared with the first table: {text}")
    notes += [
        (
            f"{counted(facts['chains'], 'chain')}, asked in '{facts['language']}'"
            f" ({facts['prompt_version']} {facts['prompt_sha256'][:8]})."
        ),
        *_notes(data, runs),
    ]
    tables = (
        Table(shown, _FORMATS, headings=_HEADINGS, shown=("model", *_FORMATS)),
        Table(data.join(ended), name="addition", shown=(), main="accuracy", size="chains"),
        Table(lengths, name="addition_lengths", shown=(), main="accuracy", size="chains"),
    )
    outcomes_table = Table(by_outcome, dict.fromkeys(by_outcome.columns[1:], str))
    return [
        Section(f"Addition (laid out as Table 7){title}", notes, tables),
        Section("Right answers by number of summands", tables=(Table(by_length),), level=3),
        Section("Outcomes of the answers", tables=(outcomes_table,), level=3),
    ]


def _row(place: int, name: str, run: _Run) -> dict[str, Any]:
    any_length, unbroken = longest(run.trials)
    return {
        "table": place,
        "model": name,
        "longest": any_length,
        "unbroken": unbroken,
        "at_longest": accuracy(between(run.trials, any_length, any_length)),
        "accuracy": accuracy(between(run.trials, *HEADLINE)),
        "accuracy_to_ten": accuracy(between(run.trials, *TEXT)),
        "epochs": run.epochs,
        "unscored": sum(run.outcomes.values()) - len(run.trials),
    }


def _by_length(run: _Run) -> dict[int, Estimate]:
    lengths = sorted({trial.summands for trial in run.trials})
    return {length: accuracy(between(run.trials, length, length)) for length in lengths}


def _rank(row: Mapping[str, Any]) -> tuple[float, float, str]:
    found = row["accuracy"]
    return -row["longest"], -(found.value if found.n else 0.0), row["model"]


def _notes(data: pd.DataFrame, runs: Sequence[_Run]) -> list[str]:
    notes = []
    for (_, row), run in zip(data.iterrows(), runs, strict=True):
        if row["unscored"]:
            why = ", ".join(
                f"{_words(name)} {n}" for name, n in run.outcomes.items() if name not in _COUNTED
            )
            answers = counted(sum(run.outcomes.values()), "answer")
            notes.append(
                f"{row['model']}: {row['unscored']} of {answers} not scored and not counted"
                f" ({why})."
            )
        if run.epochs > 1:
            notes.append(f"{row['model']}: each chain was asked in {run.epochs} epochs.")
    if any(found.n == 0 for found in data["accuracy"]):
        notes.append(
            "Without chains of 2 to 9 numbers there is no accuracy to compare with Table 7."
        )
    reached = data.loc[data["longest"] > 0, "at_longest"]
    if widest := max(reached, key=lambda found: found.high - found.low, default=None):
        notes.append(
            f"Max L is coarse where chains of a length are few: {share(widest.value)} right of "
            f"{counted(widest.n, 'chain')} has a 95% interval of {_interval(widest)}%."
        )
    return notes


def _lengths(by_length: Mapping[int, Estimate]) -> str:
    """Accuracies by length, neighbours that are equal together: `2–6: 100%, 7: 90%`."""
    parts = []
    # Neighbours have one number less their place in common.
    numbered = enumerate(by_length.items())
    for (_, shown), group in groupby(
        numbered, key=lambda pair: (pair[1][0] - pair[0], share(pair[1][1].value))
    ):
        lengths = [length for _, (length, _) in group]
        parts.append(f"{lengths[0]}{f'–{lengths[-1]}' if len(lengths) > 1 else ''}: {shown}")
    return ", ".join(parts)


def _words(outcome: str) -> str:
    return _COUNTED.get(outcome, outcome.removeprefix("unscored_").replace("_", " "))


def _interval(found: Estimate) -> str:
    if math.isnan(found.low):
        return DASH
    return f"{100 * found.low:.0f}–{100 * found.high:.0f}"


def _with_interval(found: Estimate) -> str:
    return f"{share(found.value)} ({_interval(found)})" if found.n else DASH


_HEADINGS = {
    "longest": "Max L",
    "at_longest": "right at Max L",
    "n": "chains",
}
_FORMATS: dict[str, Format] = {
    "longest": lambda length: str(length or DASH),
    "at_longest": _with_interval,
    "unbroken": lambda length: str(length or DASH),
    "accuracy": lambda found: number(1, percent=True)(found.value),
    "interval": _interval,
    "n": str,
}
