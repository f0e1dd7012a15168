"""Records of each source, of our own making, in the shape that its publisher uses."""

import math
from typing import Any

import pytest

from tests.telling import Telling, tells
from urs_inspect._util import InputError
from urs_inspect.samer._pairs import TrainingPair
from urs_inspect.samer._sources import SOURCES, Skipped, Unpaired, map_records, second_response


def turns(*texts: str) -> list[dict[str, str]]:
    return [
        {"role": role, "content": text}
        for role, text in zip(["user", "assistant"] * 3, texts, strict=False)
    ]


def arena(**given: Any) -> dict[str, Any]:
    row = {
        "conversation_a": turns("Q", "A1"),
        "conversation_b": turns("Q", "A2"),
        "winner": "model_b",
    }
    return {**row, "question_id": "x", "model_a": "m", "model_b": "n", "turn": 1, **given}


ARENA_55K = {"prompt": '["Q"]', "response_a": '["A1"]', "response_b": ["A2"]}
NO_VOTE = {"winner_model_a": 0, "winner_model_b": 0, "winner_tie": 0}
HELPSTEER = {"prompt": "Q", "response_1": "A1", "response_2": "A2"}
RATED = [
    {"prompt": "Q", "response": text, "helpfulness": value}
    for text, value in (("A1", 2), ("A2", 4))
]
SAFE = {"prompt": "Q", "response_0": "A1", "response_1": "A2", "safer_response_id": 0}


def safe(first: object, second: object, better: object) -> dict[str, Any]:
    return {
        **SAFE,
        "is_response_0_safe": first,
        "is_response_1_safe": second,
        "better_response_id": better,
    }


SHP = {"history": "Q", "human_ref_A": "A1", "human_ref_B": "A2", "score_ratio": 2.0}
COLLECTION = {
    "orig_instruction": "Q",
    "orig_response_A": "A1",
    "orig_response_B": "A2",
    "instruction": "long",
}
TWO_TURNS = "Q\n<extra_id_1>Assistant\nA\n<extra_id_1>User\nQ2"


@pytest.mark.parametrize(
    ("source", "records", "winner"),
    [
        ("helpsteer2", [{**HELPSTEER, "preference_strength": -2}], "a"),
        ("helpsteer2", [{**HELPSTEER, "preference_strength": 1}], "b"),
        ("helpsteer2", [{**HELPSTEER, "preference_strength": 0}], "tie"),
        ("helpsteer2", RATED, "b"),
        ("pku_saferlhf", [safe(True, False, 1)], "a"),
        ("pku_saferlhf", [safe(True, True, 1)], "b"),
        ("pku_saferlhf", [safe(False, False, 0)], "a"),
        ("shp2", [{**SHP, "labels": 1}], "a"),
        ("shp2", [{**SHP, "labels": 0}], "b"),
        ("chatbot_arena", [arena()], "b"),
        ("chatbot_arena", [arena(winner="tie (bothbad)")], "tie"),
        ("chatbot_arena", [{**ARENA_55K, **NO_VOTE, "winner_model_a": 1}], "a"),
        ("chatbot_arena", [{**ARENA_55K, **NO_VOTE, "winner_tie": 1}], "tie"),
        ("preference_collection", [{**COLLECTION, "orig_preference": "A"}], "a"),
        ("preference_collection", [{**COLLECTION, "orig_preference": "B"}], "b"),
    ],
)
def test_a_record_makes_a_pair(source: str, records: list[dict[str, Any]], winner: str):
    [pair] = map_records(source, records)
    assert isinstance(pair, TrainingPair)
    assert (pair.prompt, pair.response_a, pair.response_b) == ("Q", "A1", "A2")
    assert (pair.winner, pair.source, pair.scenario, dict(pair.dimensions)) == (
        winner,
        source,
        "",
        {},
    )


SCORES = {"poor": 1.5, "fair": 3.0, "good": 4.25, "fine": 4.25}


def ultra(prompt: str, **scores: Any) -> dict[str, Any]:
    """Completions with scores; some of those of UltraFeedback are missing, which its files write as
    null or NaN.
    """
    completions = [
        {"response": text, "fine-grained_score": score, "overall_score": 10.0}
        for text, score in (scores or SCORES).items()
    ]
    return {"instruction": prompt, "completions": completions}


def test_ultrafeedback_draws_two_completions_and_compares_their_scores():
    pairs = list(map_records("ultrafeedback", [ultra(f"Q{n}") for n in range(60)]))
    assert len(pairs) == 60
    for pair in pairs:
        assert isinstance(pair, TrainingPair)
        one, two = SCORES[pair.response_a], SCORES[pair.response_b]
        assert pair.winner == ("a" if one > two else "b" if two > one else "tie")
    drawn = {(pair.response_a, pair.response_b) for pair in pairs if isinstance(pair, TrainingPair)}
    assert len(drawn) == 12  # of four, every ordered pair

    for missing in (None, math.nan, "N/A"):  # it draws among those that have one
        [pair] = map_records(
            "ultrafeedback", [ultra("Q", poor=missing, fair=missing, good=4.25, fine="4.25")]
        )
        assert isinstance(pair, TrainingPair)
        assert {pair.response_a, pair.response_b} == {"good", "fine"} and pair.winner == "tie"


