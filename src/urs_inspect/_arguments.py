"""Arguments of tasks and scorers: their types, and the decorator that checks them.

The harness parses `-T name=value` as YAML and passes any result on. A type here accepts no
look-alike: `True` is not a number, and `"3"` is not a whole number.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, get_type_hints

import click
import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    Strict,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
    WrapValidator,
    model_validator,
)

from urs_inspect._satellites import at, offered
from urs_inspect._util import InputError, choices, is_blank

_P = ParamSpec("_P")
_T = TypeVar("_T")

ALL = "all"
_COMMANDS = ("inspect_ai.", "urs_inspect.")
"""Whose options mean what the harness means by them."""


def checked(make: Callable[_P, _T]) -> Callable[_P, _T]:
    """Check the arguments of a task or scorer against its type hints; stands below `@task` or
    `@scorer`.

    The signature, the defaults and the arguments that a log records stay as they are given. A value
    that does not fit, and an argument that is missing or unknown, raise `InputError`, which the
    command line prints as one line.
    """
    parameters = signature(make)

    @cache
    def hints() -> dict[str, Any]:
        return get_type_hints(make, include_extras=True)

    @wraps(make)
    def checking(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        _refuse_moved(make.__name__, kwargs, parameters.parameters)
        try:
            given = parameters.bind(*args, **kwargs)
        except TypeError as error:
            allowed = choices(parameters.parameters)
            raise InputError(f"{make.__name__}: {error}; arguments: {allowed}") from error
        for name, value in given.arguments.items():
            given.arguments[name] = check(name, value, hints()[name])
        return make(*given.args, **given.kwargs)

    return checking


def check(name: str, value: object, hint: Any) -> Any:
    """Read an argument of a type of this module, or any that pydantic knows.

    The error names it and what is allowed.
    """
    try:
        return _adapter(hint).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ": ".join([name, *(str(part) for part in first["loc"])])
        raise InputError(f"{place}: {_reason(first)}") from error


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint)


def _reason(error: Mapping[str, Any]) -> str:
    match error["type"]:
        case "literal_error":  # pydantic joins the values with commas and an `or`
            allowed = choices(re.findall(r"'([^']*)'", error["ctx"]["expected"]))
            return f"unknown value {error['input']!r}; allowed: {allowed}"
        case "value_error":
            return str(error["ctx"]["error"])
        case "missing":
            return "is missing"
        case _:
            return f"{error['msg']}, got {error['input']!r}"


def _must_be(what: str) -> WrapValidator:
    """Whatever is wrong with a value, say what it must be."""

    def validate(value: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(value)
        except (ValidationError, TypeError, ValueError):
            raise ValueError(f"must be {what}, got {value!r}") from None

    return WrapValidator(validate)


def _not_blank(value: Any) -> Any:
    if isinstance(value, str) and is_blank(value):
        raise ValueError
    return value


def split_names(value: Any) -> Any:
    """The parts of a text that are separated by commas; anything else as it is."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return value


def _bounds(value: Any) -> Any:
    if isinstance(value, str):
        value = re.split(r"[,-]", value)
    # The command line makes a list of texts of `1,5`.
    return tuple(float(bound) if isinstance(bound, str) else bound for bound in value)


Flag = Annotated[bool, Strict(), _must_be("true or false")]
Structured = Annotated[Annotated[bool, Strict()] | Literal["auto"], _must_be("true, false or auto")]
"""Whether judges are asked by a schema: always, never, or where the preflight saw that the server
follows one.
"""
Text = Annotated[str, Strict(), BeforeValidator(_not_blank), _must_be("a text")]
Count = Annotated[int, Field(strict=True, ge=1), _must_be("a whole number of at least 1")]
Natural = Annotated[int, Field(strict=True, ge=0), _must_be("a whole number of at least 0")]
NotNegative = Annotated[float, Field(strict=True, ge=0), _must_be("a number of at least 0")]
Positive = Annotated[  # a text as well, since YAML reads 1e-3 as one
    float,
    Field(strict=False, gt=0, allow_inf_nan=False),
    _must_be("a number above 0"),
]
AtLeastOne = Annotated[float, Field(strict=True, ge=1), _must_be("a number of at least 1")]
Confidence = Annotated[
    float,
    Field(strict=True, ge=0.501, le=0.9999),
    _must_be("a number of at least 0.501 and at most 0.9999"),
]
Cosine = Annotated[
    float, Field(strict=True, gt=0, le=1), _must_be("a number above 0 and at most 1")
]
Temperature = Annotated[
    float,
    Field(strict=True, ge=0, le=2),
    _must_be("a number from 0 to 2, or null for the provider's default"),
]

