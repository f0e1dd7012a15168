"""`judge_rating` through the harness, with scripted judges."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage

from tests.reports.json_files import write_rows
from tests.tasks.scripted import (
    Reply,
    Script,
    judge_numbers,
    metric_values,
    output,
    record,
    run,
    samples_of,
)
from urs_inspect._util import InputError
from urs_inspect.datasets import load_ratings
from urs_inspect.judging._prompts import rating_prompt
from urs_inspect.stats import correlate
from urs_inspect.tasks import judge_rating

Rows = list[dict[str, object]]
WriteRatings = Callable[[Rows], str]

# Labels 1 2 3 4 on prompts of their own.
ROWS: Rows = [
    {
        "id": f"r{n}",
        "prompt": f"Question {n}?",
        "response": f"Answer {n}.",
        "rating": n,
        "group": "odd" if n % 2 else "even",
    }
    for n in (1, 2, 3, 4)
]
URS_ROWS: Rows = [
    {**row, "group": None, "reference": "The best.", "language": "en", "intent": intent}
    for row, intent in zip(ROWS, ["leisure", "leisure", "factual_qa", "factual_qa"], strict=True)
]


@pytest.fixture
def ratings(tmp_path: Path) -> WriteRatings:
    return lambda rows: str(write_rows(tmp_path / "labels.jsonl", *rows))


def judge_of(replies: dict[int, Reply]) -> Script:
    """A judge that gives each numbered answer its reply."""

    def reply(messages: list[ChatMessage]) -> Reply:
        [given] = [text for n, text in replies.items() if f"Answer {n}." in messages[-1].text]
        return given

    return Script(reply)


def rated(log: EvalLog) -> dict[str, float]:
    assert log.status == "success", log.error
    return {**metric_values(log, "rating_agreement"), **judge_numbers(log)}


def score(rating: object) -> str:
    return json.dumps({"reasons": "so", "score": rating})


# --- the plain prompt ---


def test_ratings_are_correlated_with_labels(ratings: WriteRatings, tmp_path: Path) -> None:
    judge = judge_of({1: score(1), 2: score(3), 3: score(2), 4: score(5)})
    log = run(judge_rating(ratings(ROWS), scale="1,5"), tmp_path, model=judge.model())
    found = rated(log)
    # Labels 1 2 3 4, ratings 1 3 2 5. Deviations -1.5 -.5 .5 1.5 and -1.75 .25 -.75 2.25: products
    # 2.625 - .125 - .375 + 3.375 = 5.5, squares 5 and 8.75. Ranks 1 3 2 4: 1 - 6 * 2 / 60.
    # One of six pairs is discordant.
    assert found["pearson"] == pytest.approx(5.5 / math.sqrt(5 * 8.75))
    assert found["spearman"] == pytest.approx(0.8)
    assert found["kendall"] == pytest.approx(4 / 6)
    assert found["mean difference"] == pytest.approx((0 + 1 - 1 + 1) / 4)
    assert found["unread"] == 0
    # Of two items each: 1 -> 1, 3 -> 2 and 2 -> 3, 4 -> 5 agree in order.
    assert found["pearson scenario=odd"] == pytest.approx(1)
    assert found["mean difference scenario=even"] == pytest.approx(1)
    assert found["distance"] == pytest.approx((0 + 1 + 1 + 1) / 4)
    assert not any(
        name.endswith(("low", "high")) for name in found
    )  # of four responses no interval is reported
    assert log.results is not None and log.results.headline is not None
    assert (log.results.headline.scorer, log.results.headline.metric) == (
        "rating_agreement",
        "pearson",
    )


def test_the_judge_sees_system_and_user_message_at_temperature_0(
    ratings: WriteRatings, tmp_path: Path
) -> None:
    judge = Script(score(3))
    run(judge_rating(ratings(ROWS[:1]), scale=[0, 10]), tmp_path, model=judge.model())
    [[system, user]] = judge.seen
    prompt = rating_prompt("Question 1?", "Answer 1.", "", lowest=0, highest=10)
    assert (system.role, system.text) == ("system", prompt.instructions)
    assert (user.role, user.text) == ("user", prompt.case)
    assert judge.configs[0].temperature == 0


def test_unread_replies_are_counted_and_never_become_ratings(
    ratings: WriteRatings, tmp_path: Path
) -> None:
    judge = judge_of(
        {1: score(1), 2: score(9), 3: "I'm sorry, I cannot rate this.", 4: output("", error="gone")}
    )
    log = run(judge_rating(ratings(ROWS), scale="1-5"), tmp_path, model=judge.model())
    found = rated(log)
    assert (found["unread"], found["failures"]) == (0.75, 3)
    failures = {name: count for name, count in found.items() if name.startswith("failures ")}
    assert failures == {
        "failures out_of_range": 1,
        "failures refusal": 1,
        "failures call_failed": 1,
    }
    assert math.isnan(found["pearson"])
    by_id = {sample.id: (sample.scores or {})["rating_agreement"] for sample in samples_of(log)}
    assert {
        name: (given.reason, (given.metadata or {}).get("failure_mode"))
        for name, given in by_id.items()
    } == {
        "r1": (None, None),
        "r2": ("invalid_response_format", "out_of_range"),
        "r3": ("refusal", "refusal"),
        "r4": ("no_response", "call_failed"),
    }


def test_responses_are_in_the_same_random_order_every_time(ratings: WriteRatings) -> None:
    names = [f"x{n:02d}" for n in range(20)]
    bench = ratings([{**ROWS[0], "id": name} for name in names])
    orders = [
        [str(sample.id) for sample in judge_rating(bench, scale="1,5").dataset] for _ in range(2)
    ]
    assert orders[0] == orders[1] != names
    assert sorted(orders[0]) == names


# --- the judge of URS under test ---


def test_with_the_rubric_the_judge_is_asked_as_in_urs_and_reported_by_intent(
    ratings: WriteRatings, tmp_path: Path
) -> None:
    intents = {1: "leisure", 2: "leisure", 3: "factual_qa", 4: "factual_qa"}
    judge = judge_of({n: record(2 * n, intent=intent) for n, intent in intents.items()})
    log = run(
        judge_rating(ratings(URS_ROWS), rubric="urs", scale="1,5"), tmp_path, model=judge.model()
    )
    found = rated(log)
    assert found["pearson"] == found["pearson intent=leisure"] == pytest.approx(1)
    assert "pearson intent=factual_qa" in found
    assert not any("scenario=" in name for name in found)  # the group is the intent
    # Ratings 2 4 6 8 of 1 to 10 on the scale 1 to 5: 1 + (x - 1) * 4 / 9; less labels 1 2 3 4: 4/9
    # (1+3+5+7) + 4 - 10.
    assert found["mean difference"] == pytest.approx((4 / 9 * 16 + 4 - 10) / 4)
    assert all("The best." in messages[-1].text for messages in judge.seen)
    [leisure] = [s for s in samples_of(log) if s.id == "r1"]
    score_of_one = (leisure.scores or {})["rating_agreement"]
    assert (score_of_one.metadata or {})["criteria"]["creativity"] == 2
    assert isinstance(score_of_one.value, dict)
    assert score_of_one.value["distance"] == pytest.approx(4 / 9)


# --- bad input ---


def test_an_unknown_intent_is_named(ratings: WriteRatings) -> None:
    row = {"language": "en", **ROWS[0], "intent": "nonsense"}
    with pytest.raises(InputError, match="unknown intent 'nonsense'"):
        judge_rating(ratings([row]), rubric="urs")


# --- the published predictions ---


@pytest.mark.data
def test_the_published_predictions_of_gpt_4o_are_correlated_as_in_table_2(
    data_dir: Path, tmp_path: Path
) -> None:
    """A fourth of the rows; that all give Table 2 of the SaMer paper is tested with correlations."""
    path = data_dir / "judge_bench" / "vicuna_predictions" / "gpt-4o.json"
    predicted = {
        rating_prompt(row["instruction"], row["response"], "", lowest=1, highest=5).case: int(
            row["pred_score"]
        )
        for row in json.loads(path.read_text(encoding="utf-8"))
    }
    judge = Script(lambda messages: score(predicted[messages[-1].text]))
    task = judge_rating("vicuna")
    ids = [sample.id for sample in task.dataset][::4]
    found = rated(run(task, tmp_path, model=judge.model(), sample_id=ids))
    cases = [case for case in load_ratings("vicuna").cases if case.id in ids]
    given = []
    for case in cases:
        prompt = rating_prompt(case.prompt, case.response, "", lowest=1, highest=5)
        given.append(predicted[prompt.case])
    prompts = [case.prompt for case in cases]
    assert len(cases) == 80
    expected = correlate([case.rating for case in cases], given, prompts)
    for name in ("pearson", "spearman", "kendall"):
        assert found[name] == pytest.approx(getattr(expected, name).value)
    assert found["unread"] == 0
    assert sum(name.startswith("unread scenario=") for name in found) == 9
