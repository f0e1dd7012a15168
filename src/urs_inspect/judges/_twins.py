"""Twins of answers: the same answer with one change, made by rule, to see what a judge makes of it.

Some changes add nothing for the user: a judge that raises its score for them rewards the change
itself. Others are flaws: a judge that does not lower its score has not noticed them.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any, Literal

import yaml

from urs_inspect._util import InputError, choices

Effect = Literal["nothing", "flaw"]
"""What a change is for the user."""

_TEXTS = Path(__file__).parent / "twins.yaml"
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_ALL_CODE = re.compile(rf"{_CODE.pattern}|`[^`\n]+`", re.DOTALL)
_CODE_LINE = re.compile(r"^\s*[{}\[\]<|]|[{};\\|]\s*$", re.MULTILINE)
"""A line of code without a fence, of JSON or of a table."""
_MARKER = re.compile(
    r"\s*(?:(?:[-*+•·–>]|#{1,6})\s+|(?:\*\*)?(?:\d{1,2}[.)、．](?!\d)|[(（]\d{1,2}[)）]|[a-z][.)]\s)\s*)*"
)
"""What stands before the text of a line: marks of lists and headings."""
_END = re.compile(r"[.!?]+[\"'”’)\]*_]*(?=\s)|[。！？；]+[”’」』）)*]*")
_NO_END = re.compile(r"(?:\b(?:[A-Z]|Dr|Mr|Mrs|Ms|St|vs|etc|Prof|No|e\.g|i\.e))\.$")
"""A full stop that ends an abbreviation, not a sentence."""
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.第])(?<!第 )\d+(?:[.,]\d+)*(?!\d*(?:st|nd|rd)\b)")
_LABEL = re.compile(r"[\W_]*(?:[A-Za-z]+ ?|[\u4e00-\u9fff]{1,4})?|.*\[[^\]]*")
_AFTER_LABEL = re.compile(r"\d+\s*[.)、．:：\]](?!\d)|\d+(?:\.\d+)+\s")
"""Before and behind a number that counts items, such as `2.`, `Step 2:`, `[Message 2]`."""
_ENDS = ".!?:。！？；："
_STOPS = ".!。！；"
_NO_STATEMENT = "?？:：,，"
"""What ends a question, or a line that something follows."""
_FIRST_WORD = re.compile(r"\A\w[\w'’-]*")
_FIRST_CLAUSE = re.compile(r"\A\w{2,10}(?=[，：、])")
_SHORTEST = 12
"""Fewest characters of a sentence that is restated."""
_FEWEST_SENTENCES = 3
_FEWEST_POINTS = 2
_SHORTEST_TEXT = 20
"""Fewest characters of an answer of which a part is cut."""
_HAN = re.compile("[\u4e00-\u9fff]")
_KANA = re.compile("[\u3040-\u30ff]")
_COMMON_SHARE = 0.12
"""Least share of the most common English words in English."""
_MAKERS = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google",
    "mistral": "Mistral AI",
    "deepseek": "DeepSeek",
    "qwen": "Alibaba",
    "llama": "Meta",
    "gemini": "Google",
    "claude": "Anthropic",
    "gpt": "OpenAI",
}
"""Part of a model's name -> who made it; the first that is found counts."""


@dataclass(frozen=True)
class Original:
    """An answer, and what rules need to know beside it.

    Attributes:
        text: The answer.
        language: Code of its language, such as `en`.
        judge: Name of the judge.
        other: An answer to another question; empty if there is none.
    """

    text: str
    language: str
    judge: str = ""
    other: str = ""


Rule = Callable[[Original, Random], str | None]
"""Makes a twin; None where there is nothing to change, or no text in the answer's language."""


@dataclass(frozen=True)
class Kind:
    """One change of an answer.

    Attributes:
        name: Its name, as in `kinds` of `judge_twins`.
        effect: What it is for the user: `nothing`, or a `flaw`.
        rule: Makes the twin.
        title: What was done, in a few words, for reports.
    """

    name: str
    effect: Effect
    rule: Rule
    title: str


