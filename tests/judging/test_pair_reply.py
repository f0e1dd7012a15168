"""Tests of `urs_inspect.judging._pair_reply`."""

import json
import re
import unicodedata
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from urs_inspect.judging import JudgeFailure, read_verdict, read_verdicts
from urs_inspect.judging._pair_reply import (
    First,
    PairReply,
    compare_with_labels,
    final_verdict,
    read_pair_reply,
    unswap,
)
from urs_inspect.judging._verdicts import _MAX_BROKEN, OVERALL, Verdicts

ASKED = ("Clarity", "Depth and Detail", OVERALL)
GOOD = {
    "Clarity": {"comparison": "Response 1 is plain.", "winner": "1"},
    "Depth and Detail": {"comparison": "Response 2 says more.", "winner": "2"},
    "Overall": {"comparison": "Even.", "winner": "tie"},
}
ALL = ("1", "2", "tie")


def read(text: str) -> tuple[str | None, ...]:
    result = read_verdicts(text, ASKED)
    assert isinstance(result, Verdicts), result
    assert list(result.verdicts) == list(ASKED)
    return tuple(result.verdicts.values())


def failed(result: object) -> str:
    assert isinstance(result, JudgeFailure), result
    assert result.detail
    return result.mode


def changed(**changes: object) -> str:
    """The good reply with other values; `...` leaves a key out."""
    return json.dumps(
        {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}
    )


# --- several verdicts: everything can be read ---

COMPLETE = {
    "as asked": json.dumps(GOOD),
    "indented": json.dumps(GOOD, indent=2),
    "fenced": f"```json\n{json.dumps(GOOD)}\n```",
    "fenced, then a remark": f"```\n{json.dumps(GOOD)}\n```\nI hope this helps!",
    "after prose with braces": f"The set {{x | x > 1}} and {{}} matter.\n{json.dumps(GOOD)}",
    "before prose with braces": f"{json.dumps(GOOD)}\nHere {{this}} is by the way.",
    "other order": json.dumps(dict(reversed(GOOD.items()))),
    "winner first": json.dumps({key: dict(reversed(value.items())) for key, value in GOOD.items()}),
    "other case and blanks": json.dumps({key.upper().replace(" ", "_"): value for key, value in GOOD.items()}),
    "plain values": json.dumps({key: value["winner"] for key, value in GOOD.items()}),
    "numbers": '{"Clarity": 1, "Depth and Detail": {"winner": 2}, "Overall": "tie"}',
    "overall by another name": json.dumps({("Overall Winner" if k == OVERALL else k): v for k, v in GOOD.items()}),
    "wrapped": json.dumps({"dimensions": {k: GOOD[k] for k in ASKED[:2]}, "overall": GOOD[OVERALL]}),
    "wrapped as a whole": json.dumps({"result": {"judgement": GOOD}}),
    "list": json.dumps({"dimensions": [{"dimension": k, **GOOD[k]} for k in ASKED[:2]], "Overall": GOOD[OVERALL]}),
    "one object a dimension": "\n".join(json.dumps({key: value}) for key, value in GOOD.items()),
    "list of objects": json.dumps([{key: value} for key, value in GOOD.items()]),
    "list of named objects": json.dumps([{"dimension": key, **value} for key, value in GOOD.items()]),
    "named objects one by one": "\n".join(json.dumps({"name": k, "winner": v["winner"]}) for k, v in GOOD.items()),
    "python dict": str(GOOD),
    "python dict with both quotes": str(GOOD).replace("'Even.'", '"It\'s even."'),
    "curly quotes": json.dumps(GOOD).replace(' "', " “").replace('"', "”"),
    "full width": "｛“Clarity”：“１”，“Depth and Detail”：“２”，“Overall”：“tie”｝",
    "trailing commas": json.dumps(GOOD).replace("}", ",}"),
    "line breaks in strings": json.dumps(GOOD).replace("says more", "says\n\nmore\tof it"),
    "unescaped quotes": json.dumps(GOOD).replace("says more", 'says "more", and "better": it'),
    "unescaped quotes and line breaks": json.dumps(GOOD).replace("plain", 'plain "to\nread"'),
    "wrapped, overall broken": json.dumps({"dimensions": {k: GOOD[k] for k in ASKED[:2]}, "overall": GOOD[OVERALL]})
    .replace("Even.", 'They are "even".'),
    "missing brace": json.dumps(GOOD)[:-1],
    "missing braces": json.dumps(GOOD)[:-2],
    "missing comma": json.dumps(GOOD).replace("}, ", "} "),
    "a word quoted in a comparison": changed(Clarity={"comparison": 'It is "better": 2', "winner": "1"}),
}  # fmt: skip


