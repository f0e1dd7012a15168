"""Verdicts of judges and of trivial baselines, and measures of both against labels."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, choices
from urs_inspect.stats._agreement import nominal_alpha
from urs_inspect.stats._bootstrap import (
    Estimate,
    Flags,
    Floats,
    Integers,
    Resampling,
    ResamplingOptions,
    bootstrap_counts,
    cluster_counts,
    estimates,
    number_clusters,
    ratio,
)

A = 0
B = 1
TIE = 2
UNREAD = 3
"""Codes: the first response of the data is better, the second is, neither is.

The judge's reply was not readable.
"""

Codes = npt.NDArray[np.integer[Any]]

_CODE_OF: dict[str | None, int] = {
    "a": A,
    "b": B,
    "tie": TIE,
    None: UNREAD,
    "unread": UNREAD,
}


@dataclass(frozen=True, eq=False)
class Verdicts:
    """A judge's verdicts on N items, an item being a pair or a pair on one dimension.

    All codes are about the responses as the data orders them, whichever the judge saw first: 0
    (`A`), 1 (`B`), 2 (`TIE`) and 3 (`UNREAD`).

    Attributes:
        labels: Who is better by the label: `A`, `B` or `TIE`, shape (N,).
        verdicts: Who is better by the judge, in the order shown (if both were, the first of them):
            as labels, or `UNREAD`, shape (N,).
        clusters: Id of the prompt of each item, shape (N,), kept as numbers from 0.
        longer: Which response is longer: `A`, `B`, or `TIE` if they are equally long, shape (N,).
        first: Which response was shown first: `A` or `B`, or `TIE` if that is not known, shape
            (N,).
        swapped: Verdicts on the same items with the other response first, shape (N,); None if only
            one order was asked.
        overall: For dimensions, the judge's final verdict on the whole pair, shape (N,); None if
            items are whole pairs.
        overall_labels: For dimensions, the label of the whole pair, shape (N,); None if items are
            whole pairs.

    Raises:
        ValueError: If arrays have different lengths, or a code is none of those allowed.
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
        for name in ("labels", "longer", "first", "overall_labels"):
            self._check(name, highest=TIE)
        for name in ("verdicts", "swapped", "overall"):
            self._check(name, highest=UNREAD)

    def _check(self, name: str, highest: int) -> None:
        """Store codes in the smallest type; ValueError if one is out of range."""
        given = getattr(self, name)
        if given is not None:
            codes = _codes(name, given, highest, len(self.clusters))
            object.__setattr__(self, name, codes)

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def final(self) -> Codes:
        """The verdicts that count: of both orders together, where both were asked."""
        if self.swapped is None:
            return self.verdicts
        return combine_orders(self.verdicts, self.swapped)


def _codes(
    name: str,
    given: Sequence[Any] | npt.NDArray[Any],
    highest: int,
    length: int,
) -> Codes:
    codes = np.asarray(given)
    if codes.shape != (length,):
        raise ValueError(f"{name} has shape {codes.shape}, but there are {length} items")
    if not length:
        return codes.astype(np.int8)
    are_whole = codes.dtype.kind in "iu"
    if not are_whole or codes.min() < A or codes.max() > highest:
        allowed = "0 (a), 1 (b), 2 (tie)"
        if highest == UNREAD:
            allowed += ", 3 (unread)"
        raise ValueError(f"{name} must be codes {allowed}")
    return codes.astype(np.int8)


def encode(names: Iterable[str | None]) -> Codes:
    """Turn names into codes.

    Args:
        names: `a`, `b`, `tie`, and `unread` or None for a verdict that could not be read.

    Returns:
        Codes, shape (N,).

    Raises:
        ValueError: If a name is none of these.

    Examples:
        >>> from urs_inspect.stats import encode
        >>> encode(["a", "b", "tie", None]).tolist()
        [0, 1, 2, 3]
    """
    given = list(names)
    for place, name in enumerate(given):
        if name not in _CODE_OF:
            raise ValueError(f"item {place}: '{name}' is no verdict; allowed: a, b, tie, unread")
    codes = [_CODE_OF[name] for name in given]
    return np.array(codes, dtype=np.int8)


def combine_orders(verdicts: npt.ArrayLike, swapped: npt.ArrayLike) -> Codes:
    """One verdict per item from those of both orders.

    The common one, a tie if they disagree, unread if either is.
    """
    one = np.asarray(verdicts, dtype=np.int8)
    other = np.asarray(swapped, dtype=np.int8)
    agreed = np.where(one == other, one, TIE)
    unread = (one == UNREAD) | (other == UNREAD)
    return np.where(unread, UNREAD, agreed).astype(np.int8)


