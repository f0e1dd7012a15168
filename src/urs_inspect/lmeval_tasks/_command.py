"""`urs-lm-eval`: lm-eval with the tasks of this package, and judging of what it has saved."""

import sys

from urs_inspect._util import InputError
from urs_inspect.lmeval_tasks import tasks_path

_INCLUDE = "--include_path"
_INSTALL = "lm-eval cannot be imported ({}): pip install 'urs-inspect[lm-eval]'"
_HELP = """urs-lm-eval: lm-evaluation-harness with URS and MD-Eval.

  urs-lm-eval run --tasks urs,md_eval ...   as lm_eval run, with the tasks of this package
  urs-lm-eval ls tasks                      as lm_eval ls
  urs-lm-eval rejudge FILES ...             judge saved answers again, or for the first time
  urs-lm-eval path                          folder of the tasks, for lm_eval --include_path
"""


def main() -> None:
    """Run the command."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(_HELP)
        return
    if arguments[0] == "path":
        sys.stdout.write(f"{tasks_path()}\n")
        return
    try:
        _run(arguments)
    except InputError as error:
        sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(1) from error


def _run(arguments: list[str]) -> None:
    try:
        from lm_eval.__main__ import cli_evaluate
    except ImportError as error:
        raise InputError(_INSTALL.format(error)) from error
    if arguments[0] == "rejudge":
        from urs_inspect.lmeval_tasks._rejudge import rejudge

        rejudge(arguments[1:], prog_name="urs-lm-eval rejudge")
        return
    if not any(argument.partition("=")[0] == _INCLUDE for argument in sys.argv):
        sys.argv += [_INCLUDE, tasks_path()]
    cli_evaluate()
