"""A rating campaign: answers, the people who rate them, and what each has still to do."""

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from urs_inspect._util import InputError, choices
from urs_inspect.annotation._campaign import OwnItems, People, page_language
from urs_inspect.annotation._ratings import (
    CHECK,
    RaterReport,
    Rating,
    RatingReading,
    final_scores,
    parse_rating,
    rater_reports,
    read_ratings,
)
from urs_inspect.annotation._votes import A_VOTE, EventStore, digest, now
from urs_inspect.rating._queue import Answer, ToRate
from urs_inspect.rubrics import Rubric
from urs_inspect.stats._agreement import clustered_interval_alpha
from urs_inspect.stats._bootstrap import Estimate

_BETWEEN = 10  # ratings between one of an answer and its check


class RatingStore(EventStore[Rating]):
    """Appends ratings to the file of a person, as votes are."""

    what = "ratings"
    other = A_VOTE
    parse = staticmethod(parse_rating)


class RatingSession(OwnItems[ToRate]):
    """One person's answers and ratings."""

    store: RatingStore
    noun = "answer"

    def __init__(self, store: RatingStore, campaign: "RatingCampaign") -> None:
        again = [
            replace(item, check=True)
            for item in campaign.queue
            if campaign.is_check(store.annotator, item)
        ]
        super().__init__(store, [*campaign.queue, *again])
        self.campaign = campaign
        self.shown: str | None = None  # id of what is on the page
        self.taken_back: Rating | None = None  # what the rating was that was just taken back

    @property
    def total(self) -> int:
        """How many answers this person has rated and can still rate, checks included."""
        return len(self._own())

    @property
    def checks(self) -> int:
        """How many of `total` are answers that this person rates once more."""
        return sum(item.check for item in self._own())

    @property
    def status(self) -> str:
        """How far this person is, and how many of the answers are checks."""
        if not self.checks:
            return super().status
        return f"{super().status}, {self.checks} of them repeated answers (checks)"

    def _own(self) -> list[ToRate]:
        """All items but those of answers that others have rated for this person."""
        with self.campaign.mutex:
            rated = filter(None, map(self._by_id.get, self.campaign.raters_of))
            by_others = {
                item.id
                for item in rated
                if item.id not in self.store.events and not self._is_left(item)
            }
        return [item for item in self.items if item.answer.id not in by_others]

    @property
    def current(self) -> ToRate | None:
        """The answer to rate now: that on the page, or the next in order."""
        with self.campaign.mutex:
            item = self._by_id.get(self.shown or "")
            if item is None or not self._is_left(item):
                item = next(self._in_order(), None)
            self.shown = item.id if item else None
            return item

    def _in_order(self) -> Iterator[ToRate]:
        """Checks that are due, answers that lack ratings, and all other checks.

        Answers on other people's pages come last of those that lack ratings.
        """
        rated = {answer: place for place, answer in enumerate(self.store.events, start=1)}
        checks = []
        for answer in rated:
            item = self._by_id.get(answer + CHECK)
            if item and self._is_left(item):
                checks.append(item)
        for check in checks:
            if len(rated) - rated[check.answer.id] >= _BETWEEN:
                yield check
        held = Counter(other.shown for other in self.campaign.sessions if other is not self)
        for item in self.campaign.queue:
            if self._is_left(item, held.get(item.id, 0)):
                yield item
        yield from filter(self._is_left, self.campaign.queue)
        yield from checks

    def _is_left(self, item: ToRate, held: int = 0) -> bool:
        """Whether this person can still rate it, when so many others have it on their pages."""
        if item.id in self.store.events:
            return False
        if item.check:
            first = self.store.events.get(item.answer.id)
            return first is not None and not first.cannot_tell
        raters = self.campaign.raters_of.get(item.id, set())
        others = raters - {self.annotator}
        return len(others) + held < self.campaign.plan.raters

    def rate(self, item_id: str, final: int, criteria: Mapping[str, int], seconds: float) -> None:
        """Record a rating.

        `InputError` if it is none of the answers or criteria, `OSError` if it cannot be written.
        """
        item = self._find(item_id, "the rating was not recorded")
        wanted = self.campaign.criteria(item.answer)
        if set(criteria) != set(wanted):
            given = choices(criteria) or "none"
            raise InputError(
                f"criteria must be {choices(wanted) or 'empty'}, got {given}; the rating was not"
                " recorded"
            )
        rating = replace(
            self._decision(item, seconds),
            final=final,
            criteria={name: criteria[name] for name in wanted},
        )
        with self.campaign.mutex:
            self.store.add(rating)
            if not item.check:
                self.campaign.raters_of[item.answer.id].add(self.annotator)
            self.shown = self.taken_back = None

    def cannot_tell(self, item_id: str, seconds: float) -> None:
        """Record that this person cannot rate an answer, which others may still rate.

        Errors as for `rate`.
        """
        item = self._find(item_id, "the decision was not recorded")
        with self.campaign.mutex:
            self.store.add(replace(self._decision(item, seconds), cannot_tell=True))
            if not item.check:
                self.campaign.raters_of[item.answer.id].discard(self.annotator)
            self.shown = self.taken_back = None

    def _decision(self, item: ToRate, seconds: float) -> Rating:
        """A rating of an item without its scores."""
        answer = item.answer
        return Rating(
            question=answer.question,
            model=answer.model,
            epoch=answer.epoch,
            annotator=self.annotator,
            answer=answer.text_digest,
            check=item.check,
            rate=item.rate,
            threshold=item.threshold,
            seconds=seconds,
            time=now(),
            questions=self.campaign.plan.questions,
        )

    def undo(self, item_id: str) -> None:
        """Take a rating back, if there is one: repeating it does no harm."""
        item = self._find(item_id, "nothing was taken back")
        with self.campaign.mutex:
            if (before := self.store.events.get(item_id)) is not None:
                self.store.add(replace(before, undone=True, time=now()))
                if not item.check:
                    self.campaign.raters_of[item_id].discard(self.annotator)
                self.shown = item_id
                self.taken_back = before


