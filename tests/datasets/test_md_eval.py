"""MD-Eval is what its issue, its paper and its file say, and no label slips through unread."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.datasets.conftest import Publish
from urs_inspect._util import InputError
from urs_inspect.datasets import PairCase, PairData, load_md_eval
from urs_inspect.datasets.sources import MD_EVAL
from urs_inspect.samer import load_taxonomy

FILE = "md_eval.MD_EVAL"


def load() -> PairData:
    taxonomy = load_taxonomy()
    return load_md_eval(taxonomy.dimension, taxonomy.scenarios)


def row(**changes: object) -> dict[str, Any]:
    """A good row, but for the changes; `...` leaves a column out."""
    good = {
        "model_a": "one",
        "model_b": "two",
        "prompt": "Why?",
        "response_a": "Because.",
        "response_b": "It is so.",
        "winner": "model_b",
        "scenario": "chitchat",
        "metadata": "",
        "annotation": {"Clarity": "model_a", "Logic": "tie"},
    }
    return {key: value for key, value in {**good, **changes}.items() if value is not ...}


# --- the published file ---


@pytest.fixture
def published(data_dir: Path) -> PairData:
    return load()


@pytest.fixture
def raw(data_dir: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((data_dir / MD_EVAL.path).read_text(encoding="utf-8"))
    return rows


@pytest.mark.data
def test_the_published_labels_are_counted(published: PairData) -> None:
    # 350 rows with 4,475 labels: a 1,468, b 1,780, tie 1,227. The row without responses holds 13 of the ties, and
    # one of the 8 overall ties: 1,227 - 13 = 1,214 and 8 - 1 = 7.
    assert len(published.cases) == 349
    labels = Counter(label for case in published.cases for label in case.dimensions.values())
    assert labels == {"a": 1468, "b": 1780, "tie": 1214}
    assert sum(labels.values()) + 13 == 4475
    assert Counter(case.label for case in published.cases) == {"a": 141, "b": 201, "tie": 7}
    assert published.has_ties
    assert (published.name, published.sha256) == ("md_eval", MD_EVAL.sha256)


@pytest.mark.data
def test_the_one_row_without_responses_is_kept_out_and_counted(published: PairData, raw: list[dict[str, Any]]) -> None:
    assert [number for number, each in enumerate(raw, start=1) if each["response_a"] is None] == [291]
    assert Counter(raw[290]["annotation"].values()) == {"tie": 13}
    assert published.skipped == ("md_eval_0291: both responses are null",)
    assert [case.id for case in published.cases] == [f"md_eval_{n:04d}" for n in range(1, 351) if n != 291]


@pytest.mark.data
def test_all_scenarios_and_dimensions_of_the_taxonomy_are_there(published: PairData) -> None:
    groups = Counter(case.group for case in published.cases)
    assert set(groups) == set(load_taxonomy().scenarios)
    # Two scenarios of 5, one of 9 because of the row that is kept out, 33 of 10: 10 + 9 + 330 = 349.
    assert Counter(groups.values()) == {10: 33, 5: 2, 9: 1}
    names = Counter(name for case in published.cases for name in case.dimensions)
    assert set(names) == set(load_taxonomy().dimensions)
    assert names["Engagement"] == 10  # the file calls it Attractiveness


@pytest.mark.data
def test_published_cases_hold_their_row_to_the_letter(published: PairData, raw: list[dict[str, Any]]) -> None:
    sides = {"model_a": "a", "model_b": "b", "tie": "tie"}
    by_row = {int(case.id[-4:]): case for case in published.cases}
    for number, each in enumerate(raw, start=1):
        if number != 291:
            case = by_row[number]
            assert (case.prompt, case.response_a, case.response_b) == (
                each["prompt"],
                each["response_a"],
                each["response_b"],
            )
            assert (case.label, case.group) == (sides[each["winner"]], each["scenario"])
            assert list(case.dimensions.values()) == [sides[label] for label in each["annotation"].values()]
            assert len(case.dimensions) == len(each["annotation"])


@pytest.mark.data
def test_the_longer_response_wins_255_of_342(published: PairData) -> None:
    # One of the 342 has responses of equal length, of which neither is longer: it counts as missed.
    excess = [(len(case.response_a) - len(case.response_b), case.label) for case in published.cases]
    assert sum(label != "tie" for _, label in excess) == 342
    assert sum((more > 0 and label == "a") or (more < 0 and label == "b") for more, label in excess) == 255
    assert [label for more, label in excess if more == 0 and label != "tie"] == ["b"]


# --- rows of our own ---


def test_a_row_becomes_a_case(publish: Publish) -> None:
    publish(FILE, [row()])
    assert load().cases == (
        PairCase("md_eval_0001", "Why?", "Because.", "It is so.", "b", "chitchat", {"Clarity": "a", "Logic": "tie"}),
    )


def test_an_alias_of_a_dimension_is_resolved(publish: Publish) -> None:
    publish(FILE, [row(annotation={"Attractiveness": "model_b"})])
    assert load().cases[0].dimensions == {"Engagement": "b"}


def test_rows_without_any_response_move_no_id(publish: Publish) -> None:
    publish(FILE, [row(response_a=None, response_b=None), row()])
    data = load()
    assert [case.id for case in data.cases] == ["md_eval_0002"]
    assert data.skipped == ("md_eval_0001: both responses are null",)


LABELS = "allowed: model_a, model_b, tie"
FAULTS = {
    "label of a dimension": (
        row(annotation={"Clarity": "model_c"}),
        f"column 'annotation': 'Clarity': unknown label \"model_c\"; {LABELS}",
    ),
    "label of a dimension null": (
        row(annotation={"Clarity": None}),
        f"column 'annotation': 'Clarity': unknown label null; {LABELS}",
    ),
    "overall label": (row(winner="both"), f"column 'winner': unknown label \"both\"; {LABELS}"),
    "overall label missing": (row(winner=...), f"column 'winner': missing; {LABELS}"),
    "overall label true": (row(winner=True), f"column 'winner': unknown label true; {LABELS}"),
    "dimension": (
        row(annotation={"Beauty": "tie"}),
        "column 'annotation': unknown dimension 'Beauty'; allowed: ",
    ),
    "dimension twice": (
        row(annotation={"Engagement": "tie", "Attractiveness": "tie"}),
        "column 'annotation': 'Attractiveness' is there twice",
    ),
    "labels as a text": (
        row(annotation="none"),
        "column 'annotation': must be an object of names and labels, is \"none\"",
    ),
    "labels missing": (row(annotation=...), "column 'annotation': must be an object of names and labels, is null"),
    "scenario": (
        row(scenario="sport"),
        "column 'scenario': unknown scenario 'sport'; allowed: writing_legal_document, ",
    ),
    "one response null": (row(response_b=None), "column 'response_b': must be text, is null"),
    "one response missing": (row(response_a=...), "column 'response_a': missing"),
    "prompt null": (row(prompt=None), "column 'prompt': must be text, is null"),
    "no object": ("row", "not a JSON object"),
}


@pytest.mark.parametrize(("faulty", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_row_is_named_with_what_is_allowed(faulty: object, fault: str, publish: Publish) -> None:
    path = publish(FILE, [row(), faulty, row()])
    with pytest.raises(InputError) as caught:
        load()
    assert str(caught.value).startswith(f"{path}: row 2: {fault}")
    assert len(str(caught.value).splitlines()) == 1


def test_all_faults_are_named_at_once(publish: Publish) -> None:
    publish(FILE, [row(winner="c", scenario="sport", annotation={"Clarity": "x", "Beauty": "tie"}), row(prompt="")])
    with pytest.raises(InputError) as caught:
        load()
    first, second = str(caught.value).splitlines()
    assert re.findall(r"column '(\w+)'", first) == ["winner", "scenario", "annotation", "annotation"]
    assert second.endswith("row 2: column 'prompt': empty")


@pytest.mark.parametrize("content", ["[]", "", "[{]"])
def test_a_file_without_cases_is_refused(content: str, publish: Publish) -> None:
    path = publish(FILE, content)
    with pytest.raises(InputError) as caught:
        load()
    expected = "not JSON: Expecting property name" if content == "[{]" else "no usable case"
    assert str(caught.value).startswith(f"{path}: {expected}")


def test_a_file_with_another_hash_is_refused(publish: Publish) -> None:
    path = publish(FILE, [row()])
    path.write_text(json.dumps([row(winner="model_a")]), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"is not the pinned 'md_eval' file: sha256 [0-9a-f]{64}, expected sha256 [0-9a-f]{64}"
    ):
        load()