def longer_response(lengths_a: npt.ArrayLike, lengths_b: npt.ArrayLike) -> Codes:
    """Which response is longer.

    Args:
        lengths_a: Lengths of the first responses in characters (code points), shape (N,). In
            characters the longer response has 255 of the 342 overall labels of MD-Eval that are no
            ties; in words it has 251.
        lengths_b: Lengths of the second responses in characters, shape (N,).

    Returns:
        `A`, `B`, or `TIE` if both are equally long, shape (N,).
    """
    a = np.asarray(lengths_a)
    b = np.asarray(lengths_b)
    longer = np.full(a.shape, TIE, dtype=np.int8)
    longer[a > b] = A
    longer[b > a] = B
    return longer


def correctness(labels: npt.ArrayLike, verdicts: npt.ArrayLike) -> Floats:
    """Whether each verdict is right, for comparing two judges on the same items.

    Args:
        labels: Labels, shape (N,).
        verdicts: Final verdicts, shape (N,); unread ones are wrong, so that no judge gains by them.

    Returns:
        1 right, 0 wrong, NaN where the label is a tie, shape (N,).

    Examples:
        >>> from urs_inspect.stats import correctness, encode
        >>> correctness(encode(["a", "b", "tie"]), encode(["a", "unread", "a"])).tolist()
        [1.0, 0.0, nan]
    """
    truth = np.asarray(labels)
    right = truth == np.asarray(verdicts)
    return np.where(truth == TIE, np.nan, right)


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
        kind: `longest` or `shortest` prefers by length, equal lengths being a tie; `first` or
            `second` prefers the response shown in that place; `random` tosses a coin between the
            two, another one for each order, so that it disagrees with itself in half of the cases;
            `copy_overall` gives every dimension the overall label of its pair, which no judge can
            know: it shows how far a pure halo gets.
        lengths_a: For `longest` and `shortest`: lengths of the first responses in characters, shape
            (N,).
        lengths_b: For `longest` and `shortest`: lengths of the second responses in characters,
            shape (N,).
        first: For `first`, `second` and `random`: which response was shown first, `A` or `B`, shape
            (N,). A judge that was asked in both orders is called for once in each; `combine_orders`
            makes one verdict of the two.
        overall_labels: For `copy_overall`: the label of each item's pair, shape (N,).
        ids: For `random`: an id for each item. The coin depends on seed, id and which response was
            shown first, not on the order of items.
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
        a = _given(kind, "lengths_a", lengths_a)
        b = _given(kind, "lengths_b", lengths_b)
        if kind == "longest":
            return longer_response(a, b)
        return longer_response(b, a)
    if kind == "copy_overall":
        labels = _given(kind, "overall_labels", overall_labels)
        return np.asarray(labels).astype(np.int8)
    shown_first = _given(kind, "first", first)
    shown = np.asarray(shown_first).astype(np.int8)
    if not np.isin(shown, (A, B)).all():
        raise ValueError(f"baseline '{kind}' needs to know which response was shown first")
    if kind == "random":
        if ids is None:
            raise ValueError("baseline 'random' needs ids")
        pairs = zip(ids, shown, strict=True)
        coins = [_coin(item, code, seed) for item, code in pairs]
        return np.array(coins, dtype=np.int8)
    if kind == "first":
        return shown
    return (B - shown).astype(np.int8)


def _given(kind: str, name: str, value: npt.ArrayLike | None) -> npt.ArrayLike:
    if value is None:
        raise ValueError(f"baseline '{kind}' needs {name}")
    return value


def _coin(item: str, first: int, seed: int) -> int:
    shown_first = "ab"[first]
    digest = sha256(f"{seed}/{shown_first}/{item}".encode()).digest()
    return digest[0] & 1


