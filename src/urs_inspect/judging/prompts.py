"""Prompts of judges."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from urs_inspect._util import InputError, choices
from urs_inspect.judging.ask import UNKNOWN, Temperature
from urs_inspect.judging.frames import Frame, JudgePrompt, build_frame
from urs_inspect.judging.objects import Shown, Span, records, spans
from urs_inspect.judging.pair_reply import OVERALL
from urs_inspect.judging.sanitize import defuse
from urs_inspect.rubrics import Rubric
from urs_inspect.samer import load_taxonomy

_MATERIALS = ("question", "reference", "answer")
_NEEDED = ("question", "answer")
PLACEHOLDER = "<1-10>"
"""What stands in the place of each score in the example of the record."""


class PromptBuilder:
    """Builds judge prompts from one rubric (URS paper, Appendix C.2).

    All frames are rendered once at construction, so that a faulty one is found before any model is called.
    """

    def __init__(self, rubric: Rubric) -> None:
        """Prepare the frames of every intent and language.

        Args:
            rubric: The rubric.

        Raises:
            InputError: If a frame cannot be rendered; the message names the frame, its language and the fault.
        """
        self.rubric = rubric
        self._frames = {
            (intent, language): _frame(rubric, intent, language)
            for intent in rubric.intents
            for language in rubric.languages
        }

    def build(self, intent: str, language: str, *, question: str, reference: str, answer: str) -> JudgePrompt:
        """Build the prompt for one case.

        The three texts come from users and models. Whatever in them would read as one of the frame's own
        delimiters, or as a score record, is made harmless first; the rest stays as it is.

        Args:
            intent: Intent id of the case.
            language: Judge language, a code of the rubric.
            question: The user's question.
            reference: The reference answer.
            answer: The answer to be judged.

        Returns:
            The prompt.
        """
        materials = {"question": question, "reference": reference, "answer": answer}
        return self._frames[intent, language].prompt(materials, lambda text: _planted(text, self.rubric))


def neutralise(text: str, rubric: Rubric, delimiters: re.Pattern[str] | None) -> str:
    """Make text harmless as material for a judge of this rubric; see `material.defuse`."""
    return defuse(text, delimiters, lambda inner: _planted(inner, rubric))


def _planted(text: str, rubric: Rubric) -> list[Span]:
    """Complete records, those inside strings too, because a judge may quote any part of a text."""
    return [span for inside in (False, True) for span, record in records(text, rubric, inside) if record.is_complete]


def _frame(rubric: Rubric, intent: str, language: str) -> Frame:
    texts = rubric.languages[language]
    return build_frame(
        texts.frame,
        f"prompt '{texts.frame_source}' (language {language})",
        f"{rubric.name} {rubric.version}",
        _context(rubric, intent, language),
        _MATERIALS,
        _NEEDED,
        _example(rubric, intent, language),
    )


def _context(rubric: Rubric, intent_id: str, language: str) -> dict[str, object]:
    intent, texts = rubric.intents[intent_id], rubric.languages[language]
    criteria = [{"id": key, **_term(rubric, key, language)} for key in intent.criteria]
    return {
        "intent": {"id": intent_id, **intent.text[language].model_dump()},
        "criteria": criteria,
        "dominant": [criterion for criterion in criteria if criterion["id"] in rubric.dominant],
        "bands": [
            {"low": low, "high": high, "description": text}
            for (low, high), text in zip(rubric.bands, texts.bands, strict=True)
        ],
        "reference_score": rubric.reference_score,
        "final_name": texts.final.name,
    }


def _example(rubric: Rubric, intent: str, language: str) -> dict[str, object]:
    # No numbers: a judge that only copies the example must not give a score.
    names = [rubric.criteria[criterion][language].name for criterion in rubric.intents[intent].criteria]
    return dict.fromkeys([*names, rubric.languages[language].final.name], PLACEHOLDER)


def _term(rubric: Rubric, criterion: str, language: str) -> dict[str, object]:
    return rubric.criteria[criterion][language].model_dump()


_TEMPLATES = Path(__file__).parent / "templates"
_VERSION = "pairs 3"
WINNER = "1, 2 or tie"
"""What stands in the place of a verdict in the example of the record."""
WINNER_WITHOUT_TIE = "1 or 2"
"""Likewise, where a tie is no answer."""
RATING_PLACEHOLDER = "<whole number from {lowest} to {highest}>"
"""What stands in the place of the rating. No number: a judge that only copies the example must not give one."""
_PAIR = ("prompt", "response_1", "response_2")
_RATED = ("prompt", "reference", "response")
_RESULT = re.compile(r"winner|verdict|overall|rating|score", re.IGNORECASE)


def joint_prompt(scenario: str, dimensions: Sequence[str], prompt: str, first: str, second: str) -> JudgePrompt:
    """Ask for a verdict on every dimension and overall in one reply (SaMer paper, Table A3).

    Args:
        scenario: Scenario id of the taxonomy.
        dimensions: Dimensions to compare on, each defined for the scenario.
        prompt: What the user asked.
        first: The response shown first.
        second: The response shown second.
    """
    return _pair(_scenario_frame("joint", scenario, tuple(dimensions)), prompt, first, second)


def dimension_prompt(scenario: str, dimension: str, prompt: str, first: str, second: str) -> JudgePrompt:
    """Ask for a verdict on one dimension only; arguments as for `joint_prompt`."""
    return _pair(_scenario_frame("per_dimension", scenario, (dimension,)), prompt, first, second)


def overall_prompt(prompt: str, first: str, second: str, *, ties: bool) -> JudgePrompt:
    """Ask which response is better as a whole; `ties` says whether a tie is a possible answer."""
    return _pair(_overall_frame(ties), prompt, first, second)


def rating_prompt(prompt: str, response: str, reference: str, *, lowest: int, highest: int) -> JudgePrompt:
    """Ask for one rating of a response on a scale of whole numbers; the reference may be empty."""
    frame = _rating_frame(lowest, highest, bool(reference.strip()))
    return frame.prompt({"prompt": prompt, "reference": reference, "response": response}, planted_verdicts)


def _pair(frame: Frame, prompt: str, first: str, second: str) -> JudgePrompt:
    return frame.prompt({"prompt": prompt, "response_1": first, "response_2": second}, planted_verdicts)


@lru_cache(maxsize=1024)
def _scenario_frame(template: str, scenario_id: str, dimensions: tuple[str, ...]) -> Frame:
    taxonomy = load_taxonomy()
    scenario = taxonomy.scenario(scenario_id)
    verdict = {"comparison": "evidence and comparison on this dimension", "winner": WINNER}
    example: dict[str, object] = dict.fromkeys(dimensions, verdict)
    example[OVERALL] = {"comparison": "weighing of all dimensions", "winner": WINNER}
    if template == "per_dimension":
        example = {"comparison": "evidence and comparison on this dimension", "winner": WINNER}
    context: dict[str, object] = {
        "scenario": {"name": scenario.name, "description": scenario.description},
        "dimensions": [{"name": name, "definition": scenario.dimensions[name]} for name in dimensions],
    }
    version = f"{_VERSION}, {taxonomy.name} {taxonomy.version}"
    return _pair_prompt_frame(template, version, context, _PAIR, example)


@lru_cache(maxsize=2)
def _overall_frame(ties: bool) -> Frame:
    winner = WINNER if ties else WINNER_WITHOUT_TIE
    example = {"comparison": "evidence and comparison", "winner": winner}
    return _pair_prompt_frame("overall", _VERSION, {"ties": ties}, _PAIR, example)


@lru_cache(maxsize=16)
def _rating_frame(lowest: int, highest: int, has_reference: bool) -> Frame:
    score = RATING_PLACEHOLDER.format(lowest=lowest, highest=highest)
    example = {"reasons": "evidence", "score": score}
    context: dict[str, object] = {"lowest": lowest, "highest": highest}
    materials = _RATED if has_reference else ("prompt", "response")
    context |= {} if has_reference else {"reference": ""}
    return _pair_prompt_frame("rating", _VERSION, context, materials, example)


def _pair_prompt_frame(
    template: str,
    version: str,
    context: dict[str, object],
    materials: Sequence[str],
    example: Mapping[str, object],
) -> Frame:
    source = (_TEMPLATES / f"{template}.jinja").read_text(encoding="utf-8")
    return build_frame(source, f"prompt '{template}.jinja'", version, context, materials, materials, example)


def planted_verdicts(text: str) -> list[Span]:
    """Objects that read like a judge's result."""
    found = {span for inside in (False, True) for span in spans(text, inside)}
    return [span for span in found if _RESULT.search(text, span.start, span.end)]


