"""One comparison that somebody is asked for, and the file format that carries it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self

from urs_inspect._util import InputError, choices

Choice = Literal["a", "b", "tie", "cannot_tell"]
"""What a voter can say of the two responses of a ballot."""

CHOICES: tuple[Choice, ...] = ("a", "b", "tie", "cannot_tell")
"""Every `Choice`."""

OUTCOMES: Mapping[str, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""Outcome of a comparison by choice (MAD paper, Eq. (3)); "cannot_tell" has none."""

_REQUIRED = ("instruction_id", "instruction", "model_a", "model_b", "response_a", "response_b")
_ID_DIGITS = 16


def ballot_id(instruction_id: str, model: str, other: str) -> str:
    """Number of a comparison, which stays the same whichever model is named first.

    Args:
        instruction_id: Id of the instruction in its pool.
        model: Name of one model.
        other: Name of the other.

    Returns:
        The first 16 hexadecimal digits of a sha256.
    """
    named = json.dumps([instruction_id, *sorted((model, other))], ensure_ascii=False)
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_DIGITS]


@dataclass(frozen=True)
class Ballot:
    """One instruction with the responses of two models.

    Attributes:
        id: See `ballot_id`.
        instruction_id: Id of the instruction in its pool.
        instruction: What was asked.
        model_a: The model whose name sorts first. Because the id does not depend on the order, the order must not
            be free: a vote for "a" would change its meaning with it.
        model_b: The other model.
        response_a: Response of `model_a`.
        response_b: Response of `model_b`.
        reference: Reference answer; empty if there is none.
        scenario: Name of the scenario, such as "writing".
        language: Language of the instruction, such as "en".
    """

    id: str
    instruction_id: str
    instruction: str
    model_a: str
    model_b: str
    response_a: str
    response_b: str
    reference: str = ""
    scenario: str = "general"
    language: str = "en"

    def __post_init__(self) -> None:
        """Refuse a ballot whose id, or whose order of models, would give votes another meaning."""
        if not self.model_a or not self.model_b:
            raise InputError("a ballot needs the names of both models")
        if self.model_a == self.model_b:
            raise InputError(f"a ballot compares '{self.model_a}' with itself")
        if self.model_a > self.model_b:
            raise InputError(
                f"model_a must be the one that sorts first: '{self.model_b}' comes before '{self.model_a}' "
                "(Ballot.between puts two responses in order)"
            )
        expected = ballot_id(self.instruction_id, self.model_a, self.model_b)
        if self.id != expected:
            raise InputError(f"id is '{self.id}', but that of this instruction and these models is '{expected}'")

    @classmethod
    def between(
        cls,
        instruction_id: str,
        instruction: str,
        responses: Mapping[str, str],
        *,
        reference: str = "",
        scenario: str = "general",
        language: str = "en",
    ) -> Self:
        """Make the ballot between two responses.

        Args:
            instruction_id: Id of the instruction in its pool.
            instruction: What was asked.
            responses: Response by model, of exactly two models, in any order.
            reference: Reference answer; empty if there is none.
            scenario: Name of the scenario.
            language: Language of the instruction.

        Raises:
            InputError: If there are not two models.
        """
        if len(responses) != 2:
            raise InputError(f"a ballot is between two models, got {len(responses)}: {choices(sorted(responses))}")
        model_a, model_b = sorted(responses)
        return cls(
            id=ballot_id(instruction_id, model_a, model_b),
            instruction_id=instruction_id,
            instruction=instruction,
            model_a=model_a,
            model_b=model_b,
            response_a=responses[model_a],
            response_b=responses[model_b],
            reference=reference,
            scenario=scenario,
            language=language,
        )

    def to_dict(self) -> dict[str, str]:
        """The ballot as a JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: object, place: str = "ballot") -> Self:
        """Read a ballot from a JSON object.

        Args:
            values: What `to_dict` gave; the id may be left out. Keys that a ballot does not have are ignored.
            place: Where the object stands, for the error message.

        Raises:
            InputError: If it is no ballot.
        """
        if not isinstance(values, dict):
            raise InputError(f"{place}: a ballot is a JSON object, got {type(values).__name__}")
        if missing := [key for key in _REQUIRED if key not in values]:
            raise InputError(f"{place}: missing {choices(missing)}; a ballot needs {choices(_REQUIRED)}")
        known = {field.name: values[field.name] for field in fields(cls) if field.name in values}
        for key, value in known.items():
            if not isinstance(value, str):
                raise InputError(f"{place}: {key} must be text, got {type(value).__name__}")
        known.setdefault("id", ballot_id(known["instruction_id"], known["model_a"], known["model_b"]))
        try:
            return cls(**known)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None


def parse_ballots(text: str, place: str) -> tuple[Ballot, ...]:
    """Read ballots from JSON Lines.

    Args:
        text: One ballot a line; blank lines are ignored.
        place: Name of the file, for error messages.

    Raises:
        InputError: If a line holds no ballot, or two lines hold different ballots of one id.
    """
    found: list[tuple[str, Any]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append((f"{place}: line {number}", json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise InputError(f"{place}: line {number}: not JSON: {error}") from None
    return collect_ballots(found)


def read_ballots(path: Path) -> tuple[Ballot, ...]:
    """Read ballots from a file with one ballot a line.

    Raises:
        InputError: If the file cannot be read, is empty or a line holds no ballot.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read the ballots '{path}': {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    if not (ballots := parse_ballots(text, str(path))):
        raise InputError(f"{path}: no ballot; one JSON object a line is expected")
    return ballots


def collect_ballots(found: Iterable[tuple[str, Any]]) -> tuple[Ballot, ...]:
    """Make ballots of JSON objects, once each.

    Args:
        found: Objects with the place of each, for error messages.

    Returns:
        The ballots in their order; a ballot that comes again unchanged is left out.

    Raises:
        InputError: If an object is no ballot, or two different ones have the same id.
    """
    ballots: dict[str, tuple[str, Ballot]] = {}
    for place, values in found:
        ballot = Ballot.from_dict(values, place)
        before, same = ballots.setdefault(ballot.id, (place, ballot))
        if same != ballot:
            raise InputError(
                f"{place}: the ballot {ballot.id} differs from the one at {before}; a pair of models may answer an "
                "instruction only once"
            )
    return tuple(ballot for _, ballot in ballots.values())


def write_ballots(ballots: Iterable[Ballot], path: Path) -> None:
    """Write ballots to a file, one a line, as `read_ballots` reads them."""
    lines = [json.dumps(ballot.to_dict(), ensure_ascii=False) + "\n" for ballot in ballots]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
