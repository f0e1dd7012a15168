"""What an answer and its judgement took."""

import math
from collections.abc import Sequence

from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary
from inspect_ai.model import ModelUsage

from urs_inspect.reports.results import judgements

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
