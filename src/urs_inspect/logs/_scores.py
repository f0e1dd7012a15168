"""What logs of answers hold beside them: scores, and the tokens and cost of models and judges."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary
from inspect_ai.model import ModelUsage
from inspect_ai.scorer import Score

from urs_inspect._util import InputError
from urs_inspect.judging._scores import as_number, last_score, scores_of_samples
from urs_inspect.logs._files import read_log

ASSISTANT = "assistant"
"""Key of a log's metadata that names what answered, where it is not the model alone."""
SIMULATED = "urs_simulation/"
"""What the name of a simulated model begins with."""

UNJUDGED = ("match", "includes", "pattern", "answer", "choice", "exact", "f1", "math")
"""Scorers of inspect-ai that call no model."""


def answered_by(log: EvalLog) -> str:
    """What gave the answers of a log: the model, an assistant in its place, or both."""
    facts = log.eval.metadata or {}
    assistant = str(facts.get(ASSISTANT, ""))
    if not assistant:
        return log.eval.model
    if log.eval.model.startswith("none/"):
        return assistant
    return f"{log.eval.model}, {assistant}"


def last_judgement(sample: EvalSample | EvalSampleSummary) -> Score | None:
    """The last score that `intent_judge` gave a sample."""
    return last_score(sample, "intent_judge")


def judgements(samples: Iterable[EvalSample | EvalSampleSummary]) -> list[list[Score]]:
    """All scores that `intent_judge` gave each sample, the first one first."""
    return scores_of_samples(samples, "intent_judge")


def value_of(score: Score | None, key: str) -> float:
    """One number of a score; NaN if it is not there."""
    if score is None or not isinstance(score.value, dict):
        return math.nan
    return as_number(score.value.get(key))


Used = Mapping[str, ModelUsage]
"""Model or role -> usage."""
Roles = Mapping[str, tuple[str, ...]]
"""Role -> names of its models."""


@dataclass(frozen=True)
class Usage:
    """Tokens sent, tokens received, and US dollars; NaN where not known."""

    sent: float = 0.0
    received: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            sent=self.sent + other.sent,
            received=self.received + other.received,
            cost=self.cost + other.cost,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            sent=self.sent - other.sent,
            received=self.received - other.received,
            cost=self.cost - other.cost,
        )


NOTHING = Usage()
UNKNOWN = Usage(math.nan, math.nan, math.nan)


def usage_of(used: ModelUsage) -> Usage:
    """Usage as inspect-ai counts it; what caches held was sent as well."""
    cache_read = used.input_tokens_cache_read or 0
    cache_write = used.input_tokens_cache_write or 0
    sent = used.input_tokens + cache_read + cache_write
    cost = math.nan
    if _priced(used):
        cost = used.total_cost or 0.0
    return Usage(float(sent), float(used.output_tokens), cost)


def role_models(log: EvalLog) -> dict[str, tuple[str, ...]]:
    """Role -> names of its models."""
    names = {}
    for role, given in (log.eval.model_roles or {}).items():
        models = given
        if not isinstance(models, list):
            models = [models]
        names[role] = tuple(model.model for model in models)
    return names


def is_simulated(log: EvalLog) -> bool:
    """Whether the model under test, or one in any role, is simulated."""
    in_roles = role_models(log).values()
    models = chain([log.eval.model], *in_roles)
    return any(SIMULATED in model for model in models)


def own_usage(log: EvalLog, models: Used, roles: Used) -> Usage:
    """Usage of the model under test, given that by model and by role."""
    model = log.eval.model
    if model not in chain(*role_models(log).values()):
        if model in models:
            return usage_of(models[model])
        return UNKNOWN
    # Usage of a model that has a role as well is counted once for both.
    return _usage_of_all(models) - _usage_of_all(roles)


def _usage_of_all(used: Used) -> Usage:
    return usage_of(sum(used.values(), ModelUsage()))


def usage_of_judges(judges: Sequence[str], models: Used, judging: ModelUsage) -> Usage:
    """Usage of judges together, which `judging` counts."""
    used = usage_of(judging)
    # inspect-ai adds up the costs that it knows, which of a panel may be some only.
    known = all(_priced(models[judge]) for judge in judges if judge in models)
    if known:
        return used
    return replace(used, cost=math.nan)


def _priced(used: ModelUsage) -> bool:
    return used.total_cost is not None or not used.total_tokens


# --- answers that `intent_judge` scored ---

_UNUSED = {"events", "messages", "store", "error_retries"}


