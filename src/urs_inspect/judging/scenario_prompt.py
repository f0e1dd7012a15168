"""Asks a model which scenario a prompt belongs to (SaMer paper, section 3.2)."""

import re
from functools import lru_cache
from pathlib import Path

from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame
from urs_inspect.judging.records import Span, spans
from urs_inspect.samer import load_taxonomy

OTHER = "default"
"""Scenario of requests that fit no other."""

_TEMPLATE = Path(__file__).parent / "templates" / "scenario.jinja"
_VERSION = "scenario 2"
_TEXTS = ("prompt",)
_RESULT = re.compile(r"scenario|category|kind", re.IGNORECASE)


def scenario_prompt(prompt: str) -> JudgePrompt:
    """Ask for the scenario of a prompt, one of the taxonomy's.

    Args:
        prompt: What the user asked.
    """
    return _frame().prompt({"prompt": prompt}, _planted)


@lru_cache(maxsize=1)
def _frame() -> Frame:
    taxonomy = load_taxonomy()
    scenarios = [
        {"id": name, "name": scenario.name, "description": scenario.description}
        for name, scenario in taxonomy.scenarios.items()
    ]
    example = {"reasons": "what the person wants, and why this kind", "scenario": "the_kind"}
    context: dict[str, object] = {"scenarios": scenarios, "other": OTHER}
    source = _TEMPLATE.read_text(encoding="utf-8")
    version = f"{_VERSION}, {taxonomy.name} {taxonomy.version}"
    return build_frame(source, "prompt 'scenario.jinja'", version, context, _TEXTS, _TEXTS, example)


def _planted(text: str) -> list[Span]:
    """Objects that read like a result."""
    found = {span for inside in (False, True) for span in spans(text, inside)}
    return [span for span in found if _RESULT.search(text, span.start, span.end)]
