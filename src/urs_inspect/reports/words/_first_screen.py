"""The answer of a leaderboard on one screen."""

from collections.abc import Iterator, Sequence

import numpy as np

from urs_inspect._util import counted
from urs_inspect.reports._texts import DASH, UNKNOWN, listed, money, number
from urs_inspect.reports.layout._tables import SIMULATED_SCREEN, FirstScreen, Table
from urs_inspect.reports.numbers._leaderboard import Leaderboard, Ranking
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.reports.words._comparison import (
    ALERT,
    EXAMPLE,
    UNSCORED_ALERT,
    best_claim,
    best_sentence,
    questions_to_tell,
    screen_table,
)
from urs_inspect.reports.words._corrected import (
    corrected_headline,
    corrected_screen_table,
    corrected_warnings,
)
from urs_inspect.reports.words._judge_checks import CHECKS, failed_sentence
from urs_inspect.reports.words._lengths import times_text
from urs_inspect.reports.words._notes import first_cautions, more_cautions, ranking_notes
from urs_inspect.rubrics import HIGHEST, LOWEST
from urs_inspect.stats._power import POWER

_MEAN = number(2)
_SIGNED = number(2, sign=True)
_TOO_FEW = "too few questions to find a best model"
_WAY = "--only intents"
_PRICES = "urs-inspect report --prices FILE"


def leaderboard_screen(board: Leaderboard) -> FirstScreen:
    """The answer of a leaderboard: that of its first ranking."""
    ranking = board.rankings[0]
    several = ranking.models["rank_from"].notna().sum() > 1
    others = len(board.rankings) - 1
    basis = [_basis(ranking)]
    ways = []
    if others:
        more = counted(others, "more ranking")
        ways.append(f"{more}, of runs that cannot be compared with this one: --all.")
    basis += [*_total_cost(ranking), *ranking_notes(ranking)]
    findings: list[str] = []
    rest: list[str] = []
    if several:
        findings, rest = _findings(ranking)
    warnings = _warnings(ranking)
    kept = 1 if failed_sentence(ranking) else 0
    if board.simulated:
        kept += 1
        warnings.insert(0, SIMULATED_SCREEN)
    return FirstScreen(
        _claim(ranking),
        warnings,
        basis,
        _table(ranking),
        findings,
        _commands(ranking),
        ways,
        rest,
        kept,
    )


def _claim(ranking: Ranking) -> str:
    """The best model, and how far it is ahead; the mean of a single one."""
    by_people = ranking.trusted
    if by_people is not None:
        return corrected_headline(by_people, ranking.short)
    return mean_of_one(ranking) or best_claim(ranking, _SIGNED)


def mean_of_one(ranking: Ranking) -> str:
    """The mean of the only model that has a score; empty where several have."""
    scored = ranking.with_mean
    if not scored:
        return "No model has a score."
    if len(scored) > 1:
        return ""
    over = ""
    if ranking.questions < ranking.asked:
        over = f" over {ranking.questions:,} of {counted(ranking.asked, 'question')}"
    [only] = scored
    return f"{ranking.short[only]} has a mean score of {_MEAN(ranking.mean(only))}{over}."


def _warnings(ranking: Ranking) -> list[str]:
    failed = failed_sentence(ranking)
    warnings = [failed] if failed else []
    warnings += [*first_cautions(ranking), *more_cautions(ranking)]
    if ranking.corrected is not None:
        warnings += corrected_warnings(ranking.corrected, ranking)
    if (ranking.models["unscored_share"] > UNSCORED_ALERT).any():
        warnings.append(ALERT)
    return warnings


def _basis(ranking: Ranking) -> str:
    """Over which questions, scored by whom."""
    over = counted(ranking.questions, "question")
    if ranking.questions < ranking.asked:
        over = f"{ranking.questions:,} of the {counted(ranking.asked, 'question')} asked"
    counts = ranking.question_counts
    languages = ranking.columns.languages
    by_language = [
        f"{ranking.title(name)} {counts[name]:,}" for name in languages if name in counts
    ]
    if len(by_language) < 2:
        by_language = [ranking.title(name) for name in languages]
    judges = "no judge"
    if ranking.conditions.judges:
        judges = listed(ranking.conditions.judges)
    basis = f"{over} ({', '.join(by_language)}), {LOWEST} to {HIGHEST} by {judges}"
    if ranking.traffic is not None:
        return f"{basis}, weighted by the mix of {ranking.traffic.source}."
    return f"{basis}."


def _table(ranking: Ranking) -> Table:
    """The models; with people's ratings, by the means that these correct."""
    corrected = ranking.trusted
    if corrected is None:
        return screen_table(ranking, _MEAN, _SIGNED, {**_costs(ranking), **_lengths(ranking)})
    return corrected_screen_table(corrected, ranking, "judge's mean")


def _total_cost(ranking: Ranking) -> Iterator[str]:
    """What models and judges cost together; nothing of simulated models, which have no price."""
    models = ranking.models
    known = models[["cost", "judge_cost"]]
    total = money(float(np.nansum(known)))
    if known.isna().all(axis=None):
        if not models["simulated"].all():
            yield f"Cost: not known ({_PRICES})."
        return
    missing = [ranking.short[str(name)] for name in models.index[models["cost"].isna()]]
    if models["judge_cost"].isna().any() and ranking.conditions.judges:
        missing.append("the judge")
    if missing:
        yield f"Cost: at least {total}; not known of {listed(missing)} ({_PRICES})."
    else:
        yield f"Cost: {total}, judges included."


