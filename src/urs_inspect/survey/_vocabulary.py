"""What labels of a survey mean."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from urs_inspect._util import InputError
from urs_inspect.datasets import Vocabulary
from urs_inspect.rubrics import Rubric, normalise_key

_LEAST = 0.6  # share of characters in common, as difflib counts them


class LabelError(InputError):
    """A label that is not known, or could mean several things.

    `nearest` is what the nearest known label means, empty if no label is near or that is not
    certain.
    """

    def __init__(self, message: str, *, ambiguous: bool = False, nearest: str = "") -> None:
        super().__init__(message)
        self.ambiguous = ambiguous
        self.nearest = nearest


def vocabulary_of(
    rubric: Rubric,
    intents: Mapping[str, str] | None = None,
    languages: Mapping[str, str] | None = None,
) -> Vocabulary:
    """Intents by id, label in the data, name in any language, or reported name where that is of one
    intent only; languages by code, label and name.

    `intents` and `languages` are labels of a survey with their meanings, which come first. All are
    in any case. A label that is unknown or ambiguous is refused with a `LabelError`.
    """
    names_of_intents: dict[str, set[str]] = defaultdict(set)
    for intent_id, intent in rubric.intents.items():
        translated = [term.name for term in intent.text.values()]
        for name in (intent_id, intent.label, intent.group, *translated):
            names_of_intents[normalise_key(name)].add(intent_id)
    names_of_languages: dict[str, set[str]] = defaultdict(set)
    for code, language in rubric.languages.items():
        for name in (code, language.dataset_label, language.name):
            names_of_languages[_folded(name)].add(code)
    return Vocabulary(
        _finder(rubric.intent_id, names_of_intents, normalise_key, intents or {}),
        _finder(rubric.language_code, names_of_languages, _folded, languages or {}),
    )


def _folded(label: str) -> str:
    return label.strip().casefold()


def _finder(
    find: Callable[[str], str],
    meanings: Mapping[str, set[str]],
    fold: Callable[[str], str],
    own: Mapping[str, str],
) -> Callable[[str], str]:
    def resolve(label: str) -> str:
        try:
            return find(label)
        except InputError as error:
            message = str(error)
        key = fold(label)
        meant = sorted(meanings.get(key, ()))
        if len(meant) == 1:
            return meant[0]
        if meant:
            either = " or ".join(meant)
            raise LabelError(
                f"'{label.strip()}' could be {either}; name one of them", ambiguous=True
            )
        nearest_names = get_close_matches(key, meanings, 1, _LEAST)
        near = [sorted(meanings[name]) for name in nearest_names]
        if not near:
            raise LabelError(message)
        [meant] = near
        nearest = ""
        if len(meant) == 1:
            nearest = meant[0]
        raise LabelError(f"{message} (did you mean {' or '.join(meant)}?)", nearest=nearest)

    of_survey = {_folded(label): resolve(meaning) for label, meaning in own.items()}
    return lambda label: of_survey.get(_folded(label)) or resolve(label)
