"""`urs-inspect judges`: judges of pairs and of ratings compared."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urs_inspect._util import InputError
from urs_inspect.cli.output import (
    NONE,
    count,
    effort_notes,
    heading,
    p_value,
    print_table,
    print_text_table,
    rate,
    table_of,
)

if TYPE_CHECKING:
    from urs_inspect.reports.judge_result import JudgePair, JudgeResult
    from urs_inspect.reports.judges import DatasetJudges
    from urs_inspect.stats import Estimate, JudgeMeasures

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


if TYPE_CHECKING:
    from urs_inspect.reports.judges import DatasetRatings, RatingJudge
    from urs_inspect.scorers.rating_agreement import RatingAgreement
    from urs_inspect.stats import Estimate

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
        print_table(_rating_judges_tests_table(dataset, "Pearson"), console)
        print_table(_rating_judges_tests_table(dataset, "Spearman"), console)


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


def _rating_judges_tests_table(dataset: "DatasetRatings", kind: Literal["Pearson", "Spearman"]) -> Table:
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


if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from urs_inspect.datasets.published import PublishedTable
    from urs_inspect.reports.judge_details import Detail
    from urs_inspect.reports.judges import DatasetJudges, DatasetRatings
    from urs_inspect.reports.output import TextTable


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "--published",
    type=click.Choice(["all", "matching", "none"]),
    default="matching",
    show_default=True,
    help="Which published tables to show: all, those about the datasets of LOGS, or none.",
)
@click.option(
    "--by",
    "by",
    multiple=True,
    type=click.Choice(["scenario", "need", "dimension", "intent", "language", "measure", "failure"]),
    help="Also show the accuracy (of ratings the agreement) by scenario or group, need, dimension, intent or language, "
    "all measures, or failures by mode. May be repeated.",
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every number of every judge and baseline, with its bounds, to a CSV file; it must not exist.",
)
def judges(logs: tuple[str, ...], published: str, by: tuple[str, ...], csv_file: Path | None) -> None:
    """Compare the judges of LOGS of md_eval, judge_pairwise and judge_rating (files or directories)."""
    from urs_inspect.reports.judge_details import details_csv, pair_details, rating_details

    if csv_file is not None and csv_file.exists():
        raise InputError(f"csv: {csv_file} exists already; name a new file")
    skipped: list[str] = []
    pairs, ratings, left_out = read_datasets(logs, skipped)
    console = Console()
    for dataset in pairs:
        print_dataset(dataset, console)
        print_details({judge.name: pair_details(judge) for judge in dataset.judges} if by else {}, by, console)
    for rated in ratings:
        print_ratings(rated, console)
        print_details({judge.name: rating_details(judge) for judge in rated.judges} if by else {}, by, console)
    if csv_file is not None:
        csv_file.write_text(details_csv(pairs, ratings), encoding="utf-8")
        console.print(f"\nAll numbers: {csv_file}", markup=False, highlight=False, soft_wrap=True)
    for sentence in [*([_left_out(left_out)] if left_out else []), *skipped]:
        console.print(f"\n{sentence}", markup=False, highlight=False)
    names = [dataset.dataset for dataset in pairs] + [rated.dataset for rated in ratings]
    print_published(published, names, console)


def print_details(judges: "Mapping[str, Sequence[Detail]]", by: Iterable[str], console: Console) -> None:
    """Print what logs hold about judges beyond their headline.

    Args:
        judges: The details of each judge of one dataset, by its name.
        by: What to show: a grouping, `measure`, or `failure`.
        console: Where to.
    """
    for what in by:
        chosen = {name: [one for one in details if one.by == _BY.get(what, what)] for name, details in judges.items()}
        if not any(chosen.values()):
            console.print(f"\n{_nothing(what)}", markup=False, highlight=False)
        for level in dict.fromkeys(one.level for details in chosen.values() for one in details):
            cells = {
                name: {(one.group, one.measure): _detail(one) for one in details if one.level == level}
                for name, details in chosen.items()
            }
            print_text_table(_details_table(what, cells), console, _title(what, level))


_BY = {"measure": "all"}


def _nothing(what: str) -> str:
    if what == "failure":
        return "Failures: none."
    if what == "measure":
        return "No measures: no judgement can be counted."
    return f"No figures by {what}: the logs have no such groups, or only one."


def _title(what: str, level: str) -> str:
    if what == "failure":
        return "Failures by mode"
    if level == "ratings":
        return f"Agreement with the labels by {what}"
    number = "Shares in %, alpha from -1 to 1," if what == "measure" else "Accuracy in %"
    return f"{number} by {what}: {_LEVELS[level]}"


def _details_table(what: str, cells: "Mapping[str, Mapping[tuple[str, str], str]]") -> "TextTable":
    from urs_inspect.reports.output import TextTable

    keys = list(dict.fromkeys(key for of_judge in cells.values() for key in of_judge))
    named = [place for place in (0, 1) if len({key[place] for key in keys}) > 1] or [0]
    return TextTable(
        headings=(*((what, "measure")[place] for place in named), *cells),
        rows=tuple(
            (*(key[place] for place in named), *(of_judge.get(key, NONE) for of_judge in cells.values()))
            for key in keys
        ),
        names=len(named),
    )


def _detail(one: "Detail") -> str:
    if one.measure == "count":
        return f"{one.value:.0f}"
    share = one.level != "ratings" and one.measure != "alpha"
    factor, digits = (100, 1) if share else (1, 3)
    shown = f"{factor * one.value:.{digits}f}"
    if math.isnan(one.low):
        return shown
    return f"{shown} ({factor * one.low:.{digits}f} to {factor * one.high:.{digits}f})"


def read_datasets(
    logs: Iterable[str], skipped: list[str]
) -> "tuple[list[DatasetJudges], list[DatasetRatings], list[EvalLog]]":
    """Read the judges of log files and of all logs below directories.

    Args:
        logs: The names.
        skipped: Gets a sentence about logs that are skipped, as from `finished_logs`.

    Returns:
        The datasets of judged pairs, those of rated responses, and the finished logs that have neither.

    Raises:
        InputError: If there is no log, or none with judged pairs or rated responses.
    """
    from urs_inspect.logs.files import finished_logs
    from urs_inspect.reports.judges import read_judges, read_ratings

    names = list(logs)
    found = list(finished_logs(names, skipped))
    pairs, ratings = read_judges(found), read_ratings(found)
    if not pairs and not ratings:
        what = "no log that is finished and has pairs scored by pair_verdict or responses scored by rating_agreement"
        raise InputError("\n".join([f"{what} in: {', '.join(names)}", *skipped]))
    used = {judge.location for dataset in pairs for judge in dataset.judges}
    used |= {judge.location for rated in ratings for judge in rated.judges}
    return pairs, ratings, [log for log in found if log.location not in used]


def _left_out(logs: "list[EvalLog]") -> str:
    tasks = Counter(log.eval.task for log in logs)
    named = ", ".join(f"{count} of {task}" for task, count in sorted(tasks.items()))
    several = "1 log has" if len(logs) == 1 else f"{len(logs)} logs have"
    return f"Left out: {several} no pairs scored by pair_verdict and no responses scored by rating_agreement ({named})."


def print_published(which: str, datasets: list[str], console: Console) -> None:
    """Print what others published: all tables, those about the datasets (`matching`), or `none`."""
    from urs_inspect.datasets.published import load_published

    published = load_published()
    tables = {"all": published.tables, "matching": published.about(datasets), "none": ()}[which]
    if not tables:
        return
    console.print(f"\n[bold]PUBLISHED, NOT MEASURED HERE:[/bold] {published.source}", highlight=False)
    for table in tables:
        console.print(_published_table(table))


def _published_table(published: "PublishedTable") -> Table:
    unit = "%" if published.unit == "percent" else "-1 to 1"
    title = f"Published, Table {published.number}. {published.title} ({unit})"
    table = Table(title=title, title_justify="left", padding=0)  # up to eleven columns must fit on a terminal
    table.add_column("judge", no_wrap=True)
    for column in published.columns:
        table.add_column(column.name, justify="right", min_width=max(map(len, column.name.split())))
    digits = 2 if published.unit == "percent" else 3
    for judge, numbers in published.judges.items():
        table.add_row(judge, *[NONE if number is None else f"{number:.{digits}f}" for number in numbers])
    return table
