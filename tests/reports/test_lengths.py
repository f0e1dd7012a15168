"""What a report says of the lengths of answers, and the regression on length that it makes on
request.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.cli.conftest import Run, run  # noqa: F401
from tests.reports.answer_rows import answers, ranking_of, row
from tests.reports.judged_logs import answered, judgement, write_judged
from tests.telling import tells
from urs_inspect.reports.layout._tables import Report
from urs_inspect.reports.numbers._answers import Answers
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.reports.numbers._leaderboard import Leaderboard, Ranking
from urs_inspect.reports.numbers._lengths import (
    LengthRegression,
    _tipping,
    length_leads,
    length_ratios,
    people_slope,
)
from urs_inspect.reports.numbers._matching import Matched
from urs_inspect.reports.numbers._scores import OrderedScores, order_models, score_table
from urs_inspect.reports.words._leaderboard import report_leaderboard
from urs_inspect.reports.words._lengths import (
    REGRESSION_WARNING,
    length_sentence,
    regression_facts,
    regression_section,
    times_text,
)
from urs_inspect.stats import Estimate
from urs_inspect.stats._bootstrap import Resampling

TRIPLED = math.log2(3)
TASTE = "cannot tell taste from substance"


def judged(
    models: Mapping[str, tuple[float, float]],
    *,
    likes: float,
    questions: int = 150,
    spread: float = 0.7,
    languages: tuple[str, ...] = ("en", "zh"),
    seed: int = 0,
) -> list[list[dict[str, Any]]]:
    """Answers of models, by their quality and their doublings of length, to a judge that likes a
    doubling so much.

    Chinese answers have a quarter of the characters.
    """
    generator = np.random.default_rng(seed)
    names = [
        f"leisure-{languages[place % len(languages)]}-{place:03}" for place in range(questions)
    ]
    effects, usual = generator.normal(0, 1, questions), generator.normal(9, 0.8, questions)
    characters = np.array([2.0 if "-zh-" in name else 0.0 for name in names])
    tables = []
    for name, (quality, longer) in models.items():
        lengths = usual + longer + generator.normal(0, spread, questions)
        finals = quality + effects + likes * (lengths - 9) + generator.normal(0, 0.8, questions)
        finals, sizes = np.clip(np.rint(finals), 1, 10), np.rint(np.exp2(lengths - characters))
        tables.append(
            [
                row(name, question, float(final), answer_length=float(size))
                for question, final, size in zip(names, finals, sizes, strict=True)
            ]
        )
    return tables


def regression_of(ranking: Ranking) -> LengthRegression:
    assert ranking.regression is not None
    return ranking.regression


def controlled(found: Answers) -> LengthRegression:
    return regression_of(ranking_of(found, control="length"))


def slope_of(found: LengthRegression) -> Any:
    return found.slope


def report_of(ranking: Ranking) -> Report:
    return report_leaderboard(Leaderboard((ranking,), (), (), Resampling(500, 0.95, 0), ""))


FIELD = {
    "p/plain": (6.0, 0.0),
    "p/tripled": (6.0, TRIPLED),
    "p/other": (5.4, -0.3),
    "p/weak": (4.0, 0.4),
}
TWO = {"p/a": (6.0, 0.0), "p/b": (5.0, 0.0)}


def two(*, factor: float = math.nan, questions: int = 40) -> list[list[dict[str, Any]]]:
    """Answers of two models; with a factor the second one's are so much longer."""
    tables = judged(TWO, likes=0.0, questions=questions)
    for first, second in zip(*tables, strict=True):
        second["answer_length"] = (
            second["answer_length"] if math.isnan(factor) else factor * first["answer_length"]
        )
    return tables


# --- how much each model writes ---


