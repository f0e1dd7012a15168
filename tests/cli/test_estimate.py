import json
import re
from pathlib import Path

import pytest
import rich
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval
from rich.console import Console

from urs_inspect.cli import main
from urs_inspect.cli.estimate import print_actual
from urs_inspect.reports.actual_use import Actual, ActualUse
from urs_inspect.reports.costs import Amount
from urs_inspect.reports.estimate import RoleEstimate, RunEstimate
from urs_inspect.tasks import urs
from urs_inspect.tasks.urs_crossval import urs_crossval

URS = ["estimate", "urs", "-T", "dataset=sample"]
ROLE = ["--model-role", "grader=x"]


@pytest.fixture(autouse=True)
def _quiet_harness(monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier runs of the harness in this process decide whether it prints a task's warnings; a command has none."""
    monkeypatch.setattr(rich.get_console(), "quiet", True)


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
    assert 0 < found["margin"]["low"] < found["margin"]["high"]
    assert found["difference"] is None


def test_nothing_vanishes_at_eighty_columns() -> None:
    done = CliRunner().invoke(main, [*URS, "--model", "a/one", "--model-role", "grader=c/three"], env={"COLUMNS": "80"})
    for word in ("model", "grader", "a/one", "c/three", "not known"):
        assert word in done.output
    assert "…" not in done.output


def test_an_argument_that_does_not_exist_is_named_beside_those_that_do() -> None:
    done = CliRunner().invoke(main, [*URS, "--model", "m", "-T", "languag=en", "-T", "lenient=true"])
    assert done.exit_code == 1
    assert done.output.startswith("Error: -T: no argument languag; allowed: dataset, language, intents, ")


def role(model: str, samples: int, runs: int, name: str = "model") -> RoleEstimate:
    amount = Amount(1234.0 * samples, 1000.0 * samples, 2000.0 * samples)
    return RoleEstimate(name, model, samples, runs, amount, amount, amount, None)


def test_what_it_took_is_whole_and_in_the_order_of_the_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["openrouter/anthropic/claude-sonnet-4-0", "openrouter/openai/gpt-4o-mini-2024-07-18"]
    judge = "openrouter/google/gemini-2.5-pro"
    roles = (*[role(name, 1846, 1) for name in names], role(judge, 1846, 2, "grader"))
    found = RunEstimate("urs", 1846, 1, roles, None, (*names, judge), ())
    used = [Actual("grader", judge, 4_018_735, 500_425, 3692, 1234.5), Actual("model", "p/other", 1, 2, 3, None)]
    used += [Actual("model", name, 45_367, 327_848, 1846, None) for name in reversed(names)]
    print_actual(found, ActualUse(tuple(used), ()), Console(width=80))
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if line.startswith(("│", "┃"))]
    assert lines and all(line.endswith(("│", "┃")) and len(line) <= 80 for line in lines)
    for words in ("1,846 of 1,846", "3,692 of 3,692", "4,018,735", "1,234.50", "(not estimated)"):
        assert words in text
    column = "".join(line.split("│")[2].strip() for line in lines if line.startswith("│"))
    places = [column.index(name) for name in (*names, judge, "p/other")]
    assert places == sorted(places)


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
        log_realtime=False,
    )
    said = run(
        *URS,
        *("--model", "urs_simulation/weak", "--model-role", "grader=urs_simulation/judge"),
        *("--from", str(tmp_path), "--against", str(tmp_path)),
    )
    assert "7 of 42" in said
    assert "What it took" in said
    assert "Precision: a mean ± " in said and "measured on 7" in said


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Logs of two models with answers to all cases of the sample."""
    place = str(tmp_path_factory.mktemp("answers"))
    models, judge = ["urs_simulation/weak", "urs_simulation/quality-7"], "urs_simulation/judge"
    logs = inspect_eval(
        urs(dataset="sample"),
        model=models,
        model_roles={"grader": judge},
        log_dir=place,
        display="none",
        log_realtime=False,
    )
    assert {log.status for log in logs} == {"success"}
    return place


def crossval(answers: str) -> list[str]:
    grid = ["-T", "dataset=sample", "-T", f"answers={answers}", "-T", "references=dataset", "-T", "cases=6"]
    return ["estimate", "urs_crossval", *grid, "-T", "folds=2"]


def test_a_cross_validation_is_counted_by_its_cells(answers: str) -> None:
    judges = ["--model-role", "grader=[urs_simulation/judge, urs_simulation/quality-9]"]
    done = CliRunner().invoke(main, [*crossval(answers), *judges, "--model", "none", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["samples"] == 6 * 2 * 2
    assert [(one["role"], one["model"], one["calls"]["low"]) for one in found["roles"]] == [
        ("grader", "urs_simulation/judge", 12),
        ("grader", "urs_simulation/quality-9", 12),
    ]
    words = [*crossval(answers), *judges, "-T", "evaluators=urs_simulation/judge", "--limit", "5", "--json"]
    [only] = json.loads(CliRunner().invoke(main, words).stdout)["roles"]
    assert (only["model"], only["calls"]["low"]) == ("urs_simulation/judge", 5)


def test_a_cross_validation_beside_what_it_took(answers: str, tmp_path: Path) -> None:
    judges = ["urs_simulation/judge", "urs_simulation/quality-9"]
    task = urs_crossval(
        answers=answers, references="dataset", dataset="sample", cases=6, folds=2, evaluators=judges[:1]
    )
    roles = {"grader": judges}
    inspect_eval(task, model="none/none", model_roles=roles, log_dir=str(tmp_path), display="none", log_realtime=False)
    said = run(
        *crossval(answers),
        *("--model-role", f"grader=[{', '.join(judges)}]", "--from", answers, "--against", str(tmp_path)),
    )
    took = said.partition("What it took")[2]
    assert "12 of 12" in took and "urs_simulation/quality-9" not in took
    shares = [int(share) for share in re.findall(r"\((\d+)%\)", took)]
    assert len(shares) == 2 and all(50 <= share <= 150 for share in shares)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model-role", "grader=p/j", "--model", "p/m"], "--model: urs_crossval calls no model under test"),
        ([], "--model-role: name the evaluators"),
        (["--model-role", "grader=[p/j, p/j]"], "--model-role: p/j is there twice"),
        (["--model-role", "grader=p/j", "-T", "evaluators=p/k"], "-T evaluators: p/k has no role grader; allowed: p/j"),
        (["--model-role", "grader=p/j", "-T", "models=p/x"], "models: no answers of p/x"),
        (["--model-role", "grader=p/j", "-T", "nope=1"], "nope"),
    ],
)
def test_a_cross_validation_that_cannot_be(answers: str, words: list[str], said: str) -> None:
    done = CliRunner().invoke(main, [*crossval(answers), *words])
    assert done.exit_code == 1, done.output
    assert said in done.output
    assert done.output.count("\n") == 1


def test_numbers_that_are_given_come_before_measured_ones(answers: str) -> None:
    words = [*URS, "--model", "urs_simulation/weak", "--model-role", "grader=urs_simulation/judge", "--from", answers]
    found = json.loads(run(*words, "--answer-tokens", "1000", "--json"))
    assert found["roles"][0]["output_tokens"]["expected"] == 42_000
    assert not any("Answers of" in sentence for sentence in found["assumptions"])
    assert any("Replies of urs_simulation/judge are taken" in sentence for sentence in found["assumptions"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (URS, "--model: name the model under test"),
        ([*URS, "--model", "none", "--model-role", "grader=j"], "--model: name the model under test"),
        ([*URS, "--model", "m", "-T", "seed=[1"], "-T: cannot read 'seed=[1'"),
        (["estimate", "gpqa", "--model", "m"], "no task 'gpqa'; allowed: evolve, judge_pairwise, "),
        ([*URS, "--model", "m", "-T", "nope=1"], "nope"),
        ([*URS, "--model", "m", "-T", "nope"], "expected name=value"),
        ([*URS, "--model", "m", "--model-role", "judge=x"], "calls no model in the role judge"),
        ([*URS, "--model", "m", "--model-role", "grader=[x"], "cannot read"),
        ([*URS, "--model", "m", "-T", "language=xx"], "xx"),
        ([*URS, "--model", "m", "-T", "scorer=samer", "-T", "samer=x"], "no such folder"),
        ([*URS, "--model", "m", "--from", "nowhere"], "no log 'nowhere'"),
        (["estimate", "urs_references", "--model", "m", *ROLE, "-T", "dataset=sample"], "no model in the role grader"),
    ],
)
def test_bad_input_is_one_line(words: list[str], said: str) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1, done.output
    assert said in done.output
    assert done.output.count("\n") == 1
