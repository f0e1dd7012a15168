"""The order in which people rate answers: random, with known rates, so that the ratings so far speak for all."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

import numpy as np

from urs_inspect.annotation.votes import digest

CHECK = "-check"
"""Follows the id of an answer that the same person rates again."""

_HIGHEST_RATE = 3.0
_ROUNDS = 20  # after which the fit no longer changes by a hundredth of a point
_ID_DIGITS = 16


@dataclass(frozen=True)
class Answer:
    """An answer that people can rate."""

    question: str  # id
    model: str  # which raters never see
    epoch: int
    intent: str  # id in the rubric
    language: str  # code
    instruction: str
    text: str
    reference: str = ""  # empty if there is none
    score: float = math.nan  # final score of the judge

    @cached_property
    def text_digest(self) -> str:
        """Identifies the text, so that a rating is never taken for one of another text."""
        return digest(self.text).hex()[:_ID_DIGITS]

    @cached_property
    def id(self) -> str:
        """Identifies the answer without naming its model."""
        return answer_id(self.question, self.model, self.epoch, self.text_digest)


def answer_id(question: str, model: str, epoch: int, text_digest: str) -> str:
    """Id of an answer: the first digits of a hash."""
    return digest(json.dumps([question, model, epoch, text_digest])).hex()[:_ID_DIGITS]


@dataclass(frozen=True)
class ToRate:
    """An answer to rate, with what is needed to know how many answers its rating stands for.

    Each answer has a key `-log(u) / rate` with u uniform in (0, 1]; those of a model are drawn by increasing key. Those
    with a key below t are then a sample with inclusion probabilities `1 - exp(-rate * t)`.
    """

    answer: Answer
    rate: float  # 1 to 3: how often it is drawn, relative to others, while few are
    threshold: float | None  # key of the model's next answer; None for its last one
    check: bool = False  # whether it is to be rated again by somebody who rated it, without being told

    @property
    def id(self) -> str:
        """What a rating of it is about."""
        return self.answer.id + (CHECK if self.check else "")


def draw(answers: Sequence[Answer]) -> tuple[ToRate, ...]:
    """Put answers in the order in which they are to be rated.

    Models take turns. Within a model the order is random by keys (see `ToRate`) whose u are spread evenly over each
    intent, so that every beginning holds the intents in about the proportion of all answers. The chance is a hash of
    the answer: a model's order is the same after a restart, and does not change when a log of another model is added,
    except where that changes `sampling_rates`.

    Source: successive sampling (Rosen, "Asymptotic theory for order sampling", 1997), with the key of the next unit as
    threshold (Cohen and Kaplan, "Summarizing data using bottom-k sketches", 2007).
    """
    rates = dict(zip((answer.id for answer in answers), sampling_rates(answers), strict=True))
    by_model: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_model[answer.model].append(answer)
    models = sorted(by_model, key=lambda model: digest("model", model))  # not by name, which would tell
    orders = [_of_model(by_model[model], rates) for model in models]
    return tuple(drawn for turn in zip_longest(*orders) for drawn in turn if drawn is not None)


def _of_model(answers: Sequence[Answer], rates: Mapping[str, float]) -> Iterator[ToRate]:
    by_intent: dict[str, list[Answer]] = defaultdict(list)
    for answer in sorted(answers, key=lambda answer: digest("order", answer.id)):
        by_intent[answer.intent].append(answer)
    keys = {
        answer.id: -math.log((place + _uniform("within", answer.id)) / len(group)) / rates[answer.id]
        for group in by_intent.values()
        for place, answer in enumerate(group)
    }
    ordered = sorted(answers, key=lambda answer: keys[answer.id])
    for answer, following in zip_longest(ordered, ordered[1:]):
        yield ToRate(answer, rates[answer.id], None if following is None else keys[following.id])


def _uniform(*parts: str) -> float:
    """A number in (0, 1] that hardly differs from chance."""
    return (int.from_bytes(digest(*parts)[:6]) + 1) / 2**48


def sampling_rates(answers: Sequence[Answer]) -> list[float]:
    """How often each answer is drawn, relative to others: 1 and a point more per point of surprise, at most 3.

    The surprise is how far the judge's score is from what question and model alone predict: the additive fit
    `mean + model + question`, where a question's effect is shrunk by one observation of 0. An answer without a score
    has the rate 1.
    """
    scores = np.array([answer.score for answer in answers], dtype=np.float64)
    known = ~np.isnan(scores)
    rates = np.ones(len(answers))
    if known.any():
        of = [[getattr(answer, name) for answer in answers] for name in ("model", "question")]
        (model, models), (question, questions) = (
            (places[known], np.bincount(places[known], minlength=len(names)))
            for names, places in (np.unique(each, return_inverse=True) for each in of)
        )
        values = scores[known] - scores[known].mean()
        by_question = np.zeros(len(questions))
        for _ in range(_ROUNDS):
            by_model = np.bincount(model, values - by_question[question], len(models)) / np.maximum(1, models)
            by_question = np.bincount(question, values - by_model[model], len(questions)) / (1 + questions)
        surprise = np.abs(values - by_model[model] - by_question[question])
        rates[known] = np.minimum(_HIGHEST_RATE, 1 + surprise)
    return [float(rate) for rate in rates]
