"""The command `urs-inspect`; the module of a command is imported when the command is used."""

import gc
from functools import cache
from typing import cast

import click

from urs_inspect._satellites import at, satellites

_OF_SATELLITE = ("", "")
"""Keeps the place of a satellite's command among those of core."""
_GROUPS = {
    "Results": {
        "report": ("cli._reports", "Report on runs of urs: one page, CSV, Markdown, JSON."),
        "table": ("cli._reports", "Scores by intent, language and criterion."),
        "robustness": ("cli._reports", "Whether scores hold for other judges and references."),
        "rank": ("cli._rank", "Rank models by pairwise comparisons or votes."),
    },
    "Before a run": {
        "demo": ("cli._start", "Run URS with simulated models: no key, network or cost."),
        "new": ("cli._start", "Write a rubric, cases or pairs of your own to start from."),
        "check": _OF_SATELLITE,
        "estimate": _OF_SATELLITE,
    },
    "Judges": {
        "judges": _OF_SATELLITE,
        "probe": ("cli._probe", "Check a judge with answers that deserve a low score."),
    },
    "People": {
        "annotate": ("cli._annotate", "Vote on pairs of answers, or rate answers, in a browser."),
        "agreement": _OF_SATELLITE,
    },
    "Data": {
        "data": ("cli._data", "List, fetch and verify the published data."),
        "import": _OF_SATELLITE,
        "references": ("cli._data", "Write the answers of a model as reference answers."),
    },
}
"""Purpose -> command -> the module that holds it, and its line in the help, which fits 80
columns.
"""
_START = (
    "urs-inspect demo",
    "inspect eval urs_inspect/urs -T dataset=sample --model A --model-role grader=B",
    "urs-inspect report logs",
)
_RENAMED = {
    "crossval": "robustness",
    "addition": "paper addition",
    "assistants": "paper assistants",
}
"""Old names, which work for one more release with a hint."""
_FORMER = {
    "--answer-tokens": "--from answer=TOKENS",
    "--attention": "the key `attention` in the file of --columns",
    "--backbone": "-S backbone=DIR",
    "--coefficients": "--control FILE",
    "--final-only": "--hide criteria",
    "--host": "--address HOST:PORT",
    "--human-scale": "--scale",
    "--judge-tokens": "--from reply=TOKENS",
    "--log-dir": "INSPECT_LOG_DIR=DIR before the command, for probe",
    "--no-reference": "--hide reference",
    "--port": "--address HOST:PORT",
    "--questions-language": "--language CODE",
    "--ratings": "--votes DIR",
    "--tokenizer": "--from PATH",
    "--value": "--scorer NAME:KEY",
    "--viewer": "--answers viewer",
}
"""Former options -> what to write now."""


@cache
def _groups() -> dict[str, dict[str, tuple[str, str]]]:
    """Purpose -> command -> its address and its line in the help, of core and satellites."""
    groups: dict[str, dict[str, tuple[str, str]]] = {}
    for purpose, commands in _GROUPS.items():
        groups[purpose] = {
            name: (f"{module}:{name}", line) for name, (module, line) in commands.items()
        }
    for satellite in satellites():
        for purpose, added in satellite.commands.items():
            groups.setdefault(purpose, {}).update(added)
    return {purpose: _taken(commands) for purpose, commands in groups.items()}


def _taken(commands: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Commands without the place of one whose satellite is not there."""
    return {name: (address, line) for name, (address, line) in commands.items() if line}


@cache
def _commands() -> dict[str, str]:
    """Command -> its address."""
    addresses: dict[str, str] = {}
    for commands in _groups().values():
        for name, (address, _) in commands.items():
            addresses[name] = address
    return addresses


class _CommandsOnUse(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name, *below = _RENAMED.get(cmd_name, cmd_name).split()
        if name not in _commands():
            return None
        if cmd_name in _RENAMED:
            click.echo(
                f"`urs-inspect {cmd_name}` is now `urs-inspect {_RENAMED[cmd_name]}`; the old name"
                " will go.",
                err=True,
            )
        command: click.Command = at(_commands()[name])
        for one in below:
            command = cast(click.Group, command).commands[one]
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            if error.option_name not in _FORMER:
                raise
            hint = f"{error.message} Write {_FORMER[error.option_name]}."
            raise click.UsageError(hint, error.ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _commands()))  # the same column of lines in all groups
        for purpose, commands in _groups().items():
            with formatter.section(purpose):
                formatter.write_dl(
                    [(command.ljust(width), line) for command, (_, line) in commands.items()]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Start with"):
            for line in _START:
                formatter.write(f"  {line}\n")


@click.group(cls=_CommandsOnUse, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="urs-inspect")
def main() -> None:
    """User-centred benchmarks and judges you can check, for inspect-ai."""
    gc.set_threshold(
        100_000, 20, 20
    )  # searching what was imported and read for garbage again and again takes long


__all__ = ["main"]
