"""Evaluates a file of any length: memory does not grow with it, and a kill costs no more than the rows under way."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeGuard

from urs_inspect.errors import InputError
from urs_inspect.samer.bulk_journal import Journal
from urs_inspect.samer.bulk_output import result_of, write_output
from urs_inspect.samer.bulk_rows import BulkInput, BulkRow, read_rows
from urs_inspect.samer.engines.identity import model_identity
from urs_inspect.samer.engines.protocol import Engine, EngineFailure
from urs_inspect.samer.judgement import Judgement, engine_facts, judge

BLOCK = 512
"""Rows that are written together."""

_AHEAD = 2  # blocks under way, so that the engine has work while one is written
_TOGETHER = 32  # rows of a block that are asked for together, so that the others need not wait for one that hangs
_PATIENCE = 10.0  # seconds for what is under way when the run is about to stop
_GONE = frozenset({"unreachable", "timeout", "wrong_model"})  # these say nothing about the row

Progress = Callable[[int], None]
"""Told how many rows are done."""

_Outcome = Judgement | EngineFailure
_Found = dict[int, tuple[BulkRow, _Outcome | None]]
"""Number of a row -> the row, and what came of it; None if it is not known."""


@dataclass(frozen=True)
class BulkReport:
    """What came of a bulk evaluation.

    Attributes:
        rows: Number of rows.
        resumed: Rows that an earlier start had done.
        failures: Failure mode -> number of rows.
        no_response: Empty responses.
        shortened: Responses that were shortened.
        empty_selection: Rows for whose query no dimension was selected.
        mean_overall: Mean overall score of the rows without a failure, 0 to 1; NaN if there is none.
        healed: Whether a torn line of an earlier start was cut off.
    """

    rows: int
    resumed: int
    failures: dict[str, int]
    no_response: int
    shortened: int
    empty_selection: int
    mean_overall: float
    healed: bool


def journal_path(out: Path) -> Path:
    """Where the results of an unfinished evaluation are, beside the output."""
    return out.with_name(f"{out.name}.partial.jsonl")


async def score_file(
    source: BulkInput,
    out: Path,
    engine: Engine,
    *,
    block: int = BLOCK,
    keep_failures: bool = False,
    progress: Progress = lambda _: None,
) -> BulkReport:
    """Evaluate all rows of a file, going on where an earlier start was stopped.

    Args:
        source: The rows.
        out: The `.parquet` or `.jsonl` file to write when all are done; until then results are in `journal_path`.
        engine: The engine.
        block: Rows that are written together.
        keep_failures: Whether rows that a server did not answer, after all attempts, become failures like any other.
            Otherwise they stop the evaluation, and are asked for again, last, when it goes on.
        progress: Told how many rows are done, now and then.

    Returns:
        What came of it.

    Raises:
        InputError: If the journal belongs to something else or another model, or is in use; or if a row got no answer:
            all that was done is kept, and the same command goes on.
    """
    if block < 1:
        raise InputError(f"block {block}; allowed are 1 or more")
    facts = {**engine_facts(engine), **await model_identity(engine)}
    with Journal(journal_path(out), {"input": source.sha256, "rows": source.rows, **facts}) as journal:
        resumed = journal.done
        progress(journal.done)
        gone = frozenset[str]() if keep_failures else _GONE
        lost: list[EngineFailure] = []
        async with aclosing(_evaluated(engine, _rows_to_do(source.path, journal), block, gone)) as evaluated:
            async for found in evaluated:
                lost += [one for _, one in found.values() if _is_gone(one, gone)]
                journal.append(_results(found, gone))
                progress(journal.done)
        if lost:
            raise _stopped(lost, journal, source.rows)
        report = _report(journal, resumed)
        write_output(out, journal.results(), {**facts, "input_sha256": source.sha256})
    journal_path(out).unlink()
    return report


def _rows_to_do(path: Path, journal: Journal) -> Iterator[tuple[int, BulkRow]]:
    """The rows that are not begun, then the gaps: a row that fails every time does not keep the others waiting."""
    gaps = frozenset(journal.gaps)
    yield from enumerate(read_rows(path, journal.begun), start=journal.begun)
    if gaps:
        yield from ((number, row) for number, row in enumerate(read_rows(path)) if number in gaps)


async def _evaluated(
    engine: Engine, rows: Iterator[tuple[int, BulkRow]], block: int, gone: frozenset[str]
) -> AsyncGenerator[_Found, None]:
    """Blocks of rows in their order, a few under way at once; ends early with those in which a row got no answer."""
    running: deque[_Block] = deque()
    try:
        while True:
            while len(running) < _AHEAD and (part := list(islice(rows, block))):
                running.append(_Block(engine, part, gone))
            if not running:
                return
            if await running[0].lost():
                break
            yield running.popleft().found()
        await asyncio.wait([task for one in running for task in one.tasks], timeout=_PATIENCE)
        for one in running:
            yield one.found()
    finally:
        for one in running:
            one.cancel()


class _Block:
    """Rows under way."""

    def __init__(self, engine: Engine, rows: Sequence[tuple[int, BulkRow]], gone: frozenset[str]) -> None:
        self._gone = gone
        parts = (rows[start : start + _TOGETHER] for start in range(0, len(rows), _TOGETHER))
        self._parts = [(part, asyncio.create_task(judge(engine, [row.item for _, row in part]))) for part in parts]
        self.tasks = [task for _, task in self._parts]

    async def lost(self) -> bool:
        """Wait until all rows are done, or one got no answer; say which."""
        for task in asyncio.as_completed(self.tasks):
            if any(_is_gone(one, self._gone) for one in await task):
                return True
        return False

    def found(self) -> _Found:
        """What is known so far."""
        return {
            number: (row, outcome)
            for part, task in self._parts
            for (number, row), outcome in zip(part, task.result() if task.done() else [None] * len(part), strict=True)
        }

    def cancel(self) -> None:
        """Give up what is not done."""
        for task in self.tasks:
            task.cancel()


def _is_gone(outcome: _Outcome | None, gone: frozenset[str]) -> TypeGuard[EngineFailure]:
    return isinstance(outcome, EngineFailure) and outcome.mode in gone


def _results(found: _Found, gone: frozenset[str]) -> dict[int, dict[str, object] | None]:
    return {
        number: None if outcome is None or _is_gone(outcome, gone) else result_of(row, outcome)
        for number, (row, outcome) in found.items()
    }


def _stopped(lost: Sequence[EngineFailure], journal: Journal, rows: int) -> InputError:
    first = lost[0]
    return InputError(
        f"stopped with {journal.done:,} of {rows:,} rows done: {len(lost):,} got no answer ({first.mode}: "
        f"{first.detail}); the same command goes on from there (with --keep-failures such rows count as failures)"
    )


def _report(journal: Journal, resumed: int) -> BulkReport:
    failures: dict[str, int] = {}
    counts = dict.fromkeys(("no_response", "shortened", "empty_selection"), 0)
    total, scored = 0.0, 0
    for result in journal.results():
        if result["failure"] is not None:
            mode = str(result["failure"]).partition(":")[0]
            failures[mode] = failures.get(mode, 0) + 1
            continue
        total, scored = total + result["overall"], scored + 1
        for name in counts:
            counts[name] += bool(result[name])
    mean = total / scored if scored else float("nan")
    return BulkReport(
        journal.done, resumed, dict(sorted(failures.items())), mean_overall=mean, healed=journal.healed, **counts
    )