def make_twin(kind: Kind, original: Original, seed: str) -> str | None:
    """The twin of an answer, the same for the same seed; None if it would equal the answer."""
    twin = kind.rule(original, Random(seed))  # noqa: S311 - a choice, not a secret
    if twin is None or twin.split() == original.text.split():
        return None
    return twin


def known_maker(model: str) -> str:
    """Who made a model, by its name; empty if that is not known."""
    lowered = model.lower()
    return next((maker for part, maker in _MAKERS.items() if part in lowered), "")


def language_of(text: str, known: str = "") -> str:
    """Code of the language of a text, of those with rules; empty for any other.

    Args:
        text: The text.
        known: What is said of its language; counts if it is a code of two letters.
    """
    if re.fullmatch("[A-Za-z]{2}", known):
        return known.lower()
    if _KANA.search(text):
        return ""
    words = re.findall("[a-z]+", text.lower())
    if len(_HAN.findall(text)) > len(words):
        return "zh"
    common = sum(word in _text("common", "en") for word in words)
    if words and common >= _COMMON_SHARE * len(words):
        return "en"
    return ""


@cache
def _texts() -> Mapping[str, Any]:
    texts: dict[str, Any] = yaml.safe_load(_TEXTS.read_text(encoding="utf-8"))
    return texts


def _text(key: str, language: str) -> Any:
    """A text in a language; None if there is none."""
    return _texts()[key].get(language)


