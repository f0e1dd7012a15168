"""Prompts of judges.

For answers by intent, pairs, choices, letters, ratings, scenarios, similarities and case reviews.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from urs_inspect._util import InputError, choices
from urs_inspect.judging._entries import Entry, Taken, taken_by_name
from urs_inspect.judging._frames import Frame, JudgePrompt, Schema, build_frame
from urs_inspect.judging._objects import Span
from urs_inspect.judging._pair_reply import First
from urs_inspect.judging._replies import (
    RATING_NAMES,
    REVIEW_NAMES,
    SCENARIO_NAMES,
    SIMILARITY_NAMES,
)
from urs_inspect.judging._score_reply import SCORED_NAMES, read_number, score_objects
from urs_inspect.judging._verdicts import OVERALL, Shown, read_word, verdict_names
from urs_inspect.rubrics import HIGHEST, LOWEST, Rubric, normalise_key
from urs_inspect.rubrics._taxonomy import load_taxonomy

_HERE = Path(__file__).parent

PLACEHOLDER = "<1-10>"
"""What stands in the place of each score in the example of the record.

In no example a judge that only copies it gives a result.
"""
RATING_PLACEHOLDER = "<whole number from {lowest} to {highest}>"
WINNER = "1, 2 or tie"
WINNER_WITHOUT_TIE = "1 or 2"
YES_OR_NO = "yes or no"
_VALUES: Mapping[str, Schema] = {
    PLACEHOLDER: {"type": "integer", "minimum": LOWEST, "maximum": HIGHEST},
    WINNER: {"type": "string", "enum": ["1", "2", "tie"]},
    WINNER_WITHOUT_TIE: {"type": "string", "enum": ["1", "2"]},
}
"""What a judge writes in the place of a placeholder."""


class PromptBuilder:
    """Builds judge prompts from one rubric (URS paper, Appendix C.2).

    All frames are rendered once at construction, so that a faulty one is found before any model is
    called.

    Examples:
        >>> from urs_inspect.judging import PromptBuilder
        >>> from urs_inspect.rubrics import load_rubric
        >>> texts = {"question": "A joke?", "reference": "Knock, knock.", "answer": "No."}
        >>> prompt = PromptBuilder(load_rubric()).build("leisure", "en", **texts)
        >>> prompt.version, "Knock, knock." in prompt.case
        ('urs 2', True)
    """

    def __init__(self, rubric: Rubric) -> None:
        """Prepare the frames of every intent and language.

        Args:
            rubric: The rubric.

        Raises:
            InputError: If a frame cannot be rendered; the message names the frame, its language and
                the fault.
        """
        self.rubric = rubric
        self._taken = scores_taken(rubric)
        self._frames: dict[tuple[str, str], Frame] = {}
        for intent in rubric.intents:
            for language in rubric.languages:
                self._frames[intent, language] = _intent_frame(rubric, intent, language)

    def build(
        self, intent: str, language: str, *, question: str, reference: str, answer: str
    ) -> JudgePrompt:
        """Build the prompt for one case.

        The three texts come from users and models. Whatever in them would read as one of the
        frame's own delimiters, or as a score record, is sanitized first; the rest stays as it is.

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
        prompt = self._frames[intent, language].prompt(materials, self._taken)
        return replace(prompt, language=language)


def scores_taken(rubric: Rubric) -> Taken:
    """What the reader of scores takes.

    Its own complete objects, and entries with a name and a score of the rubric.
    """
    names = rubric.keys_by_spelling

    def takes(entry: Entry) -> bool:
        # "criterion": "Factuality", with its score in the next entry
        if entry.name in SCORED_NAMES:
            return normalise_key(entry.value) in names
        if entry.name not in names:
            return False
        return entry.is_object or isinstance(read_number(entry.name, entry.value), int)

    return Taken(lambda text: injected_scores(text, rubric), takes)


def injected_scores(text: str, rubric: Rubric) -> list[Span]:
    """Complete score objects, also those inside strings.

    A judge may quote any part of a text.
    """
    spans = []
    for inside in (False, True):
        for span, scored in score_objects(text, rubric, inside):
            if scored.is_complete:
                spans.append(span)
    return spans


