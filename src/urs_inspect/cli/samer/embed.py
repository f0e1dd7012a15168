"""`urs-inspect samer embed`: the vectors that heads are trained on, once per text."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from urs_inspect.errors import InputError

if TYPE_CHECKING:
    from urs_inspect.discrepancy.similarities.vector_cache import VectorCache
    from urs_inspect.samer.training import PairEmbedder, TrainingPair

_INSTALL = "pip install 'urs-inspect[samer]'"

BACKBONE = click.option(
    "--backbone",
    default="minilm",
    show_default=True,
    help="What makes vectors: a directory with a Llama, or an embedding model as in `mad` (minilm, bert/DIR, "
    "model2vec/NAME, sentence_transformers/NAME, openai/NAME).",
)
LAYOUT = click.option(
    "--layout",
    type=click.Choice(["beside", "joined"]),
    default="beside",
    show_default=True,
    help="For an embedding model: the vectors of query and response side by side, or one of both as one text.",
)
DTYPE = click.option(
    "--dtype",
    type=click.Choice(["bfloat16", "float32"]),
    default="bfloat16",
    show_default=True,
    help="For a Llama: type of its numbers; serve the heads in the same type.",
)


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@BACKBONE
@LAYOUT
@DTYPE
def embed(data: Path, backbone: str, layout: str, dtype: str) -> None:
    """Compute and keep the vectors of the pairs in DATA (training format). Stop it and start it again as you like."""
    from urs_inspect.samer import load_taxonomy
    from urs_inspect.samer.training import read_training

    console = Console(soft_wrap=True)
    pairs = read_training(data, load_taxonomy())
    cache, computed = filled_cache(pairs, load_embedder(backbone, layout, dtype), console)
    found = f"{computed} items computed; {len(cache)} vectors of width {cache.width} in {cache.folder}"
    console.print(found, markup=False, highlight=False)


def load_embedder(backbone: str, layout: str, dtype: str) -> "PairEmbedder":
    """Make the backbone that a user names.

    Raises:
        InputError: If there is none of that name, it needs a package that is missing, or it gives no vectors.
    """
    from urs_inspect.discrepancy.similarities.similarity import VectorSimilarity, load_similarity
    from urs_inspect.samer.training import TextEmbedder

    folder = Path(backbone).expanduser()
    if folder.is_dir():
        embedder: PairEmbedder = neural("backbone_embedder").BackboneEmbedder(folder, dtype=dtype)
        return embedder
    model = load_similarity(backbone)
    if not isinstance(model, VectorSimilarity):
        raise InputError(f"backbone '{backbone}' gives no vectors; allowed: a directory, or an embedding model")
    return TextEmbedder(model, layout)


def filled_cache(pairs: "list[TrainingPair]", embedder: "PairEmbedder", console: Console) -> "tuple[VectorCache, int]":
    """Compute what is missing, with a progress bar, and give the cache and the number of items computed."""
    from urs_inspect.discrepancy.similarities.vector_cache import VectorCache
    from urs_inspect.samer.training import fill_cache

    cache = VectorCache(embedder.name)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("vectors", total=None)

        def tell(done: int, missing: int) -> None:
            progress.update(bar, completed=done, total=missing)

        computed = fill_cache(pairs, embedder, cache, progress=tell)
        progress.update(bar, completed=computed, total=computed)
    return cache, computed


def neural(module: str) -> Any:
    """Import a module that needs torch.

    Raises:
        InputError: If torch or transformers is missing.
    """
    try:
        return import_module(f"urs_inspect.samer.neural.{module}")
    except ImportError as error:
        raise InputError(f"training needs torch, which cannot be imported ({error}): {_INSTALL}") from error
