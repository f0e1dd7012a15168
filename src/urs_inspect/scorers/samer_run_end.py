"""Closes SaMer's engines when a run of the harness ends, so that a GPU is free for what comes next."""

from inspect_ai.hooks import Hooks, RunEnd, hooks

from urs_inspect.samer.engines.shared import close_engines

_registered: list[type[Hooks]] = []


def close_after_run() -> None:
    """See to it that the run under way closes SaMer's engines when it ends, however it ends.

    Registered when an engine is used and not before, because the harness prints at the start of each command the hooks
    that it finds then.
    """
    if not _registered:
        _registered.append(hooks("samer_engines", "Closes SaMer's engines at the end of a run.")(_ClosingEngines))


class _ClosingEngines(Hooks):
    async def on_run_end(self, data: RunEnd) -> None:
        await close_engines()
