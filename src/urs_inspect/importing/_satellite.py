"""What importing adds: a command, and what `urs-inspect check` recognises with it."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    offers={"importable files": {"importing": "importing._recognition:importable"}},
    commands={
        "Data": {
            "import": (
                "importing._commands:import_",
                "Make logs of answers and verdicts that exist already.",
            )
        }
    },
)
