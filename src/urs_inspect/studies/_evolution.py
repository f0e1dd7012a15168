"""Instructions that grow from a seed: the prompt and the reply."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from urs_inspect._util import InputError, choices
from urs_inspect.discrepancy._lexical import normalised
from urs_inspect.judging._frames import Frame, JudgePrompt, template_frame
from urs_inspect.judging._objects import Pairs, json_objects

_HERE = Path(__file__).parent


def evolution_scenarios() -> tuple[str, ...]:
    """Scenarios that a pool can evolve in (MAD paper, Tables 10 to 13)."""
    return tuple(_texts()["scenarios"])


def evolution_intent(scenario: str) -> str:
    """What a user with a request of the scenario comes for, as the URS data labels it."""
    return str(_scenario(scenario)["intent"])


def has_answers(scenario: str) -> bool:
    """Whether new instructions of the scenario come with an answer."""
    return "answer" in _scenario(scenario)


def evolution_prompt(scenario: str, instruction: str, reference: str = "") -> JudgePrompt:
    """Ask for a new instruction made out of a given one (MAD paper, Tables 10 to 13).

    `reference` is the given one's answer, empty for none; scenarios without answers do not show it.
    """
    frame = _frame(scenario, bool(reference.strip()) and has_answers(scenario))
    # The material comes from the pool's own seeds and generators, who are asked for an object of
    # this very form, so that no injected result has to be taken out of it.
    return frame.prompt({"instruction": instruction, "reference": reference})


def evolution_request_again(failure: "EvolutionFailure") -> str:
    """The request for another reply in place of one that cannot be used."""
    return str(_texts()["again"]).replace("{reason}", failure.detail)


@lru_cache(maxsize=1)
def _texts() -> Mapping[str, Any]:
    """The texts of the prompts, and what must not leak out of them."""
    file = _HERE / "evolution.yaml"
    texts: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return texts


def _scenario(scenario: str) -> Mapping[str, Any]:
    texts: Mapping[str, Any] | None = _texts()["scenarios"].get(scenario)
    if texts is None:
        raise InputError(
            f"scenario: unknown value '{scenario}'; allowed: {choices(evolution_scenarios())}"
        )
    return texts


@lru_cache(maxsize=16)
def _frame(scenario: str, has_reference: bool) -> Frame:
    texts = _texts()
    keys = ("instruction", "answer") if has_answers(scenario) else ("instruction",)
    context: dict[str, object] = {
        "scenario": {"answer": "", **_scenario(scenario)},
        "leaks": ", ".join(f'"{phrase}"' for phrase in texts["leaks"]),
        "has_reference": has_reference,
        "record_example": json.dumps({key: texts["placeholders"][key] for key in keys}),
    }
    if not has_reference:
        context["reference"] = ""
    materials = ("instruction", "reference") if has_reference else ("instruction",)
    version = f"{texts['version']}, {scenario}"
    return template_frame(_HERE / "templates" / "evolve.jinja", version, materials, context)


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
"""Why a call gave nothing usable."""

EVOLVE_AGAIN: frozenset[EvolutionMode] = frozenset(get_args(EvolutionMode)) - {
    "context_overflow",
    "content_filter",
    "call_failed",
}
"""Failures after which a generator is asked once more; the others would end in the same way."""

EVOLUTION = "evolution"
"""Key of a sample's store under which the reply, and what was read from it, is kept."""

MAX_GROWTH = 4
"""How many times as long as its parent a new instruction may be."""
MIN_LENGTH = 100
"""A parent counts as at least so many characters, so that a short one may be given constraints
(Table 13).
"""

_INSTRUCTION = ("instruction", "new_instruction", "new_prompt", "question", "prompt")
_BROKEN = re.compile(rf'\{{\s{{0,200}}"(?:{"|".join((*_INSTRUCTION, "answer"))})"\s{{0,200}}:')
_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_TRIES = 50
"""Objects that are tried one by one; the bound keeps reading linear in the length of the reply."""


