"""Names that distinguish the logs of one judge."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from inspect_ai.log import EvalLog

CREATED = "created"
FILE = "file"
"""Facts in which two logs nearly always differ, and which describe nothing else."""

_BARE = ("protocol", "orders", "rubric", CREATED, FILE)
"""Facts whose value is clear without their name."""
STRUCTURED = "structured"
"""Argument of tasks that judge, and fact of their scores."""
_SPEED = {
    "max_connections",
    "adaptive_connections",
    "max_retries",
    "timeout",
    "attempt_timeout",
    "stream_idle_timeout",
    "batch",
    "cache",
    "cache_prompt",
}
"""Settings that change how fast a run is, and not its result."""
_SECRET = re.compile(
    r"key|auth|secret|password|credential|(?<!max_)(?<!reasoning_)token", re.IGNORECASE
)


def structured_of(facts: Iterable[Mapping[str, Any]]) -> str | None:
    """Whether judges were asked by a schema: `true`, `in part`, or None for never.

    `facts` is the metadata of scores.
    """
    asked: set[bool] = set()
    for known in facts:
        given = known.get(STRUCTURED)
        if isinstance(given, bool):
            asked.add(given)
        elif isinstance(given, list):  # of a pair, which may be shown twice
            asked.update(map(bool, given))
        elif isinstance(given, int):  # the number of judges that were asked so
            judges = known.get("judge_finals")
            asked.add(given > 0)
            if isinstance(judges, list) and given < len(judges):
                asked.add(False)
    if True not in asked:
        return None
    if False in asked:
        return "in part"
    return "true"


def distinct_names(judges: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Shortest distinct names of logs, each given by its judge and its facts by name.

    The judge alone where it has one log, else with the facts in which its logs differ; time or file
    of the log, and at last a number, only where no other fact distinguishes them.
    """
    names = []
    for judge, facts in judges:
        alike = [other for name, other in judges if name == judge]
        distinguishing = [_fact(name, facts) for name in _differing(alike)]
        names.append(_with(judge, distinguishing))
    for fact in (CREATED, FILE):  # unless it is the same for all logs that share the name
        given = [facts.get(fact, "") for _, facts in judges]
        values = defaultdict[str, set[str]](set)
        for name, value in zip(names, given, strict=True):
            values[name].add(value)
        for place, value in enumerate(given):
            name = names[place]
            if len(values[name]) > 1:
                names[place] = _with(name, [value])
    logs = Counter(names)
    seen = Counter[str]()
    for place, name in enumerate(names):
        if logs[name] > 1:
            seen[name] += 1
            names[place] = f"{name} #{seen[name]}"
    return names


def model_names(given: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Distinct names of models that differ by name or settings; equal ones share a name."""
    different = [model for place, model in enumerate(given) if model not in given[:place]]
    names = distinct_names(different)
    return [whole_characters(names[different.index(model)]) for model in given]


def version_number(version: str) -> str:
    """The part of a task's version that changes when scores do: `1` of `1-A`."""
    return version.partition("-")[0]


def sounds_secret(name: str) -> bool:
    """Whether a value of this name may be a secret, which must not be shown."""
    return _SECRET.search(name) is not None


def public(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are known and no secret."""
    return {
        name: value
        for name, value in values.items()
        if value is not None and not sounds_secret(name)
    }


def model_settings(log: EvalLog) -> dict[str, Any]:
    """Settings of the model under test that may change its answers, such as temperature."""
    # As inspect-ai merges them: those of the task, or of `eval`, override the model's own.
    config = log.eval.model_generate_config.merge(log.plan.config)
    given = {**log.eval.model_args, **config.model_dump(exclude_none=True)}
    return {
        name: value
        for name, value in given.items()
        if name not in _SPEED and not sounds_secret(name)
    }


def whole_characters(text: str) -> str:
    """The text with a question mark for each lone surrogate.

    A log may hold one, and a table may not.
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def with_whole_characters(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a table whose texts have a question mark for each lone surrogate."""
    whole = []
    for row in rows:
        whole.append({column: _whole(value) for column, value in row.items()})
    return whole


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, Mapping):
        return {_whole(name): _whole(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_whole, value))
    return value


def _differing(logs: Sequence[Mapping[str, str]]) -> list[str]:
    known = dict.fromkeys(chain.from_iterable(logs))
    differing = []
    for name in known:
        if name in (CREATED, FILE):
            continue
        values = {facts.get(name) for facts in logs}
        if len(values) > 1:
            differing.append(name)
    return differing


def _fact(name: str, facts: Mapping[str, str]) -> str:
    if name not in facts:
        return f"no {name}"
    value = facts[name]
    if name in _BARE:
        return value
    return f"{name}={value}"


def _with(name: str, more: Sequence[str]) -> str:
    if not more:
        return name
    added = ", ".join(more)
    if name.endswith(")"):
        return f"{name[:-1]}, {added})"
    return f"{name} ({added})"


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Names of models without their providers, where that leaves no two equal."""
    short = {}
    for model in models:
        # settings, as in `openai/gpt-4o (temperature=1)`
        bare, bracket, settings = model.partition(" (")
        name = bare.rpartition("/")[2]
        short[model] = name + bracket + settings if name else model
    counts = Counter(short.values())
    distinct = {}
    for model, name in short.items():
        distinct[model] = model
        if counts[name] == 1:
            distinct[model] = name
    return distinct
