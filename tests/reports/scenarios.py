"""Leaderboards made by hand, each with one special condition that a report must speak of."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.reports.answer_rows import answers, row
from urs_inspect.judging._reply_counts import REPLIES, REPLY_COUNTS
from urs_inspect.reports._unused_ratings import UnusedRatings
from urs_inspect.reports.numbers._answers import Answers, Run
from urs_inspect.reports.numbers._human_data import HumanRating, HumanRatings, ScaleDoubt
from urs_inspect.reports.numbers._judge_checks import CheckRun, JudgeFact, JudgeShift, Labelled
from urs_inspect.reports.numbers._leaderboard import Leaderboard, make_leaderboard
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.stats import Estimate

NAN = math.nan
Rows = list[dict[str, Any]]
THREE = ("leisure-en", "factual_qa-en", "api-en")
BOTH = ("leisure-en", "leisure-zh", "factual_qa-en", "factual_qa-zh")
Change = Callable[[int], Mapping[str, Any]]
"""Number of a question -> what its row has that others have not."""


def model(
    name: str,
    level: float,
    kinds: Sequence[str] = THREE,
    questions: int = 24,
    change: Change = lambda number: {},
    **others: Any,
) -> Rows:
    """Answers of a model about as good as the level, to questions of these kinds in turn."""
    made = []
    own = sum(map(ord, name))
    for number in range(questions):
        difficulty = (7 * number) % 5 - 2
        noise = (number * (own % 7 + 2) + own) % 3 - 1
        final = min(10.0, max(1.0, level + difficulty + 0.5 * noise))
        question = f"{kinds[number % len(kinds)]}-{number:02}"
        length = 100.0 + 13 * number + 40 * ((own + number) % 3)
        usual = {
            "answer_length": length,
            "input_tokens": 10.0 + number,
            "output_tokens": round(length / 4),
            "judge_input_tokens": 30.0 + own % 5,
            "judge_output_tokens": 40.0 + number % 4,
            "seconds": 2.0 + number / 4,
        }
        given = {"final": final, **usual, **others, **change(number)}
        final = given.pop("final")
        is_factual = question.startswith("factual")
        clarity = NAN if math.isnan(final) else max(1.0, final - number % 2)
        given["criterion/clarity"] = clarity
        given["criterion/factuality"] = final if is_factual else NAN
        made.append(row(name, question, final, **given))
    return made


def board(*models: Rows, left_out: tuple[str, ...] = (), **options: Any) -> Leaderboard:
    """The leaderboard of models, with few rounds of the bootstrap."""
    return board_of(answers(*models, left_out=left_out), **options)


def board_of(found: Answers, **options: Any) -> Leaderboard:
    """The leaderboard of answers, with few rounds of the bootstrap."""
    return make_leaderboard(found, **{"rounds": 200, **options})


def only(numbers: Sequence[int], **facts: Any) -> Change:
    """These facts in the rows of some questions."""
    return lambda number: facts if number in numbers else {}


def unscored(*numbers: int, outcome: str = "unscored_refusal") -> Change:
    """No score of these questions."""
    return only(numbers, final=NAN, outcome=outcome)


# --- means and tests ---


def one_model_lacks_scores() -> Leaderboard:
    """A single model without two of its scores."""
    return board(model("p/only", 6.0, change=unscored(3, 4)))


def no_model_has_a_score() -> Leaderboard:
    """Two models, of which none has a score."""
    lost = unscored(*range(24), outcome="unscored_call_failed")
    return board(model("p/a", 6.0, change=lost), model("p/b", 5.0, change=lost))


@cache
def a_clear_best_of_two() -> Leaderboard:
    """Two models, of which one is better on all questions."""
    return board(model("p/good", 7.0), model("p/bad", 4.5))


def a_tie() -> Leaderboard:
    """Two models with the same scores, and a third below."""
    same = model("p/same", 7.0)
    return board(
        [{**cells, "model": name, "log": f"/logs/{name[2:]}.eval"} for name in ("p/x", "p/y")
         for cells in same],
        model("p/bad", 4.0),
    )  # fmt: skip


def no_clear_best() -> Leaderboard:
    """Models so near to each other that none is best."""
    return board(
        model("p/one", 6.2), model("p/two", 6.1), model("p/three", 6.05), model("p/bad", 3.5)
    )


def too_few_questions() -> Leaderboard:
    """So few questions that no difference can be significant."""
    return board(model("p/one", 8.0, questions=4), model("p/two", 4.0, questions=4))


def few_questions_of_two_intents() -> Leaderboard:
    """Enough questions of one intent, and too few of two others."""
    kinds = ("factual_qa-en", "api-en", *["leisure-en"] * 6)
    return board(model("p/good", 7.0, kinds), model("p/bad", 4.5, kinds))


def leads_of_one_intent() -> Leaderboard:
    """A lead that comes from the questions of one intent alone."""
    better = model("p/first", 5.0, change=lambda number: {})
    for cells in better:
        lead = 2.5 if cells["intent"] == "leisure" else 0.0
        cells["final"] = min(10.0, cells["final"] + lead)
    return board(better, model("p/second", 5.0))


def languages_with_different_bests() -> Leaderboard:
    """One model is better in English, the other in Chinese."""

    def better_in(code: str) -> Change:
        def change(number: int) -> dict[str, Any]:
            language = BOTH[number % 4].partition("-")[2]
            high = 8.0 if language == code else 5.0
            return {"final": high + number % 3 - 1}

        return change

    return board(
        model("p/english", 6.0, BOTH, 48, better_in("en")),
        model("p/chinese", 6.0, BOTH, 48, better_in("zh")),
        model("p/bad", 3.0, BOTH, 48),
    )


def intents_reported_together() -> Leaderboard:
    """Two intents that count under one group, with countries."""
    kinds = ("api-en", "solve_professional_problem-en", "leisure-en")

    def change(number: int) -> dict[str, Any]:
        return {"country": ("Chile", "Peru", "")[number % 4 % 3]}

    return board(
        model("p/good", 7.0, kinds, 36, change), model("p/bad", 5.0, kinds, 36, change)
    )  # fmt: skip


# --- missing scores ---


def missing_scores_of_every_outcome() -> Leaderboard:
    """Answers without a score, empty, cut off and failed, one model with each."""

    def change(number: int) -> dict[str, Any]:
        outcomes = {
            1: ("unscored_refusal", NAN),
            5: ("unscored_no_key", NAN),
            9: ("no_response", 1.0),
            10: ("no_response_cut_off", 1.0),
            13: ("answer_cut_off", 4.0),
            17: ("error", NAN),
            21: ("not_judged", NAN),
        }
        if number not in outcomes:
            return {}
        outcome, final = outcomes[number]
        return {"outcome": outcome, "final": final, "cut_off": outcome.endswith("cut_off")}

    return board(model("p/whole", 7.0), model("p/lacking", 5.0, change=change))


def a_lead_depends_on_unscored_answers() -> Leaderboard:
    """A lead that holds only if the missing scores are like the others."""
    lost = unscored(0, 1, 2, 3, 4, 5, 6, 7)
    return board(
        model("p/first", 7.0, change=lost), model("p/second", 6.4), model("p/bad", 3.0)
    )  # fmt: skip


def a_model_takes_most_questions_away() -> Leaderboard:
    """A model without a third of its scores, and one with too few to be ranked."""
    return board(
        model("p/first", 7.0),
        model("p/second", 5.0),
        model("p/third", 4.0, change=unscored(*range(8))),
        model("p/few", 6.0, change=unscored(*range(14))),
    )


def asked_unlike() -> Leaderboard:
    """One model attempted fewer questions, and was judged with structured output."""
    return board(
        model("p/first", 7.0, structured=0.0),
        model("p/second", 5.0, questions=18, structured=1.0),
        model("p/third", 4.0, structured=0.5),
    )


# --- samples that belong together ---


def clusters() -> Leaderboard:
    """Questions of twelve users, of whom one log names another for two questions."""

    def user(number: int) -> dict[str, Any]:
        return {"cluster": f"user {number // 2}"}

    def other_user(number: int) -> dict[str, Any]:
        return {"cluster": "user 0" if number in (22, 23) else f"user {number // 2}"}

    return board(model("p/first", 7.0, change=user), model("p/second", 6.5, change=other_user))


def several_epochs() -> Leaderboard:
    """Three epochs, of which the last has an answer without a score."""
    made = []
    for name, level in (("p/first", 7.0), ("p/second", 6.0)):
        for epoch in (1, 2, 3):
            lost = unscored(6) if epoch == 3 and name == "p/second" else unscored()
            answers_of_epoch = model(name, level + 0.3 * (epoch % 2), epoch=epoch, change=lost)
            for number, cells in enumerate(answers_of_epoch):
                if (number + epoch) % 3 == 0:
                    cells["final"] = max(1.0, cells["final"] - 1)
            made.append(answers_of_epoch)
    return board(*made)


def judged_again() -> Leaderboard:
    """Answers that the same judge has judged twice."""

    def change(number: int) -> dict[str, Any]:
        earlier = float(3 + number % 5)
        return {
            "earlier_finals": (earlier,),
            "earlier_judge_finals": ({"p/judge": earlier},),
        }

    return board(model("p/first", 7.0, change=change), model("p/second", 5.0, change=change))


# --- judges ---


def panel(scores: Callable[[int], Mapping[str, float]]) -> Change:
    """Scores of the judges of a panel, whose mean counts."""

    def change(number: int) -> dict[str, Any]:
        given = dict(scores(number))
        known = [value for value in given.values() if not math.isnan(value)]
        facts: dict[str, Any] = {
            "judges": ", ".join(given),
            "judge_finals": given,
            "final": sum(known) / len(known) if known else NAN,
        }
        if not known:
            facts["outcome"] = "unscored_refusal"
        elif len(known) < len(given):
            facts["outcome"] = "partial_panel"
        return facts

    return change


def _two(level: float, number: int) -> dict[str, float]:
    base = level + (7 * number) % 5 - 2
    return {"p/judge": base, "p/strict": max(1.0, base - 1 - number % 2)}


@cache
def a_panel() -> Leaderboard:
    """Two judges, of which one is stricter."""
    return board(
        model("p/first", 7.0, change=panel(lambda number: _two(7.0, number))),
        model("p/second", 5.0, change=panel(lambda number: _two(5.0 + number % 2, number))),
    )


def a_panel_that_failed_in_part() -> Leaderboard:
    """One judge of a panel gave some answers no score, and both none to one."""

    def partly(number: int) -> dict[str, float]:
        scores = _two(5.0, number)
        if number % 6 == 0:
            scores["p/strict"] = NAN
        if number == 12:
            scores["p/judge"] = NAN
        return scores

    return board(
        model("p/first", 7.0, change=panel(lambda number: _two(7.0, number))),
        model("p/second", 5.0, change=panel(partly)),
    )


def one_model_before_a_panel_that_failed_in_part() -> Leaderboard:
    """A single model, to whose answers one judge gave no score now and then."""

    def partly(number: int) -> dict[str, float]:
        scores = _two(5.0, number)
        if number % 6 == 0:
            scores["p/strict"] = NAN
        return scores

    return board(model("p/only", 5.0, change=panel(partly)))


def a_silent_judge() -> Leaderboard:
    """A judge of the panel that scored no answer."""

    def silent(level: float) -> Change:
        return panel(lambda number: {**_two(level, number), "p/silent": NAN})

    return board(
        model("p/first", 7.0, change=silent(7.0)), model("p/second", 5.0, change=silent(5.0))
    )


def self_judging() -> Leaderboard:
    """The judge is one of the models."""
    return board(
        model("p/judge", 7.0, self_judged=True), model("p/other", 5.0)
    )  # fmt: skip


def a_flat_judge() -> Leaderboard:
    """A judge that gives one score to all answers; no price is known, two logs were left out."""
    reasons = ("a.eval was left out: it did not finish.", "b.eval was left out: another task.")
    same: dict[str, Any] = {"change": lambda number: {"final": 7.0}, "judge_cost": NAN}
    return board(model("p/first", 7.0, **same), model("p/second", 7.0, **same), left_out=reasons)


def a_judge_with_the_top_mark() -> Leaderboard:
    """A judge that gives the top mark to 49 of 50 answers."""
    return board(
        model("p/first", 7.0, questions=25, change=lambda number: {"final": 10.0}),
        model("p/second", 7.0, questions=25, change=lambda n: {"final": 10.0 if n else 6.0}),
    )


def simulated() -> Leaderboard:
    """Simulated models before a simulated judge."""
    judge = "urs_simulation/judge"
    return board(
        model("urs_simulation/good", 7.0, judges=judge, answer_length=300.0),
        model("urs_simulation/weak", 5.0, judges=judge),
    )


def nothing_judged_by_a_model() -> Leaderboard:
    """No judge: all answers are empty."""
    empty: dict[str, Any] = {
        "outcome": "no_response",
        "judges": "",
        "judge_finals": {},
        "cost": 0.01,
        "judge_cost": NAN,
    }
    return board(model("p/empty", 1.0, change=lambda number: {"final": 1.0}, **empty))


def checks_of_the_judge() -> Leaderboard:
    """A judge with a result of every kind of check."""
    made = a_clear_best_of_two()
    return _with_checks(made, _every_check())


def a_judge_without_a_check() -> Leaderboard:
    """A judge of which nothing was checked."""
    made = a_clear_best_of_two()
    people = CheckRun("judge_pairwise", ("p/judge",), ("a.eval",), is_under_test=True)
    facts = [
        JudgeFact("people", "p/judge", run=people),
        JudgeFact("labels", "p/judge", run=replace(people, task="md_eval")),
        JudgeFact("null answers", "p/judge", run=CheckRun("urs_probe", ("p/judge",), ("a.eval",))),
        JudgeFact("itself", "p/judge"),
    ]
    return _with_checks(made, facts)


def a_judge_that_fails_often() -> Leaderboard:
    """A judge that failed more checks than a sentence names, and no command to run."""
    made = a_clear_best_of_two()
    facts = [
        fact for fact in _every_check() if fact.verdict in ("failed", "unclear", "passed")
    ]  # fmt: skip
    constant = _fact("null answers", 7.0, 6.5, 7.5, null_answer="constant", lowest=1, baseline=4)
    labelled = Labelled("accuracy", "my pairs", "experts'", 0.75)
    pairs = _fact("labels", 0.7, 0.6, 0.74, labelled=labelled, baseline=0.75)
    return _with_checks(made, [*facts, constant, pairs])


def checks_of_a_panel() -> Leaderboard:
    """A panel of which one judge failed a check."""
    panel = "p/judge, p/strict"
    facts = [
        _fact("people", 0.6, 0.4, 0.7, judge=panel, baseline=0.0),
        _fact("people", -0.1, -0.4, 0.2, judge="p/strict", baseline=0.0, files=("ratings.csv",)),
        _fact(
            "GPT-4",
            0.45,
            0.4,
            0.48,
            judge="p/strict",
            baseline=0.5,
            labelled=Labelled("accuracy", "md_eval", "GPT-4's", 0.4),
        ),
        JudgeFact("repeats", panel, run=CheckRun("", ("p/judge", "p/strict"), ("a.eval",))),
    ]
    return _with_checks(a_panel(), facts)


def _with_checks(made: Leaderboard, facts: Sequence[JudgeFact]) -> Leaderboard:
    [ranking] = made.rankings
    return replace(made, rankings=(replace(ranking, judge_checks=tuple(facts)),))


def estimate(value: float, low: float = NAN, high: float = NAN, n: int = 40) -> Estimate:
    """A number with its interval."""
    return Estimate(value, low, high, n, n, 0.95, 200, 0)


def _fact(
    check: Any, value: float, low: float, high: float, judge: str = "p/judge", **facts: Any
) -> JudgeFact:
    return JudgeFact(check, judge, estimate(value, low, high), **facts)


def _every_check() -> list[JudgeFact]:
    of_pairs = CheckRun("md_eval", ("p/judge",), ("a.eval",), is_under_test=True)
    people = Labelled("Pearson", "rated", "people's", NAN)
    pairs = Labelled("accuracy", "mt_bench_people", "people's", 0.62)
    other = Labelled("accuracy", "my pairs", "experts'", NAN)
    padded = JudgeShift("padded", "padded text", estimate(0.6, 0.4, 0.8), "failed")
    praise = JudgeShift("additions", "praise text", estimate(0.0, -0.1, 0.1), "passed")
    flaw = JudgeShift("flaws", "number text", estimate(-2.0, -2.4, -1.6), "passed")
    replies = Counter({**dict.fromkeys(REPLY_COUNTS, 1), REPLIES: 1200})
    return [
        _fact("people", 0.62, 0.4, 0.8, baseline=0.0, files=("ratings.csv",)),
        _fact("people", 0.55, 0.3, 0.7, labelled=people, baseline=0.0, files=("a.eval",)),
        _fact("people", 0.7, 0.64, 0.75, labelled=pairs, baseline=0.62, files=("b.eval",)),
        _fact(
            "labels", 0.5, 0.4, 0.6, labelled=other, baseline=0.5, files=("c.eval",), rubric="x 2"
        ),
        _fact("repeats", 0.0, 0.0, 0.0),
        _fact("null answers", 2.0, 1.5, 2.5, null_answer="constant", lowest=1, baseline=4),
        _fact("null answers", 1.0, 1.0, 1.0, null_answer="empty", lowest=1, baseline=1),
        _fact("null answers", 8.1, 7.9, 8.3, null_answer="reference", lowest=7, baseline=9),
        _fact("null answers", 5.0, 3.0, 7.0, null_answer="injection", lowest=1, baseline=4),
        _fact("padded", 0.6, 0.4, 0.8, shift=padded, files=("t.eval",)),
        _fact("additions", 0.0, -0.1, 0.1, shift=praise, files=("t.eval",), other_prompts=True),
        _fact("flaws", -2.0, -2.4, -1.6, shift=flaw, files=("t.eval",)),
        _fact("itself", 0.3, 0.1, 0.5, leniency_included=True),
        JudgeFact("GPT-4", "p/judge", run=of_pairs),
        _fact("keys", 0.001, NAN, NAN, replies=replies),
    ]


# --- what answers are ---


def cut_off_and_not_shown() -> Leaderboard:
    """Answers cut off at the limit, parts that no judge saw, and temperatures that differ."""

    def change(number: int) -> dict[str, Any]:
        return {
            "cut_off": number in (2, 5, 7),
            "outcome": "answer_cut_off" if number in (2, 5, 7) else "judged",
            "not_shown": {3: "image 1", 4: "image 1", 6: "file 2"}.get(number, ""),
            "judge_temperatures": "0 (not sent)" if number < 10 else "0.7",
        }

    def other(number: int) -> dict[str, Any]:
        return {
            "cut_off": number == 1,
            "outcome": "answer_cut_off" if number == 1 else "judged",
            "judge_temperatures": "0",
        }

    return board(model("p/first", 7.0, change=change), model("p/second", 5.0, change=other))


def copies() -> Leaderboard:
    """Two models with the same answers, and one with some of them."""

    def text(number: int) -> dict[str, Any]:
        return {"answer_digest": f"answer {number}"}

    def some(number: int) -> dict[str, Any]:
        return {"answer_digest": f"answer {number}" if number < 3 else f"other {number}"}

    def one(number: int) -> dict[str, Any]:
        return {"answer_digest": "other 5" if number == 5 else f"own {number}"}

    return board(
        model("p/a", 7.0, change=text),
        model("p/b", 6.0, change=text),
        model("p/c", 5.0, change=some),
        model("p/d", 4.0, change=one),
    )


def answers_without_texts() -> Leaderboard:
    """Answers of unknown length and text, as of logs without either; three logs were left out."""
    blank: dict[str, Any] = {"answer_length": NAN, "answer_digest": ""}
    reasons = tuple(f"{name}.eval was left out: it did not finish." for name in "abc")
    return board(model("p/first", 7.0, **blank), model("p/second", 5.0, **blank), left_out=reasons)


def lengths_that_overlap() -> Leaderboard:
    """The first model writes about twice as much as the second, and most as the third."""

    def of(size: float) -> Change:
        return lambda number: {"answer_length": size * (1 + number % 4) + 10 * number}

    return board(
        model("p/first", 7.0, change=of(400.0)),
        model("p/second", 5.0, change=of(200.0)),
        model("p/third", 4.5, change=of(420.0)),
        control="length",
    )


# --- shares, prices and people ---


def a_mix_of_languages() -> Leaderboard:
    """Three quarters of the user's requests are Chinese; one intent has no share."""
    mix = TrafficMix(
        "my mix.yaml",
        {
            "languages": {"en": 0.25, "zh": 0.75},
            "intents": {"leisure": 0.6, "factual_qa": 0.4},
        },
    )
    kinds = (*BOTH, "api-en")
    return board(
        model("p/first", 7.0, kinds, 40), model("p/second", 6.5, kinds, 40), traffic=mix
    )  # fmt: skip


