"""How many answers a second SaMer evaluates: four ways to run the same random model, on a CPU or a GPU.

- reference: the released code's way. Each answer is two padded rows, the query and the query + response, and the heads
  run on every token before two of them are picked.
- transformers: this package without vLLM. One row an answer, batches of like length, heads at two positions.
- vllm: stock vLLM with STEP pooling, heads outside.

Each way runs in a process of its own, on the same texts, and its overall scores are held against the reference's.
Needs the environment of `make test-vllm` (on a GPU: vLLM as usual), in the root of a checkout:

    python -m benchmarks.samer_throughput --shape tiny
    python -m benchmarks.samer_throughput --shape 40m --items 48
    python -m benchmarks.samer_throughput --shape 8b --dtype bfloat16 --items 2000 --reference-items 200
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import anyio
import numpy as np
from tests.samer.checkpoints import Shape, backbone_tensors, head_tensors, released_config, write_tokenizer
from tests.samer.checkpoints import write_tensor_file as write_file

from urs_inspect.samer.checkpoint_check import open_checkpoint
from urs_inspect.samer.engines.protocol import Engine, QueryResponse, Scored
from urs_inspect.samer.engines.registry import load_engine
from urs_inspect.samer.evaluation import RawOutputs, evaluate

WAYS = ("reference", "transformers", "vllm")
SHAPES = {
    "tiny": Shape(hidden=64, heads=2, kv_heads=1, layers=2, intermediate=128, vocabulary=0),
    "40m": Shape(hidden=640, heads=10, kv_heads=5, layers=8, intermediate=1728, vocabulary=0),
    "8b": Shape(hidden=4096, heads=32, kv_heads=8, layers=32, intermediate=14336, vocabulary=0),
}
LONGEST = 2048


@dataclass(frozen=True)
class Result:
    """What one way gave.

    Attributes:
        seconds: Median time of all items.
        processor: Median processor time of all items, all threads together; other programs weigh less on it.
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


def checkpoint(folder: Path, shape: Shape, dtype: str) -> int:
    """Write a random model, one file a layer; all layers have the same numbers, which makes a large one cheap to write.

    Returns:
        Parameters in matrices that every token passes.
    """
    folder.mkdir()
    vocabulary = write_tokenizer(folder, LONGEST)
    rng = np.random.default_rng(0)
    single = Shape(shape.hidden, shape.heads, shape.kv_heads, 1, shape.intermediate, vocabulary)
    tensors = backbone_tensors(rng, single)
    layer = {name: array for name, array in tensors.items() if ".layers.0." in name}
    files = {"rest": {n: a for n, a in tensors.items() if n not in layer} | head_tensors(rng, shape.hidden)}
    index: dict[str, str] = {}
    for number in range(shape.layers):
        files[f"{number:02}"] = {name.replace(".0.", f".{number}.", 1): array for name, array in layer.items()}
    for part, named in files.items():
        file = f"model-{part}.safetensors"
        write_file(folder / file, named, dtype)
        index |= dict.fromkeys(named, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    whole = Shape(shape.hidden, shape.heads, shape.kv_heads, shape.layers, shape.intermediate, vocabulary)
    (folder / "config.json").write_text(json.dumps(released_config(whole, LONGEST, 42, dtype)))
    return shape.layers * sum(array.size for array in layer.values() if array.ndim == 2)


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
    conversations, heads = opened.conversations(), opened.heads()
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
        mask = torch.tensor([[1] * len(encoded.query_ids) + padding, [1] * len(encoded.ids)], device=device)
        states = model(input_ids=rows, attention_mask=mask, use_cache=False).last_hidden_state
        scores, gates, weights = (head(states, name) for name in layers)
        picked = scores[1, -1], gates[0, len(encoded.query_ids) - 1], weights[1, -1]
        return RawOutputs(*(values.float().cpu().numpy() for values in picked))

    return lambda items: [one(item) for item in items]


def engine(folder: Path, way: str, dtype: str) -> Callable[[Sequence[QueryResponse]], list[RawOutputs]]:
    """One of this package's engines."""
    options: dict[str, Any] = {}
    if way != "transformers" and not _on_gpu():
        options = {"enforce_eager": True, "max_num_batched_tokens": 4096, "max_num_seqs": 64}
        options |= {"enable_chunked_prefill": True}
    opened: Engine = load_engine(str(folder), engine=way, dtype=dtype, **options)

    def run(items: Sequence[QueryResponse]) -> list[RawOutputs]:
        outcomes = anyio.run(opened.score, items)
        return [outcome.raw for outcome in outcomes if isinstance(outcome, Scored)]

    return run


def measure(folder: Path, way: str, number: int, dtype: str, repeats: int) -> Result:
    """Time one way; the first run, on some of the items, is not counted."""
    make = reference if way == "reference" else None
    run = make(folder, dtype) if make else engine(folder, way, dtype)
    items = texts(number)
    encode = open_checkpoint(folder).conversations().encode
    tokens = sum(len(encode(item.query, item.response, LONGEST).ids) for item in items)
    run(items[: max(4, number // 8)])
    seconds, processor, found = [], [], []
    for _ in range(repeats):
        start, start_processor = perf_counter(), process_time()
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
    left, right = (torch.randn(8192, 8192, device="cuda", dtype=getattr(torch, dtype)) for _ in range(2))
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
    lines = ["| way | items/s | tokens/s | against reference | processor s/item | share of peak | off in overall |"]
    lines.append("|---|---|---|---|---|---|---|")
    for way, one in results.items():
        rate, tokens = one.items / one.seconds, one.tokens / one.seconds
        ratio = "" if base is None else f"{rate / (base.items / base.seconds):.1f}x"
        share = f"{2 * parameters * tokens / one.peak:.0%}" if one.peak else "(CPU)"
        pairs = [] if base is None else list(zip(one.overall, base.overall, strict=False))
        off = f"{max(abs(x - y) for x, y in pairs):.1e}" if pairs and way != "reference" else ""
        lines.append(
            f"| {way} | {rate:.1f} | {tokens:,.0f} | {ratio} | {one.processor / one.items:.3f} | {share} | {off} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run all ways, each in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="tiny")
    parser.add_argument("--items", type=int, default=64)
    parser.add_argument("--reference-items", type=int, help="fewer items for the slow way")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        folder, way = arguments.one
        few = arguments.reference_items if way == "reference" else None
        result = measure(Path(folder), way, few or arguments.items, arguments.dtype, arguments.repeats)
        print("\n" + json.dumps(asdict(result)))
        return
    from tests.samer.test_vllm_engines import ENVIRONMENT

    environment = os.environ | ({} if _on_gpu() else ENVIRONMENT)
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "model"
        parameters = checkpoint(folder, SHAPES[arguments.shape], arguments.dtype)
        environment["URS_INSPECT_CACHE_DIR"] = str(Path(room) / "cache")
        results = {}
        for way in arguments.ways:
            command = [sys.executable, "-m", "benchmarks.samer_throughput", *sys.argv[1:], "--one", str(folder), way]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            results[way] = Result(**json.loads(done.stdout.strip().splitlines()[-1]))
    tokens = next(iter(results.values()))
    print(f"{arguments.shape}: {parameters / 1e6:,.1f} M parameters in layers, {arguments.dtype}, ", end="")
    print(f"{tokens.items} items of {tokens.tokens / tokens.items:.0f} tokens, load {os.getloadavg()[0]:.1f}")
    print(table(results, parameters))


if __name__ == "__main__":
    main()
