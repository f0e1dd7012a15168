import math
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.comparison._gate import Rule
from urs_inspect.comparison._gate_report import make_gate
from urs_inspect.comparison._gate_statistics import verdicts
from urs_inspect.comparison._samples import SampleRun, SampleScores


def scores(values, *, model="a", ids=None, clusters=None, scale=(0.0, 1.0), higher=True):
    names = [f"s{place}" for place in range(len(values))] if ids is None else ids
    table = pd.DataFrame(
        {"sample": names, "model": model, "value": np.asarray(values, dtype=float), "group": ""}
    )
    table["cluster"] = names if clusters is None else clusters
    table["input"] = "x"
    table["epochs"], table["scored"] = 1, table["value"].notna().astype(int)
    runs = (SampleRun(f"{id(table)}.eval", model, "2026-01-01T00:00:00+00:00", len(names)),)
    simulated = model.startswith("urs_simulation/")
    return SampleScores(table, "task", "match", (), scale, higher, runs, (), simulated=simulated)


def gate_of(base, new, **options):
    """The gate with these options, of its rule and others."""
    of_rule = options.keys() & {field.name for field in fields(Rule)}
    rule = Rule(**{name: options.pop(name) for name in of_rule})
    return make_gate(base, new, rule, **options)


def notes(found):
    return " ".join(note for section in found.report.sections for note in section.notes)


BASE = (np.random.default_rng(0).random(400) < 0.7).astype(float)


def changed(gained, lost):
    values = BASE.copy()
    values[np.flatnonzero(BASE == 0)[:gained]] = 1
    values[np.flatnonzero(BASE == 1)[:lost]] = 0
    return values


@pytest.mark.parametrize(
    ("gained", "lost", "margin", "plain", "equivalent"),
    [
        (10, 10, 0.05, 0, 0),
        (10, 60, 0.05, 1, 1),
        (60, 10, 0.05, 0, 1),
        (20, 25, 0.02, 2, 2),
        (2, 16, 0.1, 0, 0),  # a loss that is significant, but smaller than the margin
    ],
)
def test_decisions(gained, lost, margin, plain, equivalent):
    sides = scores(BASE), scores(changed(gained, lost))
    assert make_gate(*sides, Rule(margin)).code == plain
    assert make_gate(*sides, Rule(margin, equivalent=True)).code == equivalent


@pytest.mark.parametrize(
    ("gained", "lost", "equivalent", "reason"),
    [
        (10, 60, False, "by more than"),  # bounds -0.16 and -0.09
        (10, 40, False, "possibly by more"),  # bounds -0.10 and -0.05
        (10, 60, True, "by more than"),
        (60, 10, True, "by more than"),
        (40, 10, True, "possibly by more"),
    ],
)
def test_a_loss_that_is_certainly_beyond_the_margin_is_called_so(gained, lost, equivalent, reason):
    gate = make_gate(scores(BASE), scores(changed(gained, lost)), Rule(0.06, equivalent=equivalent))
    first = gate.report.sections[0].notes[0]
    assert gate.code == 1
    assert tells(first, reason)
    assert ("possibly" in first) == ("possibly" in reason)


@pytest.mark.parametrize(("margin", "code"), [(0.06, 1), (0.2, 0)])
def test_only_a_loss_that_passes_is_said_to_be_below_the_margin(margin, code):
    gate = make_gate(scores(BASE), scores(changed(10, 40)), Rule(margin))
    assert gate.code == code
    assert ("less than" in notes(gate)) == (code == 0)


def test_verdicts_of_many_at_once():
    low, high = (
        np.array([-0.05, -0.3, -0.3, np.nan, -0.15]),
        np.array([0.02, -0.1, 0.1, np.nan, -0.01]),
    )
    assert verdicts(low, high, 0.1).tolist() == [0, 1, 2, 2, 1]
    assert verdicts(low, high, 0.1, np.array([True, True, False, False, False])).tolist() == [
        0,
        1,
        2,
        2,
        2,
    ]


@pytest.mark.parametrize(("higher", "options"), [(False, {}), (True, {"lower_is_better": True})])
def test_where_lower_is_better_a_rise_is_a_loss(higher, options):
    for gained, lost, code in ((60, 10, 1), (10, 60, 0)):
        sides = scores(BASE, higher=higher), scores(changed(gained, lost), higher=higher)
        assert make_gate(*sides, Rule(0.05), **options).code == code