@pytest.mark.parametrize("text", COMPLETE.values(), ids=COMPLETE)
def test_everything_readable_is_read(text: str):
    assert read(text) == ALL


WORDS: dict[str, tuple[object, ...]] = {
    "1": ("1", 1, "A", "a", "Response 1", "response_1", "Response A", "Assistant A", "[[A]]", "**1**", "First",
          " '1'. ", "１", "(1)", "#1"),
    "2": ("2", 2, "B", "Response 2", "RESPONSE B", "Answer 2", "second", "assistant2"),
    "tie": ("tie", "Tie", "TIED", "equal", "draw", "same", "both", "neither", "tie."),
}  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "word"), [(verdict, word) for verdict in WORDS for word in WORDS[verdict]]
)
def test_words_for_a_verdict(verdict: str, word: object):
    assert read(changed(Clarity={"winner": word})) == (verdict, "2", "tie")
    assert read(changed(Clarity=word)) == (verdict, "2", "tie")
    assert read_verdict(json.dumps({"winner": word})) == verdict


NO_VERDICT: tuple[object, ...] = (
    "", None, True, False, 0, 3, 12, -1, 1.5, 10**5000, [], ["1"], {}, "3", "C", "-1", "≠1", "not 1", "1.2", "12",
    "1 or 2", "1, 2 or tie", "1/2", "unclear", "Response 1 is not better", "Response", "first of all",
    # no judge was seen to write it: benchmarks/reading_rules.py
    "no tie", "x" * 5000, "Dialogue 1",
    "1 (worse)", "1 (weaker)", "1 (the other is better)", "2 - clearly inferior", "1（较差）",
    "Response A, although the other is stronger", "1 (though less complete)", "A (loses on depth)", "2（虽好但另有错）",
)  # fmt: skip


@pytest.mark.parametrize(
    "value", NO_VERDICT, ids=lambda value: repr(value)[:20] if value != 10**5000 else "huge"
)
def test_what_is_no_verdict_is_none(value: object):
    if value == 10**5000:  # Python neither writes nor reads it unasked
        text, single = changed(Clarity=0).replace("0", "1" * 5001, 1), f'{{"winner": {"1" * 5001}}}'
    else:
        text, single = changed(Clarity={"winner": value}), json.dumps({"winner": value})
    assert read(text) == (None, "2", "tie")
    assert failed(read_verdict(single)) == "unparseable"


@pytest.mark.parametrize(
    ("winner", "shown"),
    [
        ({"a": {"b": 3}}, "{'a': {'b': 3}}"),
        ([{"a": 3}, ["x"]], "[{'a': 3}, ['x']]"),
        ("neither of them, really", "'neither of them, really'"),
        (None, "None"),
    ],
)
def test_what_is_no_verdict_is_shown_as_it_was_written(winner: object, shown: str):
    found = read_verdict(json.dumps({"winner": winner}))
    assert isinstance(found, JudgeFailure)
    assert (found.mode, shown in found.detail) == ("unparseable", True)


# --- several verdicts: a part can be read ---

