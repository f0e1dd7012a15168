"""How models are named on the page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Name:
    """A model's name in two parts.

    Attributes:
        provider: Up to the last slash before any settings; may be empty.
        rest: What follows.
    """

    provider: str
    rest: str

    def __html__(self) -> str:
        """Markup in which the part that tells models apart stands out; it may break between the two."""
        if not self.provider:
            return str(Markup('<span class="name">{}</span>').format(self.rest))
        text = Markup('<span class="provider">{}<wbr></span><span class="name">{}</span>')
        return str(text.format(self.provider, self.rest))


def split_name(model: str) -> Name:
    """Take a name apart: `openai/gpt-4o (temperature=1)` -> `openai/` and `gpt-4o (temperature=1)`."""
    bare, bracket, settings = model.partition(" (")
    head, slash, tail = bare.rpartition("/")
    return Name(head + slash, tail + bracket + settings) if tail else Name("", model)


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Names without their providers, where that leaves no two equal."""
    short = {model: split_name(model).rest for model in models}
    counts = Counter(short.values())
    return {model: name if counts[name] == 1 else model for model, name in short.items()}
