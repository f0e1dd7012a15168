"""What a judge is asked in a case review, and how its reply is read."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from urs_inspect._util import InputError, choices, word_set
from urs_inspect.judging._entries import taken_by_name
from urs_inspect.judging._failures import JudgeFailure
from urs_inspect.judging._frames import Frame, JudgePrompt, template_frame
from urs_inspect.judging._objects import unwrap
from urs_inspect.judging._replies import agreed, known, objects_with, spellings
from urs_inspect.judging._score_reply import shown, without_record
from urs_inspect.rubrics import Rubric, normalise_key

_TEMPLATES = Path(__file__).parent / "templates"
REVIEW_LANGUAGES = ("en", "zh")
"""Languages that the instructions of a case review are written in."""

REVIEW_AGAIN = {
    "en": (
        "Your reply could not be used: {reason} Review the same question again and end with the"
        " JSON object."
    ),
    "zh": "你的回复无法使用：{reason} 请重新审核同一个问题，并以 JSON 对象结尾。",
}
"""What is sent where a review could not be read."""

YES_OR_NO = "yes or no"
_REVIEW = spellings(
    understandable="understandable is_understandable 可理解",
    self_contained="self_contained is_self_contained 信息完整",
    personal_data="personal_data has_personal_data 个人信息",
    harmful="harmful is_harmful 有害",
    intent="intent user_intent 意图",
    plausible_intents="plausible_intents plausible_intent 可能的意图",
)
_REVIEWS_TAKEN = taken_by_name(frozenset(_REVIEW), bool)

WANTED = {"understandable": True, "self_contained": True, "personal_data": False, "harmful": False}
"""Questions that a case review answers with yes or no -> what the answer must be for a case to
pass.
"""
FLAGS = tuple(WANTED)
_YES = word_set("yes true y 是 有 1")
_NO = word_set("no false n 否 不是 无 没有 0")


def case_review_prompt(rubric: Rubric, language: str, question: str) -> JudgePrompt:
    """Ask for a review of a question by the rubric's intents.

    The one that the user named is not shown.
    """
    if language not in REVIEW_LANGUAGES or language not in rubric.languages:
        raise InputError(
            f"judge_language: unknown value '{language}'; allowed: {choices(REVIEW_LANGUAGES)}"
        )
    intents = []
    for name, intent in rubric.intents.items():
        intents.append((name, intent.text[language].definition))
    frame = _case_review_frame(f"{rubric.name} {rubric.version}", language, tuple(intents))
    prompt = frame.prompt({"question": question}, _REVIEWS_TAKEN)
    return replace(prompt, language=language)


@lru_cache(maxsize=8)
def _case_review_frame(rubric: str, language: str, intents: tuple[tuple[str, str], ...]) -> Frame:
    example = {
        "understandable": YES_OR_NO,
        "self_contained": YES_OR_NO,
        "personal_data": YES_OR_NO,
        "harmful": YES_OR_NO,
        "intent": "the_intent",
        "plausible_intents": ["the_intent", "another_one"],
    }
    context = {"intents": [{"id": name, "definition": definition} for name, definition in intents]}
    version = f"case review 2, {rubric}"
    file = _TEMPLATES / f"case_review.{language}.jinja"
    return template_frame(file, version, ("question",), context, example)


@dataclass(frozen=True)
class CaseReview:
    """A review of a case.

    Flag -> answer, the most probable intent, and every plausible intent, that one included.
    """

    flags: dict[str, bool]
    intent: str
    plausible: tuple[str, ...]


def read_case_review(text: str, intents: Collection[str]) -> CaseReview | JudgeFailure:
    """Read the review of the last object that names most of what was asked for.

    A flag that is missing or neither yes nor no is a failure, and so is an intent that does not
    exist.
    """
    reviews = objects_with(
        text, _REVIEW, 4, lambda value: value if isinstance(value, list) else unwrap(value)
    )
    given = max((values for _, values in reviews), key=len, default={})
    if not given:
        return without_record(text, "the review")
    for key in (*FLAGS, "intent", "plausible_intents"):
        if not _flat(given.get(key, [])):
            return JudgeFailure("unparseable", f"The record has no '{key}'.")
    flags: dict[str, bool] = {}
    for flag in FLAGS:
        answer = agreed(f"answers to '{flag}'", given[flag], partial(_yes_or_no, flag))
        if isinstance(answer, JudgeFailure):
            return answer
        flags[flag] = answer
    ids = {normalise_key(name): name for name in intents}
    find = partial(known, ids=ids, what="intent")
    intent = agreed("intents", _flat(given["intent"]), find)
    if isinstance(intent, JudgeFailure):
        return intent
    plausible = [intent]
    for value in _flat(given["plausible_intents"]):
        name = find(value)
        if isinstance(name, JudgeFailure):
            return name
        plausible.append(name)
    return CaseReview(flags, intent, tuple(dict.fromkeys(plausible)))


def _flat(values: Iterable[Any]) -> list[Any]:
    flat = []
    for value in values:
        flat += value if isinstance(value, list) else [value]
    return flat


def _yes_or_no(flag: str, value: object) -> bool | JudgeFailure:
    word = ""
    if isinstance(value, (str, int)):
        word = str(value).strip().strip("*.。").casefold()
    if word in _YES | _NO:
        return word in _YES
    return JudgeFailure("unparseable", f"'{flag}' is {shown(value)}, neither yes nor no.")
