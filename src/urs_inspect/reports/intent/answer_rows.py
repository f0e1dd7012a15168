"""Samples -> rows of the table of answers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary
from inspect_ai.model import ModelUsage
from inspect_ai.scorer import Score

from urs_inspect.logs.scores import cut_off, judgements, last_judgement, value_of
from urs_inspect.rubrics import FINAL

Usage = tuple[float, float, float]
"""Tokens sent, tokens received, US dollars; NaN where not known."""

_NOTHING: Usage = (0.0, 0.0, 0.0)
_UNKNOWN: Usage = (math.nan, math.nan, math.nan)


def split_usage(
    sample: EvalSampleSummary, log: EvalLog, judges: Sequence[str], whole: EvalSample | None = None
) -> tuple[Usage, Usage]:
    """Usage of the model under test and of its judges.

    Args:
        sample: Summary of the sample.
        log: Header of its log.
        judges: Those whose judgement counts.
        whole: The sample as a whole, which alone tells the two apart where a model judged itself without a role.

    Returns:
        Both. That of judges is not known where they judged an existing log: the log keeps that of its run.
    """
    if not sample.model_usage:
        return _UNKNOWN, _NOTHING if not judges else _UNKNOWN
    own = _own(sample, log)
    if not judges:
        return own, _NOTHING
    if len(judgements(sample)) > 1:
        return own, _UNKNOWN
    if judges_without_role(sample, log, judges):
        own = _UNKNOWN if whole is None or whole.output.usage is None else _usage(whole.output.usage)
        return own, _less(_usage(sample.model_usage.get(log.eval.model, ModelUsage())), own)
    role = next((role for role, names in role_models(log).items() if set(names) == set(judges)), None)
    used = sample.role_usage.get(role or "")
    if used is None:
        return own, _UNKNOWN
    sent, received, paid = _usage(used)
    # The harness adds up the costs that it knows, which of a panel may be some only.
    known = all(_priced(sample.model_usage[name]) for name in judges if name in sample.model_usage)
    return own, (sent, received, paid if known else math.nan)


def judges_without_role(sample: EvalSampleSummary, log: EvalLog, judges: Sequence[str]) -> bool:
    """Whether the model under test judged itself because no role was given."""
    return set(judges) == {log.eval.model} and not sample.role_usage and not role_models(log)


def role_models(log: EvalLog) -> dict[str, tuple[str, ...]]:
    """Names of the models of each role."""
    return {
        role: tuple(one.model for one in (models if isinstance(models, list) else [models]))
        for role, models in (log.eval.model_roles or {}).items()
    }


def _own(sample: EvalSampleSummary, log: EvalLog) -> Usage:
    model = log.eval.model
    if not any(model in names for names in role_models(log).values()):
        return _usage(sample.model_usage[model]) if model in sample.model_usage else _UNKNOWN
    # Usage of a model that has a role as well is counted once for both.
    everything = sum(sample.model_usage.values(), ModelUsage())
    return _less(_usage(everything), _usage(sum(sample.role_usage.values(), ModelUsage())))


def _usage(used: ModelUsage) -> Usage:
    sent = used.input_tokens + (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
    return float(sent), float(used.output_tokens), (used.total_cost or 0.0) if _priced(used) else math.nan


def _priced(used: ModelUsage) -> bool:
    return used.total_cost is not None or not used.total_tokens


def _less(total: Usage, part: Usage) -> Usage:
    return total[0] - part[0], total[1] - part[1], total[2] - part[2]


CRITERION = "criterion/"
"""What the names of columns of criteria begin with."""
ERROR, NOT_JUDGED = "error", "not_judged"
"""Outcomes: the sample failed; nobody scored it."""

NOT_SENT = " (not sent)"
"""What stands behind a judge's temperature that its provider's client did not send."""

Row = dict[str, Any]


def answer_row(sample: EvalSampleSummary, log: EvalLog, whole: EvalSample | None = None) -> Row:
    """Make the row of a sample.

    Args:
        sample: Its summary.
        log: Header of its log.
        whole: The sample as a whole, for what its summary lacks.

    Returns:
        Name of a column -> value, without the columns that are the same for the whole log.
    """
    score = last_judgement(whole or sample)
    facts = (score.metadata or {}) if score else {}
    finals = _judge_finals(facts) or []
    names = [name for name, _ in finals]
    panel = finals
    if not finals:  # an empty answer, for which no judge was called, has the judges of its run
        panel = [(whole_characters(str(name)), math.nan) for name in facts.get("judges_not_asked", ())]
    error = "" if sample.error is None else str(sample.error) or "unknown error"
    # A number beside an error is no score of the answer.
    counted = None if error else score
    own, judging = split_usage(sample, log, names, whole)
    row = {
        "question": str(sample.id),
        "epoch": sample.epoch,
        "intent": _fact(sample, "intent", "unknown"),
        "group": _fact(sample, "intent_group", _fact(sample, "intent", "unknown")),
        "language": _fact(sample, "language", "unknown"),
        "country": _fact(sample, "country", "").strip(),
        "final": math.nan if counted is None else value_of(counted, FINAL),
        **({} if counted is None else _criteria(counted)),
        "outcome": ERROR if error else NOT_JUDGED if score is None else str(facts.get("outcome", "unknown")),
        "cut_off": cut_off(facts),
        "judges": ", ".join(name for name, _ in panel),
        "judge_finals": dict(panel),
        "earlier_finals": _earlier_finals(judgements(whole or sample)),
        "judge_temperatures": _temperatures(facts),
        "self_judged": bool(facts.get("self_judged", False)),
        "judge_language": str(facts.get("judge_language", "")),
        "prompt_sha256": str(facts.get("prompt_sha256", "")),
        "rubric": str(facts.get("prompt_version", "")),
        "answer_length": _length(facts, whole),
        "input_tokens": own[0],
        "output_tokens": own[1],
        "judge_input_tokens": judging[0],
        "judge_output_tokens": judging[1],
        "cost": own[2],
        "judge_cost": judging[2],
        "seconds": _number(sample.working_time),
        "error": error,
    }
    return {name: whole_characters(value) if isinstance(value, str) else value for name, value in row.items()}


def whole_characters(text: str) -> str:
    """Put a question mark in place of halves of characters, which a log may hold and a table may not."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def needs_whole(sample: EvalSampleSummary, log: EvalLog) -> bool:
    """Whether the summary of a judged sample lacks something that the sample itself has."""
    score = last_judgement(sample)
    if score is None:
        return False
    facts = score.metadata or {}
    finals = _judge_finals(facts)
    if finals is None or "answer_length" not in facts:
        return True
    return judges_without_role(sample, log, [name for name, _ in finals])


