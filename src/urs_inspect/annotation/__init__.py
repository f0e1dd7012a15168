"""The page where people compare answers, and their votes."""

from urs_inspect.annotation._agreement import Agreement, agreement, krippendorff_alpha, majorities
from urs_inspect.annotation._campaign import load_ballots
from urs_inspect.annotation._votes import Vote, VoteReading, VoteStore, read_votes

__all__ = [
    "Agreement",
    "Vote",
    "VoteReading",
    "VoteStore",
    "agreement",
    "krippendorff_alpha",
    "load_ballots",
    "majorities",
    "read_votes",
]