def test_ratios_and_overlap_of_lengths_by_hand() -> None:
    """Of four questions b writes twice as much in two, half as much in one, and the same in one."""
    lengths = {"p/a": (100.0, 100.0, 100.0, 100.0), "p/b": (200.0, 200.0, 50.0, 100.0)}
    tables = [
        [
            row(name, f"leisure-en-{place}", 9.0 if name == "p/a" else 5.0, answer_length=length)
            for place, length in enumerate(given)
        ]
        for name, given in lengths.items()
    ]
    models: Any = ranking_of(answers(*tables)).compared.models
    assert models.loc["p/b", "length_ratio"] == pytest.approx(
        math.sqrt(2)
    )  # the median of 2, 2, 1/2 and 1
    assert list(models.loc["p/b", ["length_overlap", "length_questions"]]) == [2, 4]
    assert models.loc["p/a", "length_ratio"] == 1
    level = [[row("p/a", f"leisure-en-{n}", 9.0) for n in range(4)], []]
    level[1] = [
        row("p/b", f"leisure-en-{n}", 5.0, answer_length=50.0 if n < 2 else 200.0) for n in range(4)
    ]
    equal: Any = ranking_of(
        answers(*level)
    ).compared.models  # neither usually writes less: each does in half of the questions
    assert list(equal.loc["p/b", ["length_ratio", "length_overlap"]]) == [1, 2]
    tables[1][0] |= {"answer_length": 0.0, "outcome": "no_response"}
    without: Any = ranking_of(answers(*tables)).compared.models
    assert without.loc["p/b", "length_questions"] == 3


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.481, "0.48"), (0.96, "1.0"), (2.13, "2.1"), (16.4, "16")]
)
def test_how_many_times_as_text(ratio: float, text: str) -> None:
    assert times_text(ratio) == text


