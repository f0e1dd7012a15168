"""Instructions that grow from a seed: the prompt and the reply."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy.embeddings import normalised
from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame

_HERE = Path(__file__).parent
_TEMPLATE = "evolve.jinja"


def evolution_scenarios() -> tuple[str, ...]:
    """Scenarios that a pool can evolve in (MAD paper, Tables 10 to 13)."""
    return tuple(evolution_texts()["scenarios"])


def evolution_intent(scenario: str) -> str:
    """What a user with a request of the scenario comes for, as the URS data labels it.

    Raises:
        InputError: If the scenario is unknown.
    """
    return str(_scenario(scenario)["intent"])


def has_answers(scenario: str) -> bool:
    """Whether new instructions of the scenario come with an answer.

    Raises:
        InputError: If the scenario is unknown.
    """
    return "answer" in _scenario(scenario)


def evolution_prompt(scenario: str, instruction: str, reference: str = "") -> JudgePrompt:
    """Ask for a new instruction made out of a given one (MAD paper, Tables 10 to 13).

    Args:
        scenario: One of `evolution_scenarios()`.
        instruction: The given instruction.
        reference: Its answer; empty for none. Scenarios without answers do not show it.

    Returns:
        The prompt.

    Raises:
        InputError: If the scenario is unknown.
    """
    frame = _frame(scenario, bool(reference.strip()) and has_answers(scenario))
    # The material comes from the pool's own seeds and generators, who are asked for an object of this very form, so
    # that no planted result has to be taken out of it.
    return frame.prompt({"instruction": instruction, "reference": reference}, lambda text: ())


@lru_cache(maxsize=1)
def evolution_texts() -> Mapping[str, Any]:
    """The texts of the prompts, and what must not leak out of them."""
    texts: Mapping[str, Any] = yaml.safe_load((_HERE / "evolution.yaml").read_text(encoding="utf-8"))
    return texts


def _scenario(scenario: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] | None = evolution_texts()["scenarios"].get(scenario)
    if found is None:
        raise InputError(f"scenario: unknown value '{scenario}'; allowed: {choices(evolution_scenarios())}")
    return found


@lru_cache(maxsize=16)
def _frame(scenario: str, has_reference: bool) -> Frame:
    texts = evolution_texts()
    keys = ("instruction", "answer") if has_answers(scenario) else ("instruction",)
    context: dict[str, object] = {
        "scenario": {"answer": "", **_scenario(scenario)},
        "leaks": ", ".join(f'"{phrase}"' for phrase in texts["leaks"]),
        "has_reference": has_reference,
        "record_example": json.dumps({key: texts["placeholders"][key] for key in keys}),
    }
    context |= {} if has_reference else {"reference": ""}
    materials = ("instruction", "reference") if has_reference else ("instruction",)
    source = (_HERE / "templates" / _TEMPLATE).read_text(encoding="utf-8")
    version = f"{texts['version']}, {scenario}"
    return build_frame(source, f"prompt '{_TEMPLATE}'", version, context, materials, materials)


EvolutionMode = Literal[
    # the reply arrived, but what it holds cannot be used
    "empty_reply",
    "unparseable",
    "missing_instruction",
    "missing_answer",
    "placeholder",
    "copy",
    "leak",
    "too_long",
    # the provider cut the reply short
    "truncated",
    "context_overflow",
    "content_filter",
    # no reply at all
    "call_failed",
]
"""Why nothing usable came of a call."""

EVOLUTION_MODES: tuple[EvolutionMode, ...] = get_args(EvolutionMode)

EVOLUTION = "evolution"
"""Key of a sample's store under which the reply, and what was read from it, is kept."""

MAX_GROWTH = 4
"""How many times as long as its parent a new instruction may be."""
MIN_LENGTH = 100
"""A parent counts as at least so many characters, so that a short one may be given constraints (Table 13)."""

_INSTRUCTION = ("instruction", "new_instruction", "new_prompt", "question", "prompt")
_OPENING = re.compile(r'\{(?=\s{0,200}")')
_BROKEN = re.compile(rf'\{{\s{{0,200}}"(?:{"|".join((*_INSTRUCTION, "answer"))})"\s{{0,200}}:')
_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_TRIES = 50
"""Objects that are tried one by one; the bound keeps reading linear in the length of the reply."""


