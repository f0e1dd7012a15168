"""URS cross-validation: are results stable across evaluators and sources of references?"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from logging import getLogger
from typing import Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from urs_inspect._arguments import (
    ALL,
    Count,
    Flag,
    JudgeCall,
    JudgeCallOptions,
    Names,
    Natural,
    Paths,
    Structured,
    Text,
    as_list,
    checked,
    names,
    required,
)
from urs_inspect._util import InputError, choices, counted, is_blank
from urs_inspect.datasets import UrsCase
from urs_inspect.datasets._references import DATASET, named, with_references
from urs_inspect.discrepancy._pools import Pool
from urs_inspect.judging import PromptBuilder
from urs_inspect.logs._responses import read_pool, read_references
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.scorers._crossval_judge import COPY, crossval_cell, crossval_judge
from urs_inspect.solvers._answers import ANSWER, recorded_answer
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.solvers._role_models import (
    GRADER,
    chosen_evaluators,
    models_with,
    roles_known,
)
from urs_inspect.tasks._urs_cases import case_to_sample, choose_cases
from urs_inspect.tasks._viewer import crossval_viewer

logger = getLogger(__name__)

URS_CROSSVAL_VERSION = "3-D"
"""Comparability and interface of the task: the number changes when scores do, the letter when
arguments do.
"""


@dataclass(frozen=True)
class _Source:
    """Reference answers to the cases by one model, or those of the data (`dataset`)."""

    name: str
    sha256: str
    texts: Mapping[str, str]  # id of a case -> its reference


@dataclass(frozen=True)
class _Grid:
    """Every judgement that is asked for."""

    cases: tuple[UrsCase, ...]
    folds: int
    evaluators: tuple[str, ...]
    sources: tuple[_Source, ...]
    answers: Mapping[
        str, Mapping[str, str]
    ]  # model -> id of a case -> its answer; no entry where there is none

    @property
    def judgements(self) -> int:
        """Number of judgements that need a call, each a sample: empty answers need none."""
        full = sum(not is_blank(text) for texts in self.answers.values() for text in texts.values())
        return full * len(self.evaluators) * len(self.sources)

    def copies(self) -> dict[str, int]:
        """Model -> how many of its answers are word for word the reference of the same model."""
        texts = {source.name: source.texts for source in self.sources}
        counts = {
            model: sum(answer.strip() == texts[model][case] for case, answer in answers.items())
            for model, answers in self.answers.items()
            if model in texts
        }
        return {model: count for model, count in counts.items() if count}

    def samples(self, rubric: Rubric) -> Iterator[Sample]:
        """One sample per case, evaluator, source and model.

        Each is judged, logged and resumed by itself.

        Cases come one after the other, so that a limit leaves whole ones.
        """
        folds = _deal(self.cases, self.folds)
        for case, evaluator, source, model in product(
            self.cases, self.evaluators, self.sources, self.answers
        ):
            sample = case_to_sample(case, rubric)
            answer = self.answers[model].get(case.id)
            reference = source.texts[case.id]
            facts = {
                "case": case.id,
                "fold": folds[case.id],
                "evaluator": evaluator,
                "source": source.name,
                "model": model,
            }
            if answer is not None:
                facts[ANSWER] = answer
            if source.name == model and answer is not None and answer.strip() == reference:
                facts[COPY] = True
            yield Sample(
                id=f"{case.id}:{evaluator}:{source.name}:{model}",
                input=sample.input,
                target=reference,
                metadata={
                    **(sample.metadata or {}),
                    **facts,
                    "reference_score": rubric.reference_score,
                },
            )

    def facts(self) -> dict[str, object]:
        """What two runs must have in common to be read together, for the log."""
        return {
            "cases": len(self.cases),
            "cases_sha256": _sha256(sorted(case.id for case in self.cases)),
            "folds": self.folds,
            "evaluators": list(self.evaluators),
            "sources": {source.name: source.sha256 for source in self.sources},
            "models": {
                model: _sha256(sorted(texts.items())) for model, texts in self.answers.items()
            },
            "copies": self.copies(),
        }


def _deal(cases: Sequence[UrsCase], folds: int) -> dict[str, int]:
    """Fold of each case, from 1.

    Folds differ by at most one case in all, and by one of each intent and language.
    """
    by_kind = sorted(cases, key=lambda case: (case.intent, case.language))
    return {case.id: place % folds + 1 for place, case in enumerate(by_kind)}


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()


@task
@checked
def urs_crossval(
    answers: Paths | None = None,
    references: Paths | None = None,
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
    judge_calls: JudgeCall | None = None,
    structured: Structured = "auto",
    lenient: Flag = False,
    seed: Natural = 0,
) -> Task:
    """Judge existing answers by every evaluator, with references from every source.

    Source: URS paper, sections 4.4, D.4.

    Run it with `--model none`. Evaluators are the models with the role `grader`, each by itself.
    Each judgement is a sample of its own, so that an interrupted run resumes with the judgements
    that are missing.

    Args:
        answers: Logs, or directories of logs, with the answers of the tested models, such as those
            of `urs`.
        references: Sources of reference answers, separated by commas: files of `urs-inspect
            references`, logs of `urs_references`, or `dataset` for those of the data.
        evaluators: `all`, or names of models with the role `grader`. In a script they must be
            named, since roles are not known there when the task is made.
        dataset: `urs` (1,846 published cases), `sample` (42 embedded ones), or the path of a file
            of cases.
        cases: How many cases: the first of the order of `urs` with the same seed, a random choice
            in which intents and languages are in proportion. All if there are fewer.
        folds: Number of parts of the cases, each in proportion.
        language: `all`, or languages of the cases: `en`, `zh`.
        intents: `all`, or intents of the cases, separated by commas.
        unanswered: What happens to cases that a tested model has no answer to: `refuse` the run, or
            leave its judgements `unscored`.
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
        seed: Seed of the choice of cases.

    Returns:
        A task with one sample per case, evaluator, source of references and tested model.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    loaded = load_rubric(rubric, prompt)
    calls = JudgeCallOptions.read(judge_calls)
    logs = as_list(required(answers, "answers", "logs with answers, separated by commas"))
    places = as_list(
        required(references, "references", f"files, logs or '{DATASET}', separated by commas")
    )
    scorer = crossval_judge(
        rubric=rubric,
        prompt=prompt,
        judge_language=judge_language,
        attempts=calls.attempts,
        temperature=calls.temperature,
        structured=structured,
    )
    judges = _evaluators(names(evaluators, "evaluators"))
    chosen = choose_cases(
        loaded,
        dataset,
        language,
        intents,
        seed=seed,
        lenient=lenient,
        need_references=DATASET in places,
    )
    taken = _draw(chosen.cases, cases, folds)
    pool = read_pool(logs, "answers", same_references=False)
    for note in pool.notes:
        logger.warning(note)
    grid = _Grid(
        cases=taken,
        folds=folds,
        evaluators=judges,
        sources=_read_sources(places, taken),
        answers=_read_models(pool, taken, need_all=unanswered == "refuse"),
    )
    _announce(grid, calls.attempts)
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
        setup=preflight_setup([GRADER], structured=structured),
    )


