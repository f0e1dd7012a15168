"""Tests of `urs_inspect.discrepancy._matchmaking`."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.discrepancy._matchmaking import (
    AnswerFilter,
    FixedOrder,
    InstructionSelector,
    Rules,
    candidate_masks,
    count_words,
    divergence,
    divergence_order,
    instruction_selector,
    random_order,
    word_counts,
)
from urs_inspect.discrepancy._pools import Instruction, Pool, usable_masks
from urs_inspect.discrepancy._similarity import Similarity

REFERENCE_FILTER = AnswerFilter(max_length_ratio=4.0, min_words=20)
"""That of the paper's reference code."""


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
        "ｶﾞｶﾞｶﾞ": 2,  # half-width: a syllable and its mark are one character
        "សួស្តីពិភពលោក": 4,
        "မြန်မာ": 2,
        "ສະບາຍດີ": 3,
        "𠀀𠀁𠀂": 2,
    }.items(),
)
def test_words_are_counted_in_any_language(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("rules", "one", "other", "expected"),
    [
        *((REFERENCE_FILTER, 21, other, True) for other in (21, 83)),
        *((REFERENCE_FILTER, *pair, False) for pair in ((20, 21), (21, 84), (0, 0), (100, 0))),
        (AnswerFilter(), 0, 1000, True),
        (AnswerFilter(min_words=20), 21, 1000, True),
        (AnswerFilter(min_words=20), 20, 20, False),
        (AnswerFilter(max_length_ratio=4), 1, 3, True),
        (AnswerFilter(max_length_ratio=4), 1, 4, False),
    ],
)
def test_the_rules_of_the_reference_and_each_alone(
    rules: AnswerFilter, one: int, other: int, expected: bool
) -> None:
    assert rules.keeps(np.array([one, other]), np.array([other, one])).tolist() == [expected] * 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_length_ratio": 1}, "length ratio 1; allowed: above 1"),
        ({"max_length_ratio": float("nan")}, "length ratio nan"),
        ({"min_words": -2}, "words -2"),
        ({"min_words": -1}, "words -1"),
    ],
)
def test_rules_that_make_no_sense_are_refused(options: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        AnswerFilter(**options)
    # Just within.
    assert AnswerFilter(max_length_ratio=1.01, min_words=0).min_words == 0


@pytest.mark.data
def test_chinese_and_japanese_battles_survive_the_filter(data_dir: Path) -> None:
    """Counted between blanks, 5 of the 34 battles whose answers are mostly Chinese or Japanese are
    left.
    """
    battles = [
        json.loads(line)
        for path in sorted((data_dir / "mad" / "chatbot_arena").glob("*.jsonl"))
        for line in (
            path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        )  # answers hold other line ends
    ]
    assert len(battles) == 7471
    first, second = ([battle[f"response_{side}"] for battle in battles] for side in (1, 2))
    found = REFERENCE_FILTER.keeps(word_counts(first), word_counts(second))
    blanks = REFERENCE_FILTER.keeps(
        *(np.array([len(text.split()) for text in side]) for side in (first, second))
    )
    both = [a + b for a, b in zip(first, second, strict=True)]
    share = np.array(
        [len(re.findall("[\u3040-\u30ff\u3400-\u9fff]", text)) > 0.2 * len(text) for text in both]
    )
    assert (share.sum(), (blanks & share).sum(), (found & share).sum()) == (34, 5, 20)
    assert (blanks.sum(), found.sum()) == (5055, 5044)


IDS = ("i0", "i1", "i2", "i3")
PAIR = ("a", "b")


def pool(**probabilities: dict[str, list[float]]) -> Pool:
    items = tuple(Instruction(name, f"Ask about topic {name}") for name in IDS)
    responses = {name: {item: f"{name * 3} says {item * 4}" for item in IDS} for name in PAIR}
    return Pool("mine", "", items, responses, probabilities=probabilities)


def matched(given: Pool, rules: Rules, similarity: Similarity | None = None) -> InstructionSelector:
    masks = candidate_masks(given, [PAIR], rules.answers)
    return anyio.run(instruction_selector, given, masks, rules, similarity)


def order(selector: InstructionSelector, count: int) -> list[str]:
    chosen: list[str] = []
    for _ in range(count):
        found = selector.next(PAIR, chosen)
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
        return np.array(
            [0.1 if "i2" in text else math.nan if "i3" in text else 0.9 for text in first]
        )


def test_rules_that_filter_nothing_leave_the_usable_ones() -> None:
    given = pool()
    assert (
        candidate_masks(given, [PAIR], AnswerFilter())[PAIR].tolist()
        == usable_masks(given, [PAIR])[PAIR].tolist()
    )
    assert not candidate_masks(given, [PAIR], AnswerFilter(min_words=3))[
        PAIR
    ].any()  # each answer has three words
    assert candidate_masks(given, [PAIR], AnswerFilter(min_words=2))[PAIR].all()


def test_a_similarity_of_two_texts_decides_and_what_it_does_not_know_is_left_out() -> None:
    similarity = Compared()
    selector = matched(pool(), Rules(lam=0), similarity)
    assert selector.candidates(PAIR) == 3 and similarity.pairs == 4
    assert order(selector, 3)[0] == "i2" and selector.next(PAIR, ["i2", "i0", "i1"]) is None
    # A shortlist bounds what is compared.
    selector = matched(pool(), Rules(shortlist=2), similarity)
    assert similarity.pairs == 4 + 2 and selector.candidates(PAIR) <= 2


def test_divergence_orders_by_confidence_and_leaves_out_what_has_none() -> None:
    sure, unsure = [-0.1] * 3, [-3.0] * 3
    given = pool(a={"i0": sure, "i1": sure, "i2": sure}, b={"i0": sure, "i1": unsure, "i3": sure})
    for method in ("kl", "cross_entropy"):
        selector = matched(given, Rules(method=method))
        assert selector.candidates(PAIR) == 2
        assert order(selector, 2) == ["i1", "i0"]
        assert math.isnan(selector.next(PAIR, []).response_similarity)  # type: ignore[union-attr]


def test_missing_log_probabilities_are_refused() -> None:
    with pytest.raises(InputError, match=r"'kl' needs.*b gave none"):
        matched(pool(a={"i0": [-0.1]}), Rules(method="kl"))


def test_a_fixed_order_skips_what_was_chosen_whichever_way_the_pair_is_named() -> None:
    fixed = FixedOrder({PAIR: ["x", "y", "z"]})
    assert (fixed.candidates(("b", "a")), fixed.next(("b", "a"), ["x"]).id) == (3, "y")  # type: ignore[union-attr]
    assert fixed.next(PAIR, ["x", "y", "z"]) is None


LOGS = st.lists(st.floats(-30, 0), min_size=1, max_size=8)
MANY = Pool("many", "", tuple(Instruction(f"i{number:03}", "?") for number in range(100)), {})


def drawn(
    pair: tuple[str, str], seed: int, count: int = 100, instructions: Pool = MANY
) -> tuple[str, ...]:
    return random_order(instructions, pair, np.arange(100) < count, seed)


def test_a_method_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match=r"method 'best'; allowed: .*mad.*random"):
        Rules(method="best")  # type: ignore[arg-type]