@dataclass(frozen=True)
class NewInstruction:
    """What a generator wrote.

    Attributes:
        instruction: The new instruction.
        answer: Its answer; empty in scenarios without answers.
    """

    instruction: str
    answer: str


@dataclass(frozen=True)
class EvolutionFailure:
    """Nothing usable.

    Attributes:
        mode: The kind of failure.
        detail: What exactly was wrong.
    """

    mode: EvolutionMode
    detail: str


def read_evolution(text: str, parent: str, *, needs_answer: bool) -> NewInstruction | EvolutionFailure:
    """Read a new instruction, and refuse one that cannot go into a pool.

    Fences and prose around the JSON object do not matter; of several objects the last one counts. What is broken is
    not mended. Never raises.

    Args:
        text: The reply.
        parent: The instruction that it was made from.
        needs_answer: Whether the scenario has answers; without, an answer in the reply is dropped.

    Returns:
        The instruction and its answer, or the failure.
    """
    if not text.strip():
        return EvolutionFailure("empty_reply", "The reply was empty.")
    found = _last_object(text)
    if found is None:
        return EvolutionFailure("unparseable", "The reply has no whole JSON object with an instruction.")
    if found.twice & {*_INSTRUCTION, "answer"}:
        return EvolutionFailure("unparseable", "The JSON object gives a key twice.")
    keys = [key for key in _INSTRUCTION if key in found]
    instruction = _text(found[keys[0]]) if len(keys) == 1 else None
    if instruction is None:
        return EvolutionFailure("missing_instruction", "The JSON object has not one text as its instruction.")
    answer = (_text(found.get("answer")) or "") if needs_answer else ""
    if _UNUSABLE.search(instruction + answer):
        return EvolutionFailure("unparseable", "The reply holds half a character or a NUL.")
    return _refusal(instruction, answer, parent, needs_answer) or NewInstruction(instruction, answer)


def _refusal(instruction: str, answer: str, parent: str, needs_answer: bool) -> EvolutionFailure | None:
    texts = evolution_texts()
    new, old = normalised(instruction), normalised(parent)
    if not new:
        return EvolutionFailure("missing_instruction", "The instruction is empty.")
    if new == texts["placeholders"]["instruction"] or normalised(answer) == texts["placeholders"]["answer"]:
        return EvolutionFailure("placeholder", "The reply repeats the example of the output.")
    if new == old:
        return EvolutionFailure("copy", "The instruction is the one that was given.")
    if leaked := [phrase for phrase in texts["leaks"] if phrase in new and phrase not in old]:
        return EvolutionFailure("leak", f"The instruction speaks of the prompt: '{leaked[0]}'.")
    longest = MAX_GROWTH * max(len(parent.strip()), MIN_LENGTH)
    if len(instruction) > longest:
        return EvolutionFailure("too_long", f"The instruction has {len(instruction)} characters, allowed: {longest}.")
    if needs_answer and not answer:
        return EvolutionFailure("missing_answer", "The instruction has no answer.")
    return None


class _Object(dict[str, Any]):
    """A JSON object with keys in small letters, which remembers keys written twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        keys = [key.strip().casefold() for key, _ in pairs]
        super().__init__(zip(keys, (value for _, value in pairs), strict=True))
        self.twice = {key for key in keys if keys.count(key) > 1} if len(set(keys)) < len(keys) else set()


_DECODER = json.JSONDecoder(object_pairs_hook=_Object, strict=False)


def _last_object(text: str) -> _Object | None:
    """The last object that names an instruction, unless a broken one that does comes after it."""
    found: _Object | None = None
    position = 0
    for _ in range(_MAX_TRIES):
        match = _OPENING.search(text, position)
        if match is None:
            return found
        position = match.end()
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            found = None if _BROKEN.match(text, match.start()) else found
            continue
        if _names_instruction(value):
            found, position = value, end
    return None


def _names_instruction(value: Mapping[str, Any]) -> bool:
    return any(key in value for key in _INSTRUCTION)


def _text(value: object) -> str | None:
    """A text, or a number as it is written: the answer to a sum may be one."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return json.dumps(value)
    return value.strip() if isinstance(value, str) else None