def test_missing_scores_count_against_every_claim():
    good, bad = changed(10, 10), changed(10, 60)
    assert make_gate(scores(BASE), scores(good), Rule(0.06)).code == 0
    good[np.flatnonzero(good == 1)[:24]] = math.nan
    found = make_gate(scores(BASE), scores(good), Rule(0.06))
    assert found.code == 2
    table = found.report.tables()["gate"].set_index("what")["mean"]
    assert table["Missing scores all against NEW"] == pytest.approx(
        np.nan_to_num(good).mean() - BASE.mean()
    )
    assert table["NEW: a"] - table["BASE: a"] == pytest.approx(table["Difference"])
    assert table["BASE: a"] == pytest.approx(BASE[~np.isnan(good)].mean())
    assert table["Missing scores all for NEW"] == pytest.approx(
        np.nan_to_num(good, nan=1).mean() - BASE.mean()
    )
    bad[np.flatnonzero(bad == 0)[:100]] = math.nan
    assert make_gate(scores(BASE), scores(bad), Rule(0.05)).code == 2


def test_missing_epochs_count_against_every_claim() -> None:
    base, new = scores([0.5] * 30), scores([0.5, 0.6] * 15)
    assert make_gate(base, new, Rule(0.1)).code == 0
    lacking = replace(new, table=new.table.assign(epochs=3, scored=[1, 3] * 15))
    found = make_gate(base, lacking, Rule(0.1))
    assert found.code == 2  # at worst the mean of every second sample is 1/6
    assert "some epochs only: 0 and 15" in found.report.markdown()


def test_few_clusters_and_no_scores_decide_nothing():
    assert make_gate(scores(BASE[:5]), scores(BASE[:5]), Rule(0.9)).code == 2
    clusters = [str(place % 5) for place in range(400)]
    assert (
        make_gate(
            scores(BASE, clusters=clusters), scores(changed(10, 60), clusters=clusters), Rule(0.5)
        ).code
        == 2
    )
    nothing = np.full(400, math.nan)
    assert make_gate(scores(BASE), scores(nothing), Rule(0.5)).code == 2
    assert make_gate(scores(nothing), scores(nothing, scale=None), Rule(0.5)).code == 2


def test_means_are_said_to_be_over_clusters_where_there_are_some():
    def title(clusters):
        sides = (scores(values, clusters=clusters) for values in (BASE, changed(10, 10)))
        sections = gate_of(*sides, margin=0.5).report.sections
        return " ".join(table.title for section in sections for table in section.tables)

    assert "cluster" not in title(None)
    assert tells(title([str(place % 40) for place in range(400)]), "400 samples ... 40 clusters")


def constant():
    return scores([7.0] * 90, scale=None), scores([7.0] * 90, scale=None)


def test_equal_scores_pass_with_enough_samples_and_a_scale():
    for size, code in ((20, 2), (40, 0)):
        assert make_gate(scores(BASE[:size]), scores(BASE[:size]), Rule(0.1)).code == code
    found = gate_of(*constant(), margin=0.5)
    assert found.code == 2
    assert "--scale" in notes(found)
    assert "too few" not in notes(found)
    assert gate_of(*constant(), margin=0.5, scale=(1, 10)).code == 0


