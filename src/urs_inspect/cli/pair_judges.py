"""The tables of judges that compare, for `urs-inspect judges`."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect.cli.cells import NONE, count, effort_notes, heading, p_value, print_table, rate, table_of

if TYPE_CHECKING:
    from urs_inspect.rating import Estimate, JudgeMeasures
    from urs_inspect.reports import DatasetJudges, JudgePair, JudgeResult

_LEVELS = {"overall": "verdicts as a whole", "dimensions": "verdicts on dimensions"}


def print_dataset(dataset: "DatasetJudges", console: Console) -> None:
    """Print the judges of one dataset: accuracy, habits and effort, and what the paired tests say."""
    heading(console, dataset.dataset, dataset.sha256, any(judge.simulated for judge in dataset.judges))
    print_table(_rows(_accuracy_table(dataset), dataset, _accuracy_row), console)
    console.print(_explained(dataset), highlight=False, markup=False)
    print_table(_rows(_habits_table(dataset), dataset, _habits_row), console)
    console.print(_habits_explained(dataset), highlight=False, markup=False)
    for level, title in _LEVELS.items():
        if tests := [test for test in dataset.tests if test.level == level]:
            print_table(_tests_table(tests, title), console)


def _rows(table: Table, dataset: "DatasetJudges", row_of: "Callable[[JudgeResult, DatasetJudges], list[str]]") -> Table:
    last = len(dataset.judges) - 1
    for place, judge in enumerate(dataset.judges):
        table.add_row(*row_of(judge, dataset), end_section=place == last)
    for baseline in dataset.baselines:
        table.add_row(*row_of(baseline, dataset), style="dim")
    return table


def _has_dimensions(dataset: "DatasetJudges") -> bool:
    return any(judge.dimensions is not None for judge in dataset.judges)


def _accuracy_table(dataset: "DatasetJudges") -> Table:
    numbers = ["pairs", "overall\n(all)", "overall\n(read)"]
    if _has_dimensions(dataset):
        numbers += ["dimensions\n(all)", "dimens.\n(read)"]
    return table_of("Accuracy in %, 95% interval in brackets", ("judge", "asked"), numbers)


def _accuracy_row(judge: "JudgeResult", dataset: "DatasetJudges") -> list[str]:
    levels = (judge.overall, judge.dimensions) if _has_dimensions(dataset) else (judge.overall,)
    return [
        escape(judge.name),
        ", ".join(part for part in (judge.protocol, judge.orders) if part) or NONE,
        count(judge.pairs, dataset.is_partial(judge), len(judge.samples), len(dataset.samples)),
        *(
            cell
            for measures in levels
            for cell in (
                _of(measures, lambda m: m.accuracy_all, interval=True),
                _of(measures, lambda m: m.accuracy),
            )
        ),
    ]


def _habits_table(dataset: "DatasetJudges") -> Table:
    halo = ("halo",) if _has_dimensions(dataset) else ()
    numbers = ("unread", "alpha", "flips", "prefers\nlonger", "prefers\nfirst", *halo, "$ per\n1,000", "s per\n1,000")
    return table_of("Habits and effort, shares in %", ("judge",), numbers)


def _habits_row(judge: "JudgeResult", dataset: "DatasetJudges") -> list[str]:
    habits = judge.overall
    return [
        escape(judge.name),
        _unread(judge),
        NONE if habits is None or math.isnan(habits.alpha.value) else f"{habits.alpha.value:.2f}",
        _of(habits, lambda m: m.flips),
        _of(habits, lambda m: m.longer_preference),
        _of(habits, lambda m: m.first_preference),
        *([_of(judge.dimensions, lambda m: m.halo)] if _has_dimensions(dataset) else []),
        rate(judge.cost, 2),
        rate(judge.seconds, 0),
    ]


def _of(measures: "JudgeMeasures | None", choose: "Callable[[JudgeMeasures], Estimate]", interval: bool = False) -> str:
    if measures is None or math.isnan((estimate := choose(measures)).value):
        return NONE
    shown = f"{100 * estimate.value:.1f}"
    if not interval or math.isnan(estimate.low):
        return shown
    return f"{shown} ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


def _unread(judge: "JudgeResult") -> str:
    """Share of all verdicts asked for, as a whole and on dimensions, that could not be read."""
    unread = [measures.unread for measures in (judge.overall, judge.dimensions) if measures is not None]
    asked = sum(estimate.n for estimate in unread)
    return f"{100 * sum(estimate.value * estimate.n for estimate in unread) / asked:.1f}" if asked else NONE


def _explained(dataset: "DatasetJudges") -> str:
    lines = [
        "Accuracy is over labels that are no ties: (all) counts unread verdicts as wrong, and judges are sorted and "
        "tested by it; (read) leaves them out, as the paper does."
    ]
    if dataset.baselines:
        asked = dataset.baselines[0]
        orders = "both orders, disagreement being a tie" if asked.orders == "both" else f"the order '{asked.orders}'"
        lines.append(f"Baselines without a log are computed in {orders}, random with seed {asked.seed}.")
    if any(dataset.is_partial(judge) for judge in (*dataset.judges, *dataset.baselines)):
        lines.append("'n of m': judged only some of the pairs, so its accuracy does not compare with that over all m.")
    return " ".join(lines)


def _habits_explained(dataset: "DatasetJudges") -> str:
    lines = [
        "Unread and effort are of all verdicts; alpha (Krippendorff, against the labels) and habits of the overall "
        "ones, ties included; flips: the verdict changes when the responses swap places."
    ]
    most = max(dataset.judges, key=lambda judge: judge.pairs)
    if most.overall is not None and not math.isnan(most.overall.label_longer_preference.value):
        lines.append(f"The labels prefer the longer response in {most.overall.label_longer_preference.value:.1%}.")
    halos = [judge.dimensions.label_halo for judge in dataset.judges if judge.dimensions is not None]
    if halos:
        halo = max(halos, key=lambda estimate: estimate.n)
        of_labels = "" if math.isnan(halo.value) else f", {halo.value:.1%} of the labels"
        lines.append(f"Halo: verdicts on dimensions that equal the overall verdict, no ties{of_labels}.")
    return " ".join([*lines, effort_notes(dataset.judges)])


def _tests_table(tests: "Sequence[JudgePair]", title: str) -> Table:
    table = table_of(
        f"Every two models, and each against the best baseline, on the same pairs: {title}",
        ("judge", "other judge"),
        ("difference\nin points", "only one\nright", "p", "p (Holm)"),
    )
    table.add_column("in words", overflow="fold")
    for test in tests:
        found, estimate = test.comparison, test.comparison.difference.reported((-1.0, 1.0))
        table.add_row(
            escape(test.first.name),
            escape(test.second.name),
            NONE
            if math.isnan(estimate.value)
            else f"{100 * estimate.value:+.1f}"
            if math.isnan(estimate.low)
            else f"{100 * estimate.value:+.1f} ({100 * estimate.low:+.1f} to {100 * estimate.high:+.1f})",
            f"{found.only_first} : {found.only_second}",
            p_value(found.p),
            p_value(test.adjusted_p),
            "cannot tell apart" if test.better is None else f"{escape(test.better.name)} is better",
        )
    return table
