"""Judging without a harness: building prompts, reading replies, naming failures."""

from urs_inspect.judging._answers import Answer, AnswerJudging, Judge, Judged, Judgement
from urs_inspect.judging._ask import Message, Reply
from urs_inspect.judging._failures import JudgeFailure, ScoreRecord
from urs_inspect.judging._frames import JudgePrompt
from urs_inspect.judging._prompts import PromptBuilder
from urs_inspect.judging._replies import read_rating
from urs_inspect.judging._score_reply import read_reply
from urs_inspect.judging._verdicts import read_verdict, read_verdicts

__all__ = [
    "Answer",
    "AnswerJudging",
    "Judge",
    "JudgeFailure",
    "JudgePrompt",
    "Judged",
    "Judgement",
    "Message",
    "PromptBuilder",
    "Reply",
    "ScoreRecord",
    "read_rating",
    "read_reply",
    "read_verdict",
    "read_verdicts",
]
