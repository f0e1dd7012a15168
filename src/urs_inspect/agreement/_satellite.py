"""What agreement with people adds: a command, a function, and a kind of file."""

from urs_inspect._satellites import Satellite

KINDS = {
    "satisfaction": (
        "intent|user_intent satisfaction",
        "agreement._people:read_satisfaction",
        "path scale=1,5 rubric",
    ),
}
"""Kinds of files that `urs-inspect check` reads."""

SATELLITE = Satellite(
    names={"report_agreement": "agreement._from_logs:report_agreement"},
    offers={"kinds of files": {"agreement": "agreement._satellite:KINDS"}},
    commands={
        "People": {
            "agreement": (
                "agreement._commands:agreement",
                "Agreement of a judge's scores with those of people.",
            )
        }
    },
)
