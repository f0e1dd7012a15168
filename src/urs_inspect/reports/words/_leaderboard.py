"""Leaderboard -> report: sentences, tables and figures."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.judging._failures import SCORED_OUTCOMES
from urs_inspect.reports._texts import (
    DASH,
    UNKNOWN,
    Format,
    count,
    duration,
    interval,
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
from urs_inspect.reports.numbers._corrected import CorrectedMeans
from urs_inspect.reports.numbers._leaderboard import WITHOUT, Leaderboard, Ranking, means_frame
from urs_inspect.reports.numbers._scores import ALL, column_key
from urs_inspect.reports.words._cards import model_cards
from urs_inspect.reports.words._comparison import (
    ALERT,
    EXAMPLE,
    MATRIX,
    UNSCORED_ALERT,
    best_sentence,
    best_text,
    difference_matrix,
    differences_table,
    unscored_text,
    verdict_notes,
)
from urs_inspect.reports.words._corrected import (
    CORRECTED,
    corrected_headline,
    corrected_section,
    corrected_start,
    corrected_warnings,
)
from urs_inspect.reports.words._first_screen import leaderboard_screen, mean_of_one
from urs_inspect.reports.words._judge_checks import (
    JUDGE,
    judge_failed,
    judge_section,
    judge_sentence,
)
from urs_inspect.reports.words._lengths import (
    length_section,
    length_sentence,
    regression_facts,
    regression_section,
    times_text,
)
from urs_inspect.reports.words._noise import noise_section
from urs_inspect.reports.words._notes import (
    first_cautions,
    intent_notes,
    more_cautions,
    ranking_notes,
    reasons_apart,
)
from urs_inspect.reports.words._published import PUBLISHED_PAGE, published_sections
from urs_inspect.stats import Estimate
from urs_inspect.stats._bootstrap import fewest_clusters
from urs_inspect.stats._power import POWER

_FILES = (
    "leaderboard",
    "differences",
    "models",
    "lengths",
    "equal_length",
    "noise",
    "corrected",
    "corrected_differences",
    "judge",
)
LEADERBOARD = ReportKind(
    "urs-inspect intent report",
    4,
    "urs-inspect report",
    "report",
    _FILES,
    ("report.html", PUBLISHED_PAGE),
)
_MEAN = number(2)
_SIGNED = number(2, sign=True)
_COUNT = number(0)
Linking = Callable[[Sequence[Section], Ranking, int], list[Section]]
"""Sections of a ranking, the ranking and its number -> the sections with links."""
_INTENTS = "Intents"
_OPEN = (_INTENTS, JUDGE)
"""Sections of the first ranking that a page shows without being opened."""
_BY_JUDGE = "By the judge's scores alone"


def report_leaderboard(board: Leaderboard, linked: Linking | None = None) -> Report:
    """The report of a leaderboard, to print or to write.

    Args:
        board: The leaderboard, as `make_leaderboard` gives it.
        linked: Links the sections of a ranking to its answers; None for no links.

    Returns:
        The report.
    """
    sections = list(simulation_section(board.simulated))
    for place, ranking in enumerate(board.rankings, start=1):
        opened = _OPEN if place == 1 else ()
        made = [
            replace(section, folded=section.title not in opened)
            for section in _ranking_sections(ranking, place, board)
        ]
        sections += linked(made, ranking, place) if linked else made
    sections += [Section("Left out", board.skipped)] if board.skipped else []
    sections += [_runs(board), _method(board), *published_sections()]
    resampling = board.resampling
    facts = {
        "rankings": [
            _ranking_facts(ranking, place) for place, ranking in enumerate(board.rankings, start=1)
        ],
        "runs": board.runs,
        "left_out": board.skipped,
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
        first=leaderboard_screen(board) if board.rankings else None,
        cards=model_cards(board.rankings[0], {}) if board.rankings else (),
    )


def _ranking_facts(ranking: Ranking, place: int) -> dict[str, Any]:
    same = (
        "questions",
        "asked",
        "question_counts",
        "criteria",
        "titles",
    )
    facts: dict[str, Any] = {
        "block": place,
        "headline": " ".join(filter(None, _start(ranking))),
    }
    if ranking.regression:
        facts["length"] = regression_facts(ranking.regression)
    facts |= {
        "judge": judge_sentence(ranking),
        "models": ranking.names,
        "conditions": ranking.conditions,
        "differs_from_first": reasons_apart(ranking.differs_from_first),
        **{name: getattr(ranking, name) for name in (*same, "traffic")},
        "notes": ranking_notes(ranking),
        **{
            name: getattr(ranking.columns, name)
            for name in ("groups", "parts", "languages", "countries")
        },
    }
    if ranking.corrected:
        facts |= ranking.corrected.facts
    return facts


# --- sentences ---


def _start(ranking: Ranking) -> list[str]:
    """What a report says of a ranking before all else: the headline between what must be known
    before and after it.
    """
    first, more = headline(ranking)
    return [
        *first_cautions(ranking),
        first,
        *more_cautions(ranking),
        more,
        length_sentence(ranking),
    ]


def headline(ranking: Ranking) -> tuple[str, str]:
    """Which model is best over all questions, and what must be known beside it.

    The second may be empty.
    """
    first, more = _judged_headline(ranking)
    by_people = ranking.trusted
    if by_people is None:
        return first, more
    judged = f"{_BY_JUDGE}: {first} {more}".strip()
    return corrected_headline(by_people, ranking.short), judged


def _judged_headline(ranking: Ranking) -> tuple[str, str]:
    scored = ranking.with_mean
    if not scored:
        return mean_of_one(ranking), ""
    top = scored[0]
    mean = _MEAN(ranking.mean(top))
    if len(scored) > 1:
        return best_sentence(ranking, ALL), f"{ranking.short[top]} has a mean score of {mean}."
    facts: Any = ranking.models.loc[top]
    unscored = (
        f"{facts['unscored']:,} of {counted(facts['answers'], 'answer')} have no score: over all"
        f" questions, the mean would be {facts['mean_lowest']:.2f} if they got 1 and"
        f" {facts['mean_highest']:.2f} if they got 10."
    )
    return mean_of_one(ranking), unscored if facts["unscored"] else ""


def _rests_on(ranking: Ranking) -> str:
    """What a ranking rests on, as a sentence."""
    over = counted(ranking.questions, "question")
    if ranking.questions < ranking.asked:
        over = f"{ranking.questions:,} of the {counted(ranking.asked, 'question')} asked"
    languages = listed([ranking.title(language) for language in ranking.columns.languages])
    judges = (
        f"scored by {listed(ranking.conditions.judges)}"
        if ranking.conditions.judges
        else "scored without a judge"
    )
    return f"Over {over} in {languages}, {judges}."


def _notes(ranking: Ranking) -> list[str]:
    """What must be known beside a headline, one sentence each."""
    notes = [
        f"Not ranked with the models of ranking 1. {reason}"
        for reason in reasons_apart(ranking.differs_from_first)
    ]
    traffic = ranking.traffic
    if traffic is not None:
        shares = "; ".join(
            f"{kind}:"
            f" {', '.join(f'{ranking.title(name)} {share(part)}' for name, part in given.items())}"
            for kind, given in traffic.shares.items()
        )
        notes.append(
            f"Means and intervals are weighted by the mix of {traffic.source} ({shares}); the"
            f" {counted(ranking.questions, 'question')} then say as much as"
            f" {traffic.effective_questions:,.0f} of equal weight."
        )
    return [*notes, *ranking_notes(ranking)]


def _conditions(ranking: Ranking) -> Section:
    conditions = ranking.conditions
    digits = f" (sha256 {conditions.dataset_sha256[:12]})" if conditions.dataset_sha256 else ""
    notes = [
        (
            f"Judges: {', '.join(conditions.judges) or 'none'}. Rubric:"
            f" {conditions.rubric or 'not known'}. Prompts: {conditions.prompts}. Task:"
            f" {conditions.task}, version {conditions.task_version}."
        ),
        (
            f"Data: {conditions.dataset}{digits}. References:"
            f" {conditions.references or 'those of the data'}."
        ),
    ]
    return Section("Conditions", notes, level=3)


# --- tables of a ranking ---


_BOUNDS = (
    "From 1 to 10: the mean over all questions if each answer without a score got 1, and if each"
    " got 10."
)
_LENGTH = (
    "Length: how many times as long a model's answers are as those of the first model (median over"
    " questions)."
)
_NO_COST = "What the answers cost is not known; --prices FILE gives prices."
_BEST = (
    "Best model, its mean, (questions). 'or X': X is not significantly worse. '(depends)': unscored"
    " answers could change it. 'needed': questions to detect a difference of"
    f" {EXAMPLE} with {POWER:.0%} power."
)
_BEST_BOLD = "Bold: significantly better than all others."


def _about_means(level: float) -> str:
    return f"Means of the final score, 1 to 10, with {level_text(level)} intervals."


def _alert(ranking: Ranking) -> str:
    """That many answers have no score, or none of some judge of the panel."""
    if ranking.models["unscored"].sum() > 0:
        return ALERT
    return f"! More than {UNSCORED_ALERT:.0%} of the scores of the panel's judges are missing."


def _ranking_sections(ranking: Ranking, place: int, board: Leaderboard) -> list[Section]:
    several = len(ranking.names) > 1
    title = f"Ranking {place}" if len(board.rankings) > 1 else "Ranking"
    models = ranking.models
    legend = {
        _about_means(board.resampling.level): True,
        _BOUNDS: (models["unscored_share"] > 0).any(),
        _alert(ranking): (models["unscored_share"] > UNSCORED_ALERT).any(),
        _LENGTH: several and models["length_ratio"].notna().any(),
        _NO_COST: models["cost"].isna().all(),
    }
    corrected = ranking.corrected
    first, more = headline(ranking)
    cautions = more_cautions(ranking)
    notes = [
        *first_cautions(ranking),
        first,
        _rests_on(ranking),
        *cautions,
        more,
        length_sentence(ranking),
    ]
    notes += [judge_sentence(ranking), *intent_notes(ranking)]
    if corrected:
        start = corrected_start(corrected, ranking)
        notes += start[1:] if corrected.trusted else start
    notes += [*_notes(ranking), *(text for text, holds in legend.items() if holds)]
    means = Table(means_frame(ranking, place), name="leaderboard", main="mean", shown=())
    warnings = [*first_cautions(ranking), *cautions]
    if corrected:
        warnings += corrected_warnings(corrected, ranking)
    warnings += [judge_sentence(ranking)] if judge_failed(ranking) else []
    tables = [_summary(ranking), means, differences_table(ranking, place)]
    sections = [Section(title, list(filter(None, notes)), tables, warnings=warnings)]
    sections.append(_intents(ranking))
    sections += [judge_section(ranking, place)] if ranking.conditions.judges else []
    sections += [_differences(ranking)] if several else []
    sections += [
        *_criteria(ranking),
        *_languages(ranking, place),
        _cost(ranking, place),
    ]
    sections += [corrected_section(corrected, ranking, place)] if corrected else []
    sections += [*length_section(ranking, place, _axis(ranking)), _answers(ranking, place)]
    sections += [regression_section(ranking.regression, place)] if ranking.regression else []
    noise = noise_section(ranking.noise, ranking.short, place, ranking.traffic is not None)
    return [*sections, noise, _conditions(ranking)]


def _best(ranking: Ranking) -> Table:
    """The best model over all questions and for each intent and language, and whether it is
    significantly best.
    """
    languages = ranking.columns.languages if len(ranking.columns.languages) > 1 else ()
    rows: list[list[str]] = []
    marked: list[tuple[int, str]] = []
    for group in (ALL, *ranking.columns.groups):
        keys = {language: column_key(group, language) for language in ("", *languages)}
        marked += [(len(rows), column) for column, key in keys.items() if _has_best(ranking, key)]
        title = "All" if group == ALL else ranking.title(group)
        rows.append([title, *(best_text(ranking, key) for key in keys.values())])
    headings = {
        "": "All languages" if languages else "Best",
    } | {name: ranking.title(name) for name in languages}
    data = pd.DataFrame(rows, columns=["Questions of", "", *languages])
    by = " by the judge's scores" if ranking.corrected else ""
    title = f"The best for each intent{' and language' if languages else ''}{by}"
    marked = [] if ranking.corrected else marked
    legend = f"{_BEST} {_BEST_BOLD}" if marked else _BEST
    return Table(data, headings=headings, title=title, marked=marked, legend=legend)


def _has_best(ranking: Ranking, key: str) -> bool:
    """Whether one model is significantly best in a column, which may not exist."""
    best = ranking.best_in.get(key)
    return best is not None and len(best.marked) == 1


def _summary(ranking: Ranking) -> Table:
    models = ranking.models
    several = models["rank_from"].notna().sum() > 1
    columns: dict[str, Any] = {"Model": ranking.names}
    if several:
        columns["Rank"] = ranks_text(models)
    columns["Mean"] = ranking.means[ALL]
    data = pd.DataFrame(columns)
    formats: dict[str, Format] = {"Mean": _MEAN}
    corrected = ranking.corrected
    if corrected is not None and not corrected.over_all["rank_from"].notna().any():
        corrected = None
    bars = ["Mean"]
    headings = {}
    order = list(ranking.names)
    if corrected is not None:
        _add_corrected(data, formats, corrected, order, with_ranks=several)
        bars.append(CORRECTED)
        headings = {"Rank": "Rank by the judge", "Mean": "Judge's mean"}
        ranked = list(models.index[models["rank_from"].notna()])
        if corrected.over_all.loc[ranked, "rank_from"].notna().all():
            order = list(corrected.over_all.index)
    _add_facts(data, formats, models)
    data = data.set_index("Model").loc[order].reset_index()
    if corrected is not None:
        data["Model"] = data["Model"].map(ranking.short)
    best = ranking.best_in[ALL].marked
    marked = [(row, "Mean") for row, name in enumerate(order) if name in best]
    return Table(data, formats, headings=headings, title="Leaderboard", marked=marked, bars=bars)


def _add_corrected(
    data: pd.DataFrame,
    formats: dict[str, Format],
    corrected: CorrectedMeans,
    names: list[str],
    *,
    with_ranks: bool,
) -> None:
    """Add the columns of means that people's ratings correct."""
    over_all = corrected.over_all.reindex(names)
    data[CORRECTED] = list(over_all["corrected"])
    formats[CORRECTED] = _MEAN
    if with_ranks:
        ranks = f"Rank, {CORRECTED.lower()}"
        data[ranks] = ranks_text(over_all)
        formats[ranks] = str


