"""Tests of `urs_inspect.logs._battles`."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import (
    EvalResults,
    EvalSample,
    EvalScore,
    HeadlineMetric,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.scorer import Score

from tests.ballot_files import write_ballots
from tests.reports.json_files import write_rows
from tests.reports.mad_logs import XY, XZ, YZ, cast, judged, sample, write_log
from tests.stats.fights import rows
from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.logs._battles import (
    VoteColumns,
    groups_of,
    holds_ballot_votes,
    read_battles,
    read_counted_votes,
    read_human_battles,
    read_vote_columns,
    read_vote_list,
    scored_copy,
)
from urs_inspect.logs._comparisons import read_comparisons
from urs_inspect.scorers import human_choice
from urs_inspect.stats import Battle

VOTE = {"model_a": "x", "model_b": "y", "winner": "model_b"}


def test_a_list_of_votes_in_every_layout(tmp_path: Path) -> None:
    rows = [VOTE, {**VOTE, "winner": "tie (bothbad)"}, {**VOTE, "winner": "x"}]
    for suffix in (".json", ".jsonl"):
        found = read_vote_list(write_rows(tmp_path / f"votes{suffix}", *rows))
        assert [(one.battle.first, one.battle.second) for one in found] == [("x", "y")] * 3
        assert [one.battle.outcome for one in found] == [0.0, 0.5, 1.0]
    path, why = tmp_path / "votes.csv", "instruction Why?"
    path.write_text(
        "model_a,model_b,winner,instruction\nx,y,tie,Why?\n y ,x,model_a, Why? \n", encoding="utf-8"
    )
    assert [one.battle for one in read_vote_list(path)] == [
        Battle("x", "y", 0.5, why),
        Battle("y", "x", 1.0, why),
    ]
    # The arena names models in the file name.
    arena = [{**DATA, "output": output} for output in ("y-2", "tie")]
    assert [
        one.battle for one in read_vote_list(write_rows(tmp_path / "x-1-vs-y-2.jsonl", *arena))
    ] == [
        Battle("x-1", "y-2", 0.0, why),
        Battle("x-1", "y-2", 0.5, why),
    ]


def test_votes_on_one_instruction_belong_together(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "votes.jsonl",
        {**VOTE, "instruction": "Why?"},
        {**VOTE, "data": {"instruction": "Why?"}},
        {**VOTE, "data": "Why?", "question_id": 81},
        {**VOTE, "question_id": "81"},
        VOTE,
        {**VOTE, "instruction": "", "question_id": None},
    )
    clusters = [one.battle.cluster for one in read_vote_list(path)]
    assert clusters[:4] == ["instruction Why?", "instruction Why?", "question 81", "question 81"]
    assert len(set(clusters)) == 4


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {**VOTE, "winner": "z"},
            "unknown winner 'z'; allowed: model_a, tie, tie (bothbad), model_b, x, y",
        ),
        ({**VOTE, "winner": None}, "unknown winner 'None'"),
        ({**VOTE, "model_b": "x"}, "'x' is compared with itself; two models are needed"),
        ({**VOTE, "model_b": " x "}, "'x' is compared with itself"),
        (
            {"model_a": "x", "winner": "tie"},
            "'model_b' is missing; a vote needs model_a, model_b and winner",
        ),
        ({"model_a": "x", "model_b": "y"}, "'winner' is missing"),
        (
            {**VOTE, "model_a": 3},
            "model_a must be the name of a model, up to 200 printable characters, is 3",
        ),
        (
            {**VOTE, "model_a": "  "},
            'model_a must be the name of a model, up to 200 printable characters, is "  "',
        ),
        ({**VOTE, "model_a": "\x1b[31mred"}, "model_a must be the name of a model"),
        ({**VOTE, "model_a": "x" * 201}, "model_a must be the name of a model"),
        ({"output": "x"}, "a vote with 'output' stands in a file named <model>-vs-<model>.jsonl"),
        ({"ballot": "1", "annotator": "me", "choice": "a"}, "a vote on a comparison; name the log"),
        ([], "not a JSON object"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, row: Any, message: str) -> None:
    path = write_rows(tmp_path / "votes.jsonl", VOTE, row)
    with pytest.raises(InputError) as caught:
        read_vote_list(path)
    assert str(caught.value).startswith(f"{path}: line 2: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("length", "refused"), [(1, False), (200, False), (201, True)])
def test_a_name_of_a_model_has_up_to_200_characters(
    length: int, refused: bool, tmp_path: Path
) -> None:
    path = write_rows(tmp_path / "votes.jsonl", {**VOTE, "model_a": "x" * length})
    if not refused:
        [vote] = read_vote_list(path)
        assert len(vote.battle.first) == length
        return
    with pytest.raises(InputError, match=r"line 1.*model_a"):
        read_vote_list(path)


def test_many_faults_are_one_line(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "votes.json", *[{**VOTE, "winner": "z"}] * 30)
    with pytest.raises(InputError, match=r"votes\.json: row 1: .*'z'.*29 more"):
        read_vote_list(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("votes.json", b"", "no votes; rows with model_a, model_b and winner are expected"),
        ("votes.json", b"[]", "no votes"),
        ("votes.jsonl", b"\n\n", "no votes"),
        ("votes.csv", b"model_a,model_b,winner\n", "no votes"),
        ("votes.json", b'[{"model_a": ', "not JSON: Expecting value"),
        ("votes.jsonl", b"{\n", "line 1: not JSON"),
        ("votes.jsonl", b"\xff\xfe{}", ".*is text in UTF-16"),
    ],
)
def test_a_file_without_votes_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{re.escape(str(path))}: {message}"):
        read_vote_list(path)


def test_a_winner_that_is_also_a_name_is_ambiguous(tmp_path: Path) -> None:
    votes = [("x", "y", "model_a"), ("x", "model_a", "x"), ("x", "model_a", "model_a")]
    rows = [dict(zip(VOTE, vote, strict=True)) for vote in votes]
    with pytest.raises(InputError, match=r"votes\.jsonl: line 3: .*'model_a' is ambiguous"):
        read_vote_list(write_rows(tmp_path / "votes.jsonl", *rows))
    assert [
        vote.battle.outcome
        for vote in read_vote_list(write_rows(tmp_path / "votes.jsonl", *rows[:2]))
    ] == [1, 1]


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_verdicts_of_a_log_are_battles(tmp_path: Path, suffix: str) -> None:
    log = write_log(tmp_path / f"log{suffix}", judged(XY, 1.0), judged(XZ, 0.5), judged(YZ, 0.0))
    # The number of an instruction is the rank of its text: How? before Why?
    assert sorted(rows(read_battles([log]))) == [
        ("x", "y", 1.0, 1),
        ("x", "z", 0.5, 1),
        ("y", "z", 0.0, 0),
    ]


def test_unread_verdicts_and_other_samples_are_no_battles_and_the_last_judgement_and_every_epoch_count(
    tmp_path: Path,
) -> None:
    other = sample("answer", {}, {"another": Score(value=1)})
    log = write_log(tmp_path / "log.eval", judged(XY, math.nan), other, judged(XZ, 1.0), judged(YZ))
    assert rows(read_battles([log])) == [("x", "z", 1.0, 0)]
    log = write_log(tmp_path / "log.eval", judged(XY, 1.0, 0.0), judged(XY, 0.5, epoch=2))
    assert rows(read_battles([log])) == [("x", "y", 0.0, 0), ("x", "y", 0.5, 0)]


def test_a_comparison_without_a_ballot_stands_alone(tmp_path: Path) -> None:
    facts = {"model_a": "x", "model_b": "y"}
    samples = [
        sample(name, {}, {"pair_choice": Score(value={"outcome": 1.0}, metadata=facts)})
        for name in "12"
    ]
    assert rows(read_battles([write_log(tmp_path / "log.eval", *samples)])) == [
        ("x", "y", 1.0, 0),
        ("x", "y", 1.0, 1),
    ]


def test_a_verdict_must_name_its_models(tmp_path: Path) -> None:
    nameless = sample(
        "7", {}, {"pair_choice": Score(value={"outcome": 1.0}, metadata={"model_a": "x"})}
    )
    with pytest.raises(InputError, match="sample 7: model_b"):
        read_battles([write_log(tmp_path / "log.eval", nameless)])


def test_logs_and_lists_add_up(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", judged(XY, 1.0))
    vote = {"model_a": "w", "model_b": "x", "winner": "tie", "instruction": "Why? "}
    assert rows(read_battles([log, write_rows(tmp_path / "v.jsonl", vote)])) == [
        ("x", "y", 1.0, 0),
        ("w", "x", 0.5, 0),
    ]


def test_a_directory_is_its_logs_or_its_lists(tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    for name in ("x-vs-z", "a-vs-x"):
        write_rows(lists / f"{name}.jsonl", {"output": "x", "instruction": name})
    (lists / "notes.txt").write_text("no votes", encoding="utf-8")
    assert [row[:3] for row in rows(read_battles([lists]))] == [("a", "x", 0.0), ("x", "z", 1.0)]
    # The harness finds logs by their names.
    write_log(lists / "2026-01-01T00-00-00+00-00_mad_abc.eval", judged(YZ, 1.0))
    assert [row[:3] for row in rows(read_battles([lists]))] == [("y", "z", 1.0)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "file or directory"),
        ("empty", "no log ... votes"),
        ("notes.txt", "'.txt' files; allowed: .eval, .json, .jsonl, .csv"),
        ("broken.eval", "read the log"),
        ("unfinished.eval", "no comparison ... verdict"),
    ],
)
def test_what_is_no_source_is_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    for file in ("notes.txt", "broken.eval"):
        (tmp_path / file).write_text("nothing", encoding="utf-8")
    write_log(tmp_path / "unfinished.eval", judged(XY, 1.0), status="error")
    with pytest.raises(InputError) as caught:
        read_battles([tmp_path / name])
    assert tells(str(caught.value), message) and str(tmp_path / name) in str(caught.value)


@pytest.fixture(params=["log.eval", "ballots.jsonl"])
def ballots(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    if path.suffix == ".jsonl":
        write_ballots([XY, XZ, YZ], path)
        return path
    return write_log(path, judged(XY, 0.0), judged(XZ), judged(YZ))


def test_majorities_are_battles_and_verdicts_are_not(ballots: Path, tmp_path: Path) -> None:
    votes = tmp_path / "votes"
    cast(votes / "me.jsonl", ("me", XY.id, "a"), ("me", XZ.id, "b"), ("me", YZ.id, "cannot_tell"))
    cast(votes / "you.jsonl", ("you", XY.id, "a"), ("you", XZ.id, "tie"), ("you", "unknown", "a"))
    cast(votes / "they.jsonl", ("they", XY.id, "b"))
    found = read_human_battles([ballots], [votes])
    # x:y two to one; x:z is shared between b and tie, so a tie; nobody could tell y:z.
    assert rows(found.battles) == [("x", "y", 1.0, 0), ("x", "z", 0.5, 0)]
    assert (len(found.asked), found.undecided, found.unknown, found.faults) == (3, 1, 1, ())
    assert (found.agreement.votes, found.agreement.ballots, found.agreement.shared) == (6, 3, 1)
    assert len(found.agreement.annotators) == 3


def test_comparisons_that_nobody_voted_on_are_not_undecided(ballots: Path, tmp_path: Path) -> None:
    votes = tmp_path / "votes"
    cast(votes / "me.jsonl", ("me", XY.id, "a"), ("me", XZ.id, "cannot_tell"))
    found = read_human_battles([ballots], [votes])
    assert (len(found.asked), len(found.battles), found.undecided) == (3, 1, 1)


def test_the_last_vote_of_a_person_counts_and_may_be_taken_back(
    ballots: Path, tmp_path: Path
) -> None:
    votes = cast(
        tmp_path / "v" / "me.jsonl", ("me", XY.id, "a"), ("me", XY.id, "b"), ("me", XZ.id, "a")
    )
    assert rows(read_human_battles([ballots], [votes]).battles) == [
        ("x", "y", 0.0, 0),
        ("x", "z", 1.0, 0),
    ]
    cast(votes, ("me", XY.id, "a"), ("me", XZ.id, "a"), ("me", XZ.id, "undo"))
    assert rows(read_human_battles([ballots], [votes]).battles) == [("x", "y", 1.0, 0)]


def test_a_torn_line_costs_only_itself(ballots: Path, tmp_path: Path) -> None:
    votes = cast(tmp_path / "v" / "me.jsonl", ("me", XY.id, "a"))
    votes.write_text(votes.read_text(encoding="utf-8") + '{"ballot": "', encoding="utf-8")
    found = read_human_battles([ballots], [votes])
    [fault] = found.faults
    assert len(found.battles) == 1 and fault.startswith(f"{votes}: line 2: not JSON")


def test_without_a_vote_that_decides_there_is_no_ranking(ballots: Path, tmp_path: Path) -> None:
    votes = cast(tmp_path / "v" / "me.jsonl", ("me", XY.id, "cannot_tell"), ("me", "unknown", "a"))
    numbers = "1 votes are about them, 1 about others, 0 lines are no votes"
    with pytest.raises(InputError, match=f"3 comparisons.*{numbers}"):
        read_human_battles([ballots], [votes])


def test_votes_must_be_there(ballots: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file '.*nobody.jsonl'"):
        read_human_battles([ballots], [tmp_path / "nobody.jsonl"])
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match=r"no file.*\(.jsonl\) in"):
        read_human_battles([ballots], [tmp_path / "none"])


DATA = {"instruction": "Why?", "response_1": "So.", "response_2": "No."}
SIGNED = {
    "model_a": "x",
    "model_b": "y",
    "winner": "model_a",
    "judge": "me",
    "tstamp": 1.0,
    "data": DATA,
}
PLAIN = {"model_a": "x", "model_b": "y", "winner": "tie"}


def count(*paths: Path) -> tuple[int, list[str]]:
    """Number of battles, and what was said."""
    said: list[str] = []
    return len(read_battles(paths, said.append)), said


def test_what_is_named_or_copied_twice_counts_once(tmp_path: Path) -> None:
    votes, copy = (write_rows(tmp_path / name / "votes.jsonl", PLAIN) for name in ("in", "copy"))
    assert count(votes, tmp_path / "in" / ".." / "in" / "votes.jsonl", tmp_path / "in", copy) == (
        1,
        [Telling("copy/votes.jsonl ... copy of in/votes.jsonl")],
    )
    log = write_log(tmp_path / "log.eval", judged(XY, 1.0), judged(XZ, 0.5))
    (tmp_path / "copy.eval").write_bytes(log.read_bytes())
    assert count(log, log)[0] == count(log, tmp_path / "copy.eval")[0] == 2


def test_a_log_of_the_same_run_counts_again_only_if_it_was_judged_otherwise(tmp_path: Path) -> None:
    first = run_log(tmp_path / "a.eval", "run", judged(XY, 1.0), judged(XZ, 0.5))
    same = run_log(tmp_path / "b.json", "run", judged(XY, 1.0), judged(XZ, 0.5))
    anew = run_log(tmp_path / "c.eval", "run", judged(XY, 1.0), judged(XZ, 0.0))
    other = run_log(tmp_path / "d.eval", "another run", judged(XY, 1.0), judged(XZ, 0.5))
    assert count(first, same) == (2, [Telling("b.json ... copy of a.eval")])
    assert count(first, anew) == (4, [])
    assert count(first, other) == (4, [])


def run_log(path: Path, run: str, *samples: EvalSample) -> Path:
    log = read_eval_log(str(write_log(path, *samples)))
    log.eval.eval_id = run
    write_eval_log(log, str(path))
    return path


def test_a_vote_that_two_lists_hold_counts_once_whatever_its_time_and_sides(tmp_path: Path) -> None:
    sides = {"instruction": "Why?", "response_1": "No.", "response_2": "So.", "score": 0.5}
    turned = {
        "model_a": "y",
        "model_b": "x",
        "winner": "model_b",
        "judge": "me",
        "tstamp": 2.0,
        "data": sides,
    }
    assert count(
        write_rows(tmp_path / "1.jsonl", SIGNED), write_rows(tmp_path / "2.jsonl", turned)
    ) == (
        1,
        [Telling("1 vote ... earlier")],
    )
    # A vote of the arena is the one that the annotations took from it.
    arena = write_rows(tmp_path / "x-vs-y.jsonl", {**DATA, "output": "x"})
    taken = {**SIGNED, "judge": "arena_user", "turn": 1, "source": "x-vs-y.jsonl"}
    assert count(arena, write_rows(tmp_path / "votes.jsonl", taken))[0] == 1


@pytest.mark.parametrize(
    "change",
    [
        {"winner": "model_b"},
        {"winner": "tie"},
        {"judge": "you"},
        {"judge": ""},
        {"turn": 2},
        {"source": "elsewhere"},
        {"model_b": "z"},
        {"data": {**DATA, "instruction": "How?"}},
        {"data": {**DATA, "response_1": "Because."}},
    ],
)
def test_votes_that_differ_both_count(change: dict[str, object], tmp_path: Path) -> None:
    one, other = (
        write_rows(tmp_path / f"{n}.jsonl", vote)
        for n, vote in enumerate((SIGNED, {**SIGNED, **change}))
    )
    assert count(one, other) == (2, [])


@pytest.mark.parametrize(
    ("known", "counted"),
    [
        ({}, 2),
        ({"judge": "me"}, 2),  # about what is not known
        ({"annotator": "me", "response_2": "So."}, 2),
        ({"instruction": "Why?"}, 2),  # by whom is not known
        ({"judge": "me", "instruction": "Why?"}, 1),
        ({"source": "a list", "question_id": 7}, 1),
        ({"id": "v1"}, 1),
    ],
)
def test_equal_votes_are_one_where_voter_and_subject_are_known(
    known: dict[str, object], counted: int, tmp_path: Path
) -> None:
    files = [write_rows(tmp_path / f"{n}.jsonl", {**VOTE, **known, "tstamp": n}) for n in range(2)]
    assert count(*files)[0] == counted


def test_equal_votes_of_one_file_all_count_and_as_many_of_another_are_repeated(
    tmp_path: Path,
) -> None:
    two, three = (write_rows(tmp_path / f"{size}.jsonl", *[SIGNED] * size) for size in (2, 3))
    assert (count(two)[0], count(two, three)[0], count(three, two)[0]) == (2, 3, 3)
    # Votes that do not say whose they are all count.
    two, three = (write_rows(tmp_path / f"{size}.jsonl", *[PLAIN] * size) for size in (2, 3))
    assert count(two, three) == (5, [])


def test_a_log_that_waits_for_votes_points_to_them(tmp_path: Path) -> None:
    facts = {"model_a": "x", "model_b": "y", "outcome": "awaiting_votes"}
    waiting = Score(value={"outcome": math.nan}, metadata=facts)
    log = write_log(
        tmp_path / "log.eval", sample("1", {"ballot": XY.to_dict()}, {"pair_choice": waiting})
    )
    with pytest.raises(InputError, match=r"1 comparison waits.*beside the log"):
        read_battles([log])


def test_a_votes_file_named_twice_replaces_nothing(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", judged(XY))
    votes = cast(tmp_path / "votes" / "me.jsonl", ("me", XY.id, "a"), ("me", XY.id, "b"))
    assert read_human_battles([log], [votes, votes]).replaced == 1


def test_votes_that_a_later_file_holds_more_often_count_beyond_those_of_all_earlier_ones(
    tmp_path: Path,
) -> None:
    sizes = (3, 1, 2)
    files = [write_rows(tmp_path / f"{size}.jsonl", *[SIGNED] * size) for size in sizes]
    assert count(*files) == (3, [Telling("3 votes ... earlier")])
    more = [write_rows(tmp_path / f"m{size}.jsonl", *[SIGNED] * size) for size in (1, 2, 4)]
    assert count(*more)[0] == 4


def test_a_question_without_a_number_or_name_is_a_cluster_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "votes.json"
    row = '{"model_a": "x", "model_b": "y", "winner": "tie", "question_id": %s}'
    rows = ", ".join(row % name for name in ("NaN", "NaN", "null", '""', "0", '"0"'))
    path.write_text(f"[{rows}]", encoding="utf-8")
    clusters = [one.battle.cluster for one in read_vote_list(path)]
    assert len(set(clusters)) == 5 and clusters[4] == clusters[5] == "question 0"


def test_two_faults_are_one_line_that_counts_the_other(tmp_path: Path) -> None:
    wrong = {**VOTE, "winner": "z"}
    with pytest.raises(InputError) as caught:
        read_vote_list(write_rows(tmp_path / "votes.jsonl", VOTE, wrong, wrong))
    assert tells(str(caught.value), "line 2: ... 'z' ... 1 more")
    with pytest.raises(InputError) as caught:
        read_vote_list(write_rows(tmp_path / "votes.jsonl", VOTE, wrong))
    assert "more" not in str(caught.value)


MAPPINGS: list[tuple[str, VoteColumns | str]] = [
    ("{}", VoteColumns({}, {})),
    ("columns: {winner: verdict}", VoteColumns({"winner": "verdict"}, {})),
    (
        "winners: {1: model_a, 2: model_b, 0: tie, bad: none, worse: null}",
        VoteColumns(
            {}, {"1": "model_a", "2": "model_b", "0": "tie", "bad": "none", "worse": "none"}
        ),
    ),
    ("columns: null\nwinners: null", VoteColumns({}, {})),
    ("columns: {judge: x}", "columns: ... 'judge'; allowed: model_a, model_b, winner"),
    ("winners: {x: left}", "winners: ... 'left'; allowed: model_a, model_b, tie, none"),
    ("columns: [winner]", "columns: must be a mapping"),
    ("winners: x", "winners: must be a mapping"),
    ("[]", "... columns and winners"),
    ("votes: {}", "... columns and winners"),
]


@pytest.mark.parametrize(("text", "expected"), MAPPINGS)
def test_what_columns_and_winners_mean_is_read_or_refused(
    text: str, expected: VoteColumns | str, tmp_path: Path
) -> None:
    path = tmp_path / "names.yaml"
    path.write_text(text, encoding="utf-8")
    if isinstance(expected, VoteColumns):
        assert read_vote_columns(path) == expected
        return
    with pytest.raises(InputError) as caught:
        read_vote_columns(path)
    assert tells(str(caught.value), f"{path}: {expected}")


def test_winners_without_a_meaning_stay_and_those_of_no_meaning_do_not_count(
    tmp_path: Path,
) -> None:
    columns = {"model_a": "one", "model_b": "other", "winner": "verdict"}
    names = VoteColumns(columns, {"1": "model_a", "2": "model_b", "?": "none"})
    given = ("1", 2, "tie", "?", "?", "model_b")
    same = {"one": "x", "other": "y", "judge": "me", "winner": "model_b"}
    rows = [{**same, "verdict": one} for one in given]  # the column that is named counts
    said: list[str] = []
    path = write_rows(tmp_path / "votes.jsonl", *rows)
    found = read_vote_list(path, names, said.append)
    assert [one.battle.outcome for one in found] == [1, 0, 0.5, 0]
    assert said == [Telling(f"{path}: ... 2 votes ... none")]
    with pytest.raises(InputError, match=r"line 1: .*'one'.*model_a"):
        read_vote_list(write_rows(tmp_path / "other.jsonl", VOTE), names)


def test_a_file_whose_votes_all_have_no_meaning_has_none(tmp_path: Path) -> None:
    names = VoteColumns({}, {"bad": "none"})
    path = write_rows(tmp_path / "votes.jsonl", *[{**VOTE, "winner": "bad"}] * 3)
    said: list[str] = []
    with pytest.raises(InputError) as caught:
        read_vote_list(path, names, said.append)
    assert tells(str(caught.value), f"{path}: no votes")
    assert said == [Telling("3 votes")]


def test_votes_of_the_arena_are_of_its_users_unless_a_row_names_its_voter(tmp_path: Path) -> None:
    row = {"output": "y", "instruction": "Why?"}
    path = write_rows(tmp_path / "x-vs-y.jsonl", row, {**row, "judge": "ann", "source": "a study"})
    known = [dict(vote.facts[0]) for vote in read_vote_list(path)]
    assert known[0]["source"] == path.name
    assert known[0]["judge"] not in {"", None, "ann"}
    assert (known[1]["judge"], known[1]["source"]) == ("ann", "a study")


def test_comparisons_taken_over_from_an_earlier_run_count_where_its_log_is_missing(
    tmp_path: Path,
) -> None:
    def log(name: str, outcome: float, *, copied: bool) -> Path:
        taken = judged(XY, outcome)
        assert taken.scores
        facts = taken.scores["pair_choice"].metadata or {}
        taken.scores["pair_choice"].metadata = {**facts, "previous": copied}
        return run_log(tmp_path / f"{name}.eval", name, taken)

    first, again, third = (
        log("first", 1.0, copied=False),
        log("again", 1.0, copied=True),
        log("third", 1.0, copied=True),
    )
    assert [len(read_counted_votes(paths)) for paths in ([first, again], [again, first])] == [1, 1]
    assert len(read_counted_votes([again, third])) == 1
    assert read_counted_votes([again])[0].copied
    assert len(read_counted_votes([first, again, third])) == 1


def test_without_a_ballot_nothing_was_taken_over(tmp_path: Path) -> None:
    facts = {"model_a": "x", "model_b": "y", "previous": True}
    samples = [
        sample(name, {}, {"pair_choice": Score(value={"outcome": 1.0}, metadata=facts)})
        for name in "12"
    ]
    votes = read_counted_votes([write_log(tmp_path / "log.eval", *samples)])
    assert [vote.copied for vote in votes] == [False, False]


def test_people_s_choices_in_a_log_count_and_a_judge_s_verdicts_beside_them_do_not(
    tmp_path: Path,
) -> None:
    both = judged(XY, 1.0)
    assert both.scores
    facts = {"model_a": "x", "model_b": "y", "judges": ["human"], "outcome": "judged"}
    both.scores["human_choice"] = Score(value={"outcome": 0.0}, metadata=facts)
    log = write_log(tmp_path / "log.eval", both, judged(XZ, 1.0))
    said: list[str] = []
    assert rows(read_battles([log], said.append)) == [("x", "y", 0.0, 0)]
    assert said == [Telling(f"{log}: people")]
    of_people_alone = {one.ballot.id: one.outcome for one in read_comparisons(str(log))}
    assert of_people_alone[XY.id] == 0.0 and math.isnan(of_people_alone[XZ.id])
    of_judge = {one.ballot.id: one.outcome for one in read_comparisons(str(log), people=False)}
    assert of_judge == {XY.id: 1.0, XZ.id: 1.0}
    of_people = judged(XY)
    of_people.scores = {"human_choice": both.scores["human_choice"]}
    said.clear()
    read_battles([write_log(tmp_path / "log.eval", of_people)], said.append)
    assert said == []


def test_a_damaged_log_among_others_is_said_and_costs_only_itself(tmp_path: Path) -> None:
    write_log(tmp_path / "good.eval", judged(XY, 1.0))
    bad = write_log(tmp_path / "bad.eval", judged(XZ, 1.0), eval_id="other")
    content = bytearray(bad.read_bytes())
    place = content.index(b"samples/")
    content[place + 40 : place + 80] = bytes(40)
    bad.write_bytes(content)
    assert count(tmp_path) == (1, [Telling("bad.eval was left out: cannot read")])


def test_two_comparisons_that_wait_are_counted(tmp_path: Path) -> None:
    facts = {"model_a": "x", "model_b": "y", "outcome": "awaiting_votes"}
    waiting = [
        sample(
            name,
            {"ballot": one.to_dict()},
            {"pair_choice": Score(value={"outcome": math.nan}, metadata=facts)},
        )
        for name, one in (("1", XY), ("2", XZ))
    ]
    log = write_log(tmp_path / "log.eval", *waiting, judged(YZ, math.nan))
    with pytest.raises(InputError) as caught:
        read_battles([log])
    assert tells(str(caught.value), f"no comparison with a verdict in: {log}; 2 comparisons wait")


# --- votes of people about ballots ---


def test_logs_of_ballots_that_do_not_count_are_said(ballots: Path, tmp_path: Path) -> None:
    votes = cast(tmp_path / "v" / "me.jsonl", ("me", XY.id, "a"))
    copy = tmp_path / f"copy{ballots.suffix}"
    copy.write_bytes(ballots.read_bytes())
    said: list[str] = []
    found = read_human_battles([ballots, copy], [votes], said.append)
    assert len(found.outcomes) == 1
    [sentence] = said
    assert copy.name in sentence and ballots.name in sentence


def test_a_battle_has_the_facts_and_responses_of_its_ballot(ballots: Path, tmp_path: Path) -> None:
    votes = cast(tmp_path / "v" / "me.jsonl", ("me", XY.id, "a"))
    found = read_human_battles([ballots], [votes])
    [facts] = found.facts()
    assert facts[0]["id"] == XY.id
    assert found.responses() == [(XY.response_a, XY.response_b)]


@pytest.mark.parametrize(
    ("files", "holds"),
    [
        ({}, False),
        ({"a.jsonl": ""}, True),
        ({"a.jsonl": "\n\n"}, True),
        ({"a.jsonl": '{"ballot": "x", "annotator": "me"}\n'}, True),
        ({"a.jsonl": '{"ballot": "x", "choice": "a"}\n'}, False),
        ({"a.jsonl": "[1]\n"}, False),
        ({"a.jsonl": "", "b.jsonl": '{"model_a": "x"}\n'}, False),
        ({"a.jsonl": '{"model_a": "x"}', "b.jsonl": '{"ballot": 1, "annotator": 2}'}, True),
        ({"a.txt": '{"ballot": "x", "annotator": "me"}\n'}, False),
        ({"a.jsonl": '{"ballot": "x", "annotator": "me"}', "log.eval": ""}, False),
    ],
)
def test_a_folder_of_votes_about_ballots_is_told_by_its_first_lines(
    files: dict[str, str], holds: bool, tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert holds_ballot_votes(tmp_path) == holds


@pytest.mark.parametrize(
    ("name", "content", "holds"),
    [
        ("me.jsonl", "", True),
        ("me.JSONL", '\ufeff{"ballot": "x", "annotator": "me"}', True),
        ("me.jsonl", '\n{"ballot": "x", "annotator": "me"}\n{"bal', True),
        ("me.jsonl", '{"bal', False),
        ("me.jsonl", '{"model_a": "x"}', False),
        ("me.json", '{"ballot": "x", "annotator": "me"}', False),
    ],
)
def test_a_file_of_votes_about_ballots_is_told_by_its_first_line(
    name: str, content: str, holds: bool, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert holds_ballot_votes(tmp_path / name) == holds
    assert not holds_ballot_votes(tmp_path / "missing.jsonl")


def test_a_copy_with_other_scores_keeps_its_models_and_shows_the_new_score_first(
    tmp_path: Path,
) -> None:
    votes = cast(tmp_path / "v" / "me.jsonl", ("me", XY.id, "b"))
    log = read_eval_log(
        str(write_log(tmp_path / "log.eval", judged(XY, 1.0), model="mockllm/tested"))
    )
    judge = EvalScore(name="pair_choice", scorer="pair_choice")
    headline = HeadlineMetric(scorer="pair_choice", metric="comparisons")
    log.results = EvalResults(scores=[judge], headline=headline)
    copy = scored_copy(log, human_choice([str(votes)]), "human_choice")
    assert copy.eval.model == "mockllm/tested" == log.eval.model
    assert copy.results is not None and copy.results.headline is None
    names = [found.name for found in copy.results.scores]
    assert names[0] == "human_choice" and names[-1] == "pair_choice"
    [one] = copy.samples or []
    assert one.scores is not None and {"pair_choice", "human_choice"} <= one.scores.keys()


# --- by what comparisons are divided ---


def grouped(key: str, *facts: dict[str, Any]) -> tuple[tuple[str, ...], list[str]]:
    said: list[str] = []
    return groups_of([(one, {"deep": "below"}) for one in facts], key, said.append), said


def test_groups_are_values_of_a_key_as_texts() -> None:
    given = ["x", " y ", 3, 2.5, True, None, "", ["list"]]
    found, said = grouped("k", *({"k": value} for value in given))
    assert found == ("x", "y", "3", "2.5", "True", "", "", "")
    assert said == [Telling("3 comparisons without 'k'")]
    assert grouped("k", {"k": "x"}, {"k": "y"}) == (("x", "y"), [])
    assert groups_of([({"k": ""}, {"k": "below"}), ({"k": "above"}, {"k": "below"})], "k") == (
        "below",
        "above",
    )


def test_a_key_with_one_value_names_those_that_divide() -> None:
    rows_of = [{"k": "x", "l": number % 3, "id": number, "m": number} for number in range(31)]
    assert grouped("k", *rows_of) == (("x",) * 31, [Telling("k; ... differ in l")])
    assert grouped("k", {"k": "x"}, {"k": "x"}) == (("x", "x"), [])


@pytest.mark.parametrize(("number", "fits"), [(30, True), (31, False)])
def test_at_most_thirty_groups_divide(number: int, fits: bool) -> None:
    rows_of = [{"k": str(place), "other": "x"} for place in range(number)]
    if fits:
        assert len(set(grouped("k", *rows_of)[0])) == 30
        named = grouped("other", *rows_of)[1]
        assert named == [Telling("differ in k")]
    else:
        with pytest.raises(InputError, match=r"'k' has 31 values; at most 30"):
            grouped("k", *rows_of)
        assert grouped("other", *rows_of)[1] == []


def test_an_unknown_key_is_refused_with_those_that_divide() -> None:
    with pytest.raises(InputError, match=r"'z'; allowed: k$"):
        grouped("z", {"k": 1, "same": 1, "id": 1}, {"k": 2, "same": 1, "id": 2})
    with pytest.raises(InputError, match=r"'z'; allowed: none, "):
        grouped("z", {"k": 1, "id": 1}, {"k": 1, "id": 2}, {"k": "", "id": 3})


# --- comparisons of a competition ---


def test_the_last_judgement_of_a_comparison_counts_unless_it_was_not_parsed(
    tmp_path: Path,
) -> None:
    write_log(
        tmp_path / "a.eval",
        judged(XY, 1.0),
        judged(XZ, math.nan),
        sample("answer", {}, {}),
        judged(YZ, 0.0, 0.5),
        created="2026-01-01T00:00:00+00:00",
        eval_id="a",
    )
    write_log(
        tmp_path / "b.eval",
        judged(XY, math.nan),
        judged(XZ, 0.5),
        created="2026-01-02T00:00:00+00:00",
        eval_id="b",
    )
    found = {one.ballot.id: one.outcome for one in read_comparisons(str(tmp_path))}
    assert found == {XY.id: 1.0, XZ.id: 0.5, YZ.id: 0.5}


def test_logs_beside_the_comparisons_that_do_not_count_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_log(tmp_path / "good.eval", judged(XY, 1.0), eval_id="a")
    write_log(tmp_path / "half.eval", judged(XZ, 1.0), eval_id="b", status="error")
    assert len(read_comparisons(str(tmp_path), "earlier")) == 1
    [record] = [one for one in caplog.records if one.name.startswith("urs_inspect")]
    assert tells(record.message, "earlier: half.eval ... 'error'")