def prices_of_some() -> Leaderboard:
    """What the answers of one model cost is not known, nor what the judge did."""
    return board(
        model("p/dear", 7.0, cost=0.02, judge_cost=NAN),
        model("p/free", 6.0, cost=0.0, judge_cost=NAN),
        model("p/unknown", 5.0, judge_cost=NAN, input_tokens=NAN, seconds=NAN),
    )


def people(
    rated: Mapping[str, Sequence[int]],
    made: Sequence[Rows],
    *,
    raters: Sequence[str] = ("ann", "bo"),
    bias: Mapping[str, float] | None = None,
    scale: tuple[float, float] = (1.0, 10.0),
    weighted: bool = False,
) -> HumanRatings:
    """Ratings of some questions of models, that differ from the judge's by a bias."""
    found: list[HumanRating] = []
    for rows in made:
        name = rows[0]["model"]
        for number in rated.get(name, ()):
            cells = rows[number]
            for place, rater in enumerate(raters):
                wanted = cells["final"] + (bias or {}).get(name, 0.0)
                wanted += ((number * 5 + place) % 3 - 1) * 0.5
                rating = min(10.0, max(1.0, wanted))
                low, high = scale
                mapped = low + (rating - 1) / 9 * (high - low)
                weight = float(1 + number % 2) if weighted else 1.0
                found.append(
                    HumanRating(
                        cells["question"], name, None, rater, mapped, f"row {len(found)}", weight
                    )
                )
    return HumanRatings(Path("ratings.csv"), scale, tuple(found), weighted=weighted)


