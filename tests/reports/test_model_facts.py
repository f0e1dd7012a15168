"""Facts of models, where noise comes from and what is said of answers, by slow obvious code."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.reports.answer_rows import answers, ranking_of, row, rows
from tests.telling import tells
from urs_inspect.reports.numbers._answers import Run
from urs_inspect.reports.numbers._human_data import HumanRating, HumanRatings
from urs_inspect.reports.numbers._leaderboard import (
    FlatJudge,
    Ranking,
    make_leaderboard,
    means_frame,
    noise_of,
)
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.reports.words._leaderboard import left_out as sentences_of
from urs_inspect.rubrics import Rubric
from urs_inspect.stats import interval_alpha
from urs_inspect.stats._variance_components import (
    VarianceComponents,
    difference_components,
    variance_components,
)

NAN = math.nan
PANEL = ("p/one", "p/two")
EMPTY = ("no_response", "no_response_cut_off", "no_response_withheld")
USAGE = ("input_tokens", "output_tokens", "judge_input_tokens", "judge_output_tokens", "seconds")
Rows = list[dict[str, Any]]


def judged_twice(generator: np.random.Generator, level: float) -> dict[str, Any]:
    """A judgement by a panel of which a part may fail, and perhaps an earlier one."""
    last = {}
    earlier = []
    for judge in PANEL:
        last[judge] = float(np.clip(np.rint(generator.normal(level, 2)), 1, 10))
    if generator.random() < 0.15:
        last[PANEL[int(generator.integers(2))]] = NAN
    if generator.random() < 0.3:
        earlier.append({judge: float(generator.integers(1, 11)) for judge in PANEL})
    if generator.random() < 0.1:
        earlier.append({PANEL[0]: float(generator.integers(1, 11)), PANEL[1]: NAN})
    given = [statistics.fmean(v for v in finals.values() if v == v) for finals in (last, *earlier)]
    return {
        "final": given[0],
        "judge_finals": last,
        "earlier_finals": tuple(given[1:]),
        "earlier_judge_finals": tuple(earlier),
        "outcome": "judged",
    }


def answer(generator: np.random.Generator, model: str, question: str, epoch: int) -> Rows:
    """An answer of some kind: judged, empty, after an error, or without a score."""
    kind = generator.random()
    if kind < 0.8:
        given = judged_twice(generator, 5 + (model == "m/a"))
    elif kind < 0.9:
        given = {"final": 1.0, "judge_finals": dict.fromkeys(PANEL, NAN)}
        given["outcome"] = EMPTY[int(generator.integers(3))]
    else:
        given = {"final": NAN, "judge_finals": dict.fromkeys(PANEL, NAN)}
        given |= [{"outcome": "error", "error": "gone"}, {"outcome": "unscored_refusal"}][
            int(generator.integers(2))
        ]
    for name in USAGE:
        given[name] = NAN if generator.random() < 0.1 else float(generator.integers(1, 100))
    given["answer_length"] = NAN if generator.random() < 0.1 else float(generator.integers(1, 999))
    given["self_judged"] = bool(generator.random() < 0.3)
    given["cut_off"] = bool(generator.random() < 0.2)
    given["log"] = f"/logs/{model[2:]} {question[8:10]}.eval"
    final = given.pop("final")
    return [row(model, question, final, judges=", ".join(PANEL), epoch=epoch, **given)]


def random_board(seed: int, models: Sequence[str] = ("m/a", "m/b", "urs_simulation/c")) -> Rows:
    """Answers of models to questions in two languages, over two or three epochs."""
    generator = np.random.default_rng(seed)
    table = []
    for model in models:
        for number in range(40):
            question = f"leisure-{('en', 'zh')[number % 2]}-{number:02}"
            for epoch in range(1, 3 + (number % 5 == 0)):
                table += answer(generator, model, question, epoch)
    return table


def known(values: list[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def deviation(groups: list[list[float]]) -> float:
    several = [group for group in groups if len(group) > 1]
    squares = sum(statistics.variance(group) * (len(group) - 1) for group in several)
    return math.sqrt(squares / sum(len(group) - 1 for group in several))


def test_every_fact_of_a_model_agrees_with_plain_counting() -> None:
    table = random_board(0)
    ranking = ranking_of(answers(table), rounds=20)
    assert sorted(ranking.compared.names) == ["m/a", "m/b", "urs_simulation/c"]
    for model in ranking.compared.names:
        facts = ranking.compared.models.loc[model]
        own = [one for one in table if one["model"] == model]
        scored = [one for one in own if not math.isnan(one["final"])]
        by_question: dict[str, list[float]] = {}
        for one in scored:
            by_question.setdefault(one["question"], []).append(one["final"])
        assert facts["simulated"] == (model == "urs_simulation/c")
        assert (facts["questions"], facts["epochs"]) == (len(by_question), 3)
        assert facts["empty"] == sum(one["outcome"] in EMPTY for one in own)
        assert facts["errors"] == sum(one["outcome"] == "error" for one in own)
        assert facts["cut_off"] == sum(one["cut_off"] for one in own)
        selves = [one["self_judged"] for one in scored]
        assert facts["self_judged"] == pytest.approx(statistics.fmean(selves))
        pairs = [[one["judge_finals"][judge] for one in scored] for judge in PANEL]
        assert facts["judge_alpha"] == pytest.approx(interval_alpha(pairs))
        assert facts["epoch_deviation"] == pytest.approx(deviation(list(by_question.values())))
        again = [[one["final"], *one["earlier_finals"]] for one in scored]
        assert facts["judge_deviation"] == pytest.approx(deviation(again))
        lengths = known([one["answer_length"] for one in own])
        assert facts["median_length"] == statistics.median(lengths)
        name = model.rpartition("/")[2]
        assert facts["log"] == f"{name} en.eval, {name} zh.eval"
        for name in USAGE:
            mean = statistics.fmean(known([one[name] for one in own]))
            assert facts[name] == pytest.approx(mean * len(own))
        outcomes = Counter(one["outcome"] for one in own)
        for outcome in {one["outcome"] for one in table}:
            assert facts[f"outcome/{outcome}"] == outcomes[outcome]
        for judge in PANEL:
            lost = [
                math.isnan(one["judge_finals"][judge]) and one["outcome"] not in EMPTY
                for one in own
            ]
            assert facts[f"without/{judge}"] == pytest.approx(statistics.fmean(lost))


def test_parts_from_the_shortest_to_the_longest_answers_by_hand() -> None:
    lengths = [7, 90, 3, 30, 12, 60, 5, 45, 20, 80, 1, 100]  # in two of ten parts two answers
    given = [
        row("a", f"leisure-en-{place:02}", float(place % 9 + 1), answer_length=float(length))
        for place, length in enumerate(lengths)
    ]
    given += rows("a", {"leisure-en-20": 10.0}, answer_length=NAN)
    given += rows("a", {"leisure-en-21": NAN}, answer_length=50.0)
    bins = ranking_of(answers(given), rounds=20).lengths
    assert list(bins.columns) == ["length", "score", "answers", "model"]
    # 1 and 3, 5 and 7, then one each
    assert bins["length"].tolist() == [2, 6, 12, 20, 30, 45, 60, 80, 90, 100]
    assert bins["score"].tolist() == [2.5, 4, 5, 9, 4, 8, 6, 1, 2, 3]
    assert bins["answers"].tolist() == [2, 2, *[1] * 8]
    few = [row("a", f"leisure-en-{n}", 5.0, answer_length=10.0 * n) for n in range(3)]
    assert ranking_of(answers(few), rounds=20).lengths["length"].tolist() == [0, 10, 20]


@pytest.mark.parametrize("middle", [4.0, 40.0])
def test_the_length_of_a_part_is_its_median(middle: float) -> None:
    lengths = [1.0, middle, 100.0] * 10
    given = [
        row("a", f"leisure-en-{place:02}", 5.0, answer_length=length + 1000 * (place // 3))
        for place, length in enumerate(lengths)
    ]
    bins = ranking_of(answers(given), rounds=20).lengths
    assert bins["length"].tolist() == [1000 * part + middle for part in range(10)]


# --- where noise comes from ---


def judgements(table: Rows, model: str) -> pd.DataFrame:
    """Each judgement of each scored answer of a model, with the numbers of its question, answer and
    judge.
    """
    found = []
    scored = [one for one in table if not math.isnan(one["final"])]
    questions = list(dict.fromkeys(one["question"] for one in scored))
    for place, one in enumerate(scored):
        if one["model"] != model:
            continue
        of_answer = []
        for finals in (one["judge_finals"], *one["earlier_judge_finals"]):
            for judge, score in finals.items():
                if not math.isnan(score):
                    of_answer.append((judge, score))
        if not of_answer:  # empty: the lowest score, by all
            of_answer = [(judge, one["final"]) for judge in PANEL]
        question = questions.index(one["question"])
        for judge, score in of_answer:
            found.append((model, question, place, PANEL.index(judge), score))
    return pd.DataFrame(found, columns=["model", "question", "answer", "judge", "score"])


def check_split(shown: Any, split: VarianceComponents) -> None:
    """Compare a row of the table of noise with a split, number by number."""
    assert (shown["questions"], shown["epochs"], shown["judges"]) == (
        split.questions,
        split.epochs,
        split.judges,
    )
    for name, value in split.components.items():
        assert shown[f"variance_{name}"] == pytest.approx(value, nan_ok=True)
    parts = split.parts()
    whole = sum(part for part in parts.values() if not math.isnan(part))
    sources = {
        "question": parts["question"],
        "answering": parts["answer"],
        "judges": parts["question_judge"] + np.nan_to_num(parts["answer_judge"]),
        "judging": parts["judgement"],
    }
    for source, part in sources.items():
        assert shown[f"share_{source}"] == pytest.approx(part / whole, nan_ok=True)
    more: dict[str, tuple[str, dict[str, float]]] = {
        "margin": ("question", {}),
        "twice_the_questions": ("question", {"questions": 2 * split.questions}),
        "one_more_epoch": ("answer", {"epochs": split.epochs + 1}),
        "one_more_judge": ("judge", {"judges": split.judges + 1}),
        "judged_once_more": ("judgement", {"judgements": 2}),
    }
    for name, (component, design) in more.items():
        wanted = split.margin(0.9, **design)
        if math.isnan(split.components[component]):
            wanted = NAN
        assert shown[name] == pytest.approx(wanted, nan_ok=True)


def kept(table: Rows, **others: Any) -> Rows:
    return [{**one, **others} for one in table]


@pytest.mark.parametrize("known", ["everything", "no epochs", "no judging again"])
def test_noise_is_split_as_in_plain_tables_of_judgements(known: str) -> None:
    table = random_board(3)
    if known == "no epochs":
        table = [one for one in table if one["epoch"] == 1]
    elif known == "no judging again":
        table = kept(table, earlier_finals=(), earlier_judge_finals=())
    found = noise_of(pd.DataFrame(table), ["m/b", "m/a"], 0.9)
    by_model = {name: judgements(table, name) for name in ("m/a", "m/b")}
    assert found[["kind", "first", "second"]].to_numpy().tolist() == [
        ["mean", "m/b", ""],
        ["mean", "m/a", ""],
        ["difference", "m/b", "m/a"],
    ]
    rows_of_noise = found.to_dict("records")
    check_split(rows_of_noise[0], variance_components(by_model["m/b"]))
    check_split(rows_of_noise[1], variance_components(by_model["m/a"]))
    check_split(rows_of_noise[2], difference_components(by_model["m/b"], by_model["m/a"]))
    shares = [rows_of_noise[2][f"share_{name}"] for name in ("question", "answering", "judging")]
    assert [math.isnan(share) for share in shares] == [
        False,
        known == "no epochs",
        known == "no judging again",
    ]


ONE = {"leisure-en-1": 5.0, "leisure-en-2": 7.0, "leisure-en-3": 2.0}


@pytest.mark.parametrize(
    ("more", "others", "is_split"),
    [
        ([], {}, False),
        ([{"epoch": 2}], {}, True),
        ([], {"earlier_judge_finals": ({"p/judge": 4.0},)}, True),
        ([], {"judges": "p/judge, p/other"}, True),
    ],
)
def test_noise_needs_epochs_a_panel_or_repeated_judgements(
    more: Rows, others: dict[str, Any], is_split: bool
) -> None:
    given = rows("a", ONE, **others)
    for again in more:
        given += rows("a", ONE, **again)
    assert noise_of(pd.DataFrame(given), ["a"], 0.95).empty == (not is_split)
    assert noise_of(pd.DataFrame(given), [], 0.95).empty


def test_the_difference_of_each_other_model_from_the_best_one_is_split() -> None:
    table = random_board(3)
    names = ["m/b", "urs_simulation/c", "m/a"]
    found = noise_of(pd.DataFrame(table), names, 0.9)
    assert found[["kind", "first", "second"]].to_numpy().tolist() == [
        *[["mean", name, ""] for name in names],
        *[["difference", "m/b", name] for name in names[1:]],
    ]
    by_model = {name: judgements(table, name) for name in names}
    for split, name in zip(found.to_dict("records")[3:], names[1:], strict=True):
        check_split(split, difference_components(by_model["m/b"], by_model[name]))


def test_noise_is_that_of_ranked_models_over_the_common_questions() -> None:
    ids = [f"leisure-en-{number:02}" for number in range(12)]
    generator = np.random.default_rng(1)

    def model(name: str, level: int, lost: Sequence[int] = ()) -> Rows:
        found = []
        for epoch in (1, 2):
            for place, question in enumerate(ids):
                final = NAN if place in lost else float(level + generator.integers(4))
                found.append(row(name, question, final, epoch=epoch))
        return found

    table = [*model("a", 6), *model("b", 2, [0, 1]), *model("few", 4, range(9))]
    ranking = ranking_of(answers(table), rounds=20)
    assert ranking.compared.ranked == ["a", "b"]
    noise = ranking.noise
    assert noise[["kind", "first", "second"]].to_numpy().tolist() == [
        ["mean", "a", ""],
        ["mean", "b", ""],
        ["difference", "a", "b"],
    ]
    assert set(noise["questions"]) == {10}


# --- what must be known of answers ---


def about(ranking: Ranking) -> dict[str, Any]:
    return vars(ranking.about_answers)


def test_what_is_said_of_answers_by_hand() -> None:
    panel = {"judges": "p/one, p/two", "judge_temperatures": "0, 1"}
    names = [f"leisure-en-{number}" for number in range(6)]
    scored = {"p/one": 5.0, "p/two": NAN}
    table: Rows = []
    for model, cluster in (("a", "u1"), ("b", "u2")):
        for place, name in enumerate(names):
            others: dict[str, Any] = {"country": "Peru" if place < 4 else "", **panel}
            others["cluster"] = ("u1", "u1", cluster, "", "", "u3")[place]
            others["cut_off"] = (model, place) in {("a", 0), ("b", 0), ("b", 3)}
            if place == 1:
                others["judge_temperatures"] = "0 (not sent), 1"
            if place == 2 and model == "a":
                others["judge_temperatures"] = ""
            if place in (3, 4):
                others["not_shown"] = "image 2"
            if place == 5 and model == "a":
                others["not_shown"] = "audio"
            table.append(row(model, name, 5.0, judge_finals=scored, **others))
    found = about(ranking_of(answers(table), rounds=20))
    assert found == {
        "answers": 12,
        "without_share": 0,
        "clusters": 4,  # u1 with its three questions, two by themselves, u3
        "in_several_clusters": 1,
        "cut_off": {"b": 2, "a": 1},
        "not_shown": {"image 2": 4, "audio": 1},
        "temperature_not_sent": 2,
        "temperatures": ("0, 1",),
        "without_country": 2,
        "silent_judges": ("p/two",),
        "flat_judges": (FlatJudge("p/one", scores=12, top=0, only=5.0),),
        "equal_answers": (),
    }
    assert list(found["cut_off"]) == ["b", "a"]
    assert list(found["not_shown"]) == ["image 2", "audio"]


def test_of_a_panel_that_gave_nothing_at_all_no_judge_is_silent() -> None:
    nothing = {"p/one": NAN, "p/two": NAN}
    table = rows("a", dict.fromkeys(ONE, NAN), judges="p/one, p/two", judge_finals=nothing)
    found = about(ranking_of(answers(table), rounds=20))
    assert (found["silent_judges"], found["clusters"]) == ((), 0)


# --- what a ranking is made of ---


def test_the_share_without_a_judge_is_shown_of_judges_that_failed_on_any_model() -> None:
    given: Rows = []
    for model in "ab":
        for number in range(4):
            finals = {"p/one": 5.0, "p/two": NAN if (model, number) == ("a", 0) else 6.0}
            others = {"judges": ", ".join(PANEL), "judge_finals": finals}
            given.append(row(model, f"leisure-en-{number}", 5.0, **others))
    models = ranking_of(answers(given), rounds=20).compared.models
    assert [name for name in map(str, models) if name.startswith("without/")] == ["without/p/two"]
    assert models["without/p/two"].to_dict() == {"a": 0.25, "b": 0}


@pytest.mark.parametrize(("questions", "has_bounds"), [(12, True), (5, False)])
def test_length_and_score_are_correlated_in_so_many_rounds(
    questions: int, has_bounds: bool
) -> None:
    generator = np.random.default_rng(0)
    given = [
        row("a", f"leisure-en-{n:02}", float(generator.integers(1, 11)), answer_length=10.0 + n)
        for n in range(questions)
    ]
    for rounds, wanted in ((100, 100), (3000, 1000)):
        ranking = ranking_of(answers(given), rounds=rounds, level=0.9)
        rho: Any = ranking.compared.models.loc["a", "length_correlation"]
        assert (rho.rounds, rho.level, rho.clusters) == (wanted, 0.9, questions)
        assert math.isnan(rho.low) != has_bounds


@pytest.mark.parametrize(
    ("languages", "tested"),
    [
        (("en",), ["all", "Factual QA", "Leisure", "en"]),
        (
            ("en", "zh"),
            [
                *("all", "Factual QA", "Leisure", "en", "zh"),
                *("Factual QA/en", "Factual QA/zh", "Leisure/en", "Leisure/zh"),
            ],
        ),
    ],
)
def test_cells_are_tested_where_there_are_several_languages(
    languages: Sequence[str], tested: Sequence[str]
) -> None:
    names = [f"{one}-{code}-1" for one in ("factual_qa", "leisure") for code in languages]
    given = rows("a", dict.fromkeys(names, 5.0)) + rows("b", dict.fromkeys(names, 4.0))
    ranking = ranking_of(answers(given), rounds=20)
    assert set(ranking.compared.comparisons) == set(tested)
    assert {"Leisure/en", "Factual QA/en"} <= set(ranking.compared.means)
    kinds = means_frame(ranking, 0)
    cells = kinds[kinds["kind"] == "intent and language"]
    assert (cells["beside_best"] != "").all() == (len(languages) > 1)


def test_all_means_with_their_kinds_by_hand() -> None:
    names = {"leisure-en-1": 8.0, "api-zh-2": 6.0, "solve_professional_problem-zh-3": 4.0}
    less = {name: final - 1 for name, final in names.items()}
    found = ranking_of(
        answers(rows("a", names, country="Peru"), rows("b", less, country="Peru")), rounds=20
    )
    table = means_frame(found, 3)
    wanted = {
        ("all", "all"): 6.0,
        ("intent", "Solve Problem"): 5.0,
        ("intent", "Leisure"): 8.0,
        ("part", "Solve Problem: api"): 6.0,
        ("part", "Solve Problem: solve_professional_problem"): 4.0,
        ("language", "en"): 8.0,
        ("language", "zh"): 5.0,
        ("intent and language", "Leisure/en"): 8.0,
        ("intent and language", "Solve Problem/zh"): 5.0,
        ("country", "Peru"): 6.0,
        ("criterion", "clarity"): 6.0,
    }
    assert len(table) == 2 * len(wanted) and set(table["block"]) == {3}
    for one in table.to_dict("records"):
        shift = {"a": 0, "b": 1}[one["model"]]
        assert one["mean"].value == pytest.approx(wanted[one["kind"], one["column"]] - shift)
        is_tested = one["kind"] in ("all", "intent", "language", "intent and language")
        beside = ("best", "not distinguishable")[shift] if is_tested else ""
        assert one["beside_best"] == beside
        facts = [one[name] for name in ("rank_from", "rank_to", "mean_scored", "unscored_share")]
        if one["kind"] == "all":
            assert facts == [1, 2, 6.0 - shift, 0]
        else:
            assert facts == [None] * 4


def test_each_ranking_has_the_titles_of_its_own_questions() -> None:
    first = rows("m", {"leisure-en-1": 5.0, "leisure-fr-2": 6.0})
    second = rows("n", {"api-zh-1": 5.0}, dataset_sha256="b" * 64)
    found = make_leaderboard(answers([*first, *second]), rounds=20)
    titles = [
        {name for name in ("leisure", "api", "fr", "zh") if name in ranking.titles}
        for ranking in found.rankings
    ]
    assert titles == [{"leisure", "fr"}, {"api", "zh"}]


def test_a_later_ranking_without_weights_is_left_out_by_all_its_models() -> None:
    finals = {f"{intent}-en-{n}": 5.0 + n for intent in ("leisure", "api") for n in range(3)}
    alone = {name: final for name, final in finals.items() if name.startswith("leisure")}
    whole = [row for name in ("a", "b", "c") for row in rows(name, finals)]
    other = [row for name in ("x", "y") for row in rows(name, alone, dataset_sha256="b" * 64)]
    mix = TrafficMix("mix.yaml", {"intents": {"leisure": 0.5, "api": 0.5}})
    left_out = ("A log was left out.",)
    made = make_leaderboard(answers(whole, other, left_out=left_out), traffic=mix, rounds=20)
    [ranking] = made.rankings
    assert sorted(ranking.compared.names) == ["a", "b", "c"]
    before, said = sentences_of(made)
    assert before == left_out[0]
    assert tells(said, "x, y ... mix.yaml ... api")


def test_titles_are_those_of_the_rubric_of_the_log_or_of_the_id(rubric: Rubric) -> None:
    given = rows("a", {"api-en-1": 5.0, "solve_professional_problem-zh-2": 5.0})
    given += [row("a", "q-fr", 5.0, intent="my_own", group="Mine", language="fr")]
    given += [row("a", "q-xx", 5.0, intent="my_own", group="Mine", language="xx")]
    for one in given:
        one["criterion/my_criterion"] = 5.0
    run = Run("a.eval", "a", (), "", "", "", "", "", "", 4, languages={"fr": "Français", "en": "E"})
    titles = ranking_of(replace(answers(given), runs={"/logs/a.eval": run}), rounds=20).titles
    names = {intent: rubric.intents[intent].text["en"].name for intent in ("api",)}
    assert titles["api"] == names["api"]
    assert titles["Solve Problem: api"] == f"Solve Problem: {names['api']}"
    assert (titles["my_own"], titles["Mine"]) == ("My own", "Mine")
    assert [titles[code] for code in ("en", "zh", "fr", "xx")] == [
        "English",
        "Chinese",
        "Français",
        "xx",
    ]
    assert titles["criterion/clarity"] == rubric.criteria["clarity"]["en"].name
    assert titles["criterion/my_criterion"] == "My criterion"


def priced(**options: Any) -> Ranking:
    """Two models before a judge that pays for length beyond what people say."""
    given: Rows = []
    ratings = []
    for number in range(24):
        for model, doublings in (("a", 1), ("b", 0)):
            more = number % 3
            name = f"leisure-{('en', 'zh')[number % 2]}-{number:02}"
            score = 4.0 + doublings + more
            given.append(row(model, name, score, answer_length=100.0 * 2 ** (doublings + more)))
            ratings.append(HumanRating(name, model, None, "ann", 4.0 + number % 2, "line"))
    human = HumanRatings(Path("people.csv"), (1.0, 10.0), tuple(ratings))
    return ranking_of(answers(given), rounds=50, human=human, **options)


def test_what_people_show_of_the_price_of_length_is_taken_from_leads() -> None:
    ranking = priced()
    assert ranking.people_slope is not None
    assert ranking.people_slope.value == pytest.approx(1, abs=0.1)
    [lead] = ranking.leads_by_length
    assert (lead.lead, lead.doublings) == pytest.approx((1, 1)) and lead.without is not None
    assert lead.without.value == pytest.approx(1 - ranking.people_slope.value)


def test_under_a_mix_no_lead_is_corrected_for_length() -> None:
    mix = TrafficMix("mix.yaml", {"languages": {"en": 0.25, "zh": 0.75}})
    ranking = priced(traffic=mix)
    assert ranking.people_slope is not None
    assert [lead.without for lead in ranking.leads_by_length] == [None]
    assert ranking.traffic is not None
    # 12 questions with a weight of 1 and 12 with one of 3: (12 + 36)^2 / (12 + 108)
    assert ranking.traffic.effective_questions == pytest.approx(48**2 / 120)
