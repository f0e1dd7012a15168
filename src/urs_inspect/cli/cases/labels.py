"""What the labels of a survey mean in a rubric."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from urs_inspect.errors import InputError, choices

if TYPE_CHECKING:
    from urs_inspect.datasets import Vocabulary
    from urs_inspect.rubrics import Rubric


_GROUP = "Solve Problem"
"""Reported name of two intents in URS."""


def vocabulary_of(rubric: "Rubric", solve_problem: str | None = None) -> "Vocabulary":
    """Intents by id, label in the data, name in any language, or reported name where that is of one intent only.

    A reported name of several intents is refused as ambiguous, and beside any other unknown name stands the nearest
    known one.

    Args:
        rubric: The rubric.
        solve_problem: The intent that the reported name `Solve Problem` stands for; None to refuse it as ambiguous.

    Raises:
        InputError: If that name is not reported for the intent.
    """
    from urs_inspect.datasets import Vocabulary
    from urs_inspect.rubrics import normalise_key

    intents: dict[str, set[str]] = {}
    for intent_id, intent in rubric.intents.items():
        for name in (intent_id, intent.label, intent.group, *(term.name for term in intent.text.values())):
            intents.setdefault(normalise_key(name), set()).add(intent_id)
    if solve_problem is not None:
        meant = intents.get(normalise_key(_GROUP), set())
        chosen = {one for one in meant if normalise_key(one) == normalise_key(solve_problem)}
        if not chosen:
            allowed = choices(sorted(meant)) or f"none, as no intent of the rubric is reported as {_GROUP}"
            raise InputError(f"solve-problem: unknown intent '{solve_problem}'; allowed: {allowed}")
        intents[normalise_key(_GROUP)] = chosen
    languages: dict[str, set[str]] = {}
    for code, language in rubric.languages.items():
        for name in (code, language.dataset_label, language.name):
            languages.setdefault(name.casefold(), set()).add(code)
    return Vocabulary(
        _finder(rubric.intent_id, intents, normalise_key),
        _finder(rubric.language_code, languages, lambda label: label.strip().casefold()),
    )


def _finder(
    find: Callable[[str], str], meanings: dict[str, set[str]], fold: Callable[[str], str]
) -> Callable[[str], str]:
    from urs_inspect.datasets.survey.near_names import AmbiguousNameError, UnknownNameError, did_you_mean, nearest

    def found(label: str) -> str:
        try:
            return find(label)
        except InputError as error:
            meant = sorted(meanings.get(fold(label), ()))
            if len(meant) > 1:
                raise AmbiguousNameError(f"'{label.strip()}' could be {' or '.join(meant)}; name one of them") from None
            if meant:
                return meant[0]
            near = nearest(fold(label), meanings)
            message = f"{error}{did_you_mean(fold(label), meanings)}"
            raise UnknownNameError(message, near[0] if len(near) == 1 else "") from None

    return found


def groups_of(rubric: "Rubric") -> dict[str, str]:
    """Intent -> its reported name."""
    return {intent_id: intent.group for intent_id, intent in rubric.intents.items()}


def languages_of(rubric: "Rubric") -> dict[str, str]:
    """Language -> its name."""
    return {code: language.name for code, language in rubric.languages.items()}


def check_new(path: Path, suffix: str, option: str) -> None:
    """Refuse a file that could not be written in the end.

    Raises:
        InputError: If its name has another ending, there is a file already, or no folder for it.
    """
    if path.suffix.lower() != suffix:
        raise InputError(f"{option}: must be the name of a {suffix} file, got '{path}'")
    if path.exists() or path.is_symlink():
        raise InputError(f"{option}: there is already a file '{path}'; choose another name or remove it")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{option}: no folder '{path.absolute().parent}'")
