"""`urs-inspect samer annotate|embed|train|assemble`: make a checkpoint of your own."""

import json
import math
import shlex
import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from urs_inspect._util import InputError
from urs_inspect.cli._output import progress_bar, table_of
from urs_inspect.cli._values import named_values
from urs_inspect.samer._checkpoint import BACKBONE_DTYPE, BACKBONE_FINGERPRINT, WEIGHTS_AT
from urs_inspect.samer._export import HEADS_NAME
from urs_inspect.samer._scoring_commands import print_export, samer, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from urs_inspect.discrepancy._vector_cache import VectorCache
    from urs_inspect.samer._evaluation import Heads
    from urs_inspect.samer._pairs import TrainingPair
    from urs_inspect.samer._vectors import EpochRecord, PairEmbedder

REPORT = "training.json"
CURVES = "curves.svg"
_VECTOR_SETTINGS = (
    "backbone (minilm), what makes vectors: a directory with a Llama, or an embedding model as in"
    " `mad` (minilm, bert/DIR, model2vec/NAME, sentence_transformers/NAME, openai/NAME); layout"
    " (beside; or joined: an embedding model reads query and response as one text); dtype"
    " (bfloat16, or float32, of a Llama; serve the heads in the same type)"
)
_BESIDES = 1 << 20  # bytes beside the weights: the file's header and the report


@samer.command()
@click.argument("logs", metavar="LOGS...", nargs=-1)
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--per-scenario",
    metavar="LEAST,MOST",
    default="2000,5500",
    show_default=True,
    help="Pairs that a scenario should have, and may have.",
)
def annotate(logs: tuple[str, ...], out: Path, per_scenario: str) -> None:
    """Write the pairs that were kept in LOGS of samer_annotate as training data to OUT, a .jsonl
    file.
    """
    from urs_inspect.logs._files import finished_logs, nothing_left
    from urs_inspect.samer._pairs import balance, write_training
    from urs_inspect.samer._report import read_annotations

    if not logs:
        raise InputError(
            f"LOGS or OUT is missing, only '{out}' is named: urs-inspect samer annotate LOGS..."
            " OUT.jsonl"
        )
    least, most = _least_and_most(per_scenario)
    if out.exists():
        raise InputError(f"{out}: already there; move it away, or name another file")
    skipped: list[str] = []
    annotations = read_annotations(finished_logs(logs, skipped, "samer_annotate"))
    if not annotations.pairs:
        raise nothing_left("no log of samer_annotate", logs, skipped)
    balanced = balance(annotations.kept, least=least, most=most)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        count = write_training(out, balanced.pairs)
    except OSError as error:
        raise InputError(f"cannot write '{out}': {error.strerror or error}") from None
    say(f"{count} pairs written to {out}")
    rows = [
        [scenario, str(balanced.found[scenario]), str(kept)]
        for scenario, kept in balanced.kept.items()
    ]
    Console().print(table_of(rows, "scenario", "kept by the filter", "written"))
    share = (
        f"{annotations.agreeing / annotations.labelled:.1%}"
        if annotations.labelled
        else "not known"
    )
    say(
        f"{annotations.pairs} pairs, {annotations.annotated} annotated; of {annotations.labelled}"
        f" with a known winner the annotation agrees on {share} (the paper kept 78%)."
    )
    for sentence in skipped:
        say(sentence)
    if balanced.short:
        say(f"Fewer than {least} pairs: {', '.join(balanced.short)}.")


def _least_and_most(given: str) -> tuple[int, int]:
    least, _, most = given.partition(",")
    if not least.strip().isdecimal() or not most.strip().isdecimal():
        raise InputError(f"per-scenario: must be two whole numbers as 2000,5500, got '{given}'")
    return int(least), int(most)


@samer.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-S",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"A setting: {_VECTOR_SETTINGS}. May be repeated.",
)
def embed(data: Path, settings: tuple[str, ...]) -> None:
    """Compute and keep the vectors of the pairs in DATA (training format).

    Stop it and start it again as you like.
    """
    from urs_inspect._arguments import check as check_argument
    from urs_inspect.samer import load_taxonomy
    from urs_inspect.samer._options import VectorSettings
    from urs_inspect.samer._pairs import read_training

    given = check_argument("-S", named_values(settings, "-S"), VectorSettings)
    pairs = read_training(data, load_taxonomy())
    embedder = load_embedder(given.backbone, given.layout, given.dtype)
    cache, computed = _filled_cache(pairs, embedder)
    say(f"{computed} items computed; {len(cache)} vectors of width {cache.width} in {cache.folder}")


