"""Samples of labelled pairs, and what identifies the data of a benchmark."""

from logging import getLogger
from typing import Any

from inspect_ai.dataset import Sample

from urs_inspect.datasets import PairCase, PairData, RatingData
from urs_inspect.rubrics._taxonomy import Taxonomy
from urs_inspect.solvers._compare_pair import QUERY

logger = getLogger(__name__)


def pair_to_sample(case: PairCase, taxonomy: Taxonomy | None = None) -> Sample:
    """Map a labelled pair to a sample.

    Input and target are for readers, the metadata for solver and scorer.
    """
    scenario = None
    if taxonomy:
        scenario = taxonomy.scenarios.get(case.group)
    metadata: dict[str, Any] = {
        "group": case.group,
        "scenario": case.group,
        "need": scenario.need if scenario else "",
        "prompt": case.prompt,
        "response_a": case.response_a,
        "response_b": case.response_b,
        "label": case.label,
        "dimensions": dict(case.dimensions),
    }
    if case.conversation is not None:
        metadata[QUERY] = case.conversation.query
    parts = [
        case.prompt,
        f"--- response a ---\n{case.response_a}",
        f"--- response b ---\n{case.response_b}",
    ]
    return Sample(id=case.id, input="\n\n".join(parts), target=case.label, metadata=metadata)


def bench_facts(data: PairData | RatingData) -> dict[str, object]:
    """What identifies the data of a run, for the log."""
    for line in data.skipped:
        logger.info(f"skipped: {line}")
    return {
        "dataset": data.name,
        "dataset_sha256": data.sha256,
        "dataset_skipped": list(data.skipped),
        "labels_by": data.labels,
    }
