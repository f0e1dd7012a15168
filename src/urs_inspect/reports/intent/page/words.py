"""What the numbers of a ranking say, in sentences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from urs_inspect.reports.intent.page.formats import interval_text, level_text, mean_text, share_text
from urs_inspect.reports.intent.page.names import short_names
from urs_inspect.reports.intent.report import Block, ModelReport, PairedDifference
from urs_inspect.texts import counted

APART, NOT_APART, NOTHING_COMMON = "told apart", "cannot tell apart", "no common questions"
SELF_JUDGED = "†"
"""Stands beside the rank of a model that judged answers of its own, where there is no room for words."""
_MOST_NAMES = 4
_DIGITS = 9
"""Means that agree to so many decimals are equal; beyond is noise of summing."""


@dataclass(frozen=True)
class Headline:
    """What a ranking says at a glance.

    Attributes:
        first: The main sentence.
        more: What must be known beside it; may be empty.
    """

    first: Markup
    more: Markup


def headline(block: Block) -> Headline:
    """Say which model is first and which ones cannot be told apart from it."""
    ranked = [model for model in block.models if not math.isnan(model.all.value)]
    short = short_names([model.model for model in block.models])
    if not ranked:
        return Headline(Markup("No model has a score."), Markup(""))
    best = [short[model.model] for model in ranked if _known(model) == _known(ranked[0])]
    top = ranked[0]
    if len(ranked) == 1:
        said = Markup("{} has a mean score of {}.").format(_name(best[0]), mean_text(top.all.value))
        return Headline(said, Markup("{} No other model has a score here.").format(_interval(top)))
    if len(best) > 1:
        share = Markup("{} share the highest mean score, {}.").format(listed(best), mean_text(top.all.value))
        return Headline(share, Markup(""))
    more = Markup("Its mean score is {}. {}").format(mean_text(top.all.value), _interval(top))
    return Headline(_first(block, top, ranked, short), more)


def _first(block: Block, top: ModelReport, ranked: Sequence[ModelReport], short: dict[str, str]) -> Markup:
    found = {other.model: difference_of(block, top.model, other.model) for other in ranked[1:]}
    unclear = [short[other] for other, pair in found.items() if pair is None or not pair.apart]
    name = _name(short[top.model])
    if not unclear:
        others = "the other one" if len(ranked) == 2 else f"all {len(ranked) - 1} others"
        return Markup("{} is first and can be told apart from {}.").format(name, others)
    if len(unclear) == len(ranked) - 1:
        others = Markup("the other one, {}").format(_name(unclear[0])) if len(unclear) == 1 else "any other model"
        return Markup("{} has the highest mean score, but cannot be told apart from {}.").format(name, others)
    return Markup("{} is first; it cannot be told apart from {}.").format(name, listed(unclear, joint="or"))


def _known(model: ModelReport) -> float:
    return round(model.all.value, _DIGITS)


def _name(name: str) -> Markup:
    return Markup("<strong>{}</strong>").format(name)


def _interval(model: ModelReport) -> str:
    text = interval_text(model.all.low, model.all.high).replace("–", " to ")
    about = f"over {counted(model.questions, 'question')}"
    return f"The {level_text(model.all.level)} interval is {text}, {about}." if text else f"It is {about}."


def listed(names: Sequence[str], *, joint: str = "and", most: int = _MOST_NAMES) -> Markup:
    """Names as part of a sentence, those beyond the most as a count.

    Args:
        names: At least one.
        joint: What stands before the last.
        most: How many are named before the rest is counted.
    """
    shown = [_name(name) for name in names]
    if len(names) > most + 1:
        shown = [*shown[:most], Markup("{} more").format(len(names) - most)]
    if len(shown) == 1:
        return shown[0]
    return Markup("{} {} {}").format(Markup(", ").join(shown[:-1]), joint, shown[-1])


def difference_of(block: Block, first: str, second: str) -> PairedDifference | None:
    """The comparison of two models, whichever is named first; None if there is none."""
    wanted = {first, second}
    return next((pair for pair in block.differences if {pair.first, pair.second} == wanted), None)


def verdict(pair: PairedDifference) -> str:
    """What a comparison says, in words."""
    if not pair.questions:
        return NOTHING_COMMON
    return APART if pair.apart else NOT_APART


def traffic_sentence(block: Block) -> str:
    """By which shares a ranking is weighted, and what that costs; empty where it is not."""
    if block.traffic is None:
        return ""
    shares = "; ".join(
        f"{kind}: {', '.join(f'{name} {share_text(share)}' for name, share in given.items())}"
        for kind, given in block.traffic.shares.items()
    )
    return (
        f"Means and intervals are weighted by the mix of {block.traffic.source} ({shares}); the "
        f"{counted(block.questions, 'question')} then say as much as {block.traffic.effective_questions:,.0f} of equal "
        "weight."
    )


def ranks(block: Block) -> dict[str, str]:
    """Place of each model by its mean, ties sharing a place; empty without a score."""
    values = {model.model: _known(model) for model in block.models}
    known = [value for value in values.values() if not math.isnan(value)]
    return {
        name: "" if math.isnan(value) else str(1 + sum(other > value for other in known))
        for name, value in values.items()
    }
