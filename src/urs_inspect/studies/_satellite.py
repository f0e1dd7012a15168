"""What the side studies of the papers add: sums, assistants, evolved instructions."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    registers=(
        "studies._assistants",
        "studies._evolve_instruction",
        "studies._evolved",
        "studies._exact_sum",
        "studies._evolve_task",
        "studies._addition_task",
        "studies._assistants_task",
    ),
    tasks={
        "evolve": "studies._evolve_task:evolve",
        "urs_addition": "studies._addition_task:urs_addition",
        "urs_assistants": "studies._assistants_task:urs_assistants",
    },
    offers={
        "simulated replies": {
            "evolve": "studies._simulated_instruction:simulate_instruction",
        }
    },
    commands={
        "Results": {
            "paper": ("studies._commands:paper", "Sums and assistants, as in the papers' tables."),
        }
    },
)
