"""How simulated models review a question."""

import json
import re

from urs_inspect.providers._simulated_judgement import LABEL, between, key_in
from urs_inspect.survey._review_prompt import FLAGS, YES_OR_NO

_REVIEW_EXAMPLE = re.compile(r'"understandable":\s*"' + re.escape(YES_OR_NO))
_INTENT = re.compile(r"^- ([a-z][a-z0-9_]*)[:：]", re.MULTILINE)
_ELSEWHERE = re.compile(
    r"\b(?:above|attached|this picture|this file|previous)\b|上面|上文|附件|图中", re.IGNORECASE
)
_LEAST = 4


def simulate_review(prompt: str, model: str) -> str | None:
    """Review a question by its length, words that refer elsewhere, and an at-sign.

    The same for all models; None if no review is asked for.
    """
    instructions = prompt.partition("<question>")[0]
    if not _REVIEW_EXAMPLE.search(instructions):
        return None
    question = between(prompt, "question")
    intents = [name for name in _INTENT.findall(instructions) if name not in FLAGS]
    verdicts = {
        "understandable": len(question) >= _LEAST,
        "self_contained": not _ELSEWHERE.search(question),
        "personal_data": "@" in question,
        "harmful": False,
    }
    record = {
        **key_in(prompt),
        **{name: "yes" if verdict else "no" for name, verdict in verdicts.items()},
        "intent": intents[len(question) % len(intents)],
        "plausible_intents": intents,
    }
    return f"{LABEL} By length and single words only.\n\n{json.dumps(record)}"