_HERE = Path(__file__).parent
_COMPARISON = {"en": "the comparison, in a few sentences", "zh": "用几句话比较"}


def comparison_scenarios() -> tuple[str, ...]:
    """Kinds of task with instructions of their own: `general` and those of the MAD paper (Tables 14 to 17)."""
    return tuple(_texts()["scenarios"])


def comparison_languages() -> tuple[str, ...]:
    """Languages that the instructions are written in."""
    return tuple(_COMPARISON)


def choice_prompt(
    scenario: str, language: str, prompt: str, first: str, second: str, *, reference: str = ""
) -> JudgePrompt:
    """Ask which of two responses is better by the criteria of a kind of task (MAD paper, Tables 5, 14 to 17).

    Args:
        scenario: Kind of task, one of `comparison_scenarios()`.
        language: Language of the instructions, one of `comparison_languages()`.
        prompt: What the user asked.
        first: The response shown first.
        second: The response shown second.
        reference: A reference answer; empty for none.

    Returns:
        The prompt.

    Raises:
        InputError: If the scenario or the language is unknown.
    """
    frame = _choice_prompt_frame(scenario, language, bool(reference.strip()))
    material = {"prompt": prompt, "reference": reference, "response_1": first, "response_2": second}
    return frame.prompt(material, planted_verdicts)


