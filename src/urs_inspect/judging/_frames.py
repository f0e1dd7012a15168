"""Frames of prompts: Jinja templates with a static part, then the case part with the material."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from urs_inspect._util import InputError
from urs_inspect.judging._entries import NOTHING_TAKEN, Taken
from urs_inspect.judging._keys import ANALYSIS, KEY, KEY_PLACEHOLDER, record_key
from urs_inspect.judging._sanitize import KEY_MARK, MARK, delimiters_of, sanitize

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False
)
_BLOCKS = {"instructions", "case"}

Schema = Mapping[str, Any]
"""A JSON schema."""
_TEXT: Schema = {"type": "string"}


@dataclass(frozen=True)
class JudgePrompt:
    """What is sent to a judge.

    Attributes:
        instructions: The static part, identical for all cases of a kind, so that providers' prompt
            caches hit; empty if the frame has no such part.
        case: The part that holds the case.
        version: Name and version of the texts.
        sha256: SHA-256 of the frame and all its texts except the material and the key.
        key: What the judge's record must contain, which stands in the case part only; empty if none
            is asked for.
        schema: The record as a JSON schema, for providers with structured output; the same for all
            cases of a kind. None if the record has none.
        needs_key: Whether a reply counts only with the key, because a judge that quotes the
            material could write something that reads as its own result: something in the material
            was neutralised, or names what the reader takes.
        language: Code of the language that it is written in, in which the judge is asked again.
    """

    instructions: str
    case: str
    version: str
    sha256: str
    key: str = ""
    schema: Schema | None = field(default=None, compare=False, repr=False)
    needs_key: bool = False
    language: str = field(default="en", compare=False)


@dataclass(frozen=True)
class Frame:
    """A template with everything filled in but the material."""

    template: Template
    context: Mapping[str, object]
    instructions: str  # the rendered static part; empty if the template has no blocks
    # the lines around the material, which the material may not imitate
    delimiters: re.Pattern[str] | None
    version: str
    sha256: str
    keyed: bool
    schema: Schema | None = None

    def prompt(self, materials: Mapping[str, str], taken: Taken = NOTHING_TAKEN) -> JudgePrompt:
        """Fill in texts of users and models by name, sanitized.

        `taken` is what the reader of the reply takes.
        """
        texts = {name: text.strip() for name, text in materials.items()}
        safe = {}
        for name, text in texts.items():
            safe[name] = sanitize(text, self.delimiters, taken.find)
        key = ""
        needs_key = False
        if self.keyed:
            key = record_key(self.version, *texts.values())
            needs_key = safe != texts or any(map(taken.is_named_in, texts.values()))
        filled = {**self.context, **safe, KEY: key}
        return JudgePrompt(
            instructions=self.instructions,
            case=_render(self.template, "case", filled),
            version=self.version,
            sha256=self.sha256,
            key=key,
            schema=self.schema,
            needs_key=needs_key,
        )


def build_frame(
    source: str,
    place: str,
    version: str,
    context: Mapping[str, object],
    materials: Sequence[str],
    needed: Sequence[str],
    example: Mapping[str, object] | None = None,
    values: Mapping[str, Schema] | None = None,
) -> Frame:
    """Compile a template and render it once.

    So a faulty one is found before any model is called.

    A template whose case part uses `key` asks for a key; the `example` of the record that the judge
    must write, for the template `record_example`, then begins with one. `needed` are the materials
    that the template must use. `values` are the placeholders of the example and the schema of what
    the judge writes in their place; without them the frame has no schema of the record.
    """
    try:
        template = _compiled(source)
        _check_blocks(template, place)
        marks = {KEY: KEY_MARK, **{name: MARK.format(name) for name in materials}}
        if example is not None:
            context = {**context, "record_example": _json(example)}
            if KEY_MARK in _render(template, "case", {**context, **marks}):
                context["record_example"] = _json({KEY: KEY_PLACEHOLDER, **example})
        instructions = ""
        if template.blocks:
            instructions = _render(template, "instructions", context)
        case = _render(template, "case", {**context, **marks})
    except (TemplateError, ArithmeticError, LookupError, TypeError) as error:
        # Any fault of an expression.
        line = getattr(error, "lineno", None)
        where = place
        if line:
            where = f"{place}, line {line}"
        raise InputError(f"{where}: {error}") from error
    for name in needed:
        if MARK.format(name) not in case:
            raise InputError(f"{place}: does not use {{{{ {name} }}}}, which every judge needs")
    keyed = example is not None and KEY_MARK in case
    digest = hashlib.sha256(f"{source}\x00{instructions}\x00{case}".encode()).hexdigest()
    schema = None
    if example is not None and values is not None:
        schema = record_schema(example, values, keyed)
    return Frame(
        template=template,
        context=context,
        instructions=instructions,
        delimiters=delimiters_of(case),
        version=version,
        sha256=digest,
        keyed=keyed,
        schema=schema,
    )


def template_frame(
    file: Path,
    version: str,
    materials: Sequence[str],
    context: Mapping[str, object] | None = None,
    example: Mapping[str, object] | None = None,
    values: Mapping[str, Schema] | None = None,
) -> Frame:
    """The frame of a template in a file, which must use all its materials."""
    source = file.read_text(encoding="utf-8")
    place = f"prompt '{file.name}'"
    return build_frame(source, place, version, context or {}, materials, materials, example, values)


def _check_blocks(template: Template, place: str) -> None:
    if template.blocks and set(template.blocks) != _BLOCKS:
        raise InputError(
            f"{place}: blocks {sorted(template.blocks)}; allowed: both of {sorted(_BLOCKS)}, or"
            " none"
        )


def record_schema(
    example: Mapping[str, object], values: Mapping[str, Schema], keyed: bool
) -> Schema:
    """The JSON schema of a record: reasons, the key, then what the example shows, in its order.

    An example without a text of its own gets one, `analysis`, as its first entry. The key may be
    any text: a schema of its own for each case would be compiled anew by the provider for each
    call.
    """
    first: dict[str, object] = {}
    if not _holds_text(example, values):
        first[ANALYSIS] = ""
    if keyed:
        first[KEY] = ""
    return _object_schema({**first, **example}, values)


def _holds_text(example: Mapping[str, object], values: Mapping[str, Schema]) -> bool:
    for shown in example.values():
        if isinstance(shown, Mapping):
            if _holds_text(shown, values):
                return True
        elif shown not in values:
            return True
    return False


def _object_schema(example: Mapping[str, object], values: Mapping[str, Schema]) -> Schema:
    properties: dict[str, Schema] = {}
    for name, shown in example.items():
        if isinstance(shown, Mapping):
            properties[name] = _object_schema(shown, values)
        else:
            properties[name] = values.get(str(shown), _TEXT)
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@lru_cache(maxsize=64)
def _compiled(source: str) -> Template:
    """The template, which the intents of a language and all judges with one rubric share."""
    return _ENVIRONMENT.from_string(source)


def _json(example: Mapping[str, object]) -> str:
    nested = any(isinstance(value, Mapping) for value in example.values())
    return json.dumps(example, ensure_ascii=False, indent=1 if nested else None)


def _render(template: Template, block: str, context: Mapping[str, object]) -> str:
    if not template.blocks:
        return template.render(context).strip()
    parts = template.blocks[block](template.new_context(dict(context)))
    return "".join(parts).strip()
