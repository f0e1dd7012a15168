"""Which cases a run asks, as far as that can be known while its task is made."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

import click
from inspect_ai.log import EvalConfig, read_eval_log

from urs_inspect.datasets import UrsCase

_COMMANDS = ("inspect_ai.", "urs_inspect.")
"""Whose options mean what the harness means by them."""

Choice = tuple[int, tuple[str, ...]]
"""Where a limit ends, 0 for none, and the ids that are chosen."""


def asked_cases(cases: Sequence[UrsCase]) -> list[UrsCase]:
    """The cases that `--limit` or `--sample-id` of the running command leaves, and those that come before them.

    The harness chooses samples after a task is made, and does not tell the task. While `inspect eval`, `eval-set`,
    `eval-retry` or `urs-inspect estimate` runs, their options are known all the same.

    Args:
        cases: All cases, in the order of the task.

    Returns:
        The beginning of the list up to the limit, so that the harness's choice from it is the one from all; or the
        cases with the ids. All cases if there would be none, or where nothing is known: in scripts, where samples are
        shuffled, or where a configuration file may say otherwise.
    """
    choices = _choices()
    if not choices or not all(limit or ids for limit, ids in choices):
        return list(cases)
    stop = max(limit for limit, _ in choices)
    patterns = [pattern for _, ids in choices for pattern in ids]
    return [
        case
        for place, case in enumerate(cases)
        if place < stop or any(fnmatch(case.id, pattern) for pattern in patterns)
    ] or list(cases)


def _choices() -> list[Choice]:
    """The choice of each run that the running command may make tasks for; none where it is not known."""
    context = click.get_current_context(silent=True)
    if context is None or not str(getattr(context.command.callback, "__module__", "")).startswith(_COMMANDS):
        return []
    options = context.params
    if "limit" in options:
        return [_of_options(options)]
    return [_of_config(read_eval_log(log, header_only=True).eval.config) for log in options.get("log_files", ())]


def _of_options(options: Mapping[str, Any]) -> Choice:
    if options.get("sample_shuffle") or options.get("run_config"):
        return 0, ()
    limit = str(options["limit"] or "").rpartition("-")[2]
    return int(limit) if limit.isdecimal() else 0, _patterns(str(options.get("sample_id") or "").split(","))


def _of_config(config: EvalConfig) -> Choice:
    if config.sample_shuffle not in (None, False):
        return 0, ()
    limit = config.limit[1] if isinstance(config.limit, tuple) else config.limit
    ids = config.sample_id if isinstance(config.sample_id, list) else [config.sample_id or ""]
    return limit or 0, _patterns(str(one) for one in ids)


def _patterns(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids with and without the task before the colon, with which the harness lets them begin."""
    named = [one.strip() for one in ids if one.strip()]
    return tuple(dict.fromkeys(part for one in named for part in (one, one.partition(":")[2]) if part))
