"""What the survey adds: importing, reviewing and describing one's own cases."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    registers=("survey._case_review", "survey._review_task"),
    tasks={"urs_case_review": "survey._review_task:urs_case_review"},
    offers={
        "kinds of files": {"survey": "survey._survey:KINDS"},
        "simulated replies": {"urs_case_review": "survey._simulated_review:simulate_review"},
    },
    commands={
        "Data": {
            "cases": (
                "survey._commands:cases",
                "Cases of your own: import a survey, review, describe.",
            )
        }
    },
)
