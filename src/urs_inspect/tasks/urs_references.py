"""URS references: reference answers by a model of one's own choice."""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric
from inspect_ai.solver import generate

from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers.reference_outcome import reference_outcome
from urs_inspect.tasks import arguments
from urs_inspect.tasks.urs import case_to_sample, data_facts
from urs_inspect.tasks.urs_cases import choose_cases
from urs_inspect.tasks.viewer import references_viewer

URS_REFERENCES_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when answers do, the letter when arguments do."""


@task
def urs_references(
    dataset: str = "urs",
    language: str | list[str] = arguments.ALL,
    intents: str | list[str] = arguments.ALL,
    rubric: str | None = None,
    lenient: bool = False,
    seed: int = 0,
) -> Task:
    """Have a model answer the questions as they are: references are a model's direct outputs (URS paper, section 4.1).

    Nobody judges the answers; those are counted that cannot serve, being empty, cut off or withheld. The log serves as
    `-T references=LOG` of `urs`, or through `urs-inspect references` as a file, in which people may mend what is wrong.

    Args:
        dataset: As for `urs`; cases of your own need no reference here.
        language: As for `urs`.
        intents: As for `urs`.
        rubric: As for `urs`, for cases with intents or languages of your own.
        lenient: As for `urs`.
        seed: As for `urs`, so that the same `--limit` takes the same cases.

    Returns:
        The task.
    """
    loaded = load_rubric(arguments.optional_text(rubric, "rubric"))
    choice = choose_cases(loaded, dataset=dataset, language=language, intents=intents, seed=seed, lenient=lenient)
    data, cases = choice.load(need_references=False)
    return Task(
        dataset=MemoryDataset([case_to_sample(case, loaded) for case in cases], name=data.name),
        solver=generate(),
        scorer=reference_outcome(),
        version=URS_REFERENCES_VERSION,
        headline_metric=HeadlineMetric(scorer="reference_outcome", metric="usable"),
        display_name="URS references",
        metadata=data_facts(data, loaded),
        viewer=references_viewer(),
    )
