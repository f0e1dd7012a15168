"""`judged_again` and `twin_shifts` from scores alone."""

import math
from collections.abc import Mapping
from typing import Any

import anyio
import numpy as np
import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState

from urs_inspect._util import InputError
from urs_inspect.judges._twins import PADDED
from urs_inspect.judges._twins_scorer import judged_again, scored_twins, slope_of, twin_shifts

ONE, OTHER = PADDED[:2]


def twin(
    kind: str, pair: int, final: float, key: str = "final", doublings: float = 1.0
) -> SampleScore:
    facts = {
        "twin": kind,
        "pair": pair,
        "model": "m",
        "question": f"q{pair}",
        "doublings": doublings,
    }
    return SampleScore(score=Score(value={key: final}), sample_metadata=facts)


def rows(kinds: list[str], *scores: SampleScore) -> dict[str, float]:
    metric: Any = twin_shifts(kinds)
    return dict(metric(list(scores)))


@pytest.mark.parametrize("key", ["final", "rating"])
def test_a_shift_is_the_twin_less_its_answer_in_the_order_of_the_kinds(key: str) -> None:
    scores = [
        twin("original", 1, 5, key),
        twin("original", 2, 7, key),
        twin("flattery", 1, 8, key),
        twin("flattery", 2, 8, key),
        twin("truncated", 2, 3, key),
        twin("truncated", 3, 9, key),
    ]
    found = rows(["truncated", "flattery", "other"], *scores)
    assert list(found) == ["truncated", "flattery", "other"]
    assert (found["truncated"], found["flattery"]) == (-4, 2)
    assert math.isnan(found["other"])


def test_twins_stay_in_the_order_in_which_they_were_judged() -> None:
    kinds = ("truncated", "flattery", "authority")
    facts = [
        {"twin": kind, "pair": pair, "model": "m", "question": f"q{pair}", "doublings": 0.0}
        for pair in (3, 1, 2)
        for kind in ("original", *kinds)
    ]
    found = scored_twins([(fact, float(place)) for place, fact in enumerate(facts)])
    assert found["pair"].tolist() == [3, 3, 3, 1, 1, 1, 2, 2, 2]
    assert found["twin"].tolist() == [*kinds] * 3
    assert found["shift"].tolist() == [1, 2, 3] * 3


def test_epochs_are_averaged_before_they_are_compared() -> None:
    scores = [
        twin("original", 1, 4),
        twin("original", 1, 6),
        twin("flattery", 1, 9),
        twin("flattery", 1, 5),
        twin("flattery", 1, math.nan),
    ]
    assert rows(["flattery"], *scores) == {"flattery": 2}


def test_what_padding_moves_is_told_for_each_doubling_and_without_padding_not() -> None:
    padded = [
        twin("original", 1, 5),
        twin("original", 2, 5),
        twin(ONE, 1, 6, doublings=1.0),
        twin(ONE, 2, 8, doublings=2.0),
        twin("flattery", 1, 10, doublings=0.1),
    ]
    found = rows([ONE, "flattery"], *padded)
    # Least squares through the origin: (1 * 1 + 2 * 3) / (1 + 4)
    assert found == {ONE: 2, "flattery": 5, "per doubling": pytest.approx(7 / 5)}
    assert "per doubling" not in rows(["flattery"], padded[0], padded[-1])


def test_a_scorer_without_final_scores_has_no_rows_and_a_run_that_begins_has() -> None:
    other = SampleScore(score=Score(value={"outcome": "judged"}), sample_metadata={})
    assert rows(["flattery"], other) == {}
    assert list(rows(["flattery"])) == ["flattery"]


