"""What several rooms ask of a text."""

import unicodedata

_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]|<>#"})


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: only blanks, control and format characters."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 answer`, `2 answers`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def escaped(text: str) -> str:
    """Text that stands for itself in Markdown, on one line."""
    return " ".join(text.split()).translate(_MARKDOWN)
