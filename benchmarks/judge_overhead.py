"""What measuring a judge costs on top of the harness itself, per verdict, as a ratio in one run.

Runs MD-Eval twice with an instant local model: once through `md_eval`, once through a floor task
that makes the same calls with the same prompts and gives every sample the score 1, whose mean it
reports. Live metrics are on in both.

    python -m benchmarks.judge_overhead [--data real|synthetic] [--protocol joint|per_dimension]
    [--rounds 3]
        [--no-live] [--no-table]

`--no-live` turns off live metrics, `--no-table` the table of all metrics that the harness draws at
the end, in both tasks: what they cost is the difference.

A verdict is one label asked for: a dimension of a pair, or a pair as a whole. Both tasks are
divided by the same number of them, that which `md_eval` asks for. Without the published file the
pairs are made up, in the same shape.

Each measurement is a process of its own, so that neither inherits the other's memory; rounds
alternate.
"""

import argparse
import json
import os
import re
import resource
import tempfile
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import Row, alternate

if TYPE_CHECKING:
    from inspect_ai import Task

    from urs_inspect.judging._prompts import Protocol

KINDS = ("floor", "judge")
PAIRS = 349
_NAMES = re.compile(r"^- (.+?): ", re.MULTILINE)


def synthetic_task(protocol: "Protocol") -> "Task":
    """A task like `md_eval` over made-up pairs: as many, over all scenarios, with texts of usual
    length.
    """
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset

    from urs_inspect.datasets import PairCase
    from urs_inspect.samer import load_taxonomy
    from urs_inspect.scorers import pair_verdict
    from urs_inspect.solvers import compare_pair
    from urs_inspect.tasks._benches import pair_to_sample

    taxonomy = load_taxonomy()
    scenarios = list(taxonomy.scenarios.items())
    labels = ("a", "b", "b", "tie")
    cases = []
    for place in range(PAIRS):
        name, scenario = scenarios[place % len(scenarios)]
        cases.append(
            PairCase(
                id=f"pair_{place:04d}",
                prompt=f"Question {place}? " + "What would you say about this matter? " * 5,
                response_a="It depends on what is meant by that. " * (10 + place % 30),
                response_b="There are several sides to this question. " * (10 + place % 37),
                label=labels[place % 3],  # type: ignore[arg-type]
                group=name,
                dimensions={d: labels[(place + n) % 4] for n, d in enumerate(scenario.dimensions)},  # type: ignore[misc]
            )
        )
    samples = [pair_to_sample(case, taxonomy) for case in cases]
    return Task(
        dataset=MemoryDataset(samples),
        solver=compare_pair(protocol, "ab"),
        scorer=pair_verdict(),
        name="synthetic",
    )


def canned(instructions: str, place: int) -> str:
    """A reply on everything that was asked, with a sentence of reasons on each dimension."""
    reasons = (
        "Response 1 names its sources and keeps to the question; response 2 is longer but repeats"
        " itself."
    )
    words = ("1", "2", "2", "tie")
    names = _NAMES.findall(instructions)
    if '"Overall"' not in instructions:
        return json.dumps({"comparison": reasons, "winner": words[place % 4]})
    record = {
        name: {"comparison": reasons, "winner": words[(place + n) % 4]}
        for n, name in enumerate([*names, "Overall"])
    }
    return json.dumps(record, indent=1)


def prompts_of(facts: dict[str, Any], protocol: "Protocol") -> list[tuple[str, str]]:
    """Instructions and case of every prompt about a pair."""
    from urs_inspect.judging._prompts import dimension_prompt, joint_prompt, overall_prompt

    names = tuple(facts["dimensions"])
    texts = (facts["prompt"], facts["response_a"], facts["response_b"])
    built = [joint_prompt(facts["scenario"], names, *texts)]
    if protocol == "per_dimension":
        built = [dimension_prompt(facts["scenario"], name, *texts) for name in names]
        built.append(overall_prompt(*texts, ties=True))
    return [(prompt.instructions, prompt.case) for prompt in built]


