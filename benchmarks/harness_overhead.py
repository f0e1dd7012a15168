"""What URS costs on top of the harness itself, as a ratio in one run.

Runs the same cases twice with an instant local provider: once through `urs`, once through a floor task that makes the
same two model calls and gives a constant score. Prints CPU seconds, peak memory, and their ratio.

    python benchmarks/harness_overhead.py [--dataset urs|sample] [--rounds 3]

Each measurement is a process of its own, so that neither inherits the other's memory; rounds alternate.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from statistics import median

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
        PromptBuilder(load_rubric()).build("factual_qa", "en", question="q", reference="r", answer="a").instructions
    )

    @scorer(metrics=[mean()])
    def constant() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            grader = get_model(role="grader", required=True)
            case = (
                f"<reference_answer>\n{target.text}\n</reference_answer>\n"
                f"<answer_to_rate>\n{state.output.completion}\n</answer_to_rate>"
            )
            output = await grader.generate([ChatMessageSystem(content=instructions), ChatMessageUser(content=case)])
            return Score(value=5, answer=state.output.completion, explanation=output.completion)

        return score

    @task
    def floor() -> Task:
        return Task(dataset=MemoryDataset(list(benchmarked.dataset)), solver=generate(), scorer=constant())

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
        samples, scored = log.results.total_samples, log.results.scores[0].scored_samples
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu": cpu, "peak_mb": after.ru_maxrss / 1024, "samples": samples, "scored": scored}))


def main() -> None:
    """Run both tasks alternately and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="urs", help="as for the task urs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_once(options.one, options.dataset)
        return
    costs: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for number in range(options.rounds):
        for kind in KINDS if number % 2 == 0 else reversed(KINDS):
            done = subprocess.run(
                [sys.executable, __file__, "--one", kind, "--dataset", options.dataset],
                check=True,
                capture_output=True,
                text=True,
            )
            cost = json.loads(done.stdout.strip().splitlines()[-1])
            costs[kind].append(cost)
            print(f"round {number + 1}  {kind:5}  {cost['cpu']:6.2f} CPU s  {cost['peak_mb']:5.0f} MB peak  "
                  f"{cost['scored']:.0f} of {cost['samples']:.0f} scored")  # fmt: skip
    cpu = {kind: median(cost["cpu"] for cost in costs[kind]) for kind in KINDS}
    peak = {kind: max(cost["peak_mb"] for cost in costs[kind]) for kind in KINDS}
    print(f"median CPU: urs {cpu['urs']:.2f} s, floor {cpu['floor']:.2f} s, ratio {cpu['urs'] / cpu['floor']:.2f}")
    print(f"highest peak: urs {peak['urs']:.0f} MB, floor {peak['floor']:.0f} MB")


if __name__ == "__main__":
    main()
