"""How answers are judged, as given by `--metadata`."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from logging import getLogger
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from platformdirs import user_cache_path
from pydantic import BaseModel, ConfigDict, Field, field_validator

from urs_inspect._arguments import check
from urs_inspect._util import InputError, choices
from urs_inspect.judging import AnswerJudging

logger = getLogger(__name__)

_ALIKE = 0.85  # similarity by `difflib` from which a name is another one misspelt
_OF_MODELS = frozenset(
    {"model", "base_url", "timeout", "temperature", "max_tokens", "seed", "engine", "folder"}
)
# Names of options without their prefix that are arguments of lm-eval's models as well.


class Options(BaseModel):
    """Options of a task or of its judge, whose names have a prefix of their own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


_Options = TypeVar("_Options", bound=Options)


def read_options(
    kind: type[_Options], prefixes: tuple[str, ...], metadata: Mapping[str, Any] | None
) -> _Options:
    """Read options with one of some prefixes from the metadata.

    lm-eval puts the model's arguments there as well.
    """
    whole = metadata or {}
    given = {key: value for key, value in whole.items() if key.startswith(prefixes)}
    if unknown := [key for key in given if key not in kind.model_fields]:
        raise InputError(
            f"--metadata: unknown '{unknown[0]}'; allowed: {choices(kind.model_fields)}"
        )
    _check_spelling(kind, prefixes, [key for key in whole if key not in given])
    options: _Options = check("--metadata", given, kind)
    return options


def _check_spelling(kind: type[Options], prefixes: tuple[str, ...], others: Iterable[str]) -> None:
    """Refuse what is almost an option, and warn of what is one without its prefix."""
    bare = {}
    for name in kind.model_fields:
        for prefix in prefixes:
            bare[name.removeprefix(f"{prefix.rstrip('_')}_")] = name
    for key in others:
        if alike := get_close_matches(key.casefold(), kind.model_fields, n=1, cutoff=_ALIKE):
            raise InputError(f"--metadata: unknown '{key}'; did you mean '{alike[0]}'?")
        if key in bare and key not in _OF_MODELS:
            logger.warning(
                f"--metadata: '{key}' is not used by the tasks of urs-inspect; did you mean"
                f" '{bare[key]}'?"
            )