def test_a_random_order_is_repeatable_and_depends_on_seed_pair_and_instructions_only() -> None:
    found = drawn(PAIR, 1)
    assert sorted(found) == [item.id for item in MANY.instructions] != list(found)
    assert (
        drawn(("b", "a"), 1, instructions=replace(MANY, instructions=MANY.instructions[::-1]))
        == found
    )
    assert drawn(PAIR, 2) != found != drawn(("a", "c"), 1)


def test_a_random_order_keeps_to_the_mask_and_is_even() -> None:
    seen = Counter(drawn(PAIR, seed, 5)[0] for seed in range(1000))
    assert sorted(seen) == [item.id for item in MANY.instructions[:5]]
    assert all(140 < count < 260 for count in seen.values())  # 200 each, deviation 12.6


def test_divergence_by_hand() -> None:
    # Two tokens against three, so the first two count: p = (.5, 1), q = (.25, .5). KL(p, q) = (.5
    # ln 2 + 1 ln 2) / 2 = .5199; KL(q, p) = -(.25 ln 2 + .5 ln 2) / 2 = -.2599; their mean .12996.
    # Cross-entropy: -(.5 ln .25 + ln .5) / 2 = .6931; -(.25 ln .5 + 0) / 2 = .0866; their mean
    # .38990.
    first, second = [math.log(0.5), 0.0], [math.log(0.25), math.log(0.5), math.log(0.1)]
    assert divergence(first, second, "kl") == pytest.approx(0.12996, abs=1e-5)
    assert divergence(first, second, "cross_entropy") == pytest.approx(0.38990, abs=1e-5)


@given(LOGS, LOGS)
def test_divergence_has_no_order_and_is_zero_for_equals(
    first: list[float], second: list[float]
) -> None:
    for kind in ("kl", "cross_entropy"):
        assert divergence(first, second, kind) == pytest.approx(divergence(second, first, kind))
        assert divergence(first, second, kind) >= 0
    assert divergence(first, first, "kl") == 0


def test_no_token_and_no_probability() -> None:
    assert math.isnan(divergence([], [-1.0], "kl"))
    assert divergence([-math.inf], [-1.0], "kl") == pytest.approx(99 * math.exp(-1) / 2)
    for value in (0.5, math.nan):
        with pytest.raises(InputError, match=f"log probability {value}; allowed: 0 or less"):
            divergence([value], [-1.0], "kl")


def test_the_highest_divergence_comes_first_and_ties_go_by_id() -> None:
    flat, steep = [0.0], [-3.0]
    both = pool(a=dict.fromkeys(IDS, flat), b={"i0": flat, "i1": steep, "i3": steep})
    assert divergence_order(both, PAIR, np.ones(4, np.bool_), "kl") == (
        "i1",
        "i3",
        "i0",
    )  # i2 has no token
    assert divergence_order(both, PAIR, np.array([True, False, True, True]), "kl") == ("i3", "i0")
