"""Preference Bench: pairs of responses from the test set of Prometheus 2 (Kim et al., 2024)."""

from collections.abc import Mapping

from urs_inspect.datasets.benches.wrapped import wrapped_pair
from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import PairCase, PairData, Preference
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import PREFERENCE_BENCH

_LABELS: Mapping[str, Preference] = {"a": "a", "b": "b"}


def load_preference_bench() -> PairData:
    """Load the pairs of `judge_bench/preference_collection_ood_test.json`.

    Rows, in a JSON list or one a line, are those of prometheus-eval, with the columns `chosen_instruction` and
    `rejected_instruction`, or those of the set on Hugging Face, with `orig_instruction`, `orig_response_A`,
    `orig_response_B` and `orig_preference` (`A` or `B`). Written against these published schemas, not run on the
    real file.

    Returns:
        The pairs in the order of the file, in one group. Of a chosen and a rejected response, the id decides which
        one comes first.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(PREFERENCE_BENCH, _case, "preference_bench")
    return PairData("preference_bench", sha256, cases)


def _case(fields: Fields, row_id: str) -> PairCase:
    if not fields.has("orig_preference"):
        return wrapped_pair(fields, row_id, "all")
    return PairCase(
        id=row_id,
        prompt=fields.text("orig_instruction"),
        response_a=fields.text("orig_response_A", blank=True),
        response_b=fields.text("orig_response_B", blank=True),
        label=fields.label("orig_preference", _LABELS),
        group="all",
    )
