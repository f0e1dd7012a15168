"""How long a chain models add up right (URS paper, Table 7)."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog, EvalSampleSummary

from urs_inspect._util import counted
from urs_inspect.datasets._published import load_published_urs
from urs_inspect.judging._scores import last_score
from urs_inspect.logs._files import (
    finished_headers,
    latest_runs,
    nothing_left,
    read_summaries,
    short_name,
)
from urs_inspect.logs._naming import model_names, model_settings, version_number
from urs_inspect.logs._scores import is_simulated, value_of
from urs_inspect.reports._texts import DASH, Format, share
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
)
from urs_inspect.reports.words._published import published_section
from urs_inspect.stats import Estimate
from urs_inspect.stats._chain_lengths import HEADLINE, TEXT, Trial, accuracy, between, longest
from urs_inspect.studies._exact_sum import RIGHT, SUMMANDS

TASK = "urs_addition"
ADDITION = ReportKind("urs-inspect addition", 2, "urs-inspect paper addition", "addition")

_COUNTED = {
    "right": "right",
    "wrong": "wrong",
    "no_number": "no number",
    "no_response": "empty",
}
"""Outcomes that count, as a table calls them."""
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
        " shorter ones; unbroken: the longest such that no shorter ones have less. Both are coarse"
        " where chains of a length are few."
    ),
    (
        "Accuracy is over chains of 2 to 9 numbers. In brackets are 95% score intervals (Wilson);"
        " answers to a chain in several epochs are averaged first. An answer without a number, or"
        " an empty one, is wrong. Unscored ones do not count."
    ),
)


@dataclass(frozen=True)
class _Run:
    """A log as `latest_runs` takes it; outcomes are counts of how all answers ended."""

    log: EvalLog
    settings: Mapping[str, str]
    conditions: Mapping[str, Any]
    trials: Sequence[Trial]
    outcomes: Mapping[str, int]

    @property
    def file(self) -> str:
        return self.log.location

    @property
    def run_id(self) -> str:
        return self.log.eval.eval_id

    @property
    def of(self) -> str:
        return self.log.eval.model

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
    read = [_read(log, skipped) for log in finished_headers(names, skipped, TASK)]
    runs = latest_runs([run for run in read if run is not None], skipped)
    if not runs:
        raise nothing_left(f"no finished log of {TASK} with scored answers", names, skipped)
    simulated = any(is_simulated(run.log) for run in runs)
    blocks = comparable_groups(runs, lambda block, run: block[0].conditions != run.conditions)
    blocks.sort(key=lambda block: (-len(block), -block[0].conditions["chains"]))
    outcomes = sorted({outcome for run in runs for outcome in run.outcomes} - set(_COUNTED))
    sections = simulation_section(simulated)
    facts = []
    for place, block in enumerate(blocks, start=1):
        title = "Addition (laid out as Table 7)"
        if len(blocks) > 1:
            title += f", {place} of {len(blocks)}"
        conditions = block[0].conditions
        notes = _about(conditions, blocks[0][0].conditions)
        sections += _sections(title, notes, place, block, [*_COUNTED, *outcomes])
        files = [short_name(run.file) for run in block]
        facts.append({"table": place, "conditions": conditions, "logs": files})
    sections.append(published_section(load_published_urs(), 7, judged=False))
    if skipped:
        sections.append(Section("Skipped", skipped))
    sections.append(Section("Method", _METHOD))
    about = {"blocks": facts, "skipped": skipped, "simulated": simulated, "command": command}
    return Report(ADDITION, "Addition", sections, about)


def _read(log: EvalLog, skipped: list[str]) -> _Run | None:
    samples = read_summaries(log, skipped)
    if samples is None:
        return None
    trials = []
    outcomes = Counter[str]()
    for sample in samples:
        outcome, trial = _ended(sample)
        outcomes[outcome] += 1
        if trial is not None:
            trials.append(trial)
    if not trials:
        why = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
        skipped.append(
            f"{short_name(log.location)} of {log.eval.model} was left out: none of its"
            f" {len(samples)} answers is scored ({why})."
        )
        return None
    settings = {key: str(value) for key, value in model_settings(log).items()}
    return _Run(log, settings, _conditions(log, samples), trials, outcomes)


def _ended(sample: EvalSampleSummary) -> tuple[str, Trial | None]:
    """How an answer ended, and whether it was right if that counts."""
    if sample.error is not None:
        return ERROR, None
    score = last_score(sample, "exact_sum")
    if score is None:
        return NOT_JUDGED, None
    right = value_of(score, RIGHT)
    summands = value_of(score, SUMMANDS)
    outcome = str((score.metadata or {}).get("outcome", "unknown"))
    if math.isnan(right) or math.isnan(summands):
        return outcome, None
    return outcome, Trial(str(sample.id), int(summands), bool(right))


def _conditions(log: EvalLog, samples: Sequence[EvalSampleSummary]) -> dict[str, Any]:
    facts = log.eval.metadata or {}
    languages = {str((sample.metadata or {}).get("language", "")) for sample in samples}
    # With the same number of summands and the same sum, a chain of this id is the same but for a
    # rare chance.
    chains = sorted({f"{sample.id} {sample.target}" for sample in samples})
    return {
        "task_version": version_number(str(log.eval.task_version)),
        "language": ", ".join(sorted(languages)),
        "prompt_version": str(facts.get("prompt_version", "")),
        "prompt_sha256": str(facts.get("prompt_sha256", "")),
        "chains": len(chains),
        "chains_sha256": hashlib.sha256("\n".join(chains).encode()).hexdigest(),
    }


def _about(conditions: Mapping[str, Any], first: Mapping[str, Any]) -> list[str]:
    """What models of a table were asked, and why it is not the first one."""
    notes = []
    for reason in differences(conditions, first, _SHOWN):
        text = _DIFFERENCES[reason.name].format(ours=reason.ours, theirs=reason.theirs)
        notes.append(f"Not compared with the first table: {text}")
    asked = counted(conditions["chains"], "chain")
    prompt = f"{conditions['prompt_version']} {conditions['prompt_sha256'][:8]}"
    notes.append(f"{asked}, asked in '{conditions['language']}' ({prompt}).")
    return notes


def _sections(
    title: str, notes: Sequence[str], place: int, runs: Sequence[_Run], outcomes: Sequence[str]
) -> list[Section]:
    """Everything about models that were asked the same chains in the same words, the longest Max L
    first.
    """
    names = model_names([(run.of, run.settings) for run in runs])
    rows = []
    lengths = []
    texts = {}
    for name, run in sorted(zip(names, runs, strict=True), key=_rank):
        rows.append({"table": place, "model": name, **_row(run, outcomes)})
        tried = sorted({trial.summands for trial in run.trials})
        right = [accuracy(between(run.trials, length, length)) for length in tried]
        texts[name] = _by_length(tried, right)
        lengths += [(place, name, *pair) for pair in zip(tried, right, strict=True)]
    models = pd.DataFrame(rows)
    by_length = pd.DataFrame(lengths, columns=["table", "model", "summands", "accuracy"])
    counts = models[["model", *outcomes]].rename(columns=_words)
    counts.insert(1, "answers", models[outcomes].sum(axis=1))
    tables = (
        Table(
            models,
            _FORMATS,
            name="addition",
            headings=_HEADINGS,
            shown=("model", *_FORMATS),
            main="accuracy",
            size="chains",
        ),
        Table(by_length, name="addition_lengths", shown=(), main="accuracy", size="chains"),
    )
    accuracies = Table(pd.DataFrame(texts.items(), columns=["model", "summands: right"]))
    ended = Table(counts, dict.fromkeys(counts.columns[1:], str))
    return [
        Section(title, notes, tables),
        Section("Right answers by number of summands", tables=(accuracies,), level=3),
        Section("Outcomes of the answers", tables=(ended,), level=3),
    ]


def _rank(named: tuple[str, _Run]) -> tuple[float, float, str]:
    name, run = named
    headline = accuracy(between(run.trials, *HEADLINE))
    return -longest(run.trials)[0], -headline.value if headline.n else 0.0, name


def _row(run: _Run, outcomes: Sequence[str]) -> dict[str, Any]:
    any_length, unbroken = longest(run.trials)
    return {
        "longest": any_length,
        "unbroken": unbroken,
        "at_longest": accuracy(between(run.trials, any_length, any_length)),
        "accuracy": accuracy(between(run.trials, *HEADLINE)),
        "accuracy_to_ten": accuracy(between(run.trials, *TEXT)),
        "epochs": run.log.eval.config.epochs or 1,
        "unscored": sum(run.outcomes.values()) - len(run.trials),
        **{outcome: run.outcomes.get(outcome, 0) for outcome in outcomes},
    }


def _by_length(lengths: Sequence[int], right: Sequence[Estimate]) -> str:
    """Accuracies by length, neighbours that are equal together: `2–6: 100%, 7: 90%`."""
    runs: list[tuple[int, int, str]] = []  # first and last length, and what both have
    for length, found in zip(lengths, right, strict=True):
        shown = share(found.value)
        if runs and runs[-1][1:] == (length - 1, shown):
            first, _, _ = runs.pop()
            runs.append((first, length, shown))
        else:
            runs.append((length, length, shown))
    parts = []
    for first, last, shown in runs:
        span = f"{first}–{last}" if last > first else str(first)
        parts.append(f"{span}: {shown}")
    return ", ".join(parts)


def _words(outcome: str) -> str:
    return _COUNTED.get(outcome, outcome.removeprefix("unscored_").replace("_", " "))


def _length(longest: int) -> str:
    return str(longest or DASH)


def _share(found: Estimate) -> str:
    if not found.n:
        return DASH
    bounds = DASH
    if not math.isnan(found.low):
        bounds = f"{100 * found.low:.0f}–{100 * found.high:.0f}"
    return f"{share(found.value)} ({bounds}) of {found.n}"


_HEADINGS = {"longest": "Max L", "at_longest": "right at Max L"}
_FORMATS: dict[str, Format] = {
    "longest": _length,
    "at_longest": _share,
    "unbroken": _length,
    "accuracy": _share,
}
