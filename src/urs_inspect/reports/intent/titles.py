"""What ids are called in English."""

from collections.abc import Iterable

import pandas as pd

from urs_inspect.reports.intent.question_table import Columns
from urs_inspect.rubrics import Rubric

_ENGLISH = "en"
_LANGUAGES = {"en": "English", "zh": "Chinese"}


def criteria_in_order(criteria: Iterable[str], rubric: Rubric) -> tuple[str, ...]:
    """Criteria in the order of the rubric, those that it does not know last."""
    there = list(criteria)
    known = [name for name in rubric.criteria if name in there]
    return (*known, *sorted(set(there) - set(known)))


def titles_of(columns: Columns, facts: pd.DataFrame, criteria: Iterable[str], rubric: Rubric) -> dict[str, str]:
    """Id of a reported intent, part, intent, language or criterion -> its English name.

    Args:
        columns: The columns of a block.
        facts: Its questions.
        criteria: Its criteria.
        rubric: Where names come from; ids that it does not know are shown with blanks for underlines.
    """
    titles = {group: group for group in columns.groups}
    titles |= {intent: _intent(intent, rubric) for intent in dict.fromkeys(facts["intent"])}
    for part in columns.parts:
        group, _, intent = part.rpartition(": ")
        titles[part] = f"{group}: {_intent(intent, rubric)}"
    titles |= {code: _language(code, rubric) for code in columns.languages}
    return titles | {name: _criterion(name, rubric) for name in criteria}


def _intent(name: str, rubric: Rubric) -> str:
    texts = rubric.intents[name].text if name in rubric.intents else {}
    return texts[_ENGLISH].name if _ENGLISH in texts else _plain(name)


def _criterion(name: str, rubric: Rubric) -> str:
    texts = rubric.criteria.get(name, {})
    return texts[_ENGLISH].name if _ENGLISH in texts else _plain(name)


def _language(code: str, rubric: Rubric) -> str:
    if code in _LANGUAGES:
        return _LANGUAGES[code]
    return rubric.languages[code].name if code in rubric.languages else code


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()
