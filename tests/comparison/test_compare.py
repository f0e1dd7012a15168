"""`compare`: models by the scores of any task, and its report."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import urs_inspect
from tests.reports.answer_rows import answers_of, ranking_of
from tests.reports.golden_files import check_golden
from tests.stats.fights import checked
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.comparison import compare
from urs_inspect.comparison._report import missing_samples, report_comparison
from urs_inspect.comparison._samples import SampleRun, SampleScores
from urs_inspect.reports.layout._page import render_page
from urs_inspect.reports.numbers._comparison import ComparedModels
from urs_inspect.reports.numbers._scores import ALL
from urs_inspect.reports.words._comparison import best_sentence, difference_matrix, missing_notes

NAN = math.nan


def frame(values: dict[str, Any], **facts: Any) -> pd.DataFrame:
    """One row per sample and model; `facts` have one value per sample."""
    number = len(next(iter(values.values())))
    samples = [f"s{place:03}" for place in range(number)]
    tables = [
        pd.DataFrame({"sample": samples, "model": name, "value": given} | facts)
        for name, given in values.items()
    ]
    return pd.concat(tables, ignore_index=True)


def right(seed: int, number: int, *chances: float) -> dict[str, Any]:
    """Right and wrong answers of models to questions of differing difficulty."""
    generator = np.random.default_rng(seed)
    hard = generator.normal(size=number)
    return {
        f"lab/model-{place}": (
            (generator.random(number) < 1 / (1 + np.exp(hard - chance))).astype(float)
        )
        for place, chance in enumerate(chances)
    }


def found(compared: ComparedModels) -> list[Any]:
    return [
        (p.first, p.second, p.difference.value, p.p, p.p_holm, p.verdict)
        for p in compared.comparisons[ALL]
    ]


def test_the_whole_package_has_the_name_as_well() -> None:
    assert urs_inspect.compare is compare


def test_by_hand() -> None:
    # b is right on the eight samples that a has wrong, wrong on one that a has right, and both are
    # right on one.
    table = frame({"a": [0] * 8 + [1, 1], "b": [1] * 8 + [0, 1]})
    compared = compare(table)
    [pair] = compared.comparisons[ALL]
    assert (pair.first, pair.second) == ("b", "a") and pair.difference.value == pytest.approx(0.7)
    assert (
        pair.p == pair.p_holm == pytest.approx(2 * (1 + 9) / 2**9)
    )  # McNemar's: at most 1 of 9 by a fair coin
    assert pair.significant and compared.models[["rank_from", "rank_to"]].to_numpy().tolist() == [
        [1, 1],
        [2, 2],
    ]
    assert [mean.value for mean in compared.means[ALL]] == pytest.approx([0.9, 0.2])
    assert pair.error == pytest.approx(stats.sem([1] * 8 + [-1, 0]), rel=0.05)


def test_it_is_what_the_report_of_urs_has() -> None:
    generator = np.random.default_rng(3)
    finals = {name: generator.integers(1, 11, 40).astype(float) for name in ("m", "n", "o")}
    finals["n"][:6] = NAN
    table = frame(finals)
    ranking = ranking_of(answers_of(finals, table["sample"][:40].tolist()))
    compared = compare(table, scale=(1, 10), rounds=ranking.compared.means[ALL][0].rounds)
    assert compared.names == ranking.compared.names
    assert (
        compared.means[ALL] == ranking.compared.means[ALL]
        and compared.comparisons[ALL] == ranking.compared.comparisons[ALL]
    )
    assert compared.models["rank_to"].tolist() == ranking.compared.models["rank_to"].tolist()
    assert compared.missing == ranking.compared.missing
    said = [note.replace("sample", "question") for note in missing_notes(compared)]
    assert said == missing_notes(ranking.compared)


@checked
@given(seed=st.integers(0, 1000))
def test_order_changes_nothing_and_lower_is_the_mirror_of_higher(seed: int) -> None:
    table = frame(right(seed, 30, 0.0, 0.8, 0.4), cluster=[f"c{place // 3}" for place in range(30)])
    compared = compare(table, rounds=200)
    again = compare(table.sample(frac=1, random_state=seed), rounds=200)
    assert found(again) == found(compared) and repr(again.means) == repr(compared.means)
    lower = compare(table, rounds=200, lower_is_better=True)
    flipped = compare(table.assign(value=1 - table["value"]), rounds=200)
    for pair, other in zip(lower.comparisons[ALL], flipped.comparisons[ALL], strict=True):
        assert pair.first == other.first and pair.p_holm == pytest.approx(other.p_holm)
        assert pair.difference.value == pytest.approx(-other.difference.value)
        assert pair.difference.low == pytest.approx(-other.difference.high, nan_ok=True)
    assert [mean.value for mean in lower.means[ALL]] == pytest.approx(
        [1 - mean.value for mean in flipped.means[ALL]]
    )


def test_epochs_are_averaged_and_truth_values_are_numbers() -> None:
    once = frame({"a": [0.5, 1.0, 0.0] * 3, "b": [0.0, 0.5, 1.0] * 3})
    twice = pd.concat(
        [once.assign(value=once["value"] >= 0.5), once.assign(value=once["value"] > 0.5)]
    )
    assert found(compare(twice)) == found(compare(once))


def test_missing_scores_make_no_claim() -> None:
    values = right(1, 60, 0.0, 2.0)
    better = values["lab/model-1"]
    assert compare(frame(values)).comparisons[ALL][0].significant
    better[np.flatnonzero(better == 1)[:20]] = NAN
    [pair] = compare(frame(values)).comparisons[ALL]
    assert pair.verdict == "depends on unscored answers" and pair.depends_on == {pair.first: 20}
    # The worst case counts them as wrong: the difference over all 60 samples.
    gaps = np.nan_to_num(better) - values["lab/model-0"]
    above, below = int((gaps > 0).sum()), int((gaps < 0).sum())
    assert pair.p_worst == pytest.approx(
        stats.binomtest(above, above + below).pvalue if above > below else 1
    )


def test_the_range_of_missing_scores_does_not_depend_on_which_end_is_better() -> None:
    values = right(1, 40, 0.0, 2.0)
    values["lab/model-1"][:4] = NAN
    higher, lower = (
        compare(frame(values), scale=(0, 1), lower_is_better=is_lower, rounds=50).models
        for is_lower in (False, True)
    )
    for name in values:
        for bound in ("mean_lowest", "mean_highest"):
            assert lower.loc[name, bound] == pytest.approx(higher.loc[name, bound])


def test_samples_of_one_model_only_do_not_count_and_that_is_said() -> None:
    table = frame(right(2, 30, 0.0, 1.0))
    compared = compare(table[~((table["model"] == "lab/model-0") & (table["sample"] > "s019"))])
    assert compared.questions == 20
    assert any(
        "lab/model-0 20" in note and "lab/model-1 30" in note for note in missing_samples(compared)
    )


def test_with_a_baseline_only_its_comparisons_are_made_and_corrected() -> None:
    table = frame(right(5, 200, 0.0, 0.2, 0.4, 2.5))
    compared = compare(table, baseline="lab/model-1")
    pairs = compared.comparisons[ALL]
    assert len(pairs) == 3 and all("lab/model-1" in (pair.first, pair.second) for pair in pairs)
    every = {frozenset((p.first, p.second)): p for p in compare(table).comparisons[ALL]}
    assert all(pair.p == every[frozenset((pair.first, pair.second))].p for pair in pairs)
    assert max(pair.p_holm for pair in pairs) <= 1 and pairs[-1].p_holm <= 3 * pairs[-1].p


def test_a_named_baseline_is_not_a_choice_of_the_data() -> None:
    values, groups = right(6, 120, 0.0, 1.2, 0.4), ["x", "y"] * 60
    best = compare(frame(values, group=groups)).comparisons["x"]
    named = compare(frame(values, group=groups), baseline=best[0].first).comparisons["x"]
    assert [pair.p for pair in named] == [pair.p for pair in best]
    # Holm over two comparisons in each of two groups; the best of three models was chosen by the
    # same data.
    assert min(pair.p_holm for pair in named) == pytest.approx(
        min(pair.p for pair in named) * 2 * 2
    )
    assert [pair.p_holm for pair in best] == pytest.approx(
        [min(1, 1.5 * pair.p_holm) for pair in named]
    )


def test_a_group_called_all_is_a_group() -> None:
    values = right(7, 60, 0.0, 0.5)
    compared = compare(frame(values, group=["all", "x"] * 30))
    assert compared.comparisons[ALL] == compare(frame(values)).comparisons[ALL]
    assert compared.question_counts == {"all": 60, "all (group)": 30, "x": 30}


def test_the_lowest_mean_is_called_the_lowest() -> None:
    compared = compare(
        frame({"a": [1, 2, 3, 4, 5, 7], "b": [2, 1, 3, 5, 4, 7.5]}), lower_is_better=True
    )
    assert tells(best_sentence(compared, ALL), "a ... lowest mean")


def test_where_lower_is_better_the_lowest_is_below_those_that_it_is_better_than() -> None:
    generator = np.random.default_rng(0)
    best = generator.normal(size=40)
    values = {"a": best, "b": best + 0.01 * generator.normal(size=40), "c": best + 2}
    said = best_sentence(compare(frame(values), lower_is_better=True), ALL)
    assert tells(said, "lowest ... below c") and "above" not in said


def test_many_pairs_are_shown_in_part_and_written_in_whole() -> None:
    table = frame(right(8, 20, *np.linspace(0, 1, 12)))
    [_, differences, *_] = report_comparison(
        compare(table, rounds=100), sample_scores(table)
    ).sections
    shown, matrix, written = differences.tables
    assert (len(shown.data), len(matrix.data), len(written.data)) == (11 + 10, 12, 66)


def test_a_matrix_has_the_row_less_the_column_also_where_the_column_is_a_baseline() -> None:
    table = frame({"a": [0.5] * 20 + [2.0] * 10, "z": [1.0] * 30})

    def shown(difference: Any) -> str:
        return f"{difference.low:.3f} to {difference.high:.3f}"

    plain, beside_z = (
        difference_matrix(compare(table, baseline=baseline, rounds=200), shown).data
        for baseline in (None, "z")
    )
    assert str(beside_z.loc["a", "z"]) == str(plain.loc["a", "z"])


def test_what_few_samples_cannot_show_is_not_given() -> None:
    few = compare(frame(right(9, 40, 0.0, 0.1)))
    assert math.isnan(few.detectable(few.comparisons[ALL][0]))
    many = compare(frame(right(9, 60, 0.0, 0.1)))
    assert many.detectable(many.comparisons[ALL][0]) > 0
    table = frame(right(9, 40, 0.0, 0.1), cluster=[place // 2 for place in range(40)])
    in_clusters = compare(table)
    assert in_clusters.detectable(in_clusters.comparisons[ALL][0]) > 0
    generator = np.random.default_rng(0)
    clustered = compare(
        frame({name: generator.normal(size=12) for name in "abc"}, cluster=list("uvwxyz") * 2)
    )
    assert all(
        math.isnan(clustered.detectable(pair)) for pair in clustered.comparisons[ALL]
    )  # 3 tests of 6 clusters


def test_groups_claim_falsely_no_more_often_than_one_test() -> None:
    """Of 80 simulations of equal models in six groups, any group has a claim in at most about
    5%.
    """
    groups, claims = [f"g{place % 6}" for place in range(120)], 0
    for seed in range(80):
        compared = compare(frame(right(seed, 120, 0.5, 0.5, 0.5), group=groups), rounds=20)
        claims += any(pair.significant for key in set(groups) for pair in compared.comparisons[key])
    assert claims <= stats.binom.ppf(0.999, 80, 0.05)


def test_the_difference_that_is_said_to_be_seen_is_seen_that_often() -> None:
    generator = np.random.default_rng(0)
    noise = generator.normal(size=(400, 80, 2))
    [pair] = (
        compared := compare(frame({"a": noise[0, :, 0], "b": noise[0, :, 1]}), rounds=200)
    ).comparisons[ALL]
    visible = compared.detectable(pair) / pair.error * math.sqrt(2 / 80)
    seen = stats.ttest_rel(noise[:, :, 0] + visible, noise[:, :, 1], axis=1).pvalue < 0.05
    assert abs(seen.mean() - 0.8) < 4 * math.sqrt(0.8 * 0.2 / 400)
    assert compared.needed(pair, compared.detectable(pair)) == pytest.approx(80, abs=2)


GOOD = frame({"a": [1, 0, 1, 0], "b": [1, 1, 1, 0]}, cluster=list("ppqq"), group=list("xxyy"))


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (GOOD.drop(columns="value"), {}, ["value", "sample, model"]),
        (GOOD[GOOD["model"] == "a"], {}, ["one model", "a"]),
        (GOOD.assign(value="good"), {}, ["8 of 8", "good"]),
        (GOOD.assign(value=math.inf), {}, ["8 of 8", "inf"]),
        (GOOD.assign(value=NAN), {}, ["8 rows"]),
        (GOOD.drop(columns="sample"), {}, ["lacks sample", "model, value"]),
        (GOOD.drop(columns="model"), {}, ["lacks model", "sample, value"]),
        (GOOD.assign(cluster=list("ppqqpqpq")), {}, ["2 samples", "cluster", "s001"]),
        (GOOD.assign(group=list("xxyyyxyy")), {}, ["1 sample", "group", "s000"]),
        (GOOD.assign(sample=list("abcdefgh")), {}, ["no sample", "a 4", "b 4"]),
        (GOOD, {"baseline": "c"}, ["'c'", "a", "b"]),
        (GOOD, {"scale": (0, 0.5)}, ["5 of 8", "0 to 0.5"]),
        (GOOD, {"scale": (0, NAN)}, ["scale", "nan"]),
        (GOOD, {"scale": (1, 0)}, ["scale", "1 and 0"]),
        (GOOD.assign(model=GOOD["model"].where(GOOD.index > 0)), {}, ["1 of 8 rows"]),
        (GOOD.assign(value=[1, NAN, NAN, NAN, *[1] * 4]), {}, ["a", "half", "a 1", "b 4"]),
    ],
)
def test_what_cannot_be_compared_is_said(
    table: pd.DataFrame, options: dict[str, Any], said: list[str]
) -> None:
    with pytest.raises(InputError) as error:
        compare(table, **options)
    assert all(word in error.value.message for word in said), error.value.message


def sample_scores(table: pd.DataFrame, **facts: Any) -> SampleScores:
    known: dict[str, Any] = {
        "task": "package/task",
        "scorer": "match",
        "notes": (),
        "scale": (0.0, 1.0),
        "higher_is_better": True,
        "runs": (SampleRun("a.eval", "lab/model-0", "2026-01-01T00:00:00+00:00", 60),),
        "left_out": ("b.eval was left out: damaged.",),
    }
    return SampleScores(table, **known | facts)


def test_the_report_as_markdown() -> None:
    values = right(4, 60, 0.0, 0.3, 2.5)
    values["lab/model-2"][:2] = NAN
    table = frame(
        values, cluster=[f"c{place // 4:02}" for place in range(60)], group=["easy", "hard"] * 30
    )
    made = report_comparison(
        compare(table, scale=(0, 1)), sample_scores(table), difference=0.05, command="urs-inspect"
    )
    check_golden("comparison", made.markdown())
    assert made.as_dict()["tables"]["differences"][0]["first"] == "lab/model-2"
    page = render_page(made)
    assert page.count('<td class="bar"') == len(values)


def test_missing_epochs_count_against_a_claim() -> None:
    whole = frame({"m": [1.0, 1.0, 0.0] * 10, "n": [0.0, 1.0, 0.0] * 10})
    [pair] = compare(whole, scale=(0, 1), rounds=200).comparisons[ALL]
    assert pair.significant
    without = [
        {"sample": row.sample, "model": "m", "value": NAN}
        for row in whole.itertuples()
        if row.model == "m"
    ]
    compared = compare(pd.concat([whole, pd.DataFrame(without * 2)]), scale=(0, 1), rounds=200)
    [pair] = compared.comparisons[ALL]
    assert (
        pair.verdict == "depends on unscored answers" and compared.models.loc["m", "unscored"] == 60
    )


def test_frames_of_any_types() -> None:
    plain = frame(
        {"1": [1.0, 0.0, 1.0, 1.0], "2": [0.0, 0.0, 1.0, 0.0]}, group=["g", "g", "(none)", "(none)"]
    )
    typed = plain.assign(
        model=plain["model"].astype(int), question=1, group=plain["group"].replace("(none)", None)
    )
    assert repr(compare(typed, rounds=50).means) == repr(compare(plain, rounds=50).means)
    listed = plain.drop(columns="group").assign(cluster=pd.Series([[1], [1], [2], None] * 2))
    assert compare(listed, rounds=50).means[ALL][0].clusters == 3
    with pytest.raises(InputError, match="one cluster"):
        compare(
            typed.assign(sample=[0, "0", 1, 2] * 2, cluster=["a", "b", "c", "d"] * 2), rounds=50
        )
    with pytest.raises(InputError, match="no rows"):
        compare(plain[:0])
    with pytest.raises(InputError, match="one model only"):
        compare(pd.DataFrame({"sample": [1, 1], "model": [1, "1"], "value": [1.0, 0.0]}))


def test_the_samples_that_a_difference_takes_are_on_the_first_screen() -> None:
    table = frame(right(4, 60, 0.0, 0.3, 2.5))
    compared = compare(table, scale=(0, 1))
    made = report_comparison(compared, sample_scores(table), difference=0.05)
    needed = [compared.needed(pair, 0.05) for pair in compared.comparisons[ALL]]
    assert made.first is not None
    largest = max(count for count in needed if count is not None)
    assert any(tells(found, f"0.05 ... {largest:,} samples") for found in made.first.findings)
