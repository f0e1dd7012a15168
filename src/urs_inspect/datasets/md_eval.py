"""MD-Eval: pairs with a label for each dimension of their scenario (SaMer paper, section 5.2)."""

from collections.abc import Callable, Collection, Mapping

from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import PairCase, PairData, Preference
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import MD_EVAL

_LABELS: Mapping[str, Preference] = {"model_a": "a", "model_b": "b", "tie": "tie"}


def load_md_eval(dimension: Callable[[str], str], scenarios: Collection[str]) -> PairData:
    """Load the published file of 350 rows; the paper counts 360.

    Args:
        dimension: Turns the name of a dimension, or an alias, into that of the taxonomy; raises `InputError` for
            any other.
        scenarios: Ids of the scenarios.

    Returns:
        The pairs in the order of the file, called `md_eval_0001` to `md_eval_0350` by row, grouped by scenario. A
        row without any response, of which there is one, is left out and listed in `skipped`.

    Raises:
        InputError: If the file cannot be had, or a label, dimension or scenario in it is not allowed.
    """
    skipped: list[str] = []

    def build(fields: Fields, row_id: str) -> PairCase | None:
        if fields.values.get("response_a", "") is None and fields.values.get("response_b", "") is None:
            skipped.append(f"{row_id}: both responses are null")
            return None
        return PairCase(
            id=row_id,
            prompt=fields.text("prompt"),
            response_a=fields.text("response_a", blank=True),
            response_b=fields.text("response_b", blank=True),
            label=fields.label("winner", _LABELS),
            group=fields.one_of("scenario", scenarios),
            dimensions=fields.labels("annotation", _LABELS, dimension),
        )

    cases, sha256 = read_published(MD_EVAL, build, "md_eval")
    return PairData("md_eval", sha256, cases, tuple(skipped))
