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
_MAX_WORD = 60
_TAIL = re.compile(
    r"""\s{0,3}(?:(?:is|was)\s(?:the\s)?(?:clearly\s|slightly\s|much\s)?better|wins|更好|更佳|较好|胜出)?[.。]?\s{0,3}
        (?:\((?P<inside>[^()]*)\)?|(?:[:,;]\s?|(?<=\s)[-–—]\s)(?P<after>.*))?\Z""",
    re.VERBOSE,
)
"""What may follow the word: "1 (more complete)", "Response 1 is better"."""
_UNCLEAR = re.compile(
    r"\b(?:[12ab]|one|two|first|second|tied?|equal\w*|draw|same|similar\w*|both|neither|none|not?|or|but"
    r"|other|worse|worst|weaker|weakest|inferior|loses|lost|although|though|however|while|whereas|despite|yet|unlike)\b"
    r"|[一二两不平差弱逊输另虽但]|相"
)
"""A remark that speaks of another verdict, or takes the first one back, leaves open which one is meant."""


def read_word(value: object) -> Shown | None:
    """The response that a word or a number names as the better one; None if it names none, or says more than that."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value) if isinstance(value, int) and abs(value) < 10 else value
    if not isinstance(text, str) or len(text) > _MAX_WORD:
        return None
    plain = unicodedata.normalize("NFKC", text).casefold()
    match = _WORD.fullmatch(plain)
    if match is None:
        match = _WORD.match(plain)
        tail = _TAIL.match(plain, match.end()) if match else None
        if match is None or tail is None or _UNCLEAR.search(tail["inside"] or tail["after"] or ""):
            return None
    if match["tie"]:
        return "tie"
    return "1" if match["first"] or match["first_word"] else "2"