def test_synthetic_gptj_tosses_the_sides():
    rows = [{"prompt": f"Q{n}", "chosen": "better", "rejected": "worse"} for n in range(200)]
    pairs = [pair for pair in map_records("synthetic_gptj", rows) if isinstance(pair, TrainingPair)]
    assert all(
        (pair.response_a if pair.winner == "a" else pair.response_b) == "better" for pair in pairs
    )
    # A fair coin: 200 tosses lie within 70 to 130 but for one time in 50,000.
    assert 70 <= sum(pair.winner == "a" for pair in pairs) <= 130
    assert [*map_records("synthetic_gptj", rows)] == pairs


def test_lmsys_chat_needs_a_second_response():
    [one] = map_records(
        "lmsys_chat", [{"conversation_id": "x", "conversation": turns("Q", "A1", "more", "A3")}]
    )
    assert isinstance(one, Unpaired) and (one.prompt, one.response) == ("Q", "A1")
    pair = second_response(one, "A2")
    assert {pair.response_a, pair.response_b} == {"A1", "A2"}
    assert (pair.id, pair.winner, pair.source) == (one.id, None, "lmsys_chat")


@pytest.mark.parametrize(
    ("source", "records", "reason"),
    [
        (
            "chatbot_arena",
            [arena(conversation_a=turns("Q", "A1", "more", "A3"))],
            "more than one",
        ),
        (
            "chatbot_arena",
            [{**ARENA_55K, "prompt": '["Q", "R"]', **NO_VOTE, "winner_tie": 1}],
            "more than one",
        ),
        ("chatbot_arena", [arena(conversation_b=turns("Q", "A1"))], "both responses"),
        ("shp2", [{**SHP, "human_ref_A": " ", "labels": 1}], "'human_ref_A' is blank"),
        (
            "ultrafeedback",
            [{"instruction": "Q", "completions": []}],
            "fewer than two",
        ),
        ("ultrafeedback", [ultra("Q", A1=4.0, A2=None)], "fewer than two"),
        (
            "helpsteer2",
            [{**HELPSTEER, "prompt": TWO_TURNS, "preference_strength": 1}],
            "'prompt' has more",
        ),
        (
            "helpsteer2",
            [{**one, "prompt": TWO_TURNS} for one in RATED],
            "'prompt' ... one turn",
        ),
        ("helpsteer2", [RATED[0], {**RATED[1], "helpfulness": None}], "no 'helpfulness'"),
        ("helpsteer2", [RATED[0], {**RATED[1], "helpfulness": math.nan}], "no 'helpfulness'"),
        (
            "lmsys_chat",
            [{"conversation": turns("Q")}],
            "not begin",
        ),
    ],
)
def test_useless_records_are_left_out_with_a_reason(
    source: str, records: list[dict[str, Any]], reason: str
):
    skipped: list[Skipped] = []
    assert [*map_records(source, records, skipped)] == []
    assert [one.place for one in skipped] == [1] and tells(skipped[0].reason, reason)


def test_a_rating_without_a_second_one_is_named_by_its_place():
    other = {**RATED[0], "prompt": "R"}
    skipped: list[Skipped] = []
    made = [
        *map_records(
            "helpsteer2",
            [{**HELPSTEER, "preference_strength": 1}, *RATED[:1], other, other],
            skipped,
        )
    ]
    assert len(made) == 1  # the preference
    assert [(one.place, one.reason) for one in skipped] == [
        (2, Telling("no second rating")),
        (3, Telling("both responses")),
    ]


def test_a_copy_is_left_out():
    skipped: list[Skipped] = []
    row = {**SHP, "labels": 1}
    assert len([*map_records("shp2", [row, {**row, "score_ratio": 9}], skipped)]) == 1
    assert skipped[0].place == 2 and "earlier record" in skipped[0].reason


