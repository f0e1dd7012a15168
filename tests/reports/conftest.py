"""Logs that several tests of reports read and none changes."""

import pytest

from tests.reports.pairs import Logs, judge_dimensions, judge_pairs


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    """Judges of eight labelled pairs, on the whole.

    Of the labels, a is better in six, b in one, one is a tie. Response a is the longer one in five, b in the others.
    """
    return judge_pairs(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    """Judges of the same pairs on two dimensions and the whole; on the second dimension all labels are ties."""
    return judge_dimensions(tmp_path_factory.mktemp("joint"))