def _three() -> list[Rows]:
    return [
        model("p/first", 7.0, questions=48),
        model("p/second", 6.5, questions=48),
        model("p/third", 4.0, questions=48),
    ]


_NAMES = ("p/first", "p/second", "p/third")


def people_turn_the_order() -> Leaderboard:
    """People like the second model more, on another scale; some answers weigh twice."""
    made = _three()
    ratings = people(
        dict.fromkeys(_NAMES, range(0, 48, 2)),
        made,
        bias={"p/first": -3.0, "p/second": 1.0},
        scale=(1.0, 5.0),
        weighted=True,
    )
    doubt = ScaleDoubt(highest=3.0, ratings=72, usual=(1.0, 3.0))
    ratings = replace(ratings, doubt=doubt, unused=UnusedRatings(repeated=2))
    return board(*made, human=ratings)


def people_without_names() -> Leaderboard:
    """Ratings of nobody in particular, too few of the third model, one of nothing."""
    made = _three()
    rated = {"p/first": range(24), "p/second": range(24), "p/third": range(3)}
    ratings = people(rated, made, raters=("",))
    lost = HumanRating("nowhere-en-1", "p/first", None, "", 5.0, "row 99")
    return board(*made, human=replace(ratings, ratings=(*ratings.ratings, lost)))


