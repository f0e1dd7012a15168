"""`urs-inspect rank`: by votes or verdicts, corrected by a judge (`--judge`), at equal style
(`--control`).
"""

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Run, Said, cells_of, row
from tests.reports.json_files import write_rows
from tests.reports.mad_logs import ballot, cast, judged, write_log
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.cli._rank import _check_use, _divided, _style, _weighed
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.stats import Battle, battles_of

VOTES = [*["a>b"] * 30, *["a<b"] * 5, *["b>c"] * 16, *["b<c"] * 15, *["c<a"] * 9, "c=a", "c=a"]
MODELS = ("lab/long", "lab/mid", "lab/short")
VOTED = 30


def write(path: Path, *votes: str) -> Path:
    """Write votes such as `a>b`."""
    winners = {">": "model_a", "<": "model_b", "=": "tie"}
    rows = []
    for vote in votes:
        [sign] = [character for character in vote if character in winners]
        first, second = vote.split(sign)
        rows.append({"model_a": first, "model_b": second, "winner": winners[sign]})
    return write_rows(path, *rows)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    return write(tmp_path / "votes.jsonl", *VOTES)


def test_a_list_of_votes_is_ranked(run: Run, votes: Path) -> None:
    result = run("rank", "--all", votes)
    assert result.exit_code == 0, result.output
    output = result.output
    assert tells(output, "77 comparisons of 3 models ... 77 instructions, 2 ties")
    assert row(output, "1 (1–1)")[1] == "a"
    assert row(output, "a", "b")[2] == "significantly different"
    assert row(output, "b", "c")[2] == "cannot be distinguished"
    assert row(output, "a", "–")[1:] == ["–", "86 (35)", "91 (11)"]  # 30 / 35, (9 + 2 / 2) / 11
    assert "NOT ALL MODELS COMPARE" not in output
    assert "No interval" not in output


def test_published_judgements_are_ranked_by_a_mapping_of_columns_and_winners(
    run: Run, facts: Callable[..., Any], tmp_path: Path
) -> None:
    outcomes = [*["model_1"] * 8, *["model_2"] * 3, *["inconsistent"] * 4, *["error"] * 2]
    rows = [
        {"question_id": place, "model_1": "가", "model_2": "나", "g1_winner": winner}
        for place, winner in enumerate(outcomes)
    ]
    votes = write_rows(tmp_path / "judgements.jsonl", *rows)
    names = tmp_path / "names.yaml"
    names.write_text(
        "columns: {model_a: model_1, model_b: model_2, winner: g1_winner}\n"
        "winners: {model_1: model_a, model_2: model_b, inconsistent: tie, error: none}\n"
    )
    result = run("rank", "--all", votes, "--columns", names)
    assert result.exit_code == 0, result.output
    assert tells(result.output, "15 comparisons of 2 models ... 15 instructions, 4 ties")
    assert "left out 2 votes" in result.output
    assert facts("rank", votes, "--columns", names)["ranks"] == {"가": 1, "나": 2}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("columns: {winner: verdict}", "the column 'verdict' is missing"),
        ("columns: {judge: judge}", "key 'judge'; allowed: model_a, model_b, winner"),
        (
            "winners: {inconsistent: draw}",
            "meaning 'draw'; allowed: model_a, model_b, tie, none",
        ),
        ("votes: {}", "columns and winners"),
        ("winners: [", "cannot read"),
        ("{}", "unknown winner 'inconsistent'; allowed: "),
        ("{}", "`urs-inspect rank --columns FILE.yaml`"),
    ],
)
def test_a_mapping_that_does_not_fit_is_named(
    text: str, error: str, run: Run, tmp_path: Path
) -> None:
    votes = write_rows(
        tmp_path / "v.jsonl", {"model_a": "x", "model_b": "y", "winner": "inconsistent"}
    )
    names = tmp_path / "names.yaml"
    names.write_text(text)
    result = run("rank", votes, "--columns", names)
    assert result.exit_code == 1
    assert tells(result.output, error)


def test_json_is_all_that_is_printed(facts: Callable[..., Any], votes: Path) -> None:
    found = facts("rank", votes)
    assert found["models"] == ["a", "b", "c"]
    assert found["ranks"] == {"a": 1, "b": 2, "c": 3}
    assert (
        set(found["elo"])
        == set(found["bradley_terry"])
        == set(found["intervals"]["elo"])
        == {"a", "b", "c"}
    )
    assert (found["parameters"]["rounds"], found["parameters"]["seed"]) == (1000, 0)
    assert facts("rank", votes) == found


