"""Reads rubrics: the built-in one, and a user's file laid over it."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from urs_inspect._util import InputError, choices, read_yaml
from urs_inspect.rubrics.schema import Rubric

_BUILT_IN = Path(__file__).parent / "urs"
_LANGUAGES = ("en", "zh")


def load_rubric(rubric: str | None = None, prompt: str | None = None) -> Rubric:
    """Load the URS rubric, or a user's.

    Args:
        rubric: Path of a YAML file that adds to or replaces parts of the URS rubric (`docs/extending.md`).
            None for the URS rubric itself.
        prompt: Path of a Jinja file that replaces the frame of the prompt in every language.

    Returns:
        The validated rubric.

    Raises:
        InputError: If a file cannot be read or does not fit; the message names file, key and what is allowed.
    """
    if not rubric and not prompt:
        return _load_built_in()
    return _load(
        Path(rubric).expanduser().resolve() if rubric else None,
        Path(prompt).expanduser().resolve() if prompt else None,
    )


@lru_cache(maxsize=1)
def _load_built_in() -> Rubric:
    return _load(None, None)


def _load(rubric: Path | None, prompt: Path | None) -> Rubric:
    source = _BUILT_IN / "rubric.yaml"
    raw = _built_in()
    if rubric is not None:
        source = rubric
        raw = _overlay(raw, source)
    if prompt is not None:
        frame = _read_text(prompt, "prompt")
        if not frame.strip():
            raise InputError(f"prompt: '{prompt}' is empty")
        for language in raw["languages"].values():
            if isinstance(language, dict):
                language |= {"frame": frame, "frame_source": prompt.name}
    try:
        return Rubric.model_validate(raw)
    except ValidationError as error:
        raise InputError(_describe(source, error)) from error


def _built_in() -> dict[str, Any]:
    raw = _read_yaml(_BUILT_IN / "rubric.yaml", "rubric")
    raw |= {"languages": {}, "criteria": {}}
    for code in _LANGUAGES:
        text = _read_yaml(_BUILT_IN / f"text.{code}.yaml", "rubric")
        frame = _BUILT_IN / f"frame.{code}.jinja"
        raw["languages"][code] = {
            **{key: text[key] for key in ("name", "dataset_label", "final", "ask_again", "bands")},
            "frame": _read_text(frame, "prompt"),
            "frame_source": frame.name,
        }
        for criterion, term in text["criteria"].items():
            raw["criteria"].setdefault(criterion, {})[code] = term
        for intent, term in text["intents"].items():
            raw["intents"][intent].setdefault("text", {})[code] = term
    return raw


def _overlay(base: dict[str, Any], path: Path) -> dict[str, Any]:
    """Lay a user's file over the built-in rubric; mappings merge, everything else replaces."""
    user = _read_yaml(path, "rubric")
    extends = user.pop("extends", "urs")
    if extends not in ("urs", "nothing"):
        raise InputError(f"{path}: extends: unknown rubric '{extends}'; allowed: urs, nothing")
    for required in ("name", "version"):
        if required not in user:
            raise InputError(
                f"{path}: {required}: missing; a rubric of your own needs a name and a version, "
                "so that its results are never mistaken for URS"
            )
    languages = user.get("languages")
    if languages is not None and not isinstance(languages, dict):
        raise InputError(f"{path}: languages: must be a mapping of language code to texts")
    for code, language in (languages or {}).items():
        if isinstance(language, dict) and "frame" in language:
            frame = path.parent / str(language["frame"])
            language |= {
                "frame": _read_text(frame, f"{path}: languages.{code}.frame"),
                "frame_source": frame.name,
            }
    return _merge(base, user) if extends == "urs" else user


def _merge(base: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in user.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _read_text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{what}: no file '{path}'") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{what}: cannot read '{path}' as UTF-8 text: {error}") from error


def _read_yaml(path: Path, what: str) -> dict[str, Any]:
    try:
        raw = read_yaml(_read_text(path, what))
    except yaml.YAMLError as error:
        raise InputError(f"{what}: '{path}' is not valid YAML: {error}") from error
    if not isinstance(raw, dict):
        raise InputError(f"{what}: '{path}' must hold a mapping with keys such as name, version, intents, criteria")
    return raw


def _describe(path: Path, error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"]) or "rubric"
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = f"unknown key; allowed: {choices(_allowed_keys(problem['loc']))}"
        lines.append(f"{path}: {key}: {message}" if problem["loc"] else f"{path}: {message}")
    return "\n".join(lines)


def _allowed_keys(loc: tuple[int | str, ...]) -> list[str]:
    from urs_inspect.rubrics.schema import Intent, Language, Name, Term

    if len(loc) <= 1:
        return [*Rubric.model_fields, "extends"]
    if "final" in loc:
        return list(Name.model_fields)
    if loc[0] == "languages":
        return [key for key in Language.model_fields if key != "frame_source"]
    if loc[0] == "intents" and "text" not in loc:
        return list(Intent.model_fields)
    return list(Term.model_fields)
