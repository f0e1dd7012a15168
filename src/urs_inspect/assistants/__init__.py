"""What people use beside language models: search engines and translators. No harness."""

from urs_inspect.assistants.backends import (
    AssistantError,
    FolderSearch,
    GlossaryTranslator,
    Page,
    SearchBackend,
    Translator,
    open_search,
    open_translator,
    register_search,
    register_translator,
)
from urs_inspect.assistants.requests import TranslationRequest, asks_for_translation, page_prompt, read_request

__all__ = [
    "AssistantError",
    "FolderSearch",
    "GlossaryTranslator",
    "Page",
    "SearchBackend",
    "TranslationRequest",
    "Translator",
    "asks_for_translation",
    "open_search",
    "open_translator",
    "page_prompt",
    "read_request",
    "register_search",
    "register_translator",
]
