"""Which models may be ranked together, and why others may not."""

import hashlib
import math
import random
from typing import Any

import pandas as pd
import pytest

from tests.reports.answer_rows import rows
from tests.telling import Telling, tells
from urs_inspect.logs._naming import version_number
from urs_inspect.reports.numbers._conditions import (
    Conditions,
    Difference,
    OtherPrompts,
    OtherQuestions,
    blocks_of,
    changed,
    conditions_of,
    digest_of,
    prompts_of,
)
from urs_inspect.reports.words._comparison import reasons_apart, unlike_notes

ONE = {"leisure-en-1": 5.0, "leisure-en-2": 6.0, "leisure-zh-1": 7.0}


def table(*models: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame([one for model in models for one in model])


def test_models_under_the_same_conditions_stand_together() -> None:
    [block] = blocks_of(table(rows("a", ONE), rows("b", ONE), rows("c", ONE, task_version="1-B")))
    assert block.models == ("a", "b", "c")
    assert block.differs_from_first == ()
    assert unlike_notes(block.unlike) == []
    assert len(block.table) == 9
    assert block.conditions.judges == ("p/judge",)
    assert block.conditions.rubric == "urs 1"
    assert len(block.conditions.prompts) == 8


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"judges": "p/other"}, "Other judges: p/other, not p/judge."),
        ({"judges": "p/judge, p/other"}, "Other judges: p/judge, p/other, not p/judge."),
        (
            {"references": "p/ref 01234567"},
            "Other references: p/ref 01234567, not those of the data.",
        ),
        ({"dataset_sha256": "b" * 64}, "Other data: d (sha256 bbbbbbbb), not d (sha256 aaaaaaaa)."),
        ({"rubric": "mine 1"}, "Another rubric: mine 1, while that of the first is urs 1."),
        (
            {"task_version": "2-A"},
            "Another version of the task, whose scores do not compare: 2-A, not 1-A.",
        ),
        ({"task": "theirs/own"}, "Another task: theirs/own, not urs_inspect/urs."),
        (
            {"prompt_sha256": "0"},
            "Judged with other prompts: they differ for 2 of the kinds of cases that both have.",
        ),
    ],
)
def test_other_conditions_stand_apart_and_say_why(other: dict[str, Any], reason: str) -> None:
    first, second = blocks_of(table(rows("c", ONE, **other), rows("a", ONE), rows("b", ONE)))
    assert first.models == ("a", "b")
    assert first.differs_from_first == ()
    assert second.models == ("c",)
    assert reasons_apart(second.differs_from_first) == [reason]


def test_the_order_of_a_panel_does_not_matter() -> None:
    [block] = blocks_of(table(rows("a", ONE, judges="p/x, p/y"), rows("b", ONE, judges="p/y, p/x")))
    assert block.conditions.judges == ("p/x", "p/y")


def test_models_are_ranked_over_the_questions_that_all_attempted() -> None:
    other = {"leisure-en-2": 1.0, "leisure-zh-1": 1.0, "leisure-en-9": 1.0}
    [block] = blocks_of(table(rows("a", ONE), rows("other", other), rows("b", ONE)))
    assert set(block.table["question"]) == {"leisure-en-2", "leisure-zh-1"}
    [note] = unlike_notes(block.unlike)
    assert tells(note, "2 questions ... 3 models attempted; ... a 3, b 3, other 3")


def asked(model: str, first: int, last: int, **others: Any) -> list[dict[str, Any]]:
    """Answers of a model to the questions with these numbers, the last one left out."""
    return rows(model, {f"leisure-en-{number}": 5.0 for number in range(first, last)}, **others)


def test_a_model_that_was_asked_few_stands_apart_and_leaves_the_others_their_questions() -> None:
    whole = [asked(name, 0, 100) for name in "abc"]
    first, second = blocks_of(table(asked("few", 0, 10), *whole))
    assert first.models == ("a", "b", "c")
    assert first.table["question"].nunique() == 100
    assert unlike_notes(first.unlike) == []
    assert second.models == ("few",)
    assert reasons_apart(second.differs_from_first) == [Telling("10 of the 100 questions ... half")]


