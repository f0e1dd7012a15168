"""A ranking -> the tables that its figures are drawn from."""

import math

from urs_inspect.reports.intent.page.figures import IntentMean, LengthCurve, MeanRow, Profile
from urs_inspect.reports.intent.page.formats import NONE, signed_interval, signed_text
from urs_inspect.reports.intent.page.names import short_names
from urs_inspect.reports.intent.page.words import ranks
from urs_inspect.reports.intent.report import Block, ModelReport


def mean_rows(block: Block) -> tuple[MeanRow, ...]:
    """Each model's mean over all questions, the best first."""
    names, places = _names(block), ranks(block)
    return tuple(
        MeanRow(
            rank=places[model.model] or NONE,
            model=names[model.model],
            tier=model.tier,
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