def _costs(ranking: Ranking) -> dict[str, Sequence[str]]:
    """A column with what 1,000 answers cost, if that is known of any model."""
    models = ranking.models
    costs = [1000 * float(cost) for cost in models["cost"] / models["answers"]]
    if np.isnan(costs).all():
        return {}
    texts = [money(cost) for cost in costs]
    return {"1,000 answers": ["no price" if text == UNKNOWN else text for text in texts]}


def _lengths(ranking: Ranking) -> dict[str, Sequence[str]]:
    """A column with how many times as long each model's answers are as those of the first."""
    ratios = ranking.models["length_ratio"]
    if len(ratios) < 2 or ratios.isna().all():
        return {}
    texts = map(times_text, ratios)
    return {"length": [text if text == DASH else f"{text}×" for text in texts]}


def _findings(ranking: Ranking) -> tuple[list[str], list[str]]:
    """The best for each intent, one sentence for those of which the same is true; and of each, the
    line that stands for it and the later ones.
    """
    if ranking.trusted is not None:
        return [f"By the judge's scores alone: {best_sentence(ranking, ALL)}"], []
    found: dict[str, list[str]] = {}
    for group in ranking.columns.groups:
        found.setdefault(_best(ranking, group), []).append(ranking.title(group))
    every = len(ranking.columns.groups)
    known = sorted(found.items(), key=lambda item: (item[0] == _TOO_FEW, -len(item[1])))
    findings = []
    rest = []
    left = every
    for best, titles in known:
        more = " more" if left < every else ""
        languages = ""
        if len(ranking.columns.languages) > 1:
            languages = ", and each language"
        rest.append(f"{_intents(ranking, left, more)}{languages}: {_WAY}.")
        left -= len(titles)
        if len(titles) == every > 1:
            findings.append(f"In each of the {_intents(ranking, every)}: {best}.")
        else:
            findings.append(f"{', '.join(titles)}: {best}.")
    return [*findings, *_needed(ranking)], rest


def _intents(ranking: Ranking, number: int, more: str = "") -> str:
    """So many intents, or groups of intents, where one counts under another, as API does."""
    if ranking.columns.parts:
        return f"{number}{more} {'group' if number == 1 else 'groups'} of intents"
    return f"{number}{more} {'intent' if number == 1 else 'intents'}"


def _best(ranking: Ranking, group: str) -> str:
    """What is known of the best model for an intent."""
    if not ranking.question_counts.get(group):
        return "no question has a score of every ranked model"
    found = ranking.best_in[group]
    if not found.testable:
        return _TOO_FEW
    best = ranking.short[found.model]
    unclear = [ranking.short[pair.second] for pair in found.unclear]
    if not unclear:
        return f"{best} is significantly best"
    return f"{listed([best, *unclear], 'or')}, which cannot be distinguished"


def _needed(ranking: Ranking) -> Iterator[str]:
    """How many questions it takes to see a difference, where the best two are not told apart."""
    needed = questions_to_tell(ranking, ALL)
    if needed is not None:
        pair = ranking.best_in[ALL].unclear[0]
        names = f"{ranking.short[pair.first]} and {ranking.short[pair.second]}"
        yield (
            f"To detect a true difference of {EXAMPLE} between {names} with {POWER:.0%} power takes"
            f" about {counted(needed, 'question')}."
        )
    by_group = {}
    for group in ranking.columns.groups:
        takes = questions_to_tell(ranking, group)
        if takes is not None:
            by_group[group] = takes
    if by_group:
        there = _range_text([ranking.question_counts[group] for group in by_group])
        takes_text = _range_text(list(by_group.values()))
        intent = "one intent"
        has = "each has"
        if len(by_group) == 1:
            intent = ranking.title(next(iter(by_group)))
            has = "it has"
        yield (
            f"To detect {EXAMPLE} within {intent} takes about {takes_text} questions;"
            f" {has} {there}."
        )


def _range_text(counts: Sequence[int]) -> str:
    """The lowest and the highest of some counts."""
    low = min(counts)
    high = max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _judge(ranking: Ranking) -> str:
    """What was not checked of the judge; empty without a judge or if everything was."""
    facts = ranking.judge_checks
    unchecked = dict.fromkeys(fact.check for fact in facts if fact.verdict == "not checked")
    if not ranking.conditions.judges or not unchecked:
        return ""
    names = [CHECKS[check] for check in unchecked]
    if "people" in unchecked and "labels" in unchecked:
        others = [CHECKS[check] for check in unchecked if check not in ("people", "labels")]
        names = ["agreement with people or labels", *others]
    return f"Not checked of the judge: {listed(names)}."


def _commands(ranking: Ranking) -> list[tuple[str, str]]:
    """What was not checked of the judge, with a command that checks some of it."""
    facts = [fact for fact in ranking.judge_checks if fact.command]
    if not facts:
        return []
    fact = min(facts, key=lambda fact: "urs_probe" not in fact.command)  # the cheapest first
    purpose = f"To check {CHECKS[fact.check]}"
    if not failed_sentence(ranking):  # which says what was not checked
        purpose = f"{_judge(ranking)} {purpose}"
    return [(purpose, fact.command)]
