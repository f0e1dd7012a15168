"""Pairs and responses with labels of people; MD-Eval."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from urs_inspect.datasets.rows import Fields, read_published
from urs_inspect.datasets.sources import MD_EVAL

Preference = Literal["a", "b", "tie"]
"""Which of two responses is better."""

PREFERENCES: tuple[Preference, ...] = get_args(Preference)


@dataclass(frozen=True)
class PairCase:
    """Two responses to one prompt, with the label of who is better.

    Attributes:
        id: Stable id.
        prompt: What the user asked.
        response_a: First response, in the order of the file.
        response_b: Second response.
        label: Which is better as a whole.
        group: Subset or scenario that it is reported in.
        dimensions: Dimension -> which is better on it; empty where the bench has only overall labels.
    """

    id: str
    prompt: str
    response_a: str
    response_b: str
    label: Preference
    group: str
    dimensions: Mapping[str, Preference] = field(default_factory=dict)


@dataclass(frozen=True)
class PairData:
    """A pairwise bench.

    Attributes:
        name: Its name, or the path of a user's file.
        sha256: Hash of the file or files.
        cases: The pairs, in the order of the file.
        skipped: One line for each row left out, with the reason.
    """

    name: str
    sha256: str
    cases: tuple[PairCase, ...]
    skipped: tuple[str, ...] = ()

    @property
    def has_ties(self) -> bool:
        """Whether any label is a tie, so that a judge may answer so."""
        return any(case.label == "tie" or "tie" in case.dimensions.values() for case in self.cases)


@dataclass(frozen=True)
class RatingCase:
    """One response with the rating that people (or a reference judge) gave it.

    Attributes:
        id: Stable id.
        prompt: What the user asked; equal prompts form one cluster, unless `cluster` is given.
        response: The response.
        rating: The label.
        group: Category that it is reported in.
        reference: A reference answer, where the bench has one that may be shown; else empty.
        intent: URS intent id, for labels on URS-style answers; else empty.
        language: Language code, likewise.
        cluster: What cases on the same question have in common, where their prompts differ; else empty.
    """

    id: str
    prompt: str
    response: str
    rating: float
    group: str
    reference: str = ""
    intent: str = ""
    language: str = ""
    cluster: str = ""


@dataclass(frozen=True)
class RatingData:
    """A single-rating bench.

    Attributes:
        name: Its name, or the path of a user's file.
        sha256: Hash of the file.
        scale: Lowest and highest possible label.
        cases: The responses, in the order of the file.
        skipped: One line for each row left out, with the reason.
    """

    name: str
    sha256: str
    scale: tuple[float, float]
    cases: tuple[RatingCase, ...]
    skipped: tuple[str, ...] = ()


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
