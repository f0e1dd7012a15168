"""Judging without a harness: building prompts, reading replies, naming failures."""

from urs_inspect.judging.answers import Answer, AnswerJudging, Judge, check_temperature
from urs_inspect.judging.asking import (
    TINY_REQUEST,
    UNKNOWN,
    Call,
    CallsStopped,
    Message,
    Reply,
    Temperature,
    messages_of,
    stopped,
)
from urs_inspect.judging.circuit_breaker import CircuitBreaker
from urs_inspect.judging.explain import explain
from urs_inspect.judging.failed_call import describe_error
from urs_inspect.judging.frames import JudgePrompt
from urs_inspect.judging.judgement import Judged, Judgement
from urs_inspect.judging.outcomes import (
    ASK_AGAIN,
    CUT_OFF,
    FAILURE_MODES,
    NO_RESPONSE,
    SCORED_OUTCOMES,
    FailureMode,
    JudgeFailure,
    ScoreRecord,
)
from urs_inspect.judging.pair_prompt import (
    RATING_PLACEHOLDER,
    WINNER,
    WINNER_WITHOUT_TIE,
    dimension_prompt,
    joint_prompt,
    overall_prompt,
    rating_prompt,
)
from urs_inspect.judging.pair_reply import OVERALL, PENDING, REPLIES, Verdicts, read_verdict, read_verdicts
from urs_inspect.judging.prompt import PLACEHOLDER, PromptBuilder, neutralise
from urs_inspect.judging.rating_reply import read_rating
from urs_inspect.judging.reply import read_reply
from urs_inspect.judging.verdict_words import Shown

__all__ = [
    "ASK_AGAIN",
    "CUT_OFF",
    "FAILURE_MODES",
    "NO_RESPONSE",
    "OVERALL",
    "PENDING",
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
    "CallsStopped",
    "CircuitBreaker",
    "FailureMode",
    "Judge",
    "JudgeFailure",
    "JudgePrompt",
    "Judged",
    "Judgement",
    "Message",
    "PromptBuilder",
    "Reply",
    "ScoreRecord",
    "Shown",
    "Temperature",
    "Verdicts",
    "check_temperature",
    "describe_error",
    "dimension_prompt",
    "explain",
    "joint_prompt",
    "messages_of",
    "neutralise",
    "overall_prompt",
    "rating_prompt",
    "read_rating",
    "read_reply",
    "read_verdict",
    "read_verdicts",
    "stopped",
]
