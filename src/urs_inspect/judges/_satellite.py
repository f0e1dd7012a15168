"""What judges compared and twins of answers add: a command and a task."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    registers=("judges._twins_scorer", "judges._twins_task"),
    tasks={"judge_twins": "judges._twins_task:judge_twins"},
    offers={
        "changes of answers": {"judge_twins": "judges._twin_shifts:read_largest"},
    },
    commands={
        "Judges": {
            "judges": (
                "judges._commands:judges",
                "Compare judges: md_eval, judge_pairwise, judge_rating.",
            )
        }
    },
)
