"""What several rooms ask of a text."""

import re
import unicodedata
from typing import Any

_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]|<>#"})


_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """A text whose characters for the direction of writing, which could reorder what is shown, are spelt out."""
    return _DIRECTION.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def read_yaml(text: str) -> Any:
    """Read YAML that a user wrote.

    Raises:
        yaml.YAMLError: If it is none, or naming the line of a key that a mapping has already.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen: set[tuple[str, str]] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if (key.tag, key.value) in seen:
                        problem = f"the key '{key.value}' is there twice"
                        raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                    seen.add((key.tag, key.value))
            return super().construct_mapping(node, deep)

    return yaml.load(text, Loader)  # noqa: S506 - a kind of SafeLoader


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: only blanks, control and format characters."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 answer`, `2 answers`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def escaped(text: str) -> str:
    """Text that stands for itself in Markdown, on one line."""
    return " ".join(text.split()).translate(_MARKDOWN)
