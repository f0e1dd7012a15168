"""Feedback Bench: responses written and rated by GPT-4, the test set of Prometheus (Kim et al., 2023)."""

from urs_inspect.datasets.benches.wrapped import wrapped_rating
from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import RatingCase, RatingData
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import FEEDBACK_BENCH

SCALE = (1.0, 5.0)


def load_feedback_bench() -> RatingData:
    """Load the responses of `judge_bench/feedback_collection_ood_test.json`.

    Rows, in a JSON list or one a line, are those of prometheus-eval, with the columns `instruction` and
    `gpt4_score`, or those of the set on Hugging Face, with `orig_instruction`, `orig_response` and `orig_score`.
    Written against these published schemas, not run on the real file. Rubrics and reference answers are left out, as
    in the SaMer paper (section 5.2).

    Returns:
        The responses in the order of the file, in one group.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(FEEDBACK_BENCH, _case, "feedback_bench")
    return RatingData("feedback_bench", sha256, SCALE, cases)


def _case(fields: Fields, row_id: str) -> RatingCase:
    if not fields.has("orig_response"):
        return wrapped_rating(fields, row_id, "gpt4_score", SCALE, "all")
    return RatingCase(
        id=row_id,
        prompt=fields.text("orig_instruction"),
        response=fields.text("orig_response", blank=True),
        rating=fields.rating("orig_score", *SCALE),
        group="all",
    )
