"""What checking adds: a command; other satellites offer it kinds of files that it knows then."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    commands={
        "Before a run": {
            "check": (
                "checking._commands:check",
                "Say what is wrong with your files, without a model.",
            )
        }
    },
)
