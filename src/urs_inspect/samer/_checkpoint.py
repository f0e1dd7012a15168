"""A SaMer checkpoint folder: its heads, what its files declare, and its fingerprint.

`checkpoint_check` opens one.
"""

import hashlib
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from logging import getLogger
from pathlib import Path
from typing import Any, Literal, get_args

import platformdirs

from urs_inspect._arguments import check
from urs_inspect._util import InputError, choices
from urs_inspect.datasets._sources import sha256_of
from urs_inspect.samer._conversation import Conversations, read_json
from urs_inspect.samer._evaluation import HEAD_NAMES, Heads, WeightsAt, load_heads
from urs_inspect.samer._reward import (
    DESCRIPTION,
    HEAD,
    Description,
    RewardConversations,
    load_description,
)
from urs_inspect.samer._weights import INDEX, WeightFiles, find_weights, read_metadata

HEADS_FILE = "samer_heads/heads.safetensors"
"""Where an exported folder keeps the heads.

A subfolder, because vLLM loads every weight file beside config.json.
"""

WEIGHTS_AT = (  # key of the heads' file under which training declares where the weighter reads
    "weights_at"
)

BACKBONE = "backbone"
BACKBONE_FINGERPRINT = "backbone_fingerprint"
BACKBONE_DTYPE = "backbone_dtype"
"""Keys under which training declares what made the vectors; the last two of a Llama only."""

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
"""Type that the backbone computes in; each engine documents its `auto`.

Heads always compute in float32.
"""

Layout = Literal["released", "exported"]
"""`released`: heads among the model's weights as `score.*`; `exported`: a plain Llama with the
heads in a subfolder.
"""

_STORED = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
_LOG = getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """A folder that passed `check_checkpoint`.

    Weights other than the heads' are never read here.
    """

    folder: Path
    layout: Layout
    config: Mapping[str, Any]  # config.json
    weights: WeightFiles
    reward: Description | None = None  # what the outputs of a reward model mean; None for SaMer

    @property
    def hidden_size(self) -> int:
        """Width of the backbone's vectors."""
        return int(self.config["hidden_size"])

    @property
    def max_length(self) -> int:
        """Most tokens of an input."""
        return int(
            self.config.get("max_position_embeddings") or self.config.get("n_positions") or 0
        )

    @property
    def dtype(self) -> str:
        """Type of the weights by the configuration, such as `bfloat16`, else by their file."""
        stored = self.weights.dtypes[0]
        return str(
            self.config.get("dtype")
            or self.config.get("torch_dtype")
            or _STORED.get(stored, stored)
        )

    def heads(self) -> Heads:
        """Read SaMer's heads, in float32."""
        if self.layout == "exported":
            return load_heads(self.folder / HEADS_FILE)
        return Heads({name: self.weights.read(name) for name in HEAD_NAMES})

    def conversations(self) -> Conversations:
        """Its chat template and tokenizer."""
        return conversations_of(self.folder, self.reward)


def conversations_of(folder: Path, reward: Description | None) -> Conversations:
    """The chat template and tokenizer of SaMer's folder, or of a reward model's."""
    if reward is None:
        return Conversations(folder)
    return RewardConversations(folder, reward.template, read_config(folder).get("pad_token_id"))


def labels_of(config: Mapping[str, Any]) -> int:
    """How many outputs a classifier has by `config.json`.

    2 if it says nothing, as transformers has it.
    """
    labels = config.get("id2label")
    if isinstance(labels, dict):
        return len(labels)
    return int(config.get("num_labels", 2))


def description_of(folder: Path, file: str | None) -> Description | None:
    """What a reward model's outputs mean, by its folder without weights; None for SaMer's."""
    if file is None and not is_reward_model(folder):
        return None
    return load_description(folder, file, labels_of(read_config(folder)))


def is_reward_model(folder: Path) -> bool:
    """Whether a folder is to be read as a reward model's and not as SaMer's.

    It may be broken all the same.

    A Llama without weights, for a server, is one if it has a description or one label.
    """
    if find_heads_file(folder) is not None or not (folder / "config.json").is_file():
        return False
    config = read_config(folder)
    if (folder / DESCRIPTION).is_file() or config.get("model_type") != "llama":
        return True
    try:
        return HEAD in find_weights(folder).files
    except InputError:
        return labels_of(config) == 1


def read_config(folder: Path) -> dict[str, Any]:
    """Read a folder's `config.json`."""
    return read_json(folder / "config.json", "a model's folder")


