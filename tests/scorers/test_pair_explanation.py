"""What people read about a pair."""

import json

import pytest

from urs_inspect.judging.pair_reading import PairReading, read_pair_reply
from urs_inspect.scorers.pair_explanation import explain_pair

LABELS = {"Clarity": "a", "Overall": "b"}
FINAL: dict[str, str | None] = {"Clarity": "a", "Overall": None}


def quoted(reply: str) -> str:
    """What an explanation says below the heading of its one reply."""
    reading = PairReading("b", ("Clarity", "Overall"), {"Clarity": "a"}, reply=reply)
    text = explain_pair(LABELS, FINAL, [reading])
    _, heading, words = text.partition("### Clarity, Overall: response 1 is b, response 2 is a\n\n")
    assert heading
    return words


def test_table_names_what_was_unread() -> None:
    text = explain_pair(LABELS, FINAL, [PairReading("a", ("Clarity", "Overall"), {"Clarity": "a"})])
    assert text.splitlines() == [
        "|  | label | verdict | a first |",
        "|---|---|---|---|",
        "| Clarity | a | a (right) | a |",
        "| Overall | b | unread | unread |",
    ]


def test_no_reply_at_all_is_still_a_table() -> None:
    assert explain_pair({"Overall": "b"}, {"Overall": None}, []).splitlines()[-1] == "| Overall | b | unread |"


RECORD = json.dumps({"Clarity": {"comparison": "b is\nplain", "winner": "1"}, "Overall": {"winner": "tie"}})


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (RECORD, "- **Clarity: 1.** b is plain\n- **Overall: tie.**"),
        (f"So.\n\nThus.\n```json\n{RECORD}\n```", "So.\n\nThus.\n\n- **Clarity: 1.** b is plain\n- **Overall: tie.**"),
        ('{"comparison": "b", "winner": 2}', "- **2.** b"),
        ("# Big\n\nNo idea.", "```\n# Big\n\nNo idea.\n```"),
        ("```\n### Overall\n```", "````\n```\n### Overall\n```\n````"),
        ('{"Clarity": "1"}', '```\n{"Clarity": "1"}\n```'),
        ('{"Clarity": {"winner": "1"', '```\n{"Clarity": {"winner": "1"\n```'),
        ('[{"winner": "1"}, {"winner": "2"}]', '```\n[{"winner": "1"}, {"winner": "2"}]\n```'),
        ("{}", "```\n{}\n```"),
        ("{" * 5000, "```\n" + "{" * 5000 + "\n```"),
    ],
)
def test_words_are_laid_out_by_name_or_quoted_as_they_came(reply: str, words: str) -> None:
    assert quoted(reply) == words


def test_long_replies_share_the_room_and_say_what_is_missing() -> None:
    one = PairReading("a", ("Overall",), {}, reply="x" * 30_000)
    alone, both = explain_pair(LABELS, FINAL, [one]), explain_pair(LABELS, FINAL, [one, one])
    assert "(Cut after 20,000 of 30,000 characters; the rest is in the messages.)" in alone
    assert both.count("(Cut after 10,000 of 30,000 characters; the rest is in the messages.)") == 2
    assert len(both) < 20_500


def test_many_names_are_counted_in_headings() -> None:
    names = tuple(f"D{n}" for n in range(13))
    text = explain_pair({"Overall": "a"}, {"Overall": None}, [PairReading("a", (*names, "Overall"), {}, reply="x")])
    assert "### 13 dimensions and Overall: response 1 is a" in text


def test_a_baseline_s_verdicts_are_about_a_and_b_already() -> None:
    kept = {
        "first": "b",
        "asked": ["Overall"],
        "reply": "",
        "verdicts": {"Overall": "a"},
        "stop_reason": "stop",
        "error": "",
    }
    assert read_pair_reply(kept) == PairReading("b", ("Overall",), {"Overall": "a"})
