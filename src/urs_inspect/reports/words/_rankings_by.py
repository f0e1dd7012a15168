"""Sections of `urs-inspect rank --by`: a ranking of each group of comparisons, side by side.

As in Tables 1, 7 and 8 of the MAD paper, where the groups are scenarios.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from urs_inspect._util import choices, counted
from urs_inspect.reports._texts import DASH, number, rating_text
from urs_inspect.reports.layout._tables import Section, Table
from urs_inspect.reports.numbers._rankings import RankingsBy, RankingsOfJudge
from urs_inspect.stats import Ranking
from urs_inspect.stats._bootstrap import fewest_clusters
from urs_inspect.stats._ranking import Rank

_OVERALL = "overall"
_MODEL = "model"


def by_section(found: RankingsBy) -> Section:
    """Ranks and ratings of all models overall and in each group."""
    counts = [
        f"{group} {ranking.battles:,} on {ranking.clusters:,}"
        for group, ranking in found.groups.items()
    ]
    apart = [group for group, ranking in found.groups.items() if ranking.connectivity.message]
    warnings = []
    if apart:
        warnings.append(
            f"NOT ALL MODELS COMPARE in {choices(apart)}: models there never met, or every vote"
            " between them went one way, so that the prior sets how far they lie apart."
        )
    notes = [f"Comparisons, and instructions: {'; '.join(counts)}."]
    if found.without:
        notes.append(
            f"{counted(found.without, 'comparison')} without {found.by} count overall only."
        )
    notes += warnings
    notes.append(
        "Each group is ranked by its own comparisons. An interval is about one model in one group:"
        " of many, some miss by chance. A dash is a model without a comparison in the group."
    )
    if any(_lacks_intervals(ranking) for ranking in found.groups.values()):
        fewest = fewest_clusters(found.overall.level)
        notes.append(
            f"No interval is given for a model on fewer than {fewest} instructions, or where all"
            " resamples agree."
        )
    tables = [
        _table(found, "Ranks", _rank_of, found.board),
        _table(found, "Bradley-Terry", _rating_of),
        _table(found, "Elo", _elo_of),
    ]
    if found.agreement:
        rows = [(group, *agreement) for group, agreement in found.agreement.items()]
        data = pd.DataFrame(rows, columns=[found.by, "Spearman", "Kendall"])
        formats = dict.fromkeys(("Spearman", "Kendall"), number(2))
        tables.append(Table(data, formats, title="Agreement with the leaderboard"))
    return Section(f"Ranking by {found.by}", notes, tables, warnings=warnings)


def _lacks_intervals(ranking: Ranking) -> bool:
    return any(math.isnan(rating.low) for rating in ranking.bradley_terry)


def judge_section(found: RankingsOfJudge) -> Section:
    """Ranks by people's votes and by a judge's verdicts on the same comparisons."""
    judges = choices(found.judges) or "the judge"
    notes = [
        f"Ranks by people's votes / by the verdicts of {judges}, both on the same comparisons.",
        "Spearman: how far the two orders agree; brackets: intervals over resamples of the"
        " instructions, of both together.",
    ]
    models = next(iter(found.people.values())).players
    columns: dict[str, list[str]] = {_MODEL: list(models)}
    for group, people in found.people.items():
        judge = found.judge[group]
        columns[group] = [
            f"{_plain_rank(people, model)} / {_plain_rank(judge, model)}" for model in models
        ]
    rows = [
        (group, people.battles, found.spearman[group]) for group, people in found.people.items()
    ]
    agreement = pd.DataFrame(rows, columns=[found.by, "comparisons", "Spearman"])
    tables = [
        _shown(columns),
        Table(agreement, {"comparisons": number(0), "Spearman": number(2)}),
    ]
    return Section(f"People and the judge by {found.by}", notes, tables)


def _plain_rank(ranking: Ranking, model: str) -> str:
    if model not in ranking.players:
        return DASH
    return str(ranking.ranks[ranking.players.index(model)].rank)


def rank_columns(found: RankingsBy) -> dict[str, list[str]]:
    """Ranks in each group with their intervals, by group, in the order of the overall ranking."""
    return {
        group: [_rank_of(ranking, model) for model in found.overall.players]
        for group, ranking in found.groups.items()
    }


def first_of_groups(found: RankingsBy) -> str:
    """Which model is first in each group, as a sentence."""
    firsts = []
    for group, ranking in found.groups.items():
        ahead = ranking.differences[0].verdict == "significantly different"
        sure = "" if ahead else " (not clearly)"
        firsts.append(f"{group}: {ranking.players[0]}{sure}")
    return f"First by {found.by}: {'; '.join(firsts)}."


def _table(
    found: RankingsBy,
    title: str,
    cell: Callable[[Ranking, str], str],
    board: Mapping[str, int] | None = None,
) -> Table:
    models = found.overall.players
    columns: dict[str, list[str]] = {_MODEL: list(models)}
    if board:
        columns["leaderboard"] = [str(board.get(model, DASH)) for model in models]
    columns[_OVERALL] = [cell(found.overall, model) for model in models]
    for group, ranking in found.groups.items():
        columns[group] = [cell(ranking, model) for model in models]
    return _shown(columns, title)


def _shown(columns: Mapping[str, Sequence[str]], title: str = "") -> Table:
    """A table whose first column holds names; groups may be called like other columns."""
    headings = dict(enumerate(columns))
    named = {str(place): heading for place, heading in headings.items()}
    data = pd.DataFrame({str(place): columns[heading] for place, heading in headings.items()})
    formats = dict.fromkeys(list(named)[1:], str)
    return Table(data, formats, headings=named, title=title)


def _rank_of(ranking: Ranking, model: str) -> str:
    if model not in ranking.players:
        return DASH
    place: Rank = ranking.ranks[ranking.players.index(model)]
    return f"{place.rank} ({place.low}–{place.high})"


def _rating_of(ranking: Ranking, model: str) -> str:
    if model not in ranking.players:
        return DASH
    return rating_text(ranking.bradley_terry[ranking.players.index(model)])


def _elo_of(ranking: Ranking, model: str) -> str:
    if model not in ranking.players:
        return DASH
    return rating_text(ranking.elo[ranking.players.index(model)])


def by_facts(
    found: RankingsBy,
    judge: RankingsOfJudge | None,
    facts_of: Callable[[Ranking], dict[str, Any]],
) -> dict[str, Any]:
    """What `rank --by --json` prints under `by`: a ranking for each group, and the agreement."""
    facts: dict[str, Any] = {
        "key": found.by,
        "without": found.without,
        "groups": {group: facts_of(ranking) for group, ranking in found.groups.items()},
    }
    if found.agreement:
        facts["leaderboard"] = {
            group: {"spearman": _number(pair[0].value), "kendall": _number(pair[1].value)}
            for group, pair in found.agreement.items()
        }
    if judge:
        facts["judge"] = {
            group: {
                "people": _ranks(judge.people[group]),
                "judge": _ranks(judge.judge[group]),
                "spearman": _number(spearman.value),
            }
            for group, spearman in judge.spearman.items()
        }
    return facts


def _ranks(ranking: Ranking) -> dict[str, int]:
    return {model: place.rank for model, place in zip(ranking.players, ranking.ranks, strict=True)}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
