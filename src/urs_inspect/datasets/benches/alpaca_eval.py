"""AlpacaEval: pairs of responses that GPT-4 compared (Dubois et al., 2024)."""

import math
from collections.abc import Mapping

from urs_inspect.datasets.benches.sides import assign_sides
from urs_inspect.datasets.benches.wrapped import wrapped_pair
from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import PairCase, PairData
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import ALPACA_EVAL

_PREFERENCES: Mapping[str, int] = {"1": 1, "2": 2, "0": 0, "1.5": 0}
_TIES: Mapping[str, bool] = {"0": False, "1": True}


def load_alpaca_eval() -> PairData:
    """Load the pairs of `judge_bench/alpaca_eval.json`.

    Rows, in a JSON list or one a line, are those of prometheus-eval, with the columns `chosen_instruction`,
    `rejected_instruction` and `tie` (0 or 1), or annotations of AlpacaEval's `alpaca_eval_gpt4`, with `instruction`,
    `output_1`, `output_2`, `preference` (1, 2, or 0 or 1.5 for a tie) and optionally `dataset`. Written against
    these published schemas, not run on the real file.

    Returns:
        The pairs in the order of the file, grouped by `dataset`. The id decides which response comes first,
        because the file always lists the chosen one, or the reference model, first. Rows whose preference is null,
        which GPT-4 did not decide, are left out and listed in `skipped`. An empty response is kept.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    skipped: list[str] = []

    def build(fields: Fields, row_id: str) -> PairCase | None:
        group = fields.optional("dataset", "all").strip()
        if fields.has("chosen_instruction"):
            return wrapped_pair(fields, row_id, group, tie=fields.has("tie") and fields.label("tie", _TIES))
        preference = fields.values.get("preference", 0)
        if preference is None or (isinstance(preference, float) and math.isnan(preference)):
            skipped.append(f"{row_id}: no preference")
            return None
        return _annotated(fields, row_id, group)

    cases, sha256 = read_published(ALPACA_EVAL, build, "alpaca_eval")
    return PairData("alpaca_eval", sha256, cases, tuple(skipped))


def _annotated(fields: Fields, row_id: str, group: str) -> PairCase:
    prompt = fields.text("instruction")
    first, second = (fields.text(column, blank=True) for column in ("output_1", "output_2"))  # no answer is an answer
    preference = fields.label("preference", _PREFERENCES)
    better, worse = (second, first) if preference == 2 else (first, second)
    response_a, response_b, label = assign_sides(row_id, better, worse)
    return PairCase(row_id, prompt, response_a, response_b, label if preference else "tie", group)