def _draw(ordered: Sequence[UrsCase], number: int, folds: int) -> tuple[UrsCase, ...]:
    """The first cases of an order in which every beginning is in proportion.

    It holds intents and languages in proportion.
    """
    taken = tuple(ordered[:number])
    if len(taken) < number:
        logger.warning(f"cases={number}: there are only {len(taken)}, and all are taken")
    if folds > len(taken):
        raise InputError(f"folds: must be at most the number of cases, {len(taken)}, got {folds}")
    return taken


def _read_sources(places: Sequence[str], cases: Sequence[UrsCase]) -> tuple[_Source, ...]:
    """References of all cases from files, logs, or `dataset`; a case without one is an error."""
    sources = []
    for place in places:
        if place == DATASET:
            name = DATASET
            referenced = cases
            if lacking := [case.id for case in cases if is_blank(case.reference)]:
                raise InputError(
                    f"references: of the data's own, {named(lacking)} of {len(cases)} cases have"
                    " none"
                )
        else:
            references = read_references(place)
            name = references.source
            referenced = with_references(cases, references)
        texts = {case.id: case.reference.strip() for case in referenced}
        sources.append(_Source(name, _sha256(sorted(texts.items())), texts))
    found = [source.name for source in sources]
    if twice := sorted({name for name in found if found.count(name) > 1}):
        raise InputError(
            f"references: {choices(twice)} is listed twice; join the logs of one model with"
            " `urs-inspect references`"
        )
    return tuple(sources)


