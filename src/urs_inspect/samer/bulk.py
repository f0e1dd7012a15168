"""Bulk scoring of files: rows in, rows out, resumable."""

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from urs_inspect._util import InputError, choices
from urs_inspect.samer.bulk_journal import Journal
from urs_inspect.samer.engines.protocol import Engine, EngineFailure, QueryResponse
from urs_inspect.samer.engines.vllm_server import model_identity
from urs_inspect.samer.judgement import Judgement, engine_facts, judge
from urs_inspect.samer.taxonomy import load_taxonomy

_QUERY, _RESPONSE = ("query", "prompt", "question"), ("response", "answer")


@dataclass(frozen=True)
class BulkRow:
    """One row.

    Attributes:
        id: What the row calls itself; else the number of its line.
        item: Query and response.
    """

    id: str
    item: QueryResponse


@dataclass(frozen=True)
class BulkInput:
    """A file of rows that was read through once.

    Attributes:
        path: The file.
        rows: Number of rows.
        sha256: Hash of the file.
    """

    path: Path
    rows: int
    sha256: str


def check_rows(path: Path) -> BulkInput:
    """Read a file through, so that a fault in its last row is found before the first is evaluated.

    Args:
        path: JSON Lines with `query` (or `prompt`, `question`), `response` (or `answer`) and optionally `id`.

    Returns:
        What was found.

    Raises:
        InputError: If the file cannot be read, has no row, or a row lacks something.
    """
    count, digest = 0, hashlib.sha256()
    for _ in _parsed(path, digest.update):
        count += 1
    if not count:
        raise InputError(f"{path}: no row; one JSON object a line is expected")
    return BulkInput(path, count, digest.hexdigest())


def read_rows(path: Path, start: int = 0) -> Iterator[BulkRow]:
    """Read rows one at a time, from row number `start` (0 is the first).

    Raises:
        InputError: If the file cannot be read, or a row lacks something.
    """
    for number, row in enumerate(_parsed(path)):
        if number >= start:
            yield row


def _parsed(path: Path, seen: Any = None) -> Iterator[BulkRow]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if seen is not None:
                    seen(line)
                if line.strip():
                    yield _row(line, number, f"{path}: line {number}")
    except OSError as error:
        raise InputError(f"cannot read '{path}': {error.strerror}") from None


def _row(line: bytes, number: int, place: str) -> BulkRow:
    try:
        found = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON in UTF-8: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{place}: a row is a JSON object, got {type(found).__name__}")
    name = found.get("id", number)
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise InputError(f"{place}: id must be text or a whole number, got {type(name).__name__}")
    return BulkRow(str(name), QueryResponse(_text(found, _QUERY, place), _text(found, _RESPONSE, place)))


def _text(row: dict[str, Any], names: tuple[str, ...], place: str) -> str:
    name = next((name for name in names if name in row), None)
    if name is None:
        raise InputError(f"{place}: missing {names[0]}; allowed names: {choices(names)}")
    if not isinstance(row[name], str):
        raise InputError(f"{place}: {name} must be text, got {type(row[name]).__name__}")
    return str(row[name])


SUFFIXES = (".parquet", ".jsonl")
_BLOCK = 10_000  # rows of a Parquet row group: what is in memory at once
_DIGITS = 7  # float32 has no more


def score_column(dimension: str) -> str:
    """Column of a dimension's score, such as `score_code_correctness`."""
    return f"score_{_slug(dimension)}"


def weight_column(dimension: str) -> str:
    """Column of a dimension's weight, such as `weight_code_correctness`."""
    return f"weight_{_slug(dimension)}"


def result_of(row: BulkRow, found: Judgement | EngineFailure) -> dict[str, Any]:
    """One row of the table.

    Returns:
        `id`; `overall` (0 to 1); `selected` (names); a score (0 to 1) of every dimension, selected or not, and its
        weight (0 where not selected); the flags `empty_selection`, `no_response`, `shortened` (tokens); `failure`
        (`<mode>: <detail>`). A failure has null for all numbers and flags, anything else null for `failure`.
    """
    names = load_taxonomy().dimensions
    if isinstance(found, EngineFailure):
        empty = dict.fromkeys(["overall", "selected", *_flags(), *_numbers()])
        return {"id": row.id, **empty, "failure": f"{found.mode}: {found.detail}"}
    what = found.evaluation
    return {
        "id": row.id,
        "overall": _short(what.overall),
        "selected": [names[at] for at in np.flatnonzero(what.selected)],
        "empty_selection": what.empty_selection,
        "no_response": found.no_response,
        "shortened": found.shortened,
        **{score_column(name): _short(value) for name, value in zip(names, what.scores, strict=True)},
        **{weight_column(name): _short(value) for name, value in zip(names, what.weights, strict=True)},
        "failure": None,
    }


def check_output(path: Path) -> None:
    """Refuse an output that could not be written in the end.

    Raises:
        InputError: If the name has another ending, or Parquet needs a package that is missing.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: cannot write '{path.suffix}' files; allowed: {', '.join(SUFFIXES)}")
    if path.suffix.lower() == ".parquet":
        _pyarrow()


def write_output(path: Path, results: Iterable[Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
    """Write the table; the file appears as a whole or not at all.

    Args:
        path: A `.parquet` or `.jsonl` file; one that is there is replaced.
        results: Rows as from `result_of`.
        facts: How they came about; kept in the schema's metadata of a Parquet file under `urs_inspect`.

    Raises:
        InputError: If the file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.writing")
    try:
        if path.suffix.lower() == ".parquet":
            _write_parquet(temporary, results, facts)
        else:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(json.dumps(result, ensure_ascii=False) + "\n" for result in results)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _write_parquet(path: Path, results: Iterable[Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
    pyarrow, parquet = _pyarrow()
    types = {
        "id": pyarrow.string(),
        "overall": pyarrow.float64(),
        "selected": pyarrow.list_(pyarrow.string()),
        "empty_selection": pyarrow.bool_(),
        "no_response": pyarrow.bool_(),
        "shortened": pyarrow.int64(),
        **dict.fromkeys(_numbers(), pyarrow.float32()),
        "failure": pyarrow.string(),
    }
    schema = pyarrow.schema(list(types.items()), metadata={"urs_inspect": json.dumps(facts, ensure_ascii=False)})
    with parquet.ParquetWriter(path, schema) as writer:
        for block in _blocks(results):
            writer.write_table(pyarrow.Table.from_pylist(block, schema=schema))


def _blocks(results: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    remaining = iter(results)
    while block := list(islice(remaining, _BLOCK)):
        yield block


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError(
            "Parquet needs the package pyarrow: pip install 'urs-inspect[samer]', or name a .jsonl file as output"
        ) from error


def _numbers() -> list[str]:
    names = load_taxonomy().dimensions
    return [score_column(name) for name in names] + [weight_column(name) for name in names]


def _flags() -> tuple[str, ...]:
    return ("empty_selection", "no_response", "shortened")


def _slug(dimension: str) -> str:
    return dimension.lower().replace(" ", "_")


def _short(value: float) -> float:
    return float(f"{float(value):.{_DIGITS}g}")


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
