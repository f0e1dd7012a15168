"""Means corrected by people's ratings -> sentences and tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports._texts import (
    DASH,
    Format,
    decimals,
    listed,
    number,
    p_value,
    ranks_text,
)
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._comparison import ComparedModels
from urs_inspect.reports.numbers._corrected import FEWEST_RATED, CorrectedMeans, FromAll
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.reports.numbers._scores import ALL, DIGITS
from urs_inspect.reports.words._comparison import all_of, epoch_notes

CORRECTED = "Corrected by people"
"""Heading of the means and of the section about them."""
_FEW_RATERS = 9
"""Most raters whom a headline counts."""
_MOST_UNLIKE = 2
"""Models whose rated answers are unlike the others that a warning names."""
_NOT_COUNTED = {
    "score": "without a score of the judge",
    "column": "of models that are not ranked",
    "row": "to questions for which not every ranked model has a score",
}
"""What rated answers lack that do not count -> the same in words."""
_COUNT = number(0)
VERDICTS = {"not distinguishable": "cannot be distinguished"}
"""Verdicts in files that reports show in other words."""
_HEADINGS = {  # of the columns that are shown, in order
    "model": "Model",
    "column": "Questions of",
    "rank": "Rank",
    "first": "First",
    "second": "Second",
    "better_by_judge": "Better by the judge",
    "verdict": "Verdict",
    "mean": "Judge's mean",
    "corrected": CORRECTED,
    "people": "People alone",
    "rated": "Rated answers",
    "worth": "Worth",
    "more": "More to halve",
    "difference": "Difference",
    "p": "p",
    "p_holm": "p (Holm)",
    "p_worst": "p, worst case",
}
_FORMATS: dict[str, Format] = {
    **dict.fromkeys(("rated", "worth", "more"), _COUNT),
    **dict.fromkeys(("p", "p_holm", "p_worst"), p_value),
}


# --- sentences ---


def corrected_headline(corrected: CorrectedMeans, short: Mapping[str, str]) -> str:
    """Which model is best by the corrected means, or why there are none."""
    if corrected.models:
        return _about_best(corrected, short)
    return _about_confounded(corrected, short) or (
        f"Fewer than {FEWEST_RATED} rated answers for every model"
        f" ({_rated_too_few(corrected, short)}), so nothing is corrected. The report has the"
        " judge's ranking."
    )


def corrected_warnings(corrected: CorrectedMeans, compared: ComparedModels) -> list[str]:
    """What casts doubt on the corrected means, or on the judge's beside them."""
    short = compared.short
    warnings = [
        _about_unlike(corrected, short),
        _about_confounded(corrected, short),
        scale_doubt(corrected.human),
        _about_lacking(corrected, short),
        _about_order(corrected, compared.names, short),
        _about_lost_leads(corrected, compared),
    ]
    return list(filter(None, warnings))


def corrected_start(corrected: CorrectedMeans, compared: ComparedModels) -> list[str]:
    """What a report says of the corrected means at its start: first the headline, then warnings."""
    short = compared.short
    headline = corrected_headline(corrected, short)
    warnings = corrected_warnings(corrected, compared)
    start = [headline, *(warning for warning in warnings if warning != headline)]
    if corrected.models:
        start += [_about_raters(corrected.raters), _about_worth(corrected, short)]
    start.append(_about_scale(corrected))
    return list(filter(None, start))


def scale_doubt(human: HumanRatings) -> str:
    """Why ratings may be on another scale; empty without a doubt."""
    doubt = human.doubt
    if doubt is None:
        return ""
    low, high = human.scale
    other = "Was another scale used?"
    if doubt.usual is not None:
        usual_low, usual_high = doubt.usual
        other = f"Is the scale {usual_low:g},{usual_high:g}?"
    return (
        f"No rating above {doubt.highest:g} of {counted(doubt.ratings, 'rating')}, on the scale"
        f" {low:g} to {high:g}. {other} --human-scale names it (`agreement`: --scale)."
    )


def repeat_notes(human: HumanRatings) -> list[str]:
    """How far raters agree with themselves, a sentence each."""
    notes = []
    for rater in human.repeats:
        notes.append(
            f"{rater.rater} rated {counted(rater.checks, 'answer')} twice, with a mean difference"
            f" of {rater.from_own:.1f}; only the first ratings count."
        )
    return notes


def _section_notes(corrected: CorrectedMeans, short: Mapping[str, str]) -> list[str]:
    """How corrected means are to be read, and which ratings count."""
    if not corrected.models:
        return [corrected_headline(corrected, short), *_about_ratings(corrected)]
    return [
        *_explained(*corrected.coefficients),
        *_about_ratings(corrected),
        _about_sample(corrected),
    ]


