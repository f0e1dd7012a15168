"""Twins of answers: each rule, in both languages, on real and on awkward texts."""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from tests.reports.golden_files import check_golden
from urs_inspect._util import InputError
from urs_inspect.judges._twins import (
    KINDS,
    PADDED,
    Kind,
    Original,
    _sentences,
    chosen_kinds,
    known_maker,
    language_of,
    make_twin,
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
        "It will be late. In May, not."
    )
    assert make_twin(KINDS["confident"], Original("这是不可能的。", "zh"), "") is None


def test_a_negation_is_of_one_sentence_and_none_is_negated_twice() -> None:
    assert make_twin(KINDS["negated"], Original("It is not so. Do not.", "en"), "") is None
    text = "A is b. C is d."
    assert twin("negated", Original(text, "en")) in ("A is not b. C is d.", "A is b. C is not d.")


def test_the_maker_of_the_judge_is_named() -> None:
    assert "OpenAI" in twin("family", ENGLISH) and "Anthropic" in twin("family", CHINESE)
    assert "by Google," in twin("family", replace(ENGLISH, judge="openrouter/google/gemini-3"))
    assert "by acme," in twin("family", replace(ENGLISH, judge="acme/model"))


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_language_without_rules_has_the_kinds_that_need_none(name: str) -> None:
    german = Original("Es sind 42 km. Dort regnet es oft. Nimm den Zug, er ist schnell.", "de")
    german = Original(german.text, "de", other="Etwas anderes.")
    assert (make_twin(KINDS[name], german, "") is not None) == (name in NEEDS_NO_TEXTS)


def test_a_twin_that_equals_its_answer_is_none() -> None:
    assert make_twin(KINDS["shuffled"], Original("a. a. a.", "en"), "") is None
    assert make_twin(KINDS["other_answer"], ENGLISH, "") is None


def test_kinds_are_chosen_by_name_and_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urs_inspect.judges._twins.KINDS", dict(KINDS))
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


@pytest.mark.parametrize(
    ("text", "language", "kept"),
    [
        ("Such must-see sights.", "en", "must-see"),
        ("They can't help. Nor do we.", "en", "can't"),
        ("I have a garden.", "en", "have a"),
        ("Here are some of them.", "en", "Here are"),
        ("A few things are: a, b.", "en", "are: a"),
        ("We can only hope.", "en", "can only"),
        ("产品具有独特性，也很有趣。", "zh", "具有"),
        ("以下是几个例子。", "zh", "以下是"),
        ("我们不是这样，于是走了。", "zh", "于是"),
        ("如果还有问题，可以随时问我。", "zh", "可以"),
    ],
)
def test_a_negation_makes_no_nonsense(text: str, language: str, kept: str) -> None:
    negated = make_twin(KINDS["negated"], Original(text, language), "")
    assert negated is None or kept in negated


@pytest.mark.parametrize(
    ("text", "language", "negated"),
    [
        ("It can help.", "en", "It cannot help."),
        ("- **Sun:** It is hot.\n- Is it?", "en", "- **Sun:** It is not hot.\n- Is it?"),
        ("He has eaten.", "en", "He has not eaten."),
        ("他是医生。", "zh", "他不是医生。"),
        ("你必须付款。", "zh", "你不必付款。"),
        ("那里有许多树。", "zh", "那里没有许多树。"),
    ],
)
def test_a_negation_is_grammatical(text: str, language: str, negated: str) -> None:
    assert twin("negated", Original(text, language)) == negated


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("1. One\n2、Two\n**3. Three**\n(4) Four", "en"),
        ("Step 2: mix\n[Message 3]", "en"),
        ("The 1st and the 2nd", "en"),
        ("Do `f(1)`:\n```\nreturn 0\n```", "en"),
        ("1、首先\n2.7 推荐\n第3步：完成", "zh"),
    ],
)
def test_numbers_of_items_and_code_do_not_change(text: str, language: str) -> None:
    assert make_twin(KINDS["wrong_number"], Original(text, language), "") is None


@pytest.mark.parametrize("text", ["It took 37.", "He was 37. Then he left.", "- It cost 37 euros."])
def test_a_number_at_the_end_of_a_sentence_changes(text: str) -> None:
    assert "37" not in twin("wrong_number", Original(text, "en"))


@pytest.mark.parametrize(
    ("text", "language", "sure"),
    [
        ("He may have lived longer.", "en", "He would have lived longer."),
        ("They might be late.", "en", "They will be late."),
        ("It is possible that it rains.", "en", "It rains."),
        ("It would likely rain.", "en", "It would rain."),
        ("疾病可能会恶化。", "zh", "疾病会恶化。"),
    ],
)
def test_without_doubt_a_sentence_is_still_one(text: str, language: str, sure: str) -> None:
    assert twin("confident", Original(text, language)) == sure


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ask what you could see. You may not. I think so.", "en"),
        ("Any questions you may have.", "en"),
        ("```\nmaybe = might + may\n```", "en"),
        ("我想卖玉。无限可能，十个可能的日期。", "zh"),
        ("更可能成功，像好像一样。", "zh"),
    ],
)
def test_what_is_no_doubt_stays(text: str, language: str) -> None:
    assert make_twin(KINDS["confident"], Original(text, language), "") is None


