"""Judgements of the simulated models.

They are by simple rules on the text, or by the level that an answer contains.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from inspect_ai.util import JSONSchema

from urs_inspect.judging._keys import ANALYSIS, KEY
from urs_inspect.judging._prompts import RATING_PLACEHOLDER, WINNER, WINNER_WITHOUT_TIE

FORM = "quality-<1 to 10>[-lenient-<0 to 9>][-partial-<0 to 9>]"

_NUMBER = r"\d{1,2}(?:\.\d{1,6})?"
_NAME = re.compile(
    rf"quality-({_NUMBER})(?:-lenient-({_NUMBER}))?(?:-partial-({_NUMBER}))?", re.ASCII
)
_LABEL = re.compile(
    r"\s*\[simulated answer by (?P<model>quality-[0-9a-z.-]+), level (?P<level>-?\d+\.\d+)\]",
    re.ASCII,
)
_REFERENCE = 8.0  # level of a reference answer in the judge's prompt
_LOWEST = 1
_HIGHEST = 10
_QUESTION_SPREAD = _NOISE_SPREAD = 1.0
_STANDARD = NormalDist()
_FILLER = (
    "This sentence fills the answer of a simulated model.",
    "It says nothing about the question.",
    "How many of them there are does not depend on the level.",
)
_MOST_SENTENCES = 40


@dataclass(frozen=True)
class QualityModel:
    """A simulated model of known quality."""

    name: str  # without the provider
    quality: float  # mean level of its answers, 1 to 10
    lenient: float = 0.0  # as a judge: what it adds to every level, 0 to 9
    partial: float = 0.0  # as a judge: what it adds to its own answers on top, 0 to 9

    def answer(self, question: str, epoch: int = 1, seed: int | None = None) -> str:
        """Answer a question with a text that begins with a label of the model and the level.

        The level is the quality, plus an effect of the question that all models share, plus noise
        of this answer; both are standard normal and fixed by hashes. It is not limited to the
        scale. The length depends on neither.
        """
        key = (self.name, question.strip(), str(epoch), str(seed))
        level = self.quality + question_effect(question) + _NOISE_SPREAD * _normal("noise", *key)
        sentences = 1 + int(_MOST_SENTENCES * _uniform("length", *key) ** 2)
        filler = " ".join(_FILLER[i % len(_FILLER)] for i in range(sentences))
        return f"[simulated answer by {self.name}, level {level:.4f}] {filler}"


def read_quality(name: str) -> QualityModel | None:
    """Read the name of a model, such as `quality-7.2-lenient-0.5`.

    None if it is not of the form `FORM`.
    """
    if (match := _NAME.fullmatch(name)) is None:
        return None
    quality, lenient, partial = (float(number or 0) for number in match.groups())
    if not 1 <= quality <= 10 or lenient > 9 or partial > 9:
        return None
    return QualityModel(name, quality, lenient, partial)


def question_effect(question: str) -> float:
    """How much better all models of known quality answer a question, in levels.

    It is standard normal over questions.
    """
    return _QUESTION_SPREAD * _normal("question", question.strip())


def level_for(judge: str, answer: str, reference: str = "") -> float | None:
    """The level that a judge sees in an answer; None without a label.

    It is not yet rounded and limited to a scale.

    If the reference has a level too, it counts as 8, as in the judge's prompt, and the answer is as
    much better or worse as its own level is.
    """
    if (label := _LABEL.match(answer)) is None:
        return None
    level = float(label["level"])
    if (known := read_quality(judge)) is not None:
        level += known.lenient + (known.partial if label["model"] == judge else 0.0)
    if (other := _LABEL.match(reference)) is not None:
        level += _REFERENCE - float(other["level"])
    return level


def final_of(level: float) -> int:
    """The final score of a level: rounded, and cut to the scale from 1 to 10."""
    return min(_HIGHEST, max(_LOWEST, round(level)))


def expected_final(
    quality: float, spread: float = math.hypot(_QUESTION_SPREAD, _NOISE_SPREAD)
) -> float:
    """Mean final score of normally distributed levels, 1 to 10.

    It is the exact sum over the ten scores.
    """
    levels = NormalDist(quality, spread)
    return _LOWEST + sum(1 - levels.cdf(score - 0.5) for score in range(_LOWEST + 1, _HIGHEST + 1))


def digest_of(*parts: str) -> bytes:
    """32 bytes that depend on the texts alone."""
    return hashlib.sha256("\x00".join(parts).encode()).digest()


def _uniform(*parts: str) -> float:
    """A number between 0 and 1, both excluded, that depends on the texts alone."""
    return (int.from_bytes(digest_of(*parts)[:6]) + 0.5) / 2**48


def _normal(*parts: str) -> float:
    return _STANDARD.inv_cdf(_uniform(*parts))


LABEL = "[simulated judgement]"
NOISE: Mapping[str, float] = {"strong": 0.2, "weak": 1.2, "judge": 0.4}
"""Width of the noise by model; without it a lead is between -1 and 1, and a rating between 0 and 1
of its scale.
"""
_NOISE_WITH_QUALITY = 0.2

_LEAN_TO_FIRST = 0.05
_EVEN = 0.03
_GOOD_LENGTH = 1000
_WHY = "Simulated: by length and characters shared with the prompt only."
_WHY_LEVEL = "Simulated: by the level that an answer contains."
_FULL_LEAD = 3.0  # difference of two levels
_RATING = re.compile(
    re.escape(RATING_PLACEHOLDER)
    .replace(r"\{lowest\}", "(-?[0-9]+)")
    .replace(r"\{highest\}", "(-?[0-9]+)")
)
_EXAMPLE = re.compile(
    f'"(?:{re.escape(WINNER)}|{re.escape(WINNER_WITHOUT_TIE)}|{_RATING.pattern})"'
)
_KEY = re.compile(rf'"{KEY}": "([a-z]+)"')
_DECODER = json.JSONDecoder()


def simulate_judgement(prompt: str, model: str) -> str | None:
    """Compare two responses or rate one, in the form that the example in the prompt asks for.

    Of two responses the longer one leads, and the one that has more character pairs in common with
    the prompt, both to the same degree; a small lead goes to the one shown first. Noise is added
    that depends on the model, the instructions, the dimension and the response, and what is nearly
    even is a tie, where a tie may be named. A rating is made of the length (up to 1,000 characters)
    and the share of the character pairs of the reference, or else of the prompt, that the response
    has; noise is added as well. Responses that contain a level lead and are rated by it in place of
    length and characters. None if the prompt has no such example.
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


