"""Where SaMer keeps what it can make again."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """`samer` in the package's cache directory: `URS_INSPECT_CACHE_DIR`, or the platform's own."""
    chosen = os.environ.get("URS_INSPECT_CACHE_DIR")
    cache = Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("urs_inspect"))
    return cache / "samer"
