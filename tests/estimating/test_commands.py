"""`urs-inspect estimate`; what it expects is tested in `tests.reports.test_estimate`."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from rich.console import Console

from tests.cli.conftest import Run, Said
from tests.telling import tells
from urs_inspect.cli._first_screen import LINES
from urs_inspect.cli._output import print_report
from urs_inspect.estimating._actual_use import Actual, ActualUse
from urs_inspect.estimating._estimate import Assumptions, RoleEstimate, RunEstimate
from urs_inspect.estimating._lengths import Amount, Lengths
from urs_inspect.estimating._report import estimate_report
from urs_inspect.tasks import urs
from urs_inspect.tasks.urs_crossval import urs_crossval

URS = ("estimate", "urs", "-T", "dataset=sample")
NOTHING = Assumptions(None, Lengths(), frozenset(), judges_itself=False, samples_run=1846)
WEAK, JUDGE, OTHER = "urs_simulation/weak", "urs_simulation/judge", "urs_simulation/quality-9"


def run_simulated(
    task: Task, place: Path, model: str | list[str], judges: Sequence[str], **options: Any
) -> None:
    logs = inspect_eval(
        task,
        model=model,
        model_roles={"grader": list(judges)},
        log_dir=str(place),
        display="none",
        log_realtime=False,
        **options,
    )
    assert {log.status for log in logs} == {"success"}


def test_a_panel_of_judges(said: Said) -> None:
    output = said(
        *URS,
        "--model",
        "a/one,b/two",
        "--model-role",
        "grader=[c/three, {model: d/four, temperature: 0}]",
    )
    for name in ("a/one", "b/two", "c/three", "d/four"):
        assert name in output
    assert tells(output, "No price ... a/one, b/two, c/three, d/four")
    assert output.startswith("No price")
    assert "assumed" in said(*URS, "--model", "a/one", "--all")


def test_it_takes_one_screen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    output = run(*URS, "--model", "a/one,b/two", "--model-role", "grader=c/three").output
    lines = output.splitlines()
    assert len(lines) <= LINES and max(map(len, lines)) <= 80
    assert "--all" in lines[-1]


def test_a_limit_and_epochs(facts: Callable[..., Any]) -> None:
    found = facts(*URS, "--model", "a/one", "--limit", "3", "--epochs", "2")
    assert (found["samples"], found["epochs"]) == (3, 2)
    assert found["roles"][0]["calls"]["expected"] == 6
    assert 0 < found["margin"]["low"] < found["margin"]["high"]
    assert found["difference"] is None


def test_nothing_vanishes_at_eighty_columns_and_prices_make_costs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "a/one: {input: 1000, output: 1000, input_cache_write: 0, input_cache_read: 0}"
    )
    output = run(
        *URS, "--model", "a/one", "--model-role", "grader=c/three", "--prices", prices
    ).output
    for word in ("model", "grader", "a/one", "c/three", "not known"):
        assert word in output
    assert "…" not in output
    assert tells(" ".join(output.split()), "without c/three ... no price")


def role(model: str, samples: int, runs: int, name: str = "model") -> RoleEstimate:
    amount = Amount(1234.0 * samples, 1000.0 * samples, 2000.0 * samples)
    return RoleEstimate(name, model, samples, runs, amount, amount, amount, None)


def test_what_it_took_is_whole_and_in_the_order_of_the_estimate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ["openrouter/anthropic/claude-sonnet-4-0", "openrouter/openai/gpt-4o-mini-2024-07-18"]
    judge = "openrouter/google/gemini-2.5-pro"
    roles = (*[role(name, 1846, 1) for name in names], role(judge, 1846, 2, "grader"))
    found = RunEstimate("urs", 1846, 1, roles, None, (*names, judge), NOTHING)
    used = [
        Actual("grader", judge, 4_018_735, 500_425, 3692, 1234.5),
        Actual("model", "p/other", 1, 2, 3, None),
    ]
    used += [Actual("model", name, 45_367, 327_848, 1846, None) for name in reversed(names)]
    print_report(estimate_report(found, ActualUse(tuple(used), ())), Console(width=80))
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if line.startswith(("│", "┃"))]
    assert lines and all(line.endswith(("│", "┃")) and len(line) <= 80 for line in lines)
    for words in ("1,846 of 1,846", "3,692 of 3,692", "4,018,735", "1,234.50", "(not estimated)"):
        assert words in text
    column = "".join(line.split("│")[2].strip() for line in lines if line.startswith("│"))
    places = [column.index(name) for name in (*names, judge, "p/other")]
    assert places == sorted(places)


def test_beside_what_it_really_took(said: Said, tmp_path: Path) -> None:
    run_simulated(urs(dataset="sample"), tmp_path, WEAK, [JUDGE], limit=7)
    command = (*URS, "--model", WEAK, "--model-role", f"grader={JUDGE}")
    output = said(*command, "--from", tmp_path, "--against", tmp_path, "--all")
    assert "7 of 42" in output
    assert "What it took" in output
    assert "Precision: a mean ± " in output and "measured on 7" in output


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of two models with answers to all cases of the sample."""
    place = tmp_path_factory.mktemp("answers")
    run_simulated(urs(dataset="sample"), place, [WEAK, "urs_simulation/quality-7"], [JUDGE])
    return place


