"""How much the ranked models write, in words and figures."""

import math
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.logs._naming import short_names
from urs_inspect.reports._texts import DASH, Format, listed, number, share
from urs_inspect.reports.layout._figures import Figure, length_plot
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._leaderboard import Ranking
from urs_inspect.reports.numbers._lengths import FEWEST, LengthRegression
from urs_inspect.reports.numbers._scores import ALL

_TASTE = (
    "These scores cannot tell taste from substance: whether the judge likes length, or more text"
    " serves users."
)
_MEAN = number(2)
_COUNT = number(0)
_SIGNED = number(2, sign=True)


def length_sentence(ranking: Ranking) -> str:
    """How many times as much each other model writes as the first one.

    Empty where nothing is compared.
    """
    compared = ranking.compared
    models = compared.models[compared.models["rank_from"].notna()]
    if len(models) < 2:
        return ""
    first, *others = models.index
    known: list[str] = []
    for other in others:
        facts: Any = models.loc[other]
        ratio, overlap, questions = facts[["length_ratio", "length_overlap", "length_questions"]]
        if questions:
            times = f"{compared.short[other]} {times_text(ratio)} times"
            known.append(f"{times} ({overlap:,} of {questions:,})")
    if not known:
        return f"How much each model writes is not known. {_TASTE}"
    writes = (
        f"Length of answers beside those of {compared.short[first]} (in how many questions lengths"
        f" overlap): {listed(known)}."
    )
    return " ".join([writes, *_about_leads(ranking)])


def _about_leads(ranking: Ranking) -> list[str]:
    """What length may have to do with the lead over the next model, one sentence each."""
    compared = ranking.compared
    price = _price_of_length(ranking)
    ahead = {pair.second for pair in compared.best_in[ALL].clear}
    significant = [lead for lead in ranking.leads_by_length if lead.second in ahead]
    if not significant or not _leads_shown(ranking):
        return [price or _TASTE]
    lead = significant[0]
    first = compared.short[compared.names[0]]
    over = f"lead of {_MEAN(lead.lead)} of {first} over {compared.short[lead.second]}"
    if lead.without is not None:
        return [price, _WITHOUT[lead.verdict].format(over=over, rest=_SIGNED(lead.without))]
    if math.isnan(lead.tipping):
        return [_TASTE]
    if math.isinf(lead.tipping):
        return [f"No price of length on the scale explains the {over}.", _TASTE]
    return [
        f"The {over} would vanish if the judge paid {_MEAN(lead.tipping)} points for each doubling,"
        " whatever is written: not measured.",
        _TASTE,
    ]


def _price_of_length(ranking: Ranking) -> str:
    """What the judge pays for length, as twins or else people's ratings show; empty without."""
    measured = ranking.judge_shifts
    slope = ranking.people_slope if measured is None else measured.slope
    if slope is None or math.isnan(slope.low):
        return ""
    points = f"{_SIGNED(slope)} points for each doubling."
    if measured is None:
        return f"Beyond people's ratings, the judge pays {points}"
    return f"Padding moves the judge by {points}"


def _leads_shown(ranking: Ranking) -> bool:
    """Whether leads are shown beside lengths: not of simulated models before an unmeasured judge,
    whose lengths mean nothing.
    """
    simulated = ranking.compared.models["simulated"].all() and ranking.judge_shifts is None
    return bool(ranking.leads_by_length) and not simulated


_WITHOUT = {
    "keeps": "Without that, the {over} is {rest}.",
    "lost": "Without that, nothing certain is left of the {over}: {rest}.",
    "uncertain": "Without that, the {over} is {rest}: too uncertain to confirm or deny.",
}


def times_text(ratio: float) -> str:
    """How many times as much: `12`, `2.1`, `0.48`, or a dash if it is not known."""
    if math.isnan(ratio):
        return DASH
    if ratio >= 10:
        return f"{ratio:,.0f}"
    if ratio >= 0.95:
        return f"{ratio:.1f}"
    return f"{ratio:.2f}"


