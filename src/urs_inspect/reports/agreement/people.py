"""What people said: ratings, satisfaction and votes, from files and logs."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from urs_inspect._util import InputError, choices, counted
from urs_inspect.datasets.rows import Fields, Row, read_table, refuse, shown
from urs_inspect.logs.battles import HumanBattles, holds_ballot_votes, read_battles, read_human_battles
from urs_inspect.logs.comparisons import judged_by_people
from urs_inspect.logs.files import finished_logs, log_files
from urs_inspect.rubrics import Rubric
from urs_inspect.rubrics.schema import normalise_key
from urs_inspect.stats import Ranking, Resampling, rank
from urs_inspect.stats.bootstrap import Estimate, Floats, reported_bounds
from urs_inspect.stats.mean_correlation import derived_seed, exact_means, table_means
from urs_inspect.stats.means import MeanDraws

CORRELATIONS = (-1.0, 1.0)
"""Lowest and highest correlation."""


def reported(found: Estimate, scale: tuple[float, float], clusters: int | None = None) -> Estimate:
    """A number with its interval where one is reported; by fewest questions or people behind it, if they are given."""
    behind = found.clusters if clusters is None else clusters
    low, high = reported_bounds(found.low, found.high, behind, level=found.level, scale=scale)
    if math.isnan(low):
        return replace(found, low=math.nan, high=math.nan)
    return replace(found, low=float(low), high=float(high))


_COUNT = re.compile(r"[1-9][0-9]{0,17}")

Scale = tuple[float, float]
"""Lowest and highest value that a person could choose."""


@dataclass(frozen=True)
class HumanRating:
    """What one person gave one answer.

    Attributes:
        question: Id of the question.
        model: Name of the model that answered; empty if the file does not say.
        epoch: Number of the answer, from 1, where a model answered repeatedly; None if the file does not say.
        rater: Who rated; empty if the file does not say.
        rating: The rating, on the scale of the file.
        place: Where it stands in the file.
    """

    question: str
    model: str
    epoch: int | None
    rater: str
    rating: float
    place: str

    @property
    def answer(self) -> str:
        """The answer in words."""
        model = f" of {self.model}" if self.model else ""
        epoch = f", epoch {self.epoch}" if self.epoch is not None else ""
        return f"'{self.question}'{model}{epoch}"


@dataclass(frozen=True)
class HumanRatings:
    """A file of ratings.

    Attributes:
        path: The file.
        scale: Its scale.
        ratings: The ratings, in the order of the file.
        repeated: Rows that repeat another one to the letter and were left out.
    """

    path: Path
    scale: Scale
    ratings: tuple[HumanRating, ...]
    repeated: int


def read_human_ratings(path: Path, scale: Scale) -> HumanRatings:
    """Read people's ratings of answers.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file, with the columns id (of the question) and rating, and
            optionally model, rater and epoch.
        scale: Lowest and highest rating that a person could choose.

    Returns:
        The ratings. A row that repeats a person's rating of an answer is left out and counted.

    Raises:
        InputError: Naming file and row of every fault: a rating that is no number of the scale, two different ratings
            of one answer by one person, two ratings of one answer in a file that does not say who rated.
    """
    _check(scale, "human-scale")
    rows, faults = read_table(path, (("id",), ("rating",)))
    seen: dict[tuple[object, ...], HumanRating] = {}
    repeated = 0
    for row in rows:
        found = _rating(row, scale)
        if isinstance(found, str):
            faults.append(f"{path}: {row.place}: {found}")
            continue
        first = seen.setdefault((found.question, found.model, found.epoch, found.rater), found)
        if first is found:
            continue
        if found.rater and first.rating == found.rating:
            repeated += 1
        else:
            faults.append(f"{path}: {row.place}: {_conflict(first, found)}")
    refuse(faults)
    if not seen:
        raise InputError(f"{path}: no rating")
    return HumanRatings(path, scale, tuple(seen.values()), repeated)


def whole_number(fields: Fields, column: str) -> int | None:
    """Read a whole number of at least 1 that may be left out."""
    if fields.blank(column):
        return None
    value = fields.values[column]
    text = str(value).strip()
    if isinstance(value, bool) or not _COUNT.fullmatch(text):
        fields.note(column, f"must be a whole number of at least 1, is {shown(value)}")
        return None
    return int(text)


def name(fields: Fields, column: str) -> str:
    """Read a name, a text or a whole number, that may be left out."""
    value = fields.values.get(column)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return fields.optional(column).strip()


def _check(scale: Scale, argument: str) -> None:
    if not scale[0] < scale[1]:
        raise InputError(f"{argument}: must have a lowest value below a highest, got {scale[0]:g} and {scale[1]:g}")


def _rating(row: Row, scale: Scale) -> HumanRating | str:
    fields = Fields(row)
    found = HumanRating(
        question=fields.identifier(""),
        model=name(fields, "model"),
        epoch=whole_number(fields, "epoch"),
        rater=name(fields, "rater"),
        rating=fields.rating("rating", *scale),
        place=row.place,
    )
    if not found.question and not fields.problems:
        fields.note("id", "empty")
    return "; ".join(fields.problems) or found


def _conflict(first: HumanRating, second: HumanRating) -> str:
    if not second.rater:
        return (
            f"{second.answer} was rated on {first.place} already; if these are two people, "
            "say who rated in a column 'rater'"
        )
    return (
        f"'{second.rater}' rated {second.answer} {second.rating:g} here and {first.rating:g} on {first.place}; "
        "keep one of the two"
    )


_INTENT = ("intent", "user_intent")


@dataclass(frozen=True)
class SatisfactionRow:
    """One row of a file.

    Attributes:
        group: The reported intent.
        value: Satisfaction on the scale of the file.
        people: How many people it is the mean of; None if the file does not say.
        respondent: Whose it is; empty if the file does not say.
    """

    group: str
    value: float
    people: int | None
    respondent: str


@dataclass(frozen=True)
class Satisfaction:
    """A file of satisfaction.

    Attributes:
        path: The file.
        scale: Its scale.
        rows: Its rows, in the order of the file.
    """

    path: Path
    scale: Scale
    rows: tuple[SatisfactionRow, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        """The intents that it has, in the order of the file."""
        return tuple(dict.fromkeys(row.group for row in self.rows))

    @property
    def by_respondent(self) -> bool:
        """Whether its rows are single people's, so that people can be resampled.

        A row that names a respondent is; of a file that says neither who nor how many, if an intent has several rows.
        """
        single = len(self.rows) > len(self.groups) or any(row.people == 1 or row.respondent for row in self.rows)
        return single and all((row.people or 1) == 1 for row in self.rows)

    @property
    def mixed(self) -> bool:
        """Whether some rows are single people's and others means of several."""
        means = [(row.people or 1) > 1 for row in self.rows]
        return any(means) and not all(means)

    def people(self, group: str) -> int | None:
        """How many people were asked about an intent; None if the file does not say."""
        rows = [row for row in self.rows if row.group == group]
        named = {row.respondent for row in rows if row.respondent}
        others = [row.people or int(self.by_respondent) for row in rows if not row.respondent]
        return len(named) + sum(others) if all(others) else None

    def means(self, groups: Sequence[str], rounds: int, seed: int) -> MeanDraws:
        """Mean satisfaction by intent, shape (G,), and its rounds.

        Rows of single people are resampled: people as a whole where the file names them, else the rows of each intent.
        Where a row is a mean itself, all are weighted by how many people they stand for, and count as exact.
        """
        if not self.by_respondent:
            return exact_means([self._weighted_mean(group) for group in groups])
        if any(row.respondent for row in self.rows):
            return table_means(self._table(groups), rounds=rounds, seed=derived_seed(seed, 1))
        parts = [
            table_means(self._values(group)[:, None], rounds=rounds, seed=derived_seed(seed, 1, place))
            for place, group in enumerate(groups)
        ]
        return MeanDraws(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.draws for part in parts], axis=1),
            np.concatenate([part.n for part in parts]),
            seed,
        )

    def _values(self, group: str) -> Floats:
        return np.array([row.value for row in self.rows if row.group == group])

    def _weighted_mean(self, group: str) -> float:
        weights = [row.people or 1 for row in self.rows if row.group == group]
        return float(np.average(self._values(group), weights=weights))

    def _table(self, groups: Sequence[str]) -> Floats:
        """One row a respondent, one column an intent; a row without a name is a respondent of its own."""
        said: dict[tuple[str, str], list[float]] = defaultdict(list)
        for place, row in enumerate(self.rows):
            if row.group in groups:  # of intents that are reported together, a respondent may have answered about each
                said[row.respondent or f"\x00{place}", row.group].append(row.value)
        numbers = {person: number for number, person in enumerate(dict.fromkeys(one for one, _ in said))}
        table = np.full((len(numbers), len(groups)), np.nan)
        for (person, group), values in said.items():
            table[numbers[person], groups.index(group)] = np.mean(values)
        return table