@pytest.mark.parametrize(
    ("source", "record", "said"),
    [
        ("shp2", SHP, "shp2: record 1: 'labels' ... number, is null"),
        ("shp2", {**SHP, "labels": 7}, "'labels' is 7; allowed: 0, 1"),
        ("helpsteer2", {**HELPSTEER, "preference_strength": "much"}, "number, is 'much'"),
        (
            "helpsteer2",
            {**HELPSTEER, "preference_strength": math.nan},
            "'preference_strength' ... number, is NaN",
        ),
        (
            "preference_collection",
            {**COLLECTION, "orig_preference": "C"},
            "'orig_preference' is 'C'; allowed: A, B",
        ),
        (
            "chatbot_arena",
            arena(winner="nobody"),
            "'winner' is 'nobody'; allowed: model_a, model_b, tie",
        ),
        ("chatbot_arena", {**ARENA_55K, **NO_VOTE}, "just one of"),
        (
            "chatbot_arena",
            {**ARENA_55K, **NO_VOTE, "winner_model_b": 1, "winner_tie": 1},
            "just one of",
        ),
        ("chatbot_arena", arena(conversation_a="Q"), "list of messages"),
        ("pku_saferlhf", safe(False, False, 2), "'better_response_id' is 2; allowed: 0, 1"),
        (
            "pku_saferlhf",
            safe(None, True, 1),
            "'is_response_0_safe' ... true or false",
        ),
        ("helpsteer2", HELPSTEER, "'preference_strength' ... number"),
        ("ultrafeedback", {"instruction": "Q"}, "'completions' ... list"),
        (
            "synthetic_gptj",
            {"prompt": "Q", "chosen": 4, "rejected": "x"},
            "'chosen' ... text, is 4",
        ),
    ],
)
def test_faulty_records_are_refused(source: str, record: dict[str, Any], said: str):
    with pytest.raises(InputError) as caught:
        [*map_records(source, [record])]
    assert tells(str(caught.value), said)


def test_every_source_of_the_paper_is_there():
    assert len(SOURCES) == 8
    with pytest.raises(InputError, match="source 'hhh'; allowed: helpsteer2, ultrafeedback"):
        [*map_records("hhh", [])]


def rated(prompt: str, *ratings: object) -> list[dict[str, Any]]:
    """HelpSteer2's ratings of answers A1, A2 and so on to one prompt."""
    return [
        {"prompt": prompt, "response": f"A{place}", "helpfulness": rating}
        for place, rating in enumerate(ratings, start=1)
    ]


def test_ratings_of_one_prompt_are_paired_two_and_two() -> None:
    skipped: list[Skipped] = []
    preference = {**HELPSTEER, "prompt": "R", "preference_strength": 1}
    records = [*rated("Q", 1, 3, 4, 2, 0), preference, *rated("S", 2, "2"), *rated("Q", 0, 4)]
    found = list(map_records("helpsteer2", records, skipped))
    told = [
        (pair.prompt, pair.response_a, pair.response_b, pair.winner)
        for pair in found
        if isinstance(pair, TrainingPair)
    ]
    assert told == [
        ("Q", "A1", "A2", "b"),
        ("Q", "A3", "A4", "a"),
        ("R", "A1", "A2", "b"),
        ("S", "A1", "A2", "tie"),
    ]
    # The fifth rating stands alone, and the last two are the first texts once more.
    assert [one.place for one in skipped] == [5, 9]
    assert tells(skipped[1].reason, "earlier")


def test_a_pair_has_an_id_of_its_source_and_texts() -> None:
    [one], [other] = ([*map_records("shp2", [{**SHP, "labels": label}])] for label in (0, 1))
    assert one.id == other.id and one.id.startswith("shp2_") and len(one.id) == len("shp2_") + 16
    [third] = map_records("shp2", [{**SHP, "human_ref_B": "A3", "labels": 0}])
    assert third.id != one.id


def test_a_second_response_is_on_either_side_by_the_texts_alone() -> None:
    pairs = [
        second_response(Unpaired(f"x{n}", f"Q{n}", "given", "lmsys_chat"), "new")
        for n in range(200)
    ]
    assert 70 <= sum(pair.response_a == "given" for pair in pairs) <= 130
    assert all({pair.response_a, pair.response_b} == {"given", "new"} for pair in pairs)
    assert all(pair.prompt == f"Q{n}" and pair.id == f"x{n}" for n, pair in enumerate(pairs))
    again = second_response(Unpaired("other", "Q0", "given", "s"), "new")
    assert (again.response_a, again.response_b) == (pairs[0].response_a, pairs[0].response_b)


@pytest.mark.parametrize(
    ("record", "read"),
    [
        ({**ARENA_55K, "response_b": '["A2"]'}, "A2"),
        ({**ARENA_55K, "response_b": "A2"}, "A2"),
        ({**ARENA_55K, "response_b": '"A2"'}, "A2"),
        ({**ARENA_55K, "response_b": ["[A2]"]}, "[A2]"),
    ],
)
def test_one_text_of_a_list_in_any_writing(record: dict[str, Any], read: str) -> None:
    [pair] = map_records("chatbot_arena", [{**record, **NO_VOTE, "winner_tie": 1}])
    assert isinstance(pair, TrainingPair) and pair.response_b == read


@pytest.mark.parametrize(("value", "told"), [("[null]", "blank"), ('["A", "B"]', "more than one")])
def test_lists_without_one_text_are_left_out(value: str, told: str) -> None:
    skipped: list[Skipped] = []
    record = {**ARENA_55K, **NO_VOTE, "winner_tie": 1, "response_a": value}
    assert [*map_records("chatbot_arena", [record], skipped)] == []
    assert told in skipped[0].reason and "response_a" in skipped[0].reason
    with pytest.raises(InputError, match="response_a"):
        [*map_records("chatbot_arena", [{**record, "response_a": "[]"}])]
