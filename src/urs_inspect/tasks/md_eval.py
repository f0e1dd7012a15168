"""MD-Eval: how well does a model judge, dimension by dimension?"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from urs_inspect._arguments import (
    ALL,
    Names,
    Natural,
    Samer,
    Structured,
    Text,
    checked,
    names,
    samer_arguments,
)
from urs_inspect.datasets import load_md_eval
from urs_inspect.judging._prompts import Orders, Protocol
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.scorers import pair_verdict
from urs_inspect.scorers._pair_metrics import HEADLINE
from urs_inspect.solvers import compare_pair
from urs_inspect.solvers._local_judges import local_judges
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.tasks._benches import bench_facts, pair_to_sample
from urs_inspect.tasks._viewer import pair_viewer

MD_EVAL_VERSION = "3-D"
"""Comparability and interface of the task: the number changes when scores do, the letter when
arguments do.
"""


@task
@checked
def md_eval(
    protocol: Protocol = "joint",
    orders: Orders = "ab",
    judge: Text = "model",
    scenarios: Names = ALL,
    structured: Structured = "auto",
    seed: Natural = 0,
    samer: Samer | None = None,
) -> Task:
    """Judge 349 pairs of responses on the dimensions of their scenario and as a whole.

    Source: SaMer paper, section 5.4.

    The model under test is the judge, or with `--model none` a SaMer (`judge=samer`) or reward
    model.

    Args:
        protocol: `joint`: one reply with all verdicts (the paper's); `per_dimension`: one call per
            dimension, in which the judge is to disregard the rest, and one overall; `overall`:
            overall only.
        orders: `ab` as in the data, `seeded` by a coin for each pair, `both`: twice, where
            disagreement is a tie.
        judge: `model`; or with `--model none` `samer` (both responses are evaluated, the larger
            number is better, overall and on each labelled dimension, selected or not),
            `reward_model` (overall only, with `protocol=overall`) or `baseline/<kind>`; kinds:
            longest, shortest, first, second, random, copy_overall.
        scenarios: `all`, or scenarios of the taxonomy, separated by commas.
        structured: Whether the judge is asked by a JSON schema of its reply, as providers with
            structured output take: `true`, `false`, or `auto`, where the tiny request
            before the run shows that its server follows one.
        seed: Seed of the coin and of the random baseline.
        samer: Folder of the model that judges, address of a vLLM server, or options of the scorer
            of that name such as `{model: DIR, engine: transformers, dtype: bfloat16}`.

    Returns:
        A task with one sample per pair of the chosen scenarios.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    taxonomy = load_taxonomy()
    # Everything is checked before the data is fetched, so that a mistake costs neither time nor
    # traffic.
    chosen = names(scenarios, "scenarios", taxonomy.scenario_id)
    options = samer_arguments(
        samer, wanted=judge in local_judges(), condition="judge=samer or reward_model"
    )
    compare = compare_pair(protocol, orders, judge, seed=seed, samer=options, structured=structured)
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
        metadata={**bench_facts(data), "taxonomy": f"{taxonomy.name} {taxonomy.version}"},
        viewer=pair_viewer("MD-Eval", group="Scenario", dimensions=protocol != "overall"),
        setup=preflight_setup([], under_test=judge == "model", structured=structured),
    )
