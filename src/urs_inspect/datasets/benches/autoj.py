"""Auto-J Eval: human preferences between two responses in 58 scenarios (Li et al., 2023)."""

from collections.abc import Mapping

from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import PairCase, PairData, Preference
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import AUTOJ

_LABELS: Mapping[str, Preference] = {"0": "a", "1": "b", "2": "tie"}


def load_autoj(*, ties: bool = True) -> PairData:
    """Load the pairs: 1,392 with ties, 1,019 without (SaMer paper, Table 3, `w/ TIE` and `w/o TIE`).

    Args:
        ties: Whether pairs without a preference are kept. Without them a judge must not answer so.

    Returns:
        The pairs in the order of the file, grouped by scenario; ids are the same with and without ties. One of the
        responses is empty, as published.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """

    def build(fields: Fields, row_id: str) -> PairCase | None:
        case = PairCase(
            id=row_id,
            prompt=fields.text("prompt"),
            response_a=fields.text("response 1", blank=True),
            response_b=fields.text("response 2", blank=True),
            label=fields.label("label", _LABELS),
            group=fields.text("scenario"),
        )
        return case if ties or case.label != "tie" else None

    cases, sha256 = read_published(AUTOJ, build, "autoj")
    return PairData("autoj" if ties else "autoj/no_ties", sha256, cases)
