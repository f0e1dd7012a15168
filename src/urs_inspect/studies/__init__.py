"""What people use beside language models: search engines and translators. No harness."""

from urs_inspect.studies._backends import (
    AssistantError,
    Page,
    SearchBackend,
    Translator,
    asks_for_translation,
    read_request,
    register_search,
    register_translator,
)

__all__ = [
    "AssistantError",
    "Page",
    "SearchBackend",
    "Translator",
    "asks_for_translation",
    "read_request",
    "register_search",
    "register_translator",
]
