"""What the report of `trust` says, in every case, and the rules for single scores and labels."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inspect_ai.log import read_eval_log

from tests.comparison.test_compare import sample_scores
from tests.comparison.test_people import labels
from tests.comparison.test_samples import write_log
from tests.reports.golden_files import check_golden
from urs_inspect._util import InputError
from urs_inspect.comparison._trust import (
    Escalation,
    PeoplesLabels,
    _read_judges,
    _read_prices,
    _tolerance,
    price_of,
    signs_of,
    trust,
)
from urs_inspect.comparison._trust_report import report_trust
from urs_inspect.comparison._trust_statistics import NOBODY, Shown
from urs_inspect.reports.numbers._human_data import read_human_ratings

NAN = math.nan


def escalation(taken: Sequence[float], by: Sequence[int], shown: Shown, **facts: Any) -> Escalation:
    """What was found of judges that take these shares, and who gives each answer its score."""
    names = [f"p/judge{place}" for place in range(len(taken))]
    judges = pd.DataFrame({"judge": names, "taken": taken, "labels": 30, "agreed": 28})
    givers = [*names, "", "person"]
    answers = pd.DataFrame(
        {
            "sample": [f"s{place}" for place in range(len(by))],
            "model": "m",
            "by": [givers[number] for number in by],
            "value": 1.0,
        }
    )
    scores = {name: sample_scores(pd.DataFrame(), simulated=False) for name in names}
    known: dict[str, Any] = {"prices": {}, "final": False, "left_out": []}
    return Escalation(shown, judges, answers, scores, **known | facts)


def shown(*by: int, **facts: Any) -> Shown:
    return Shown(np.array(by), at_least=0.9, miss=0.1, labels=40, **facts)


PRICES = {"p/judge0": 0.01, "p/judge1": 0.1, "person": 2.0}
CASES: dict[str, tuple[Escalation, int | None]] = {
    "some, by two judges": (
        escalation(
            [0.25, 0.25],
            [0, 1, -2, -1],
            shown(0, 1, NOBODY, NOBODY, tested=30, agreed=27),
            prices=PRICES,
            left_out=["A log was left out."],
        ),
        200,
    ),
    "some, without the price of a person": (
        escalation(
            [0.5],
            [0, -2],
            replace(shown(0, NOBODY), at_least=0.8, miss=0.05),
            prices={"p/judge0": 0.01},
        ),
        None,
    ),
    "some, without the price of a judge": (
        escalation([0.5], [0, -2], shown(0, NOBODY), prices={"person": 2.0}),
        None,
    ),
    "all": (escalation([0.0, 1.0], [1, 1], shown(1, 1), prices=PRICES, final=True), 10),
    "none, and more labels might": (
        escalation([0.0, 0.0], [-2, -2], shown(NOBODY, NOBODY, tested=20, agreed=20)),
        100,
    ),
    "none, and no number would": (
        escalation([0.0], [-2, -2], shown(NOBODY, NOBODY, tested=20, agreed=2)),
        None,
    ),
}


def test_the_report_of_every_kind_of_trust() -> None:
    parts = []
    for name, (found, budget) in CASES.items():
        made = report_trust(found, budget, "urs-inspect trust")
        facts = {key: made.as_dict()[key] for key in ("headline", "rest", "left_out")}
        rest = made.tables()["rest"].to_csv(index=False).split()
        parts.append(
            f"<!-- {name} -->\n\n{made.markdown()}\n    {json.dumps(facts)}\n    rest: {rest}\n"
        )
    check_golden("trust_cases", "\n".join(parts))


def test_one_simulated_judge_of_several_is_said() -> None:
    found, _ = CASES["some, by two judges"]
    name = "p/judge1"
    simulated = replace(found.scores[name], simulated=True)
    made = report_trust(replace(found, scores=found.scores | {name: simulated}), None, "")
    assert made.sections[0].title == "Simulation"
    assert report_trust(found, None, "").sections[0].title == "Judges"


# --- rules ---


@pytest.mark.parametrize(
    ("scale", "within", "tolerance"),
    [
        ((1, 10), None, 1.0),
        ((1, 5), None, 1.0),
        ((0, 2), None, 0.998),
        ((0, 1), None, 0.499),
        ((0, 1), 0.25, 0.25),
        ((1, 10), 4.4, 4.4),
        ((0, 1), 0.0, 0.0),
        ((1, 10), 4.5, None),
        ((0, 1), 0.6, None),
    ],
)
def test_how_far_a_score_may_be_from_a_label(
    scale: tuple[float, float], within: float | None, tolerance: float | None
) -> None:
    if tolerance is None:
        with pytest.raises(InputError, match="within"):
            _tolerance(scale, within)
    else:
        assert _tolerance(scale, within) == pytest.approx(tolerance)


def sign_by_hand(scores: Sequence[Sequence[float]], judge: int, answer: int) -> float:
    """On a scale from 1 to 5, of which each judge before has a quarter of its mean gap."""
    own = scores[judge][answer]
    if math.isnan(own):
        return -math.inf
    sure = abs(own - 3)
    gaps = []
    for before in scores[:judge]:
        gap = abs(before[answer] - own)
        gaps.append(4 if math.isnan(gap) else gap)
    if gaps:
        sure -= sum(gaps) / len(gaps) / 4
    return sure / 4


def test_signs_are_those_of_a_loop() -> None:
    draws = np.random.default_rng(1)
    scores = draws.integers(1, 6, (3, 40)).astype(float)
    scores[draws.random(scores.shape) < 0.15] = NAN
    found = signs_of(scores, (1.0, 5.0))
    for judge in range(3):
        for answer in range(40):
            expected = sign_by_hand(scores.tolist(), judge, answer)
            assert found[judge, answer] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("by", "price"),
    [
        ([0, 0, 0, 0], 1.0),
        ([1, 1, 0, 0], 1 + 10 / 2),
        ([1, 1, 1, 1], 1 + 10),
        ([2, NOBODY, 0, 1], 1 + 10 * 3 / 4 + 100 * 2 / 4 + 1000 / 4),
        ([NOBODY] * 4, 1000),
    ],
)
def test_the_price_of_an_answer_is_that_of_all_who_are_asked(by: list[int], price: float) -> None:
    assert price_of(np.array(by), [1.0, 10.0, 100.0], 1000.0) == pytest.approx(price)


@pytest.mark.parametrize(
    ("given", "prices"),
    [
        (("p/j=0.5", "person=2"), {"p/j": 0.5, "person": 2.0}),
        (("p/j=0",), {"p/j": 0.0}),
        (("a=b=1",), {"a=b": 1.0}),
        (("p/j=-1",), None),
        (("p/j=inf",), None),
        (("p/j=cheap",), None),
        (("other=1",), None),
        (("p/j",), None),
    ],
)
def test_prices_are_numbers_of_judges_and_people(
    given: tuple[str, ...], prices: dict[str, float] | None
) -> None:
    judges = ["p/j", "a=b"]
    if prices is not None:
        assert _read_prices(given, judges) == prices
        return
    with pytest.raises(InputError) as refused:
        _read_prices(given, judges)
    assert given[0] in refused.value.message and "p/j" in refused.value.message


# --- logs and labels ---

NUMBER = 40


def write(folder: Path, judge: str, values: Sequence[Any], model: str = "m", **facts: Any) -> str:
    (where := folder / f"{judge}-{model}").mkdir(parents=True)
    roles = {"grader": {"model": f"p/{judge}"}} if judge else {}
    return write_log(where, model, values, scorer="graded", model_roles=roles, **facts)


def found_of(
    logs: Sequence[str], file: Path, scale: tuple[float, float] = (0, 1), **options: Any
) -> Escalation:
    rest = options.pop("rest", None)
    known: dict[str, Any] = {
        "scorer": (),
        "task": None,
        "price": (),
        "within": None,
        "at_least": 0.8,
        "sure": 0.9,
    }
    of_rest = None if rest is None else read_human_ratings(rest, scale)
    people = PeoplesLabels(read_human_ratings(file, scale), of_rest)
    return trust(logs, people, **known | options)


RIGHT = [float(place % 3 > 0) for place in range(NUMBER)]


def test_judges_are_named_by_scorer_and_model(tmp_path: Path) -> None:
    logs = [
        write(tmp_path, "j", RIGHT, others={"match": 1.0}),
        write(tmp_path, "k", RIGHT, day=2),
        write(tmp_path, "", RIGHT, model="n", day=3),
    ]
    left_out: list[str] = []
    assert list(_read_judges(logs, (), None, left_out)) == ["p/j", "p/k", "graded"]
    two = _read_judges(logs[:2], ("graded", "match", "graded"), None, left_out)
    assert list(two) == ["p/j", "p/k", "match"]
    assert any("match" in sentence for sentence in left_out)  # of the log that lacks it
    both = write(tmp_path, "i", RIGHT, others={"second": 1.0})
    assert list(_read_judges([both], ("second", "graded"), None, [])) == ["p/i", "graded p/i"]


def test_the_cheapest_judge_is_first_where_all_prices_are_known(tmp_path: Path) -> None:
    names = ("dear", "cheap", "fair")
    logs = [write(tmp_path, name, RIGHT, day=day) for day, name in enumerate(names, 1)]
    rows = [(place, "m", int(RIGHT[place])) for place in range(30)]
    file = labels(tmp_path, rows)
    prices = ("p/dear=3", "p/cheap=1", "p/fair=2")
    found = found_of(logs, file, price=prices)
    assert list(found.scores) == found.judges["judge"].tolist() == ["p/cheap", "p/fair", "p/dear"]
    found = found_of(logs, file, price=prices[1:])
    assert list(found.scores) == ["p/dear", "p/cheap", "p/fair"]


def test_weights_that_differ_are_left_out_with_a_sentence(tmp_path: Path) -> None:
    log = write(tmp_path, "j", RIGHT)
    for weights, said in (((2, 2), False), ((1, 2), True)):
        rows = [(place, "m", int(RIGHT[place]), weights[place % 2]) for place in range(30)]
        found = found_of([log], labels(tmp_path, rows, "weight"))
        assert any("eights" in sentence for sentence in found.left_out) == said


def test_people_agree_where_most_of_them_do(tmp_path: Path) -> None:
    log = write(tmp_path, "j", RIGHT)
    rows = []
    for place in range(20):
        others = {0: "rrr", 1: "rrw", 2: "rww", 3: "rw"}[place % 4]
        for number, kind in enumerate(others):
            label = RIGHT[place] if kind == "r" else 1 - RIGHT[place]
            rows.append((place, "m", int(label), f"rater{number}"))
    [row] = found_of([log], labels(tmp_path, rows, "rater")).judges.to_dict("records")
    assert (row["labels"], row["agreed"]) == (20, 10)


def test_a_score_just_as_far_as_allowed_agrees(tmp_path: Path) -> None:
    log = write(tmp_path, "j", [1.0 + place % 5 for place in range(NUMBER)])
    rows = [(place, "m", 1 + (place + 1) % 5) for place in range(NUMBER)]
    file = labels(tmp_path, rows)  # one point off, or four where 1 stands beside 5
    [row] = found_of([log], file, (1, 5)).judges.to_dict("records")
    assert row["agreed"] == NUMBER * 4 // 5
    [row] = found_of([log], file, (1, 5), within=0.99).judges.to_dict("records")
    assert row["agreed"] == 0


def test_answers_of_people_have_their_median_and_others_the_score_of_their_judge(
    tmp_path: Path,
) -> None:
    log = write(tmp_path, "j", [1.0 + place % 5 for place in range(NUMBER)])
    rows = [(place, "m", 1 + place % 5, "ann") for place in range(30)]
    rows += [(0, "m", 1, "ben"), (0, "m", 5, "cas")]
    (folder := tmp_path / "rest").mkdir()
    rest = labels(folder, [(35, "m", 2, "ann"), (35, "m", 3, "ben")], "rater")
    found = found_of([log], labels(tmp_path, rows, "rater"), (1, 5), rest=rest)
    given = {}
    for answer in found.answers.to_dict("records"):
        given[answer["sample"]] = (answer["by"], answer["value"])
    assert given["0"] == ("person", 1.0)
    assert given["7"] == ("person", 3.0)
    assert given["35"] == ("person", 2.5)
    assert given["36"] == ("p/j", 2.0)
    assert found.final
    assert found.shown.labels == 30  # nothing is learned of the rest
    assert (found.shown.at_least, found.shown.miss) == pytest.approx((0.8, 0.1))


def test_nothing_is_final_before_the_rest_is_labelled(tmp_path: Path) -> None:
    wrong = [1 - value for value in RIGHT]
    log = write(tmp_path, "j", wrong)
    rows = [(place, "m", int(RIGHT[place])) for place in range(20)]
    found = found_of([log], labels(tmp_path, rows))
    assert not found.final
    assert (found.answers["by"] == "").sum() == NUMBER - 20
    assert found.answers.loc[found.answers["by"] == "", "value"].isna().all()
    assert not report_trust(found, None, "").figures


def test_final_scores_are_the_mean_of_who_gave_them_in_each_epoch(tmp_path: Path) -> None:
    values = [value for value in RIGHT for _ in range(2)]
    log = write(tmp_path, "j", values, epochs=2)
    rows = [(place, "m", int(RIGHT[place])) for place in range(30)]
    found = found_of([log], labels(tmp_path, rows))
    made: dict[str, Any] = dict(report_trust(found, None, "").figures)
    [(name, content)] = made.items()
    assert name.startswith("trusted_1_")
    (copy := tmp_path / "copy.eval").write_bytes(content())
    read = read_eval_log(str(copy))
    given = {}
    for sample in read.samples or []:
        score = (sample.scores or {})["trusted"]
        given[int(sample.id), sample.epoch] = score.value
        provenance = score.history[-1].provenance
        assert provenance is not None and score.metadata is not None
        is_person = int(sample.id) < 30
        assert provenance.author == score.metadata["by"] == ("person" if is_person else "p/j")
        assert ("rated by people" in str(provenance.reason)) == is_person
    assert given == {(place, epoch): RIGHT[place] for place in range(NUMBER) for epoch in (1, 2)}
    assert read.results is not None
    [mean] = [score for score in read.results.scores if score.name == "trusted"]
    assert mean.metrics["mean"].value == pytest.approx(sum(RIGHT) / NUMBER)


def test_logs_of_a_model_are_written_once(tmp_path: Path) -> None:
    """Of each model those of the first judge; another model has its own."""
    logs = [write(tmp_path, name, RIGHT) for name in ("j", "k")]
    logs.append(write(tmp_path, "j", RIGHT, model="n"))
    rows = [(place, model, int(RIGHT[place])) for place in range(NUMBER) for model in "mn"]
    found = found_of(logs, labels(tmp_path, rows))
    assert len(report_trust(found, None, "").figures) == 2
