"""What tells one model's folder from another, whatever it is called and whenever it was written."""

import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from logging import getLogger
from pathlib import Path

import platformdirs

from urs_inspect._util import InputError
from urs_inspect.samer.checkpoint import HEADS_FILE
from urs_inspect.samer.weights import INDEX, find_weights


def cache_folder() -> Path:
    """`samer` in the package's cache directory: `URS_INSPECT_CACHE_DIR`, or the platform's own."""
    chosen = os.environ.get("URS_INSPECT_CACHE_DIR")
    cache = Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("urs_inspect"))
    return cache / "samer"


# What the engines read besides weights.
_TEXTS = ("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", INDEX)
_AT_ONCE = 4  # files; a disk that takes several readers is read several times as fast
_LARGE = 1 << 26  # bytes from which a digest is worth keeping
_SETTLED = 2.0  # seconds after which a change of a file is sure to show in its times

_LOG = getLogger(__name__)


def fingerprint(folder: Path, *, heads: bool = True) -> str:
    """Hash all that decides what a model gives: weights, heads, tokeniser, chat template and configuration.

    Every byte counts and no time of writing does. The digest of a large file is kept in the cache and taken from there
    as long as the file is the same one and was not written to, so that the 16 GB of an 8B model are read once: some
    ten seconds from a fast disk, as long as reading them takes from a slow one.

    Args:
        folder: A model's folder; what it lacks does not count, such as the weights beside a server's tokeniser.
        heads: Whether heads in a folder of their own count; those among the model's weights always do.

    Returns:
        64 hexadecimal digits.

    Raises:
        InputError: If a file cannot be read.
    """
    folder = folder.expanduser()
    names = [*_TEXTS, *_weight_names(folder), *([HEADS_FILE] if heads else [])]
    there = [name for name in sorted(set(names)) if (folder / name).is_file()]
    try:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            digests = list(threads.map(lambda name: _digest(folder / name), there))
    except OSError as error:
        raise InputError(f"{folder}: {error.filename or 'a file'} cannot be read ({error.strerror})") from error
    return hashlib.sha256(repr(list(zip(there, digests, strict=True))).encode()).hexdigest()


def _weight_names(folder: Path) -> tuple[str, ...]:
    try:
        return find_weights(folder).names
    except InputError:
        return ()


def _digest(path: Path) -> str:
    about = path.stat()
    if about.st_size < _LARGE:
        return _computed(path)
    # The time of the last change of the entry cannot be set back, as that of the last writing can.
    stamp = (str(path.resolve()), about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    kept = cache_folder() / "digests" / hashlib.sha256(repr(stamp).encode()).hexdigest()[:32]
    try:
        if len(found := kept.read_text(encoding="ascii")) == hashlib.sha256().digest_size * 2:
            return found
    except OSError:
        pass
    _LOG.info("samer: reading %s (%.1f GB) for its fingerprint", path, about.st_size / 1e9)
    digest = _computed(path)
    if time.time() - max(about.st_mtime, about.st_ctime) > _SETTLED:
        _keep(kept, digest)
    return digest


def _computed(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _keep(path: Path, digest: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(digest, encoding="ascii")
    except OSError as error:  # it will be computed again
        _LOG.info("samer: cannot keep a digest in %s: %s", path.parent, error.strerror)
