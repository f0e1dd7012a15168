"""What the report of a gate says, in every case, and the numbers behind it."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.comparison.test_gate import BASE, changed, gate_of, scores
from tests.reports.golden_files import check_golden
from urs_inspect._util import InputError
from urs_inspect.comparison._gate import (
    PairedScores,
    Rule,
    common_samples,
    decide,
    of_model,
    paired_scores,
    power_of,
)
from urs_inspect.comparison._gate_report import make_gate
from urs_inspect.comparison._gate_statistics import (
    mean_bounds,
    pass_power,
    passing_margin,
    questions_to_pass,
    score_slope,
)
from urs_inspect.comparison._samples import SampleRun, SampleScores
from urs_inspect.stats._power import FEWEST

NAN = math.nan
POINTS = np.random.default_rng(5).integers(1, 11, 200).astype(float)


def side(values: Any, name: str, **facts: Any) -> SampleScores:
    """Scores of a log with this name, so that reports are the same in every run."""
    made: SampleScores = scores(
        values, **{key: facts.pop(key) for key in ("clusters", "ids") if key in facts}
    )
    run = SampleRun(f"{name}.eval", "a", "2026-01-01T00:00:00+00:00", len(values))
    table = made.table.assign(**facts.pop("columns", {}))
    return replace(made, runs=(run,), table=table, **facts)


def pair(base: Any, new: Any, **facts: Any) -> tuple[SampleScores, SampleScores]:
    return side(base, "base", **facts), side(new, "new", **facts)


def moved(shift: float, spread: float, stretch: float = 1.0) -> Any:
    noise = np.random.default_rng(6).normal(0, spread, len(POINTS))
    return np.clip(stretch * POINTS + shift + noise, 1, 10)


def without(values: Any, *places: int) -> Any:
    lacking = np.array(values, dtype=float)
    lacking[list(places)] = NAN
    return lacking


def many_facts() -> tuple[SampleScores, SampleScores]:
    """All that a gate says of its two sides: samples of one only, missing scores, notes."""
    ids = [f"s{place}" for place in range(3, 203)]
    epochs = {"epochs": 2, "scored": [1] * 4 + [2] * 196}
    fewer = {"epochs": 4, "scored": [4] * 190 + [3] * 7 + [4] * 3}
    base = side(
        without(POINTS, *range(4, 9)),
        "base",
        columns=epochs,
        scale=None,
        notes=("Epochs are reduced by mean.", "One note of BASE."),
        left_out=("old.eval was left out.",),
    )
    new = side(
        without([*moved(0.5, 1)[3:], 5, 6, 7], 50, 51),
        "new",
        ids=ids,
        columns=fewer,
        scale=None,
        notes=("Epochs are reduced by mean.", "One note of NEW."),
        left_out=("newer.eval was left out.",),
        structured="true",
        simulated=True,
    )
    counted = []
    for one in (base, new):
        scored = one.table["scored"].where(one.table["value"].notna(), 0)
        counted.append(replace(one, table=one.table.assign(scored=scored)))
    return counted[0], counted[1]


def many_missing() -> tuple[SampleScores, SampleScores]:
    return pair(BASE, without(changed(5, 5), *range(60)))


PAIRS_OF_EQUALS = [str(place // 2) for place in range(400)]
ONE_TO_TEN: dict[str, Any] = {"scale": (1.0, 10.0)}
CASES: dict[str, tuple[Callable[[], tuple[SampleScores, SampleScores]], dict[str, Any]]] = {
    "pass": (lambda: pair(BASE, changed(10, 10)), {"margin": 0.05}),
    "pass with a significant loss": (lambda: pair(BASE, changed(2, 16)), {"margin": 0.1}),
    "worse": (lambda: pair(BASE, changed(10, 60)), {"margin": 0.05}),
    "possibly worse by more": (lambda: pair(BASE, changed(10, 40)), {"margin": 0.06}),
    "cannot tell": (lambda: pair(BASE, changed(20, 25)), {"margin": 0.02}),
    "cannot tell, though equals would pass": (
        lambda: pair(BASE, changed(20, 28)),
        {"margin": 0.045},
    ),
    "clusters and another level": (
        lambda: pair(BASE, changed(20, 25), clusters=PAIRS_OF_EQUALS),
        {"margin": 0.02, "level": 0.9},
    ),
    "at every look": (lambda: pair(BASE, changed(20, 25)), {"margin": 0.05, "sequential": True}),
    "lower is better, by the logs": (
        lambda: pair(BASE, changed(10, 60), higher_is_better=False),
        {"margin": 0.05},
    ),
    "lower is better, by one log": (
        lambda: (
            side(BASE, "base", higher_is_better=None),
            side(changed(10, 60), "new", higher_is_better=False),
        ),
        {"margin": 0.05},
    ),
    "equivalent, with a series": (
        lambda: pair(POINTS, moved(0.1, 0.8), **ONE_TO_TEN),
        {"margin": 0.8, "equivalent": True, "series": (6.5, 7.0)},
    ),
    "different, lower is better": (
        lambda: pair(POINTS, moved(0.6, 0.8), **ONE_TO_TEN),
        {"margin": 0.2, "equivalent": True, "series": (6.5,), "lower_is_better": True},
    ),
    "different, possibly by more": (
        lambda: pair(POINTS, moved(0.7, 1.2), **ONE_TO_TEN),
        {"margin": 0.5, "equivalent": True},
    ),
    "a shift that depends on the score": (
        lambda: pair(POINTS, moved(1.0, 0.3, 0.8), **ONE_TO_TEN),
        {"margin": 0.9, "equivalent": True, "lower_is_better": True},
    ),
    "a shift that depends a little on the score": (
        lambda: pair(POINTS, moved(0.5, 0.8, 0.93), **ONE_TO_TEN),
        {"margin": 0.9, "equivalent": True},
    ),
    "equivalence that cannot be told": (
        lambda: pair(BASE, changed(20, 25)),
        {"margin": 0.02, "equivalent": True},
    ),
    "many facts": (many_facts, {"margin": 0.3}),
    "many facts, equivalent": (many_facts, {"margin": 0.5, "equivalent": True}),
    "a known scale of scores that lack some": (many_facts, {"margin": 0.3, **ONE_TO_TEN}),
    "so many missing that no number is enough": (many_missing, {"margin": 0.05}),
    "equal scores": (lambda: pair(BASE, BASE), {"margin": 0.05}),
    "equal scores, too few": (lambda: pair(BASE[:20], BASE[:20]), {"margin": 0.1}),
    "all scores the same and no scale": (
        lambda: pair([7.0] * 90, [7.0] * 90, scale=None),
        {"margin": 0.5},
    ),
    "five clusters": (lambda: pair(BASE[:5], BASE[:5]), {"margin": 0.9}),
    "as few clusters as have bounds, all scores the same": (
        lambda: pair([7.0] * FEWEST, [7.0] * FEWEST, scale=None),
        {"margin": 0.5},
    ),
    "few with scores of both": (
        lambda: pair(without(BASE[:12], *range(6)), without(BASE[:12], *range(9, 12))),
        {"margin": 0.5},
    ),
    "no scores": (lambda: pair([NAN] * 40, [NAN] * 40, scale=None), {"margin": 0.5}),
    "a margin out of reach": (
        lambda: pair([7.0, 8.0, 6.0, 7.0] * 10, [7.5, 7.5, 6.0, 7.0] * 10, scale=(1.0, 10.0)),
        {"margin": 0.6},
    ),
    "all differences equal": (
        lambda: pair([0.5] * 30, [0.75] * 30),
        {"margin": 0.4, "equivalent": True},
    ),
}


def test_the_report_of_every_kind_of_gate() -> None:
    parts = []
    for name, (sides, options) in CASES.items():
        made = gate_of(*sides(), **options)
        facts = {key: value for key, value in made.report.as_dict().items() if key in FACTS}
        facts["warned"] = [each.title for each in made.report.sections if each.warnings]
        given = ", ".join(f"{key} {value}" for key, value in options.items())
        parts.append(
            f"<!-- {name}: {given}; exit code {made.code} -->\n\n{made.report.markdown()}\n"
            f"    {json.dumps(rounded(facts), ensure_ascii=False)}\n"
        )
    check_golden("gate", "\n".join(parts))


FACTS = (
    *("code", "decision", "difference", "low", "high", "margin", "level", "equivalent"),
    *("sequential", "power", "samples_needed", "margin_needed", "task", "scorer"),
)


def rounded(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        key: round(value, 4) if isinstance(value, float) and math.isfinite(value) else value
        for key, value in facts.items()
    }


@pytest.mark.parametrize("equivalent", [False, True])
def test_missing_scores_have_a_section_whatever_is_claimed(equivalent: bool) -> None:
    for sides, lacks in ((many_missing(), True), (pair(BASE, changed(10, 10)), False)):
        made = make_gate(*sides, Rule(0.1, equivalent=equivalent)).report
        titles = [section.title for section in made.sections]
        assert ("Missing scores" in titles) is lacks
        runs = made.tables()["runs"]
        assert runs["side"].tolist() == ["BASE", "NEW"]
        assert runs["log"].tolist() == [scores.runs[0].log for scores in sides]


def test_a_gate_without_a_series_has_no_table_of_one() -> None:
    sides = pair(POINTS, moved(0.1, 0.8), **ONE_TO_TEN)
    for series in ((), (6.5,)):
        made = make_gate(*sides, Rule(0.8, equivalent=True), series=series)
        assert ("series" in made.report.tables()) == bool(series)


# --- numbers ---


def by_epochs(value: float, scored: int, epochs: int, missing: float) -> float:
    """The mean over epochs, of which each missing one has a score."""
    if math.isnan(value):
        return missing
    return (scored * value + (epochs - scored) * missing) / epochs


def random_sides(seed: int) -> dict[str, Any]:
    """Scores from 1 to 5 with missing ones, and samples with missing epochs of three."""
    draws = np.random.default_rng(seed)
    made: dict[str, Any] = {"clusters": np.arange(40) // (1 + seed % 2)}
    for name in ("base", "new"):
        values = draws.integers(1, 6, 40).astype(float)
        scored = draws.integers(1, 4, 40)
        values[draws.random(40) < 0.1 * (seed % 3)] = NAN
        made[name] = values
        made[f"{name}_scored"] = scored
    return made


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lower", [False, True])
def test_missing_scores_are_the_worst_and_the_best_in_each_epoch(seed: int, lower: bool) -> None:
    given = random_sides(seed)
    paired = PairedScores(
        base=given["base"],
        new=given["new"],
        clusters=given["clusters"],
        scale=(1.0, 5.0),
        lower_is_better=lower,
        base_share=given["base_scored"] / 3,
        new_share=given["new_scored"] / 3,
    )
    sign = -1 if lower else 1
    worst, best = (5.0, 1.0) if lower else (1.0, 5.0)
    columns = paired.differences
    for place in range(40):
        base = given["base"][place], given["base_scored"][place], 3
        new = given["new"][place], given["new_scored"][place], 3
        known = sign * (new[0] - base[0])
        against = sign * (by_epochs(*new, worst) - by_epochs(*base, best))
        favour = sign * (by_epochs(*new, best) - by_epochs(*base, worst))
        assert columns[place] == pytest.approx([known, against, favour], nan_ok=True)
    # Each bound is the outermost of what is known and of its worst case.
    for equivalent, sequential in ((False, False), (True, True)):
        rule = Rule(0.5, 0.9, equivalent, sequential)
        decision = decide(paired, rule)
        how: dict[str, Any] = {"reach": 4.0, "sequential": sequential}
        bounds = mean_bounds(columns, given["clusters"], level=0.9, **how)
        assert decision.low == pytest.approx(min(bounds.low[0], bounds.low[1]))
        assert decision.high == pytest.approx(max(bounds.high[0], bounds.high[2]))
        two_sided = mean_bounds(columns, given["clusters"], level=0.95, **how)
        for case in range(3):
            shown = decision.estimate(case, two_sided=True)
            assert (shown.low, shown.high) == pytest.approx(
                (two_sided.low[case], two_sided.high[case])
            )
            assert shown.value == pytest.approx(np.nanmean(columns[:, case]))
        # What missing scores may hide, on either side where both are tested.
        hidden = [abs(bounds.values[case] - bounds.values[0]) for case in (1, 2)]
        hides = max(hidden) if equivalent else hidden[0]
        how = {"error": bounds.errors[1], "clusters": int(bounds.clusters[1])}
        half = bounds.halves[1]
        power = power_of(decision, 40)
        assert power.power == pytest.approx(
            pass_power(0.5 - hides, half, **how, equivalent=equivalent)
        )
        assert power.margin_needed == pytest.approx(
            hides + passing_margin(half, **how, equivalent=equivalent)
        )
        assert power.samples_needed == questions_to_pass(
            0.5 - hides,
            n=40,
            level=0.9,
            unseen=bounds.unseen[1],
            equivalent=equivalent,
            sequential=sequential,
            **how,
        )


@pytest.mark.parametrize(
    ("equivalent", "low", "high", "code"),
    [
        (False, 0.2, 0.8, 0),  # a gain is no loss
        (True, 0.2, 0.8, 1),
        (False, -0.8, -0.2, 1),
        (True, -0.8, -0.2, 1),
        (False, -0.3, 0.3, 0),
        (True, -0.3, 0.3, 0),
        (False, -0.3, 0.8, 0),
        (True, -0.3, 0.8, 2),
        (False, -0.8, 0.3, 2),
        (True, -0.8, 0.3, 2),
    ],
)
def test_what_bounds_decide_at_a_margin_of_a_half(
    equivalent: bool, low: float, high: float, code: int
) -> None:
    """Differences of 4,000 samples whose one-sided bounds are near the two numbers."""
    middle, half = (low + high) / 2, (high - low) / 2
    spread = half * math.sqrt(4000) / 1.645
    differences = np.tile([middle - spread, middle + spread], 2000)
    paired = PairedScores(np.zeros(4000), differences, np.arange(4000), (-spread, spread))
    decision = decide(paired, Rule(0.5, equivalent=equivalent))
    assert (decision.low, decision.high) == pytest.approx((low, high), abs=0.01)
    assert decision.code == code


@pytest.mark.parametrize("sign", [1, -1])
def test_a_difference_of_equivalence_takes_the_two_sided_interval(sign: int) -> None:
    """A difference whose one-sided bound leaves out 0, and whose two-sided interval does not."""
    differences = sign * np.tile([-0.66, 0.5], 100)
    paired = PairedScores(np.zeros(200), differences, np.arange(200), (-1.0, 1.0))
    one_sided = decide(paired, Rule(0.05))
    if sign > 0:
        assert one_sided.high < 0 < one_sided.estimate(two_sided=True).high
    else:
        assert one_sided.low > 0 > one_sided.estimate(two_sided=True).low
    assert one_sided.code == (1 if sign > 0 else 0)
    assert decide(paired, Rule(0.05, equivalent=True)).code == 2


@pytest.mark.parametrize("sign", [1, -1])
def test_missing_scores_may_hide_that_there_is_no_difference(sign: int) -> None:
    base = np.tile([0.0, 0.1], 100)
    new = base + sign * np.tile([0.25, 0.35], 100)
    whole = PairedScores(base, new, np.arange(200), (-1.0, 1.0))
    assert decide(whole, Rule(0.05, equivalent=True)).code == 1
    new[:60] = NAN
    lacking = PairedScores(base, new, np.arange(200), (-1.0, 1.0))
    assert decide(lacking, Rule(0.05, equivalent=True)).code == 2


# --- sides ---


def test_the_sides_of_a_gate_are_read_as_they_are() -> None:
    base, new = many_facts()
    rows, said = common_samples(base, new)
    paired = paired_scores(rows, base, new, None, True)
    assert len(said) == 1
    assert len(rows) == 197
    for name, one in (("base", base), ("new", new)):
        of_sample = one.table.set_index("sample").loc[rows["sample"]]
        assert getattr(paired, name) == pytest.approx(of_sample["value"], nan_ok=True)
        shares = of_sample["scored"] / of_sample["epochs"]
        assert getattr(paired, f"{name}_share") == pytest.approx(shares)
    assert paired.scale == (np.nanmin([paired.base, paired.new]), 10.0)
    assert not paired.scale_known
    assert paired.lower_is_better
    given = paired_scores(rows, base, new, (0.0, 12.0), False)
    assert (given.scale, given.scale_known, given.lower_is_better) == ((0.0, 12.0), True, False)
    known = [replace(one, scale=(1.0, 11.0)) for one in (base, new)]
    same = paired_scores(rows, known[0], known[1], None, True)
    assert (same.scale, same.scale_known) == ((1.0, 11.0), True)
    # Sides of different scales have none.
    other = paired_scores(rows, replace(base, scale=(1.0, 11.0)), new, None, True)
    assert not other.scale_known


@pytest.mark.parametrize(
    ("base_share", "new_share", "lacking", "incomplete"),
    [(1, 1, False, False), (1, 0.5, False, True), (0.5, 1, False, True), (1, 1, True, True)],
)
def test_incomplete_is_what_lacks_a_score_or_an_epoch(
    base_share: float, new_share: float, lacking: bool, incomplete: bool
) -> None:
    values = without(np.ones(12), 3) if lacking else np.ones(12)
    ones = np.ones(12)
    shares: dict[str, Any] = {"base_share": ones * base_share, "new_share": ones * new_share}
    for base, new in ((values, ones), (ones, values)):
        paired = PairedScores(base, new, np.arange(12), (0.0, 1.0), **shares)
        assert paired.incomplete == incomplete


def test_clusters_are_those_of_the_base() -> None:
    base, new = pair(BASE, changed(10, 10), clusters=PAIRS_OF_EQUALS)
    rows, _ = common_samples(base, new)
    paired = paired_scores(rows, base, new, None, False)
    number_of = dict(zip(rows["sample"], paired.clusters, strict=True))
    for place in range(0, 400, 2):
        assert number_of[f"s{place}"] == number_of[f"s{place + 1}"]
    assert len(set(number_of.values())) == 200


def test_the_named_model_of_a_side_counts() -> None:
    base, other = side(BASE, "base"), side(1 - BASE, "other")
    run = replace(other.runs[0], model="b")
    table = other.table.assign(model="b")
    both = replace(
        base, table=pd.concat([base.table, table], ignore_index=True), runs=(*base.runs, run)
    )
    kept = of_model(both, "BASE", "b")
    assert kept.runs == (run,)
    assert kept.table["value"].tolist() == (1 - BASE).tolist()
    assert of_model(base, "BASE", None).runs == base.runs


DIFFERENT: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "task": ({"task": "one"}, {"task": "two"}, ["task", "one", "two"]),
    "version": ({"version": "1"}, {"version": "2"}, ["version", "1", "2"]),
    "dataset": ({"dataset": "p"}, {"dataset": "q"}, ["dataset", "p", "q"]),
    "scorer": ({"scorer": "x"}, {"scorer": "y"}, ["scorer", "x", "y"]),
    "direction": (
        {"higher_is_better": True},
        {"higher_is_better": False},
        ["higher is better", "True", "False"],
    ),
    "judge": ({"judge": "p/one"}, {"judge": "p/two"}, ["judge", "p/one", "p/two"]),
    "no judge": ({"judge": "p/one"}, {"judge": ""}, ["judge", "p/one", "not named"]),
    "panel": (
        {"scored_by": frozenset("yx")},
        {"scored_by": frozenset("y")},
        ["panel", "BASE is x, y", "NEW is y"],
    ),
    "no panel": (
        {"scored_by": frozenset()},
        {"scored_by": frozenset("y")},
        ["panel", "no judge", "NEW is y"],
    ),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_sides_that_differ_in_a_fact_are_refused(case: str) -> None:
    of_base, of_new, words = DIFFERENT[case]
    base = replace(side(BASE, "base"), **of_base)
    new = replace(side(changed(10, 10), "new"), **of_new)
    with pytest.raises(InputError) as refused:
        make_gate(base, new, Rule(0.1))
    message = refused.value.message
    assert [word for word in words if word not in message] == []
    # Two judges may be shown to be equivalent, and nothing else that differs.
    if set(of_base) & {"judge", "scored_by"}:
        assert make_gate(base, new, Rule(0.1, equivalent=True)).code == 0
    else:
        with pytest.raises(InputError, match=words[0]):
            make_gate(base, new, Rule(0.1, equivalent=True))


@pytest.mark.parametrize("fact", ["version", "dataset", "higher_is_better"])
def test_a_fact_that_one_side_does_not_know_is_no_difference(fact: str) -> None:
    base, new = side(BASE, "base"), side(changed(10, 10), "new")
    unknown: Any = None if fact == "higher_is_better" else ""
    known: Any = True if fact == "higher_is_better" else "known"
    for ours, theirs in ((unknown, known), (known, unknown)):
        sides = replace(base, **{fact: ours}), replace(new, **{fact: theirs})
        assert make_gate(*sides, Rule(0.1)).code == 0


def test_inputs_of_lm_eval_that_are_not_known_are_no_difference() -> None:
    base, new = side(BASE, "base"), side(changed(10, 10), "new")
    inputs = pd.Series(["x"] * 400).where(np.arange(400) % 2 > 0)
    unknown = replace(new, table=new.table.assign(input=inputs))
    assert make_gate(base, unknown, Rule(0.1)).code == 0


def test_a_gate_takes_just_more_than_half_of_the_samples_of_both() -> None:
    for common, is_enough in ((50, False), (51, True)):
        base = side(BASE[:100], "base")
        new = side(BASE[:common], "new")
        if is_enough:
            assert make_gate(base, new, Rule(0.5)).code == 0
        else:
            with pytest.raises(InputError, match="50 samples"):
                make_gate(base, new, Rule(0.5))


@pytest.mark.parametrize("level", [0.5, 1.0, 0.4, 1.1])
def test_a_level_of_a_half_or_one_is_refused(level: float) -> None:
    with pytest.raises(InputError, match="level"):
        make_gate(*pair(BASE, changed(10, 10)), Rule(0.1, level=level))


@pytest.mark.parametrize("level", [0.51, 0.99])
def test_a_level_between_a_half_and_one_is_taken(level: float) -> None:
    found = make_gate(*pair(BASE, changed(10, 10)), Rule(0.2, level=level))
    assert (found.code, found.report.facts["level"]) == (0, level)


def test_scores_beyond_the_scale_are_refused_on_both_ends() -> None:
    for base, new, scale in ((0.0, 5.0, (1, 10)), (11.0, 5.0, (1, 10)), (5.0, 0.0, (1, 10))):
        sides = pair([base] + [4.0, 6.0] * 20, [new] + [4.0, 6.0] * 20, scale=None)
        with pytest.raises(InputError, match=r"scale.*1 of 82"):
            make_gate(*sides, Rule(0.5), scale=scale)


def test_a_shift_depends_on_the_score_by_a_two_sided_test_at_the_level() -> None:
    base = POINTS[:60]
    seen = set()
    for seed in range(60):
        new = base + np.random.default_rng(seed).normal(0, 1, 60)
        _, p = score_slope(base, new, np.arange(60))
        if not 0.026 < p < 0.099:
            continue
        for level in (0.95, 0.9):
            made = make_gate(*pair(base, new), Rule(1.0, level, equivalent=True), scale=(-9, 20))
            [anchor] = [part for part in made.report.sections if part.title == "Re-anchoring"]
            assert bool(anchor.warnings) == (p < 1 - level)
            seen.add((level, p < 1 - level))
    assert len(seen) == 3  # such a p is below 0.1 in any case
