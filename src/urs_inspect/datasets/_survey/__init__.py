"""Cases from a survey of conversations (URS paper, section 3.2): reading, checking, describing."""

from urs_inspect.datasets._survey.case_file import REASONS, Dropped, Survey, SurveyCase
from urs_inspect.datasets._survey.survey import ColumnMap, SurveyOptions, read_mapping, read_survey

__all__ = [
    "REASONS",
    "ColumnMap",
    "Dropped",
    "Survey",
    "SurveyCase",
    "SurveyOptions",
    "read_mapping",
    "read_survey",
]
