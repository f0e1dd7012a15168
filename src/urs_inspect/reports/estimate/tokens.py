"""How many tokens a text has."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from urs_inspect.errors import InputError
from urs_inspect.reports.estimate.amount import Amount

_WIDE = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF))
"""Chinese, Japanese and Korean characters and their punctuation."""
_PER_WIDE = Amount(0.6, 0.9, 1.4)
_PER_OTHER = Amount(0.2, 0.25, 0.3)
_PER_MESSAGE = 4
_RULE = (
    "Tokens are counted by rule, since no tokenizer was given (--tokenizer): {other.expected:g} for each character, "
    "{other.low:g} to {other.high:g}, and {wide.expected:g} for each Chinese, Japanese or Korean one, {wide.low:g} to "
    "{wide.high:g}. These rates are assumptions."
)


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens.

    Attributes:
        count: Text -> tokens.
        assumption: How they are counted, in a sentence.
    """

    count: Callable[[str], Amount]
    assumption: str

    def messages(self, *texts: str) -> Amount:
        """Tokens of messages, each with the few that mark it."""
        parts = [self.count(text) for text in texts if text]
        found = Amount.exactly(_PER_MESSAGE * len(parts))
        for part in parts:
            found += part
        return found


def count_by_rule(text: str) -> Amount:
    """Tokens of a text by its characters.

    Args:
        text: The text.

    Returns:
        A range, since tokenizers differ.
    """
    wide = sum(any(low <= ord(char) <= high for low, high in _WIDE) for char in text if char > "\u2e7f")
    return _PER_WIDE * float(wide) + _PER_OTHER * float(len(text) - wide)


def load_counter(tokenizer: Path | None) -> TokenCounter:
    """A counter of tokens.

    Args:
        tokenizer: `tokenizer.json` or the folder of a model that has one; None for the rule. Nothing is downloaded.

    Returns:
        The counter.

    Raises:
        InputError: If the tokenizer cannot be had.
    """
    if tokenizer is None:
        return TokenCounter(count_by_rule, _RULE.format(other=_PER_OTHER, wide=_PER_WIDE))
    file = tokenizer / "tokenizer.json" if tokenizer.is_dir() else tokenizer
    if not file.is_file():
        raise InputError(f"--tokenizer: no file '{file}'; allowed: a tokenizer.json, or a folder that has one")
    try:
        loaded = import_module("tokenizers").Tokenizer.from_file(str(file))
    except ImportError as error:
        raise InputError(f"--tokenizer needs the package tokenizers ({error}): pip install tokenizers") from error
    except Exception as error:  # the library raises plain Exception for whatever a file holds
        raise InputError(f"--tokenizer: cannot read '{file}': {error}") from error

    def count(text: str) -> Amount:
        return Amount.exactly(len(loaded.encode(text, add_special_tokens=False).ids))

    return TokenCounter(count, f"Tokens are counted with {file.name} of {file.parent.name}, for every model.")