def _add_facts(data: pd.DataFrame, formats: dict[str, Format], models: pd.DataFrame) -> None:
    """Add what else is known of models; columns in which nothing stands are left out."""
    if models["length_ratio"].notna().any() and len(models) > 1:
        data["Length"] = list(models["length_ratio"])
        formats["Length"] = times_text
    data["Without a score"] = [unscored_text(part) for part in models["unscored_share"]]
    formats["Without a score"] = str
    if (models["unscored_share"] > 0).any():
        bounds = zip(
            models["unscored_share"], models["mean_lowest"], models["mean_highest"], strict=True
        )
        data["From 1 to 10"] = [
            interval(low, high) if unscored else "" for unscored, low, high in bounds
        ]
        formats["From 1 to 10"] = str
    if (models["self_judged"] > 0).any():
        data["Self-judged"] = list(models["self_judged"])
        formats["Self-judged"] = share
    if models["cost"].notna().any():
        data["Cost of 1,000 answers"] = list(_cost_of_1000(models))
        formats["Cost of 1,000 answers"] = money


def _means(ranking: Ranking, keys: Sequence[str], title: str = "") -> Table:
    """Means of columns, with their numbers of questions.

    The best and those not significantly worse are marked.
    """
    counts = ranking.question_counts
    headings = {
        key: ranking.title(key) + (f" ({counts[key]:,})" if key in counts else "") for key in keys
    }
    marked: list[tuple[int, str]] = []
    for key in keys:
        best = ranking.best_in[key].marked
        marked += [(row, key) for row, name in enumerate(ranking.names) if name in best]
    data = pd.DataFrame(
        {
            "Model": ranking.names,
            **{key: ranking.means[key] for key in keys},
        }
    )
    return Table(
        data,
        dict.fromkeys(keys, _MEAN),
        headings=headings,
        title=title,
        marked=marked,
        relative=True,
    )