def test_shifts_and_slope_against_a_slow_count() -> None:
    drawn = np.random.default_rng(3)
    kinds = ["original", ONE, OTHER, "flattery"]
    judged: list[tuple[Mapping[str, Any], float]] = []
    for pair in range(12):
        for kind in kinds:
            doublings = float(drawn.uniform(0.5, 2))
            for _ in range(2):
                final = float(drawn.integers(1, 11))
                if drawn.random() < 0.2:
                    final = math.nan
                facts = {
                    "twin": kind,
                    "pair": pair,
                    "model": f"m{pair % 2}",
                    "question": f"q{pair % 5}",
                    "doublings": doublings,
                }
                judged.append((facts, final))

    def mean(pair: int, kind: str) -> float:
        given = [
            final
            for facts, final in judged
            if (facts["pair"], facts["twin"]) == (pair, kind) and not math.isnan(final)
        ]
        return sum(given) / len(given) if given else math.nan

    expected = {}
    for pair in range(12):
        for kind in kinds[1:]:
            shift = mean(pair, kind) - mean(pair, "original")
            if not math.isnan(shift):
                expected[pair, kind] = shift
    table = scored_twins(judged)
    found = {(row.pair, row.twin): row.shift for row in table.itertuples()}
    assert found == pytest.approx(expected)
    padded = table[table["twin"].isin(PADDED)]
    products = (padded["doublings"] * padded["shift"]).sum()
    assert slope_of(padded).value == pytest.approx(products / (padded["doublings"] ** 2).sum())


# --- a scorer that is made again ---


@scorer(metrics=[accuracy()], name="of_a_test")
def of_a_test(reply: str = "score") -> Scorer:
    """Gives the number in the metadata of a sample, or whatever else is asked for."""

    async def score(state: TaskState, target: Target) -> Score | None:
        if reply == "none":
            return None
        if reply == "error":
            raise RuntimeError("broken")
        if reply == "refused":
            return Score.unscored(reason="refusal", explanation="No.")
        number = state.metadata["number"]
        return Score(value=number, answer=f"{sorted(state.metadata)}", explanation="Why.")

    return score


def again(reply: str = "score", number: Any = 7) -> tuple[Score, dict[str, Any]]:
    """A score, and the metadata of the sample afterwards."""
    facts = {"sample": {"number": number}, "twin": "original"}
    state = TaskState(
        ModelName("m/x"), "s", 1, "?", [], output=ModelOutput.from_content("m", ""), metadata=facts
    )
    scorer = judged_again("of_a_test", {"reply": reply})
    try:
        score = anyio.run(scorer, state, Target(""))
    except RuntimeError:
        score = Score(value="error")
    assert score is not None
    return score, state.metadata


@pytest.mark.parametrize(("number", "final"), [(7, 7), ("C", 1), ("I", 0), ("0.5", 0.5), (True, 1)])
def test_a_score_is_read_as_a_number_from_the_answer_s_own_metadata(
    number: Any, final: float
) -> None:
    score, facts = again(number=number)
    assert score.value == {"final": final}
    assert (score.answer, score.explanation) == ("['number']", "Why.")
    assert facts["twin"] == "original"


@pytest.mark.parametrize(
    ("reply", "number", "reason"),
    [
        ("none", 7, "no_response"),
        ("refused", 7, "refusal"),
        ("score", "many", "no_response"),
        ("score", {"a": 1}, "no_response"),
        ("score", math.nan, "no_response"),
    ],
)
def test_no_number_is_no_score_with_its_reason(reply: str, number: Any, reason: str) -> None:
    score, _ = again(reply, number)
    assert score.reason == reason
    assert isinstance(score.value, float) and math.isnan(score.value)
    if reply == "refused":
        assert score.explanation == "No."


def test_an_error_of_the_scorer_leaves_the_metadata_as_they_were() -> None:
    score, facts = again("error")
    assert score.value == "error"
    assert facts == {"sample": {"number": 7}, "twin": "original"}


@pytest.mark.parametrize(
    ("name", "options"), [("no_such_scorer", {}), ("of_a_test", {"unknown": 1})]
)
def test_a_scorer_that_cannot_be_made_again_is_named(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        judged_again(name, options)
    message = str(caught.value)
    assert message.startswith("answers: ") and name in message and "\n" not in message
