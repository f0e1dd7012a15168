"""Side studies of the papers: sums, search engines and translators, evolved instructions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urs_inspect.studies._addition_report import report_addition
    from urs_inspect.studies._addition_task import urs_addition
    from urs_inspect.studies._assistants_report import report_assistants
    from urs_inspect.studies._assistants_task import urs_assistants
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
    from urs_inspect.studies._evolve_instruction import evolve_instruction
    from urs_inspect.studies._evolve_task import evolve
    from urs_inspect.studies._evolved import evolved

# Loaded on use: tasks need the harness.
_ELSEWHERE = {
    "evolve": "_evolve_task",
    "evolve_instruction": "_evolve_instruction",
    "evolved": "_evolved",
    "report_addition": "_addition_report",
    "report_assistants": "_assistants_report",
    "urs_addition": "_addition_task",
    "urs_assistants": "_assistants_task",
}

__all__ = [
    "AssistantError",
    "Page",
    "SearchBackend",
    "Translator",
    "asks_for_translation",
    "evolve",
    "evolve_instruction",
    "evolved",
    "read_request",
    "register_search",
    "register_translator",
    "report_addition",
    "report_assistants",
    "urs_addition",
    "urs_assistants",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        module = _ELSEWHERE.get(name, "_backends")
        return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
