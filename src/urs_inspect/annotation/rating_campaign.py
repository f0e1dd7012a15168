"""A rating campaign: answers, the people who rate them, and what each has still to do."""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from urs_inspect._util import InputError, choices
from urs_inspect.annotation.campaign import OwnItems, People
from urs_inspect.annotation.rating_queue import CHECK, Answer, ToRate
from urs_inspect.annotation.ratings import (
    Rating,
    RatingAgreement,
    RatingReading,
    RatingStore,
    RatingUndo,
    rating_agreement,
    read_ratings,
)
from urs_inspect.annotation.votes import digest, now
from urs_inspect.rubrics import HIGHEST, LOWEST, Rubric

_BETWEEN = 10  # ratings between one of an answer and its check


class RatingSession(OwnItems[ToRate]):
    """One person's answers and ratings."""

    store: RatingStore

    def __init__(self, store: RatingStore, campaign: "RatingCampaign") -> None:
        again = [replace(item, check=True) for item in campaign.queue if campaign.is_check(store.annotator, item)]
        super().__init__(store, [*campaign.queue, *again])
        self._campaign = campaign
        self.shown: str | None = None  # id of what is on the page
        self.taken_back: Rating | None = None  # what the rating was that was just taken back

    @property
    def total(self) -> int:
        """How many answers this person has rated and can still rate, checks included."""
        with self._campaign.mutex:
            rated_by_others = [
                answer
                for answer in self._campaign.raters_of
                if answer in self._by_id and answer not in self.store.events and not self._is_left(self._by_id[answer])
            ]
        return len(self.items) - sum(1 + (answer + CHECK in self._by_id) for answer in rated_by_others)

    @property
    def current(self) -> ToRate | None:
        """The answer to rate now: that on the page, a check that is due, or the first one that lacks ratings.

        One that somebody else has on the page comes last.
        """
        with self._campaign.mutex:
            item = self._by_id.get(self.shown or "")
            if item is None or not self._is_left(item):
                item = next(self._in_order(), None)
            self.shown = item.id if item else None
            return item

    def _in_order(self) -> Iterator[ToRate]:
        checks = [self._by_id[answer + CHECK] for answer in self.store.events if answer + CHECK in self._by_id]
        left = [check for check in checks if self._is_left(check)]
        rated = {answer: place for place, answer in enumerate(self.store.events, start=1)}
        yield from (check for check in left if len(rated) - rated[check.answer.id] >= _BETWEEN)
        held = self._campaign.shown_to_others(self)
        new = [item for item in self.items if not item.check]
        yield from (item for item in new if self._is_left(item, held))
        yield from (item for item in new if self._is_left(item))
        yield from left

    def _is_left(self, item: ToRate, held: Mapping[str, int] | None = None) -> bool:
        """Whether this person can still rate it; `held` has how many others have an answer on their pages."""
        if item.check:
            return item.id not in self.store.events and item.answer.id in self.store.events
        return item.id not in self.store.events and self._campaign.is_open(item.id, self.annotator, held or {})

    def rate(self, item: str, final: int, criteria: Mapping[str, int], seconds: float) -> None:
        """Record a rating; `InputError` if it is none of the answers or scores, `OSError` if it cannot be written."""
        found = self._by_id.get(item)
        if found is None or (found.check and found.answer.id not in self.store.events):
            raise InputError(f"no answer '{item}' to rate here; the rating was not recorded")
        wanted = self._campaign.criteria(found.answer)
        if set(criteria) != set(wanted):
            raise InputError(
                f"criteria must be {choices(wanted) or 'empty'}, got {choices(criteria) or 'none'}; the rating was not "
                "recorded"
            )
        if not all(LOWEST <= score <= HIGHEST for score in (final, *criteria.values())):
            raise InputError(f"scores must be from {LOWEST} to {HIGHEST}; the rating was not recorded")
        with self._campaign.mutex:
            ordered = {name: criteria[name] for name in wanted}
            self.store.add(
                Rating(
                    **self._about(found),
                    final=final,
                    criteria=ordered,
                    rate=found.rate,
                    threshold=found.threshold,
                    seconds=seconds,
                    time=now(),
                )
            )
            self._campaign.raters_of[found.answer.id].add(self.annotator)
            self.shown = self.taken_back = None

    def undo(self, item: str) -> None:
        """Take a rating back, if there is one: repeating it does no harm."""
        found = self._by_id.get(item)
        if found is None:
            raise InputError(f"no answer '{item}' to rate here; nothing was taken back")
        with self._campaign.mutex:
            if (before := self.store.events.get(item)) is not None:
                self.taken_back = before if isinstance(before, Rating) else None
                self.store.add(RatingUndo(**self._about(found), time=now()))
                if not found.check:
                    self._campaign.raters_of[found.answer.id].discard(self.annotator)
                self.shown = item

    def _about(self, item: ToRate) -> dict[str, Any]:
        answer = item.answer
        names = {"question": answer.question, "model": answer.model, "epoch": answer.epoch}
        return {**names, "annotator": self.annotator, "answer": answer.text_digest, "check": item.check}


