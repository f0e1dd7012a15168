"""`urs-inspect rank`: by votes or verdicts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, Said, cells_of, row
from tests.reports.json_files import write_rows
from tests.reports.mad_logs import ballot, cast, judged, write_log
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.cli._rank import _check_use, _divided
from urs_inspect.discrepancy._ballots import Ballot

VOTES = [*["a>b"] * 30, *["a<b"] * 5, *["b>c"] * 16, *["b<c"] * 15, *["c<a"] * 9, "c=a", "c=a"]


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


def ballots_by_scenario() -> list[Ballot]:
    """Twelve instructions of each scenario, each with all pairs of three models."""
    ballots = []
    for scenario in ("coding", "writing"):
        for number in range(12):
            for pair in (("x", "y"), ("y", "z"), ("x", "z")):
                asked = f"{scenario} {number}?"
                texts = {model: f"{model} {asked}" for model in pair}
                ballots.append(Ballot.between(asked, asked, texts, scenario=scenario))
    return ballots


def test_a_leaderboard_is_compared_in_each_scenario(
    facts: Callable[..., Any], run: Run, tmp_path: Path
) -> None:
    ballots = ballots_by_scenario()
    log = write_log(tmp_path / "log.eval", *map(judged, ballots))
    votes = cast(tmp_path / "me.jsonl", *[("me", one.id, "a") for one in ballots])
    board = tmp_path / "board.csv"
    board.write_text("model,rank\nx,3\ny,2\nz,1\n", encoding="utf-8")
    arguments = (log, votes, "--by", "scenario", "--leaderboard", board)
    found = facts("rank", *arguments)["by"]
    assert found["leaderboard"]["coding"]["spearman"] == pytest.approx(-1)
    everything = run("rank", "--all", *arguments).output
    [beside] = [cells for cells in cells_of(everything) if cells[0] == "x" and len(cells) == 5]
    assert beside[1] == "3"  # in the leaderboard
    board.write_text("model,rating\nx,1\ny,5\nz,5\n", encoding="utf-8")
    equal = cells_of(run("rank", "--all", *arguments).output)
    places = {cells[0]: cells[1] for cells in equal if cells[0] in "xyz" and len(cells) == 5}
    assert places == {"x": "3", "y": "1", "z": "1"}


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
    given = (sources, ballot_votes, places["output"], places["columns"])
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
