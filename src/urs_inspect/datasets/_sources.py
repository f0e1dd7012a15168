"""Published data: pinned sources, download, verification and cache."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path
from types import MappingProxyType

import platformdirs

from urs_inspect._util import InputError

logger = getLogger(__name__)

CACHE_VARIABLE = "URS_INSPECT_CACHE_DIR"
DATA_VARIABLE = "URS_INSPECT_DATA_DIR"
_TIMEOUT = 30.0  # seconds without a byte after which a download is given up
_RAW_CONTENT = (  # type by which GitHub's API sends a content unchanged
    "application/vnd.github.raw+json"
)


@dataclass(frozen=True)
class PinnedFile:
    """A published file whose content is known by its SHA-256, or the id that git gives it.

    Attributes:
        name: Its name in commands.
        path: Its place below the cache and data directories.
        url: Its address, which holds the commit or the id of the content.
        licence: The licence that its repository states.
        sha256: SHA-256 of its content; empty if only `git_id` is known.
        git_id: SHA-1 of `blob <size>`, a NUL byte and the content; where no `sha256` is known.
        instead: What a user without the file can do, for the error message.
        labels: Whose labels it has; empty if it has none.
    """

    name: str
    path: str
    url: str
    licence: str
    sha256: str = ""
    git_id: str = ""
    instead: str = ""
    labels: str = ""

    @property
    def expected(self) -> str:
        """The hash and its kind, as shown to people."""
        if self.sha256:
            return f"sha256 {self.sha256}"
        return f"git id {self.git_id}"


PEOPLE = "people"
GPT_4 = "GPT-4"
"""Whose labels a file may have."""

GITHUB_RAW = "https://raw.githubusercontent.com"
PUBLISHED: Mapping[str, list[dict[str, str]]] = json.loads(
    (Path(__file__).parent / "sources.json").read_text(encoding="utf-8")
)
"""Published `files` and `folders`, each with the values of `PinnedFile` or `Collection`."""
SOURCES: Mapping[str, PinnedFile] = MappingProxyType(
    {entry["name"]: PinnedFile(**entry) for entry in PUBLISHED["files"]}
)
"""All published files by name."""
URS = SOURCES["urs"]


def cache_dir() -> Path:
    """Directory of downloaded files: `URS_INSPECT_CACHE_DIR`, or the platform's own."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(platformdirs.user_cache_dir("urs_inspect"))


def cache_path(source: PinnedFile) -> Path:
    """Where the file is, or would be, in the cache."""
    return cache_dir() / source.path


def locate(source: PinnedFile) -> Path | None:
    """Find a usable copy without the network: below `URS_INSPECT_DATA_DIR`, else in the cache.

    A damaged copy in the cache counts as none, because fetching replaces it; one below
    `URS_INSPECT_DATA_DIR` is the user's and raises `InputError`.
    """
    if own := os.environ.get(DATA_VARIABLE):
        path = Path(own).expanduser() / source.path
        if path.is_file():
            if not is_pinned(source, path):
                raise InputError(
                    f"{path} ({DATA_VARIABLE}) is not the pinned '{source.name}' file: "
                    f"{actual_hash(source, path)}, expected {source.expected}"
                )
            return path
    path = cache_path(source)
    if path.is_file() and is_pinned(source, path):
        return path
    return None


def is_pinned(source: PinnedFile, path: Path) -> bool:
    """Whether a copy has the hash of the pinned file."""
    return actual_hash(source, path) == source.expected


def actual_hash(source: PinnedFile, path: Path) -> str:
    """Hash of a copy and its kind, as `PinnedFile.expected`."""
    if source.sha256:
        return f"sha256 {sha256_of(path)}"
    return f"git id {git_id_of(path.read_bytes())}"


def fetch(source: PinnedFile) -> Path:
    """Return a verified copy; if there is none, download one into the cache.

    A download that fails or has another hash raises `InputError` and changes nothing in the cache.
    """
    return locate(source) or _download(source)


def _download(source: PinnedFile) -> Path:
    import httpx
    from inspect_ai.util import download
    from tenacity import RetryError

    target = cache_path(source)
    # A warning, because without a network the attempts take a while.
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
    """Download a content by its git id.

    One with another id, or cut short, is an error and no part of it stays.
    """
    import httpx

    response = httpx.get(
        source.url, headers={"Accept": _RAW_CONTENT}, follow_redirects=True, timeout=_TIMEOUT
    )
    response.raise_for_status()
    if (actual := git_id_of(response.content)) != source.git_id:
        raise ValueError(f"the download has the git id {actual}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        whole = Path(folder) / target.name
        whole.write_bytes(response.content)
        return whole.replace(target)


def git_id_of(content: bytes) -> str:
    """Id that git gives a content.

    It tells whether the content is the one that a repository holds.
    """
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
