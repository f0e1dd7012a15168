"""What the comparison of judges adds: a command."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    commands={
        "Judges": {
            "judges": (
                "judges._commands:judges",
                "Compare judges: md_eval, judge_pairwise, judge_rating.",
            )
        }
    },
)
