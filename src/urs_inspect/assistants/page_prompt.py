"""The prompt that has a model answer from pages."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from urs_inspect.assistants.protocols import Page
from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame

_TEMPLATES = Path(__file__).parent / "templates"
_VERSION = "pages 1"
_FALLBACK = "en"


def page_prompt(question: str, pages: Sequence[Page], language: str, longest: int) -> JudgePrompt:
    """Ask for an answer from pages alone (URS paper, Appendix D.6).

    Args:
        question: The question.
        pages: The pages, the best first; at least one.
        language: Language of the prompt, `en` or `zh`; English for others.
        longest: Most characters of a page; the rest of it is cut off.

    Returns:
        The prompt. What in a page would read as an end of it is made harmless.
    """
    texts = {f"page{n}": f"{page.title}\n{page.url}\n\n{page.text[:longest]}" for n, page in enumerate(pages, start=1)}
    frame = _frame(len(pages), "zh" if language == "zh" else _FALLBACK)
    return frame.prompt({"question": question, **texts}, lambda _: ())


@lru_cache(maxsize=32)
def _frame(pages: int, language: str) -> Frame:
    file = _TEMPLATES / f"answer_from_pages.{language}.jinja"
    names = [f"page{n}" for n in range(1, pages + 1)]
    # The template has a list of pages; each of them is a material by a name of its own.
    source = file.read_text(encoding="utf-8").replace(
        "{% for page in pages %}", "{% for page in [" + ", ".join(names) + "] %}"
    )
    return build_frame(source, f"prompt '{file.name}'", _VERSION, {}, ("question", *names), ("question", *names))