def _intents(ranking: Ranking) -> Section:
    columns = ranking.columns
    ranked = ranking.models["rank_from"].notna().sum() > 1
    tables = []
    if ranked:
        tables = [_best(ranking)]
    legend = (
        "In brackets: number of questions. Columns hold different questions; compare within a"
        " column."
    )
    if len(ranking.names) > 1:
        wrong = share(1 - ranking.means[ALL][0].level)
        legend += (
            " Bold: the best of a column and models that are not significantly worse, where the"
            " questions are enough for a significant difference. Every column is a test of its"
            f" own: among equal models, up to {wrong} of them would show a significantly best one."
        )
    tables.append(replace(_means(ranking, columns.groups, "Means by intent"), legend=legend))
    tables += (
        [_means(ranking, columns.parts, "Intents that are reported together")]
        if columns.parts
        else []
    )
    if columns.countries:
        tables.append(_means(ranking, columns.countries, "Countries"))
    return Section(_INTENTS, _shared_groups(ranking), tables, 3)


def _shared_groups(ranking: Ranking) -> list[str]:
    """Which intents count under one group, as API does, one sentence for each."""
    intents: dict[str, list[str]] = {}
    for part in ranking.columns.parts:
        group, _, intent = ranking.title(part).partition(": ")
        intents.setdefault(group, []).append(intent)
    return [f"{listed(names)} count under {group}." for group, names in intents.items()]


