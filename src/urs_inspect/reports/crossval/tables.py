"""A cross-validation as sections of lines and tables of text, for the terminal and for Markdown alike."""

from collections.abc import Callable, Mapping, Sequence

from urs_inspect.judging import SCORED_OUTCOMES
from urs_inspect.rating import Estimate
from urs_inspect.reports.crossval import sentences
from urs_inspect.reports.crossval.report import ALL, Cell, CrossvalReport, Grid, Preference, SettingOrder
from urs_inspect.reports.intent.page.formats import (
    NONE,
    interval_text,
    mean_text,
    p_text,
    share_text,
    signed_interval,
    signed_text,
)
from urs_inspect.reports.intent.page.names import short_names
from urs_inspect.reports.sections import Section, TextTable

Names = Mapping[str, str]
"""Model -> its name in a table."""


def sections_of(report: CrossvalReport) -> list[Section]:
    """The sections of a report in their order."""
    found: list[Section] = []
    for number, grid in enumerate(report.grids, start=1):
        apart = [f"Apart from the first grid: {reason}" for reason in grid.apart_because]
        title = "Grid" if len(report.grids) == 1 else f"Grid {number}"
        found.append(Section(title, 2, (*apart, *sentences.conditions(grid))))
        found += _grid(grid)
    for judged in report.judged:
        short = _short_names((*judged.judges, *judged.models))
        tables = (_preference_table(judged.preferences, short, with_source=False),)
        lines = (*sentences.judged(judged), sentences.PREFERENCE)
        found.append(Section("Self-preference in ordinary runs", 2, lines, tables))
    if report.left_out:
        found.append(Section("Left out", 2, report.left_out))
    found.append(Section("Method", 2, tuple(sentences.method(report))))
    return found


def _grid(grid: Grid) -> list[Section]:
    bias = (*sentences.no_bias(grid), *([sentences.EQUATION] if grid.biases else []), *sentences.copies(grid))
    none = sentences.no_preference(grid)
    short = _short_names((*grid.evaluators, *grid.sources, *grid.models))
    unscored = _unscored_table(grid, short)
    orders = (_orders_table(grid, short),) if grid.orders else ()
    return [
        Section("Mean scores", 3, (), (_means_table(grid, short), _folds_table(grid, short))),
        Section("Order of the models", 3, tuple(sentences.order(grid)), orders),
        Section("Rating bias", 3, bias, (_bias_table(grid, short),) if grid.biases else ()),
        Section(
            "Self-preference",
            3,
            tuple(none or [sentences.PREFERENCE]),
            () if none else (_preference_table(grid.preferences, short, with_source=len(grid.sources) > 1),),
        ),
        *([Section("Judgements without a score", 3, (), (unscored,))] if unscored.rows else []),
    ]


def _short_names(names: Sequence[str]) -> Names:
    return short_names(list(dict.fromkeys(names)))


def estimate_text(found: Estimate) -> str:
    """A mean with its interval."""
    interval = interval_text(found.low, found.high)
    return mean_text(found.value) + (f" ({interval})" if interval else "")


def difference_text(found: Estimate) -> str:
    """A difference with its interval."""
    interval = signed_interval(found)
    return signed_text(found.value) + (f" ({interval})" if interval else "")


def order_text(found: SettingOrder, names: Names) -> str:
    """An order of models: `>` between neighbours that can be told apart, `≥` between others."""
    apart = {(gap.first, gap.second): gap.apart for gap in found.gaps}
    text = names[found.models[0]]
    for one, other in zip(found.models, found.models[1:], strict=False):
        text += f" {'>' if apart[one, other] else '≥'} {names[other]}"
    return text


def _means_table(grid: Grid, short: Names) -> TextTable:
    rows = _by_setting(grid, short, lambda cell: estimate_text(cell.mean))
    return TextTable(("evaluator", "references by", *[short[model] for model in grid.models]), rows, 2)


def _folds_table(grid: Grid, short: Names) -> TextTable:
    def text(cell: Cell) -> str:
        mean, deviation = mean_text(cell.fold_mean), mean_text(cell.fold_deviation)
        return mean if deviation in (NONE, mean_text(0)) else f"{mean} ± {deviation}"

    headings = ("evaluator", "references by", *[f"{short[model]}, over folds" for model in grid.models])
    return TextTable(headings, _by_setting(grid, short, text), 2)


def _by_setting(grid: Grid, short: Names, text: Callable[[Cell], str]) -> tuple[tuple[str, ...], ...]:
    cells = {(cell.evaluator, cell.source, cell.model): cell for cell in grid.cells}
    return tuple(
        (
            short[evaluator],
            short[source],
            *[text(cell) if (cell := cells.get((evaluator, source, model))) else NONE for model in grid.models],
        )
        for evaluator in grid.evaluators
        for source in grid.sources
    )


def _orders_table(grid: Grid, short: Names) -> TextTable:
    rows = tuple(
        (short[one.evaluator], short[one.source], order_text(one, short), share_text(one.share), f"{one.cases:,}")
        for one in grid.orders
    )
    return TextTable(("evaluator", "references by", "order", "resamples with it", "cases"), rows, 3)


def _bias_table(grid: Grid, short: Names) -> TextTable:
    models = tuple(grid.biases[0].by_model)
    rows = tuple(
        (short[one.evaluator], difference_text(one.bias), *[difference_text(one.by_model[model]) for model in models])
        for one in grid.biases
    )
    return TextTable(("evaluator", "rating bias", *[f"B = {short[model]}" for model in models]), rows, 1)


def _preference_table(found: Sequence[Preference], short: Names, *, with_source: bool) -> TextTable:
    headings = ("own", "others", "preference", "leniency", "beyond leniency", "p (Holm)")
    rows = []
    for one in found:
        result = one.result
        source = ["all, evenly" if one.source == ALL else short[one.source]] if with_source else []
        numbers = (
            mean_text(result.own),
            mean_text(result.others),
            difference_text(result.preference),
            difference_text(result.leniency),
            difference_text(result.beyond),
            p_text(one.p_beyond_holm),
        )
        rows.append((short[one.evaluator], *source, *numbers))
    names = ("evaluator", "references by") if with_source else ("judge",)
    return TextTable((*names, *headings), tuple(rows), len(names))


def _unscored_table(grid: Grid, short: Names) -> TextTable:
    scored = [name for name in SCORED_OUTCOMES if name != "partial_panel"]
    rows = []
    for cell in grid.cells:
        failed = {name: count for name, count in cell.outcomes.items() if name not in scored}
        if failed:
            said = ", ".join(f"{name.removeprefix('unscored_').replace('_', ' ')} {n}" for name, n in failed.items())
            rows.append((short[cell.evaluator], short[cell.source], short[cell.model], said))
    return TextTable(("evaluator", "references by", "model", "why, and how many"), tuple(rows), 4)
