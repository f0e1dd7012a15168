"""The grid of a cross-validation: cases x evaluators x sources of references x answers of models."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger

from inspect_ai.dataset import Sample

from urs_inspect._util import InputError, choices, is_blank
from urs_inspect.datasets import UrsCase
from urs_inspect.datasets.references import DATASET, References, named, with_references
from urs_inspect.discrepancy.pools import Pool
from urs_inspect.logs.responses import read_references
from urs_inspect.rubrics import Rubric
from urs_inspect.scorers.crossval_judge import COPY
from urs_inspect.solvers.answers import ANSWER
from urs_inspect.tasks.urs_cases import case_to_sample

logger = getLogger(__name__)


@dataclass(frozen=True)
class Source:
    """Reference answers to the cases by one model, or those of the data (`dataset`)."""

    name: str
    sha256: str
    texts: Mapping[str, str]  # id of a case -> its reference


@dataclass(frozen=True)
class Grid:
    """Every judgement that is asked for."""

    cases: tuple[UrsCase, ...]
    folds: int
    evaluators: tuple[str, ...]
    sources: tuple[Source, ...]
    answers: Mapping[str, Mapping[str, str]]  # model -> id of a case -> its answer; no entry where there is none

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
        """One sample per case, evaluator, source and model, so that each is judged, logged and resumed by itself.

        Cases come one after the other, so that a limit leaves whole ones.
        """
        folds = deal(self.cases, self.folds)
        for case in self.cases:
            for evaluator in self.evaluators:
                for source in self.sources:
                    for model, texts in self.answers.items():
                        sample = case_to_sample(case, rubric)
                        answer, reference = texts.get(case.id), source.texts[case.id]
                        facts = {
                            "case": case.id,
                            "fold": folds[case.id],
                            "evaluator": evaluator,
                            "source": source.name,
                            "model": model,
                            **({} if answer is None else {ANSWER: answer}),
                        }
                        if source.name == model and answer is not None and answer.strip() == reference:
                            facts[COPY] = True
                        yield Sample(
                            id=f"{case.id}:{evaluator}:{source.name}:{model}",
                            input=sample.input,
                            target=reference,
                            metadata={**(sample.metadata or {}), **facts, "reference_score": rubric.reference_score},
                        )

    def facts(self) -> dict[str, object]:
        """What two runs must have in common to be read together, for the log."""
        return {
            "cases": len(self.cases),
            "cases_sha256": sha256_of(sorted(case.id for case in self.cases)),
            "folds": self.folds,
            "evaluators": list(self.evaluators),
            "sources": {source.name: source.sha256 for source in self.sources},
            "models": {model: sha256_of(sorted(texts.items())) for model, texts in self.answers.items()},
            "copies": self.copies(),
        }


def deal(cases: Sequence[UrsCase], folds: int) -> dict[str, int]:
    """Fold of each case, from 1. Folds differ by at most one case in all, and by one of each intent and language."""
    by_kind = sorted(cases, key=lambda case: (case.intent, case.language))
    return {case.id: place % folds + 1 for place, case in enumerate(by_kind)}


def sha256_of(value: object) -> str:
    """Hash of texts in lists."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()


def draw(ordered: Sequence[UrsCase], number: int, folds: int) -> tuple[UrsCase, ...]:
    """The first cases of an order in which every beginning holds intents and languages in proportion."""
    taken = tuple(ordered[:number])
    if len(taken) < number:
        logger.warning(f"cases={number}: there are only {len(taken)}, and all are taken")
    if folds > len(taken):
        raise InputError(f"folds: must be at most the number of cases, {len(taken)}, got {folds}")
    return taken


def read_sources(places: Sequence[str], cases: Sequence[UrsCase]) -> tuple[Source, ...]:
    """References of all cases from files, logs, or `dataset`; a case without one is an error."""
    sources = [_own(cases) if place == DATASET else _read(read_references(place), cases) for place in places]
    names = [source.name for source in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"references: {choices(twice)} is listed twice; join the logs of one model with `urs-inspect references`"
        )
    return tuple(sources)


def _read(references: References, cases: Sequence[UrsCase]) -> Source:
    return _of(references.source, with_references(cases, references))


def _own(cases: Sequence[UrsCase]) -> Source:
    if lacking := [case.id for case in cases if is_blank(case.reference)]:
        raise InputError(f"references: of the data's own, {named(lacking)} of {len(cases)} cases have none")
    return _of(DATASET, cases)


def _of(name: str, cases: Sequence[UrsCase]) -> Source:
    texts = {case.id: case.reference.strip() for case in cases}
    return Source(name, sha256_of(sorted(texts.items())), texts)


def read_models(
    pool: Pool, cases: Sequence[UrsCase], models: Sequence[str] | None, *, need_all: bool
) -> dict[str, dict[str, str]]:
    """Model -> id of a case -> answer, of all models or those named; `need_all`: each must have answered each case."""
    if unknown := sorted(set(models or ()) - set(pool.responses)):
        raise InputError(f"models: no answers of {choices(unknown)}; there are some of {choices(pool.contestants)}")
    asked = {item.id: item.text.strip() for item in pool.instructions}
    if changed := [case.id for case in cases if asked.get(case.id, case.question.strip()) != case.question.strip()]:
        raise InputError(f"answers: {named(changed)} of {len(cases)} cases have another question in the logs")
    chosen = pool.contestants if models is None else tuple(models)
    answers = {
        model: {case.id: pool.responses[model][case.id] for case in cases if case.id in pool.responses[model]}
        for model in chosen
    }
    lacking = {model: [case.id for case in cases if case.id not in answers[model]] for model in chosen}
    lines = [f"{model} has none to {named(ids)}" for model, ids in lacking.items() if ids]
    if lines and need_all:
        raise InputError(
            f"answers: of {len(cases)} cases, {'; '.join(lines)}. Answer them first (`inspect eval urs_inspect/urs` "
            f"with the same dataset, seed and filters takes these cases with --limit {len(cases)}), name other models "
            "with -T models=..., or leave these judgements without a score with -T unanswered=unscored"
        )
    for line in lines:
        logger.warning(f"answers: of {len(cases)} cases, {line}; these stay without a score")
    if empty := [model for model in chosen if not answers[model]]:
        raise InputError(f"answers: none to any of the {len(cases)} cases by {choices(empty)}")
    return answers
