"""Tables of a cross-validation -> Figures 4 and 10 of the URS paper."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from urs_inspect.reports.crossval.panels import Mark, MarkRow, Panel, draw_panels
from urs_inspect.reports.crossval.report import DATASET, Bias, Cell, CrossvalReport, Grid
from urs_inspect.reports.intent.page.figures.canvas import load
from urs_inspect.reports.intent.page.figures.svg import svg_bytes
from urs_inspect.reports.intent.page.formats import level_text
from urs_inspect.reports.intent.page.names import short_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIMULATED = "SIMULATION: the scores mean nothing. "


def draw_crossval(report: CrossvalReport) -> dict[str, bytes]:
    """Draw Figures 4 and 10 of each grid.

    Returns:
        Name of the file -> SVG; `figure_4.svg` and `figure_10.svg` for the first grid, `figure_4_2.svg` for the second.

    Raises:
        InputError: If matplotlib is missing.
    """
    check_drawing()
    found: dict[str, bytes] = {}
    for number, grid in enumerate(report.grids, start=1):
        suffix = "" if number == 1 else f"_{number}"
        for name, figure in (("figure_4", draw_best_two(grid, report)), ("figure_10", draw_settings(grid, report))):
            found[f"{name}{suffix}.svg"] = svg_bytes(figure, f"{name}-{number}")
    return found


def check_drawing() -> None:
    """Refuse to draw without matplotlib.

    Raises:
        InputError: If it is missing.
    """
    load("matplotlib.figure")


def draw_best_two(grid: Grid, report: CrossvalReport) -> "Figure":
    """The two best models in every setting, over folds (Figure 4).

    Args:
        grid: The grid, whose best models come first.
        report: Its report.
    """
    chosen = dict(enumerate(grid.models[:2]))

    def mark(cell: Cell, series: int) -> Mark:
        low, high = cell.fold_mean - cell.fold_deviation, cell.fold_mean + cell.fold_deviation
        return Mark(series, cell.fold_mean, low, high, cell.folds)

    marks = f"Mean over {grid.conditions.folds} folds. Lines: ± their standard deviation. Strokes: folds."
    return draw_panels(
        "The two best models" if len(grid.models) > 2 else "Models",
        _simulated(report) + marks,
        chosen,
        [Panel(_groups(grid, chosen, mark), "mean score, 1 to 10", _reference(grid))],
    )


def draw_settings(grid: Grid, report: CrossvalReport) -> "Figure":
    """All models in every setting with intervals, and the rating bias of each evaluator (Figure 10).

    Args:
        grid: The grid.
        report: Its report.
    """

    def mark(cell: Cell, series: int) -> Mark:
        return Mark(series, cell.mean.value, cell.mean.low, cell.mean.high)

    models = dict(enumerate(grid.models))
    panels = [Panel(_groups(grid, models, mark), "mean score, 1 to 10", _reference(grid))]
    if grid.biases:
        panels.append(_bias_panel(grid.biases, grid.models))
    return draw_panels(
        "Evaluators and sources of references",
        f"{_simulated(report)}Lines: {level_text(report.level)} intervals over {grid.conditions.cases} cases.",
        models,
        panels,
    )


def _bias_panel(biases: Sequence[Bias], models: Sequence[str]) -> Panel:
    short = short_names([one.evaluator for one in biases])
    rows = []
    for one in biases:
        marks = [Mark(-1, one.bias.value, one.bias.low, one.bias.high)]
        marks += [Mark(models.index(m), e.value, e.low, e.high) for m, e in one.by_model.items()]
        rows.append(MarkRow(short[one.evaluator], tuple(marks)))
    axis = "black: Equation 1, over all models B; in colour: one model B"
    return Panel({"Rating bias by evaluator": tuple(rows)}, axis, (0.0, "no bias"), signed=True)


def _groups(grid: Grid, models: Mapping[int, str], mark: Callable[[Cell, int], Mark]) -> dict[str, tuple[MarkRow, ...]]:
    cells = {(cell.evaluator, cell.source, cell.model): cell for cell in grid.cells}
    judges, sources = short_names(grid.evaluators), short_names(grid.sources)
    groups: dict[str, tuple[MarkRow, ...]] = {}
    for evaluator in grid.evaluators:
        rows = []
        for source in grid.sources:
            found = [(number, cells.get((evaluator, source, model))) for number, model in models.items()]
            marks = tuple(mark(cell, number) for number, cell in found if cell is not None)
            if marks:
                name = "references of the data" if source == DATASET else f"references by {sources[source]}"
                rows.append(MarkRow(name, marks))
        groups[f"Evaluator {judges[evaluator]}"] = tuple(rows)
    return groups


def _reference(grid: Grid) -> tuple[float, str]:
    score = grid.conditions.reference_score
    return score, f"{score:g}, a reference"


def _simulated(report: CrossvalReport) -> str:
    return _SIMULATED if report.simulated else ""