def load_embedder(backbone: str, layout: str, dtype: str) -> "PairEmbedder":
    """Make the backbone that a user names."""
    from urs_inspect.discrepancy._similarity import VectorSimilarity, load_similarity
    from urs_inspect.samer._vectors import TextEmbedder

    folder = Path(backbone).expanduser()
    if folder.is_dir():
        embedder: PairEmbedder = _neural("transformers_engine").BackboneEmbedder(
            folder, dtype=dtype
        )
        return embedder
    try:
        model = load_similarity(backbone)
    except InputError as error:
        raise InputError(f"backbone: no directory '{backbone}', and as a model: {error}") from error
    if not isinstance(model, VectorSimilarity):
        raise InputError(
            f"backbone '{backbone}' gives no vectors; allowed: a directory, or an embedding model"
        )
    return TextEmbedder(model, layout)


def _filled_cache(
    pairs: "list[TrainingPair]", embedder: "PairEmbedder"
) -> "tuple[VectorCache, int]":
    """Compute what is missing, with a progress bar.

    Returns the cache and the number of items computed.
    """
    from urs_inspect.discrepancy._vector_cache import VectorCache
    from urs_inspect.samer._vectors import fill_cache

    cache = VectorCache(embedder.name)
    with progress_bar() as progress:
        bar = progress.add_task("vectors", total=None)
        show = partial(progress.update, bar)
        computed = fill_cache(
            pairs, embedder, cache, progress=lambda done, all_: show(completed=done, total=all_)
        )
        progress.update(bar, completed=computed, total=computed)
    return cache, computed


def _neural(module: str) -> Any:
    """Import a module that needs torch."""
    try:
        return import_module(f"urs_inspect.samer._neural.{module}")
    except ImportError as error:
        raise InputError(
            f"training needs torch, which cannot be imported ({error}): pip install"
            " 'urs-inspect[samer]'"
        ) from error


