"""Scores of any task, one row per sample and model -> models compared on the same samples."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.comparison._samples import NO_GROUP
from urs_inspect.logs._naming import short_names
from urs_inspect.reports.numbers._comparison import ROUNDS, ComparedModels, compare_table
from urs_inspect.reports.numbers._scores import (
    ALL,
    OrderedScores,
    ScoreTable,
    order_models,
    score_table,
)
from urs_inspect.rubrics import FINAL
from urs_inspect.stats._bootstrap import LEVEL, SEED, Integers, Resampling, Scale


def compare(
    frame: pd.DataFrame,
    *,
    baseline: str | None = None,
    scale: Scale | None = None,
    lower_is_better: bool = False,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
) -> ComparedModels:
    """Compare models on the samples that all of them have a score for; also `urs_inspect.compare`.

    Means and differences have bootstrap intervals over whole clusters. Differences are tested
    sample by sample: by McNemar's exact test for scores of two values, by the exact sign-flip test
    over few clusters, else by Student's t of the clustered mean; p-values are corrected by Holm.
    Missing scores make no claim: a difference is significant only if it is so when each missing
    score counts against it.

    Args:
        frame: One row per sample and model, or per sample, model and epoch, which are averaged.
            Columns: sample, model (both text), value (number or truth value, NaN for no score), and
            by choice cluster (samples that belong together, such as questions about one text; the
            same for all models) and group (samples of which there is a test of their own).
        baseline: Model with which alone the others are compared; by default every two models are.
        scale: Lowest and highest possible value, for the worst case of missing scores; by default
            those that occur.
        lower_is_better: Whether a lower value is better.
        rounds: Rounds of the bootstrap.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.

    Returns:
        The models, the best first.

    Raises:
        InputError: If the frame lacks a column, has one model only, values that are no numbers or
            beyond the scale, a sample of two clusters or groups, or no sample that all models have
            a score for.

    Examples:
        >>> import pandas as pd
        >>> from urs_inspect import compare
        >>> samples = list(range(12))
        >>> better = pd.DataFrame({"sample": samples, "model": "a", "value": 1.0})
        >>> worse = pd.DataFrame({"sample": samples, "model": "b", "value": [1.0] * 2 + [0.0] * 10})
        >>> compare(pd.concat([better, worse]), scale=(0, 1)).leads
        [('a', 'b')]
    """
    answers = _checked(frame)
    names = list(dict.fromkeys(frame["model"].astype(str)))
    if baseline is not None:
        full = {short: name for name, short in short_names(names).items()}
        baseline = full.get(baseline, baseline)
        if baseline not in names:
            raise InputError(f"baseline: no model '{baseline}'; allowed: {choices(names)}")
    known = answers[FINAL].dropna()
    low, high = _scale_of(known, scale)
    if lower_is_better:
        answers[FINAL] *= -1
        low, high = -high, -low
    facts = [name for name in ("cluster", "group") if name in answers] or ["model"]
    table = score_table(answers, names, facts, (low, high))
    ordered = order_models(table)
    _refuse_unranked(ordered, _by_model(names, (~np.isnan(table.finals)).sum(axis=0)), baseline)
    columns = _columns_of_groups(table)
    compared = compare_table(
        ordered, columns, list(columns), Resampling(rounds, level, seed), baseline, noun="sample"
    )
    attempted = (table.asked > 0).sum(axis=0)
    if attempted.min() < len(table.facts):
        note = (
            f"The models did not attempt the same samples ({_by_model(names, attempted)}): only"
            " those count that all have."
        )
        compared = replace(compared, notes=(note, *compared.notes))
    two_valued = known.nunique() <= 2 and table.clusters is None
    compared = replace(compared, two_valued=two_valued)
    return _negated(compared) if lower_is_better else compared


def _scale_of(values: "pd.Series[float]", scale: Scale | None) -> Scale:
    """The scale that is given, which must hold all values, or the lowest and the highest value."""
    low, high = scale or (float(values.min()), float(values.max()))
    if not (math.isfinite(low) and math.isfinite(high) and (low < high or scale is None)):
        raise InputError(
            f"scale: must be two numbers, the lowest before the highest, got {low:g} and {high:g}"
        )
    if beyond := int((~values.between(low, high)).sum()):
        raise InputError(
            f"scale: {beyond:,} of {len(values):,} values lie beyond {low:g} to {high:g}"
        )
    return low, high


def _by_model(names: Sequence[str], counts: Iterable[int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in zip(names, counts, strict=True))


def _refuse_unranked(ordered: OrderedScores, counts: str, baseline: str | None) -> None:
    if not len(ordered.common):
        raise InputError(f"no sample has a score of every model; samples with a score: {counts}")
    unranked = ordered.table.models[ordered.ranked :]
    if ordered.ranked < 2 or baseline in unranked:
        raise InputError(
            f"{choices(unranked)}: a model with a score for fewer than half as many samples as"
            f" another cannot be compared; samples with a score: {counts}"
        )


def _columns_of_groups(table: ScoreTable) -> dict[str, Integers]:
    """Numbers of all samples, and of those of each group."""
    columns = {ALL: np.arange(len(table.facts))}
    if "group" not in table.facts:
        return columns
    groups = table.facts["group"]
    for group in sorted(filter(None, groups.unique())):
        columns[f"{group} (group)" if group == ALL else group] = np.flatnonzero(groups == group)
    return columns


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the names that `score_table` has for its columns."""
    if missing := [name for name in ("sample", "model", "value") if name not in frame]:
        raise InputError(
            f"the data frame lacks {choices(missing)}; it has {choices(map(str, frame.columns))}"
        )
    if frame.empty:
        raise InputError("the data frame has no rows")
    kinds = [kind for kind in ("cluster", "group") if kind in frame]
    frame = frame[["sample", "model", "value", *kinds]]
    if nameless := int(frame[["sample", "model"]].isna().any(axis=1).sum()):
        raise InputError(f"{nameless:,} of {counted(len(frame), 'row')} have no sample or no model")
    frame = frame.astype({"sample": str, "model": str})
    for kind in kinds:
        frame[kind] = frame[kind].map(str, na_action="ignore")
    if frame["model"].nunique() < 2:
        raise InputError(
            f"one model only, {choices(frame['model'].unique())}: two or more are compared"
        )
    values = _finite(frame["value"])
    for kind in kinds:
        _refuse_several(frame, kind)
    answers = (
        frame.rename(columns={"sample": "question"}).drop(columns="value").assign(**{FINAL: values})
    )
    if "cluster" in kinds:
        answers["cluster"] = answers["cluster"].fillna(answers["question"])
    return answers.fillna({"group": NO_GROUP}) if "group" in kinds else answers


