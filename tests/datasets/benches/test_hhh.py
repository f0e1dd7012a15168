"""HHH: four groups, unwrapped, the chosen response on either side."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.datasets.benches.wrapping import wrap
from tests.datasets.conftest import Publish
from urs_inspect.datasets import PairCase, PairData, load_pairs
from urs_inspect.datasets.pinned import HHH
from urs_inspect.errors import InputError

FILE = "benches.hhh.HHH"


def row(prompt: str = "Why?", chosen: str = "good", rejected: str = "bad", source: str = "other") -> dict[str, str]:
    return {
        "source": source,
        "chosen_instruction": wrap(prompt, chosen),
        "rejected_instruction": wrap(prompt, rejected),
    }


# --- the published file ---


@pytest.fixture
def published(data_dir: Path) -> PairData:
    return load_pairs("hhh")


@pytest.mark.data
def test_the_published_file_has_221_pairs_in_four_groups(published: PairData) -> None:
    assert Counter(case.group for case in published.cases) == {
        "honest": 61,
        "helpful": 59,
        "harmless": 58,
        "other": 43,
    }  # 221
    assert [case.id for case in published.cases] == [f"hhh_{n:04d}" for n in range(1, 222)]
    assert (published.name, published.sha256, published.skipped) == ("hhh", HHH.sha256, ())
    assert not published.has_ties


@pytest.mark.data
def test_the_chosen_response_is_on_either_side_in_every_group(published: PairData) -> None:
    # A judge that always answers `a` must not shine: half of n, give or take three standard deviations sqrt(n) / 2.
    assert Counter(case.label for case in published.cases) == {"a": 111, "b": 110}
    for group in ("helpful", "harmless", "honest", "other"):
        labels = [case.label for case in published.cases if case.group == group]
        assert abs(labels.count("a") - len(labels) / 2) < 1.5 * len(labels) ** 0.5


@pytest.mark.data
def test_published_texts_are_bare_and_whole(published: PairData, data_dir: Path) -> None:
    rows = json.loads((data_dir / HHH.path).read_text(encoding="utf-8"))
    for case, each in zip(published.cases, rows, strict=True):
        chosen, rejected = (
            (case.response_a, case.response_b) if case.label == "a" else (case.response_b, case.response_a)
        )
        for response, instruction in ((chosen, "chosen_instruction"), (rejected, "rejected_instruction")):
            # What is left of the instruction when prompt and response go is the frame: headings and rubrics.
            assert "###" not in case.prompt + response
            assert f"evaluate:\n{case.prompt}\n\n###Response to evaluate:\n{response}\n\n###Score" in each[instruction]


@pytest.mark.data
def test_the_longer_response_was_chosen_in_139_of_221(published: PairData) -> None:
    chosen = [(case.response_a, case.response_b)[case.label == "b"] for case in published.cases]
    rejected = [(case.response_a, case.response_b)[case.label == "a"] for case in published.cases]
    assert sum(len(good) > len(bad) for good, bad in zip(chosen, rejected, strict=True)) == 139  # 62.9 %


# --- rows of our own ---


def test_a_row_becomes_a_bare_case(publish: Publish) -> None:
    publish(FILE, [row()])
    # The hash of hhh_0001 begins with an even byte, 14.
    assert load_pairs("hhh").cases == (PairCase("hhh_0001", "Why?", "good", "bad", "a", "other"),)


@pytest.mark.parametrize(
    ("faulty", "fault"),
    [
        (row(source="funny"), "column 'source': unknown source 'funny'; allowed: helpful, harmless, honest, other"),
        ({**row(), "chosen_instruction": "good"}, "column 'chosen_instruction': has the heading "),
        ({**row(), "rejected_instruction": None}, "column 'rejected_instruction': must be text, is null"),
        (
            {**row(), "rejected_instruction": wrap("Who?", "bad")},
            "column 'rejected_instruction': has another prompt than 'chosen_instruction'",
        ),
    ],
)
def test_a_faulty_row_is_named(faulty: dict[str, object], fault: str, publish: Publish) -> None:
    path = publish(FILE, [row(), faulty])
    with pytest.raises(InputError) as caught:
        load_pairs("hhh")
    assert str(caught.value).startswith(f"{path}: row 2: {fault}")
