"""`urs-inspect agreement`."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.reports.intent.judged_logs import answered, judgement, unscored, write_judged
from tests.reports.mad_logs import ballot, cast, judged, write_log

INTENTS = {"leisure": "Leisure", "factual_qa": "Factual QA", "api": "Solve Problem", "text_assistant": "Text Assistant"}
MODELS = ("p/a", "p/b", "p/c")


def one_log(path: Path, model: str, add: float, judge: str = "p/judge") -> str:
    samples = [
        answered(
            f"{intent}{n}",
            judgement(min(10, 2 + add + n + place), judge),
            metadata={"intent": intent, "intent_group": group},
        )
        for place, (intent, group) in enumerate(INTENTS.items())
        for n in range(4)
    ]
    return write_judged(path, *samples, answered("leisure9", unscored()), model=model)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for place, model in enumerate(MODELS):
        one_log(tmp_path / "logs" / f"{place}.eval", model, 2 - place)
    return tmp_path / "logs"


@pytest.fixture
def human(tmp_path: Path) -> Path:
    lines = ["id,model,rating,rater"]
    lines += [f"{intent}{n},p/a,{3 + n},{who}" for intent in INTENTS for n in range(4) for who in ("ann", "bob")]
    lines += ["leisure9,p/a,5,ann", "gone,p/a,5,ann"]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def satisfaction(tmp_path: Path) -> Path:
    path = tmp_path / "satisfaction.csv"
    path.write_text("intent,satisfaction,n\nleisure,3,20\nfactual_qa,4,30\napi,4.2,9\n", encoding="utf-8")
    return path


def votes_of(path: Path) -> Path:
    pairs = [("p/a", "p/b"), ("p/b", "p/c"), ("p/a", "p/c")]
    lines = [{"model_a": a, "model_b": b, "winner": a if n % 4 else b} for n in range(12) for a, b in pairs]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_all_three_at_once(run: Run, logs: Path, human: Path, satisfaction: Path, tmp_path: Path) -> None:
    votes = votes_of(tmp_path / "votes.jsonl")
    options = [
        "--human",
        human,
        "--satisfaction",
        satisfaction,
        "--votes",
        votes,
        "--rounds",
        50,
        "-o",
        tmp_path / "out",
    ]
    result = run("agreement", logs, *options)
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "judge p/judge; data d (sha256 aaaaaaaa); rubric urs 1" in output
    assert "Score and satisfaction by intent" in output
    assert "Intents without satisfaction were left out: Text Assistant." in output
    assert "Over 3 intents: Pearson 0.9" in output
    assert (
        "Published (URS paper, section 4.5, Figure 5; another judge, other models and people): Pearson 0.95" in output
    )
    assert "36 comparisons on 36 instructions, 0 ties; scores over 16 questions." in output
    assert "16 answers to 16 questions were both rated and scored" in output
    assert "2 people gave 33 ratings; on 16 answers with several, Krippendorff's alpha among people is 1.00" in output
    assert (
        f"1 rating of {human} about a question or epoch without an answer, left out: 'gone' of p/a (line 35)." in output
    )
    assert "1 rated answer without a score of the judge, left out." in output
    assert "SIMULATION" not in output
    assert (tmp_path / "out" / "agreement.md").is_file()


def test_json_is_all_that_is_printed(run: Run, logs: Path, satisfaction: Path) -> None:
    found = json.loads(
        run("agreement", logs, "--satisfaction", satisfaction, "--json", "--rounds", 20, "--seed", 5).output
    )
    assert (found["rounds"], found["seed"]) == (20, 5)
    [block] = found["blocks"]
    assert block["ratings"] is block["cases"] is None
    assert block["intents"]["correlation"]["over_points"] == [None, None]
    again = run("agreement", logs, "--satisfaction", satisfaction, "--json", "--rounds", 20, "--seed", 5).output
    assert json.loads(again) == found


def test_judges_are_never_mixed(run: Run, logs: Path, human: Path) -> None:
    one_log(logs / "other.eval", "p/a", 0, judge="p/stern")
    output = " ".join(run("agreement", logs, "--human", human, "--rounds", 20).output.split())
    assert output.count("Score and rating of single answers") == 2
    assert "Apart from the first block: Other judges: p/stern, not p/judge" in output


def test_people_vote_about_ballots(run: Run, logs: Path, tmp_path: Path) -> None:
    pairs = [("p/a", "p/b"), ("p/b", "p/c"), ("p/a", "p/c")]
    ballots = [ballot(f"Question {n}?", *pairs[n % 3]) for n in range(12)]
    log = write_log(tmp_path / "mad" / "log.eval", *[judged(one, 0.0) for one in ballots])
    people = cast(tmp_path / "people" / "ann.jsonl", *[("ann", one.id, "a") for one in ballots])
    result = run("agreement", logs, "--votes", log, "--votes", people.parent, "--rounds", 30)
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "12 votes by 1 person on 12 of 12 ballots; the majority counts" in output
    assert "12 comparisons on 12 instructions, 0 ties" in output
    assert "Pearson 1.00" in output
    refused = run("agreement", logs, "--votes", log)
    assert refused.exit_code == 1
    assert "has no people's choices" in refused.output


def test_names_are_shown_to_the_letter(run: Run, tmp_path: Path) -> None:
    log = one_log(tmp_path / "log.eval", "[bold]p/a[/bold]", 1)
    human = tmp_path / "r.csv"
    human.write_text("id,rating\nleisure1,3\nleisure2,4\n", encoding="utf-8")
    assert "[bold]p/a[/bold]" in run("agreement", log, "--human", human, "--rounds", 9).output


@pytest.mark.parametrize("columns", ["80", "160"])
def test_nothing_is_cut(
    run: Run, logs: Path, human: Path, satisfaction: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    output = run("agreement", logs, "--human", human, "--satisfaction", satisfaction, "--rounds", 50).output
    assert "…" not in output
    for words in ("Text Assistant", "score less rating", "Kendall", "satisfaction", "without noise"):
        assert words in output
    # Spearman of "all", with its interval in one piece.
    assert re.search(r"\(0\.\d\d to [01]\.\d\d\)", output)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to compare with; give at least one of --human, --satisfaction, --votes"),
        (["--human", "none.csv"], "no data file 'none.csv'"),
        (["--human", "{human}", "--human-scale", "1,5"], "column 'rating': must be a number from 1 to 5, is \"6\""),
        (
            ["--human", "{human}", "--human-scale", "high"],
            "human-scale: must be its lowest and highest value, such as 1,5",
        ),
        (["--human", "{human}", "--human-scale", "9,2"], "human-scale: must have a lowest value below a highest"),
        (["--satisfaction", "{human}"], "column 'intent' is missing"),
        (["--votes", "none"], "votes: no file or directory 'none'"),
        (["--human", "{human}", "-o", "{human}"], "is a file; name a directory"),
    ],
)
def test_bad_input_is_said_in_words(run: Run, logs: Path, human: Path, options: list[str], message: str) -> None:
    result = run("agreement", logs, *[option.format(human=human) for option in options])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert message in result.output
    assert "Traceback" not in result.output


def test_no_log_is_said(run: Run, human: Path, tmp_path: Path) -> None:
    result = run("agreement", tmp_path / "none", "--human", human)
    assert (result.exit_code, result.output) == (1, f"Error: no log '{tmp_path / 'none'}'\n")
