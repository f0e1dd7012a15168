"""One comparison of two responses to judge, and the file format that carries it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Unpack, get_args

from urs_inspect._util import InputError, choices
from urs_inspect.datasets._rows import read_table, refuse

Choice = Literal["a", "b", "tie", "cannot_tell"]
"""What a voter can choose about the two responses of a ballot."""

CHOICES: tuple[Choice, ...] = get_args(Choice)

OUTCOMES: Mapping[str, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""Outcome of a comparison by choice (MAD paper, Eq. (3)); "cannot_tell" has none."""

_REQUIRED = ("instruction_id", "instruction", "model_a", "model_b", "response_a", "response_b")
_ID_DIGITS = 16


def ballot_id(instruction_id: str, model: str, other: str) -> str:
    """Id of a comparison, the same whichever model is named first.

    The first 16 hexadecimal digits of a sha256.
    """
    first, second = sorted([model, other])
    named = json.dumps([instruction_id, first, second], ensure_ascii=False)
    digest = hashlib.sha256(named.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:_ID_DIGITS]


class _More(TypedDict, total=False):
    reference: str
    scenario: str
    language: str
    intent: str


@dataclass(frozen=True)
class Ballot:
    """One instruction with the responses of two models.

    `model_a` is the model whose name sorts first. Because the id does not depend on the order, the
    order must not be free: a vote for "a" would change its meaning with it.
    """

    id: str  # see `ballot_id`
    instruction_id: str
    instruction: str
    model_a: str
    model_b: str
    response_a: str
    response_b: str
    reference: str = ""  # reference answer; empty if there is none
    scenario: str = "general"
    language: str = "en"
    # Of the user who asked, empty if it is not known; logs of earlier versions do not have it.
    intent: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Refuse a ballot whose id, or whose order of models, would give votes another meaning."""
        if not self.model_a or not self.model_b:
            raise InputError("a ballot needs the names of both models")
        if self.model_a == self.model_b:
            raise InputError(f"a ballot compares '{self.model_a}' with itself")
        if self.model_a > self.model_b:
            raise InputError(
                f"model_a must be the one that sorts first: '{self.model_b}' comes before"
                f" '{self.model_a}' (Ballot.between puts two responses in order)"
            )
        expected = ballot_id(self.instruction_id, self.model_a, self.model_b)
        if self.id != expected:
            raise InputError(
                f"id is '{self.id}', but that of this instruction and these models is '{expected}'"
            )

    @classmethod
    def between(
        cls,
        instruction_id: str,
        instruction: str,
        responses: Mapping[str, str],
        **more: Unpack[_More],
    ) -> Self:
        """Make the ballot between the responses of exactly two models, in any order."""
        if len(responses) != 2:
            raise InputError(
                f"a ballot is between two models, got {len(responses)}:"
                f" {choices(sorted(responses))}"
            )
        model_a, model_b = sorted(responses)
        return cls(
            id=ballot_id(instruction_id, model_a, model_b),
            instruction_id=instruction_id,
            instruction=instruction,
            model_a=model_a,
            model_b=model_b,
            response_a=responses[model_a],
            response_b=responses[model_b],
            **more,
        )

    def to_dict(self) -> dict[str, str]:
        """The ballot as a JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: object, place: str = "ballot") -> Self:
        """Read a ballot from what `to_dict` returned.

        Else an InputError names the `place` of the object.

        The id may be missing. Keys that a ballot does not have are ignored.
        """
        if not isinstance(values, dict):
            raise InputError(f"{place}: a ballot is a JSON object, got {type(values).__name__}")
        missing = [key for key in _REQUIRED if key not in values]
        if missing:
            raise InputError(
                f"{place}: missing {choices(missing)}; a ballot needs {choices(_REQUIRED)}"
            )
        names = [own.name for own in fields(cls)]
        known: dict[str, str] = {key: values[key] for key in names if key in values}
        for key, value in known.items():
            if not isinstance(value, str):
                raise InputError(f"{place}: {key} must be text, got {type(value).__name__}")
        own_id = ballot_id(known["instruction_id"], known["model_a"], known["model_b"])
        known.setdefault("id", own_id)
        try:
            return cls(**known)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None


def read_ballots(path: Path) -> tuple[Ballot, ...]:
    """Read ballots from a file with one JSON object per line; blank lines are ignored."""
    rows, errors = read_table(path, ())
    refuse(errors)
    if not rows:
        raise InputError(f"{path}: no ballot; one JSON object per line is expected")
    return collect_ballots((f"{path}: {row.place}", row.values) for row in rows)


def collect_ballots(objects: Iterable[tuple[str, Any]]) -> tuple[Ballot, ...]:
    """Make ballots of JSON objects, each with its place for error messages.

    An unchanged duplicate is left out.
    """
    ballots: dict[str, tuple[str, Ballot]] = {}
    for place, values in objects:
        ballot = Ballot.from_dict(values, place)
        before, same = ballots.setdefault(ballot.id, (place, ballot))
        if same != ballot:
            raise InputError(
                f"{place}: the ballot {ballot.id} differs from the one at {before}; a pair of"
                " models may answer an instruction only once"
            )
    return tuple(ballot for _, ballot in ballots.values())
