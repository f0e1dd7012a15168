"""The command `urs-inspect`; the module of a command is imported when the command is used."""

import gc
from importlib import import_module

import click

_GROUPS = {
    "Results": {
        "report": ("reports", "Report on runs of urs: one page, CSV, Markdown, JSON."),
        "table": ("reports", "Scores by intent, language and criterion."),
        "compare": ("reports", "Compare models by logs of any task, paired by sample."),
        "robustness": ("reports", "Whether scores hold for other judges and references."),
        "assistants": ("reports", "Compare models, search engines and translators."),
        "addition": ("reports", "How long a chain of numbers models add up right."),
        "gate": ("reports", "Whether a new run may replace a base, as an exit code."),
        "rank": ("rank", "Rank models by pairwise comparisons or votes."),
    },
    "Before a run": {
        "demo": ("start", "Run URS with simulated models: no key, network or cost."),
        "new": ("start", "Write a rubric, cases or pairs of your own to start from."),
        "check": ("start", "Say what is wrong with your files, without a model."),
        "estimate": ("estimate", "Tokens and cost of a run, before anything is spent."),
    },
    "Judges": {
        "judges": ("judges", "Compare judges: md_eval, judge_pairwise, judge_rating."),
        "probe": ("judges", "Check a judge with answers that deserve a low score."),
    },
    "People": {
        "annotate": ("annotate", "Vote on pairs of answers, or rate answers, in a browser."),
        "agreement": ("reports", "Agreement of a judge's scores with those of people."),
    },
    "Data": {
        "data": ("data", "List, fetch and verify the published data."),
        "cases": ("cases", "Cases of your own: import a survey, review, describe."),
        "references": ("data", "Write the answers of a model as reference answers."),
    },
    "SaMer": {
        "samer": ("samer", "SaMer: check, export, score with and train checkpoints."),
    },
}
"""Purpose -> command -> the module that holds it, and its line in the help, which fits 80
columns.
"""
_COMMANDS = {command: entry for group in _GROUPS.values() for command, entry in group.items()}
_RENAMED = {"crossval": "robustness"}
"""Old names, which work for one more release with a hint."""


class _CommandsOnUse(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if (name := _RENAMED.get(cmd_name, cmd_name)) not in _COMMANDS:
            return None
        if name != cmd_name:
            click.echo(
                f"`urs-inspect {cmd_name}` is now `urs-inspect {name}`; the old name will go.",
                err=True,
            )
        module, _ = _COMMANDS[name]
        command: click.Command = getattr(import_module(f"{__name__}._{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))  # the same column of lines in all groups
        for purpose, commands in _GROUPS.items():
            with formatter.section(purpose):
                formatter.write_dl(
                    [(command.ljust(width), line) for command, (_, line) in commands.items()]
                )


@click.group(cls=_CommandsOnUse, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="urs-inspect")
def main() -> None:
    """User-centred benchmarks and judges you can check, for inspect-ai."""
    gc.set_threshold(
        100_000, 20, 20
    )  # searching what was imported and read for garbage again and again takes long


__all__ = ["main"]