@pytest.mark.parametrize(
    "options",
    [{"margin": margin} for margin in (0, math.nan, math.inf, 9)]
    + [{"scale": (1, 5)}]
    + [{"level": math.nan}, {"level": 1}, {"series": (1,)}],
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(InputError, match=next(iter(options))):
        gate_of(*constant(), **({"margin": 0.5, "scale": (1, 10)} | options))


def test_a_margin_that_rare_losses_alone_can_exceed_is_called_out_of_reach():
    base = [7.0, 8.0, 6.0, 7.0] * 10
    new = [7.5, 7.5, 6.0, 7.0] * 10
    for margin, out_of_reach in (
        (0.6, True),
        (0.8, False),
    ):  # 40 samples and a scale of 9 points: 9 * 3 / 40 = 0.67
        gate = make_gate(scores(base), scores(new), Rule(margin), scale=(1, 10))
        assert (gate.code, "rare" in notes(gate)) == ((2, True) if out_of_reach else (0, False))


def test_samples_of_one_side_are_left_out_and_counted_up_to_half():
    ids = [f"s{place}" for place in range(100, 500)]
    found = make_gate(scores(BASE), scores(BASE, ids=ids), Rule(0.5))
    assert tells(notes(found), "100 only of BASE, 100 only of NEW")
    with pytest.raises(InputError, match="200 samples"):  # half is not more than half
        make_gate(scores(BASE), scores(BASE[:200]), Rule(0.5))
    with pytest.raises(InputError, match=r"150 samples.*250 only of BASE, 250 only of NEW"):
        make_gate(
            scores(BASE), scores(BASE, ids=[f"s{place}" for place in range(250, 650)]), Rule(0.5)
        )


def test_an_error_also_says_what_was_left_out_of_each_side():
    base, new = (replace(scores(BASE[:n]), left_out=(f"{n} reasons.",)) for n in (400, 30))
    with pytest.raises(
        InputError, match=r"30 samples.*both.*\nBASE: 400 reasons.\nNEW: 30 reasons."
    ):
        make_gate(base, new, Rule(0.5))


def test_sides_that_do_not_compare_are_refused():
    base, two, moved = scores(BASE), scores(BASE), scores(BASE)
    two.table.loc[:199, "model"] = "b"
    moved.table.loc[:2, "input"] = "y"
    for new, model, said in (
        (two, None, r"NEW.*a, b"),
        (scores(BASE), "zzz", r"BASE.*zzz.*a"),
        (moved, None, r"3 of 400"),
        (replace(scores(BASE), scorer="other"), None, r"scorer.*match.*other"),
        (replace(scores(BASE), judge="p/judge"), None, r"judge.*p/judge.*--equivalent"),
        (base, None, r"the same: .*\.eval"),
        (scores(BASE, clusters=["c"] * 400), None, r"cluster"),
    ):
        with pytest.raises(InputError, match=said):
            make_gate(base, new, Rule(0.1), model=model)


def test_the_order_of_samples_does_not_matter():
    order = np.random.default_rng(0).permutation(400)
    mixed = scores(changed(10, 60)[order], ids=[f"s{place}" for place in order])
    one, other = (
        make_gate(scores(BASE), side, Rule(0.05)) for side in (scores(changed(10, 60)), mixed)
    )
    assert one.report.tables()["gate"].equals(other.report.tables()["gate"])


def test_a_series_moves_by_the_shift_and_a_shift_that_depends_on_the_score_is_warned_of():
    draws = np.random.default_rng(0)
    old = draws.normal(6, 1, 300).clip(1, 10)
    moved, stretched = old + 0.3 + draws.normal(0, 0.2, 300), 1.2 * old + draws.normal(0, 0.2, 300)

    def anchored(fresh):
        sides = scores(old, scale=None), scores(fresh, scale=None)
        return make_gate(*sides, Rule(0.5, equivalent=True), series=(6.8, 7.1))

    found = anchored(moved)
    series = found.report.tables()["series"]
    assert found.code == 0
    assert series["new"].tolist() == pytest.approx(
        (np.array([6.8, 7.1]) + (moved - old).mean()).tolist()
    )
    assert (series["low"] < series["new"]).all()
    found = anchored(stretched)
    assert any(
        section.warnings and section.title == "Re-anchoring" for section in found.report.sections
    )


def test_the_report_names_simulated_models():
    found = make_gate(replace(scores(BASE), simulated=True), scores(BASE), Rule(0.1))
    assert found.report.sections[0].title == "Simulation"
    assert "SIMULATION" in found.report.markdown()


def test_sides_judged_with_and_without_structured_output_are_named():
    without, with_it = scores(BASE), replace(scores(changed(10, 10)), structured="true")
    assert tells(
        notes(make_gate(without, with_it, Rule(0.05))),
        "Structured output ... false in BASE, true in NEW",
    )
    both = (replace(side, structured="true") for side in (without, with_it))
    assert "Structured output" not in notes(gate_of(*both, margin=0.05))


def test_what_would_settle_it_is_said_where_nothing_can_be_told():
    first = make_gate(scores(BASE), scores(changed(20, 25)), Rule(0.02))
    needed = first.report.facts["samples_needed"]
    assert first.code == 2
    assert tells(notes(first), f"{needed:,} samples ... 80%")
    more = np.tile(BASE, -(-needed // len(BASE)))
    assert make_gate(scores(more), scores(more), Rule(0.02)).code == 0


def test_samples_that_would_settle_equal_scores():
    found = make_gate(scores(BASE), scores(BASE), Rule(0.005))
    assert found.code == 2
    needed = next(int(count) for count in range(401, 1000) if tells(notes(found), f"{count} samp"))
    more = np.resize(BASE, needed)
    assert make_gate(scores(more), scores(more), Rule(0.005)).code == 0
    less = np.resize(BASE, needed - 2)
    assert make_gate(scores(less), scores(less), Rule(0.005)).code == 2


@pytest.mark.parametrize("margin", [6.0, 20.0])
def test_a_margin_as_wide_as_the_scores_seen_is_refused(margin):
    values = np.resize([4.0, 10.0, 7.0], 60)
    sides = scores(values, scale=None), scores(values[::-1], scale=None)
    with pytest.raises(InputError) as caught:
        make_gate(*sides, Rule(margin))
    assert tells(caught.value, "margin ... 4 to 10 ... --scale")
    assert make_gate(*sides, Rule(margin), scale=(0, 30)).code == 0


def test_two_tasks_are_refused_by_name():
    with pytest.raises(InputError) as caught:
        make_gate(scores(BASE), replace(scores(BASE), task="other"), Rule(0.1))
    assert tells(caught.value, "BASE ... task ... NEW ... other")
