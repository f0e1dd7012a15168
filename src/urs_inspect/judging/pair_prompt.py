"""Builds prompts that compare two responses, or rate one, from the taxonomy and one case."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame
from urs_inspect.judging.pair_reply import OVERALL
from urs_inspect.judging.records import Span, spans
from urs_inspect.samer import load_taxonomy

_TEMPLATES = Path(__file__).parent / "templates"
_VERSION = "pairs 3"
WINNER = "1, 2 or tie"
"""What stands in the place of a verdict in the example of the record."""
WINNER_WITHOUT_TIE = "1 or 2"
"""Likewise, where a tie is no answer."""
RATING_PLACEHOLDER = "<whole number from {lowest} to {highest}>"
"""What stands in the place of the rating. No number: a judge that only copies the example must not give one."""
_PAIR = ("prompt", "response_1", "response_2")
_RATED = ("prompt", "reference", "response")
_RESULT = re.compile(r"winner|verdict|overall|rating|score", re.IGNORECASE)


def joint_prompt(scenario: str, dimensions: Sequence[str], prompt: str, first: str, second: str) -> JudgePrompt:
    """Ask for a verdict on every dimension and overall in one reply (SaMer paper, Table A3).

    Args:
        scenario: Scenario id of the taxonomy.
        dimensions: Dimensions to compare on, each defined for the scenario.
        prompt: What the user asked.
        first: The response shown first.
        second: The response shown second.
    """
    return _pair(_scenario_frame("joint", scenario, tuple(dimensions)), prompt, first, second)


def dimension_prompt(scenario: str, dimension: str, prompt: str, first: str, second: str) -> JudgePrompt:
    """Ask for a verdict on one dimension only; arguments as for `joint_prompt`."""
    return _pair(_scenario_frame("per_dimension", scenario, (dimension,)), prompt, first, second)


def overall_prompt(prompt: str, first: str, second: str, *, ties: bool) -> JudgePrompt:
    """Ask which response is better as a whole; `ties` says whether a tie is a possible answer."""
    return _pair(_overall_frame(ties), prompt, first, second)


def rating_prompt(prompt: str, response: str, reference: str, *, lowest: int, highest: int) -> JudgePrompt:
    """Ask for one rating of a response on a scale of whole numbers; the reference may be empty."""
    frame = _rating_frame(lowest, highest, bool(reference.strip()))
    return frame.prompt({"prompt": prompt, "reference": reference, "response": response}, planted_verdicts)


def _pair(frame: Frame, prompt: str, first: str, second: str) -> JudgePrompt:
    return frame.prompt({"prompt": prompt, "response_1": first, "response_2": second}, planted_verdicts)


@lru_cache(maxsize=1024)
def _scenario_frame(template: str, scenario_id: str, dimensions: tuple[str, ...]) -> Frame:
    taxonomy = load_taxonomy()
    scenario = taxonomy.scenario(scenario_id)
    verdict = {"comparison": "evidence and comparison on this dimension", "winner": WINNER}
    example: dict[str, object] = dict.fromkeys(dimensions, verdict)
    example[OVERALL] = {"comparison": "weighing of all dimensions", "winner": WINNER}
    if template == "per_dimension":
        example = {"comparison": "evidence and comparison on this dimension", "winner": WINNER}
    context: dict[str, object] = {
        "scenario": {"name": scenario.name, "description": scenario.description},
        "dimensions": [{"name": name, "definition": scenario.dimensions[name]} for name in dimensions],
    }
    version = f"{_VERSION}, {taxonomy.name} {taxonomy.version}"
    return _frame(template, version, context, _PAIR, example)


@lru_cache(maxsize=2)
def _overall_frame(ties: bool) -> Frame:
    winner = WINNER if ties else WINNER_WITHOUT_TIE
    example = {"comparison": "evidence and comparison", "winner": winner}
    return _frame("overall", _VERSION, {"ties": ties}, _PAIR, example)


@lru_cache(maxsize=16)
def _rating_frame(lowest: int, highest: int, has_reference: bool) -> Frame:
    score = RATING_PLACEHOLDER.format(lowest=lowest, highest=highest)
    example = {"reasons": "evidence", "score": score}
    context: dict[str, object] = {"lowest": lowest, "highest": highest}
    materials = _RATED if has_reference else ("prompt", "response")
    context |= {} if has_reference else {"reference": ""}
    return _frame("rating", _VERSION, context, materials, example)


def _frame(
    template: str,
    version: str,
    context: dict[str, object],
    materials: Sequence[str],
    example: Mapping[str, object],
) -> Frame:
    source = (_TEMPLATES / f"{template}.jinja").read_text(encoding="utf-8")
    return build_frame(source, f"prompt '{template}.jinja'", version, context, materials, materials, example)


def planted_verdicts(text: str) -> list[Span]:
    """Objects that read like a judge's result."""
    found = {span for inside in (False, True) for span in spans(text, inside)}
    return [span for span in found if _RESULT.search(text, span.start, span.end)]
