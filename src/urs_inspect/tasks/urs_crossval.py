"""URS cross-validation: are results stable across evaluators and sources of references?"""

from logging import getLogger

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset

from urs_inspect._util import InputError, choices, counted
from urs_inspect.datasets.references import DATASET
from urs_inspect.judging import PromptBuilder
from urs_inspect.logs.responses import read_pool
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.scorers.crossval_judge import crossval_cell, crossval_judge
from urs_inspect.solvers.answers import recorded_answer
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.solvers.role_models import models_with, roles_known
from urs_inspect.tasks import arguments
from urs_inspect.tasks.crossval_grid import Grid, digest, draw, read_models, read_sources
from urs_inspect.tasks.urs import data_facts
from urs_inspect.tasks.urs_cases import choose_cases
from urs_inspect.tasks.viewer import crossval_viewer

logger = getLogger(__name__)

URS_CROSSVAL_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when scores do, the letter when arguments do."""

_ROLE = "grader"


@task
def urs_crossval(
    answers: str | list[str] | None = None,
    references: str | list[str] | None = None,
    models: str | list[str] = arguments.ALL,
    evaluators: str | list[str] = arguments.ALL,
    dataset: str = "urs",
    cases: int = 200,
    folds: int = 5,
    language: str | list[str] = arguments.ALL,
    intents: str | list[str] = arguments.ALL,
    unanswered: str = "refuse",
    rubric: str | None = None,
    prompt: str | None = None,
    judge_language: str | None = None,
    judge_attempts: int = 2,
    judge_temperature: float | None = 0.0,
    judge_cache: bool = False,
    preflight: bool = True,
    lenient: bool = False,
    seed: int = 0,
) -> Task:
    """Judge answers that exist by every evaluator, with references from every source (URS paper, sections 4.4, D.4).

    Run it with `--model none`. Evaluators are the models with the role `grader`, each by itself. Each judgement is a
    sample of its own, so that a run that was broken off goes on with what is left.

    Args:
        answers: Logs, or directories of logs, with the answers of the tested models, such as those of `urs`.
        references: Sources of reference answers, separated by commas: files of `urs-inspect references`, logs of
            `urs_references`, or `dataset` for those of the data.
        models: `all`, or names of tested models among those with answers.
        evaluators: `all`, or names of models with the role `grader`. In a script they must be named, since roles are
            not known there when the task is made.
        dataset: As for `urs`.
        cases: How many cases: the first of the order of `urs` with the same seed, a random choice in which intents and
            languages are in proportion. All if there are fewer.
        folds: Number of parts of the cases, each in proportion.
        language: As for `urs`.
        intents: As for `urs`.
        unanswered: What becomes of cases that a tested model has no answer to: `refuse` the run, or leave its
            judgements `unscored`.
        rubric: As for `urs`.
        prompt: As for `urs`.
        judge_language: As for `urs`.
        judge_attempts: As for `urs`.
        judge_temperature: As for `urs`.
        judge_cache: As for `urs`.
        preflight: As for `urs`.
        lenient: As for `urs`.
        seed: Seed of the choice of cases.

    Returns:
        The task.
    """
    loaded = load_rubric(arguments.optional_text(rubric, "rubric"), arguments.optional_text(prompt, "prompt"))
    choice = choose_cases(loaded, dataset=dataset, language=language, intents=intents, seed=seed, lenient=lenient)
    number, parts = arguments.whole(cases, "cases", least=1), arguments.whole(folds, "folds", least=1)
    need_all = arguments.one_of(unanswered, "unanswered", ("refuse", "unscored")) == "refuse"
    tested = arguments.names(models, "models", str)
    logs, places = _places(answers, "answers"), _places(references, "references")
    scorer = crossval_judge(
        rubric=rubric,
        prompt=prompt,
        judge_language=judge_language,
        attempts=judge_attempts,
        temperature=judge_temperature,
        cache=arguments.flag(judge_cache, "judge_cache"),
    )
    judges = _evaluators(evaluators)
    data, ordered = choice.load(need_references=DATASET in places)
    taken = draw(ordered, number, parts)
    pool = read_pool(logs, same_references=False)
    for note in pool.notes:
        logger.warning(note)
    grid = Grid(
        cases=taken,
        folds=parts,
        evaluators=judges,
        sources=read_sources(places, taken),
        answers=read_models(pool, taken, tested, need_all=need_all),
    )
    _announce(grid, judge_attempts)
    return Task(
        dataset=MemoryDataset(list(grid.samples(loaded)), name=data.name),
        solver=recorded_answer(),
        scorer=[scorer, crossval_cell()],
        version=URS_CROSSVAL_VERSION,
        display_name="URS cross-validation",
        metadata={
            **data_facts(data, loaded),
            **grid.facts(),
            "reference_score": loaded.reference_score,
            "prompts_sha256": _prompts_sha256(loaded, judge_language),
        },
        viewer=crossval_viewer(loaded),
        setup=preflight_setup(preflight, [_ROLE]),
    )


def _places(value: object, argument: str) -> list[str]:
    if value is None:
        what = "logs with answers" if argument == "answers" else f"files, logs or '{DATASET}'"
        raise InputError(f"{argument}: say which, as -T {argument}=...; allowed: {what}, separated by commas")
    return arguments.paths(value, argument)


def _evaluators(value: object) -> tuple[str, ...]:
    """Names of the evaluators, which must have the role as far as that is known."""
    named = arguments.names(value, "evaluators", str)
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
    """Say what the run costs, and what is odd about it, while it can still be stopped."""
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
    return digest([prompts, judge_language])