def _intent_frame(rubric: Rubric, intent_id: str, language: str) -> Frame:
    intent = rubric.intents[intent_id]
    texts = rubric.languages[language]
    terms = {key: rubric.criteria[key][language] for key in intent.criteria}
    criteria = []
    for key, term in terms.items():
        criteria.append({"id": key, **term.model_dump()})
    bands = []
    for band, description in zip(rubric.bands, texts.bands, strict=True):
        low, high = band
        bands.append({"low": low, "high": high, "description": description})
    context: dict[str, object] = {
        "intent": {"id": intent_id, **intent.text[language].model_dump()},
        "criteria": criteria,
        "dominant": [criterion for criterion in criteria if criterion["id"] in rubric.dominant],
        "bands": bands,
        "reference_score": rubric.reference_score,
        "final_name": texts.final.name,
    }
    names = [term.name for term in terms.values()]
    return build_frame(
        texts.frame,
        place=f"prompt '{texts.frame_source}' (language {language})",
        version=f"{rubric.name} {rubric.version}",
        context=context,
        materials=("question", "reference", "answer"),
        needed=("question", "answer"),
        example=dict.fromkeys([*names, texts.final.name], PLACEHOLDER),
        values=_VALUES,
    )


def template_frame(
    template: str,
    version: str,
    materials: Sequence[str],
    context: Mapping[str, object] | None = None,
    example: Mapping[str, object] | None = None,
    values: Mapping[str, Schema] | None = None,
) -> Frame:
    """The frame of one of this room's templates, which must use all its materials."""
    source = (_HERE / "templates" / template).read_text(encoding="utf-8")
    place = f"prompt '{template}'"
    return build_frame(source, place, version, context or {}, materials, materials, example, values)


@lru_cache(maxsize=1024)
def _verdicts_taken(asked: tuple[str, ...]) -> Taken:
    """What the reader of verdicts takes where these were asked for."""
    return taken_by_name(verdict_names(asked), lambda value: read_word(value) is not None)


@lru_cache(maxsize=16)
def _ratings_taken(lowest: int, highest: int) -> Taken:

    def is_rating(value: str) -> bool:
        return isinstance(read_number("score", value, lowest, highest), int)

    return taken_by_name(RATING_NAMES, is_rating)


_SIMILARITIES_TAKEN = taken_by_name(SIMILARITY_NAMES, bool)
_SCENARIOS_TAKEN = taken_by_name(SCENARIO_NAMES, bool)
_REVIEWS_TAKEN = taken_by_name(REVIEW_NAMES, bool)

_PAIRS_VERSION = "pairs 3"
_PAIR = ("prompt", "response_1", "response_2")


def joint_prompt(
    scenario: str,
    dimensions: Sequence[str],
    prompt: str,
    first: str,
    second: str,
) -> JudgePrompt:
    """Ask for a verdict on every dimension of a scenario given, and overall, in one reply.

    Source: SaMer paper, Table A3.
    """
    frame = _dimensions_frame("joint", scenario, tuple(dimensions))
    return _pair_prompt(frame, (*dimensions, OVERALL), prompt, first, second)


def dimension_prompt(
    scenario: str,
    dimension: str,
    prompt: str,
    first: str,
    second: str,
) -> JudgePrompt:
    """Ask for a verdict on one dimension only."""
    frame = _dimensions_frame("per_dimension", scenario, (dimension,))
    return _pair_prompt(frame, (dimension,), prompt, first, second)


def overall_prompt(prompt: str, first: str, second: str, *, ties: bool) -> JudgePrompt:
    """Ask which response is better as a whole; `ties` says whether a tie is allowed."""
    return _pair_prompt(_overall_frame(ties), (OVERALL,), prompt, first, second)


def _pair_prompt(
    frame: Frame, asked: tuple[str, ...], prompt: str, first: str, second: str
) -> JudgePrompt:
    materials = {"prompt": prompt, "response_1": first, "response_2": second}
    return frame.prompt(materials, _verdicts_taken(asked))


@lru_cache(maxsize=1024)
def _dimensions_frame(kind: str, scenario_id: str, dimensions: tuple[str, ...]) -> Frame:
    taxonomy = load_taxonomy()
    scenario = taxonomy.scenario(scenario_id)
    verdict = {"comparison": "evidence and comparison on this dimension", "winner": WINNER}
    example: Mapping[str, object] = verdict
    if kind == "joint":
        overall = {"comparison": "weighing of all dimensions", "winner": WINNER}
        example = {**dict.fromkeys(dimensions, verdict), OVERALL: overall}
    defined = []
    for name in dimensions:
        defined.append({"name": name, "definition": scenario.dimensions[name]})
    context = {
        "scenario": {"name": scenario.name, "description": scenario.description},
        "dimensions": defined,
    }
    version = f"{_PAIRS_VERSION}, {taxonomy.name} {taxonomy.version}"
    return template_frame(f"{kind}.jinja", version, _PAIR, context, example, _VALUES)


