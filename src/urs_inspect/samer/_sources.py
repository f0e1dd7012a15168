"""Published preference data as training pairs: a table that maps each source's columns."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

from urs_inspect._util import InputError, choices
from urs_inspect.samer._pairs import Preference, TrainingPair

Record = Mapping[str, Any]
Reader = Callable[[Record], str]
Judge = Callable[[Record], Preference | None]

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


# ## Readers of columns. Each raises `InputError` for a value of another kind, `SkipError` for one
# of no use.


def _value(record: Record, column: str) -> Any:
    """A value by its path, such as `rated.0.response`."""
    value: Any = record
    for key in column.split("."):
        value = value[int(key)] if isinstance(value, list) else value.get(key)
    return value


def _read(reader: Reader | str, record: Record) -> str:
    if isinstance(reader, str):
        return _not_blank(_value(record, reader), reader.rpartition(".")[2])
    return reader(record)


def _not_blank(value: Any, column: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"'{column}' must be a text, is {_shown(value)}")
    if not value.strip():
        raise SkipError(f"'{column}' is blank")
    return value


def _one_turn(column: str) -> Reader:
    """A text that HelpSteer2 writes its turns into, behind a mark."""

    def read(record: Record) -> str:
        if _NEXT_TURN in (text := _read(column, record)):
            raise SkipError(f"'{column}' has more than one turn")
        return text

    return read


def _message(column: str, place: int, *, only: bool = True) -> Reader:
    """The question (0) or answer (1) that a list of messages begins with.

    `only` refuses further turns.
    """

    def read(record: Record) -> str:
        messages = record.get(column)
        if not isinstance(messages, list) or not all(
            isinstance(message, dict) for message in messages
        ):
            raise InputError(f"'{column}' must be a list of messages, is {_shown(messages)}")
        if only and len(messages) > 2:
            raise SkipError(f"'{column}' has more than one turn")
        if [message.get("role") for message in messages[:2]] != ["user", "assistant"]:
            raise SkipError(f"'{column}' does not begin with a question and an answer")
        return _not_blank(messages[place].get("content"), "content")

    return read


def _listed(column: str) -> Reader:
    """The only one of a list of texts, also of one written as JSON."""

    def read(record: Record) -> str:
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
        return _not_blank(turns[0] or "", column)

    return read


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


# ## Who is better


def _coded(column: str, codes: Mapping[Any, Preference], number: bool = False) -> Judge:
    """A column of codes."""

    def judge(record: Record) -> Preference:
        code = _number(record, column) if number else record.get(column)
        if not isinstance(code, (str, float)) or code not in codes:
            raise InputError(
                f"'{column}' is {_shown(record.get(column))}; allowed: {choices(codes)}"
            )
        return codes[code]

    return judge


def _below_zero(column: str) -> Judge:
    """A strength of the preference, below 0 where the first response is better."""
    return lambda record: _larger(0, _number(record, column))


def _rated_higher(column: str) -> Judge:
    """The higher rating of the two under `RATED`."""

    def judge(record: Record) -> Preference:
        first, second = (_rating(rated, column) for rated in record[RATED])
        if first is None or second is None:
            raise SkipError(f"no '{column}'")
        return _larger(first, second)

    return judge


def _larger(first: float, second: float) -> Preference:
    if first > second:
        return "a"
    if second > first:
        return "b"
    return "tie"


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


def _safer_or_better(record: Record) -> Preference:
    """Where just one of the responses is safe it wins; otherwise the more helpful one does."""
    safe = [record.get(f"is_response_{side}_safe") for side in (0, 1)]
    for side, value in enumerate(safe):
        if not isinstance(value, bool):
            raise InputError(f"'is_response_{side}_safe' must be true or false, is {_shown(value)}")
    if safe[0] != safe[1]:
        if safe[0]:
            return "a"
        return "b"
    return _coded("better_response_id", {0: "a", 1: "b"}, number=True)(record) or "tie"


# ## The table


@dataclass(frozen=True)
class Columns:
    """Where a record has its prompt, responses and winner; a name stands for a column of texts."""

    prompt: Reader | str
    first: Reader | str
    second: Reader | str | None  # None for a source without a second response
    winner: Judge = lambda _: None
    has: str = ""  # the column by which this layout of a source is recognised
    # whether the sides are tossed, for data that always put the better response first
    toss: bool = False
    prepare: Callable[[Record], Record] = lambda record: record


def _draw_two(record: Record) -> Record:
    """Two of the completions that have a score, chosen by a hash of the instruction."""
    completions = record.get("completions")
    if not isinstance(completions, list) or not all(
        isinstance(completion, dict) for completion in completions
    ):
        raise InputError("'completions' must be a list of objects")
    prompt = str(record["instruction"])
    scored = [
        place
        for place, completion in enumerate(completions)
        if _rating(completion, _SCORE) is not None
    ]
    if len(scored) < 2:
        raise SkipError("fewer than two completions with a score")
    drawn = sorted(scored, key=lambda place: _hashed(prompt, str(place)))[:2]
    return {RATED: [completions[place] for place in drawn]}


def _two_ratings(record: Record) -> Record:
    if len(record[RATED]) < 2:
        raise SkipError("no second rating of the same prompt beside it")
    return record


_RATED_TEXTS = ("rated.0.response", "rated.1.response")
_ARENA_WINNERS: Mapping[str, Preference] = {
    "model_a": "a",
    "model_b": "b",
    "tie": "tie",
    "tie (bothbad)": "tie",
}

SOURCES: Mapping[str, tuple[Columns, ...]] = {
    # People's preferences. Either two records of its ratings file (helpfulness 0 to 4) that stand
    # one after another, with the same prompt, or its preference file (-3 to 3, below 0 where
    # response 1 is better).
    "helpsteer2": (
        Columns(
            _one_turn("prompt"),
            *_RATED_TEXTS,
            _rated_higher("helpfulness"),
            has=RATED,
            prepare=_two_ratings,
        ),
        Columns(
            _one_turn("prompt"), "response_1", "response_2", _below_zero("preference_strength")
        ),
    ),
    # Scores from 1 to 5, the mean of four aspects as a model rated them, which may be missing.
    # `overall_score` is not used: copies from before December 2023 have 10 where 1 was meant.
    "ultrafeedback": (
        Columns("instruction", *_RATED_TEXTS, _rated_higher(_SCORE), prepare=_draw_two),
    ),
    "pku_saferlhf": (Columns("prompt", "response_0", "response_1", _safer_or_better),),
    # Posts, with 1 in `labels` if readers preferred A, 0 if B.
    "shp2": (
        Columns(
            "history", "human_ref_A", "human_ref_B", _coded("labels", {0: "b", 1: "a"}, number=True)
        ),
    ),
    # Conversations of one turn only, since later turns differ between the sides; in either
    # published layout.
    "chatbot_arena": (
        Columns(
            _message("conversation_a", 0),
            _message("conversation_a", 1),
            _message("conversation_b", 1),
            _coded("winner", _ARENA_WINNERS),
            has="conversation_a",
        ),
        Columns(_listed("prompt"), _listed("response_a"), _listed("response_b"), _voted),
    ),
    # The first turn. There is one response and no vote: the paper had a further model answer
    # (Qwen-2-7B-Instruct) and a judge choose.
    "lmsys_chat": (
        Columns(
            _message("conversation", 0, only=False), _message("conversation", 1, only=False), None
        ),
    ),
    "synthetic_gptj": (Columns("prompt", "chosen", "rejected", lambda _: "a", toss=True),),
    # The preference is a model's, on one criterion.
    "preference_collection": (
        Columns(
            "orig_instruction",
            "orig_response_A",
            "orig_response_B",
            _coded("orig_preference", {"A": "a", "B": "b"}),
        ),
    ),
}
"""Source -> its columns, for each layout in which it is published."""


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
    columns = next(layout for layout in SOURCES[source] if not layout.has or layout.has in record)
    prompt = _read(columns.prompt, record)
    record = columns.prepare(record)
    first = _read(columns.first, record)
    if columns.second is None:
        return Unpaired(f"{source}_{_hashed(prompt, first)[:16]}", prompt, first, source)
    second = _read(columns.second, record)
    winner = columns.winner(record)
    if columns.toss and _tossed(prompt, first, second):
        first, second, winner = second, first, "b"
    identity = f"{source}_{_hashed(prompt, first, second)[:16]}"
    return TrainingPair(identity, prompt, first, second, winner, source=source)


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
