"""URS case review: may these questions go into a benchmark?"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric
from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesSort, ViewerConfig

from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers.case_review import CRITERIA, case_review, the_judge
from urs_inspect.solvers.answers import recorded_answer
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.solvers.role_models import roles_known
from urs_inspect.tasks import arguments
from urs_inspect.tasks.urs import case_to_sample, data_facts
from urs_inspect.tasks.urs_cases import choose_cases
from urs_inspect.tasks.viewer import sample_list

URS_CASE_REVIEW_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when reviews do, the letter when arguments do."""

_SCORER = "case_review"


@task
def urs_case_review(
    dataset: str,
    language: str | list[str] = arguments.ALL,
    intents: str | list[str] = arguments.ALL,
    rubric: str | None = None,
    judge_language: str | None = None,
    judge_attempts: int = 2,
    judge_temperature: float | None = 0.0,
    judge_cache: bool = False,
    preflight: bool = True,
    lenient: bool = False,
    seed: int = 0,
) -> Task:
    """Have a judge review questions in place of people (URS paper, section 3.2.2), one call a case.

    Run it with `--model none --model-role grader=...`. The judge says whether a question is understandable and
    self-contained, holds personal data or is harmful, which intent it sees, and which others would be plausible; it is
    not shown the user's. `urs-inspect cases review LOG -o kept.jsonl` writes the cases that passed.

    Args:
        dataset: As for `urs`: what `urs-inspect cases import` wrote, or any cases; they need no references.
        language: As for `urs`.
        intents: As for `urs`.
        rubric: As for `urs`.
        judge_language: Language of the prompt, `en` or `zh`; by default that of each case.
        judge_attempts: As for `urs`.
        judge_temperature: As for `urs`.
        judge_cache: As for `urs`.
        preflight: As for `urs`.
        lenient: As for `urs`.
        seed: As for `urs`.

    Returns:
        The task.
    """
    loaded = load_rubric(arguments.optional_text(rubric, "rubric"))
    choice = choose_cases(loaded, dataset=dataset, language=language, intents=intents, seed=seed, lenient=lenient)
    scorer = case_review(
        rubric=rubric,
        judge_language=arguments.optional_text(judge_language, "judge_language"),
        attempts=arguments.whole(judge_attempts, "judge_attempts", least=1),
        temperature=judge_temperature,
        cache=arguments.flag(judge_cache, "judge_cache"),
    )
    if roles_known():
        the_judge("grader")
    data, cases = choice.load(need_references=False)
    return Task(
        dataset=MemoryDataset([case_to_sample(case, loaded) for case in cases], name=data.name),
        solver=recorded_answer(),
        scorer=scorer,
        version=URS_CASE_REVIEW_VERSION,
        headline_metric=HeadlineMetric(scorer=_SCORER, metric="passed"),
        display_name="URS case review",
        metadata=data_facts(data, loaded),
        viewer=_viewer(),
        setup=preflight_setup(preflight, ["grader"]),
    )


def _viewer() -> ViewerConfig:
    verdicts = ("passed", *CRITERIA, "intent_agrees")
    texts = ("outcome", "user_intent", "judge_intent", "language")
    good = {"0": "bad", "1": "good"}
    bad = {"0": "good", "1": "bad"}
    return sample_list(
        "URS case review",
        [
            TaskSamplesColumn(id="input"),
            *[TaskSamplesColumn.score(_SCORER, key) for key in (*verdicts, *texts)],
            TaskSamplesColumn(id="answer"),
        ],
        labels={
            "passed": "Passed",
            "understandable": "Clear",
            "self_contained": "Complete",
            "personal_data": "Personal",
            "harmful": "Harmful",
            "plausible_intent": "Intent plausible",
            "intent_agrees": "Intent the same",
            "user_intent": "User's intent",
            "judge_intent": "Judge's intent",
            "language": "Language",
            "outcome": "Outcome",
        },
        scales={name: bad if name in ("personal_data", "harmful") else good for name in verdicts},
        sort=[TaskSamplesSort.score(_SCORER, "passed", dir="asc")],
        compact=True,
    )
