"""What the side studies of the papers add: sums, assistants, evolved instructions."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    registers=(
        "studies._assistants",
        "studies._evolve_instruction",
        "studies._evolved",
        "studies._exact_sum",
        "studies.evolve",
        "studies.urs_addition",
        "studies.urs_assistants",
    ),
    tasks={
        "evolve": "studies.evolve:evolve",
        "urs_addition": "studies.urs_addition:urs_addition",
        "urs_assistants": "studies.urs_assistants:urs_assistants",
    },
    commands={
        "Results": {
            "assistants": (
                "cli._reports:assistants",
                "Compare models, search engines and translators.",
            ),
            "addition": (
                "cli._reports:addition",
                "How long a chain of numbers models add up right.",
            ),
        }
    },
)
