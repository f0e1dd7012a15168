"""Decides which of two responses comes first where a bench does not say."""

import hashlib
from typing import NamedTuple

from urs_inspect.datasets.judged import Preference


class Sides(NamedTuple):
    """Two responses in their order, and which of them is the better one."""

    response_a: str
    response_b: str
    better: Preference


def assign_sides(case_id: str, better: str, worse: str) -> Sides:
    """Order two responses by the lowest bit of the first byte of the SHA-256 of the case's id.

    A bench that lists the better response first would make any judge that prefers the first one look good. The
    hash puts the better one first in about half of the cases, the same ones on every machine and in every run.
    """
    if hashlib.sha256(case_id.encode()).digest()[0] & 1:
        return Sides(worse, better, "b")
    return Sides(better, worse, "a")
