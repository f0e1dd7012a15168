"""The harness's tool `web_search` as a search engine."""

from collections.abc import Sequence

from inspect_ai.model import ContentText
from inspect_ai.tool import web_search

from urs_inspect.assistants import Page, register_search
from urs_inspect.errors import InputError, choices

PROVIDERS = ("tavily", "google", "exa")
"""Those that search by themselves; the others of the harness are tools of a model."""


class WebSearch:
    """Searches the web through a provider of the harness, whose keys it takes from the environment.

    Args:
        provider: One of `PROVIDERS`.

    Raises:
        InputError: If there is no such provider.
    """

    def __init__(self, provider: str) -> None:
        if provider not in PROVIDERS:
            raise InputError(f"search: unknown provider '{provider}' of web_search; allowed: {choices(PROVIDERS)}")
        self._provider = provider
        self._tool = web_search(provider)  # type: ignore[arg-type]  # checked above

    @property
    def name(self) -> str:
        """What it is called in logs."""
        return f"web_search ({self._provider})"

    async def search(self, query: str, count: int) -> Sequence[Page]:
        """Search; a page is what the provider quotes of it."""
        return pages_of(await self._tool(query=query))[:count]


def pages_of(found: object) -> list[Page]:
    """Pages in what the tool returns.

    Args:
        found: Texts with citations; a mere text says that nothing was found.

    Returns:
        One page a cited address, in order; quotations of one page together.
    """
    quoted: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for content in found if isinstance(found, list) else [found]:
        if not isinstance(content, ContentText):
            continue
        for citation in content.citations or ():
            url = str(getattr(citation, "url", ""))
            text = citation.cited_text if isinstance(citation.cited_text, str) else content.text
            if url and text not in quoted.setdefault(url, []):
                quoted[url].append(text)
            titles.setdefault(url, citation.title or url)
    return [Page(titles[url], url, "\n\n".join(texts)) for url, texts in quoted.items()]


register_search("web_search", WebSearch)