def test_models_that_do_not_compare_are_named(said: Said, tmp_path: Path) -> None:
    output = said("rank", write(tmp_path / "votes.jsonl", "a=b", "c=d"))
    assert tells(output, "NOT ALL MODELS COMPARE: ... (a, b) and (c, d)")


def test_a_leaderboard_is_compared(
    said: Said, facts: Callable[..., Any], votes: Path, tmp_path: Path
) -> None:
    board = tmp_path / "board.csv"
    board.write_text("model,rank\nb,1\na,2\nc,3\nz,4\n", encoding="utf-8")
    output = said("rank", "--all", votes, "--leaderboard", board)
    assert tells(output, "leaderboard ... 3 models: Spearman 0.50 (")
    assert "Kendall 0.33 (" in output
    assert tells(output, "leaderboard: z")
    assert facts("rank", votes, "--leaderboard", board)["leaderboard"]["models"] == ["a", "b", "c"]


def test_a_log_is_ranked_by_its_judge_or_by_people(
    said: Said, facts: Callable[..., Any], tmp_path: Path
) -> None:
    ballots = [ballot(f"Question {n}?", "x", "y") for n in range(8)]
    log = write_log(tmp_path / "log.eval", *[judged(one, 0.0) for one in ballots])
    assert facts("rank", log)["models"] == ["y", "x"]
    votes = tmp_path / "votes"
    for name in ("me", "you"):
        cast(votes / f"{name}.jsonl", *[(name, one.id, "a") for one in ballots])
    for arguments in ([votes], [votes / "me.jsonl", votes / "you.jsonl"]):
        found = facts("rank", log, *arguments)
        assert (found["models"], found["battles"]) == (["x", "y"], 8)
    output = said("rank", "--all", log, votes)
    assert tells(output, "16 votes of 2 people ... 8 of 8 comparisons")
    assert tells(output, "8 comparisons ... 100% of")


def test_lost_and_replaced_votes_are_said(said: Said, tmp_path: Path) -> None:
    known = ballot("Why?", "x", "y")
    log = write_log(tmp_path / "log.eval", judged(known))
    lost = cast(tmp_path / "lost.jsonl", ("me", known.id, "a"), ("me", "gone", "a"))
    with lost.open("a", encoding="utf-8") as file:
        file.write("torn")
    output = said("rank", "--all", log, lost)
    assert tells(output, "1 vote ... another comparison")
    assert "line 3: not JSON" in output
    output = said(
        "rank",
        log,
        cast(tmp_path / "me.jsonl", ("me", known.id, "a"), ("me", known.id, "b")),
    )
    assert tells(output, "1 vote of 1 person ... 1 of 1 comparison")
    assert tells(output, "1 vote was replaced")
    assert tells(output, "1 comparison on 1 instruction, 0 ties")


def test_ties_alone_have_no_interval(run: Run, facts: Callable[..., Any], tmp_path: Path) -> None:
    votes = write(tmp_path / "votes.jsonl", *["a=b"] * 20)
    output = run("rank", "--all", votes).output
    assert "No interval" in output
    assert row(output, "1 (1–2)", "a")[2:4] == ["1000", "1000"]
    assert row(output, "a", "b")[2:] == ["cannot be distinguished", "0"]
    found = facts("rank", votes)
    assert (
        found["intervals"]["bradley_terry"] == found["intervals"]["elo"] == {"a": None, "b": None}
    )