def test_shuffled_sentences_keep_lists_headings_and_quotations() -> None:
    text = '# Title\n\n1. **One.** Two "three." Four.\n   a. Five, e.g. six.\n'
    shuffled = twin("shuffled", Original(text, "en"))
    assert [line[:3] for line in shuffled.splitlines()] == ["# " + shuffled[2], "", "1. ", "   "]
    assert shuffled.splitlines()[3].startswith("   a. ")
    for sentence in ("Title", "One.", 'Two "three."', "Four.", "Five, e.g. six."):
        assert sentence in shuffled


@pytest.mark.parametrize("text", ["{\n'a': 1.\n}\nB. C.", "| a | b |\n| c | d |\nE. F. G."])
def test_code_and_tables_are_not_shuffled(text: str) -> None:
    assert make_twin(KINDS["shuffled"], Original(text, "en"), "") is None


@pytest.mark.parametrize(
    "text",
    [
        "• One.\n• Two.",
        "Roses are red,\nviolets blue,\nas you.",
        "1.一。\n2.二。",
        "**A** is. B is.",
    ],
)
def test_lists_and_poems_are_not_made_into_a_list(text: str) -> None:
    assert make_twin(KINDS["markdown"], Original(text, "en"), "") is None


def test_a_greeting_in_a_letter_is_no_point() -> None:
    text = "Dear A,\n\nIt is here. It works.\nIt is yours.\nIt is new.\n\nBest,"
    lines = twin("markdown", Original(text, "en")).splitlines()
    assert [line for line in lines if not line.startswith("- **It** ")] == [
        *("## Answer", "", "Dear A,", "", "", "Best,"),
    ]


def test_sentences_end_behind_the_quotation_mark_that_closes_them() -> None:
    assert _sentences('He said: "It rains." Then he left.') == [
        'He said: "It rains."',
        "Then he left.",
    ]
    assert _sentences('他说："下雨了。"然后走了。"回来！"她说。') == [
        '他说："下雨了。"',
        "然后走了。",
        '"回来！"',
        "她说。",
    ]
    assert _sentences("他说：“下雨了。”然后走了。“回来！”她说。")[1] == "然后走了。"


def test_bold_covers_whole_words_and_quotations_stay_whole() -> None:
    english = twin("markdown", Original("Well-known facts. Sincerely.", "en"))
    assert english.splitlines()[2:] == ["- **Well-known** facts.", "- **Sincerely**."]
    chinese = twin("markdown", Original("他说：“好。”因此，我们去了那里。", "zh"))
    assert chinese.splitlines()[2:] == ["- **他说**：“好。”", "- **因此**，我们去了那里。"]


def test_padding_restates_whole_sentences_only() -> None:
    text = (
        '**Be very curious.** It helps much.\n\nDear reader,\nHe said: "It rains a lot. It pours."'
    )
    added = twin("padded_double", Original(text, "en")).removeprefix(text)
    assert "Be very curious. " in added and "He said: It rains a lot." in added
    assert "**" not in added and ",." not in added and "Dear reader" not in added


@pytest.mark.parametrize(
    ("sentence", "restated", "language"),
    [
        ("He said: “It rains a lot here.", "He said: It rains a lot here.", "en"),
        ("It rains a lot here” they say.", "It rains a lot here they say.", "en"),
        ("They say “it rains a lot” here.", "They say “it rains a lot” here.", "en"),
        ('They say "it rains a lot" here.', 'They say "it rains a lot" here.', "en"),
        ("Rain is __very__ common *here*.", "Rain is very common *here*.", "en"),
        ("他说过「这里几乎每天都要下一场大雨。", "他说过这里几乎每天都要下一场大雨。", "zh"),
        (
            "这里几乎每天都要下一场大雨」他这样说过。",
            "这里几乎每天都要下一场大雨他这样说过。",
            "zh",
        ),
        ("他说过「这里」几乎每天都要下一场大雨。", "他说过「这里」几乎每天都要下一场大雨。", "zh"),
    ],
)
def test_padding_restates_without_marks_that_a_sentence_does_not_close(
    sentence: str, restated: str, language: str
) -> None:
    added = twin("padded_double", Original(sentence, language)).removeprefix(sentence)
    assert restated in added


@pytest.mark.parametrize("name", ["padded_half", "authority", "order", "other_boilerplate"])
def test_what_follows_a_block_of_code_is_outside_it(name: str) -> None:
    assert twin(name, Original("Run this line:\n```\nx = 1", "en")).count("```") == 2


class Published(NamedTuple):
    """A published answer of a model."""

    question: str
    model: str
    text: str