@dataclass(frozen=True)
class JudgeMeasures:
    """Measures of a judge's verdicts, each with an interval clustered by prompt.

    All are shares between 0 and 1 except for `alpha`; those that do not apply are NaN with n = 0.

    Attributes:
        accuracy: Verdicts equal to the label, over items whose label is no tie and whose verdict
            was read (SaMer paper, section 5.4 and Table 5). A tie is a wrong verdict here.
        accuracy_all: The same with unread verdicts counted as wrong.
        three_way: Verdicts equal to the label, ties included, over read verdicts.
        three_way_all: The same with unread verdicts counted as wrong.
        macro_f1: Mean F1 of a, b and tie over read verdicts; a class that neither labels nor
            verdicts hold is left out.
        alpha: Krippendorff's alpha (nominal) between judge and label over read verdicts: 1
            agreement, 0 chance, below 0 systematic disagreement; 1 by convention if there is only
            one class.
        first_preference: Non-tie verdicts for the response shown first; with both orders asked, of
            either order.
        longer_preference: Non-tie final verdicts for the longer response. A pair of equally long
            responses has none and counts against it, so that for labels this is the accuracy of the
            baseline `longest`.
        label_longer_preference: Non-tie labels for the longer response.
        halo: Dimension verdicts equal to the overall verdict, where neither is a tie or unread.
        label_halo: Dimension labels equal to the overall label, where neither is a tie.
        flips: Items whose verdict changes in any way when the responses swap places, where both
            were read.
        reversals: Items whose verdict goes from one response to the other when they swap places,
            where both were read.
        unread: Items without a readable final verdict.
    """

    accuracy: Estimate
    accuracy_all: Estimate
    three_way: Estimate
    three_way_all: Estimate
    macro_f1: Estimate
    alpha: Estimate
    first_preference: Estimate
    longer_preference: Estimate
    label_longer_preference: Estimate
    halo: Estimate
    label_halo: Estimate
    flips: Estimate
    reversals: Estimate
    unread: Estimate

    def reported(self) -> "JudgeMeasures":
        """The same with the intervals that logs, tables and pages report.

        They follow the rule of `reported_bounds`.

        Returns:
            The measures; bounds are NaN where the rule allows no interval.
        """
        measures = {}
        for name, estimate in vars(self).items():
            measures[name] = estimate.reported((0.0, 1.0))
        measures["alpha"] = self.alpha.reported((-1.0, 1.0))
        return JudgeMeasures(**measures)


def measure(verdicts: Verdicts, **options: Unpack[ResamplingOptions]) -> JudgeMeasures:
    """Measure a judge.

    Args:
        verdicts: Its verdicts on N items.
        options: Rounds, level and seed of the bootstrap; see `Resampling`. Without rounds there are
            no intervals.

    Returns:
        The measures.

    Examples:
        >>> from urs_inspect.stats import Verdicts, encode, longer_response, measure
        >>> labels = encode(["a", "b", "a", "tie"])
        >>> verdicts = encode(["a", "b", "b", "unread"])
        >>> longer = longer_response([9, 5, 7, 8], [4, 6, 9, 8])
        >>> judged = Verdicts(labels, verdicts, range(4), longer, first=encode("abab"))
        >>> round(measure(judged, rounds=0).accuracy.value, 3)
        0.667
    """
    how = Resampling(**options)
    shares = _shares(verdicts)
    columns = [*shares.values(), _read_cells(verdicts)]
    sums = cluster_counts(verdicts.clusters, np.hstack(columns))
    of_items = slice(1, 2 * len(shares), 2)
    measured = estimates(
        _statistics(sums.sum(axis=0, keepdims=True))[0],
        _statistics(bootstrap_counts(sums, how.rounds, how.seed)),
        sums[:, of_items].sum(axis=0),
        np.count_nonzero(sums[:, of_items], axis=0),
        how,
    )
    return JudgeMeasures(**dict(zip(shares, measured, strict=True)))


def _shares(verdicts: Verdicts) -> dict[str, Floats]:
    """How often each measure was met by an item, and how often it could be, shape (N, 2).

    The last two are no shares, and count over the items of `three_way`.
    """
    labels = verdicts.labels
    final = verdicts.final
    every = np.ones(len(verdicts), np.bool_)
    read = final != UNREAD
    right = final == labels
    shares = {
        "accuracy": _right_of_read(labels, final),
        "accuracy_all": _counted(right, _sided(labels)),
        "three_way": _counted(right, read),
        "three_way_all": _counted(right, every),
        "unread": _counted(~read, every),
        "first_preference": _same_side(verdicts.verdicts, verdicts.first),
        "longer_preference": _counted(final == verdicts.longer, _sided(final)),
        "label_longer_preference": _counted(labels == verdicts.longer, _sided(labels)),
    }
    none = np.zeros((len(verdicts), 2))
    shares |= dict.fromkeys(("halo", "label_halo", "flips", "reversals"), none)
    if verdicts.overall is not None:
        shares["halo"] = _same_side(final, verdicts.overall)
    if verdicts.overall_labels is not None:
        shares["label_halo"] = _same_side(labels, verdicts.overall_labels)
    swapped = verdicts.swapped
    if swapped is not None:
        swapped_first = np.where(_sided(verdicts.first), B - verdicts.first, TIE)
        shares["first_preference"] += _same_side(swapped, swapped_first)
        differs = verdicts.verdicts != swapped
        is_reversed = differs & _sided(verdicts.verdicts) & _sided(swapped)
        shares["flips"] = _counted(differs, read)
        shares["reversals"] = _counted(is_reversed, read)
    return shares | dict.fromkeys(("macro_f1", "alpha"), shares["three_way"])


def _counted(hits: Flags, trials: Flags) -> Floats:
    return np.column_stack([hits & trials, trials]).astype(np.float64)


