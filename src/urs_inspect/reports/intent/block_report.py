"""Answers of models that may be ranked together -> what the report says about them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from urs_inspect.rating import Estimate, MeanColumn, MeanDifference, effective_number, rank_intervals
from urs_inspect.rating.bootstrap import Floats
from urs_inspect.reports.intent import model_facts
from urs_inspect.reports.intent.answer_rows import CRITERION
from urs_inspect.reports.intent.blocks import BlockAnswers
from urs_inspect.reports.intent.comparisons import OrderedScores, compare_models, order_models
from urs_inspect.reports.intent.question_table import ALL, Columns, QuestionTable, columns_of, question_table
from urs_inspect.reports.intent.report import Best, Block, ModelReport, PairedDifference, Traffic, Verdict
from urs_inspect.reports.intent.titles import criteria_in_order, titles_of
from urs_inspect.reports.intent.traffic import TrafficMix
from urs_inspect.reports.log_files import short_name
from urs_inspect.reports.results import SIMULATED
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric
from urs_inspect.texts import counted

_SHRUNK = 0.9
"""Below this share of the questions that were asked, a note names the model that takes most of them away."""


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
    """Models of a block in order, with their means: key of a column, or `criterion/<id>`, -> one per model."""

    scores: OrderedScores
    columns: Columns
    means: dict[str, tuple[Estimate, ...]]
    comparisons: dict[str, tuple[MeanDifference, ...]]
    ranks: tuple[tuple[int, int], ...]
    scored: Floats
    lowest: Floats
    highest: Floats


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
    if mix is not None:
        table = _with_share(table, mix, notes)
    ranked = _rank(order_models(table, mix), rubric, countries, bootstrap)
    scores, columns = ranked.scores, ranked.columns
    answers = found.table[found.table["question"].isin(table.facts.index)]
    rows = dict(iter(answers.groupby("model", sort=False)))
    differences = tuple(_paired(ranked, ALL, one) for one in ranked.comparisons[ALL])
    return Block(
        conditions=found.conditions,
        apart_because=found.apart_because,
        models=tuple(
            _model(ranked, number, rows[model], found.conditions.judges, bootstrap)
            for number, model in enumerate(scores.table.models)
        ),
        differences=differences,
        best={key: _best(ranked, key) for key in ranked.comparisons},
        questions=len(scores.common),
        asked=len(table.facts),
        groups=columns.groups,
        parts=columns.parts,
        languages=columns.languages,
        countries=columns.countries,
        criteria=criteria_in_order(table.criteria, rubric),
        titles=titles_of(columns, table.facts, table.criteria, rubric),
        question_counts={key: int(np.isin(scores.common, one).sum()) for key, one in columns.questions.items()},
        traffic=None
        if mix is None
        else Traffic(mix.source, mix.shares, effective_number(scores.common_weights.values)),
        notes=(*notes, *_missing_notes(scores), *model_facts.notes_of(answers, table.facts)),
    )


def _with_share(table: QuestionTable, mix: TrafficMix, notes: list[str]) -> QuestionTable:
    """Keep the questions that have a share."""
    used = np.all([margin.category >= 0 for margin in mix.margins(table.facts)], axis=0)
    if not used.all():
        notes.append(
            f"{int((~used).sum()):,} of {len(used):,} questions are of kinds without a share in {mix.source} and do "
            "not count."
        )
    return table.of(np.flatnonzero(used), range(len(table.models)))


def _rank(scores: OrderedScores, rubric: Rubric, countries: int | None, bootstrap: Bootstrap) -> _Ranked:
    """Bootstrap every mean and difference over the same rounds."""
    table, finals = scores.table, scores.comparable
    columns = columns_of(table.facts, rubric, countries)
    wanted = {key: _column(finals, np.isin(scores.common, chosen)) for key, chosen in columns.questions.items()}
    for name, values in table.criteria.items():
        given = np.where(np.arange(len(table.models)) < scores.ranked, values[scores.common], np.nan)
        judged = ~np.isnan(given).all(axis=0)
        complete = np.isnan(given[:, judged]).sum(axis=1) == 0
        wanted[CRITERION + name] = _column(given, complete if judged.any() else np.zeros_like(complete))
    tested = {key: columns.questions[key] for key in (ALL, *columns.groups, *columns.languages)}
    comparisons, means = compare_models(
        scores,
        tested,
        rounds=bootstrap.rounds,
        level=bootstrap.level,
        seed=bootstrap.seed,
        others=list(wanted.values()),
    )
    return _Ranked(
        scores=scores,
        columns=columns,
        means=dict(zip(wanted, means, strict=True)),
        comparisons=comparisons,
        ranks=rank_intervals(scores.ranked, [(one.first, one.second) for one in comparisons[ALL] if one.significant]),
        scored=scores.weights.means(table.finals),
        lowest=scores.weights.means(table.filled(LOWEST)),
        highest=scores.weights.means(table.filled(HIGHEST)),
    )


def _column(values: Floats, chosen: npt.NDArray[np.bool_]) -> MeanColumn:
    return MeanColumn(np.flatnonzero(chosen), values[chosen])


def _best(ranked: _Ranked, key: str) -> Best:
    names, pairs = ranked.scores.table.models, ranked.comparisons[key]
    if key == ALL:
        pairs = tuple(one for one in pairs if one.first == 0 and one.second < ranked.scores.ranked)
    if not pairs:
        known = [name for name, mean in zip(names, ranked.means[key], strict=True) if not np.isnan(mean.value)]
        return Best(known[0] if known else "", ())
    return Best(names[pairs[0].first], tuple(_paired(ranked, key, one) for one in pairs))


def _paired(ranked: _Ranked, key: str, one: MeanDifference) -> PairedDifference:
    table, chosen = ranked.scores.table, ranked.columns.questions[key]
    lacks = {table.models[model]: int(table.unscored[chosen, model].sum()) for model in (one.first, one.second)}
    over_common = one.p_holm < 1 - one.difference.level
    depends = {model: number for model, number in lacks.items() if number and over_common}
    verdict: Verdict
    if one.significant:
        verdict, depends = "significant", {}
    elif not one.difference.n:
        verdict = "not comparable"
    elif depends:
        verdict = "depends on unscored answers"
    else:
        # A third model's missing scores made the common questions fewer; over all questions the claim does not hold.
        verdict = "not significant over all questions" if over_common else "not distinguishable"
    return PairedDifference(
        first=table.models[one.first],
        second=table.models[one.second],
        difference=one.difference,
        p=one.p,
        p_holm=one.p_holm,
        p_worst=one.p_worst,
        verdict=verdict,
        depends_on=depends,
        questions=one.difference.n,
    )


def _missing_notes(scores: OrderedScores) -> list[str]:
    """What missing scores take away, a sentence each."""
    table, asked, common = scores.table, len(scores.table.finals), len(scores.common)
    unscored = int(table.unscored.sum())
    if not unscored:
        return []
    lacking = f"{unscored:,} of {int(table.asked.sum()):,} answers have no score."
    over = f"over the {common:,} of {asked:,} questions for which"
    notes = [
        f"{lacking} Means, ranks and tests are {over} every ranked model has one, and a difference is significant only "
        "if it is so in the worst case of the missing scores."
        if scores.ranked > 1
        else f"{lacking} Means are {over} {table.models[0]} has one."
    ]
    there = ~np.isnan(table.finals)
    without = [
        int(np.delete(there[:, : scores.ranked], model, axis=1).all(axis=1).sum()) for model in range(scores.ranked)
    ]
    if scores.ranked > 1 and common < _SHRUNK * asked and max(without) > common:
        most = int(np.argmax(without))
        notes.append(
            f"{table.models[most]} takes away most of the other {asked - common:,}: without its log, the ranking would "
            f"be over {without[most]:,} questions."
        )
    most_scored = int(there.sum(axis=0).max(initial=0))
    notes += [
        f"{name} is not ranked: it has a score for {counted(number, 'question')}, fewer than half of the "
        f"{most_scored:,} of the model that has most."
        for name, number in zip(table.models[scores.ranked :], there[:, scores.ranked :].sum(axis=0), strict=True)
    ]
    return notes


def _model(
    ranked: _Ranked, number: int, answers: pd.DataFrame, judges: Sequence[str], bootstrap: Bootstrap
) -> ModelReport:
    columns, table = ranked.columns, ranked.scores.table
    name, unscored = table.models[number], int(answers[FINAL].isna().sum())

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
        by_criterion={criterion: mean(CRITERION + criterion) for criterion in table.criteria},
        ranks=ranked.ranks[number] if number < ranked.scores.ranked else None,
        unscored_share=unscored / len(answers),
        mean_scored=float(ranked.scored[number]),
        mean_lowest=float(ranked.lowest[number]),
        mean_highest=float(ranked.highest[number]),
        questions=int(answers.dropna(subset=FINAL)["question"].nunique()),
        answers=len(answers),
        epochs=model_facts.most_epochs(answers),
        outcomes=model_facts.outcomes_of(answers),
        unscored=unscored,
        empty=model_facts.empty_answers(answers),
        errors=model_facts.failed_samples(answers),
        self_judged=model_facts.self_judged(answers),
        epoch_deviation=model_facts.epoch_deviation(answers),
        judge_deviation=model_facts.judge_deviation(answers),
        lengths=model_facts.lengths_of(answers, bootstrap.rounds, bootstrap.level, bootstrap.seed),
        usage=model_facts.usage_of(answers),
        log=", ".join(dict.fromkeys(map(short_name, answers["log"].unique()))),
    )
