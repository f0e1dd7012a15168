"""Data sets in which a model said which response is better, or wrote the better one."""

from urs_inspect.errors import InputError
from urs_inspect.samer.sources.fields import Made, Record, SkipError, both, hashed, higher, rating, text, tossed

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
