"""Builds prompts that compare two responses and are answered with one letter."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame
from urs_inspect.judging.pair_prompt import planted_verdicts
from urs_inspect.judging.verdict_words import Shown

LETTERS: Mapping[str, Shown] = {"A": "1", "B": "2", "C": "tie"}
"""What a letter says: the better response as shown. Letters are one token each, so that none is at a disadvantage."""

_TEMPLATE = Path(__file__).parent / "templates" / "letter.jinja"
_VERSION = "pair letter 1"
_MEANINGS: Mapping[Shown, str] = {
    "1": "response 1 is better",
    "2": "response 2 is better",
    "tie": "they are about equally good",
}
_PAIR = ("prompt", "response_1", "response_2")


def letter_prompt(prompt: str, first: str, second: str) -> JudgePrompt:
    """Ask which response is better as a whole, by a letter.

    Args:
        prompt: What the user asked.
        first: The response shown first.
        second: The response shown second.
    """
    return _frame().prompt({"prompt": prompt, "response_1": first, "response_2": second}, planted_verdicts)


@lru_cache(maxsize=1)
def _frame() -> Frame:
    letters = [(letter, _MEANINGS[shown]) for letter, shown in LETTERS.items()]
    source = _TEMPLATE.read_text(encoding="utf-8")
    return build_frame(source, "prompt 'letter.jinja'", _VERSION, {"letters": letters}, _PAIR, _PAIR)