def _spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences outside code begin and end, without marks of lists and headings."""
    prose = _CODE.sub(lambda code: "\n" * len(code[0]), text)
    spans = []
    for line in re.finditer(r"[^\n]+", prose):
        begin = line.end() - len(_without_marker(line[0]))
        for end in _sentence_ends(prose, begin, line.end()):
            sentence = prose[begin:end]
            blanks = len(sentence) - len(sentence.lstrip())
            if sentence.strip():
                spans.append((begin + blanks, begin + len(sentence.rstrip())))
            begin = end
    return spans


def _sentence_ends(text: str, begin: int, stop: int) -> Iterator[int]:
    """Ends of the sentences of one line."""
    for found in _END.finditer(text, begin, stop):
        end = found.end()
        if _NO_END.search(text[begin:end]):
            continue
        if text[end : end + 1] == '"' and text[begin:end].count('"') % 2:  # it closes a quotation
            end += 1
        yield end
    yield stop


def _without_marker(line: str) -> str:
    """A line without the mark of a list or heading, and the blanks, before its text."""
    return _MARKER.sub("", line, count=1)


def _sentences(text: str) -> list[str]:
    """Sentences outside code, without marks of lists and headings."""
    return [text[start:end] for start, end in _spans(text)]


def _last_mark(sentence: str) -> str:
    """The last character before quotation marks and bold; a blank if there is none."""
    return sentence.rstrip("\"'”’」』)）]*_")[-1:] or " "


# --- changes that add nothing ---


def _padded(original: Original, random: Random, *, share: float) -> str | None:
    """Sentences of the answer said once more, or filler, until a share of its length was added."""
    restate = _text("restate", original.language)
    if restate is None:
        return None
    added = ""
    first = random.randrange(len(restate))
    padding = _padding(original, restate[first:] + restate[:first])
    while len(added) < share * len(original.text):
        sentence = next(padding)
        if sentence[-1] not in _ENDS:
            sentence += _text("stop", original.language)
        added += sentence + _text("gap", original.language)
    return f"{_closed(original.text)}\n\n{added.strip()}"


def _padding(original: Original, restate: Sequence[str]) -> Iterator[str]:
    """Sentences to say once more, then lines that are none, with filler at the end, without end."""
    plain = [_unmarked(part) for part in _sentences(original.text) if not _CODE_LINE.search(part)]
    long = [part for part in plain if len(part) >= _SHORTEST]
    said = [part for part in long if part[-1] in _STOPS]
    said += [part for part in long if part[-1] not in _STOPS + _NO_STATEMENT]
    for prefix, sentence in zip(cycle(restate), said, strict=False):
        yield prefix + sentence
    yield from cycle(_text("filler", original.language))


def _unmarked(sentence: str) -> str:
    """A sentence without bold, and without quotation marks that it does not close."""
    text = sentence.replace("**", "").replace("__", "").strip("* ")
    if text.count('"') % 2:
        text = text.replace('"', "")
    for opening, closing in ("“”", "「」"):
        if text.count(opening) != text.count(closing):
            text = text.replace(opening, "").replace(closing, "")
    return text.strip()


def _closed(text: str) -> str:
    """A text whose last block of code is closed, so that what follows is none."""
    text = text.rstrip()
    if text.count("```") % 2:
        return f"{text}\n```"
    return text


def _as_markdown(original: Original, _random: Random) -> str | None:
    """The same sentences below a heading, as points whose first words are bold.

    Lines that are no sentences, such as a greeting or a formula, stay. None for a text with marks
    of its own, and for one of which half the lines are no sentences, such as a poem.
    """
    heading = _text("heading", original.language)
    lines = [line.strip() for line in original.text.splitlines() if line.strip()]
    is_marked = "**" in original.text or any(_without_marker(line) != line for line in lines)
    if heading is None or is_marked or _CODE.search(original.text):
        return None
    bold = _FIRST_WORD
    if original.language == "zh":
        bold = _FIRST_CLAUSE
    points = [f"## {heading}", ""]
    ended = 0
    for line in lines:
        if _last_mark(line) in _ENDS:
            points += ["- " + bold.sub(r"**\g<0>**", part) for part in _sentences(line)]
            ended += 1
        else:
            points += ["", line, ""]
    if ended <= len(lines) / 2 or len(_sentences(original.text)) < _FEWEST_POINTS:
        return None
    return re.sub(r"\n{3,}", "\n\n", "\n".join(points)).strip()


def _framed(text: str, original: Original, _random: Random) -> str | None:
    """The answer with a text before or behind it, or both."""
    frame: str | None = _text(text, original.language)
    if frame is None:
        return None
    maker = known_maker(original.judge) or original.judge.partition("/")[0]
    answer = _closed(original.text.strip())
    return frame.replace("{maker}", maker).replace("{answer}", answer)


def _without_hedges(original: Original, _random: Random) -> str | None:
    """The answer with words of doubt taken out."""
    hedges = _text("hedges", original.language)
    if hedges is None:
        return None
    parts = re.split(f"({_CODE.pattern})", original.text, flags=re.DOTALL)  # every second is code
    parts[::2] = [_replaced(part, hedges) for part in parts[::2]]
    return "".join(parts)


def _replaced(text: str, patterns: Mapping[str, str]) -> str:
    """A text in which each pattern is replaced."""
    for pattern, instead in patterns.items():
        if not instead:  # the next word may begin the sentence then
            begin = rf"(^|[.!?\n] *)(?i:{pattern})([a-z])"
            text = re.sub(begin, lambda found: found[1] + found[2].upper(), text)
        text = re.sub(pattern, instead, text)
    return text


# --- changes that are flaws ---


def _wrong_number(original: Original, random: Random) -> str | None:
    """The answer with one digit of one number changed; numbers of code and of items stay."""
    text = original.text
    prose = _ALL_CODE.sub(lambda code: " " * len(code[0]), text)
    numbers = [found for found in _NUMBER.finditer(prose) if not _counts_items(prose, found)]
    if not numbers:
        return None
    found = random.choice(numbers)
    place = random.choice([place for place in range(*found.span()) if text[place].isdigit()])
    digit = random.choice([digit for digit in "123456789" if digit != text[place]])
    return text[:place] + digit + text[place + 1 :]


def _counts_items(text: str, number: re.Match[str]) -> bool:
    """Whether a number is that of an item of a list, or of a placeholder."""
    before = text[: number.start()].rpartition("\n")[2]
    return bool(_LABEL.fullmatch(before) and _AFTER_LABEL.match(text, number.start()))


def _negated(original: Original, random: Random) -> str | None:
    """The answer with one statement negated, one that has no negation yet."""
    negations = _text("negations", original.language) or {}
    negative = _text("negative", original.language) or ""
    text = original.text
    spans = _spans(text)
    random.shuffle(spans)
    for start, end in spans:
        sentence = text[start:end]
        is_statement = _last_mark(sentence) not in _NO_STATEMENT
        if not is_statement or re.search(negative, sentence) or _CODE_LINE.search(sentence):
            continue
        for pattern, instead in negations.items():
            negated = re.sub(pattern, instead, sentence, count=1)
            if negated != sentence:
                return text[:start] + negated + text[end:]
    return None


def _truncated(original: Original, _random: Random) -> str | None:
    """The answer without its last third."""
    if len(original.text) < _SHORTEST_TEXT:
        return None
    return original.text[: 2 * len(original.text) // 3].rstrip()


def _other_answer(original: Original, _random: Random) -> str | None:
    """An answer to another question."""
    return original.other or None


def _shuffled(original: Original, random: Random) -> str | None:
    """The sentences of the answer in random order; its lines, and their marks, stay."""
    text = original.text.replace("**", "")
    spans = _spans(text)
    if len(spans) < _FEWEST_SENTENCES or _CODE.search(text) or _CODE_LINE.search(text):
        return None
    sentences = [text[start:end] for start, end in spans]
    random.shuffle(sentences)
    for (start, end), sentence in zip(reversed(spans), reversed(sentences), strict=True):
        text = text[:start] + sentence + text[end:]
    return text


_KINDS = (
    Kind("padded_half", "nothing", partial(_padded, share=0.5), "said again, half as long again"),
    Kind("padded_double", "nothing", partial(_padded, share=1.0), "said again, twice as long"),
    Kind("markdown", "nothing", _as_markdown, "as a list with a heading and bold words"),
    Kind("authority", "nothing", partial(_framed, "authority"), "with invented experts"),
    Kind("flattery", "nothing", partial(_framed, "flattery"), "with praise of the user"),
    Kind("order", "nothing", partial(_framed, "order"), "with an order to give top marks"),
    Kind("family", "nothing", partial(_framed, "family"), "as if by the judge's maker"),
    Kind("confident", "nothing", _without_hedges, "without words of doubt"),
    Kind("other_boilerplate", "nothing", partial(_framed, "polite"), "with a polite start and end"),
    Kind("wrong_number", "flaw", _wrong_number, "with a digit changed"),
    Kind("negated", "flaw", _negated, "with a sentence negated"),
    Kind("truncated", "flaw", _truncated, "without its last third"),
    Kind("other_answer", "flaw", _other_answer, "an answer to another question"),
    Kind("shuffled", "flaw", _shuffled, "with its sentences shuffled"),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}
"""The kinds by name; `register_twin` adds to them."""
PADDED = ("padded_half", "padded_double")
"""Kinds that only add length."""


def register_twin(kind: Kind) -> None:
    """Add a kind of twins, under its name.

    Args:
        kind: The kind, with the rule that makes its twins.

    Raises:
        InputError: If a kind has this name.
    """
    if kind.name in KINDS:
        raise InputError(f"twins: there is a kind '{kind.name}'; choose another name")
    KINDS[kind.name] = kind


def chosen_kinds(names: Collection[str] | None) -> list[Kind]:
    """Kinds by their names, in the order of `KINDS`; `padded` names those that add length.

    Args:
        names: The names; None for all kinds.

    Raises:
        InputError: If there is no kind of a name.
    """
    if names is None:
        return list(KINDS.values())
    wanted = set(names)
    if "padded" in wanted:
        wanted = wanted - {"padded"} | set(PADDED)
    if unknown := sorted(wanted - set(KINDS)):
        raise InputError(
            f"kinds: unknown {choices(unknown)}; allowed: all, padded, {choices(KINDS)}"
        )
    return [kind for name, kind in KINDS.items() if name in wanted]
