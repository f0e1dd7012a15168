"""The order in which people rate answers: random, with known rates, so that few speak for all."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from operator import itemgetter

from urs_inspect.annotation._ratings import CHECK, answer_id, text_digest
from urs_inspect.annotation._votes import digest

_HIGHEST_RATE = 3.0


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
    disagreement: float = 0.0  # points between the highest and the lowest score of its judges

    @cached_property
    def text_digest(self) -> str:
        """Identifies the text, so that a rating is never taken for one of another text."""
        return text_digest(self.text)

    @cached_property
    def id(self) -> str:
        """Identifies the answer without naming its model."""
        return answer_id(self.question, self.model, self.epoch, self.text_digest)


@dataclass(frozen=True)
class ToRate:
    """An answer to rate, with what is needed to know how many answers its rating stands for.

    `inclusion_weights` says how answers are drawn.
    """

    answer: Answer
    rate: float  # 1 to 3: how often it is drawn, relative to others, while few are
    threshold: float | None  # key of the model's next answer; None for its last one
    check: bool = False  # whether somebody who rated it is to rate it again, without being told

    @property
    def id(self) -> str:
        """What a rating of it is about."""
        return self.answer.id + (CHECK if self.check else "")

    @property
    def language(self) -> str:
        """Language of what is read."""
        return self.answer.language


def draw(answers: Sequence[Answer]) -> tuple[ToRate, ...]:
    """Put answers in the order in which they are to be rated.

    Models take turns. Within a model the order is random by keys (see `inclusion_weights`) whose u
    are spread evenly over each intent, so that every beginning holds the intents in about the
    proportion of all answers. The chance is a hash of the answer: a model's order is the same after
    a restart, and does not change when a log of another model is added.

    Source: successive sampling (Rosen, "Asymptotic theory for order sampling", 1997), with the key
    of the next unit as threshold (Cohen and Kaplan, "Summarizing data using bottom-k sketches",
    2007).
    """
    strata: dict[str, dict[str, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in sorted(answers, key=lambda answer: digest("order", answer.id)):
        strata[answer.model][answer.intent].append(answer)
    # not by name, which would tell
    models = sorted(strata, key=lambda model: digest("model", model))
    turns = zip_longest(*(_of_model(strata[model].values()) for model in models))
    return tuple(filter(None, chain.from_iterable(turns)))


def _of_model(intents: Iterable[Sequence[Answer]]) -> Iterator[ToRate]:
    keyed = []
    for group in intents:
        for place, answer in enumerate(group):
            number = int.from_bytes(digest("within", answer.id)[:6])
            chance = (number + 1) / 2**48  # uniform in (0, 1]
            share = (place + chance) / len(group)
            key = -math.log(share) / sampling_rate(answer)
            keyed.append((key, answer))
    keyed.sort(key=itemgetter(0))
    next_keys = [key for key, _ in keyed[1:]]
    for (_, answer), threshold in zip_longest(keyed, next_keys):
        yield ToRate(answer, sampling_rate(answer), threshold)


def sampling_rate(answer: Answer) -> float:
    """How often an answer is drawn, relative to others: 1, and a point more per point of
    disagreement of its judges, at most 3.

    With a strong judge among them this saves ratings, and with weak ones alone it costs some; what
    a single judge says of an answer is no reason to draw it more often. Both are measured in
    docs/real_judges.md.
    """
    return min(_HIGHEST_RATE, 1 + answer.disagreement)
