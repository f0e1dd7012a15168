"""Auto-J Eval: with ties and without, under the same ids."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.datasets.conftest import Publish
from urs_inspect.datasets import PairCase, load_pairs
from urs_inspect.datasets.pinned import AUTOJ
from urs_inspect.errors import InputError

FILE = "benches.autoj.AUTOJ"


def row(label: object, **changes: object) -> dict[str, object]:
    return {"scenario": "chitchat", "label": label, "prompt": "Hi", "response 1": "Hello", "response 2": "", **changes}


@pytest.mark.data
def test_the_published_file_has_1392_pairs_in_58_scenarios(data_dir: Path) -> None:
    data = load_pairs("autoj")
    lines = (data_dir / AUTOJ.path).read_text(encoding="utf-8").split("\n")
    raw = [json.loads(line) for line in lines if line]
    assert Counter(case.label for case in data.cases) == {"a": 520, "b": 499, "tie": 373}  # 1,392
    assert set(Counter(case.group for case in data.cases).values()) == {24}  # 58 x 24 = 1,392
    assert len({case.prompt for case in data.cases}) == 1182
    assert [(case.prompt, case.response_a, case.response_b, case.group) for case in data.cases] == [
        (each["prompt"], each["response 1"], each["response 2"], each["scenario"]) for each in raw
    ]
    assert [case.id for case in data.cases if not case.response_b] == ["autoj_0569"]  # a model that said nothing
    assert (data.name, data.sha256, data.skipped, data.has_ties) == ("autoj", AUTOJ.sha256, (), True)


@pytest.mark.data
def test_without_ties_1019_of_the_same_cases_are_left(data_dir: Path) -> None:
    data = load_pairs("autoj/no_ties")
    assert Counter(case.label for case in data.cases) == {"a": 520, "b": 499}  # 1,019
    assert data.cases == tuple(case for case in load_pairs("autoj").cases if case.label != "tie")
    assert (data.name, data.has_ties) == ("autoj/no_ties", False)


def test_labels_say_first_second_or_tie(publish: Publish) -> None:
    publish(FILE, "\n".join(json.dumps(row(label)) for label in (0, 1, 2)))
    assert load_pairs("autoj").cases == (
        PairCase("autoj_0001", "Hi", "Hello", "", "a", "chitchat"),
        PairCase("autoj_0002", "Hi", "Hello", "", "b", "chitchat"),
        PairCase("autoj_0003", "Hi", "Hello", "", "tie", "chitchat"),
    )
    assert [case.id for case in load_pairs("autoj/no_ties").cases] == ["autoj_0001", "autoj_0002"]


@pytest.mark.parametrize(
    ("faulty", "fault"),
    [
        (row(3), "column 'label': unknown label 3; allowed: 0, 1, 2"),
        (row(0.5), "column 'label': unknown label 0.5; allowed: 0, 1, 2"),
        (row(False), "column 'label': unknown label false; allowed: 0, 1, 2"),
        (row(0, **{"response 2": None}), "column 'response 2': must be text, is null"),
        (row(0, prompt=""), "column 'prompt': empty"),
        (row(0, scenario=None), "column 'scenario': must be text, is null"),
    ],
)
@pytest.mark.parametrize("bench", ["autoj", "autoj/no_ties"])
def test_a_faulty_row_is_named(faulty: object, fault: str, bench: str, publish: Publish) -> None:
    path = publish(FILE, f"{json.dumps(row(2))}\n\n{json.dumps(faulty)}\n")
    with pytest.raises(InputError) as caught:
        load_pairs(bench)
    assert str(caught.value) == f"{path}: line 3: {fault}"
