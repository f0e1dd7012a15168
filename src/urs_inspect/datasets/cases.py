"""The typed case, and selecting and ordering cases."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from urs_inspect.errors import InputError


@dataclass(frozen=True)
class UrsCase:
    """One question that a user reported.

    Attributes:
        id: Stable id.
        question: The question as the user wrote it, edge whitespace included.
        reference: The reference answer, worth 8 of 10 points.
        intent: Intent id of the rubric.
        language: Language code of the rubric.
        country: Country that the user came from, as the file names it; empty if it does not say.
    """

    id: str
    question: str
    reference: str
    intent: str
    language: str
    country: str = ""


@dataclass(frozen=True)
class UrsData:
    """Cases and where they came from.

    Attributes:
        name: What was asked for: `urs`, `sample`, or the path of a file.
        sha256: Hash of the file.
        cases: The cases, in the order of the file.
        skipped: One line for each row left out because the user asked for leniency.
    """

    name: str
    sha256: str
    cases: tuple[UrsCase, ...]
    skipped: tuple[str, ...] = ()


def select(
    cases: Iterable[UrsCase], *, languages: Sequence[str] | None = None, intents: Sequence[str] | None = None
) -> list[UrsCase]:
    """Keep the cases of some languages and intents.

    Raises:
        InputError: If none is left.
    """
    kept = [
        case
        for case in cases
        if (languages is None or case.language in languages) and (intents is None or case.intent in intents)
    ]
    if not kept:
        raise InputError(f"no case has language {languages or 'any'} and intent {intents or 'any'}")
    return kept


def in_proportion(cases: Sequence[UrsCase], seed: int) -> list[UrsCase]:
    """Order cases so that every beginning of the list holds intents and languages in proportion.

    The published file is sorted by intent, so that its first rows are all of one kind. Within each intent and
    language, cases are shuffled with the seed; the k-th of n then stands at (k + 1/2) / n of the list. A prefix
    of m of the N cases therefore holds m * n / N cases of a kind, give or take (1 + (K - 2) * n / N) / 2 where
    there are K kinds; over the published cases that stays near one case.

    Args:
        cases: The cases, in a stable order.
        seed: Seed of the shuffle; the same seed gives the same order on every machine.

    Returns:
        The cases in the new order.
    """
    kinds: dict[tuple[str, str], list[UrsCase]] = defaultdict(list)
    for case in cases:
        kinds[case.intent, case.language].append(case)
    placed: list[tuple[float, str, UrsCase]] = []
    for (intent, language), members in sorted(kinds.items()):
        random.Random(f"{seed}/{intent}/{language}").shuffle(members)  # noqa: S311 - an order, not a secret
        placed += [((k + 0.5) / len(members), case.id, case) for k, case in enumerate(members)]
    return [case for _, _, case in sorted(placed, key=lambda place: place[:2])]
