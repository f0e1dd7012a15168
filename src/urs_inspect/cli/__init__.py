"""The command `urs-inspect`, one command a file; a file is imported when its command is used."""

from importlib import import_module

import click

_COMMANDS = {
    "addition": "How long a chain of numbers models add up right.",
    "agreement": "Agreement of a judge's scores with those of people.",
    "annotate": "Vote on pairs of answers, in a browser.",
    "assistants": "Compare models, search engines and translators.",
    "cases": "Cases of your own: import a survey, review, describe.",
    "data": "List, fetch and verify the published data.",
    "demo": "Run URS with simulated models: no key, network or cost.",
    "estimate": "Tokens and cost of a run, before anything is spent.",
    "judges": "Compare judges: md_eval, judge_pairwise, judge_rating.",
    "probe": "Check a judge with answers that deserve a low score.",
    "rank": "Rank models by pairwise comparisons or votes.",
    "references": "Write the answers of a model as reference answers.",
    "report": "Report on runs of urs: one page, CSV, Markdown, JSON.",
    "robustness": "Whether scores hold for other judges and references.",
    "samer": "SaMer: check, export, score with and train checkpoints.",
    "table": "Scores by intent, language and criterion.",
}
"""Each command with its line in the help, in 80 columns uncut. The file and the command in it have the same name."""
_FILES = dict.fromkeys(("addition", "agreement", "assistants", "robustness"), "reports")
"""Commands that share a file."""
_RENAMED = {"crossval": "robustness"}
"""Old names, which work for one more release with a hint."""


class _CommandsOnUse(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if (name := _RENAMED.get(cmd_name, cmd_name)) not in _COMMANDS:
            return None
        if name != cmd_name:
            click.echo(f"`urs-inspect {cmd_name}` is now `urs-inspect {name}`; the old name will go.", err=True)
        command: click.Command = getattr(import_module(f"{__name__}.{_FILES.get(name, name)}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_CommandsOnUse, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="urs-inspect")
def main() -> None:
    """User-centred benchmarks and judges you can check, for inspect-ai."""


__all__ = ["main"]
