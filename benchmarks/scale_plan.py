"""What a large job takes on a cluster: computed from rates measured on 2 cores and from
assumptions, never run on one.

    python -m benchmarks.scale_plan [--gpus 8 --gpu-flops 989e12 --share 0.4 --price-out 0.6 ...]

Two jobs: SaMer (or a judge behind an API) over many answers, and a MAD competition of many models
over many instructions. Every number that goes in is an argument, listed in the first table with
where its default comes from.
"""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MEASURED = "measured here"
ASSUMED = "assumed"
GIVEN = "the job"


@dataclass(frozen=True)
class Input:
    """A number that goes in; 0 for a price that was not given."""

    default: float
    kind: str
    meaning: str


INPUTS: Mapping[str, Input] = {
    "answers": Input(1e8, GIVEN, "answers to score"),
    "models": Input(100, GIVEN, "models that compete"),
    "instructions": Input(1e7, GIVEN, "instructions of the pool, each answered by every model"),
    "k": Input(10, GIVEN, "comparisons of each pair of models, each asked in both orders"),
    "tokens": Input(350, ASSUMED, "tokens of a question with its answer"),
    "prompt": Input(1200, ASSUMED, "tokens of a judge's prompt"),
    "reply": Input(400, ASSUMED, "tokens of a judge's reply"),
    "parameters": Input(7e9, ASSUMED, "parameters in the layers of the reward model"),
    "hidden": Input(4096, ASSUMED, "width of its vectors, two of float32 for an answer"),
    "embedder": Input(1.1e8, ASSUMED, "parameters of the embedding model"),
    "width": Input(1536, ASSUMED, "width of its vectors, float16"),
    "gpus": Input(8, ASSUMED, "GPUs"),
    "gpu-memory": Input(80, ASSUMED, "memory of a GPU, GB"),
    "gpu-flops": Input(
        989e12, ASSUMED, "peak of a GPU in bf16, FLOP/s (data sheet of an H100 SXM, dense)"
    ),
    "share": Input(0.4, ASSUMED, "share of the peak that is reached; not measured"),
    "cores": Input(64, ASSUMED, "CPU cores; rates are taken to grow with them"),
    "memory": Input(512, ASSUMED, "main memory, GB"),
    "network": Input(1.25, ASSUMED, "GB/s from storage, all machines together"),
    "calls": Input(100, ASSUMED, "API calls a second that the provider allows"),
    "price-in": Input(0, ASSUMED, "price of a million tokens sent"),
    "price-out": Input(0, ASSUMED, "price of a million tokens received"),
    "price-gpu": Input(0, ASSUMED, "price of a GPU for an hour"),
    "heads-rate": Input(
        2000, MEASURED, "answers/s and core whose heads are computed from vectors of 4,096"
    ),
    "select-rate": Input(
        1.55e6,
        MEASURED,
        "pairs of models x instructions/s and core selected from (width 1,536, k=10)",
    ),
    "pair-bytes": Input(
        21,
        MEASURED,
        "bytes kept for a pair of models and an instruction while all are selected from",
    ),
    "case-seconds": Input(
        0.019, MEASURED, "CPU s for an answer in `urs`: two calls, log and scores"
    ),
    "log-bytes": Input(7700, MEASURED, "bytes of log for an answer in `urs`"),
    "row-bytes": Input(1400, ASSUMED, "bytes of text of a question with its answer"),
    "result-bytes": Input(400, ASSUMED, "bytes of scores and weights written for an answer"),
}


@dataclass(frozen=True)
class Step:
    """A part of a job: what it amounts to, and how long one resource is busy with it."""

    what: str
    amount: str
    resource: str
    hours: float


def inference(given: Mapping[str, float], parameters: float, tokens: float) -> tuple[float, float]:
    """FLOP of a forward pass over so many tokens (attention to other tokens left out), and hours of
    all GPUs.
    """
    flop = 2 * parameters * tokens
    return flop, flop / (given["gpus"] * given["gpu-flops"] * given["share"]) / 3600


def scoring(given: Mapping[str, float]) -> list[Step]:
    """Steps of scoring answers with the reward model."""
    answers = given["answers"]
    flop, hours = inference(given, given["parameters"], answers * given["tokens"])
    moved = answers * (given["row-bytes"] + given["result-bytes"]) / 1e9
    vectors = answers * 2 * given["hidden"] * 4 / 1e9
    kept = f"{vectors:,.0f} GB if vectors are kept (not in the hours)"
    return [
        Step(
            "forward passes",
            f"{flop:.2g} FLOP, {hours * given['gpus']:,.0f} GPU hours",
            "GPUs",
            hours,
        ),
        Step(
            "heads",
            f"{answers:,.0f} answers",
            "cores",
            answers / given["heads-rate"] / given["cores"] / 3600,
        ),
        Step(
            "texts in, scores out",
            f"{moved:,.0f} GB; {kept}",
            "network",
            moved / given["network"] / 3600,
        ),
    ]


