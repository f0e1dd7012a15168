"""Tests of `urs_inspect.discrepancy.matchmaking`."""

import json
import math
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.discrepancy import REFERENCE_FILTER, AnswerFilter, count_words, word_counts
from urs_inspect.discrepancy.matchmaking import FixedOrder, Matchmaker, Rules, candidate_masks, make_matchmaker
from urs_inspect.discrepancy.pools import Instruction, Pool, usable_masks
from urs_inspect.discrepancy.similarity import Similarity


@pytest.mark.parametrize(
    ("text", "words"),
    {
        "": 0,
        " \n\t": 0,
        "The quick brown fox.": 4,
        "well-known, isn't it?": 3,
        "- one\n- two": 2,
        "*** --- !!!": 0,
        "x = 3 + 4": 3,
        "今天天气很好": 3,
        "今天天气好": 3,
        "今天，天气好。": 3,
        "これはペンです": 4,
        "我用 Python 写代码": 4,
        "ｆｕｌｌ　ｗｉｄｔｈ": 2,
        "한국어 문장 입니다": 3,
        "مرحبا بالعالم": 2,
        "สวัสดีครับ": 4,
        "😀 😀": 0,
    }.items(),
)
def test_words_are_counted_in_any_language(text: str, words: int) -> None:
    assert count_words(text) == words


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=30))
def test_plain_words_are_what_stands_between_blanks(words: list[str]) -> None:
    assert count_words(" \n".join(words)) == len(words)


def kept(answer_filter: AnswerFilter, one: int, other: int) -> bool:
    return bool(answer_filter.keeps(np.array([one]), np.array([other]))[0])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(21, 21, True), (20, 21, False), (21, 83, True), (21, 84, False), (84, 21, False), (0, 0, False), (100, 0, False)],
)
def test_the_rules_of_the_reference(one: int, other: int, expected: bool) -> None:
    assert kept(REFERENCE_FILTER, one, other) is kept(REFERENCE_FILTER, other, one) is expected


def test_each_rule_alone_and_none() -> None:
    assert kept(AnswerFilter(), 0, 1000)
    assert kept(AnswerFilter(min_words=20), 21, 1000) and not kept(AnswerFilter(min_words=20), 20, 20)
    assert kept(AnswerFilter(max_length_ratio=4), 1, 3) and not kept(AnswerFilter(max_length_ratio=4), 1, 4)


def test_rules_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="length ratio 1; allowed: above 1, or 0 for no limit"):
        AnswerFilter(max_length_ratio=1)
    with pytest.raises(InputError, match="length ratio nan"):
        AnswerFilter(max_length_ratio=float("nan"))
    with pytest.raises(InputError, match="words -2"):
        AnswerFilter(min_words=-2)


@pytest.mark.data
def test_chinese_and_japanese_battles_survive_the_filter(data_dir: Path) -> None:
    """Counted between blanks, 5 of the 34 battles whose answers are mostly Chinese or Japanese are left."""
    battles = [
        json.loads(line)
        for path in sorted((data_dir / "mad" / "chatbot_arena").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n")  # answers hold other line ends
    ]
    assert len(battles) == 7471
    first, second = ([battle[f"response_{side}"] for battle in battles] for side in (1, 2))
    found = REFERENCE_FILTER.keeps(word_counts(first), word_counts(second))
    blanks = REFERENCE_FILTER.keeps(*(np.array([len(text.split()) for text in side]) for side in (first, second)))
    share = np.array(
        [
            sum("\u3040" <= c <= "\u30ff" or "\u3400" <= c <= "\u9fff" for c in a + b) > 0.2 * len(a + b)
            for a, b in zip(first, second, strict=True)
        ]
    )
    assert (share.sum(), (blanks & share).sum(), (found & share).sum()) == (34, 5, 20)
    assert (blanks.sum(), found.sum()) == (5055, 5044)


IDS = ("i0", "i1", "i2", "i3")
PAIR = ("a", "b")


def pool(**probabilities: dict[str, list[float]]) -> Pool:
    items = tuple(Instruction(name, f"Ask about topic {name}") for name in IDS)
    responses = {name: {item: f"{name * 3} says {item * 4}" for item in IDS} for name in PAIR}
    return Pool("mine", "", items, responses, probabilities=probabilities)


def matched(given: Pool, rules: Rules, similarity: Similarity | None = None) -> Matchmaker:
    masks = candidate_masks(given, [PAIR], rules.answers)
    return anyio.run(make_matchmaker, given, masks, rules, similarity)


def order(matchmaker: Matchmaker, count: int) -> list[str]:
    chosen: list[str] = []
    for _ in range(count):
        found = matchmaker.next(PAIR, chosen)
        assert found is not None
        chosen.append(found.id)
    return chosen


class Compared:
    """A similarity that compares two texts: low for one instruction, unknown for another."""

    name = "compared"

    def __init__(self) -> None:
        self.pairs = 0

    def compare(self, first, second):
        self.pairs += len(first)
        return np.array([0.1 if "i2" in text else math.nan if "i3" in text else 0.9 for text in first])


def test_rules_that_filter_nothing_leave_the_usable_ones() -> None:
    given = pool()
    assert candidate_masks(given, [PAIR], AnswerFilter())[PAIR].tolist() == usable_masks(given, [PAIR])[PAIR].tolist()
    assert not candidate_masks(given, [PAIR], AnswerFilter(min_words=3))[PAIR].any()  # each answer has three words
    assert candidate_masks(given, [PAIR], AnswerFilter(min_words=2))[PAIR].all()


def test_a_similarity_of_two_texts_decides_and_what_it_does_not_know_is_left_out() -> None:
    similarity = Compared()
    matchmaker = matched(pool(), Rules(lam=0), similarity)
    assert matchmaker.candidates(PAIR) == 3
    assert order(matchmaker, 3)[0] == "i2"
    assert matchmaker.next(PAIR, ["i2", "i0", "i1"]) is None
    assert similarity.pairs == 4


def test_a_shortlist_bounds_what_is_compared() -> None:
    similarity = Compared()
    matchmaker = matched(pool(), Rules(shortlist=2), similarity)
    assert similarity.pairs == 2
    assert matchmaker.candidates(PAIR) <= 2


def test_divergence_orders_by_confidence_and_leaves_out_what_has_none() -> None:
    sure, unsure = [-0.1] * 3, [-3.0] * 3
    given = pool(a={"i0": sure, "i1": sure, "i2": sure}, b={"i0": sure, "i1": unsure, "i3": sure})
    for method in ("kl", "cross_entropy"):
        matchmaker = matched(given, Rules(method=method))
        assert matchmaker.candidates(PAIR) == 2
        assert order(matchmaker, 2) == ["i1", "i0"]
        assert math.isnan(matchmaker.next(PAIR, []).response_similarity)  # type: ignore[union-attr]


def test_divergence_needs_log_probabilities_of_all() -> None:
    with pytest.raises(InputError, match="'kl' needs the log probabilities of tokens, and b gave none"):
        matched(pool(a={"i0": [-0.1]}), Rules(method="kl"))


def test_a_fixed_order_skips_what_was_chosen_whichever_way_the_pair_is_named() -> None:
    fixed = FixedOrder({PAIR: ["x", "y", "z"]})
    assert (fixed.candidates(("b", "a")), fixed.next(("b", "a"), ["x"]).id) == (3, "y")  # type: ignore[union-attr]
    assert fixed.next(PAIR, ["x", "y", "z"]) is None


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(InputError, match="selection: unknown value 'best'; allowed: mad, random, kl, cross_entropy"):
        Rules(method="best")  # type: ignore[arg-type]
