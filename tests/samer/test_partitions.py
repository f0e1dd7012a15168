"""Many files of rows: in one process, and on Ray with workers and drivers that are killed."""

import json
import math
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.samer.stubs import by_length
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.cli import main
from urs_inspect.samer import _partitions as module
from urs_inspect.samer._bulk import BulkReport, check_rows
from urs_inspect.samer._bulk_results import partial_path
from urs_inspect.samer._checkpoint import fingerprint
from urs_inspect.samer._engines import EngineFailure, QueryResponse
from urs_inspect.samer._options import SamerOptions

pyarrow, parquet, psutil = (
    import_module(name) for name in ("pyarrow", "pyarrow.parquet", "psutil")
)


def write(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Three files of three rows and one without any."""
    for number in range(3):
        write(
            tmp_path / "parts" / f"{number}.parquet",
            prompt=["q"] * 3,
            answer=["a", "b", f"c{number}"],
        )
    write(
        tmp_path / "parts" / "3.parquet",
        prompt=pyarrow.array([], "string"),
        answer=pyarrow.array([], "string"),
    )
    (tmp_path / "parts" / "_SUCCESS").touch()
    return tmp_path / "parts"


def score(parts: Path, out: Path, *options: str) -> Result:
    command = [
        "samer",
        "score",
        str(parts),
        str(out),
        "--model",
        str(out.parent),
        "-S",
        "engine=stub",
        *options,
    ]
    return CliRunner().invoke(main, command)


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def test_each_file_is_scored_once(parts: Path, tmp_path: Path, stub_engine: Any) -> None:
    out, opening = tmp_path / "out", stub_engine()
    done = score(parts / "*.parquet", out)
    assert f"9 rows in {out}" in done.output and opening.made[0].closed == 1
    tables = {path.name: parquet.read_table(path) for path in out.iterdir()}
    assert {name: len(table) for name, table in tables.items()} == {
        f"{n}.parquet": 3 if n < 3 else 0 for n in range(4)
    }
    assert check_rows(parts / "0.parquet").sha256 in str(tables["0.parquet"].schema.metadata)
    before, again = files(out), stub_engine()
    partial_path(
        out / "0.parquet"
    ).touch()  # as if killed between writing the one and removing the other
    assert tells(score(parts, out).output, "4 of 4 files ... earlier")
    assert files(out) == before and not again.asked


def test_other_results_are_refused_or_replaced(
    parts: Path, tmp_path: Path, stub_engine: Any
) -> None:
    out = tmp_path / "out"
    stub_engine()
    assert score(parts, out).exit_code == 0
    before = files(out)
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert tells(score(parts, out).output, f"{out}/0.parquet ... another model at {tmp_path}")
    (tmp_path / "config.json").unlink()
    write(parts / "1.parquet", query=["new"], answer=["new"])
    write(out / "2.parquet", mine=[1])
    assert tells(score(parts, out).output, f"{out}/1.parquet ... another input")
    opening = stub_engine()
    assert score(parts, out, "--overwrite").exit_code == 0
    assert [item.response for item in opening.asked] == ["new", "a", "b", "c2"]
    assert {name for name, kept in files(out).items() if kept == before[name]} == {
        "0.parquet",
        "3.parquet",
    }


def test_a_faulty_file_stops_no_other(parts: Path, tmp_path: Path, stub_engine: Any) -> None:
    def answer(item: QueryResponse) -> Any:
        return EngineFailure("timeout", "no reply") if item.response == "c1" else by_length(item)

    write(parts / "0.parquet", query=["q", "q"], answer=["r", None])
    opening = stub_engine(answer)
    done = score(parts, tmp_path / "out")
    assert tells(" ".join(done.output.split()), "row 2: answer ... text")
    assert tells(done.output, f"{parts}/1.parquet: ... 2 of 3 rows") and len(opening.asked) == 3
    opening = stub_engine(answer)
    done = score(parts, tmp_path / "out", "-S", "keep_failures=true")
    assert done.exit_code == 1 and tells(done.output, "1 of 4 files ... not scored")
    assert [item.response for item in opening.asked] == ["c1", "a", "b", "c2"]
    assert set(files(tmp_path / "out")) == {"1.parquet", "2.parquet", "3.parquet"}
    done = score(parts, tmp_path / "out", "-S", "keep_failures=true")
    assert done.exit_code == 1 and tells(done.output, "1 of 4 files ... not scored")


def test_what_cannot_be_begun_is_refused(
    parts: Path, tmp_path: Path, stub_engine: Any, monkeypatch: Any
) -> None:
    opening, out = stub_engine(), tmp_path / "out"
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert "pip install 'urs-inspect[ray]'" in score(parts, out, "-S", "ray=local").output
    assert "no file .parquet or .jsonl" in score(tmp_path / "no*.parquet", out).output
    assert "samer 'ftp://host': no such" in score(parts, out, "--model", "ftp://host").output
    assert tells(score(parts, parts).output, "their own")
    assert tells(score(parts, out, "-S", "workers=2").output, "workers: ... -S ray=local")
    (parts / "2.jsonl").write_text('{"query": "q", "response": "r"}', encoding="utf-8")
    assert tells(score(parts, out).output, "2.parquet ... same file")
    (parts / "2.parquet").unlink()
    (parts / "1.parquet").write_bytes(b"PAR1 half")
    assert "cannot read" in score(parts, out).output and not opening.made


def test_all_files_that_cannot_be_used_are_named_at_once(
    parts: Path, tmp_path: Path, stub_engine: Any
) -> None:
    opening = stub_engine()
    (parts / "0.parquet").write_bytes(b"PAR1 half")
    write(parts / "2.parquet", query=["q"], other=["r"])
    said = score(parts, tmp_path / "out").output
    assert tells(said, "2 of 4 files") and not opening.made
    assert "0.parquet" in said and "2.parquet: row 1: missing response" in said


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"model": "http://h:1"}, "server"),
        ({"model": "https://h"}, "server"),
        ({"model": "m", "engine_options": {"tensor_parallel_size": 2}}, "tensor_parallel_size"),
    ],
)
def test_what_workers_cannot_share_is_refused(
    given: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: True)
    choice = SamerOptions(**given)
    assert module.settled(choice, on_ray=False) == (choice, {}, {})
    with pytest.raises(InputError, match=told):
        module.settled(choice, on_ray=True)


@pytest.mark.parametrize(("engine", "device"), [("transformers", {"device": "cpu"}), ("vllm", {})])
def test_workers_are_told_all_that_their_machine_could_decide(
    engine: str, device: dict[str, str], small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: True)
    monkeypatch.setattr(module, "engine_for", lambda _: engine)
    options: Any = {"tensor_parallel_size": 1} if engine == "vllm" else None
    choice = SamerOptions(model=str(small), engine_options=options)
    settled, own, facts = module.settled(choice, on_ray=True)
    assert (settled.model, settled.engine, settled.dtype) == (str(small), engine, "float32")
    assert (settled.weights_at, settled.max_length) == ("response", 512)
    assert own == device
    told = {"engine": engine, "dtype": "float32", "weights_at": "response"}
    assert facts == facts | told | {"fingerprint": fingerprint(small), "max_length": 512}


def test_a_worker_with_another_model_ends_all_and_a_faulty_file_does_not(
    parts: Path, tmp_path: Path, stub_engine: Any
) -> None:
    opening = stub_engine()
    choice = SamerOptions(model=str(tmp_path), engine="stub")

    def result(source: Path, facts: dict[str, Any]) -> list[Any]:
        scorer = module.Scorer(choice, {}, facts, {})
        out = tmp_path / source.name
        try:
            [line] = scorer({"item": [(str(source), str(out))]})["result"]
        finally:
            scorer.close()
        return list(json.loads(line))

    source, report, error, ends_all = result(parts / "0.parquet", {"engine": "another"})
    assert (source, report, ends_all) == (str(parts / "0.parquet"), None, True)
    assert tells(error, f"a worker has another model at {tmp_path}")
    (parts / "1.parquet").write_bytes(b"PAR1 half")
    _, report, error, ends_all = result(parts / "1.parquet", {})
    assert (report, ends_all) == (None, False) and "1.parquet" in error
    _, report, error, ends_all = result(parts / "2.parquet", {})
    assert (report["rows"], error, ends_all) == (3, "", False)
    assert opening.made[-1].closed == 1

    def broken(samer: str, **options: Any) -> Any:
        raise RuntimeError("no card")

    stub_engine(make=broken)
    _, report, error, ends_all = result(parts / "0.parquet", {})
    assert (report, ends_all) == (None, True) and "RuntimeError: no card" in error


def test_what_is_finished_is_not_done_again_by_the_next_worker(
    parts: Path, tmp_path: Path, stub_engine: Any
) -> None:
    opening = stub_engine()
    choice = SamerOptions(model=str(tmp_path), engine="stub")
    scorer = module.Scorer(choice, {}, {}, {})
    out = tmp_path / "0.parquet"
    item = {"item": [(str(parts / "0.parquet"), str(out))]}
    found = []
    for _ in range(2):
        [line] = scorer(item)["result"]
        found.append(json.loads(line)[1:])
        assert not partial_path(out).exists()
        if len(found) == 1:
            partial_path(out).touch()  # of one that was killed before this was removed
    scorer.close()
    assert found[0][0]["rows"] == 3 and found[1] == [None, "", False]
    assert len(opening.asked) == 3


def test_reports_are_put_together_by_rows() -> None:
    reports = [
        BulkReport(3, 1, {"error": 1}, 1.0, 1, 2, 3),
        BulkReport(1, 0, {"error": 1}, 0.0, 0, 0, 0),
    ]
    together = module.merged([*reports, BulkReport(2, 1, {}, 0.5, 1, 0, 0)])
    assert together == BulkReport(6, 2, {"error": 2}, 1.5, 2, 2, 3)
    assert together.mean_overall == 0.375
    assert math.isnan(reports[1].mean_overall)


def workers_of(driver: Any) -> list[Any]:
    return [
        process
        for process in driver.children(recursive=True)
        if process.name().startswith("ray::MapWorker")
    ]


@pytest.mark.ray
def test_killed_workers_and_drivers_cost_no_row_and_change_no_byte(
    small: Path, tmp_path: Path
) -> None:
    for part in range(12):
        # Five blocks of rows that are written together, so that a file is under way for long.
        texts = [f"{row} " * (1 + (row + part) % 10) for row in range(2_200)]
        path = tmp_path / "parts" / f"{part}.parquet"
        write(path, query=texts[::-1], response=texts, id=range(len(texts)))
    command = [sys.executable, "-c", "from urs_inspect.cli import main; main()", "samer", "score"]
    options = ["--model", str(small), "-S", "engine=transformers"]
    whole, out = tmp_path / "whole", tmp_path / "out"
    subprocess.run(
        [*command, str(tmp_path / "parts"), str(whole), *options], check=True, capture_output=True
    )

    def start(before: int) -> Any:
        """A driver, when two partitions are under way and one is finished that was not before."""
        ray = [
            *command,
            str(tmp_path / "parts"),
            str(out),
            *options,
            "-S",
            "ray=local",
            "-S",
            "workers=2",
        ]
        driver, deadline = psutil.Popen(ray, stderr=subprocess.PIPE), time.monotonic() + 600
        while len(list(out.glob("*.sqlite"))) < 2 or len(list(out.glob("*.parquet"))) <= before:
            assert driver.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        return driver

    driver = start(0)
    below, workers = driver.children(recursive=True), workers_of(driver)
    sockets = [socket for process in (driver, *below) for socket in process.net_connections("tcp")]
    listening = {
        socket.laddr.ip.removeprefix("::ffff:")
        for socket in sockets
        if socket.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
    driver.kill()
    driver.wait()
    killed = time.monotonic()
    for worker in workers:  # which end seconds after it
        with suppress(psutil.NoSuchProcess):
            while worker.status() != psutil.STATUS_ZOMBIE:
                assert time.monotonic() < killed + 10
                time.sleep(0.01)
    kept = {name: entry for name, entry in files(out).items() if name.endswith(".parquet")}
    driver = start(len(kept))
    workers_of(driver)[0].kill()
    said = driver.communicate(timeout=600)[1].decode()
    assert driver.returncode == 0 and len(said.splitlines()) <= 5, said
    assert f"{len(kept)} of 12 files were there" in said
    assert kept.items() <= files(out).items()
    assert {name: entry[1] for name, entry in files(out).items()} == {
        p.name: p.read_bytes() for p in whole.iterdir()
    }