class RatingCampaign(People[RatingSession]):
    """The answers in the order in which they are to be rated, and the sessions of the people who rate them."""

    kind = "rate"

    def __init__(
        self,
        queue: Sequence[ToRate],
        rubric: Rubric,
        directory: Path,
        annotators: Sequence[str] = (),
        *,
        raters: int = 1,
        checks: float = 0.0,
        final_only: bool = False,
        reference: bool = False,
    ) -> None:
        """Open the sessions of the annotators; without any, anybody may rate under a name of their own.

        `raters` is how many people rate an answer, `checks` the share of answers that a person rates twice, and
        `reference` whether the page offers the reference answer.
        """
        self.queue = tuple(queue)
        self.rubric = rubric
        self.reference = reference
        self.language = "zh" if {item.answer.language for item in queue} == {"zh"} else "en"
        self.mutex = threading.RLock()
        self._raters, self._checks, self._final_only = raters, checks, final_only
        self.raters_of: dict[str, set[str]] = defaultdict(set)
        for rating in read_ratings(sorted(directory.glob("*.jsonl"))).ratings:
            self.raters_of[rating.answer_id].add(rating.annotator)
        super().__init__(directory, annotators)

    def _open(self, annotator: str) -> RatingSession:
        return RatingSession(RatingStore(self.directory, annotator), self)

    def criteria(self, answer: Answer) -> tuple[str, ...]:
        """Ids of the criteria on which an answer is rated."""
        return () if self._final_only else self.rubric.intents[answer.intent].criteria

    def is_check(self, annotator: str, item: ToRate) -> bool:
        """Whether a person rates an answer twice: by a hash, so that it stays the same after a restart."""
        return int.from_bytes(digest("check", annotator, item.answer.id)[:6]) < self._checks * 2**48

    def is_open(self, answer: str, annotator: str, held: Mapping[str, int]) -> bool:
        """Whether an answer lacks ratings of others, counting those who have it on their pages."""
        raters = self.raters_of.get(answer, ())
        return len(raters) - (annotator in raters) + held.get(answer, 0) < self._raters

    def shown_to_others(self, session: RatingSession) -> Mapping[str, int]:
        """Answers on the pages of others, and on how many."""
        return Counter(other.shown for other in self.sessions if other is not session and other.shown)

    def report(self) -> tuple[RatingAgreement, RatingReading]:
        """Agreement about these answers, and the reading of the files in the directory."""
        return report(self.queue, self.directory)


def report(queue: Sequence[ToRate], directory: Path) -> tuple[RatingAgreement, RatingReading]:
    """Agreement about these answers, and the reading of the files, ratings of other answers included."""
    reading = read_ratings(sorted(directory.glob("*.jsonl")))
    return rating_agreement(reading.about({item.answer.id for item in queue})), reading
