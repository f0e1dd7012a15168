"""Training pairs: files, labels, balance, folds."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator

from urs_inspect._arguments import Text, check
from urs_inspect._util import InputError, choices
from urs_inspect.rubrics._taxonomy import Taxonomy

Preference = Literal["a", "b", "tie"]  # which of two responses is better
_ALIASES = {"model_a": "a", "model_b": "b"}
Label = Annotated[
    Preference,
    BeforeValidator(lambda label: _ALIASES.get(label, label) if isinstance(label, str) else label),
]

Codes = npt.NDArray[np.int8]
Rows = npt.NDArray[np.intp]

ABSENT = 2  # code of a preference that is not known; the others are those of Equation 2
_CODES: Mapping[Preference | None, int] = {"a": 1, "b": -1, "tie": 0, None: ABSENT}


@dataclass(frozen=True)
class TrainingPair:
    """Two responses to one prompt, as heads are trained on them."""

    id: str
    prompt: Text
    response_a: str
    response_b: str
    winner: Label | None = None  # which is better overall; None if not known
    scenario: str = ""  # its id in the taxonomy; empty if not known
    # which is better on each; empty if not known
    dimensions: Mapping[str, Label] = field(default_factory=dict)
    source: str = ""  # data set that it comes from


@dataclass(frozen=True, eq=False)
class PairLabels:
    """Preferences of n pairs on D dimensions: 1 (a is better), -1 (b is), 0 (tie) or `ABSENT`."""

    overall: Codes  # shape (n,)
    dimensions: Codes  # shape (n, D)

    def __len__(self) -> int:
        return len(self.overall)

    def take(self, rows: Rows) -> "PairLabels":
        """The labels of some pairs, in that order."""
        return PairLabels(self.overall[rows], self.dimensions[rows])

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Dimensions with a preference or a tie, shape (n, D): those that the predictor learns."""
        return np.asarray(self.dimensions != ABSENT, bool)


def label_pairs(pairs: Sequence[TrainingPair], dimensions: Sequence[str]) -> PairLabels:
    """Codes of n pairs for the D dimensions in the order of the heads' outputs."""
    place = {name: number for number, name in enumerate(dimensions)}
    overall = np.array([_CODES[pair.winner] for pair in pairs], np.int8)
    labels = np.full((len(pairs), len(dimensions)), ABSENT, np.int8)
    for row, pair in enumerate(pairs):
        for name, preference in pair.dimensions.items():
            if name not in place:
                raise InputError(
                    f"pair '{pair.id}': unknown dimension '{name}'; allowed: {choices(dimensions)}"
                )
            labels[row, place[name]] = _CODES[preference]
    return PairLabels(overall, labels)


def check_split(labels: PairLabels, fit: Rows, held_out: Rows | None) -> None:
    """Refuse a split from which nothing could be learnt, or by which no epoch could be chosen."""
    if not len(fit) or not bool(labels.take(fit).known.any()):
        raise InputError("no pair to fit has a label on a dimension")
    if held_out is None or not len(held_out):
        return
    held = labels.take(held_out)
    sided_overall = abs(held.overall) == 1
    sided_dimensions = abs(held.dimensions) == 1
    if not sided_overall.any() and not sided_dimensions.any():
        raise InputError(
            f"none of the {len(held_out)} held-out pairs has a label that is no tie, and by these"
            " the best epoch is chosen; hold out more, or others by another seed, or none"
        )


# ## Files


def read_training(path: Path, taxonomy: Taxonomy) -> list[TrainingPair]:
    """Read pairs in the training format, JSON Lines.

    `prompt`, `response_a`, `response_b` and optionally the other fields of `TrainingPair`.

    Aliases of the taxonomy's dimensions are resolved.
    """
    pairs: list[TrainingPair] = []
    seen: dict[str, int] = {}
    for number, row in read_rows(path):
        pair = _pair(row, f"{path.stem}_{number:06d}", f"{path}: line {number}", taxonomy)
        first = seen.setdefault(pair.id, number)
        if first != number:
            raise InputError(f"{path}: line {number}: id '{pair.id}' is taken by line {first}")
        pairs.append(pair)
    if not pairs:
        raise InputError(f"{path}: no pair in it")
    return pairs


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the objects of a JSON Lines file one by one, each with the number of its line from 1."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, _object(line, f"{path}: line {number}")
    except OSError as error:
        raise InputError(f"cannot read '{path}': {error.strerror}") from error


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON in UTF-8: {error}") from error
    if not isinstance(row, dict):
        raise InputError(f"{place}: a row is a JSON object, got {type(row).__name__}")
    return row


