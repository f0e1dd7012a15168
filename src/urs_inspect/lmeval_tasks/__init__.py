"""The benchmarks as tasks of lm-evaluation-harness.

What imports it is loaded only by its own command or by lm-eval.
"""

from pathlib import Path


def tasks_path() -> str:
    """The folder for `--include_path` of lm-eval."""
    return str(Path(__file__).resolve().parent)
