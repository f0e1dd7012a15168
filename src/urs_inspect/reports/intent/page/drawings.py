"""The figures of a ranking, ready for the page."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from markupsafe import Markup

from urs_inspect.reports.intent.page.figures import (
    NARROW,
    WIDE,
    IntentMean,
    LengthCurve,
    MeanRow,
    Profile,
    draw_forest,
    draw_lengths,
    draw_profiles,
    inline_svg,
)
from urs_inspect.reports.intent.page.tables import (
    interval_text,
    level_text,
    mean_text,
    rank_text,
    short_names,
    signed_interval,
    signed_text,
)
from urs_inspect.reports.intent.report import Block, ModelReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class Drawings:
    """Figures of a ranking, each for a desk and for a phone; None where there is nothing to draw.

    Attributes:
        forest: Means over all questions.
        profiles: Means by intent.
        lengths: Length against score.
    """

    forest: Markup | None
    profiles: Markup | None
    lengths: Markup | None


def draw(block: Block, key: str, level: float) -> Drawings:
    """Draw what a ranking shows.

    Args:
        block: The ranking.
        key: Letters, digits and hyphens, different for each ranking of a page.
        level: Confidence level of the intervals, 0 to 1.

    Raises:
        InputError: If matplotlib is missing.
    """
    means, curves = mean_rows(block), length_curves(block)
    means_title, by_intent = "Mean final score of each model", "The means by intent that the leaderboard shows."
    said = "; ".join(f"{curve.model}: {curve.note}" for curve in curves)
    # A figure may be shown without the page around it.
    label = "mean final score" + (" (simulation)" if any(model.simulated for model in block.models) else "")
    forest = partial(draw_forest, label=label), means, f"{key}-forest", means_title, _means_said(means, level)
    by_length = f"{means_title} by length of the answer"
    return Drawings(
        forest=_both(*forest) if len(means) > 1 else None,
        profiles=_both(
            partial(draw_profiles, label=label),
            profiles(block),
            f"{key}-profiles",
            f"{means_title} by intent",
            by_intent,
        ),
        lengths=_both(partial(draw_lengths, label=label), curves, f"{key}-lengths", by_length, said),
    )


def _both(
    function: "Callable[[Sequence[_Row], float], Figure]",
    table: Sequence[_Row],
    key: str,
    title: str,
    description: str,
) -> Markup | None:
    """A figure twice, of which the page shows the one that fits."""
    if not table:
        return None
    wide = inline_svg(function(table, WIDE), f"{key}-wide", title, description)
    narrow = inline_svg(function(table, NARROW), f"{key}-narrow", title, description)
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(wide, narrow)


def _means_said(rows: Sequence[MeanRow], level: float) -> str:
    said = []
    for row in rows:
        interval = interval_text(row.low, row.high).replace("–", " to ")
        said.append(f"{row.model} {mean_text(row.mean)}" + (f" ({interval})" if interval else ""))
    return f"With {level_text(level)} intervals: " + "; ".join(said)


def mean_rows(block: Block) -> tuple[MeanRow, ...]:
    """Each model's mean over all questions, the best first."""
    names = _names(block)
    return tuple(
        MeanRow(
            rank=rank_text(model.ranks),
            model=names[model.model],
            mean=model.all.value,
            low=model.all.low,
            high=model.all.high,
            hollow=model.self_judged > 0,
        )
        for model in block.models
    )


def profiles(block: Block) -> tuple[Profile, ...]:
    """Each model's means by intent; none without intents."""
    names = _names(block)
    fields = {group: _field(block, group) for group in block.groups}
    return tuple(
        Profile(
            names[model.model],
            model.all.value,
            tuple(_intent_mean(block, model, group, fields[group]) for group in block.groups),
        )
        for model in block.models
        if block.groups
    )


def length_curves(block: Block) -> tuple[LengthCurve, ...]:
    """Each model's scores by length; models whose lengths are not known are left out."""
    names = _names(block)
    points = {
        model.model: tuple(
            (part.length, part.score)
            for part in model.lengths.bins
            if not math.isnan(part.length) and not math.isnan(part.score)
        )
        for model in block.models
    }
    return tuple(
        LengthCurve(names[model.model], _note(model), points[model.model])
        for model in block.models
        if points[model.model]
    )


def _intent_mean(block: Block, model: ModelReport, group: str, field: float) -> IntentMean:
    name, found = block.titles.get(group, group), model.by_group.get(group)
    if found is None:
        return IntentMean(name, math.nan, math.nan, math.nan, field)
    return IntentMean(name, found.value, found.low, found.high, field)


def _field(block: Block, group: str) -> float:
    """Mean over models; NaN where there are no two to compare."""
    values = [model.by_group[group].value for model in block.models if group in model.by_group]
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if len(known) > 1 else math.nan


def _note(model: ModelReport) -> str:
    found = model.lengths.correlation
    if math.isnan(found.value):
        return "no correlation known"
    interval = signed_interval(found)
    return f"ρ {signed_text(found.value)}" + (f" ({interval})" if interval else "")


def _names(block: Block) -> dict[str, str]:
    return short_names([model.model for model in block.models])