Provider = Literal["openai", "anthropic"]
KEYS: Mapping[Provider, str] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""Environment variables of keys, which come from nowhere else."""

_PREFIXES = ("judge", "samer", "urs_")
_CACHE = "judge_replies.sqlite3"
_NO_PATHS = frozenset({"", "true", "yes", "on", "1", "false", "no", "off", "0", "none", "null"})
_SHORTEST_KEY = 8  # what is shorter is no key, as `none` or `EMPTY` for a server that needs none


class JudgeSettings(Options):
    """How answers are judged."""

    judge: Literal["model", "samer"] = "model"
    judge_model: str | None = None  # its name at the provider
    # `openai` (and whatever has its protocol); by default by the judge's name
    judge_provider: Provider | None = None
    judge_base_url: str | None = None  # address of the endpoint; by default the provider's own
    judge_concurrency: int = Field(default=16, ge=1, le=1024)
    # null for the provider's default
    judge_temperature: float | None = Field(default=0.0, ge=0, le=2)
    judge_max_tokens: int = Field(default=4096, ge=1)
    judge_attempts: int = Field(default=2, ge=1)  # when a reply cannot be read
    judge_retries: int = Field(default=5, ge=0)  # of a call that failed
    judge_timeout: float = Field(default=120.0, gt=0)  # seconds
    # consecutive answers without a call that succeeds; 0 for never
    judge_give_up: int = Field(default=20, ge=0)
    # file of replies; true for one in the user's cache folder, false for none
    judge_cache: bool | str = True
    judge_language: str | None = None  # of the judge's prompt; by default that of each case
    judge_rubric: str | None = None  # path of a rubric of the user's own
    judge_prompt: str | None = None  # path of a frame of the user's own
    # whether the judge is asked for one short reply before anything is generated
    judge_preflight: bool = True
    samer: str | None = None  # folder of a checkpoint, or address of a vLLM server
    samer_engine: str = "auto"
    # for a server on another machine: a folder with tokenizer and heads
    samer_folder: str | None = None
    urs_dataset: str = "urs"  # as `dataset` of the task `urs` in inspect-ai

    @field_validator("judge_cache")
    @classmethod
    def _is_a_path(cls, value: bool | str) -> bool | str:
        if isinstance(value, str) and value.strip().lower() in _NO_PATHS:
            raise ValueError(
                f"give true or false (without quotation marks) or the path of a file, got {value!r}"
            )
        return value

    @field_validator("judge_base_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        try:
            parts = urlsplit(value or "http://none")
        except ValueError as error:
            raise ValueError(f"is no address: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"must be an address such as http://localhost:8000/v1, got {value!r}")
        # lm-eval writes metadata down, so that an address must hold no secret.
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError(
                "must hold no user name, password or query; keys come from the environment"
            )
        return value

    @property
    def provider(self) -> Provider:
        """The provider, as named or as the judge's name suggests."""
        if self.judge_provider is not None:
            return self.judge_provider
        if (self.judge_model or "").startswith("claude"):
            return "anthropic"
        return "openai"

    @property
    def cache_file(self) -> Path | None:
        """The file of replies; None for none."""
        if isinstance(self.judge_cache, str):
            return Path(self.judge_cache).expanduser()
        if self.judge_cache:
            return user_cache_path("urs_inspect") / _CACHE
        return None

    @cached_property
    def judging(self) -> AnswerJudging:
        """Rubric, frames and parsing by these settings; `InputError` if they cannot be used."""
        return AnswerJudging(
            self.judge_rubric, self.judge_prompt, self.judge_language, self.judge_attempts
        )

    @property
    def judge_name(self) -> str:
        """Who judges, for people."""
        if self.judge == "samer":
            return f"samer ({self.samer})"
        return str(self.judge_model)


@dataclass(frozen=True)
class Key:
    """A key that is shown nowhere."""

    value: str

    def __repr__(self) -> str:
        return "Key(...)"

    def hidden_in(self, text: str) -> str:
        """A text with `…` in place of the key, as it stands or escaped."""
        if len(self.value) < _SHORTEST_KEY:
            return text
        in_python = repr(self.value)[1:-1]
        in_json = json.dumps(self.value)[1:-1]
        for form in {self.value, in_python, in_json}:
            text = text.replace(form, "…")
        return text


def read_settings(metadata: Mapping[str, Any] | None) -> JudgeSettings:
    """Read settings from the metadata of a task.

    `InputError` as for `read_options`, or if they contradict.
    """
    settings = read_options(JudgeSettings, _PREFIXES, metadata)
    if settings.judge == "samer" and settings.samer is None:
        raise InputError(
            "--metadata: judge is samer, but samer (folder of a checkpoint, or address of a server)"
            " is missing"
        )
    if settings.judge == "model" and settings.samer is not None:
        raise InputError('--metadata: samer is given, but judge is not samer; add "judge": "samer"')
    return settings


def judge_key(settings: JudgeSettings) -> Key:
    """The key of the judge's provider.

    `InputError` without a judge, or without a key for the provider's endpoint.
    """
    if not settings.judge_model:
        raise InputError(
            'no judge: give one with --metadata \'{"judge_model": "..."}\', or run with'
            " --predict_only and judge later with `urs-lm-eval rejudge`"
        )
    name = KEYS[settings.provider]
    key = os.environ.get(name, "").strip()
    if not key and settings.judge_base_url is None:
        raise InputError(
            f"the judge {settings.judge_model} needs the environment variable {name}; providers:"
            f" {choices(get_args(Provider))} (judge_provider), or an endpoint of your own"
            " (judge_base_url)"
        )
    return Key(key or "none")
