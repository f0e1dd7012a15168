"""Data sets in which people said which response is better; each record in the docstring of its function."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from urs_inspect.errors import InputError, choices
from urs_inspect.samer.sources.fields import (
    Made,
    Record,
    SkipError,
    both,
    first_turn,
    flag,
    higher,
    number,
    only_text,
    only_turn,
    text,
)
from urs_inspect.samer.training.pairs import Preference

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