def judging(given: Mapping[str, float]) -> list[Step]:
    """Steps of scoring the same answers in the harness, by a judge behind an API."""
    answers = given["answers"]
    cost = (
        answers * (given["prompt"] * given["price-in"] + given["reply"] * given["price-out"]) / 1e6
    )
    priced = f", {cost:,.0f} at the given prices" if cost else ", no price given"
    tokens = f"{answers * (given['prompt'] + given['reply']):.2g} tokens{priced}"
    logs = answers * given["log-bytes"] / 1e9
    return [
        Step("calls of the judge", tokens, "API", answers / given["calls"] / 3600),
        Step(
            "the harness",
            f"{logs:,.0f} GB of logs",
            "cores",
            answers * given["case-seconds"] / given["cores"] / 3600,
        ),
    ]


def competition(given: Mapping[str, float]) -> list[Step]:
    """Steps of a MAD competition whose answers exist."""
    models = given["models"]
    size = given["instructions"]
    pairs = models * (models - 1) / 2
    texts = (models + 1) * size
    flop, hours = inference(given, given["embedder"], texts * given["tokens"])
    vectors = texts * given["width"] * 2 / 1e9
    asked = 2 * pairs * given["k"]
    kept = pairs * size * given["pair-bytes"] / 1e9
    scan = pairs * size / given["select-rate"] / given["cores"] / 3600
    cost = asked * (given["prompt"] * given["price-in"] + given["reply"] * given["price-out"]) / 1e6
    priced = f", {cost:,.0f} at the given prices" if cost else ", no price given"
    return [
        Step(
            "embedding", f"{flop:.2g} FLOP, {hours * given['gpus']:,.0f} GPU hours", "GPUs", hours
        ),
        Step(
            "vectors, read once", f"{vectors:,.0f} GB", "network", vectors / given["network"] / 3600
        ),
        Step(
            "similarities and selection",
            f"{pairs:,.0f} pairs; {kept:,.0f} GB kept if in one piece",
            "cores",
            scan,
        ),
        Step("comparisons", f"{asked:,.0f} calls{priced}", "API", asked / given["calls"] / 3600),
    ]


def section(title: str, steps: Iterable[Step]) -> str:
    """Table of a job, and which resource is busy longest."""
    hours: dict[str, float] = {}
    lines = [f"### {title}\n", "| step | amount | resource | hours |", "|---|---|---|---|"]
    for step in steps:
        lines.append(f"| {step.what} | {step.amount} | {step.resource} | {step.hours:,.2g} |")
        hours[step.resource] = hours.get(step.resource, 0) + step.hours
    first, *rest = sorted(hours.items(), key=lambda item: -item[1])
    then = ", then ".join(f"{name} ({busy:,.2g} h)" for name, busy in rest)
    return "\n".join([*lines, f"\nSaturates first: {first[0]} ({first[1]:,.2g} h), then {then}."])


def plan(given: Mapping[str, float]) -> str:
    """Everything, as Markdown."""
    lines = ["| argument | value | source | meaning |", "|---|---|---|---|"]
    for name, one in INPUTS.items():
        kind = one.kind if given[name] == one.default else "given"
        lines.append(f"| `--{name}` | {given[name]:,g} | {kind} | {one.meaning} |")
    weights = given["parameters"] * 2 / 1e9
    room = 0.9 * given["gpu-memory"]
    verb = "fit" if weights < room else "do not fit"
    fits = f"Weights in bf16: {weights:.0f} GB, which {verb} into 90% of one GPU's memory."
    block = given["memory"] * 1e9 / 2 / ((given["models"] + 1) * given["width"] * 2)
    fits += f" Half of the main memory holds the vectors of {block:,.0f} instructions at a time."
    if rent := given["price-gpu"]:
        hours = [step.hours * given["gpus"] for step in (scoring(given)[0], competition(given)[0])]
        fits += (
            f" GPUs at the given price: {hours[0] * rent:,.0f} for scoring, {hours[1] * rent:,.0f}"
            " for embedding."
        )
    answers = f"{given['answers']:,.0f} answers"
    size = f"{given['models']:,.0f} models x {given['instructions']:,.0f}"
    return "\n\n".join(
        [
            "\n".join(lines),
            fits,
            section(f"{answers}, scored by a reward model in bulk", scoring(given)),
            section(f"{answers}, judged in the harness through an API", judging(given)),
            section(f"MAD over the answers of {size} instructions", competition(given)),
        ]
    )


def main() -> None:
    """Print the plan."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, one in INPUTS.items():
        parser.add_argument(
            f"--{name}",
            type=float,
            default=one.default,
            help=f"{one.meaning} ({one.kind})".replace("%", "%%"),
        )
    print(
        plan({name.replace("_", "-"): value for name, value in vars(parser.parse_args()).items()})
    )


if __name__ == "__main__":
    main()
