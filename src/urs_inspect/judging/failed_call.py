"""Says in one line why a call of a judge failed."""

import json
from collections.abc import Callable

from tenacity import RetryError

from urs_inspect.texts import visible

_MAX_DETAIL = 500


def describe_error(error: Exception, hide: Callable[[str], str] = str) -> str:
    """One line about a failed call, at most 500 characters.

    Args:
        error: What the call raised.
        hide: Takes out of the text what must stand nowhere, before anything is cut off.

    Returns:
        Type and message of the cause; line breaks, quotation marks and what changes the direction of writing escaped.
    """
    # The harness hides what the endpoint said: in a retry error, or below a copy of the whole request.
    cause = error.__cause__ if isinstance(error, RetryError) and error.__cause__ else error
    text = hide(f"{type(cause).__name__}: {getattr(cause, 'provider_message', None) or cause}")
    return visible(json.dumps(text, ensure_ascii=False)[1:-1])[:_MAX_DETAIL]
