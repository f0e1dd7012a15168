"""How simulated models make a new instruction out of a given one."""

import json
import re

from urs_inspect.providers._simulated_judgement import between, digest_of

_GIVEN = "given_instruction"
_TAG = re.compile(r"<(\w+)>")
_FRAMES = (
    (
        "Describe step by step how a {person} could {deed} a {thing} in a {place}, and name two"
        " mistakes to avoid."
    ),
    (
        "A {person} wants to {deed} a {thing} next to the {place}. Which questions should be asked"
        " before, and why?"
    ),
    (
        "Compare two ways to {deed} a {thing}: one for a {person} with little time, one for a"
        " {place} with many visitors."
    ),
    (
        "Make a plan of five points for a {person} who has to {deed} the only {thing} of the"
        " {place} by tomorrow."
    ),
)
_WORDS = {
    "person": (
        "gardener",
        "nurse",
        "pilot",
        "librarian",
        "carpenter",
        "student",
        "baker",
        "diver",
        "judge",
        "farmer",
    ),
    "deed": (
        "repair",
        "paint",
        "measure",
        "transport",
        "describe",
        "insure",
        "clean",
        "sell",
        "rebuild",
        "photograph",
    ),
    "thing": (
        "clock",
        "bridge",
        "violin",
        "greenhouse",
        "telescope",
        "bicycle",
        "fountain",
        "archive",
        "kite",
        "stove",
    ),
    "place": (
        "harbour",
        "museum",
        "desert",
        "school",
        "station",
        "village",
        "hospital",
        "market",
        "forest",
        "theatre",
    ),
}


def simulate_instruction(prompt: str, model: str) -> str | None:
    """Make an instruction, and an answer if wanted.

    None if the prompt gives no instruction to start from.
    """
    first_tag = _TAG.search(prompt)
    if first_tag is None or first_tag[1] != _GIVEN:  # later ones may be of a text that is judged
        return None
    given = between(prompt, _GIVEN)
    if not given:
        return None
    digits = iter(digest_of(model, given))
    frame = _FRAMES[next(digits) % len(_FRAMES)]
    made = {
        "instruction": frame.format(
            **{name: words[next(digits) % len(words)] for name, words in _WORDS.items()}
        )
    }
    if '"answer":' in prompt.partition(f"<{_GIVEN}>")[0]:
        made["answer"] = "Simulated: there is no answer to this."
    return json.dumps(made, ensure_ascii=False)
