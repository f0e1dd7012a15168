"""Tests of `urs_inspect.judging._failures`."""

import pytest
from tenacity import Future, RetryError

from urs_inspect.judging._failures import describe_error


def caused(error: Exception, cause: Exception | None) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "cause", "described"),
    [
        (RetryError(Future(1)), OSError("below"), "OSError: below"),
        (RetryError(Future(1)), None, "RetryError: "),
        (ValueError("above"), OSError("below"), "ValueError: above"),
    ],
)
def test_only_retries_are_described_by_their_cause(
    error: Exception, cause: Exception | None, described: str
) -> None:
    assert describe_error(caused(error, cause)).startswith(described)