@pytest.mark.parametrize(
    ("finals", "length", "tipping"),
    [
        ((8.0, 8.0), 400.0, 1.0),  # two points over two doublings
        ((8.0, 8.0), 50.0, math.nan),  # who writes less does not lead by length
        ((5.0, 10.0), 400.0, math.nan),  # no lead in the first half, where lengths are known
    ],
)
def test_a_lead_may_vanish_only_where_the_first_model_writes_more(
    finals: tuple[float, float], length: float, tipping: float
) -> None:
    sides = (("p/a", finals, length), ("p/b", (6.0, 6.0), 100.0))
    tables = [
        [
            row(
                name,
                f"leisure-en-{n}",
                halves[n // 10],
                answer_length=longer if n < 10 else math.nan,
            )
            for n in range(20)
        ]
        for name, halves, longer in sides
    ]
    [lead] = ranking_of(answers(*tables)).leads_by_length
    assert lead.tipping == pytest.approx(tipping, nan_ok=True)


@pytest.mark.parametrize(("likes", "quality"), [(0.45, 6.0), (0.0, 7.0), (0.6, 6.5)])
def test_no_headline_says_whether_a_lead_survives_at_equal_length(
    likes: float, quality: float
) -> None:
    """Neither for a lead that length has won nor for one of quality: the report gives ratio,
    overlap and the limit.
    """
    ranking = ranking_of(
        answers(*judged({**FIELD, "p/tripled": (quality, TRIPLED)}, likes=likes)), rounds=500
    )
    assert (
        ranking.compared.names[0] == "p/tripled"
        and ranking.compared.best_in["all"].pairs[0].significant
    )
    report = report_of(ranking)
    start = report.sections[0]
    [said] = [note for note in start.notes if TASTE in note]
    models: Any = ranking.compared.models
    overlap = models.loc["p/plain", "length_overlap"]
    assert 0 < overlap < 30
    assert tells(said, f"tripled (...): plain ... times ({overlap} of 150")
    assert said in report.as_dict()["rankings"][0]["headline"]
    text = report.markdown()
    assert (
        "not survive" not in text
        and "equal length" not in text.lower()
        and "Regression" not in text
    )
    assert "Length" in start.tables[0].text().headings
    assert {"equal_length", "equal_length_differences"}.isdisjoint(report.tables())


def test_a_judge_that_pays_for_repeated_text_is_covered_by_the_sentence(
    tmp_path: Path,
    run: Run,  # noqa: F811
) -> None:
    """Of two models with the same texts one gives each three times, and the judge pays a point for
    that.
    """
    for model, times in (("p/once", 1), ("p/thrice", 3)):
        samples = [
            answered(
                f"q{n}",
                judgement(float(4 + n % 3 + (times == 3)), answer_length=times * (80 + 7 * n)),
            )
            for n in range(40)
        ]
        write_judged(tmp_path / f"{model[2:]}.eval", *samples, model=model)
    for command in ("report", "table"):
        printed = " ".join(run(command, "--all", tmp_path).output.split())
        assert tells(printed, "thrice is best, ... once")
        assert tells(printed, "beside ... thrice ... once 0.33 times ... (0 of 40")
        assert TASTE in printed


def test_a_question_whose_length_is_unknown_in_one_epoch_is_not_compared() -> None:
    names = [f"leisure-en-{number}" for number in range(10)]
    short = [row("p/a", name, 8.0, answer_length=50.0) for name in names]
    long = [row("p/b", name, 6.0, epoch=epoch) for name in names for epoch in (1, 2)]
    long[1]["answer_length"] = math.nan  # the second epoch of the first question
    found = ranking_of(answers(short, long)).compared.models.loc["p/b"]
    assert (found["length_questions"], found["length_ratio"]) == (9, 2)


def test_unknown_lengths_are_not_guessed_and_one_model_is_not_compared() -> None:
    unknown = [[found | {"answer_length": math.nan} for found in rows] for rows in two()]
    assert "is not known" in length_sentence(ranking_of(answers(*unknown)))
    assert TASTE in length_sentence(ranking_of(answers(*unknown)))
    assert length_sentence(ranking_of(answers(two()[0]))) == ""


# --- a regression on length, on request ---


def test_the_regression_is_a_table_with_its_warning_for_those_who_ask(
    tmp_path: Path,
    run: Run,  # noqa: F811
) -> None:
    for model, longer in (("p/a", 1.0), ("p/b", 1.5)):
        samples = [
            answered(
                f"q{n}",
                judgement(float(3 + n % 5), answer_length=round(longer * (80 + 31 * (n % 7)) + n)),
            )
            for n in range(20)
        ]
        write_judged(tmp_path / f"{model[2:]}.eval", *samples, model=model)
    plain = json.loads(run("report", "--all", tmp_path, "--json").stdout)
    asked = json.loads(run("report", "--all", tmp_path, "--json", "--control", "length").stdout)
    assert "equal_length" not in plain["tables"] and "length" not in plain["rankings"][0]
    assert asked["rankings"][0]["headline"] == plain["rankings"][0]["headline"]
    rows = asked["tables"]["equal_length"]
    assert [found["model"] for found in rows] == plain["rankings"][0]["models"]
    assert all(found["low"] <= found["equal_length"] <= found["high"] for found in rows)
    printed = " ".join(run("report", "--all", tmp_path, "--control", "length").output.split())
    assert REGRESSION_WARNING in printed


def test_the_regression_finds_a_planted_slope() -> None:
    found = controlled(answers(*judged(FIELD, likes=0.45)))
    assert slope_of(found).low < 0.45 < slope_of(found).high
    means: Any = found.means.set_index("model")
    assert means.loc["p/tripled", "equal_length"].value == pytest.approx(
        means.loc["p/plain", "equal_length"].value, abs=0.3
    )
    assert means.loc["p/tripled", "length"] == pytest.approx(
        2 ** (TRIPLED - (TRIPLED + 0.1) / 4), rel=0.1
    )


def test_neither_languages_nor_epochs_change_the_regression() -> None:
    one, both = (judged(FIELD, likes=0.45, languages=names) for names in (("en",), ("en", "zh")))
    plain = controlled(answers(*both))
    assert slope_of(controlled(answers(*one))).value == pytest.approx(
        slope_of(plain).value, abs=0.01
    )
    again = controlled(answers(*both, *([found | {"epoch": 2} for found in rows] for rows in both)))
    pd.testing.assert_frame_equal(again.means, plain.means)


def test_empty_answers_take_no_part_in_the_slope() -> None:
    tables = judged(FIELD, likes=0.45)
    before = slope_of(controlled(answers(*tables)))
    for place in range(5):
        tables[0][place] |= {"final": 1.0, "answer_length": 0.0, "outcome": "no_response"}
    found = controlled(answers(*tables))
    assert found.left_out == 5 and slope_of(found).n == 145
    assert slope_of(found).value == pytest.approx(before.value, abs=0.05)
    assert any("5 questions" in note for note in regression_section(found, 1).notes)


def test_a_model_whose_length_is_its_own_is_said_to_be_hard_to_separate() -> None:
    wide = controlled(
        answers(*judged({"p/plain": (6.0, 0.0), "p/long": (6.0, 3.0)}, likes=0.4, spread=0.3))
    )
    assert wide.by_model > 0.9
    notes = regression_section(wide, 1).notes
    assert any(tells(note, f"{wide.by_model:.0%} ... be separated") for note in notes)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (answers(two()[0]), "two ranked models"),
        (answers(*two(factor=1.0)), "equally long"),
        (answers(*two(factor=3.0)), "same factor"),
        (answers(*two(questions=9)), "there are 9"),
    ],
)
def test_what_no_regression_can_be_made_of_has_a_reason(found: Answers, reason: str) -> None:
    ranking = ranking_of(found, control="length")
    assert tells(regression_facts(regression_of(ranking))["reason"], reason)
    report = report_of(ranking)
    assert "equal_length" not in report.tables()
    assert any(tells(note, reason) for section in report.sections for note in section.notes)


