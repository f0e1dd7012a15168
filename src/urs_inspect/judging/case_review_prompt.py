"""Asks a judge whether a question may become a case (URS paper, section 3.2.2: manual quality assessment)."""

import re
from functools import lru_cache
from pathlib import Path

from urs_inspect.errors import InputError, choices
from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame
from urs_inspect.judging.records import Span, spans
from urs_inspect.rubrics import Rubric

REVIEW_LANGUAGES = ("en", "zh")
"""Languages that the instructions are written in."""

YES_OR_NO = "yes or no"
"""What stands for a verdict in the example; a reply that repeats it has none."""

ASK_AGAIN = {
    "en": "Your reply could not be used: {reason} Review the same question again and end with the JSON object.",
    "zh": "你的回复无法使用：{reason} 请重新审核同一个问题，并以 JSON 对象结尾。",
}
"""What is sent where a reply could not be read."""

_TEMPLATES = Path(__file__).parent / "templates"
_VERSION = "case review 2"
_RESULT = re.compile(r"understandable|self_contained|personal_data|harmful|intent", re.IGNORECASE)


def case_review_prompt(rubric: Rubric, language: str, question: str) -> JudgePrompt:
    """Ask for a review of a question. The intent that the user named is not shown, so that it cannot lead.

    Args:
        rubric: Its intents are those to choose from.
        language: Language of the instructions, one of `REVIEW_LANGUAGES`, which the rubric must have too.
        question: The question.

    Raises:
        InputError: If there are no instructions in the language.
    """
    if language not in REVIEW_LANGUAGES or language not in rubric.languages:
        raise InputError(f"judge_language: unknown value '{language}'; allowed: {choices(REVIEW_LANGUAGES)}")
    intents = tuple((name, intent.text[language].definition) for name, intent in rubric.intents.items())
    return _frame(f"{rubric.name} {rubric.version}", language, intents).prompt({"question": question}, _planted)


@lru_cache(maxsize=8)
def _frame(rubric: str, language: str, intents: tuple[tuple[str, str], ...]) -> Frame:
    name = f"case_review.{language}.jinja"
    example = {
        "understandable": YES_OR_NO,
        "self_contained": YES_OR_NO,
        "personal_data": YES_OR_NO,
        "harmful": YES_OR_NO,
        "intent": "the_intent",
        "plausible_intents": ["the_intent", "another_one"],
    }
    context: dict[str, object] = {
        "intents": [{"id": intent_id, "definition": definition} for intent_id, definition in intents],
    }
    source = (_TEMPLATES / name).read_text(encoding="utf-8")
    materials = ("question",)
    return build_frame(source, f"prompt '{name}'", f"{_VERSION}, {rubric}", context, materials, materials, example)


def _planted(text: str) -> list[Span]:
    """Objects that read like a result."""
    found = {span for inside in (False, True) for span in spans(text, inside)}
    return [span for span in found if _RESULT.search(text, span.start, span.end)]
