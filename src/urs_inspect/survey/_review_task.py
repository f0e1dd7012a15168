"""URS case review: may these questions go into a benchmark?"""

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.viewer import ViewerConfig

from urs_inspect._arguments import Flag, JudgeCall, JudgeCallOptions, Text, checked
from urs_inspect.rubrics import load_rubric
from urs_inspect.solvers._answers import recorded_answer
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.solvers._role_models import roles_known
from urs_inspect.survey._case_review import CRITERIA, case_review, the_judge
from urs_inspect.tasks._urs_cases import choose_cases
from urs_inspect.tasks._viewer import sample_list

URS_CASE_REVIEW_VERSION = "3-E"
"""Comparability and interface of the task: the number changes when reviews do, the letter when
arguments do.
"""


@task
@checked
def urs_case_review(
    dataset: Text,
    rubric: Text | None = None,
    judge_calls: JudgeCall | None = None,
    lenient: Flag = False,
) -> Task:
    """Have a judge review questions in place of people, one call per case.

    Source: URS paper, section 3.2.2.

    Run it with `--model none --model-role grader=...`. The judge reports whether a question is
    understandable and self-contained, holds personal data or is harmful, which intent it sees, and
    which others would be plausible; it is not shown the user's. `urs-inspect cases review LOG -o
    kept.jsonl` writes the cases that passed.

    Args:
        dataset: Path of a file that `urs-inspect cases import` wrote, or any cases; they need no
            references.
        rubric: Path of a YAML file with intents, criteria or languages of your own.
        judge_calls: How judges are called, by default `{attempts: 2, temperature: 0}`: `attempts`,
            how often one is asked at most when its reply cannot be read; `temperature`, unless the
            role sets one, null for the provider's default.
        lenient: Skip faulty rows of your own file, with a warning that counts them.

    Returns:
        A task with one sample per case.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    loaded = load_rubric(rubric)
    calls = JudgeCallOptions.read(judge_calls)
    scorer = case_review(rubric=rubric, attempts=calls.attempts, temperature=calls.temperature)
    if roles_known():
        the_judge()
    chosen = choose_cases(loaded, dataset, lenient=lenient, need_references=False)
    return Task(
        dataset=chosen.dataset(),
        solver=recorded_answer(),
        scorer=scorer,
        version=URS_CASE_REVIEW_VERSION,
        headline_metric=HeadlineMetric(scorer="case_review", metric="passed"),
        display_name="URS case review",
        metadata=chosen.facts(),
        viewer=_viewer(),
        setup=preflight_setup(["grader"]),
    )


def _viewer() -> ViewerConfig:
    """The judge's verdicts on each question; questions that did not pass come first."""
    labels = {
        "passed": "Passed",
        "understandable": "Clear",
        "self_contained": "Complete",
        "personal_data": "Personal",
        "harmful": "Harmful",
        "plausible_intent": "Intent plausible",
        "intent_agrees": "Intent the same",
        "outcome": "Outcome",
        "user_intent": "User's intent",
        "judge_intent": "Judge's intent",
        "language": "Language",
    }
    verdicts = ("passed", *CRITERIA, "intent_agrees")
    texts = ("outcome", "user_intent", "judge_intent", "language")
    faults = ("personal_data", "harmful")
    scales = {}
    for key in verdicts:
        scales[key] = {"0": "bad", "1": "good"}
        if key in faults:
            scales[key] = {"0": "good", "1": "bad"}
    return sample_list(
        "URS case review",
        ["input", *(f"case_review.{key}" for key in (*verdicts, *texts)), "answer"],
        labels=labels,
        scales=scales,
        sort=["case_review.passed"],
        compact=True,
    )