def _criteria(ranking: Ranking) -> list[Section]:
    if not ranking.criteria:
        return []
    note = (
        "Mean scores by criterion, over the questions whose intent is judged by it: columns differ"
        " in questions."
    )
    return [
        Section(
            "Criteria",
            [note],
            [_means(ranking, [CRITERION + name for name in ranking.criteria])],
            3,
        )
    ]


def _languages(ranking: Ranking, place: int) -> list[Section]:
    if not ranking.columns.languages:
        return []
    tables = [_means(ranking, ranking.columns.languages)]
    figures = []
    several = len(ranking.columns.languages) > 1
    if several and len(ranking.names) > 1:
        languages = [(ranking.title(key), ranking.means[key]) for key in ranking.columns.languages]
        rows = [
            (ranking.short[name], title, means[number])
            for (number, name), (title, means) in product(enumerate(ranking.names), languages)
        ]
        means = _drawn(rows, "language")
        caption = "Means by language, with their intervals; a line joins those of a model."
        title = "Mean final score of each model by language"
        draw = partial(dumbbell_plot, means, label=_axis(ranking))
        figures = [Figure(f"r{place}-languages", title, caption, draw)]
    for language in ranking.columns.languages if several else ():
        cells = [cell for cell in ranking.columns.cells if cell.endswith(f"/{language}")]
        table = _means(ranking, cells, ranking.title(language))
        headings = {
            cell: text.replace(f"/{language}", "", 1) for cell, text in table.headings.items()
        }
        tables.append(replace(table, headings=headings))
    note = (
        "Languages hold different questions: a difference between them is one of questions as well."
    )
    return [Section("Languages", [note], tables, 3, figures=figures)]


