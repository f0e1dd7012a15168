"""`urs-inspect rank --judge` and `--control`."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run, row
from tests.reports.json_files import write_rows
from tests.reports.mad_logs import cast, judged, write_log
from urs_inspect.discrepancy.ballots import Ballot

MODELS = ("lab/long", "lab/mid", "lab/short")
VOTES = 30


def between(number: int, one: str, other: str, draws: np.random.Generator) -> Ballot:
    """A ballot whose answers are of the length that the names say, give or take."""
    sizes = {"lab/long": 300, "lab/mid": 150, "lab/short": 75}
    texts = {name: "x" * int(sizes[name] * draws.uniform(0.5, 2)) for name in (one, other)}
    return Ballot.between(f"q{number}", f"Question {number}?", texts)


@pytest.fixture(scope="module")
def ballots() -> list[Ballot]:
    draws = np.random.default_rng(0)
    pairs = [(MODELS[0], MODELS[1]), (MODELS[0], MODELS[2]), (MODELS[1], MODELS[2])]
    return [between(number, *pair, draws) for number in range(40) for pair in pairs]


@pytest.fixture(scope="module")
def log(ballots: list[Ballot], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ballots with a judge's verdicts: the longer answer wins, except for three that it did not decide."""
    samples = [judged(one, float(len(one.response_a) > len(one.response_b))) for one in ballots[3:]]
    samples += [judged(one) for one in ballots[:3]]
    for sample in samples:
        for score in (sample.scores or {}).values():
            score.metadata = {**(score.metadata or {}), "judges": ["baseline/longest"]}
    return write_log(tmp_path_factory.mktemp("judge") / "judge.eval", *samples)


