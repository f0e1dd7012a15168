"""Answers of models that may be ranked together -> what the report says about them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from urs_inspect._util import InputError, counted
from urs_inspect.judging import NO_RESPONSE
from urs_inspect.logs.files import short_name
from urs_inspect.logs.scores import SIMULATED
from urs_inspect.reports.intent.answer_rows import CRITERION, ERROR, NOT_SENT
from urs_inspect.reports.intent.blocks import BlockAnswers
from urs_inspect.reports.intent.report import (
    Best,
    Block,
    LengthBin,
    Lengths,
    ModelReport,
    PairedDifference,
    Traffic,
    Usage,
    Verdict,
)
from urs_inspect.reports.intent.traffic import TrafficMix
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, Rubric
from urs_inspect.stats import (
    Estimate,
    MeanColumn,
    MeanDifference,
    bootstrap_means,
    mean_estimates,
    raking,
    rank_intervals,
)
from urs_inspect.stats.bootstrap import Floats, Integers, Resampling, pooled_deviation, reported_bounds
from urs_inspect.stats.correlation import rank_correlation
from urs_inspect.stats.means import Reweight, effective_number
from urs_inspect.stats.paired import all_pairs, difference_column, mean_differences, worst_p_values

ALL = "all"


@dataclass(frozen=True)
class QuestionTable:
    """Scores of models on the same questions. Epochs of a question are averaged first, since they belong together.

    Attributes:
        facts: One row a question, its id as index, with the columns intent, group, language and country.
        models: Names of the models.
        finals: Final scores, NaN where a model has none, shape (questions, models). Where some epochs have no score, it
            is the mean of the others.
        criteria: Criterion -> scores, of the same shape.
        asked: Number of answers, with or without a score, of the same shape.
        unscored: Number of answers without a score, of the same shape.
    """

    facts: pd.DataFrame
    models: tuple[str, ...]
    finals: Floats
    criteria: dict[str, Floats]
    asked: Integers
    unscored: Integers

    def filled(self, score: float) -> Floats:
        """Final scores in which each answer without a score has this one; NaN where a model was not asked."""
        known = (self.asked - self.unscored) * np.nan_to_num(self.finals)
        total = known + self.unscored * score
        return np.asarray(np.divide(total, self.asked, out=np.full(total.shape, np.nan), where=self.asked > 0))

    def of(self, chosen: Integers, models: Sequence[int]) -> "QuestionTable":
        """Some questions and models of it, by their numbers and in their order."""
        return QuestionTable(
            self.facts.iloc[chosen],
            tuple(self.models[number] for number in models),
            self.finals[chosen][:, list(models)],
            {name: values[chosen][:, list(models)] for name, values in self.criteria.items()},
            self.asked[chosen][:, list(models)],
            self.unscored[chosen][:, list(models)],
        )


def question_table(answers: pd.DataFrame, models: Sequence[str]) -> QuestionTable:
    """Average epochs, and lay models side by side.

    Args:
        answers: Rows of the table of answers.
        models: Names of the models.

    Returns:
        The table, questions in the order of their ids, so that the order of logs does not change any interval.
    """
    facts = answers.groupby("question", sort=True)[["intent", "group", "language", "country"]].first()
    criteria = [name for name in answers.columns if str(name).startswith(CRITERION)]
    cells = answers.groupby(["question", "model"], sort=True)
    means, asked, known = cells[[FINAL, *criteria]].mean(), cells.size(), cells[FINAL].count()

    def values(column: "pd.Series[float]") -> Floats:
        wide = column.unstack("model")
        return wide.reindex(index=facts.index, columns=list(models)).to_numpy(dtype=np.float64)

    def counts(column: "pd.Series[int]") -> Integers:
        return np.nan_to_num(values(column.astype(float))).astype(np.int64)

    scored = {name: values(means[name]) for name in criteria}
    return QuestionTable(
        facts,
        tuple(models),
        values(means[FINAL]),
        {name.removeprefix(CRITERION): given for name, given in scored.items() if not np.isnan(given).all()},
        counts(asked),
        counts(asked - known),
    )


@dataclass(frozen=True)
class Columns:
    """The columns of a block: what they are called, and which questions each is about.

    Attributes:
        groups: Ids of reported intents, in the order of the rubric.
        parts: Reported intent and intent, where several share a reported one, as `<group>: <intent>`.
        languages: Codes of languages, in the order of the rubric.
        cells: Reported intent and language, where there are such questions.
        countries: Names of countries, the most frequent first; the rest together as the last.
        questions: Key of a column -> numbers of its questions; keys are `all`, a group, part or language,
            `<group>/<language>`, and the name of a country.
    """

    groups: tuple[str, ...]
    parts: tuple[str, ...]
    languages: tuple[str, ...]
    cells: tuple[tuple[str, str], ...]
    countries: tuple[str, ...]
    questions: dict[str, Integers]


def columns_of(facts: pd.DataFrame, rubric: Rubric, countries: int | None = None) -> Columns:
    """Find the columns of some questions.

    Args:
        facts: As in `QuestionTable`.
        rubric: Says in which order intents and languages stand; those that it does not know come last.
        countries: Most countries with a column of their own; None for all.
    """
    groups = _ordered(facts["group"], [intent.group for intent in rubric.intents.values()])
    languages = _ordered(facts["language"], rubric.languages)
    intents = _ordered(facts["intent"], rubric.intents)
    pairs = list(dict.fromkeys(zip(facts["group"], facts["intent"], strict=True)))
    parts = {
        f"{group}: {intent}": (facts["group"] == group) & (facts["intent"] == intent)
        for group in groups
        if sum(first == group for first, _ in pairs) > 1
        for intent in intents
        if (group, intent) in pairs
    }
    masks = {ALL: facts["group"].notna()}
    masks |= {group: facts["group"] == group for group in groups}
    masks |= parts
    masks |= {language: facts["language"] == language for language in languages}
    cells = {(g, c): masks[g] & masks[c] for g in groups for c in languages if (masks[g] & masks[c]).any()}
    masks |= {f"{group}/{language}": mask for (group, language), mask in cells.items()}
    shown = {
        f"{name} (country)" if name in masks else name: members
        for name, members in _countries(facts["country"], countries).items()
    }
    masks |= {name: facts["country"].isin(members) for name, members in shown.items()}
    return Columns(
        groups=tuple(groups),
        parts=tuple(parts),
        languages=tuple(languages),
        cells=tuple(cells),
        countries=tuple(shown),
        questions={key: np.flatnonzero(mask.to_numpy()) for key, mask in masks.items()},
    )


def _ordered(values: "pd.Series[str]", order: Iterable[str]) -> list[str]:
    there = set(values)
    known = [name for name in dict.fromkeys(order) if name in there]
    return known + sorted(there - set(known))


def _countries(values: "pd.Series[str]", most: int | None) -> dict[str, list[str]]:
    """Name of a column -> countries in it."""
    counts = values[values != ""].value_counts()
    names = sorted(counts.index, key=lambda name: (-counts[name], name))
    if most is None or len(names) <= most:
        return {name: [name] for name in names}
    rest = names[most:]
    # One country alone needs no pool.
    pooled = rest[0] if len(rest) == 1 else f"{len(rest)} other countries"
    return {**{name: [name] for name in names[:most]}, pooled: rest}


_BINS = 10
_MOST_ROUNDS = 1000
"""Ranks must be found anew in every round, which takes a hundred times as long as a mean."""


def lengths_of(answers: pd.DataFrame, rounds: int, level: float, seed: int) -> Lengths:
    """Length of answers against their scores.

    Args:
        answers: Rows of one model.
        rounds: Rounds of the bootstrap; at most 1,000 are made.
        level: Confidence level.
        seed: Seed of the bootstrap.
    """
    means = answers.groupby("question", sort=True)[["answer_length", FINAL]].mean()
    correlation = rank_correlation(
        means["answer_length"].to_numpy(),
        means[FINAL].to_numpy(),
        np.arange(len(means)),
        rounds=min(rounds, _MOST_ROUNDS),
        level=level,
        seed=seed,
    )
    low, high = reported_bounds(correlation.low, correlation.high, correlation.clusters, level=level, scale=(-1.0, 1.0))
    correlation = replace(correlation, low=float(low), high=float(high))
    both = answers[["answer_length", FINAL]].dropna().sort_values("answer_length", kind="stable")
    parts = [part for part in np.array_split(both.to_numpy(), min(_BINS, len(both)) or 1) if len(part)]
    bins = [LengthBin(float(np.median(part[:, 0])), float(part[:, 1].mean()), len(part)) for part in parts]
    known = answers["answer_length"].dropna()
    return Lengths(float(known.median()) if len(known) else math.nan, correlation, tuple(bins))


def usage_of(answers: pd.DataFrame) -> Usage:
    """Tokens, money and time of all answers; where some are not known, the mean of the others stands for them."""
    names = (
        "input_tokens",
        "output_tokens",
        "judge_input_tokens",
        "judge_output_tokens",
        "cost",
        "judge_cost",
        "seconds",
    )
    return Usage(*(_scaled(answers[name]) for name in names))


def outcomes_of(answers: pd.DataFrame) -> dict[str, int]:
    """How the judging of answers ended, the most frequent end first."""
    return {str(name): int(count) for name, count in answers["outcome"].value_counts().items()}


def empty_answers(answers: pd.DataFrame) -> int:
    """Number of empty answers, which have the lowest score."""
    return int(answers["outcome"].isin(NO_RESPONSE).sum())


def failed_samples(answers: pd.DataFrame) -> int:
    """Number of samples that ended in an error."""
    return int((answers["outcome"] == ERROR).sum())


def most_epochs(answers: pd.DataFrame) -> int:
    """Most answers to one question."""
    return int(answers.groupby("question").size().max()) if len(answers) else 0


def epoch_deviation(answers: pd.DataFrame) -> float:
    """Standard deviation between epochs of one question, pooled; NaN with one epoch.

    Each epoch answers afresh, so that it holds what answering and judging once more changes.
    """
    scored = answers.dropna(subset=FINAL)
    if not scored["question"].duplicated().any():
        return math.nan
    return pooled_deviation([list(given) for _, given in scored.groupby("question")[FINAL]])


def judge_deviation(answers: pd.DataFrame) -> float:
    """Standard deviation between judgements of one answer by the same judges, pooled; NaN if none was judged twice."""
    scored = answers.dropna(subset=FINAL)
    return pooled_deviation(
        [[final, *earlier] for final, earlier in zip(scored[FINAL], scored["earlier_finals"], strict=True)]
    )


def self_judged(answers: pd.DataFrame) -> float:
    """Share of the scored answers that the model judged itself; NaN without scores."""
    scored = answers.loc[answers[FINAL].notna(), "self_judged"]
    return float(scored.mean()) if len(scored) else math.nan


def notes_of(answers: pd.DataFrame, facts: pd.DataFrame) -> list[str]:
    """What a reader must know about the answers of a block, a sentence each.

    Args:
        answers: Rows of all models.
        facts: Its questions, as in `QuestionTable`.
    """
    notes = []
    if cut := answers.loc[answers["cut_off"], "model"].value_counts().to_dict():
        named = ", ".join(f"{model} {count:,}" for model, count in cut.items())
        notes.append(
            f"{sum(cut.values()):,} of {len(answers):,} answers were cut off at the token limit: {named}. "
            "--max-tokens gives a model more room."
        )
    if unsent := int(answers["judge_temperatures"].str.contains(NOT_SENT, regex=False).sum()):
        notes.append(
            f"For {unsent:,} of {len(answers):,} answers the temperature that was requested of a judge was not sent by "
            "its provider's client: that judge ran at its default temperature."
        )
    temperatures = {text.replace(NOT_SENT, "") for text in answers["judge_temperatures"].unique()} - {""}
    if len(temperatures) > 1:
        notes.append(f"Judges ran at different temperatures: {', '.join(sorted(temperatures))}.")
    blank = int((facts["country"] == "").sum())
    if 0 < blank < len(facts):
        notes.append(f"{blank:,} of {len(facts):,} questions name no country; they count everywhere but by country.")
    return notes


def _scaled(values: "pd.Series[float]") -> float:
    known = values.dropna()
    return float(known.mean() * len(values)) if len(known) else math.nan


_ENGLISH = "en"
_LANGUAGES = {"en": "English", "zh": "Chinese"}


def criteria_in_order(criteria: Iterable[str], rubric: Rubric) -> tuple[str, ...]:
    """Criteria in the order of the rubric, those that it does not know last."""
    there = list(criteria)
    known = [name for name in rubric.criteria if name in there]
    return (*known, *sorted(set(there) - set(known)))


def titles_of(columns: Columns, facts: pd.DataFrame, criteria: Iterable[str], rubric: Rubric) -> dict[str, str]:
    """Id of a reported intent, part, intent, language or criterion -> its English name.

    Args:
        columns: The columns of a block.
        facts: Its questions.
        criteria: Its criteria.
        rubric: Where names come from; ids that it does not know are shown with blanks for underlines.
    """
    titles = {group: group for group in columns.groups}
    titles |= {intent: _intent(intent, rubric) for intent in dict.fromkeys(facts["intent"])}
    for part in columns.parts:
        group, _, intent = part.rpartition(": ")
        titles[part] = f"{group}: {_intent(intent, rubric)}"
    titles |= {code: _language(code, rubric) for code in columns.languages}
    return titles | {name: _criterion(name, rubric) for name in criteria}


def _intent(name: str, rubric: Rubric) -> str:
    texts = rubric.intents[name].text if name in rubric.intents else {}
    return texts[_ENGLISH].name if _ENGLISH in texts else _plain(name)


def _criterion(name: str, rubric: Rubric) -> str:
    texts = rubric.criteria.get(name, {})
    return texts[_ENGLISH].name if _ENGLISH in texts else _plain(name)


def _language(code: str, rubric: Rubric) -> str:
    if code in _LANGUAGES:
        return _LANGUAGES[code]
    return rubric.languages[code].name if code in rubric.languages else code


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()


_DIGITS = 9
"""Means that agree to so many decimals are equal; beyond is noise of summing."""
_SHARE = 2
"""A model with scores for fewer than half as many questions as the model that has most is not ranked: it would decide
over which questions all others are ranked."""
_SCALE = (float(LOWEST), float(HIGHEST))
_WIDEST = _SCALE[1] - _SCALE[0]


@dataclass(frozen=True)
class Weights:
    """Weights of some questions.

    Attributes:
        reweight: As for `bootstrap_means`; None if all weigh the same.
        values: Weight of each question, shape (Q,).
    """

    reweight: Reweight | None
    values: Floats

    def means(self, scores: Floats) -> Floats:
        """Mean of each column over the questions that have a value there; NaN without any, shape (K,)."""
        there = ~np.isnan(scores)
        total = self.values @ there
        sums = self.values @ np.where(there, scores, 0.0)
        return np.asarray(np.divide(sums, total, out=np.full(total.shape, np.nan), where=total > 0), dtype=np.float64)


@dataclass(frozen=True)
class OrderedScores:
    """Models in order.

    Attributes:
        table: All questions that were asked; the best model first, those that are not ranked last.
        ranked: Number of models that are ranked.
        common: Numbers of the questions for which all of these have a score.
        weights: Weights of all questions.
        common_weights: Weights of the common ones.
    """

    table: QuestionTable
    ranked: int
    common: Integers
    weights: Weights
    common_weights: Weights

    @property
    def comparable(self) -> Floats:
        """Final scores on the common questions; NaN for models that are not ranked."""
        return np.where(np.arange(len(self.table.models)) < self.ranked, self.table.finals[self.common], np.nan)


def order_models(table: QuestionTable, mix: TrafficMix | None = None) -> OrderedScores:
    """Order models by their means over common questions.

    Args:
        table: All questions that were asked, of kinds that have a share.
        mix: Shares by which questions are weighted; None if all weigh the same.

    Raises:
        InputError: If the shares cannot be had from these questions.
    """
    scored = np.count_nonzero(~np.isnan(table.finals), axis=0)
    counts = (scored > 0) & (_SHARE * scored >= scored.max(initial=0))
    common = np.flatnonzero(~np.isnan(table.finals[:, counts]).any(axis=1) & counts.any())
    weights, common_weights = _weights(table, mix), _weights_of_common(table, common, mix)
    means = np.round(common_weights.means(table.finals[common]), _DIGITS)
    keys = [-math.inf if math.isnan(mean) or not kept else mean for mean, kept in zip(means, counts, strict=True)]
    order = sorted(range(len(keys)), key=lambda model: (not counts[model], -keys[model], table.models[model]))
    ordered = table.of(np.arange(len(table.finals)), order)
    return OrderedScores(ordered, int(counts.sum()), common, weights, common_weights)


def compare_models(
    scores: OrderedScores,
    columns: Mapping[str, Integers],
    *,
    rounds: int,
    level: float,
    seed: int,
    others: Sequence[MeanColumn] = (),
) -> tuple[dict[str, tuple[MeanDifference, ...]], list[tuple[Estimate, ...]]]:
    """Test models against each other, over all questions and in columns.

    Args:
        scores: The models, with their scores.
        columns: Key of a column -> numbers of its questions in the table. In the column `all` every two models are
            compared; in each other one the ranked model with the highest mean there with each other ranked one.
        rounds: Rounds of the bootstrap.
        level: Confidence level.
        seed: Seed of the bootstrap.
        others: Further columns over the common questions, which are numbered from 0; their means are taken over the
            same rounds.

    Returns:
        Key of a column -> its comparisons, the model with the higher mean as first; and the means of the others.
    """
    finals = scores.comparable
    kept = {key: np.flatnonzero(np.isin(scores.common, chosen)) for key, chosen in columns.items()}
    pairs = {key: _pairs(scores, finals, key, there) for key, there in kept.items()}
    wanted = [difference_column(finals[there], pairs[key], questions=there) for key, there in kept.items()]
    reweight = scores.common_weights.reweight
    draws = bootstrap_means([*others, *wanted], len(finals), reweight=reweight, rounds=rounds, seed=seed)
    worst = _worst(scores, columns, pairs, rounds, seed)
    tested = {
        key: mean_differences(
            found,
            pairs[key],
            level,
            worst=worst[key],
            selection=1 if key == ALL else (len(pairs[key]) + 1) / 2,
            scale=(-_WIDEST, _WIDEST),
        )
        for key, found in zip(columns, draws[len(others) :], strict=True)
    }
    return tested, [mean_estimates(found, level, _SCALE) for found in draws[: len(others)]]


def _pairs(scores: OrderedScores, finals: Floats, key: str, questions: Integers) -> list[tuple[int, int]]:
    if key == ALL:
        return all_pairs(len(scores.table.models))
    weights = Weights(None, scores.common_weights.values[questions])
    means = np.round(weights.means(finals[questions]), _DIGITS)
    if np.isnan(means).all():
        return []
    best = int(np.nanargmax(means))
    return [(best, other) for other in range(scores.ranked) if other != best]


def _worst(
    scores: OrderedScores,
    columns: Mapping[str, Integers],
    pairs: Mapping[str, Sequence[tuple[int, int]]],
    rounds: int,
    seed: int,
) -> dict[str, Floats]:
    """Key of a column -> p-values of its pairs in the worst case over all its questions; NaN if all are common.

    Pairs that lack no score are tested as well: which questions are common may depend on the answers of a third model.
    """
    table = scores.table
    lowest, highest = table.filled(LOWEST), table.filled(HIGHEST)
    found = {key: np.full(len(several), np.nan) for key, several in pairs.items()}
    wanted: dict[str, MeanColumn] = {}
    for key, several in pairs.items():
        chosen = columns[key]
        if several and table.unscored[chosen, : scores.ranked].any():
            wanted[key] = difference_column(lowest[chosen], several, highest[chosen], chosen)
    if wanted:
        draws = bootstrap_means(
            list(wanted.values()),
            len(table.finals),
            reweight=scores.weights.reweight,
            rounds=rounds,
            seed=seed,
        )
        found |= {key: worst_p_values(drawn) for key, drawn in zip(wanted, draws, strict=True)}
    return found


def _weights(table: QuestionTable, mix: TrafficMix | None) -> Weights:
    if mix is None:
        return Weights(None, np.ones(len(table.finals)))
    reweight = raking(mix.margins(table.facts))
    weights = reweight(np.ones((1, len(table.finals))))[0]
    if np.isnan(weights).any() or not weights.any():
        raise InputError(
            f"{mix.source}: no weights of the questions give all of these shares together: {', '.join(mix.shares)}; "
            "too few questions are of several of the kinds at once"
        )
    return Weights(reweight, weights)


def _weights_of_common(table: QuestionTable, common: Integers, mix: TrafficMix | None) -> Weights:
    if not len(common):
        return Weights(None, np.ones(0))
    kept = replace(table, facts=table.facts.iloc[common], finals=table.finals[common]) if mix else table
    try:
        return _weights(kept, mix) if mix else Weights(None, np.ones(len(common)))
    except InputError as error:
        if len(common) == len(table.finals):
            raise
        raise InputError(
            f"{error.message}; only the {len(common):,} of {len(table.finals):,} questions count for which all ranked "
            "models have a score: leave out the log of a model that lacks many"
        ) from error


_SHRUNK = 0.9
"""Below this share of the questions that were asked, a note names the model that takes most of them away."""


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
    found: BlockAnswers, rubric: Rubric, mix: TrafficMix | None, countries: int | None, bootstrap: Resampling
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
        notes=(*notes, *_missing_notes(scores), *notes_of(answers, table.facts)),
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


def _rank(scores: OrderedScores, rubric: Rubric, countries: int | None, bootstrap: Resampling) -> _Ranked:
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
    ranked: _Ranked, number: int, answers: pd.DataFrame, judges: Sequence[str], bootstrap: Resampling
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
        epochs=most_epochs(answers),
        outcomes=outcomes_of(answers),
        unscored=unscored,
        empty=empty_answers(answers),
        errors=failed_samples(answers),
        self_judged=self_judged(answers),
        epoch_deviation=epoch_deviation(answers),
        judge_deviation=judge_deviation(answers),
        lengths=lengths_of(answers, bootstrap.rounds, bootstrap.level, bootstrap.seed),
        usage=usage_of(answers),
        log=", ".join(dict.fromkeys(map(short_name, answers["log"].unique()))),
    )
