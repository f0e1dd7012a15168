"""Simulated models, so that everything can be tried without a key, a network or a GPU.

They are no language models. Their scores show that the machinery works and mean nothing else.
"""

import json
import re
from contextvars import copy_context
from functools import lru_cache, partial

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, choices
from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.datasets._addition import addition_languages, addition_prompt
from urs_inspect.judging._keys import KEY
from urs_inspect.judging._prompts import PLACEHOLDER
from urs_inspect.providers._simulated_judgement import (
    FORM,
    LABEL,
    between,
    character_pairs,
    digest_of,
    final_of,
    in_schema,
    key_in,
    level_for,
    read_quality,
    simulate_judgement,
)

# Share of additions that go wrong, by model; a chain of n numbers is right with chance (1 - slip)
# ** (n - 1).
SLIPS = {"strong": 0.01, "weak": 0.06, "judge": 0.03}

_LABEL = "[simulated answer]"
_CHAIN = re.compile(r"[0-9]{2}(?: \+ [0-9]{2})++")
_ERRORS = (-100, -10, -1, 1, 10, 100)
_FORMS = {
    "en": (
        "{steps}\n\nAnswer: {total}",
        "{steps}\n\n**Answer:** {total:,}.",
        "The sum is ${total:,}$.",
        "{total}",
    ),
    "zh": (
        "{steps}\n\n答案：{total}",
        "{steps}\n\n**答案：{total:,}**",
        "总和是 {total:,}。",
        "{total}",
    ),
}
_BEST = 10.0
_SLIP_PER_LEVEL = 0.02


def simulate_sum(question: str, model: str) -> str | None:
    """Add up the chain of a question of `urs_addition`; None for any other question.

    The answer has one of several forms.

    A model of known quality makes (10 - quality) / 50 of the additions wrong.
    """
    asked = _asked(question)
    if asked is None:
        return None
    language, numbers = asked
    quality = read_quality(model)
    slip = SLIPS[model] if quality is None else (_BEST - quality.quality) * _SLIP_PER_LEVEL
    total = numbers[0]
    steps = []
    for place, number in enumerate(numbers[1:], start=1):
        before = total
        total += number
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
    return int.from_bytes(digest_of(*parts)[:6]) / 2**48


SIMULATION = "urs_simulation"
"""Name of the provider, part of every simulated model's name in logs and tables."""

_RIGHT_SHARE = {"strong": 0.9, "weak": 0.4, "judge": 0.6}
"""Share of the sentences of an answer that are those of the reference.

The others are about something else.
"""
_TO_RATE = "answer_to_rate"
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")
_EXAMPLE = re.compile(r"\{[^{}]*" + re.escape(json.dumps(PLACEHOLDER)) + r"[^{}]*\}")
_CONNECTIONS = 50


class SimulationAPI(ModelAPI):
    """Answers with a known reference in which some sentences are about something else.

    How many those are depends on the model.

    As a judge it goes by length and shared characters.

    A model of known quality answers with a text that contains its level, and every model judges
    such answers by it.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature of the harness
        **model_args: object,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._quality = read_quality(model_name)
        if model_name not in _RIGHT_SHARE and self._quality is None:
            raise InputError(
                f"unknown simulated model '{model_name}'; allowed: {choices([*_RIGHT_SHARE, FORM])}"
            )

    def max_connections(self) -> int:
        """No endpoint to spare."""
        return _CONNECTIONS

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer; judge, when asked to score, rate or compare; or reply as a satellite does."""
        prompt = "\n\n".join(message.text for message in input)
        # First those that know their own instructions: what is judged may hold an example as well.
        text = _offered_reply(prompt, self.model_name)
        text = text or simulate_judgement(prompt, self.model_name)
        if text is None and (names := _names_to_score(prompt)):
            text = simulate_judge(prompt, names, self.model_name)
        text = text or simulate_sum(input[-1].text, self.model_name)
        if text is None and self._quality is not None:
            text = self._quality.answer(input[-1].text, _epoch(), config.seed)
        if text is None:
            text = simulate_answer(input[-1].text, self.model_name)
        if config.response_schema is not None:
            text = in_schema(text, config.response_schema.json_schema)
        output = ModelOutput.from_content(model=f"{SIMULATION}/{self.model_name}", content=text)
        sent = sum(len(message.text) for message in input) // 4
        received = len(text) // 4
        # Without usage the harness counts tokens itself, for which it downloads a tokenizer.
        output.usage = ModelUsage(
            input_tokens=sent, output_tokens=received, total_tokens=sent + received
        )
        return output


