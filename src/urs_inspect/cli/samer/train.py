"""`urs-inspect samer train`: heads from labelled pairs."""

import json
import math
import shlex
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from urs_inspect.cli.samer.embed import BACKBONE, DTYPE, LAYOUT, filled_cache, load_embedder, neural
from urs_inspect.errors import InputError
from urs_inspect.samer.assembly import HEADS_NAME
from urs_inspect.samer.heads_file import BACKBONE_DTYPE, BACKBONE_FINGERPRINT, WEIGHTS_AT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from urs_inspect.samer.heads import Heads
    from urs_inspect.samer.training.epochs import EpochRecord

REPORT, CURVES = "training.json", "curves.svg"
_BESIDES = 1 << 20  # bytes beside the weights: the file's header and the report
VIZ = "pip install 'urs-inspect[viz]'"


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Directory to write; must be empty or new.")
@BACKBONE
@LAYOUT
@DTYPE
@click.option("--loss", type=click.Choice(["paper", "released"]), default="paper", show_default=True)
@click.option(
    "--weights-at", type=click.Choice(["query", "response"]), help="Where weights are read, if not as --loss."
)
@click.option("--epochs", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--predictor-epochs", type=click.IntRange(min=0), default=1, show_default=True, help="Warm-up epochs.")
@click.option("--batch", type=click.IntRange(min=1), default=32, show_default=True)
@click.option("--learning-rate", type=click.FloatRange(min=0, min_open=True), default=5e-5, show_default=True)
@click.option("--narrowing", type=click.IntRange(min=1), default=1, show_default=True, help="Divides layers' widths.")
@click.option("--held-out", type=click.FloatRange(0, 1, max_open=True), default=0.1, show_default=True)
@click.option("--patience", type=click.IntRange(min=0), default=2, show_default=True, help="0 runs all epochs.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--device", default="cpu", show_default=True)
def train(
    data: Path, out: Path, backbone: str, layout: str, dtype: str, held_out: float, device: str, **given: Any
) -> None:
    """Train heads on the pairs in DATA (training format); missing vectors are computed first.

    OUT gets heads.safetensors, training.json (settings, curves, accuracy) and curves.svg (with matplotlib). Heads on a
    Llama become a model that can be used by `samer assemble BACKBONE OUT MODEL`; no engine runs those on an embedding
    model.
    """
    from urs_inspect.samer import load_taxonomy
    from urs_inspect.samer.heads import heads_size
    from urs_inspect.samer.tensor_file import reserved_room
    from urs_inspect.samer.training import check_split, label_pairs, pair_vectors, read_training, split_off

    console = Console(soft_wrap=True, highlight=False)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: already there; --out must be a new or empty directory")
    trainer, spec = neural("trainer"), _spec(given)
    taxonomy = load_taxonomy()
    pairs = read_training(data, taxonomy)
    labels = label_pairs(pairs, taxonomy.dimensions)
    fit, held = split_off(
        [pair.prompt for pair in pairs], held_out, strata=[pair.scenario for pair in pairs], seed=given["seed"]
    )
    check_split(labels, fit, held)  # before vectors are computed, which takes the most time
    if find_spec("matplotlib") is None:
        console.print(f"no picture of the learning curves will be drawn, without matplotlib: {VIZ}", markup=False)
    embedder = load_embedder(backbone, layout, dtype)
    cache, _ = filled_cache(pairs, embedder, console)
    console.print(f"{len(fit)} pairs to fit, {len(held)} held out, no prompt in both")
    vectors = pair_vectors(pairs, cache)
    room = heads_size(vectors.hidden_size, len(taxonomy.dimensions), spec.narrowing) + _BESIDES
    facts = {**embedder.facts, WEIGHTS_AT: spec.loss.weights_at, "taxonomy": taxonomy.version}
    with _made(out), reserved_room(out / HEADS_NAME, room):
        trained = trainer.train(
            vectors,
            labels,
            fit=fit,
            held_out=held,
            spec=spec,
            device=device,
            on_epoch=lambda record: console.print(_line(record)),
        )
        _save(trained.heads, out / HEADS_NAME, facts)
    report = {**facts, "data": str(data.name), "pairs": len(pairs), "best_epoch": trained.best_epoch}
    report |= {"settings": asdict(spec), "history": [asdict(record) for record in trained.history]}
    try:
        (out / REPORT).write_text(json.dumps(_finite(report), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{out / REPORT}: cannot be written ({error.strerror}); the heads of epoch {trained.best_epoch} are whole, "
            f"in {out / HEADS_NAME}"
        ) from error
    _draw(trained.history, out / CURVES, console)
    console.print(f"Heads of epoch {trained.best_epoch} in {out}; weights_at={spec.loss.weights_at}.", markup=False)
    console.print(_how_to_use(backbone, out, embedder.facts), markup=False)


@contextmanager
def _made(out: Path) -> "Iterator[None]":
    """Make a folder, and take it away again if nothing comes into it."""
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
    """Write trained heads; if that fails, although room was taken for them, among the temporary files."""
    from urs_inspect.samer.heads import save_heads

    try:
        save_heads(heads, file, metadata=facts)
    except OSError as error:
        failed = f"{file}: cannot be written ({error.strerror})"
        try:
            elsewhere = Path(tempfile.mkdtemp(prefix="samer-heads-")) / file.name
            save_heads(heads, elsewhere, metadata=facts)
        except OSError as again:
            raise InputError(f"{failed}, nor can temporary files ({again.strerror}); the heads are lost") from again
        raise InputError(f"{failed}; training is done, and its heads are in {elsewhere}") from error


def _how_to_use(backbone: str, out: Path, facts: "Mapping[str, str]") -> str:
    if BACKBONE_FINGERPRINT not in facts:
        return f"No engine runs heads on '{backbone}'; in Python: urs_inspect.samer.training.predict_pairs."
    return (
        f"To use them: urs-inspect samer assemble {shlex.quote(backbone)} {shlex.quote(str(out))} MODEL, then --model "
        f"MODEL --dtype {facts[BACKBONE_DTYPE]}."
    )


def _spec(given: dict[str, Any]) -> Any:
    options = dict(given)
    loss = neural("losses").loss_spec(options.pop("loss"), options.pop("weights_at"))
    options["patience"] = options["patience"] or None
    return neural("trainer").TrainingSpec(loss=loss, **options)


def _line(record: "EpochRecord") -> str:
    start = f"{record.phase} epoch {record.epoch}: loss {record.loss:.3f}"
    held = record.held_out
    if held is None:
        return start
    return f"{start}; held out: overall {_percent(held.overall)}, dimensions {_percent(held.dimensions)}"


def _percent(share: float) -> str:
    return "no labels" if math.isnan(share) else f"{share:.1%}"


def _draw(history: "Sequence[EpochRecord]", path: Path, console: Console) -> None:
    from urs_inspect.reports.learning_curves import draw_learning_curves

    try:
        draw_learning_curves(history, path)
    except Exception as error:  # a picture is no reason to lose what was trained
        console.print(f"no picture: {error}", markup=False)


def _finite(value: Any) -> Any:
    """The same with null for NaN, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and value != value else value