def _judge_finals(facts: Mapping[str, Any]) -> list[tuple[str, float]] | None:
    """Each judge and its final score, NaN where it gave none; None if they are too long for a summary."""
    short, judges = facts.get("judge_finals"), facts.get("judges", [])
    if isinstance(short, list):
        return [(whole_characters(str(name)), _number(final)) for name, final in short]
    if not isinstance(judges, list):
        return None
    return [(whole_characters(str(one["judge"])), _number(one.get("final"))) for one in judges]


def _earlier_finals(scores: Sequence[Score]) -> tuple[float, ...]:
    """Final scores that the same judges gave the same answer before, in the same way."""
    *earlier, last = (_way(score) for score in scores) if scores else (None,)
    finals = [value_of(score, FINAL) for score, way in zip(scores, earlier, strict=False) if way == last]
    return tuple(final for final in finals if not math.isnan(final))


def _way(score: Score) -> tuple[object, ...]:
    facts = score.metadata or {}
    names = [name for name, _ in _judge_finals(facts) or []]
    return names, facts.get("prompt_sha256"), facts.get("judge_language"), _temperatures(facts).replace(NOT_SENT, "")


def _fact(sample: EvalSampleSummary, key: str, default: str) -> str:
    value = (sample.metadata or {}).get(key)
    return default if value is None else str(value)


def _criteria(score: Score) -> Row:
    keys = score.value if isinstance(score.value, dict) else {}
    return {CRITERION + key: value_of(score, key) for key in keys if key != FINAL}


def _temperatures(facts: Mapping[str, Any]) -> str:
    judges = facts.get("judges")
    if not isinstance(judges, list):
        return ""
    return ", ".join(map(_temperature, judges))


def _temperature(judge: Mapping[str, Any]) -> str:
    requested = judge.get("temperature_requested", judge.get("temperature"))  # the second in logs of version 0.1
    if requested is None:
        return "default"
    return f"{requested:g}{'' if judge.get('temperature_sent', requested) is not None else NOT_SENT}"


def _length(facts: Mapping[str, Any], whole: EvalSample | None) -> float:
    if "answer_length" in facts:
        return _number(facts["answer_length"])
    return math.nan if whole is None else float(len(whole.output.completion))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan
