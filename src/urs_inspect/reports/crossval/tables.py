"""Tables, sentences and files of a cross-validation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from urs_inspect._util import counted
from urs_inspect.judging import SCORED_OUTCOMES
from urs_inspect.reports.crossval.figures import draw_crossval
from urs_inspect.reports.crossval.report import ALL, Cell, CrossvalReport, Grid, JudgedAnswers, Preference, SettingOrder
from urs_inspect.reports.intent.page.tables import (
    NONE,
    interval_text,
    level_text,
    mean_text,
    p_text,
    share_text,
    short_names,
    signed_interval,
    signed_text,
)
from urs_inspect.reports.output import (
    ReportKind,
    Section,
    TextTable,
    csv_text,
    report_json,
    sections_markdown,
    write_directory,
)
from urs_inspect.stats import Estimate

SIMULATION = "SIMULATION: models whose names begin with `urs_simulation/` are simulated; their scores mean nothing."

EQUATION = (
    "Rating bias (URS paper, Equation 1): mean rating that an evaluator gives to the answers of model B with the "
    "references by B, less the score of a reference, and the mean of that over all models B. Answer and reference are "
    "two outputs of one model, so that 0 is calibrated."
)
PREFERENCE = (
    "Preference: what an evaluator gives its own answers, less what the other evaluators give the same answers. "
    "Leniency: the same difference over answers of models that are neither of the two. Beyond leniency: the first less "
    "the second, which is what favouring oneself is. Paired by case; every other evaluator weighs the same. "
    "p is that of beyond leniency, after Holm's correction over all evaluators and references."
)


def conditions(grid: Grid) -> list[str]:
    """What the judgements of a grid have in common."""
    facts = grid.conditions
    return [
        f"Data: {facts.dataset} (sha256 {facts.dataset_sha256[:8]}), {counted(facts.cases, 'case')} in "
        f"{counted(facts.folds, 'fold')}.",
        f"Rubric: {facts.rubric}; prompts {facts.prompts_sha256[:8]}; a reference is worth {facts.reference_score:g}.",
        f"Evaluators: {', '.join(grid.evaluators)}. References by: {', '.join(grid.sources)}. Tested models: "
        f"{', '.join(grid.models)}.",
        *grid.notes,
    ]


def order(grid: Grid) -> list[str]:
    """Whether the order of the models is stable."""
    if len(grid.models) < 2:
        return ["Only one model was tested, so that there is no order."]
    if not grid.orders:
        return ["In no setting is there a case on which all models have a score."]
    settings = counted(len(grid.orders), "setting")
    lacking = len(grid.evaluators) * len(grid.sources) - len(grid.orders)
    left = [f"{counted(lacking, 'setting')} without a case on which all models have a score."] if lacking else []
    if not grid.reversals:
        same = f"From the best: {', '.join(grid.orders[0].models)}"
        stable = f"Stable: no two models change places over {settings}. {same}."
        return [stable if len(grid.orders) > 1 else f"One setting only. {same}.", *left]
    pairs = len(grid.models) * (len(grid.models) - 1) // 2
    contradicted = [one for one in grid.reversals if one.ahead_apart and one.behind_apart]
    verdict = (
        f"{counted(len(contradicted), 'pair')} can be told apart in both directions: there, who judges decides."
        if contradicted
        else "No pair can be told apart in both directions, so that chance may have done it."
    )
    said = [
        f"{one.first} is ahead of {one.second} in {counted(one.ahead, 'setting')} (told apart in {one.ahead_apart}) "
        f"and behind in {one.behind} (told apart in {one.behind_apart})."
        for one in grid.reversals
    ]
    return [
        f"Not stable: {len(grid.reversals)} of {counted(pairs, 'pair')} of models change places over {settings}. "
        f"{verdict}",
        *said,
        *left,
    ]


def copies(grid: Grid) -> list[str]:
    """Which judgements take no part in bias and preference."""
    return [
        f"{count} of {grid.conditions.cases} answers of {model} are word for word its references: these judgements "
        "take no part in rating bias and self-preference, because a text was judged against itself. Take the "
        "references from another run than the answers."
        for model, count in grid.copies.items()
    ]


def no_bias(grid: Grid) -> list[str]:
    """Why there is no rating bias, if there is none."""
    return [] if grid.biases else ["No model is both tested and a source of references, so that there is none."]


def no_preference(grid: Grid) -> list[str]:
    """Why there is no self-preference, if there is none."""
    if grid.preferences:
        return []
    if len(grid.evaluators) < 2:
        return ["There is only one evaluator, so that there is nobody to compare with."]
    return ["No evaluator is among the tested models, so that there is none."]


def judged(found: JudgedAnswers) -> list[str]:
    """What ordinary runs have in common whose answers several judges have judged."""
    return [
        f"Data: {found.dataset}, {counted(found.questions, 'question')}. Rubric: {found.rubric}; prompts "
        f"{found.prompts}; references: {found.references or 'those of the data'}.",
        f"Judges: {', '.join(found.judges)}. Answers of: {', '.join(sorted(found.models))}.",
        *found.notes,
    ]


def method(report: CrossvalReport) -> list[str]:
    """How the numbers were made."""
    grids = bool(report.grids)
    folds = (
        "± is the standard deviation of the means of the folds: how much parts of the cases differ, not how sure the "
        "mean is. It is left out where the folds do not differ."
    )
    apart = (
        "Models are told apart where the bootstrap p-value of their paired difference, after Holm's correction over "
        f"all pairs and settings of a grid, is below {1 - report.level:.2g}; > stands between such neighbours, ≥ "
        "between others."
    )
    return [
        f"Brackets are {level_text(report.level)} intervals of a bootstrap over cases (expanded percentiles, "
        f"{report.rounds:,} rounds, seed {report.seed}); epochs of a case are averaged first.",
        *([folds] if grids else []),
        "Judgements that failed have no score. Empty answers have the lowest score without a judge.",
        *([apart] if grids else []),
    ]


Names = Mapping[str, str]
"""Model -> its name in a table."""


def sections_of(report: CrossvalReport) -> list[Section]:
    """The sections of a report in their order."""
    found: list[Section] = []
    for number, grid in enumerate(report.grids, start=1):
        apart = [f"Apart from the first grid: {reason}" for reason in grid.apart_because]
        title = "Grid" if len(report.grids) == 1 else f"Grid {number}"
        found.append(Section(title, 2, (*apart, *conditions(grid))))
        found += _grid(grid)
    for ordinary in report.judged:
        short = _short_names((*ordinary.judges, *ordinary.models))
        tables = (_preference_table(ordinary.preferences, short, with_source=False),)
        lines = (*judged(ordinary), PREFERENCE)
        found.append(Section("Self-preference in ordinary runs", 2, lines, tables))
    if report.left_out:
        found.append(Section("Left out", 2, report.left_out))
    found.append(Section("Method", 2, tuple(method(report))))
    return found


def _grid(grid: Grid) -> list[Section]:
    bias = (*no_bias(grid), *([EQUATION] if grid.biases else []), *copies(grid))
    none = no_preference(grid)
    short = _short_names((*grid.evaluators, *grid.sources, *grid.models))
    unscored = _unscored_table(grid, short)
    orders = (_orders_table(grid, short),) if grid.orders else ()
    return [
        Section("Mean scores", 3, (), (_means_table(grid, short), _folds_table(grid, short))),
        Section("Order of the models", 3, tuple(order(grid)), orders),
        Section("Rating bias", 3, bias, (_bias_table(grid, short),) if grid.biases else ()),
        Section(
            "Self-preference",
            3,
            tuple(none or [PREFERENCE]),
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


_FIGURES = ("figure_4.svg", "figure_10.svg", "figure_4_[0-9]*.svg", "figure_10_[0-9]*.svg")
_TABLES = ("means.csv", "rating_bias.csv", "orders.csv", "differences.csv", "self_preference.csv", "crossval.md")
CROSSVAL = ReportKind("urs-inspect cross-validation", 1, "urs-inspect crossval", "crossval.json", (*_TABLES, *_FIGURES))
"""How these reports are told from other files."""

_BOUNDS = ("low", "high", "n")


def write_files(report: CrossvalReport, directory: Path, *, figures: bool = True) -> tuple[Path, ...]:
    """Write the report; an earlier one is replaced.

    Args:
        report: The report.
        directory: Where to; made if it is not there.
        figures: Whether figures are drawn.

    Returns:
        The files.

    Raises:
        InputError: As from `write_directory`, or if matplotlib is missing, before anything is written.
    """
    # Everything is made before anything is written.
    contents: dict[str, str | bytes] = {**_texts(report)}
    return write_directory(directory, contents | (draw_crossval(report) if figures else {}), CROSSVAL)


def markdown(report: CrossvalReport) -> str:
    """The report to read, names from logs escaped."""
    simulation = (Section("Simulation", 2, (SIMULATION,)),) if report.simulated else ()
    return sections_markdown(
        "Cross-validation", (*simulation, *sections_of(report), Section("Logs", 2, tuple(report.logs)))
    )


def _texts(report: CrossvalReport) -> dict[str, str]:
    folds = max((grid.conditions.folds for grid in report.grids), default=0)
    by_fold = tuple(f"fold_{number}" for number in range(1, folds + 1))
    mean = ("mean", *_BOUNDS, "unscored", "fold_mean", "fold_deviation", *by_fold)
    result = [
        f"{name}{bound}" for name in ("preference", "leniency", "beyond") for bound in ("", "_low", "_high", "_n")
    ]
    p_values = ("p", "p_beyond", "p_holm", "p_beyond_holm")
    return {
        "means.csv": csv_text(("grid", "evaluator", "source", "model", *mean), _means(report)),
        "rating_bias.csv": csv_text(("grid", "evaluator", "model", "bias", *_BOUNDS), _biases(report)),
        "orders.csv": csv_text(
            ("grid", "evaluator", "source", "place", "model", "mean", "cases", "share"), _orders(report)
        ),
        "differences.csv": csv_text(
            ("grid", "evaluator", "source", "first", "second", "difference", *_BOUNDS, "p", "p_holm", "apart"),
            _differences(report),
        ),
        "self_preference.csv": csv_text(
            ("from", "evaluator", "source", "others", "own_mean", "others_mean", *result, *p_values),
            _preferences(report),
        ),
        "crossval.md": markdown(report),
        CROSSVAL.json: report_json(CROSSVAL, report),
    }


_Rows = Iterator[tuple[object, ...]]


def _means(report: CrossvalReport) -> _Rows:
    for number, grid in enumerate(report.grids, start=1):
        for cell in grid.cells:
            key = (number, cell.evaluator, cell.source, cell.model)
            yield (*key, *_numbers(cell.mean), cell.unscored, cell.fold_mean, cell.fold_deviation, *cell.folds)


def _biases(report: CrossvalReport) -> _Rows:
    for number, grid in enumerate(report.grids, start=1):
        for one in grid.biases:
            for model, bias in {ALL: one.bias, **one.by_model}.items():
                yield (number, one.evaluator, model, *_numbers(bias))


def _orders(report: CrossvalReport) -> _Rows:
    for number, grid in enumerate(report.grids, start=1):
        for one in grid.orders:
            for place, (model, mean) in enumerate(zip(one.models, one.means, strict=True), start=1):
                yield (number, one.evaluator, one.source, place, model, mean, one.cases, one.share)


def _differences(report: CrossvalReport) -> _Rows:
    for number, grid in enumerate(report.grids, start=1):
        for one in grid.orders:
            for gap in one.gaps:
                key = (number, one.evaluator, one.source, gap.first, gap.second)
                yield (*key, *_numbers(gap.difference), gap.p, gap.p_holm, str(gap.apart).lower())


def _preferences(report: CrossvalReport) -> _Rows:
    sources: list[tuple[str, Sequence[Preference]]] = [
        (f"grid {number}", grid.preferences) for number, grid in enumerate(report.grids, start=1)
    ]
    sources += [("runs", one.preferences) for one in report.judged]
    for name, several in sources:
        for one in several:
            found = one.result
            numbers = [*_numbers(found.preference), *_numbers(found.leniency), *_numbers(found.beyond)]
            others = ", ".join(one.others)
            p_values = (found.p, found.p_beyond, one.p_holm, one.p_beyond_holm)
            yield (name, one.evaluator, one.source, others, found.own, found.others, *numbers, *p_values)


def _numbers(found: Estimate) -> tuple[float, float, float, int]:
    return found.value, found.low, found.high, found.n
