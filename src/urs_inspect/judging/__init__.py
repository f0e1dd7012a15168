"""Judging without a harness: building prompts, reading replies, naming failures."""

from urs_inspect.judging.explain import explain
from urs_inspect.judging.outcomes import ASK_AGAIN, FAILURE_MODES, FailureMode, JudgeFailure, ScoreRecord
from urs_inspect.judging.prompt import PLACEHOLDER, JudgePrompt, PromptBuilder, neutralise
from urs_inspect.judging.reply import read_reply

__all__ = [
    "ASK_AGAIN",
    "FAILURE_MODES",
    "PLACEHOLDER",
    "FailureMode",
    "JudgeFailure",
    "JudgePrompt",
    "PromptBuilder",
    "ScoreRecord",
    "explain",
    "neutralise",
    "read_reply",
]
