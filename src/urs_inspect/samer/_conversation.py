"""A query and a response as the token ids that SaMer reads; no torch, no transformers."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property, wraps
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from urs_inspect._util import InputError
from urs_inspect.samer._packages import imported

Bos = Literal["single", "double"]
"""`single`: the start token as the template writes it, as in training; `double`: one more, as in
released inference.
"""

Overlong = Literal["shorten", "error"]
"""What happens to more tokens than fit: the response's end is cut, or the item is refused."""

END_OF_TURN = "<|eot_id|>"  # the token that closes a turn; the model is read at it
# in place of its id for a reward model, which is read at the last token, whatever it is
ANY_END = -1

SPARE = 1
"""Tokens of a length that query and response leave free, with every engine, so that numbers agree.

vLLM up to 0.26 never finishes an input of exactly its length that it computes in chunks.
"""

TEMPLATE_DATE = date(2024, 7, 26)
"""What `strftime_now` of a template gives on every day, so that a score does not depend on the day.

Templates of Llama 3.1 and 3.2 fall back to this date where there is no such function.
"""

_MOST_CHARACTERS = 1_000_000  # that one operation of a template may make
_MOST_EXPONENT = 64

Ids = tuple[int, ...]


class OverlongError(InputError):
    """An item has more tokens than the model takes."""


@dataclass(frozen=True)
class Encoded:
    """A query and its response as token ids."""

    ids: Ids  # query and response; the last one closes the response's turn
    query_ids: Ids  # the query alone; its last one closes the query's turn
    # whether `ids` starts with `query_ids`, so that one pass gives both vectors; else two are
    # needed
    is_prefix: bool
    shortened: int = 0  # tokens that were cut from the end of the response


