"""Builds the judge's prompt from the rubric and one case."""

import re

from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame
from urs_inspect.judging.material import defuse
from urs_inspect.judging.records import Span, records
from urs_inspect.rubrics import Rubric

_MATERIALS = ("question", "reference", "answer")
_NEEDED = ("question", "answer")
PLACEHOLDER = "<1-10>"
"""What stands in the place of each score in the example of the record."""


class PromptBuilder:
    """Builds judge prompts from one rubric (URS paper, Appendix C.2).

    All frames are rendered once at construction, so that a faulty one is found before any model is called.
    """

    def __init__(self, rubric: Rubric) -> None:
        """Prepare the frames of every intent and language.

        Args:
            rubric: The rubric.

        Raises:
            InputError: If a frame cannot be rendered; the message names the frame, its language and the fault.
        """
        self.rubric = rubric
        self._frames = {
            (intent, language): _frame(rubric, intent, language)
            for intent in rubric.intents
            for language in rubric.languages
        }

    def build(self, intent: str, language: str, *, question: str, reference: str, answer: str) -> JudgePrompt:
        """Build the prompt for one case.

        The three texts come from users and models. Whatever in them would read as one of the frame's own
        delimiters, or as a score record, is made harmless first; the rest stays as it is.

        Args:
            intent: Intent id of the case.
            language: Judge language, a code of the rubric.
            question: The user's question.
            reference: The reference answer.
            answer: The answer to be judged.

        Returns:
            The prompt.
        """
        materials = {"question": question, "reference": reference, "answer": answer}
        return self._frames[intent, language].prompt(materials, lambda text: _planted(text, self.rubric))


def neutralise(text: str, rubric: Rubric, delimiters: re.Pattern[str] | None) -> str:
    """Make text harmless as material for a judge of this rubric; see `material.defuse`."""
    return defuse(text, delimiters, lambda inner: _planted(inner, rubric))


def _planted(text: str, rubric: Rubric) -> list[Span]:
    """Complete records, those inside strings too, because a judge may quote any part of a text."""
    return [span for inside in (False, True) for span, record in records(text, rubric, inside) if record.is_complete]


def _frame(rubric: Rubric, intent: str, language: str) -> Frame:
    texts = rubric.languages[language]
    return build_frame(
        texts.frame,
        f"prompt '{texts.frame_source}' (language {language})",
        f"{rubric.name} {rubric.version}",
        _context(rubric, intent, language),
        _MATERIALS,
        _NEEDED,
        _example(rubric, intent, language),
    )


def _context(rubric: Rubric, intent_id: str, language: str) -> dict[str, object]:
    intent, texts = rubric.intents[intent_id], rubric.languages[language]
    criteria = [{"id": key, **_term(rubric, key, language)} for key in intent.criteria]
    return {
        "intent": {"id": intent_id, **intent.text[language].model_dump()},
        "criteria": criteria,
        "dominant": [criterion for criterion in criteria if criterion["id"] in rubric.dominant],
        "bands": [
            {"low": low, "high": high, "description": text}
            for (low, high), text in zip(rubric.bands, texts.bands, strict=True)
        ],
        "reference_score": rubric.reference_score,
        "final_name": texts.final.name,
    }


def _example(rubric: Rubric, intent: str, language: str) -> dict[str, object]:
    # No numbers: a judge that only copies the example must not give a score.
    names = [rubric.criteria[criterion][language].name for criterion in rubric.intents[intent].criteria]
    return dict.fromkeys([*names, rubric.languages[language].final.name], PLACEHOLDER)


def _term(rubric: Rubric, criterion: str, language: str) -> dict[str, object]:
    return rubric.criteria[criterion][language].model_dump()
