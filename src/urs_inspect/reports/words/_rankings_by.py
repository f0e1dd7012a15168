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

_OVERALL = "overall"
_MODEL = "model"


def by_section(found: RankingsBy) -> Section:
    """Ranks and ratings of all models overall and in each group."""
    warnings = _warnings(found)
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
    notes = _notes(found, warnings)
    return Section(f"Ranking by {found.by}", notes, tables, warnings=warnings)


def _warnings(found: RankingsBy) -> list[str]:
    apart = [group for group, ranking in found.groups.items() if ranking.connectivity.message]
    if not apart:
        return []
    return [
        f"NOT ALL MODELS COMPARE in {choices(apart)}: models there never met, or every vote"
        " between them went one way, so that the prior sets how far they lie apart."
    ]


def _notes(found: RankingsBy, warnings: Sequence[str]) -> list[str]:
    counts = [
        f"{group} {ranking.battles:,} on {ranking.clusters:,}"
        for group, ranking in found.groups.items()
    ]
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
    return notes


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
        by_people = _cells(people, models, _plain_rank)
        by_judge = _cells(judge, models, _plain_rank)
        columns[group] = [" / ".join(pair) for pair in zip(by_people, by_judge, strict=True)]
    rows = [
        (group, people.battles, found.spearman[group]) for group, people in found.people.items()
    ]
    agreement = pd.DataFrame(rows, columns=[found.by, "comparisons", "Spearman"])
    tables = [
        _shown(columns),
        Table(agreement, {"comparisons": number(0), "Spearman": number(2)}),
    ]
    return Section(f"People and the judge by {found.by}", notes, tables)


def rank_columns(found: RankingsBy) -> dict[str, list[str]]:
    """Ranks in each group with their intervals, by group, in the order of the overall ranking."""
    return {
        group: _cells(ranking, found.overall.players, _rank_of)
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
    cell: "_Cell",
    board: Mapping[str, int] | None = None,
) -> Table:
    models = found.overall.players
    columns: dict[str, list[str]] = {_MODEL: list(models)}
    if board:
        columns["leaderboard"] = [str(board.get(model, DASH)) for model in models]
    columns[_OVERALL] = _cells(found.overall, models, cell)
    for group, ranking in found.groups.items():
        columns[group] = _cells(ranking, models, cell)
    return _shown(columns, title)


def _shown(columns: Mapping[str, Sequence[str]], title: str = "") -> Table:
    """A table whose first column holds names; groups may be called like other columns."""
    headings = dict(enumerate(columns))
    named = {str(place): heading for place, heading in headings.items()}
    data = pd.DataFrame({str(place): columns[heading] for place, heading in headings.items()})
    formats = dict.fromkeys(list(named)[1:], str)
    return Table(data, formats, headings=named, title=title)


_Cell = Callable[[Ranking, int], str]
"""What a table says of the model at a place of a ranking."""


def _cells(ranking: Ranking, models: Sequence[str], cell: _Cell) -> list[str]:
    """A cell for each model; a dash for those that the ranking does not have."""
    places = {model: place for place, model in enumerate(ranking.players)}
    return [cell(ranking, places[model]) if model in places else DASH for model in models]


def _plain_rank(ranking: Ranking, place: int) -> str:
    return str(ranking.ranks[place].rank)


def _rank_of(ranking: Ranking, place: int) -> str:
    rank = ranking.ranks[place]
    return f"{rank.rank} ({rank.low}–{rank.high})"


def _rating_of(ranking: Ranking, place: int) -> str:
    return rating_text(ranking.bradley_terry[place])


def _elo_of(ranking: Ranking, place: int) -> str:
    return rating_text(ranking.elo[place])


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
