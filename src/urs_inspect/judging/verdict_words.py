"""What a judge's word says about two responses."""

import re
import unicodedata
from typing import Literal

Shown = Literal["1", "2", "tie"]
"""The better response as it was shown, first or second."""

_WORD = re.compile(
    r"""[\s"'*_`\[(#]{0,9}
        (?:(?:(?:response|dialogue|answer|assistant|回答|助手|回复)[\s_-]{0,3})?(?:(?P<first>1|a)|(?P<second>2|b))
          |(?P<first_word>first|第一个(?:回答)?)|(?P<second_word>second|第二个(?:回答)?)
          |(?P<tie>tied?|equal|draw|same|both|neither|平局|平手|相当))
        [\s"'*_`\]).]{0,9}""",
    re.VERBOSE,
)
_MAX_WORD = 40


def read_word(value: object) -> Shown | None:
    """The response that a word or a number names as the better one; None if it names none, or says more than that."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value) if isinstance(value, int) and abs(value) < 10 else value
    if not isinstance(text, str) or len(text) > _MAX_WORD:
        return None
    match = _WORD.fullmatch(unicodedata.normalize("NFKC", text).casefold())
    if match is None:
        return None
    if match["tie"]:
        return "tie"
    return "1" if match["first"] or match["first_word"] else "2"
