"""Judging without a harness: building prompts, reading replies, naming failures."""

from urs_inspect.judging.explain import explain
from urs_inspect.judging.frames import JudgePrompt
from urs_inspect.judging.outcomes import ASK_AGAIN, FAILURE_MODES, FailureMode, JudgeFailure, ScoreRecord
from urs_inspect.judging.pair_prompt import dimension_prompt, joint_prompt, overall_prompt, rating_prompt
from urs_inspect.judging.pair_reply import OVERALL, REPLIES, Shown, Verdicts, read_verdict, read_verdicts
from urs_inspect.judging.prompt import PLACEHOLDER, PromptBuilder, neutralise
from urs_inspect.judging.rating_reply import read_rating
from urs_inspect.judging.reply import read_reply

__all__ = [
    "ASK_AGAIN",
    "FAILURE_MODES",
    "OVERALL",
    "PLACEHOLDER",
    "REPLIES",
    "FailureMode",
    "JudgeFailure",
    "JudgePrompt",
    "PromptBuilder",
    "ScoreRecord",
    "Shown",
    "Verdicts",
    "dimension_prompt",
    "explain",
    "joint_prompt",
    "neutralise",
    "overall_prompt",
    "rating_prompt",
    "read_rating",
    "read_reply",
    "read_verdict",
    "read_verdicts",
]
