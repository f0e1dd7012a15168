"""Sections of `urs-inspect rank --by`: a ranking of each group of comparisons, side by side.

As in Tables 1, 7 and 8 of the MAD paper, where the groups are scenarios.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from urs_inspect._util import choices, counted
from urs_inspect.reports._texts import DASH, number, rating_text
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._rankings import RankingsBy
from urs_inspect.stats import Ranking
from urs_inspect.stats._bootstrap import fewest_clusters
from urs_inspect.stats._ranking import Rank


def rank_texts(ranks: Iterable[Rank]) -> list[str]:
    """Ranks with their intervals: `2 (1–3)`."""
    return [f"{place.rank} ({place.low}–{place.high})" for place in ranks]


def by_section(found: RankingsBy) -> Section:
    """Ranks and ratings of all models overall and in each group."""
    apart = [group for group, ranking in found.groups.items() if ranking.connectivity.message]
    warnings = []
    if apart:
        warnings.append(
            f"NOT ALL MODELS COMPARE in {choices(apart)}: models there never met, or every vote"
            " between them went one way, so that the prior sets how far they lie apart."
        )
    tables = [
        _table(found, "Ranks", lambda ranking: rank_texts(ranking.ranks)),
        _table(found, "Bradley-Terry", lambda ranking: map(rating_text, ranking.bradley_terry)),
        _table(found, "Elo", lambda ranking: map(rating_text, ranking.elo)),
    ]
    if found.agreement:
        rows = [(group, *agreement) for group, agreement in found.agreement.items()]
        data = pd.DataFrame(rows, columns=[found.by, "Spearman", "Kendall"])
        formats = dict.fromkeys(("Spearman", "Kendall"), number(2))
        tables.append(Table(data, formats, title="Agreement with the leaderboard"))
    notes = _notes(found, warnings)
    return Section(f"Ranking by {found.by}", notes, tables, warnings=warnings)


def _notes(found: RankingsBy, warnings: Sequence[str]) -> list[str]:
    counts = []
    for group, ranking in found.groups.items():
        counts.append(f"{group} {ranking.battles:,} on {ranking.clusters:,}")
    notes = [f"Comparisons, and instructions: {'; '.join(counts)}."]
    if found.without:
        notes.append(
            f"{counted(found.without, 'comparison')} without {found.by} count overall only."
        )
    notes += [
        *warnings,
        "Each group is ranked by its own comparisons. An interval is about one model in one group:"
        " of many, some miss by chance. A dash is a model without a comparison in the group.",
    ]
    return notes + notes_on_intervals(found.groups.values())


def notes_on_intervals(rankings: Iterable[Ranking]) -> list[str]:
    """Why some models have no interval; nothing if all have one."""
    for ranking in rankings:
        if any(math.isnan(rating.low) for rating in ranking.bradley_terry):
            fewest = fewest_clusters(ranking.level)
            return [
                f"No interval is given for a model on fewer than {fewest} instructions, or where"
                " all resamples agree."
            ]
    return []


def _table(found: RankingsBy, title: str, texts: Callable[[Ranking], Iterable[str]]) -> Table:
    """One row per model, and a column for each group; `texts` are those of the models of a
    ranking.
    """
    models = found.overall.players
    columns: list[tuple[str, Sequence[str]]] = [("model", models)]
    if found.board and title == "Ranks":
        columns.append(("leaderboard", [str(found.board.get(model, DASH)) for model in models]))
    for group, ranking in {"overall": found.overall, **found.groups}.items():
        columns.append((group, of_models(models, ranking, texts(ranking))))
    return shown_columns(columns, title)


def of_models(models: Sequence[str], ranking: Ranking, texts: Iterable[str]) -> list[str]:
    """A text for each model; a dash for those that the ranking does not have."""
    known = dict(zip(ranking.players, texts, strict=True))
    return [known.get(model, DASH) for model in models]


def shown_columns(columns: Sequence[tuple[str, Sequence[str]]], title: str = "") -> Table:
    """A table whose first column holds names; groups may be called like other columns."""
    headings: dict[str, str] = {}
    data = pd.DataFrame()
    for heading, cells in columns:
        column = str(len(headings))
        headings[column] = heading
        data[column] = cells
    formats = dict.fromkeys(data.columns[1:], str)
    return Table(data, formats, headings=headings, title=title)


def rank_columns(found: RankingsBy) -> dict[str, list[str]]:
    """Ranks in each group with their intervals, by group, in the order of the overall ranking."""
    columns = {}
    for group, ranking in found.groups.items():
        columns[group] = of_models(found.overall.players, ranking, rank_texts(ranking.ranks))
    return columns


def first_of_groups(found: RankingsBy) -> str:
    """Which model is first in each group, as a sentence."""
    firsts = []
    for group, ranking in found.groups.items():
        ahead = ranking.differences[0].verdict == "significantly different"
        sure = " (not clearly)"
        if ahead:
            sure = ""
        firsts.append(f"{group}: {ranking.players[0]}{sure}")
    return f"First by {found.by}: {'; '.join(firsts)}."


def by_facts(found: RankingsBy, facts_of: Callable[[Ranking], dict[str, Any]]) -> dict[str, Any]:
    """What `rank --by --json` prints under `by`: a ranking for each group, and the agreement."""
    groups = {}
    for group, ranking in found.groups.items():
        groups[group] = facts_of(ranking)
    facts: dict[str, Any] = {"key": found.by, "without": found.without, "groups": groups}
    if found.agreement:
        agreement = {}
        for group, (spearman, kendall) in found.agreement.items():
            agreement[group] = {"spearman": spearman.value, "kendall": kendall.value}
        facts["leaderboard"] = agreement
    return facts
