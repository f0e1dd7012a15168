"""Versions of the tasks: one constant each, in the log and in eval.yaml."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai import Task

from urs_inspect.tasks import (
    judge_pairwise,
    judge_rating,
    md_eval,
    urs,
    urs_addition,
    urs_assistants,
    urs_probe,
    urs_references,
)
from urs_inspect.tasks.judge_pairwise import JUDGE_PAIRWISE_VERSION
from urs_inspect.tasks.judge_rating import JUDGE_RATING_VERSION
from urs_inspect.tasks.md_eval import MD_EVAL_VERSION
from urs_inspect.tasks.urs import URS_VERSION
from urs_inspect.tasks.urs_addition import URS_ADDITION_VERSION
from urs_inspect.tasks.urs_references import URS_REFERENCES_VERSION

DECLARED: dict[str, Any] = yaml.safe_load((files("urs_inspect") / "eval.yaml").read_text(encoding="utf-8"))
VERSIONS: dict[str, tuple[str, Callable[[], Task]]] = {
    "urs": (URS_VERSION, lambda: urs(dataset="sample")),
    "urs_probe": (URS_VERSION, lambda: urs_probe(dataset="sample")),
    "urs_references": (URS_REFERENCES_VERSION, urs_references),
    "urs_assistants": (URS_VERSION, urs_assistants),
    "urs_addition": (URS_ADDITION_VERSION, urs_addition),
    "md_eval": (MD_EVAL_VERSION, md_eval),
    "judge_pairwise": (JUDGE_PAIRWISE_VERSION, lambda: judge_pairwise("autoj")),
    "judge_rating": (JUDGE_RATING_VERSION, lambda: judge_rating("vicuna")),
}


@pytest.mark.data
@pytest.mark.parametrize("name", VERSIONS)
def test_a_task_has_the_version_and_size_that_are_declared(name: str, data_dir: Path) -> None:
    version, make = VERSIONS[name]
    task = make()
    [declared] = [entry for entry in DECLARED["tasks"] if entry["name"] == name]
    assert task.version == version
    assert version.partition("-")[0] == DECLARED["version"].partition("-")[0]
    if name != "urs":  # its 1,846 cases are not the 42 of the sample
        assert len(task.dataset) == declared["dataset_samples"]


def test_every_declared_task_is_looked_at() -> None:
    assert [entry["name"] for entry in DECLARED["tasks"]] == list(VERSIONS)
    assert DECLARED["version"] == max(version for version, _ in VERSIONS.values())
