"""URS: does a model serve the people who come with this kind of need, in their language?"""

from typing import Literal

from inspect_ai import Task, task
from inspect_ai.scorer import Scorer
from inspect_ai.solver import generate

from urs_inspect._arguments import (
    ALL,
    Flag,
    JudgeCall,
    JudgeCallOptions,
    Names,
    Natural,
    Samer,
    Structured,
    Text,
    checked,
    samer_arguments,
)
from urs_inspect.rubrics import load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome
from urs_inspect.scorers._metrics import HEADLINE
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.tasks._local_scorer import local_scorer
from urs_inspect.tasks._urs_cases import choose_cases
from urs_inspect.tasks._viewer import intent_viewer

URS_VERSION = "3-D"
"""Comparability and interface of the task: the number changes when scores do, the letter when
arguments do.
"""


@task
@checked
def urs(
    dataset: Text = "urs",
    language: Names = ALL,
    intents: Names = ALL,
    rubric: Text | None = None,
    prompt: Text | None = None,
    judge_language: Text | None = None,
    judge_calls: JudgeCall | None = None,
    structured: Structured = "auto",
    lenient: Flag = False,
    seed: Natural = 0,
    references: Text | None = None,
    scorer: Literal["judge", "samer", "both"] = "judge",
    samer: Samer | None = None,
    cluster: Text | None = None,
) -> Task:
    """Questions that real users reported, judged by the criteria of each user's intent.

    Source: URS paper, section 4.

    The judge is the model, or the panel of models, with the role `grader`; SaMer needs none.
    `cache: true` in the role (`--model-role 'grader={model: ..., cache: true}'`) lets the harness
    answer repeated judgements from its cache.

    Args:
        dataset: `urs` (1,846 published cases), `sample` (42 embedded ones), or the path of a CSV or
            JSON Lines file with the columns question (or messages, a list of `{role, content}`),
            reference_ans, user_intent, language and optionally id, country and user.
        language: `all`, or languages of the cases: `en`, `zh`.
        intents: `all`, or intents of the cases, separated by commas.
        rubric: Path of a YAML file with intents, criteria or languages of your own.
        prompt: Path of a Jinja file that replaces the frame of the judge's prompt.
        judge_language: Language of the judge's prompt; by default that of each case.
        judge_calls: How judges are called, by default `{attempts: 2, temperature: 0}`: `attempts`,
            how often one is asked at most when its reply cannot be read; `temperature`, unless the
            role sets one, null for the provider's default.
        structured: Whether judges are asked by a JSON schema of their reply, as providers with
            structured output take: `true`, `false`, or `auto`, where the tiny request
            before the run shows that a judge's server follows one.
        lenient: Skip faulty rows of your own file, with a warning that counts them.
        seed: Seed of the order. Every beginning of the list holds intents and languages in
            proportion, so that `--limit` gives a fair small run.
        references: Reference answers in place of those of the data: a file of `urs-inspect
            references`, or the log of a run of `urs_references`. The data then needs none. Every
            case that is asked needs one: with `--limit` or `--sample-id` of `inspect eval` those
            that they choose, else all.
        scorer: `judge`, `samer` (the scorer of that name; arguments of the judge are not used), or
            `both`.
        samer: Folder of a SaMer checkpoint, address of a vLLM server, or options of the scorer
            `samer` such as `{model: DIR, engine: transformers, dtype: bfloat16}`.
        cluster: Column of your own file whose values name the questions that belong together, such
            as those of one user: they are one cluster in every interval and test. By default
            `user`, if there is one.

    Returns:
        A task with one sample per case, in the order that `seed` gives.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    loaded = load_rubric(rubric, prompt)
    calls = JudgeCallOptions.read(judge_calls)
    with_judge = scorer != "samer"
    with_scores = scorer != "judge"
    options = samer_arguments(samer, wanted=with_scores, condition="scorer=samer or both")
    scorers: list[Scorer] = []
    if with_judge:
        judge = intent_judge(
            rubric=rubric,
            prompt=prompt,
            judge_language=judge_language,
            attempts=calls.attempts,
            temperature=calls.temperature,
            structured=structured,
        )
        scorers += [judge, judge_outcome()]
    local = None if options is None else local_scorer("samer", options)
    if local is not None:
        scorers += local.scorers
    chosen = choose_cases(
        loaded,
        dataset,
        language,
        intents,
        seed=seed,
        lenient=lenient,
        references=references,
        only_asked=True,
        cluster=cluster,
    )
    viewer = intent_viewer(loaded, "URS", chosen.cases)
    headline = HEADLINE
    if local is not None and with_judge:
        viewer = local.beside(viewer)
    elif local is not None:
        viewer = local.viewer("URS")
        headline = local.headline
    return Task(
        dataset=chosen.dataset(),
        solver=generate(),
        scorer=scorers,
        version=URS_VERSION,
        headline_metric=headline,
        display_name="URS",
        metadata=chosen.facts(),
        viewer=viewer,
        setup=preflight_setup(["grader"] if with_judge else [], structured=structured),
    )