Names = Annotated[
    StrictStr | Annotated[list[StrictStr], Field(min_length=1)],
    _must_be(f"'{ALL}', a name, or names separated by commas"),
]
"""Read by `names`, which knows the vocabulary."""

Lengths = Annotated[
    StrictStr | StrictInt | list[StrictStr | StrictInt],
    _must_be("numbers and ranges such as 2-20 or 2-9,15"),
]

Paths = Annotated[
    str | list[str],
    GetPydanticSchema(
        lambda _, handler: handler(
            Annotated[list[Text], Field(min_length=1), BeforeValidator(split_names)]
        )
    ),
    _must_be("a path, or paths separated by commas"),
]
"""Becomes a list."""


def _rejoined(value: Any) -> Any:
    """A text that the command line split at its commas."""
    is_split = isinstance(value, list) and all(isinstance(part, str) for part in value)
    if is_split:
        return ",".join(value)
    return value


NameOrPath = Annotated[Text, BeforeValidator(_rejoined)]
"""A text with commas or without; names of published files have some."""

Columns = Annotated[
    str | dict[str, Any],
    GetPydanticSchema(lambda _, handler: handler(Text | dict[Any, Any])),
    _must_be("a mapping such as {prompt: question, label: winner}, or a YAML file with one"),
]
"""Read by `datasets._columns.read_column_map`, which knows what can be read."""

Scale = Annotated[
    str | list[float] | tuple[float, float],
    GetPydanticSchema(
        lambda _, handler: handler(
            Annotated[tuple[StrictFloat, StrictFloat], BeforeValidator(_bounds)]
        )
    ),
    _must_be("its lowest and highest value, such as 1,5"),
]
"""Becomes a tuple; `1,5` and `1-5` are read alike."""


def one_of(allowed: Callable[[], Iterable[str]]) -> BeforeValidator:
    """One of some words that only the running program knows.

    A `Literal` says it where they are fixed.
    """

    def validate(value: Any) -> Any:
        known = list(allowed())
        if value not in known:
            raise ValueError(f"unknown value {value!r}; allowed: {choices(known)}")
        return value

    return BeforeValidator(validate)


def names(
    value: str | list[str], argument: str, find: Callable[[str], str] = str
) -> list[str] | None:
    """Ids of an argument of the type `Names`, without repetition, in the order given; None for all.

    `find` turns a spelling into an id, or raises `InputError`.
    """
    parts = [part.strip() for part in split_names(value)]
    if parts == [ALL]:
        return None
    try:
        return list(dict.fromkeys(map(find, parts)))
    except InputError as error:
        raise InputError(f"{argument}: {error} (or '{ALL}')") from error


def as_list(value: str | Sequence[str]) -> list[str]:
    """A checked argument of the type `Paths`."""
    if isinstance(value, str):
        return [value]
    return list(value)


def required(value: _T | None, argument: str, allowed: str) -> _T:
    """An argument that has no default, because none is better than the others."""
    if value is None:
        raise InputError(f"{argument}: is required, as -T {argument}=...; allowed: {allowed}")
    return value


