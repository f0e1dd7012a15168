"""MD-Eval: how well does a model judge, dimension by dimension?"""

from logging import getLogger

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig

from urs_inspect.datasets import PairCase, PairData, load_md_eval
from urs_inspect.samer import Taxonomy, load_taxonomy
from urs_inspect.scorers import pair_verdict
from urs_inspect.solvers import compare_pair
from urs_inspect.tasks import arguments

logger = getLogger(__name__)

MD_EVAL_VERSION = "1-A"
"""Comparability and interface of the task: the number changes when scores do, the letter when arguments do."""


@task
def md_eval(
    protocol: str = "joint", orders: str = "ab", judge: str = "model", scenarios: str | list[str] = "all", seed: int = 0
) -> Task:
    """Judge 349 pairs of responses on the dimensions of their scenario and as a whole (SaMer paper, section 5.4).

    The model under test is the judge.

    Args:
        protocol: `joint`: one reply with all verdicts (the paper's); `per_dimension`: one call a dimension, told to
            disregard the rest, and one overall; `overall`: overall only.
        orders: `ab` as in the data, `seeded` by a coin for each pair, `both`: twice, where disagreement is a tie.
        judge: `model`, or `baseline/<kind>` with `--model none`; kinds: longest, shortest, first, second, random,
            copy_overall.
        scenarios: `all`, or scenarios of the taxonomy, separated by commas.
        seed: Seed of the coin and of the random baseline.

    Returns:
        The task.
    """
    taxonomy = load_taxonomy()
    data = load_md_eval(taxonomy.dimension, tuple(taxonomy.scenarios))
    chosen = arguments.names(scenarios, "scenarios", taxonomy.scenario_id)
    cases = [case for case in data.cases if chosen is None or case.group in chosen]
    return Task(
        dataset=MemoryDataset([pair_to_sample(case, taxonomy) for case in cases], name=data.name),
        solver=compare_pair(protocol, orders, judge, seed=arguments.whole(seed, "seed", least=0)),
        scorer=pair_verdict(),
        config=GenerateConfig(temperature=0),
        version=MD_EVAL_VERSION,
        headline_metric="pair_verdict.overall",
        display_name="MD-Eval",
        metadata={**pair_facts(data), "taxonomy": f"{taxonomy.name} {taxonomy.version}"},
    )


def pair_to_sample(case: PairCase, taxonomy: Taxonomy | None = None) -> Sample:
    """Map a labelled pair to a sample; input and target are for readers, the metadata for solver and scorer."""
    scenario = taxonomy.scenarios.get(case.group) if taxonomy else None
    return Sample(
        id=case.id,
        input=f"{case.prompt}\n\n--- response a ---\n{case.response_a}\n\n--- response b ---\n{case.response_b}",
        target=case.label,
        metadata={
            "group": case.group,
            "scenario": case.group,
            "need": scenario.need if scenario else "",
            "prompt": case.prompt,
            "response_a": case.response_a,
            "response_b": case.response_b,
            "label": case.label,
            "dimensions": dict(case.dimensions),
        },
    )


def pair_facts(data: PairData) -> dict[str, object]:
    """What identifies the data of a run, for the log."""
    for line in data.skipped:
        logger.info(f"left out: {line}")
    return {"dataset": data.name, "dataset_sha256": data.sha256, "dataset_skipped": list(data.skipped)}
