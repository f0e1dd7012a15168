"""Stops calling a judge after failures in a row, or after an interrupt."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")


GIVE_UP = 20
"""Failures in a row after which a judge is no longer called."""


class CircuitBreaker:
    """Lets calls of a judge through until so many have failed in a row, or until somebody interrupts.

    Args:
        give_up: How many failures in a row stop the calls; 0 for no such limit.

    Attributes:
        stopped: Why the judge is no longer called; empty while it is.
    """

    def __init__(self, give_up: int = GIVE_UP) -> None:
        self._give_up, self._failed = give_up, 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: set[asyncio.Future[Any]] = set()
        self.stopped = ""

    async def wait_for(self, asking: Callable[[], Awaitable[_Result]]) -> _Result | None:
        """Make a call unless calls are stopped.

        Args:
            asking: Makes the call.

        Returns:
            What the call returns; None if it was not made, or was ended by an interrupt.
        """
        if self.stopped:
            return None
        self._loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(asking())
        self._under_way.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._is_interrupt():
                return None
            raise
        finally:
            self._under_way.discard(task)

    def note(self, failed: bool, why: str) -> None:
        """Take note of a call, or of all calls about one answer.

        Args:
            failed: Whether no reply came.
            why: What went wrong.
        """
        self._failed = self._failed + 1 if failed else 0
        if self._give_up and self._failed >= self._give_up and not self.stopped:
            self.stopped = f"Judging was stopped: the judge failed {self._failed} times in a row; last: {why}"

    def interrupt(self) -> None:
        """Stop calling, and end the calls under way. For a handler of signals, from any thread."""
        self.stopped = "Judging was interrupted."
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end)

    def _is_interrupt(self) -> bool:
        """Whether only the call was ended, and not all that waits for it."""
        waiting = asyncio.current_task()
        return bool(self.stopped) and waiting is not None and not waiting.cancelling()

    def _end(self) -> None:
        for task in self._under_way:
            task.cancel()