def test_people_s_ratings_give_the_price_of_length_whatever_their_scale() -> None:
    """The judge pays 0.4 points for each doubling; people rate 1 to 5 and do not."""
    generator = np.random.default_rng(0)
    rows = []
    ratings = []
    for model, longer in (("p/a", 2.0), ("p/b", 0.0)):
        doublings = longer + generator.normal(0, 1, 60)
        quality = generator.normal(6, 1, 60)
        for place in range(60):
            question = f"q{place}"
            length = float(np.exp2(9 + doublings[place]))
            score = float(quality[place] + 0.4 * doublings[place] + generator.normal(0, 0.3))
            rows.append({"model": model, "question": question, "answer_length": length})
            people = 1 + (quality[place] - 1) * 4 / 9
            ratings.append(
                {
                    "model": model,
                    "question": question,
                    "score": score,
                    "ratings": {"ann": people + generator.normal(0, 0.1)},
                    "cluster": question,
                }
            )
    human = HumanRatings(Path("ratings.csv"), (1.0, 5.0), ())
    matched = Matched(pd.DataFrame(ratings), {}, 0)
    slope = people_slope(pd.DataFrame(rows), human, matched)
    assert slope is not None and slope.low < 0.4 < slope.high and slope.low > 0.2
    equal = pd.DataFrame(rows).assign(answer_length=500.0)
    assert people_slope(equal, human, matched) is None
    few = Matched(pd.DataFrame(ratings[:5]), {}, 0)
    assert people_slope(pd.DataFrame(rows), human, few) is None


# --- leads and slopes by hand ---


@pytest.mark.parametrize(
    ("lead", "doublings", "points"),
    [
        (2.0, 4.0, 0.5),
        (9.0, 1.0, 9.0),
        (9.0, 0.99, math.inf),
        (1.0, 2.0, 0.5),
        (0.0, 2.0, math.nan),
        (-1.0, 2.0, math.nan),
        (1.0, 0.0, math.nan),
        (1.0, -2.0, math.nan),
    ],
)
def test_the_price_at_which_a_lead_vanishes(lead: float, doublings: float, points: float) -> None:
    assert _tipping(lead, doublings) == pytest.approx(points, nan_ok=True)


def ordered(found: Answers) -> OrderedScores:
    models = list(dict.fromkeys(found.table["model"]))
    return order_models(score_table(found.table, models))


def random_rows() -> list[dict[str, Any]]:
    """Answers of three models, some of them empty, withheld, or of an unknown length."""
    generator = np.random.default_rng(2)
    table = []
    for model in ("p/a", "p/b", "p/c"):
        for number in range(30):
            for epoch in (1, 2):
                length = float(generator.integers(1, 500))
                others: dict[str, Any] = {"answer_length": length, "epoch": epoch}
                kind = generator.random()
                if kind < 0.1:
                    others |= {"answer_length": 0.0, "outcome": "no_response"}
                elif kind < 0.2:
                    others["answer_length"] = math.nan
                elif kind < 0.25:
                    others |= {"answer_length": 7.0, "outcome": "no_response_withheld"}
                final = float(generator.integers(1, 11)) + ("c", "b", "a").index(model[-1])
                table.append(row(model, f"leisure-en-{number:02}", final, **others))
    return table


def slow_doublings(
    table: Sequence[Mapping[str, Any]], models: Sequence[str]
) -> dict[tuple[str, int], float]:
    """Mean logarithm of the lengths of a model's answers to a question, NaN if one is unknown."""
    doublings = {}
    for model in models:
        for number in range(30):
            logs = []
            for one in table:
                if (one["model"], one["question"]) == (model, f"leisure-en-{number:02}"):
                    is_text = one["outcome"] == "judged" and one["answer_length"] > 0
                    logs.append(math.log2(one["answer_length"]) if is_text else math.nan)
            doublings[model, number] = sum(logs) / len(logs)
    return doublings


