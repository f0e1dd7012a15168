"""What the comparison of any task's logs adds: three commands and a function."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    names={"compare": "comparison._compare:compare"},
    commands={
        "Results": {
            "compare": (
                "comparison._commands:compare",
                "Compare models by logs of any task, paired by sample.",
            ),
            "gate": (
                "comparison._commands:gate",
                "Whether a new run may replace a base, as an exit code.",
            ),
            "trust": (
                "comparison._commands:trust",
                "Which scores need no person, with a promise.",
            ),
        }
    },
)