def write_training(path: Path, pairs: Iterable[TrainingPair]) -> int:
    """Write pairs in the training format, whole or not at all; returns how many were written."""
    fresh = path.with_name(f"{path.name}.new")
    count = 0
    with fresh.open("w", encoding="utf-8") as file:
        for pair in pairs:
            record = asdict(pair) | {"dimensions": dict(pair.dimensions)}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    return count


def _pair(row: dict[str, Any], default_id: str, place: str, taxonomy: Taxonomy) -> TrainingPair:
    pair: TrainingPair = check(place, {**row, "id": row.get("id") or default_id}, TrainingPair)
    try:
        scenario = pair.scenario
        if scenario:
            scenario = taxonomy.scenario_id(scenario)
        dimensions = {taxonomy.dimension(name): best for name, best in pair.dimensions.items()}
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    return replace(pair, scenario=scenario, dimensions=dimensions)


# ## Balance and folds


@dataclass(frozen=True)
class Balance:
    """Pairs balanced over scenarios (SaMer paper, Table 1: 2,000 to 5,500 per scenario)."""

    pairs: tuple[TrainingPair, ...]  # what was kept, in the given order
    found: dict[str, int]  # scenario -> pairs before
    kept: dict[str, int]  # scenario -> pairs after
    # scenarios with fewer pairs than wanted; they are kept whole, since no more can be made
    short: tuple[str, ...]


def balance(
    pairs: Sequence[TrainingPair], *, least: int = 2000, most: int = 5500, seed: int = 0
) -> Balance:
    """Keep at most `most` pairs of each scenario, and name scenarios below `least`.

    They are chosen by seed and id alone.
    """
    if most < 1 or least < 0 or least > most:
        raise InputError(
            f"balance of {least} to {most} pairs per scenario; allowed: 0 <= least <= most, most"
            " >= 1"
        )
    by_chance = sorted(pairs, key=lambda pair: sha256(f"{seed}/{pair.id}".encode()).digest())
    counts = Counter[str]()
    kept: set[str] = set()
    for pair in by_chance:
        if counts[pair.scenario] < most:
            counts[pair.scenario] += 1
            kept.add(pair.id)
    found = Counter(sorted(pair.scenario for pair in pairs))
    short = tuple(scenario for scenario in found if counts[scenario] < least)
    kept_pairs = tuple(pair for pair in pairs if pair.id in kept)
    in_order = {scenario: counts[scenario] for scenario in found}
    return Balance(kept_pairs, dict(found), in_order, short)


def split_off(
    prompts: Sequence[str], share: float, *, strata: Sequence[str] | None = None, seed: int = 0
) -> tuple[Rows, Rows]:
    """Hold out a share (0 to below 1) of the prompts, spread over the strata.

    Returns rows of the pairs to fit, and of those held out: none for a share of 0, at least one
    prompt for any other.
    """
    if not 0 <= share < 1:
        raise InputError(f"held-out share {share:g}; allowed: 0 to below 1")
    everything = np.arange(len(prompts), dtype=np.intp)
    if share == 0:
        return everything, everything[:0]
    order = dealt(prompts, strata, seed)
    count = max(1, round(share * len(order)))
    if count >= len(order):
        raise InputError(
            f"a held-out share of {share:g} of {len(order)} prompts leaves none to fit"
        )
    # Evenly spaced in an order sorted by stratum: each stratum gives its share.
    chosen = set()
    for number in range(count):
        place = int((number + 0.5) * len(order) / count)
        chosen.add(order[place])
    held = np.array([prompt in chosen for prompt in prompts], bool)
    return everything[~held], everything[held]


def dealt(prompts: Sequence[str], strata: Sequence[str] | None, seed: int) -> list[str]:
    """The different prompts by stratum, and within it by a hash of seed and prompt alone.

    A prompt with several strata counts to the first by name.
    """
    stratum: dict[str, str] = {}
    for prompt, name in zip(prompts, strata or [""] * len(prompts), strict=True):
        stratum[prompt] = min(stratum.get(prompt, name), name)

    def place(prompt: str) -> tuple[str, bytes]:
        digest = sha256(f"{seed}/{prompt}".encode()).digest()
        return stratum[prompt], digest

    return sorted(stratum, key=place)
