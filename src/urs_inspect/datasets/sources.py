"""Copies of the published files: where they are kept, whether they are intact, and getting them."""

import hashlib
import os
import tempfile
from logging import getLogger
from pathlib import Path

import platformdirs

from urs_inspect.datasets.pinned import PinnedFile
from urs_inspect.errors import InputError

logger = getLogger(__name__)

CACHE_VARIABLE = "URS_INSPECT_CACHE_DIR"
DATA_VARIABLE = "URS_INSPECT_DATA_DIR"
_TIMEOUT = 30.0
"""Seconds without a byte after which a download is given up."""
_RAW = "application/vnd.github.raw+json"
"""Type by which GitHub's API sends a content as it is."""


def cache_dir() -> Path:
    """Directory that downloaded files are kept in: `URS_INSPECT_CACHE_DIR`, or the platform's own."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("urs_inspect"))


def cache_path(source: PinnedFile) -> Path:
    """Where the file is, or would be, in the cache."""
    return cache_dir() / source.path


def locate(source: PinnedFile) -> Path | None:
    """Find a usable copy without the network.

    Returns:
        The copy below `URS_INSPECT_DATA_DIR`, else the one in the cache; None if there is neither. A damaged
        copy in the cache counts as none, because fetching replaces it. The same data in another published form is
        usable, though no hash can check it; `is_pinned` tells which of the two a copy is.

    Raises:
        InputError: If the copy below `URS_INSPECT_DATA_DIR` is another file: that file is the user's.
    """
    own = os.environ.get(DATA_VARIABLE)
    if own:
        path = Path(own).expanduser() / source.path
        if path.is_file():
            if not _usable(source, path):
                raise InputError(
                    f"{path} ({DATA_VARIABLE}) is not the pinned '{source.name}' file: "
                    f"{actual_hash(source, path)}, expected {source.expected}"
                )
            return path
    path = cache_path(source)
    return path if path.is_file() and _usable(source, path) else None


def is_pinned(source: PinnedFile, path: Path) -> bool:
    """Whether a copy has the hash of the pinned file."""
    return actual_hash(source, path) == source.expected


def actual_hash(source: PinnedFile, path: Path) -> str:
    """Hash of a copy and its kind, as `PinnedFile.expected`."""
    return f"sha256 {sha256_of(path)}" if source.sha256 else f"git id {git_id_of(path.read_bytes())}"


def _usable(source: PinnedFile, path: Path) -> bool:
    return is_pinned(source, path) or (bool(source.column) and f'"{source.column}"'.encode() not in path.read_bytes())


def fetch(source: PinnedFile) -> Path:
    """Return a verified copy, downloading it into the cache if there is none.

    Returns:
        Path of the copy.

    Raises:
        InputError: If it can be neither found nor downloaded, or the download has another hash. Nothing in the
            cache is replaced then, and a second try starts afresh.
    """
    found = locate(source)
    return found if found is not None else download_into_cache(source)


def download_into_cache(source: PinnedFile) -> Path:
    """Download a file, verify it and put it into the cache in one step.

    Raises:
        InputError: If the download fails or has another hash; what was in the cache stays.
    """
    import httpx
    from inspect_ai.util import download
    from tenacity import RetryError

    target = cache_path(source)
    # Said aloud, because without a network the attempts take a while.
    logger.warning(f"Downloading the '{source.name}' data, once, from {source.url}")
    try:
        if source.sha256:
            return download(source.url, source.sha256, target, timeout=_TIMEOUT)
        return _download_blob(source, target)
    except (httpx.HTTPError, RetryError, OSError, ValueError) as error:
        cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
        raise InputError(
            f"cannot get the '{source.name}' data: {type(cause).__name__}: {cause}\n"
            f"  address:  {source.url}\n"
            f"  expected: {source.expected}\n"
            f"  Put the file at <dir>/{source.path} and set {DATA_VARIABLE}=<dir>, "
            f"or run `urs-inspect data fetch {source.name}` with network access."
            + (f"\n  Without it: {source.instead}" if source.instead else "")
        ) from error


def _download_blob(source: PinnedFile, target: Path) -> Path:
    """Download a content by its git id; one with another id, or cut short, is an error and no part of it stays."""
    import httpx

    response = httpx.get(source.url, headers={"Accept": _RAW}, follow_redirects=True, timeout=_TIMEOUT)
    response.raise_for_status()
    if (actual := git_id_of(response.content)) != source.git_id:
        raise ValueError(f"the download has the git id {actual}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        whole = Path(folder) / target.name
        whole.write_bytes(response.content)
        return whole.replace(target)


def git_id_of(content: bytes) -> str:
    """Id that git gives a content; it tells whether the content is the one that a repository holds."""
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, as hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
