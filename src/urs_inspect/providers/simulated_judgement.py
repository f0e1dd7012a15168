"""How the simulated models compare and rate responses: by simple rules on the text, with noise that is fixed."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from urs_inspect.judging import RATING_PLACEHOLDER, WINNER, WINNER_WITHOUT_TIE
from urs_inspect.judging.keys import KEY
from urs_inspect.providers.simulated_quality import level_for

LABEL = "[simulated judgement]"
NOISE: Mapping[str, float] = {"strong": 0.2, "weak": 1.2, "judge": 0.4}
"""Width of the noise by model; without it a lead is between -1 and 1, and a rating between 0 and 1 of its scale."""
_NOISE_WITH_QUALITY = 0.2

_LEAN_TO_FIRST = 0.05
_EVEN = 0.03
_GOOD_LENGTH = 1000
_WHY = "Simulated: by length and characters shared with the prompt only."
_WHY_LEVEL = "Simulated: by the level that an answer contains."
_LEVELS_APART = 3.0
"""Difference of two levels that is a full lead."""
_RATING = re.compile(
    re.escape(RATING_PLACEHOLDER).replace(r"\{lowest\}", "(-?[0-9]+)").replace(r"\{highest\}", "(-?[0-9]+)")
)
_EXAMPLE = re.compile(f'"(?:{re.escape(WINNER)}|{re.escape(WINNER_WITHOUT_TIE)}|{_RATING.pattern})"')
_KEY = re.compile(rf'"{KEY}": "([a-z]+)"')
_DECODER = json.JSONDecoder()


def simulate_judgement(prompt: str, model: str) -> str | None:
    """Compare two responses or rate one, in the form that the example in the prompt asks for.

    Of two responses the longer one leads, and the one that has more character pairs in common with the prompt, both to
    the same degree; a small lead goes to the one shown first. Noise is added that depends on the model, the
    instructions, the dimension and the response, and what is nearly even is a tie, where a tie may be named. A rating
    is made of the length (up to 1,000 characters) and the share of the character pairs of the reference, or else of the
    prompt, that the response has; noise is added likewise. Responses that contain a level lead and are rated by it in
    place of length and characters.

    Args:
        prompt: All that the judge is sent.
        model: Name of the simulated model: a key of `NOISE`, or that of a model of known quality.

    Returns:
        The reply; None if the prompt has no such example.
    """
    example = _example_in(prompt)
    if example is None:
        return None
    example.pop(KEY, None)
    if (scale := _RATING.fullmatch(str(example.get("score")))) is not None:
        record: Mapping[str, object] = _rating(prompt, int(scale[1]), int(scale[2]), model)
    elif "winner" in example:
        [record] = _verdicts(prompt, {"": example}, model).values()
    else:
        record = _verdicts(prompt, example, model)
    return f"{LABEL}\n\n{json.dumps({**key_in(prompt), **record}, ensure_ascii=False, indent=1)}"


def key_in(prompt: str) -> dict[str, str]:
    """The entry that a prompt asks for in the record; nothing if it asks for no key."""
    asked = _KEY.findall(prompt)
    return {KEY: asked[-1]} if asked else {}


def between(text: str, tag: str) -> str:
    """What stands between the first `<tag>` and the next `</tag>`; empty if there is none."""
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def character_pairs(text: str) -> set[str]:
    """The pairs of neighbouring characters in a text."""
    return {text[i : i + 2] for i in range(len(text) - 1)}


def _example_in(prompt: str) -> dict[str, Any] | None:
    """The record that holds the first placeholder of a verdict or a rating."""
    if (placeholder := _EXAMPLE.search(prompt)) is None:
        return None
    for opening in re.finditer(r"\{", prompt[: placeholder.start()]):
        try:
            found, end = _DECODER.raw_decode(prompt, opening.start())
        except ValueError:
            continue
        if end > placeholder.start() and _is_record(found):
            return dict(found)
    return None


def _is_record(found: dict[str, Any]) -> bool:
    if "winner" in found or _RATING.fullmatch(str(found.get("score"))):
        return True
    return all(isinstance(inner, dict) and "winner" in inner for name, inner in found.items() if name != KEY)


def _verdicts(prompt: str, examples: Mapping[str, Mapping[str, Any]], model: str) -> dict[str, dict[str, str]]:
    """Verdicts by name; those of one prompt differ only by the noise, which goes with a response and not its place."""
    instructions, asked = prompt.partition("<prompt>")[0], between(prompt, "prompt")
    first, second = between(prompt, "response_1"), between(prompt, "response_2")
    levels = [level_for(model, response) for response in (first, second)]
    if levels[0] is not None and levels[1] is not None:
        worth, why = min(1.0, max(-1.0, (levels[0] - levels[1]) / _LEVELS_APART)), _WHY_LEVEL
    else:
        shared = [len(character_pairs(asked) & character_pairs(response)) for response in (first, second)]
        worth, why = (_lead(len(first), len(second)) + _lead(*shared)) / 2, _WHY
    plain, noise = _LEAN_TO_FIRST + worth, NOISE.get(model, _NOISE_WITH_QUALITY)
    verdicts = {}
    for name, example in examples.items():
        chances = [_chance(instructions, name, asked, response) for response in (first, second)]
        lead = plain + noise * (chances[0] - chances[1])
        even = example["winner"] == WINNER and abs(lead) < _EVEN
        verdicts[name] = {"comparison": why, "winner": "tie" if even else "1" if lead > 0 else "2"}
    return verdicts


def _rating(prompt: str, lowest: int, highest: int, model: str) -> dict[str, str | int]:
    asked, response = between(prompt, "prompt"), between(prompt, "response")
    reference = between(prompt, "reference_response")
    if (level := level_for(model, response, reference)) is not None:
        worth, why = (level - 1) / 9, _WHY_LEVEL
    else:
        wanted = character_pairs(reference or asked)
        held = len(wanted & character_pairs(response)) / max(1, len(wanted))
        worth, why = (min(1, len(response) / _GOOD_LENGTH) + held) / 2, _WHY
    worth += NOISE.get(model, _NOISE_WITH_QUALITY) * _chance(asked, response)
    return {"reasons": why, "score": round(lowest + (highest - lowest) * min(1, max(0, worth)))}


def _lead(one: int, other: int) -> float:
    """By how much one share of the sum is larger than the other, -1 to 1."""
    return (one - other) / (one + other) if one + other else 0


def _chance(*parts: str) -> float:
    """A number from -0.5 to 0.5 that depends on the texts alone."""
    return hashlib.sha256("\x00".join(parts).encode()).digest()[0] / 255 - 0.5
