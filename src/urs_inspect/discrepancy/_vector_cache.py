"""Vectors on disk, one folder per model.

Folders are only appended to, and are safe against crashes and other processes.
"""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from itertools import compress
from logging import getLogger
from pathlib import Path

import numpy as np
import numpy.typing as npt

from urs_inspect._util import InputError, lock_file
from urs_inspect.datasets._sources import cache_dir
from urs_inspect.discrepancy._similarity import VectorSimilarity, checked_vectors
from urs_inspect.discrepancy._vectors import Vectors

logger = getLogger(__name__)

Halves = npt.NDArray[np.float16]
_KEY = 32
"""Bytes of a SHA-256."""
_BATCH = 1024
"""Texts that are encoded between two writes: what a crash can lose."""
_FORMAT = 1
_REMOVE = "Remove the folder to start afresh"


class VectorCache:
    """The vectors of one model, by SHA-256 of the text, as float16.

    Two files grow side by side: `keys` has 32 bytes per text, `vectors` 2 x width bytes. Both are
    written under a lock, vectors first and each forced to disk, so that every key has its vector.
    What a crash left half written is cut off by the next writer. Readers take no lock.
    """

    def __init__(self, name: str, folder: Path | None = None) -> None:
        readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:60].strip("-.")
        digest = hashlib.sha256(name.encode()).hexdigest()[:12]
        self.name = name
        parent = folder or cache_dir() / "vectors"
        self.folder = parent / f"{readable}-{digest}"
        self._about = self.folder / "about.json"
        self._keys = self.folder / "keys"
        self._vectors = self.folder / "vectors"

    @property
    def width(self) -> int | None:
        """Width of the vectors, None if nothing was kept yet.

        InputError if damaged or not of the model.
        """
        try:
            about = json.loads(self._about.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError(
                f"vector cache {self.folder}: {self._about.name}: {error}. {_REMOVE}"
            ) from error
        expected = {"format": _FORMAT, "model": self.name}
        if not isinstance(about, dict) or not expected.items() <= about.items():
            raise InputError(
                f"vector cache {self.folder} is not of '{self.name}' in format {_FORMAT}. {_REMOVE}"
            )
        width = about.get("width")
        if not isinstance(width, int) or width < 1:
            raise InputError(
                f"vector cache {self.folder}: width {width!r}; allowed: 1 or more. {_REMOVE}"
            )
        return width

    def __len__(self) -> int:
        """Texts whose key and vector are both complete."""
        width = self.width
        if width is None:
            return 0
        keys = _size(self._keys) // _KEY
        vectors = _size(self._vectors) // (2 * width)
        return min(keys, vectors)

    def find(self, texts: Sequence[str]) -> npt.NDArray[np.intp]:
        """Rows of texts in the cache, shape (n,); -1 for those that are not there."""
        count = len(self)
        if not count:
            return np.full(len(texts), -1, np.intp)
        with self._keys.open("rb") as file:
            known = np.frombuffer(file.read(count * _KEY), f"S{_KEY}")
        wanted = np.frombuffer(b"".join(map(_text_key, texts)), f"S{_KEY}")
        order = np.argsort(known, kind="stable")
        places = np.searchsorted(known, wanted, sorter=order)
        rows = order[np.minimum(places, len(known) - 1)]
        is_there = known[rows] == wanted
        return np.where(is_there, rows, -1).astype(np.intp)

    def rows(self) -> Halves:
        """All vectors, memory-mapped, shape (rows, width); do not write to it."""
        width = self.width
        count = len(self)
        if width is None or not count:
            return np.zeros((0, width or 0), np.float16)
        return np.memmap(self._vectors, np.float16, "r", shape=(count, width))

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Append vectors of texts, shape (n, d), and force them to disk.

        Texts added meanwhile are skipped.
        """
        with np.errstate(over="ignore"):
            rounded = vectors.astype(np.float16)
            halves = checked_vectors(rounded, len(texts), self.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Closing the file unlocks it, also when the process dies.
        with (self.folder / "lock").open("a+b") as lock:
            lock_file(lock.fileno(), wait=True)
            width = self.width
            if width is None:
                width = int(halves.shape[1])
                about = json.dumps({"format": _FORMAT, "model": self.name, "width": width})
                fresh = self._about.with_suffix(".new")
                fresh.write_text(about, encoding="utf-8")
                fresh.replace(self._about)
            elif width != halves.shape[1]:
                raise InputError(
                    f"vector cache {self.folder} holds vectors of width {width}, but '{self.name}'"
                    f" gave {halves.shape[1]}: it is another model now. {_REMOVE}"
                )
            self._repair(width)
            once = {text: place for place, text in enumerate(texts)}
            is_new = self.find(list(once)) < 0
            new = list(compress(once.values(), is_new))
            _append(self._vectors, halves[new].tobytes())
            keys = [_text_key(texts[place]) for place in new]
            _append(self._keys, b"".join(keys))

    def _repair(self, width: int) -> None:
        count = len(self)
        rows = ((self._keys, _KEY), (self._vectors, 2 * width))
        for path, row in rows:
            complete = count * row
            unfinished = _size(path) - complete
            if unfinished > 0:
                logger.warning(
                    f"vector cache {path}: {unfinished} bytes of an unfinished write removed"
                )
                os.truncate(path, complete)


def cached_vectors(
    similarity: VectorSimilarity, texts: Sequence[str], cache: VectorCache | None = None
) -> Halves:
    """Vectors of texts from the cache, computing and keeping those that are missing.

    Always float16, as in the cache, so that a second run selects what the first did. A similarity
    that is not costly is computed anew and not kept, unless a cache is given; by default it is the
    model's in the package's cache directory. Blank texts have zero vectors and are never computed;
    if all are blank, the width is 0 or 1.
    """
    full = [number for number, text in enumerate(texts) if text.strip()]
    wanted = [texts[number] for number in full]
    if cache is None and similarity.costly:
        cache = VectorCache(similarity.name)
    if cache is not None:  # one without vectors is false
        vectors = _from_cache(cache, wanted, similarity)
        width = cache.width or 1
    elif full:
        vectors = _encoded(similarity, wanted).astype(np.float16)
        width = vectors.shape[1]
    else:
        vectors = np.zeros((0, 0), np.float16)
        width = 0
    out = np.zeros((len(texts), width), np.float16)
    out[full] = vectors.reshape(len(full), width)
    return out


def _from_cache(cache: VectorCache, texts: Sequence[str], similarity: VectorSimilarity) -> Halves:
    """Vectors of texts that are not blank, after those that are missing were added."""
    places = cache.find(texts)
    missing = list(dict.fromkeys(compress(texts, places < 0)))
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        cache.add(batch, _encoded(similarity, batch))
    if missing:
        places = cache.find(texts)
    vectors = cache.rows()[places]
    if not np.isfinite(vectors).all():
        raise InputError(
            f"vector cache {cache.folder} holds vectors that are not finite. {_REMOVE}"
        )
    return vectors


def _encoded(similarity: VectorSimilarity, texts: Sequence[str]) -> Vectors:
    return checked_vectors(similarity.encode(texts), len(texts), similarity.name)


def _text_key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
