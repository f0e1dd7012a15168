"""Replies at the limits of what is read: lengths, ends of scales, spellings, repeated parts."""

import json

import pytest

from urs_inspect.judging import JudgeFailure, read_verdicts
from urs_inspect.judging._ask import CircuitBreaker
from urs_inspect.judging._entries import entries
from urs_inspect.judging._failures import ScoreRecord
from urs_inspect.judging._keys import MAX_READ, Read, read_keyed
from urs_inspect.judging._replies import read_similarity
from urs_inspect.judging._score_reply import explain, read_number, read_reply
from urs_inspect.judging._verdicts import OVERALL, Verdicts, read_verdict, read_word
from urs_inspect.rubrics import load_rubric

RUBRIC = load_rubric()
SORRY = "I'm sorry, I cannot judge this. "


def test_a_name_at_the_end_of_many_words_is_an_entry() -> None:
    before = " ".join(f"w{place}" for place in range(20))
    found = [entry for entry in entries(f"{before} final score: 7") if entry.name == "finalscore"]
    assert [entry.value for entry in found] == ["7"]


@pytest.mark.parametrize(
    ("length", "mode"), [(599, "refusal"), (600, "refusal"), (601, "unparseable")]
)
def test_a_refusal_has_at_most_600_characters(length: int, mode: str) -> None:
    found = read_reply(SORRY + "x" * (length - len(SORRY)), RUBRIC, ["clarity"])
    assert isinstance(found, JudgeFailure)
    assert found.mode == mode


@pytest.mark.parametrize("length", [MAX_READ, MAX_READ + 1])
def test_a_reply_is_read_up_to_its_longest(length: int) -> None:
    def read(text: str) -> str | JudgeFailure:
        return "read"

    found = read_keyed("x" * length, "", read)
    if length <= MAX_READ:
        assert found == Read("read", unkeyed=True)
    else:
        assert isinstance(found.result, JudgeFailure)


@pytest.mark.parametrize(
    ("written", "score"),
    [
        ("10", 10),
        (10, 10),
        (10.0, 10),
        ("10/10", 10),
        ("1", 1),
        (1, 1),
        ("0", "out_of_range"),
        (0, "out_of_range"),
        ("11", "out_of_range"),
        (11, "out_of_range"),
        ("8/5", "out_of_range"),
        ("8/100", "out_of_range"),
        ("8.00", 8),
        ("8.5", "not_an_integer"),
        (8.5, "not_an_integer"),
        ("N/A", None),
        ("None", None),
        ("NULL", None),
        ("-", None),
        ("", None),
        (None, None),
        (True, "not_a_number"),
        ("high", "not_a_number"),
        ("8 (good)", 8),
        ("8 (out of 10)", 8),
        ("8 (or 9)", "not_a_number"),
    ],
)
def test_a_score_at_the_ends_of_the_scale(written: object, score: int | str | None) -> None:
    found = read_number("clarity", written)
    assert (found.mode if isinstance(found, JudgeFailure) else found) == score


@pytest.mark.parametrize(
    ("entry", "clarity"),
    [
        ({"criterion": "Clarity", "score": 6}, 6),
        ({"criterion": "Clarity", "score": 6, "name": "Clarity"}, None),
        ({"criterion": "Clarity", "score": 6, "rating": 7}, None),
        ({"criterion": "Humour", "score": 6}, None),
    ],
)
def test_an_entry_of_a_list_has_one_name_and_one_score(
    entry: dict[str, object], clarity: int | None
) -> None:
    text = json.dumps({"scores": [entry], "Final Score": 8})
    found = read_reply(text, RUBRIC, ["clarity"])
    assert found == ScoreRecord(8, {"clarity": clarity})


@pytest.mark.parametrize(("inner", "result"), [(8, ScoreRecord(8, {"clarity": 7})), (9, None)])
def test_a_record_inside_another_must_have_its_final_score(
    inner: int, result: ScoreRecord | None
) -> None:
    record = json.dumps({"Clarity": 7, "Factuality": 6, "Final Score": inner})
    text = f'{{"Final Score": 8, "Clarity": 7, "quoted": {record}}}'
    found = read_reply(text, RUBRIC, ["clarity"])
    if result is None:
        assert isinstance(found, JudgeFailure)
        assert found.mode == "conflicting_scores"
    else:
        assert found == result