def _finite(given: "pd.Series[Any]") -> "pd.Series[float]":
    """Values as numbers, NaN for no score."""
    values = pd.to_numeric(given.astype(object), errors="coerce").astype(float)
    wrong = given[given.notna() & ~np.isfinite(values)]
    if len(wrong):
        count = f"{len(wrong):,} of {counted(len(given), 'value')}"
        raise InputError(f"value: {count} are no finite numbers, such as '{wrong.iloc[0]}'")
    if values.isna().all():
        raise InputError(f"none of {counted(len(given), 'row')} has a value")
    return values


def _refuse_several(frame: pd.DataFrame, kind: str) -> None:
    """Refuse a sample of more than one cluster or group."""
    several = frame.groupby("sample")[kind].nunique() > 1
    if several.any():
        raise InputError(
            f"{counted(int(several.sum()), 'sample')} of more than one {kind}, as"
            f" '{several.idxmax()}'"
        )


def _negated(compared: ComparedModels) -> ComparedModels:
    """The same for scores that were negated because lower is better."""
    models = compared.models.copy()
    models["mean_scored"] *= -1
    models["mean_lowest"] = -compared.models["mean_highest"]
    models["mean_highest"] = -compared.models["mean_lowest"]
    means = {}
    for key, column in compared.means.items():
        means[key] = tuple(-mean for mean in column)
    comparisons = {}
    for key, pairs in compared.comparisons.items():
        comparisons[key] = tuple(replace(pair, difference=-pair.difference) for pair in pairs)
    return replace(
        compared, lower_is_better=True, models=models, means=means, comparisons=comparisons
    )
