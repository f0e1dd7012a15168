"""What URS costs on top of the harness itself, as a ratio in one run.

Runs the same cases twice with an instant local provider: once through `urs`, once through a floor
task that makes the same two model calls and gives a constant score. Prints CPU seconds, peak
memory, and their ratio.

    python -m benchmarks harness_overhead

Each measurement is a process of its own, so that neither inherits the other's memory; rounds
alternate.
"""

import argparse
import json
import os
import resource
import tempfile
from statistics import median

from benchmarks import Row, alternate

KINDS = ("floor", "urs")


def run_once(kind: str, dataset: str) -> None:
    """Run one task in this process and print its cost as JSON."""
    from inspect_ai import Task, task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
    from inspect_ai.solver import TaskState, generate

    from urs_inspect.judging import PromptBuilder
    from urs_inspect.rubrics import load_rubric
    from urs_inspect.tasks import urs

    benchmarked = urs(dataset=dataset)
    instructions = (
        PromptBuilder(load_rubric())
        .build("factual_qa", "en", question="q", reference="r", answer="a")
        .instructions
    )

    @scorer(metrics=[mean()])
    def constant() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            grader = get_model(role="grader", required=True)
            case = (
                f"<reference_answer>\n{target.text}\n</reference_answer>\n"
                f"<answer_to_rate>\n{state.output.completion}\n</answer_to_rate>"
            )
            output = await grader.generate(
                [ChatMessageSystem(content=instructions), ChatMessageUser(content=case)]
            )
            return Score(value=5, answer=state.output.completion, explanation=output.completion)

        return score

    @task
    def floor() -> Task:
        return Task(
            dataset=MemoryDataset(list(benchmarked.dataset)), solver=generate(), scorer=constant()
        )

    before = resource.getrusage(resource.RUSAGE_SELF)
    with tempfile.TemporaryDirectory() as log_dir:
        [log] = inspect_eval(
            benchmarked if kind == "urs" else floor(),
            model="urs_simulation/strong",
            model_roles={"grader": "urs_simulation/judge"},
            log_dir=log_dir,
            display="none",
        )
        after = resource.getrusage(resource.RUSAGE_SELF)
        if log.status != "success" or log.results is None:
            raise SystemExit(f"{kind}: status {log.status}")
        samples = log.results.total_samples
        scored = log.results.scores[0].scored_samples
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        json.dumps(
            {"cpu": cpu, "peak_mb": after.ru_maxrss / 1024, "samples": samples, "scored": scored}
        )
    )


def ratios(*, quick: bool) -> list[Row]:
    """CPU time of `urs` over that of its floor."""
    dataset = "urs" if os.environ.get("URS_INSPECT_DATA_DIR") and not quick else "sample"
    costs = alternate("harness_overhead", KINDS, ["--dataset", dataset], 1 if quick else 2)
    ours, floor = (median(cost["cpu"] for cost in costs[kind]) for kind in reversed(KINDS))
    size = f"{costs['urs'][0]['samples']:,.0f} cases, an instant model and judge"
    return [Row("task `urs`", size, ours, floor, "the same two model calls and a constant score")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="One run, as the ratio needs it.")
    parser.add_argument("--dataset", default="urs", help="as for the task urs")
    parser.add_argument("--one", choices=KINDS, required=True)
    run_once(parser.parse_args().one, parser.parse_args().dataset)