def test_a_heading_that_comes_twice_begins_its_part_once() -> None:
    text = (
        "Opening.\n\n### Clarity\nPlain.\n\n### Factuality\nTrue.\n\n### Clarity\nStill plain.\n\n"
        '### Final Score\nGood.\n\n```json\n{"Clarity": 7, "Factuality": 6, "Final Score": 8}\n```'
    )
    record = ScoreRecord(8, {"factuality": 6, "clarity": 7})
    assert explain(text, record, RUBRIC, "en").split("\n\n") == [
        "**Final Score: 8**",
        "Opening.",
        "### Factuality: 6",
        "True.",
        "### Clarity\nStill plain.",
        "### Clarity: 7",
        "Plain.",
        "### Final Score",
        "Good.",
    ]


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("1", "1"),
        ("Response 2 (it is more complete)", "2"),
        ("Response 1 " + "(" + "x" * 47 + ")", "1"),  # 60 characters
        ("Response 1 " + "(" + "x" * 48 + ")", None),
        ("Response 1 (but 2 is shorter)", None),
        ("相当", "tie"),
        ("Tie.", "tie"),
        ("both", "tie"),
        ("3", None),
        (2, "2"),
        (12, None),
        (True, None),
        (1.0, None),
    ],
)
def test_a_word_names_a_response_or_nothing(word: object, shown: str | None) -> None:
    assert read_word(word) == shown


@pytest.mark.parametrize("name", ["Overall Winner", "overall_verdict", "Final", "Overall"])
def test_the_verdict_as_a_whole_has_several_names(name: str) -> None:
    text = json.dumps({"Clarity": {"winner": "1"}, name: {"winner": "2"}})
    assert read_verdicts(text, ("Clarity", OVERALL)) == Verdicts({"Clarity": "1", OVERALL: "2"})
    # Where it was not asked for, it is a name like any other.
    found = read_verdicts(text, ("Clarity", "Depth"))
    assert found == Verdicts({"Clarity": "1", "Depth": None}, (name,))


def test_what_is_missing_and_what_is_final_of_some_verdicts() -> None:
    several = Verdicts({"Clarity": "1", "Depth": None, OVERALL: "2"})
    assert (several.missing, several.final) == (("Depth",), "2")
    assert Verdicts({"Clarity": "1"}).final == "1"
    assert Verdicts({"Clarity": "1", "Depth": "2"}).final is None
    assert several.falls_short_of(Verdicts({OVERALL: "1"}))
    assert not several.falls_short_of(Verdicts({OVERALL: "2"}))
    assert not several.falls_short_of(Verdicts({OVERALL: None}))
    assert not Verdicts({OVERALL: "2"}).falls_short_of(Verdicts({OVERALL: "1"}))


def test_quotations_of_what_was_judged_are_no_verdicts_in_a_broken_reply() -> None:
    text = '{"Clarity": {"winner": "1"}, "note": "⟦"Overall": {"winner": "1"}⟧", "Overall": {"winner": "2"'
    found = read_verdicts(text, ("Clarity", OVERALL))
    assert isinstance(found, Verdicts)
    assert found.verdicts[OVERALL] == "2"
    alone = read_verdict('{"note": "⟦"winner": "1"⟧", "winner": "2"')
    assert alone == "2"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("1", 1.0),
        ("1.0", 1.0),
        (".5", 0.5),
        ("1.01", None),
        ("-0.1", None),
        ("2", None),
    ],
)
def test_a_similarity_is_from_0_to_1(text: str, value: float | None) -> None:
    for written in (text, f'"{text}"'):
        if written.startswith("."):
            continue  # no JSON
        found = read_similarity(f'{{"score": {written}}}')
        if value is None:
            assert isinstance(found, JudgeFailure)
            assert found.mode == "out_of_range"
        else:
            assert found == value


@pytest.mark.parametrize("give_up", [1, 3, 20])
def test_calls_stop_after_so_many_failures_in_a_row(give_up: int) -> None:
    breaker = CircuitBreaker(give_up) if give_up != 20 else CircuitBreaker()
    for _ in range(give_up - 1):
        breaker.note(failed=True, why="down")
    breaker.note(failed=False, why="")
    for number in range(give_up):
        assert not breaker.stopped
        breaker.note(failed=True, why=f"down {number}")
    assert f"{give_up} times" in breaker.stopped
    assert f"down {give_up - 1}" in breaker.stopped
    breaker.note(failed=True, why="later")
    assert "later" not in breaker.stopped
    never = CircuitBreaker(0)
    for _ in range(50):
        never.note(failed=True, why="down")
    assert not never.stopped