def test_half_of_the_questions_are_enough() -> None:
    [block] = blocks_of(table(asked("a", 0, 100), asked("half", 0, 50)))
    assert block.table["question"].nunique() == 50
    assert len(blocks_of(table(asked("a", 0, 100), asked("less", 0, 49)))) == 2


def test_many_that_were_asked_few_stand_together_and_the_whole_one_by_itself() -> None:
    first, second = blocks_of(table(asked("whole", 0, 1846), asked("a", 0, 50), asked("b", 0, 50)))
    assert (first.models, second.models) == (("a", "b"), ("whole",))
    assert first.table["question"].nunique() == 50
    assert reasons_apart(second.differs_from_first) == [
        Telling("50 of the 50 questions ... half of the 1,846")
    ]


def test_steps_by_halves_do_not_wear_the_questions_away() -> None:
    # b leaves 60 of 100, c would leave 40: fewer than half of what a was asked, though more than
    # half of the 60.
    first, second = blocks_of(table(asked("a", 0, 100), asked("b", 40, 100), asked("c", 60, 110)))
    assert (first.models, second.models) == (("a", "b"), ("c",))
    assert reasons_apart(second.differs_from_first) == [
        Telling("40 of the 60 questions ... half of the 100 ... a")
    ]


@pytest.mark.parametrize("seed", range(20))
def test_blocks_keep_half_of_the_questions_and_do_not_go_by_the_order_of_logs(seed: int) -> None:
    drawn = random.Random(seed)
    models = []
    for name in "abcdefg":
        first = drawn.randrange(60)
        models.append(asked(name, first, first + drawn.choice([5, 10, 20, 40, 60])))
    found = blocks_of(table(*models))
    assert sorted(name for block in found for name in block.models) == list("abcdefg")
    for block in found:
        most = max(len(one) for one in models if one[0]["model"] in block.models)
        assert 2 * block.table["question"].nunique() >= most
        assert bool(block.differs_from_first) == (block is not found[0])
    drawn.shuffle(models)
    again = blocks_of(table(*models))
    assert [(one.models, one.differs_from_first, one.unlike) for one in again] == [
        (one.models, one.differs_from_first, one.unlike) for one in found
    ]
    for one, other in zip(found, again, strict=True):
        assert one.table.equals(other.table)


def test_an_unscored_answer_was_attempted() -> None:
    # Of b every answer failed; it was asked all the same.
    [block] = blocks_of(table(rows("a", ONE), rows("b", dict.fromkeys(ONE, float("nan")))))
    assert (len(block.table), unlike_notes(block.unlike)) == (6, [])


def test_a_model_without_a_common_question_stands_alone() -> None:
    first, second = blocks_of(
        table(rows("a", ONE), rows("other", {"leisure-en-8": 1.0}), rows("b", ONE))
    )
    assert (first.models, second.models) == (("a", "b"), ("other",))
    assert reasons_apart(second.differs_from_first) == [
        Telling("No question in common ... 3 questions")
    ]


def test_a_part_of_the_languages_has_the_same_prompts() -> None:
    # Other prompts for other kinds of cases are no other conditions.
    english = {name: score for name, score in ONE.items() if "-en-" in name}
    [block] = blocks_of(table(rows("a", ONE), rows("b", english)))
    assert block.models == ("a", "b")


def test_logs_of_one_model_about_other_questions_are_one_run() -> None:
    parts = [rows("a", {name: score}, log=f"/logs/{name}.eval") for name, score in ONE.items()]
    [block] = blocks_of(table(*parts, rows("b", ONE)))
    assert sorted(block.models) == ["a", "b"] and len(block.table) == 6


def test_an_answer_that_nobody_judged_has_no_conditions_of_its_own() -> None:
    empty = {"judges": "", "outcome": "no_response", "judge_finals": {}}
    answered = rows("a", {"leisure-en-1": 5.0}) + rows(
        "a", {"leisure-en-2": 1.0, "leisure-zh-1": 1.0}, **empty
    )
    [block] = blocks_of(table(answered, rows("b", ONE)))
    assert set(block.models) == {"a", "b"}


def test_blocks_of_more_models_come_first() -> None:
    judges = {"alone": "p/1", "a": "p/2", "b": "p/2", "c": "p/3", "d": "p/3", "e": "p/3"}
    blocks = blocks_of(table(*(rows(name, ONE, judges=judge) for name, judge in judges.items())))
    assert [len(block.models) for block in blocks] == [3, 2, 1]


