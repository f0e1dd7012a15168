"""Tests of `urs_inspect.judging._failures`."""

import pytest
from tenacity import Future, RetryError

from urs_inspect.judging._failures import ScoreRecord, describe_error


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


class RefusedError(Exception):
    """An error that keeps what the endpoint said."""

    def __init__(self, provider_message: str) -> None:
        super().__init__("a copy of the whole request")
        self.provider_message = provider_message


@pytest.mark.parametrize(
    ("error", "described"),
    [
        (RefusedError("quota is used up"), "RefusedError: quota is used up"),
        (RefusedError(""), "RefusedError: a copy of the whole request"),
        (ValueError('say "no"\nto it'), 'ValueError: say \\"no\\"\\nto it'),
        (ValueError("key sk-1234 is wrong"), "ValueError: key *** is wrong"),
    ],
)
def test_an_error_is_one_line_with_what_the_endpoint_said_and_without_secrets(
    error: Exception, described: str
) -> None:
    found = describe_error(error, lambda text: text.replace("sk-1234", "***"))
    assert found == described


@pytest.mark.parametrize("character", ["x", "\u202e", "\u0007", "\n", '"', "\U0001f600"])
def test_an_error_takes_at_most_500_characters_as_it_is_written(character: str) -> None:
    found = describe_error(ValueError(character * 600))
    assert len(found) == 500
    assert len(describe_error(ValueError(character * 5))) < 100


def test_a_secret_at_the_cut_is_hidden_before_anything_is_cut_off() -> None:
    error = ValueError("x" * 483 + "sk-1234 and more")
    found = describe_error(error, lambda text: text.replace("sk-1234", "***"))
    assert "sk-" not in found
    assert len(found) == 500


@pytest.mark.parametrize(
    ("final", "missing", "earlier", "falls_short"),
    [(7, True, 8, True), (7, True, 7, False), (7, False, 8, False)],
)
def test_a_record_falls_short_of_another_final_score_where_it_lacks_criteria(
    final: int, missing: bool, earlier: int, falls_short: bool
) -> None:
    record = ScoreRecord(final, {"clarity": None if missing else 5, "factuality": 6})
    assert record.missing == (("clarity",) if missing else ())
    assert record.falls_short_of(ScoreRecord(earlier, {})) == falls_short