def _digits(corrected: CorrectedMeans) -> int:
    """Decimals of means."""
    lowest, highest = corrected.scale
    return decimals(highest - lowest)


def _rated_too_few(corrected: CorrectedMeans, short: Mapping[str, str]) -> str:
    """Models with too few rated answers, with their numbers."""
    over_all = corrected.means[corrected.means["column"] == ALL]
    few = over_all[over_all["rated"] < FEWEST_RATED]
    return ", ".join(f"{short[name]} {n}" for name, n in few[["model", "rated"]].to_numpy())


def _about_lacking(corrected: CorrectedMeans, short: Mapping[str, str]) -> str:
    """Which models have no corrected mean beside others that have one."""
    few = _rated_too_few(corrected, short)
    if not corrected.models or not few:
        return ""
    return f"No corrected mean, because fewer than {FEWEST_RATED} rated answers count: {few}."


def _about_scale(corrected: CorrectedMeans) -> str:
    """That ratings were given on another scale than scores."""
    if corrected.human.scale == corrected.scale:
        return ""
    low, high = corrected.human.scale
    lowest, highest = corrected.scale
    return (
        f"People's ratings from {low:g} to {high:g} are mapped linearly to the judge's"
        f" scale, {lowest:g} to {highest:g}."
    )


def _about_ratings(corrected: CorrectedMeans) -> list[str]:
    """How many ratings there are, and which do not count."""
    human = corrected.human
    of_answers = corrected.matched.answers["ratings"]
    ratings = sum(map(len, of_answers))
    answers = len(of_answers)
    people = len(set().union(*of_answers) - {""})
    by = ""
    if people:
        by = f" by {counted(people, 'person', 'people')}"
    notes = [
        f"{counted(ratings, 'rating')}{by} of {counted(answers, 'answer')} in {human.path}.",
        *epoch_notes(corrected.matched.without_epoch, str(human.path)),
        *repeat_notes(human),
    ]
    if ratings > answers:
        notes.append("Several ratings of an answer are averaged and count as one.")
    for needed, number_of in corrected.skipped.items():
        if number_of:
            notes.append(f"{counted(number_of, 'rated answer')} {_NOT_COUNTED[needed]}, skipped.")
    return notes


def _about_confounded(corrected: CorrectedMeans, short: Mapping[str, str]) -> str:
    """That ratings of some models cannot be told from their raters."""
    names = [short[name] for name in corrected.confounded]
    if not names:
        return ""
    whom = names
    nothing = "Nothing is corrected"
    if corrected.models:
        whom = [*names, "the other models"]
        nothing = f"No corrected mean of {listed(names)}"
    return (
        f"Raters and models are confounded: too few answers of {listed(whom)} were rated by the"
        " same people, so that a better model cannot be told from a more lenient rater."
        f" {nothing}."
    )


def _about_order(corrected: CorrectedMeans, names: Sequence[str], short: Mapping[str, str]) -> str:
    """How the order of the models is another than by the judge's means."""
    order = corrected.models
    before = sorted(order, key=names.index)
    if order == before:
        return ""
    pairs = corrected.pairs
    moved = pairs[pairs["first"].map(names.index) > pairs["second"].map(names.index)]
    clear = int(moved["verdict"].eq("significant").sum())
    top = ""
    if order[0] != before[0]:
        top = f"{short[order[0]]} is first, not {short[before[0]]}; "
    return (
        f"People's ratings change the order: {top}{len(moved):,} of"
        f" {counted(len(pairs), 'pair')} of models change places, {clear or 'none'} of them"
        f" with a significant difference. It is now {listed([short[name] for name in order])}."
    )


def _explained(about_question: float, about_model: float) -> tuple[str, ...]:
    """How corrected means are to be read."""
    return (
        (
            "A corrected mean estimates what people would give on average if they rated every"
            " answer to the questions of this ranking: the judge's scores predict it, and people's"
            " ratings of some answers correct the prediction (prediction-powered inference), so"
            " that no bias of the judge moves it."
        ),
        (
            f"A point of the judge predicts {about_question:.2f} points of people where it is about"
            f" a question, and {about_model:.2f} where it is about a model beside the others on it;"
            " at 0, people count alone."
        ),
        (
            "Worth: how many ratings of equal weight without a judge give the same precision. More"
            f" to halve: further rated answers that would halve the interval; {DASH} where rating"
            " all answers would not."
        ),
    )