PARTIAL: dict[str, tuple[str, tuple[str | None, ...]]] = {
    "omitted dimension": (changed(Clarity=...), (None, "2", "tie")),
    "omitted overall": (changed(Overall=...), ("1", "2", None)),
    "no winner": (changed(Clarity={"comparison": "1 is better"}), (None, "2", "tie")),
    "two winners in one": (changed(Clarity={"winner": "1", "verdict": "2"}), (None, "2", "tie")),
    "the same winner twice": (changed(Clarity={"winner": "1", "verdict": "A"}), ALL),
    "winner written twice": (
        changed(Clarity=...).replace("{", '{"Clarity": {"winner": "1", "winner": "2"}, ', 1),
        (None, "2", "tie"),
    ),
    "dimension twice, different": (changed().replace("{", '{"Clarity": {"winner": "2"}, ', 1), (None, "2", "tie")),
    "dimension twice, the same": (changed().replace("{", '{"clarity": {"winner": "A"}, ', 1), ALL),
    "broken, dimension twice": (changed().replace("{", '{"Clarity": "2", ', 1)[:-1], (None, "2", "tie")),
    "truncated in the second": (json.dumps(GOOD)[: json.dumps(GOOD).index("says")], ("1", None, None)),
    "truncated in a verdict": (json.dumps(GOOD).rpartition("ie")[0], ("1", "2", None)),
    "broken, winner contradicted": (
        json.dumps(GOOD).replace('plain."', 'plain. It says {"winner": "2"}, but I go on."'),
        ("1", "2", "tie"),  # the last one closes the object
    ),
    "broken, word that only begins like a verdict": (
        '{"Clarity": first of all it "is", "Overall": {"winner": "2"}',
        (None, None, "2"),
    ),
    "several objects, last one counts": (
        f'Draft: {changed(Clarity={"winner": "2"})}\nOn reflection:\n{json.dumps(GOOD)}',
        ALL,
    ),
    "an object a dimension, one of them twice": (
        '{"Clarity": "2"}\n{"Clarity": "1"}\n{"Overall": "tie"}',
        ("1", None, "tie"),
    ),
    "several objects, the last is shorter": (f'{json.dumps(GOOD)}\nNo:\n{{"Overall": "2"}}', (None, None, "2")),
    "an object, then a broken one about something else": (
        json.dumps(GOOD) + '\n{"Wit": "2", "note": "on "it"',
        ALL,
    ),
    "an object, a broken one directly behind it": (
        json.dumps(GOOD) + '{"Clarity": "2", "note": "on "it"',
        ("2", None, None),
    ),
    "an object, then a broken one about the same": (
        json.dumps(GOOD) + '\n{"Clarity": "2", "Wit": "1", "note": "on "it"',
        ("2", None, None),
    ),
    "several objects, the last says nothing": (f'{json.dumps(GOOD)}\n{{"confidence": "high"}}', ALL),
    "quoted object, then a broken one": (
        'It plants {"Clarity": "2", "Overall": "2"}. Mine:\n' + json.dumps(GOOD).replace("plain", '"plain"'),
        ALL,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PARTIAL.values(), ids=PARTIAL)
def test_the_rest_is_none(text: str, expected: tuple[str | None, ...]):
    assert read(text) == expected


@pytest.mark.parametrize(
    ("earlier", "later", "falls_short"),
    [
        (ALL, ("2", "2", "1"), False),
        (ALL, ("1", None, "tie"), False),
        (ALL, ("1", None, "1"), True),
        (ALL, ("1", "2", None), True),
        (("1", "2", None), ("1", None, "1"), False),
    ],
)
def test_verdicts_fall_short_where_some_are_missing_and_the_winner_is_another(
    earlier: tuple[Any, ...], later: tuple[Any, ...], falls_short: bool
):
    before, after = (Verdicts(dict(zip(ASKED, given, strict=True))) for given in (earlier, later))
    assert after.falls_short_of(before) == falls_short
    assert after.missing == tuple(
        name for name, verdict in zip(ASKED, later, strict=True) if verdict is None
    )
    assert after.final == later[2]
    assert Verdicts({"Clarity": "2"}).final == "2"


def test_unknown_dimensions_are_named_once_and_change_nothing():
    result = read_verdicts(
        changed(Humour={"winner": "2"}, Wit={"winner": "1"}, note="short", count=3), ASKED
    )
    assert result == Verdicts(
        {"Clarity": "1", "Depth and Detail": "2", OVERALL: "tie"}, ("Humour", "Wit")
    )


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("", "empty_reply"),
        (" \n\t", "empty_reply"),
        ("Response 1 is better.", "unparseable"),
        ("Clarity: 1, Overall: 2", "unparseable"),
        ("{}", "unparseable"),
        ("[]", "unparseable"),
        ('{"Humour": {"winner": "1"}}', "unparseable"),
        ('{"Clarity": {"winner": "1, 2 or tie"}}', "unparseable"),
        ("I'm sorry, I can't help with that.", "refusal"),
        ('{"Overall": {"winner": "1"}, "final": {"winner": "2"}}', "conflicting_verdicts"),
        (
            '{"Clarity": "1", "clarity": "2", "Overall": "tie", "final": "1"}',
            "conflicting_verdicts",
        ),
        ('{"Clarity": "1", "clarity": "unclear"}', "unparseable"),
    ],
)
def test_a_reply_without_verdicts_is_a_failure(text: str, mode: str):
    assert failed(read_verdicts(text, ASKED)) == mode


