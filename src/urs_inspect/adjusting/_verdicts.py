"""A judge's verdicts, read from logs: a prior, or beside people's votes on the same comparisons."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from logging import getLogger
from pathlib import Path

import numpy as np

from urs_inspect._util import InputError, choices, counted
from urs_inspect.adjusting._adjusted import JudgedBallots
from urs_inspect.adjusting._judge_prior import JudgePrior
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.logs._battles import HumanBattles
from urs_inspect.logs._comparisons import Comparison, read_comparisons
from urs_inspect.reports.numbers._rankings import OVERALL, RankBattles, members_of, rankings_of
from urs_inspect.stats import Battles, Estimate, Ranking
from urs_inspect.stats._battles import Battle, battles_of
from urs_inspect.stats._bootstrap import Flags, number_clusters, reported
from urs_inspect.stats._ranking import DIGITS, centred_ranks, cosine

logger = getLogger(__name__)


def judges_of(comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    """Names of the judges of comparisons, each once."""
    named = chain.from_iterable(item.facts.get("judges", ()) for item in comparisons)
    return tuple(dict.fromkeys(map(str, named)))


def prior_of_log(log: str) -> JudgePrior:
    """The prior that a finished log of `mad` gives, whose ballots may be any.

    `InputError` if the log has no verdict of a judge, has people's choices, or does not link
    all models.
    """
    comparisons = read_comparisons(log, "prior")
    if any(item.facts.get("judges") == ["human"] for item in comparisons):
        raise InputError(
            f"prior: '{log}' is about people's votes, not a judge's verdicts; name a log with a"
            " judge"
        )
    known = [item for item in comparisons if not math.isnan(item.outcome)]
    if not known:
        verdicts = counted(len(comparisons), "verdict")
        raise InputError(
            f"prior: none of {verdicts} in '{log}' could be parsed, so nothing is known of the"
            " judge"
        )
    decided = []
    for item in known:
        ballot = item.ballot
        decided.append(Battle(ballot.model_a, ballot.model_b, item.outcome, ballot.instruction))
    unread = len(comparisons) - len(known)
    return JudgePrior.of(battles_of(decided), judges_of(known), unread=unread)


def read_prior(log: str) -> JudgePrior:
    """The prior that a log gives; warns of verdicts that do not count, and of a judge among the
    models.
    """
    prior = prior_of_log(log)
    if prior.unread:
        logger.warning(
            f"prior: {counted(prior.unread, 'verdict')} could not be parsed and will not count"
        )
    for sentence in prior.remarks(prior.players):
        logger.warning(f"prior: {sentence}")
    return prior


@dataclass(frozen=True)
class JudgeVerdicts:
    """A judge's verdicts about given ballots, from logs of `mad`."""

    outcomes: Mapping[str, float]  # by ballot: 1 if response a is better, 0.5 for a tie, 0 if b is
    judges: tuple[str, ...]  # names of the judges
    unparsed: int  # ballots whose verdict could not be parsed
    missing: int  # ballots that the logs do not have
    # ballots that have other responses in the logs, whose verdicts do not count
    other_responses: int
    other_ballots: int  # verdicts about other ballots, which do not count


def read_judge_verdicts(log: str | Path, ballots: Iterable[Ballot]) -> JudgeVerdicts:
    """Read a judge's verdicts about ballots from a log of `mad` or a directory.

    It may be the log of the ballots. Of a ballot that was judged several times, the last verdict
    that could be parsed counts; choices of people do not.
    """
    wanted = {ballot.id: ballot for ballot in ballots}
    read = [
        item
        for item in read_comparisons(str(log), "judge", people=False)
        if item.facts and item.facts.get("judges") != ["human"]
    ]
    known = [item for item in read if item.ballot.id in wanted]
    same = [
        item
        for item in known
        if _responses_of(wanted[item.ballot.id]) == _responses_of(item.ballot)
    ]
    outcomes = {}
    for item in same:
        if not math.isnan(item.outcome):
            outcomes[item.ballot.id] = item.outcome
    others = len(read) - len(known)
    changed = len(known) - len(same)
    unparsed = len(same) - len(outcomes)
    if not read:
        raise InputError(
            f"no verdict of a judge in '{log}'; name a log of the task mad with a judge"
        )
    if not outcomes:
        compared = _listed_models(item.ballot for item in read)
        asked = _listed_models(wanted.values())
        raise InputError(
            f"'{log}' has no verdict about the {counted(len(wanted), 'comparison')}: {unparsed}"
            f" could not be parsed, {changed} have other responses there, {others} are about other"
            f" comparisons. It compares: {compared}; people were asked about: {asked}"
        )
    return JudgeVerdicts(
        outcomes=outcomes,
        judges=judges_of(read),
        unparsed=unparsed,
        missing=len(wanted) - len(known),
        other_responses=changed,
        other_ballots=others,
    )


