"""What becomes of the rows of a survey: cases, and rows that are dropped with a reason."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from urs_inspect.datasets.survey.columns import Mapped

FORMAT = "format"
ATTENTION = "attention check"
NO_QUESTION = "no question"
UNKNOWN_INTENT = "unknown intent"
AMBIGUOUS_INTENT = "ambiguous intent"
UNKNOWN_LANGUAGE = "unknown language"
PERSONAL = "personal data"
DUPLICATE = "duplicate of the same user"
NEAR_DUPLICATE = "near-duplicate of the same user"
NEAR_ACROSS = "near-duplicate across users"

REASONS = (
    FORMAT, ATTENTION, NO_QUESTION, UNKNOWN_INTENT, AMBIGUOUS_INTENT, UNKNOWN_LANGUAGE, PERSONAL,
    DUPLICATE, NEAR_DUPLICATE, NEAR_ACROSS,
)  # fmt: skip
"""Why a row may become no case, in the order in which it is looked at."""


@dataclass(frozen=True)
class Choices:
    """How a survey is read.

    Attributes:
        mapped: What columns and labels mean.
        language: Language of all questions; None to take it from the column, or from the script where that is blank.
        near: Least similarity of near-duplicates, 0.5 to 1.
        attention: Column -> value that it must have; case and edge whitespace do not matter.
        keep_flagged: Whether questions with personal data are kept, marked as such.
        fix_spelling: Whether an unknown intent or language is taken for the nearest known one.
    """

    mapped: Mapped = field(default_factory=Mapped)
    language: str | None = None
    near: float = 0.85
    attention: Mapping[str, str] = field(default_factory=dict)
    keep_flagged: bool = False
    fix_spelling: bool = False


@dataclass(frozen=True)
class SurveyCase:
    """A case out of a survey.

    Attributes:
        id: Stable id.
        question: The first valid question of the conversation, to the letter but for edge whitespace.
        reference: Reference answer; empty if the survey has none.
        intent: Intent id of the rubric.
        language: Language code of the rubric.
        country: Country of the user as the survey names it; empty if it does not say.
        service: Service that was asked; empty likewise.
        satisfaction: How satisfied the user was, as written; empty likewise.
        flags: Kinds of personal data that were found and kept on purpose.
    """

    id: str
    question: str
    reference: str
    intent: str
    language: str
    country: str = ""
    service: str = ""
    satisfaction: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dropped:
    """A row that became no case.

    Attributes:
        row: Line of the file that the row begins at.
        reason: One of `REASONS`.
        column: The column that is at fault; empty if it is the whole row.
        detail: What exactly, and what would be allowed; personal data masked.
        excerpt: Beginning of the question, personal data masked; empty if there is none, or for personal data.
    """

    row: int
    reason: str
    column: str
    detail: str
    excerpt: str = ""


@dataclass(frozen=True)
class Removed:
    """A case that a review took out.

    Attributes:
        id: Its id.
        faults: Why.
    """

    id: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Survey:
    """What became of a survey.

    Attributes:
        path: The file.
        sha256: Its hash.
        rows: Number of its rows.
        cases: The cases, in the order of the file.
        dropped: The other rows, in the order of the file.
        near: Least similarity of near-duplicates.
        respelt: Number of rows by column, label as written, and what it was taken for.
    """

    path: str
    sha256: str
    rows: int
    cases: tuple[SurveyCase, ...]
    dropped: tuple[Dropped, ...]
    near: float
    respelt: Mapping[tuple[str, str, str], int] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """Number of dropped rows by reason, those that occur."""
        found = Counter(one.reason for one in self.dropped)
        return {reason: found[reason] for reason in REASONS if found[reason]}
