"""The samples of a competition: an instruction to answer, or two answers to compare."""

import math
from collections.abc import Mapping
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample

from urs_inspect.discrepancy.ballots import Ballot
from urs_inspect.discrepancy.pools.pool import Instruction
from urs_inspect.discrepancy.selection import Selected
from urs_inspect.reports import ANSWER, COMPARE, Comparison


def answer_sample(item: Instruction) -> Sample:
    """A sample that all contestants answer."""
    facts = {"phase": ANSWER, "language": item.language, "scenario": item.scenario}
    return Sample(id=item.id, input=item.text, target=item.reference, metadata=facts)


def compare_sample(
    item: Instruction,
    responses: Mapping[str, str],
    selected: Selected,
    scenario: str,
    lacking: Mapping[str, Mapping[str, int]],
) -> Sample:
    """A sample that compares two models on an instruction.

    Args:
        item: The instruction.
        responses: Model -> its answer, two.
        selected: Why the instruction was selected; similarities that are NaN are not noted.
        scenario: Kind of task, where the instruction names none.
        lacking: Model -> kind of answer that cannot be compared -> how many there are.

    Returns:
        The sample, with its ballot in the metadata.
    """
    ballot = Ballot.between(
        item.id,
        item.text,
        responses,
        reference=item.reference,
        scenario=item.scenario or scenario,
        language=item.language or "en",
    )
    similarities = {
        "response_similarity": selected.response_similarity,
        "instruction_similarity": selected.instruction_similarity,
    }
    known = {name: round(value, 6) for name, value in similarities.items() if not math.isnan(value)}
    return _ballot_sample(ballot, {"selection": known, **({"lacking": lacking} if lacking else {})})


def previous_sample(one: Comparison) -> Sample:
    """A sample that keeps the outcome of an earlier run, and asks nobody."""
    return _ballot_sample(one.ballot, {"previous": {**one.facts, "outcome": one.outcome}})


def outcome_of(sample: EvalSample) -> float:
    """The outcome of a compared sample, 1 for the first model; NaN if there is none."""
    score = (sample.scores or {}).get("pair_choice")
    value = score.value.get("outcome") if score and isinstance(score.value, dict) else None
    return float(value) if isinstance(value, (int, float)) else math.nan


def _ballot_sample(ballot: Ballot, facts: dict[str, Any]) -> Sample:
    return Sample(
        id=f"{ballot.instruction_id}-{ballot.id}",
        input=(
            f"{ballot.instruction}\n\n--- {ballot.model_a} ---\n{ballot.response_a}"
            f"\n\n--- {ballot.model_b} ---\n{ballot.response_b}"
        ),
        target=ballot.reference,
        metadata={"phase": COMPARE, "ballot": ballot.to_dict(), **facts},
    )