def _same_side(codes: Codes, others: Codes) -> Floats:
    """Where two codes name the same response, over the items where both name one."""
    return _counted(codes == others, _sided(codes) & _sided(others))


def _sided(codes: npt.NDArray[Any]) -> Flags:
    return np.asarray(codes < TIE)


def _read_cells(verdicts: Verdicts) -> Floats:
    """The cell of each item in a table of labels and read verdicts, shape (N, 9)."""
    cells = np.where(verdicts.final == UNREAD, -1, _CLASSES * verdicts.labels + verdicts.final)
    is_there = cells[:, None] == np.arange(_CLASSES**2)
    return np.asarray(is_there, dtype=np.float64)


_CLASSES = 3


def _statistics(counts: Floats) -> Floats:
    """All measures of summed counts, shape (R, columns) -> (R, measures)."""
    shares, cells = np.split(counts, [-(_CLASSES**2)], axis=1)
    table = cells.reshape(-1, _CLASSES, _CLASSES)
    values = ratio(shares[:, 0::2], shares[:, 1::2])
    values[:, -2] = _macro_f1(table)
    values[:, -1] = nominal_alpha(table)
    return values


def _macro_f1(table: Floats) -> Floats:
    """Mean of 2 tp / (labels + verdicts) over the classes that occur, shape (R, 3, 3) -> (R,)."""
    sizes = table.sum(axis=1) + table.sum(axis=2)
    right = np.diagonal(table, axis1=1, axis2=2)
    scores = ratio(2 * right, sizes)
    total = np.nansum(scores, axis=1)
    classes = np.count_nonzero(sizes, axis=1)
    return ratio(total, classes)


_FEW = 4
_SHARE = 8
"""Drawing kinds of clusters takes less time than drawing clusters if there are `_FEW`, or one per
`_SHARE` clusters.
"""


def accuracies(
    labels: Codes,
    verdicts: Sequence[Codes],
    clusters: Integers,
    **options: Unpack[ResamplingOptions],
) -> tuple[Estimate, ...]:
    """Accuracy of several judges on the same items.

    `JudgeMeasures.accuracy` of each, with the same draws.

    `verdicts` has the final verdicts of each judge; `clusters` the number of each item's prompt.
    NaN without a read verdict on an item whose label is no tie.
    """
    how = Resampling(**options)
    if not verdicts:
        return ()
    judges = [_right_of_read(labels, codes) for codes in verdicts]
    sums = cluster_counts(clusters, np.hstack(judges))
    draws = bootstrap_counts(sums, how.rounds, how.seed)
    return _accuracies(sums, draws, how)


def group_accuracies(
    verdicts: Verdicts, groups: Sequence[Hashable], **options: Unpack[ResamplingOptions]
) -> dict[Hashable, Estimate]:
    """Accuracy of a judge on each group of items separately, as by scenario, need or dimension.

    `groups` has the group of each item. Groups come in the order in which they first appear; the
    rounds of each are drawn from its own clusters.
    """
    how = Resampling(**options)
    if len(groups) != len(verdicts):
        raise ValueError(f"need one group per item: {len(verdicts)} items, {len(groups)} groups")
    counts = _right_of_read(verdicts.labels, verdicts.final)
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        places[group].append(place)
    found: dict[Hashable, Estimate] = {}
    for group, members in places.items():
        sums = cluster_counts(verdicts.clusters[members], counts[members])
        draws = _draws(sums, how.rounds, how.seed)
        [found[group]] = _accuracies(sums, draws, how)
    return found


def _right_of_read(labels: Codes, verdicts: Codes) -> Floats:
    """What `accuracy` counts, shape (N, 2)."""
    return _counted(verdicts == labels, _sided(labels) & (verdicts != UNREAD))


def _draws(sums: Floats, rounds: int, seed: int) -> Floats:
    """Hits and trials of each round, shape (C, 2) -> (R, 2)."""
    kinds, sizes = np.unique(sums, axis=0, return_counts=True)
    if len(kinds) > max(_FEW, len(sums) // _SHARE):
        return bootstrap_counts(sums, rounds, seed)
    # Clusters with the same counts are interchangeable: this is the same bootstrap.
    generator = np.random.default_rng(seed)
    chances = sizes / len(sums)
    drawn = generator.multinomial(len(sums), chances, size=rounds)
    return np.asarray(drawn @ kinds, dtype=np.float64)


def _accuracies(sums: Floats, draws: Floats, how: Resampling) -> tuple[Estimate, ...]:
    """Ratios of the even columns, hits, to the odd ones, trials."""
    totals = sums.sum(axis=0)
    return estimates(
        ratio(totals[0::2], totals[1::2]),
        ratio(draws[:, 0::2], draws[:, 1::2]),
        totals[1::2],
        np.count_nonzero(sums[:, 1::2], axis=0),
        how,
    )
