"""Files of how satisfied people are with services by intent."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from urs_inspect.datasets.fields import Fields, refuse
from urs_inspect.datasets.rows import Row, read_table
from urs_inspect.errors import InputError, choices
from urs_inspect.rating.bootstrap import Floats
from urs_inspect.rating.mean_columns import MeanDraws
from urs_inspect.rating.mean_correlation import derived_seed, exact_means, table_means
from urs_inspect.reports.agreement.rating_files import Scale, name, whole_number
from urs_inspect.rubrics import Rubric
from urs_inspect.rubrics.schema import normalise_key

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
