"""Responses that the user rated."""

import math
from pathlib import Path

from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import RatingCase, RatingData
from urs_inspect.datasets.loading import read_own
from urs_inspect.datasets.tabular import Vocabulary
from urs_inspect.errors import InputError

_REQUIRED = (("prompt",), ("response",), ("rating",))
_URS_REQUIRED = (("intent",), ("language",))


def load_own_ratings(
    path: Path, name: str, scale: tuple[float, float], *, vocabulary: Vocabulary | None = None
) -> RatingData:
    """Read a user's file of rated responses.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object a line. Columns: prompt, response
            (which may be empty), rating (a number, or in JSON a list of numbers whose mean counts), and optionally id,
            group, reference, intent and language.
        name: What the data is called in logs.
        scale: Lowest and highest possible rating.
        vocabulary: How intents and languages become ids of a rubric, which makes these two columns obligatory;
            without it they are read as they stand.

    Returns:
        The responses in the order of the file; `<name of the file>_0001` is the id of a first row without one, the
        intent, or `all`, the group of rows without one.

    Raises:
        InputError: Naming file, row and column of every fault (of the first 20, if there are more), or if the
            scale is none.
    """
    low, high = scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"scale: must have a lowest rating below a highest, got {low:g} and {high:g}")

    def build(fields: Fields, default_id: str) -> RatingCase:
        intent = fields.resolved(vocabulary.intent, "intent") if vocabulary else fields.optional("intent")
        language = fields.resolved(vocabulary.language, "language") if vocabulary else fields.optional("language")
        return RatingCase(
            id=fields.identifier(default_id),
            prompt=fields.text("prompt"),
            response=fields.text("response", blank=True),
            rating=fields.rating("rating", low, high),
            group=fields.optional("group", intent or "all").strip(),
            reference=fields.optional("reference"),
            intent=intent.strip(),
            language=language.strip(),
        )

    cases, sha256 = read_own(path, (*_REQUIRED, *_URS_REQUIRED) if vocabulary else _REQUIRED, build)
    return RatingData(name, sha256, scale, cases)
