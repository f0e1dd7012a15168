"""Votes and verdicts that several files hold: each counts once."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from urs_inspect.rating.battles import Battle
from urs_inspect.texts import counted


@dataclass(frozen=True)
class Found:
    """A battle, and what tells that it is there already.

    Attributes:
        battle: The battle.
        identity: What it shares with the same vote in another file; empty if it is not known.
        key: Its ballot and epoch, in a log.
        copied: Whether it was taken over from an earlier run.
    """

    battle: Battle
    identity: str = ""
    key: str = ""
    copied: bool = False


def unrepeated(files: Iterable[Sequence[Found]], say: Callable[[str], None]) -> Iterator[Found]:
    """Leave out what an earlier file holds as often.

    Args:
        files: What each file holds, in order. Equal votes of one file are two votes.
        say: Takes a line about how many were left out.
    """
    held: Counter[str] = Counter()
    repeated = 0
    for found in files:
        here: Counter[str] = Counter()
        for one in found:
            here[one.identity] += 1
            if one.identity and here[one.identity] <= held[one.identity]:
                repeated += 1
            else:
                yield one
        held |= here
    if repeated:
        say(f"left out {counted(repeated, 'vote')} that an earlier file holds as well")


def once(found: Iterable[Found]) -> list[Battle]:
    """Leave out what a run took over from an earlier one, if it is there already."""
    everything = list(found)
    known = {one.key for one in everything if not one.copied}
    battles: list[Battle] = []
    for one in everything:
        if one.copied and one.key in known:
            continue
        if one.copied:
            known.add(one.key)
        battles.append(one.battle)
    return battles


def of_run(found: Sequence[Found], run: str) -> Iterator[Found]:
    """Tell verdicts of one run from those of others.

    A log that was judged anew holds other verdicts, and then all of them count beside the first.

    Args:
        found: The verdicts of a log.
        run: Id of the run; empty if it is not known, and then nothing is a repetition.
    """
    verdicts = hashlib.sha256("\n".join(sorted(one.identity for one in found)).encode()).hexdigest()
    for one in found:
        yield replace(one, identity=f"{run}/{verdicts}/{one.identity}" if run else "")
