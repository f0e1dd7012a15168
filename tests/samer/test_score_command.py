"""`urs-inspect samer score`: from a file to a table, and what is refused."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.samer.checkpoints import declaring, tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.samer.stubs import Opening, by_length
from tests.telling import tells
from urs_inspect.cli import main
from urs_inspect.samer._engines import EngineFailure, QueryResponse, Scored

parquet = import_module("pyarrow.parquet")
StubEngine = Callable[..., Opening]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    answers = ("Because.", "", "It is so.")
    lines = [
        json.dumps({"prompt": f"Why {n}?", "answer": answer}) for n, answer in enumerate(answers)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def score(rows: Path, out: Path, *options: str) -> Result:
    command = [
        "samer",
        "score",
        str(rows),
        str(out),
        "--model",
        str(rows.parent),
        "-S",
        "engine=stub",
        *options,
    ]
    return CliRunner().invoke(main, command)


def test_a_table_and_a_summary(rows: Path, tmp_path: Path, stub_engine: StubEngine) -> None:
    opening = stub_engine(
        lambda item: (
            EngineFailure("too_long", "no room") if item.query == "Why 2?" else by_length(item)
        )
    )
    done = score(rows, tmp_path / "out.parquet")
    assert done.exit_code == 0, done.output
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table["id"].to_pylist() == ["1", "2", "3"]
    assert table["no_response"].to_pylist() == [False, True, None]
    assert table["overall"].to_pylist()[1] == 0
    assert "3 rows in" in done.output and "empty responses: 1" in done.output
    assert tells(done.output, "not evaluated: 1 (too_long 1)")
    assert opening.made[0].closed == 1


def test_a_command_that_evaluated_nothing_fails_and_says_why(
    rows: Path, tmp_path: Path, stub_engine: StubEngine
) -> None:
    def answer(item: QueryResponse) -> Scored | EngineFailure:
        return (
            EngineFailure("not_finite", "NaN")
            if item.response
            else EngineFailure("too_long", "no room")
        )

    stub_engine(answer)
    done = score(rows, tmp_path / "out.jsonl")
    assert done.exit_code == 1
    assert tells(done.output, "no row ... 3 (not_finite 2, too_long 1)")
    assert "nan" not in done.output
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 3


def test_rows_that_a_server_does_not_answer_stop_the_command_unless_told(
    rows: Path, tmp_path: Path, stub_engine: StubEngine
) -> None:
    def answer(item: QueryResponse) -> Scored | EngineFailure:
        return by_length(item) if item.response else EngineFailure("timeout", "no reply within 9 s")

    out = tmp_path / "out.jsonl"
    stub_engine(answer)
    done = score(rows, out)
    assert done.exit_code == 1 and not out.exists()
    assert tells(done.output, "2 of 3 rows ... 1 got no answer (timeout: ... 9 s)")
    again = stub_engine(answer)
    done = score(rows, out, "-S", "keep_failures=true")
    assert done.exit_code == 0 and "not evaluated: 1 (timeout 1)" in done.output
    assert tells(done.output, "2 of them ... earlier")
    assert len(again.asked) == 1


def test_an_output_that_is_there_is_kept_unless_told(
    rows: Path, tmp_path: Path, stub_engine: StubEngine
) -> None:
    stub_engine()
    out = tmp_path / "out.jsonl"
    out.write_text("mine", encoding="utf-8")
    refused = score(rows, out)
    assert refused.exit_code == 1 and "already there" in refused.output
    assert out.read_text(encoding="utf-8") == "mine"
    assert score(rows, out, "--overwrite").exit_code == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 3


def test_type_and_reading_are_handed_on_and_said(rows: Path, tmp_path: Path) -> None:
    declaring(tiny_checkpoint(tmp_path / "m", inner_widths=SMALL), "query")
    out, model = (
        tmp_path / "out.parquet",
        (
            "--model",
            str(tmp_path / "m"),
            "-S",
            "engine=transformers",
        ),
    )
    done = score(rows, out, *model, "-S", "dtype=bfloat16")
    assert done.exit_code == 0, done.output
    assert tells(done.output, "transformers: bfloat16, ... query")
    facts = json.loads(parquet.read_schema(out).metadata[b"urs_inspect"])
    assert (facts["dtype"], facts["weights_at"]) == ("bfloat16", "query")
    done = score(rows, out, *model, "-S", "weights_at=response", "--overwrite")
    assert tells(done.output, "transformers: float32, ... response")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-S", "dtype=half"], "dtype: ... 'half'; allowed: auto, float32, bfloat16, float16"),
        (
            ["-S", "engine=transformers", "-S", "folder=x"],
            "engine 'transformers' ... option 'folder'",
        ),
        (
            ["-S", "engine=transformers", "-S", "timeout=60"],
            "engine 'transformers' ... option 'timeout'",
        ),
        (["-S", "timeout=0"], "timeout: ... above 0"),
        (["-S", "engine=onnx"], "unknown engine 'onnx'"),
        (["-S", "ray=local", "-S", "timeout=60"], "timeout: only for a server"),
        (["-S", "ray=yes"], "ray: must be a text, got True"),
        (["-S", "model=other"], "unknown option model; allowed: engine, weights_at"),
        (["-S", "bos=none"], "bos: ... 'none'; allowed: single, double"),
        (["--model", "absent"], "no such folder"),
    ],
)
def test_bad_options_are_one_line(
    options: list[str], said: str, rows: Path, tmp_path: Path
) -> None:
    done = score(rows, tmp_path / "out.jsonl", *options)
    assert done.exit_code != 0
    assert tells(done.output, said)
    assert "Traceback" not in done.output


def test_other_endings_and_faulty_rows_are_refused_before_the_engine_is_opened(
    rows: Path, tmp_path: Path, stub_engine: StubEngine
) -> None:
    opening = stub_engine()
    assert "cannot write '.csv' files" in score(rows, tmp_path / "out.csv").output
    rows.write_text('{"prompt": "q"}', encoding="utf-8")
    assert "line 1: missing response" in score(rows, tmp_path / "out.jsonl").output
    assert not opening.made
