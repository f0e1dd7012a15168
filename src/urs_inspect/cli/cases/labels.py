"""What the labels of a survey mean in a rubric."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from urs_inspect.errors import InputError

if TYPE_CHECKING:
    from urs_inspect.datasets import Vocabulary
    from urs_inspect.rubrics import Rubric


def vocabulary_of(rubric: "Rubric") -> "Vocabulary":
    """Intents by id, label in the data, name in any language, or reported name where that is of one intent only.

    A reported name of several intents is refused as ambiguous, and beside any other unknown name stands the nearest
    known one.
    """
    from urs_inspect.datasets import Vocabulary
    from urs_inspect.rubrics import normalise_key

    intents: dict[str, set[str]] = {}
    for intent_id, intent in rubric.intents.items():
        for name in (intent_id, intent.label, intent.group, *(term.name for term in intent.text.values())):
            intents.setdefault(normalise_key(name), set()).add(intent_id)
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
    from urs_inspect.datasets.survey.near_names import AmbiguousNameError, did_you_mean

    def found(label: str) -> str:
        try:
            return find(label)
        except InputError as error:
            meant = sorted(meanings.get(fold(label), ()))
            if len(meant) > 1:
                raise AmbiguousNameError(f"'{label.strip()}' could be {' or '.join(meant)}; name one of them") from None
            if meant:
                return meant[0]
            raise InputError(f"{error}{did_you_mean(fold(label), meanings)}") from None

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
