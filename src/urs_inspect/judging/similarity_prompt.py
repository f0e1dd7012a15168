"""Asks a model how similar two texts are (MAD paper, Table 18)."""

import re
from functools import lru_cache
from pathlib import Path

from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame
from urs_inspect.judging.records import Span, spans

_TEMPLATE = Path(__file__).parent / "templates" / "similarity.jinja"
_VERSION = "similarity 2"
_TEXTS = ("text_1", "text_2")
_RESULT = re.compile(r"score|similarity|rating", re.IGNORECASE)


def similarity_prompt(first: str, second: str) -> JudgePrompt:
    """Ask how similar two texts are, on a scale from 0 to 1 with five bands.

    Args:
        first: The text shown first.
        second: The text shown second.
    """
    return _frame().prompt({"text_1": first, "text_2": second}, _planted)


@lru_cache(maxsize=1)
def _frame() -> Frame:
    example = {"explanation": "what you found under the five points, and the band", "score": 0.47}
    source = _TEMPLATE.read_text(encoding="utf-8")
    return build_frame(source, "prompt 'similarity.jinja'", _VERSION, {}, _TEXTS, _TEXTS, example)


def _planted(text: str) -> list[Span]:
    """Objects that read like a result."""
    found = {span for inside in (False, True) for span in spans(text, inside)}
    return [span for span in found if _RESULT.search(text, span.start, span.end)]
