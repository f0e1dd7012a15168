"""How many answers a second SaMer evaluates: three ways to run the same random model, on a CPU or a
GPU.

- reference: the released code's way. Each answer is two padded rows, the query and the query +
  response, and the heads run on every token before two of them are picked.
- transformers: this package without vLLM. One row an answer, batches of like length, heads at two
  positions.
- vllm: stock vLLM with STEP pooling, heads outside.

Each way runs in a process of its own, offline, on the same texts, with the same budget of tokens in
one batch (the reference takes one answer at a time), and its overall scores are held against the
reference's. Needs the environment of `make test-vllm` (on a GPU: vLLM as usual), in the root of a
checkout:

    python -m benchmarks.samer_throughput --shape tiny python -m benchmarks.samer_throughput --shape
    40m --items 48 python -m benchmarks.samer_throughput --shape 8b --dtype bfloat16 --items 2000
    --reference-items 200 --folder DIR

The model and what each way gave stay in `--folder`, and the same command measures only what is
missing: a way that does not fit into `--limit` seconds is left for the next run. An 8B model in
bfloat16 needs a card of 80 GB or more for all ways, and 33 GB of disk.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, process_time
from typing import Any

import anyio
import numpy as np
from tests.samer.checkpoints import (
    Shape,
    backbone_tensors,
    head_tensors,
    released_config,
    write_tokenizer,
)
from tests.samer.checkpoints import write_tensor_file as write_file

from benchmarks import Row, in_process
from urs_inspect.samer._checkpoint_check import open_checkpoint
from urs_inspect.samer._engines.protocol import Engine, QueryResponse, Scored
from urs_inspect.samer._engines.registry import load_engine
from urs_inspect.samer._evaluation import RawOutputs, evaluate

WAYS = ("reference", "transformers", "vllm")
SHAPES = {
    "tiny": Shape(hidden=64, heads=2, kv_heads=1, layers=2, intermediate=128),
    "40m": Shape(hidden=640, heads=10, kv_heads=5, layers=8, intermediate=1728),
    "8b": Shape(hidden=4096, heads=32, kv_heads=8, layers=32, intermediate=14336),
}
LONGEST = 2048
MODEL = "model"
RESULTS = "results.json"
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
}
OFFLINE |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}  # the limit of a way ends all of it


@dataclass(frozen=True)
class Result:
    """What one way gave.

    Attributes:
        seconds: Median time of all items.
        processor: Median processor time of all items, all threads together; other programs weigh
            less on it.
        items: How many.
        tokens: Tokens of query + response, each counted once.
        peak: Measured rate of a large matrix product in the same type, in FLOP/s; 0 on a CPU.
        overall: Overall scores.
    """

    seconds: float
    processor: float
    items: int
    tokens: int
    peak: float
    overall: list[float]


def parameters_of(shape: Shape) -> int:
    """Parameters in matrices that every token passes."""
    keys_and_values = shape.hidden // shape.heads * shape.kv_heads
    return (
        shape.layers
        * shape.hidden
        * (2 * shape.hidden + 2 * keys_and_values + 3 * shape.intermediate)
    )


def checkpoint(finished: Path, shape: Shape, dtype: str) -> None:
    """Write a random model, one file a layer; all layers have the same numbers, which makes a large
    one cheap to write.

    A model that is there is kept; one that was not written whole is never there.
    """
    if finished.exists():
        return
    folder = finished.with_name("unfinished")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    vocabulary = write_tokenizer(folder, LONGEST)
    rng = np.random.default_rng(0)
    single = Shape(shape.hidden, shape.heads, shape.kv_heads, 1, shape.intermediate)
    tensors = backbone_tensors(rng, single, vocabulary)
    layer = {name: array for name, array in tensors.items() if ".layers.0." in name}
    files = {
        "rest": (
            {n: a for n, a in tensors.items() if n not in layer} | head_tensors(rng, shape.hidden)
        )
    }
    index: dict[str, str] = {}
    for number in range(shape.layers):
        files[f"{number:02}"] = {
            name.replace(".0.", f".{number}.", 1): array for name, array in layer.items()
        }
    for part, named in files.items():
        file = f"model-{part}.safetensors"
        write_file(folder / file, named, dtype)
        index |= dict.fromkeys(named, file)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": index})
    )
    config = released_config(shape, vocabulary, LONGEST, 42, dtype)
    (folder / "config.json").write_text(json.dumps(config))
    folder.rename(finished)


def texts(number: int) -> list[QueryResponse]:
    """Queries of 20 to 300 tokens and responses of 50 to 700, short ones more often."""
    rng = np.random.default_rng(1)

    def text(least: int, most: int) -> str:
        length = int(np.exp(rng.uniform(np.log(least), np.log(most))))
        return "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz      "), length))

    return [QueryResponse(text(20, 300), text(50, 700)) for _ in range(number)]


def reference(folder: Path, dtype: str) -> Callable[[Sequence[QueryResponse]], list[RawOutputs]]:
    """The released code's way."""
    import torch
    from transformers import LlamaModel

    device = "cuda" if torch.cuda.is_available() else "cpu"
    opened = open_checkpoint(folder)
    conversations = opened.conversations()
    heads = opened.heads()
    kind = getattr(torch, dtype)
    loaded: Any = LlamaModel.from_pretrained(folder, dtype=kind)
    model = loaded.eval().to(device)
    layers = {
        name: [torch.tensor(layer, dtype=kind, device=device) for layer in getattr(heads, name)]
        for name in ("scoring", "predictor", "weighter")
    }

    def head(values: torch.Tensor, name: str) -> torch.Tensor:
        for layer in layers[name][:-1]:
            values = torch.nn.functional.silu(values @ layer.T)
        return values @ layers[name][-1].T

    @torch.inference_mode()
    def one(item: QueryResponse) -> RawOutputs:
        encoded = conversations.encode(item.query, item.response, LONGEST)
        padding = [0] * (len(encoded.ids) - len(encoded.query_ids))
        rows = torch.tensor([[*encoded.query_ids, *padding], list(encoded.ids)], device=device)
        mask = torch.tensor(
            [[1] * len(encoded.query_ids) + padding, [1] * len(encoded.ids)], device=device
        )
        states = model(input_ids=rows, attention_mask=mask, use_cache=False).last_hidden_state
        scores, gates, weights = (head(states, name) for name in layers)
        picked = scores[1, -1], gates[0, len(encoded.query_ids) - 1], weights[1, -1]
        return RawOutputs(*(values.float().cpu().numpy() for values in picked))

    return lambda items: [one(item) for item in items]