def _differences(ranking: Ranking) -> Section:
    notes = [
        (
            "That two models cannot be distinguished does not make them equal: with more questions"
            " they might be distinguished."
        ),
        MATRIX,
        *verdict_notes(ranking),
    ]
    title = "Differences by the judge's scores" if ranking.corrected else "Differences"
    return Section(title, notes, [difference_matrix(ranking, _SIGNED)], 3)


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


def _answers(ranking: Ranking, place: int) -> Section:
    models = ranking.models
    outcomes = [str(column) for column in models if str(column).startswith("outcome/")]
    first = [f"outcome/{name}" for name in SCORED_OUTCOMES]
    outcomes.sort(key=lambda name: (first.index(name) if name in first else len(first), name))
    known = {name: texts for name, texts in _RELIABILITY.items() if models[name].notna().any()}
    columns: dict[str, tuple[str, Format]] = dict(_ANSWERS)
    if (models["epochs"] > 1).any():
        columns["epochs"] = ("Epochs", _COUNT)
    columns |= {name: (heading, _MEAN) for name, (heading, _) in known.items()}
    without = [str(column) for column in models if str(column).startswith(WITHOUT)]
    columns |= {name: (f"No score by {name.removeprefix(WITHOUT)}", share) for name in without}
    columns |= {
        name: (name.removeprefix("outcome/").replace("_", " "), _COUNT) for name in outcomes
    }
    notes = [
        (
            "An empty answer has the lowest score, 1, without calling a judge. An error ended a"
            " sample before it was judged. The columns on the right count how the judging of the"
            " answers ended."
        ),
        *(note for _, note in known.values()),
    ]
    data = models.reset_index(names="model")
    data.insert(0, "block", place)
    table = _model_table(data, columns, name="models", estimates=("length_correlation",))
    return Section("Answers and judging", notes, [table], 3)


