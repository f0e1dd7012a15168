"""Prompts of judges.

For answers by intent, pairs, choices, ratings and similarities.
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
from urs_inspect.judging._frames import Frame, JudgePrompt, Schema, build_frame, template_frame
from urs_inspect.judging._objects import Span
from urs_inspect.judging._pair_reply import First
from urs_inspect.judging._replies import RATING_NAMES, SIMILARITY_NAMES
from urs_inspect.judging._score_reply import SCORED_NAMES, read_number, score_objects
from urs_inspect.judging._verdicts import OVERALL, read_word, verdict_names
from urs_inspect.rubrics import HIGHEST, LOWEST, Rubric, normalise_key
from urs_inspect.rubrics._taxonomy import load_taxonomy

_HERE = Path(__file__).parent
_TEMPLATES = _HERE / "templates"

PLACEHOLDER = "<1-10>"
"""What stands in the place of each score in the example of the record.

In no example a judge that only copies it gives a result.
"""
RATING_PLACEHOLDER = "<whole number from {lowest} to {highest}>"
WINNER = "1, 2 or tie"
WINNER_WITHOUT_TIE = "1 or 2"
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

_PAIRS_VERSION = "pairs 3"
PAIR_MATERIALS = ("prompt", "response_1", "response_2")


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
    return pair_prompt(frame, (*dimensions, OVERALL), prompt, first, second)


def dimension_prompt(
    scenario: str,
    dimension: str,
    prompt: str,
    first: str,
    second: str,
) -> JudgePrompt:
    """Ask for a verdict on one dimension only."""
    frame = _dimensions_frame("per_dimension", scenario, (dimension,))
    return pair_prompt(frame, (dimension,), prompt, first, second)


def overall_prompt(prompt: str, first: str, second: str, *, ties: bool) -> JudgePrompt:
    """Ask which response is better as a whole; `ties` says whether a tie is allowed."""
    return pair_prompt(_overall_frame(ties), (OVERALL,), prompt, first, second)


def pair_prompt(
    frame: Frame, asked: tuple[str, ...], prompt: str, first: str, second: str
) -> JudgePrompt:
    """Fill a frame with a pair, in the order given; `asked` is what verdicts are asked for."""
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
    return template_frame(
        _TEMPLATES / f"{kind}.jinja", version, PAIR_MATERIALS, context, example, _VALUES
    )


@lru_cache(maxsize=2)
def _overall_frame(ties: bool) -> Frame:
    example = {
        "comparison": "evidence and comparison",
        "winner": WINNER if ties else WINNER_WITHOUT_TIE,
    }
    return template_frame(
        _TEMPLATES / "overall.jinja",
        _PAIRS_VERSION,
        PAIR_MATERIALS,
        {"ties": ties},
        example,
        _VALUES,
    )


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
    return template_frame(
        _TEMPLATES / "rating.jinja", _PAIRS_VERSION, materials, context, example, values
    )


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
    materials = (*PAIR_MATERIALS, "reference") if has_reference else PAIR_MATERIALS
    version = f"{texts['version']}, {scenario}"
    return template_frame(
        _TEMPLATES / f"choice.{language}.jinja", version, materials, context, example, _VALUES
    )


@lru_cache(maxsize=1)
def _comparison_texts() -> Mapping[str, Any]:
    source = (_HERE / "comparison_scenarios.yaml").read_text(encoding="utf-8")
    texts: Mapping[str, Any] = yaml.safe_load(source)
    return texts


def similarity_prompt(first: str, second: str) -> JudgePrompt:
    """Ask how similar two texts are, on a scale from 0 to 1 with five bands."""
    return _similarity_frame().prompt({"text_1": first, "text_2": second}, _SIMILARITIES_TAKEN)


@lru_cache(maxsize=1)
def _similarity_frame() -> Frame:
    example = {"explanation": "what you found under the five points, and the band", "score": 0.47}
    return template_frame(
        _TEMPLATES / "similarity.jinja", "similarity 2", ("text_1", "text_2"), example=example
    )


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
