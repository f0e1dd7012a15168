"""What a judge is asked about a pair without annotation, and how its replies are read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from urs_inspect.judging._entries import taken_by_name
from urs_inspect.judging._failures import JudgeFailure
from urs_inspect.judging._frames import Frame, JudgePrompt, template_frame
from urs_inspect.judging._pair_reply import (
    First,
    PairReading,
    PairReply,
    compare_with_labels,
    read_pair_reply,
)
from urs_inspect.judging._replies import known, read_one, spellings
from urs_inspect.judging._verdicts import OVERALL
from urs_inspect.rubrics import normalise_key
from urs_inspect.rubrics._taxonomy import load_taxonomy

ANNOTATION = "pair_annotation"
"""Key of a sample's store: the annotation of a pair."""
OTHER = "default"
"""Scenario of requests that fit no other."""
_SCENARIO = spellings(scenario="scenario scenario_id category kind")
_SCENARIOS_TAKEN = taken_by_name(frozenset(_SCENARIO), bool)


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
    file = Path(__file__).parent / "scenario.jinja"
    return template_frame(file, version, ("prompt",), context, example)


def read_scenario(text: str, allowed: Collection[str]) -> str | JudgeFailure:
    """Read one of the allowed scenario ids; case, blanks and underscores do not matter."""
    ids = {normalise_key(name): name for name in allowed}
    find = partial(known, ids=ids, what="scenario")
    return read_one(text, _SCENARIO, "scenario", find, keep=lambda value: value)


@dataclass(frozen=True)
class PairAnnotation:
    """A judge's preferences, overall and by dimension.

    A dimension without a preference is left out.
    """

    winner: str | None
    dimensions: dict[str, str]
    failures: tuple[str, ...]  # one mode per reply that failed, wholly or in part
    unkeyed: int = 0  # number of replies whose verdicts come from a record without a key


def read_annotation(
    replies: Mapping[First, str | JudgeFailure],
    dimensions: Sequence[str],
    prompts: Mapping[First, JudgePrompt] | None = None,
) -> PairAnnotation:
    """Combine the replies of both orders, each under the response shown first.

    A preference that changes is a tie.

    Never raises and never guesses: a verdict that one of the replies lacks is no preference.
    `prompts` are those that were replied to; without them no reply needs a key.
    """
    asked = (*dimensions, OVERALL)
    readings: list[PairReading] = []
    for first, reply in replies.items():
        prompt = (prompts or {}).get(first)
        if isinstance(reply, JudgeFailure):
            kept = PairReply(first, asked, error=reply.detail, failure=reply.mode)
        elif prompt is None:
            kept = PairReply(first, asked, reply)
        else:
            kept = PairReply(first, asked, reply, key=prompt.key, needs_key=prompt.needs_key)
        readings.append(read_pair_reply(kept))
    final = compare_with_labels(dict.fromkeys(asked, ""), readings).verdicts
    winner = final.pop(OVERALL)
    failures = tuple(reading.mode for reading in readings if reading.mode)
    unkeyed = sum(reading.unkeyed for reading in readings)
    preferred = {name: side for name, side in final.items() if side}
    return PairAnnotation(winner, preferred, failures, unkeyed)
