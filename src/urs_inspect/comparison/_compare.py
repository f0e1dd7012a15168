"""Scores of any task, one row per sample and model -> models compared on the same samples."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, choices, counted
from urs_inspect.comparison._samples import NO_GROUP, refuse_beyond
from urs_inspect.logs._naming import short_names
from urs_inspect.reports.numbers._comparison import ROUNDS, ComparedModels, compare_table
from urs_inspect.reports.numbers._corrected import CorrectedMeans, correct_means
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.reports.numbers._matching import (
    Matched,
    match_ratings,
    refuse_unmatched,
    unused,
)
from urs_inspect.reports.numbers._scores import (
    ALL,
    Columns,
    OrderedScores,
    ScoreTable,
    order_models,
    score_table,
)
from urs_inspect.rubrics import FINAL
from urs_inspect.scorers._metrics import CLUSTER
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
        >>> from urs_inspect.comparison import compare
        >>> samples = list(range(12))
        >>> better = pd.DataFrame({"sample": samples, "model": "a", "value": 1.0})
        >>> worse = pd.DataFrame({"sample": samples, "model": "b", "value": [1.0] * 2 + [0.0] * 10})
        >>> compare(pd.concat([better, worse]), scale=(0, 1)).leads
        [('a', 'b')]
    """
    resampling = Resampling(rounds, level, seed)
    _, compared = _compared(frame, baseline, scale, resampling, lower_is_better=lower_is_better)
    return compared


def compare_with_people(
    frame: pd.DataFrame,
    human: HumanRatings,
    *,
    baseline: str | None = None,
    scale: Scale | None = None,
    lower_is_better: bool = False,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[ComparedModels, CorrectedMeans, list[str]]:
    """Compare models as `compare` does, and by means that people's labels of some answers correct.

    Returns also which labels are about none of the answers. Several epochs of a sample have the
    mean of their scores. Raises as `compare`, and `InputError` if no label is about an answer, if a
    lower score is better, or if the scale of the scores is not known.
    """
    if lower_is_better:
        raise InputError("human: labels correct only scores of which a higher one is better")
    resampling = Resampling(rounds, seed=seed)
    scores, compared = _compared(frame, baseline, _known_scale(frame, scale), resampling)
    named = {short: name for name, short in compared.short.items()}
    named |= {name: name for name in compared.names}
    left_out = list[str]()
    matched = match_answers(frame, named, human, left_out)
    questions = _columns_of_groups(scores.table)
    groups = tuple(key for key in questions if key != ALL)
    columns = Columns(groups, (), (), (), (), questions)
    corrected = correct_means(scores, columns, human, matched, compared, resampling)
    return compared, corrected, left_out


def _known_scale(frame: pd.DataFrame, scale: Scale | None) -> Scale:
    """The scale that is given, or that of scores that are all 0 or 1."""
    if scale is not None:
        return scale
    values = pd.to_numeric(frame["value"], errors="coerce").dropna()
    if values.isin([0.0, 1.0]).all():
        return (0.0, 1.0)
    raise InputError(
        "scale: --human needs the lowest and highest possible score, as 1,10; the scores go from"
        f" {values.min():g} to {values.max():g}"
    )


def match_answers(
    frame: pd.DataFrame, names: Mapping[str, str], human: HumanRatings, left_out: list[str]
) -> Matched:
    """Match labels with answers, by the mean score of all epochs; one must be about an answer.

    `left_out` gets sentences on labels that are about none.
    """
    rows = frame.astype({"sample": str, "model": str})
    answers = rows.groupby(["sample", "model"], sort=False)
    cluster = rows.get("cluster", rows["sample"])
    group = rows.get("group", "")
    to_match = pd.DataFrame(
        {
            "question": rows["sample"],
            "model": rows["model"],
            "epoch": answers.cumcount() + 1,
            "group": group,
            FINAL: answers["value"].transform("mean"),
            CLUSTER: cluster,
        }
    )
    matched = match_ratings(to_match, names, human)
    refuse_unmatched(to_match, [matched], human)
    left_out += unused(human, [matched])
    return matched


def _compared(
    frame: pd.DataFrame,
    baseline: str | None,
    scale: Scale | None,
    resampling: Resampling,
    *,
    lower_is_better: bool = False,
) -> tuple[OrderedScores, ComparedModels]:
    """Scores of models on the same samples, the best first, and how they compare."""
    answers = _checked(frame)
    names = list(dict.fromkeys(answers["model"]))
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
    scores = order_models(table)
    _refuse_unranked(scores, baseline)
    columns = _columns_of_groups(table)
    compared = compare_table(scores, columns, list(columns), resampling, baseline, noun="sample")
    two_valued = known.nunique() <= 2 and table.clusters is None
    compared = replace(compared, two_valued=two_valued)
    if lower_is_better:
        compared = _negated(compared)
    return scores, compared


def _scale_of(values: "pd.Series[float]", scale: Scale | None) -> Scale:
    """The scale that is given, which must hold all values, or the lowest and the highest value."""
    if scale:
        low, high = scale
    else:
        low = float(values.min())
        high = float(values.max())
    is_finite = math.isfinite(low) and math.isfinite(high)
    is_ordered = low < high or scale is None
    if not (is_finite and is_ordered):
        raise InputError(
            f"scale: must be two numbers, the lowest before the highest, got {low:g} and {high:g}"
        )
    refuse_beyond(values, (low, high), "scale")
    return low, high


def _refuse_unranked(scores: OrderedScores, baseline: str | None) -> None:
    models = scores.table.models
    has_score = ~np.isnan(scores.table.finals)
    scored = has_score.sum(axis=0)
    by_model = (f"{name} {count:,}" for name, count in zip(models, scored, strict=True))
    counts = f"samples with a score: {', '.join(by_model)}"
    if not len(scores.common):
        raise InputError(f"no sample has a score of every model; {counts}")
    unranked = models[scores.ranked :]
    if scores.ranked < 2 or baseline in unranked:
        raise InputError(
            f"{choices(unranked)}: a model with a score for fewer than half as many samples as"
            f" another cannot be compared; {counts}"
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
    missing = [name for name in ("sample", "model", "value") if name not in frame]
    if missing:
        raise InputError(
            f"the data frame lacks {choices(missing)}; it has {choices(map(str, frame.columns))}"
        )
    if frame.empty:
        raise InputError("the data frame has no rows")
    kinds = [kind for kind in ("cluster", "group") if kind in frame]
    frame = frame[["sample", "model", "value", *kinds]]
    lacks_name = frame[["sample", "model"]].isna().any(axis=1)
    nameless = int(lacks_name.sum())
    if nameless:
        raise InputError(f"{nameless:,} of {counted(len(frame), 'row')} have no sample or no model")
    frame = frame.astype({"sample": str, "model": str})
    for kind in kinds:
        frame[kind] = frame[kind].map(str, na_action="ignore")
        several = frame.groupby("sample")[kind].nunique() > 1
        if several.any():
            raise InputError(
                f"{counted(int(several.sum()), 'sample')} of more than one {kind}, as"
                f" '{several.idxmax()}'"
            )
    if frame["model"].nunique() < 2:
        raise InputError(
            f"one model only, {choices(frame['model'].unique())}: two or more are compared"
        )
    frame["value"] = _finite(frame["value"])
    answers = frame.rename(columns={"sample": "question", "value": FINAL})
    if "cluster" in kinds:
        answers["cluster"] = answers["cluster"].fillna(answers["question"])
    if "group" in kinds:
        answers["group"] = answers["group"].fillna(NO_GROUP)
    return answers


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