def _model_table(
    data: pd.DataFrame, columns: _Columns, name: str = "", estimates: Sequence[str] = ()
) -> Table:
    """A table with the column of models and then these."""
    headings = {
        "model": "Model",
    } | {column: heading for column, (heading, _) in columns.items()}
    formats = {column: shown for column, (_, shown) in columns.items()}
    return Table(data, formats, name, headings, list(headings), estimates=estimates)


def _cost_of_1000(models: pd.DataFrame) -> "pd.Series[Any]":
    """What 1,000 answers cost, US dollars."""
    return 1000 * models["cost"] / models["answers"]


def _cost(ranking: Ranking, place: int) -> Section:
    models = ranking.models
    data = models.assign(
        cost_1000=_cost_of_1000(models), seconds_each=models["seconds"] / models["answers"]
    )
    columns: _Columns = {
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
    notes = [
        "Of all answers of the ranking together. Where a number is known for some of them only,"
        " their mean stands for the others. Working time is that of the samples one after the"
        " other, judging included; runs go in parallel and take less."
    ]
    if models["cost"].isna().all():
        notes.insert(0, _NO_COST)
    table = _model_table(data.reset_index(names="model"), columns)
    costs = data["cost_1000"].astype(float)
    means = zip(ranking.names, ranking.means[ALL], strict=True)
    rows = _drawn([(ranking.short[name], costs[name], mean) for name, mean in means], "cost")
    caption = (
        "What 1,000 answers cost, and the mean score with its interval: up and to the left is"
        " better."
    )
    if undrawn := [short for name, short in ranking.short.items() if math.isnan(costs[name])]:
        caption += f" Not drawn, because the cost is not known: {listed(undrawn)}."
    draw = partial(cost_plot, rows, label=_axis(ranking))
    figure = Figure(f"r{place}-cost", "Mean final score of each model by cost", caption, draw)
    return Section(
        "Tokens, cost and time", notes, [table], 3, figures=[figure] if len(rows) > 1 else []
    )


# --- figures ---


def _drawn(rows: Sequence[tuple[str, Any, Estimate]], column: str) -> pd.DataFrame:
    """Rows of a figure: model, language or cost, and the mean with its bounds, where all are
    known.
    """
    cells = [(model, place, mean.value, mean.low, mean.high) for model, place, mean in rows]
    return pd.DataFrame(cells, columns=["model", column, "mean", "low", "high"]).dropna(
        subset=[column, "mean"]
    )


def _axis(ranking: Ranking) -> str:
    return "mean final score" + (" (simulation)" if ranking.models["simulated"].any() else "")


# --- appendix ---


def _runs(board: Leaderboard) -> Section:
    rows = [
        {
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
        for run in board.runs
    ]
    notes = []
    if board.command:
        notes = [f"This report was made by: {board.command}"]
    table = Table(
        pd.DataFrame(rows),
        {
            "Samples": _COUNT,
        },
    )
    return Section("Runs", notes, [table], appendix=True, folded=True)


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
    return Section("Method", filled.splitlines(), appendix=True, folded=True)
