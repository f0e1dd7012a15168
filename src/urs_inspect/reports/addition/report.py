"""The typed report of additions, and how runs become one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from urs_inspect.rating import MeanInterval
from urs_inspect.rating.chain_lengths import HEADLINE, TEXT, Trial, accuracy, between, longest
from urs_inspect.reports.addition.runs import AdditionRun, ChainConditions, names_of, read_runs
from urs_inspect.reports.results import SIMULATED


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
