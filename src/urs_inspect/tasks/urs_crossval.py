"""URS cross-validation: are results stable across evaluators and sources of references?"""

from logging import getLogger
from typing import Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset

from urs_inspect._arguments import (
    ALL,
    Count,
    Flag,
    Names,
    Natural,
    Paths,
    Temperature,
    Text,
    as_list,
    checked,
    names,
    required,
)
from urs_inspect._util import InputError, choices, counted
from urs_inspect.datasets.references import DATASET
from urs_inspect.judging import PromptBuilder
from urs_inspect.logs.responses import read_pool
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.scorers.crossval_judge import crossval_cell, crossval_judge
from urs_inspect.solvers.answers import recorded_answer
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.solvers.role_models import models_with, roles_known
from urs_inspect.tasks.crossval_grid import Grid, draw, read_models, read_sources, sha256_of
from urs_inspect.tasks.urs_cases import choose_cases
from urs_inspect.tasks.viewer import crossval_viewer

logger = getLogger(__name__)

URS_CROSSVAL_VERSION = "2-B"
"""Comparability and interface of the task: the number changes when scores do, the letter when arguments do."""

_ROLE = "grader"


@task
@checked
def urs_crossval(
    answers: Paths | None = None,
    references: Paths | None = None,
    models: Names = ALL,
    evaluators: Names = ALL,
    dataset: Text = "urs",
    cases: Count = 200,
    folds: Count = 5,
    language: Names = ALL,
    intents: Names = ALL,
    unanswered: Literal["refuse", "unscored"] = "refuse",
    rubric: Text | None = None,
    prompt: Text | None = None,
    judge_language: Text | None = None,
    judge_attempts: Count = 2,
    judge_temperature: Temperature | None = 0.0,
    preflight: Flag = True,
    lenient: Flag = False,
    seed: Natural = 0,
) -> Task:
    """Judge existing answers by every evaluator, with references from every source (URS paper, sections 4.4, D.4).

    Run it with `--model none`. Evaluators are the models with the role `grader`, each by itself. Each judgement is a
    sample of its own, so that an interrupted run resumes with the judgements that are missing.

    Args:
        answers: Logs, or directories of logs, with the answers of the tested models, such as those of `urs`.
        references: Sources of reference answers, separated by commas: files of `urs-inspect references`, logs of
            `urs_references`, or `dataset` for those of the data.
        models: `all`, or names of tested models among those with answers.
        evaluators: `all`, or names of models with the role `grader`. In a script they must be named, since roles are
            not known there when the task is made.
        dataset: `urs` (1,846 published cases), `sample` (42 embedded ones), or the path of a file of cases.
        cases: How many cases: the first of the order of `urs` with the same seed, a random choice in which intents and
            languages are in proportion. All if there are fewer.
        folds: Number of parts of the cases, each in proportion.
        language: `all`, or languages of the cases: `en`, `zh`.
        intents: `all`, or intents of the cases, separated by commas.
        unanswered: What happens to cases that a tested model has no answer to: `refuse` the run, or leave its
            judgements `unscored`.
        rubric: Path of a YAML file with intents, criteria or languages of your own.
        prompt: Path of a Jinja file that replaces the frame of the judge's prompt.
        judge_language: Language of the judge's prompt; by default that of each case.
        judge_attempts: How often an evaluator is asked at most when its reply cannot be read.
        judge_temperature: Temperature of the evaluators; null for the provider's default.
        preflight: Send each evaluator one tiny request first: a server that refuses it (401, 403, 404) ends the run.
        lenient: Skip faulty rows of your own file, with a warning that counts them.
        seed: Seed of the choice of cases.

    Returns:
        The task.
    """
    loaded = load_rubric(rubric, prompt)
    tested = names(models, "models")
    logs = as_list(required(answers, "answers", "logs with answers, separated by commas"))
    places = as_list(required(references, "references", f"files, logs or '{DATASET}', separated by commas"))
    scorer = crossval_judge(
        rubric=rubric,
        prompt=prompt,
        judge_language=judge_language,
        attempts=judge_attempts,
        temperature=judge_temperature,
    )
    judges = _evaluators(names(evaluators, "evaluators"))
    chosen = choose_cases(
        loaded, dataset, language, intents, seed=seed, lenient=lenient, need_references=DATASET in places
    )
    taken = draw(chosen.cases, cases, folds)
    pool = read_pool(logs, same_references=False)
    for note in pool.notes:
        logger.warning(note)
    grid = Grid(
        cases=taken,
        folds=folds,
        evaluators=judges,
        sources=read_sources(places, taken),
        answers=read_models(pool, taken, tested, need_all=unanswered == "refuse"),
    )
    _announce(grid, judge_attempts)
    return Task(
        dataset=MemoryDataset(list(grid.samples(loaded)), name=chosen.data.name),
        solver=recorded_answer(),
        scorer=[scorer, crossval_cell()],
        version=URS_CROSSVAL_VERSION,
        display_name="URS cross-validation",
        metadata={
            **chosen.facts(),
            **grid.facts(),
            "reference_score": loaded.reference_score,
            "prompts_sha256": _prompts_sha256(loaded, judge_language),
        },
        viewer=crossval_viewer(loaded),
        setup=preflight_setup(preflight, [_ROLE]),
    )


def _evaluators(named: list[str] | None) -> tuple[str, ...]:
    """Names of the evaluators, which must have the role as far as that is known."""
    if not roles_known():
        if named is None:
            raise InputError(
                f"evaluators: name them, as urs_crossval(evaluators=['provider/a', ...]), and give them to eval() as "
                f"model_roles={{'{_ROLE}': ['provider/a', ...]}}"
            )
        return tuple(named)
    bound = [str(model) for model in models_with(_ROLE)]
    if twice := sorted({name for name in bound if bound.count(name) > 1}):
        raise InputError(f"evaluators: {choices(twice)} has the role '{_ROLE}' twice; each needs a name of its own")
    if unknown := sorted(set(named or ()) - set(bound)):
        raise InputError(f"evaluators: {choices(unknown)} does not have the role '{_ROLE}'; allowed: {choices(bound)}")
    return tuple(bound if named is None else named)


def _announce(grid: Grid, attempts: int) -> None:
    """Report what the run costs, and what is odd about it, while it can still be stopped."""
    calls = grid.judgements
    again = "" if attempts == 1 else f" (up to {attempts} times as many where replies cannot be read)"
    logger.warning(
        f"urs_crossval: {counted(len(grid.cases), 'case')} x {counted(len(grid.evaluators), 'evaluator')} x "
        f"{counted(len(grid.sources), 'source')} of references x {counted(len(grid.answers), 'tested model')}: "
        f"{counted(calls, 'judge call')} in all{again}"
    )
    for model, count in grid.copies().items():
        logger.warning(
            f"{count} of {len(grid.cases)} answers of {model} are word for word its references. Equation (1) is about "
            "two outputs of the same model: take the references from another run than the answers"
        )


def _prompts_sha256(rubric: Rubric, judge_language: str | None) -> str:
    """Hash of all prompts without their material, and of the language in which judges are asked."""
    builder = PromptBuilder(rubric)
    prompts = [
        [intent, language, builder.build(intent, language, question="", reference="", answer="").sha256]
        for intent in rubric.intents
        for language in rubric.languages
    ]
    return sha256_of([prompts, judge_language])
