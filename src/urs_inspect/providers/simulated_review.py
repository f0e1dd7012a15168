"""How the simulated models review questions: by simple rules on the text."""

import json
import re

from urs_inspect.judging.case_review_prompt import YES_OR_NO
from urs_inspect.providers.simulated_judgement import LABEL, between, key_in

_EXAMPLE = re.compile(r'"understandable":\s*"' + re.escape(YES_OR_NO))
_INTENT = re.compile(r"^- ([a-z][a-z0-9_]*)[:：]", re.MULTILINE)
_POINTS = ("understandable", "self_contained", "personal_data", "harmful")
_ELSEWHERE = re.compile(r"\b(?:above|attached|this picture|this file|previous)\b|上面|上文|附件|图中", re.IGNORECASE)
_LEAST = 4


def simulate_review(prompt: str) -> str | None:
    """Review a question: by its length, words that point elsewhere, and an at-sign; every intent is plausible.

    Args:
        prompt: All that the judge is sent.

    Returns:
        The reply; None if the prompt does not ask for a review.
    """
    if not _EXAMPLE.search(prompt):
        return None
    question = between(prompt, "question")
    intents = [name for name in _INTENT.findall(prompt.partition("<question>")[0]) if name not in _POINTS]
    verdicts = {
        "understandable": len(question) >= _LEAST,
        "self_contained": not _ELSEWHERE.search(question),
        "personal_data": "@" in question,
        "harmful": False,
    }
    record = {
        **key_in(prompt),
        **{name: "yes" if said else "no" for name, said in verdicts.items()},
        "intent": intents[len(question) % len(intents)],
        "plausible_intents": intents,
    }
    return f"{LABEL} By length and single words only.\n\n{json.dumps(record)}"
