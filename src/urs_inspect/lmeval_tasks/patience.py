"""How long a judge is asked."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")


class Patience:
    """Asks a judge until it has failed so many answers in a row, or until somebody interrupts.

    Args:
        give_up: How many answers in a row; 0 for any number.

    Attributes:
        over: Why the judge is not asked any more; empty while it is.
    """

    def __init__(self, give_up: int) -> None:
        self._give_up, self._failed = give_up, 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: set[asyncio.Future[Any]] = set()
        self.over = ""

    async def wait_for(self, asking: Callable[[], Awaitable[_Result]]) -> _Result | None:
        """Ask, if that is still wanted.

        Args:
            asking: Makes the call.

        Returns:
            What it returns; None if it was not begun, or was ended by an interrupt.
        """
        if self.over:
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
        """Take note of an answer about which the judge was asked.

        Args:
            failed: Whether there was no reply at all.
            why: What went wrong.
        """
        self._failed = self._failed + 1 if failed else 0
        if self._give_up and self._failed >= self._give_up and not self.over:
            self.over = f"The judge was not asked, since it failed {self._failed} times in a row; last: {why}"

    def interrupt(self) -> None:
        """Ask no more, and end what is under way. For a handler of signals, from any thread."""
        self.over = "The judge was not asked, since judging was interrupted."
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end)

    def _is_interrupt(self) -> bool:
        """Whether only the call was ended, and not all that waits for it."""
        waiting = asyncio.current_task()
        return bool(self.over) and waiting is not None and not waiting.cancelling()

    def _end(self) -> None:
        for task in self._under_way:
            task.cancel()