@modelapi(name=SIMULATION)
def urs_simulation() -> type[ModelAPI]:
    """Provider of the simulated models.

    They are `urs_simulation/strong`, `/weak`, `/judge` and, for example, `/quality-7.2`.

    Returns:
        The class of their interface, for the harness.
    """
    return SimulationAPI


def simulate_answer(question: str, model: str) -> str:
    """Give the embedded reference of a question with some sentences replaced.

    Without one, a sentence without content.

    A replaced sentence becomes one of another reference in the same language, whatever its length.
    How many are replaced depends on the model, which ones on the texts alone: models differ in what
    is right and not in how much they write, and `strong` and `weak` give no embedded question the
    same answer.
    """
    known = _references().get(question.strip())
    if known is None:
        return f"{_LABEL} This simulated model has nothing to say about: {question.strip()[:200]}"
    language, reference = known
    others = []
    for other_language, text in _references().values():
        if other_language == language and text != reference:
            others += _SENTENCE.findall(text)
    sentences = _SENTENCE.findall(reference)
    wrong = round(len(sentences) * (1 - _RIGHT_SHARE[model]))
    chance = partial(_chance, model, question.strip())
    order = sorted(range(len(sentences)), key=lambda place: chance(f"order {place}"))
    for place in order[:wrong]:
        sentences[place] = others[int(chance(f"sentence {place}") * len(others))]
    return f"{_LABEL} {''.join(sentences).strip()}"


def simulate_judge(prompt: str, names: list[str], judge: str = "judge") -> str:
    """Score by the share of the reference's character pairs that the answer holds.

    The form is the one that the prompt wants.

    An answer that contains a level is scored by that level. In a frame of the user's own, answer
    and reference are not known; there the level depends on the text alone. `names` are those of the
    scores, the final one last.
    """
    reference = between(prompt, "reference_answer")
    answer = between(prompt, _TO_RATE)
    why = "by shared characters only"
    if (known := level_for(judge, answer, reference)) is not None:
        level = float(final_of(known))
        why = "by the level that the answer contains"
    elif reference:
        shared = character_pairs(reference) & character_pairs(answer)
        level = 1 + 8 * len(shared) / max(1, len(character_pairs(reference)))
    else:
        level = 1 + digest_of(prompt)[0] % 9
    scores: dict[str, object] = {}
    for name in names[:-1]:
        shift = digest_of(f"{name}/{answer}")[0] % 3 - 1
        scores[name] = min(10, max(1, round(level) + shift))
    scores[names[-1]] = round(level)
    reasons = [f"### {name}\nSimulated: {why}.\nScore: {score}" for name, score in scores.items()]
    record = json.dumps({**key_in(prompt), **scores}, ensure_ascii=False)
    return "\n\n".join([LABEL, *reasons, record])


def _offered_reply(prompt: str, model: str) -> str | None:
    """The reply to a prompt that only a satellite knows; None if none does."""
    for address in offered("simulated replies").values():
        reply: str | None = at(address)(prompt, model)
        if reply is not None:
            return reply
    return None


def _epoch() -> int:
    """Number of the repetition; 1 outside a run."""
    # A provider is told the epoch nowhere. The harness keeps it in a context variable for its
    # cache.
    for variable, value in copy_context().items():
        if variable.name == "epoch" and isinstance(value, int):
            return value
    return 1


def _names_to_score(prompt: str) -> list[str]:
    """Names of the scores that a prompt asks for, as its example of the record says.

    None if it asks for no score.
    """
    for example in _EXAMPLE.findall(prompt):
        try:
            return [name for name in json.loads(example) if name != KEY]
        except json.JSONDecodeError:
            continue
    return []


@lru_cache(maxsize=1)
def _references() -> dict[str, tuple[str, str]]:
    """Question -> language and reference of an embedded case."""
    as_is = Vocabulary(lambda label: label, lambda label: label)
    return {
        case.question.strip(): (case.language, case.reference)
        for case in load_urs("sample", as_is).cases
    }
