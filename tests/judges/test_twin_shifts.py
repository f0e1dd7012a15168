"""What a log of twins says of its judge, worked out by hand."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    read_eval_log,
)
from inspect_ai.scorer import Score

from tests.reports.judged_logs import JUDGE, answered, judgement, write_judged
from urs_inspect.judges._twin_shifts import KindShift, Twins, read_largest, read_twins
from urs_inspect.stats import Estimate
from urs_inspect.stats._power import smallest_difference

NAN = math.nan


def kind(effect: Any, low: float, high: float) -> KindShift:
    shift = Estimate((low + high) / 2, low, high, 20, 20)
    return KindShift("k", "K", effect, shift, gained=0.5, smallest=0.3, small=0.25)


@pytest.mark.parametrize(
    ("effect", "low", "high", "verdict"),
    [
        ("nothing", 0.01, 1.0, "adds"),
        ("nothing", 0.0, 0.3, "cannot tell"),
        ("nothing", -0.01, 0.25, "cannot tell"),
        ("nothing", -0.01, 0.24, "adds nothing"),
        ("nothing", -2.0, 0.24, "adds nothing"),
        ("nothing", -2.0, 0.0, "adds nothing"),
        ("nothing", -2.0, -0.01, "takes away"),
        ("nothing", -2.0, 2.0, "cannot tell"),
        ("flaw", -2.0, -0.01, "costs"),
        ("flaw", -0.2, -0.01, "costs"),
        ("flaw", -0.2, 0.0, "is not noticed"),
        ("flaw", -0.24, 2.0, "is not noticed"),
        ("flaw", -0.25, 2.0, "cannot tell"),
        ("flaw", -2.0, 0.0, "cannot tell"),
        ("flaw", 0.01, 1.0, "is not noticed"),
        ("nothing", NAN, NAN, "too few"),
        ("flaw", NAN, NAN, "too few"),
    ],
)
def test_the_verdict_on_a_kind_is_that_of_its_interval(
    effect: str, low: float, high: float, verdict: str
) -> None:
    assert kind(effect, low, high).verdict == verdict


def text(
    twin: str, pair: int, final: float, *, question: str = "", doublings: float = 0.0
) -> EvalSample:
    """An answer or a twin of it; `pair` is the number of the answer."""
    about = {
        "twin": twin,
        "pair": pair,
        "model": "p/model",
        "question": question or f"q{pair}",
        "doublings": doublings,
    }
    score = judgement(final)
    if math.isnan(final):
        score = Score.unscored(reason="refusal")
    return answered(f"{twin}:{pair}", score, metadata=about)


def twins_log(path: Path, *samples: EvalSample, **facts: Any) -> EvalLog:
    about = {"scale": [1, 10], "equal_to_original": {}, **facts}
    roles = {"grader": [JUDGE, "p/second"]}
    location = write_judged(
        path / "twins.eval",
        *samples,
        task="urs_inspect/judge_twins",
        model="none/none",
        roles=roles,
        metadata=about,
    )
    return read_eval_log(location, header_only=True)


def texts_of(shifts: dict[str, list[float]], start: float = 5.0) -> list[EvalSample]:
    """Answers with this score to a question each, and twins with scores that differ by so much."""
    number = max(map(len, shifts.values()))
    samples = [text("original", pair, start) for pair in range(number)]
    for twin, own in shifts.items():
        doublings = {"padded_half": 0.5, "padded_double": 1.0}.get(twin, 0.0)
        samples += [
            text(twin, pair, start + shift, doublings=doublings) for pair, shift in enumerate(own)
        ]
    return samples


def of_kind(twins: Twins, name: str) -> KindShift:
    [found] = [kind for kind in twins.kinds if kind.kind == name]
    return found


SHIFTS = {
    "truncated": [-1.0, 0.0, -2.0, 1.0, -3.0, -1.0],
    "padded_double": [2.0, 1.0, 0.0, 1.0, -1.0, 0.0],
    "mine": [0.0, 0.0, 1.0, 0.0, 0.0, 2.0],
    "padded_half": [1.0, 0.0, 0.0, 0.0, 1.0, 1.0],
}


def test_every_number_of_a_log_by_hand(tmp_path: Path) -> None:
    unscored = [text("flattery", 0, NAN), text("original", 9, NAN), text("padded_half", 9, 5.0)]
    left_out = {"flattery/en": 2, "flattery/zh": 3, "wrong_number": 1, "truncated": 0}
    log = twins_log(tmp_path, *texts_of(SHIFTS), *unscored, equal_to_original=left_out)
    twins = read_twins(log)
    assert twins.judges == (JUDGE, "p/second")
    assert (twins.answers, twins.unscored) == (6, 2)
    assert twins.left_out == {"flattery": 5, "wrong_number": 1}
    assert (twins.scale, twins.judged_by) == ((1.0, 10.0), "intent_judge")
    assert twins.log.samples is None and twins.log.location == log.location
    # in the order of the run, those of the user's own last
    assert [kind.kind for kind in twins.kinds] == [
        "padded_half",
        "padded_double",
        "truncated",
        "mine",
    ]
    flaws = {kind.kind: kind.effect for kind in twins.kinds}
    assert flaws["truncated"] == "flaw" and flaws["padded_half"] == flaws["mine"] == "nothing"
    assert of_kind(twins, "mine").title == "mine"
    quantile = 2.570582  # of Student's t with 5 degrees of freedom
    for name, shifts in SHIFTS.items():
        found = of_kind(twins, name)
        error = float(np.std(shifts, ddof=1)) / math.sqrt(6)
        assert found.shift.value == pytest.approx(np.mean(shifts))
        half = (found.shift.high - found.shift.low) / 2
        assert half == pytest.approx(quantile * error, rel=1e-4)
        assert found.gained == pytest.approx(sum(shift > 0 for shift in shifts) / 6)
        assert found.smallest == pytest.approx(smallest_difference(error, 6), nan_ok=True)
        assert found.small == 0.25
    # sum of doublings x shift over sum of squares: (0.5 * 3 + 1 * 3) / (6 * 0.25 + 6 * 1)
    assert twins.slope is not None
    slope = 4.5 / 7.5
    assert twins.slope.value == pytest.approx(slope)
    # the interval of a regression through the origin whose clusters are questions
    sums = [
        sum(
            doublings * (SHIFTS[name][pair] - slope * doublings)
            for name, doublings in (("padded_half", 0.5), ("padded_double", 1.0))
        )
        for pair in range(6)
    ]
    of_slope = math.sqrt(sum(one**2 for one in sums) * 6 / 5) / 7.5
    half = (twins.slope.high - twins.slope.low) / 2
    assert half == pytest.approx(quantile * of_slope, rel=1e-4)


def test_answers_to_one_question_are_one_cluster_and_two_answers(tmp_path: Path) -> None:
    samples = []
    for pair in range(16):
        question = f"q{pair // 2}"
        samples.append(text("original", pair, 5.0, question=question))
        samples.append(text("truncated", pair, 5.0 - pair // 2, question=question))
    found = of_kind(read_twins(twins_log(tmp_path, *samples)), "truncated")
    # two equal shifts of a question say no more than one
    error = float(np.std(np.arange(8), ddof=1)) / math.sqrt(8)
    assert (found.shift.n, found.shift.clusters) == (16, 8)
    assert found.smallest == pytest.approx(smallest_difference(error, 8), rel=1e-6)


def test_of_two_models_one_question_is_two_answers(tmp_path: Path) -> None:
    samples = texts_of({"truncated": [-1.0, -2.0]})
    second = texts_of({"truncated": [-1.0, -2.0]})
    for place, sample in enumerate(second):
        sample.id = f"second:{place}"
        assert sample.metadata is not None
        sample.metadata |= {"model": "p/two", "pair": sample.metadata["pair"] + 2}
        sample.metadata |= {"question": f"q{sample.metadata['pair'] - 2}"}
    twins = read_twins(twins_log(tmp_path, *samples, *second))
    assert twins.answers == 4
    assert of_kind(twins, "truncated").shift.clusters == 2


@pytest.mark.parametrize("scale", [(1, 10), (1, 5), (0, 1), (0, 0.5)])
def test_on_another_scale_less_is_small(tmp_path: Path, scale: tuple[float, float]) -> None:
    twins = read_twins(twins_log(tmp_path, *texts_of(SHIFTS), scale=list(scale)))
    assert twins.scale == scale
    width = scale[1] - scale[0]
    for found in twins.kinds:
        assert found.small == pytest.approx(width / 36)


def test_a_log_that_names_its_scorer_and_no_scale(tmp_path: Path) -> None:
    log = twins_log(tmp_path, *texts_of(SHIFTS), judged_by="own(highest=9)")
    assert log.eval.metadata is not None
    del log.eval.metadata["scale"]
    twins = read_twins(log.model_copy(update={"samples": read_eval_log(log.location).samples}))
    assert (twins.scale, twins.judged_by) == ((1.0, 10.0), "own(highest=9)")


@pytest.mark.parametrize(("number", "width"), [(5, 9.0), (6, 9.0), (6, 0.5), (12, 1.0)])
def test_equal_shifts_leave_what_a_share_of_the_questions_may_hide(
    tmp_path: Path, number: int, width: float
) -> None:
    shifts = {"truncated": [-0.25] * number, "padded_half": [0.0] * number}
    twins = read_twins(twins_log(tmp_path, *texts_of(shifts), scale=[1, 1 + width]))
    found = of_kind(twins, "truncated")
    slope = twins.slope
    assert slope is not None and slope.value == 0
    if number < 6:
        assert math.isnan(found.shift.low) and math.isnan(found.smallest)
        assert math.isnan(slope.high)
        return
    hidden = (1 - 0.025 ** (1 / number)) * min(width, 1)
    assert found.smallest == pytest.approx(hidden)
    assert found.shift.low == pytest.approx(-0.25 - hidden)
    assert found.shift.high == pytest.approx(-0.25 + hidden)
    # half a doubling each: a point is worth two a doubling
    assert (slope.low, slope.high) == pytest.approx((-2 * hidden, 2 * hidden))


def test_without_padding_there_is_no_slope(tmp_path: Path) -> None:
    assert read_twins(twins_log(tmp_path, *texts_of({"flattery": [1.0] * 6}))).slope is None


# --- for the report of the answers ---


def header(location: str, samples: int, *, padded: bool) -> EvalLog:
    """The header of a log of twins that does not exist."""
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="urs_inspect/judge_twins",
        model=JUDGE,
        dataset=EvalDataset(),
        config=EvalConfig(),
    )
    metrics = {"per doubling": EvalMetric(name="per doubling", value=1.0)} if padded else {}
    score = EvalScore(name="s", scorer="s", metrics=metrics)
    results = EvalResults(total_samples=samples, completed_samples=samples, scores=[score])
    return EvalLog(eval=spec, results=results, location=location)


@pytest.mark.parametrize(
    ("logs", "first"),
    [
        ([("small", 10, True), ("large", 20, True), ("unpadded", 90, False)], "large"),
        ([("small", 10, False), ("large", 20, False)], "large"),
        ([("padded", 10, True), ("unpadded", 20, False)], "padded"),
    ],
)
def test_the_largest_log_counts_and_padded_ones_come_first(
    logs: list[tuple[str, int, bool]], first: str
) -> None:
    headers = [header(name, samples, padded=padded) for name, samples, padded in logs]
    unread: list[Any] = []
    # None of these files exists, so that each is tried in turn.
    assert read_largest(headers, unread) is None
    assert len(unread) == len(logs) and unread[0].name == first


def test_each_kind_is_a_check_of_its_own(tmp_path: Path) -> None:
    shifts = {
        "padded_half": [-0.5, 0.5] * 3,
        "padded_double": [1.0] * 6,
        "flattery": [0.0, 0.1] * 3,
        "truncated": [-2.0] * 6,
        "mine": [1.0] * 6,
    }
    log = twins_log(tmp_path, *texts_of(shifts))
    found = read_largest([log], [])
    twins = read_twins(log)
    assert found is not None and (found.log, found.slope) == ("twins.eval", twins.slope)
    assert [(shift.check, shift.verdict) for shift in found.shifts] == [
        ("padded", "unclear"),
        ("padded", "failed"),
        ("additions", "passed"),
        ("flaws", "passed"),
        ("additions", "failed"),
    ]
    for shift, kind in zip(found.shifts, twins.kinds, strict=True):
        assert (shift.title, shift.points) == (kind.title, kind.shift)
