"""HHH Alignment: which of two responses is more helpful, honest, harmless (Askell et al., 2021)."""

from urs_inspect.datasets.benches.wrapped import wrapped_pair
from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import PairCase, PairData
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import HHH

GROUPS = ("helpful", "harmless", "honest", "other")
"""The columns of the SaMer paper's Table 3."""


def load_hhh() -> PairData:
    """Load the 221 pairs, without ties.

    Returns:
        The pairs in the order of the file, grouped by what they are about. The file names a chosen and a rejected
        response; which of them comes first is decided by a hash of the case's id.

    Raises:
        InputError: If the file cannot be had or a row is faulty.
    """
    cases, sha256 = read_published(HHH, _case, "hhh")
    return PairData("hhh", sha256, cases)


def _case(fields: Fields, row_id: str) -> PairCase:
    return wrapped_pair(fields, row_id, fields.one_of("source", GROUPS))
