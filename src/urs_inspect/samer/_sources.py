"""Published preference data as training pairs: a function that reads a record of each source."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

from urs_inspect._util import InputError, choices
from urs_inspect.samer._pairs import Preference, TrainingPair

Record = Mapping[str, Any]
Found = tuple[list[str], Preference | None]
"""The prompt and one or two responses, and which is better; None if not known."""

RATED = "rated"  # key under which two rated responses to one prompt are put together

_SCORE = "fine-grained_score"
_NEXT_TURN = "<extra_id_1>"


class SkipError(Exception):
    """The record is of no use here, for the reason given."""


@dataclass(frozen=True)
class Unpaired:
    """A response without a second one: what LMSYS-Chat holds."""

    id: str
    prompt: str
    response: str
    source: str


@dataclass(frozen=True)
class Skipped:
    """A record that makes no pair on purpose; `place` counts from 1."""

    place: int
    reason: str


Mapped = TrainingPair | Unpaired


# ## Values of columns. Each function raises `InputError` for a value of another type, `SkipError`
# for a record that cannot be used.


def _text(record: Record, column: str) -> str:
    value = record.get(column)
    if not isinstance(value, str):
        raise InputError(f"'{column}' must be a text, is {_shown(value)}")
    if not value.strip():
        raise SkipError(f"'{column}' is blank")
    return value


def _texts(record: Record, *columns: str) -> list[str]:
    return [_text(record, column) for column in columns]


def _message(record: Record, column: str, place: int, *, only: bool = True) -> str:
    """The question (0) or answer (1) that a list of messages begins with.

    `only` refuses further turns.
    """
    messages = record.get(column)
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise InputError(f"'{column}' must be a list of messages, is {_shown(messages)}")
    if only and len(messages) > 2:
        raise SkipError(f"'{column}' has more than one turn")
    if [message.get("role") for message in messages[:2]] != ["user", "assistant"]:
        raise SkipError(f"'{column}' does not begin with a question and an answer")
    return _text(messages[place], "content")


def _listed(record: Record, column: str) -> str:
    """The only one of a list of texts, also of one written as JSON."""
    value = record.get(column)
    try:
        turns = value
        if isinstance(value, str):
            turns = json.loads(value)
    except ValueError:
        turns = [value]  # plain text
    turns = [turns] if isinstance(turns, str) else turns
    if not isinstance(turns, list) or not turns:
        raise InputError(f"'{column}' must be a list of texts, is {_shown(value)}")
    if len(turns) > 1:
        raise SkipError(f"'{column}' has more than one turn")
    return _text({column: turns[0] or ""}, column)


def _rating(record: Record, column: str) -> float | None:
    """A finite number, also as a text; None where there is none, as where a rater gave none."""
    value = record.get(column)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if math.isfinite(number):
        return number
    return None


def _number(record: Record, column: str) -> float:
    number = _rating(record, column)
    if number is None:
        raise InputError(f"'{column}' must be a number, is {_shown(record.get(column))}")
    return number


def _coded(record: Record, column: str, value: Any, codes: Mapping[Any, Preference]) -> Preference:
    if not isinstance(value, (str, float)) or value not in codes:
        raise InputError(f"'{column}' is {_shown(record.get(column))}; allowed: {choices(codes)}")
    return codes[value]


def _larger(first: float, second: float) -> Preference:
    if first > second:
        return "a"
    if second > first:
        return "b"
    return "tie"


def _rated_higher(prompt: str, rated: Sequence[Record], column: str) -> Found:
    """Two rated responses, of which the one with the higher rating is better."""
    texts = [prompt, *(_text(one, "response") for one in rated)]
    ratings = [_rating(one, column) for one in rated]
    known = [rating for rating in ratings if rating is not None]
    if len(known) < 2:
        raise SkipError(f"no '{column}'")
    return texts, _larger(*known)


# ## Records


def _helpsteer2(record: Record) -> Found:
    """People's preferences.

    Either two records of its ratings file (helpfulness 0 to 4) that stand one after another, with
    the same prompt, or its preference file (-3 to 3, below 0 where response 1 is better).
    """
    prompt = _text(record, "prompt")
    if _NEXT_TURN in prompt:
        raise SkipError("'prompt' has more than one turn")
    if RATED not in record:
        texts = [prompt, *_texts(record, "response_1", "response_2")]
        return texts, _larger(0, _number(record, "preference_strength"))
    if len(record[RATED]) < 2:
        raise SkipError("no second rating of the same prompt beside it")
    return _rated_higher(prompt, record[RATED], "helpfulness")


def _ultrafeedback(record: Record) -> Found:
    """Two of the completions that have a score, drawn by a hash of the instruction.

    Scores are from 1 to 5, the mean of four aspects as a model rated them, and may be missing.
    `overall_score` is not used: copies from before December 2023 have 10 where 1 was meant.
    """
    prompt = _text(record, "instruction")
    completions = record.get("completions")
    if not isinstance(completions, list) or not all(
        isinstance(completion, dict) for completion in completions
    ):
        raise InputError("'completions' must be a list of objects")
    scored = [
        place
        for place, completion in enumerate(completions)
        if _rating(completion, _SCORE) is not None
    ]
    if len(scored) < 2:
        raise SkipError("fewer than two completions with a score")
    drawn = sorted(scored, key=lambda place: _hashed(prompt, str(place)))[:2]
    return _rated_higher(prompt, [completions[place] for place in drawn], _SCORE)


def _pku_saferlhf(record: Record) -> Found:
    """Where just one of the responses is safe it wins; otherwise the more helpful one does."""
    texts = _texts(record, "prompt", "response_0", "response_1")
    safe = [record.get(f"is_response_{side}_safe") for side in (0, 1)]
    for side, value in enumerate(safe):
        if not isinstance(value, bool):
            raise InputError(f"'is_response_{side}_safe' must be true or false, is {_shown(value)}")
    winner: Preference = "a" if safe[0] else "b"
    if safe[0] == safe[1]:
        better = _number(record, "better_response_id")
        winner = _coded(record, "better_response_id", better, {0: "a", 1: "b"})
    return texts, winner


def _shp2(record: Record) -> Found:
    """Posts, with 1 in `labels` if readers preferred A, 0 if B."""
    texts = _texts(record, "history", "human_ref_A", "human_ref_B")
    winner = _coded(record, "labels", _number(record, "labels"), {0: "b", 1: "a"})
    return texts, winner


_ARENA_WINNERS: Mapping[str, Preference] = {
    "model_a": "a",
    "model_b": "b",
    "tie": "tie",
    "tie (bothbad)": "tie",
}


def _chatbot_arena(record: Record) -> Found:
    """Conversations of one turn only, since later turns differ between the sides; in either
    published layout.
    """
    if "conversation_a" not in record:
        texts = [_listed(record, column) for column in ("prompt", "response_a", "response_b")]
        return texts, _voted(record)
    places = (("conversation_a", 0), ("conversation_a", 1), ("conversation_b", 1))
    texts = [_message(record, column, place) for column, place in places]
    return texts, _coded(record, "winner", record.get("winner"), _ARENA_WINNERS)


def _voted(record: Record) -> Preference:
    votes: Mapping[str, Preference] = {
        "winner_model_a": "a",
        "winner_model_b": "b",
        "winner_tie": "tie",
    }
    won = [side for column, side in votes.items() if _number(record, column) == 1]
    if len(won) != 1:
        raise InputError("just one of winner_model_a, winner_model_b, winner_tie must be 1")
    return won[0]


def _lmsys_chat(record: Record) -> Found:
    """The first turn.

    There is one response and no vote: the paper had a further model answer (Qwen-2-7B-Instruct) and
    a judge choose.
    """
    return [_message(record, "conversation", place, only=False) for place in (0, 1)], None


def _synthetic_gptj(record: Record) -> Found:
    """The better response is always the first one, so that the sides are tossed."""
    prompt, chosen, rejected = _texts(record, "prompt", "chosen", "rejected")
    if _tossed(prompt, chosen, rejected):
        return [prompt, rejected, chosen], "b"
    return [prompt, chosen, rejected], "a"


def _preference_collection(record: Record) -> Found:
    """The preference is a model's, on one criterion."""
    texts = _texts(record, "orig_instruction", "orig_response_A", "orig_response_B")
    preference = record.get("orig_preference")
    winner = _coded(record, "orig_preference", preference, {"A": "a", "B": "b"})
    return texts, winner