@pytest.fixture
def crossval(answers: Path) -> tuple[str, ...]:
    words = f"-T dataset=sample -T answers={answers} -T references=dataset -T cases=6 -T folds=2"
    return ("estimate", "urs_crossval", *words.split())


def test_a_cross_validation_is_counted_by_its_cells(
    crossval: tuple[str, ...], facts: Callable[..., Any]
) -> None:
    judges = ("--model-role", f"grader=[{JUDGE}, {OTHER}]")
    found = facts(*crossval, *judges, "--model", "none")
    assert found["samples"] == 6 * 2 * 2
    calls = [(one["role"], one["model"], one["calls"]["low"]) for one in found["roles"]]
    assert calls == [("grader", JUDGE, 12), ("grader", OTHER, 12)]
    [only] = facts(*crossval, *judges, "-T", f"evaluators={JUDGE}", "--limit", "5")["roles"]
    assert (only["model"], only["calls"]["low"]) == (JUDGE, 5)


def test_a_cross_validation_beside_what_it_took(
    crossval: tuple[str, ...], answers: Path, said: Said, tmp_path: Path
) -> None:
    task = urs_crossval(
        answers=str(answers),
        references="dataset",
        dataset="sample",
        cases=6,
        folds=2,
        evaluators=[JUDGE],
    )
    run_simulated(task, tmp_path, "none/none", [JUDGE, OTHER])
    judges = ("--model-role", f"grader=[{JUDGE}, {OTHER}]")
    took = said(*crossval, *judges, "--from", answers, "--against", tmp_path).partition(
        "What it took"
    )[2]
    assert "12 of 12" in took and OTHER not in took
    shares = [int(share) for share in re.findall(r"\((\d+)%\)", took)]
    assert len(shares) == 2 and all(50 <= share <= 150 for share in shares)


def test_numbers_that_are_given_come_before_measured_ones(
    answers: Path, facts: Callable[..., Any]
) -> None:
    command = (*URS, "--model", WEAK, "--model-role", f"grader={JUDGE}", "--from", answers)
    found = facts(*command, "--from", "answer=1000")
    assert found["roles"][0]["output_tokens"]["expected"] == 42_000
    assert not any("Answers of" in sentence for sentence in found["assumptions"])
    assert any(f"Replies of {JUDGE} are taken" in sentence for sentence in found["assumptions"])
    found = facts(*command, "--from", "reply=100")
    assert any("have 100 tokens" in sentence for sentence in found["assumptions"])


