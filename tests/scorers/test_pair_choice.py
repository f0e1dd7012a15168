"""From judges' replies to an outcome, and from outcomes to what is reported."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import Metric, MetricProtocol, SampleScore, Score, Target
from inspect_ai.solver import TaskState

from urs_inspect._util import InputError
from urs_inspect.discrepancy._ballots import Ballot
from urs_inspect.judging._pair_reply import REPLIES, First, PairReply
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.scorers import human_choice, pair_choice
from urs_inspect.scorers._pair_choice import competition_report, ratings

BALLOT = Ballot.between("i", "Why?", {"p/x": "one", "p/y": "two"})


def said(judge: str, first: First, winner: str) -> dict[str, Any]:
    """A reply kept by the solver; `winner` is the place named, or something that cannot be read."""
    reply = (
        json.dumps({"comparison": "…", "winner": winner}) if winner in ("1", "2", "tie") else winner
    )
    return {"judge": judge, **asdict(PairReply(first, (OVERALL,), reply))}


def scored(scorer, *replies: dict[str, Any], epoch: int = 1, **facts: Any) -> Score | None:
    state = TaskState(
        model=ModelName("none/none"),
        sample_id="s",
        epoch=epoch,
        input="?",
        messages=[],
        metadata={"phase": "compare", "ballot": BALLOT.to_dict(), **facts},
    )
    state.store.set(REPLIES, list(replies))
    found: Score | None = anyio.run(scorer, state, Target(""))
    return found


def judged(*replies: dict[str, Any], **facts: Any) -> Score:
    found = scored(pair_choice(), *replies, **facts)
    assert found is not None
    return found


def outcome(score: Score) -> float:
    assert isinstance(score.value, dict)
    return float(score.value["outcome"])


# Per reply: judge, response shown first, place that it names; a first wins with 1, b first with 2.
PANELS: list[tuple[str, list[tuple[str, First, str]], float]] = [
    ("both orders for x", [("j", "a", "1"), ("j", "b", "2")], 1.0),
    ("both orders for y", [("j", "a", "2"), ("j", "b", "1")], 0.0),
    ("another one each time", [("j", "a", "1"), ("j", "b", "1")], 0.5),
    ("a tie in one order", [("j", "a", "1"), ("j", "b", "tie")], 0.5),
    ("one order only", [("j", "b", "1")], 0.0),
    ("one of two orders unread", [("j", "a", "1"), ("j", "b", "?")], math.nan),
    ("two of three judges", [("j", "a", "1"), ("k", "a", "1"), ("l", "a", "2")], 1.0),
    ("one judge each", [("j", "a", "1"), ("k", "a", "2")], 0.5),
    ("all three different", [("j", "a", "1"), ("k", "a", "2"), ("l", "a", "tie")], 0.5),
    ("the readable judge", [("j", "a", "?"), ("k", "a", "2")], 0.0),
    ("nothing", [], math.nan),
]


@pytest.mark.parametrize(
    ("replies", "expected"), [case[1:] for case in PANELS], ids=[case[0] for case in PANELS]
)
def test_outcome(replies: list[tuple[str, First, str]], expected: float) -> None:
    assert outcome(judged(*[said(*reply) for reply in replies])) == pytest.approx(
        expected, nan_ok=True
    )


def test_swapping_the_sides_of_every_reply_swaps_the_outcome() -> None:
    for _, replies, expected in PANELS:
        swapped = [
            said(judge, "b" if first == "a" else "a", winner) for judge, first, winner in replies
        ]
        assert outcome(judged(*swapped)) == pytest.approx(1 - expected, nan_ok=True)


def test_names_are_short_in_the_value_and_whole_elsewhere() -> None:
    score = judged(said("j", "a", "1"))
    assert score.value == {"outcome": 1.0, "model_a": "x", "model_b": "y"}
    assert score.answer == "p/x"
    assert score.metadata is not None
    assert (score.metadata["model_a"], score.metadata["verdict"], score.metadata["flips"]) == (
        "p/x",
        "a",
        0,
    )
    assert "### j: p/x" in (score.explanation or "")


def test_an_unread_verdict_has_a_reason_and_no_outcome() -> None:
    score = judged(said("j", "a", "Both are fine."))
    assert math.isnan(outcome(score))
    assert score.reason == "invalid_response_format"
    assert score.metadata is not None
    assert (score.metadata["outcome"], score.metadata["failures"], score.answer) == (
        "unread",
        ["unparseable"],
        "none",
    )


def test_what_an_earlier_run_said_stands_in_the_first_epoch() -> None:
    facts = {"previous": {"outcome": 0.0, "judges": ["j"], "orders": {"j": {"a": "b", "b": "b"}}}}
    score = judged(**facts)
    assert (outcome(score), (score.metadata or {})["previous"]) == (0.0, True)
    assert scored(pair_choice(), epoch=2, **facts) is None
    answers = TaskState(ModelName("none/none"), "s", 1, "?", [], metadata={"phase": "answer"})
    assert anyio.run(pair_choice(), answers, Target("")) is None  # of contestants
    unread = judged(previous={"outcome": None, "judges": ["j"]})
    assert math.isnan(outcome(unread)) and (unread.metadata or {})["outcome"] == "unread"


def votes(path: Path, *choices: tuple[str, str]) -> str:
    lines = [
        json.dumps({"ballot": BALLOT.id, "annotator": who, "choice": said}) + "\n"
        for who, said in choices
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def test_people_s_majority_counts(tmp_path: Path) -> None:
    one = votes(tmp_path / "one.jsonl", ("ann", "b"), ("bo", "a"))
    two = votes(tmp_path / "two.jsonl", ("cy", "b"))
    score = scored(human_choice([one, two]))
    assert score is not None
    assert outcome(score) == 0.0
    assert score.explanation == "Votes: a: 1, tie: 0, b: 2; cannot tell: 0."
    assert scored(human_choice([one, two]), epoch=2) is None
    shared = scored(human_choice(one))
    assert shared is not None and outcome(shared) == 0.5


def test_without_new_votes_earlier_ones_of_people_stand_and_verdicts_of_judges_do_not(
    tmp_path: Path,
) -> None:
    other = {"ballot": "another", "annotator": "ann", "choice": "a"}
    file = tmp_path / "other.jsonl"
    file.write_text(json.dumps(other) + "\n", encoding="utf-8")
    scorer = human_choice(str(file))
    stands = scored(scorer, previous={"outcome": 0.0, "judges": ["human"]})
    assert stands is not None and outcome(stands) == 0.0
    waits = scored(scorer, previous={"outcome": 0.0, "judges": ["j"]})
    assert waits is not None and math.isnan(outcome(waits))


def test_nobody_s_vote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"votes: no vote.*none\.jsonl"):
        human_choice(votes(tmp_path / "none.jsonl"))


# ## What is reported


def metric(made: Metric) -> MetricProtocol:
    return cast(MetricProtocol, made)


def result(one: str, other: str, outcome: float, **facts: Any) -> SampleScore:
    known = {
        "model_a": one,
        "model_b": other,
        "outcome": "unread" if math.isnan(outcome) else "judged",
        **facts,
    }
    return SampleScore(
        score=Score(value={"outcome": outcome}, metadata=known), sample_id=str(facts.get("id", "s"))
    )


def test_ratings_are_those_of_the_wins_the_best_first() -> None:
    scores = [
        result("p/x", "p/y", value, instruction_id=str(n)) for n, value in enumerate([0, 0, 0, 1])
    ]
    found = metric(ratings())(scores)
    assert isinstance(found, dict)
    assert list(found) == ["p/y", "p/x"]
    x, y = (float(found[name]) for name in ("p/x", "p/y"))
    # Three wins to one are odds of 3, 400 * log10(3) = 191 points apart, less what the prior takes.
    assert 140 < y - x < 191
    assert (x + y) / 2 == pytest.approx(1000, abs=0.1)


def test_before_the_first_verdict_there_are_counts_only() -> None:
    scores = [result("x", "y", math.nan, failures=["unparseable", "refusal"])]
    assert metric(ratings())(scores) == {}
    assert metric(competition_report())(scores) == {
        "comparisons": 0,
        "unread": 1,
        "awaiting votes": 0,
        "failures refusal": 1,
        "failures unparseable": 1,
    }


def test_habits_of_judges_are_counted_over_all_orders() -> None:
    """Of three verdicts in both orders one flips.

    Of five that are no tie three name the response shown first.
    """
    orders = [
        {"j": {"a": "a", "b": "b"}},  # a flip: the first one each time
        {"j": {"a": "b", "b": "b"}},  # once the second, once the first
        {"j": {"a": "tie", "b": "tie"}},
        {"j": {"a": "b", "b": None}},  # not in both orders; the second
    ]
    scores = [result("x", "y", 0.5, orders=given) for given in orders]
    found = metric(competition_report())(scores)
    assert isinstance(found, dict)
    assert (found["flips"], found["first shown preferred"]) == (
        pytest.approx(1 / 3),
        pytest.approx(3 / 5),
    )


def test_answers_that_were_not_compared_are_reported_once() -> None:
    lacking = {"p/x": {"missing": 2, "empty": 0}, "p/y": {"missing": 0, "empty": 3}}
    found = metric(competition_report())([result("x", "y", 1.0, lacking=lacking) for _ in range(4)])
    assert isinstance(found, dict)
    assert {key: value for key, value in found.items() if "answers" in key} == {
        "p/x missing answers": 2,
        "p/y empty answers": 3,
    }


def test_facts_of_the_ranking_stand_in_the_report() -> None:
    """Twenty instructions, of which x wins all but one against y, and y and z share theirs."""
    scores = []
    for number in range(20):
        scores.append(result("p/x", "p/y", float(number != 7), instruction_id=f"i{number}"))
        scores.append(
            result("p/y", "p/z", (1.0, 0.5, 0.0, 0.5)[number % 4], instruction_id=f"i{number}")
        )
    waiting = {"model_a": "p/x", "model_b": "p/z", "outcome": "awaiting_votes"}
    scores.append(SampleScore(score=Score(value={"outcome": math.nan}, metadata=waiting)))
    scores.append(SampleScore(score=Score(value={"other": 1}), sample_id="answers"))
    found = metric(competition_report())(scores)
    assert isinstance(found, dict)
    assert (found["comparisons"], found["unread"], found["awaiting votes"]) == (40, 0, 1)
    assert (found["ties"], found["separated neighbours"], found["groups that compare"]) == (
        10,
        0.5,
        1,
    )
    best = metric(ratings())(scores)
    assert isinstance(best, dict)
    for name in ("p/x", "p/y", "p/z"):
        low, high = float(found[f"{name} low"]), float(found[f"{name} high"])
        assert low < float(best[name]) < high
        assert round(low, 1) == low and round(float(best[name]), 1) == best[name]
    apart = metric(competition_report())([*scores, result("v", "w", 1.0)])
    assert isinstance(apart, dict) and float(apart["groups that compare"]) > 1


def test_verdicts_on_one_instruction_are_one_cluster() -> None:
    def width(instructions: int) -> float:
        scores = [
            result("x", "y", float(number % 3 > 0), instruction_id=f"i{number % instructions}")
            for number in range(60)
        ]
        found = metric(competition_report())(scores)
        assert isinstance(found, dict)
        return float(found["x high"]) - float(found["x low"])

    # Twenty instructions whose verdicts are all alike are not sixty.
    alike = [
        result("x", "y", float(number % 20 % 3 > 0), instruction_id=f"i{number % 20}")
        for number in range(60)
    ]
    found = metric(competition_report())(alike)
    assert isinstance(found, dict)
    assert float(found["x high"]) - float(found["x low"]) > 1.3 * width(60)


def test_names_that_would_be_equal_stay_whole() -> None:
    same = Ballot.between("i", "Why?", {"p/x": "one", "q/x": "two"})
    score = judged(said("j", "a", "1"), ballot=same.to_dict())
    assert score.value == {"outcome": 1.0, "model_a": "p/x", "model_b": "q/x"}


def test_a_score_tells_flips_failures_and_what_each_judge_said() -> None:
    score = judged(
        said("j", "a", "1"), said("j", "b", "1"), said("k", "a", "?"), said("k", "b", "2")
    )
    facts = score.metadata or {}
    assert facts["judges"] == ["j", "k"]
    assert facts["orders"] == {"j": {"a": "a", "b": "b"}, "k": {"a": None, "b": "a"}}
    assert (facts["flips"], facts["failures"], facts["outcome"]) == (1, ["unparseable"], "judged")
    assert [failure["judge"] for failure in facts["failure_details"]] == ["k"]
    assert (outcome(score), score.answer, score.reason) == (0.5, "tie", None)
    explanation = score.explanation or ""
    assert "### j: tie" in explanation and "### k: unread" in explanation
    assert "**p/y shown first: p/y**" in explanation
    assert "**p/x shown first: unread** (unparseable" in explanation


@pytest.mark.parametrize(("extra", "is_cut"), [(0, False), (1, True), (500, True)])
def test_a_long_reply_is_cut_in_the_explanation(extra: int, is_cut: bool) -> None:
    explanation = judged(said("j", "a", "x" * 4000 + "y" * extra)).explanation or ""
    assert ("(cut)" in explanation) == is_cut
    assert explanation.count("x" * 4000) == 1
    assert "yy" not in explanation


def test_ballots_of_people_wait_and_what_they_lack_is_kept() -> None:
    lacking = {"p/x": {"missing": 2}}
    score = scored(pair_choice("human"), lacking=lacking)
    assert score is not None
    facts = score.metadata or {}
    assert math.isnan(outcome(score)) and score.reason is None
    assert (facts["outcome"], facts["judges"], facts["lacking"]) == (
        "awaiting_votes",
        ["human"],
        lacking,
    )
    assert (judged(said("j", "a", "1"), lacking=lacking).metadata or {})["lacking"] == lacking
    earlier = judged(previous={"outcome": None, "judges": ["human"], "votes": {"a": 1}, "x": 2})
    assert (earlier.metadata or {})["outcome"] == "awaiting_votes"
    assert (earlier.metadata or {})["votes"] == {"a": 1} and "x" not in (earlier.metadata or {})


def test_nobody_s_and_undecided_votes_wait_with_a_reason(tmp_path: Path) -> None:
    unsure = scored(human_choice(votes(tmp_path / "unsure.jsonl", ("ann", "cannot_tell"))))
    other = json.dumps({"ballot": "another", "annotator": "ann", "choice": "a"})
    file = tmp_path / "other.jsonl"
    file.write_text(f"{other}\n", encoding="utf-8")
    nobody = scored(human_choice(str(file)))
    assert unsure is not None and nobody is not None
    for score in (unsure, nobody):
        assert math.isnan(outcome(score)) and score.answer == "none"
        assert (score.metadata or {})["outcome"] == "awaiting_votes"
    assert unsure.explanation != nobody.explanation
    assert "could not tell" in (unsure.explanation or "")


def test_votes_are_counted_by_side_with_those_who_cannot_tell(tmp_path: Path) -> None:
    given = ("a", "a", "tie", "b", "cannot_tell", "a")
    file = votes(tmp_path / "votes.jsonl", *((f"v{n}", one) for n, one in enumerate(given)))
    score = scored(human_choice(file))
    assert score is not None
    assert (score.metadata or {})["votes"] == {"a": 3, "tie": 1, "b": 1, "cannot_tell": 1}
    assert (outcome(score), score.answer) == (1.0, "p/x")