class Options(BaseModel):
    """An argument with options; a text stands for the first of them."""

    model_config = ConfigDict(frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {next(iter(cls.model_fields)): value}
        if isinstance(value, cls):
            return value
        if isinstance(value, dict):
            if unknown := value.keys() - cls.model_fields.keys():
                named = choices(sorted(map(str, unknown)))
                raise ValueError(f"unknown option {named}; allowed: {choices(cls.model_fields)}")
            return value
        raise ValueError(f"must be a text, or options: {choices(cls.model_fields)}; got {value!r}")


class SimilarityOptions(Options):
    """A similarity, and for `openai/<model>` the address of an embeddings API in place of the
    environment's.
    """

    name: Text
    url: Text | None = None


class JudgeCallOptions(Options):
    """How a judge is called."""

    attempts: Count = 2  # at most, when a reply cannot be read
    temperature: Temperature | None = 0.0  # unless the role sets one; None: the provider's default

    @classmethod
    def read(cls, given: object) -> "JudgeCallOptions":
        """The options of a checked argument; the usual ones if there is none."""
        if given is None:
            return cls()
        return cls.model_validate(given)


class TargetOptions(Options):
    """A model of an earlier ranking, and how many places above and below it count."""

    model: Text
    coarse: Paths  # log, or votes, of that ranking
    width: Count = 2


@cache
def _samer_options() -> type[Options] | None:
    """The options of the satellite `samer`; None where it is not there."""
    address = offered("arguments of tasks").get("samer")
    return at(address) if address else None


Samer = Annotated[
    str | dict[str, Any],
    GetPydanticSchema(lambda _, handler: handler(_samer_options() or dict[str, Any])),
]
"""Becomes `SamerOptions` of the satellite `samer`."""

Similarities = Annotated[
    str | dict[str, Any], GetPydanticSchema(lambda _, handler: handler(SimilarityOptions))
]
"""Becomes `SimilarityOptions`."""

JudgeCall = Annotated[
    dict[str, Any], GetPydanticSchema(lambda _, handler: handler(JudgeCallOptions))
]
"""Becomes `JudgeCallOptions`."""

Target = Annotated[
    str | dict[str, Any], GetPydanticSchema(lambda _, handler: handler(TargetOptions))
]
"""Becomes `TargetOptions`."""


def samer_arguments(samer: object, *, wanted: bool, condition: str) -> dict[str, Any] | None:
    """Arguments of the scorer `samer`, or of a solver in which SaMer or a reward model judges; None
    if none does.

    It takes part if `wanted`; `condition` is the argument that says so, for errors, such as
    `judge=samer`.
    """
    if samer is None:
        if wanted:
            raise InputError(
                f"{condition} needs samer: the folder of a checkpoint, or the address of a server"
            )
        return None
    if not wanted:
        raise InputError(f"samer: only with {condition}")
    options = _samer_options()
    if options is None:
        raise InputError(
            "samer: the folder `samer` of urs_inspect is missing, which has the scorers and judges"
            " of SaMer and reward models; install the whole package: pip install --force-reinstall"
            " urs-inspect"
        )
    given = options.model_validate(samer).model_dump()
    optional = {"description", "engine_options"}
    return {
        name: value for name, value in given.items() if name not in optional or value is not None
    }


_ANY_TASK = "any task"


@cache
def _moved() -> list[dict[str, str]]:
    """Former arguments: name, the task or an argument of the tasks that had it, its new form."""
    file = Path(__file__).parent / "moved_arguments.yaml"
    moved: list[dict[str, str]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return moved


def _refuse_moved(task: str, given: Iterable[str], parameters: Collection[str]) -> None:
    """Refuse former arguments with their new form, also on the command line, where the harness
    drops unknown ones.
    """
    options = {str(option).partition("=")[0] for option in command_options().get("t", ())}
    here = {task, _ANY_TASK, *parameters}
    named = {*given, *options} - set(parameters)
    for moved in _moved() if named else ():
        name = moved["name"]
        # Of a command without `samer` another task may have an argument of that name.
        if moved["former"] == "samer" and name not in given and "samer" not in options:
            continue
        if name in named and moved["former"] in here:
            raise InputError(f"{name}: is no longer an argument; use {moved['form']}")


def command_options() -> Mapping[str, Any]:
    """Options of the running `inspect` or `urs-inspect` command; none in a script.

    What the harness does with the samples and arguments of a task it does not tell the task, but it
    follows from these.
    """
    context = click.get_current_context(silent=True)
    if context is None or not str(getattr(context.command.callback, "__module__", "")).startswith(
        _COMMANDS
    ):
        return {}
    return context.params