SOURCES: Mapping[str, Callable[[Record], Found]] = {
    "helpsteer2": _helpsteer2,
    "ultrafeedback": _ultrafeedback,
    "pku_saferlhf": _pku_saferlhf,
    "shp2": _shp2,
    "chatbot_arena": _chatbot_arena,
    "lmsys_chat": _lmsys_chat,
    "synthetic_gptj": _synthetic_gptj,
    "preference_collection": _preference_collection,
}
"""Source -> what reads a record of it, in any layout in which it is published."""


def map_records(
    source: str, records: Iterable[Record], skipped: list[Skipped] | None = None
) -> Iterator[Mapped]:
    """Turn the records of a source into pairs."""
    if source not in SOURCES:
        raise InputError(f"unknown source '{source}'; allowed: {choices(SOURCES)}")
    skipped = skipped if skipped is not None else []
    seen: set[str] = set()
    for place, record in (
        _paired_ratings(records) if source == "helpsteer2" else enumerate(records, start=1)
    ):
        try:
            mapped = _mapped(source, record)
        except SkipError as reason:
            skipped.append(Skipped(place, str(reason)))
            continue
        except InputError as error:
            raise InputError(f"{source}: record {place}: {error}") from error
        if mapped.id in seen:
            skipped.append(Skipped(place, "the same texts as in an earlier record"))
        elif isinstance(mapped, TrainingPair) and mapped.response_a == mapped.response_b:
            skipped.append(Skipped(place, "both responses are the same"))
        else:
            seen.add(mapped.id)
            yield mapped