def test_models_judged_with_and_without_structured_output_stand_together_with_a_note() -> None:
    [block] = blocks_of(
        table(rows("a", ONE, structured=1.0), rows("b", ONE), rows("c", ONE, structured=math.nan))
    )
    [note] = unlike_notes(block.unlike)
    assert block.models == ("a", "b", "c")
    assert (
        "a 100%" in note and "b 0%" in note and "c" not in note.split("with it: ")[1].split(".")[0]
    )
    for share in (0.0, 1.0):
        [block] = blocks_of(
            table(rows("a", ONE, structured=share), rows("b", ONE, structured=share))
        )
        assert unlike_notes(block.unlike) == []


# --- conditions of one log ---

UNASKED = {
    "judges": "",
    "judge_finals": {},
    "prompt_sha256": "",
    "rubric": "",
    "judge_language": "",
}


def test_conditions_are_those_of_the_judged_answers() -> None:
    empty = rows("a", {"leisure-en-1": 1.0, "leisure-zh-2": 1.0, "api-en-3": 1.0}, **UNASKED)
    both = "p/one, p/two"
    judged = rows("a", {"leisure-en-4": 5.0, "leisure-zh-5": 5.0}, judges=both)
    translated = rows("a", {"api-zh-6": 5.0}, judges=both, judge_language="en", rubric="urs 1")
    found = table(empty, judged, translated)
    prompts = {
        ("leisure", "en"): "en/leisure/en",
        ("leisure", "zh"): "zh/leisure/zh",
        ("api", "zh"): "en/api/zh",
    }
    assert prompts_of(found) == prompts
    named = ["api/en/api/zh", "leisure/en/leisure/en", "leisure/zh/leisure/zh"]
    digest = hashlib.sha256("\n".join(named).encode()).hexdigest()[:8]
    assert conditions_of(found) == Conditions(
        judges=("p/one", "p/two"),
        dataset="d",
        dataset_sha256="a" * 64,
        rubric="urs 1",
        prompts=digest,
        references="",
        task_version="1-A",
        task="urs_inspect/urs",
    )
    nobody = conditions_of(table(empty))
    assert (nobody.judges, nobody.rubric) == ((), "")
    assert nobody.prompts == digest_of({})


def test_the_rubric_is_that_of_most_judged_answers() -> None:
    old = rows("a", {"leisure-en-1": 5.0}, rubric="urs 0")
    new = rows("a", {"leisure-en-2": 5.0, "leisure-en-3": 5.0}, rubric="urs 1")
    unasked = [rows("a", {f"leisure-en-{number}": 1.0}, **UNASKED) for number in range(4, 9)]
    assert conditions_of(table(old, new, *unasked)).rubric == "urs 1"


def test_one_prompt_in_two_languages_is_one_prompt() -> None:
    english = {("leisure", "en"): "en/p", ("leisure", "fr"): "en/p"}
    assert digest_of(english) == digest_of({("leisure", "en"): "en/p"})
    assert digest_of(english) != digest_of({("leisure", "en"): "zh/p"})
    assert digest_of(english) != digest_of({("api", "en"): "en/p"})


def conditions(**others: Any) -> Conditions:
    given: dict[str, Any] = {
        "judges": ("p/b", "p/a"),
        "dataset": "d",
        "dataset_sha256": "0123456789",
        "rubric": "urs 1",
        "prompts": "01",
        "references": "",
        "task_version": "1-A",
    }
    return Conditions(**{**given, **others})


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({}, []),
        ({"prompts": "02"}, []),
        ({"task_version": "1-B"}, []),
        ({"judges": ("p/a", "p/b")}, []),
        ({"dataset": "renamed"}, []),
        ({"task": "o/urs"}, [Difference("task", "o/urs", "urs_inspect/urs")]),
        ({"task_version": "2-A"}, [Difference("version", "2-A", "1-A")]),
        (
            {"dataset_sha256": "abcdefghijk"},
            [Difference("content", "d (sha256 abcdefgh)", "d (sha256 01234567)")],
        ),
        ({"dataset_sha256": ""}, [Difference("content", "d", "d (sha256 01234567)")]),
        ({"rubric": "urs 2"}, [Difference("rubric", "urs 2", "urs 1")]),
        ({"judges": ("p/b",)}, [Difference("panel", "p/b", "p/b, p/a")]),
        ({"references": "mine"}, [Difference("references", "mine", "")]),
        (
            {"references": "mine", "task_version": "2"},
            [Difference("version", "2", "1-A"), Difference("references", "mine", "")],
        ),
    ],
)
def test_what_differs_between_two_conditions(
    other: dict[str, Any], named: list[Difference]
) -> None:
    assert conditions(**other).differences(conditions()) == named
    assert (conditions(**other).key == conditions().key) == (not named)


