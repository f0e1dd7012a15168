"""URS references: reference answers by a model of one's own choice."""

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.solver import generate

from urs_inspect._arguments import ALL, Flag, Names, Natural, Text, checked
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers._reference_outcome import reference_outcome
from urs_inspect.tasks._urs_cases import choose_cases
from urs_inspect.tasks._viewer import references_viewer

URS_REFERENCES_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when answers do, the letter when
arguments do.
"""


@task
@checked
def urs_references(
    dataset: Text = "urs",
    language: Names = ALL,
    intents: Names = ALL,
    rubric: Text | None = None,
    lenient: Flag = False,
    seed: Natural = 0,
) -> Task:
    """Have a model answer the questions as they are.

    References are a model's direct outputs (URS paper, section 4.1).

    No judge is called; answers that cannot serve, being empty, cut off or withheld, are counted.
    The log serves as `-T references=LOG` of `urs`, or through `urs-inspect references` as a file,
    in which people may correct answers.

    Args:
        dataset: `urs` (1,846 published cases), `sample` (42 embedded ones), or the path of a CSV or
            JSON Lines file of cases, which need no reference here.
        language: `all`, or languages of the cases: `en`, `zh`.
        intents: `all`, or intents of the cases, separated by commas.
        rubric: Path of a YAML file, for cases with intents or languages of your own.
        lenient: Skip faulty rows of your own file, with a warning that counts them.
        seed: Seed of the order; `urs` with the same seed and `--limit` takes the same cases.

    Returns:
        A task with one sample per case.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    loaded = load_rubric(rubric)
    chosen = choose_cases(
        loaded, dataset, language, intents, seed=seed, lenient=lenient, need_references=False
    )
    return Task(
        dataset=chosen.dataset(),
        solver=generate(),
        scorer=reference_outcome(),
        version=URS_REFERENCES_VERSION,
        headline_metric=HeadlineMetric(scorer="reference_outcome", metric="usable"),
        display_name="URS references",
        metadata=chosen.facts(),
        viewer=references_viewer(),
    )