def _about_raters(raters: Sequence[str]) -> str:
    """Whom the intervals are about, and whether it is taken out how lenient each one is."""
    if not any(raters):
        return (
            "The file names no raters: if other people rated one model than another, how lenient"
            " they are counts as a difference of the models."
        )
    if len(raters) == 1:
        return "Intervals are about this 1 person who rated; others may rate otherwise."
    return (
        f"Intervals are about these {len(raters):,} people who rated; others may rate otherwise."
        " How lenient each one is beside the others on the same models is taken out."
    )


def _about_best(corrected: CorrectedMeans, short: Mapping[str, str]) -> str:
    """Which model is best by the corrected means."""
    mean = number(_digits(corrected))
    means = corrected.over_all["corrected"]
    best, *others = corrected.models
    rated = counted(_rated_answers(corrected), "answer")
    basis = f"By means corrected with {_whose(corrected.raters, rated)},"
    if others and not any(corrected.raters):
        basis = (
            "If the same people rated all models, which a file without raters cannot show, then by"
            f" means corrected with their ratings of {rated}"
        )
    highest = round(means[best].value, DIGITS)
    equal = [name for name in corrected.models if round(means[name].value, DIGITS) == highest]
    verb = "has"
    if equal[1:]:
        verb = "share"
    what = "a mean of "
    if others:
        what = "the highest mean, "
    names = listed([short[name] for name in equal])
    text = f"{basis} {names} {verb} {what}{mean(means[best])}"
    pairs = corrected.pairs
    significant = pairs["verdict"].eq("significant") & pairs["first"].eq(best)
    beaten = set(pairs.loc[significant, "second"])
    if beaten:
        text += f", significantly above {_how_many(len(beaten), [short[name] for name in others])}"
    unclear = [short[name] for name in others if name not in {*beaten, *equal}]
    if unclear:
        text += f"; it is not significantly above {listed(unclear, 'or')}"
    return f"{text}."


def _whose(raters: Sequence[str], rated: str) -> str:
    """Whose ratings correct, since an interval is about few people and not about all."""
    named = len([name for name in raters if name])
    if not 0 < named <= _FEW_RATERS:
        return f"people's ratings of {rated}"
    people = "one person" if named == 1 else f"these {named} people"
    return f"ratings of {rated} by {people}"


def _how_many(beaten: int, others: Sequence[str]) -> str:
    """How many of the other models are meant, by name if there is only one."""
    if beaten == len(others):
        return all_of(others)
    return f"{beaten} of {counted(len(others), 'other')}"


def _rated_answers(corrected: CorrectedMeans) -> int:
    return int(corrected.means["rated"][: len(corrected.models)].sum())


def _about_worth(corrected: CorrectedMeans, short: Mapping[str, str]) -> str:
    """What the judge added to the ratings, and what more of them would bring."""
    means = corrected.means[: len(corrected.models)]
    unknown = means.loc[means["worth"].isna(), "model"]
    if len(unknown):
        return (
            "What ratings are worth is not computed, because those of"
            f" {listed([short[name] for name in unknown])} do not vary."
        )
    top: Any = means.iloc[0]
    more = "rating all of its answers would not halve its interval"
    if not math.isnan(top["more"]):
        more = f"{counted(top['more'], 'more rated answer')} of it would halve its interval"
    even = ""
    if corrected.human.weighted:
        even = " of equal weight"
    return (
        f"{counted(_rated_answers(corrected), 'rated answer')} gave the precision of"
        f" {means['worth'].sum():,.0f}{even} without the judge. For {short[top['model']]},"
        f" {top['rated']:,} gave that of {top['worth']:,.0f}; {more}."
    )


def _figures(found: FromAll, signed: Format) -> str:
    """How the judge's scores of rated answers compare with those of all."""
    return (
        f"{signed(found.difference)} ({found.deviations:.2f} standard deviations,"
        f" p {p_value(found.p)})"
    )


def _about_sample(corrected: CorrectedMeans) -> str:
    """How the judge's scores of all rated answers compare with those of all answers."""
    sample = "count as a random sample, as the file has no column 'weight'"
    if corrected.human.weighted:
        sample = "are weighted by the column 'weight'"
    figures = _figures(corrected.from_all[0], number(_digits(corrected), sign=True))
    return (
        f"Rated answers {sample}; the judge's mean score of them less that of all answers of the"
        f" same models: {figures}."
    )


