"""The report of a cross-validation, with Figures 4 and 10 (URS paper) drawn with Altair as SVG."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.datasets._references import DATASET
from urs_inspect.judging._failures import PARTIAL_PANEL, SCORED_OUTCOMES
from urs_inspect.judging._reply_counts import sentences
from urs_inspect.logs._naming import short_names
from urs_inspect.reports._texts import DASH, Format, level_text, number, p_value, share
from urs_inspect.reports.layout._figures import WIDE, dumbbell_plot, svg
from urs_inspect.reports.layout._tables import (
    SIMULATED_SCREEN,
    FirstScreen,
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._conditions import Difference
from urs_inspect.reports.numbers._crossval import (
    ALL,
    Crossval,
    Grid,
    GridResults,
    JudgedRuns,
    Scores,
)
from urs_inspect.reports.words._comparison import cluster_note
from urs_inspect.stats._bootstrap import Resampling

CROSSVAL = ReportKind(
    "urs-inspect cross-validation",
    3,
    "urs-inspect robustness",
    "crossval",
    more=tuple(
        f"{figure}{place}.svg"
        for figure, place in product(("figure_4", "figure_10", "rating_bias"), ("", "_[0-9]*"))
    ),
)

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


def without_preference(runs: JudgedRuns) -> str:
    """Why runs show no self-preference."""
    judges = runs.scores.evaluators
    lacking = "no judge is among the models"
    if len(judges) < 2:
        lacking = "there is no other judge of the same answers to compare with"
    return (
        f"No self-preference from {counted(len(runs.logs), 'log')} of"
        f" {', '.join(runs.scores.models)}, judged by {', '.join(judges) or 'nobody'}: {lacking}."
    )


def crossval_report(
    results: Crossval,
    logs: Sequence[str] = (),
    skipped: Sequence[str] = (),
    command: str = "",
) -> Report:
    """The report of results as from `crossval_of`."""
    grids = results.grids
    simulated = results.simulated
    how = results.resampling
    sections = simulation_section(simulated)
    figures = {}
    facts = []
    runs_facts = []
    screens = []
    for place, found in enumerate(grids, start=1):
        grid = found.grid
        means = found.means
        biases = found.biases
        short = short_names(grid.scores.names)
        suffix = ""
        title = "Grid"
        if len(grids) > 1:
            title = f"Grid {place}"
        if place > 1:
            suffix = f"_{place}"
        sections += [
            Section(title, _about(grid)),
            _mean_section(means, short, place),
            _order_section(found, short, place),
            _bias_section(found, short, place),
            _preference_section(found, short, place),
            *_unscored_section(found.outcomes, short),
        ]
        drawn = (short, grid.conditions, simulated)
        if means["fold_mean"].notna().any():
            figures[f"figure_4{suffix}.svg"] = partial(draw_best_two, means, *drawn)
            figures[f"figure_10{suffix}.svg"] = partial(draw_settings, means, *drawn)
        if biases["bias"].map(lambda bias: bias.n).any():
            figures[f"rating_bias{suffix}.svg"] = partial(draw_biases, biases, *drawn)
        of_grid = {
            "conditions": grid.conditions,
            "differs_from_first": _differences(grid),
            "notes": grid_notes(grid),
            "evaluators": grid.scores.evaluators,
            "sources": grid.scores.sources,
            "models": grid.scores.models,
            "copies": grid.copies,
            "outcomes": found.outcomes.to_dict("records"),
            "reversals": found.reversals,
        }
        facts.append(of_grid)
        screens.append(_screen(found, len(grids), simulated))
    for runs, preference in results.runs:
        shown = _preference_tables(preference, "runs", short_names(runs.scores.names))
        notes = (*_about_runs(runs), _PREFERENCE)
        sections.append(Section("Self-preference in ordinary runs", notes, shown))
        of_runs = {
            "conditions": runs.conditions,
            "questions": len(runs.scores.values),
            "judges": runs.scores.evaluators,
            "models": runs.scores.models,
            "notes": runs_notes(runs),
        }
        runs_facts.append(of_runs)
    if skipped:
        sections.append(Section("Skipped", skipped))
    sections.append(Section("Method", _method(how, bool(grids))))
    about = {
        **vars(how),
        "command": command,
        "simulated": simulated,
        "logs": logs,
        "skipped": skipped,
        "grids": facts,
        "runs": runs_facts,
    }
    return Report(
        CROSSVAL,
        "Cross-validation",
        sections,
        about,
        figures,
        first=next(iter(screens), None),
        appendix=lambda: [Section("Logs", logs)],
    )


def _screen(found: GridResults, grids: int, simulated: bool) -> FirstScreen:
    """The answer on one screen: the order of the models of a grid in each setting."""
    short = short_names(found.grid.scores.names)
    warnings = []
    if simulated:
        warnings = [SIMULATED_SCREEN]
    claim, *details = stability(found)
    ways = ["A ≥ B: A has the higher mean, but not significantly so; A > B: significantly."]
    if grids > 1:
        more = counted(grids - 1, "more grid")
        ways.append(f"{more}, with other conditions: --all.")
    basis = [*details, *_about(found.grid)]
    table = _order_table(found.orders, found.pairs, short)
    return FirstScreen(claim, warnings, basis, table, ways=ways)


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
        if isinstance(reason, Difference):
            text = _DIFFERENCES[reason.name]
            reasons.append(text.format(ours=reason.ours, theirs=reason.theirs))
        else:
            texts, by = reason
            reasons.append(f"Other {texts} by {by}.")
    return reasons


def grid_notes(grid: Grid) -> list[str]:
    """Which judgements do not count, what intervals are over, and how evaluators replied."""
    notes = []
    for log, cells in grid.replaced.items():
        notes.append(
            f"{counted(cells, 'cell')} of {log} do not count: a later log has the same judge,"
            " references and model."
        )
    return [*notes, *_about_clusters(grid.scores), *sentences(grid.reply_counts)]


def runs_notes(runs: JudgedRuns) -> list[str]:
    """Which runs and answers do not count, and what intervals are over."""
    notes = []
    for model, logs in runs.others.items():
        notes.append(
            f"{', '.join(logs)} of {model}: other answers than those that more judges have judged;"
            " skipped."
        )
    for model, (copied, answers) in runs.copies.items():
        notes.append(
            f"{copied} of {answers} answers of {model} are word for word its references: their"
            " judgements are excluded, because a text would be compared with itself."
        )
    return [*notes, *_about_clusters(runs.scores)]


def _about_copies(grid: Grid) -> list[str]:
    """Which answers equal their references, and take no part for that."""
    notes = []
    for model, cases in grid.copies.items():
        notes.append(
            f"{cases} of {len(grid.scores.values)} answers of {model} are word for word its"
            " references: these judgements take no part in rating bias and self-preference, because"
            " a text was compared with itself. Take the references from another run than the"
            " answers."
        )
    return notes


def _about_clusters(scores: Scores) -> list[str]:
    """What intervals and tests are over, where some cases are named as one cluster."""
    if scores.clusters is None:
        return []
    number = int(scores.clusters.max()) + 1
    return [cluster_note(counted(len(scores.values), "case"), number)]


def _about_runs(runs: JudgedRuns) -> list[str]:
    same = runs.conditions
    scores = runs.scores
    return [
        (
            f"Data: {same.dataset}, {counted(len(scores.values), 'question')}. Rubric:"
            f" {same.rubric}; prompts {same.prompts}; references:"
            f" {same.references or 'those of the data'}."
        ),
        f"Judges: {', '.join(scores.evaluators)}. Answers of: {', '.join(sorted(scores.models))}.",
        *runs_notes(runs),
    ]


def _csv(data: pd.DataFrame, place: int, name: str, main: str = "") -> Table:
    """A table of the grid of that place that only files have."""
    of_grid = data.assign(grid=place)[["grid", *data]]
    return Table(of_grid, name=name, shown=(), main=main)


def _mean_section(means: pd.DataFrame, short: Mapping[str, str], place: int) -> Section:
    """Means with one row per evaluator and source, one column per model."""
    named = _named(means, short).assign(model=means["model"].map(short))
    wide = named.assign(text=means["mean"].map(_SCORE)).pivot_table(
        "text", _SETTING, "model", aggfunc="first", sort=False, fill_value=DASH
    )
    shown = Table(wide.reset_index(), dict.fromkeys(map(str, wide), str))
    return Section("Mean scores", (), (shown, _csv(means, place, "means", "mean")), 3)


def _named(data: pd.DataFrame, short: Mapping[str, str]) -> pd.DataFrame:
    """Evaluator and source of each row by their short names, as columns that are shown."""
    names = (data["evaluator"].map(short), data["source"].map(short))
    return pd.DataFrame(dict(zip(_SETTING, names, strict=True)))


def _order_section(found: GridResults, short: Mapping[str, str], place: int) -> Section:
    tables = (
        _order_table(found.orders, found.pairs, short),
        _csv(found.orders, place, "orders"),
        _csv(found.pairs, place, "differences", "difference"),
    )
    return Section("Order of the models", stability(found), tables, 3)


def _bias_section(found: GridResults, short: Mapping[str, str], place: int) -> Section:
    """Rating bias: one row per evaluator, one column per model that is both tested and a source."""
    biases = found.biases
    note = _EQUATION
    if biases.empty:
        note = "No model is both tested and a source of references, so there is none."
    headings = {model: f"B = {short[model]}" for model in biases["model"] if model != ALL}
    data = biases.assign(
        evaluator=biases["evaluator"].map(short),
        model=biases["model"].map({ALL: "rating bias", **headings}),
    )
    wide = data.pivot_table("bias", "evaluator", "model", aggfunc="first", sort=False)
    shown = Table(wide.reset_index(), dict.fromkeys(map(str, wide), _DIFFERENCE))
    notes = (note, *_about_copies(found.grid))
    return Section("Rating bias", notes, (shown, _csv(biases, place, "rating_bias", "bias")), 3)


def _preference_section(found: GridResults, short: Mapping[str, str], place: int) -> Section:
    note = _PREFERENCE
    if len(found.grid.scores.evaluators) < 2:
        note = "There is only one evaluator, so there is no other to compare with."
    elif found.preferences.empty:
        note = "No evaluator is among the tested models, so there is none."
    tables = _preference_tables(found.preferences, f"grid {place}", short)
    return Section("Self-preference", (note,), tables, 3)


def _unscored_section(outcomes: pd.DataFrame, short: Mapping[str, str]) -> list[Section]:
    """Why judgements have no score, and how many; none where all have one."""
    unscored = outcomes[~outcomes["outcome"].isin(_WITH_SCORE)]
    if unscored.empty:
        return []
    reasons = unscored["outcome"].str.removeprefix("unscored_").str.replace("_", " ")
    data = _named(unscored, short).assign(
        model=unscored["model"].map(short), why=reasons, judgements=unscored["judgements"]
    )
    table = Table(data, {"judgements": number(0)})
    return [Section("Judgements without a score", (), (table,), 3)]


def stability(results: GridResults) -> list[str]:
    """Whether any two models change places between settings, in words."""
    scores = results.grid.scores
    orders = results.orders
    reversals = results.reversals
    models = len(scores.models)
    if models < 2:
        return ["Only one model was tested, so there is no order."]
    if orders.empty:
        return ["In no setting is there a case on which all models have a score."]
    found = len(orders) // models
    settings = counted(found, "setting")
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
    data: pd.DataFrame, origin: str, short: Mapping[str, str]
) -> tuple[Table, Table]:
    """Self-preference as shown, and for CSV."""
    names = {**short, ALL: "all, evenly", "": "those of the data"}
    shown = data.assign(evaluator=data["evaluator"].map(short), source=data["source"].map(names))
    differences = ("preference", "leniency", "beyond")
    formats: dict[str, Format] = {"own_mean": _SCORE, "others_mean": _SCORE}
    formats |= dict.fromkeys(differences, _DIFFERENCE)
    formats["p_beyond_holm"] = p_value
    headings = {
        "source": "references by",
        "own_mean": "own",
        "others_mean": "others",
        "beyond": "beyond leniency",
        "p_beyond_holm": "p (Holm)",
    }
    csv = data.copy()
    csv.insert(0, "from", origin)
    return (
        Table(shown, formats, headings=headings, shown=("evaluator", "source", *formats)),
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
    orders = (
        "Two models differ significantly where the p-value of their paired test, after Holm's"
        f" correction over all pairs and settings of a grid, is below {1 - how.level:.2g}; > stands"
        " between such neighbours, ≥ between others."
    )
    return [brackets, failed, orders]


# --- figures ---


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
    points = _settings(best, names).assign(mean=centre, low=centre - spread, high=centre + spread)
    title = "Models"
    if len(models) > 2:
        title = "The two best models"
    about = f"Mean over {conditions['folds']} folds. Lines: ± their standard deviation."
    return _drawn(points, title, _about_scores(conditions), about, simulated)


def draw_settings(
    means: pd.DataFrame, names: Mapping[str, str], conditions: Mapping[str, Any], simulated: bool
) -> str:
    """All models in every setting with intervals (Figure 10)."""
    points = _settings(means, names).join(_bounds(means["mean"]))
    title = "Evaluators and sources of references"
    about = f"Lines: {level_text(means['mean'].iloc[0].level)} intervals over cases."
    return _drawn(points, title, _about_scores(conditions), about, simulated)


def draw_biases(
    biases: pd.DataFrame, names: Mapping[str, str], conditions: Mapping[str, Any], simulated: bool
) -> str:
    """The rating bias of each evaluator with intervals (Figure 10); `biases` as from
    `bias_table`.
    """
    models = {ALL: "all models B", **{name: f"B = {short}" for name, short in names.items()}}
    points = pd.DataFrame(
        {"model": biases["evaluator"].map(names), "language": biases["model"].map(models)}
    )
    points = points.join(_bounds(biases["bias"]))
    level = level_text(biases["bias"].iloc[0].level)
    about = f"Lines: {level} intervals over {conditions['cases']} cases. 0: no bias."
    return _drawn(points, "Rating bias by evaluator", "rating bias", about, simulated)


def _about_scores(conditions: Mapping[str, Any]) -> str:
    return f"mean score, 1 to 10; a reference is worth {conditions['reference_score']:g}"


def _settings(means: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Names of rows and colours, as `dumbbell_plot` calls them: setting and tested model."""
    sources = {name: f"references by {names[name]}" for name in means["source"]}
    sources[DATASET] = "references of the data"
    settings = means["evaluator"].map(names) + ", " + means["source"].map(sources)
    return pd.DataFrame({"model": settings, "language": means["model"].map(names)})


def _bounds(estimates: "pd.Series[Any]") -> pd.DataFrame:
    rows = [(found.value, found.low, found.high) for found in estimates]
    return pd.DataFrame(rows, estimates.index, ["mean", "low", "high"])


def _drawn(points: pd.DataFrame, title: str, axis: str, about: str, simulated: bool) -> str:
    """A figure on white, with a title; it says what has no score, as that has no mark."""
    lines = [about]
    if simulated:
        lines.insert(0, "SIMULATION: the scores mean nothing.")
    unscored = points[points["mean"].isna()]
    for row, models in unscored.groupby("model", sort=False)["language"]:
        lines.append(f"{row}: no score for {', '.join(models)}.")
    drawn = dumbbell_plot(points, WIDE, axis)
    drawn["title"] = {"text": title, "subtitle": lines, "anchor": "start", "offset": 12}
    drawn["config"]["background"] = "white"
    drawn["config"]["axis"]["labelLimit"] = WIDE
    drawn["config"]["legend"] = {"columns": 3}
    return svg(drawn)