def _listed_models(ballots: Iterable[Ballot]) -> str:
    models = chain.from_iterable((ballot.model_a, ballot.model_b) for ballot in ballots)
    return choices(sorted(set(models)))


def _responses_of(ballot: Ballot) -> tuple[str, str]:
    return ballot.response_a, ballot.response_b


def decided_by_both(people: HumanBattles, outcomes: Mapping[str, float]) -> tuple[Flags, Battles]:
    """A judge's outcomes, by id, on the comparisons that people decided.

    Returns which of people's battles have one, shape (N,), and these with the judge's outcomes.
    """
    of_decided = [outcomes.get(name, math.nan) for name in people.outcomes]
    given = np.array(of_decided)
    known = ~np.isnan(given)
    decided = people.battles.take(known)
    return known, replace(decided, outcome=given[known])


def judged_ballots(people: HumanBattles, outcomes: Mapping[str, float]) -> JudgedBallots:
    """The ballots of the models with votes, with people's votes and a judge's outcomes.

    `outcomes` are the judge's, by id.
    """
    players = people.battles.players
    place = {name: number for number, name in enumerate(players)}
    ballots = [
        ballot
        for ballot in people.asked.values()
        if ballot.model_a in place and ballot.model_b in place
    ]
    first = [place[ballot.model_a] for ballot in ballots]
    second = [place[ballot.model_b] for ballot in ballots]
    instructions = [ballot.instruction.strip() for ballot in ballots]
    of_people = [people.outcomes.get(ballot.id, math.nan) for ballot in ballots]
    of_judge = [outcomes.get(ballot.id, math.nan) for ballot in ballots]
    return JudgedBallots(
        players=players,
        first=np.array(first, dtype=np.int64),
        second=np.array(second, dtype=np.int64),
        clusters=number_clusters(instructions),
        people=np.array(of_people),
        judge=np.array(of_judge),
    )


@dataclass(frozen=True)
class RankingsOfJudge:
    """Rankings by people's votes and a judge's verdicts on the same comparisons, by group.

    The first group is all comparisons.
    """

    by: str
    judges: tuple[str, ...]
    people: Mapping[str, Ranking]
    judge: Mapping[str, Ranking]
    spearman: Mapping[str, Estimate]


def rankings_of_judge(
    by: str, people: HumanBattles, judge: JudgeVerdicts, groups: Sequence[str], rank: RankBattles
) -> RankingsOfJudge:
    """Rank all comparisons that people and a judge decided, and each group of them, by both."""
    known, verdicts = decided_by_both(people, judge.outcomes)
    votes = people.battles.take(known)
    kept = np.array(groups)[known].tolist()
    members = {OVERALL: np.ones(len(votes), dtype=np.bool_), **members_of(kept)}
    by_people = rankings_of(votes, members, rank)
    by_judge = rankings_of(verdicts, members, rank)
    spearman = {}
    for group, ranking in by_judge.items():
        spearman[group] = compare_rankings(by_people[group], ranking)
    return RankingsOfJudge(by, judge.judges, by_people, by_judge, spearman)


def compare_rankings(ranking: Ranking, other: Ranking) -> Estimate:
    """Spearman's rho between two rankings of the same models over the same comparisons.

    The interval is of both together: with one seed they have the same resamples of instructions.
    NaN where all ratings of a ranking are equal, or fewer than two models are in both.
    """
    shared = [name for name in ranking.players if name in other.players]
    if len(shared) < 2:
        return Estimate(
            value=math.nan,
            low=math.nan,
            high=math.nan,
            n=ranking.battles,
            clusters=ranking.clusters,
            **ranking.how.options,
        )
    rows = []
    for one in (ranking, other):
        places = [one.players.index(name) for name in shared]
        points = [one.bradley_terry[place].value for place in places]
        ratings = np.vstack([points, one.draws[:, places]])
        rows.append(centred_ranks(np.round(ratings, DIGITS)))
    rho = cosine(*rows)
    [found] = reported(
        rho[:1],
        rho[1:, np.newaxis],
        [ranking.battles],
        [ranking.clusters],
        ranking.how,
        scale=(-1, 1),
    )
    return found
