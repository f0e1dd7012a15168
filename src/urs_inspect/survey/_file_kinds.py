"""Kinds of files that `urs-inspect check` knows with the survey, as its own table has them."""

from pathlib import Path

from urs_inspect.rubrics import Rubric
from urs_inspect.survey._case_file import Survey
from urs_inspect.survey._commands import vocabulary_of
from urs_inspect.survey._survey import read_survey


def read_survey_file(path: Path, rubric: Rubric) -> Survey:
    """Read a survey with the names of a rubric."""
    return read_survey(path, vocabulary_of(rubric))


KINDS = {
    "survey_columns": ("columns", "survey._survey.read_mapping", "path"),
    "survey": (
        "conversation|messages|transcript intent|user_intent",
        "survey._file_kinds.read_survey_file",
        "path rubric",
    ),
}
