"""What people use beside language models: search engines and translators. No harness."""

from urs_inspect.assistants.backends import (
    AssistantError,
    Page,
    SearchBackend,
    Translator,
    register_search,
    register_translator,
)
from urs_inspect.assistants.requests import asks_for_translation, read_request

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
