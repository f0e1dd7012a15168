"""What `urs-inspect rank` can adjust: each class is an `Adjustment` of `cli/_rank.py`."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from urs_inspect._util import InputError, choices, counted

if TYPE_CHECKING:
    from urs_inspect.adjusting._adjusted import Coefficient
    from urs_inspect.adjusting._judge_prior import JudgePrior, WeighedRanking
    from urs_inspect.logs._battles import RankedBattles
    from urs_inspect.reports.numbers._rankings import RankBattles
    from urs_inspect.reports.words._rankings import Adjusted
    from urs_inspect.stats import Battles, Ranking
    from urs_inspect.stats._bootstrap import Floats


class ByJudge:
    """People's votes corrected by a judge's verdicts on the same comparisons."""

    type = None
    metavar = "LOG"
    help = (
        "A log of mad, or a directory of them, with a judge's verdicts on the same comparisons:"
        " people's votes, which are named as well, are corrected by these. For a claim that must"
        " not rest on the judge; --prior gains more."
    )

    def __init__(self, log: str, has_votes: bool) -> None:
        if not has_votes:
            raise InputError("judge: corrects people's votes; name their files beside the log")
        self._log = log

    def adjust(
        self, compared: "RankedBattles", say: Callable[[str], None]
    ) -> "Callable[[Ranking, RankBattles], Adjusted]":
        """Correct people's votes; the result puts the ratings into words beside those without."""
        from urs_inspect.adjusting._adjusted import rank_corrected
        from urs_inspect.adjusting._report import corrected_section, groups_facts, judge_section
        from urs_inspect.adjusting._verdicts import (
            judged_ballots,
            rankings_of_judge,
            read_judge_verdicts,
        )
        from urs_inspect.cli._rank import ROUNDS

        people = compared.people
        assert people is not None  # noqa: S101 - there are votes
        verdicts = read_judge_verdicts(self._log, people.asked.values())
        corrected = rank_corrected(judged_ballots(people, verdicts.outcomes), rounds=ROUNDS)

        def beside(ranking: "Ranking", rank: "RankBattles") -> "Adjusted":
            section = corrected_section(corrected, verdicts, ranking)
            if compared.by is None:
                return section
            by_judge = rankings_of_judge(compared.by, people, verdicts, compared.groups, rank)
            return replace(
                section,
                of_groups=judge_section(by_judge),
                facts_of_groups=groups_facts(by_judge),
            )

        return beside


class AtEqualStyle:
    """Ratings as they would be if both answers of each comparison had the same style."""

    type = None
    metavar = "FEATURES|FILE"
    help = (
        "Ratings at equal style: length, lists, headings, bold, code, joined by commas. Or the JSON"
        " of an earlier ranking with --control: the effects of style are kept, so that a model that"
        " joins does not change it."
    )

    def __init__(self, control: str, has_votes: bool) -> None:
        self._features, self._coefficients = style(control)

    def adjust(
        self, compared: "RankedBattles", say: Callable[[str], None]
    ) -> "Callable[[Ranking, RankBattles], Adjusted]":
        """Rate at equal style; the result puts the ratings into words."""
        from urs_inspect.adjusting._adjusted import rank_controlled
        from urs_inspect.adjusting._report import controlled_section
        from urs_inspect.cli._rank import ROUNDS

        controlled = rank_controlled(
            compared.battles,
            styles_of(compared.responses, self._features, compared.sources),
            self._features,
            given=self._coefficients,
            rounds=ROUNDS,
        )
        return lambda ranking, rank: controlled_section(controlled)