class Conversations:
    """Writes conversations with a model's own chat template and tokenizer.

    Special tokens that a user's text spells out, such as `<|eot_id|>`, are read as plain text: only
    the template makes turns. (The released code lets a text close its own turn.) Where a text has
    none, ids equal those of transformers.
    """

    def __init__(self, folder: Path, template: str | None = None) -> None:
        self.folder = folder
        self._config = read_json(folder / "tokenizer_config.json", "the tokenizer's files")
        self._tokenizer = _read_tokenizer(folder / "tokenizer.json")
        self._source = template or _read_template(folder, self._config)
        self._template = _compiled(folder, self._source)
        added = self._tokenizer.get_added_tokens_decoder()
        # Longest first, so that no token hides in another's name.
        self._special = sorted(
            (token.content for token in added.values() if token.special), key=len, reverse=True
        )
        patterns = "|".join(map(re.escape, self._special))
        self._any_special = re.compile(f"({patterns})")
        self.end_of_turn = self._single_end_of_turn()

    @property
    def vocabulary(self) -> int:
        """Number of tokens, special ones included."""
        return int(self._tokenizer.get_vocab_size())

    @property
    def template_tokens(self) -> int:
        """Tokens of an empty query with an empty response."""
        return len(self._ids(["", ""]))

    def fitting_length(self, limit: int, wanted: int | None = None) -> int:
        """The length to use: the user's, or the model's limit.

        Each must leave a token for query and for response.
        """
        least = len(self._ids(["a", "b"])) + SPARE
        if limit < least:
            raise InputError(
                f"{self.folder}: the model takes {limit} tokens; expected {least} or more, since"
                f" the chat template has {self.template_tokens}"
            )
        if wanted is not None and not least <= wanted <= limit:
            raise InputError(
                f"max_length {wanted}; allowed are {least} to {limit}: the chat template has"
                f" {self.template_tokens} tokens, the model takes {limit}"
            )
        return wanted or limit

    def render(self, *contents: str) -> str:
        """The template's text of a query, or of a query and a response."""
        roles = ("user", "assistant")
        messages = [
            {"role": role, "content": content}
            for role, content in zip(roles, contents, strict=False)
        ]
        try:
            text = self._template.render(
                messages=messages,
                tools=None,
                documents=None,
                add_generation_prompt=False,
                **self._named_tokens,
            )
        except Exception as error:  # a template is a program, and may fail in any way
            raise InputError(f"{self.folder}: the chat template fails: {error}") from error
        added = len(text) - sum(map(len, contents))
        if added > _MOST_CHARACTERS:
            raise InputError(
                f"{self.folder}: the chat template adds {added:,} characters to a conversation"
            )
        return text

    def encode(
        self,
        query: str,
        response: str,
        max_length: int,
        *,
        overlong: Overlong = "shorten",
        bos: Bos = "single",
    ) -> Encoded:
        """Encode a query and a response; either may be empty.

        `max_length` is the length that the model is run with; an item has `SPARE` tokens less at
        most, start and closing tokens included. `OverlongError` if it has more and may not be cut,
        or the query alone leaves no room.
        """
        extra = []
        if bos == "double":
            extra = [self._start_of_text()]
        query = _valid(query)
        ids, shortened = self._fitted(query, _valid(response), max_length - SPARE, overlong, extra)
        query_ids = extra + self._query_ids(query)
        return Encoded(tuple(ids), tuple(query_ids), ids[: len(query_ids)] == query_ids, shortened)

    def _fitted(
        self, query: str, response: str, most: int, overlong: Overlong, extra: list[int]
    ) -> tuple[list[int], int]:
        """Ids of query and response, at most `most`, and how many were cut.

        The cut is before the tokens that close the response.
        """
        ids = extra + self._ids([query, response])
        shortened = max(0, len(ids) - most)
        if shortened:
            if overlong == "error":
                raise OverlongError(
                    f"query and response have {len(ids):,} tokens; allowed are {most:,}"
                )
            query_tokens = len(extra) + len(self._ids([query, ""]))
            if query_tokens + bool(response.strip()) > most:
                raise OverlongError(
                    f"the query takes {query_tokens:,} tokens, which leaves no room for a response;"
                    f" allowed are {most:,} together"
                )
            ids = ids[: most - self._closing] + ids[len(ids) - self._closing :]
        return ids, shortened

    @cached_property
    def _closing(self) -> int:
        """How many tokens the template writes after a response."""
        one = reversed(self._ids(["a", "b"]))
        other = reversed(self._ids(["a", "c"]))
        pairs = zip(one, other, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def _query_ids(self, query: str) -> list[int]:
        return self._ids([query])

    def _ids(self, contents: list[str]) -> list[int]:
        # faster than a pattern
        if not any(token in content for content in contents for token in self._special):
            return list(
                self._tokenizer.encode(self.render(*contents), add_special_tokens=False).ids
            )
        # Special tokens divide a text before anything else does, so its parts can be encoded one by
        # one. Those of the texts are hidden from the template's; beginning and end of a placeholder
        # differ, so that what stands between two of them never looks like a third.
        mark = uuid4().hex  # which no text can know beforehand
        hidden = [
            self._any_special.sub(lambda match: f"({mark}:{self._special.index(match[0])})", text)
            for text in contents
        ]
        ids: list[int] = []
        for part in self._any_special.split(self.render(*hidden)):
            if part in self._special:
                ids.append(self._tokenizer.token_to_id(part))
            elif part:
                text = re.sub(
                    rf"\({mark}:(\d+)\)", lambda match: self._special[int(match[1])], part
                )
                ids.extend(self._plain_tokenizer.encode(text, add_special_tokens=False).ids)
        return ids

    @cached_property
    def _plain_tokenizer(self) -> Any:
        """A copy that reads special tokens as text.

        A switch on the one tokenizer would not be thread-safe.
        """
        copy = type(self._tokenizer).from_str(self._tokenizer.to_str())
        copy.encode_special_tokens = True
        return copy

    @cached_property
    def _named_tokens(self) -> dict[str, str]:
        texts = {}
        for key, value in self._config.items():
            # A token is a text, or a mapping with `content`.
            text = value
            if isinstance(value, dict):
                text = value.get("content")
            if key.endswith("_token") and isinstance(text, str):
                texts[key] = text
        return texts

    def _start_of_text(self) -> int:
        token = self._named_tokens.get("bos_token")
        number = None
        if token is not None:
            number = self._tokenizer.token_to_id(token)
        if number is None:
            raise InputError(
                f"{self.folder}: the tokenizer has no bos_token, which bos=double needs; use"
                " bos=single"
            )
        return int(number)

    def _single_end_of_turn(self) -> int:
        ids = self._tokenizer.encode(END_OF_TURN, add_special_tokens=False).ids
        if len(ids) != 1:
            raise InputError(
                f"{self.folder}: the tokenizer makes {len(ids)} tokens of {END_OF_TURN}; expected 1"
            )
        if self._tokenizer.token_to_id(END_OF_TURN) != ids[0] or END_OF_TURN not in self._special:
            raise InputError(
                f"{self.folder}: {END_OF_TURN} is no special token of the tokenizer; expected one"
            )
        return int(ids[0])


def read_json(path: Path, expected: str) -> dict[str, Any]:
    """A mapping in one of a model's files; `expected` says what its folder should hold."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path.parent}: {path.name} is missing; expected {expected}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a mapping")
    return content


def _read_tokenizer(path: Path) -> Any:
    library = imported("tokenizers", "samer")
    if not path.is_file():
        raise InputError(f"{path.parent}: {path.name} is missing; expected a fast tokenizer's file")
    try:
        tokenizer = library.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise InputError(
            f"{path}: not a tokenizer: {' '.join(str(error).split())[:200]}"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _read_template(folder: Path, config: Mapping[str, Any]) -> str:
    """A model's chat template."""
    file = folder / "chat_template.jinja"
    source: Any = (
        file.read_text(encoding="utf-8") if file.is_file() else config.get("chat_template")
    )
    if isinstance(source, list):  # several, by name
        source = next(
            (named.get("template") for named in source if named.get("name") == "default"), None
        )
    if not isinstance(source, str) or not source.strip():
        raise InputError(
            f"{folder}: the tokenizer has no chat template; expected `chat_template` in"
            " tokenizer_config.json or a file chat_template.jinja (for a reward model also"
            " `template` in its description, reward.yaml)"
        )
    return source


def _compiled(folder: Path, source: str) -> jinja2.Template:
    """A template in a sandbox, because it comes with a model."""
    # The settings under which chat templates are written everywhere.
    environment = _Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = TEMPLATE_DATE.strftime
    environment.filters["tojson"] = lambda value, **options: json.dumps(
        value, ensure_ascii=False, **options
    )
    try:
        return environment.from_string(source)
    except (jinja2.TemplateError, RecursionError) as error:
        raise InputError(f"{folder}: the chat template is not valid: {error}") from error


class _Generation(Extension):
    """`{% generation %}` marks what an assistant wrote, for training.

    It writes its content as it is.
    """

    tags = {"generation"}  # noqa: RUF012 - as the base class has it

    def parse(self, parser: Parser) -> nodes.Node:
        """Read the block."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class _Sandbox(ImmutableSandboxedEnvironment):
    """Also bounds what one operation, call or filter may make, such as `'x' * 1000000000`."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        del self.globals["lipsum"]
        for name in ("center", "format", "indent"):
            self.filters[name] = _bounded_filter(self.filters[name])

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute, unless the result would be too large."""
        if operator == "%" and isinstance(left, str):
            _refuse_widths(left)
        if operator == "**" and (not isinstance(right, int) or abs(right) > _MOST_EXPONENT):
            raise SecurityError(f"an exponent of {right!r}; allowed are {_MOST_EXPONENT} at most")
        if operator == "*":
            _refuse_repetition(left, right)
            _refuse_repetition(right, left)
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call, unless a number that may stand for a length is too large."""
        _refuse_lengths([*args, *kwargs.values()])
        return super().call(context, function, *args, **kwargs)


def _bounded_filter(whole: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(whole)
    def bounded(value: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_lengths([*args, *kwargs.values()])
        _refuse_widths(str(value))
        return whole(value, *args, **kwargs)

    return bounded


def _refuse_repetition(sequence: Any, times: Any) -> None:
    if not isinstance(sequence, str | list | tuple) or not isinstance(times, int):
        return
    if len(sequence) * times > _MOST_CHARACTERS:
        raise SecurityError(
            f"a repetition {times:,} times; its result may have {_MOST_CHARACTERS:,} characters"
        )


def _refuse_lengths(values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, int) and abs(value) > _MOST_CHARACTERS:
            raise SecurityError(
                f"a call has the number {value:,}; allowed are {_MOST_CHARACTERS:,} at most"
            )


def _refuse_widths(text: str) -> None:
    """Refuse a format such as `%1000000000d`."""
    for width in re.findall(r"%[^a-zA-Z%]*?(\d{7,}|\*)", text):
        raise SecurityError(
            f"a format has the width {width}; allowed are {_MOST_CHARACTERS:,} at most"
        )


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _valid(text: str) -> str:
    """Text that has an encoding.

    Half characters, which broken JSON can hold, become question marks.
    """
    return text.encode("utf-8", "replace").decode("utf-8")
