"""The page where people compare answers, and what becomes of their votes."""

from urs_inspect.annotation.agreement import (
    Agreement,
    AnnotatorReport,
    Majority,
    agreement,
    krippendorff_alpha,
    majorities,
)
from urs_inspect.annotation.ballot_files import load_ballots
from urs_inspect.annotation.votes import Undo, Vote, VoteReading, VoteStore, annotator_name, read_votes

__all__ = [
    "Agreement",
    "AnnotatorReport",
    "Majority",
    "Undo",
    "Vote",
    "VoteReading",
    "VoteStore",
    "agreement",
    "annotator_name",
    "krippendorff_alpha",
    "load_ballots",
    "majorities",
    "read_votes",
]