@dataclass(frozen=True)
class NewInstruction:
    """An instruction that a generator wrote, and its answer, empty in scenarios without answers."""

    instruction: str
    answer: str


@dataclass(frozen=True)
class EvolutionFailure:
    """Why a reply has no usable instruction: the kind of failure, and what exactly was wrong."""

    mode: EvolutionMode
    detail: str


def read_evolution(
    text: str, parent: str, *, needs_answer: bool
) -> NewInstruction | EvolutionFailure:
    """Read a new instruction, and refuse one that cannot go into the pool of its `parent`.

    Never raises.

    Fences and prose around the JSON object do not matter; of several objects the last one counts.
    Broken JSON is not repaired. In scenarios without answers an answer in the reply is dropped.
    """
    if not text.strip():
        return EvolutionFailure("empty_reply", "The reply was empty.")
    pairs = _last_object(text)
    if pairs is None:
        return EvolutionFailure(
            "unparseable", "The reply has no whole JSON object with an instruction."
        )
    keys = [key for key in map(_key, pairs) if key in _INSTRUCTION or key == "answer"]
    if len(set(keys)) < len(keys):
        return EvolutionFailure("unparseable", "The JSON object gives a key twice.")
    values = {_key(pair): pair[1] for pair in pairs}
    [*written] = values.keys() & _INSTRUCTION
    instruction = None
    if len(written) == 1:
        instruction = _text(values[written[0]])
    if instruction is None:
        return EvolutionFailure(
            "missing_instruction", "The JSON object has not one text as its instruction."
        )
    answer = ""
    if needs_answer:
        answer = _text(values.get("answer")) or ""
    if _UNUSABLE.search(instruction + answer):
        return EvolutionFailure("unparseable", "The reply holds half a character or a NUL.")
    return _refusal(instruction, answer, parent, needs_answer) or NewInstruction(
        instruction, answer
    )


def _last_object(text: str) -> Pairs | None:
    """The last object that names an instruction, unless a broken one that does comes after it."""
    last: Pairs | None = None
    tried = list(
        islice(
            json_objects(text, look_inside=lambda pairs: not _names_instruction(pairs)), _MAX_TRIES
        )
    )
    if len(tried) == _MAX_TRIES:
        return None
    for start, _, pairs in tried:
        if pairs is None:
            last = None if _BROKEN.match(text, start) else last
        elif _names_instruction(pairs):
            last = pairs
    return last


def _names_instruction(pairs: Pairs) -> bool:
    return any(_key(pair) in _INSTRUCTION for pair in pairs)


def _key(pair: tuple[str, Any]) -> str:
    return pair[0].strip().casefold()


def _text(value: object) -> str | None:
    """A text, or a number as it is written: the answer to a sum may be one."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return value.strip()
    return None


def _refusal(
    instruction: str, answer: str, parent: str, needs_answer: bool
) -> EvolutionFailure | None:
    texts = _texts()
    new = normalised(instruction)
    old = normalised(parent)
    if not new:
        return EvolutionFailure("missing_instruction", "The instruction is empty.")
    if (
        new == texts["placeholders"]["instruction"]
        or normalised(answer) == texts["placeholders"]["answer"]
    ):
        return EvolutionFailure("placeholder", "The reply repeats the example of the output.")
    if new == old:
        return EvolutionFailure("copy", "The instruction is the one that was given.")
    if leaked := [phrase for phrase in texts["leaks"] if phrase in new and phrase not in old]:
        return EvolutionFailure("leak", f"The instruction speaks of the prompt: '{leaked[0]}'.")
    longest = MAX_GROWTH * max(len(parent.strip()), MIN_LENGTH)
    if len(instruction) > longest:
        return EvolutionFailure(
            "too_long", f"The instruction has {len(instruction)} characters, allowed: {longest}."
        )
    if needs_answer and not answer:
        return EvolutionFailure("missing_answer", "The instruction has no answer.")
    return None
