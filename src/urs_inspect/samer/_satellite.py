"""What SaMer adds: a scorer, judges of pairs, annotation of pairs, and its commands."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    registers=(
        "samer._annotate_pair",
        "samer._scorer",
        "samer._annotate_task",
    ),
    tasks={"samer_annotate": "samer._annotate_task:samer_annotate"},
    offers={
        "judges of pairs": {
            "samer": "samer._pair_judge:samer_judge",
            "reward_model": "samer._pair_judge:reward_judge",
        },
        "evaluators of answers": {"samer": "samer._judgement:SamerEvaluator"},
        "arguments of tasks": {"samer": "samer._options:SamerOptions"},
        "scorers": {"samer": "samer._viewer:samer_scorer"},
    },
    commands={
        "SaMer": {
            "samer": (
                "samer._training_commands:samer",
                "SaMer: check, export, score with and train checkpoints.",
            )
        }
    },
)
