"""FLASK Eval: responses of four models, rated by people on one skill a row (Ye et al., 2023)."""

from urs_inspect.datasets.benches.wrapped import wrapped_rating
from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import RatingCase, RatingData
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import FLASK

SCALE = (1.0, 5.0)


def load_flask() -> RatingData:
    """Load the responses of `judge_bench/flask_eval.json`.

    Rows, in a JSON list or one a line, are those of prometheus-eval, with the columns `instruction`, `human_score`
    (a list of ratings from 1 to 5) and `criteria` (the skill). Written against this schema, not run on the real
    file.

    Returns:
        The responses in the order of the file, grouped by skill; the rating is the mean of the people's.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(FLASK, _case, "flask")
    return RatingData("flask", sha256, SCALE, cases)


def _case(fields: Fields, row_id: str) -> RatingCase:
    return wrapped_rating(fields, row_id, "human_score", SCALE, fields.optional("criteria", "all").strip())
