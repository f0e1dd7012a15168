"""The answer of a leaderboard on one screen: the claim, what must be known before it is believed,
what it rests on, and what else was found.
"""

import math
from collections.abc import Iterator, Sequence

from urs_inspect._util import counted
from urs_inspect.reports._texts import UNKNOWN, listed, money, number, p_value, share
from urs_inspect.reports.layout._tables import SIMULATED_SCREEN, FirstScreen, Table
from urs_inspect.reports.numbers._comparison import EXAMPLE
from urs_inspect.reports.numbers._costs import cost_of_1000, total_cost
from urs_inspect.reports.numbers._leaderboard import AboutAnswers, Leaderboard, Ranking
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.reports.words._comparison import (
    ALERT,
    UNSCORED_ALERT,
    best_claim,
    cluster_note,
    missing_notes,
    screen_table,
    unlike_notes,
)
from urs_inspect.reports.words._corrected import (
    corrected_headline,
    corrected_screen_table,
    corrected_warnings,
)
from urs_inspect.reports.words._judge_checks import CHECKS, command_text, failed_sentence
from urs_inspect.reports.words._lengths import times_text
from urs_inspect.rubrics import HIGHEST, LOWEST
from urs_inspect.stats._power import POWER

_MEAN = number(2)
_SIGNED = number(2, sign=True)
_TOO_FEW = "too few questions to find a best model"
_PRICES = "urs-inspect report --prices FILE"


def leaderboard_screen(board: Leaderboard) -> FirstScreen:
    """The answer of a leaderboard: that of its first ranking."""
    ranking = board.rankings[0]
    claim, *findings = claims(ranking)
    planning: list[str] = []
    if len(ranking.compared.ranked) > 1 and not findings:
        findings = _best_of_intents(ranking)
        planning += _needed(ranking)
    ways = []
    if len(board.rankings) > 1:
        others = counted(len(board.rankings) - 1, "more ranking")
        ways.append(f"{others}, of runs that cannot be compared with this one: --all.")
    failed = failed_sentence(ranking)
    first = []
    if board.simulated:
        first = [SIMULATED_SCREEN]
    if failed:
        first.append(failed)
    return FirstScreen(
        claim,
        [*first, *_warnings(ranking)],
        [rests_on(ranking), *_total_cost(ranking), *ranking_notes(ranking)],
        _table(ranking),
        findings,
        planning,
        _commands(ranking, failed),
        ways,
        len(first),
    )


def claims(ranking: Ranking) -> list[str]:
    """Which model is best and how far it is ahead: by people's ratings, if they can tell, and by
    the judge's scores.
    """
    judged = _claim(ranking)
    if ranking.trusted is None:
        return [judged]
    by_people = corrected_headline(ranking.trusted, ranking.compared.short)
    return [by_people, f"By the judge's scores alone: {judged}"]


def _claim(ranking: Ranking) -> str:
    compared = ranking.compared
    scored = compared.with_mean
    if len(scored) > 1:
        return best_claim(compared, _SIGNED)
    if not scored:
        return "No model has a score."
    over = ""
    if compared.questions < compared.asked:
        over = f" over {compared.questions:,} of {counted(compared.asked, 'question')}"
    [only] = scored
    return f"{compared.short[only]} has a mean score of {_MEAN(compared.mean(only))}{over}."


def _warnings(ranking: Ranking) -> list[str]:
    warnings = [*first_cautions(ranking), *more_cautions(ranking)]
    if ranking.corrected is not None:
        warnings += corrected_warnings(ranking.corrected, ranking.compared)
    return [*warnings, *alerts(ranking)]


def alerts(ranking: Ranking) -> list[str]:
    """That many answers have no score, or none of some judge of the panel."""
    models = ranking.compared.models
    if not (models["unscored_share"] > UNSCORED_ALERT).any():
        return []
    if models["unscored"].any():
        return [ALERT]
    return [f"! More than {UNSCORED_ALERT:.0%} of the scores of the panel's judges are missing."]


def rests_on(ranking: Ranking) -> str:
    """Over which questions a ranking is, and who scored them."""
    compared = ranking.compared
    over = counted(compared.questions, "question")
    if compared.questions < compared.asked:
        over = f"{compared.questions:,} of the {counted(compared.asked, 'question')} asked"
    languages = []
    for key in ranking.columns.languages:
        language = ranking.title(key)
        if len(ranking.columns.languages) > 1:
            language += f" {compared.question_counts[key]:,}"
        languages.append(language)
    judges = "no judge"
    if ranking.conditions.judges:
        judges = listed(ranking.conditions.judges)
    mix = ""
    if ranking.traffic is not None:
        mix = f", weighted by the mix of {ranking.traffic.source}"
    return f"{over} ({', '.join(languages)}), {LOWEST} to {HIGHEST} by {judges}{mix}."


