"""Logs of judges that several tests read and none changes, and commands in this process."""

from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from tests.cli.conftest import facts, refused, run, said  # noqa: F401 - fixtures
from tests.reports.pairs import Logs


def _by_judge(folder: Path) -> Logs:
    """The logs of a folder by the last part of their judge's name."""
    logs = [read_eval_log(str(file)) for file in folder.glob("*.eval")]
    judges = [str(log.eval.task_args.get("judge", "model")) for log in logs]
    names = [
        log.eval.model if judge == "model" else judge
        for log, judge in zip(logs, judges, strict=True)
    ]
    return {name.rpartition("/")[2]: log for name, log in zip(names, logs, strict=True)}


@pytest.fixture(scope="session")
def logs(pair_folder: Path) -> Logs:
    """Judges of eight labelled pairs, on the whole, as from `judge_pairs`."""
    return _by_judge(pair_folder)


@pytest.fixture(scope="session")
def joint(joint_folder: Path) -> Logs:
    """Judges of the same pairs on two dimensions and the whole, as from `judge_dimensions`."""
    return _by_judge(joint_folder)


@pytest.fixture(scope="session")
def rating_logs(rating_folder: Path) -> Logs:
    """Judges that rate twelve responses, as from `judge_ratings`."""
    return _by_judge(rating_folder)


@pytest.fixture(scope="session")
def with_rubric(rubric_folder: Path) -> EvalLog:
    """A judge that rates with the rubric, as from `judge_with_rubric`."""
    [file] = rubric_folder.glob("*.eval")
    return read_eval_log(str(file))
