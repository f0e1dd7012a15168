"""Who answered in a log of `urs_assistants`, by a name that tells it from the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from inspect_ai.log import EvalLog

from urs_inspect.reports.intent.run_commands import model_settings
from urs_inspect.reports.naming import distinct_names

_NO_MODEL = ("search", "translator")
"""Assistants that answer in place of the model under test."""
_WITH_FILES = ("folder", "glossary")
_ROLE = "translator"


@dataclass(frozen=True)
class Service:
    """Who answered.

    Attributes:
        name: The model, the assistant, or both.
        facts: What may tell it from another one of the same name, name -> value.
    """

    name: str
    facts: dict[str, str]


def service_of(log: EvalLog) -> Service:
    """Who answered in a log.

    Args:
        log: Its header.

    Returns:
        A model alone by its name; an assistant with its search engine or translator, files without their folders, and
        the model before it if that answered.
    """
    arguments = log.eval.task_args
    assistant = str(arguments.get("assistant", "model"))
    settings = {name: str(value) for name, value in model_settings(log).items()}
    if assistant == "model":
        return Service(log.eval.model, settings)
    key = "translator" if assistant == "translator" else "search"
    given = str(arguments.get(key, ""))
    name = f"{assistant} ({_short(given, log)})"
    if assistant in _NO_MODEL:
        return Service(name, {key: given})
    return Service(f"{log.eval.model}, {name}", {**settings, key: given, "pages": str(arguments.get("pages", ""))})


def distinct_services(services: Sequence[Service]) -> list[str]:
    """Names that are equal only for equal services."""
    several = list({(one.name, tuple(sorted(one.facts.items()))): one for one in services}.values())
    names = distinct_names([(one.name, one.facts) for one in several])
    return [names[several.index(one)] for one in services]


def _short(given: str, log: EvalLog) -> str:
    backend, _, rest = given.partition(":")
    if backend == "model":
        return _translating(rest or _ROLE, log) or given
    return f"{backend}:{PurePath(rest).name}" if backend in _WITH_FILES and PurePath(rest).name else given


def _translating(role: str, log: EvalLog) -> str:
    found = (log.eval.model_roles or {}).get(role)
    several = found if isinstance(found, list) else [found] if found else []
    return several[0].model if several else ""
