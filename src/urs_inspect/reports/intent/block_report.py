"""Answers of models that may be ranked together -> what the report says about them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from urs_inspect.errors import InputError
from urs_inspect.rating import (
    Estimate,
    MeanColumn,
    MeanDifference,
    bootstrap_means,
    difference_column,
    effective_number,
    mean_differences,
    mean_estimates,
    raking,
    tiers_of,
)
from urs_inspect.rating.mean_columns import Reweight
from urs_inspect.reports.intent import model_facts
from urs_inspect.reports.intent.answer_rows import CRITERION
from urs_inspect.reports.intent.blocks import BlockAnswers
from urs_inspect.reports.intent.question_table import ALL, Columns, QuestionTable, columns_of, question_table
from urs_inspect.reports.intent.report import Block, ModelReport, PairedDifference, Traffic
from urs_inspect.reports.intent.titles import criteria_in_order, titles_of
from urs_inspect.reports.intent.traffic import TrafficMix
from urs_inspect.reports.log_files import short_name
from urs_inspect.reports.results import SIMULATED
from urs_inspect.rubrics import FINAL, Rubric

_DIGITS = 9
"""Means that agree to so many decimals are equal; beyond is noise of summing."""


@dataclass(frozen=True)
class Bootstrap:
    """Settings of the bootstrap.

    Attributes:
        rounds: Rounds, in which whole questions are drawn.
        level: Confidence level of the intervals, between 0 and 1.
        seed: Its seed.
    """

    rounds: int
    level: float
    seed: int


@dataclass(frozen=True)
class _Ranked:
    """Models of a block in order, with their means: key of a column, or `criterion/<id>`, -> one a model."""

    table: QuestionTable
    columns: Columns
    means: dict[str, tuple[Estimate, ...]]
    differences: tuple[MeanDifference, ...]
    places: list[dict[str, int]]
    tiers: tuple[int, ...]


def block_report(
    found: BlockAnswers, rubric: Rubric, mix: TrafficMix | None, countries: int | None, bootstrap: Bootstrap
) -> Block:
    """Say everything about the models of a block.

    Args:
        found: Their answers.
        rubric: Names and order of intents, languages and criteria.
        mix: Shares by which means and intervals are weighted; None for those of the data.
        countries: Most countries with a column of their own; None for all.
        bootstrap: Its settings.

    Raises:
        InputError: If the shares cannot be had from these questions.
    """
    table, notes = question_table(found.table, found.models), list(found.notes)
    reweight, traffic = None, None
    if mix is not None:
        table, reweight, traffic = _weighted(table, mix, notes)
    ranked = _rank(_best_first(table, reweight), rubric, countries, reweight, bootstrap)
    answers = found.table[found.table["question"].isin(table.facts.index)]
    rows = dict(iter(answers.groupby("model", sort=False)))
    models = ranked.table.models
    return Block(
        conditions=found.conditions,
        apart_because=found.apart_because,
        models=tuple(
            _model(ranked, number, rows[model], found.conditions.judges, bootstrap)
            for number, model in enumerate(models)
        ),
        differences=tuple(_paired(one, models) for one in ranked.differences),
        tiers=tuple(
            tuple(model for model, tier in zip(models, ranked.tiers, strict=True) if tier == number)
            for number in range(1, max(ranked.tiers, default=0) + 1)
        ),
        questions=len(table.facts),
        groups=ranked.columns.groups,
        parts=ranked.columns.parts,
        languages=ranked.columns.languages,
        countries=ranked.columns.countries,
        criteria=criteria_in_order(table.criteria, rubric),
        titles=titles_of(ranked.columns, table.facts, table.criteria, rubric),
        question_counts={key: len(questions) for key, questions in ranked.columns.questions.items()},
        traffic=traffic,
        notes=(*notes, *model_facts.notes_of(answers, table.facts)),
    )


def _weighted(table: QuestionTable, mix: TrafficMix, notes: list[str]) -> tuple[QuestionTable, Reweight, Traffic]:
    """Keep the questions that have a share, and weight them."""
    used = np.all([margin.category >= 0 for margin in mix.margins(table.facts)], axis=0)
    if not used.all():
        notes.append(
            f"{int((~used).sum()):,} of {len(used):,} questions are of kinds without a share in {mix.source} and do "
            "not count."
        )
    kept = table.of(np.flatnonzero(used), range(len(table.models)))
    reweight = raking(mix.margins(kept.facts))
    weights = reweight(np.ones((1, len(kept.facts))))[0]
    if np.isnan(weights).any() or not weights.any():
        raise InputError(
            f"{mix.source}: no weights of the questions give all of these shares together: {', '.join(mix.shares)}; "
            "too few questions are of several of the kinds at once"
        )
    return kept, reweight, Traffic(mix.source, mix.shares, effective_number(weights))


def _best_first(table: QuestionTable, reweight: Reweight | None) -> QuestionTable:
    everything = np.arange(len(table.facts))
    [found] = bootstrap_means([MeanColumn(everything, table.finals)], len(everything), reweight=reweight, rounds=1)
    means = [-math.inf if math.isnan(mean) else round(mean, _DIGITS) for mean in found.values.tolist()]
    return table.of(everything, sorted(range(len(means)), key=lambda model: (-means[model], table.models[model])))


def _rank(
    table: QuestionTable, rubric: Rubric, countries: int | None, reweight: Reweight | None, bootstrap: Bootstrap
) -> _Ranked:
    """Bootstrap every mean and difference over the same rounds."""
    columns = columns_of(table.facts, rubric, countries)
    wanted = {key: MeanColumn(chosen, table.finals[chosen]) for key, chosen in columns.questions.items()}
    for name, values in table.criteria.items():
        chosen = np.flatnonzero(~np.isnan(values).all(axis=1))
        wanted[CRITERION + name] = MeanColumn(chosen, values[chosen])
    *draws, differing = bootstrap_means(
        [*wanted.values(), difference_column(table.finals)],
        len(table.facts),
        reweight=reweight,
        rounds=bootstrap.rounds,
        seed=bootstrap.seed,
    )
    means = {key: mean_estimates(found, bootstrap.level) for key, found in zip(wanted, draws, strict=True)}
    differences = mean_differences(differing, len(table.models), bootstrap.level)
    return _Ranked(
        table=table,
        columns=columns,
        means=means,
        differences=differences,
        places=model_facts.places_of({key: means[key] for key in (ALL, *columns.groups)}),
        tiers=tiers_of(len(table.models), differences),
    )


def _model(
    ranked: _Ranked, number: int, answers: pd.DataFrame, judges: Sequence[str], bootstrap: Bootstrap
) -> ModelReport:
    columns, name = ranked.columns, ranked.table.models[number]

    def mean(key: str) -> Estimate:
        return ranked.means[key][number]

    return ModelReport(
        model=name,
        simulated=any(one.startswith(SIMULATED) for one in (name, *judges)),
        all=mean(ALL),
        by_group={group: mean(group) for group in columns.groups},
        by_part={part: mean(part) for part in columns.parts},
        by_language={language: mean(language) for language in columns.languages},
        by_group_and_language={cell: mean("/".join(cell)) for cell in columns.cells},
        by_country={country: mean(country) for country in columns.countries},
        by_criterion={criterion: mean(CRITERION + criterion) for criterion in ranked.table.criteria},
        places=ranked.places[number],
        tier=ranked.tiers[number],
        questions=int(answers.dropna(subset=FINAL)["question"].nunique()),
        answers=len(answers),
        epochs=model_facts.most_epochs(answers),
        outcomes=model_facts.outcomes_of(answers),
        unscored=int(answers[FINAL].isna().sum()),
        empty=model_facts.empty_answers(answers),
        errors=model_facts.failed_samples(answers),
        self_judged=model_facts.self_judged(answers),
        epoch_deviation=model_facts.epoch_deviation(answers),
        judge_deviation=model_facts.judge_deviation(answers),
        lengths=model_facts.lengths_of(answers, bootstrap.rounds, bootstrap.level, bootstrap.seed),
        usage=model_facts.usage_of(answers),
        log=", ".join(dict.fromkeys(map(short_name, answers["log"].unique()))),
    )


def _paired(one: MeanDifference, models: Sequence[str]) -> PairedDifference:
    return PairedDifference(
        first=models[one.first],
        second=models[one.second],
        difference=one.difference,
        p=one.p,
        p_holm=one.p_holm,
        apart=one.apart,
        questions=one.difference.n,
    )
