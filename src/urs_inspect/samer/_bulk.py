"""Bulk scoring of files: rows in, rows out, resumable."""

import asyncio
import json
import math
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from anyio import to_thread

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.samer._bulk_results import PartialResults, partial_path, remove_partial
from urs_inspect.samer._checkpoint import fingerprint
from urs_inspect.samer._engines.protocol import Engine, EngineFailure, QueryResponse, one_line
from urs_inspect.samer._engines.vllm_server import ServerEngine
from urs_inspect.samer._judgement import Judgement, engine_facts, judge, score_values, short
from urs_inspect.samer._packages import imported
from urs_inspect.samer._pairs import read_rows as read_objects
from urs_inspect.samer._reward import REWARD, Description

_QUERY = ("query", "prompt", "question")
_RESPONSE = ("response", "answer")
SUFFIXES = (".parquet", ".jsonl")
_PARQUET = "Parquet (or name a .jsonl file)"
_FLAGS = ("empty_selection", "no_response", "shortened")
_ROW_GROUP = 10_000  # rows of a Parquet row group: what is in memory at once
_READ = 1_000
_BUFFER = 1 << 20  # rows and bytes of a column that are read from a Parquet file at once

BLOCK = 512  # rows that are kept together

_AHEAD = 2  # blocks under way, so that the engine has work while one is written
# rows of a block that are asked for together, so that the others need not wait for one that hangs
_TOGETHER = 32
_PATIENCE = 10.0  # seconds for what is under way when the run is about to stop
# failures that depend on the server, not on the row
_UNANSWERED = frozenset({"unreachable", "timeout", "wrong_model"})
_PROBE = QueryResponse("What is two and two?", "Four.")
_PROBE_DIGITS = 5


@dataclass(frozen=True)
class BulkRow:
    """One row; `id` is its own, else the number of its line."""

    id: str
    item: QueryResponse


@dataclass(frozen=True)
class BulkInput:
    """A file of rows that was read through once."""

    path: Path
    rows: int
    sha256: str


@dataclass(frozen=True)
class BulkReport:
    """What came of a bulk evaluation."""

    rows: int
    resumed: int  # rows that an earlier start had done
    failures: dict[str, int]  # failure mode -> number of rows
    total: float  # sum of the overall scores (0 to 1) or rewards of the rows without a failure
    no_response: int
    shortened: int  # responses that were shortened
    empty_selection: int  # rows for whose query no dimension was selected

    @property
    def scored(self) -> int:
        """Rows without a failure."""
        return self.rows - sum(self.failures.values())

    @property
    def mean_overall(self) -> float:
        """Mean overall score or reward of the rows without a failure; NaN if there is none."""
        if self.scored:
            return self.total / self.scored
        return math.nan


# ## Rows in


def check_rows(path: Path, *, least: int = 1) -> BulkInput:
    """Read a file through, so that an error in its last row is found before the first is evaluated.

    Args:
        path: JSON Lines, or `.parquet`: `query` (or `prompt`, `question`), `response` (or
            `answer`), optionally `id`.
        least: Fewest rows.

    Returns:
        The path, the number of rows and the SHA-256 of the file.

    Raises:
        InputError: If the file cannot be read, has too few rows, or a row lacks something.
    """
    rows = sum(1 for _ in read_rows(path))
    if rows < least:
        raise InputError(
            f"{path}: no row; expected one per line (JSON Lines) or a table with rows (Parquet)"
        )
    return BulkInput(path, rows, sha256_of(path))


def read_rows(path: Path, start: int = 0) -> Iterator[BulkRow]:
    """Read rows one at a time, from row number `start` (0 is the first)."""
    if path.suffix.lower() == ".parquet":
        kind = "row"
        objects = _parquet_objects(path)
    else:
        kind = "line"
        objects = read_objects(path)
    rows = (_row(record, number, f"{path}: {kind} {number}") for number, record in objects)
    return islice(rows, start, None)


