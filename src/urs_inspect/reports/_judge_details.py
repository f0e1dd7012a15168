"""Every number that logs hold about judges, and the report that `urs-inspect judges` prints of
them.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect.datasets._published import PublishedTable, load_published
from urs_inspect.judging._reply_counts import header_rows, sentences
from urs_inspect.reports._judges import (
    LEVELS,
    DatasetJudges,
    JudgeResult,
    Key,
    Level,
    LoggedJudge,
    RatingJudge,
)
from urs_inspect.reports._noise import FEWEST_JUDGES, panel_section
from urs_inspect.reports._tables import (
    DASH,
    Format,
    Report,
    ReportKind,
    Section,
    Table,
    number,
    p_value,
)
from urs_inspect.scorers._pair_metrics import accuracies_by, items_of, judged_items
from urs_inspect.scorers._rating_agreement import CORRELATIONS, FIELDS, RatingAgreement, agreement
from urs_inspect.stats import Estimate, correctness

JUDGES = ReportKind("urs-inspect judges", 1, "urs-inspect judges", "judges")
NUMBERS = "numbers"
"""Name of the table of all details."""

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
    # `failure`
    by: str
    # or `replies`
    # for a failure its mode; for replies `unkeyed`, `asked again`, `near key` or `several records`
    group: str
    measure: str  # `count` for failures and replies
    estimate: Estimate  # without an interval where none is reported

    def text(self) -> str:
        """Counts as they are, correlations with three digits, shares in percent."""
        if self.measure == "count":
            return number(0)(self.estimate)
        return (number(3) if self.level == "ratings" or self.measure == "alpha" else _percent)(
            self.estimate
        )


def pair_details(judge: JudgeResult) -> list[Detail]:
    """All measures of a judge of pairs, its accuracy by scenario, need and dimension, and its
    failures by mode.
    """
    details: list[Detail] = []
    scores = list(judge.items.values())
    for level in LEVELS:
        measures = getattr(judge, level)
        items = judged_items(scores, dimensions=level == "dimensions")
        if measures is None or items is None:
            continue
        estimates = {field.name: getattr(measures, field.name) for field in fields(measures)}
        details += _details(level, "all", "", estimates)
        for place in ("scenario", "need", "dimension"):
            for group, estimate in accuracies_by(items, place).items():
                details += _details(
                    level,
                    place,
                    group,
                    {
                        "accuracy": estimate,
                    },
                )
    facts = [score.score.metadata or {} for score in scores]
    failures = Counter(mode for metadata in facts for mode in metadata.get("failures", ()))
    if unknown := sum(len(metadata.get("unknown_dimensions", ())) for metadata in facts):
        failures["unknown dimensions"] = unknown
    return [*details, *_failures(failures), *_reply_counts(judge)]


def rating_details(judge: RatingJudge) -> list[Detail]:
    """Agreement of a judge that rates, over all responses and by scenario, intent and language, and
    its failures.
    """
    items = list(judge.items.values())
    details = _agreement("all", "", judge.agreement)
    for field in FIELDS:
        groups = sorted({item.places[field] for item in items} - {""})
        # Groups that are the intents, and a single group or language, tell nothing more.
        if field != "intent" and (
            len(groups) < 2 or all(item.places[field] == item.places["intent"] for item in items)
        ):
            continue
        for group in groups:
            found = agreement([item for item in items if item.places[field] == group])
            details += _agreement("scenario" if field == "group" else field, group, found)
    failures = Counter(item.failure for item in items if item.failure)
    return [*details, *_failures(failures), *_reply_counts(judge)]


def _agreement(by: str, group: str, found: RatingAgreement) -> list[Detail]:
    estimates = {kind: getattr(found.correlations, kind) for kind in CORRELATIONS}
    unparsed = Estimate(found.unread, math.nan, math.nan, found.n, 0)
    return _details(
        "ratings",
        by,
        group,
        {
            **estimates,
            "mean difference": found.difference,
            "unread": unparsed,
        },
    )


def _details(level: str, by: str, group: str, estimates: Mapping[str, Estimate]) -> list[Detail]:
    known = {
        measure: estimate
        for measure, estimate in estimates.items()
        if not math.isnan(estimate.value)
    }
    return [Detail(level, by, group, measure, estimate) for measure, estimate in known.items()]


def _failures(counts: Counter[str]) -> list[Detail]:
    return [
        Detail("", "failure", mode, "count", Estimate(float(count), math.nan, math.nan, count, 0))
        for mode, count in sorted(counts.items())
    ]


def _reply_counts(judge: LoggedJudge) -> list[Detail]:
    """How many replies were without the key, asked again and so on, where there are any."""
    rows = (
        header_rows(
            {
                judge.name: Counter(judge.reply_counts),
            }
        )
        if judge.reply_counts
        else {}
    )
    return [
        Detail("", "replies", name, "count", Estimate(number, math.nan, math.nan, int(number), 0))
        for name, number in rows.items()
    ]


def _reply_notes(judges: Sequence[LoggedJudge]) -> list[str]:
    """What there is to say of judges that left out or misspelled the key, or were asked again."""
    return sentences(
        {judge.name: Counter(judge.reply_counts) for judge in judges if judge.reply_counts}
    )


# --- the report ---


def judges_report(
    pairs: Sequence[DatasetJudges[JudgeResult]],
    ratings: Sequence[DatasetJudges[RatingJudge]],
    *,
    by: Sequence[str] = (),
    published: str = "none",
    skipped: Sequence[str] = (),
    numbers: bool = False,
) -> Report:
    """The judges of each dataset, what they cost, which is better, and what others published.

    Details are shown `by` groupings, `measure` or `failure`; `published` tables are `all`, those
    about the same datasets (`matching`), or `none`; `skipped` has a sentence for each log that was
    skipped; `numbers` says whether the report has the table `NUMBERS` of all details, which takes
    time.
    """
    sections = []
    for dataset in pairs:
        sections.extend(_pair_sections(dataset, by, numbers))
    sections += [
        section for dataset in ratings for section in _rating_sections(dataset, by, numbers)
    ]
    sections += [Section("Logs", skipped)] if skipped else []
    everything = load_published()
    names = [dataset.dataset for dataset in pairs] + [dataset.dataset for dataset in ratings]
    tables = {
        "all": everything.tables,
        "matching": everything.about(names),
        "none": (),
    }[published]
    if tables:
        title = f"PUBLISHED, NOT MEASURED HERE: {everything.source}"
        sections.append(Section(title, tables=[_published_table(table) for table in tables]))
    return Report(JUDGES, "Judges", sections)


def _dataset_section(dataset: DatasetJudges[Any]) -> Section:
    simulated = (_SIMULATION,) if any(judge.simulated for judge in dataset.judges) else ()
    title = f"Dataset: {dataset.dataset} (sha256 {dataset.sha256[:12]})"
    return Section(title, simulated, warnings=simulated)


def _detail_sections(
    dataset: DatasetJudges[Any],
    details_of: Callable[[Any], list[Detail]],
    by: Sequence[str],
    numbers: bool,
) -> list[Section]:
    """A section per grouping, with a table per level that has a column per judge, and one of all
    numbers for CSV.
    """
    wanted = (*dataset.judges, *dataset.baselines) if numbers else dataset.judges if by else ()
    details = {judge: details_of(judge) for judge in wanted}
    sections = []
    for what in by:
        group = "all" if what == "measure" else what
        chosen = {
            judge.name: [one for one in details[judge] if one.by == group]
            for judge in dataset.judges
        }
        levels = dict.fromkeys(detail.level for of_judge in chosen.values() for detail in of_judge)
        tables = [_details_table(what, level, chosen) for level in levels]
        none = {
            "failure": "Failures: none.",
            "measure": "No measures: no judgement counts.",
        }
        nothing = none.get(
            what, f"No figures by {what}: the logs have no such groups, or only one."
        )
        title = "Failures by mode" if what == "failure" else f"By {what}"
        sections.append(Section(title, () if tables else (nothing,), tables, level=3))
    rows = []
    for judge in wanted if numbers else ():
        for one in details[judge]:
            rows.append(
                (
                    dataset.dataset,
                    judge.name,
                    getattr(judge, "orders", ""),
                    one.level,
                    one.by,
                    one.group,
                    one.measure,
                    one.estimate,
                    one.estimate.clusters,
                )
            )
    columns = ("dataset", "judge", "orders", "level", "by", "group", "measure", "value", "clusters")
    table = Table(pd.DataFrame(rows, columns=columns), name=NUMBERS, shown=(), main="value")
    return [*sections, Section("All numbers", tables=[table], level=3)] if numbers else sections


def _details_table(what: str, level: str, chosen: Mapping[str, Sequence[Detail]]) -> Table:
    cells = {
        name: {
            (detail.group, detail.measure): detail.text()
            for detail in of_judge
            if detail.level == level
        }
        for name, of_judge in chosen.items()
    }
    keys = list(dict.fromkeys(key for of_judge in cells.values() for key in of_judge))
    named = [place for place in (0, 1) if len({key[place] for key in keys}) > 1] or [0]
    names: _Columns = {(what, "measure")[place]: [key[place] for key in keys] for place in named}
    share = "Shares in %, alpha from -1 to 1" if what == "measure" else "Accuracy in %"
    title = {
        "ratings": "Agreement with the labels",
        "": "",
    }.get(level, f"{share}: {_VERDICTS.get(level, '')}")
    return _table(
        names | {n: ([of_judge.get(k, DASH) for k in keys], str) for n, of_judge in cells.items()},
        title,
    )


_Columns = dict[str, list[Any] | tuple[list[Any], Format]]


def _table(columns: _Columns, title: str = "") -> Table:
    """A table of columns of names, and of numbers with their format."""
    values = {
        name: column[0] if isinstance(column, tuple) else column for name, column in columns.items()
    }
    formats = {name: column[1] for name, column in columns.items() if isinstance(column, tuple)}
    return Table(pd.DataFrame(values), formats, title=title)


def _pair_sections(
    dataset: DatasetJudges[JudgeResult], by: Sequence[str], numbers: bool
) -> list[Section]:
    judges = (*dataset.judges, *dataset.baselines)
    names = [judge.name for judge in judges]
    levels = LEVELS if any(judge.dimensions is not None for judge in dataset.judges) else LEVELS[:1]
    accuracy: _Columns = {
        "judge": names,
        "asked": [
            ", ".join(part for part in (judge.protocol, judge.orders) if part) for judge in judges
        ],
        "pairs": ([_judged(judge, dataset) for judge in judges], str),
    }
    for level in levels:
        accuracy[f"{level} (all)"] = (
            [_measure(judge, level, "accuracy_all") for judge in judges],
            _percent,
        )
        accuracy[f"{level} (parsed)"] = (
            [_measure(judge, level, "accuracy").value for judge in judges],
            _percent,
        )

    def habit(measure: str, level: Level = "overall") -> list[Any]:
        return [_measure(judge, level, measure).value for judge in judges]

    habits: _Columns = {
        "judge": names,
        "unparsed": ([_unparsed(judge) for judge in judges], _percent),
        "alpha": (habit("alpha"), number(2)),
        "flips": (habit("flips"), _percent),
        "prefers longer": (habit("longer_preference"), _percent),
        "prefers first": (habit("first_preference"), _percent),
    }
    if len(levels) > 1:
        habits["halo"] = (habit("halo", "dimensions"), _percent)
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
            "Habits and effort, shares in %",
            _habits_notes(dataset),
            [_table(habits | _effort(judges))],
            level=3,
        ),
        Section(
            title,
            tables=[_tests_table(dataset, level, _points, _VERDICTS[level]) for level in LEVELS],
            level=3,
        ),
        *_pair_panel(dataset),
        *_detail_sections(dataset, pair_details, by, numbers),
    ]


def _pair_panel(dataset: DatasetJudges[JudgeResult]) -> list[Section]:
    """The panel of the models among the judges, on the pairs that all of them have judged."""
    judges = [
        judge for judge in dataset.judges if judge.overall is not None and not judge.is_baseline
    ]
    keys = _judged_by_all(judges)
    verdicts = {
        judge.name: items_of([judge.items[key] for key in keys]) for judge in judges if keys
    }
    right = {
        name: correctness(given.labels, given.final) for name, given in verdicts.items() if given
    }
    clusters = [given.clusters for given in verdicts.values() if given]
    return [panel_section(pd.DataFrame(right), None, clusters[0])] if clusters else []


def _rating_panel(dataset: DatasetJudges[RatingJudge]) -> list[Section]:
    """The panel of the judges, on the responses that all of them have rated."""
    keys = _judged_by_all(dataset.judges)
    ratings = {judge.name: [judge.items[key].rescaled for key in keys] for judge in dataset.judges}
    items = [dataset.judges[0].items[key] for key in keys]
    labels = np.array([item.label for item in items])
    prompts = [item.cluster for item in items]
    return [panel_section(pd.DataFrame(ratings), labels, prompts)] if keys else []


def _judged_by_all(judges: Sequence[JudgeResult] | Sequence[RatingJudge]) -> list[Key]:
    """What all judges have judged; nothing where they are too few for a panel."""
    several = [frozenset(judge.items) for judge in judges] if len(judges) >= FEWEST_JUDGES else []
    return sorted(frozenset.intersection(*several)) if several else []


def _judged(judge: LoggedJudge, dataset: DatasetJudges[Any]) -> str:
    """How many pairs or responses were judged; of how many, where another judge judged more."""
    return (
        f"{len(judge.samples)} of {len(dataset.samples)}"
        if dataset.is_partial(judge)
        else str(len(judge.items))
    )


def _effort(judges: Sequence[LoggedJudge]) -> _Columns:
    costs = [judge.cost for judge in judges]
    seconds = [judge.seconds for judge in judges]
    return {
        "$ per 1,000": (costs, number(2)),
        "s per 1,000": (seconds, number(0)),
    }


def _measure(judge: JudgeResult, level: Level, name: str) -> Estimate:
    measures = getattr(judge, level)
    return _UNKNOWN if measures is None else getattr(measures, name)


_UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, 0)


def _unparsed(judge: JudgeResult) -> float:
    """Share of all verdicts asked for, as a whole and on dimensions, that could not be parsed."""
    shares = [_measure(judge, level, "unread") for level in LEVELS]
    asked = sum(share.n for share in shares)
    return sum(share.value * share.n for share in shares if share.n) / asked if asked else math.nan


def _accuracy_notes(dataset: DatasetJudges[JudgeResult]) -> list[str]:
    notes = [
        "Accuracy is over labels that are no ties: (all) counts unparsed verdicts as wrong, and"
        " judges are sorted and tested by it; (parsed) skips them, as the paper does."
    ]
    if dataset.baselines:
        asked = dataset.baselines[0]
        orders = (
            "both orders, disagreement being a tie"
            if asked.orders == "both"
            else f"the order '{asked.orders}'"
        )
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
    halos = [
        judge.dimensions.label_halo for judge in dataset.judges if judge.dimensions is not None
    ]
    if halos:
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
        lacking = [
            (judge.name, getattr(judge.effort, field), judge.effort.calls) for judge in judges
        ]
        if some := [f"{name} {n} of {calls}" for name, n, calls in lacking if 0 < n < calls]:
            notes.append(
                f"Calls without a known {thing} are counted as the mean of the others:"
                f" {', '.join(some)}."
            )
        if none := [name for name, n, calls in lacking if n == calls > 0]:
            notes.append(f"No call has a known {thing}: {', '.join(none)}.")
    return notes


def _tests_table(dataset: DatasetJudges[Any], level: str, show: Format, title: str) -> Table:
    tests = [test for test in dataset.tests if test.level == level]
    right = [" : ".join(map(str, test.only_one_right)) for test in tests if test.only_one_right]
    columns: _Columns = {
        "judge": [test.first.name for test in tests],
        "other judge": [test.second.name for test in tests],
        "result": [
            f"{test.better.name} is better" if test.better else "not significant" for test in tests
        ],
        "difference": ([test.difference for test in tests], show),
    }
    if right:
        columns["only one right"] = (right, str)
    columns |= {
        "p": ([test.p for test in tests], p_value),
        "p (Holm)": ([test.adjusted_p for test in tests], p_value),
        "n": ([test.difference.n for test in tests], str),
    }
    return _table(columns, title)


def _rating_sections(
    dataset: DatasetJudges[RatingJudge], by: Sequence[str], numbers: bool
) -> list[Section]:
    judges = dataset.judges
    rows: _Columns = {
        "judge": [judge.name for judge in judges],
        "rubric": [judge.rubric or None for judge in judges],
    }
    rows |= {
        "n": ([_judged(judge, dataset) for judge in judges], str),
    }
    rows |= _agreements([judge.agreement for judge in judges], 3) | _effort(judges)
    tables = [_table(rows)]
    for judge in judges:
        if found := judge.by_intent:
            columns: _Columns = {
                "intent": list(found),
                "n": ([one.n for one in found.values()], str),
            }
            tables.append(
                _table(columns | _agreements(found.values(), 2), f"By intent: {judge.name}")
            )
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
    title = (
        "Correlation of ratings with labels, 95% interval in brackets; level, failures and effort"
    )
    return [
        _dataset_section(dataset),
        Section(title, notes, tables, level=3),
        Section("Every two judges on the responses that both have rated", tables=tests, level=3),
        *_rating_panel(dataset),
        *_detail_sections(dataset, rating_details, by, numbers),
    ]


def _agreements(found: Collection[RatingAgreement], digits: int) -> _Columns:
    return {
        **{
            kind.capitalize(): ([getattr(a.correlations, kind) for a in found], number(digits))
            for kind in CORRELATIONS
        },
        "mean difference": ([agreement.difference for agreement in found], number(2, sign=True)),
        "unparsed %": ([agreement.unread for agreement in found], _percent),
    }


def _published_table(published: PublishedTable) -> Table:
    unit, digits = ("%", 2) if published.unit == "percent" else ("-1 to 1", 3)
    columns: _Columns = {
        "judge": list(published.judges),
    }
    for place, column in enumerate(published.columns):
        columns[column.name] = (
            [numbers[place] for numbers in published.judges.values()],
            number(digits),
        )
    return _table(columns, f"Published, Table {published.number}. {published.title} ({unit})")