@pytest.fixture(scope="module")
def votes(ballots: list[Ballot], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A person who likes long answers, but the model with the shortest ones as well."""
    draws = np.random.default_rng(1)
    chosen = [ballots[place] for place in draws.permutation(len(ballots))[:VOTES]]
    quality = dict(zip(MODELS, (0.0, 0.3, 0.9), strict=True))

    def choice(one: Ballot) -> str:
        gap = quality[one.model_a] - quality[one.model_b] + np.log(len(one.response_a) / len(one.response_b))
        return "a" if draws.random() < 1 / (1 + np.exp(-gap)) else "b"

    return cast(tmp_path_factory.mktemp("votes") / "me.jsonl", *[("me", one.id, choice(one)) for one in chosen])


def test_a_judge_corrects_people_s_votes(run: Run, log: Path, votes: Path) -> None:
    result = run("rank", log, "--votes", votes, "--judge", log, "--rounds", "50")
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "30 of 120 ballots have votes of people, 117 a verdict of baseline/longest; on the" in output
    assert "votes give the precision of" in output
    assert "Not counted: 3 ballots missing from the judge's log." in output
    found = json.loads(run("rank", log, "--votes", votes, "--judge", log, "--json", "--rounds", "200").stdout)
    corrected = found["corrected"]
    assert corrected["people"] == pytest.approx(found["bradley_terry"], abs=1e-6)
    assert (corrected["votes"], corrected["verdicts"], corrected["missing"]) == (30, 117, 3)
    assert corrected["judge"]["lab/long"] > corrected["judge"]["lab/short"]
    assert 0 < corrected["lambda"] <= 1
    assert set(corrected["intervals"]["bradley_terry"]) == set(MODELS)


def test_verdicts_about_models_without_votes_are_counted(
    run: Run, log: Path, ballots: list[Ballot], tmp_path: Path
) -> None:
    chosen = [one for one in ballots if "lab/short" not in (one.model_a, one.model_b)][3:18]
    votes = cast(tmp_path / "me.jsonl", *[("me", one.id, "ab"[n % 2]) for n, one in enumerate(chosen)])
    result = run("rank", log, "--votes", votes, "--judge", log, "--rounds", "50")
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "15 of 120 ballots have votes of people, 39 a verdict of baseline/longest" in output
    assert "78 verdicts about models without votes, which people cannot rank." in output


def test_a_judge_among_the_models_is_named(run: Run, ballots: list[Ballot], votes: Path, tmp_path: Path) -> None:
    samples = [judged(one, 1.0) for one in ballots]
    for sample in samples:
        assert sample.scores is not None
        sample.scores["pair_choice"].metadata = {
            "model_a": sample.metadata["ballot"]["model_a"],
            "model_b": sample.metadata["ballot"]["model_b"],
            "judges": ["lab/mid"],
        }
    judge = write_log(tmp_path / "judge.eval", *samples)
    output = " ".join(run("rank", judge, "--votes", votes, "--judge", judge).output.split())
    assert "lab/mid is judge and contestant: judges may favour their own answers" in output


def test_ratings_at_equal_length_with_coefficients_that_are_kept(
    run: Run, log: Path, votes: Path, tmp_path: Path
) -> None:
    assert "At equal length" in run("rank", log, "--control", "length").output
    saved = tmp_path / "length.json"
    saved.write_text(run("rank", log, "--control", "length", "--json").stdout, encoding="utf-8")
    first = json.loads(saved.read_text(encoding="utf-8"))["controlled"]
    # A judge that counts characters alone sees no difference at equal length.
    plain = json.loads(run("rank", log, "--json").stdout)["bradley_terry"]
    spreads = [max(ratings.values()) - min(ratings.values()) for ratings in (first["bradley_terry"], plain)]
    assert spreads[0] < 0.3 * spreads[1]

    said = "coefficients of the file count as exact"
    assert said in " ".join(run("rank", log, "--control", "length", "--coefficients", saved).output.split())
    assert said not in " ".join(run("rank", log, "--control", "length").output.split())
    kept = json.loads(
        run("rank", log, "--votes", votes, "--control", "length", "--coefficients", saved, "--json").stdout
    )["controlled"]
    assert kept["coefficients_given"]
    assert kept["coefficients"][0]["value"] == first["coefficients"][0]["value"]
    assert kept["coefficients"][0]["interval"] is None


def test_a_list_of_votes_needs_both_responses(run: Run, tmp_path: Path) -> None:
    vote = {"model_a": "a", "model_b": "b", "winner": "a"}
    texts = {"response_1": "long answer", "response_2": "short"}
    whole = write_rows(tmp_path / "whole.jsonl", {**vote, **texts}, {**vote, "data": texts, "winner": "b"})
    assert run("rank", whole, "--control", "length").exit_code == 0
    bare = write_rows(tmp_path / "bare.jsonl", {**vote, **texts}, vote, vote)
    result = run("rank", bare, "--control", "length")
    assert result.exit_code == 1
    assert "control: 2 of 3 votes in" in result.output
    assert "come without both responses" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge", "{log}"], "judge: corrects people's votes; name their files with --votes"),
        (["--control", "length,size"], "control: unknown feature 'size'; allowed: length, lists, headings, bold, code"),
        (["--control", ""], "control: names no feature; allowed: length, lists"),
        (["--control", "bold"], "control: no comparison of the 117 has a difference in bold"),
        (["--coefficients", "c.json"], "coefficients: only with --control"),
        (["--control", "length", "--coefficients", "none.json"], "cannot read the coefficients 'none.json'"),
    ],
)
def test_what_cannot_be_done_is_one_line(run: Run, log: Path, arguments: list[str], message: str) -> None:
    result = run("rank", log, *(argument.format(log=log) for argument in arguments))
    assert result.exit_code == 1
    assert message in result.output
    assert result.output.startswith("Error: ")


def test_a_judge_of_other_ballots_or_with_few_votes_is_refused(
    run: Run, log: Path, votes: Path, ballots: list[Ballot], tmp_path: Path
) -> None:
    other = Ballot.between("other", "Other?", {"lab/mid": "x", "lab/new": "y"})
    judge = write_log(tmp_path / "other.eval", judged(other, 1.0))
    result = run("rank", log, "--votes", votes, "--judge", judge)
    assert result.exit_code == 1
    assert "has no verdict about the 120 ballots" in result.output
    assert "It compares: lab/mid, lab/new; the ballots compare: lab/long, lab/mid, lab/short" in result.output
    few = cast(tmp_path / "few.jsonl", *[("me", one.id, "a") for one in ballots[3:8]])
    result = run("rank", log, "--votes", few, "--judge", log)
    assert result.exit_code == 1
    assert "at least 10 ballots with people's votes and a verdict, got 5: 5 have votes, 117 a verdict" in result.output


def test_a_change_of_order_stands_out(run: Run, tmp_path: Path) -> None:
    rows = []
    draws = np.random.default_rng(2)
    for number in range(600):
        sizes = {"wordy": draws.integers(200, 400), "terse": draws.integers(100, 300)}
        gap = -0.5 + 4 * (sizes["wordy"] - sizes["terse"]) / (sizes["wordy"] + sizes["terse"])
        winner = "wordy" if draws.random() < 1 / (1 + np.exp(-gap)) else "terse"
        texts = {f"response_{side}": "x" * int(sizes[name]) for side, name in (("a", "wordy"), ("b", "terse"))}
        rows.append({"model_a": "wordy", "model_b": "terse", "winner": winner, "question_id": number, **texts})
    result = run("rank", write_rows(tmp_path / "votes.jsonl", *rows), "--control", "length")
    output = " ".join(result.output.split())
    assert "THE ORDER CHANGES: At equal length, terse is above wordy by" in output
    assert row(result.output, "1 (1–1)", "wordy")
    assert row(result.output, "1 (1–1)", "terse")
