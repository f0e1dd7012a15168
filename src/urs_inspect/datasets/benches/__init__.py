"""Benches by name: labelled pairs and rated responses, published or the user's own."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from urs_inspect.datasets.benches.alpaca_eval import load_alpaca_eval
from urs_inspect.datasets.benches.autoj import load_autoj
from urs_inspect.datasets.benches.feedback_bench import load_feedback_bench
from urs_inspect.datasets.benches.flask import load_flask
from urs_inspect.datasets.benches.hhh import load_hhh
from urs_inspect.datasets.benches.llmbar import load_llmbar
from urs_inspect.datasets.benches.mt_bench import load_mt_bench
from urs_inspect.datasets.benches.own_pairs import load_own_pairs
from urs_inspect.datasets.benches.own_ratings import load_own_ratings
from urs_inspect.datasets.benches.preference_bench import load_preference_bench
from urs_inspect.datasets.benches.vicuna import load_vicuna
from urs_inspect.datasets.judged import PairData, RatingData
from urs_inspect.datasets.pinned import LLMBAR
from urs_inspect.datasets.rows import READABLE
from urs_inspect.datasets.tabular import Vocabulary
from urs_inspect.errors import InputError, choices

__all__ = ["PAIR_BENCHES", "RATING_BENCHES", "load_own_pairs", "load_own_ratings", "load_pairs", "load_ratings"]

PAIR_BENCHES: Mapping[str, Callable[[], PairData]] = MappingProxyType(
    {
        "hhh": load_hhh,
        "llmbar": load_llmbar,
        **{source.name: partial(load_llmbar, subset) for subset, source in LLMBAR.items()},
        "autoj": load_autoj,
        "autoj/no_ties": partial(load_autoj, ties=False),
        "preference_bench": load_preference_bench,
        "alpaca_eval": load_alpaca_eval,
    }
)
"""Loaders of published pairs by name, a subset by `name/subset`."""

RATING_BENCHES: Mapping[str, Callable[[], RatingData]] = MappingProxyType(
    {
        "vicuna": load_vicuna,
        "flask": load_flask,
        "feedback_bench": load_feedback_bench,
        "mt_bench": load_mt_bench,
    }
)
"""Loaders of published ratings by name."""


def load_pairs(bench: str, *, dimension: Callable[[str], str] | None = None) -> PairData:
    """Load labelled pairs by name or path.

    Args:
        bench: A name in `PAIR_BENCHES`, or the path of a `.csv` or `.jsonl` file; see `load_own_pairs`.
        dimension: Turns the name of a dimension in a user's file into that of a taxonomy; see `load_own_pairs`.

    Raises:
        InputError: If there is no such bench, its file cannot be had, or a row is faulty.
    """
    if bench in PAIR_BENCHES:
        return PAIR_BENCHES[bench]()
    return load_own_pairs(_own(bench, PAIR_BENCHES), bench, dimension=dimension)


def load_ratings(
    bench: str, *, scale: tuple[float, float] | None = None, vocabulary: Vocabulary | None = None
) -> RatingData:
    """Load rated responses by name or path.

    Args:
        bench: A name in `RATING_BENCHES`, or the path of a `.csv` or `.jsonl` file; see `load_own_ratings`.
        scale: Lowest and highest possible rating of a user's file, for which it must be given; a published bench
            has its own.
        vocabulary: How intents and languages in a user's file become ids of a rubric; a published bench has none.

    Raises:
        InputError: If there is no such bench, its file cannot be had, a row is faulty, or an argument does not fit.
    """
    if bench not in RATING_BENCHES:
        path = _own(bench, RATING_BENCHES)
        if scale is None:
            raise InputError(f"scale: '{bench}' needs one, lowest and highest possible rating")
        return load_own_ratings(path, bench, scale, vocabulary=vocabulary)
    if vocabulary is not None:
        raise InputError(f"'{bench}' has no intents and languages; give a file of your own with these columns")
    data = RATING_BENCHES[bench]()
    if scale is not None and scale != data.scale:
        raise InputError(f"scale: '{bench}' has its own, {data.scale[0]:g} to {data.scale[1]:g}")
    return data


def _own(bench: str, published: Mapping[str, object]) -> Path:
    if not bench.lower().endswith(READABLE):
        allowed = choices(list(published))
        raise InputError(f"unknown bench '{bench}'; allowed: {allowed}, or the path of a .csv or .jsonl file")
    return Path(bench).expanduser()
