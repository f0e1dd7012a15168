"""URS probe: does the judge reward answers that deserve nothing?"""

from collections import defaultdict

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric

from urs_inspect.datasets import UrsCase, Vocabulary, in_proportion, load_urs
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome
from urs_inspect.scorers.metrics import group_finals
from urs_inspect.solvers import NULL_ANSWERS, null_answer
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.tasks import arguments
from urs_inspect.tasks.urs import URS_VERSION, case_to_sample, data_facts
from urs_inspect.tasks.viewer import intent_viewer

NULL_ANSWER = "null_answer"
"""Key of a sample's metadata that names the kind of its answer."""


@task
def urs_probe(
    dataset: str = "sample",
    per_kind: int = 1,
    rubric: str | None = None,
    prompt: str | None = None,
    judge_language: str | None = None,
    preflight: bool = True,
    seed: int = 0,
) -> Task:
    """Null answers through the URS judge: constant, empty, copied from the reference, and prompt injection.

    Run it with `--model none --model-role grader=...`, or as `urs-inspect probe`, which prints what the judge gave.

    Args:
        dataset: As for `urs`.
        per_kind: How many cases of each intent and language; each is answered in all four ways.
        rubric: As for `urs`.
        prompt: As for `urs`.
        judge_language: As for `urs`.
        preflight: As for `urs`.
        seed: Seed of the choice of cases.

    Returns:
        The task.
    """
    loaded = load_rubric(arguments.optional_text(rubric, "rubric"), arguments.optional_text(prompt, "prompt"))
    data = load_urs(arguments.text(dataset, "dataset"), Vocabulary(loaded.intent_id, loaded.language_code))
    size = arguments.whole(per_kind, "per_kind", least=1)
    ordered = in_proportion(data.cases, arguments.whole(seed, "seed", least=0))
    samples = [
        _with_null_answer(case_to_sample(case, loaded), kind)
        for case in _first_of_each_kind(ordered, size)
        for kind in NULL_ANSWERS
    ]
    return Task(
        dataset=MemoryDataset(samples, name=data.name),
        solver=null_answer(),
        scorer=[intent_judge(rubric=rubric, prompt=prompt, judge_language=judge_language), judge_outcome()],
        metrics=[group_finals(NULL_ANSWER, list(NULL_ANSWERS))],  # a mean over all four kinds would say nothing
        version=URS_VERSION,
        headline_metric=HeadlineMetric(scorer="intent_judge", metric=next(iter(NULL_ANSWERS))),
        display_name="URS probe",
        metadata=data_facts(data, loaded),
        viewer=intent_viewer(loaded, "URS probe"),
        setup=preflight_setup(preflight, ["grader"]),
    )


def _first_of_each_kind(cases: list[UrsCase], size: int) -> list[UrsCase]:
    taken: dict[tuple[str, str], int] = defaultdict(int)
    chosen = []
    for case in cases:
        if taken[case.intent, case.language] < size:
            taken[case.intent, case.language] += 1
            chosen.append(case)
    return chosen


def _with_null_answer(sample: Sample, kind: str) -> Sample:
    sample.id = f"{sample.id}/{kind}"
    sample.metadata = {**(sample.metadata or {}), NULL_ANSWER: kind}
    return sample
