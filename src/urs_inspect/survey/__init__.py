"""Cases from a survey of conversations (URS paper, section 3.2): reading, checking, removing
duplicates, describing.
"""

from urs_inspect.survey._case_file import REASONS, Dropped, Survey, SurveyCase
from urs_inspect.survey._survey import ColumnMap, SurveyOptions, read_mapping, read_survey

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