def _mapped(source: str, record: Record) -> Mapped:
    texts, winner = SOURCES[source](record)
    identity = f"{source}_{_hashed(*texts)[:16]}"
    prompt, first, *second = texts
    if second:
        return TrainingPair(identity, prompt, first, second[0], winner, source=source)
    return Unpaired(identity, prompt, first, source)


def second_response(first: Unpaired, response: str) -> TrainingPair:
    """Put a further response beside a given one, sides tossed; which is better is not known yet."""
    sides = (first.response, response)
    one, two = sides
    if _tossed(first.prompt, *sides):
        one, two = reversed(sides)
    return TrainingPair(first.id, first.prompt, one, two, source=first.source)


def _paired_ratings(records: Iterable[Record]) -> Iterator[tuple[int, Record]]:
    """Put HelpSteer2's ratings of one prompt together, two and two.

    They stand at the first one's place; preferences pass.
    """
    for prompt, group in groupby(
        enumerate(records, start=1), key=lambda placed: placed[1].get("prompt")
    ):
        ratings: list[tuple[int, Record]] = []
        for place, record in group:
            if "preference_strength" in record or "response_1" in record:
                yield place, record
            else:
                ratings.append((place, record))
        for start in range(0, len(ratings), 2):
            two = ratings[start : start + 2]
            yield two[0][0], {"prompt": prompt, RATED: [record for _, record in two]}


def _tossed(prompt: str, better: str, worse: str) -> bool:
    """Whether a hash of the texts exchanges the sides."""
    return bool(int(_hashed(prompt, better, worse)[:2], 16) & 1)


def _hashed(*values: str | None) -> str:
    return sha256(json.dumps(values).encode()).hexdigest()


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(value)[:60]
    return json.dumps(value, default=str)[:60]
