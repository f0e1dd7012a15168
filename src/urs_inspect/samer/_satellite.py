"""What SaMer adds: a scorer, judges of pairs, annotation of pairs, and its commands."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    registers=(
        "samer._annotate_pair",
        "samer._annotated_pair",
        "samer._scorer",
        "samer._annotate_task",
    ),
    tasks={"samer_annotate": "samer._annotate_task:samer_annotate"},
    commands={
        "SaMer": {
            "samer": (
                "samer._commands:samer",
                "SaMer: check, export, score with and train checkpoints.",
            )
        }
    },
)