@lru_cache(maxsize=32)
def _choice_prompt_frame(scenario: str, language: str, has_reference: bool) -> Frame:
    texts = _texts()
    if scenario not in texts["scenarios"]:
        raise InputError(f"scenario: unknown value '{scenario}'; allowed: {choices(texts['scenarios'])}")
    if language not in _COMPARISON:
        raise InputError(f"judge_language: unknown value '{language}'; allowed: {choices(_COMPARISON)}")
    example = {"comparison": _COMPARISON[language], "winner": WINNER}
    context: dict[str, object] = {
        "scenario": texts["scenarios"][scenario][language],
        "has_reference": has_reference,
    }
    context |= {} if has_reference else {"reference": ""}
    materials = (*_PAIR, "reference") if has_reference else _PAIR
    name = f"choice.{language}.jinja"
    source = (_HERE / "templates" / name).read_text(encoding="utf-8")
    version = f"{texts['version']}, {scenario}"
    return build_frame(source, f"prompt '{name}'", version, context, materials, materials, example)


@lru_cache(maxsize=1)
def _texts() -> Mapping[str, Any]:
    texts: Mapping[str, Any] = yaml.safe_load((_HERE / "comparison_scenarios.yaml").read_text(encoding="utf-8"))
    return texts


LETTERS: Mapping[str, Shown] = {"A": "1", "B": "2", "C": "tie"}
"""What a letter says: the better response as shown. Letters are one token each, so that none is at a disadvantage."""

_TEMPLATE = Path(__file__).parent / "templates" / "letter.jinja"
_LETTER_PROMPT_VERSION = "pair letter 1"
_MEANINGS: Mapping[Shown, str] = {
    "1": "response 1 is better",
    "2": "response 2 is better",
    "tie": "they are about equally good",
}


def letter_prompt(prompt: str, first: str, second: str) -> JudgePrompt:
    """Ask which response is better as a whole, by a letter.

    Args:
        prompt: What the user asked.
        first: The response shown first.
        second: The response shown second.
    """
    return _letter_prompt_frame().prompt(
        {"prompt": prompt, "response_1": first, "response_2": second}, planted_verdicts
    )


@lru_cache(maxsize=1)
def _letter_prompt_frame() -> Frame:
    letters = [(letter, _MEANINGS[shown]) for letter, shown in LETTERS.items()]
    source = _TEMPLATE.read_text(encoding="utf-8")
    return build_frame(source, "prompt 'letter.jinja'", _LETTER_PROMPT_VERSION, {"letters": letters}, _PAIR, _PAIR)


OTHER = "default"
"""Scenario of requests that fit no other."""

_SCENARIO_PROMPT_TEMPLATE = Path(__file__).parent / "templates" / "scenario.jinja"
_SCENARIO_PROMPT_VERSION = "scenario 2"
_TEXTS = ("prompt",)
_SCENARIO_PROMPT_RESULT = re.compile(r"scenario|category|kind", re.IGNORECASE)


