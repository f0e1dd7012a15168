"""Judging without a harness: building prompts, reading replies, naming failures."""

from urs_inspect.judging.answers import Answer, AnswerJudging, Judge, Judged, Judgement, check_temperature
from urs_inspect.judging.ask import (
    TINY_REQUEST,
    UNKNOWN,
    Call,
    CircuitBreaker,
    Message,
    Reply,
    messages_of,
    stopped,
)
from urs_inspect.judging.failures import (
    ASK_AGAIN,
    CUT_OFF,
    FAILURE_MODES,
    NO_RESPONSE,
    SCORED_OUTCOMES,
    JudgeFailure,
    ScoreRecord,
    describe_error,
)
from urs_inspect.judging.frames import JudgePrompt
from urs_inspect.judging.pair_reply import REPLIES
from urs_inspect.judging.prompts import (
    PLACEHOLDER,
    RATING_PLACEHOLDER,
    WINNER,
    WINNER_WITHOUT_TIE,
    PromptBuilder,
    dimension_prompt,
    joint_prompt,
    overall_prompt,
    rating_prompt,
)
from urs_inspect.judging.replies import read_rating
from urs_inspect.judging.score_reply import read_reply
from urs_inspect.judging.verdicts import OVERALL, Verdicts, read_verdict, read_verdicts

__all__ = [
    "ASK_AGAIN",
    "CUT_OFF",
    "FAILURE_MODES",
    "NO_RESPONSE",
    "OVERALL",
    "PLACEHOLDER",
    "RATING_PLACEHOLDER",
    "REPLIES",
    "SCORED_OUTCOMES",
    "TINY_REQUEST",
    "UNKNOWN",
    "WINNER",
    "WINNER_WITHOUT_TIE",
    "Answer",
    "AnswerJudging",
    "Call",
    "CircuitBreaker",
    "Judge",
    "JudgeFailure",
    "JudgePrompt",
    "Judged",
    "Judgement",
    "Message",
    "PromptBuilder",
    "Reply",
    "ScoreRecord",
    "Verdicts",
    "check_temperature",
    "describe_error",
    "dimension_prompt",
    "joint_prompt",
    "messages_of",
    "overall_prompt",
    "rating_prompt",
    "read_rating",
    "read_reply",
    "read_verdict",
    "read_verdicts",
    "stopped",
]