def _parquet_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    pyarrow = imported("pyarrow", _PARQUET)
    parquet = imported("pyarrow.parquet", _PARQUET)
    columns = ["the columns' names"]
    try:
        with parquet.ParquetFile(path, buffer_size=_BUFFER) as file:
            columns = [
                name for name in ("id", *_QUERY, *_RESPONSE) if name in file.schema_arrow.names
            ]
            batches = file.iter_batches(_READ, columns=columns)
            rows = chain.from_iterable(batch.to_pylist() for batch in batches)
            yield from enumerate(rows, start=1)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"cannot read '{path}': {one_line(error)}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: a text in {choices(columns)} is not UTF-8 ({error.reason})"
        ) from error


def _row(record: Mapping[str, Any], number: int, place: str) -> BulkRow:
    name = record.get("id", number)
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise InputError(f"{place}: id must be text or a whole number, got {type(name).__name__}")
    query = _text(record, _QUERY, place)
    response = _text(record, _RESPONSE, place)
    return BulkRow(str(name), QueryResponse(query, response))


def _text(row: Mapping[str, Any], names: tuple[str, ...], place: str) -> str:
    name = next((name for name in names if name in row), None)
    if name is None:
        raise InputError(f"{place}: missing {names[0]}; allowed names: {choices(names)}")
    if not isinstance(row[name], str):
        raise InputError(f"{place}: {name} must be text, got {type(row[name]).__name__}")
    return str(row[name])


# ## The evaluation


async def score_file(
    source: BulkInput,
    out: Path,
    engine: Engine,
    *,
    block: int = BLOCK,
    keep_failures: bool = False,
    progress: Callable[[int], None] = lambda _: None,
    wait: float = 0.0,
    ahead: int = _AHEAD,
) -> BulkReport:
    """Evaluate all rows of a file; an interrupted run resumes.

    Args:
        source: The rows.
        out: The `.parquet` or `.jsonl` file to write when all are done; until then results are in
            `partial_path`.
        engine: The engine.
        block: Rows that are kept together, 1 or more.
        keep_failures: Whether rows that a server did not answer, after all attempts, become
            failures like any other. Otherwise they stop the evaluation, and are asked for again,
            last, when it resumes.
        progress: Called with the number of rows that are done.
        wait: Seconds to wait for another process that writes the same output.
        ahead: Blocks under way at once. With 1, which rows an engine runs together never depends on
            time.

    Returns:
        What came of it.

    Raises:
        InputError: If `block` is below 1, or partial results belong to another input or model, or
            are in use; or if a row got no answer: all that was done is kept, and the same command
            resumes.
    """
    if block < 1:
        raise InputError(f"block {block}; allowed are 1 or more")
    facts = {**engine_facts(engine), **await model_identity(engine)}
    with PartialResults(
        partial_path(out), {"input": source.sha256, "rows": source.rows, **facts}, wait
    ) as partial:
        resumed = partial.done
        progress(partial.done)
        stopping = _UNANSWERED
        if keep_failures:
            stopping = frozenset[str]()
        unanswered: list[EngineFailure] = []
        async with aclosing(
            _evaluated(engine, _rows_to_do(source.path, partial), block, ahead, stopping)
        ) as evaluated:
            async for outcomes in evaluated:
                results: dict[int, Any] = dict.fromkeys(outcomes)
                for number, (row, outcome) in outcomes.items():
                    if _is_one_of(outcome, stopping):
                        unanswered.append(outcome)
                    elif outcome is not None:
                        results[number] = result_of(row, outcome, engine.spec.reward)
                partial.add(results)
                progress(partial.done)
        if unanswered:
            first = unanswered[0]
            raise InputError(
                f"stopped with {partial.done:,} of {source.rows:,} rows done: {len(unanswered):,}"
                f" got no answer ({first.mode}: {first.detail}); the same command resumes (with"
                " -S keep_failures=true such rows count as failures)"
            )
        report = _report(partial, resumed)
        columns = columns_of(engine.spec.reward)
        write_output(out, partial, {**facts, "input_sha256": source.sha256}, columns)
    remove_partial(partial_path(out))
    return report


