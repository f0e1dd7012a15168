"""The models of a ranking by other means than the judge's, as tables."""

from collections.abc import Mapping

import pandas as pd

from urs_inspect.reports._texts import DASH, Format, number, p_value, ranks_text
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._alternatives import Alternative
from urs_inspect.reports.numbers._comparison import ComparedModels
from urs_inspect.reports.numbers._scores import ALL

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
    "corrected": "Corrected by people",
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


def alternative_section(other: Alternative, place: int, short: Mapping[str, str]) -> Section:
    """Means and differences, and how to read them.

    Models by their short names, and in files in full.
    """
    written = {other.name: other.means, f"{other.name}_differences": other.pairs}
    tables = [
        Table(
            data.assign(block=place)[["block", *data]],
            name=name,
            main=other.name if name == other.name else "difference",
            shown=(),
            estimates=("mean", "people"),
        )
        for name, data in written.items()
    ]
    formats = {
        **_FORMATS,
        **dict.fromkeys(("mean", "corrected", "people"), number(other.digits)),
        "difference": number(other.digits, sign=True),
    }
    if "rank_from" in other.means and other.means["rank_from"].notna().any():
        hidden = set()
        if (other.means["column"] == ALL).all():
            hidden.add("column")
        if not (other.pairs["p_worst"] > other.pairs["p_holm"]).any():
            hidden.add("p_worst")
        words = {**short, **VERDICTS, "": DASH}
        means = other.means.assign(rank=ranks_text(other.means))
        for title, frame in (("", means), (f"Differences {other.title.lower()}", other.pairs)):
            data = frame.map(lambda cell: words.get(cell, cell) if isinstance(cell, str) else cell)
            shown = [column for column in _HEADINGS if column in data and column not in hidden]
            tables.append(Table(data, formats, headings=_HEADINGS, shown=shown, title=title))
    return Section(other.title, other.notes, [] if other.means.empty else tables, 3)


def corrected_screen_table(other: Alternative, compared: ComparedModels, judged: str) -> Table:
    """Rank, model, its other mean and that of its scores, whose heading is `judged`."""
    over_all = other.over_all
    names = [str(name) for name in over_all.index]
    title = other.title.lower()
    data = pd.DataFrame(
        {
            "rank": ranks_text(over_all),
            "model": [compared.short[name] for name in names],
            title: list(over_all[other.name]),
            judged: [compared.mean(name) for name in names],
        }
    )
    return Table(data, dict.fromkeys((title, judged), number(other.digits)))