def test_unhashed_data_are_told_apart_by_their_name() -> None:
    first = conditions(dataset_sha256="")
    assert first.differences(conditions(dataset_sha256="", dataset="e")) == [
        Difference("content", "d", "e")
    ]
    assert first.data == "d"


@pytest.mark.parametrize(("version", "number"), [("1-A", "1"), ("2", "2"), ("1.2-B", "1.2")])
def test_the_number_of_a_version(version: str, number: str) -> None:
    assert version_number(version) == number


def test_only_what_both_have_can_have_changed() -> None:
    assert changed({"a": "1", "b": "2", "c": "3"}, {"b": "2", "c": "4", "d": "5"}) == ["c"]


# --- what a block holds ---


def test_why_a_block_is_not_the_first_in_numbers() -> None:
    # The whole one was asked 100, the first block is about 30; 10 are in both.
    first, second = blocks_of(table(asked("a", 0, 30), asked("b", 0, 30), asked("whole", 20, 120)))
    assert second.differs_from_first == (OtherQuestions(10, 30, 100, "whole"),)
    assert first.unlike.common == 30 and second.unlike.common == 100
    first, second = blocks_of(table(asked("a", 0, 60), asked("b", 0, 40), asked("few", 35, 45)))
    assert second.differs_from_first == (OtherQuestions(5, 40, 60, "a"),)
    assert first.unlike.attempted == {"a": 60, "b": 40}


def test_other_prompts_are_counted_by_kinds_of_cases() -> None:
    kinds = {"leisure-en-1": 5.0, "leisure-zh-2": 5.0, "api-en-3": 5.0}
    other = rows("c", kinds)
    for one in other[:2]:
        one["prompt_sha256"] = "changed"
    only_there = rows("c", {"api-zh-4": 5.0}, prompt_sha256="new")
    _, second = blocks_of(table(rows("a", kinds), rows("b", kinds), other + only_there))
    assert second.differs_from_first == (OtherPrompts(2),)


def test_a_block_has_the_prompts_of_all_its_models() -> None:
    english = {"leisure-en-1": 5.0, "leisure-en-2": 5.0}
    wide = {**english, "leisure-zh-3": 5.0}
    [block] = blocks_of(table(rows("a", wide, log="1"), rows("b", english, log="2")))
    assert block.conditions.prompts == digest_of(prompts_of(table(rows("a", wide))))
    # Parts of one run, of which the first has one language.
    parts = [rows("a", english, log="1"), rows("a", {"leisure-zh-3": 5.0}, log="2")]
    [block] = blocks_of(table(*parts))
    assert block.conditions.prompts == digest_of(prompts_of(table(rows("a", wide))))


def test_parts_of_a_run_by_another_judge_are_no_part_of_it() -> None:
    parts = [
        rows("a", {"leisure-en-1": 5.0, "leisure-en-2": 5.0}, log="1"),
        rows("a", {"leisure-en-3": 5.0}, log="2", judges="p/other"),
    ]
    assert [block.unlike.common for block in blocks_of(table(*parts))] == [2, 1]


def test_the_share_of_structured_judgements_is_a_mean() -> None:
    some = rows("a", {"leisure-en-1": 5.0}, structured=1.0) + rows(
        "a", {"leisure-en-2": 5.0, "leisure-en-3": 5.0}, structured=0.0
    )
    none = rows("b", {f"leisure-en-{number}": 5.0 for number in (1, 2, 3)}, structured=0.0)
    [block] = blocks_of(table(some, none))
    assert block.unlike.structured == {"a": 33, "b": 0}
    assert block.unlike.attempted == {}