async def model_identity(engine: Engine) -> dict[str, Any]:
    """Which model an engine runs, so that another one in its place is recognised.

    Empty without a folder.

    `fingerprint` of the folder that the engine reads, which for a server is that of tokenizer and
    heads. For a server also `served`, its name for the model, and `probe`: the heads' numbers for a
    fixed text, to be compared within what rounding does. `InputError` if the server gives no
    numbers.
    """
    if not isinstance(engine, ServerEngine):
        folder = Path(engine.spec.model).expanduser()
        if not folder.is_dir():
            return {}
        return {"fingerprint": await to_thread.run_sync(fingerprint, folder)}
    [outcome] = await engine.score([_PROBE])
    if isinstance(outcome, EngineFailure):
        raise InputError(f"samer={outcome.detail} ({outcome.mode}), asked for a short text")
    raw = outcome.raw
    numbers = np.concatenate([raw.scores, raw.gates, raw.weights]).tolist()
    return {
        "fingerprint": await to_thread.run_sync(fingerprint, engine.folder),
        "served": engine.served,
        "probe": [float(f"{number:.{_PROBE_DIGITS}g}") for number in numbers],
    }


_Outcome = Judgement | EngineFailure
_Found = dict[int, tuple[BulkRow, _Outcome | None]]
"""Number of a row -> the row and its outcome; None if it is not known."""


def _rows_to_do(path: Path, partial: PartialResults) -> Iterator[tuple[int, BulkRow]]:
    """The rows that are not begun, then the gaps.

    A row that fails every time does not keep the others waiting.
    """
    gaps = frozenset(partial.gaps)
    yield from enumerate(read_rows(path, partial.begun), start=partial.begun)
    if gaps:
        for number, row in enumerate(read_rows(path)):
            if number in gaps:
                yield number, row


async def _evaluated(
    engine: Engine,
    rows: Iterator[tuple[int, BulkRow]],
    block: int,
    ahead: int,
    stopping: frozenset[str],
) -> AsyncGenerator[_Found, None]:
    """Blocks of rows in their order, a few under way at once.

    Ends early with those in which a row got no answer.
    """
    running: deque[_Block] = deque()
    try:
        while True:
            while len(running) < ahead and (part := list(islice(rows, block))):
                running.append(_Block(engine, part))
            if not running:
                return
            if await running[0].is_stopped(stopping):
                break
            yield running.popleft().found()
        tasks = chain.from_iterable(waiting.parts for waiting in running)
        await asyncio.wait(tasks, timeout=_PATIENCE)
        for waiting in running:
            yield waiting.found()
    finally:
        for waiting in running:
            for task in waiting.parts:
                task.cancel()


class _Block:
    """Rows under way, by the task that judges them."""

    def __init__(self, engine: Engine, rows: Sequence[tuple[int, BulkRow]]) -> None:
        self.parts: dict[asyncio.Task[list[_Outcome]], Sequence[tuple[int, BulkRow]]] = {}
        for start in range(0, len(rows), _TOGETHER):
            part = rows[start : start + _TOGETHER]
            judging = judge(engine, [row.item for _, row in part])
            self.parts[asyncio.create_task(judging)] = part

    async def is_stopped(self, stopping: frozenset[str]) -> bool:
        """Wait until all rows are done, or one got no answer; whether it is the latter."""
        for task in asyncio.as_completed(self.parts):
            if any(_is_one_of(outcome, stopping) for outcome in await task):
                return True
        return False

    def found(self) -> _Found:
        """What is known so far."""
        found: _Found = {}
        for task, part in self.parts.items():
            outcomes: Sequence[_Outcome | None] = [None] * len(part)
            if task.done():
                outcomes = task.result()
            for (number, row), outcome in zip(part, outcomes, strict=True):
                found[number] = (row, outcome)
        return found


def _is_one_of(outcome: _Outcome | None, modes: frozenset[str]) -> TypeGuard[EngineFailure]:
    return isinstance(outcome, EngineFailure) and outcome.mode in modes


def _report(results: PartialResults, resumed: int) -> BulkReport:
    failures = Counter[str]()
    counts = Counter[str]()
    total = 0.0
    for result in results:
        if result["failure"] is not None:
            mode = str(result["failure"]).partition(":")[0]
            failures[mode] += 1
            continue
        total += result["overall" if "overall" in result else REWARD]
        counts.update(name for name in _FLAGS if result.get(name))
    flags = {name: counts[name] for name in _FLAGS}
    return BulkReport(results.done, resumed, dict(sorted(failures.items())), total, **flags)


