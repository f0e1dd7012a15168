"""Answers by a search engine, by a model that has read pages, and by a translator (URS paper, Appendix D.6)."""

from collections.abc import Awaitable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from urs_inspect.assistants import AssistantError, Page, open_search, open_translator, page_prompt, read_request
from urs_inspect.errors import InputError
from urs_inspect.judging import describe_error
from urs_inspect.solvers import (
    model_translator,  # noqa: F401 - makes itself known
    web_search_backend,  # noqa: F401 - likewise
)

PAGES, REQUEST = "pages", "translation_request"
"""Keys of a sample's store: what a search found, and what was translated."""
WITHOUT_ANSWER, BECAUSE = "without_answer", "without_answer_because"
"""Keys of a sample's metadata, where a search or a translator gave no answer: how that came about, and why."""
FOUND_NOTHING, FAILED = "found_nothing", "failed"
"""How it came about: the search worked and found no page; the search or the translation did not work."""

_Got = TypeVar("_Got")


@solver
def first_page(search: str, longest: int = 20_000) -> Solver:
    """Answer with the content of the first page that a search finds, without a model.

    Args:
        search: As for `open_search`: `folder:<path>`, `web_search:<provider>`, or one of your own.
        longest: Most characters of the page; the rest of it is cut off.

    Returns:
        The solver. A search that fails leaves the sample without an answer, so that it is unscored, with the reason.

    Raises:
        InputError: If the search cannot be used.
    """
    backend = open_search(search)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        pages = await _pages(state, backend.name, backend.search(state.input_text, 1))
        if pages:
            _answer(state, backend.name, f"{pages[0].title}\n\n{pages[0].text[:longest]}")
        return state

    return solve


@solver
def answer_from_pages(search: str, pages: int = 5, longest: int = 4_000) -> Solver:
    """Have the model answer from the pages that a search finds, and from nothing else.

    Args:
        search: As for `first_page`.
        pages: How many pages at most.
        longest: Most characters of a page.

    Returns:
        The solver. Without any page the model is not asked, and the sample has no answer; its metadata say whether
        the search failed or found nothing.

    Raises:
        InputError: If the search cannot be used.
    """
    backend = open_search(search)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        found = await _pages(state, backend.name, backend.search(state.input_text, pages))
        if not found:
            return state
        language = str((state.metadata or {}).get("language", ""))
        prompt = page_prompt(state.input_text, found, language, longest)
        question = list(state.messages)
        state.messages = [ChatMessageSystem(content=prompt.instructions), ChatMessageUser(content=prompt.case)]
        state = await generate(state)
        # The judge is asked about the user's question, not about the pages.
        state.messages = [*question, *state.messages[2:]]
        return state

    return solve


@solver
def translation(translator: str) -> Solver:
    """Answer a request for a translation with a translator, which is given the text without the order.

    Args:
        translator: As for `open_translator`: `glossary:<file>`, `model[:<role>]`, or one of your own.

    Returns:
        The solver. A translator that fails leaves the sample without an answer: it is unscored, with the reason.

    Raises:
        InputError: If the translator cannot be used.
    """
    backend = open_translator(translator)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        request = read_request(state.input_text)
        state.store.set(REQUEST, asdict(request))
        translated = await _tried(state, backend.name, backend.translate(request.text, request.language))
        if translated is not None:
            _answer(state, backend.name, translated)
        return state

    return solve


async def _pages(state: TaskState, name: str, searching: Awaitable[Sequence[Page]]) -> Sequence[Page]:
    """What a search finds; nothing, with the reason in the sample's output, if it fails or finds nothing."""
    found = await _tried(state, name, searching)
    if found is None:
        return ()
    kept: list[dict[str, Any]] = [asdict(page) for page in found]
    state.store.set(PAGES, kept)
    if not found:
        _without_answer(state, name, FOUND_NOTHING, "the search found no page")
    return found


async def _tried(state: TaskState, name: str, trying: Awaitable[_Got]) -> _Got | None:
    try:
        return await trying
    except (LimitExceededError, InputError):
        raise
    except AssistantError as error:
        _without_answer(state, name, FAILED, str(error))
    except Exception as error:  # whatever a backend of the user's own raises, the run goes on
        _without_answer(state, name, FAILED, describe_error(error))
    return None


def _answer(state: TaskState, name: str, text: str) -> None:
    state.output = ModelOutput.from_content(model=name, content=text)
    state.messages.append(ChatMessageAssistant(content=text, source="generate"))


def _without_answer(state: TaskState, name: str, how: str, reason: str) -> None:
    state.metadata |= {WITHOUT_ANSWER: how, BECAUSE: f"{name}: {reason}"}
    state.output = ModelOutput(model=name, choices=[], error=f"{name}: {reason}")