def _read_models(
    pool: Pool, cases: Sequence[UrsCase], *, need_all: bool
) -> dict[str, dict[str, str]]:
    """Model -> id of a case -> answer.

    `need_all`: each must have answered each case.
    """
    _check_questions(pool, cases)
    answers: dict[str, dict[str, str]] = {}
    lines: list[str] = []
    for model in pool.contestants:
        texts = pool.responses[model]
        answers[model] = {case.id: texts[case.id] for case in cases if case.id in texts}
        if lacking := [case.id for case in cases if case.id not in texts]:
            lines.append(f"{model} has none to {named(lacking)}")
    if lines and need_all:
        raise InputError(
            f"answers: of {len(cases)} cases, {'; '.join(lines)}. Answer them first (`inspect eval"
            " urs_inspect/urs` with the same dataset, seed and filters takes these cases with"
            f" --limit {len(cases)}), name the logs of other models only with -T answers=..., or"
            " leave these judgements without a score with -T unanswered=unscored"
        )
    for line in lines:
        logger.warning(f"answers: of {len(cases)} cases, {line}; these stay without a score")
    if empty := [model for model, texts in answers.items() if not texts]:
        raise InputError(f"answers: none to any of the {len(cases)} cases by {choices(empty)}")
    return answers


def _check_questions(pool: Pool, cases: Sequence[UrsCase]) -> None:
    """Refuse cases that had another question in the logs."""
    asked = {item.id: item.text.strip() for item in pool.instructions}
    changed = [
        case.id
        for case in cases
        if asked.get(case.id, case.question.strip()) != case.question.strip()
    ]
    if changed:
        raise InputError(
            f"answers: {named(changed)} of {len(cases)} cases have another question in the logs"
        )


def _evaluators(named: list[str] | None) -> tuple[str, ...]:
    """Names of the evaluators, which must have the role as far as that is known."""
    if not roles_known():
        if named is None:
            raise InputError(
                "evaluators: name them, as urs_crossval(evaluators=['provider/a', ...]), and give"
                f" them to eval() as model_roles={{'{GRADER}': ['provider/a', ...]}}"
            )
        return tuple(named)
    return chosen_evaluators(named, [str(model) for model in models_with(GRADER)])


def _announce(grid: _Grid, attempts: int) -> None:
    """Report what the run costs, and what is odd about it, while it can still be stopped."""
    calls = grid.judgements
    if attempts == 1:
        again = ""
    else:
        again = f" (up to {attempts} times as many where replies cannot be read)"
    logger.warning(
        f"urs_crossval: {counted(len(grid.cases), 'case')} x"
        f" {counted(len(grid.evaluators), 'evaluator')} x {counted(len(grid.sources), 'source')} of"
        f" references x {counted(len(grid.answers), 'tested model')}:"
        f" {counted(calls, 'judge call')} in all{again}"
    )
    for model, count in grid.copies().items():
        logger.warning(
            f"Answers of {model} that are word for word its references: {count}."
            " Equation (1) is about two outputs of the same model: take the references from"
            " another run than the answers"
        )


def _prompts_sha256(rubric: Rubric, judge_language: str | None) -> str:
    """Hash of all prompts without their material, and of the language in which judges are asked."""
    builder = PromptBuilder(rubric)
    build = partial(builder.build, question="", reference="", answer="")
    prompts = [
        [intent, language, build(intent, language).sha256]
        for intent, language in product(rubric.intents, rubric.languages)
    ]
    return _sha256([prompts, judge_language])
