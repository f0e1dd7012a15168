"""FLASK Eval: people's ratings, one skill a row."""

import json

import pytest

from tests.datasets.benches.wrapping import wrap
from tests.datasets.conftest import Publish
from urs_inspect.datasets import RatingCase, load_ratings
from urs_inspect.datasets.sources import sha256_of
from urs_inspect.errors import InputError

FILE = "benches.flask.FLASK"


def row(**changes: object) -> dict[str, object]:
    good = {
        "idx": 3,
        "response_source": "bard",
        "criteria": "Logical Correctness",
        "instruction": wrap("Why?", "Because.", "So."),
        "human_score": [5, 2, 2],
        "gpt4_score": [1],
        **changes,
    }
    return {key: value for key, value in good.items() if value is not ...}


@pytest.mark.parametrize("lines", [False, True])
def test_people_rate_and_skills_group(lines: bool, publish: Publish) -> None:
    rows = [row(), row(criteria=..., human_score=["4", "5"])]
    path = publish(FILE, "\n".join(map(json.dumps, rows)) if lines else rows)
    data = load_ratings("flask")
    # (5 + 2 + 2) / 3 = 3, (4 + 5) / 2 = 4.5
    assert data.cases == (
        RatingCase("flask_0001", "Why?", "Because.", 3, "Logical Correctness"),
        RatingCase("flask_0002", "Why?", "Because.", 4.5, "all"),
    )
    assert (data.name, data.sha256, data.scale) == ("flask", sha256_of(path), (1, 5))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"human_score": ...}, "column 'human_score': missing"),
        ({"human_score": [0]}, "column 'human_score': must be a number from 1 to 5, is [0]"),
        ({"human_score": [True]}, "column 'human_score': must be a number from 1 to 5, is [true]"),
        ({"criteria": 7}, "column 'criteria': must be text, is 7"),
    ],
)
def test_a_faulty_row_is_named(changes: dict[str, object], fault: str, publish: Publish) -> None:
    path = publish(FILE, [row(), row(**changes)])
    with pytest.raises(InputError) as caught:
        load_ratings("flask")
    assert str(caught.value) == f"{path}: row 2: {fault}"