def resolve_dtype(checkpoint: Checkpoint, wanted: Dtype) -> str:
    """The type to compute in: the user's, or for `auto` the checkpoint's own.

    vLLM's own `auto` computes weights of float32 in float16, which moves outputs by about 1e-4 and
    is not what the transformers engine does.
    """
    if wanted != "auto":
        return wanted
    _, *types = get_args(Dtype)
    if checkpoint.dtype not in types:
        raise InputError(
            f"{checkpoint.folder}: config.json has the dtype '{checkpoint.dtype}'; name one:"
            f" {choices(types)}"
        )
    return checkpoint.dtype


def find_heads_file(folder: Path) -> Path | None:
    """The file with the heads, or with the first of their weights.

    None if a folder without weights has none.
    """
    exported = folder / HEADS_FILE
    if exported.is_file():
        return exported
    try:
        weights = find_weights(folder)
    except InputError:
        return None
    if HEAD_NAMES[0] in weights.files:
        return weights.path(HEAD_NAMES[0])
    return None


def declared_weights_at(folder: Path) -> WeightsAt | None:
    """Where the heads were trained to read weights, by their file.

    The released one declares nothing.
    """
    file = find_heads_file(folder)
    declared = None
    if file is not None:
        declared = read_metadata(file).get(WEIGHTS_AT)
    checked: WeightsAt | None = check(f"{file}: {WEIGHTS_AT}", declared, WeightsAt | None)
    return checked


def resolve_weights_at(folder: Path, wanted: WeightsAt | None) -> WeightsAt:
    """Where weights are read: the user's choice, else what the heads' file declares.

    If it declares nothing, as the released code does.
    """
    declared = declared_weights_at(folder)
    if wanted is None:
        return declared or "response"
    if is_reward_model(folder):
        raise InputError(
            f"weights_at {wanted}: {folder} is a reward model; only SaMer has weights to read"
        )
    if declared is not None and declared != wanted:
        _LOG.warning(
            f"samer: {folder}: its heads were trained with weights_at={declared};"
            f" weights_at={wanted} is used, as told"
        )
    return wanted


# ## Fingerprints

# What the engines read besides weights.
_TEXTS = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    INDEX,
    DESCRIPTION,
)
_AT_ONCE = 4  # files; a disk that takes several readers is read several times as fast
_LARGE = 1 << 26  # bytes from which a digest is worth keeping
_SETTLED = 2.0  # seconds after which a change of a file is sure to show in its times


def cache_folder() -> Path:
    """`samer` in the package's cache directory: `URS_INSPECT_CACHE_DIR`, or the platform's own."""
    chosen = os.environ.get("URS_INSPECT_CACHE_DIR")
    if chosen:
        cache = Path(chosen).expanduser()
    else:
        cache = Path(platformdirs.user_cache_dir("urs_inspect"))
    return cache / "samer"


def fingerprint(folder: Path, *, heads: bool = True) -> str:
    """Hash all that decides a model's numbers.

    That is weights, heads, tokenizer, chat template and configuration.

    Every byte counts and no time of writing does. The digest of a large file is cached as long as
    the file is the same one and was not written to, so that the 16 GB of an 8B model are read once.
    Files that are missing do not count, such as the weights beside a server's tokenizer; heads in a
    subfolder count unless `heads` is false.
    """
    folder = folder.expanduser()
    try:
        weights = find_weights(folder).names
    except InputError:
        weights = ()
    names = {*_TEXTS, *weights}
    if heads:
        names.add(HEADS_FILE)
    existing = [name for name in sorted(names) if (folder / name).is_file()]
    try:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            digests = list(threads.map(lambda name: _digest(folder / name), existing))
    except OSError as error:
        raise InputError(
            f"{folder}: {error.filename or 'a file'} cannot be read ({error.strerror})"
        ) from error
    named = list(zip(existing, digests, strict=True))
    return hashlib.sha256(repr(named).encode()).hexdigest()


def _digest(path: Path) -> str:
    stat = path.stat()
    if stat.st_size < _LARGE:
        return sha256_of(path)
    # The time of the last change of the entry cannot be set back, as that of the last writing can.
    stamp = (
        str(path.resolve()),
        stat.st_dev,
        stat.st_ino,
        stat.st_size,
        stat.st_mtime_ns,
        stat.st_ctime_ns,
    )
    known = hashlib.sha256(repr(stamp).encode()).hexdigest()[:32]
    kept = cache_folder() / "digests" / known
    try:
        if len(found := kept.read_text(encoding="ascii")) == hashlib.sha256().digest_size * 2:
            return found
    except OSError:
        pass
    _LOG.info("samer: reading %s (%.1f GB) for its fingerprint", path, stat.st_size / 1e9)
    digest = sha256_of(path)
    if time.time() - max(stat.st_mtime, stat.st_ctime) > _SETTLED:
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(digest, encoding="ascii")
        except OSError as error:  # it will be computed again
            _LOG.info("samer: cannot keep a digest in %s: %s", kept.parent, error.strerror)
    return digest
