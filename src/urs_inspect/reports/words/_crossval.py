"""The report of a cross-validation, with Figures 4 and 10 (URS paper) drawn with Altair as SVG."""

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice, pairwise
from typing import Any

import pandas as pd

from urs_inspect._util import InputError, counted
from urs_inspect.datasets._references import DATASET
from urs_inspect.judging._failures import PARTIAL_PANEL, SCORED_OUTCOMES
from urs_inspect.judging._reply_counts import sentences
from urs_inspect.logs._files import finished_headers, local_path, nothing_left, short_name
from urs_inspect.logs._naming import short_names
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports._texts import DASH, Format, level_text, number, p_value, share
from urs_inspect.reports.layout._tables import (
    SIMULATED_SCREEN,
    FirstScreen,
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._answers import read_answers
from urs_inspect.reports.numbers._crossval import (
    ALL,
    KEY,
    TASK,
    CaseTexts,
    Grid,
    JudgedRuns,
    RunsWithout,
    Scores,
    bias_table,
    grids_of,
    mean_table,
    order_tables,
    preference_table,
    read_each,
    read_grid_log,
    read_judged_runs,
    reversals_of,
    rows_of,
    with_holm,
)
from urs_inspect.reports.words._comparison import cluster_note
from urs_inspect.stats._bootstrap import LEVEL, SEED, Resampling

CROSSVAL = ReportKind(
    "urs-inspect cross-validation",
    2,
    "urs-inspect robustness",
    "crossval",
    ("means", "rating_bias", "orders", "differences", "self_preference"),
    ("figure_4.svg", "figure_10.svg", "figure_4_[0-9]*.svg", "figure_10_[0-9]*.svg"),
)
ROUNDS = 10_000

_ANOTHER_RUBRIC = "Another rubric: {ours}, not {theirs} (or of another content)."
_DIFFERENCES = {
    "task_version": "Another version of the task: {ours}, not {theirs}.",
    "dataset_sha256": "Other data: {ours}, not {theirs}.",
    "cases_sha256": "Other cases: {ours} of another choice than the {theirs} of the first grid.",
    "folds": "Another number of folds: {ours}, not {theirs}.",
    "rubric_sha256": _ANOTHER_RUBRIC,
    "reference_score": _ANOTHER_RUBRIC,
    "prompts_sha256": "Judged with other prompts, or in another language.",
}
_WITH_SCORE = frozenset(SCORED_OUTCOMES) - {PARTIAL_PANEL}
_SETTING = ["evaluator", "references by"]
_SCORE = number(2)
_DIFFERENCE = number(2, sign=True)
_WAY = (
    "To make one: inspect eval urs_inspect/urs_crossval --model none -T answers={}"
    " -T references=dataset --model-role 'grader=[JUDGE, OTHER_JUDGE]'"
)
_EQUATION = (
    "Rating bias (URS paper, Equation 1): mean rating that an evaluator gives to the answers of"
    " model B with the references by B, minus the score of a reference, and the mean of that over"
    " all models B. Answer and reference are two outputs of one model, so that 0 is calibrated."
)
_PREFERENCE = (
    "Preference: the evaluator's rating of its own answers minus the other evaluators' rating of"
    " the same answers. Leniency: the same difference over answers of models that are neither of"
    " the two. Beyond leniency: preference minus leniency, which is self-preference proper. Paired"
    " by case; every other evaluator has the same weight. p is that of beyond leniency, after"
    " Holm's correction over all evaluators and references."
)


def report_crossval(
    logs: Iterable[str],
    *,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    command: str = "",
) -> Report:
    """Report from logs of `urs_crossval` and of `urs` whether scores hold for other judges and
    references.

    Args:
        logs: Log files, and directories of logs.
        rounds: Rounds of the bootstrap over cases.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The report, with the tables `means`, `rating_bias`, `orders`, `differences` and
        `self_preference`, and Figures 4 and 10 of each grid.

    Raises:
        InputError: If a name does not exist, or nothing is left to report; the message reports what
            was skipped.
    """
    names = list(logs)
    skipped = list[str]()
    headers = finished_headers(names, skipped)
    grid_logs = [header for header in headers if header.eval.task == TASK]
    read = read_each(read_grid_log, grid_logs, skipped)
    others = [local_path(log.location) for log in headers if log.eval.task != TASK]
    judged: list[JudgedRuns] = []
    if others:
        try:
            answers = read_answers(others)
            skipped += answers.left_out
            judged, without = read_judged_runs(answers)
            skipped += map(without_preference, without)
        except InputError as error:  # logs of other tasks may lie in the same folder
            skipped += error.message.splitlines()
    if not read and not judged:
        what = "no finished log of urs_crossval, nor answers that several judges have judged,"
        skipped.append(_WAY.format(shlex.quote(",".join(names))))
        raise nothing_left(what, names, skipped)
    how = Resampling(rounds, level, seed)
    return crossval_report(
        grids_of(read), judged, how, [short_name(log.location) for log in headers], skipped, command
    )


def without_preference(runs: RunsWithout) -> str:
    """Why runs show no self-preference."""
    lacking = "no judge is among the models"
    if len(runs.judges) < 2:
        lacking = "there is no other judge of the same answers to compare with"
    return (
        f"No self-preference from {counted(runs.logs, 'log')} of {', '.join(runs.models)}, judged"
        f" by {', '.join(runs.judges) or 'nobody'}: {lacking}."
    )


def crossval_report(
    grids: Sequence[Grid],
    judged: Sequence[JudgedRuns],
    how: Resampling,
    logs: Sequence[str] = (),
    skipped: Sequence[str] = (),
    command: str = "",
) -> Report:
    """The report of grids and ordinary runs that were read."""
    scores = [*(grid.scores_without_copies() for grid in grids), *(runs.scores for runs in judged)]
    preferences = with_holm([preference_table(part, how) for part in scores])
    simulated = any(name.startswith(SIMULATED) for part in scores for name in part.names)
    sections = simulation_section(simulated)
    figures = {}
    facts = []
    orders_of_grids = []
    for place, (grid, own, preference) in enumerate(
        zip(grids, scores, preferences, strict=False), start=1
    ):
        means = mean_table(grid, how)
        biases = bias_table(own, grid.conditions["reference_score"], how)
        orders, pairs = order_tables(grid.scores, how)
        tables = {
            "means": means,
            "orders": orders,
            "differences": pairs,
            "rating_bias": biases,
        }
        short = short_names(grid.scores.names)
        sections.append(Section("Grid" if len(grids) == 1 else f"Grid {place}", _about(grid)))
        sections += _sections(place, grid, short, tables, preference)
        suffix = "" if place == 1 else f"_{place}"
        drawn = (short, grid.conditions, simulated)
        orders_of_grids.append((orders, pairs))
        figures[f"figure_4{suffix}.svg"] = partial(draw_best_two, means, *drawn)
        figures[f"figure_10{suffix}.svg"] = partial(draw_settings, means, biases, *drawn)
        facts.append(_grid_facts(grid, means, pairs))
    for runs, preference in zip(judged, preferences[len(grids) :], strict=True):
        sections.append(_runs_section(runs, preference))
    if skipped:
        sections.append(Section("Skipped", skipped))
    sections.append(Section("Method", _method(how, bool(grids))))
    about = {
        **vars(how),
        "command": command,
        "simulated": simulated,
        "logs": logs,
        "skipped": skipped,
    }
    runs_facts = [{**runs.facts, "notes": runs_notes(runs)} for runs in judged]
    return Report(
        CROSSVAL,
        "Cross-validation",
        sections,
        {**about, "grids": facts, "runs": runs_facts},
        figures,
        first=_screen(grids, orders_of_grids, simulated),
        appendix=lambda: [Section("Logs", logs)],
    )


def _grid_facts(grid: Grid, means: pd.DataFrame, pairs: pd.DataFrame) -> dict[str, Any]:
    """What the JSON file says of a grid beside its tables."""
    return {
        "conditions": grid.conditions,
        "differs_from_first": _differences(grid),
        "notes": grid_notes(grid),
        **dict(zip(("evaluators", "sources", "models"), grid.scores.axes, strict=True)),
        "copies": {model: len(cases) for model, cases in grid.copies.items()},
        "outcomes": means[[*KEY, "outcomes"]].to_dict("records"),
        "reversals": reversals_of(pairs),
    }


def _runs_section(runs: JudgedRuns, preference: pd.DataFrame) -> Section:
    """How much each judge prefers its own answers in ordinary runs."""
    short = short_names([name for name in runs.scores.names if name])
    shown = _preference_tables(preference, "runs", short, "judge", sources=False)
    notes = (*_about_runs(runs), _PREFERENCE)
    return Section("Self-preference in ordinary runs", notes, shown)


def _screen(
    grids: Sequence[Grid], tables: Sequence[tuple[pd.DataFrame, pd.DataFrame]], simulated: bool
) -> FirstScreen | None:
    """The answer on one screen: the order of the models of the first grid in each setting."""
    if not grids:
        return None
    orders, pairs = tables[0]
    short = short_names(grids[0].scores.names)
    warnings = []
    if simulated:
        warnings = [SIMULATED_SCREEN]
    claim, *details = stability(grids[0].scores, orders, pairs)
    ways = ["A ≥ B: A has the higher mean, but not significantly so; A > B: significantly."]
    if len(grids) > 1:
        more = counted(len(grids) - 1, "more grid")
        ways.append(f"{more}, with other conditions: --all.")
    return FirstScreen(
        claim,
        warnings,
        [*details, *_about(grids[0])],
        _order_table(orders, pairs, short),
        ways=ways,
    )


def _about(grid: Grid) -> list[str]:
    facts = grid.conditions
    names = [", ".join(axis) for axis in grid.scores.axes]
    return [
        *(f"Not compared with the first grid: {reason}" for reason in _differences(grid)),
        (
            f"Data: {facts['dataset']} (sha256 {facts['dataset_sha256'][:8]}),"
            f" {counted(facts['cases'], 'case')} in {counted(facts['folds'], 'fold')}."
        ),
        (
            f"Rubric: {facts['rubric']}; prompts {facts['prompts_sha256'][:8]}; a reference is"
            f" worth {facts['reference_score']:g}."
        ),
        f"Evaluators: {names[0]}. References by: {names[1]}. Tested models: {names[2]}.",
        *grid_notes(grid),
    ]


def _differences(grid: Grid) -> list[str]:
    """Why a grid is not compared with the first one, one sentence for each reason."""
    reasons = []
    for reason in grid.differs:
        if isinstance(reason, CaseTexts):
            by = "of"
            if reason.what == "references":
                by = "by"
            reasons.append(f"Other {reason.what} {by} {reason.name}.")
        else:
            text = _DIFFERENCES[reason.name]
            reasons.append(text.format(ours=reason.ours, theirs=reason.theirs))
    return reasons


def grid_notes(grid: Grid) -> list[str]:
    """Which judgements do not count, what intervals are over, and how evaluators replied."""
    notes = []
    for cell in grid.replaced:
        notes.append(
            f"{cell.evaluator} on {cell.model} with references by {cell.source}: the judgements in"
            f" {cell.by} count, not those of the earlier {cell.log}."
        )
    return [*notes, *_about_clusters(grid.scores), *sentences(grid.reply_counts)]


def runs_notes(runs: JudgedRuns) -> list[str]:
    """Which runs and answers do not count, and what intervals are over."""
    notes = []
    for other in runs.others:
        notes.append(
            f"{', '.join(other.logs)} of {other.model}: other answers than those that more judges"
            " have judged; skipped."
        )
    for copied in runs.copies:
        notes.append(
            f"{copied.copies} of {copied.answers} answers of {copied.model} are word for word its"
            " references: their judgements are excluded, because a text would be compared with"
            " itself."
        )
    return [*notes, *_about_clusters(runs.scores)]


def _about_clusters(scores: Scores) -> list[str]:
    """What intervals and tests are over, where some cases are named as one cluster."""
    if scores.clusters is None:
        return []
    number = int(scores.clusters.max()) + 1
    return [cluster_note(counted(len(scores.values), "case"), number)]


def _about_runs(runs: JudgedRuns) -> list[str]:
    facts = runs.facts
    return [
        (
            f"Data: {facts['dataset']}, {counted(facts['questions'], 'question')}. Rubric:"
            f" {facts['rubric']}; prompts {facts['prompts']}; references:"
            f" {facts['references'] or 'those of the data'}."
        ),
        f"Judges: {', '.join(facts['judges'])}. Answers of: {', '.join(sorted(facts['models']))}.",
        *runs_notes(runs),
    ]


def _sections(
    place: int,
    grid: Grid,
    short: Mapping[str, str],
    tables: Mapping[str, pd.DataFrame],
    preference: pd.DataFrame,
) -> Iterator[Section]:
    """The parts of a grid; `tables` are those of its CSV files but that of self-preference."""

    def csv(name: str, main: str = "") -> Table:
        data = tables[name].drop(columns="outcomes", errors="ignore")
        return Table(data.assign(grid=place)[["grid", *data]], name=name, shown=(), main=main)

    means = tables["means"]
    shown = _by_setting(means.assign(text=means["mean"].map(_SCORE)), short)
    over_folds = means.apply(_over_folds, axis=1, result_type="reduce")
    folds = _by_setting(means.assign(text=over_folds), short, ", over folds")
    yield Section("Mean scores", (), (shown, folds, csv("means", "mean")), 3)
    order = tables["orders"], tables["differences"]
    notes = stability(grid.scores, *order)
    ranked = (_order_table(*order, short), csv("orders"), csv("differences", "difference"))
    yield Section("Order of the models", notes, ranked, 3)
    yield _bias_section(grid, tables["rating_bias"], short, csv("rating_bias", "bias"))
    none = "No evaluator is among the tested models, so there is none."
    if len(grid.scores.evaluators) < 2:
        none = "There is only one evaluator, so there is no other to compare with."
    notes = [_PREFERENCE if len(preference) else none]
    several = len(grid.scores.sources) > 1
    of_grid = _preference_tables(preference, f"grid {place}", short, "evaluator", sources=several)
    yield Section("Self-preference", notes, of_grid, 3)
    unscored = []
    for row in rows_of(means):
        names = (row.evaluator, row.source, row.model)
        why = [
            f"{outcome.removeprefix('unscored_').replace('_', ' ')} {n}"
            for outcome, n in row.outcomes.items()
            if outcome not in _WITH_SCORE
        ]
        if why:
            unscored.append((*map(short.get, names), ", ".join(why)))
    if unscored:
        data = pd.DataFrame(unscored, columns=[*_SETTING, "model", "why, and how many"])
        yield Section("Judgements without a score", (), (Table(data),), 3)


def _over_folds(row: Any) -> str:
    deviation = _SCORE(row.fold_deviation)
    mean = _SCORE(row.fold_mean)
    if deviation in (DASH, _SCORE(0)):
        return mean
    return f"{mean} ± {deviation}"


def _bias_section(
    grid: Grid, biases: pd.DataFrame, short: Mapping[str, str], csv: Table
) -> Section:
    """Rating bias: one row per evaluator, one column per model that is both tested and a source."""
    notes = [_EQUATION]
    if biases.empty:
        notes = ["No model is both tested and a source of references, so there is none."]
    for model, cases in grid.copies.items():
        notes.append(
            f"{len(cases)} of {grid.conditions['cases']} answers of {model} are word for word its"
            " references: these judgements take no part in rating bias and self-preference, because"
            " a text was compared with itself. Take the references from another run than the"
            " answers."
        )
    headings = {model: f"B = {short[model]}" for model in biases["model"] if model != ALL}
    data = biases.assign(
        evaluator=biases["evaluator"].map(short),
        model=biases["model"].map({ALL: "rating bias", **headings}),
    )
    wide = data.pivot_table("bias", "evaluator", "model", aggfunc="first", sort=False)
    table = Table(wide.reset_index(), dict.fromkeys(map(str, wide), _DIFFERENCE))
    return Section("Rating bias", notes, (table, csv), 3)


def stability(scores: Scores, orders: pd.DataFrame, pairs: pd.DataFrame) -> list[str]:
    """Whether any two models change places between settings, in words."""
    models = len(scores.models)
    if models < 2:
        return ["Only one model was tested, so there is no order."]
    if orders.empty:
        return ["In no setting is there a case on which all models have a score."]
    found = len(orders) // models
    settings = counted(found, "setting")
    reversals = reversals_of(pairs)
    if not reversals:
        best = ", ".join(orders["model"][:models])
        stable = f"Stable: no two models change places over {settings}."
        if found == 1:
            stable = "One setting only."
        notes = [f"{stable} From the best: {best}."]
    else:
        both = [pair for pair in reversals if pair["ahead_significant"]]
        both = [pair for pair in both if pair["behind_significant"]]
        verdict = "No pair differs significantly in both directions, so that this may be chance."
        if both:
            verdict = (
                f"The difference of {counted(len(both), 'pair')} is significant in both directions:"
                " there, the choice of the judge decides."
            )
        total = counted(models * (models - 1) // 2, "pair")
        notes = [
            f"Not stable: {len(reversals)} of {total} of models change places over {settings}."
            f" {verdict}"
        ]
    for pair in reversals:
        notes.append(
            f"{pair['first']} is ahead of {pair['second']} in {counted(pair['ahead'], 'setting')}"
            f" ({pair['ahead_significant']} significant) and behind in {pair['behind']}"
            f" ({pair['behind_significant']} significant)."
        )
    lacking = len(scores.evaluators) * len(scores.sources) - found
    if lacking:
        without = counted(lacking, "setting")
        notes.append(f"{without} without a case on which all models have a score.")
    return notes


def _by_setting(means: pd.DataFrame, short: Mapping[str, str], about: str = "") -> Table:
    """The column `text` with one row per evaluator and source, one column per model."""
    named = means.assign(
        **{heading: means[key].map(short) for key, heading in zip(KEY, _SETTING, strict=False)},
        heading=means["model"].map(short) + about,
    )
    wide = named.pivot_table(
        "text", _SETTING, "heading", aggfunc="first", sort=False, fill_value=DASH
    )
    return Table(wide.reset_index(), dict.fromkeys(map(str, wide), str))


def _order_table(orders: pd.DataFrame, pairs: pd.DataFrame, short: Mapping[str, str]) -> Table:
    """The order of each setting: `>` between neighbours that differ significantly, `≥` between
    others.
    """
    apart = set(
        pairs.loc[pairs["apart"], ["evaluator", "source", "first", "second"]].itertuples(
            index=False, name=None
        )
    )
    rows = []
    setting: Any
    for setting, ranked in orders.groupby(["evaluator", "source"], sort=False):
        text = short[ranked["model"].iloc[0]]
        for better, worse in pairwise(ranked["model"]):
            sign = "≥"
            if (*setting, better, worse) in apart:
                sign = ">"
            text += f" {sign} {short[worse]}"
        first = ranked.iloc[0]
        rows.append((*map(short.get, setting), text, first["share"], first["cases"]))
    formats: dict[str, Format] = {"resamples with it": share, "cases": number(0)}
    return Table(pd.DataFrame(rows, columns=[*_SETTING, "order", *formats]), formats)


def _preference_tables(
    data: pd.DataFrame, origin: str, short: Mapping[str, str], judge: str, *, sources: bool
) -> tuple[Table, Table]:
    """Self-preference as shown, and for CSV."""
    names = {**short, ALL: "all, evenly"}
    shown = data.assign(evaluator=data["evaluator"].map(short), source=data["source"].map(names))
    differences = ("preference", "leniency", "beyond")
    formats: dict[str, Format] = {"own_mean": _SCORE, "others_mean": _SCORE}
    formats |= dict.fromkeys(differences, _DIFFERENCE)
    formats["p_beyond_holm"] = p_value
    headings = {
        "evaluator": judge,
        "source": "references by",
        "own_mean": "own",
        "others_mean": "others",
        "beyond": "beyond leniency",
        "p_beyond_holm": "p (Holm)",
    }
    keys = ("evaluator", "source") if sources else ("evaluator",)
    csv = data.copy()
    csv.insert(0, "from", origin)
    return (
        Table(shown, formats, headings=headings, shown=(*keys, *formats)),
        Table(csv, name="self_preference", shown=(), estimates=differences),
    )


def _method(how: Resampling, grids: bool) -> list[str]:
    brackets = (
        f"Brackets are {level_text(how.level)} intervals of a bootstrap over cases (expanded"
        f" percentiles, {how.rounds:,} rounds, seed {how.seed}); epochs of a case are averaged"
        " first."
    )
    failed = (
        "Judgements that failed have no score. Empty answers have the lowest score without a judge."
    )
    if not grids:
        return [brackets, failed]
    folds = (
        "± is the standard deviation of the means of the folds: how much parts of the cases differ,"
        " not the error of the mean. It is omitted where the folds do not differ."
    )
    orders = (
        "Two models differ significantly where the p-value of their paired test, after Holm's"
        f" correction over all pairs and settings of a grid, is below {1 - how.level:.2g}; > stands"
        " between such neighbours, ≥ between others."
    )
    return [brackets, folds, failed, orders]


# --- figures ---

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Distinct for people who see few colours (Okabe and Ito, "Color Universal Design", 2008)."""
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
"""From the seventh model on colours are repeated, with other shapes."""
_INK = "#16191f"
_SOFT = "#5a6170"
_LINE = "#dfe2e8"
_WIDTH = 430
_ROW = 15  # pixels
_AXIS = "mean score, 1 to 10"


def draw_best_two(
    means: pd.DataFrame, names: Mapping[str, str], conditions: Mapping[str, Any], simulated: bool
) -> str:
    """The two best models in every setting, over folds (Figure 4); `means` as from `mean_table`,
    the best first.
    """
    models = means["model"].unique()
    best = means[means["model"].isin(models[:2])]
    centre = best["fold_mean"]
    spread = best["fold_deviation"]
    data = _settings(best, names).assign(value=centre, low=centre - spread, high=centre + spread)
    folds = best[[f"fold_{fold}" for fold in range(1, conditions["folds"] + 1)]]
    parts = folds.melt(value_name="part", ignore_index=False)["part"]
    strokes = data[["group", "row", "model"]].join(parts)
    title = "Models"
    if len(models) > 2:
        title = "The two best models"
    about = (
        f"Mean over {conditions['folds']} folds. Lines: ± their standard deviation. Strokes: folds."
    )
    panel = _panel(pd.concat([data, strokes], ignore_index=True), _AXIS, _line(conditions))
    return _svg(title, about, simulated, [panel])


def draw_settings(
    means: pd.DataFrame,
    biases: pd.DataFrame,
    names: Mapping[str, str],
    conditions: Mapping[str, Any],
    simulated: bool,
) -> str:
    """All models in every setting with intervals, and the rating bias of each evaluator (Figure
    10).
    """
    settings = _settings(means, names)
    panels = [_panel(settings.join(_parts(means["mean"])), _AXIS, _line(conditions))]
    if len(biases):
        rows = biases.assign(
            group="Rating bias by evaluator",
            row=biases["evaluator"].map(names),
            model=biases["model"].map({ALL: ALL, **names}),
        )
        rows = rows.join(_parts(rows.pop("bias")))
        axis = "black: Equation 1, over all models B; in colour: one model B"
        panels.append(_panel(rows, axis, (0.0, "no bias"), list(settings["model"].unique())))
    level = level_text(means["mean"].iloc[0].level)
    about = f"Lines: {level} intervals over {conditions['cases']} cases."
    return _svg("Evaluators and sources of references", about, simulated, panels)


def _line(conditions: Mapping[str, Any]) -> tuple[float, str]:
    return conditions["reference_score"], f"{conditions['reference_score']:g}, a reference"


def _settings(means: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Heading, name of the row and model of each mean."""
    sources = {name: f"references by {names[name]}" for name in means["source"]}
    sources[DATASET] = "references of the data"
    return pd.DataFrame(
        {
            "group": "Evaluator " + means["evaluator"].map(names),
            "row": means["source"].map(sources),
            "model": means["model"].map(names),
        }
    )


def _parts(estimates: "pd.Series[Any]") -> pd.DataFrame:
    columns = {
        part: [getattr(found, part) for found in estimates] for part in ("value", "low", "high")
    }
    return pd.DataFrame(columns, index=estimates.index)


def _panel(
    data: pd.DataFrame, axis: str, line: tuple[float, str], compared: Sequence[str] = ()
) -> Any:
    """Values with their intervals over one axis with a dark line; `part` are values shown as
    strokes.

    With the models of another panel values are differences, and models have the colours of that
    panel.
    """
    import altair as alt

    domain = [ALL, *(compared or data["model"].unique())]
    if "part" not in data:
        data = data.assign(part=math.nan)
    show = number(2, sign=bool(compared))
    texts = data["value"].map(lambda value: show(value).replace(DASH, "no score"))
    data = data.assign(text=texts.mask(data["part"].notna(), None), line=line[0])
    legend = None
    if not compared:
        legend = alt.Legend(values=domain[1:], title=None, orient="top", labelLimit=270, columns=3)
    hues = alt.Scale(domain=domain, range=[_INK, *islice(cycle(_COLOURS), len(domain) - 1)])
    shapes = alt.Scale(domain=domain, range=_SHAPES)
    colour = alt.Color("model:N", scale=hues, legend=legend)
    shape = alt.Shape("model:N", scale=shapes, legend=legend)
    title = f"{axis}; the dark line: {line[1]}"
    x = alt.X("value:Q", title=title, scale=alt.Scale(zero=False))
    labels = alt.Axis(labelLimit=270, domain=False, ticks=False)
    y = alt.Y("row:N", sort=None, title=None, axis=labels)
    chart = alt.Chart(data)
    base = chart.encode(y=y, yOffset=alt.YOffset("model:N", sort=domain))
    texts_at_the_right = base.mark_text(align="right", color=_INK)
    layers = [
        chart.mark_rule(color=_INK, strokeWidth=1.2).encode(x="mean(line):Q"),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", color=colour),
        base.mark_tick(size=9, thickness=1.2).encode(x="part:Q", color=colour),
        base.mark_point(filled=True, size=55, opacity=1).encode(x=x, color=colour, shape=shape),
        texts_at_the_right.encode(x=alt.value(_WIDTH + 55), text="text:N").transform_filter(
            "isValid(datum.text)"
        ),
    ]
    step: Any = alt.Step(_ROW, **{"for": "offset"})
    header = alt.Header(title=None, labelAnchor="start", labelFontWeight="bold", labelLimit=500)
    return (
        alt.layer(*layers, data=data)
        .properties(width=_WIDTH, height=step)
        .facet(row=alt.Row("group:N", sort=None, header=header), spacing=8)
        .resolve_scale(y="independent")
    )


def _svg(title: str, about: str, simulated: bool, panels: Sequence[Any]) -> str:
    import altair as alt
    import vl_convert

    warning = ""
    if simulated:
        warning = "SIMULATION: the scores mean nothing. "
    heading = alt.TitleParams(
        title, subtitle=warning + about, anchor="start", subtitleColor=_SOFT, offset=12
    )
    chart = (
        alt.vconcat(*panels, title=heading, background="white", padding=16)
        .resolve_scale(
            color="independent", shape="independent", x="independent", yOffset="independent"
        )
        .configure_view(stroke=None)
        .configure_axis(gridColor=_LINE, domainColor=_LINE, tickColor=_LINE, titleColor=_SOFT)
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))