def test_names_are_shown_to_the_letter_and_characters_that_reorder_are_spelt_out(
    run: Run, votes: Path, tmp_path: Path
) -> None:
    shown = run("rank", "--all", write(tmp_path / "marked.jsonl", "[bold]x[/bold]=[link]y")).output
    assert "[bold]x[/bold]" in shown and "[link]y" in shown
    board = tmp_path / "board.csv"
    board.write_text("model,rank\na,1\nb,2\nc\u202ed,3\n", encoding="utf-8")
    shown = run("rank", "--all", votes, "--leaderboard", board).output
    refused = run("rank", "--all", write(tmp_path / "other.jsonl", "a>b\u2066")).output
    assert "c\\u202ed" in shown and "b\\u2066" in refused
    assert not set(shown + refused) & set("\u202e\u2066")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "votes.jsonl",
            '{"model_a": "a", "model_b": "b", "winner": "c"}',
            "line 1: unknown winner 'c'",
        ),
        (
            "votes.jsonl",
            '{"model_a": "a", "model_b": "a", "winner": "tie"}',
            "line 1: 'a' ... itself",
        ),
        ("votes.jsonl", "", "no votes"),
        ("votes.json", "[{]", "not JSON"),
        (
            "votes.jsonl",
            '{"ballot": "1", "annotator": "me", "choice": "a"}',
            "log or file ... these",
        ),
    ],
)
def test_bad_input_is_one_line(
    refused: Said, tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    error = refused("rank", path)
    assert error.startswith(f"Error: {path}: ") and tells(error, message) and error.count("\n") == 1


# --- --judge and --control ---


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


def test_models_of_a_prior_without_a_vote_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = list(combinations("wxyz", 2))
    samples = [
        judged(ballot(f"{number}?", *pair), float(number)) for number in range(2) for pair in pairs
    ]
    log = write_log(tmp_path / "log.eval", *samples)
    votes = [Battle(*pair, float(n % 2), f"i{n}") for n, pair in enumerate(pairs[3:] * 2)]
    prior, weighed = _weighed(battles_of(votes), str(log), [])
    assert set(prior.players) == set(weighed.players) == set("xyz")
    assert tells(capsys.readouterr().err, "prior: w: no vote")


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


def scenario_rows(**groups: list[str]) -> list[dict[str, str]]:
    """Votes such as `a>b` by scenario."""
    rows = []
    for scenario, votes in groups.items():
        for vote in votes:
            rows.append(
                {
                    "model_a": vote[0],
                    "model_b": vote[2],
                    "winner": {">": "model_a", "<": "model_b", "=": "tie"}[vote[1]],
                    "scenario": scenario,
                }
            )
    return rows


CODING = [*["a>b"] * 9, *["b>c"] * 9, *["c<a"] * 9]
WRITING = [*["a<b"] * 9, "a>b"]


@pytest.fixture
def scenarios(tmp_path: Path) -> Path:
    rows = scenario_rows(coding=CODING, writing=WRITING)
    return write_rows(tmp_path / "scenarios.jsonl", *rows)


def test_each_scenario_has_a_ranking_of_its_own(
    facts: Callable[..., Any], said: Said, run: Run, scenarios: Path, tmp_path: Path
) -> None:
    found = facts("rank", scenarios, "--by", "scenario")["by"]
    groups = found["groups"]
    assert (found["key"], list(groups)) == ("scenario", ["coding", "writing"])
    assert groups["coding"]["ranks"] == {"a": 1, "b": 2, "c": 3}
    assert groups["writing"]["ranks"] == {"b": 1, "a": 2}
    alone = write_rows(tmp_path / "alone.jsonl", *scenario_rows(coding=CODING))
    assert groups["coding"] == facts("rank", alone)
    first = said("rank", scenarios, "--by", "scenario")
    assert tells(first, "coding: a ... writing: b")
    everything = run("rank", "--all", scenarios, "--by", "scenario").output
    rows = [cells for cells in cells_of(everything) if len(cells) == 4]
    coding = groups["coding"]["intervals"]["ranks"]["c"]
    [ranks] = [cells for cells in rows if cells[0] == "c" and cells[1].startswith("3 (")]
    assert ranks[2:] == [f"3 ({coding[0]}–{coding[1]})", "–"]


def test_a_comparison_without_a_scenario_counts_overall_only(
    facts: Callable[..., Any], run: Run, scenarios: Path, tmp_path: Path
) -> None:
    bare = write(tmp_path / "bare.jsonl", "a>b", "a>b")
    result = run("rank", scenarios, bare, "--by", "scenario")
    assert tells(result.output, "2 comparisons without 'scenario'")
    found = facts("rank", scenarios, bare, "--by", "scenario")
    assert (found["battles"], found["by"]["without"]) == (39, 2)
    assert found["by"]["groups"]["coding"]["battles"] == 27


@pytest.mark.parametrize(
    ("key", "error"),
    [("topic", "'topic' ... scenario"), ("number", "37 values; at most 30")],
)
def test_what_cannot_divide_comparisons_is_refused(
    key: str, error: str, run: Run, tmp_path: Path
) -> None:
    rows = scenario_rows(coding=CODING, writing=WRITING)
    numbered = [{**one, "number": place} for place, one in enumerate(rows)]
    result = run("rank", write_rows(tmp_path / "v.jsonl", *numbered), "--by", key)
    assert result.exit_code == 1
    assert tells(result.output, error)


def test_a_leaderboard_and_a_judge_are_compared_in_each_scenario(
    facts: Callable[..., Any], run: Run, tmp_path: Path
) -> None:
    ballots = []
    for scenario in ("coding", "writing"):
        for number in range(12):
            for pair in (("x", "y"), ("y", "z"), ("x", "z")):
                asked = f"{scenario} {number}?"
                texts = {model: f"{model} {asked}" for model in pair}
                ballots.append(Ballot.between(asked, asked, texts, scenario=scenario))
    log = write_log(
        tmp_path / "log.eval",
        *[judged(one, 1.0 if one.scenario == "coding" else 0.0) for one in ballots],
    )
    votes = tmp_path / "votes"
    votes.mkdir()
    cast(votes / "me.jsonl", *[("me", one.id, "a") for one in ballots])
    board = tmp_path / "board.csv"
    board.write_text("model,rank\nx,3\ny,2\nz,1\n", encoding="utf-8")
    arguments = (log, votes, "--judge", log, "--by", "scenario", "--leaderboard", board)
    found = facts("rank", *arguments)["by"]
    judge = found["judge"]
    assert judge["coding"]["spearman"] == pytest.approx(1)
    assert judge["writing"]["spearman"] == pytest.approx(-1)
    assert judge["writing"]["judge"] == {"z": 1, "y": 2, "x": 3}
    assert judge["writing"]["people"] == {"x": 1, "y": 2, "z": 3}
    assert found["leaderboard"]["coding"]["spearman"] == pytest.approx(-1)
    everything = run("rank", "--all", *arguments).output
    [ranks] = [cells for cells in cells_of(everything) if cells[-1] == "1 / 3"]
    assert (ranks[0], ranks[2]) == ("x", "1 / 1")
    [beside] = [cells for cells in cells_of(everything) if cells[0] == "x" and len(cells) == 5]
    assert beside[1] == "3"  # in the leaderboard
    board.write_text("model,rating\nx,1\ny,5\nz,5\n", encoding="utf-8")
    equal = cells_of(run("rank", "--all", *arguments).output)
    places = {cells[0]: cells[1] for cells in equal if cells[0] in "xyz" and len(cells) == 5}
    assert places == {"x": "3", "y": "1", "z": "1"}


def test_features_of_style_are_named_once_in_their_order() -> None:
    assert _style(None) == ((), None)
    assert _style("lists, length ,lists") == (("lists", "length"), None)
    for given, words in (("", "names no feature"), (" , ", "names no feature"), ("x", "'x'")):
        with pytest.raises(InputError, match=f"control: .*{words}.*allowed: length, lists"):
            _style(given)


@pytest.mark.parametrize(
    ("sources", "ballot_votes", "options", "words"),
    [
        (["a.eval"], ["v.jsonl"], {}, None),
        (["a.eval"], [], {}, None),
        (["a.eval"], ["v.jsonl"], {"output": "b.eval"}, None),
        (["a.EVAL"], ["v.jsonl"], {"output": "b.json"}, None),
        (["a.eval"], [], {"output": "b.eval"}, "output: "),
        (["a.eval", "c.eval"], ["v.jsonl"], {"output": "b.eval"}, "output: "),
        (["a.jsonl"], ["v.jsonl"], {"output": "b.eval"}, "output: "),
        (["a.eval"], ["v.jsonl"], {"output": "b.txt"}, "output: "),
        (["a.eval"], ["v.jsonl"], {"judge": "a.eval"}, None),
        (["a.eval"], [], {"judge": "a.eval"}, "judge: "),
        (["a.csv"], [], {"columns": "c.yaml"}, None),
        (["a.eval"], ["v.jsonl"], {"columns": "c.yaml"}, "columns: "),
    ],
)
def test_options_fit_what_is_ranked(
    sources: list[str],
    ballot_votes: list[str],
    options: dict[str, str],
    words: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {name: Path(options[name]) if name in options else None for name in _PLACES}
    given = (sources, ballot_votes, places["output"], options.get("judge"), places["columns"])
    if words is None:
        _check_use(*given)
    else:
        with pytest.raises(InputError, match=f"^{words}"):
            _check_use(*given)


_PLACES = ("output", "columns")


def test_votes_alone_are_no_ranking_and_an_empty_file_has_none(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    votes = tmp_path / "me.jsonl"
    votes.write_text('{"ballot": "x", "annotator": "me", "choice": "a"}\n', encoding="utf-8")
    list_of_votes = tmp_path / "list.jsonl"
    list_of_votes.write_text('{"model_a": "x"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"empty\.jsonl: no votes$"):
        _divided((str(empty),))
    with pytest.raises(InputError, match=r"me\.jsonl: votes on comparisons; name the log"):
        _divided((str(votes), str(empty)))
    with pytest.raises(InputError, match=r"no file or directory 'nowhere'"):
        _divided((str(votes), "nowhere"))
    assert _divided((str(votes), str(list_of_votes))) == ([str(list_of_votes)], [str(votes)])
