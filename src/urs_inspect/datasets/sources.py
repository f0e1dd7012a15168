"""Pinned files: where they come from, what they must hash to, where they are kept."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path
from types import MappingProxyType

import platformdirs

from urs_inspect.errors import InputError, choices

logger = getLogger(__name__)

CACHE_VARIABLE = "URS_INSPECT_CACHE_DIR"
DATA_VARIABLE = "URS_INSPECT_DATA_DIR"
_TIMEOUT = 30.0
"""Seconds without a byte after which a download is given up."""


@dataclass(frozen=True)
class PinnedFile:
    """A published file at one commit.

    Attributes:
        name: How commands call it.
        path: Relative path below the cache and data directories.
        url: Address, with the commit in it.
        sha256: Hash of the content.
        licence: What its repository says about its use.
        instead: What a user without the file can do, for the error message.
    """

    name: str
    path: str
    url: str
    sha256: str
    licence: str
    instead: str = ""


URS = PinnedFile(
    name="urs",
    path="urs/data_all.csv",
    url="https://raw.githubusercontent.com/Alice1998/URS/325eca97c45041b8d4bda6fefaf1975df12c75cd/data/data_all.csv",
    sha256="6041bb3bb1652c0fabcd442a1cea9d4c7c6ca0c3c9d865a4569b6e2cf58584e2",
    licence="no licence file in its repository; the paper says Apache",
    instead="-T dataset=sample runs the small set that comes with this package",
)

SOURCES: Mapping[str, PinnedFile] = MappingProxyType({source.name: source for source in (URS,)})
"""All pinned files by name."""


def find_source(name: str) -> PinnedFile:
    """Look up a pinned file.

    Raises:
        InputError: If there is none of that name.
    """
    if name not in SOURCES:
        raise InputError(f"unknown data '{name}'; allowed: {choices(SOURCES)}")
    return SOURCES[name]


def cache_dir() -> Path:
    """Directory that downloaded files are kept in: `URS_INSPECT_CACHE_DIR`, or the platform's own."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("urs_inspect"))


def cache_path(source: PinnedFile) -> Path:
    """Where the file is, or would be, in the cache."""
    return cache_dir() / source.path


def locate(source: PinnedFile) -> Path | None:
    """Find a verified copy without the network.

    Returns:
        The copy below `URS_INSPECT_DATA_DIR`, else the one in the cache; None if there is neither. A damaged
        copy in the cache counts as none, because fetching replaces it.

    Raises:
        InputError: If the copy below `URS_INSPECT_DATA_DIR` has another hash: that file is the user's.
    """
    own = os.environ.get(DATA_VARIABLE)
    if own:
        path = Path(own).expanduser() / source.path
        if path.is_file():
            actual = sha256_of(path)
            if actual != source.sha256:
                raise InputError(
                    f"{path} ({DATA_VARIABLE}) is not the pinned '{source.name}' file: "
                    f"sha256 {actual}, expected {source.sha256}"
                )
            return path
    path = cache_path(source)
    return path if path.is_file() and sha256_of(path) == source.sha256 else None


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
        return download(source.url, source.sha256, target, timeout=_TIMEOUT)
    except (httpx.HTTPError, RetryError, OSError, ValueError) as error:
        cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
        raise InputError(
            f"cannot get the '{source.name}' data: {type(cause).__name__}: {cause}\n"
            f"  address: {source.url}\n"
            f"  sha256:  {source.sha256}\n"
            f"  Put the file at <dir>/{source.path} and set {DATA_VARIABLE}=<dir>, "
            f"or run `urs-inspect data fetch {source.name}` with network access."
            + (f"\n  Without it: {source.instead}" if source.instead else "")
        ) from error


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, as hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
