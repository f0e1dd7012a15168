"""Files of plain votes -> battles: who was compared, who won, on what."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from urs_inspect.datasets.rows import Row, read_records, read_table, shown
from urs_inspect.errors import InputError
from urs_inspect.rating.battles import Battle, outcome_of
from urs_inspect.reports.repeated_votes import Found

SUFFIXES = (".json", ".jsonl", ".csv")
"""Kinds of files that votes are read from."""

_BETWEEN = "-vs-"
_LONGEST_NAME = 200
_ARENA_VOTER = "arena_user"
"""What the MAD paper's annotations call whoever voted in the Chatbot Arena."""
_ORIGIN = ("judge", "annotator", "source", "id")
_SIDES = ((1, "a"), (2, "b"))


def read_vote_list(path: Path) -> list[Found]:
    """Read a file of votes.

    Three layouts are read: rows with `model_a`, `model_b` and `winner`; the same with the instruction inside `data`, as
    the MAD paper published its annotations; and files `<model>-vs-<model>.jsonl` whose rows have the winner in
    `output`, as it published the votes of Chatbot Arena. Votes on one instruction (the column `instruction`, the one
    inside `data`, else `question_id`) belong together; without any of these each vote stands alone.

    Args:
        path: A `.json` file with a list or one object a line, a `.jsonl` file, or a `.csv` file with a header.

    Returns:
        The votes in the order of the file.

    Raises:
        InputError: If the file cannot be read or has no votes, or naming the first row that is none.
    """
    rows, faults = read_records(path) if path.suffix.lower() == ".json" else read_table(path, ())
    votes = []
    for row in rows:
        try:
            votes.append(_vote(path, row))
        except InputError as error:
            faults.append(f"{path}: {row.place}: {error}")
    if faults:
        more = f" (and {len(faults) - 1} more such faults)" if len(faults) > 1 else ""
        raise InputError(f"{faults[0]}{more}")
    if not votes:
        raise InputError(f"{path}: no votes; rows with model_a, model_b and winner are expected")
    return votes


def first_object(path: Path) -> dict[str, Any]:
    """The first line of a file that is a JSON object, to tell what the file holds; empty if it is none."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            value = json.loads(next((line for line in file if line.strip()), ""))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def checked_name(value: object, key: str) -> str:
    """Check the name of a model.

    Raises:
        InputError: If it is no text, blank, longer than 200 characters, or would not print.
    """
    name = _name(value) if isinstance(value, str) else ""
    if not name:
        raise InputError(
            f"{key} must be the name of a model, up to {_LONGEST_NAME} printable characters, is {shown(value)}"
        )
    return name


@lru_cache(maxsize=1024)  # many votes are about few models
def _name(value: str) -> str:
    return value.strip() if value.isprintable() and len(value) <= _LONGEST_NAME else ""


def _vote(path: Path, row: Row) -> Found:
    values = row.values
    if "ballot" in values and "winner" not in values:
        raise InputError("a vote about a ballot; name the log or file with the ballots, and this file with --votes")
    arena = "output" in values and "winner" not in values
    first, second, winner = _published(path, values) if arena else _plain(values)
    if first == second:
        raise InputError(f"'{first}' is compared with itself; two models are needed")
    battle = Battle(first, second, outcome_of(winner, first, second), _cluster(path, row))
    known = {"judge": _ARENA_VOTER, "source": path.name, **values} if arena else values
    return Found(battle, _identity(battle, known))


def _identity(battle: Battle, values: dict[str, Any]) -> str:
    """What a vote shares with the same vote in another file.

    That is the models with their responses, the winner, the instruction, and who cast it or where it is from. Neither
    the order of the responses nor the time is part of it, since copies of a vote differ in these. Empty if the file
    does not say whose vote it is, or on what.
    """
    data = values.get("data")
    content = {**(data if isinstance(data, dict) else {}), **values}
    origin = [values.get(key) for key in _ORIGIN]
    if not any(origin) or not any(content.get(key) for key in ("id", "instruction", "question_id", "response_1")):
        return ""
    first, second = (content.get(f"response_{number}", content.get(f"response_{side}")) for number, side in _SIDES)
    sides = [[battle.first, first, battle.outcome], [battle.second, second, 1 - battle.outcome]]
    if battle.second < battle.first:
        sides.reverse()
    # A conversation's first turn is what files without the column have.
    facts = [*origin, content.get("turn") or 1, content.get("question_id"), content.get("instruction"), sides]
    return repr(facts)  # much faster than JSON


def _plain(values: dict[str, Any]) -> tuple[str, str, object]:
    if missing := [key for key in ("model_a", "model_b", "winner") if key not in values]:
        raise InputError(f"'{missing[0]}' is missing; a vote needs model_a, model_b and winner")
    first, second = (checked_name(values[key], key) for key in ("model_a", "model_b"))
    return first, second, values["winner"]


def _published(path: Path, values: dict[str, Any]) -> tuple[str, str, object]:
    names = path.stem.split(_BETWEEN)
    if len(names) != 2:
        raise InputError(f"a vote with 'output' stands in a file named <model>{_BETWEEN}<model>.jsonl")
    first, second = (checked_name(name, "the file name") for name in names)
    return first, second, values["output"]


def _cluster(path: Path, row: Row) -> str:
    data = row.values.get("data")
    for values in (row.values, data if isinstance(data, dict) else {}):
        instruction = values.get("instruction")
        if isinstance(instruction, str) and instruction.strip():
            return instruction_cluster(instruction)
    question = row.values.get("question_id")
    return f"{path} {row.place}" if question in {None, ""} or isinstance(question, float) else f"question {question}"


def instruction_cluster(instruction: str) -> str:
    """What battles over the same instruction share."""
    return f"instruction {instruction.strip()}"
