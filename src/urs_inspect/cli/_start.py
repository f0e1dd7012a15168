"""`urs-inspect demo` and `new`: a run with simulated models, and files to start from."""

import re
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

import click

from urs_inspect._util import InputError, choices
from urs_inspect.cli import main
from urs_inspect.cli._first_screen import Shown, shown_options
from urs_inspect.cli._reports import print_tables

_DEMO_LOGS = "logs/demo"


@click.command()
@shown_options
def demo(every: bool, only: str | None) -> None:
    """Run URS on the embedded cases with simulated models: no key, no network, no cost.

    Its logs go to logs/demo.
    """
    from inspect_ai import eval as inspect_eval

    from urs_inspect.providers import SIMULATION
    from urs_inspect.tasks import urs

    logs = inspect_eval(
        urs(dataset="sample"),
        model=[f"{SIMULATION}/strong", f"{SIMULATION}/weak"],
        model_roles={"grader": f"{SIMULATION}/judge"},
        log_dir=_DEMO_LOGS,
        tags=["simulation"],
        display="none",
    )
    failed = [log for log in logs if log.status != "success"]
    if failed:
        raise click.ClickException(
            f"the run ended with status '{failed[0].status}': {failed[0].error}"
        )
    answers = f"Every answer: {_inspect()} view --log-dir {_DEMO_LOGS}"
    everything = f"urs-inspect table {_DEMO_LOGS} --all"
    locations = [log.location for log in logs]
    print_tables(locations, Shown(every, only), [answers], everything)


def _inspect() -> str:
    """How a shell in this directory calls the harness of this environment, whether that is
    activated or not.
    """
    own = shutil.which("inspect", path=sysconfig.get_path("scripts"))
    if own is None:
        return shlex.join([sys.executable, "-m", "inspect_ai"])
    on_path = shutil.which("inspect")
    if on_path is not None and Path(on_path).samefile(own):
        return "inspect"
    below = Path(own).parent != Path.cwd() and Path(own).is_relative_to(Path.cwd())
    return shlex.quote(str(Path(own).relative_to(Path.cwd())) if below else own)


@click.command()
@click.argument("kind", type=click.Choice(["rubric", "cases", "pairs"]))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
def new(kind: str, folder: Path) -> None:
    """Write files to start from into DIR, and print the commands that run them.

    rubric: intents, criteria and bands of your own, the judge's prompt, and cases. cases: questions
    of your own users with reference answers, for the URS rubric. pairs: labelled pairs and rated
    answers, to test a judge.
    """
    package = Path(__file__).parents[1]
    sources = sorted((package / "cli" / "templates" / kind).iterdir())
    if kind == "rubric":  # a prompt to start from
        sources.append(package / "rubrics" / "urs" / "frame.en.jinja")
    contents = {folder / source.name: _without_missing_commands(source) for source in sources}
    if taken := [path for path in contents if path.exists() or path.is_symlink()]:
        raise InputError(
            f"nothing was written, because there is already {choices(taken)}; name another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            path.write_bytes(content.encode())
    except OSError as error:
        raise InputError(f"cannot write to '{folder}': {error.strerror or error}") from error
    commands = _without_missing_commands(package / "cli" / "templates" / f"{kind}.txt")
    commands = _HEADING_ALONE.sub("", commands).replace("{dir}", shlex.quote(str(folder)))
    click.echo(f"Wrote {choices(contents)}.\n\n{commands}", nl=False)


_COMMAND = re.compile(r"urs-inspect (\w+)")
_HEADING_ALONE = re.compile(r"^\S.*:\n\n", re.MULTILINE)
"""A heading, with the empty line after it, whose commands have all been left out."""


def _without_missing_commands(file: Path) -> str:
    """What is in a file, without lines that name a command of a satellite that is not there."""
    there = main.list_commands(click.get_current_context())
    lines = file.read_bytes().decode().splitlines(keepends=True)
    return "".join(line for line in lines if set(_COMMAND.findall(line)) <= set(there))
