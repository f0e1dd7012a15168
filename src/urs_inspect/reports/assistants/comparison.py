"""Answers of models and assistants -> how they compare on the questions that all of them have a score for."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from urs_inspect.rating import Estimate, MeanColumn, bootstrap_means, compare_means, mean_estimates
from urs_inspect.rating.bootstrap import LEVEL, SEED, Floats
from urs_inspect.reports.assistants.answers import CHOSEN, FACTUAL, NO_RESULT, NOTHING, TRANSLATION, AssistantAnswers
from urs_inspect.reports.assistants.report import (
    AssistantReport,
    Comparison,
    ServiceDifference,
    ServiceScore,
    WithoutSome,
)
from urs_inspect.reports.intent.block_report import Bootstrap
from urs_inspect.reports.intent.blocks import BlockAnswers, blocks_of
from urs_inspect.reports.intent.question_table import question_table
from urs_inspect.reports.intent.statistics import ROUNDS
from urs_inspect.reports.log_files import short_name
from urs_inspect.rubrics import FINAL, LOWEST


def compare_assistants(
    answers: AssistantAnswers, *, rounds: int = ROUNDS, level: float = LEVEL, seed: int = SEED, command: str = ""
) -> AssistantReport:
    """Compare models and assistants (URS paper, Tables 14 and 15).

    Scores compare only where data, rubric, judges, references and prompts are the same, and only over the questions
    that all have a score for: a search that finds pages for easy questions alone would else have the better mean.

    Args:
        answers: Their answers.
        rounds: Rounds of the bootstrap over questions.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.
    """
    bootstrap = Bootstrap(rounds, level, seed)
    comparisons: list[Comparison] = []
    used: set[str] = set()
    for cases in (FACTUAL, TRANSLATION, CHOSEN):
        rows = answers.table[answers.table["cases"] == cases]
        for block in blocks_of(rows) if len(rows) else ():
            logs = set(block.table["log"])
            used |= logs
            comparisons.append(_comparison(cases, block, rows[rows["log"].isin(logs)], bootstrap))
    parts = [str(log) for log in answers.table["log"].unique() if log not in used]
    alone = [f"{short_name(log)} was left out: not all others were asked its questions." for log in parts]
    left_out = (*answers.left_out, *alone)
    return AssistantReport(tuple(comparisons), answers.simulated, left_out, level, rounds, seed, command)


def _comparison(cases: str, block: BlockAnswers, answers: pd.DataFrame, bootstrap: Bootstrap) -> Comparison:
    """Compare the services of a block over all of their answers, those to questions of their own included."""
    finals = question_table(answers, block.models).finals
    nothing = answers["became"] == NOTHING
    filled = question_table(answers.assign(**{FINAL: answers[FINAL].mask(nothing, LOWEST)}), block.models).finals
    common, common_with_nothing = _common(finals), _common(filled)
    means, with_nothing = _means(common, bootstrap), _means(common_with_nothing, bootstrap)
    # Equal means stand in the order of the names, so that the order of logs changes nothing.
    order = sorted(
        range(len(block.models)), key=lambda one: (-_known(means[one], with_nothing[one]), block.models[one])
    )
    names = tuple(block.models[one] for one in order)
    return Comparison(
        cases=cases,
        conditions=block.conditions,
        apart_because=block.apart_because,
        questions=len(finals),
        common=len(common),
        common_with_nothing=len(common_with_nothing),
        services=tuple(
            _service(name, answers[answers["model"] == name], means[one], with_nothing[one])
            for one, name in zip(order, names, strict=True)
        ),
        differences=_differences(common[:, order], names, bootstrap),
        without=_without(finals[:, order], names),
    )


def _common(finals: Floats) -> Floats:
    """The questions that all have a score for."""
    return finals[~np.isnan(finals).any(axis=1)]


def _means(finals: Floats, bootstrap: Bootstrap) -> tuple[Estimate, ...]:
    column = MeanColumn(np.arange(len(finals)), finals)
    [found] = bootstrap_means([column], len(finals), rounds=bootstrap.rounds, seed=bootstrap.seed)
    return mean_estimates(found, bootstrap.level)


def _known(mean: Estimate, with_nothing: Estimate) -> float:
    return next((value for value in (mean.value, with_nothing.value) if not np.isnan(value)), 0.0)


def _service(name: str, answers: pd.DataFrame, mean: Estimate, with_nothing: Estimate) -> ServiceScore:
    reasons = Counter(answers.loc[answers["became"] == NO_RESULT, "because"])
    return ServiceScore(
        service=name,
        mean=mean,
        with_nothing=with_nothing,
        questions=int(answers["question"].nunique()),
        scored=int(answers.loc[answers[FINAL].notna(), "question"].nunique()),
        became={str(what): int(count) for what, count in answers["became"].value_counts().items()},
        self_judged=int(answers.loc[answers[FINAL].notna(), "self_judged"].sum()),
        because=str(min(reasons, key=lambda reason: (-reasons[reason], reason))) if reasons else "",
    )


def _differences(finals: Floats, names: Sequence[str], bootstrap: Bootstrap) -> tuple[ServiceDifference, ...]:
    if not len(finals):
        return ()
    found = compare_means(finals, rounds=bootstrap.rounds, level=bootstrap.level, seed=bootstrap.seed)
    return tuple(
        ServiceDifference(names[one.first], names[one.second], one.difference, one.p, one.p_holm, one.significant)
        for one in found
    )


def _without(finals: Floats, names: Sequence[str]) -> WithoutSome | None:
    """The fewest to leave out, one after the other, so that the others have more questions in common."""
    left: list[int] = []
    kept = list(range(len(names)))
    common = start = len(_common(finals))
    scored = np.count_nonzero(~np.isnan(finals), axis=0)
    while len(kept) > 2 and common == start:
        gains = {one: len(_common(finals[:, [other for other in kept if other != one]])) for one in kept}
        # Where it makes no difference yet, the one with the fewest scores goes first.
        worst = max(kept, key=lambda one: (gains[one], -scored[one]))
        kept.remove(worst)
        left.append(worst)
        common = gains[worst]
    return WithoutSome(tuple(names[one] for one in left), common) if common > start else None
