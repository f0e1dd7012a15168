"""Published folders of many small files: verdicts of real judges beside people's labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._sources import GITHUB_RAW, PUBLISHED, PinnedFile, fetch

_SUMS = Path(__file__).parent / "sums"


@dataclass(frozen=True)
class Collection:
    """Files of one folder of a repository, each known by its SHA-256.

    The hashes are in `sums/<name>.sha256`, as `sha256sum` writes them, with paths relative to the
    folder.
    """

    name: str  # in commands
    folder: str  # below the cache and data directories
    address: str  # repository, commit and folder in it
    licence: str  # what its repository states
    labels: str = ""  # whose labels it has, if it has any

    @cached_property
    def files(self) -> Mapping[str, PinnedFile]:
        """The files by their paths relative to the folder."""
        sums = _SUMS / f"{self.name.rpartition('/')[2]}.sha256"
        files = {}
        for line in sums.read_text(encoding="utf-8").splitlines():
            sha256, path = line.split(maxsplit=1)
            files[path] = PinnedFile(
                f"{self.name}/{path}",
                f"{self.folder}/{path}",
                f"{GITHUB_RAW}/{self.address}/{path}",
                self.licence,
                sha256,
                labels=self.labels,
            )
        return MappingProxyType(files)


COLLECTIONS: Mapping[str, Collection] = MappingProxyType(
    {entry["name"]: Collection(**entry) for entry in PUBLISHED["folders"]}
)
"""All published folders by name."""


def fetch_collection(name: str) -> dict[str, Path]:
    """Verified copies of all files of a collection, by their paths relative to its folder.

    What is not here is downloaded. `InputError` for an unknown name, and as of `fetch`.
    """
    if name not in COLLECTIONS:
        raise InputError(f"unknown collection '{name}'; allowed: {choices(COLLECTIONS)}")
    return {path: fetch(file) for path, file in COLLECTIONS[name].files.items()}
