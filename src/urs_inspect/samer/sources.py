"""Published preference data as training pairs."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

from urs_inspect._util import InputError, choices
from urs_inspect.samer.training.pairs import Preference, TrainingPair

Record = Mapping[str, Any]
Made = tuple[str, str, str, Preference | None]
"""Prompt, response a, response b, winner."""


class SkipError(Exception):
    """The record is of no use here; the text says why."""


def text(record: Record, column: str) -> str:
    """A text that is not blank.

    Raises:
        InputError: If it is no text.
        SkipError: If it is blank.
    """
    value = record.get(column)
    if not isinstance(value, str):
        raise InputError(f"'{column}' must be a text, is {_shown(value)}")
    if not value.strip():
        raise SkipError(f"'{column}' is blank")
    return value


def both(records: Sequence[Record], column: str) -> tuple[str, str]:
    """The same text of each of two records."""
    first, second = records
    return text(first, column), text(second, column)


def number(record: Record, column: str) -> float:
    """A finite number, also as a text.

    Raises:
        InputError: If it is none.
    """
    found = rating(record, column)
    if found is None:
        raise InputError(f"'{column}' must be a number, is {_shown(record.get(column))}")
    return found


def flag(record: Record, column: str) -> bool:
    """True or false.

    Raises:
        InputError: If it is neither.
    """
    value = record.get(column)
    if not isinstance(value, bool):
        raise InputError(f"'{column}' must be true or false, is {_shown(value)}")
    return value


def rating(record: Record, column: str) -> float | None:
    """A finite number, also as a text; None where there is none, as where a rater gave none."""
    value = record.get(column)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def higher(records: Sequence[Record], column: str) -> Preference:
    """Which of two records is rated higher.

    Raises:
        SkipError: If one has no rating.
    """
    one, two = (rating(record, column) for record in records)
    if one is None or two is None:
        raise SkipError(f"no '{column}'")
    return "a" if one > two else "b" if two > one else "tie"


def only_turn(record: Record, column: str) -> tuple[str, str]:
    """Question and answer of a conversation.

    Raises:
        InputError: If it is no list of messages.
        SkipError: If it has more than one turn, or does not begin with a question and an answer.
    """
    messages = record.get(column)
    if isinstance(messages, list) and len(messages) > 2:
        raise SkipError(f"'{column}' has more than one turn")
    return first_turn(record, column)


def first_turn(record: Record, column: str) -> tuple[str, str]:
    """The first question and answer of a conversation of any length.

    Raises:
        InputError: If it is no list of messages.
        SkipError: If it does not begin with a question and an answer.
    """
    messages = record.get(column)
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise InputError(f"'{column}' must be a list of messages, is {_shown(messages)}")
    if [message.get("role") for message in messages[:2]] != ["user", "assistant"]:
        raise SkipError(f"'{column}' does not begin with a question and an answer")
    return both(messages[:2], "content")


def only_text(record: Record, column: str) -> str:
    """The only one of a list of texts, also of one written as JSON.

    Raises:
        InputError: If it is no list of texts.
        SkipError: If there are several, or it is blank.
    """
    value = record.get(column)
    try:
        turns = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        turns = [value]  # plain text
    turns = [turns] if isinstance(turns, str) else turns
    if not isinstance(turns, list) or not turns:
        raise InputError(f"'{column}' must be a list of texts, is {_shown(value)}")
    if len(turns) > 1:
        raise SkipError(f"'{column}' has more than one turn")
    return text({column: turns[0] or ""}, column)


def tossed(prompt: str, better: str, worse: str) -> Made:
    """A pair whose sides are tossed by a hash of its texts, for data that always put the better one first."""
    if int(hashed(prompt, better, worse)[:2], 16) & 1:
        return prompt, worse, better, "b"
    return prompt, better, worse, "a"


def hashed(*values: str | None) -> str:
    """SHA-256 of texts, as hexadecimal digits."""
    return sha256(json.dumps(values).encode()).hexdigest()


def _shown(value: Any) -> str:
    return repr(value)[:60] if isinstance(value, str) else json.dumps(value, default=str)[:60]


_SCORE = "fine-grained_score"


def ultrafeedback(record: Record) -> Made:
    """UltraFeedback: `instruction` and `completions`, each with `response` and `fine-grained_score` (1 to 5).

    That score is the mean of four aspects as a model rated them, and may be missing. Two of the completions that have
    one, chosen by a hash of the instruction, make one pair; the higher score wins, and equal ones are a tie. The
    `overall_score` is not used: copies from before December 2023 have 10 where 1 was meant.
    """
    prompt, completions = text(record, "instruction"), record.get("completions")
    if not isinstance(completions, list) or not all(isinstance(one, dict) for one in completions):
        raise InputError("'completions' must be a list of objects")
    scored = [place for place, one in enumerate(completions) if rating(one, _SCORE) is not None]
    if len(scored) < 2:
        raise SkipError("fewer than two completions with a score")
    drawn = sorted(scored, key=lambda place: hashed(prompt, str(place)))[:2]
    two = [completions[place] for place in drawn]
    return prompt, *both(two, "response"), higher(two, _SCORE)


def synthetic_gptj(record: Record) -> Made:
    """Synthetic GPT-J: `prompt`, `chosen`, `rejected`. The sides are tossed."""
    return tossed(text(record, "prompt"), text(record, "chosen"), text(record, "rejected"))


def preference_collection(record: Record) -> Made:
    """Preference Collection: `orig_instruction`, `orig_response_A`, `orig_response_B`, `orig_preference` (A or B).

    The preference is a model's, on one criterion.
    """
    preference = record.get("orig_preference")
    if preference not in {"A", "B"}:
        raise InputError(f"'orig_preference' is {preference!r}; allowed: A, B")
    prompt, first, second = (text(record, f"orig_{name}") for name in ("instruction", "response_A", "response_B"))
    return prompt, first, second, "a" if preference == "A" else "b"


RATED = "rated"
"""Key under which `paired_ratings` puts records together."""

_NEXT_TURN = "<extra_id_1>"
_VOTES: Mapping[str, Preference] = {"model_a": "a", "model_b": "b", "tie": "tie", "tie (bothbad)": "tie"}


def helpsteer2(record: Record) -> Made:
    """HelpSteer2: people's preferences. Prompts of one turn only; it writes turns into one text, behind a mark.

    Either `prompt`, `response_1`, `response_2`, `preference_strength` (-3 to 3, below 0 where response 1 is better),
    as in its preference file; or two records of its ratings file that stand one after another with the same `prompt`,
    each with `response` and `helpfulness` (0 to 4), which `map_records` puts together.
    """
    prompt = text(record, "prompt")
    if _NEXT_TURN in prompt:
        raise SkipError("'prompt' has more than one turn")
    if (rated := record.get(RATED)) is not None:
        if len(rated) < 2:
            raise SkipError("no second rating of the same prompt beside it")
        return prompt, *both(rated, "response"), higher(rated, "helpfulness")
    strength = number(record, "preference_strength")
    winner: Preference = "a" if strength < 0 else "b" if strength > 0 else "tie"
    return prompt, text(record, "response_1"), text(record, "response_2"), winner


def paired_ratings(records: Iterable[Record]) -> Iterator[tuple[int, Record]]:
    """Put HelpSteer2's ratings of one prompt together, two and two; its preferences pass as they are.

    Args:
        records: Records of either file, in its order.

    Yields:
        Place of a record in the file, from 1, and the record; of two ratings the first one's place, and both under
        `RATED`.
    """
    for prompt, group in groupby(enumerate(records, start=1), key=lambda placed: placed[1].get("prompt")):
        ratings: list[tuple[int, Record]] = []
        for place, record in group:
            if "preference_strength" in record or "response_1" in record:
                yield place, record
            else:
                ratings.append((place, record))
        for start in range(0, len(ratings), 2):
            two = ratings[start : start + 2]
            yield two[0][0], {"prompt": prompt, RATED: [record for _, record in two]}


def pku_saferlhf(record: Record) -> Made:
    """PKU-SafeRLHF: `prompt`, `response_0`, `response_1`, `is_response_<n>_safe`, `better_response_id` (0 or 1).

    Where just one of the responses is safe it wins; otherwise the more helpful one does, which the last field names.
    """
    safe = [flag(record, f"is_response_{side}_safe") for side in (0, 1)]
    better = safe.index(True) if safe[0] != safe[1] else number(record, "better_response_id")
    if better not in {0, 1}:
        raise InputError(f"'better_response_id' is {better:g}; allowed: 0, 1")
    return (
        text(record, "prompt"),
        text(record, "response_0"),
        text(record, "response_1"),
        "a" if better == 0 else "b",
    )


def shp2(record: Record) -> Made:
    """SHP-2: `history` (the post), `human_ref_A`, `human_ref_B`, `labels` (1 if readers preferred A, 0 if B)."""
    label = number(record, "labels")
    if label not in {0, 1}:
        raise InputError(f"'labels' is {label:g}; allowed: 0, 1")
    winner: Preference = "a" if label == 1 else "b"
    return text(record, "history"), text(record, "human_ref_A"), text(record, "human_ref_B"), winner


def chatbot_arena(record: Record) -> Made:
    """Chatbot Arena: conversations with a vote. Those of one turn only, since later turns differ between the sides.

    Either `conversation_a`, `conversation_b` (lists of `role` and `content`) and `winner` (`model_a`, `model_b`, `tie`
    or `tie (bothbad)`); or `prompt`, `response_a`, `response_b` (lists of turns, or such lists as JSON) and
    `winner_model_a`, `winner_model_b`, `winner_tie` (1 or 0).
    """
    if "conversation_a" in record:
        prompt, first = only_turn(record, "conversation_a")
        second = only_turn(record, "conversation_b")[1]
        winner = _VOTES.get(str(record.get("winner")))
        if winner is None:
            raise InputError(f"'winner' is {record.get('winner')!r}; allowed: {choices(_VOTES)}")
        return prompt, first, second, winner
    prompt, first, second = (only_text(record, column) for column in ("prompt", "response_a", "response_b"))
    votes: tuple[tuple[Preference, str], ...] = (
        ("a", "winner_model_a"),
        ("b", "winner_model_b"),
        ("tie", "winner_tie"),
    )
    won: list[Preference] = [side for side, column in votes if number(record, column) == 1]
    if len(won) != 1:
        raise InputError("just one of winner_model_a, winner_model_b, winner_tie must be 1")
    return prompt, first, second, won[0]


def lmsys_chat(record: Record) -> tuple[str, str]:
    """LMSYS-Chat: `conversation` (a list of `role` and `content`), of which the first turn is used.

    There is one response and no vote: the paper had a further model answer (Qwen-2-7B-Instruct) and a judge choose.
    """
    return first_turn(record, "conversation")


@dataclass(frozen=True)
class Unpaired:
    """A response without a second one: what LMSYS-Chat holds.

    Attributes:
        id: Stable id.
        prompt: What the user asked.
        response: The response.
        source: Data set.
    """

    id: str
    prompt: str
    response: str
    source: str


@dataclass(frozen=True)
class Skipped:
    """A record that makes no pair on purpose.

    Attributes:
        place: The record, counted from 1.
        reason: Why.
    """

    place: int
    reason: str


Mapped = TrainingPair | Unpaired
SOURCES: Mapping[str, Callable[[Record], Made | tuple[str, str]]] = {
    "helpsteer2": helpsteer2,
    "ultrafeedback": ultrafeedback,
    "pku_saferlhf": pku_saferlhf,
    "shp2": shp2,
    "chatbot_arena": chatbot_arena,
    "lmsys_chat": lmsys_chat,
    "synthetic_gptj": synthetic_gptj,
    "preference_collection": preference_collection,
}
"""Source -> the function that reads its records."""


def map_records(source: str, records: Iterable[Record], skipped: list[Skipped] | None = None) -> Iterator[Mapped]:
    """Turn the records of a source into pairs.

    Args:
        source: One of `SOURCES`.
        records: Its records, in the order of its file.
        skipped: Takes what makes no pair on purpose: more than one turn, no second rating, equal responses.

    Yields:
        Pairs, or responses that still need a second one, with ids by source and content, so that a further copy of a
        record has the same id; it is skipped.

    Raises:
        InputError: If there is no such source, or naming the record and field that cannot be used.
    """
    if source not in SOURCES:
        raise InputError(f"unknown source '{source}'; allowed: {choices(SOURCES)}")
    aside = skipped if skipped is not None else []
    seen: set[str] = set()
    placed = paired_ratings(records) if source == "helpsteer2" else enumerate(records, start=1)
    for place, record in placed:
        try:
            made = SOURCES[source](record)
        except SkipError as reason:
            aside.append(Skipped(place, str(reason)))
            continue
        except InputError as error:
            raise InputError(f"{source}: record {place}: {error}") from error
        identity = f"{source}_{hashed(*made[:3])[:16]}"
        if identity in seen:
            aside.append(Skipped(place, "the same texts as in an earlier record"))
        elif len(made) == 4 and made[1] == made[2]:
            aside.append(Skipped(place, "both responses are the same"))
        else:
            seen.add(identity)
            yield (
                TrainingPair(identity, *made, source=source)
                if len(made) == 4
                else Unpaired(identity, *made, source=source)
            )


def second_response(first: Unpaired, response: str) -> TrainingPair:
    """Put a further response beside a given one, sides tossed; nobody has said yet which is better."""
    prompt, one, two, _ = tossed(first.prompt, first.response, response)
    return TrainingPair(first.id, prompt, one, two, source=first.source)
