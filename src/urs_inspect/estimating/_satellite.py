"""What estimating adds: a command."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    commands={
        "Before a run": {
            "estimate": (
                "estimating._commands:estimate",
                "Tokens and cost of a run, before anything is spent.",
            )
        }
    },
)
