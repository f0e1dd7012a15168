"""Builds the judge's prompt from the rubric and one case."""

import hashlib
import json
import re
from dataclasses import dataclass

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from urs_inspect.errors import InputError
from urs_inspect.judging.records import Span, records
from urs_inspect.rubrics import Rubric

_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)
_BLOCKS = {"instructions", "case"}
_MATERIALS = ("question", "reference", "answer")
PLACEHOLDER = "<1-10>"
"""What stands in the place of each score in the example of the record."""
_MARK = "\x00{}\x00"

_LOOKALIKES = {
    "<": "[<＜﹤‹〈⟨]",
    ">": "[>＞﹥›〉⟩]",
    "/": "[/／⁄∕]",
    "[": "[\\[［【]",
    "]": "[\\]］】]",
    "'": "['＇‘’]",
}
_NEAR = 3
"""Lines on either side of a material that it may not imitate. A frame without blocks has all its instructions there."""
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_DEFUSED = str.maketrans("<＜﹤〈⟨>＞﹥〉⟩[［【]］】", "‹‹‹‹‹›››››⟦⟦⟦⟧⟧⟧")
_BRACES = str.maketrans("{}｛｝", "⟦⟧⟦⟧")


@dataclass(frozen=True)
class JudgePrompt:
    """What is sent to a judge.

    Attributes:
        instructions: The static part, identical for all cases of an intent and language, so that
            providers' prompt caches hit; empty if the frame has no such part.
        case: The part that holds the case.
        version: Name and version of the rubric.
        sha256: SHA-256 of the frame and of all that it says apart from question, reference and answer.
    """

    instructions: str
    case: str
    version: str
    sha256: str


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
            (intent, language): _build_frame(rubric, intent, language)
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
        frame = self._frames[intent, language]
        texts = {"question": question, "reference": reference, "answer": answer}
        safe = {name: neutralise(text.strip(), self.rubric, frame.delimiters) for name, text in texts.items()}
        version = f"{self.rubric.name} {self.rubric.version}"
        return JudgePrompt(frame.instructions, frame.case(safe), version, frame.sha256)


def neutralise(text: str, rubric: Rubric, delimiters: re.Pattern[str] | None) -> str:
    """Make text harmless as material for a judge.

    Args:
        text: Text of a user or a model.
        rubric: The rubric whose score records may not occur.
        delimiters: What may not occur because it is part of the frame.

    Returns:
        The text with brackets of delimiters, and braces of score records, replaced by lookalikes.
    """
    if delimiters is not None:
        text = delimiters.sub(lambda match: _defuse(match.group()), text)
    if planted := _planted(text, rubric):
        first, last = min(span.start for span in planted), max(span.end for span in planted)
        text = text[:first] + text[first:last].translate(_BRACES) + text[last:]
        # A planted record may sit inside further braces, which show it again once it is open.
        if _planted(text, rubric):
            text = text.translate(_BRACES)
    return text


def _planted(text: str, rubric: Rubric) -> list[Span]:
    """Complete records, those inside strings too, because a judge may quote any part of a text."""
    return [span for inside in (False, True) for span, record in records(text, rubric, inside) if record.is_complete]


@dataclass(frozen=True)
class _Frame:
    template: Template
    context: dict[str, object]
    instructions: str
    delimiters: re.Pattern[str] | None
    sha256: str

    def case(self, texts: dict[str, str]) -> str:
        return _render(self.template, "case", {**self.context, **texts})


def _build_frame(rubric: Rubric, intent: str, language: str) -> _Frame:
    texts = rubric.languages[language]
    place = f"prompt '{texts.frame_source}' (language {language})"
    context = _context(rubric, intent, language)
    try:
        template = _ENVIRONMENT.from_string(texts.frame)
        if template.blocks and set(template.blocks) != _BLOCKS:
            raise InputError(f"{place}: blocks {sorted(template.blocks)}; allowed: both of {sorted(_BLOCKS)}, or none")
        instructions = _render(template, "instructions", context) if template.blocks else ""
        case = _render(template, "case", {**context, **{name: _MARK.format(name) for name in _MATERIALS}})
    except (TemplateError, ArithmeticError, LookupError, TypeError) as error:  # whatever an expression can do
        line = getattr(error, "lineno", None)
        raise InputError(f"{place}{f', line {line}' if line else ''}: {error}") from error
    for name in _MATERIALS[::2]:
        if _MARK.format(name) not in case:
            raise InputError(f"{place}: does not use {{{{ {name} }}}}, which every judge needs")
    digest = hashlib.sha256(f"{texts.frame}\x00{instructions}\x00{case}".encode()).hexdigest()
    return _Frame(template, context, instructions, _delimiters(case), digest)


def _render(template: Template, block: str, context: dict[str, object]) -> str:
    if not template.blocks:
        return template.render(context).strip()
    return "".join(template.blocks[block](template.new_context(context))).strip()


def _context(rubric: Rubric, intent_id: str, language: str) -> dict[str, object]:
    intent, texts = rubric.intents[intent_id], rubric.languages[language]
    criteria = [{"id": key, **_term(rubric, key, language)} for key in intent.criteria]
    # No numbers: a judge that only copies the example must not give a score.
    example = {str(name): PLACEHOLDER for name in [*(c["name"] for c in criteria), texts.final.name]}
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
        "record_example": json.dumps(example, ensure_ascii=False),
    }


def _term(rubric: Rubric, criterion: str, language: str) -> dict[str, object]:
    return rubric.criteria[criterion][language].model_dump()


def _delimiters(case: str) -> re.Pattern[str] | None:
    """What stands next to the materials in the frame, as one pattern that forgives case, width and blanks."""
    literals: set[str] = set()
    before, *between, after = [_lines(piece) for piece in re.split(r"\x00\w+\x00", case)]
    for lines in ([], before), *((piece, piece) for piece in between), (after, []):
        literals.update(lines[0][:_NEAR], lines[1][-_NEAR:])
    patterns = sorted((_loosely(literal) for literal in literals if len(literal) > 2), key=len, reverse=True)
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _loosely(literal: str) -> str:
    words = re.findall(r"\w+|[^\w\s]", literal)
    return f"[\\s{_INVISIBLE}]*".join(f"[{_INVISIBLE}]*".join(map(_in_any_width, word)) for word in words)


def _in_any_width(char: str) -> str:
    wide = chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else ""
    return _LOOKALIKES.get(char) or f"[{re.escape(char)}{wide}]"


def _defuse(text: str) -> str:
    changed = text.translate(_DEFUSED)
    return changed if changed != text else f"{text[:1]}\u2060{text[1:]}"