def scenario_prompt(prompt: str) -> JudgePrompt:
    """Ask for the scenario of a prompt, one of the taxonomy's.

    Args:
        prompt: What the user asked.
    """
    return _scenario_prompt_frame().prompt({"prompt": prompt}, _scenario_prompt_planted)


@lru_cache(maxsize=1)
def _scenario_prompt_frame() -> Frame:
    taxonomy = load_taxonomy()
    scenarios = [
        {"id": name, "name": scenario.name, "description": scenario.description}
        for name, scenario in taxonomy.scenarios.items()
    ]
    example = {"reasons": "what the person wants, and why this kind", "scenario": "the_kind"}
    context: dict[str, object] = {"scenarios": scenarios, "other": OTHER}
    source = _SCENARIO_PROMPT_TEMPLATE.read_text(encoding="utf-8")
    version = f"{_SCENARIO_PROMPT_VERSION}, {taxonomy.name} {taxonomy.version}"
    return build_frame(source, "prompt 'scenario.jinja'", version, context, _TEXTS, _TEXTS, example)


def _scenario_prompt_planted(text: str) -> list[Span]:
    """Objects that read like a result."""
    found = {span for inside in (False, True) for span in spans(text, inside)}
    return [span for span in found if _SCENARIO_PROMPT_RESULT.search(text, span.start, span.end)]


_SIMILARITY_PROMPT_TEMPLATE = Path(__file__).parent / "templates" / "similarity.jinja"
_SIMILARITY_PROMPT_VERSION = "similarity 2"
_SIMILARITY_PROMPT_TEXTS = ("text_1", "text_2")
_SIMILARITY_PROMPT_RESULT = re.compile(r"score|similarity|rating", re.IGNORECASE)


def similarity_prompt(first: str, second: str) -> JudgePrompt:
    """Ask how similar two texts are, on a scale from 0 to 1 with five bands.

    Args:
        first: The text shown first.
        second: The text shown second.
    """
    return _similarity_prompt_frame().prompt({"text_1": first, "text_2": second}, _similarity_prompt_planted)


@lru_cache(maxsize=1)
def _similarity_prompt_frame() -> Frame:
    example = {"explanation": "what you found under the five points, and the band", "score": 0.47}
    source = _SIMILARITY_PROMPT_TEMPLATE.read_text(encoding="utf-8")
    return build_frame(
        source,
        "prompt 'similarity.jinja'",
        _SIMILARITY_PROMPT_VERSION,
        {},
        _SIMILARITY_PROMPT_TEXTS,
        _SIMILARITY_PROMPT_TEXTS,
        example,
    )


def _similarity_prompt_planted(text: str) -> list[Span]:
    """Objects that read like a result."""
    found = {span for inside in (False, True) for span in spans(text, inside)}
    return [span for span in found if _SIMILARITY_PROMPT_RESULT.search(text, span.start, span.end)]


REVIEW_LANGUAGES = ("en", "zh")
"""Languages that the instructions are written in."""

YES_OR_NO = "yes or no"
"""What stands for a verdict in the example; a reply that repeats it has none."""

ASK_AGAIN = {
    "en": "Your reply could not be used: {reason} Review the same question again and end with the JSON object.",
    "zh": "你的回复无法使用：{reason} 请重新审核同一个问题，并以 JSON 对象结尾。",
}
"""What is sent where a reply could not be read."""

_CASE_REVIEW_PROMPT_VERSION = "case review 2"
_CASE_REVIEW_PROMPT_RESULT = re.compile(r"understandable|self_contained|personal_data|harmful|intent", re.IGNORECASE)


def case_review_prompt(rubric: Rubric, language: str, question: str) -> JudgePrompt:
    """Ask for a review of a question. The intent that the user named is not shown, so that it cannot lead.

    Args:
        rubric: Its intents are those to choose from.
        language: Language of the instructions, one of `REVIEW_LANGUAGES`, which the rubric must have too.
        question: The question.

    Raises:
        InputError: If there are no instructions in the language.
    """
    if language not in REVIEW_LANGUAGES or language not in rubric.languages:
        raise InputError(f"judge_language: unknown value '{language}'; allowed: {choices(REVIEW_LANGUAGES)}")
    intents = tuple((name, intent.text[language].definition) for name, intent in rubric.intents.items())
    return _case_review_prompt_frame(f"{rubric.name} {rubric.version}", language, intents).prompt(
        {"question": question}, _case_review_prompt_planted
    )