@samer.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "-S",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help=(
        f"A setting: {_VECTOR_SETTINGS}; loss (paper, or released), epochs (3), learning_rate"
        " (5e-5), held_out (0.1), seed (0), predictor_epochs (1, warm-up), batch (32), narrowing"
        " (1, divides the widths of the layers), patience (2; 0 runs all epochs), weights_at (as"
        " the loss has it), device (cpu). May be repeated."
    ),
)
def train(data: Path, out: Path, settings: tuple[str, ...]) -> None:
    """Train heads on the pairs in DATA (training format), and write them to OUT, a new or empty
    folder; missing vectors are computed first.

    The default settings are the paper's, for its 135,402 pairs. With few pairs equal weights of the
    dimensions may do better; both shares are printed. OUT gets heads.safetensors, training.json and
    curves.svg (with Altair). Heads on a Llama become a model that can be used by `samer assemble
    BACKBONE OUT MODEL`; no engine runs those on an embedding model.
    """
    from urs_inspect._arguments import check as check_argument
    from urs_inspect.reports.layout._tables import plain
    from urs_inspect.samer import load_taxonomy
    from urs_inspect.samer._evaluation import heads_size
    from urs_inspect.samer._options import TrainingSettings
    from urs_inspect.samer._pairs import check_split, label_pairs, read_training, split_off
    from urs_inspect.samer._vectors import accuracy, pair_vectors, predict_pairs, with_equal_weights
    from urs_inspect.samer._weights import reserved_room

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: already there; OUT must be a new or empty directory")
    further = dict(check_argument("-S", named_values(settings, "-S"), TrainingSettings))
    backbone = further.pop("backbone")
    embedding = (further.pop("layout"), further.pop("dtype"))
    held_out = further.pop("held_out")
    device = further.pop("device")
    patience = further.pop("patience") or None
    trainer = _neural("trainer")
    losses = trainer.loss_spec(further.pop("loss"), further.pop("weights_at"))
    spec = trainer.TrainingSpec(loss=losses, patience=patience, **further)
    taxonomy = load_taxonomy()
    pairs = read_training(data, taxonomy)
    labels = label_pairs(pairs, taxonomy.dimensions)
    scenarios = [pair.scenario for pair in pairs]
    fit, held = split_off(
        [pair.prompt for pair in pairs], held_out, strata=scenarios, seed=spec.seed
    )
    check_split(labels, fit, held)  # before vectors are computed, which takes the most time
    if find_spec("altair") is None:
        say(
            "no picture of the learning curves will be drawn, without Altair: pip install"
            " 'urs-inspect[viz]'"
        )
    embedder = load_embedder(backbone, *embedding)
    cache, _ = _filled_cache(pairs, embedder)
    say(f"{len(fit)} pairs to fit, {len(held)} held out, no prompt in both")
    vectors = pair_vectors(pairs, cache)
    room = heads_size(vectors.hidden_size, len(taxonomy.dimensions), spec.narrowing) + _BESIDES
    facts = {**embedder.facts, WEIGHTS_AT: spec.loss.weights_at, "taxonomy": taxonomy.version}
    with _new_folder(out), reserved_room(out / HEADS_NAME, room):
        trained = trainer.train(
            vectors,
            labels,
            fit=fit,
            held_out=held,
            spec=spec,
            device=device,
            on_epoch=lambda record: say(_epoch_line(record)),
        )
        _save(trained.heads, out / HEADS_NAME, facts)
    predictions = predict_pairs(trained.heads, vectors.take(held), spec.loss.weights_at)
    equal = with_equal_weights(predictions)
    shares = {
        "overall": accuracy(predictions, labels.take(held)).overall,
        "overall_with_equal_weights": accuracy(equal, labels.take(held)).overall,
    }
    report = {
        **facts,
        "data": data.name,
        "pairs": len(pairs),
        "best_epoch": trained.best_epoch,
        "held_out": shares,
        "settings": spec,
        "history": trained.history,
    }
    try:
        (out / REPORT).write_text(json.dumps(plain(report), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{out / REPORT}: cannot be written ({error.strerror}); the heads of epoch"
            f" {trained.best_epoch} are whole, in {out / HEADS_NAME}"
        ) from error
    _draw(trained.history, out / CURVES)
    say(f"Heads of epoch {trained.best_epoch} in {out}; weights_at={spec.loss.weights_at}.")
    _say_equal_weights(**shares)
    if BACKBONE_FINGERPRINT not in facts:
        say(
            f"No engine runs heads on '{backbone}'; in Python:"
            " urs_inspect.samer._training.predict_pairs."
        )
    else:
        command = (
            f"urs-inspect samer assemble {shlex.quote(backbone)} {shlex.quote(str(out))} MODEL"
        )
        say(f"To use them: {command}, then --model MODEL -S dtype={facts[BACKBONE_DTYPE]}.")


def _say_equal_weights(overall: float, overall_with_equal_weights: float) -> None:
    """Compare the trained weights with equal ones.

    The held-out pairs that have an overall label decide.
    """
    if math.isnan(overall):
        return
    say(
        f"Held-out pairs: overall {overall:.1%}, with equal weights of the dimensions"
        f" {overall_with_equal_weights:.1%}."
    )
    if overall_with_equal_weights > overall:
        say(
            "equal weights do better than the trained ones; with few pairs more steps may help,"
            " such as -S learning_rate=1e-3 -S epochs=12",
            label="warning:",
            style="yellow",
        )


@contextmanager
def _new_folder(out: Path) -> "Iterator[None]":
    """Make a folder, and remove it again if nothing comes into it."""
    new = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made ({error.strerror})") from error
    try:
        yield
    finally:
        if new:
            with suppress(OSError):  # it holds something
                out.rmdir()


def _save(heads: "Heads", file: Path, facts: "Mapping[str, str]") -> None:
    """Write trained heads.

    If that fails, although room was taken for them, they go among the temporary files.
    """
    from urs_inspect.samer._evaluation import save_heads

    try:
        save_heads(heads, file, metadata=facts)
    except OSError as error:
        failed = f"{file}: cannot be written ({error.strerror})"
        try:
            elsewhere = Path(tempfile.mkdtemp(prefix="samer-heads-")) / file.name
            save_heads(heads, elsewhere, metadata=facts)
        except OSError as again:
            raise InputError(
                f"{failed}, nor can temporary files ({again.strerror}); the heads are lost"
            ) from again
        raise InputError(f"{failed}; training is done, and its heads are in {elsewhere}") from error


def _epoch_line(record: "EpochRecord") -> str:
    start = f"{record.phase} epoch {record.epoch}: loss {record.loss:.3f}"
    held = record.held_out
    if held is None:
        return start
    overall, dimensions = (
        "no labels" if math.isnan(share) else f"{share:.1%}"
        for share in (held.overall, held.dimensions)
    )
    return f"{start}; held out: overall {overall}, dimensions {dimensions}"


def _draw(history: "Sequence[EpochRecord]", path: Path) -> None:
    from urs_inspect.samer._report import draw_learning_curves

    try:
        draw_learning_curves(history, path)
    except Exception as error:  # a picture is no reason to lose what was trained
        say(f"no picture: {error}")


@samer.command()
@click.argument("backbone", metavar="BACKBONE")
@click.argument("heads", metavar="HEADS")
@click.argument("out", metavar="OUT")
def assemble(backbone: str, heads: str, out: str) -> None:
    """Put the Llama in BACKBONE and the HEADS that `train` made of its vectors into the new folder
    OUT.

    OUT is what --model, samer= and stock vLLM take. HEADS is the folder that `train` wrote, or its
    heads.safetensors.
    """
    from urs_inspect.samer._export import assemble_checkpoint

    done = assemble_checkpoint(backbone, heads, out)
    facts = {}
    if done.weights_at is not None:
        facts["reads"] = f"weights at the {done.weights_at}, by itself"
    if done.dtype is not None:
        facts["dtype"] = f"{done.dtype} made the vectors"
    options = ["--dtype", done.dtype] if done.dtype else []
    print_export(done, *options, **facts)
