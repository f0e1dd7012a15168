"""What an interrupt by the user (Ctrl-C) does while answers are judged."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging import getLogger
from types import FrameType

logger = getLogger(__name__)

_SAID = "Interrupted: judging ends with what is judged; once more to end everything and lose the answers"


@contextmanager
def interruptible(stop: Callable[[], None]) -> Iterator[None]:
    """While this lasts, the first interrupt calls `stop` and the second one ends the program as ever.

    In another thread than the main one, and where somebody else deals with interrupts or they are ignored, nothing is
    changed.

    Args:
        stop: Called between two steps of whatever runs.
    """
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    interrupts = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            signal.signal(signal.SIGINT, usual)
            raise KeyboardInterrupt
        stop()
        logger.warning(_SAID)

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is handle:
            signal.signal(signal.SIGINT, usual)
    if interrupts > 1:  # what was being ended may have swallowed it, in cleaning up
        raise KeyboardInterrupt