def published(folder: Path, language: str) -> Iterator[Published]:
    """Answers to the Vicuna-80 questions, and to Chinese questions of AlignBench."""
    if language == "en":
        for file in sorted((folder / "prd/generations").glob("answer_*.jsonl")):
            for line in file.read_text("utf-8").splitlines():
                row = json.loads(line)
                yield Published(str(row["question_id"]), row["model_id"], row["text"])
        return
    for form in ("based", "free"):
        file = folder / f"critiquellm/pointwise/alignbench_reference_{form}_sample.jsonl"
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield Published(row["question"], row["model"], row["response"])


def excerpt(original: str, changed: str) -> str:
    """At most 120 characters around the first change."""
    pairs = enumerate(zip(original, changed, strict=False))
    first = next((place for place, (a, b) in pairs if a != b), min(len(original), len(changed)))
    return changed[max(0, first - 40) : first + 60]


@pytest.mark.data
def test_twins_of_published_answers(data_dir: Path) -> None:
    """Ten of each kind and language, of different questions, which were read by eye."""
    lines = []
    for language in ("en", "zh"):
        answers = list(published(data_dir / "real_judges", language))
        for kind in KINDS.values():
            mixed = list(answers)
            Random(f"{kind.name}/{language}").shuffle(mixed)
            made: dict[str, str] = {}
            for answer in mixed:
                other = next(each.text for each in mixed if each.question != answer.question)
                original = Original(answer.text, language, "openai/gpt-4.1", other)
                text = make_twin(kind, original, f"{answer.question}/{answer.model}")
                if text is None or answer.question in made or len(made) == 10:
                    continue
                sha256 = hashlib.sha256(text.encode()).hexdigest()
                name = hashlib.sha256(answer.question.encode()).hexdigest()[:8]
                question = answer.question if language == "en" else name
                shown = json.dumps(excerpt(answer.text, text), ensure_ascii=False)
                made[answer.question] = f"{kind.name} {language} {question} {answer.model}"
                lines += [made[answer.question], f"  {sha256}", f"  {shown}"]
    check_golden("twins_of_published_answers", "\n".join(lines) + "\n")


def test_padding_doubles_the_length_of_real_answers() -> None:
    cases = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    for case in cases:
        language = {"EN": "en", "CN": "zh"}[case["language"]]
        text = twin("padded_double", Original(case["reference_ans"], language))
        assert 0.9 < math.log2(len(text) / len(case["reference_ans"])) < 1.6


@pytest.mark.parametrize(
    ("text", "known", "language"),
    [
        ("The cat is on the mat and it is not in the house.", "", "en"),
        ("Katzen schlafen gern auf warmen Sofas, besonders im Winter.", "", ""),
        ("Katzen schlafen in Berlin gern auf warmen Sofas und Kissen.", "", ""),
        ("猫在垫子上。 Cat", "", "zh"),
        ("The word 猫 is the one for a cat in this language.", "", "en"),
        ("猫はマットの上にいます。", "", ""),
        ("Whatever it is.", "ZH", "zh"),
        ("The cat is on the mat and it is not in the house.", "English", "en"),
        ("12 + 30", "", ""),
        ("", "", ""),
    ],
)
def test_the_language_of_a_text_is_told_by_its_words(text: str, known: str, language: str) -> None:
    assert language_of(text, known) == language


def test_makers_are_known_by_a_part_of_a_model_s_name() -> None:
    names = ("openai/o3", "x/Claude-4", "openrouter/meta-LLAMA-3", "a/gemini-2", "acme/one")
    makers = [known_maker(name) for name in names]
    assert makers == ["OpenAI", "Anthropic", "Meta", "Google", ""]


def test_kinds_come_in_their_own_order() -> None:
    names = ["shuffled", "padded", "truncated"]
    found = [kind.name for kind in chosen_kinds(names)]
    assert found == ["padded_half", "padded_double", "truncated", "shuffled"]


@pytest.mark.parametrize(
    ("text", "is_cut"), [("x" * 20, True), ("x" * 19, False), ("one two three four five", True)]
)
def test_the_last_third_of_an_answer_of_twenty_characters_is_cut(text: str, is_cut: bool) -> None:
    [kind] = chosen_kinds(["truncated"])
    found = make_twin(kind, Original(text, "en"), "seed")
    assert found == (text[: 2 * len(text) // 3].rstrip() if is_cut else None)


def test_two_sentences_are_not_shuffled_and_other_blanks_make_no_twin() -> None:
    [shuffled] = chosen_kinds(["shuffled"])
    seeds = [str(seed) for seed in range(20)]
    assert {make_twin(shuffled, Original("One. Two.", "en"), seed) for seed in seeds} == {None}
    three = {make_twin(shuffled, Original("One. Two. Three.", "en"), seed) for seed in seeds}
    assert len(three - {None}) > 2
    blanks = Kind("blanks", "nothing", lambda original, _: f" {original.text}\n", "with blanks")
    assert make_twin(blanks, Original("One. Two.", "en"), "seed") is None
