"""What is kept of a judged answer, in samples of lm-eval and in files of `rejudge`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from urs_inspect.judging import NO_RESPONSE

_NAMES = ("response", "scores", "judge", "outcome", "explanation")
_CALL_FAILED = "call_failed"


@dataclass(frozen=True)
class Record:
    """What the log of samples keeps of a judged answer.

    Attributes:
        response: The answer.
        scores: `final` and the criteria of its intent, 1 to 10, or for SaMer `overall` and dimensions, 0 to 1; None if
            it could not be scored.
        judge: Who judged.
        outcome: How the judging ended.
        explanation: Reasons, or what went wrong.
        facts: Everything else.
    """

    response: str
    scores: dict[str, float] | None
    judge: str
    outcome: str
    explanation: str
    facts: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """As a text, which lm-eval keeps as it is."""
        return json.dumps({**{name: getattr(self, name) for name in _NAMES}, **self.facts}, ensure_ascii=False)

    @property
    def is_empty(self) -> bool:
        """Whether the answer was empty, for whatever reason."""
        return self.outcome in NO_RESPONSE

    @property
    def call_failed(self) -> bool:
        """Whether no reply of the judge came at all."""
        return self.outcome == f"unscored_{_CALL_FAILED}"

    @property
    def not_asked(self) -> bool:
        """Whether the judge was no longer asked."""
        return bool(self.facts.get("not_asked"))

    @property
    def why(self) -> str:
        """What went wrong, in one line without markup."""
        judges = self.facts.get("judges") or [{}]
        return " ".join(str(judges[-1].get("failure_detail") or self.explanation).split())


def read_record(text: object) -> Record | None:
    """Read what `Record.to_json` has written.

    Args:
        text: The text; whatever else stands in its place in the samples of a run that did not judge, is none.

    Returns:
        The record; None if it is none.
    """
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if not isinstance(found, dict) or not set(_NAMES) <= set(found) or not _are_scores(found["scores"]):
        return None
    facts = {name: value for name, value in found.items() if name not in _NAMES}
    return Record(facts=facts, **{name: found[name] for name in _NAMES})


def of_values(values: Mapping[str, float] | None) -> dict[str, float] | None:
    """Scores without those that are NaN, which are of other intents or were not given."""
    return None if values is None else {key: value for key, value in values.items() if value == value}


def call_failed(response: str, judge: str, why: str, **facts: Any) -> Record:
    """The record of an answer about which no reply of the judge came."""
    return Record(response, None, judge, f"unscored_{_CALL_FAILED}", why, {"failure_mode": _CALL_FAILED, **facts})


def _are_scores(value: object) -> bool:
    return value is None or (isinstance(value, dict) and all(isinstance(one, int | float) for one in value.values()))