def engine_options(way: str, budget: int, *, eager: bool) -> dict[str, Any]:
    """The same budget for each engine, under its own name."""
    if way == "transformers":
        return {"batch_tokens": budget}
    return {
        "max_num_batched_tokens": budget,
        "max_num_seqs": max(1, budget // 64),
        "enforce_eager": eager,
    }


def engine(
    folder: Path, way: str, dtype: str, budget: int, *, eager: bool
) -> Callable[[Sequence[QueryResponse]], list[RawOutputs]]:
    """One of this package's engines."""
    opened: Engine = load_engine(
        str(folder), engine=way, dtype=dtype, **engine_options(way, budget, eager=eager)
    )

    def run(items: Sequence[QueryResponse]) -> list[RawOutputs]:
        outcomes = anyio.run(opened.score, items)
        return [outcome.raw for outcome in outcomes if isinstance(outcome, Scored)]

    return run


def measure(folder: Path, way: str, given: argparse.Namespace) -> Result:
    """Time one way; the first run, on some of the items, is not counted."""
    number = given.items
    dtype = given.dtype
    repeats = given.repeats
    if way == "reference":
        run = reference(folder, dtype)
        number = given.reference_items or number
    else:
        run = engine(folder, way, dtype, given.budget, eager=given.eager)
    items = texts(number)
    encode = open_checkpoint(folder).conversations().encode
    tokens = sum(len(encode(item.query, item.response, LONGEST).ids) for item in items)
    run(items[: max(4, number // 8)])
    seconds = []
    processor = []
    found = []
    for _ in range(repeats):
        start = perf_counter()
        start_processor = process_time()
        found = run(items)
        seconds.append(perf_counter() - start)
        processor.append(process_time() - start_processor)
    if len(found) != number:
        raise SystemExit(f"{way}: {number - len(found)} of {number} items failed")
    overall = [evaluate(raw).overall for raw in found]
    return Result(median(seconds), median(processor), number, tokens, matrix_peak(dtype), overall)


def matrix_peak(dtype: str) -> float:
    """FLOP/s of a product of two square matrices of 8,192; 0 without a GPU."""
    if not _on_gpu():
        return 0.0
    torch: Any = import_module("torch")
    left, right = (
        torch.randn(8192, 8192, device="cuda", dtype=getattr(torch, dtype)) for _ in range(2)
    )
    best = 0.0
    for _ in range(5):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(20):
            left @ right
        end.record()
        torch.cuda.synchronize()
        best = max(best, 20 * 2 * 8192**3 / (start.elapsed_time(end) / 1000))
    return best


def _on_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def table(results: dict[str, Result], parameters: int) -> str:
    """Markdown; the share of the peak counts the layers' matrices only, so it is a lower bound."""
    base = results.get("reference")
    lines = [
        "| way | items/s | tokens/s | against reference | processor s/item | share of peak | off in"
        " overall |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for way, one in results.items():
        rate = one.items / one.seconds
        tokens = one.tokens / one.seconds
        ratio = "" if base is None else f"{rate / (base.items / base.seconds):.1f}x"
        share = f"{2 * parameters * tokens / one.peak:.0%}" if one.peak else "(CPU)"
        pairs = [] if base is None else list(zip(one.overall, base.overall, strict=False))
        off = f"{max(abs(x - y) for x, y in pairs):.1e}" if pairs and way != "reference" else ""
        lines.append(
            f"| {way} | {rate:.1f} | {tokens:,.0f} | {ratio} | {one.processor / one.items:.3f} |"
            f" {share} | {off} |"
        )
    return "\n".join(lines)


def measure_ways(given: argparse.Namespace, words: Sequence[str], room: Path) -> dict[str, Result]:
    """Results of the ways asked for: earlier ones as they are, the others written down after each
    way.

    Raises:
        SystemExit: If the folder holds another model or results of other settings.
    """
    begun = monotonic()
    file = room / RESULTS
    settings = {
        name: getattr(given, name)
        for name in ("shape", "items", "reference_items", "dtype", "repeats")
    }
    settings |= {"budget": given.budget, "eager": given.eager, "gpu": _on_gpu()}
    written = (
        json.loads(file.read_text("utf-8"))
        if file.exists()
        else {"settings": settings, "results": {}}
    )
    if written["settings"] != settings:
        changed = [
            name for name, value in settings.items() if written["settings"].get(name) != value
        ]
        raise SystemExit(
            f"{file} was measured with another {', '.join(changed)}; take another --folder"
        )
    checkpoint(room / MODEL, SHAPES[given.shape], given.dtype)
    environment = {**OFFLINE, "URS_INSPECT_CACHE_DIR": str(room / "cache")}
    if not _on_gpu() and "vllm" in given.ways:
        environment |= import_module("tests.samer.test_vllm_engines").ENVIRONMENT
    for way in given.ways:
        left = given.limit - (monotonic() - begun)
        if way in written["results"]:
            print(f"{way}: measured before", file=sys.stderr, flush=True)
            continue
        try:
            found = in_process(
                "samer_throughput",
                *words,
                "--one",
                str(room / MODEL),
                way,
                variables=environment,
                limit=left,
            )
        except subprocess.TimeoutExpired:
            print(
                f"{way}: not finished within {left:.0f} s; run the same command again",
                file=sys.stderr,
                flush=True,
            )
            break
        except subprocess.CalledProcessError as error:
            print(f"{way}: failed with exit code {error.returncode}", file=sys.stderr, flush=True)
            continue
        written["results"][way] = found
        unfinished = file.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(written), encoding="utf-8")
        unfinished.replace(file)
    return {way: Result(**written["results"][way]) for way in WAYS if way in written["results"]}


def ratios(*, quick: bool) -> list[Row]:
    """The two-position pass over the released code's way, on the tiny model."""
    words = [
        "--items",
        "8" if quick else "32",
        "--repeats",
        "1" if quick else "2",
        "--ways",
        *WAYS[:2],
    ]
    with tempfile.TemporaryDirectory() as room:
        found = measure_ways(options_of(words), words, Path(room))
    ours, theirs = (found[way].processor for way in ("transformers", "reference"))
    size = f"{found['reference'].items} answers, random tiny model, its heads as wide as published"
    return [Row("SaMer, engine transformers", size, ours, theirs, "the released code's way")]


def options_of(words: Sequence[str] | None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", choices=SHAPES, default="tiny")
    parser.add_argument("--items", type=int, default=64)
    parser.add_argument("--reference-items", type=int, help="fewer items for the slow way")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument(
        "--budget",
        type=int,
        help="tokens of one batch; by default 16,384 on a GPU and 4,096 elsewhere",
    )
    parser.add_argument(
        "--eager", action="store_true", help="vLLM without compilation; always so without a GPU"
    )
    parser.add_argument(
        "--folder", type=Path, help="where model and results are kept; by default nowhere"
    )
    parser.add_argument(
        "--limit", type=float, default=570, help="seconds after which no way is measured any more"
    )
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    given.budget = given.budget or (16_384 if _on_gpu() else 4_096)
    given.eager = given.eager or not _on_gpu()
    return given


def main(words: Sequence[str] | None = None) -> None:
    """Run all ways, each in a process of its own, and print a table."""
    words = sys.argv[1:] if words is None else words
    given = options_of(words)
    if given.one:
        print("\n" + json.dumps(asdict(measure(Path(given.one[0]), given.one[1], given))))
        return
    with tempfile.TemporaryDirectory() as room:
        results = measure_ways(given, words, given.folder or Path(room))
    if not results:
        raise SystemExit("nothing was measured")
    parameters = parameters_of(SHAPES[given.shape])
    tokens = next(iter(results.values()))
    print(f"{given.shape}: {parameters / 1e6:,.1f} M parameters in layers, {given.dtype}, ", end="")
    print(
        f"{tokens.items} items of {tokens.tokens / tokens.items:.0f} tokens, load"
        f" {os.getloadavg()[0]:.1f}"
    )
    print(table(results, parameters))


if __name__ == "__main__":
    main()
