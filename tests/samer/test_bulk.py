"""Tests of `urs_inspect.samer._bulk`."""

import asyncio
import hashlib
import json
import math
import multiprocessing
import os
import sqlite3
import sys
import tracemalloc
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.samer.checkpoints import tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.samer.stubs import DIMENSIONS, StubEngine, by_length, raw
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.samer import _bulk as bulk_output
from urs_inspect.samer._bulk import (
    BulkReport,
    BulkRow,
    check_output,
    check_rows,
    dimension_columns,
    read_rows,
    result_of,
    score_file,
    write_output,
)
from urs_inspect.samer._bulk_results import partial_path
from urs_inspect.samer._engines import EngineFailure, QueryResponse, Scored
from urs_inspect.samer._judgement import judged


def rows_file(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "in.jsonl"
    lines = [
        json.dumps({"id": f"r{n}", "query": "q", "response": "x" * (1 + n % 9)})
        for n in range(count)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def evaluated(source: Path, out: Path, engine: StubEngine, **options: Any) -> BulkReport:
    return asyncio.run(score_file(check_rows(source), out, engine, **options))


def output(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows_in(path: Path) -> int:
    """Rows that have a result in a partial file, also while another process writes it."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("SELECT count(result) FROM results").fetchone()[0])


class Dying(StubEngine):
    """Ends the run after some rows, as a kill does; what was under way is lost."""

    after = 0

    async def score(self, items: Sequence[QueryResponse]) -> list[Scored | EngineFailure]:
        if len(self.asked) >= self.after:
            raise KeyboardInterrupt
        return await super().score(items)


def test_rows_come_out_in_their_order_each_once(tmp_path: Path) -> None:
    engine = StubEngine()
    seen: list[int] = []
    report = evaluated(
        rows_file(tmp_path, 25), tmp_path / "out.jsonl", engine, block=4, progress=seen.append
    )
    found = output(tmp_path / "out.jsonl")
    assert [row["id"] for row in found] == [f"r{n}" for n in range(25)]
    assert len(engine.asked) == 25
    assert seen == [0, 4, 8, 12, 16, 20, 24, 25]
    assert (report.rows, report.resumed, report.failures) == (25, 0, {})
    assert report.mean_overall == pytest.approx(sum(row["overall"] for row in found) / 25)
    assert not partial_path(tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("after", [0, 12, 24])
def test_a_stopped_run_goes_on_and_gives_the_same(after: int, tmp_path: Path) -> None:
    source, out, whole = rows_file(tmp_path, 25), tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    evaluated(source, whole, StubEngine(), block=4)
    dying = Dying()
    dying.after = after
    stopped = partial(evaluated, source, out, dying, block=4)
    process = multiprocessing.get_context("fork").Process(
        target=stopped
    )  # what it holds ends with it, as with a kill
    process.start()
    process.join(60)
    assert process.exitcode == 1
    assert not out.exists()
    kept = rows_in(partial_path(out))
    again = StubEngine()
    report = evaluated(source, out, again, block=4)
    assert report.resumed == kept
    assert len(again.asked) == 25 - kept  # nothing that was kept is evaluated again
    assert out.read_bytes() == whole.read_bytes()


def test_a_kill_between_the_output_and_the_end_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = rows_file(tmp_path, 5), tmp_path / "out.jsonl"
    partial: list[bytes] = []

    def write(path: Path, *rest: Any) -> None:
        partial.append(partial_path(path).read_bytes())
        write_output(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr("urs_inspect.samer._bulk.write_output", write)
        evaluated(source, out, StubEngine())
    partial_path(out).write_bytes(partial[0])  # as if it had not come to removing it
    before, again = out.read_bytes(), StubEngine()
    assert evaluated(source, out, again).resumed == 5
    assert not again.asked
    assert out.read_bytes() == before
    assert not partial_path(out).exists()


pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
GONE = EngineFailure("unreachable", "connection refused")


class Ailing(StubEngine):
    """Does not answer some rows, and has no room for those of three letters."""

    def __init__(self, silent: set[int], failure: EngineFailure = GONE) -> None:
        super().__init__(self.reply)
        self.silent, self.failure, self.count = silent, failure, -1

    def reply(self, item: QueryResponse) -> Scored | EngineFailure:
        self.count += 1
        if self.count in self.silent:
            return self.failure
        return EngineFailure("too_long", "no room") if len(item.response) == 3 else by_length(item)


@pytest.mark.parametrize("mode", ["unreachable", "timeout", "wrong_model"])
def test_rows_without_an_answer_stop_the_run_and_are_all_that_is_asked_again(
    mode: Any, tmp_path: Path
) -> None:
    source, out = rows_file(tmp_path, 20), tmp_path / "out.jsonl"
    whole = tmp_path / "whole.jsonl"
    evaluated(source, whole, Ailing(set()), block=4)
    # Blocks of 4, two under way: rows 4 and 6 are lost, 5 and 7 are not, and of the block after
    # only 9 is.
    with pytest.raises(InputError) as caught:
        evaluated(
            source, out, Ailing({4, 6, 9}, EngineFailure(mode, "connection refused")), block=4
        )
    assert tells(str(caught.value), f"9 of 20 rows ... 3 got no answer ({mode}: ")
    assert not out.exists()
    again = Ailing(set())
    report = evaluated(source, out, again, block=4)
    assert (report.resumed, report.failures) == (9, {"too_long": 2})
    assert len(again.asked) == 11
    assert out.read_bytes() == whole.read_bytes()
    assert not partial_path(out).exists()


def test_a_row_that_is_never_answered_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    source, out = rows_file(tmp_path, 20), tmp_path / "out.jsonl"

    def answer(item: QueryResponse) -> Scored | EngineFailure:
        return GONE if item.response == "xx" else by_length(item)  # rows 1, 10 and 19

    done = []
    for _ in range(4):
        engine = StubEngine(answer)
        with pytest.raises(InputError) as caught:
            evaluated(source, out, engine, block=4)
        done.append(int(str(caught.value).split()[2]))
    # Each start ends with the block that holds one of them and the next block; then only the three
    # are left.
    assert done == [7, 14, 17, 17]
    assert [item.response for item in engine.asked] == ["xx"] * 3
    report = evaluated(source, out, StubEngine(answer), keep_failures=True)
    assert (report.resumed, report.failures) == (17, {"unreachable": 3})
    assert [row["id"] for row in output(out) if row["failure"]] == ["r1", "r10", "r19"]
    assert [row["id"] for row in output(out)] == [f"r{n}" for n in range(20)]


def test_a_row_that_hangs_costs_no_other_of_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urs_inspect.samer._bulk._TOGETHER", 1)
    monkeypatch.setattr("urs_inspect.samer._bulk._PATIENCE", 0.01)

    class Hanging(StubEngine):
        async def score(self, items: Sequence[QueryResponse]) -> list[Scored | EngineFailure]:
            if len(items[0].response) == 4:
                await asyncio.Event().wait()
            if len(items[0].response) == 6:
                return [GONE]
            return await super().score(items)

    source, out = rows_file(tmp_path, 9), tmp_path / "out.jsonl"
    with pytest.raises(InputError, match="7 of 9 rows done: 1 got no"):
        evaluated(source, out, Hanging())
    again = StubEngine()
    evaluated(source, out, again)
    assert [len(item.response) for item in again.asked] == [4, 6]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny_checkpoint(tmp_path / "model", inner_widths=SMALL)


def begun(source: Path, out: Path, engine: StubEngine) -> None:
    with pytest.raises(InputError, match="stopped with"):
        evaluated(source, out, engine)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer_config.json", "config.json"])
def test_another_model_in_the_same_folder_is_not_mixed_in(
    name: str, model: Path, tmp_path: Path
) -> None:
    source, out = rows_file(tmp_path, 4), tmp_path / "out.jsonl"
    first, other = Ailing({2}), StubEngine(model=str(model))
    first.spec = other.spec
    begun(source, out, first)
    path = model / name
    whole, times = path.read_bytes(), path.stat()
    path.write_bytes(whole[:-20] + b" " + whole[-19:])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(
        InputError,
        match=f"another model at {model}: .*changed",
    ):
        evaluated(source, out, other)
    assert not other.asked
    path.write_bytes(whole)
    assert evaluated(source, out, other).resumed == 3


def test_results_of_other_rows_are_not_mixed_in(tmp_path: Path) -> None:
    source, out = rows_file(tmp_path, 4), tmp_path / "out.jsonl"
    begun(source, out, Ailing({2}))
    rows = source.read_text(encoding="utf-8")
    source.write_text(rows.replace('"q"', '"another"'), encoding="utf-8")
    other = StubEngine()
    with pytest.raises(InputError, match="another input"):
        evaluated(source, out, other)
    assert not other.asked


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    class Forgetting(StubEngine):
        async def score(self, items: Sequence[QueryResponse]) -> list[Scored | EngineFailure]:
            return [by_length(item) for item in items]

    def peak(count: int) -> int:
        source = rows_file(tmp_path, count)
        tracemalloc.start()
        evaluated(source, tmp_path / f"out{count}.jsonl", Forgetting(), block=20)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(40)  # what is loaded once
    # Ten times the rows would be ten times the memory if results were kept: some 15 kB a row.
    assert peak(800) < 1.5 * peak(80)


def test_rows_have_their_names_or_their_lines_number(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    lines = (
        '\ufeff{"id": "one", "query": "q1", "response": "r1"}\r',
        "",
        '{"prompt": "q2", "answer": "r2", "more": 1}',
        '{"id": 7, "question": "谁？", "response": ""}',  # without an end
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    assert list(read_rows(path)) == [
        BulkRow("one", QueryResponse("q1", "r1")),
        BulkRow("3", QueryResponse("q2", "r2")),
        BulkRow("7", QueryResponse("谁？", "")),
    ]
    assert list(read_rows(path, 2)) == list(read_rows(path))[2:]
    found = check_rows(path)
    assert (found.rows, found.sha256) == (3, hashlib.sha256(path.read_bytes()).hexdigest())


def write(path: Path, **columns: Any) -> Path:
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_rows_of_parquet_are_as_those_of_json_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path / "in.parquet",
        question=["q1", "q2"],
        response=["r1", ""],
        id=[7, 8],
        more=[1.0, 2.0],
    )
    assert list(read_rows(path)) == [
        BulkRow("7", QueryResponse("q1", "r1")),
        BulkRow("8", QueryResponse("q2", "")),
    ]
    path = write(path, query=pyarrow.array(["q"] * 1500).dictionary_encode(), answer=["r"] * 1500)
    assert [row.id for row in read_rows(path, 1)] == [str(number) for number in range(2, 1501)]
    with pytest.raises(InputError, match=r"in\.parquet: row 2: response.*NoneType"):
        check_rows(write(path, query=["q", "q"], response=["r", None]))
    with pytest.raises(InputError, match=r"row 1: missing query.*query, prompt, question"):
        check_rows(write(path, more=[1]))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not JSON in UTF-8"),
        ("[1]", "line 2: a row is a JSON object, got list"),
        ('{"response": "r"}', "line 2: missing query; allowed names: query, prompt, question"),
        ('{"query": "q"}', "line 2: missing response; allowed names: response, answer"),
        ('{"query": ["q"], "response": "r"}', "line 2: query must be text, got list"),
        ('{"query": "q", "answer": null}', "line 2: answer must be text, got NoneType"),
        (
            '{"id": 1.5, "query": "q", "response": "r"}',
            "line 2: id must be text or a whole number, got float",
        ),
        ("[" * 100_000, "line 2: not JSON in UTF-8"),
    ],
)
def test_a_faulty_row_is_refused_with_its_line(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"query": "q", "response": "r"}\n' + line, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        check_rows(path)
    assert f"{path}: {said}" in str(caught.value)


def test_what_can_neither_be_read_nor_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in.jsonl"
    with pytest.raises(InputError, match="cannot read"):
        check_rows(source)
    source.write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError, match="no row"):
        check_rows(source)
    with pytest.raises(InputError, match="block 0"):
        evaluated(rows_file(tmp_path, 1), tmp_path / "out.jsonl", StubEngine(), block=0)
    with pytest.raises(InputError, match=r"write '\.csv'.*allowed: \.parquet, \.jsonl"):
        check_output(tmp_path / "out.csv")
    check_output(tmp_path / "OUT.PARQUET")

    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"\.jsonl.*pyarrow:.*install 'urs-inspect\[samer\]'"):
        check_output(tmp_path / "out.parquet")
    check_output(tmp_path / "out.jsonl")


ROW = BulkRow("r1", QueryResponse("q", "r"))
# Clarity has 1/4 of the weight and the score 1/2, Depth 3/4 and 3/4: overall 11/16.
SCORED = Scored(
    raw({"Depth": math.log(3)}, {"Clarity": 1, "Depth": 1}, {"Depth": math.log(3)}), shortened=4
)
GOOD = result_of(ROW, judged(SCORED))
BAD = result_of(ROW, EngineFailure("too_long", "no room"))


def test_a_row_has_scores_of_all_dimensions_and_a_failure_none() -> None:
    row = GOOD
    assert (row["id"], row["overall"], row["selected"]) == ("r1", 0.6875, ["Clarity", "Depth"])
    assert (row["score_depth"], row["weight_depth"], row["weight_clarity"]) == (0.75, 0.75, 0.25)
    assert (row["score_style"], row["weight_style"]) == (0.5, 0)
    assert (row["shortened"], row["no_response"], row["empty_selection"], row["failure"]) == (
        4,
        False,
        False,
        None,
    )
    assert dimension_columns("score", ["Step by Step Explanation"]) == [
        "score_step_by_step_explanation"
    ]
    assert (
        len({*dimension_columns("score", DIMENSIONS), *dimension_columns("weight", DIMENSIONS)})
        == 84
    )
    assert set(BAD) == set(GOOD) and BAD["failure"] == "too_long: no room"
    assert {key for key, value in BAD.items() if value is not None} == {"id", "failure"}


def test_a_column_that_is_not_utf_8_is_named_with_its_file(tmp_path: Path) -> None:
    """Arrow takes any bytes for a text, and so do files that other programs write."""
    texts = pyarrow.array([b"fine", b"caf\xe9"]).cast(pyarrow.binary()).view(pyarrow.string())
    path = tmp_path / "latin.parquet"
    parquet.write_table(pyarrow.table({"query": ["q", "q"], "response": texts}), path)
    with pytest.raises(InputError, match=r"latin\.parquet: a text in query, response is not UTF-8"):
        check_rows(path)
    write(tmp_path / "other.parquet", other=[1])
    with pytest.raises(InputError, match=r"other\.parquet: row 1: missing query"):
        check_rows(tmp_path / "other.parquet")


def test_a_name_of_a_column_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    parquet.write_table(
        pyarrow.table({"x": [1]}).rename_columns([b"\xff"]), tmp_path / "in.parquet"
    )
    with pytest.raises(InputError, match=r"in\.parquet: a text in the columns' names is not UTF-8"):
        check_rows(tmp_path / "in.parquet")


def test_parquet_and_json_lines_hold_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_output, "_ROW_GROUP", 2)
    rows = [GOOD, BAD, GOOD, GOOD, BAD]
    for name in ("out.parquet", "out.jsonl"):
        write_output(tmp_path / name, iter(rows), {"model": "m"}, list(rows[0]))
    lines = [
        json.loads(line)
        for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert lines == rows
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column_names == [
        *("id", "overall", "selected", "empty_selection", "no_response", "shortened"),
        *dimension_columns("score", DIMENSIONS),
        *dimension_columns("weight", DIMENSIONS),
        "failure",
    ]
    assert table.to_pylist() == rows  # these numbers are exact in float32
    assert parquet.ParquetFile(tmp_path / "out.parquet").num_row_groups == 3
    assert json.loads(table.schema.metadata[b"urs_inspect"]) == {"model": "m"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "out.parquet"]


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl"])
def test_a_fault_while_writing_leaves_no_half_file(name: str, tmp_path: Path) -> None:
    def broken() -> Any:
        yield GOOD
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left on device"):
        write_output(tmp_path / name, broken(), {}, ["id"])
    assert not list(tmp_path.iterdir())
