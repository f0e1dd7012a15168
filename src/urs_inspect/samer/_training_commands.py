"""`urs-inspect samer annotate|embed|train|assemble`: make a checkpoint of your own."""

import json
import math
import shlex
import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from urs_inspect._arguments import check as check_argument
from urs_inspect._util import InputError
from urs_inspect.cli._output import progress_bar, table_of
from urs_inspect.cli._values import named_values
from urs_inspect.samer._checkpoint import BACKBONE_DTYPE, BACKBONE_FINGERPRINT, WEIGHTS_AT
from urs_inspect.samer._export import HEADS_NAME
from urs_inspect.samer._options import TrainingSettings, VectorSettings
from urs_inspect.samer._packages import imported
from urs_inspect.samer._scoring_commands import print_export, samer, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from urs_inspect.discrepancy._vector_cache import VectorCache
    from urs_inspect.samer._evaluation import Heads, WeightsAt
    from urs_inspect.samer._pairs import PairLabels, TrainingPair
    from urs_inspect.samer._vectors import EpochRecord, PairEmbedder, PairVectors

REPORT = "training.json"
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
    agreeing = f"{annotations.agreeing} of {annotations.labelled}"
    if annotations.labelled:
        agreeing += f" ({annotations.agreeing / annotations.labelled:.1%})"
    say(
        f"{annotations.pairs} pairs, {annotations.annotated} annotated; the annotation agrees with"
        f" {agreeing} known winners (the paper kept 78%)."
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
    from urs_inspect.samer import load_taxonomy
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
    return imported(f"urs_inspect.samer._neural.{module}", "training")


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
    dimensions may do better; both shares are printed. OUT gets heads.safetensors and training.json,
    which has the losses of each epoch. Heads on a Llama become a model that can be used by
    `samer assemble BACKBONE OUT MODEL`; no engine runs those on an embedding model.
    """
    from urs_inspect.reports.layout._tables import plain
    from urs_inspect.samer import load_taxonomy
    from urs_inspect.samer._evaluation import heads_size
    from urs_inspect.samer._pairs import check_split, label_pairs, read_training, split_off
    from urs_inspect.samer._vectors import pair_vectors
    from urs_inspect.samer._weights import reserved_room

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: already there; OUT must be a new or empty directory")
    given: TrainingSettings = check_argument("-S", named_values(settings, "-S"), TrainingSettings)
    trainer = _neural("trainer")
    loss = trainer.loss_spec(given.loss, given.weights_at)
    own = {"epochs", "predictor_epochs", "batch", "learning_rate", "narrowing", "seed"}
    spec = trainer.TrainingSpec(
        loss=loss, patience=given.patience or None, **given.model_dump(include=own)
    )
    taxonomy = load_taxonomy()
    pairs = read_training(data, taxonomy)
    labels = label_pairs(pairs, taxonomy.dimensions)
    prompts = [pair.prompt for pair in pairs]
    scenarios = [pair.scenario for pair in pairs]
    fit, held = split_off(prompts, given.held_out, strata=scenarios, seed=given.seed)
    check_split(labels, fit, held)  # before vectors are computed, which takes the most time
    embedder = load_embedder(given.backbone, given.layout, given.dtype)
    cache, _ = _filled_cache(pairs, embedder)
    say(f"{len(fit)} pairs to fit, {len(held)} held out, no prompt in both")
    vectors = pair_vectors(pairs, cache)
    facts = {**embedder.facts, WEIGHTS_AT: loss.weights_at, "taxonomy": taxonomy.version}
    room = heads_size(vectors.hidden_size, len(taxonomy.dimensions), given.narrowing) + _BESIDES
    with _new_folder(out), reserved_room(out / HEADS_NAME, room):
        trained = trainer.train(
            vectors,
            labels,
            fit=fit,
            held_out=held,
            spec=spec,
            device=given.device,
            on_epoch=lambda record: say(_epoch_line(record)),
        )
        _save(trained.heads, out / HEADS_NAME, facts)
    shares = _held_out_shares(trained.heads, vectors.take(held), labels.take(held), loss.weights_at)
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
        text = json.dumps(plain(report), indent=1) + "\n"
        (out / REPORT).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{out / REPORT}: cannot be written ({error.strerror}); the heads of epoch"
            f" {trained.best_epoch} are whole, in {out / HEADS_NAME}"
        ) from error
    say(f"Heads of epoch {trained.best_epoch} in {out}; weights_at={loss.weights_at}.")
    _say_equal_weights(**shares)
    if BACKBONE_FINGERPRINT not in facts:
        say(f"These heads cannot be used to score: no engine runs '{given.backbone}'.")
        return
    folders = f"{shlex.quote(given.backbone)} {shlex.quote(str(out))}"
    say(f"Make a model of them: urs-inspect samer assemble {folders} MODEL")
    say(
        "Score with it: urs-inspect samer score IN.jsonl OUT.jsonl --model MODEL"
        f" -S dtype={facts[BACKBONE_DTYPE]}"
    )


def _held_out_shares(
    heads: "Heads", vectors: "PairVectors", labels: "PairLabels", weights_at: "WeightsAt"
) -> dict[str, float]:
    """Shares of pairs whose overall label the heads meet, also with equal weights."""
    from urs_inspect.samer._vectors import accuracy, predict_pairs, with_equal_weights

    predictions = predict_pairs(heads, vectors, weights_at)
    return {
        "overall": accuracy(predictions, labels).overall,
        "overall_with_equal_weights": accuracy(with_equal_weights(predictions), labels).overall,
    }


def _say_equal_weights(overall: float, overall_with_equal_weights: float) -> None:
    """Compare the trained weights with equal ones, if held-out pairs have an overall label."""
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
    """Write trained heads; if that fails, among the temporary files."""
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
    line = f"{record.phase} epoch {record.epoch}: loss {record.loss:.3f}"
    held = record.held_out
    if held is None:
        return line
    return f"{line}; held out: overall {_share(held.overall)}, dimensions {_share(held.dimensions)}"


def _share(share: float) -> str:
    if math.isnan(share):
        return "no labels"
    return f"{share:.1%}"


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

    print_export(assemble_checkpoint(backbone, heads, out))
