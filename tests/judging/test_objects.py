"""Objects in text: their braces against counting them one by one, and pairs in place of JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect.judging._objects import Pairs, Span, json_objects, read_pairs, spans, unwrap


def pairs_by_counting(text: str, max_height: int) -> set[tuple[int, int]]:
    """Matching braces, each with the number of levels that it holds, counted one by one."""
    found = set()
    for start, opening in enumerate(text):
        if opening not in "{｛":
            continue
        depth = deepest = 0
        for place in range(start, len(text)):
            if text[place] in "{｛":
                depth += 1
                deepest = max(deepest, depth)
            elif text[place] in "}｝":
                depth -= 1
            if depth == 0:
                if deepest <= max_height:
                    found.add((start, place + 1))
                break
    return found


@given(text=st.text(alphabet="{｛}｝a ", max_size=24), max_height=st.integers(1, 5))
def test_braces_match_as_by_counting_them(text: str, max_height: int) -> None:
    found = spans(text, max_height=max_height)
    assert set(found) == pairs_by_counting(text, max_height)
    assert found == spans(text, inside_strings=True, max_height=max_height)
    # The pair that opens last comes first.
    assert [span.start for span in found] == sorted((span.start for span in found), reverse=True)


@pytest.mark.parametrize(
    "string", ['"}"', "'}'", '"{"', "“}”", "‘{’", "「}」", "『{』", r'"\"}"', r"'\'{'"]
)
def test_a_brace_in_a_string_of_an_object_is_text(string: str) -> None:
    text = '{"a": STRING, "b": [STRING]}'.replace("STRING", string)
    assert spans(text) == [Span(0, len(text))]
    assert spans(text, inside_strings=True) != [Span(0, len(text))]


@pytest.mark.parametrize(
    "around",
    [
        'It wrote: "OBJECT".',
        "It wrote, 'OBJECT', and so on.",
        'Its words: "OBJECT", "OBJECT"',
        "它写道：“OBJECT”。",
        "It said “OBJECT”, no more",
    ],
)
def test_an_object_in_a_quotation_outside_of_objects_is_one(around: str) -> None:
    text = around.replace("OBJECT", "{a: 1}")
    found = spans(text)
    assert [text[span.start : span.end] for span in found] == ["{a: 1}"] * around.count("OBJECT")


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ('{"a": 1, "a": "x", "b": null}', [("a", 1), ("a", "x"), ("b", None)]),
        ('{"a": {"b": 2}}', [("a", [("b", 2)])]),
        ("{'a': 'x', 'b': 2,}", [("a", "x"), ("b", 2)]),
        ('{"a": [1, 2, ],}', [("a", [1, 2])]),
        ("｛“a”：８｝", [("a", 8)]),
        ("{a: 8, b : no}", [("a", "8"), ("b", "no")]),
        ('{"a": "x" "b": 2}', [("a", "x"), ("b", "2")]),
        ("{'it': \"x\", a: 'y'}", [("it", "x"), ("a", "y")]),
        ('{a: {"why": "x", "score": 7}}', [("a", "7")]),
        ('{a: {得分：7，"x"}}', [("a", "7")]),
        ('{a: {"why": "x"}}', [("a", '"why": "x"')]),
        ("{}", []),
        ("{nothing}", []),
    ],
)
def test_pairs_are_read_as_json_or_as_what_stands_in_its_place(
    text: str, pairs: list[tuple[str, object]]
) -> None:
    assert list(read_pairs(text)) == pairs


@pytest.mark.parametrize(
    ("value", "unwrapped"),
    [
        (8, 8),
        ("8", "8"),
        ("８／１０", "8/10"),
        (Pairs([("score", 8), ("reason", "x")]), 8),
        (Pairs([(" Rating ", "９")]), "9"),
        (Pairs([("得分", None)]), None),
    ],
)
def test_a_score_in_an_object_of_its_own_is_that_score(value: object, unwrapped: object) -> None:
    assert unwrap(value) == unwrapped


@pytest.mark.parametrize(
    "value", [Pairs([("score", 8), ("value", 9)]), Pairs([("score", 8), ("score", 8)]), Pairs()]
)
def test_an_object_of_several_scores_or_none_is_no_score(value: Pairs) -> None:
    assert unwrap(value) == str(value)


def test_outermost_objects_and_broken_ones_come_in_the_order_of_the_text() -> None:
    broken = '{"a": , '
    first, last = '{"b": {"c": 1}}', '{"d": "line\nbreak"}'
    text = f"So: {broken}{first} and {{no object}} {last} {{"
    found = list(json_objects(text))
    assert [text[one.start : one.end] for one in found] == [broken[0], first, last]
    assert [one.pairs for one in found] == [None, [("b", [("c", 1)])], [("d", "line\nbreak")]]
    inside = [one.pairs for one in json_objects(text, lambda pairs: pairs[0][0] == "b")]
    assert inside == [None, [("b", [("c", 1)])], [("c", 1)], [("d", "line\nbreak")]]
