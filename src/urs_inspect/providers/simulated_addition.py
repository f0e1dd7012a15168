"""How the simulated models add up a chain of numbers: step by step, with slips that are fixed."""

import hashlib
import re

from urs_inspect.datasets.addition import addition_languages, addition_prompt
from urs_inspect.providers.simulated_quality import read_quality

SLIPS = {"strong": 0.01, "weak": 0.06, "judge": 0.03}
"""Share of additions that go wrong, by model; a chain of n numbers is right with chance (1 - slip) ** (n - 1)."""

_LABEL = "[simulated answer]"
_CHAIN = re.compile(r"[0-9]{2}(?: \+ [0-9]{2})++")
_ERRORS = (-100, -10, -1, 1, 10, 100)
_FORMS = {
    "en": ("{steps}\n\nAnswer: {total}", "{steps}\n\n**Answer:** {total:,}.", "The sum is ${total:,}$.", "{total}"),
    "zh": ("{steps}\n\n答案：{total}", "{steps}\n\n**答案：{total:,}**", "总和是 {total:,}。", "{total}"),
}
_BEST = 10.0
_SLIP_PER_LEVEL = 0.02


def simulate_sum(question: str, model: str) -> str | None:
    """Add up the chain that a question of the task `urs_addition` asks for.

    Args:
        question: The question.
        model: Name of the simulated model without the provider: a key of `SLIPS`, or one of known quality, of which
            (10 - quality) / 50 of the additions go wrong.

    Returns:
        The reply, in one of several forms; None if the question is another one.
    """
    asked = _asked(question)
    if asked is None:
        return None
    language, numbers = asked
    quality = read_quality(model)
    slip = SLIPS[model] if quality is None else (_BEST - quality.quality) * _SLIP_PER_LEVEL
    total, steps = numbers[0], []
    for place, number in enumerate(numbers[1:], start=1):
        before, total = total, total + number
        if _chance(model, question, f"slip {place}") < slip:
            total += _ERRORS[int(_chance(model, question, f"error {place}") * len(_ERRORS))]
        steps.append(f"{before} + {number} = {total}")
    forms = _FORMS[language]
    form = forms[int(_chance(model, question, "form") * len(forms))]
    return f"{_LABEL}\n\n{form.format(steps=chr(10).join(steps), total=total)}"


def _asked(question: str) -> tuple[str, list[int]] | None:
    """Language and numbers of a question."""
    for language in addition_languages():
        before, _, after = addition_prompt(language).frame.partition("{chain}")
        chain = question.strip().removeprefix(before).removesuffix(after)
        if question.strip() == f"{before}{chain}{after}" and _CHAIN.fullmatch(chain):
            return language, [int(number) for number in chain.split(" + ")]
    return None


def _chance(*parts: str) -> float:
    """A number from 0 to below 1 that depends on the texts alone."""
    return int.from_bytes(hashlib.sha256("\x00".join(parts).encode()).digest()[:6]) / 2**48