def test_a_tokenizer_counts_beside_logs_and_numbers(
    answers: Path, facts: Callable[..., Any], refused: Said, tmp_path: Path
) -> None:
    command = (*URS, "--model", WEAK, "--from", answers, "--from", "answer=1000", "--from")
    assert "no log in" in refused(*command, tmp_path)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    for given in (tmp_path, tmp_path / "tokenizer.json"):
        found = facts(*command, given)
        sent = found["roles"][0]["input_tokens"]
        assert sent["low"] == sent["expected"] == 42 * 5  # a question is one word, a message four
        assert found["roles"][0]["output_tokens"]["expected"] == 42_000


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ["--model-role", "grader=p/j", "--model", "p/m"],
            "--model: urs_crossval calls no model",
        ),
        ([], "--model-role: name the evaluators"),
        (["--model-role", "grader=[p/j, p/j]"], "evaluators: p/j has the role 'grader' twice"),
        (
            ["--model-role", "grader=p/j", "-T", "evaluators=p/k"],
            "evaluators: p/k ... 'grader'; allowed: p/j",
        ),
        (
            ["--model-role", "grader=p/j", "-T", "models=p/x"],
            "no argument models; allowed: answers",
        ),
        (["--model-role", "grader=p/j", "-T", "nope=1"], "nope"),
    ],
)
def test_a_cross_validation_that_cannot_be(
    crossval: tuple[str, ...], refused: Said, words: list[str], error: str
) -> None:
    output = refused(*crossval, *words)
    assert tells(output, error) and output.count("\n") == 1


def test_a_file_that_is_no_log_is_refused_with_the_name_that_a_tokenizer_has(
    refused: Said, tmp_path: Path
) -> None:
    file = tmp_path / "my_tokenizer.json"
    file.write_text('{"version": "1.0"}', encoding="utf-8")
    output = refused(*URS, "--model", "m", "--from", file)
    assert tells(output, "my_tokenizer.json ... file called tokenizer.json")


@pytest.mark.satellites
@pytest.mark.parametrize(
    ("words", "error"),
    [
        (URS, "--model: name"),
        (
            (*URS, "--model", "none", "--model-role", "grader=j"),
            "--model: name",
        ),
        ((*URS, "--model", "m", "-T", "seed=[1"), "-T: cannot read 'seed=[1'"),
        (("estimate", "gpqa", "--model", "m"), "task 'gpqa'; allowed: evolve, judge_pairwise, "),
        (
            (*URS, "--model", "m", "-T", "languag=en", "-T", "lenient=true"),
            "-T: ... languag; allowed: dataset, language, intents, ",
        ),
        ((*URS, "--model", "m", "-T", "nope"), "expected name=value"),
        ((*URS, "--model", "m", "--model-role", "judge=x"), "role judge"),
        ((*URS, "--model", "m", "--model-role", "grader=[x"), "cannot read"),
        ((*URS, "--model", "m", "-T", "language=xx"), "xx"),
        ((*URS, "--model", "m", "-T", "scorer=samer", "-T", "samer=x"), "no such folder"),
        (
            (*URS, "--model", "m", "--from", "nowhere"),
            "no log 'nowhere' ... logs, ... answer=TOKENS, ... tokenizer.json",
        ),
        ((*URS, "--model", "m", "--from", "reply=0"), "--from: reply: ... at least 1 ... reply=0"),
        (
            (*URS, "--model", "m", "--from", "anwser=100"),
            "anwser ... did you mean answer ... reply",
        ),
        (
            (*URS, "--model", "m", "--from", "nowhere/tokenizer.json"),
            "'nowhere/tokenizer.json' ... logs, ... answer=TOKENS, ... tokenizer.json",
        ),
        ((*URS, "--model", "m", "--from", "answer=few"), "--from: answer: ... whole number"),
        (
            (
                "estimate",
                "urs_references",
                "--model",
                "m",
                "--model-role",
                "grader=x",
                "-T",
                "dataset=sample",
            ),
            "role grader",
        ),
    ],
)
def test_bad_input_is_one_line(refused: Said, words: tuple[str, ...], error: str) -> None:
    output = refused(*words)
    assert tells(output, error) and output.count("\n") == 1