# ## Rows out


def dimension_columns(kind: str, names: Iterable[str]) -> list[str]:
    """Columns of dimensions, such as `score_code_correctness`, or `weight_code_correctness`."""
    return [f"{kind}_{name.lower().replace(' ', '_')}" for name in names]


def columns_of(reward: Description | None = None) -> list[str]:
    """Names of the table's columns."""
    if reward is not None:
        outputs = [name for name in reward.names if name != REWARD]
        return ["id", REWARD, *dimension_columns("score", outputs), *_FLAGS[1:], "failure"]
    names = load_taxonomy().dimensions
    numbers = [*dimension_columns("score", names), *dimension_columns("weight", names)]
    return ["id", "overall", "selected", *_FLAGS, *numbers, "failure"]


def result_of(row: BulkRow, outcome: _Outcome, reward: Description | None = None) -> dict[str, Any]:
    """One row of the table.

    `id`; `overall` (0 to 1); `selected` (names); a score (0 to 1) of every dimension, selected or
    not, and its weight (0 where not selected); the flags `empty_selection`, `no_response`,
    `shortened` (tokens); `failure` (`<mode>: <detail>`). A failure has null for all numbers and
    flags, anything else null for `failure`. Of a reward model `id`, `reward`, its outputs' scores,
    `no_response`, `shortened`, `failure`.
    """
    columns = columns_of(reward)
    if isinstance(outcome, EngineFailure):
        return dict.fromkeys(columns) | {
            "id": row.id,
            "failure": f"{outcome.mode}: {outcome.detail}",
        }
    flags = [outcome.no_response, outcome.shortened]
    if reward is not None:
        values: list[Any] = [*score_values(outcome, reward).values(), *flags]
    else:
        evaluation = outcome.evaluation
        selected = [outcome.names[at] for at in np.flatnonzero(evaluation.selected)]
        values = [short(evaluation.overall), selected, evaluation.empty_selection, *flags]
        values += map(short, [*evaluation.scores, *evaluation.weights])
    return dict(zip(columns, [row.id, *values, None], strict=True))


def check_output(path: Path) -> None:
    """Refuse an output that could not be written in the end."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path}: cannot write '{path.suffix}' files; allowed: {', '.join(SUFFIXES)}"
        )
    if path.suffix.lower() == ".parquet":
        imported("pyarrow.parquet", _PARQUET)


def write_output(
    path: Path,
    results: Iterable[Mapping[str, Any]],
    facts: Mapping[str, Any],
    columns: Sequence[str],
) -> None:
    """Write the table, whole or not at all; a file that is there is replaced.

    `facts` are kept in the schema's metadata of a Parquet file under `urs_inspect`.
    """
    temporary = path.with_name(f".{path.name}.writing")
    try:
        if path.suffix.lower() == ".parquet":
            _write_parquet(temporary, results, facts, columns)
        else:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(json.dumps(result, ensure_ascii=False) + "\n" for result in results)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _write_parquet(
    path: Path,
    results: Iterable[Mapping[str, Any]],
    facts: Mapping[str, Any],
    columns: Sequence[str],
) -> None:
    pyarrow = import_module("pyarrow")
    parquet = import_module("pyarrow.parquet")
    kinds = {
        "id": pyarrow.string(),
        "selected": pyarrow.list_(pyarrow.string()),
        "empty_selection": pyarrow.bool_(),
        "no_response": pyarrow.bool_(),
        "shortened": pyarrow.int64(),
        "failure": pyarrow.string(),
        "overall": pyarrow.float64(),
    }
    numbers = pyarrow.float32() if "overall" in columns else pyarrow.float64()  # of a reward model
    types = [(name, kinds.get(name, numbers)) for name in columns]
    schema = pyarrow.schema(types, metadata={"urs_inspect": json.dumps(facts, ensure_ascii=False)})
    remaining = iter(results)
    with parquet.ParquetWriter(path, schema) as writer:
        while group := list(islice(remaining, _ROW_GROUP)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
