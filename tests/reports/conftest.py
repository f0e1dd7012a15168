"""A browser, and a task that changes answers where no satellite has one."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.chromium import chromium
from urs_inspect.reports.numbers import _judge_checks


@pytest.fixture(scope="session", autouse=True)
def task_that_changes_answers() -> Iterator[None]:
    """Reports suggest `judge_twins` even if `make test-core` has taken it away."""
    with pytest.MonkeyPatch.context() as patch:
        if not _judge_checks._CHANGED_ANSWER_TASKS:
            patch.setattr(_judge_checks, "_CHANGED_ANSWER_TASKS", {"judge_twins": ""})
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that makes no requests of its own."""
    with chromium() as found:
        yield found