class WithPrior:
    """A judge's ratings as a prior for people's votes."""

    type = None
    metavar = None
    help = (
        "A log of mad with a judge's verdicts about the same models: as a prior for people's votes,"
        " weighed by its evidence. Shown beside the votes alone."
    )

    def __init__(self, log: str, has_votes: bool) -> None:
        self._log = log

    def adjust(
        self, compared: "RankedBattles", say: Callable[[str], None]
    ) -> "Callable[[Ranking, RankBattles], Adjusted]":
        """Rate with the prior; the result puts the ratings into words beside those without."""
        from urs_inspect.adjusting._report import prior_section

        sources: Sequence[str] = compared.sources
        if compared.people:
            sources = ()
        prior, weighed = weighed_ranking(compared.battles, self._log, sources, say)
        return lambda ranking, rank: prior_section(ranking, prior, weighed)


def style(control: str) -> "tuple[tuple[str, ...], Mapping[str, Coefficient] | None]":
    """Features of style, and what they are worth where a file of an earlier ranking says so."""
    from urs_inspect.stats._style import FEATURES

    if Path(control).suffix.lower() == ".json":
        coefficients = read_coefficients(Path(control))
        return tuple(coefficients), coefficients
    features = tuple(dict.fromkeys(name.strip() for name in control.split(",")))
    if not any(features):
        raise InputError(f"control: names no feature; allowed: {choices(FEATURES)}")
    for name in features:
        if name not in FEATURES:
            raise InputError(
                f"control: unknown feature '{name}'; allowed: {choices(FEATURES)}, or a .json file"
                " of an earlier ranking with --control"
            )
    return features, None


def read_coefficients(path: Path) -> "dict[str, Coefficient]":
    """Read what style is worth, by feature, from what `urs-inspect rank --control FEATURES --json`
    printed.
    """
    from urs_inspect.adjusting._adjusted import Coefficient
    from urs_inspect.datasets._rows import number_of
    from urs_inspect.stats._style import FEATURES

    try:
        rows = json.loads(path.read_text(encoding="utf-8-sig"))["controlled"]["coefficients"]
        found = {
            row["feature"]: Coefficient(number_of(row["scale"]), number_of(row["value"]))
            for row in rows
        }
    except OSError as error:
        raise InputError(f"cannot read the coefficients '{path}': {error.strerror}") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        found = {}
    is_valid = bool(found)
    for name, (scale, value) in found.items():
        if name not in FEATURES or not 0 < scale < math.inf or not math.isfinite(value):
            is_valid = False
    if not is_valid:
        raise InputError(
            f"{path}: no coefficients; name a file with the output of urs-inspect rank --control"
            " ... --json"
        )
    return found


def styles_of(
    responses: Sequence[tuple[Any, Any]], features: Sequence[str], named: Sequence[str]
) -> "Floats":
    """Differences of style of the two responses of each battle, shape (N, K).

    All must be texts; `named` is where the battles come from.
    """
    from urs_inspect.adjusting._adjusted import style_differences

    known = [both for both in responses if all(isinstance(text, str) for text in both)]
    bare = len(responses) - len(known)
    if bare:
        raise InputError(
            f"control: {bare:,} of {counted(len(responses), 'vote')} in {choices(named)} come"
            " without both responses; a list of votes needs response_1 and response_2, or"
            " response_a and response_b"
        )
    return style_differences(known, features)


def weighed_ranking(
    battles: "Battles", log: str, sources: Sequence[str], say: Callable[[str], None]
) -> "tuple[JudgePrior, WeighedRanking]":
    """A judge's prior for the models of the votes, and the ranking with it; `sources` are not votes
    on comparisons.
    """
    from urs_inspect.adjusting._judge_prior import rank_with_prior
    from urs_inspect.adjusting._verdicts import prior_of_log

    place = Path(log).resolve()
    if {place, *place.parents} & {Path(source).resolve() for source in sources}:
        raise InputError(
            f"prior: '{log}' is what is ranked; its verdicts would count twice. Name people's votes"
        )
    judged = prior_of_log(log)
    without = sorted(set(judged.players) - set(battles.players))
    judged = judged.among(battles.players)
    if without:
        say(f"prior: {choices(without)}: no vote, so not ranked")
    return judged, rank_with_prior(battles, judged)