@lru_cache(maxsize=2)
def _overall_frame(ties: bool) -> Frame:
    example = {
        "comparison": "evidence and comparison",
        "winner": WINNER if ties else WINNER_WITHOUT_TIE,
    }
    return template_frame("overall.jinja", _PAIRS_VERSION, _PAIR, {"ties": ties}, example, _VALUES)


def rating_prompt(
    prompt: str,
    response: str,
    reference: str,
    *,
    lowest: int,
    highest: int,
) -> JudgePrompt:
    """Ask for one rating of a response on a scale of whole numbers; the reference may be empty."""
    frame = _rating_frame(lowest, highest, bool(reference.strip()))
    materials = {"prompt": prompt, "reference": reference, "response": response}
    return frame.prompt(materials, _ratings_taken(lowest, highest))


@lru_cache(maxsize=16)
def _rating_frame(lowest: int, highest: int, has_reference: bool) -> Frame:
    placeholder = RATING_PLACEHOLDER.format(lowest=lowest, highest=highest)
    example = {"reasons": "evidence", "score": placeholder}
    values = {placeholder: {"type": "integer", "minimum": lowest, "maximum": highest}}
    context = {"lowest": lowest, "highest": highest, **_without_reference(has_reference)}
    materials = ("prompt", "reference", "response") if has_reference else ("prompt", "response")
    return template_frame("rating.jinja", _PAIRS_VERSION, materials, context, example, values)


def _without_reference(has_reference: bool) -> dict[str, object]:
    if has_reference:
        return {}
    return {"reference": ""}


_COMPARISON = {"en": "the comparison, in a few sentences", "zh": "用几句话比较"}


def comparison_scenarios() -> tuple[str, ...]:
    """Kinds of task with instructions of their own.

    `general` and those of the MAD paper (Tables 14 to 17).
    """
    return tuple(_comparison_texts()["scenarios"])


def comparison_languages() -> tuple[str, ...]:
    """Languages that the instructions are written in."""
    return tuple(_COMPARISON)


def choice_prompt(
    scenario: str,
    language: str,
    prompt: str,
    first: str,
    second: str,
    *,
    reference: str = "",
) -> JudgePrompt:
    """Ask which of two responses is better by the criteria of a kind of task.

    Source: MAD paper, Tables 5, 14 to 17.

    The scenario is one of `comparison_scenarios()`, the language of the instructions one of
    `comparison_languages()`.
    """
    frame = _choice_frame(scenario, language, bool(reference.strip()))
    materials = {
        "prompt": prompt,
        "reference": reference,
        "response_1": first,
        "response_2": second,
    }
    filled = frame.prompt(materials, _verdicts_taken((OVERALL,)))
    return replace(filled, language=language)


@lru_cache(maxsize=32)
def _choice_frame(scenario: str, language: str, has_reference: bool) -> Frame:
    texts = _comparison_texts()
    if scenario not in texts["scenarios"]:
        raise InputError(
            f"scenario: unknown value '{scenario}'; allowed: {choices(texts['scenarios'])}"
        )
    if language not in _COMPARISON:
        raise InputError(
            f"judge_language: unknown value '{language}'; allowed: {choices(_COMPARISON)}"
        )
    example = {"comparison": _COMPARISON[language], "winner": WINNER}
    context = {"scenario": texts["scenarios"][scenario][language], "has_reference": has_reference}
    context |= _without_reference(has_reference)
    materials = (*_PAIR, "reference") if has_reference else _PAIR
    version = f"{texts['version']}, {scenario}"
    return template_frame(f"choice.{language}.jinja", version, materials, context, example, _VALUES)


@lru_cache(maxsize=1)
def _comparison_texts() -> Mapping[str, Any]:
    source = (_HERE / "comparison_scenarios.yaml").read_text(encoding="utf-8")
    texts: Mapping[str, Any] = yaml.safe_load(source)
    return texts


LETTERS: Mapping[str, Shown] = {"A": "1", "B": "2", "C": "tie"}
"""Letter -> the better response as shown.

Letters are one token each, so that none is at a disadvantage.
"""
_MEANINGS = {
    "A": "response 1 is better",
    "B": "response 2 is better",
    "C": "they are about equally good",
}


def letter_prompt(prompt: str, first: str, second: str) -> JudgePrompt:
    """Ask which response is better as a whole, by a letter."""
    return _pair_prompt(_letter_frame(), (OVERALL,), prompt, first, second)


@lru_cache(maxsize=1)
def _letter_frame() -> Frame:
    context = {"letters": list(_MEANINGS.items())}
    return template_frame("letter.jinja", "pair letter 1", _PAIR, context)


OTHER = "default"
"""Scenario of requests that fit no other."""


