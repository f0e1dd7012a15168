import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval

from urs_inspect.cli import main
from urs_inspect.tasks import urs

URS = ["estimate", "urs", "-T", "dataset=sample"]


def run(*words: str) -> str:
    done = CliRunner().invoke(main, [*words], env={"COLUMNS": "140"})
    assert done.exit_code == 0, done.output
    return done.output


def test_a_panel_of_judges() -> None:
    said = run(*URS, "--model", "a/one,b/two", "--model-role", "grader=[c/three, {model: d/four, temperature: 0}]")
    for name in ("a/one", "b/two", "c/three", "d/four"):
        assert name in said
    assert "No price is known of a/one, b/two, c/three, d/four" in said
    assert "assumed" in said


def test_a_limit_and_epochs() -> None:
    found = json.loads(run(*URS, "--model", "a/one", "--limit", "3", "--epochs", "2", "--json"))
    assert (found["samples"], found["epochs"]) == (3, 2)
    assert found["roles"][0]["calls"]["expected"] == 6


def test_nothing_vanishes_at_eighty_columns() -> None:
    done = CliRunner().invoke(main, [*URS, "--model", "a/one", "--model-role", "grader=c/three"], env={"COLUMNS": "80"})
    for word in ("model", "grader", "a/one", "c/three", "not known"):
        assert word in done.output
    assert "…" not in done.output


def test_prices_make_costs(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("a/one: {input: 1000, output: 1000, input_cache_write: 0, input_cache_read: 0}")
    said = run(*URS, "--model", "a/one", "--model-role", "grader=c/three", "--prices", str(prices))
    assert "US dollars, without c/three, of which no price is known" in said


def test_beside_what_it_really_took(tmp_path: Path) -> None:
    inspect_eval(
        urs(dataset="sample"),
        model="urs_simulation/weak",
        model_roles={"grader": "urs_simulation/judge"},
        limit=7,
        log_dir=str(tmp_path),
        display="none",
    )
    said = run(
        *URS,
        *("--model", "urs_simulation/weak", "--model-role", "grader=urs_simulation/judge"),
        *("--from", str(tmp_path), "--against", str(tmp_path)),
    )
    assert "7 of 42" in said
    assert "What it took" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["estimate", "gpqa", "--model", "m"], "no estimate for the task 'gpqa'; allowed: urs, md_eval"),
        ([*URS, "--model", "m", "-T", "nope=1"], "nope"),
        ([*URS, "--model", "m", "-T", "nope"], "expected name=value"),
        ([*URS, "--model", "m", "--model-role", "judge=x"], "expected grader=<model>, got 'judge=x'"),
        ([*URS, "--model", "m", "--model-role", "grader=[x"], "cannot read"),
        ([*URS, "--model", "m", "-T", "language=xx"], "xx"),
        ([*URS, "--model", "m", "-T", "scorer=samer", "-T", "samer=x"], "no judge is called"),
        ([*URS, "--model", "m", "--from", "nowhere"], "no log 'nowhere'"),
        (["estimate", "md_eval", "--model", "m", "--model-role", "grader=x"], "md_eval has no grader"),
    ],
)
def test_bad_input_is_one_line(words: list[str], said: str) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1, done.output
    assert said in done.output
    assert done.output.count("\n") == 1
