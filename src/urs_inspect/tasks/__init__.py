"""What can be run; one benchmark a file."""

from urs_inspect.tasks.urs import urs
from urs_inspect.tasks.urs_probe import urs_probe

__all__ = ["urs", "urs_probe"]