def _table(ranking: Ranking) -> Table:
    """The models; with people's ratings, by the means that these correct."""
    compared = ranking.compared
    if ranking.trusted is not None:
        return corrected_screen_table(ranking.trusted, compared, "judge's mean")
    models = compared.models
    more: dict[str, Sequence[str]] = {}
    if models["cost"].notna().any():
        texts = map(money, cost_of_1000(models))
        more["1,000 answers"] = ["no price" if text == UNKNOWN else text for text in texts]
    if has_lengths(ranking):
        more["length, first = 1"] = list(map(times_text, models["length_ratio"]))
    return screen_table(compared, _MEAN, _SIGNED, more)


def has_lengths(ranking: Ranking) -> bool:
    """Whether there are lengths to compare with those of the first model."""
    ratios = ranking.compared.models["length_ratio"]
    return len(ratios) > 1 and bool(ratios.notna().any())


def _total_cost(ranking: Ranking) -> Iterator[str]:
    """What models and judges cost together; nothing of simulated models, which have no price."""
    models = ranking.compared.models
    known = models[["cost", "judge_cost"]]
    total = money(total_cost(models))
    if known.isna().all(axis=None):
        if not models["simulated"].all():
            yield f"Cost: not known ({_PRICES})."
        return
    missing = [ranking.compared.short[str(name)] for name in models.index[models["cost"].isna()]]
    if models["judge_cost"].isna().any() and ranking.conditions.judges:
        missing.append("the judge")
    if missing:
        yield f"Cost: at least {total}; not known of {listed(missing)} ({_PRICES})."
    else:
        yield f"Cost: {total}, judges included."


# --- what else was found ---


def _best_of_intents(ranking: Ranking) -> list[str]:
    """The best for each intent, one sentence for those of which the same is true."""
    groups = ranking.columns.groups
    titles: dict[str, list[str]] = {}
    for group in groups:
        titles.setdefault(_best(ranking, group), []).append(ranking.title(group))
    findings = []
    most_first = sorted(titles.items(), key=lambda item: -len(item[1]))
    for best, named in sorted(most_first, key=lambda item: item[0] == _TOO_FEW):
        of_which = ", ".join(named)
        if len(named) == len(groups) > 1:
            # Several intents may count under one group, as API does.
            kind = "intents"
            if ranking.columns.parts:
                kind = "groups of intents"
            of_which = f"In each of the {len(groups)} {kind}"
        findings.append(f"{of_which}: {best}.")
    return findings


def _best(ranking: Ranking, group: str) -> str:
    """What is known of the best model for an intent."""
    compared = ranking.compared
    if not compared.question_counts.get(group):
        return "no question has a score of every ranked model"
    found = compared.best_in[group]
    if not found.testable:
        return _TOO_FEW
    best = compared.short[found.model]
    unclear = [compared.short[pair.second] for pair in found.unclear]
    if not unclear:
        return f"{best} is significantly best"
    return f"{listed([best, *unclear], 'or')}, which cannot be distinguished"


def _needed(ranking: Ranking) -> Iterator[str]:
    """How many questions it takes to see a difference, where the best two are not told apart."""
    compared = ranking.compared
    needed = compared.questions_to_tell(ALL)
    if needed is not None:
        pair = compared.best_in[ALL].unclear[0]
        names = f"{compared.short[pair.first]} and {compared.short[pair.second]}"
        yield (
            f"To detect a true difference of {EXAMPLE} between {names} with {POWER:.0%} power takes"
            f" about {counted(needed, 'question')}."
        )
    of_groups = [compared.questions_to_tell(group) for group in ranking.columns.groups]
    takes = [questions for questions in of_groups if questions is not None]
    if takes:
        least = f"{min(takes):,}"
        most = f"{max(takes):,}"
        about = least if least == most else f"{least} to {most}"
        yield f"To detect {EXAMPLE} within one intent takes about {about} of its questions."


def _commands(ranking: Ranking, failed: str) -> list[tuple[str, str]]:
    """What was not checked of the judge, with a command that checks some of it; `failed` is a
    warning that names what was not checked.
    """
    runs = [(fact.check, fact.run) for fact in ranking.judge_checks if fact.run]
    if not runs:
        return []
    check, run = min(runs, key=lambda one: one[0] != "null answers")  # the cheapest first
    purpose = f"To check {CHECKS[check]}"
    if not failed:
        purpose = f"{_not_checked(ranking)} {purpose}"
    return [(purpose, command_text(run))]


def _not_checked(ranking: Ranking) -> str:
    """What was not checked of the judge."""
    facts = ranking.judge_checks
    unchecked = dict.fromkeys(fact.check for fact in facts if fact.verdict == "not checked")
    names = [CHECKS[check] for check in unchecked]
    if "people" in unchecked and "labels" in unchecked:
        others = [CHECKS[check] for check in unchecked if check not in ("people", "labels")]
        names = ["agreement with people or labels", *others]
    return f"Not checked of the judge: {listed(names)}."


