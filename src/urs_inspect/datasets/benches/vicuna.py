"""Vicuna Bench: responses of four models to 80 single-turn prompts, rated by GPT-4 (Kim et al., 2023)."""

from urs_inspect.datasets.benches.wrapped import wrapped_rating
from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import RatingCase, RatingData
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import VICUNA

SCALE = (1.0, 5.0)


def load_vicuna() -> RatingData:
    """Load the 320 responses.

    Returns:
        The responses in the order of the file, grouped by category; the rating is the mean of three by GPT-4.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(VICUNA, _case, "vicuna")
    return RatingData("vicuna", sha256, SCALE, cases)


def _case(fields: Fields, row_id: str) -> RatingCase:
    return wrapped_rating(fields, row_id, "gpt4_score", SCALE, fields.text("category"))
