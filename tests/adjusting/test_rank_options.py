"""`urs-inspect rank`: corrected by a judge (`--judge`), at equal style (`--control`)."""

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Run, Said, cells_of, row
from tests.cli.test_rank import ballots_by_scenario
from tests.reports.json_files import write_rows
from tests.reports.mad_logs import ballot, cast, judged, write_log
from tests.tasks.contests import (
    command,
    compete,
    path_of,
)
from tests.tasks.test_mad_people import BallotLog, vote
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.adjusting._adjustments import ByJudge, style, weighed_ranking
from urs_inspect.annotation._campaign import load_ballots
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.stats import Battle, battles_of
from urs_inspect.tasks import mad

MODELS = ("lab/long", "lab/mid", "lab/short")


VOTED = 30


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
    """Ballots with a judge's verdicts: the longer answer wins, except for three that it did not
    decide.
    """
    samples = [judged(one, float(len(one.response_a) > len(one.response_b))) for one in ballots[3:]]
    samples += [judged(one) for one in ballots[:3]]
    for sample in samples:
        for score in (sample.scores or {}).values():
            score.metadata = {**(score.metadata or {}), "judges": ["baseline/longest"]}
    return write_log(tmp_path_factory.mktemp("judge") / "judge.eval", *samples)


@pytest.fixture(scope="module")
def human(ballots: list[Ballot], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Votes of a person who likes long answers, but the model with the shortest ones as well."""
    draws = np.random.default_rng(1)
    chosen = [ballots[place] for place in draws.permutation(len(ballots))[:VOTED]]
    quality = dict(zip(MODELS, (0.0, 0.3, 0.9), strict=True))

    def choice(one: Ballot) -> str:
        gap = (
            quality[one.model_a]
            - quality[one.model_b]
            + np.log(len(one.response_a) / len(one.response_b))
        )
        return "a" if draws.random() < 1 / (1 + np.exp(-gap)) else "b"

    return cast(
        tmp_path_factory.mktemp("votes") / "me.jsonl",
        *[("me", one.id, choice(one)) for one in chosen],
    )


def test_a_judge_corrects_people_s_votes(
    said: Said, facts: Callable[..., Any], log: Path, human: Path
) -> None:
    output = said("rank", "--all", log, human, "--judge", log)
    assert tells(output, "30 of 120 comparisons ... 117 a verdict of baseline/longest")
    assert tells(output, "precision of")
    assert tells(output, "3 ballots missing")
    found = facts("rank", log, human, "--judge", log)
    corrected = found["corrected"]
    assert corrected["people"] == pytest.approx(found["bradley_terry"], abs=1e-6)
    assert (corrected["votes"], corrected["verdicts"], corrected["missing"]) == (30, 117, 3)
    assert corrected["judge"]["lab/long"] > corrected["judge"]["lab/short"]
    assert 0 < corrected["lambda"] <= 1
    assert set(corrected["intervals"]["bradley_terry"]) == set(MODELS)


def test_verdicts_about_models_without_votes_are_counted(
    said: Said, log: Path, ballots: list[Ballot], tmp_path: Path
) -> None:
    chosen = [one for one in ballots if "lab/short" not in (one.model_a, one.model_b)][3:18]
    votes = cast(
        tmp_path / "me.jsonl", *[("me", one.id, "ab"[n % 2]) for n, one in enumerate(chosen)]
    )
    output = said("rank", "--all", log, votes, "--judge", log)
    assert tells(output, "15 of 120 comparisons ... 39 a verdict of baseline/longest")
    assert tells(output, "78 verdicts ... without votes")


def test_models_of_a_prior_without_a_vote_are_named(tmp_path: Path) -> None:
    pairs = list(combinations("wxyz", 2))
    samples = [
        judged(ballot(f"{number}?", *pair), float(number)) for number in range(2) for pair in pairs
    ]
    log = write_log(tmp_path / "log.eval", *samples)
    votes = [Battle(*pair, float(n % 2), f"i{n}") for n, pair in enumerate(pairs[3:] * 2)]
    said: list[str] = []
    prior, weighed = weighed_ranking(battles_of(votes), str(log), [], said.append)
    assert set(prior.players) == set(weighed.players) == set("xyz")
    assert said == ["prior: w: no vote, so not ranked"]


def test_ratings_at_equal_length_with_coefficients_that_are_kept(
    said: Said, facts: Callable[..., Any], log: Path, human: Path, tmp_path: Path
) -> None:
    exact = "count as exact"
    output = said("rank", "--all", log, "--control", "length")
    assert "At equal length" in output and not tells(output, exact)
    saved = tmp_path / "length.json"
    found = facts("rank", log, "--control", "length")
    saved.write_text(json.dumps(found), encoding="utf-8")
    # A judge that counts characters alone sees no difference at equal length.
    first, plain = found["controlled"], facts("rank", log)["bradley_terry"]
    spreads = [
        max(ratings.values()) - min(ratings.values()) for ratings in (first["bradley_terry"], plain)
    ]
    assert spreads[0] < 0.3 * spreads[1]

    assert tells(said("rank", "--all", log, "--control", saved), exact)
    # All that is asked for is in one report.
    found = facts("rank", log, human, "--control", saved, "--judge", log, "--prior", log)
    assert (found["corrected"]["votes"], found["corrected"]["verdicts"]) == (30, 117)
    assert (found["prior"]["judges"], found["prior"]["verdicts"]) == (["baseline/longest"], 117)
    kept = found["controlled"]
    assert kept["coefficients_given"]
    assert kept["coefficients"][0]["value"] == first["coefficients"][0]["value"]
    assert kept["coefficients"][0]["interval"] is None


def test_a_judge_among_the_models_is_named(
    said: Said, ballots: list[Ballot], human: Path, tmp_path: Path
) -> None:
    samples = [judged(one, 1.0) for one in ballots]
    for sample in samples:
        for score in (sample.scores or {}).values():
            score.metadata = {**(score.metadata or {}), "judges": ["lab/mid"]}
    judge = write_log(tmp_path / "judge.eval", *samples)
    output = said("rank", "--all", judge, human, "--judge", judge)
    assert tells(output, "lab/mid ... judge and contestant")


def test_a_regression_on_length_claims_no_order_and_says_what_it_is(
    run: Run, tmp_path: Path
) -> None:
    rows, draws = [], np.random.default_rng(2)
    for number in range(600):
        sizes = {"wordy": draws.integers(200, 400), "terse": draws.integers(100, 300)}
        gap = -0.5 + 4 * (sizes["wordy"] - sizes["terse"]) / (sizes["wordy"] + sizes["terse"])
        winner = "wordy" if draws.random() < 1 / (1 + np.exp(-gap)) else "terse"
        texts = {
            f"response_{side}": "x" * int(sizes[name])
            for side, name in (("a", "wordy"), ("b", "terse"))
        }
        rows.append(
            {
                "model_a": "wordy",
                "model_b": "terse",
                "winner": winner,
                "question_id": number,
                **texts,
            }
        )
    result = run(
        "rank", "--all", write_rows(tmp_path / "votes.jsonl", *rows), "--control", "length"
    )
    printed = " ".join(result.output.split())
    assert "THE ORDER CHANGES" not in printed and "NO LONGER SIGNIFICANT" not in printed
    assert tells(printed, "equal length ... regression") and tells(printed, "taste")
    assert row(result.output, "1 (1–1)", "wordy")
    assert row(result.output, "1 (1–1)", "terse")


def test_a_list_of_votes_needs_both_responses(run: Run, refused: Said, tmp_path: Path) -> None:
    vote = {"model_a": "a", "model_b": "b", "winner": "a"}
    texts = {"response_1": "long answer", "response_2": "short"}
    whole = write_rows(
        tmp_path / "whole.jsonl", {**vote, **texts}, {**vote, "data": texts, "winner": "b"}
    )
    assert run("rank", whole, "--control", "length").exit_code == 0
    error = refused(
        "rank",
        write_rows(tmp_path / "bare.jsonl", {**vote, **texts}, vote, vote),
        "--control",
        "length",
    )
    assert "control: 2 of 3 votes in" in error and tells(error, "without both responses")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--judge {log}", "judge: ... beside the log"),
        (
            "--control length,size",
            "control: ... 'size'; allowed: length, lists, headings, bold, code",
        ),
        ("--control ,", "control: ... allowed: length, lists"),
        ("--control bold", "control: ... 117 ... bold"),
        ("--control none.json", "coefficients 'none.json'"),
        (
            "{few} --judge {log}",
            "at least 10 comparisons ... got 5: 5 have votes, 117",
        ),
        ("{human} --judge {other}", "no verdict ... 120 comparisons"),
        (
            "{human} --judge {other}",
            "compares: lab/mid, lab/new; ... lab/long, lab/mid, ",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(
    refused: Said,
    log: Path,
    human: Path,
    ballots: list[Ballot],
    tmp_path: Path,
    arguments: str,
    message: str,
) -> None:
    unknown = Ballot.between("other", "Other?", {"lab/mid": "x", "lab/new": "y"})
    other = write_log(tmp_path / "other.eval", judged(unknown, 1.0))
    few = cast(tmp_path / "few.jsonl", *[("me", one.id, "a") for one in ballots[3:8]])
    words = arguments.format(log=log, human=human, other=other, few=few).split()
    assert tells(refused("rank", log, *words), message)


def test_features_of_style_are_named_once_in_their_order() -> None:
    assert style("lists, length ,lists") == (("lists", "length"), None)
    for given, words in (("", "names no feature"), (" , ", "names no feature"), ("x", "'x'")):
        with pytest.raises(InputError, match=f"control: .*{words}.*allowed: length, lists"):
            style(given)


def test_a_judge_is_compared_with_people_in_each_scenario(
    facts: Callable[..., Any], run: Run, tmp_path: Path
) -> None:
    ballots = ballots_by_scenario()
    log = write_log(
        tmp_path / "log.eval",
        *[judged(one, 1.0 if one.scenario == "coding" else 0.0) for one in ballots],
    )
    votes = cast(tmp_path / "me.jsonl", *[("me", one.id, "a") for one in ballots])
    arguments = (log, votes, "--judge", log, "--by", "scenario")
    judge = facts("rank", *arguments)["by"]["judge"]
    assert judge["coding"]["spearman"] == pytest.approx(1)
    assert judge["writing"]["spearman"] == pytest.approx(-1)
    assert judge["writing"]["judge"] == {"z": 1, "y": 2, "x": 3}
    assert judge["writing"]["people"] == {"x": 1, "y": 2, "z": 3}
    everything = run("rank", "--all", *arguments).output
    [ranks] = [cells for cells in cells_of(everything) if cells[-1] == "1 / 3"]
    assert (ranks[0], ranks[2]) == ("x", "1 / 1")


def test_a_judge_corrects_only_votes_of_people() -> None:
    with pytest.raises(InputError, match=r"^judge: "):
        ByJudge("a.eval", has_votes=False)


def test_a_judge_s_run_over_the_same_answers_corrects_people_s_votes(
    ballot_log: BallotLog, tmp_path: Path
) -> None:
    log, _ = ballot_log
    judge = path_of(
        compete(mad(responses=str(log), k=6, judge="baseline/longest"), tmp_path / "second", None)
    )
    more = path_of(compete(mad(responses=str(log), k=6, judge="human"), tmp_path / "first", None))
    votes = vote(tmp_path / "votes", load_ballots(more), "ann", leave=4)
    result = command("rank", more, votes, "--judge", judge, "--json")
    assert result.exit_code == 0, result.output
    corrected = json.loads(result.stdout)["corrected"]
    assert (corrected["votes"], corrected["verdicts"], corrected["both"]) == (14, 18, 14)
    assert corrected["agreement"] == 1  # the stronger answer is the longer one here
    assert corrected["judges"] == ["baseline/longest"]
