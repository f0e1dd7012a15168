"""Pairwise benchmarks with human labels: which response does a judge prefer?"""

from dataclasses import replace
from logging import getLogger

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from urs_inspect._arguments import (
    Columns,
    NameOrPath,
    Natural,
    Samer,
    Structured,
    Text,
    checked,
    required,
    samer_arguments,
)
from urs_inspect._util import choices
from urs_inspect.datasets import PAIR_BENCHES, PairData, load_pairs
from urs_inspect.datasets._rows import READABLE
from urs_inspect.judging._prompts import Orders
from urs_inspect.rubrics._taxonomy import load_taxonomy
from urs_inspect.scorers import pair_verdict
from urs_inspect.scorers._pair_metrics import HEADLINE
from urs_inspect.solvers import compare_pair
from urs_inspect.solvers._local_judges import local_judges
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.tasks._benches import bench_facts, pair_to_sample
from urs_inspect.tasks._viewer import pair_viewer

logger = getLogger(__name__)

JUDGE_PAIRWISE_VERSION = "3-E"
"""Comparability and interface of the task: the number changes when scores do, the letter when
arguments do.
"""


@task
@checked
def judge_pairwise(
    bench: NameOrPath | None = None,
    orders: Orders = "seeded",
    judge: Text = "model",
    structured: Structured = "auto",
    seed: Natural = 0,
    samer: Samer | None = None,
    columns: Columns | None = None,
) -> Task:
    """Judge labelled pairs of responses as a whole (SaMer paper, section 5.2, Tables 3 and 4).

    The model under test is the judge, or with `--model none` a SaMer (`judge=samer`) or reward
    model.

    Args:
        bench: A published benchmark, such as `hhh`, `llmbar/<subset>`, `autoj/no_ties` or
            `mt_bench_people`, or the path of a `.csv`, `.jsonl` or `.json` file with the columns
            prompt (or messages, a list of `{role, content}`), response_a, response_b and label.
            There is no default; an unknown name is answered with all.
        orders: `ab` as in the data, `seeded` by a coin for each pair, `both`: twice, where
            disagreement is a tie.
        judge: `model`; or with `--model none` `samer` or `reward_model` (both responses are
            evaluated, the larger number is better) or `baseline/<kind>`; kinds: longest, shortest,
            first, second, random, copy_overall.
        structured: Whether the judge is asked by a JSON schema of its reply, as providers with
            structured output take: `true`, `false`, or `auto`, where the tiny request
            before the run shows that its server follows one.
        seed: Seed of the coin and of the random baseline.
        samer: Folder of the model that judges, address of a vLLM server, or options of the scorer
            of that name such as `{model: DIR, engine: transformers, dtype: bfloat16}`.
        columns: What the columns and labels of your own file mean, if they have other names, such
            as `{prompt: question, response_a: response_A, response_b: response_B, labels: {"A>B":
            a, "B>A": b}}`, or the path of a YAML file with that. A list of columns as label are
            several raters, of whom most count.

    Returns:
        A task with one sample per pair.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    bench = required(
        bench, "bench", f"{choices(PAIR_BENCHES)}, or the path of a file: {choices(READABLE)}"
    )
    # Everything is checked before the data is fetched, so that a mistake costs neither time nor
    # traffic.
    options = samer_arguments(
        samer, wanted=judge in local_judges(), condition="judge=samer or reward_model"
    )
    compare_pair("overall", orders, judge, seed=seed, samer=options)
    data = _overall(load_pairs(bench, dimension=load_taxonomy().dimension, columns=columns))
    talks = sum(
        case.conversation is not None and bool(case.conversation.not_in_query)
        for case in data.cases
    )
    if talks and judge in local_judges():
        logger.warning(
            f"{data.name}: {talks} of {len(data.cases)} prompts are conversations; judge={judge}"
            " sees the last message of the user only"
        )
    return Task(
        dataset=MemoryDataset([pair_to_sample(case) for case in data.cases], name=data.name),
        solver=compare_pair(
            "overall",
            orders,
            judge,
            ties=data.has_ties,
            seed=seed,
            samer=options,
            structured=structured,
        ),
        scorer=pair_verdict(),
        config=GenerateConfig(temperature=0),
        version=JUDGE_PAIRWISE_VERSION,
        headline_metric=HeadlineMetric(scorer="pair_verdict", metric=HEADLINE),
        display_name=f"Judge pairwise: {data.name}",
        metadata=bench_facts(data),
        viewer=pair_viewer(data.name, group="Group", dimensions=False),
        setup=preflight_setup([], under_test=judge == "model", structured=structured),
    )


def _overall(data: PairData) -> PairData:
    """The pairs without labels on dimensions, which this task does not ask for.

    A warning says so if there are any.
    """
    labelled = sum(bool(case.dimensions) for case in data.cases)
    if not labelled:
        return data
    logger.warning(
        f"{data.name}: labels on dimensions ({labelled} of {len(data.cases)} pairs) are not used:"
        " judge_pairwise asks for one verdict, overall"
    )
    return replace(data, cases=tuple(replace(case, dimensions={}) for case in data.cases))
