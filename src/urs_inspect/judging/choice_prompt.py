"""Builds prompts that put two responses to a judge as a three-alternative choice: first, second, tie."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from urs_inspect.errors import InputError, choices
from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame
from urs_inspect.judging.pair_prompt import WINNER, planted_verdicts

_HERE = Path(__file__).parent
_PAIR = ("prompt", "response_1", "response_2")
_COMPARISON = {"en": "the comparison, in a few sentences", "zh": "用几句话比较"}


def comparison_scenarios() -> tuple[str, ...]:
    """Kinds of task with instructions of their own: `general` and those of the MAD paper (Tables 14 to 17)."""
    return tuple(_texts()["scenarios"])


def comparison_languages() -> tuple[str, ...]:
    """Languages that the instructions are written in."""
    return tuple(_COMPARISON)


def choice_prompt(
    scenario: str, language: str, prompt: str, first: str, second: str, *, reference: str = ""
) -> JudgePrompt:
    """Ask which of two responses is better by the criteria of a kind of task (MAD paper, Tables 5, 14 to 17).

    Args:
        scenario: Kind of task, one of `comparison_scenarios()`.
        language: Language of the instructions, one of `comparison_languages()`.
        prompt: What the user asked.
        first: The response shown first.
        second: The response shown second.
        reference: A reference answer; empty for none.

    Returns:
        The prompt.

    Raises:
        InputError: If the scenario or the language is unknown.
    """
    frame = _frame(scenario, language, bool(reference.strip()))
    material = {"prompt": prompt, "reference": reference, "response_1": first, "response_2": second}
    return frame.prompt(material, planted_verdicts)


@lru_cache(maxsize=32)
def _frame(scenario: str, language: str, has_reference: bool) -> Frame:
    texts = _texts()
    if scenario not in texts["scenarios"]:
        raise InputError(f"scenario: unknown value '{scenario}'; allowed: {choices(texts['scenarios'])}")
    if language not in _COMPARISON:
        raise InputError(f"judge_language: unknown value '{language}'; allowed: {choices(_COMPARISON)}")
    example = {"comparison": _COMPARISON[language], "winner": WINNER}
    context: dict[str, object] = {
        "scenario": texts["scenarios"][scenario][language],
        "has_reference": has_reference,
    }
    context |= {} if has_reference else {"reference": ""}
    materials = (*_PAIR, "reference") if has_reference else _PAIR
    name = f"choice.{language}.jinja"
    source = (_HERE / "templates" / name).read_text(encoding="utf-8")
    version = f"{texts['version']}, {scenario}"
    return build_frame(source, f"prompt '{name}'", version, context, materials, materials, example)


@lru_cache(maxsize=1)
def _texts() -> Mapping[str, Any]:
    texts: Mapping[str, Any] = yaml.safe_load((_HERE / "comparison_scenarios.yaml").read_text(encoding="utf-8"))
    return texts