def test_doublings_ratios_and_overlap_agree_with_plain_counting() -> None:
    table = random_rows()
    scores = ordered(answers(table))
    names = scores.table.models
    doublings = slow_doublings(table, names)
    ratios = length_ratios(scores, pd.DataFrame(table))
    for model in names:
        longer = [doublings[model, n] - doublings[names[0], n] for n in range(30)]
        known = [one for one in longer if not math.isnan(one)]
        assert ratios.loc[model, "length_questions"] == len(known) < 30
        assert ratios.loc[model, "length_ratio"] == pytest.approx(2 ** float(np.median(known)))
        overlap = min(sum(one <= 0 for one in known), sum(one >= 0 for one in known))
        assert ratios.loc[model, "length_overlap"] == overlap
    leads = length_leads(scores, pd.DataFrame(table), 0.95, None)
    assert [lead.second for lead in leads] == list(names[1:])
    for lead in leads:
        gaps = []
        ahead = []
        for n in range(30):
            gap = doublings[names[0], n] - doublings[lead.second, n]
            if not math.isnan(gap):
                gaps.append(gap)
                place = names.index(lead.second)
                ahead.append(scores.comparable[n, 0] - scores.comparable[n, place])
        assert lead.lead == pytest.approx(np.mean(ahead))
        assert lead.doublings == pytest.approx(np.mean(gaps))
        assert (lead.without, lead.verdict) == (None, "")


def paying(doublings: float, lead: float, questions: int = 30) -> Answers:
    """Two models; the first is ahead by so much and writes so many times twice as much."""
    generator = np.random.default_rng(4)
    noise = generator.normal(0, 0.4, questions)
    first = []
    second = []
    for place in range(questions):
        name = f"leisure-en-{place:02}"
        more = 100.0 * 2 ** (doublings + 0.2 * (place % 3 - 1))
        first.append(row("p/a", name, 5.0 + lead + noise[place], answer_length=more))
        second.append(row("p/b", name, 5.0, answer_length=100.0))
    return answers(first, second)


@pytest.mark.parametrize(
    ("lead", "doublings", "price", "low", "verdict"),
    [
        (1.0, 1.0, 0.1, 0.05, "keeps"),
        (1.0, 1.0, 1.5, 1.0, "lost"),
        (1.0, 1.0, 0.9, 0.5, "lost"),  # something is left, but not surely
        (1.0, 1.0, 1.5, -0.1, "uncertain"),  # that the judge pays is not sure
        (1.0, -1.0, -1.5, -2.0, "uncertain"),  # the first one writes less
        (0.1, -1.0, 0.05, 0.01, "uncertain"),
        (1.0, -1.0, 1.5, 1.0, "keeps"),
    ],
)
def test_a_lead_without_what_a_judge_pays_by_hand(
    lead: float, doublings: float, price: float, low: float, verdict: str
) -> None:
    found = paying(doublings, lead)
    scores = ordered(found)
    slope = Estimate(price, low, 2 * price - low, 40, 12)
    [one] = length_leads(scores, found.table, 0.95, slope)
    finals = scores.comparable
    longer = doublings + 0.2 * (np.arange(30) % 3 - 1)
    rest = finals[:, 0] - finals[:, 1] - price * longer
    assert one.without is not None and one.verdict == verdict
    assert one.without.value == pytest.approx(rest.mean())
    assert (one.without.n, one.without.clusters) == (30, 12)
    # of the scores and of the price, by Student's t over the fewer clusters
    own = rest.std(ddof=1) / math.sqrt(30)
    of_price = (price - low) / stats.t.ppf(0.975, 11)
    error = math.hypot(own, one.doublings * of_price)
    half = (one.without.high - one.without.low) / 2
    assert half == pytest.approx(error * stats.t.ppf(0.975, 11))


def test_questions_of_one_user_are_one_cluster_of_what_is_left_of_a_lead() -> None:
    found = paying(1.0, 1.0)
    found.table["cluster"] = [f"u{place // 2}" for place in range(30)] * 2
    scores = ordered(found)
    [lead] = length_leads(scores, found.table, 0.95, Estimate(0.5, 0.5, 0.5, 40, 40))
    assert lead.without is not None and lead.without.clusters == 15
    rest = (scores.comparable[:, 0] - scores.comparable[:, 1]).reshape(15, 2)
    rest = rest - 0.5 * (1 + 0.2 * (np.arange(30) % 3 - 1)).reshape(15, 2)
    error = rest.mean(axis=1).std(ddof=1) / math.sqrt(15)
    half = (lead.without.high - lead.without.low) / 2
    assert half == pytest.approx(error * stats.t.ppf(0.975, 14))


