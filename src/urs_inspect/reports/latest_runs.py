"""Which of several runs of the same under the same conditions counts."""

from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Protocol, Self, TypeVar

from urs_inspect.reports.log_files import short_name
from urs_inspect.texts import counted

_SHARE = 2
"""A later run of no less than half of the questions stands in the place of an earlier one."""


class Run(Protocol):
    """A run of which another may take the place."""

    @property
    def file(self) -> str:
        """Its log."""

    @property
    def run_id(self) -> str:
        """What all files of the run have in common; empty if that is not known."""

    @property
    def of(self) -> str:
        """Whose answers it has."""

    @property
    def questions(self) -> frozenset[str]:
        """Ids of its questions."""

    def replaces(self, other: Self) -> bool:
        """Whether it has answers of the same to some of the same questions under the same conditions."""


_Run = TypeVar("_Run", bound=Run)


def latest_runs(runs: Sequence[_Run], left_out: list[str]) -> list[_Run]:
    """Leave out runs whose questions later ones asked again, unless these asked fewer than half as many.

    Args:
        runs: The runs in the order in which they were made.
        left_out: Gets a sentence for each that is left out.

    Returns:
        The others, in that order.
    """
    kept: list[_Run] = []
    for run in reversed(runs):
        later = [one for one in kept if one.replaces(run)]
        asked = len({question for one in later for question in one.questions})
        names = ", ".join(short_name(one.file) for one in reversed(later))
        if later and later[0].run_id and later[0].run_id == run.run_id:
            left, right = _told_apart(run.file, later[0].file)
            left_out.append(f"{left} was left out: {right} is another file of the same run.")
        elif later and _SHARE * asked >= len(run.questions):
            are = "is a later run" if len(later) == 1 else "are later runs"
            left_out.append(
                f"{short_name(run.file)} of {run.of} was left out: {names} {are} under the same conditions "
                f"({counted(asked, 'question')}; {len(run.questions):,} in the one left out)."
            )
        else:
            # Who tries something out on a few questions afterwards has not taken back the whole run.
            if later:
                it = "it is a later run" if len(later) == 1 else "they are later runs"
                were = "was" if len(later) == 1 else "were"
                left_out.append(
                    f"{names} of {run.of} {were} left out: {it} under the same conditions, but of only "
                    f"{counted(asked, 'question')}; {short_name(run.file)}, which counts, has {len(run.questions):,}."
                )
            kept = [*(one for one in kept if one not in later), run]
    return kept[::-1]


def _told_apart(first: str, second: str) -> tuple[str, str]:
    """Names of two files with no more folders than it takes to tell them apart."""
    ends = zip(reversed(PurePosixPath(first).parts), reversed(PurePosixPath(second).parts), strict=False)
    alike = sum(1 for _ in takewhile(lambda names: names[0] == names[1], ends))
    return "/".join(PurePosixPath(first).parts[-alike - 1 :]), "/".join(PurePosixPath(second).parts[-alike - 1 :])
