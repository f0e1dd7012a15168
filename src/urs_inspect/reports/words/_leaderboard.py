"""Leaderboard -> report: sentences, tables and figures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.judging._failures import SCORED_OUTCOMES
from urs_inspect.logs._run_command import JUDGE_AGAIN
from urs_inspect.reports._texts import (
    DASH,
    UNKNOWN,
    Format,
    count,
    duration,
    level_text,
    listed,
    money,
    number,
    ranks_text,
    share,
)
from urs_inspect.reports.layout._figures import Figure, cost_plot, dumbbell_plot
from urs_inspect.reports.layout._tables import (
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._answers import CRITERION
from urs_inspect.reports.numbers._comparison import EXAMPLE
from urs_inspect.reports.numbers._costs import cost_of_1000
from urs_inspect.reports.numbers._leaderboard import (
    NOISE,
    OUTCOME,
    WITHOUT,
    Leaderboard,
    Ranking,
    means_frame,
)
from urs_inspect.reports.numbers._scores import ALL, column_key, in_order
from urs_inspect.reports.words._cards import model_cards
from urs_inspect.reports.words._comparison import (
    MATRIX,
    best_text,
    difference_matrix,
    differences_table,
    reasons_apart,
    unscored_text,
    verdict_notes,
)
from urs_inspect.reports.words._corrected import (
    corrected_section,
    corrected_start,
    corrected_warnings,
)
from urs_inspect.reports.words._first_screen import (
    alerts,
    claims,
    first_cautions,
    has_lengths,
    leaderboard_screen,
    more_cautions,
    ranking_notes,
    rests_on,
)
from urs_inspect.reports.words._judge_checks import (
    JUDGE,
    judge_failed,
    judge_section,
    judge_sentence,
    left_out_text,
)
from urs_inspect.reports.words._lengths import (
    length_section,
    length_sentence,
    regression_facts,
    regression_section,
    times_text,
)
from urs_inspect.reports.words._published import PUBLISHED_PAGE, published_sections
from urs_inspect.stats import Estimate
from urs_inspect.stats._bootstrap import fewest_clusters
from urs_inspect.stats._power import POWER
from urs_inspect.stats._variance_components import COMPONENTS

LEADERBOARD = ReportKind(
    "urs-inspect intent report",
    4,
    "urs-inspect report",
    "report",
    more=("report.html", PUBLISHED_PAGE),
)
_MEAN = number(2)
_SIGNED = number(2, sign=True)
_COUNT = number(0)
Linking = Callable[[Sequence[Section], Ranking, int], list[Section]]
"""Sections of a ranking, the ranking and its number -> the sections with links, and more."""
_INTENTS = "Intents"
_OPEN = (_INTENTS, JUDGE)
"""Sections of the first ranking that a page shows without being opened."""


def report_leaderboard(board: Leaderboard, linked: Linking | None = None) -> Report:
    """The report of a leaderboard, to print or to write.

    Args:
        board: The leaderboard, as `make_leaderboard` gives it.
        linked: Links the sections of a ranking to other files; None for no links.

    Returns:
        The report.
    """
    sections = list(simulation_section(board.simulated))
    for place, ranking in enumerate(board.rankings, start=1):
        opened = _OPEN if place == 1 else ()
        of_ranking = []
        for section in _ranking_sections(ranking, place, board):
            of_ranking.append(replace(section, folded=section.title not in opened))
        sections += linked(of_ranking, ranking, place) if linked else of_ranking
    sentences = left_out(board)
    if sentences:
        sections.append(Section("Left out", sentences))
    resampling = board.resampling
    facts = {
        "rankings": [
            _ranking_facts(ranking, place) for place, ranking in enumerate(board.rankings, start=1)
        ],
        "runs": board.runs,
        "left_out": sentences,
        "simulated": board.simulated,
        "level": resampling.level,
        "rounds": resampling.rounds,
        "seed": resampling.seed,
        "command": board.command,
    }
    return Report(
        LEADERBOARD,
        "Which model serves which intent",
        sections,
        facts,
        first=leaderboard_screen(board),
        cards=lambda: model_cards(board.rankings[0]),
        appendix=lambda: _appendix(board),
    )


def _appendix(board: Leaderboard) -> list[Section]:
    published = published_sections(board.published, board.urs_rubric)
    return [_runs(board), _method(board), *published]


def left_out(board: Leaderboard) -> list[str]:
    """What was skipped and why, one sentence each."""
    sentences = [left_out_text(skipped) for skipped in board.skipped]
    for ranking in board.not_ranked:
        models = ", ".join(ranking.models)
        sentences.append(f"The ranking of {models} was left out: {ranking.why}.")
    return sentences


def _ranking_facts(ranking: Ranking, place: int) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "block": place,
        "headline": " ".join(
            [
                *first_cautions(ranking),
                *claims(ranking),
                *more_cautions(ranking),
                length_sentence(ranking),
            ]
        ).strip(),
        "judge": judge_sentence(ranking),
        "models": ranking.compared.names,
        "conditions": ranking.conditions,
        "differs_from_first": reasons_apart(ranking.differs_from_first),
        "notes": ranking_notes(ranking),
    }
    for name in ("questions", "asked", "question_counts"):
        facts[name] = getattr(ranking.compared, name)
    for name in ("criteria", "titles", "traffic"):
        facts[name] = getattr(ranking, name)
    for name in ("groups", "parts", "languages", "countries"):
        facts[name] = getattr(ranking.columns, name)
    if ranking.regression:
        facts["length"] = regression_facts(ranking.regression)
    if ranking.corrected:
        facts |= ranking.corrected.facts
    return facts


def _ranking_sections(ranking: Ranking, place: int, board: Leaderboard) -> list[Section]:
    several = len(ranking.compared.names) > 1
    sections = [_ranking(ranking, place, board), _intents(ranking)]
    if ranking.conditions.judges:
        sections.append(judge_section(ranking, place))
    if several:
        sections.append(_differences(ranking))
    if ranking.criteria:
        sections.append(_criteria(ranking))
    if ranking.columns.languages:
        sections.append(_languages(ranking, place))
    sections.append(_cost(ranking, place))
    if ranking.corrected:
        sections.append(corrected_section(ranking.corrected, ranking.compared, place))
    sections += length_section(ranking, place, _axis(ranking))
    sections.append(_answers(ranking, place))
    if ranking.regression:
        sections.append(regression_section(ranking.regression, place))
    return [*sections, noise_section(ranking, place), _conditions(ranking)]


# --- the ranking ---


def _ranking(ranking: Ranking, place: int, board: Leaderboard) -> Section:
    compared = ranking.compared
    models = compared.models
    cautions = first_cautions(ranking)
    warnings = [*cautions, *more_cautions(ranking)]
    claim, *more = claims(ranking)
    notes = [
        *cautions,
        claim,
        rests_on(ranking),
        *more_cautions(ranking),
        *more,
        length_sentence(ranking),
        judge_sentence(ranking),
    ]
    if ranking.corrected:
        start = corrected_start(ranking.corrected, compared)
        notes += start[1:] if ranking.trusted else start
        warnings += corrected_warnings(ranking.corrected, compared)
    if judge_failed(ranking):
        warnings.append(judge_sentence(ranking))
    for reason in reasons_apart(ranking.differs_from_first):
        notes.append(f"Not ranked with the models of ranking 1. {reason}")
    notes += [*_about_mix(ranking), *ranking_notes(ranking)]
    level = level_text(board.resampling.level)
    notes.append(f"Means of the final score, 1 to 10, with {level} intervals.")
    if (models["unscored_share"] > 0).any():
        notes.append(
            "From 1 to 10: the mean over all questions if each answer without a score got 1, and if"
            " each got 10."
        )
    notes += alerts(ranking)
    if has_lengths(ranking):
        notes.append(
            "Length: how many times as long a model's answers are as those of the first model"
            " (median over questions)."
        )
    if models["cost"].isna().all():
        notes.append(_NO_COST)
    means = Table(means_frame(ranking, place), name="leaderboard", main="mean", shown=())
    return Section(
        f"Ranking {place}" if len(board.rankings) > 1 else "Ranking",
        list(filter(None, notes)),
        [_leaderboard(ranking), means, differences_table(compared, place)],
        warnings=warnings,
    )


def _about_mix(ranking: Ranking) -> Iterator[str]:
    """By which mix of kinds of questions everything is weighted."""
    if ranking.traffic is None:
        return
    kinds = []
    for kind, shares in ranking.traffic.shares.items():
        parts = [f"{ranking.title(name)} {share(part)}" for name, part in shares.items()]
        kinds.append(f"{kind}: {', '.join(parts)}")
    questions = counted(ranking.compared.questions, "question")
    yield (
        f"Means and intervals are weighted by the mix of {ranking.traffic.source}"
        f" ({'; '.join(kinds)}); the {questions} then say as much as"
        f" {ranking.traffic.effective_questions:,.0f} of equal weight."
    )


def _leaderboard(ranking: Ranking) -> Table:
    """One row per model; columns in which nothing stands are left out."""
    compared = ranking.compared
    models = compared.models
    formats: dict[str, Format] = {"Mean": _MEAN, "Length": times_text}
    columns: dict[str, Any] = {"Model": compared.names}
    if len(compared.ranked) > 1:
        columns["Rank"] = ranks_text(models)
    columns["Mean"] = compared.means[ALL]
    if has_lengths(ranking):
        columns["Length"] = list(models["length_ratio"])
    columns["Without a score"] = [unscored_text(part) for part in models["unscored_share"]]
    if (models["unscored_share"] > 0).any():
        bounds = models[["unscored_share", "mean_lowest", "mean_highest"]].to_numpy()
        columns["From 1 to 10"] = [
            f"{low:.2f}–{high:.2f}" if unscored else "" for unscored, low, high in bounds
        ]
    if (models["self_judged"] > 0).any():
        columns["Self-judged"] = list(models["self_judged"])
    if models["cost"].notna().any():
        columns["Cost of 1,000 answers"] = list(cost_of_1000(models))
    formats |= {
        "Without a score": str,
        "From 1 to 10": str,
        "Self-judged": share,
        "Cost of 1,000 answers": money,
    }
    headings = {}
    if ranking.corrected:
        headings = {"Rank": "Rank by the judge", "Mean": "Judge's mean"}
    return Table(
        pd.DataFrame(columns),
        formats,
        headings=headings,
        title="Leaderboard",
        marked=_marked(ranking, [ALL], {ALL: "Mean"}),
        bars=["Mean"],
    )


def _conditions(ranking: Ranking) -> Section:
    conditions = ranking.conditions
    notes = [
        (
            f"Judges: {', '.join(conditions.judges) or 'none'}. Rubric:"
            f" {conditions.rubric or UNKNOWN}. Prompts: {conditions.prompts}. Task:"
            f" {conditions.task}, version {conditions.task_version}."
        ),
        f"Data: {conditions.data}. References: {conditions.references or 'those of the data'}.",
    ]
    return Section("Conditions", notes, level=3)


# --- intents, criteria, languages ---


def _intents(ranking: Ranking) -> Section:
    compared = ranking.compared
    columns = ranking.columns
    legend = (
        "In brackets: number of questions. Columns hold different questions; compare within a"
        " column."
    )
    if len(compared.names) > 1:
        wrong = share(1 - compared.means[ALL][0].level)
        legend += (
            " Bold: the best of a column and models that are not significantly worse, where the"
            " questions are enough for a significant difference. Every column is a test of its"
            f" own: among equal models, up to {wrong} of them would show a significantly best one."
        )
    tables = []
    if len(compared.ranked) > 1:
        tables.append(_best(ranking))
    tables.append(replace(_means(ranking, columns.groups, "Means by intent"), legend=legend))
    if columns.parts:
        tables.append(_means(ranking, columns.parts, "Intents that are reported together"))
    if columns.countries:
        tables.append(_means(ranking, columns.countries, "Countries"))
    shared: dict[str, list[str]] = {}
    for part in columns.parts:
        group, _, intent = ranking.title(part).partition(": ")
        shared.setdefault(group, []).append(intent)
    notes = [f"{listed(names)} count under {group}." for group, names in shared.items()]
    return Section(_INTENTS, notes, tables, 3)


def _best(ranking: Ranking) -> Table:
    """The best model over all questions and for each intent and language, and whether it is
    significantly best.
    """
    languages: tuple[str, ...] = ()
    title = "The best for each intent"
    if len(ranking.columns.languages) > 1:
        languages = ranking.columns.languages
        title += " and language"
    if ranking.corrected:
        title += " by the judge's scores"
    rows: list[list[str]] = []
    marked: list[tuple[int, str]] = []
    for group in (ALL, *ranking.columns.groups):
        keys = {language: column_key(group, language) for language in ("", *languages)}
        for language, key in keys.items():
            best = ranking.compared.best_in.get(key)
            if best and len(best.marked) == 1 and not ranking.corrected:
                marked.append((len(rows), language))
        of_group = "All" if group == ALL else ranking.title(group)
        rows.append([of_group, *(best_text(ranking.compared, key) for key in keys.values())])
    headings = {name: ranking.title(name) for name in languages}
    headings[""] = "All languages" if languages else "Best"
    legend = (
        "Best model, its mean, (questions). 'or X': X is not significantly worse. '(depends)':"
        " unscored answers could change it. 'needed': questions to detect a difference of"
        f" {EXAMPLE} with {POWER:.0%} power."
    )
    if marked:
        legend += " Bold: significantly better than all others."
    data = pd.DataFrame(rows, columns=["Questions of", "", *languages])
    return Table(data, headings=headings, title=title, marked=marked, legend=legend)


def _means(
    ranking: Ranking,
    keys: Sequence[str],
    title: str = "",
    titles: Mapping[str, str] | None = None,
) -> Table:
    """Means of columns, with their numbers of questions; `titles` are headings of columns that
    have others than their own.

    The best and those not significantly worse are marked.
    """
    compared = ranking.compared
    headings = {}
    for key in keys:
        headings[key] = titles[key] if titles else ranking.title(key)
        if key in compared.question_counts:
            headings[key] += f" ({compared.question_counts[key]:,})"
    means = {key: compared.means[key] for key in keys}
    return Table(
        pd.DataFrame({"Model": compared.names, **means}),
        dict.fromkeys(keys, _MEAN),
        headings=headings,
        title=title,
        marked=_marked(ranking, keys, {}),
        relative=True,
    )


def _marked(
    ranking: Ranking, keys: Sequence[str], columns: Mapping[str, str]
) -> list[tuple[int, str]]:
    """Cells of the best model of each column and of those not significantly worse; `columns` are
    names that differ from keys.
    """
    marked = []
    for key in keys:
        for row, name in enumerate(ranking.compared.names):
            if name in ranking.compared.best_in[key].marked:
                marked.append((row, columns.get(key, key)))
    return marked


def _criteria(ranking: Ranking) -> Section:
    note = (
        "Mean scores by criterion, over the questions whose intent is judged by it: columns differ"
        " in questions."
    )
    table = _means(ranking, [CRITERION + name for name in ranking.criteria])
    return Section("Criteria", [note], [table], 3)


def _languages(ranking: Ranking, place: int) -> Section:
    columns = ranking.columns
    tables = [_means(ranking, columns.languages)]
    figures = []
    if len(columns.languages) > 1:
        for language in columns.languages:
            titles = {f"{group}/{language}": ranking.title(group) for group in columns.groups}
            cells = [cell for cell in titles if cell in columns.cells]
            tables.append(_means(ranking, cells, ranking.title(language), titles))
        if len(ranking.compared.names) > 1:
            figures.append(_figure_of_languages(ranking, place))
    note = (
        "Languages hold different questions: a difference between them is one of questions as well."
    )
    return Section("Languages", [note], tables, 3, figures=figures)


def _figure_of_languages(ranking: Ranking, place: int) -> Figure:
    compared = ranking.compared
    rows = []
    for number_of_model, name in enumerate(compared.names):
        for key in ranking.columns.languages:
            mean = compared.means[key][number_of_model]
            rows.append((compared.short[name], ranking.title(key), mean))
    caption = "Means by language, with their intervals; a line joins those of a model."
    title = "Mean final score of each model by language"
    draw = partial(dumbbell_plot, _drawn(rows, "language"), label=_axis(ranking))
    return Figure(f"r{place}-languages", title, caption, draw)


def _drawn(rows: Sequence[tuple[str, Any, Estimate]], column: str) -> pd.DataFrame:
    """Rows of a figure: model, language or cost, and the mean with its bounds, where all are
    known.
    """
    cells = [(model, place, mean.value, mean.low, mean.high) for model, place, mean in rows]
    data = pd.DataFrame(cells, columns=["model", column, "mean", "low", "high"])
    return data.dropna(subset=[column, "mean"])


def _axis(ranking: Ranking) -> str:
    if ranking.compared.models["simulated"].any():
        return "mean final score (simulation)"
    return "mean final score"


def _differences(ranking: Ranking) -> Section:
    notes = [
        (
            "That two models cannot be distinguished does not make them equal: with more questions"
            " they might be distinguished."
        ),
        MATRIX,
        *verdict_notes(ranking.compared),
    ]
    title = "Differences"
    if ranking.corrected:
        title = "Differences by the judge's scores"
    return Section(title, notes, [difference_matrix(ranking.compared, _SIGNED)], 3)


# --- answers and their cost ---

_Columns = Mapping[str, tuple[str, Format]]
"""Column -> heading and format."""
_ANSWERS: _Columns = {
    "questions": ("Scored questions", _COUNT),
    "mean_scored": ("Mean of all its scores", _MEAN),
    "answers": ("Answers", _COUNT),
    "unscored": ("Unscored", _COUNT),
    "empty": ("Empty", _COUNT),
    "errors": ("Errors", _COUNT),
    "cut_off": ("Cut off", _COUNT),
    "self_judged": ("Self-judged", share),
}
_RELIABILITY = {  # column -> heading and note, where any model has it
    "judge_alpha": (
        "Judges' alpha",
        (
            "Judges' alpha is Krippendorff's alpha (interval) of the final scores of the judges of"
            " a panel."
        ),
    ),
    "epoch_deviation": (
        "Deviation between epochs",
        (
            "The deviation between epochs is the pooled standard deviation of the scores of one"
            " question: what answering and judging again changes."
        ),
    ),
    "judge_deviation": (
        "Deviation of the judge",
        (
            "The deviation of the judge is the pooled standard deviation between judgements of the"
            " same answer by the same judges (`inspect score`): what judging again changes."
        ),
    ),
}
_COSTS: _Columns = {
    "input_tokens": ("Tokens in", count),
    "output_tokens": ("Tokens out", count),
    "cost": ("Cost", money),
    "cost_1000": ("per 1,000", money),
    "judge_input_tokens": ("Judges' tokens in", count),
    "judge_output_tokens": ("Judges' tokens out", count),
    "judge_cost": ("Judges' cost", money),
    "seconds": ("Working time", duration),
    "seconds_each": ("per answer", duration),
}
_NO_COST = "What the answers cost is not known; --prices FILE gives prices."


def _answers(ranking: Ranking, place: int) -> Section:
    models = ranking.compared.models
    notes = [
        "An empty answer has the lowest score, 1, without calling a judge. An error ended a"
        " sample before it was judged. The columns on the right count how the judging of the"
        " answers ended."
    ]
    columns: dict[str, tuple[str, Format]] = dict(_ANSWERS)
    if (models["epochs"] > 1).any():
        columns["epochs"] = ("Epochs", _COUNT)
    for name, (heading, note) in _RELIABILITY.items():
        if models[name].notna().any():
            columns[name] = (heading, _MEAN)
            notes.append(note)
    names = [str(column) for column in models]
    for name in names:
        if name.startswith(WITHOUT):
            columns[name] = (f"No score by {name.removeprefix(WITHOUT)}", share)
    outcomes = [name for name in names if name.startswith(OUTCOME)]
    for name in in_order(outcomes, [OUTCOME + outcome for outcome in SCORED_OUTCOMES]):
        columns[name] = (name.removeprefix(OUTCOME).replace("_", " "), _COUNT)
    data = models.reset_index(names="model")
    data.insert(0, "block", place)
    table = _model_table(data, columns, name="models", estimates=("length_correlation",))
    return Section("Answers and judging", notes, [table], 3)


def _model_table(
    data: pd.DataFrame, columns: _Columns, name: str = "", estimates: Sequence[str] = ()
) -> Table:
    """A table with the column of models and then these."""
    headings = {"model": "Model"}
    formats = {}
    for column, (heading, shown) in columns.items():
        headings[column] = heading
        formats[column] = shown
    return Table(data, formats, name, headings, list(headings), estimates=estimates)


def _cost(ranking: Ranking, place: int) -> Section:
    compared = ranking.compared
    models = compared.models
    data = models.assign(
        cost_1000=cost_of_1000(models), seconds_each=models["seconds"] / models["answers"]
    )
    notes = []
    if models["cost"].isna().all():
        notes.append(_NO_COST)
    notes.append(
        "Of all answers of the ranking together. Where a number is known for some of them only,"
        " their mean stands for the others. Working time is that of the samples one after the"
        " other, judging included; runs go in parallel and take less."
    )
    table = _model_table(data.reset_index(names="model"), _COSTS)
    rows = []
    for name, cost, mean in zip(
        compared.names, data["cost_1000"], compared.means[ALL], strict=True
    ):
        rows.append((compared.short[name], cost, mean))
    drawn = _drawn(rows, "cost")
    caption = (
        "What 1,000 answers cost, and the mean score with its interval: up and to the left is"
        " better."
    )
    undrawn = [compared.short[str(name)] for name in data.index[data["cost_1000"].isna()]]
    if undrawn:
        caption += f" Not drawn, because the cost is not known: {listed(undrawn)}."
    draw = partial(cost_plot, drawn, label=_axis(ranking))
    figure = Figure(f"r{place}-cost", "Mean final score of each model by cost", caption, draw)
    figures = []
    if len(drawn) > 1:
        figures = [figure]
    return Section("Tokens, cost and time", notes, [table], 3, figures=figures)


# --- where noise comes from ---

_MORE = {
    "twice_the_questions": "Twice the questions",
    "one_more_epoch": "One more epoch",
    "one_more_judge": "One more judge",
    "judged_once_more": "Judged once more",
}
_SOURCES = {
    "question": "Questions",
    "answering": "Answering again",
    "judges": "Judges differ",
    "judging": "Judging again",
}
_NOT_MEASURED = {
    "answer": (
        "Answering again is not measured and counts as a part of the questions: run with"
        " `--epochs 2`."
    ),
    "judge": (
        "What another judge would change is not measured: run with `--model-role 'grader=[JUDGE,"
        " OTHER]'`; logs of other judges are rankings of their own."
    ),
    "judgement": (
        f"Judging again is not measured and counts as a part of the others: run `{JUDGE_AGAIN}`."
    ),
}
"""Component -> what to do where the data do not measure it."""


def noise_section(ranking: Ranking, place: int) -> Section:
    """Half-widths of intervals, now and with more data, and shares of the variance."""
    title = "Where noise comes from"
    data = ranking.noise
    if data.empty:
        nothing = (
            "One answer to each question, judged once by one judge: what answering and judging add"
            " is a part of the noise between questions. `--epochs 2`, a panel of judges, or judging"
            " the log again would measure it."
        )
        return Section(title, [nothing], level=3)
    headings = {"first": "Model", "second": "Less", "margin": "Now"}
    formats: dict[str, Format] = {"margin": _margin}
    for column, heading in _MORE.items():
        if data[column].notna().any():
            headings[column] = heading
            formats[column] = _margin
    for source in NOISE:
        column = f"share_{source}"
        if data[column].notna().any():
            headings[column] = _SOURCES[source]
            formats[column] = share
    level = level_text(ranking.compared.means[ALL][0].level)
    shown = Table(
        data.assign(block=place)[["block", *data]],
        formats,
        "noise",
        headings,
        list(headings),
        title=f"Half-width of the {level} interval, now and with more; shares of the variance",
    )
    return Section(title, list(_about_noise(ranking)), [shown], level=3)


def _about_noise(ranking: Ranking) -> Iterator[str]:
    """How half-widths are to be read, what the data do not measure, and what is left out."""
    if ranking.noise["one_more_judge"].notna().any():
        yield (
            "Intervals are about these judges, as all others of this report: how lenient they are"
            " on the whole is no noise. One more judge assumes one that differs from these as they"
            " differ from each other; judged once more, that the mean of the judgements counts."
        )
    if ranking.traffic is not None:
        yield "Questions have equal weight here, not that of the mix."
    variances = ranking.noise[[f"variance_{name}" for name in COMPONENTS]]
    for component, note in _NOT_MEASURED.items():
        if variances[f"variance_{component}"].isna().all():
            yield note
    negative = (variances < 0).sum()
    named = []
    for column, rows in negative[negative > 0].items():
        component = str(column).removeprefix("variance_").replace("_", " by ")
        named.append(f"{component} ({counted(rows, 'row')})")
    if named:
        yield (
            f"Negative estimates of components count as 0: {', '.join(named)}, of"
            f" {counted(len(variances), 'row')}."
        )
    if ranking.about_answers.clusters:
        yield (
            "The split takes questions as independent: that those of one cluster, such as a user,"
            " are alike is no part of it. These half-widths may therefore be smaller than those of"
            " the intervals above."
        )


def _margin(value: float) -> str:
    margin = number(2)(value)
    if margin == DASH:
        return margin
    return f"± {margin}"


# --- appendix ---


def _runs(board: Leaderboard) -> Section:
    rows = []
    for run in board.runs:
        row = {
            "Model": run.model,
            "Judges": ", ".join(run.judges) or DASH,
            "Log": run.log,
            "Began": run.created,
            "inspect-ai": run.package or UNKNOWN,
            "Prompts": run.prompts,
            "Data": run.dataset_sha256[:12],
            "Rubric": run.rubric_sha256[:12],
            "Command": run.command,
            "Samples": run.samples,
        }
        rows.append(row)
    notes = []
    if board.command:
        notes.append(f"This report was made by: {board.command}")
    table = Table(pd.DataFrame(rows), {"Samples": _COUNT})
    return Section("Runs", notes, [table], folded=True)


def _method(board: Leaderboard) -> Section:
    resampling = board.resampling
    text = (Path(__file__).parent / "method.txt").read_text(encoding="utf-8")
    filled = text.format(
        level=level_text(resampling.level),
        alpha=f"{1 - resampling.level:.2g}",
        rounds=counted(resampling.rounds, "round"),
        seed=resampling.seed,
        fewest=fewest_clusters(resampling.level),
    )
    return Section("Method", filled.splitlines(), folded=True)