@pytest.mark.parametrize(("questions", "is_known"), [(6, True), (5, False)])
def test_a_lead_is_corrected_over_enough_questions(questions: int, is_known: bool) -> None:
    found = paying(1.0, 1.0, questions)
    slope = Estimate(0.5, 0.3, 0.7, 40, 12)
    [lead] = length_leads(ordered(found), found.table, 0.95, slope)
    assert (lead.without is not None, lead.verdict != "") == (is_known, is_known)
    unsure = Estimate(0.5, math.nan, math.nan, 4, 4)
    [lead] = length_leads(ordered(found), found.table, 0.95, unsure)
    assert (lead.without, lead.verdict) == (None, "")


def test_what_is_left_of_a_lead_lies_on_the_scale() -> None:
    found = paying(1.0, 1.0)
    slope = Estimate(0.5, -40.0, 41.0, 40, 12)
    [lead] = length_leads(ordered(found), found.table, 0.95, slope)
    assert lead.without is not None
    assert (lead.without.low, lead.without.high) == (-9, 9)


def rated(spread: float, questions: int = 12, unknown: int = 0) -> tuple[pd.DataFrame, Matched]:
    """Answers of two models, one of which writes much more; within each lengths differ by so many
    doublings.
    """
    texts = []
    ratings = []
    for model, usual, quality in (("p/a", 8.0, 3.0), ("p/b", 5.0, 6.0)):
        for place in range(questions):
            doublings = usual + spread * (1 if place % 2 else -1)
            length = math.nan if place < unknown else 2.0**doublings
            name = f"q{place}"
            # two epochs of other lengths, whose doublings have this mean
            for epoch, factor in ((1, 2.0), (2, 0.5)) if place % 2 else ((1, 0.5), (2, 2.0)):
                one = {"model": model, "question": name, "answer_length": length * factor}
                texts.append({**one, "epoch": epoch})
            people = quality + place % 3 + 1.2 * (place % 2)
            score = people + 0.5 + 0.7 * doublings
            on_their_scale = 1 + (people - 1) * 4 / 9
            apart = 0.5 + 0.5 * (place % 2)
            given = {"ann": on_their_scale - apart, "bo": on_their_scale + apart}
            one = {"model": model, "question": name, "score": score, "cluster": name}
            ratings.append({**one, "ratings": given})
    return pd.DataFrame(texts), Matched(pd.DataFrame(ratings), {}, 0)


def test_the_price_of_length_is_that_within_models() -> None:
    human = HumanRatings(Path("ratings.csv"), (1.0, 5.0), ())
    for spread in (0.2, 1.0):
        texts, matched = rated(spread)
        slope = people_slope(texts, human, matched)
        assert slope is not None and slope.value == pytest.approx(0.7)
        assert (slope.n, slope.clusters) == (24, 12)
    # deviations of less than a tenth of a doubling price nothing
    texts, matched = rated(0.09)
    assert people_slope(texts, human, matched) is None
    texts, matched = rated(0.11)
    assert people_slope(texts, human, matched) is not None


@pytest.mark.parametrize(("unknown", "is_known"), [(7, True), (8, False)])
def test_ten_answers_of_known_length_price_it(unknown: int, is_known: bool) -> None:
    human = HumanRatings(Path("ratings.csv"), (1.0, 10.0), ())
    texts, matched = rated(1.0, unknown=unknown)
    assert (people_slope(texts, human, matched) is not None) == is_known


@pytest.mark.parametrize(("questions", "has_slope"), [(15, True), (10, True), (9, False)])
def test_a_regression_needs_ten_questions_of_known_length(questions: int, has_slope: bool) -> None:
    generator = np.random.default_rng(5)
    table = []
    for model in ("p/a", "p/b"):
        for place in range(15):
            length = float(generator.integers(50, 900)) if place < questions else math.nan
            final = float(generator.integers(1, 11))
            table.append(row(model, f"leisure-en-{place:02}", final, answer_length=length))
    found = controlled(answers(table))
    assert (found.questions, found.left_out) == (questions, 15 - questions)
    assert (found.slope is not None, len(found.means)) == (has_slope, 2 if has_slope else 0)
    if questions == 15:
        lengths = {}
        for model in ("p/a", "p/b"):
            own = [one["answer_length"] for one in table if one["model"] == model][:questions]
            lengths[model] = np.log2(own).mean()
        middle = (lengths["p/a"] + lengths["p/b"]) / 2
        for one in found.means.to_dict("records"):
            assert one["length"] == pytest.approx(2 ** (lengths[one["model"]] - middle))
            finals = [o["final"] for o in table if o["model"] == one["model"]]
            assert one["mean"].value == pytest.approx(np.mean(finals))
