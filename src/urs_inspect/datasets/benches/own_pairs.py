"""Pairs that the user labelled."""

from collections.abc import Callable, Mapping
from pathlib import Path

from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import PairCase, PairData, Preference
from urs_inspect.datasets.loading import read_own

_REQUIRED = (("prompt",), ("response_a",), ("response_b",), ("label",))
_LABELS: Mapping[str, Preference] = {
    "a": "a",
    "b": "b",
    "tie": "tie",
    "model_a": "a",
    "model_b": "b",
    "1": "a",
    "2": "b",
}


def load_own_pairs(path: Path, name: str, *, dimension: Callable[[str], str] | None = None) -> PairData:
    """Read a user's file of labelled pairs.

    Args:
        path: A `.csv` file with a header, or a `.jsonl` file with one object a line. Columns: prompt, response_a and
            response_b (which may be empty), label (a, b or tie; also model_a, model_b, 1, 2), and optionally id,
            group, and dimensions, an object of dimensions and labels (in CSV: as JSON in a cell).
        name: What the data is called in logs.
        dimension: Turns the name of a dimension into that of a taxonomy, or raises `InputError`; without it any
            name will do.

    Returns:
        The pairs in the order of the file; `<name of the file>_0001` is the id of a first row without one, `all`
        the group of rows without one.

    Raises:
        InputError: Naming file, row and column of every fault (of the first 20, if there are more).
    """

    def build(fields: Fields, default_id: str) -> PairCase:
        return PairCase(
            id=fields.identifier(default_id),
            prompt=fields.text("prompt"),
            response_a=fields.text("response_a", blank=True),
            response_b=fields.text("response_b", blank=True),
            label=fields.label("label", _LABELS),
            group=fields.optional("group", "all").strip(),
            dimensions={} if fields.blank("dimensions") else fields.labels("dimensions", _LABELS, dimension),
        )

    cases, sha256 = read_own(path, _REQUIRED, build)
    return PairData(name, sha256, cases)
