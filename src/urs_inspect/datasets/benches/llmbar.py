"""LLMBar: which of two outputs follows the instruction, natural and adversarial (Zeng et al., 2023)."""

import hashlib
from collections.abc import Mapping

from urs_inspect.datasets.fields import Fields
from urs_inspect.datasets.judged import PairCase, PairData, Preference
from urs_inspect.datasets.loading import read_published
from urs_inspect.datasets.pinned import LLMBAR
from urs_inspect.errors import InputError, choices

_LABELS: Mapping[str, Preference] = {"1": "a", "2": "b"}


def load_llmbar(subset: str | None = None) -> PairData:
    """Load one of the five subsets (of 100, 134, 92, 47 and 46 pairs), or all 419 pairs; there are no ties.

    Args:
        subset: Natural, Neighbor, GPTInst, GPTOut or Manual; all of them unless given.

    Returns:
        The pairs in the order of the files, grouped by subset. The hash of all five is that of their hashes.

    Raises:
        InputError: If there is no such subset, a file cannot be had, or a row is faulty.
    """
    if subset is None:
        parts = [load_llmbar(each) for each in LLMBAR]
        sha256 = hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()
        return PairData("llmbar", sha256, tuple(case for part in parts for case in part.cases))
    if subset not in LLMBAR:
        raise InputError(f"unknown subset '{subset}' of llmbar; allowed: {choices(LLMBAR)}")

    def build(fields: Fields, row_id: str) -> PairCase:
        return PairCase(
            id=row_id,
            prompt=fields.text("input"),
            response_a=fields.text("output_1", blank=True),
            response_b=fields.text("output_2", blank=True),
            label=fields.label("label", _LABELS),
            group=subset,
        )

    cases, sha256 = read_published(LLMBAR[subset], build, f"llmbar_{subset.lower()}")
    return PairData(LLMBAR[subset].name, sha256, cases)