def read_satisfaction(path: Path, scale: Scale, rubric: Rubric) -> Satisfaction:
    """Read how satisfied people are by intent.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file, with the columns intent and satisfaction, and optionally
            n (how many people a row is the mean of) and respondent.
        scale: Lowest and highest satisfaction that a person could choose.
        rubric: Its intents may stand in the file by id, label or reported name; those that are reported together, as
            API with Solve Problem, count together.

    Returns:
        The rows.

    Raises:
        InputError: Naming file and row of every fault: an unknown intent, a value that is no number of the scale, a
            person who answers twice about an intent, or whose row is said to be the mean of several.
    """
    if not scale[0] < scale[1]:
        raise InputError(f"scale: must have a lowest value below a highest, got {scale[0]:g} and {scale[1]:g}")
    rows, faults = read_table(path, (_INTENT, ("satisfaction",)))
    found: list[SatisfactionRow] = []
    seen: dict[tuple[str, str], str] = {}
    find = _finder(rubric)
    for row in rows:
        fields = Fields(row)
        read = _row(fields, row, scale, find)
        if read.respondent and not fields.problems:
            intent = str(fields.values.get("intent", fields.values.get("user_intent")))
            first = seen.setdefault((read.respondent, normalise_key(intent)), row.place)
            if first != row.place:
                fields.note("respondent", f"'{read.respondent}' answered about '{intent.strip()}' on {first} already")
            if (read.people or 1) > 1:
                fields.note("n", f"must be 1 or empty where a respondent is named, is {read.people}")
        if fields.problems:
            faults.append(f"{path}: {row.place}: {'; '.join(fields.problems)}")
        else:
            found.append(read)
    refuse(faults)
    if not found:
        raise InputError(f"{path}: no row")
    return Satisfaction(path, scale, tuple(found))


