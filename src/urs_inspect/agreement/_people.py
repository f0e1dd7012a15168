"""What people say: how satisfied they are by intent, and their votes between models."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices
from urs_inspect.agreement._mean_correlation import exact_means, table_means
from urs_inspect.datasets._rows import FaultyRow, Fields, read_table, refuse, told_once
from urs_inspect.logs._battles import (
    HumanBattles,
    holds_ballot_votes,
    read_battles,
    read_human_battles,
)
from urs_inspect.logs._comparisons import holds_choices
from urs_inspect.logs._files import finished_logs, log_files
from urs_inspect.reports.numbers._human_data import Scale, check_scale, whole_number
from urs_inspect.rubrics import Rubric
from urs_inspect.rubrics._rubric import normalise_key
from urs_inspect.stats import Ranking, Resampling, rank
from urs_inspect.stats._correlation import derived_seed
from urs_inspect.stats._means import MeanDraws

_INTENT = ("intent", "user_intent")


@dataclass(frozen=True)
class SatisfactionRow:
    """One row of a file of satisfaction."""

    group: str  # the reported intent
    value: float  # on the scale of the file
    people: int | None  # how many people it is the mean of; None if the file does not name it
    respondent: str  # empty if the file does not name it


@dataclass(frozen=True)
class Satisfaction:
    """A file of satisfaction, its rows in the order of the file."""

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

        A row that names a respondent is; of a file that names neither respondents nor n, if an
        intent has several rows.
        """
        several_rows = len(self.rows) > len(self.groups)
        names_people = any(row.people == 1 or row.respondent for row in self.rows)
        if not several_rows and not names_people:
            return False
        return all((row.people or 1) == 1 for row in self.rows)

    @property
    def mixed(self) -> bool:
        """Whether some rows are single people's and others means of several."""
        means = [(row.people or 1) > 1 for row in self.rows]
        return any(means) and not all(means)

    def people(self, group: str) -> int | None:
        """How many people were asked about an intent; None if that is not known."""
        rows = [row for row in self.rows if row.group == group]
        named = {row.respondent for row in rows if row.respondent}
        in_a_row = int(self.by_respondent)
        others = [row.people or in_a_row for row in rows if not row.respondent]
        if not all(others):
            return None
        return len(named) + sum(others)

    def means(self, groups: Sequence[str], rounds: int, seed: int) -> MeanDraws:
        """Mean satisfaction by intent, shape (G,), and its rounds.

        Rows of single people are resampled: people as a whole where the file names them, else the
        rows of each intent. Where a row is a mean itself, all are weighted by how many people they
        stand for, and count as exact.
        """
        rows = pd.DataFrame(self.rows)
        parts = [rows[rows["group"] == group] for group in groups]
        if not self.by_respondent:
            weights = rows["people"].astype(float).fillna(1)
            return exact_means([np.average(p["value"], weights=weights[p.index]) for p in parts])
        if any(rows["respondent"]):
            # A row without a name is a respondent of its own.
            unnamed = rows.index.map("\x00{}".format)
            person = rows["respondent"].where(rows["respondent"] != "", unnamed)
            means = rows.groupby([person, "group"], sort=False)["value"].mean()
            table = means.unstack("group")[list(groups)].dropna(how="all")
            finals = table.to_numpy(dtype=np.float64)
            return table_means(finals, rounds=rounds, seed=derived_seed(seed, 1))
        columns = []
        for place, part in enumerate(parts):
            ratings = part[["value"]].to_numpy()
            seed_of_intent = derived_seed(seed, 1, place)
            columns.append(table_means(ratings, rounds=rounds, seed=seed_of_intent))
        return MeanDraws(
            np.concatenate([column.values for column in columns]),
            np.concatenate([column.draws for column in columns], axis=1),
            np.concatenate([column.n for column in columns]),
            seed,
            np.concatenate([column.clusters for column in columns]),
        )


