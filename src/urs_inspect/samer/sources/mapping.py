"""Which function reads the records of which source, and the pairs that come of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from urs_inspect.errors import InputError, choices
from urs_inspect.samer.sources.fields import Made, Record, SkipError, hashed, tossed
from urs_inspect.samer.sources.models import preference_collection, synthetic_gptj, ultrafeedback
from urs_inspect.samer.sources.people import chatbot_arena, helpsteer2, lmsys_chat, paired_ratings, pku_saferlhf, shp2
from urs_inspect.samer.training.pairs import TrainingPair


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