def _row(fields: Fields, row: Row, scale: Scale, find: Callable[[str], str]) -> SatisfactionRow:
    return SatisfactionRow(
        group=fields.resolved(find, *_INTENT),
        value=fields.rating("satisfaction", *scale),
        people=whole_number(fields, "n"),
        respondent=name(fields, "respondent"),
    )


def _finder(rubric: Rubric) -> Callable[[str], str]:
    groups = {normalise_key(intent.group): intent.group for intent in rubric.intents.values()}

    def find(label: str) -> str:
        if (group := groups.get(normalise_key(label))) is not None:
            return group
        try:
            return rubric.intents[rubric.intent_id(label)].group
        except InputError:
            allowed = [*rubric.intents, *groups.values()]
            raise InputError(f"unknown intent '{label.strip()[:60]}'; allowed: {choices(allowed)}") from None

    return find


_TASK = "mad"


@dataclass(frozen=True)
class Votes:
    """A ranking of models by people's votes.

    Attributes:
        ranking: The ranking, with what resampling the instructions makes of it.
        notes: How the votes were counted and what was left out, a sentence each.
    """

    ranking: Ranking
    notes: tuple[str, ...]


def read_vote_ranking(paths: Iterable[str], resampling: Resampling) -> Votes:
    """Rank models by people's votes.

    Args:
        paths: Lists of votes (model_a, model_b, winner), or people's votes about ballots together with the log or file
            that has the ballots, or logs of `mad` with people's choices as scores; and directories of these.
        resampling: How intervals come about.

    Returns:
        The ranking.

    Raises:
        InputError: If a path does not exist, a file cannot be read, a log has verdicts of a judge alone, or nothing is
            decided.
    """
    named = list(paths)
    cast = [path for path in named if _holds_ballot_votes(path)]
    sources = [path for path in named if path not in cast]
    if not sources:
        raise InputError(f"votes: {cast[0]} has votes about ballots; name the log or file with the ballots as well")
    said: list[str] = []
    if cast:
        people = read_human_battles(sources, cast, said.append)
        battles, said = people.battles, [*_about(people), *said]
    else:
        _refuse_judges(sources)
        battles = read_battles(sources, said.append)
    return Votes(rank(battles, **resampling.options), tuple(said))


def _refuse_judges(sources: Iterable[str]) -> None:
    """Refuse logs in which a judge decided, whose verdicts would pass for people's."""
    logs = [file for source in sources for file in (log_files([source]) if _may_hold_logs(Path(source)) else [])]
    for log in finished_logs(logs, []):
        if log.eval.task.rpartition("/")[2] != _TASK:
            raise InputError(f"votes: {log.location} is a log of {log.eval.task}; allowed: one of urs_inspect/{_TASK}")
        if not judged_by_people(log):
            raise InputError(
                f"votes: {log.location} has no people's choices, only verdicts of a judge or ballots; name people's "
                "votes about its ballots as well"
            )


def _may_hold_logs(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".eval"


def _holds_ballot_votes(path: str) -> bool:
    """Whether a file, or every file of a directory, holds people's votes about ballots."""
    if not Path(path).exists():
        raise InputError(f"votes: no file or directory '{path}'")
    files = sorted(Path(path).glob("*.jsonl")) if Path(path).is_dir() else [Path(path)]
    return bool(files) and all(map(holds_ballot_votes, files))


def people_counted(number: int) -> str:
    """A number of people in words."""
    return "1 person" if number == 1 else f"{number} people"


def _about(people: HumanBattles) -> list[str]:
    found = people.agreement
    notes = [
        f"{counted(found.votes, 'vote')} by {people_counted(len(found.annotators))} on {found.ballots} of "
        f"{counted(people.ballots, 'ballot')}; the majority counts, a shared one is a tie."
    ]
    numbers = {
        "replaced later by the same person": people.replaced,
        "about other ballots, left out": people.unknown,
    }
    notes += [f"{counted(number, 'vote')} {what}." for what, number in numbers.items() if number]
    if people.undecided:
        notes.append(f"{counted(people.undecided, 'ballot')} on which nobody chose, left out.")
    return notes + [f"Not a vote: {fault}" for fault in people.faults]
