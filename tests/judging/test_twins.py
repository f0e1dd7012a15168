"""Twins of answers: each rule, in both languages, on real and on awkward texts."""

import json
import math
from pathlib import Path

import pytest

from tests.reports.golden_files import check_golden
from urs_inspect._util import InputError
from urs_inspect.judging._twins import (
    KINDS,
    PADDED,
    Kind,
    Original,
    chosen_kinds,
    make_twin,
    maker_of,
    register_twin,
)

SAMPLE = Path(__file__).parents[2] / "src/urs_inspect/datasets/urs_sample.jsonl"
NEEDS_NO_TEXTS = {"wrong_number", "truncated", "other_answer", "shuffled"}
ENGLISH = Original(
    "Perhaps it is 42 km. It can rain there. I think the train takes 3 hours.", "en", "openai/x"
)
CHINESE = Original("距离大约是42公里。那里可以坐火车。一般来说，需要3个小时。", "zh", "anthropic/x")


def twin(name: str, original: Original) -> str:
    found = make_twin(KINDS[name], original, "seed")
    assert found is not None
    return found


@pytest.mark.parametrize("original", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("name", [name for name in KINDS if name != "other_answer"])
def test_every_kind_changes_the_answer_the_same_way_each_time(
    name: str, original: Original
) -> None:
    assert twin(name, original) == twin(name, original) != original.text


@pytest.mark.parametrize(("name", "least"), zip(PADDED, (0.5, 1.0), strict=True))
@pytest.mark.parametrize("original", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_padding_keeps_the_answer_and_adds_its_share(
    name: str, least: float, original: Original
) -> None:
    longer = twin(name, original)
    assert longer.startswith(original.text)
    added = len(longer) / len(original.text) - 1
    assert least <= added < least + 1.1  # no more than one sentence above


@pytest.mark.parametrize("text", ["```\ncode\n```", "42", "1. a\n2. b"])
def test_padding_an_answer_without_sentences_takes_neutral_ones(text: str) -> None:
    for language in ("en", "zh"):
        assert len(twin("padded_double", Original(text, language))) >= 2 * len(text)


def test_one_digit_changes_and_no_number_of_a_list() -> None:
    text = "1. first 250 g\n2. second"
    changed = twin("wrong_number", Original(text, "en"))
    assert sum(a != b for a, b in zip(text, changed, strict=True)) == 1
    assert changed.startswith("1. first ") and changed.endswith(" g\n2. second")
    assert make_twin(KINDS["wrong_number"], Original("1. no numbers\n2. here", "en"), "") is None


def test_words_of_doubt_go_and_others_stay() -> None:
    assert twin("confident", Original("It might be late. In May, maybe not.", "en")) == (
        "It is late. In May, not."
    )
    assert make_twin(KINDS["confident"], Original("这是不可能的。", "zh"), "") is None


def test_a_negation_is_of_one_sentence_and_none_is_negated_twice() -> None:
    assert make_twin(KINDS["negated"], Original("It is not so. Do not.", "en"), "") is None
    text = "A is b. C is d."
    assert twin("negated", Original(text, "en")) in ("A is not b. C is d.", "A is b. C is not d.")


def test_the_maker_of_the_judge_is_named() -> None:
    assert "OpenAI" in twin("family", ENGLISH) and "Anthropic" in twin("family", CHINESE)
    assert maker_of("openrouter/google/gemini-3") == "Google"
    assert maker_of("acme/model") == "acme"


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_language_without_rules_has_the_kinds_that_need_none(name: str) -> None:
    german = Original("Es sind 42 km. Dort regnet es oft. Nimm den Zug, er ist schnell.", "de")
    german = Original(german.text, "de", other="Etwas anderes.")
    assert (make_twin(KINDS[name], german, "") is not None) == (name in NEEDS_NO_TEXTS)


def test_a_twin_that_equals_its_answer_is_none() -> None:
    assert make_twin(KINDS["shuffled"], Original("a. a. a.", "en"), "") is None
    assert make_twin(KINDS["other_answer"], ENGLISH, "") is None


def test_kinds_are_chosen_by_name_and_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urs_inspect.judging._twins.KINDS", dict(KINDS))
    own = Kind("louder", "nothing", lambda original, _: original.text.upper(), "in capitals")
    register_twin(own)
    assert [kind.name for kind in chosen_kinds(["louder", "padded"])] == [*PADDED, "louder"]
    with pytest.raises(InputError, match="louder"):
        register_twin(own)
    with pytest.raises(InputError, match=r"nope.*padded_half"):
        chosen_kinds(["nope"])


def test_twins_of_the_embedded_answers() -> None:
    """Ten of each kind and language, which were read by eye."""
    cases = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    lines = []
    for label, language in (("EN", "en"), ("CN", "zh")):
        answers = [case["reference_ans"] for case in cases if case["language"] == label]
        for kind in KINDS.values():
            made = []
            for place, answer in enumerate(answers):
                original = Original(answer, language, "openai/gpt-4.1", answers[place - 1])
                text = make_twin(kind, original, f"{place}")
                if text is not None:
                    made.append(f"## {kind.name}, {language}, {place}\n\n{text}\n")
            lines += made[:10]
    check_golden("twins", "\n".join(lines))


def test_padding_doubles_the_length_of_real_answers() -> None:
    cases = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    for case in cases:
        language = {"EN": "en", "CN": "zh"}[case["language"]]
        text = twin("padded_double", Original(case["reference_ans"], language))
        assert 0.9 < math.log2(len(text) / len(case["reference_ans"])) < 1.6
