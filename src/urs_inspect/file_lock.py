"""One process at a time for a file: a lock on the file itself, without another file beside it."""

import os
import sys

if sys.platform == "win32":
    import errno
    import msvcrt

    # Far beyond any content, because Windows refuses reads of locked bytes.
    _BEYOND = 2**31 - 2
    _HELD = (errno.EACCES, errno.EDEADLK)

    def _lock(descriptor: int, wait: bool) -> None:
        while True:
            os.lseek(descriptor, _BEYOND, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                return
            except OSError as error:
                if error.errno not in _HELD:
                    raise
                if not wait:
                    raise BlockingIOError(error.errno, error.strerror) from None
                # LK_LOCK gives up after ten seconds.
else:
    import fcntl

    def _lock(descriptor: int, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_file(descriptor: int, *, wait: bool = False) -> None:
    """Lock an open file against all others that lock it, in this process and in others.

    The lock ends when the descriptor is closed, also when the process dies. It binds only those who ask for it:
    everybody can read the file, and write to it. On Windows the position in the file moves, so that one who writes must
    have opened it to append.

    Args:
        descriptor: A file open for writing.
        wait: Whether to wait, for as long as it takes, until nobody else has the lock.

    Raises:
        BlockingIOError: If another has it and `wait` is not set.
        OSError: If the file cannot be locked at all, as on some network file systems.
    """
    _lock(descriptor, wait)
