"""Which command reads the logs of which task."""

from collections import Counter
from collections.abc import Sequence

from inspect_ai.log import EvalLog

PACKAGE = "urs_inspect/"
"""What the names of this package's tasks begin with."""

_COMMANDS = {
    "urs": "report",
    "urs_addition": "addition",
    "urs_assistants": "assistants",
    "urs_case_review": "cases review",
    "urs_crossval": "crossval",
    "urs_probe": "probe",
    "urs_references": "references",
    "md_eval": "judges",
    "judge_pairwise": "judges",
    "judge_rating": "judges",
    "mad": "rank",
}


def reading_command(task: str) -> str:
    """The command that reads the logs of a task, as `urs-inspect report`; empty if there is none."""
    command = _COMMANDS.get(task.removeprefix(PACKAGE)) if task.startswith(PACKAGE) else None
    return f"urs-inspect {command}" if command else ""


def of_other_tasks(logs: Sequence[EvalLog], task: str) -> str:
    """Say that logs were left out for their task, with counts and the commands that read them.

    Args:
        logs: At least one log.
        task: The task that they are not of.
    """
    tasks = Counter(log.eval.task for log in logs)
    named = [
        f"{count} of {name}" + (f" (`{command}` reads {'it' if count == 1 else 'them'})" if command else "")
        for name, count in sorted(tasks.items())
        for command in [reading_command(name)]
    ]
    were = "1 log was" if len(logs) == 1 else f"{len(logs):,} logs were"
    return f"{were} left out, not being of {task}: {', '.join(named)}."