def read_satisfaction(path: Path, scale: Scale, rubric: Rubric) -> Satisfaction:
    """Read how satisfied people are by intent.

    The scale has the lowest and highest that a person could choose. The file is `.csv` with a
    header, or `.jsonl`, with the columns intent and satisfaction, and optionally n (how many people
    a row is the mean of) and respondent. Intents are named by id, label or reported name; those
    that are reported together, as API with Solve Problem, count together.

    Raises:
        InputError: Naming file and row of every error: an unknown intent, a value that is no number
            of the scale, a person with two answers about an intent, or a respondent with an n above
            1.
    """
    check_scale(scale, "scale")
    rows, errors = read_table(path, (_INTENT, ("satisfaction",)))
    kept: list[SatisfactionRow] = []
    faulty: list[FaultyRow] = []
    seen: dict[tuple[str, str], str] = {}
    find = _finder(rubric)
    for row in rows:
        fields = Fields(row)
        read = SatisfactionRow(
            group=fields.resolved(find, *_INTENT),
            value=fields.rating("satisfaction", *scale),
            people=whole_number(fields, "n"),
            respondent=fields.name("respondent"),
        )
        if read.respondent and not fields.faults:
            intent = str(fields.values.get("intent", fields.values.get("user_intent"))).strip()
            first = seen.setdefault((read.respondent, normalise_key(intent)), row.place)
            if first != row.place:
                answered = f"'{read.respondent}' answered about '{intent}' on {first} already"
                fields.note("respondent", answered)
            if (read.people or 1) > 1:
                fields.note(
                    "n", f"must be 1 or empty where a respondent is named, is {read.people}"
                )
        if fields.faults:
            faulty.append(FaultyRow(row, fields.faults))
        kept.append(read)
    refuse([*errors, *told_once(path, faulty)])
    if not kept:
        raise InputError(f"{path}: no row")
    return Satisfaction(path, scale, tuple(kept))


def _finder(rubric: Rubric) -> Callable[[str], str]:
    groups = {normalise_key(intent.group): intent.group for intent in rubric.intents.values()}

    def find(label: str) -> str:
        group = groups.get(normalise_key(label))
        if group:
            return group
        try:
            return rubric.intents[rubric.intent_id(label)].group
        except InputError:
            allowed = [*rubric.intents, *groups.values()]
            raise InputError(
                f"unknown intent '{label.strip()[:60]}'; allowed: {choices(allowed)}"
            ) from None

    return find


@dataclass(frozen=True)
class Votes:
    """A ranking of models by people's votes, and what was skipped, a sentence each."""

    ranking: Ranking
    skipped: tuple[str, ...]
    people: HumanBattles | None = None  # their votes on comparisons, if these were given


def read_vote_ranking(paths: Iterable[str], resampling: Resampling) -> Votes:
    """Rank models by people's votes; something must be decided.

    The paths are lists of votes (model_a, model_b, winner), or people's votes about ballots
    together with the log or file that has the ballots, or logs of `mad` with people's choices as
    scores, without verdicts of a judge alone; and directories of these.
    """
    named = list(paths)
    for path in named:
        if not Path(path).exists():
            raise InputError(f"votes: no file or directory '{path}'")
    cast = [path for path in named if holds_ballot_votes(path)]
    sources = [path for path in named if path not in cast]
    if not sources:
        raise InputError(
            f"votes: {cast[0]} has votes on comparisons; name the log or file with these as well"
        )
    skipped: list[str] = []
    people = None
    if cast:
        people = read_human_battles(sources, cast, skipped.append)
        battles = people.battles
    else:
        _refuse_judges(sources)
        battles = read_battles(sources, skipped.append)
    ranking = rank(battles, **resampling.options)
    return Votes(ranking, tuple(skipped), people)


def _refuse_judges(sources: Iterable[str]) -> None:
    """Refuse logs in which a judge decided, whose verdicts would pass for people's."""
    holders = []
    for source in sources:
        path = Path(source)
        if path.is_dir() or path.suffix == ".eval":
            holders.append(source)
    for log in finished_logs(log_files(holders), []):
        task = log.eval.task.rpartition("/")[2]
        if task != "mad":
            raise InputError(f"votes: {log.location} is a log of {log.eval.task}; allowed: of mad")
        if not holds_choices(log, people=True):
            raise InputError(
                f"votes: {log.location} has no people's choices, only verdicts of a judge or"
                " comparisons; name people's votes on these as well"
            )
