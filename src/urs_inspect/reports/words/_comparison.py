"""Compared models -> sentences and tables of pairs, which several reports show."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise

import pandas as pd

from urs_inspect._util import counted
from urs_inspect.reports._texts import (
    DASH,
    Format,
    level_text,
    listed,
    p_value,
    ranks_text,
    share,
)
from urs_inspect.reports.layout._tables import Table
from urs_inspect.reports.numbers._comparison import BestOfColumn, ComparedModels, Comparison
from urs_inspect.reports.numbers._conditions import (
    SHARE,
    Difference,
    OtherPrompts,
    OtherQuestions,
    Reason,
    Unlike,
)
from urs_inspect.reports.numbers._scores import ALL, DIGITS

UNSCORED_ALERT = 0.02
"""Share of answers without a score above which a report draws attention to it."""
ALERT = f"! More than {UNSCORED_ALERT:.0%} of the answers have no score."
_SHRUNK = 0.9
"""Below this share of the questions that were asked, a note names the model that takes most of them
away.
"""
_ONE_BY_PANEL = "An answer counts by the judges that scored it, at the level of the whole panel."
_SEVERAL_BY_PANEL = (
    "On each question only judges count that scored all ranked models, at the level of the"
    " whole panel, so that no model gains by a strict judge that failed; in the worst case each"
    " score that a judge did not give counts against the better model."
)
_MOST_NAMED = 2
"""Most models that a claim names as not distinguishable from the best, or as worse."""
_SIGNIFICANT = {
    "significant": "yes",
    "depends on unscored answers": "depends",
    "not significant over all questions": "not over all",
    "not comparable": DASH,
}


def pairs_table(
    compared: ComparedModels,
    tests: Sequence[tuple[str, Comparison]],
    signed: Format,
    group: str = "",
    more: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """Comparisons, one row each, under a heading of what they are of."""
    short = compared.short
    rows = [
        {
            group: title,
            "First": short[pair.first],
            "Second": short[pair.second],
            "Significant": _SIGNIFICANT.get(pair.verdict, "no"),
            "Difference": pair.difference,
            "p (Holm)": pair.p_holm,
        }
        for title, pair in tests
    ]
    data = pd.DataFrame(rows).assign(**(more or {}))
    if not group:
        data = data.drop(columns="", errors="ignore")
    formats: dict[str, Format] = dict.fromkeys(["Significant", *(more or {})], str)
    return Table(data, {**formats, "Difference": signed, "p (Holm)": p_value})


_COLUMNS = [
    "block",
    "column",
    "first",
    "second",
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
    "p_worst",
    "verdict",
    "depends_on",
    "n",
    "error",
    "detectable",
]


def differences_table(compared: ComparedModels, block: int | None = None) -> Table:
    """Every comparison, for files: all pairs of models, or with the best model of a column."""
    rows = []
    for key, pairs in compared.comparisons.items():
        for pair in pairs:
            row = {
                "block": block,
                "column": key,
                "first": pair.first,
                "second": pair.second,
                "difference": pair.difference.value,
                "low": pair.difference.low,
                "high": pair.difference.high,
                "p": pair.p,
                "p_holm": pair.p_holm,
                "p_worst": pair.p_worst,
                "verdict": pair.verdict,
                "depends_on": "; ".join(f"{name} ({n})" for name, n in pair.depends_on.items()),
                "n": pair.difference.n,
                "error": pair.error,
                "detectable": compared.detectable(pair) if key == ALL else None,
            }
            rows.append(row)
    data = pd.DataFrame(rows, columns=_COLUMNS, dtype=object)
    if block is None:
        data = data.drop(columns="block")
    return Table(data, name="differences", shown=())


MATRIX = (
    "Above the diagonal: the mean of the row's model less that of the column's, on the same"
    " questions, with its interval. Below it: the p-value after Holm's correction, and the number"
    " of questions. Bold: significant."
)
"""How to read a `difference_matrix`."""


def difference_matrix(compared: ComparedModels, signed: Format) -> Table:
    """Each pair once: the difference above the diagonal, p-value and number of questions below."""
    names = compared.names
    cells = pd.DataFrame(DASH, names, names)
    marked = []
    for pair in compared.comparisons[ALL]:
        row, column = sorted((pair.first, pair.second), key=names.index)
        difference = pair.difference if row == pair.first else -pair.difference
        if difference.n:
            tested = f"p {p_value(pair.p_holm)}"
            if not pair.significant:
                tested = _SIGNIFICANT.get(pair.verdict, tested)
            cells.loc[row, column] = signed(difference)
            cells.loc[column, row] = f"{tested} ({difference.n:,})"
        if pair.significant:
            marked += [(names.index(row), column), (names.index(column), row)]
    cells.insert(0, "Model", [compared.short[name] for name in names])
    return Table(cells, dict.fromkeys(names, str), headings=compared.short, marked=marked)


def verdict_notes(compared: ComparedModels) -> list[str]:
    """What the verdicts that missing scores leave open mean, those that occur."""
    meanings = {
        "depends on unscored answers": (
            "Depends: significant only if the answers without a score are like the others."
        ),
        "not significant over all questions": (
            f"Not over all: significant over the {compared.noun}s that count, but not over all that"
            " the two answered."
        ),
    }
    pairs = chain.from_iterable(compared.comparisons.values())
    verdicts = {pair.verdict for pair in pairs}
    return [meaning for verdict, meaning in meanings.items() if verdict in verdicts]


def missing_notes(compared: ComparedModels) -> list[str]:
    """What missing scores take away, one sentence each."""
    missing = compared.missing
    notes = []
    if missing.unscored:
        notes = [_over_what(compared), *_who_takes_most(compared), *_unranked(compared)]
    if missing.failed:
        failures = []
        for judge, shares in missing.failed.items():
            of_models = [f"{name} {share(part)}" for name, part in shares.items()]
            failures.append(f"{judge} of {', '.join(of_models)}")
        notes += [
            f"Some judges of the panel gave some answers no score: {'; '.join(failures)}.",
            _SEVERAL_BY_PANEL if len(compared.ranked) > 1 else _ONE_BY_PANEL,
        ]
    return notes


def _over_what(compared: ComparedModels) -> str:
    """How many answers have no score, and what means are over."""
    missing = compared.missing
    lacking = f"{missing.unscored:,} of {missing.answers:,} answers have no score."
    if not any(missing.scored.values()):
        return lacking
    over = f"over the {compared.questions:,} of {compared.asked:,} {compared.noun}s for which"
    if len(compared.ranked) < 2:
        return f"{lacking} Means are {over} {compared.names[0]} has one."
    return (
        f"{lacking} Means, ranks and tests are {over} every ranked model has one, and a difference"
        " is significant only if it is so in the worst case of the missing scores."
    )


def _who_takes_most(compared: ComparedModels) -> list[str]:
    """The model without which many more questions would count, if there is one."""
    if len(compared.ranked) < 2 or compared.questions >= _SHRUNK * compared.asked:
        return []
    without = compared.missing.without
    name = max(without, key=lambda model: without[model])
    if without[name] <= compared.questions:
        return []
    return [
        f"{name} takes away most of the other {compared.asked - compared.questions:,}: without its"
        f" log, the ranking would be over {without[name]:,} {compared.noun}s."
    ]


def _unranked(compared: ComparedModels) -> list[str]:
    """Models that are not ranked because they lack most scores."""
    scored = compared.missing.scored
    most = max(scored.values(), default=0)
    if not most:
        return []
    notes = []
    for name in compared.names[len(compared.ranked) :]:
        notes.append(
            f"{name} is not ranked: it has a score for {counted(scored[name], compared.noun)},"
            f" fewer than half of the {most:,} of the model with the most."
        )
    return notes


def best_sentence(ranking: ComparedModels, key: str) -> str:
    """Which model is best in a column, and which ones cannot be distinguished from it."""
    best = ranking.best_in[key]
    pairs = best.pairs
    short = ranking.short
    if not any(pair.difference.n for pair in pairs):
        return f"No {ranking.noun} has a score of every ranked model."
    name = short[best.model]
    better = [short[pair.second] for pair in best.clear]
    if len(better) == len(pairs):
        return f"{name} is best, significantly better than {all_of(better)}."
    equal = [short[pair.second] for pair in pairs if round(pair.difference.value, DIGITS) == 0]
    highest = "highest"
    if ranking.lower_is_better:
        highest = "lowest"
    beyond = "above"
    if ranking.lower_is_better:
        beyond = "below"
    mean = f"{listed([name, *equal])} share" if equal else f"{name} has"
    mean += f" the {highest} mean score"
    if better:
        named = listed(better) if len(better) <= _MOST_NAMED else f"{len(better):,} others"
        mean += f", significantly {beyond} {named}"
    reasons = _why_none_is_best(ranking, best, equal, beyond)
    return f"No model is clearly best: {'; '.join([*reasons, mean])}."


def all_of(others: Sequence[str]) -> str:
    """All the other models, by name if there is only one."""
    if len(others) == 1:
        return others[0]
    if len(others) == 2:
        return "both others"
    return f"all {len(others)} others"


def _why_none_is_best(
    ranking: ComparedModels, best: BestOfColumn, equal: Sequence[str], beyond: str
) -> list[str]:
    """Why the model with the best mean is not called the best, one clause for each reason.

    The models with an `equal` mean are named elsewhere.
    """
    pairs = best.pairs
    over = pairs[0].difference.n
    if not best.testable:
        questions = counted(over, ranking.noun)
        models = len(pairs) + 1
        return [f"over {questions} no difference between {models} models can be significant"]
    name = ranking.short[best.model]
    by_verdict: dict[str, list[str]] = {}
    for pair in pairs:
        by_verdict.setdefault(pair.verdict, []).append(ranking.short[pair.second])
    reasons = []
    unclear = [other for other in by_verdict.get("not distinguishable", []) if other not in equal]
    if unclear:
        others = listed(unclear, "or", most=_MOST_NAMED)
        reasons.append(f"{name} cannot be distinguished from {others}")
    if partly := by_verdict.get("not significant over all questions"):
        common = counted(over, f"common {ranking.noun}")
        reasons.append(
            f"{name} is significantly {beyond} {listed(partly)} only over the {common}, not over"
            " all that were asked"
        )
    if depends := by_verdict.get("depends on unscored answers"):
        lacking = dict.fromkeys(chain.from_iterable(pair.depends_on for pair in pairs))
        unscored = listed([ranking.short[lacks] for lacks in lacking])
        reasons.append(
            f"whether {name} is better than {listed(depends)} depends on unscored answers of"
            f" {unscored}"
        )
    return reasons


def best_claim(compared: ComparedModels, signed: Format) -> str:
    """Which model is best, and how far it is ahead of the second."""
    sentence = best_sentence(compared, ALL)
    pairs = compared.best_in[ALL].pairs
    if not pairs or not pairs[0].difference.n or round(pairs[0].difference.value, DIGITS) == 0:
        return sentence
    difference = signed(pairs[0].difference)
    if len(pairs) == 1 and pairs[0].significant:
        return f"{sentence.removesuffix('.')}: {difference}."
    first = compared.short[pairs[0].first]
    return f"{sentence} {first} is ahead of {compared.short[pairs[0].second]}: {difference}."


def screen_table(
    compared: ComparedModels, plain: Format, signed: Format, more: Mapping[str, Sequence[str]]
) -> Table:
    """The table of a first screen: rank, model, mean, interval, ahead of the next, and more.

    Models that were compared with a baseline only, and a single model, have no ranks.
    """
    means = compared.means[ALL]
    columns: dict[str, Sequence[str]] = {}
    ranked = len(compared.ranked)
    has_ranks = ranked > 1 and len(compared.comparisons[ALL]) >= math.comb(ranked, 2)
    if has_ranks:
        columns["rank"] = ranks_text(compared.models)
    columns["model"] = [compared.short[name] for name in compared.names]
    columns["mean"] = [plain(mean.value) for mean in means]
    columns[f"{level_text(means[0].level)} interval"] = [
        DASH if math.isnan(mean.low) else f"{plain(mean.low)} to {plain(mean.high)}"
        for mean in means
    ]
    if has_ranks:
        pairs = {(pair.first, pair.second): pair.difference for pair in compared.comparisons[ALL]}
        ahead = [signed(pairs.get(pair)) for pair in pairwise(compared.names)]
        columns["ahead of the next"] = ["" if text == DASH else text for text in [*ahead, ""]]
    columns |= more
    numbers = [name for name in columns if name not in ("rank", "model")]
    return Table(pd.DataFrame(columns), dict.fromkeys(numbers, str))


def best_text(ranking: ComparedModels, key: str) -> str:
    """The best model of a column with its mean, and the models that are not significantly worse."""
    if not ranking.question_counts.get(key):
        return DASH
    best = ranking.best_in[key]
    short = ranking.short
    mean = ranking.mean(best.model, key).value
    text = f"{short[best.model]} {mean:.2f} ({ranking.question_counts[key]:,})"
    if not best.testable:
        needed = ranking.questions_to_tell(key)
        about = "" if needed is None else f", about {needed:,} needed"
        return f"{text}: too few questions{about}"
    if not best.unclear:
        return f"{text}: significantly best, p {p_value(best.largest_p)}"
    others = []
    for pair in best.unclear:
        others.append(short[pair.second] + (" (depends)" if pair.depends_on else ""))
    text = f"{text} or {listed(others, 'or')}"
    if len(others) == 1:
        text += f", p {p_value(best.unclear[0].p_holm)}"
    return text


def unscored_text(part: float) -> str:
    """Share of answers without a score, with a mark where it is large."""
    text = f"{part:.1%}" if 0 < part < 0.1 else share(part)
    if part > UNSCORED_ALERT:
        return f"{text} !"
    return text


# --- what answers are compared, and how they were asked and judged ---

_DIFFERENCES = {
    "task": "Another task: {ours}, not {theirs}.",
    "version": ("Another version of the task, whose scores do not compare: {ours}, not {theirs}."),
    "content": "Other data: {ours}, not {theirs}.",
    "rubric": "Another rubric: {ours}, while that of the first is {theirs}.",
    "panel": "Other judges: {ours}, not {theirs}.",
    "references": "Other references: {ours}, not {theirs}.",
}
_WITHOUT = {"rubric": "not known", "panel": "none", "references": "those of the data"}
"""Conditions that may be empty, in words."""


def reasons_apart(reasons: Iterable[Reason]) -> list[str]:
    """Why models are not compared with the first ones, one sentence for each reason."""
    return [_reason_apart(reason) for reason in reasons]


def _reason_apart(reason: Reason) -> str:
    match reason:
        case Difference(name):
            without = _WITHOUT.get(name)
            ours = reason.ours or without
            theirs = reason.theirs or without
            return _DIFFERENCES[name].format(ours=ours, theirs=theirs)
        case OtherPrompts(kinds):
            return (
                f"Judged with other prompts: they differ for {kinds} of the kinds of cases that"
                " both have."
            )
        case OtherQuestions():
            return _few_in_common(reason)


def _few_in_common(reason: OtherQuestions) -> str:
    if not reason.common:
        return (
            "No question in common with the first ranking, which is over"
            f" {counted(reason.first, 'question')}."
        )
    asked = f"Asked {reason.common:,} of the {reason.first:,} questions of the first ranking"
    if SHARE * reason.common < reason.first:
        return f"{asked}, fewer than half."
    return (
        f"{asked}; all together would be ranked over fewer than half of the {reason.most:,} that"
        f" {reason.model} was asked."
    )


def epoch_notes(ratings: int, file: str) -> list[str]:
    """That ratings of a file do not say which answer they are about; none if all do."""
    if not ratings:
        return []
    return [
        f"{counted(ratings, 'rating')} of {file} without an epoch, about questions that were"
        " answered several times: compared with the mean score over epochs."
    ]


def unlike_notes(unlike: Unlike) -> list[str]:
    """How models were not asked and judged alike, one sentence each."""
    notes = []
    if unlike.structured:
        shares = ", ".join(f"{model} {percent}%" for model, percent in unlike.structured.items())
        notes.append(
            "Judged with structured output in part: the same judge may score otherwise with it than"
            f" without. Share of judgements with it: {shares}. Judge all models with `-T"
            " structured=false`, or all with `true`, to compare them alike."
        )
    if unlike.attempted:
        attempted = ", ".join(f"{model} {count:,}" for model, count in unlike.attempted.items())
        notes.append(
            f"Ranked over the {counted(unlike.common, 'question')} that all"
            f" {len(unlike.attempted)} models attempted; attempted were: {attempted}. Leave out the"
            " log of a model that attempted few to rank the others over more."
        )
    return notes


def cluster_note(
    what: str, clusters: int, consequence: str = "all intervals and tests are over clusters"
) -> str:
    """Of how many clusters the questions, or cases, are, and what follows."""
    return f"Clusters of the {what}, such as their users: {clusters:,}; {consequence}."
