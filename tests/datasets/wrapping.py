"""Wraps texts like the files of prometheus-eval do."""

TASK = "###Task Description:\nRate what stands below from 1 to 5.\n\n"
RUBRICS = "###Score Rubrics:\n[Is it good?]\nScore 1: No.\nScore 5: Yes.\n\n###Feedback: "
PROMPT = "###The instruction to evaluate:"
RESPONSE = "###Response to evaluate:"
REFERENCE = "###Reference Answer (Score 5):"


def wrap(prompt: str, response: str, reference: str | None = None) -> str:
    shown = "" if reference is None else f"{REFERENCE}\n{reference}\n\n"
    return f"{TASK}{PROMPT}\n{prompt}\n\n{RESPONSE}\n{response}\n\n{shown}{RUBRICS}"