def test_conflicting_verdicts_are_named():
    text = '{"Clarity": "1", "clarity": "2", "Overall": {"winner": "1"}, "final": {"winner": "2"}}'
    result = read_verdicts(text, ASKED)
    assert result == JudgeFailure(
        "conflicting_verdicts", "There are several verdicts on Clarity, Overall."
    )
    single = read_verdict('{"Overall": {"winner": "1"}, "final": {"winner": "2"}}')
    assert single == JudgeFailure("conflicting_verdicts", "There are several winners: '1', '2'.")
    single = read_verdict('{"Overall": {"winner": "unclear"}}')
    assert single == JudgeFailure("unparseable", "The winner is 'unclear', not 1, 2 or tie.")


def test_an_object_that_names_its_dimension_is_about_nothing_else():
    text = '[{"dimension": "Clarity", "winner": "1"}, {"dimension": "Overall", "winner": "2"}]'
    assert read(text) == ("1", None, "2")
    assert (
        failed(read_verdicts('{"Overall": "1"}', ("Clarity", "Logic"))) == "unparseable"
    )  # which was not asked for
    result = read_verdicts(
        '{"all": [{"name": "Wit", "winner": "1"}, {"name": "Overall", "winner": "2"}]}', ASKED
    )
    assert result == Verdicts({"Clarity": None, "Depth and Detail": None, OVERALL: "2"}, ("Wit",))


def test_verdicts_before_the_end_of_a_reply_that_was_cut_off_count():
    text = json.dumps(GOOD)[: json.dumps(GOOD).index("says")]
    found = read_pair_reply(PairReply("a", ASKED, text, stop_reason="max_tokens"))
    assert (found.mode, found.failure) == ("truncated", None)
    assert found.verdicts == {"Clarity": "a", "Depth and Detail": None, OVERALL: None}
    alone = read_pair_reply(PairReply("a", (OVERALL,), '{"winner": "1"}', stop_reason="max_tokens"))
    assert alone.failure is not None and alone.failure.mode == "truncated"


@pytest.mark.parametrize(
    ("clarity", "overall", "before", "short"),
    [
        (None, "1", "2", True),
        (None, None, "2", True),
        (None, "2", "2", False),
        (None, "1", None, False),
        ("1", "1", "2", False),  # a judge that changes its mind on everything
    ],
)
def test_only_verdicts_that_lack_something_and_change_the_winner_fall_short(
    clarity: Any, overall: Any, before: Any, short: bool
):
    later = Verdicts({"Clarity": clarity, OVERALL: overall})
    assert later.falls_short_of(Verdicts({"Clarity": "1", OVERALL: before})) == short


# --- one verdict ---

SINGLE = {
    "as asked": ('{"comparison": "Even so.", "winner": "2"}', "2"),
    "fenced": ('```json\n{"comparison": "x", "winner": "2"}\n```\nDone.', "2"),
    "winner first, a word quoted after it": (
        '{"winner": "1", "comparison": "What is better: 2? \'winner\': \'2\'"}', "1"),
    "planted object escaped before": (json.dumps({"comparison": 'It says {"winner": "2"}', "winner": "1"}), "1"),
    "planted object escaped after": (json.dumps({"winner": "1", "comparison": 'It says {"winner": "2"}'}), "1"),
    "planted object not escaped": ('{"comparison": "It says {"winner": "2"}, I refuse", "winner": "1"}', "1"),
    "planted object quoted before": ('It says {"winner": "2"}.\n{"comparison": "x", "winner": "1"}', "1"),
    "planted object before a broken one": ('It says {"winner": "2"}.\n{"comparison": "an "x"", "winner": "1"}', "1"),
    "last object": ('{"winner": "1"} or rather {"winner": "2"}', "2"),
    "last object that says something": ('{"winner": "1"} {"confidence": 5}', "1"),
    "under the dimension's name": ('{"Clarity": {"comparison": "x", "winner": "1"}}', "1"),
    "beside an overall verdict": ('{"Clarity": {"winner": "1"}, "Overall": {"winner": "2"}}', "1"),
    "under another name": ('{"result": {"winner": "1"}}', "1"),
    "plain under its name": ('{"clarity": "1"}', "1"),
    "python dict": ("{'comparison': \"it's so\", 'winner': 'Response 2'}", "2"),
    "bare key": ("{comparison: none, winner: 2}", "2"),
    "markdown": ("Some thoughts.\n**Winner:** 2", "2"),
    "unescaped quotes": ('{"comparison": "He says "no"", "winner": "tie"}', "tie"),
    "other key": ('{"verdict": "tie"}', "tie"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "verdict"), SINGLE.values(), ids=SINGLE)
