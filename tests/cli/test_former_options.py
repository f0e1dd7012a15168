"""An option that a command had once is answered with what to write now."""

from collections.abc import Iterator

import click
import pytest

from tests.cli.conftest import Run
from tests.telling import tells
from urs_inspect.cli import _FORMER, main


def commands(group: click.Group) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command)
        else:
            yield command


@pytest.mark.satellites
@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("report --viewer logs", "--answers viewer"),
        ("annotate logs --questions-language zh", "--language CODE"),
        ("samer train a b --backbone c", "-S backbone=DIR"),
        ("cases import s.csv --attention a=b", "--columns"),
    ],
)
def test_a_former_option_is_answered_with_what_to_write(run: Run, words: str, hint: str) -> None:
    result = run(*words.split())
    assert result.exit_code == 2
    assert hint in result.output and "Did you mean" not in result.output


def test_an_option_that_never_was_is_left_to_click(run: Run) -> None:
    result = run("report", "--vewer")
    assert result.exit_code == 2 and "No such option" in result.output


@pytest.mark.satellites
def test_hints_name_options_that_there_are_in_place_of_options_that_there_are_not() -> None:
    options = [
        {name for parameter in command.params for name in parameter.opts}
        for command in commands(main)
    ]
    for former, hint in _FORMER.items():
        for word in hint.split():
            if word.startswith("-"):
                assert any(word in own and former not in own for own in options), (former, word)


@pytest.mark.satellites
@pytest.mark.parametrize(
    ("former", "now"), [("crossval", "robustness"), ("addition", "paper addition")]
)
def test_a_former_command_is_the_new_one_and_its_hint_is_no_part_of_the_output(
    run: Run, former: str, now: str
) -> None:
    old, new = run(former, "--help"), run(*now.split(), "--help")
    assert (old.exit_code, new.exit_code) == (0, 0)
    assert tells(old.stderr, f"urs-inspect {former}` ... `urs-inspect {now}`")
    assert new.stderr == ""
    # All but the line of its usage.
    assert old.stdout.splitlines()[1:] == new.stdout.splitlines()[1:]


def test_a_command_that_never_was_is_refused(run: Run) -> None:
    result = run("crossvalidate")
    assert result.exit_code == 2 and "crossvalidate" in result.output
