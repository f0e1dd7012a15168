"""Cases out of a survey of conversations (URS paper, section 3.2): read, checked, freed of duplicates, described."""

from urs_inspect.datasets.survey.case_file import REASONS, Choices, Dropped, Survey, SurveyCase
from urs_inspect.datasets.survey.columns import Mapped, read_mapping
from urs_inspect.datasets.survey.survey import read_survey

__all__ = ["REASONS", "Choices", "Dropped", "Mapped", "Survey", "SurveyCase", "read_mapping", "read_survey"]
