"""Benchmarks of single ratings: does a judge rate a response as the labels do?"""

from collections.abc import Callable
from logging import getLogger
from typing import Any, cast

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from urs_inspect._arguments import (
    Columns,
    NameOrPath,
    Scale,
    Structured,
    Text,
    checked,
    required,
)
from urs_inspect._util import InputError, choices
from urs_inspect.datasets import RATING_BENCHES, RatingCase, RatingData, Vocabulary, load_ratings
from urs_inspect.datasets._references import named
from urs_inspect.datasets._rows import READABLE
from urs_inspect.judging import JudgePrompt, PromptBuilder
from urs_inspect.judging._prompts import rating_prompt
from urs_inspect.rubrics import HIGHEST, LOWEST, Rubric
from urs_inspect.scorers import rating_agreement
from urs_inspect.solvers import give_rating
from urs_inspect.solvers._give_rating import (
    INSTRUCTIONS,
    JUDGE_KEY,
    JUDGE_NEEDS_KEY,
    JUDGE_SCHEMA,
    load_named_rubric,
)
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.solvers._role_models import refuse_no_model
from urs_inspect.tasks._benches import bench_facts
from urs_inspect.tasks._urs_cases import rubric_facts
from urs_inspect.tasks._viewer import rating_viewer

logger = getLogger(__name__)

JUDGE_RATING_VERSION = "3-E"
"""Comparability and interface of the task: the number changes when scores do, the letter when
arguments do.
"""
_ORDER = 0
"""Seed of the order of the responses."""


@task
@checked
def judge_rating(
    bench: NameOrPath | None = None,
    rubric: Text | None = None,
    scale: Scale | None = None,
    structured: Structured = "auto",
    columns: Columns | None = None,
) -> Task:
    """Rate responses that people or a reference judge have rated.

    Source: SaMer paper, section 5.2, Table 2.

    The model under test is the judge. Responses are in random order, always the same, so that
    `--limit` takes them from everywhere; `--sample-shuffle` gives another one.

    Args:
        bench: `vicuna`, `flask`, `feedback_bench`, `mt_bench`, or the path of a `.csv`, `.jsonl`
            or `.json` file with the columns prompt (or messages, a list of `{role, content}`),
            response, rating and optionally id, group and reference. There is no default.
        rubric: `urs`, or the path of a rubric of your own: the judge is asked as in the task `urs`,
            and measured by intent. The bench is then a file of your own, also with the columns
            reference, intent and language.
        scale: Lowest and highest possible label of your own file, such as `1,5`; with a rubric it
            is 1 to 10 unless given. The judge is offered the same scale, with a rubric that of the
            rubric, 1 to 10.
        structured: Whether the judge is asked by a JSON schema of its reply, as providers with
            structured output take: `true`, `false`, or `auto`, where the tiny request
            before the run shows that its server follows one.
        columns: What the columns of your own file mean, if they have other names, such as `{prompt:
            question, rating: human_score}`, or the path of a YAML file with that. A list of columns
            as rating are several raters, whose mean counts.

    Returns:
        A task with one sample per response.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    bench = required(
        bench, "bench", f"{choices(RATING_BENCHES)}, or the path of a file: {choices(READABLE)}"
    )
    loaded = load_named_rubric(rubric)
    refuse_no_model(baselines=False)  # before the data is fetched
    data = _load(bench, loaded, cast("tuple[float, float] | None", scale), columns)
    metadata = bench_facts(data)
    if loaded:
        lowest = LOWEST
        highest = HIGHEST
        metadata |= rubric_facts(loaded)
    else:
        lowest, highest = _whole_scale(data)
    prompt_of = _prompts(loaded, lowest, highest)
    by_schema = structured is not False
    samples = [_to_sample(case, data.scale, prompt_of(case), by_schema) for case in data.cases]
    dataset = MemoryDataset(samples, name=data.name)
    dataset.shuffle(_ORDER)
    return Task(
        dataset=dataset,
        solver=give_rating(lowest, highest, rubric, structured),
        scorer=rating_agreement(lowest, highest, rubric),
        config=GenerateConfig(temperature=0),
        version=JUDGE_RATING_VERSION,
        headline_metric=HeadlineMetric(scorer="rating_agreement", metric="pearson"),
        display_name=f"Judge rating: {data.name}",
        metadata=metadata,
        viewer=rating_viewer(
            data.name, (lowest, highest), data.scale, group="Intent" if loaded else "Group"
        ),
        setup=preflight_setup([], under_test=True, structured=structured),
    )


def _load(
    bench: str,
    rubric: Rubric | None,
    scale: tuple[float, float] | None,
    columns: str | dict[str, Any] | None,
) -> RatingData:
    if rubric is None:
        return load_ratings(bench, scale=scale, columns=columns)
    data = load_ratings(
        bench,
        scale=scale or (float(LOWEST), float(HIGHEST)),
        vocabulary=Vocabulary(rubric.intent_id, rubric.language_code),
        columns=columns,
    )
    if lacking := [case.id for case in data.cases if not case.reference.strip()]:
        raise InputError(
            f"{bench}: column 'reference' is empty, which a judge with a rubric compares with:"
            f" {named(lacking)}"
        )
    if scale is None and max(case.rating for case in data.cases) <= HIGHEST / 2:
        logger.warning(
            f"{bench}: no label is above {HIGHEST // 2}, but the scale is taken to be {LOWEST} to"
            f" {HIGHEST}; if it is another, declare it: -T scale=1,{HIGHEST // 2}"
        )
    return data


def _whole_scale(data: RatingData) -> tuple[int, int]:
    low, high = data.scale
    if not (low.is_integer() and high.is_integer()):
        raise InputError(f"scale: a judge rates in whole numbers, got {low:g} to {high:g}")
    return int(low), int(high)


def _prompts(
    rubric: Rubric | None, lowest: int, highest: int
) -> Callable[[RatingCase], JudgePrompt]:
    """What a judge is asked about a response: by a rubric, or for one rating on a scale."""
    if rubric is None:
        return lambda case: rating_prompt(
            case.prompt, case.response, case.reference, lowest=lowest, highest=highest
        )
    builder = PromptBuilder(rubric)
    return lambda case: builder.build(
        case.intent,
        case.language,
        question=case.prompt,
        reference=case.reference,
        answer=case.response,
    )


def _to_sample(
    case: RatingCase, label_scale: tuple[float, float], prompt: JudgePrompt, by_schema: bool
) -> Sample:
    """A response to be rated; the judge may be asked by a JSON schema."""
    schema = {}
    if by_schema:
        schema = {JUDGE_SCHEMA: prompt.schema}
    return Sample(
        id=case.id,
        input=prompt.case,
        target=f"{case.rating:g}",
        metadata={
            "group": case.group,
            "cluster": case.cluster,
            "intent": case.intent,
            "language": case.language,
            "prompt": case.prompt,
            "response": case.response,
            "rating": case.rating,
            "label_scale": list(label_scale),
            INSTRUCTIONS: prompt.instructions,
            JUDGE_KEY: prompt.key,
            **schema,
            JUDGE_NEEDS_KEY: prompt.needs_key,
            "prompt_version": prompt.version,
            "prompt_sha256": prompt.sha256,
        },
    )
