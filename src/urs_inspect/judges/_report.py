"""Every number that logs hold about judges, and the report that `urs-inspect judges` prints."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect.datasets._benches import labels_of
from urs_inspect.judges._bias_report import NO_LABELS, bias_section, bias_sentence
from urs_inspect.judges._biases import DatasetBiases, pair_biases
from urs_inspect.judges._judges import (
    BASELINE,
    LEVELS,
    TELLS_LABELS,
    DatasetJudges,
    JudgeResult,
    JudgeTest,
    Key,
    Level,
    LoggedJudge,
    RatingJudge,
    items_of,
)
from urs_inspect.judges._published import PublishedTable, load_published
from urs_inspect.judges._twin_shifts import Twins
from urs_inspect.judges._twins_report import twins_sections
from urs_inspect.judging._reply_counts import header_rows, sentences
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports._texts import DASH, Format, listed, number, p_value
from urs_inspect.reports.layout._tables import (
    SIMULATED_SCREEN,
    FirstScreen,
    Report,
    ReportKind,
    Section,
    Table,
    simulation_section,
)
from urs_inspect.reports.numbers._panels import FEWEST_JUDGES, panel_of
from urs_inspect.reports.words._panels import panel_section
from urs_inspect.scorers._pair_metrics import JudgedItems, judged_items
from urs_inspect.scorers._rating_agreement import CORRELATIONS, FIELDS, RatingAgreement, agreement
from urs_inspect.stats import Estimate, correctness
from urs_inspect.stats._measures import group_accuracies

JUDGES = ReportKind("urs-inspect judges", 1, "urs-inspect judges", "judges")

_SIMULATION = "SIMULATION: simulated judges; the numbers mean nothing."
_VERDICTS = {
    "overall": "verdicts as a whole",
    "dimensions": "verdicts on dimensions",
}


def _percent(value: Any, *, sign: bool = False) -> str:
    """A share as `50` for 0.5; the heading has the sign."""
    return number(1, sign=sign, percent=True)(value).replace("%", "")


_points = partial(_percent, sign=True)


@dataclass(frozen=True)
class Detail:
    """One number about a judge."""

    level: str  # `overall`, `dimensions` or `ratings`; empty for a count of failures
    # `all`, what items are grouped by (`scenario`, `need`, `dimension`, `intent`, `language`),
    # `failure` or `replies`
    by: str
    # for a failure its mode; for replies `unkeyed`, `asked again`, `near key` or `several records`
    group: str
    measure: str  # `count` for failures and replies
    estimate: Estimate  # without an interval where none is reported


def _detail_text(level: str, measure: str, estimate: Estimate) -> str:
    """Counts as they are, correlations with three digits, shares in percent."""
    if measure == "count":
        return number(0)(estimate)
    if level == "ratings" or measure == "alpha":
        return number(3)(estimate)
    return _percent(estimate)


def pair_details(judge: JudgeResult) -> list[Detail]:
    """All measures of a judge of pairs, its failures by mode, and its accuracy by group.

    Groups are scenarios, needs and dimensions.
    """
    details: list[Detail] = []
    scores = list(judge.items.values())
    for level in LEVELS:
        measures = getattr(judge, level)
        items = judged_items(scores, dimensions=level == "dimensions")
        if measures is None or items is None:
            continue
        details += _details(level, "all", "", vars(measures))
        for place in ("scenario", "need", "dimension"):
            for group, estimate in _accuracies_by(items, place).items():
                details += _details(level, place, group, {"accuracy": estimate})
    facts = [score.score.metadata or {} for score in scores]
    failures: Counter[str] = Counter()
    for metadata in facts:
        failures.update(metadata.get("failures", ()))
    if unknown := sum(len(metadata.get("unknown_dimensions", ())) for metadata in facts):
        failures["unknown dimensions"] = unknown
    return [*details, *_failures(failures), *_reply_counts(judge)]


def _accuracies_by(items: JudgedItems, place: str) -> dict[str, Estimate]:
    """Accuracy by `scenario`, `need` or `dimension`, in alphabetical order.

    Empty where all items are of the same.
    """
    groups = items.places[place]
    if len(set(groups) - {""}) < 2:
        return {}
    estimates = sorted(group_accuracies(items.verdicts, groups).items())
    return {
        str(group): estimate.reported((0.0, 1.0))
        for group, estimate in estimates
        if group and not math.isnan(estimate.value)
    }


def rating_details(judge: RatingJudge) -> list[Detail]:
    """Agreement of a judge that rates, over all responses and by group, and its failures.

    Groups are scenarios, intents and languages.
    """
    items = list(judge.items.values())
    details = _agreement("all", "", judge.agreement)
    for field in FIELDS:
        places = [item.places[field] for item in items]
        groups = sorted({*places} - {""})
        # Groups that are the intents, and a single group or language, tell nothing more.
        if field != "intent" and (
            len(groups) < 2 or places == [item.places["intent"] for item in items]
        ):
            continue
        for group in groups:
            found = agreement([item for item in items if item.places[field] == group])
            details += _agreement("scenario" if field == "group" else field, group, found)
    failures = Counter(item.failure for item in items if item.failure)
    return [*details, *_failures(failures), *_reply_counts(judge)]


def _agreement(by: str, group: str, found: RatingAgreement) -> list[Detail]:
    measures = {kind: getattr(found.correlations, kind) for kind in CORRELATIONS}
    measures["mean difference"] = found.difference
    measures["unread"] = Estimate(found.unread, math.nan, math.nan, found.n, 0)
    return _details("ratings", by, group, measures)


def _details(level: str, by: str, group: str, estimates: Mapping[str, Estimate]) -> list[Detail]:
    return [
        Detail(level, by, group, measure, estimate)
        for measure, estimate in estimates.items()
        if not math.isnan(estimate.value)
    ]


def _failures(counts: Counter[str]) -> list[Detail]:
    return [_count("failure", mode, count) for mode, count in sorted(counts.items())]


def _reply_counts(judge: LoggedJudge) -> list[Detail]:
    """How many replies were without the key, asked again and so on, where there are any."""
    if not judge.reply_counts:
        return []
    rows = header_rows({judge.name: Counter(judge.reply_counts)})
    return [_count("replies", name, count) for name, count in rows.items()]


def _count(by: str, group: str, count: float) -> Detail:
    estimate = Estimate(float(count), math.nan, math.nan, int(count), 0)
    return Detail("", by, group, "count", estimate)


def _reply_notes(judges: Sequence[LoggedJudge]) -> list[str]:
    """What there is to say of judges that left out or misspelled the key, or were asked again."""
    return sentences(
        {judge.name: Counter(judge.reply_counts) for judge in judges if judge.reply_counts}
    )


# --- the report ---

_SHARE = number(1, percent=True)
_MOST_JUDGES = 3
"""Judges that the first screen names in a sentence."""
_BETTER = "significantly better than"
_ALIKE = "not distinguishable from"
_WORSE = "significantly worse than"
_RULES = {
    "longest": "Always choosing the longer answer",
    "shortest": "Always choosing the shorter answer",
    "first": "Always choosing the first answer",
    "second": "Always choosing the second answer",
    "random": "Choosing at random",
}


def judges_report(
    pairs: Sequence[DatasetJudges[JudgeResult]],
    ratings: Sequence[DatasetJudges[RatingJudge]],
    *,
    by: Sequence[str] = (),
    skipped: Sequence[str] = (),
    twins: Sequence[Twins] = (),
    battles: Sequence[DatasetBiases] = (),
) -> Report:
    """The judges of each dataset, what they cost, which is better, and what others published.

    Details are shown `by` groupings, `measure` or `failure`; `skipped` has a sentence for each log
    that was skipped; `twins` are logs of `judge_twins`, `battles` what judges prefer in logs of
    `mad`.
    """
    sections: list[Section] = []
    biases: list[DatasetBiases] = []
    for judged in pairs:
        bias = pair_biases(judged)
        of_dataset = [] if bias is None else [bias]
        sections += _pair_sections(judged, by, of_dataset)
        biases += of_dataset
    for rated in ratings:
        sections += _rating_sections(rated, by)
    for fought in battles:
        warnings = []
        if fought.simulated:
            warnings = [_SIMULATION]
        title = f"Battles: {fought.dataset}"
        sections += [Section(title, warnings, warnings=warnings), bias_section(fought)]
    sections += twins_sections(twins)
    if skipped:
        sections.append(Section("Skipped", skipped))
    published = load_published()
    datasets = [judged.dataset for judged in pairs]
    datasets += [rated.dataset for rated in ratings]
    tables = published.about(datasets)
    if tables:
        title = f"PUBLISHED, NOT MEASURED HERE: {published.source}"
        sections.append(Section(title, tables=[_published_table(table) for table in tables]))
    if pairs or ratings or battles:
        first = _screen(pairs, ratings, battles, bias_sentence([*biases, *battles]))
        return Report(JUDGES, "Judges", sections, first=first)
    judges = chain.from_iterable(own.judges for own in twins)
    simulated = simulation_section(any(judge.startswith(SIMULATED) for judge in judges))
    return Report(JUDGES, "Judges", [*simulated, *sections])


def _screen(
    pairs: Sequence[DatasetJudges[JudgeResult]],
    ratings: Sequence[DatasetJudges[RatingJudge]],
    battles: Sequence[DatasetBiases],
    bias: str,
) -> FirstScreen:
    """The answer on one screen: the judges of the first dataset, and what is claimed of others.

    `bias` is a sentence on biases; empty if none is clear.
    """
    datasets: list[DatasetJudges[Any]] = [*pairs, *ratings]
    judges = chain.from_iterable(dataset.judges for dataset in datasets)
    simulated = any(one.simulated for one in (*judges, *battles))
    warnings = []
    if simulated:
        warnings = [SIMULATED_SCREEN]
    if not datasets:
        beside = any(found.labels for found in battles)
        none = NO_LABELS
        if beside:
            none = "No judge clearly prefers anything more than people do."
        return FirstScreen(bias or none, warnings)
    claims = [*map(_claim_on_pairs, pairs), *map(_claim_on_ratings, ratings)]
    rows = []
    if pairs:
        for judge in _on_screen(pairs[0], alone=len(datasets) == 1):
            row = {"judge": judge.name, "right": _SHARE(_right(judge))}
            row["pairs"] = _judged(judge, pairs[0])
            row["cannot be read"] = _SHARE(_unparsed(judge))
            rows.append(row)
    else:
        for rater in ratings[0].judges:
            row = {"judge": rater.name, "Spearman": _spearman(rater)}
            row["responses"] = _judged(rater, ratings[0])
            rows.append(row)
    data = pd.DataFrame(rows)
    table = Table(data, dict.fromkeys(data.columns[1:], str))
    tests = ["Which judges differ significantly: --only two."]
    if len(datasets) > 1:
        tests.append(f"The table is of {datasets[0].dataset}; those of other data sets: --all.")
    findings = []
    if bias:
        findings = [bias]
    return FirstScreen(claims[0], warnings, claims[1:], table, findings, ways=tests)


def _on_screen(dataset: DatasetJudges[JudgeResult], *, alone: bool) -> list[JudgeResult]:
    """The judges and rules of the table; beside other data sets, of the rules the best one."""
    everyone = [*dataset.judges, *dataset.baselines]
    best = _best_rule(dataset)
    shown = [judge for judge in everyone if judge.judge != TELLS_LABELS]
    return [judge for judge in shown if alone or not judge.is_baseline or judge is best]


def _level(judge: JudgeResult) -> Level:
    """The whole, or else the dimensions."""
    if judge.overall is not None:
        return "overall"
    return "dimensions"


def _right(judge: JudgeResult) -> Estimate:
    """Accuracy over all labels, of the whole or else of the dimensions."""
    return _measure(judge, _level(judge), "accuracy_all")


def _best_first(judges: Iterable[JudgeResult]) -> list[JudgeResult]:
    """Those that are right on a known share of the pairs."""
    known = [judge for judge in judges if not math.isnan(_right(judge).value)]
    return sorted(known, key=lambda judge: -_right(judge).value)


def _best_rule(dataset: DatasetJudges[JudgeResult]) -> JudgeResult | None:
    """The rule that reads nothing and is right most often."""
    everyone = (*dataset.judges, *dataset.baselines)
    rules = [judge for judge in everyone if judge.is_baseline and judge.judge != TELLS_LABELS]
    return next(iter(_best_first(rules)), None)


def _claim_on_pairs(dataset: DatasetJudges[JudgeResult]) -> str:
    judges = _best_first(judge for judge in dataset.judges if not judge.is_baseline)
    if not judges:
        return f"{_short(dataset)}: no judge has a verdict."
    first, *others = judges
    claim = f"{_short(dataset)}: {first.name} is right on {_SHARE(_right(first))}"
    for judge in others[: _MOST_JUDGES - 1]:
        claim += f", {judge.name} on {_SHARE(_right(judge))}"
    if len(judges) > _MOST_JUDGES:
        claim += f" ({len(judges) - _MOST_JUDGES} more judges below)"
    claim += " of the pairs."
    rule = _best_rule(dataset)
    if rule is None:
        return claim
    return f"{claim} {_beside_rule(judges, rule, dataset.tests)}"


def _beside_rule(
    judges: Sequence[JudgeResult], rule: JudgeResult, tests: Sequence[JudgeTest[JudgeResult]]
) -> str:
    """Which judges are significantly better or worse than the best rule that reads nothing."""
    standings: dict[str, list[str]] = {_BETTER: [], _ALIKE: [], _WORSE: []}
    for judge in judges:
        standings[_standing(judge, rule, tests)].append(judge.name)
    parts = [
        f"{standing} that: {listed(names[:_MOST_JUDGES])}"
        for standing, names in standings.items()
        if names
    ]
    doing = _RULES.get(rule.judge.removeprefix(BASELINE), f"The rule {rule.name}")
    return f"{doing} is right on {_SHARE(_right(rule))}; {'; '.join(parts)}."


def _standing(
    judge: JudgeResult, rule: JudgeResult, tests: Iterable[JudgeTest[JudgeResult]]
) -> str:
    """How a judge stands beside a rule."""
    names = {judge.name, rule.name}
    for test in tests:
        is_theirs = {test.first.name, test.second.name} == names
        if test.level == _level(judge) and is_theirs and test.better is not None:
            if test.better.name == judge.name:
                return _BETTER
            return _WORSE
    return _ALIKE


def _spearman(judge: RatingJudge) -> str:
    return number(2)(judge.agreement.correlations.spearman)


def _claim_on_ratings(dataset: DatasetJudges[RatingJudge]) -> str:
    best = dataset.judges[0]
    return (
        f"{_short(dataset)}: Spearman {_spearman(best)} of the ratings by {best.name} and the"
        " labels."
    )


def _short(dataset: DatasetJudges[Any]) -> str:
    """Name of the dataset, of a file without its folders."""
    return dataset.dataset.rpartition("/")[2]


def _dataset_section(dataset: DatasetJudges[Any]) -> Section:
    simulated = (_SIMULATION,) if any(judge.simulated for judge in dataset.judges) else ()
    title = f"Dataset: {dataset.dataset} (sha256 {dataset.sha256[:12]})"
    labels = labels_of(dataset.dataset)
    notes = [*simulated, f"Labels: {labels}."] if labels else simulated
    return Section(title, notes, warnings=simulated)


_FORMATS: dict[str, Format] = {
    "pairs": str,
    **dict.fromkeys(("overall (all)", "overall (parsed)"), _percent),
    **dict.fromkeys(("dimensions (all)", "dimensions (parsed)"), _percent),
    "unparsed": _percent,
    "alpha": number(2),
    **dict.fromkeys(("flips", "prefers longer", "prefers first", "halo"), _percent),
    "$ per 1,000": number(2),
    "s per 1,000": number(0),
    "only one right": str,
    **dict.fromkeys(("p", "p (Holm)"), p_value),
    "n": str,
    "mean difference": number(2, sign=True),
    "unparsed %": _percent,
}
"""Column of numbers -> its format, which is the same in all tables that have it."""


def _table(
    rows: Sequence[Mapping[str, Any]], title: str = "", formats: Mapping[str, Format] = {}
) -> Table:
    """A table of rows, columns of names first; `formats` are of columns not in `_FORMATS`."""
    return Table(pd.DataFrame(rows), {**_FORMATS, **formats}, title=title)


def judge_numbers(
    pairs: Iterable[DatasetJudges[JudgeResult]], ratings: Iterable[DatasetJudges[RatingJudge]]
) -> pd.DataFrame:
    """Every number of every judge and baseline, one row each, for CSV."""
    parts: list[pd.DataFrame] = []
    for judged in pairs:
        parts.append(_details_of((*judged.judges, *judged.baselines), pair_details, judged))
    for rated in ratings:
        parts.append(_details_of(rated.judges, rating_details, rated))
    table = pd.concat(parts, ignore_index=True)
    estimates = table.pop("estimate")
    table["value"] = estimates
    table["clusters"] = [estimate.clusters for estimate in estimates]
    return Table(table, main="value").flat()


def _details_of(
    judges: Iterable[Any], details_of: Callable[[Any], list[Detail]], dataset: DatasetJudges[Any]
) -> pd.DataFrame:
    """A row for each `Detail` of each judge of a dataset."""
    rows = []
    for judge in judges:
        about = {"dataset": dataset.dataset, "judge": judge.name}
        about["orders"] = getattr(judge, "orders", "")
        rows += [{**about, **vars(detail)} for detail in details_of(judge)]
    names = ["dataset", "judge", "orders", *(field.name for field in fields(Detail))]
    return pd.DataFrame(rows, columns=names)


def _by_sections(
    dataset: DatasetJudges[Any], details_of: Callable[[Any], list[Detail]], by: Sequence[str]
) -> list[Section]:
    """A section for each grouping, with a table for each level and a column for each judge."""
    if not by:
        return []
    judges = [judge.name for judge in dataset.judges]
    details = _details_of(dataset.judges, details_of, dataset)
    shown = zip(details["level"], details["measure"], details["estimate"], strict=True)
    details["text"] = [_detail_text(*detail) for detail in shown]
    sections = []
    for what in by:
        chosen = details[details["by"] == ("all" if what == "measure" else what)]
        tables = []
        for level, rows in chosen.groupby("level", sort=False):
            tables.append(_details_table(what, str(level), rows, judges))
        title = f"By {what}"
        nothing = f"No figures by {what}: the logs have no such groups, or only one."
        if what == "failure":
            title = "Failures by mode"
            nothing = "No failures."
        notes = () if tables else (nothing,)
        sections.append(Section(title, notes, tables, level=3))
    return sections


def _details_table(what: str, level: str, details: pd.DataFrame, judges: list[str]) -> Table:
    names = [what]
    data = details
    if what != "measure":
        data = details.rename(columns={"group": what})
        if level == "ratings":
            names.append("measure")
    table = data.pivot_table("text", names, "judge", aggfunc="first", sort=False, fill_value=DASH)
    share = "Accuracy in %"
    if what == "measure":
        share = "Shares in %, alpha from -1 to 1"
    titles = {"": "", "ratings": "Agreement with the labels"}
    title = titles.get(level, f"{share}: {_VERDICTS.get(level, '')}")
    table = table.reindex(columns=judges, fill_value=DASH)
    return Table(table.reset_index(), dict.fromkeys(judges, str), title=title)


def _pair_sections(
    dataset: DatasetJudges[JudgeResult],
    by: Sequence[str],
    biases: Sequence[DatasetBiases],
) -> list[Section]:
    judges = (*dataset.judges, *dataset.baselines)
    levels = LEVELS if any(judge.dimensions is not None for judge in dataset.judges) else LEVELS[:1]
    accuracy = []
    habits = []
    for judge in judges:
        asked = ", ".join(filter(None, (judge.protocol, judge.orders)))
        row: dict[str, Any] = {"judge": judge.name, "asked": asked}
        row["pairs"] = _judged(judge, dataset)
        for level in levels:
            row[f"{level} (all)"] = _measure(judge, level, "accuracy_all")
            row[f"{level} (parsed)"] = _measure(judge, level, "accuracy").value
        accuracy.append(row)
        habits.append({"judge": judge.name, **_habits(judge, levels), **_effort(judge)})
    tests = [_tests_table(dataset, level, _points, _VERDICTS[level]) for level in LEVELS]
    title = (
        "Every two judges, and each against the best baseline, on the same pairs; difference in"
        " points"
    )
    return [
        _dataset_section(dataset),
        Section(
            "Accuracy in %, 95% interval in brackets",
            _accuracy_notes(dataset),
            [_table(accuracy)],
            level=3,
        ),
        Section(
            "Habits and effort, shares in %", _habits_notes(dataset), [_table(habits)], level=3
        ),
        Section(title, tables=tests, level=3),
        *map(bias_section, biases),
        *_pair_panel(dataset),
        *_by_sections(dataset, pair_details, by),
    ]


def _habits(judge: JudgeResult, levels: Sequence[Level]) -> dict[str, float]:
    habits = {"unparsed": _unparsed(judge)}
    measures = {
        "alpha": "alpha",
        "flips": "flips",
        "prefers longer": "longer_preference",
        "prefers first": "first_preference",
    }
    for habit, measure in measures.items():
        habits[habit] = _measure(judge, "overall", measure).value
    if len(levels) > 1:
        habits["halo"] = _measure(judge, "dimensions", "halo").value
    return habits


def _pair_panel(dataset: DatasetJudges[JudgeResult]) -> list[Section]:
    """The panel of the models among the judges, on the pairs that all of them have judged."""
    judges = [
        judge for judge in dataset.judges if judge.overall is not None and not judge.is_baseline
    ]
    keys = _judged_by_all(judges)
    right = {}
    clusters = []
    for judge in judges:
        if verdicts := items_of([judge.items[key] for key in keys]):
            right[judge.name] = correctness(verdicts.labels, verdicts.final)
            clusters.append(verdicts.clusters)
    if clusters:
        return [panel_section(panel_of(pd.DataFrame(right), None, clusters[0]))]
    return []


def _rating_panel(dataset: DatasetJudges[RatingJudge]) -> list[Section]:
    """The panel of the judges, on the responses that all of them have rated."""
    keys = _judged_by_all(dataset.judges)
    if not keys:
        return []
    ratings = {}
    for judge in dataset.judges:
        ratings[judge.name] = [judge.items[key].rescaled for key in keys]
    items = [dataset.judges[0].items[key] for key in keys]
    labels = np.array([item.label for item in items])
    prompts = [item.cluster for item in items]
    return [panel_section(panel_of(pd.DataFrame(ratings), labels, prompts))]


def _judged_by_all(judges: Sequence[JudgeResult] | Sequence[RatingJudge]) -> list[Key]:
    """What all judges have judged; nothing where they are too few for a panel."""
    if len(judges) < FEWEST_JUDGES:
        return []
    return sorted(frozenset.intersection(*(frozenset(judge.items) for judge in judges)))


def _judged(judge: LoggedJudge, dataset: DatasetJudges[Any]) -> str:
    """How many pairs or responses were judged; of how many, where another judge judged more."""
    if dataset.is_partial(judge):
        return f"{len(judge.samples)} of {len(dataset.samples)}"
    return str(len(judge.items))


def _effort(judge: LoggedJudge) -> dict[str, float]:
    return {"$ per 1,000": judge.cost, "s per 1,000": judge.seconds}


def _measure(judge: JudgeResult, level: Level, name: str) -> Estimate:
    measures = getattr(judge, level)
    return _UNKNOWN if measures is None else getattr(measures, name)


_UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, 0)


def _unparsed(judge: JudgeResult) -> float:
    """Share of all verdicts asked for, as a whole and on dimensions, that could not be parsed."""
    shares = [_measure(judge, level, "unread") for level in LEVELS]
    asked = sum(share.n for share in shares)
    if asked:
        return sum(share.value * share.n for share in shares if share.n) / asked
    return math.nan


def _accuracy_notes(dataset: DatasetJudges[JudgeResult]) -> list[str]:
    notes = [
        "Accuracy is over labels that are no ties: (all) counts unparsed verdicts as wrong, and"
        " judges are sorted and tested by it; (parsed) skips them, as the paper does."
    ]
    if dataset.baselines:
        asked = dataset.baselines[0]
        orders = f"the order '{asked.orders}'"
        if asked.orders == "both":
            orders = "both orders, disagreement being a tie"
        notes.append(
            f"Baselines without a log are computed in {orders}, random with seed {asked.seed}."
        )
    return notes + _partial_note(dataset, "pairs")


def _partial_note(dataset: DatasetJudges[Any], what: str) -> list[str]:
    if not any(dataset.is_partial(judge) for judge in (*dataset.judges, *dataset.baselines)):
        return []
    return [
        f"'n of m': judged only some of the {what}, so the row does not compare with those over"
        " all m."
    ]


def _habits_notes(dataset: DatasetJudges[JudgeResult]) -> list[str]:
    notes = [
        "Unparsed and effort are of all verdicts; alpha (Krippendorff, against the labels) and"
        " habits of the overall verdicts, ties included; flips: the verdict changes when the"
        " responses swap places."
    ]
    most = max(dataset.judges, key=lambda judge: len(judge.items))
    labels = _measure(most, "overall", "label_longer_preference").value
    if not math.isnan(labels):
        notes.append(f"The labels prefer the longer response in {labels:.1%}.")
    halos = [_measure(judge, "dimensions", "label_halo") for judge in dataset.judges]
    if any(judge.dimensions is not None for judge in dataset.judges):
        halo = max(halos, key=lambda estimate: estimate.n).value
        of_labels = "" if math.isnan(halo) else f"; {halo:.1%} of the labels do"
        notes.append(
            f"Halo: verdicts on dimensions that equal the overall verdict, no ties{of_labels}."
        )
    return notes + _effort_notes(dataset.judges) + _reply_notes(dataset.judges)


def _effort_notes(judges: Sequence[LoggedJudge]) -> list[str]:
    """How cost and seconds are counted, and for how many calls they are not known."""
    notes = ["Seconds are those of the calls, one after another."]
    for thing, field in (("cost", "without_cost"), ("time", "without_seconds")):
        some = []
        none = []
        for judge in judges:
            lacking = getattr(judge.effort, field)
            calls = judge.effort.calls
            if 0 < lacking < calls:
                some.append(f"{judge.name} {lacking} of {calls}")
            elif lacking:
                none.append(judge.name)
        if some:
            notes.append(
                f"Calls without a known {thing} are counted as the mean of the others:"
                f" {', '.join(some)}."
            )
        if none:
            notes.append(f"No call has a known {thing}: {', '.join(none)}.")
    return notes


def _tests_table(dataset: DatasetJudges[Any], level: str, show: Format, title: str) -> Table:
    rows = []
    for test in dataset.tests:
        if test.level != level:
            continue
        row = {
            "judge": test.first.name,
            "other judge": test.second.name,
            "result": f"{test.better.name} is better" if test.better else "not significant",
            "difference": test.difference,
        }
        if test.only_one_right:
            row["only one right"] = " : ".join(map(str, test.only_one_right))
        row |= {"p": test.p, "p (Holm)": test.adjusted_p, "n": test.difference.n}
        rows.append(row)
    return _table(rows, title, {"difference": show})


def _rating_sections(dataset: DatasetJudges[RatingJudge], by: Sequence[str]) -> list[Section]:
    judges = dataset.judges
    rows = []
    for judge in judges:
        row: dict[str, Any] = {
            "judge": judge.name,
            "rubric": judge.rubric or None,
            "n": _judged(judge, dataset),
        }
        for kind in CORRELATIONS:
            row[kind.capitalize()] = getattr(judge.agreement.correlations, kind)
        row["mean difference"] = judge.agreement.difference
        row["unparsed %"] = judge.agreement.unread
        rows.append({**row, **_effort(judge)})
    notes = [
        (
            "Correlations and mean difference (rating less label, on the scale of the labels) are"
            " over the ratings that were parsed; Kendall is tau-b."
        ),
        *_effort_notes(judges),
        *_reply_notes(judges),
        *_partial_note(dataset, "responses"),
    ]
    tests = [
        _tests_table(dataset, level, number(3, sign=True), level.capitalize())
        for level in ("pearson", "spearman")
    ]
    correlations = {kind.capitalize(): number(3) for kind in CORRELATIONS}
    title = (
        "Correlation of ratings with labels, 95% interval in brackets; level, failures and effort"
    )
    return [
        _dataset_section(dataset),
        Section(title, notes, [_table(rows, formats=correlations)], level=3),
        Section("Every two judges on the responses that both have rated", tables=tests, level=3),
        *_rating_panel(dataset),
        *_by_sections(dataset, rating_details, by),
    ]


def _published_table(published: PublishedTable) -> Table:
    unit = "-1 to 1"
    digits = 3
    if published.unit == "percent":
        unit = "%"
        digits = 2
    names = [column.name for column in published.columns]
    data = pd.DataFrame.from_dict(published.judges, orient="index", columns=names)
    return Table(
        data.reset_index(names="judge"),
        dict.fromkeys(names, number(digits)),
        title=f"Published, Table {published.number}. {published.title} ({unit})",
    )
