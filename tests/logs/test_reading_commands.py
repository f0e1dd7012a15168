"""Which command reads which logs; what is said of others is tested with the reports that leave them out."""

import click

import urs_inspect.tasks as tasks
from urs_inspect.cli import main
from urs_inspect.logs.files import _COMMANDS, reading_command


def test_commands_and_tasks_exist() -> None:
    assert reading_command("urs_inspect/urs_assistants") == "urs-inspect assistants"
    assert reading_command("urs_inspect/evolve") == ""
    assert reading_command("inspect_evals/urs") == ""
    for task, command in _COMMANDS.items():
        assert hasattr(tasks, task)
        assert main.get_command(click.Context(main), command.split()[0]) is not None
