"""Preference Bench: both published forms of its rows."""

import json

import pytest

from tests.datasets.benches.wrapping import wrap
from tests.datasets.conftest import Publish
from urs_inspect.datasets import PairCase, load_pairs
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.errors import InputError

FILE = "benches.preference_bench.PREFERENCE_BENCH"
WRAPPED = {
    "chosen_instruction": wrap("Why?", "good", "best"),
    "rejected_instruction": wrap("Why?", "bad", "best"),
}
PLAIN = {
    "orig_criteria": "Is it good?",
    "orig_instruction": "Why?",
    "orig_response_A": "good",
    "orig_response_B": "bad",
    "orig_reference_answer": "best",
    "orig_preference": "B",
}


def test_wrapped_rows_get_sides_by_their_ids(publish: Publish) -> None:
    path = publish(FILE, [WRAPPED, WRAPPED])
    data = load_pairs("preference_bench")
    # The hashes of the ids begin with 35, odd, and e6, even.
    assert data.cases == (
        PairCase("preference_bench_0001", "Why?", "bad", "good", "b", "all"),
        PairCase("preference_bench_0002", "Why?", "good", "bad", "a", "all"),
    )
    assert (data.name, data.sha256, data.skipped) == ("preference_bench", sha256_of(path), ())


@pytest.mark.parametrize(("preference", "label"), [("A", "a"), ("B", "b"), (" b ", "b")])
def test_plain_rows_keep_their_sides(preference: str, label: str, publish: Publish) -> None:
    publish(FILE, json.dumps({**PLAIN, "orig_preference": preference}))
    [case] = load_pairs("preference_bench").cases
    assert (case.prompt, case.response_a, case.response_b, case.label) == ("Why?", "good", "bad", label)


@pytest.mark.parametrize(
    ("faulty", "fault"),
    [
        ({**PLAIN, "orig_preference": "C"}, "column 'orig_preference': unknown label \"C\"; allowed: a, b"),
        ({**PLAIN, "orig_response_B": None}, "column 'orig_response_B': must be text, is null"),
        ({}, "column 'chosen_instruction': missing; column 'rejected_instruction': missing"),
        ({**WRAPPED, "rejected_instruction": "bad"}, "column 'rejected_instruction': has the heading "),
    ],
)
def test_a_faulty_row_is_named(faulty: object, fault: str, publish: Publish) -> None:
    path = publish(FILE, [PLAIN, faulty])
    with pytest.raises(InputError) as caught:
        load_pairs("preference_bench")
    assert str(caught.value).startswith(f"{path}: row 2: {fault}")