# --- several rankings ---


def several_rankings() -> Leaderboard:
    """Models that cannot be ranked with the first two: by other judges, and on few questions."""
    return board(
        model("p/first", 7.0),
        model("p/second", 6.8),
        model("p/third", 6.0, judges="p/other, p/more", rubric=""),
        model("p/fourth", 4.0, judges="p/other, p/more", rubric=""),
        model("p/half", 6.0, questions=10),
    )


def with_runs() -> Leaderboard:
    """The runs of a report, one of them by an unknown version and without a judge."""
    models = (model("p/first", 7.0), model("p/second", 5.0))
    found = answers(*models)
    run = Run(
        "first.eval", "p/first", ("p/judge", "p/more"), "inspect eval urs", "2026-01-01", "a" * 64,
        "b" * 64, "01", "0.3", 1200,
    )  # fmt: skip
    other = replace(run, log="second.eval", model="p/second", judges=(), package="", samples=24)
    return board_of(
        replace(found, runs={"/logs/p/first.eval": run, "/logs/p/second.eval": other}),
        command="urs-inspect report logs",
        level=0.9,
        seed=3,
    )


SCENARIOS: dict[str, Callable[[], Leaderboard]] = {
    made.__name__: cache(made)
    for made in (
        one_model_lacks_scores,
        no_model_has_a_score,
        a_clear_best_of_two,
        a_tie,
        no_clear_best,
        too_few_questions,
        few_questions_of_two_intents,
        leads_of_one_intent,
        languages_with_different_bests,
        intents_reported_together,
        missing_scores_of_every_outcome,
        a_lead_depends_on_unscored_answers,
        a_model_takes_most_questions_away,
        asked_unlike,
        clusters,
        several_epochs,
        judged_again,
        a_panel_that_failed_in_part,
        one_model_before_a_panel_that_failed_in_part,
        a_silent_judge,
        self_judging,
        a_flat_judge,
        a_judge_with_the_top_mark,
        simulated,
        nothing_judged_by_a_model,
        checks_of_the_judge,
        a_judge_without_a_check,
        a_judge_that_fails_often,
        checks_of_a_panel,
        cut_off_and_not_shown,
        copies,
        answers_without_texts,
        lengths_that_overlap,
        a_mix_of_languages,
        prices_of_some,
        people_turn_the_order,
        people_without_names,
        several_rankings,
        with_runs,
    )
}
