"""The tables of judges that rate, for `urs-inspect judges`."""

import math
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect.cli.cells import NONE, count, effort_notes, heading, p_value, print_table, rate, table_of

if TYPE_CHECKING:
    from urs_inspect.rating import Estimate
    from urs_inspect.reports import DatasetRatings, RatingJudge
    from urs_inspect.scorers.rating_metrics import RatingAgreement

_CORRELATIONS = ("Pearson", "Spearman", "Kendall")


def print_ratings(dataset: "DatasetRatings", console: Console) -> None:
    """Print the judges that rated one dataset, their agreement by intent, and how every two of them compare."""
    heading(console, dataset.dataset, dataset.sha256, any(judge.simulated for judge in dataset.judges))
    print_table(_correlations_table(dataset), console)
    print_table(_other_table(dataset), console)
    lines = [
        "Correlations and mean difference (rating less label, on the scale of the labels) are over the ratings that "
        "were read; Kendall is tau-b.",
        effort_notes(dataset.judges),
    ]
    if any(dataset.is_partial(judge) for judge in dataset.judges):
        lines.append("'n of m': rated only some of the responses, so its row does not compare with that over all m.")
    console.print(" ".join(lines), highlight=False, markup=False)
    for judge in dataset.judges:
        if judge.by_intent:
            print_table(_intents_table(judge), console)
    if dataset.tests:
        print_table(_tests_table(dataset, "Pearson"), console)
        print_table(_tests_table(dataset, "Spearman"), console)


def _correlations_table(dataset: "DatasetRatings") -> Table:
    title = "Correlation of ratings with labels, 95% interval in brackets"
    table = table_of(title, ("judge",), ("responses", *_CORRELATIONS))
    for judge in dataset.judges:
        rated = count(judge.responses, dataset.is_partial(judge), len(judge.samples), len(dataset.samples))
        table.add_row(escape(judge.name), rated, *_correlations(judge.agreement, 3))
    return table


def _other_table(dataset: "DatasetRatings") -> Table:
    numbers = ("mean difference", "unread %", "$ per 1,000", "s per 1,000")
    table = table_of("Level, failures and effort", ("judge", "rubric"), numbers)
    for judge in dataset.judges:
        table.add_row(
            escape(judge.name),
            escape(judge.rubric) or NONE,
            _shown(judge.agreement.difference, sign=True, digits=2),
            f"{100 * judge.agreement.unread:.1f}",
            rate(judge.cost, 2),
            rate(judge.seconds, 0),
        )
    return table


def _intents_table(judge: "RatingJudge") -> Table:
    table = table_of(
        f"By intent: {escape(judge.name)}", ("intent",), ("n", *_CORRELATIONS, "mean\ndifference", "unread %")
    )
    for intent, agreement in judge.by_intent.items():
        difference = _shown(agreement.difference, sign=True, digits=2)
        cells = [_in_two_lines(cell) for cell in (*_correlations(agreement, 2), difference)]
        table.add_row(escape(intent), str(agreement.n), *cells, f"{100 * agreement.unread:.1f}")
    return table


def _correlations(found: "RatingAgreement", digits: int) -> list[str]:
    correlations = found.correlations
    estimates = (correlations.pearson, correlations.spearman, correlations.kendall)
    return [_shown(estimate, digits=digits) for estimate in estimates]


def _in_two_lines(cell: str) -> str:
    return cell.replace(" (", "\n(")


def _shown(estimate: "Estimate", *, sign: bool = False, digits: int = 3) -> str:
    if math.isnan(estimate.value):
        return NONE
    form = f"{'+' if sign else ''}.{digits}f"
    if math.isnan(estimate.low):
        return format(estimate.value, form)
    return f"{estimate.value:{form}} ({estimate.low:{form}} to {estimate.high:{form}})"


def _tests_table(dataset: "DatasetRatings", kind: Literal["Pearson", "Spearman"]) -> Table:
    table = table_of(
        f"Every two judges on the responses that both have rated: {kind}",
        ("judge", "other judge"),
        ("difference", "p", "p (Holm)", "n"),
    )
    table.add_column("in words", overflow="fold")
    for test in dataset.tests:
        found = test.differences
        pearson = kind == "Pearson"
        difference = found.pearson if pearson else found.spearman
        better = test.better if pearson else test.better_by_spearman
        table.add_row(
            escape(test.first.name),
            escape(test.second.name),
            _shown(difference.reported((-2.0, 2.0)), sign=True),
            p_value(found.p_pearson if pearson else found.p_spearman),
            p_value(test.pearson_p if pearson else test.spearman_p),
            str(difference.n),
            "cannot tell apart" if better is None else f"{escape(better.name)} is better",
        )
    return table
