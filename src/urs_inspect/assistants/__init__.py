"""What people use beside language models: search engines and translators. No harness."""

from urs_inspect.assistants.glossary import GlossaryTranslator
from urs_inspect.assistants.page_folder import FolderSearch
from urs_inspect.assistants.page_prompt import page_prompt
from urs_inspect.assistants.protocols import AssistantError, Page, SearchBackend, Translator
from urs_inspect.assistants.registry import (
    open_search,
    open_translator,
    register_search,
    register_translator,
)
from urs_inspect.assistants.translation_request import TranslationRequest, asks_for_translation, read_request

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