def in_schema(text: str, schema: JSONSchema) -> str:
    """A judgement as one JSON object with the entries of a schema, in its order.

    A text without a record as it is.
    """
    analysis, _, rest = text.partition("\n{")
    try:
        record = json.loads("{" + rest)
    except ValueError:  # no record
        return text
    entries = {ANALYSIS: analysis.strip(), **record}
    ordered = {name: entries[name] for name in schema.properties or () if name in entries}
    return json.dumps(ordered, ensure_ascii=False)


def key_in(prompt: str) -> dict[str, str]:
    """The entry that a prompt asks for in the record; nothing if it asks for no key."""
    asked = _KEY.findall(prompt)
    if asked:
        return {KEY: asked[-1]}
    return {}


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
            record, end = _DECODER.raw_decode(prompt, opening.start())
        except ValueError:
            continue
        if end > placeholder.start() and _is_record(record):
            return dict(record)
    return None


def _is_record(record: dict[str, Any]) -> bool:
    if "winner" in record or _RATING.fullmatch(str(record.get("score"))):
        return True
    return all(
        isinstance(inner, dict) and "winner" in inner
        for name, inner in record.items()
        if name != KEY
    )


def _verdicts(
    prompt: str, examples: Mapping[str, Mapping[str, Any]], model: str
) -> dict[str, dict[str, str]]:
    """Verdicts by name.

    Those of one prompt differ only by the noise, which goes with a response and not its place.
    """
    instructions = prompt.partition("<prompt>")[0]
    asked = between(prompt, "prompt")
    first = between(prompt, "response_1")
    second = between(prompt, "response_2")
    responses = (first, second)
    level, other_level = (level_for(model, response) for response in responses)
    if level is not None and other_level is not None:
        worth = min(1.0, max(-1.0, (level - other_level) / _FULL_LEAD))
        why = _WHY_LEVEL
    else:
        pairs = character_pairs(asked)
        shared = [len(pairs & character_pairs(response)) for response in responses]
        worth = (_lead(len(first), len(second)) + _lead(*shared)) / 2
        why = _WHY
    plain = _LEAN_TO_FIRST + worth
    noise = NOISE.get(model, _NOISE_WITH_QUALITY)
    verdicts = {}
    for name, example in examples.items():
        chance, other_chance = (_chance(instructions, name, asked, one) for one in responses)
        lead = plain + noise * (chance - other_chance)
        winner = "2"
        if lead > 0:
            winner = "1"
        if example["winner"] == WINNER and abs(lead) < _EVEN:
            winner = "tie"
        verdicts[name] = {"comparison": why, "winner": winner}
    return verdicts


def _rating(prompt: str, lowest: int, highest: int, model: str) -> dict[str, str | int]:
    asked = between(prompt, "prompt")
    response = between(prompt, "response")
    reference = between(prompt, "reference_response")
    if (level := level_for(model, response, reference)) is not None:
        worth = (level - 1) / 9
        why = _WHY_LEVEL
    else:
        wanted = character_pairs(reference or asked)
        held = len(wanted & character_pairs(response)) / max(1, len(wanted))
        worth = (min(1, len(response) / _GOOD_LENGTH) + held) / 2
        why = _WHY
    worth += NOISE.get(model, _NOISE_WITH_QUALITY) * _chance(asked, response)
    return {"reasons": why, "score": round(lowest + (highest - lowest) * min(1, max(0, worth)))}


def _lead(one: int, other: int) -> float:
    """By how much one share of the sum is larger than the other, -1 to 1."""
    if one + other:
        return (one - other) / (one + other)
    return 0


def _chance(*parts: str) -> float:
    """A number from -0.5 to 0.5 that depends on the texts alone."""
    return digest_of(*parts)[0] / 255 - 0.5
