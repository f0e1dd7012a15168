"""`urs-inspect rank`."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, row
from tests.reports.mad_logs import ballot, cast, judged, write_log


def write(path: Path, *votes: str) -> Path:
    """Write votes such as `a>b`."""
    lines = []
    for vote in votes:
        [sign] = [character for character in vote if character in "<=>"]
        first, second = vote.split(sign)
        winner = {">": "model_a", "<": "model_b", "=": "tie"}[sign]
        lines.append(json.dumps({"model_a": first, "model_b": second, "winner": winner}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


VOTES = [*["a>b"] * 30, *["a<b"] * 5, *["b>c"] * 16, *["b<c"] * 15, *["c<a"] * 9, "c=a", "c=a"]


def test_a_list_of_votes_is_ranked(run: Run, tmp_path: Path) -> None:
    result = run("rank", write(tmp_path / "votes.jsonl", *VOTES))
    assert result.exit_code == 0, result.output
    output = result.output
    assert "77 comparisons of 3 models on 77 instructions, 2 ties." in output
    assert row(output, "1 (1–1)")[1] == "a"
    assert row(output, "a", "b")[2] == "significantly different"
    assert row(output, "b", "c")[2] == "cannot be distinguished"
    assert row(output, "a", "–")[1:] == ["–", "86 (35)", "91 (11)"]  # 30 / 35, (9 + 2 / 2) / 11
    assert "NOT ALL MODELS COMPARE" not in output
    assert "No interval" not in output


def test_json_is_all_that_is_printed(run: Run, tmp_path: Path) -> None:
    votes = write(tmp_path / "votes.jsonl", *VOTES)
    found = json.loads(run("rank", votes, "--json", "--rounds", "50", "--seed", "7").output)
    assert found["models"] == ["a", "b", "c"]
    assert found["ranks"] == {"a": 1, "b": 2, "c": 3}
    assert set(found["elo"]) == set(found["bradley_terry"]) == set(found["intervals"]["elo"]) == {"a", "b", "c"}
    assert (found["parameters"]["rounds"], found["parameters"]["seed"]) == (50, 7)
    again = run("rank", votes, "--json", "--rounds", "50", "--seed", "7").output
    assert json.loads(again) == found


def test_models_that_do_not_compare_are_named(run: Run, tmp_path: Path) -> None:
    output = " ".join(run("rank", write(tmp_path / "votes.jsonl", "a=b", "c=d")).output.split())
    assert "NOT ALL MODELS COMPARE: No chain of comparisons links (a, b) and (c, d)" in output


def test_a_leaderboard_is_compared(run: Run, tmp_path: Path) -> None:
    votes = write(tmp_path / "votes.jsonl", *VOTES)
    board = tmp_path / "board.csv"
    board.write_text("model,rank\nb,1\na,2\nc,3\nz,4\n", encoding="utf-8")
    output = " ".join(run("rank", votes, "--leaderboard", board).output.split())
    assert "Agreement with the leaderboard over 3 models: Spearman 0.50 (" in output
    assert "Kendall 0.33 (" in output
    assert "Only in the leaderboard: z" in output
    assert json.loads(run("rank", votes, "--leaderboard", board, "--json").output)["leaderboard"]["models"] == [
        "a",
        "b",
        "c",
    ]


def test_a_log_is_ranked_by_its_judge_or_by_people(run: Run, tmp_path: Path) -> None:
    ballots = [ballot(f"Question {n}?", "x", "y") for n in range(8)]
    log = write_log(tmp_path / "log.eval", *[judged(one, 0.0) for one in ballots])
    assert json.loads(run("rank", log, "--json").output)["models"] == ["y", "x"]
    votes = tmp_path / "votes"
    for name in ("me", "you"):
        cast(votes / f"{name}.jsonl", *[(name, one.id, "a") for one in ballots])
    for arguments in (["--votes", votes], ["--votes", votes / "me.jsonl", votes / "you.jsonl"]):
        result = run("rank", log, *arguments, "--json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.output)
        assert (found["models"], found["battles"]) == (["x", "y"], 8)
    output = " ".join(run("rank", log, "--votes", votes).output.split())
    assert "16 votes of 2 people on 8 of 8 ballots; on a ballot with several votes the" in output
    assert "On 8 ballots with several votes 100% of the votes are for the most chosen option" in output


def test_lost_votes_are_said(run: Run, tmp_path: Path) -> None:
    known = ballot("Why?", "x", "y")
    log = write_log(tmp_path / "log.eval", judged(known))
    votes = cast(tmp_path / "v" / "me.jsonl", ("me", known.id, "a"), ("me", "gone", "a"))
    votes.write_text(votes.read_text(encoding="utf-8") + "torn", encoding="utf-8")
    output = " ".join(run("rank", log, "--votes", votes).output.split())
    assert "1 vote is about another ballot and does not count." in output
    assert "line 3: not JSON" in output


def test_names_are_shown_to_the_letter(run: Run, tmp_path: Path) -> None:
    output = run("rank", write(tmp_path / "votes.jsonl", "[bold]x[/bold]=[link]y")).output
    assert "[bold]x[/bold]" in output
    assert "[link]y" in output


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("votes.jsonl", '{"model_a": "a", "model_b": "b", "winner": "c"}', "line 1: unknown winner 'c'"),
        ("votes.jsonl", '{"model_a": "a", "model_b": "a", "winner": "tie"}', "line 1: 'a' is compared with itself"),
        ("votes.jsonl", "", "no votes"),
        ("votes.json", "[{]", "not JSON"),
        ("votes.jsonl", '{"ballot": "1", "annotator": "me", "choice": "a"}', "name the log or file with the ballots"),
    ],
)
def test_bad_input_is_one_line(run: Run, tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    result = run("rank", path)
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {path}: ")
    assert message in result.output
    assert result.output.count("\n") == 1


def test_votes_replaced_later_are_said(run: Run, tmp_path: Path) -> None:
    known = ballot("Why?", "x", "y")
    log = write_log(tmp_path / "log.eval", judged(known))
    votes = cast(tmp_path / "me.jsonl", ("me", known.id, "a"), ("me", known.id, "b"))
    output = " ".join(run("rank", log, "--votes", votes).output.split())
    assert "1 vote of 1 person on 1 of 1 ballot; on a ballot" in output
    assert "1 vote was replaced later." in output
    assert "1 comparison of 2 models on 1 instruction, 0 ties." in output


def test_ties_alone_have_no_interval(run: Run, tmp_path: Path) -> None:
    votes = write(tmp_path / "votes.jsonl", *["a=b"] * 20)
    output = run("rank", votes).output
    assert "No interval" in output
    assert row(output, "1 (1–2)", "a")[2:4] == ["1000", "1000"]
    assert row(output, "a", "b")[2:] == ["cannot be distinguished", "0"]
    found = json.loads(run("rank", votes, "--json").output)
    assert found["intervals"]["bradley_terry"] == found["intervals"]["elo"] == {"a": None, "b": None}


def test_characters_that_reorder_what_is_shown_are_spelt_out(run: Run, tmp_path: Path) -> None:
    board = tmp_path / "board.csv"
    board.write_text("model,rank\na,1\nb,2\nc\u202ed,3\n", encoding="utf-8")
    shown = run("rank", write(tmp_path / "votes.jsonl", *VOTES), "--leaderboard", board).output
    assert "c\\u202ed" in shown
    refused = run("rank", write(tmp_path / "other.jsonl", "a>b\u2066")).output
    for output in (shown, refused):
        assert not set(output) & set("\u202e\u2066")
    assert "b\\u2066" in refused
