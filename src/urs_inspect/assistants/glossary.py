"""A file of phrases as a translator: for tests, and for translations made elsewhere."""

from pathlib import Path

from urs_inspect.assistants.protocols import AssistantError
from urs_inspect.datasets.rows import read_records
from urs_inspect.errors import InputError

_TEXT, _TRANSLATION, _LANGUAGE = "text", "translation", "language"


class GlossaryTranslator:
    """Gives the translations of a file, and none of other texts.

    So the output of any translation service can be judged: translate the texts with it, and write them down.

    Args:
        file: JSON Lines with `text`, `translation` and, if there are several of one text, `language` (English name).

    Raises:
        InputError: Naming file and row of the first fault.
    """

    def __init__(self, file: str) -> None:
        path = Path(file).expanduser()
        if not file or not path.is_file():
            raise InputError(f"translator: no file '{file}'; give one of JSON Lines: glossary:<path>")
        rows, faults = read_records(path)
        if faults:
            raise InputError(faults[0])
        self._known: dict[tuple[str, str], str] = {}
        for row in rows:
            text, translation = (row.values.get(key) for key in (_TEXT, _TRANSLATION))
            language = row.values.get(_LANGUAGE, "")
            if not all(isinstance(value, str) for value in (text, translation, language)):
                raise InputError(f"{path}: {row.place}: needs '{_TEXT}' and '{_TRANSLATION}', both text")
            self._known[_key(str(text)), str(language).casefold()] = str(translation)
        if not self._known:
            raise InputError(f"translator: no translations in '{path}'")
        self._name = f"glossary ({len(self._known)} texts)"

    @property
    def name(self) -> str:
        """What it is called in logs."""
        return self._name

    async def translate(self, text: str, language: str) -> str:
        """Look a text up; white space does not matter."""
        key = _key(text)
        found = self._known.get((key, language.casefold())) or self._known.get((key, ""))
        if found is None:
            raise AssistantError(f"the glossary has no translation to {language} of: {text.strip()[:80]}")
        return found


def _key(text: str) -> str:
    return " ".join(text.split())
