"""What the numbers of a ranking say, in sentences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from urs_inspect.reports.intent.page.formats import interval_text, level_text, mean_text, share_text
from urs_inspect.reports.intent.page.names import short_names
from urs_inspect.reports.intent.report import Best, Block, ModelReport, PairedDifference, Verdict
from urs_inspect.texts import counted

_VERDICTS: dict[Verdict, str] = {
    "significant": "significant",
    "not distinguishable": "cannot be distinguished",
    "depends on unscored answers": "depends on unscored answers",
    "not significant over all questions": "not significant over all questions",
    "not comparable": "not comparable",
}
SELF_JUDGED = "†"
"""Stands beside the rank of a model that judged answers of its own, where there is no room for words."""
MARKED = (
    "Bold: the best of a column and models that are not significantly worse; means over all questions, of intents and "
    "of languages are tested."
)
"""What the mark of a cell says."""
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
    """Say which model is best over all questions, and which ones cannot be distinguished from it."""
    ranked = [model for model in block.models if not math.isnan(model.all.value)]
    if not ranked:
        return Headline(Markup("No model has a score."), Markup(""))
    top = ranked[0]
    if len(ranked) == 1:
        name = short_names([model.model for model in block.models])[top.model]
        lacking = block.questions < block.asked
        over = f" over {block.questions:,} of {counted(block.asked, 'question')}" if lacking else ""
        said = Markup("{} has a mean score of {}{}.").format(_name(name), mean_text(top.all.value), over)
        more = Markup("{} {}No other model is ranked here.").format(_interval(top), _unscored(top))
        return Headline(said, more)
    more = Markup("Its mean score is {}. {}").format(mean_text(top.all.value), _interval(top))
    return Headline(best_sentence(block, "all"), more)


def column_sentences(block: Block) -> list[tuple[str, int, Markup]]:
    """For each reported intent and each language its title, number of questions, and who is best.

    Languages are left out where there is only one. Empty without two models to compare.
    """
    languages = block.languages if len(block.languages) > 1 else ()
    return [
        (block.titles.get(key, key), block.question_counts.get(key, 0), best_sentence(block, key))
        for key in (*block.groups, *languages)
        if key in block.best and sum(model.ranks is not None for model in block.models) > 1
    ]


def best_sentence(block: Block, key: str) -> Markup:
    """Say which model is best in a column, and which ones cannot be distinguished from it."""
    found, short = block.best.get(key, Best("", ())), short_names([model.model for model in block.models])
    if not found.model or not any(one.questions for one in found.others):
        return Markup("No question has a score of every ranked model.")
    said: dict[str, list[str]] = {}
    for one in found.others:
        said.setdefault(one.verdict, []).append(one.second)
    name, others = _name(short[found.model]), len(found.others)
    better, unclear = said.get("significant", []), said.get("not distinguishable", [])
    if len(better) == others:
        rest = "both others" if others == 2 else f"all {others} others" if others > 1 else _name(short[better[0]])
        return Markup("{} is best, significantly better than {}.").format(name, rest)
    equal = [one.second for one in found.others if round(one.difference.value, _DIGITS) == 0]
    if equal:
        text = Markup("{} share the highest mean score").format(listed([short[one] for one in (found.model, *equal)]))
        unclear = [one for one in unclear if one not in equal]
    else:
        text = Markup("{} has the highest mean score").format(name)
    if better:
        text += Markup(", significantly above {}").format(counted(len(better), "other"))
    if len(unclear) == others > 1:
        text += Markup(", but cannot be distinguished from any other model")
    elif unclear:
        text += Markup(", but cannot be distinguished from {}").format(listed([short[one] for one in unclear], "or"))
    if partly := said.get("not significant over all questions", []):
        text += Markup("; it is significantly above {} only over the {}, not over all that were asked").format(
            listed([short[one] for one in partly]), counted(found.others[0].questions, "common question")
        )
    if open_ := said.get("depends on unscored answers", []):
        lacking = dict.fromkeys(name for one in found.others for name in one.depends_on)
        text += Markup("; whether it is better than {} depends on unscored answers of {}").format(
            listed([short[one] for one in open_], "and"), listed([short[one] for one in lacking])
        )
    return text + Markup(".")


def _name(name: str) -> Markup:
    return Markup("<strong>{}</strong>").format(name)


def _interval(model: ModelReport) -> str:
    text = interval_text(model.all.low, model.all.high).replace("–", " to ")
    about = f"over {counted(model.all.n, 'question')}"
    return f"The {level_text(model.all.level)} interval is {text}, {about}." if text else f"It is {about}."


def _unscored(model: ModelReport) -> str:
    """What the mean of a model would be with its missing scores; empty where none is missing."""
    if not model.unscored:
        return ""
    return (
        f"{model.unscored:,} of {counted(model.answers, 'answer')} have no score: over all questions, the mean would "
        f"be {mean_text(model.mean_lowest)} if they got 1 and {mean_text(model.mean_highest)} if they got 10. "
    )


def listed(names: Sequence[str], joint: str = "and", *, most: int = _MOST_NAMES) -> Markup:
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


def verdict(pair: PairedDifference, block: Block) -> str:
    """What a comparison says, in words."""
    if not pair.depends_on:
        return _VERDICTS[pair.verdict]
    short = short_names([model.model for model in block.models])
    names = " and ".join(f"{short[name]} ({number:,})" for name, number in pair.depends_on.items())
    return f"{_VERDICTS[pair.verdict]} of {names}"


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


def methods(level: float) -> tuple[tuple[str, str], ...]:
    """How missing scores, tests, ranks and marks are dealt with, each with a title."""
    return (
        (
            "Missing scores",
            "A score may be missing because of the answer. Means, ranks and tests are over the questions for "
            "which every ranked model has a score; of several epochs of a question, the mean of those that have "
            "one. Which questions these are may depend on the answers as well. So a difference must hold over all "
            "questions that were asked, not only over those for which every ranked model has a score: it is "
            "significant only if it is so in the worst case too, over all questions, with each missing score "
            "of the better model taken as 1 and of the other one as 10. If it is not, and one of the two lacks "
            "scores, the verdict depends on unscored answers. If neither lacks a score, because those of a third "
            "model are missing, the verdict is: not significant over all questions. A sample that ended in an error "
            "has no score. Answers that are not in a log were not asked for and are not missing. A model with scores "
            "for fewer than half as many questions as the model that has most is not ranked.",
        ),
        (
            "Differences",
            "Models are compared question by question. The p-value is two-sided, from the bootstrap of the paired "
            "differences, and from their standard error where no round changes the sign. It is corrected by Holm's "
            "method over all pairs of a ranking, so that the chance of even one false difference stays below "
            f"{1 - level:.2g}. A difference is significant where the corrected p-value of the worst case is below "
            f"{1 - level:.2g}.",
        ),
        (
            "Ranks",
            "From 1 + the number of models that are significantly better to the number of ranked models less "
            "those that are significantly worse.",
        ),
        (
            "Intents, languages",
            "In each, the model with the highest mean is compared with each other one. p-values are corrected by "
            "Holm's method over these comparisons, and multiplied by half the number of models: each of them "
            "could have been the best one by chance. The correction is made within each intent or language, not "
            "over all of them.",
        ),
        ("Marks", MARKED),
    )