@dataclass(frozen=True)
class ScoredAnswer:
    """A sample of a log and its scores by `intent_judge`."""

    sample: EvalSampleSummary
    whole: EvalSample | None  # the same sample, where a summary of the log lacks something
    summarized: Score | None  # the last score as the summary has it: the answer may be cut
    scores: Sequence[Score]  # all scores, the first one first
    finals: Sequence[tuple[str, float]]  # judges of the last score, as of `judge_finals`

    @property
    def judges(self) -> list[str]:
        """Names of the judges of the last score."""
        return [judge for judge, _ in self.finals]


def scored_answers(
    log: EvalLog, samples: Sequence[EvalSampleSummary], scores: Sequence[Sequence[Score]]
) -> list[ScoredAnswer]:
    """The answers of a log, by the summaries of its samples and their scores.

    Samples are read as a whole if a summary lacks something that is needed.
    """
    whole: dict[tuple[str, int], EvalSample] = {}
    complete = scores
    finals = _last_finals(scores)
    if _need_whole(log, samples, finals):
        whole = _whole_samples(log)
        whole_where_needed = [whole.get(_id(sample), sample) for sample in samples]
        complete = judgements(whole_where_needed)
        finals = _last_finals(complete)
    rows = zip(samples, scores, complete, finals, strict=True)
    return [
        ScoredAnswer(
            sample=sample,
            whole=whole.get(_id(sample)),
            summarized=summaries[-1] if summaries else None,
            scores=given,
            finals=of_judges or [],
        )
        for sample, summaries, given, of_judges in rows
    ]


def judge_finals(score: Score) -> list[tuple[str, float]] | None:
    """Each judge of a score and its final score, NaN where it gave none.

    None if they are too long for a summary.
    """
    facts = score.metadata or {}
    given = facts.get("judge_finals", [])
    if not isinstance(given, list):
        return None
    return [(str(name), as_number(final)) for name, final in given]


def usage_of_answers(log: EvalLog, answers: Iterable[ScoredAnswer]) -> list[tuple[Usage, Usage]]:
    """Usage of the model under test and of its judges, for each answer.

    The latter is unknown where they judged an existing log.
    """
    roles = role_models(log)
    return [_split_usage(log, roles, answer) for answer in answers]


def _id(sample: EvalSample | EvalSampleSummary) -> tuple[str, int]:
    return str(sample.id), sample.epoch


def _last_finals(scores: Iterable[Sequence[Score]]) -> list[list[tuple[str, float]] | None]:
    """The `judge_finals` of the last score of each answer; none without a score."""
    return [judge_finals(given[-1]) if given else [] for given in scores]


def _need_whole(
    log: EvalLog,
    samples: Sequence[EvalSampleSummary],
    finals: Sequence[list[tuple[str, float]] | None],
) -> bool:
    """Whether the summary of a judged sample lacks something that the sample itself has."""
    roles = role_models(log)
    return any(
        given is None
        or _judged_itself_without_role(log, roles, sample, [name for name, _ in given])
        for sample, given in zip(samples, finals, strict=True)
    )


def _whole_samples(log: EvalLog) -> dict[tuple[str, int], EvalSample]:
    try:
        samples = read_log(log.location, without=_UNUSED).samples or []
    except InputError:  # the summaries alone are better than nothing
        return {}
    return {_id(sample): sample for sample in samples}


def _split_usage(log: EvalLog, roles: Roles, answer: ScoredAnswer) -> tuple[Usage, Usage]:
    models = answer.sample.model_usage
    judges = answer.judges
    if not models:
        return UNKNOWN, UNKNOWN if judges else NOTHING
    own = own_usage(log, models, answer.sample.role_usage)
    if not judges:
        return own, NOTHING
    if len(answer.scores) > 1:
        return own, UNKNOWN
    if _judged_itself_without_role(log, roles, answer.sample, judges):
        # Only the whole sample separates answering from judging.
        own = UNKNOWN
        if answer.whole is not None and answer.whole.output.usage is not None:
            own = usage_of(answer.whole.output.usage)
        together = usage_of(models.get(log.eval.model, ModelUsage()))
        return own, together - own
    of_judges = (role for role, names in roles.items() if set(names) == set(judges))
    role = next(of_judges, "")
    used = answer.sample.role_usage.get(role)
    return own, usage_of_judges(judges, models, used) if used else UNKNOWN


def _judged_itself_without_role(
    log: EvalLog, roles: Roles, sample: EvalSampleSummary, judges: Sequence[str]
) -> bool:
    return not sample.role_usage and not roles and set(judges) == {log.eval.model}
