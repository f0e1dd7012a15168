"""Pools in partitions, each a file of texts and one of vectors.

Embedding, and one exact selection from all of them.
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from urs_inspect._util import InputError
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.discrepancy._greedy import Choice, SetSimilarity, contenders
from urs_inspect.discrepancy._selection import LAMBDA, K, Selection, Selector, merge
from urs_inspect.discrepancy._similarity import (
    DEFAULT_SIMILARITY,
    VectorSimilarity,
    load_similarity,
)
from urs_inspect.discrepancy._vector_cache import VectorCache, cached_vectors
from urs_inspect.discrepancy._vectors import Pair
from urs_inspect.stats._bootstrap import Integers

_loaded = cache(load_similarity)
_KEPT = 200_000
"""Most instructions whose similarities a process keeps.

Those of further partitions are computed again at each step.
"""


def embed_partitions(
    sources: Sequence[Path],
    folder: Path,
    *,
    similarity: str = DEFAULT_SIMILARITY,
    ray: bool = False,
) -> list[Path]:
    """Turn files of texts into partitions of vectors, one each.

    A partition that is there is not made again.

    Args:
        sources: Parquet or JSON Lines files of `id`, `instruction` and, under the name of each
            model, its answer; null or blank if there is none. Each worker has one in memory: 10,000
            rows are a good size.
        folder: For NAME.npy, which is returned: vectors of shape (1 + models, n, d), of the
            instructions first; and NAME.json with their ids.
        similarity: One that has vectors, as `lexical` or `model2vec/<folder or name>`.
        ray: Whether tasks of Ray do it, on the cluster of `ray.init`, where paths mean the same on
            all machines.

    Returns:
        The files of vectors, in the order of `sources`.

    Raises:
        InputError: For two files of one name, a file that cannot be read or lacks something, or a
            partition that was made from another.
    """
    outs = [folder.absolute() / f"{source.stem}.npy" for source in sources]
    if len(set(outs)) < len(outs):
        raise InputError(
            f"two of {len(outs)} files have the same name, and one folder for their vectors"
        )
    folder.mkdir(parents=True, exist_ok=True)
    run = _embed
    if ray:
        run = import_module("ray").remote(_embed).remote
    tasks = [
        run(source.absolute(), out, similarity) for source, out in zip(sources, outs, strict=True)
    ]
    if ray:
        _results(tasks)
    return outs


def _embed(source: Path, out: Path, spec: str) -> None:
    similarity = _loaded(spec)
    if not isinstance(similarity, VectorSimilarity):
        raise InputError(
            f"similarity '{spec}' has no vectors, which partitions are made of;"
            f" {DEFAULT_SIMILARITY} has"
        )
    made_from = {"similarity": similarity.name, "sha256": sha256_of(source)}
    if out.exists():
        if _opened(out)[0] != made_from:
            raise InputError(
                f"{out} was not made from {source} by {similarity.name}; name another folder"
            )
        return
    texts = _texts(source)
    ids = texts.pop("id")
    _, *models = texts
    about = json.dumps({"made_from": made_from, "ids": ids, "models": models})
    # It keeps vectors that cost something until the partition is whole.
    work = out.with_name(f".{out.stem}.partial")
    work.mkdir(exist_ok=True)
    kept = None
    if similarity.costly:
        kept = VectorCache(similarity.name, work)
    columns = [cached_vectors(similarity, column, kept) for column in texts.values()]
    # If all texts of a column are blank, it has no width.
    blank = np.zeros_like(columns[0])
    widened = [column if column.shape == blank.shape else blank for column in columns]
    fresh = work / f"{os.getpid()}.npy"
    with fresh.open("wb") as file:
        np.save(file, np.stack(widened))
        os.fsync(file.fileno())
    out.with_suffix(".json").write_text(about, encoding="utf-8")
    fresh.replace(out)
    shutil.rmtree(work, ignore_errors=True)


def _texts(source: Path) -> dict[str, list[str]]:
    """Columns of a file, `id` and `instruction` first; missing answers are blank."""
    import pandas as pd

    try:
        if source.suffix == ".parquet":
            frame = pd.read_parquet(source)
        else:
            frame = pd.read_json(source, lines=True, dtype=False)
        names = ["id", "instruction", *frame.columns.drop(["id", "instruction"])]
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(
            f"{source}: {error}; expected id, instruction and answers as Parquet or JSON Lines"
        ) from error
    texts = {name: [text if pd.notna(text) else "" for text in frame[name]] for name in names}
    texts["id"] = list(map(str, texts["id"]))
    if wrong := [name for name in names if not all(isinstance(text, str) for text in texts[name])]:
        raise InputError(f"{source}: column '{wrong[0]}' has values that are no texts")
    return texts


def select_partitions(
    parts: Sequence[Path],
    *,
    k: int | Mapping[Pair, int] = K,
    lam: float = LAMBDA,
    set_similarity: SetSimilarity = "max",
    pairs: Sequence[Pair] | None = None,
    ray: bool = False,
    workers: int = 2,
) -> Selection:
    """Select from the partitions of a pool what `select` would from the whole.

    The same ids, order and numbers.

    Args:
        parts: Files of `embed_partitions`. Their vectors are memory-mapped.
        k: How many, for all pairs or by pair; 0 is allowed.
        lam: Lambda of Eq. (2): 0 or more; 0 is Eq. (1).
        set_similarity: Similarity to a set: the maximum over its members, or their mean.
        pairs: Pairs to select for; by default all.
        ray: Whether workers of Ray hold the partitions, as for `embed_partitions`; else this
            process asks one after the other. A worker that is killed starts again.
        workers: Workers of Ray, with one CPU each.

    Returns:
        The instructions of each pair in the order in which they were selected, and the settings.

    Raises:
        InputError: As for `select`; for partitions that do not fit each other, or have an id in
            common.
    """
    full = _checked(parts)
    options = {
        "lam": lam,
        "set_similarity": set_similarity,
        "pairs": pairs,
        "workers": 1 if ray else None,
    }
    start = _Worker
    if ray:
        as_actor = import_module("ray").remote(num_cpus=1, max_restarts=3, max_task_retries=3)
        start = as_actor(_Worker).remote
    count = 1
    if ray:
        count = min(workers, len(full))
    held = [start(list(full)[place::count], options) for place in range(count)]

    def ask(name: str, *args: Any) -> list[Any]:
        calls = [getattr(worker, name) for worker in held]
        if ray:
            return _results([call.remote(*args) for call in calls])
        return [call(*args) for call in calls]

    counts = ask("candidates")
    candidates = {pair: sum(count[pair] for count in counts) for pair in counts[0]}
    found = merge(lambda chosen: ask("propose", chosen), k, candidates)
    return Selection(found, candidates, float(lam), set_similarity, sum(full.values()))


class _Worker:
    """Some partitions.

    No answer depends on what was asked before, so that a worker that starts again can go on.
    """

    def __init__(self, parts: Sequence[Path], options: Mapping[str, Any]) -> None:
        self._parts = parts
        self._more = options
        self._kept = dict[Path, Selector]()

    def _selectors(self) -> Iterator[Selector]:
        for path in self._parts:
            if (selector := self._kept.get(path)) is None:
                selector = Selector.from_vectors(**_opened(path)[1], **self._more)
                if sum(len(each.ids) for each in self._kept.values()) + len(selector.ids) <= _KEPT:
                    self._kept[path] = selector
            yield selector

    def candidates(self) -> dict[Pair, int]:
        counts: Counter[Pair] = Counter()
        for part in self._selectors():
            counts.update({pair: part.candidates(pair) for pair in part.pairs})
        return dict(counts)

    def propose(self, chosen: Mapping[Pair, Sequence[Choice]]) -> dict[Pair, list[Choice]]:
        parts = [selector.propose(chosen) for selector in self._selectors()]
        return {
            pair: contenders(choice for part in parts for choice in part[pair]) for pair in chosen
        }


def _opened(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    try:
        about = json.loads(path.with_suffix(".json").read_bytes())
        rows = np.load(path, mmap_mode="r")
        responses = dict(zip(about["models"], rows[1:], strict=True))
        return about["made_from"], {
            "responses": responses,
            "instructions": rows[0],
            "ids": about["ids"],
        }
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(f"{path}: no partition of `embed_partitions`: {error}") from error


def _checked(parts: Sequence[Path]) -> dict[Path, int]:
    """Partitions that have instructions, and how many, if they are of one pool."""
    full = dict[Path, int]()
    hashes = list[Integers]()
    first = None
    for path in parts:
        made_from, held = _opened(path)
        kind = (made_from["similarity"], *held["responses"], held["instructions"].shape[1])
        if held["ids"] and kind != (first := first or kind):
            raise InputError(
                f"{path} has {kind}, {next(iter(full))} {first}: another similarity, models or"
                " width"
            )
        if held["ids"]:
            full[path] = len(held["ids"])
            hashes.append(np.fromiter(map(hash, held["ids"]), np.int64))
    if not full:
        raise InputError(f"{len(parts)} partitions have no instructions; at least one is needed")
    ordered = np.sort(np.concatenate(hashes))
    seen = dict[str, Path]()
    suspects = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
    for path in full if suspects else ():
        for name in (name for name in _opened(path)[1]["ids"] if hash(name) in suspects):
            if name in seen:
                raise InputError(
                    f"instruction id '{name}' is in {seen[name]} and in {path}; allowed: in one"
                )
            seen[name] = path
    return full


def _results(calls: Sequence[Any]) -> list[Any]:
    ray = import_module("ray")
    try:
        return list(ray.get(calls))
    except ray.exceptions.RayTaskError as error:
        raise (error.cause if isinstance(error.cause, InputError) else error) from None
