"""Verdicts of judges, and the trivial baselines beside which they stand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.stats.bootstrap import Integers, number_clusters

A, B, TIE, UNREAD = 0, 1, 2, 3
"""Codes: the first response of the data is better, the second is, neither is; the judge's reply was not readable."""

Codes = npt.NDArray[np.integer[Any]]

_CODE_OF: dict[str | None, int] = {"a": A, "b": B, "tie": TIE, None: UNREAD, "unread": UNREAD}


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What a judge said about N items, an item being a pair or a pair on one dimension.

    All codes are about the responses as the data orders them, whichever the judge saw first.

    Attributes:
        labels: Who is better by the label: `A`, `B` or `TIE`, shape (N,).
        verdicts: Who is better by the judge, in the order shown (if both were, the first of them): as labels, or
            `UNREAD`.
        clusters: Number of the prompt of each item, as from `number_clusters`.
        longer: Which response is longer: `A`, `B`, or `TIE` if they are equally long.
        first: Which response was shown first: `A` or `B`, or `TIE` if that is not known.
        swapped: Verdicts on the same items with the other response first; None if only one order was asked.
        overall: For dimensions, the judge's final verdict on the whole pair; None if items are whole pairs.
        overall_labels: For dimensions, the label of the whole pair; None likewise.
    """

    labels: Codes
    verdicts: Codes
    clusters: Integers
    longer: Codes
    first: Codes
    swapped: Codes | None = None
    overall: Codes | None = None
    overall_labels: Codes | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "clusters", number_clusters(self.clusters))
        for name in ("labels", "verdicts", "longer", "first", "swapped", "overall", "overall_labels"):
            if (given := getattr(self, name)) is not None:
                highest = TIE if name in ("labels", "longer", "first", "overall_labels") else UNREAD
                object.__setattr__(self, name, _codes(name, given, highest, len(self.clusters)))

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def final(self) -> Codes:
        """The verdicts that count: of both orders together, where both were asked."""
        return self.verdicts if self.swapped is None else combine_orders(self.verdicts, self.swapped)


def encode(names: Iterable[str | None]) -> Codes:
    """Turn names into codes.

    Args:
        names: `a`, `b`, `tie`, and `unread` or None for a verdict that could not be read.

    Returns:
        Codes, shape (N,).

    Raises:
        ValueError: If a name is none of these.
    """
    given = list(names)
    for place, name in enumerate(given):
        if name not in _CODE_OF:
            raise ValueError(f"item {place}: '{name}' is no verdict; allowed: a, b, tie, unread")
    return np.array([_CODE_OF[name] for name in given], dtype=np.int8)


def combine_orders(verdicts: npt.ArrayLike, swapped: npt.ArrayLike) -> Codes:
    """Verdicts of both orders as one: what both say; a tie if they disagree; unread if either is.

    Args:
        verdicts: Verdicts in one order, about the responses as the data orders them, shape (N,).
        swapped: Verdicts in the other order, likewise.

    Returns:
        Codes, shape (N,).
    """
    one, other = np.asarray(verdicts, dtype=np.int8), np.asarray(swapped, dtype=np.int8)
    agreed = np.where(one == other, one, TIE)
    return np.where((one == UNREAD) | (other == UNREAD), UNREAD, agreed).astype(np.int8)


def longer_response(lengths_a: npt.ArrayLike, lengths_b: npt.ArrayLike) -> Codes:
    """Which response is longer.

    Args:
        lengths_a: Lengths of the first responses in characters (code points), shape (N,). In characters the longer
            response has 255 of the 342 overall labels of MD-Eval that are no ties; in words it has 251.
        lengths_b: Lengths of the second responses, likewise.

    Returns:
        `A`, `B`, or `TIE` if both are equally long, shape (N,).
    """
    a, b = np.asarray(lengths_a), np.asarray(lengths_b)
    return np.where(a > b, A, np.where(b > a, B, TIE)).astype(np.int8)


def correctness(
    labels: npt.ArrayLike, verdicts: npt.ArrayLike, *, ties: bool = False, unread_is_wrong: bool = True
) -> npt.NDArray[np.float64]:
    """Whether each verdict is right, for comparing two judges on the same items.

    Args:
        labels: Labels, shape (N,).
        verdicts: Final verdicts, shape (N,).
        ties: Count items whose label is a tie as well; the paper's protocol does not.
        unread_is_wrong: Count unread verdicts as wrong, so that no judge gains by replies that cannot be read.

    Returns:
        1 right, 0 wrong, NaN not counted, shape (N,).
    """
    truth, said = np.asarray(labels), np.asarray(verdicts)
    right: npt.NDArray[np.float64] = (truth == said).astype(np.float64)
    if not ties:
        right[truth == TIE] = np.nan
    if not unread_is_wrong:
        right[said == UNREAD] = np.nan
    return right


def _codes(name: str, given: Sequence[Any] | npt.NDArray[Any], highest: int, length: int) -> Codes:
    codes = np.asarray(given)
    if codes.shape != (length,):
        raise ValueError(f"{name} has shape {codes.shape}, but there are {length} items")
    if not length:
        return codes.astype(np.int8)
    if codes.dtype.kind not in "iu" or codes.min() < A or codes.max() > highest:
        allowed = "0 (a), 1 (b), 2 (tie)" + (", 3 (unread)" if highest == UNREAD else "")
        raise ValueError(f"{name} must be codes {allowed}")
    return codes.astype(np.int8)


Baseline = Literal["longest", "shortest", "first", "second", "random", "copy_overall"]

BASELINES: tuple[Baseline, ...] = get_args(Baseline)


def baseline_verdicts(
    kind: str,
    *,
    lengths_a: npt.ArrayLike | None = None,
    lengths_b: npt.ArrayLike | None = None,
    first: npt.ArrayLike | None = None,
    overall_labels: npt.ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    seed: int = 0,
) -> Codes:
    """Verdicts of a trivial judge; each kind needs only some of the arguments.

    Args:
        kind: `longest` or `shortest` prefers by length, equal lengths being a tie; `first` or `second` prefers the
            response shown in that place; `random` tosses a coin between the two, another one for each order, so that it
            disagrees with itself in half of the cases; `copy_overall` gives every dimension the overall label of its
            pair, which no judge can know: it shows how far a pure halo gets.
        lengths_a: For `longest` and `shortest`: lengths of the first responses in characters, shape (N,).
        lengths_b: Lengths of the second responses, likewise.
        first: For `first`, `second` and `random`: which response was shown first, `A` or `B`, shape (N,). A judge that
            was asked in both orders is called for once in each; `combine_orders` makes one verdict of the two.
        overall_labels: For `copy_overall`: the label of each item's pair, shape (N,).
        ids: For `random`: an id for each item. The coin depends on seed, id and which response was shown first, not on
            the order of items.
        seed: For `random`.

    Returns:
        Codes about the responses as the data orders them, shape (N,).

    Raises:
        InputError: If there is no such baseline.
        ValueError: If an argument that it needs is missing.
    """
    if kind not in BASELINES:
        raise InputError(f"unknown baseline '{kind}'; allowed: {choices(BASELINES)}")
    if kind in ("longest", "shortest"):
        a, b = _given(kind, "lengths_a", lengths_a), _given(kind, "lengths_b", lengths_b)
        return longer_response(a, b) if kind == "longest" else longer_response(b, a)
    if kind == "copy_overall":
        return np.asarray(_given(kind, "overall_labels", overall_labels)).astype(np.int8)
    shown = np.asarray(_given(kind, "first", first)).astype(np.int8)
    if not np.isin(shown, (A, B)).all():
        raise ValueError(f"baseline '{kind}' needs to know which response was shown first")
    if kind == "random":
        if ids is None:
            raise ValueError("baseline 'random' needs ids")
        coins = [_coin(item, int(code), seed) for item, code in zip(ids, shown, strict=True)]
        return np.array(coins, dtype=np.int8)
    return shown if kind == "first" else (B - shown).astype(np.int8)


def _given(kind: str, name: str, value: npt.ArrayLike | None) -> npt.ArrayLike:
    if value is None:
        raise ValueError(f"baseline '{kind}' needs {name}")
    return value


def _coin(item: str, first: int, seed: int) -> int:
    return sha256(f"{seed}/{'ab'[first]}/{item}".encode()).digest()[0] & 1