@dataclass(frozen=True)
class RatingAgreement:
    """Agreement of several people about final scores."""

    ratings: int
    by_count: Mapping[int, int]  # number of ratings -> answers that have so many
    # Krippendorff's, interval, clustered by question; NaN with fewer than two answers rated by
    # several
    alpha: Estimate
    raters: tuple[RaterReport, ...]  # by name

    @property
    def answers(self) -> int:
        """Answers with at least one rating."""
        return sum(self.by_count.values())


def rating_agreement(reading: RatingReading) -> RatingAgreement:
    """Measure how far people agree with each other, and each with themselves."""
    table = final_scores(reading)
    questions = {rating.answer_id: rating.question for rating in reading.ratings}
    clustered = clustered_interval_alpha(table.to_numpy().T, list(questions.values()))
    counts = Counter(table.count(axis="columns").tolist())
    return RatingAgreement(
        ratings=len(reading.ratings),
        by_count=dict(sorted(counts.items())),
        alpha=clustered.reported(),
        raters=rater_reports(reading),
    )


@dataclass(frozen=True)
class RatingPlan:
    """How answers are rated."""

    raters: int = 1  # how many people rate an answer
    checks: float = 0.0  # share of answers that a person rates twice
    final_only: bool = False
    reference: bool = True  # whether the page shows the reference answer
    questions: str = ""  # language of the questions, where the queue has only those of one


class RatingCampaign(People[RatingSession]):
    """The answers in the order in which they are to be rated, and the sessions of the raters."""

    kind = "rate"

    def __init__(
        self,
        queue: Sequence[ToRate],
        rubric: Rubric,
        directory: Path,
        annotators: Sequence[str] = (),
        plan: RatingPlan | None = None,
    ) -> None:
        """Open the sessions of the annotators; without any, anybody may rate."""
        self.queue = tuple(queue)
        self.rubric = rubric
        self.plan = plan or RatingPlan()
        self.language = page_language(item.answer.language for item in self.queue)
        self.mutex = threading.RLock()
        self.raters_of: dict[str, set[str]] = defaultdict(set)
        for rating in read_ratings(sorted(directory.glob("*.jsonl"))).ratings:
            self.raters_of[rating.answer_id].add(rating.annotator)
        super().__init__(directory, annotators)

    def _open(self, annotator: str) -> RatingSession:
        return RatingSession(RatingStore(self.directory, annotator), self)

    def criteria(self, answer: Answer) -> tuple[str, ...]:
        """Ids of the criteria on which an answer is rated."""
        if self.plan.final_only:
            return ()
        return self.rubric.intents[answer.intent].criteria

    def is_check(self, annotator: str, item: ToRate) -> bool:
        """Whether a person rates an answer twice: by a hash, which is the same after a restart."""
        drawn = digest("check", annotator, item.answer.id)[:6]
        chance = int.from_bytes(drawn)
        return chance < self.plan.checks * 2**48

    def report(self) -> tuple[RatingAgreement, RatingReading]:
        """Agreement about these answers, and all ratings in the files."""
        reading = read_ratings(sorted(self.directory.glob("*.jsonl")))
        answers = {item.answer.id for item in self.queue}
        return rating_agreement(about(answers, reading)), reading


def about(answers: Collection[str], reading: RatingReading) -> RatingReading:
    """A reading without ratings of answers other than those of these ids."""
    return replace(
        reading,
        ratings=tuple(one for one in reading.ratings if one.answer_id in answers),
        checks=tuple(pair for pair in reading.checks if pair[0].answer_id in answers),
        cannot_tell=tuple(one for one in reading.cannot_tell if one.answer_id in answers),
    )
