"""What the labels of a survey mean in a rubric."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from urs_inspect.errors import InputError

if TYPE_CHECKING:
    from urs_inspect.datasets import Vocabulary
    from urs_inspect.rubrics import Rubric


def vocabulary_of(rubric: "Rubric") -> "Vocabulary":
    """Intents by id, label in the data, name in any language, or reported name where that is of one intent only."""
    from urs_inspect.datasets import Vocabulary
    from urs_inspect.rubrics import normalise_key

    spellings: dict[str, set[str]] = {}
    for intent_id, intent in rubric.intents.items():
        for name in (intent.group, *(term.name for term in intent.text.values())):
            spellings.setdefault(normalise_key(name), set()).add(intent_id)
    by_name = {key: next(iter(found)) for key, found in spellings.items() if len(found) == 1}

    def find_intent(label: str) -> str:
        with suppress(InputError):
            return rubric.intent_id(label)
        return by_name.get(normalise_key(label)) or rubric.intent_id(label)

    languages = {language.name.casefold(): code for code, language in rubric.languages.items()}
    return Vocabulary(find_intent, _or(languages, rubric.language_code))


def _or(known: dict[str, str], find: Callable[[str], str]) -> Callable[[str], str]:
    return lambda label: known.get(label.strip().casefold()) or find(label)


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