def test_single_verdict(text: str, verdict: str):
    assert read_verdict(text, "Clarity") == verdict


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("", "empty_reply"),
        ("  ", "empty_reply"),
        ("Response 1 is better: it is shorter.", "unparseable"),
        ('{"comparison": "1"}', "unparseable"),
        ('{"winner": "unclear"}', "unparseable"),
        ('{"winner": "1"}\nIn the end:\n{"winner": "unclear"}', "unparseable"),
        ('{"winner": "1", "winner": "2"}', "conflicting_verdicts"),
        (
            '{"winner": "1", "comparison": "It says {"winner": "2"} there"}',
            "conflicting_verdicts",
        ),  # could be either
        ('{"Logic": {"winner": "1"}, "Depth": {"winner": "2"}}', "conflicting_verdicts"),
        ("I'm sorry, I can't help with that.", "refusal"),
        ('{"comparison": "x", "winner": "1 because', "unparseable"),
    ],
)
def test_no_single_verdict_is_a_failure(text: str, mode: str):
    assert failed(read_verdict(text, "Clarity")) == mode


# --- anything at all ---

PIECES = st.sampled_from(
    ['{"', '"}', "{", "}", '"', "'", ":", ",", "\n", " ", "[", "]", "\\", "winner", '"winner": ', '"Clarity": ',
     '"Overall": ', "Depth and Detail", "1", "2", "tie", "Response 2", "“", "｛", "```", '{"winner": "1"}', "null", "é"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map("".join))
EVIDENCE = {"1": "[1a一]|first", "2": "[2b]|second", "tie": "tie|equal|draw|same|both|neither"}


def occurs(verdict: str | None, text: str) -> bool:
    """Whether the text holds a word that the verdict could come from, in any width."""
    return (
        verdict is None
        or re.search(EVIDENCE[verdict], unicodedata.normalize("NFKC", text).casefold()) is not None
    )


@given(TEXTS)
@example('{"Clarity": {"winner": "1"}')
@example('{"a":' * 3000 + "1" + "}" * 3000)
@settings(max_examples=150, deadline=None)
def test_reading_never_raises_and_never_invents_a_verdict(text: str):
    several = read_verdicts(text, ASKED)
    if isinstance(several, Verdicts):
        assert tuple(several.verdicts) == ASKED
        assert any(several.verdicts.values())
        assert all(occurs(verdict, text) for verdict in several.verdicts.values())
    single = read_verdict(text)
    assert isinstance(single, JudgeFailure) or occurs(single, text)


VERDICT = st.sampled_from(ALL)
COMPARISON = st.text(max_size=60)


@given(
    st.tuples(VERDICT, VERDICT, VERDICT),
    st.tuples(COMPARISON, COMPARISON, COMPARISON),
    st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_a_valid_object_is_read_whatever_it_compares(
    verdicts: tuple[str, ...], comparisons: tuple[str, ...], ascii_only: bool
):
    entries = {
        name: {"comparison": comparison, "winner": verdict}
        for name, comparison, verdict in zip(ASKED, comparisons, verdicts, strict=True)
    }
    assert read(f"Reasons first.\n{json.dumps(entries, ensure_ascii=ascii_only)}\n") == verdicts


@given(st.integers(0, len(json.dumps(GOOD))))
@settings(max_examples=50, deadline=None)
def test_a_reply_cut_anywhere_gives_its_own_verdicts_or_none(cut: int):
    result = read_verdicts(json.dumps(GOOD)[:cut], ASKED)
    if isinstance(result, Verdicts):
        for name, verdict in result.verdicts.items():
            assert verdict in (GOOD[name]["winner"], None)


ENDLESS = (
    "{", "}", '"', "'", "{}", '{"', '{"a":', '{"a":[', '"a":{', '{"winner": "1"}', '"winner":', "winner : ", "{ ",
    '"Clarity": {', '"Clarity": "1" ', '{"Clarity": "1"} x ', '{"Clarity": {"winner": "1"}}', "\n", ": ", "｛", "“",
    "\\", '{"a": "', '" : ', "winner:\t", "{,", "`",
)  # fmt: skip


@pytest.mark.parametrize("piece", ENDLESS, ids=repr)
def test_reading_a_hostile_reply_ends(piece: str):
    # 200,000 characters: what takes longer than linear does not end within the patience of a test
    # run. A complete object after them is still read, unless more objects are broken than are tried
    # and nothing can be told apart.
    endless = piece * (200_000 // len(piece))
    read_verdicts(endless, ASKED)
    read_verdict(endless)
    read_verdict(endless + '\n{"winner": "2"}')
    read_verdicts(f"{endless}\n{json.dumps(GOOD)}", ASKED)


def test_a_few_broken_objects_do_not_hide_the_verdict():
    assert read('{"x" ' * (_MAX_BROKEN - 1) + json.dumps(GOOD)) == ALL


REMARKS: dict[str | None, tuple[str, ...]] = {
    "1": ("1 (more complete)", "Response 1 wins.", "回答1更好", "**1**: it is right"),
    "2": ("Response 2 is better", "2 - clearer", "第二个回答更好", "回答2（更准确）", "回答2", "第二个"),
    "tie": ("tie (close)", "平局"),
    None: ("1, 2 or tie", "1 or 2", "1 (2 is close)", "1 - or rather a tie", "a better one", "1 (not 2)",
           "2 is not better", "2更好，但不明显"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("word", "verdict"), [(word, verdict) for verdict, words in REMARKS.items() for word in words]
)
def test_a_winner_with_a_remark_is_read_where_it_is_plain(word: str, verdict: str | None):
    result = read_verdict(json.dumps({"winner": word}, ensure_ascii=False))
    assert result == verdict if verdict else isinstance(result, JudgeFailure)
    full_width = read_verdict(f"｛“comparison”：“…”，“winner”：“{word}”｝")
    assert full_width == verdict if verdict else isinstance(full_width, JudgeFailure)


def _reading(first: First, **winners: str) -> Any:
    asked = (*winners, OVERALL) if OVERALL not in winners else tuple(winners)
    text = json.dumps(
        {name: {"comparison": "x", "winner": winner} for name, winner in winners.items()}
    )
    return read_pair_reply(asdict(PairReply(first, asked, text)))


@pytest.mark.parametrize(
    ("verdicts", "final"),
    [
        (["a"], "a"),
        (["a", "a"], "a"),
        (["a", "b"], "tie"),
        (["tie", "b"], "tie"),
        (["a", None], None),
        ([], None),
    ],
)
def test_orders_that_disagree_are_a_tie_and_an_unread_one_leaves_none(
    verdicts: list[str | None], final: str | None
):
    assert final_verdict(verdicts) == final


@pytest.mark.parametrize(
    ("shown", "first", "verdict"),
    [("1", "a", "a"), ("2", "a", "b"), ("1", "b", "b"), ("2", "b", "a"), ("tie", "b", "tie")],
)
def test_a_verdict_as_shown_is_turned_into_one_on_a_and_b(
    shown: Any, first: str, verdict: str | None
):
    assert unswap(shown, first) == verdict


def test_both_orders_are_put_together_with_the_labels_of_what_was_asked():
    readings = [_reading("a", Clarity="1", Overall="1"), _reading("b", Clarity="1", Overall="2")]
    outcome = compare_with_labels({"Clarity": "a", "Depth": "b", OVERALL: "a"}, readings)
    assert outcome.labels == {"Clarity": "a", OVERALL: "a"}
    assert outcome.orders == {
        "a": {"Clarity": "a", OVERALL: "a"},
        "b": {"Clarity": "b", OVERALL: "a"},
    }
    assert outcome.verdicts == {"Clarity": "tie", OVERALL: "a"}
    # A reply without a verdict leaves its name unread, and so does no reply.
    outcome = compare_with_labels({"Clarity": "a", OVERALL: "b"}, [_reading("a", Clarity="2")])
    assert outcome.verdicts == {"Clarity": "b", OVERALL: None}
    assert compare_with_labels({OVERALL: "b"}, []).verdicts == {OVERALL: None}


@pytest.mark.parametrize(
    ("between", "joined"),
    [
        ("", True),
        ("\n", True),
        (",\n", True),
        ("\n```\n```json\n", True),
        (" I looked again: ", False),
        ("\n\n### Overall\n", False),
        (" 1 ", False),
    ],
)
def test_objects_are_one_reply_where_no_words_stand_between_them(
    between: str, joined: bool
) -> None:
    text = f'{{"Clarity": {{"winner": "1"}}}}{between}{{"Depth": "2", "Overall": "2"}}'
    found = read_verdicts(text, ["Clarity", "Depth", "Overall"])
    assert not isinstance(found, JudgeFailure)
    assert found.verdicts == {"Clarity": "1" if joined else None, "Depth": "2", "Overall": "2"}
