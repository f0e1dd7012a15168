"""MD-Eval: how well does a model judge, dimension by dimension?"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from urs_inspect.datasets import load_md_eval
from urs_inspect.samer import load_taxonomy
from urs_inspect.scorers import pair_verdict
from urs_inspect.scorers.pair_metrics import HEADLINE
from urs_inspect.solvers import compare_pair
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.tasks import arguments
from urs_inspect.tasks.arguments import samer_options
from urs_inspect.tasks.judge_pairwise import pair_facts, pair_to_sample
from urs_inspect.tasks.viewer import pair_viewer

MD_EVAL_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when scores do, the letter when arguments do."""


@task
def md_eval(
    protocol: str = "joint",
    orders: str = "ab",
    judge: str = "model",
    scenarios: str | list[str] = "all",
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
    """Judge 349 pairs of responses on the dimensions of their scenario and as a whole (SaMer paper, section 5.4).

    The model under test is the judge, or with `judge=samer` and `--model none` a SaMer model.

    Args:
        protocol: `joint`: one reply with all verdicts (the paper's); `per_dimension`: one call a dimension, told to
            disregard the rest, and one overall; `overall`: overall only.
        orders: `ab` as in the data, `seeded` by a coin for each pair, `both`: twice, where disagreement is a tie.
        judge: `model`; or with `--model none` `samer` (both responses are evaluated, the larger number is better,
            overall and on each labelled dimension, selected or not) or `baseline/<kind>`; kinds: longest, shortest,
            first, second, random, copy_overall.
        scenarios: `all`, or scenarios of the taxonomy, separated by commas.
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
    taxonomy = load_taxonomy()
    # Arguments and model are checked before the data is fetched, so that a slip costs neither time nor traffic.
    chosen = arguments.names(scenarios, "scenarios", taxonomy.scenario_id)
    options = samer_options(
        judge == "samer", "judge=samer", samer, engine, weights_at, bos, overlong, max_length, folder, dtype
    )
    compare = compare_pair(protocol, orders, judge, seed=arguments.whole(seed, "seed", least=0), samer=options)
    data = load_md_eval(taxonomy.dimension, tuple(taxonomy.scenarios))
    cases = [case for case in data.cases if chosen is None or case.group in chosen]
    return Task(
        dataset=MemoryDataset([pair_to_sample(case, taxonomy) for case in cases], name=data.name),
        solver=compare,
        scorer=pair_verdict(),
        config=GenerateConfig(temperature=0),
        version=MD_EVAL_VERSION,
        headline_metric=HeadlineMetric(scorer="pair_verdict", metric=HEADLINE),
        display_name="MD-Eval",
        metadata={**pair_facts(data), "taxonomy": f"{taxonomy.name} {taxonomy.version}"},
        viewer=pair_viewer("MD-Eval", group="Scenario", dimensions=protocol != "overall"),
        setup=preflight_setup(preflight, [], under_test=judge == "model"),
    )