# --- warnings ---


def first_cautions(ranking: Ranking) -> list[str]:
    """What is said before anything else: judges whose scores are all alike."""
    sentences = []
    for judge in ranking.about_answers.flat_judges:
        if not math.isnan(judge.only):
            sentences.append(
                f"THE JUDGE {judge.name} GAVE ALL {judge.scores:,} ANSWERS THE SAME SCORE,"
                f" {judge.only:g}: it does not tell answers apart."
            )
        else:
            sentences.append(
                f"THE JUDGE {judge.name} GAVE {judge.top:,} OF {judge.scores:,} ANSWERS"
                f" ({share(judge.top / judge.scores)}) THE TOP MARK, {HIGHEST}: it hardly tells"
                " answers apart."
            )
    return sentences


def more_cautions(ranking: Ranking) -> list[str]:
    """What is said right after the headline: self-judging, equal answers, leads of one intent."""
    return [*_self_judged(ranking), *_equal_answers(ranking), *_leads_of_one_intent(ranking)]


def _self_judged(ranking: Ranking) -> Iterator[str]:
    shares = ranking.compared.models["self_judged"]
    names = [ranking.compared.short[str(name)] for name in shares.index[shares > 0]]
    if not names:
        return
    what = "was one of the judges of its own answers"
    if len(ranking.conditions.judges) == 1:
        what = "judged its own answers"
    elif len(names) > 1:
        what = "were each among the judges of their own answers"
    yield f"SELF-JUDGED: {listed(names)} {what}, which a model may favour."


def _equal_answers(ranking: Ranking) -> Iterator[str]:
    """Pairs of models with answers that are word for word the same."""
    short = ranking.compared.short
    pairs = []
    for pair in ranking.about_answers.equal_answers:
        many = f"{pair.equal:,} of {pair.both:,}"
        if pair.equal == pair.both:
            many = f"all {pair.both:,}"
        pairs.append(f"{short[pair.first]} and {short[pair.second]} in {many}")
    if pairs:
        yield f"Answers that are word for word the same: {listed(pairs, separator='; ')}."


def _leads_of_one_intent(ranking: Ranking) -> Iterator[str]:
    """Leads of the first model that rest on one intent."""
    compared = ranking.compared
    first = compared.short[compared.names[0]]
    for lead in ranking.without_intents:
        if lead.clear:
            yield (
                f"The lead of {first} over {compared.short[lead.worse]} RESTS ON ONE INTENT,"
                f" {ranking.title(lead.intent)}: without its {counted(lead.questions, 'question')}"
                f" it is {_SIGNED(lead.difference)} (p {p_value(lead.p)})."
            )


# --- what a ranking rests on ---


def ranking_notes(ranking: Ranking) -> list[str]:
    """What must be known of the answers of a ranking, one sentence each."""
    compared = ranking.compared
    about = ranking.about_answers
    notes = unlike_notes(ranking.unlike)
    if about.without_share and ranking.traffic is not None:
        notes.append(
            f"{about.without_share:,} of {compared.asked + about.without_share:,} questions are of"
            f" kinds without a share in {ranking.traffic.source} and do not count."
        )
    notes += missing_notes(compared)
    if about.clusters:
        notes.append(cluster_note(counted(compared.asked, "question"), about.clusters))
    if about.in_several_clusters:
        notes.append(
            "Logs name different clusters for"
            f" {counted(about.in_several_clusters, 'question')}; for each, one of them counts."
        )
    notes += _about_judging(about)
    if 0 < about.without_country < compared.asked:
        notes.append(
            f"{about.without_country:,} of {compared.asked:,} questions name no country; they count"
            " everywhere but by country."
        )
    if about.silent_judges:
        notes.append(
            f"{listed(about.silent_judges)} scored no answer: this ranking is by the other judges"
            " of the panel alone."
        )
    return notes


def _about_judging(about: AboutAnswers) -> Iterator[str]:
    """How many answers were cut off, what the judge did not see, and temperatures of judges."""
    if about.cut_off:
        named = ", ".join(f"{model} {count:,}" for model, count in about.cut_off.items())
        yield (
            f"{sum(about.cut_off.values()):,} of {about.answers:,} answers were cut off at the"
            f" token limit: {named}. --max-tokens gives a model more room."
        )
    if about.not_shown:
        named = "; ".join(f"{what}: {count:,}" for what, count in about.not_shown.items())
        yield (
            f"For {sum(about.not_shown.values()):,} of {about.answers:,} answers the judge could"
            f" not see a part of the question, which its prompt names ({named})."
        )
    if about.temperature_not_sent:
        yield (
            f"For {about.temperature_not_sent:,} of {about.answers:,} answers the temperature that"
            " was requested of a judge was not sent by its provider's client: that judge ran at its"
            " default temperature."
        )
    if len(about.temperatures) > 1:
        yield f"Judges ran at different temperatures: {', '.join(about.temperatures)}."
