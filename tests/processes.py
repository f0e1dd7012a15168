"""Commands in processes of their own, which have imported what commands import before they start.

A process that is forked from one server takes a tenth of a second; an interpreter that imports the
harness takes one and a half.
"""

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from multiprocessing.process import BaseProcess
from pathlib import Path

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        *(
            "inspect_ai._cli.main",
            "inspect_ai._view.view",
            # What every run imports.
            "inspect_ai.agent._acp.server",
            "inspect_ai.model._openai_responses",
            "inspect_ai.model._providers.anthropic",
            "openai",
            "uvicorn",
            "urs_inspect._registry",
        ),
        *("urs_inspect.cli._annotate", "urs_inspect.annotation._server"),
        "urs_inspect.reports.numbers._human_data",
    ]
)


def start(words: Sequence[str], environment: Mapping[str, str], output: Path) -> BaseProcess:
    """Begin a command, which leads a group of its own, in a new process.

    `words` are its name and arguments; `output` gets what it prints.
    """
    given = (list(words), dict(environment), output)
    process = _SERVER.Process(target=_run, args=given, daemon=True)
    process.start()
    return process


def _run(words: list[str], environment: dict[str, str], output: Path) -> None:
    os.setsid()
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = words
    [command] = entry_points(group="console_scripts", name=words[0])
    command.load()()