def length_section(ranking: Ranking, place: int, axis: str) -> list[Section]:
    """Lengths of the models' answers beside the first one's, and their scores by length."""
    compared = ranking.compared
    if ranking.lengths.empty:
        return []
    first = compared.short[compared.names[0]]
    headings = {
        "model": "Model",
        "median_length": "Median length",
        "length_ratio": f"Times as long as {first}",
        "length_overlap": "Questions in which lengths overlap",
        "length_questions": "of",
        "length_correlation": "Spearman's rho",
    }
    formats: dict[str, Format] = {
        "median_length": _COUNT,
        "length_ratio": times_text,
        "length_overlap": _COUNT,
        "length_questions": _COUNT,
        "length_correlation": _SIGNED,
    }
    shown = list(headings)
    if len(compared.names) == 1:
        shown = ["model", "median_length", "length_correlation"]
    table = Table(
        compared.models.reset_index(names="model"), formats, headings=headings, shown=shown
    )
    bins = ranking.lengths.assign(block=place)[["block", "model", "length", "score", "answers"]]
    notes = [
        (
            "Rho of length in characters and score over questions. Above zero may mean that the"
            " judge likes length, or that longer answers are better."
        ),
    ]
    if len(compared.names) > 1:
        notes.append(
            f"Times as long: the median over questions of the ratio to the answer of {first}."
            " Lengths overlap in a question if the one of the two models that usually writes less"
            " wrote as much there, or more."
        )
    caption = (
        "Does a longer answer score higher? Dots are about a tenth of a model's answers each, from"
        " the shortest to the longest; faint lines are all models."
    )
    figure = Figure(
        f"r{place}-lengths",
        "Mean final score of each model by length of the answer",
        caption,
        lambda width: length_plot(
            bins.assign(model=bins["model"].map(compared.short)), width, axis
        ),
    )
    tables = [table, Table(bins, name="lengths", shown=())]
    if _leads_shown(ranking):
        tables.insert(1, _leads_table(ranking))
        notes.append(_about_tipping_points(ranking))
    return [Section("Length and score", notes, tables, 3, figures=[figure])]


def _about_tipping_points(ranking: Ranking) -> str:
    """What they are, and what measures the price of padding, where some task does."""
    what = (
        "Tipping point: what the judge would have to pay for each doubling, whatever is written,"
        " for the lead to vanish."
    )
    people = "whether longer text that says more serves users, only people can say."
    if any(fact.check == "padded" for fact in ranking.judge_checks):
        return f"{what} `judge_twins` measures what it pays for padding; {people}"
    return f"{what} {people.capitalize()}"


def _tipping_text(tipping: float) -> str:
    if math.isinf(tipping):
        return "beyond the scale"
    return _MEAN(tipping)


def _leads_table(ranking: Ranking) -> Table:
    """The first model's lead over each other one, and what is left without padding's price."""
    compared = ranking.compared
    data = pd.DataFrame(ranking.leads_by_length)
    data["second"] = data["second"].map(compared.short)
    headings = {"second": "ahead of", "tipping": "tipping point"}
    formats: dict[str, Format] = {"lead": _SIGNED, "doublings": _SIGNED, "tipping": _tipping_text}
    if data["without"].notna().any():
        headings["without"] = "less what length pays"
        formats |= {"without": _SIGNED, "verdict": str}
    return Table(
        data,
        formats,
        headings=headings,
        shown=["second", *formats],
        title=f"Leads of {compared.short[compared.names[0]]} and length",
    )


REGRESSION_WARNING = (
    "A regression on length does not measure a judge's taste: what longer answers earn by being"
    " better is taken away as well, and even where length has no effect its intervals are too wide"
    " to confirm most leads. Do not conclude from it which model is better."
)


def regression_facts(regression: LengthRegression) -> dict[str, Any]:
    """What the JSON file says beside the table."""
    if regression.slope is None:
        return {"reason": _why_no_regression(regression)}
    return {
        "slope": regression.slope,
        "by_model": regression.by_model,
        "left_out": regression.left_out,
    }


def _why_no_regression(regression: LengthRegression) -> str:
    return (
        f"that takes {FEWEST} questions without an empty answer or an unknown length (there are"
        f" {regression.questions}) and two ranked models whose answers are not equally long, but"
        " for the same factor, at every question"
    )


def _about_regression(regression: LengthRegression) -> list[str]:
    """What the regression gave, or why there is none."""
    if regression.slope is None:
        return [f"Nothing is computed: {_why_no_regression(regression)}."]
    left_out = counted(regression.left_out, "question")
    return [
        f"Doubling the length of an answer goes with {_SIGNED(regression.slope)} points, question"
        " and model held fixed. By the regression: the mean less this slope times how much longer"
        " the model's answers are than those of all models to the same question.",
        f"{share(regression.by_model)} of the variance of log length lies between models: the"
        " nearer to 100%, the less can length and model be separated, and the wider are intervals.",
        f"Left out of the slope: {left_out} with an empty answer or an unknown length.",
    ]


def regression_section(regression: LengthRegression, place: int) -> Section:
    """The table of a regression on length, and how to read it."""
    short = short_names(list(regression.means["model"]))
    data = regression.means.assign(block=place)[["block", *regression.means]]
    headings = {
        "model": "Model",
        "length": "Length (100% is the geometric mean)",
        "mean": "Judge's mean",
        "equal_length": "By the regression",
    }
    formats: dict[str, Format] = {
        "length": number(0, percent=True),
        "mean": _MEAN,
        "equal_length": _MEAN,
    }
    shown = Table(
        data.assign(model=data["model"].map(short)),
        formats,
        headings=headings,
        shown=list(headings),
    )
    written = Table(data, name="equal_length", main="equal_length", shown=(), estimates=("mean",))
    tables = [] if data.empty else [shown, written]
    return Section(
        "Regression on length",
        (REGRESSION_WARNING, *_about_regression(regression)),
        tables,
        warnings=(REGRESSION_WARNING,),
    )