def run_once(kind: str, data: str, protocol: "Protocol", *, live: bool, table: bool) -> None:
    """Run one task in this process and print its cost as JSON."""
    from inspect_ai import Task, task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageSystem,
        ChatMessageUser,
        ModelOutput,
        ModelUsage,
        get_model,
    )
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.util import collect

    from urs_inspect.tasks import md_eval

    benchmarked = synthetic_task(protocol) if data == "synthetic" else md_eval(protocol=protocol)
    prompts: dict[str, list[tuple[str, str]]] = {}
    replies: dict[tuple[str, str], str] = {}
    verdicts = 0
    for place, sample in enumerate(benchmarked.dataset):
        facts = sample.metadata or {}
        prompts[str(sample.id)] = prompts_of(facts, protocol)
        for number, key in enumerate(prompts[str(sample.id)]):
            replies[key] = canned(key[0], place + number)
        verdicts += len(facts["dimensions"]) + 1

    def answer(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content(
            "mockllm/judge", replies[messages[0].text, messages[1].text]
        )
        output.usage = ModelUsage(input_tokens=500, output_tokens=500, total_tokens=1000)
        return output

    model = get_model("mockllm/judge", custom_outputs=answer, memoize=False)

    @solver
    def call() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            judge = get_model()
            outputs = await collect(
                *[
                    judge.generate(
                        [ChatMessageSystem(content=system), ChatMessageUser(content=user)]
                    )
                    for system, user in prompts[str(state.sample_id)]
                ]
            )
            text = "\n\n".join(output.completion for output in outputs)
            state.output = ModelOutput.from_content("mockllm/judge", text)
            state.messages.append(state.output.message)
            return state

        return solve

    @scorer(metrics=[mean()])
    def constant() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value=1, answer="a")

        return score

    @task
    def floor() -> Task:
        return Task(
            dataset=MemoryDataset(list(benchmarked.dataset)), solver=call(), scorer=constant()
        )

    before = resource.getrusage(resource.RUSAGE_SELF)
    with tempfile.TemporaryDirectory() as log_dir:
        [log] = inspect_eval(
            benchmarked if kind == "judge" else floor(),
            model=model,
            log_dir=log_dir,
            display="none" if table else "log",
            score_display=live,
        )
        after = resource.getrusage(resource.RUSAGE_SELF)
        if log.status != "success" or log.results is None:
            raise SystemExit(f"{kind}: status {log.status}: {log.error and log.error.message}")
        samples = log.results.total_samples
        scored = log.results.scores[0].scored_samples
        metrics = sum(len(score.metrics) for score in log.results.scores)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cost = {"cpu": cpu, "peak_mb": after.ru_maxrss / 1024, "samples": samples, "scored": scored}
    print(json.dumps({**cost, "metrics": metrics, "verdicts": verdicts}))


def ratios(*, quick: bool) -> list[Row]:
    """CPU time of `md_eval` over that of its floor."""
    arguments = ["--data", "real" if os.environ.get("URS_INSPECT_DATA_DIR") else "synthetic"]
    costs = alternate("judge_overhead", KINDS, arguments, 1 if quick else 2)
    ours, floor = (median(cost["cpu"] for cost in costs[kind]) for kind in reversed(KINDS))
    size = (
        f"{costs['judge'][0]['samples']:,.0f} pairs, {costs['judge'][0]['verdicts']:,.0f} verdicts,"
        " an instant judge"
    )
    return [Row("task `md_eval`", size, ours, floor, "the same calls and the score 1")]


def main() -> None:
    """Run both tasks alternately and print the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    real = "real" if os.environ.get("URS_INSPECT_DATA_DIR") else "synthetic"
    parser.add_argument(
        "--data", choices=("real", "synthetic"), default=real, help="default here: %(default)s"
    )
    parser.add_argument("--protocol", choices=("joint", "per_dimension"), default="joint")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-live", action="store_true")
    parser.add_argument("--no-table", action="store_true")
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_once(
            options.one,
            options.data,
            options.protocol,
            live=not options.no_live,
            table=not options.no_table,
        )
        return
    arguments = ["--data", options.data, "--protocol", options.protocol]
    arguments += ["--no-live"] * options.no_live + ["--no-table"] * options.no_table
    costs = alternate("judge_overhead", KINDS, arguments, options.rounds)
    verdicts = costs["judge"][0]["verdicts"]
    cpu = {kind: median(cost["cpu"] for cost in costs[kind]) for kind in KINDS}
    print(f"{verdicts:.0f} verdicts; median CPU a verdict: judge {1000 * cpu['judge'] / verdicts:.3f} ms, floor "
          f"{1000 * cpu['floor'] / verdicts:.3f} ms, ratio {cpu['judge'] / cpu['floor']:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
