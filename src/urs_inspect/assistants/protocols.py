"""What a search engine and a translator must do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Page:
    """A page that a search found.

    Attributes:
        title: Its title.
        url: Where it is: an address, or a name.
        text: Its content.
    """

    title: str
    url: str
    text: str


class AssistantError(Exception):
    """A search or a translation that did not work; the message says why, in one line."""


class SearchBackend(Protocol):
    """A search engine."""

    @property
    def name(self) -> str:
        """What it is called in logs."""

    async def search(self, query: str, count: int) -> Sequence[Page]:
        """Find pages.

        Args:
            query: What is looked for.
            count: How many pages at most.

        Returns:
            The best first; none if nothing was found.

        Raises:
            AssistantError: If the search did not work. Whatever else it raises counts as one as well.
        """


class Translator(Protocol):
    """A translator."""

    @property
    def name(self) -> str:
        """What it is called in logs."""

    async def translate(self, text: str, language: str) -> str:
        """Translate a text.

        Args:
            text: The text.
            language: English name of the language to translate to, such as `English` or `Traditional Chinese`.

        Returns:
            The translation.

        Raises:
            AssistantError: If there is none. Whatever else it raises counts as one as well.
        """