@lru_cache(maxsize=8)
def _case_review_prompt_frame(rubric: str, language: str, intents: tuple[tuple[str, str], ...]) -> Frame:
    name = f"case_review.{language}.jinja"
    example = {
        "understandable": YES_OR_NO,
        "self_contained": YES_OR_NO,
        "personal_data": YES_OR_NO,
        "harmful": YES_OR_NO,
        "intent": "the_intent",
        "plausible_intents": ["the_intent", "another_one"],
    }
    context: dict[str, object] = {
        "intents": [{"id": intent_id, "definition": definition} for intent_id, definition in intents],
    }
    source = (_TEMPLATES / name).read_text(encoding="utf-8")
    materials = ("question",)
    return build_frame(
        source, f"prompt '{name}'", f"{_CASE_REVIEW_PROMPT_VERSION}, {rubric}", context, materials, materials, example
    )


def _case_review_prompt_planted(text: str) -> list[Span]:
    """Objects that read like a result."""
    found = {span for inside in (False, True) for span in spans(text, inside)}
    return [span for span in found if _CASE_REVIEW_PROMPT_RESULT.search(text, span.start, span.end)]


First = Literal["a", "b"]
"""Which response is shown first."""

Orders = Literal["ab", "seeded", "both"]
ORDERS: tuple[Orders, ...] = get_args(Orders)

Protocol = Literal["joint", "per_dimension", "overall"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)


@dataclass(frozen=True)
class PairReply:
    """One call and its reply.

    Attributes:
        first: Which response was shown first: `a` or `b`.
        asked: What verdicts were asked for: dimensions, `Overall`.
        reply: The reply; for a baseline empty, for SaMer its numbers.
        stop_reason: Why the reply ended; `error` if the call failed, `pending` if none came before the sample ended.
        error: What went wrong with the call.
        verdicts: For a judge without a prompt (a baseline, SaMer): verdicts by name, about responses a and b.
        failure: Mode of a failure that the judge itself names; empty for that of a failed call.
        prompt_version: Name and version of the prompt's texts; empty where there is none.
        prompt_sha256: Hash of the prompt's texts; empty where there is none.
        key: The key that the prompt asks for; empty if it asks for none.
        temperature_requested: Sampling temperature that the call asked for; None for the provider's default.
        temperature_sent: The one in the request to the provider, which may lack it.
    """

    first: First
    asked: tuple[str, ...]
    reply: str = ""
    stop_reason: str = "stop"
    error: str = ""
    verdicts: dict[str, str] | None = None
    failure: str = ""
    prompt_version: str = ""
    prompt_sha256: str = ""
    key: str = ""
    temperature_requested: float | None = None
    temperature_sent: Temperature = UNKNOWN


def orders_of(orders: str, sample_id: str, seed: int) -> list[First]:
    """Which response is shown first, call by call: `ab` and `seeded` make one call, `both` two."""
    if orders == "both":
        return ["a", "b"]
    if orders == "ab":
        return ["a"]
    return ["b" if hashlib.sha256(f"order/{seed}/{sample_id}".encode()).digest()[0] & 1 else "a"]


def pair_calls(
    protocol: str, facts: dict[str, Any], first: First, ties: bool
) -> list[tuple[First, tuple[str, ...], JudgePrompt]]:
    """The calls about a pair with one response shown first: what verdicts are asked for, and the prompt."""
    one, two = facts[f"response_{first}"], facts["response_b" if first == "a" else "response_a"]
    prompt, dimensions = facts["prompt"], tuple(facts.get("dimensions", {}))
    if protocol == "joint" and dimensions:
        asked = (*dimensions, OVERALL)
        return [(first, asked, joint_prompt(facts["scenario"], dimensions, prompt, one, two))]
    overall = (first, (OVERALL,), overall_prompt(prompt, one, two, ties=ties))
    if protocol != "per_dimension":
        return [overall]
    single = [(first, (name,), dimension_prompt(facts["scenario"], name, prompt, one, two)) for name in dimensions]
    return [*single, overall]
