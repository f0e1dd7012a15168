"""Pairwise benches with human labels: which response does a judge prefer?"""

from dataclasses import replace
from logging import getLogger

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from urs_inspect.datasets import PAIR_BENCHES, PairCase, PairData, load_pairs
from urs_inspect.samer import Taxonomy, load_taxonomy
from urs_inspect.scorers import pair_verdict
from urs_inspect.scorers.pair_metrics import HEADLINE
from urs_inspect.solvers import check_judge, compare_pair
from urs_inspect.solvers.pair_asking import samer_choice
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.tasks import arguments
from urs_inspect.tasks.arguments import samer_options
from urs_inspect.tasks.viewer import pair_viewer

logger = getLogger(__name__)


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


JUDGE_PAIRWISE_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when scores do, the letter when arguments do."""


@task
def judge_pairwise(
    bench: str | None = None,
    orders: str = "seeded",
    judge: str = "model",
    preflight: bool = True,
    seed: int = 0,
    samer: str | None = None,
    engine: str = "auto",
    weights_at: str | None = None,
    bos: str = "single",
    overlong: str = "shorten",
    max_length: int | None = None,
    folder: str | None = None,
    dtype: str = "auto",
) -> Task:
    """Judge labelled pairs of responses as a whole (SaMer paper, section 5.2, Tables 3 and 4).

    The model under test is the judge, or with `judge=samer` and `--model none` a SaMer model.

    Args:
        bench: `hhh`, `llmbar`, `llmbar/<subset>`, `autoj`, `autoj/no_ties`, `preference_bench`, `alpaca_eval`, or the
            path of a `.csv` or `.jsonl` file with the columns prompt, response_a, response_b and label. There is no
            default.
        orders: `ab` as in the data, `seeded` by a coin for each pair, `both`: twice, where disagreement is a tie.
        judge: `model`, or with `--model none` `samer` or `baseline/<kind>`, as for `md_eval`.
        preflight: Send the judge one tiny request before the first pair: a server that refuses it (401, 403, 404) ends
            the run.
        seed: Seed of the coin and of the random baseline.
        samer: Folder of a SaMer checkpoint, or address of a vLLM server.
        engine: What runs SaMer: `vllm`, `server`, `transformers`; by default what fits and is installed.
        weights_at: Where SaMer reads weights: at the end of the `response` (released code) or of the `query` (paper);
            by default where its heads say, else `response`.
        bos: Start tokens of SaMer: `single`, or `double` as in the released inference.
        overlong: More tokens than SaMer takes: `shorten` cuts the end of the response, `error` is a failure.
        max_length: Length that SaMer is run with, by default its limit; an item has one token less at most.
        folder: For a server on another machine: a folder with SaMer's tokeniser and heads.
        dtype: Type that SaMer computes in where no server does: `float32`, `bfloat16`, `float16`; `auto`: that of its
            weights, but with `transformers` on a CPU `float32`.

    Returns:
        The task.
    """
    name = arguments.bench(bench, PAIR_BENCHES)
    check_judge(judge)  # before the data is fetched
    options = samer_options(
        judge == "samer", "judge=samer", samer, engine, weights_at, bos, overlong, max_length, folder, dtype
    )
    samer_choice(judge, options)
    data = _overall(load_pairs(name, dimension=load_taxonomy().dimension))
    order_seed = arguments.whole(seed, "seed", least=0)
    return Task(
        dataset=MemoryDataset([pair_to_sample(case) for case in data.cases], name=data.name),
        solver=compare_pair("overall", orders, judge, ties=data.has_ties, seed=order_seed, samer=options),
        scorer=pair_verdict(),
        config=GenerateConfig(temperature=0),
        version=JUDGE_PAIRWISE_VERSION,
        headline_metric=HeadlineMetric(scorer="pair_verdict", metric=HEADLINE),
        display_name=f"Judge pairwise: {data.name}",
        metadata=pair_facts(data),
        viewer=pair_viewer(data.name, group="Group", dimensions=False),
        setup=preflight_setup(preflight, [], under_test=judge == "model"),
    )


def _overall(data: PairData) -> PairData:
    """The pairs without labels on dimensions, which this task does not ask for; it says so where there are any."""
    labelled = sum(bool(case.dimensions) for case in data.cases)
    if not labelled:
        return data
    logger.warning(
        f"{data.name}: labels on dimensions ({labelled} of {len(data.cases)} pairs) are not used: judge_pairwise asks "
        "for one verdict, overall"
    )
    return replace(data, cases=tuple(replace(case, dimensions={}) for case in data.cases))
