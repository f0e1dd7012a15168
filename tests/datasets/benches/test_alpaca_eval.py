"""AlpacaEval: both published forms of its rows, ties, and pairs that the annotator left open."""

import json
import math

import pytest

from tests.datasets.benches.wrapping import wrap
from tests.datasets.conftest import Publish
from urs_inspect.datasets import PairCase, load_pairs
from urs_inspect.errors import InputError

FILE = "benches.alpaca_eval.ALPACA_EVAL"


def annotation(preference: object, **changes: object) -> dict[str, object]:
    return {
        "instruction": "Why?",
        "output_1": "one",
        "generator_1": "text_davinci_003",
        "output_2": "two",
        "generator_2": "other",
        "dataset": "koala",
        "annotator": "alpaca_eval_gpt4",
        "preference": preference,
        **changes,
    }


@pytest.mark.parametrize(
    ("preference", "label"),
    [(1, "one"), (1.0, "one"), (2, "two"), (2.0, "two"), (0, "tie"), (0.0, "tie"), (1.5, "tie"), ("2", "two")],
)
def test_the_preference_points_at_the_output_wherever_it_sits(preference: object, label: str, publish: Publish) -> None:
    publish(FILE, [annotation(preference)] * 40)
    cases = load_pairs("alpaca_eval").cases
    pointed = {
        "tie" if case.label == "tie" else {"a": case.response_a, "b": case.response_b}[case.label] for case in cases
    }
    assert pointed == {label}
    assert {(case.response_a, case.response_b) for case in cases} == {("one", "two"), ("two", "one")}
    assert {case.group for case in cases} == {"koala"}


def test_pairs_that_were_left_open_are_skipped_and_counted(publish: Publish) -> None:
    publish(FILE, [annotation(None), annotation(math.nan), annotation(2, dataset=None)])
    data = load_pairs("alpaca_eval")
    # The hash of alpaca_eval_0003 begins with 69, odd: the better one is second.
    assert data.cases == (PairCase("alpaca_eval_0003", "Why?", "one", "two", "b", "all"),)
    assert data.skipped == ("alpaca_eval_0001: no preference", "alpaca_eval_0002: no preference")


def test_wrapped_rows_may_be_ties(publish: Publish) -> None:
    chosen, rejected = wrap("Why?", "good"), wrap("Why?", "bad")
    rows = [
        {"chosen_instruction": chosen, "rejected_instruction": rejected, **tie} for tie in ({"tie": 0}, {"tie": 1}, {})
    ]
    publish(FILE, "\n".join(map(json.dumps, rows)))
    cases = load_pairs("alpaca_eval").cases
    # The hashes of the ids begin with 3b, 79 and 69, all odd: the better one is second.
    assert [(case.response_a, case.response_b) for case in cases] == [("bad", "good")] * 3
    assert [case.label for case in cases] == ["b", "tie", "b"]


@pytest.mark.parametrize(
    ("faulty", "fault"),
    [
        (annotation(1.7), "column 'preference': unknown label 1.7; allowed: 1, 2, 0, 1.5"),
        (annotation("first"), "column 'preference': unknown label \"first\"; allowed: 1, 2, 0, 1.5"),
        (
            {"instruction": "Why?", "output_1": "1", "output_2": "2"},
            "column 'preference': missing; allowed: 1, 2, 0, 1.5",
        ),
        (annotation(1, output_2=None), "column 'output_2': must be text, is null"),
        (
            {"chosen_instruction": wrap("p", "r"), "rejected_instruction": wrap("p", "s"), "tie": 2},
            "column 'tie': unknown label 2; allowed: 0, 1",
        ),
    ],
)
def test_a_faulty_row_is_named(faulty: object, fault: str, publish: Publish) -> None:
    path = publish(FILE, [annotation(1), faulty])
    with pytest.raises(InputError) as caught:
        load_pairs("alpaca_eval")
    assert str(caught.value) == f"{path}: row 2: {fault}"


def test_an_empty_answer_is_data(publish: Publish) -> None:
    # In the annotations of AlpacaEval two answers of 805 are empty.
    publish(FILE, [annotation(1, output_2=""), annotation(2, output_1=" ")])
    cases = load_pairs("alpaca_eval").cases
    assert [{case.response_a, case.response_b} for case in cases] == [{"one", ""}, {" ", "two"}]
    assert [getattr(case, f"response_{case.label}") for case in cases] == ["one", "two"]


def test_an_empty_answer_in_a_wrapped_row_is_data(publish: Publish) -> None:
    publish(FILE, [{"chosen_instruction": wrap("Why?", "good"), "rejected_instruction": wrap("Why?", "")}])
    [case] = load_pairs("alpaca_eval").cases
    assert {case.response_a, case.response_b} == {"good", ""}
