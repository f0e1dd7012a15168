"""URS probe: does the judge reward answers that deserve nothing?"""

from collections import Counter

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric

from urs_inspect._arguments import Count, Natural, Structured, Text, checked
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome
from urs_inspect.scorers._metrics import group_finals
from urs_inspect.solvers import NULL_ANSWERS, null_answer
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.tasks._urs_cases import case_to_sample, choose_cases
from urs_inspect.tasks._viewer import intent_viewer
from urs_inspect.tasks.urs import URS_VERSION

_KIND = "null_answer"
"""Key of a sample's metadata that names the kind of its answer."""


@task
@checked
def urs_probe(
    dataset: Text = "sample",
    per_kind: Count = 1,
    rubric: Text | None = None,
    prompt: Text | None = None,
    judge_language: Text | None = None,
    structured: Structured = "auto",
    seed: Natural = 0,
) -> Task:
    """Null answers through the URS judge.

    Constant, empty, copied from the reference, and prompt injection.

    Run it with `--model none --model-role grader=...`, or as `urs-inspect probe`, which prints the
    judge's scores.

    Args:
        dataset: `urs`, `sample`, or the path of a CSV or JSON Lines file of cases.
        per_kind: How many cases of each intent and language; each is answered in all four ways.
        rubric: Path of a YAML file with intents, criteria or languages of your own.
        prompt: Path of a Jinja file that replaces the frame of the judge's prompt.
        judge_language: Language of the judge's prompt; by default that of each case.
        structured: Whether judges are asked by a JSON schema of their reply, as providers with
            structured output take: `true`, `false`, or `auto`, where the tiny request
            before the run shows that a judge's server follows one.
        seed: Seed of the choice of cases.

    Returns:
        A task with one sample per chosen case and kind of null answer.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    loaded = load_rubric(rubric, prompt)
    judge = intent_judge(
        rubric=rubric, prompt=prompt, judge_language=judge_language, structured=structured
    )
    chosen = choose_cases(loaded, dataset, seed=seed)
    samples = []
    taken: Counter[tuple[str, str]] = Counter()
    for case in chosen.cases:
        kind_of_case = (case.intent, case.language)
        taken[kind_of_case] += 1
        if taken[kind_of_case] > per_kind:
            continue
        for kind in NULL_ANSWERS:
            sample = case_to_sample(case, loaded)
            sample.id = f"{case.id}/{kind}"
            sample.metadata = {**(sample.metadata or {}), _KIND: kind}
            samples.append(sample)
    return Task(
        dataset=MemoryDataset(samples, name=chosen.data.name),
        solver=null_answer(),
        scorer=[judge, judge_outcome()],
        metrics=[
            group_finals(_KIND, list(NULL_ANSWERS))
        ],  # a mean over all four kinds would have no meaning
        version=URS_VERSION,
        headline_metric=HeadlineMetric(scorer="intent_judge", metric=next(iter(NULL_ANSWERS))),
        display_name="URS probe",
        metadata=chosen.facts(),
        viewer=intent_viewer(loaded, "URS probe", chosen.cases),
        setup=preflight_setup(["grader"], structured=structured),
    )
