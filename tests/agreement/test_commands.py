"""`urs-inspect agreement`: its options, and what it says of wrong input."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Said
from tests.reports.judged_logs import answered, judgement, unscored, write_judged
from tests.telling import tells

INTENTS = {
    "leisure": "Leisure",
    "factual_qa": "Factual QA",
    "api": "Solve Problem",
    "text_assistant": "Text Assistant",
}


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
def judged_logs(tmp_path: Path) -> Path:
    for place, model in enumerate(MODELS):
        one_log(tmp_path / "logs" / f"{place}.eval", model, 2 - place)
    return tmp_path / "logs"


@pytest.fixture
def human(tmp_path: Path) -> Path:
    lines = ["id,model,rating,rater"]
    lines += [
        f"{intent}{n},p/a,{3 + n},{who}"
        for intent in INTENTS
        for n in range(4)
        for who in ("ann", "bob")
    ]
    lines += ["leisure9,p/a,5,ann", "gone,p/a,5,ann"]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def satisfaction(tmp_path: Path) -> Path:
    path = tmp_path / "satisfaction.csv"
    path.write_text(
        "intent,satisfaction,n\nleisure,3,20\nfactual_qa,4,30\napi,4.2,9\n", encoding="utf-8"
    )
    return path


def votes_of(path: Path) -> Path:
    pairs = [("p/a", "p/b"), ("p/b", "p/c"), ("p/a", "p/c")]
    lines = [
        {"model_a": a, "model_b": b, "winner": a if n % 4 else b}
        for n in range(12)
        for a, b in pairs
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_all_three_at_once(
    said: Said, judged_logs: Path, human: Path, satisfaction: Path, tmp_path: Path
) -> None:
    votes, out = votes_of(tmp_path / "votes.jsonl"), tmp_path / "out"
    options = (
        "--human",
        human,
        "--satisfaction",
        satisfaction,
        "--votes",
        votes,
        "-o",
        out,
    )
    output = said("agreement", "--all", judged_logs, *options)
    for words in (
        "Over 3 intents: Pearson 0.9",
        "36 comparisons on 36 instructions, 0 ties; scores over 16 questions.",
        (
            "2 people gave 33 ratings; on 16 answers with several, Krippendorff's alpha among"
            " people is 1.00"
        ),
        (
            f"1 rating of {human} about a question or epoch without an answer, skipped: 'gone' of"
            " p/a (line 35)."
        ),
        "1 rated answer without a score of the judge, skipped.",
    ):
        assert words in output
    assert (out / "agreement.md").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "nothing to compare ... --human, --satisfaction, --votes"),
        ("--human none.csv", "no data file 'none.csv'"),
        (
            "--human {human} --scale 1,5",
            "column 'rating': ... 1 to 5, is \"6\"",
        ),
        (
            "--human {human} --scale high",
            "scale: ... 1,5",
        ),
        (
            "--human {human} --scale 9,2",
            "scale: ... lowest ... highest",
        ),
        ("--satisfaction {human}", "column 'intent' is missing"),
        ("--human {human} --satisfaction {human} --scale 1,5", "--human or --satisfaction"),
        ("--votes none --scale 1,5", "--human or --satisfaction"),
        ("--votes none", "votes: ... 'none'"),
        ("--human {human} -o {human}", "is a file; name a directory"),
    ],
)
def test_bad_input_is_said_in_words(
    refused: Said, judged_logs: Path, human: Path, options: str, message: str
) -> None:
    assert tells(refused("agreement", judged_logs, *options.format(human=human).split()), message)


def test_the_scale_is_that_of_the_file_which_is_given(
    refused: Said, judged_logs: Path, satisfaction: Path
) -> None:
    error = refused("agreement", judged_logs, "--satisfaction", satisfaction, "--scale", "1,3")
    assert tells(error, "'satisfaction' ... 1 to 3 ... 4.2")


def test_a_forgotten_scale_is_warned_of(said: Said, judged_logs: Path, human: Path) -> None:
    output = said("agreement", judged_logs, "--human", human, "--scale", "0,100")
    assert "No rating above" in output and "Is the scale 1,7?" in output
    assert "Is the scale" not in said("agreement", judged_logs, "--human", human)