def _about_unlike(corrected: CorrectedMeans, short: Mapping[str, str]) -> str:
    """A warning where the rated answers are no random sample."""
    if not any(each.is_unlike for each in corrected.from_all):
        return ""
    signed = number(_digits(corrected), sign=True)
    together, *by_model = corrected.from_all
    unlike = [each for each in by_model if each.is_unlike]
    even = ""
    if corrected.human.weighted:
        even = ", even with their weights"
    whose = []
    for each in unlike[:_MOST_UNLIKE]:
        whose.append(f"{short[each.model]} {_figures(each, signed)}")
    if len(unlike) > _MOST_UNLIKE:
        whose.append(f"and {counted(len(unlike) - _MOST_UNLIKE, 'more model')}")
    if not unlike:
        whose = [f"all models {_figures(together, signed)}"]
    return (
        f"The rated answers are unlike the others{even}: the judge's mean score of them less"
        f" that of all answers: {'; '.join(whose)}. Corrected means assume a random sample; their"
        " intervals may miss the truth."
    )


def _about_lost_leads(corrected: CorrectedMeans, compared: ComparedModels) -> str:
    """Which leads by the judge's scores are not significant by the corrected means."""
    short = compared.short
    signed = number(_digits(corrected), sign=True)
    pairs = corrected.pairs
    leads = pairs[pairs["better_by_judge"] != ""]
    same_order = leads["first"] == leads["better_by_judge"]
    is_significant = leads["verdict"] == "significant"
    lost = []
    by_holm = 0
    row: Any
    for row in leads[~(same_order & is_significant)].itertuples():
        worse = row.second
        kept = row.difference
        if row.first != row.better_by_judge:
            worse = row.first
            kept = -row.difference
        if kept.low > 0 and row.verdict == "not distinguishable":
            by_holm += 1
        reverse = ""
        if row.verdict == "significant":
            reverse = ", significantly reversed"
        lost.append(f"{short[row.better_by_judge]} over {short[worse]}, {signed(kept)}{reverse}")
    if not lost:
        return ""
    verb = "do"
    if len(lost) == 1:
        verb = "does"
    text = (
        f"{counted(len(lost), 'lead')} that the judge's scores call significant {verb} not survive"
        f" people's ratings: {listed(lost, separator='; ')}."
    )
    if by_holm:
        have = "have"
        if by_holm == 1:
            have = "has"
        text += (
            f" {by_holm} of {len(lost)} {have} an interval above 0, but without significance after"
            f" correcting for {counted(len(pairs), 'comparison')} (Holm)."
        )
    return text


# --- tables ---


def corrected_section(corrected: CorrectedMeans, compared: ComparedModels, place: int) -> Section:
    """Means and differences, and how to read them.

    Models by their short names, and in files in full.
    """
    written = {"corrected": corrected.means, "corrected_differences": corrected.pairs}
    mains = {"corrected": "corrected", "corrected_differences": "difference"}
    tables = [
        Table(
            data.assign(block=place)[["block", *data]],
            name=name,
            main=mains[name],
            shown=(),
            estimates=("mean", "people"),
        )
        for name, data in written.items()
    ]
    digits = _digits(corrected)
    formats = {
        **_FORMATS,
        **dict.fromkeys(("mean", "corrected", "people"), number(digits)),
        "difference": number(digits, sign=True),
    }
    if corrected.models:
        hidden = set()
        if (corrected.means["column"] == ALL).all():
            hidden.add("column")
        if not (corrected.pairs["p_worst"] > corrected.pairs["p_holm"]).any():
            hidden.add("p_worst")
        words = {**compared.short, **VERDICTS, "": DASH}
        means = corrected.means.assign(rank=ranks_text(corrected.means))
        titled = (("", means), (f"Differences {CORRECTED.lower()}", corrected.pairs))
        for title, frame in titled:
            data = frame.map(lambda cell: words.get(cell, cell) if isinstance(cell, str) else cell)
            shown = [column for column in _HEADINGS if column in data and column not in hidden]
            tables.append(Table(data, formats, headings=_HEADINGS, shown=shown, title=title))
    notes = _section_notes(corrected, compared.short)
    return Section(CORRECTED, notes, [] if corrected.means.empty else tables, 3)


def corrected_screen_table(
    corrected: CorrectedMeans, compared: ComparedModels, judged: str
) -> Table:
    """Rank, model, its corrected mean and that of its scores, whose heading is `judged`."""
    over_all = corrected.over_all
    names = [str(name) for name in over_all.index]
    title = CORRECTED.lower()
    data = pd.DataFrame(
        {
            "rank": ranks_text(over_all),
            "model": [compared.short[name] for name in names],
            title: list(over_all["corrected"]),
            judged: [compared.mean(name) for name in names],
        }
    )
    return Table(data, dict.fromkeys((title, judged), number(_digits(corrected))))