def scenario_prompt(prompt: str) -> JudgePrompt:
    """Ask for the scenario of a prompt, one of the taxonomy's."""
    return _scenario_frame().prompt({"prompt": prompt}, _SCENARIOS_TAKEN)


@lru_cache(maxsize=1)
def _scenario_frame() -> Frame:
    taxonomy = load_taxonomy()
    scenarios = []
    for name, scenario in taxonomy.scenarios.items():
        described = {"id": name, "name": scenario.name, "description": scenario.description}
        scenarios.append(described)
    context = {"scenarios": scenarios, "other": OTHER}
    example = {"reasons": "what the person wants, and why this kind", "scenario": "the_kind"}
    version = f"scenario 2, {taxonomy.name} {taxonomy.version}"
    return template_frame("scenario.jinja", version, ("prompt",), context, example)


def similarity_prompt(first: str, second: str) -> JudgePrompt:
    """Ask how similar two texts are, on a scale from 0 to 1 with five bands."""
    return _similarity_frame().prompt({"text_1": first, "text_2": second}, _SIMILARITIES_TAKEN)


@lru_cache(maxsize=1)
def _similarity_frame() -> Frame:
    example = {"explanation": "what you found under the five points, and the band", "score": 0.47}
    return template_frame("similarity.jinja", "similarity 2", ("text_1", "text_2"), example=example)


REVIEW_LANGUAGES = ("en", "zh")
"""Languages that the instructions of a case review are written in."""

REVIEW_AGAIN = {
    "en": (
        "Your reply could not be used: {reason} Review the same question again and end with the"
        " JSON object."
    ),
    "zh": "你的回复无法使用：{reason} 请重新审核同一个问题，并以 JSON 对象结尾。",
}
"""What is sent where a review could not be read."""


def case_review_prompt(rubric: Rubric, language: str, question: str) -> JudgePrompt:
    """Ask for a review of a question by the rubric's intents.

    The one that the user named is not shown.
    """
    if language not in REVIEW_LANGUAGES or language not in rubric.languages:
        raise InputError(
            f"judge_language: unknown value '{language}'; allowed: {choices(REVIEW_LANGUAGES)}"
        )
    intents = []
    for name, intent in rubric.intents.items():
        intents.append((name, intent.text[language].definition))
    frame = _case_review_frame(f"{rubric.name} {rubric.version}", language, tuple(intents))
    prompt = frame.prompt({"question": question}, _REVIEWS_TAKEN)
    return replace(prompt, language=language)


@lru_cache(maxsize=8)
def _case_review_frame(rubric: str, language: str, intents: tuple[tuple[str, str], ...]) -> Frame:
    example = {
        "understandable": YES_OR_NO,
        "self_contained": YES_OR_NO,
        "personal_data": YES_OR_NO,
        "harmful": YES_OR_NO,
        "intent": "the_intent",
        "plausible_intents": ["the_intent", "another_one"],
    }
    context = {"intents": [{"id": name, "definition": definition} for name, definition in intents]}
    version = f"case review 2, {rubric}"
    return template_frame(f"case_review.{language}.jinja", version, ("question",), context, example)


Orders = Literal["ab", "seeded", "both"]
Protocol = Literal["joint", "per_dimension", "overall"]


def orders_of(orders: str, sample_id: str, seed: int) -> list[First]:
    """Which response is shown first, call by call: `ab` and `seeded` make one call, `both` two."""
    if orders == "both":
        return ["a", "b"]
    if orders == "ab":
        return ["a"]
    digest = hashlib.sha256(f"order/{seed}/{sample_id}".encode()).digest()
    is_odd = digest[0] & 1
    return ["b" if is_odd else "a"]


def pair_calls(
    protocol: str,
    facts: dict[str, Any],
    first: First,
    ties: bool,
) -> list[tuple[First, tuple[str, ...], JudgePrompt]]:
    """The calls about a pair with one response shown first.

    What verdicts are asked for, and the prompt.
    """
    second = "a"
    if first == "a":
        second = "b"
    shown = (facts[f"response_{first}"], facts[f"response_{second}"])
    prompt = facts["prompt"]
    dimensions = tuple(facts.get("dimensions", {}))
    if protocol == "joint" and dimensions:
        joint = joint_prompt(facts["scenario"], dimensions, prompt, *shown)
        return [(first, (*dimensions, OVERALL), joint)]
    calls: list[tuple[First, tuple[str, ...], JudgePrompt]] = []
    if protocol == "per_dimension":
        for name in dimensions:
            single = dimension_prompt(facts["scenario"], name, prompt, *shown)
            calls.append((first, (name,), single))
    overall = overall_prompt(prompt, *shown, ties=ties)
    calls.append((first, (OVERALL,), overall))
    return calls
