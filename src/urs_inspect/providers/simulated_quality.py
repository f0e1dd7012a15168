"""Simulated models of known quality: an answer contains its level, and simulated judges score by it.

What a report should say about such models is known beforehand, so that its intervals and ranks can be tested.
"""

import hashlib
import math
import re
from dataclasses import dataclass
from statistics import NormalDist

FORM = "quality-<1 to 10>[-lenient-<0 to 9>][-partial-<0 to 9>]"
"""How such a model is named, for error messages."""

_NUMBER = r"\d{1,2}(?:\.\d{1,6})?"
_NAME = re.compile(rf"quality-({_NUMBER})(?:-lenient-({_NUMBER}))?(?:-partial-({_NUMBER}))?", re.ASCII)
_LABEL = re.compile(r"\s*\[simulated answer by (?P<model>quality-[0-9a-z.-]+), level (?P<level>-?\d+\.\d+)\]", re.ASCII)
_REFERENCE = 8.0
"""What a reference answer is worth in the judge's prompt."""
_LOWEST, _HIGHEST = 1, 10
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
    """A simulated model of known quality.

    Attributes:
        name: Its name without the provider.
        quality: Mean level of its answers, 1 to 10.
        lenient: As a judge: what it adds to every level, 0 to 9.
        partial: As a judge: what it adds to its own answers on top, 0 to 9.
    """

    name: str
    quality: float
    lenient: float = 0.0
    partial: float = 0.0

    def answer(self, question: str, epoch: int = 1, seed: int | None = None) -> str:
        """Answer a question.

        The level is the quality, plus an effect of the question that all models share, plus noise of this answer; both
        are standard normal and fixed by hashes. It is not cut to the scale. The length depends on neither.

        Args:
            question: The question.
            epoch: Number of the repetition, from 1.
            seed: Seed of the call; another one gives another answer.

        Returns:
            A text that begins with a label of the model and the level.
        """
        key = (self.name, question.strip(), str(epoch), str(seed))
        level = self.quality + question_effect(question) + _NOISE_SPREAD * _normal("noise", *key)
        sentences = 1 + int(_MOST_SENTENCES * _uniform("length", *key) ** 2)
        filler = " ".join(_FILLER[i % len(_FILLER)] for i in range(sentences))
        return f"[simulated answer by {self.name}, level {level:.4f}] {filler}"


def read_quality(name: str) -> QualityModel | None:
    """Read the name of a model, such as `quality-7.2-lenient-0.5`; None if it is not of the form `FORM`."""
    if (found := _NAME.fullmatch(name)) is None:
        return None
    quality, lenient, partial = (float(number or 0) for number in found.groups())
    if not 1 <= quality <= 10 or lenient > 9 or partial > 9:
        return None
    return QualityModel(name, quality, lenient, partial)


def question_effect(question: str) -> float:
    """How much better all models of known quality answer a question, in levels: standard normal over questions."""
    return _QUESTION_SPREAD * _normal("question", question.strip())


def level_for(judge: str, answer: str, reference: str = "") -> float | None:
    """The level that a judge sees in an answer, before it is rounded and cut to a scale.

    Args:
        judge: Name of the simulated judge without the provider; it may be lenient or partial if it has a quality.
        answer: The answer.
        reference: The reference answer. If it has a level too, it is taken to be worth 8 as the judge's prompt says,
            and the answer is as much better or worse as its own level is.

    Returns:
        The level; None if the answer contains none.
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


def expected_final(quality: float, spread: float = math.hypot(_QUESTION_SPREAD, _NOISE_SPREAD)) -> float:
    """Mean final score of levels that are normally distributed, by the exact sum over the ten scores.

    Args:
        quality: Mean level: the quality of a model, plus the leniency of its judge. Against references by a model of
            quality r, `8 + quality - r`. On one question, the quality plus `question_effect`.
        spread: Standard deviation of the level, above 0. By default that over all questions; 1 on one question.

    Returns:
        The mean, 1 to 10.
    """
    levels = NormalDist(quality, spread)
    return _LOWEST + sum(1 - levels.cdf(score - 0.5) for score in range(_LOWEST + 1, _HIGHEST + 1))


def _uniform(*parts: str) -> float:
    """A number between 0 and 1, both excluded, that depends on the texts alone."""
    digest = hashlib.sha256("\x00".join(parts).encode()).digest()
    return (int.from_bytes(digest[:6]) + 0.5) / 2**48


def _normal(*parts: str) -> float:
    return _STANDARD.inv_cdf(_uniform(*parts))
