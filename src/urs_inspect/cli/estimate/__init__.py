"""`urs-inspect estimate`: tokens and cost of a run, before anything is spent."""

from urs_inspect.cli.estimate.command import estimate

__all__ = ["estimate"]
