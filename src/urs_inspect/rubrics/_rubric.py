"""What a rubric is, as validated data, and how it is read.

The built-in one, and a user's file laid over it.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import permutations
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from urs_inspect._util import InputError, choices, read_yaml_file

FINAL = "final"
"""Key of the final score in every score dictionary."""

LOWEST = 1
"""The lowest score there is (URS paper, Tables 9 and 11)."""

HIGHEST = 10
"""The highest score there is (URS paper, Tables 9 and 11)."""

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[a-z0-9]+)?$")]
NonEmpty = Annotated[str, Field(min_length=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


class Name(_Model):
    """A name and the other spellings under which a judge may write it."""

    name: NonEmpty
    aliases: tuple[NonEmpty, ...] = ()


class Term(_Model):
    """The name and definition of an intent or criterion in one language.

    Attributes:
        name: Its name.
        definition: What it means, as the judge's prompt and the rating page state it.
        short: Its name for narrow columns, where `name` is long; else None.
        aliases: Other spellings under which a judge may write a criterion.
    """

    name: NonEmpty
    definition: NonEmpty
    short: NonEmpty | None = None
    aliases: tuple[NonEmpty, ...] = ()


class Intent(_Model):
    """One reason for which users come, and the criteria by which its answers are judged.

    Attributes:
        label: Its label in files of cases.
        group: The intents that it is reported with; URS reports its seven intents in six groups
            (URS paper, Table 2).
        criteria: Ids of its criteria, in the order of the prompt, one or more (URS paper, Table 6).
        text: Its name and definition by language.
    """

    label: NonEmpty
    group: NonEmpty
    criteria: tuple[Identifier, ...] = Field(min_length=1)
    text: dict[LanguageCode, Term]


class Language(_Model):
    """What the judge's prompt says in one language.

    Attributes:
        name: Name of the language.
        dataset_label: Its label in files of cases.
        final: Name of the final score, and the other spellings that a judge may write.
        ask_again: What a judge is asked after a reply that could not be read; `{reason}` is
            replaced.
        bands: What an answer in each score range is like, in the order of the rubric's `bands`.
        frame: The prompt as a Jinja template, which the texts above fill in.
        frame_source: Name of the file of the frame, for messages.
    """

    name: NonEmpty
    dataset_label: NonEmpty
    final: Name
    ask_again: NonEmpty
    bands: tuple[NonEmpty, ...]
    frame: NonEmpty
    frame_source: NonEmpty = "frame"


class Rubric(_Model):
    """A complete rubric.

    Attributes:
        name: Name of the rubric; results of different rubrics are never compared.
        version: Version of its texts.
        reference_score: What the reference answer is worth, 1 to 10 (8 in the URS paper).
        bands: The score ranges that the languages' `bands` texts describe, lowest first.
        dominant: Criteria that weigh most in the final score, where an intent has them.
        languages: Judge languages by code.
        criteria: Criterion texts by criterion and language.
        intents: Intents by id.

    Raises:
        ValueError: If parts do not fit each other, as an intent that names an unknown criterion
            (pydantic's `ValidationError`; `load_rubric` turns it into an `InputError`).
    """

    name: NonEmpty
    version: NonEmpty
    reference_score: int = Field(ge=LOWEST, le=HIGHEST)
    bands: tuple[tuple[int, int], ...] = Field(min_length=1)
    dominant: tuple[Identifier, ...] = ()
    languages: dict[LanguageCode, Language] = Field(min_length=1)
    criteria: dict[Identifier, dict[LanguageCode, Term]] = Field(min_length=1)
    intents: dict[Identifier, Intent] = Field(min_length=1)

    @field_validator("bands")
    @classmethod
    def _bands_cover_the_scale(
        cls, bands: tuple[tuple[int, int], ...]
    ) -> tuple[tuple[int, int], ...]:
        within = all(LOWEST <= edge <= HIGHEST for band in bands for edge in band)
        if not within or [n for low, high in bands for n in range(low, high + 1)] != list(
            range(LOWEST, HIGHEST + 1)
        ):
            raise ValueError(
                f"bands must cover {LOWEST} to {HIGHEST} once each, lowest first; got {list(bands)}"
            )
        return bands

    @model_validator(mode="after")
    def _references_resolve(self) -> Self:
        if FINAL in self.criteria:
            raise ValueError(
                f"criteria.{FINAL}: the name is taken by the final score; choose another"
            )
        for criterion in self.dominant:
            if criterion not in self.criteria:
                raise ValueError(
                    f"dominant: unknown criterion '{criterion}'; allowed: {choices(self.criteria)}"
                )
        for intent_id, intent in self.intents.items():
            if intent.group in ("all", *self.languages):  # columns of reports
                raise ValueError(
                    f"intents.{intent_id}.group: the name '{intent.group}' is taken; choose another"
                )
            for criterion in intent.criteria:
                if criterion not in self.criteria:
                    raise ValueError(
                        f"intents.{intent_id}.criteria: unknown criterion '{criterion}'; "
                        f"allowed: {choices(self.criteria)}"
                    )
            if len(set(intent.criteria)) < len(intent.criteria):
                raise ValueError(f"intents.{intent_id}.criteria: a criterion is listed twice")
        self._languages_are_complete()
        self._labels_are_unique()
        return self

    def _languages_are_complete(self) -> None:
        for code, language in self.languages.items():
            if len(language.bands) != len(self.bands):
                raise ValueError(
                    f"languages.{code}.bands: {len(language.bands)} texts, but there are"
                    f" {len(self.bands)} bands"
                )
            for criterion, texts in self.criteria.items():
                if code not in texts:
                    raise ValueError(f"criteria.{criterion}: no text in language '{code}'")
            for intent_id, intent in self.intents.items():
                if code not in intent.text:
                    raise ValueError(f"intents.{intent_id}.text: no text in language '{code}'")

    def _labels_are_unique(self) -> None:
        seen: dict[str, str] = {}
        for intent_id, intent in self.intents.items():
            for spelling in (intent_id, intent.label):
                if (other := seen.setdefault(normalise_key(spelling), intent_id)) != intent_id:
                    raise ValueError(
                        f"intents.{intent_id}.label: '{intent.label}' also names intent '{other}'"
                    )
        seen = {}
        for code, language in self.languages.items():
            label = language.dataset_label
            for spelling in {code, label.casefold()}:
                if (other := seen.setdefault(spelling, code)) != code:
                    raise ValueError(
                        f"languages.{code}.dataset_label: '{label}' also names language '{other}'"
                    )
        seen = {}
        for key, spelling in self._score_names():
            if (other := seen.setdefault(normalise_key(spelling), key)) != key:
                names = "the final score" if other == FINAL else f"criteria.{other}"
                raise ValueError(
                    f"criteria.{key}: '{spelling}' also names {names}; a judge's score could be"
                    " either"
                )

    def _score_names(self) -> Iterator[tuple[str, str]]:
        """Every score key with each of its spellings, the final score first."""
        finals = [language.final for language in self.languages.values()]
        for spelling in (
            FINAL,
            *self.final_spellings,
            *(alias for final in finals for alias in final.aliases),
        ):
            yield FINAL, spelling
        for criterion, texts in self.criteria.items():
            names = _singly_and_in_pairs(term.name for term in texts.values())
            for spelling in (
                criterion,
                *names,
                *(alias for term in texts.values() for alias in term.aliases),
            ):
                yield criterion, spelling

    @cached_property
    def score_keys(self) -> tuple[str, ...]:
        """Keys of every score dictionary: the final score, then all criteria."""
        return (FINAL, *self.criteria)

    @cached_property
    def keys_by_spelling(self) -> dict[str, str]:
        """Normalised spelling -> score key, over all languages: a judge may write any."""
        return {normalise_key(spelling): key for key, spelling in self._score_names()}

    @cached_property
    def final_spellings(self) -> frozenset[str]:
        """Normalised full names of the final score, without everyday words such as "total"."""
        names = _singly_and_in_pairs(language.final.name for language in self.languages.values())
        return frozenset(normalise_key(name) for name in names)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the whole rubric, frames included, as it stands in the log."""
        text = self.model_dump_json(exclude={"languages": {"__all__": {"frame_source"}}})
        return hashlib.sha256(text.encode()).hexdigest()

    def intent_id(self, spelling: str) -> str:
        """Id of the intent with this id or label in the data.

        Args:
            spelling: The id or label; width, case, blanks and punctuation do not matter.

        Returns:
            The id.

        Raises:
            InputError: If there is no such intent; the message lists them.
        """
        key = normalise_key(spelling)
        for intent_id, intent in self.intents.items():
            if key in (normalise_key(intent_id), normalise_key(intent.label)):
                return intent_id
        raise InputError(f"unknown intent '{spelling}'; allowed: {choices(self.intents)}")

    def language_code(self, spelling: str) -> str:
        """Code of the language with this code or label in the data.

        Args:
            spelling: The code or label; case and blanks around it do not matter.

        Returns:
            The code.

        Raises:
            InputError: If there is no such language; the message lists them.
        """
        for code, language in self.languages.items():
            if spelling.strip().casefold() in (code, language.dataset_label.casefold()):
                return code
        raise InputError(f"unknown language '{spelling}'; allowed: {choices(self.languages)}")


def _singly_and_in_pairs(names: Iterable[str]) -> list[str]:
    """Names, and every two joined: "事实正确性(Factuality)", as in the paper's Chinese prompt."""
    single = list(dict.fromkeys(names))
    return [*single, *(first + second for first, second in permutations(single, 2))]


@lru_cache(maxsize=4096)
def normalise_key(text: str) -> str:
    """Fold a key for comparison: width, case, blanks and punctuation do not matter.

    Args:
        text: The key.

    Returns:
        Its letters and digits, lower case; empty if it has none.

    Examples:
        >>> from urs_inspect.rubrics import normalise_key
        >>> normalise_key("Final Score：")
        'finalscore'
    """
    if text.isascii():
        return re.sub(r"[^a-z0-9]+", "", text.lower())
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


_BUILT_IN = Path(__file__).parent / "urs"
_LANGUAGES = ("en", "zh")


def load_rubric(rubric: str | None = None, prompt: str | None = None) -> Rubric:
    """Load the URS rubric, or a user's.

    Args:
        rubric: Path of a YAML file that adds to or replaces parts of the URS rubric
            (`docs/extending.md`). None for the URS rubric itself.
        prompt: Path of a Jinja file that replaces the frame of the prompt in every language.

    Returns:
        The validated rubric.

    Raises:
        InputError: If a file cannot be read or does not fit; the message names file, key and what
            is allowed.

    Examples:
        >>> from urs_inspect.rubrics import load_rubric
        >>> rubric = load_rubric()
        >>> rubric.intents["leisure"].criteria
        ('user_satisfaction', 'engagement', 'appropriateness', 'creativity', 'factuality')
    """
    if not rubric and not prompt:
        return _load_built_in()
    source = _BUILT_IN / "rubric.yaml"
    raw = _built_in()
    if rubric:
        source = Path(rubric).expanduser().resolve()
        raw = _overlay(raw, source)
    if prompt:
        path = Path(prompt).expanduser().resolve()
        frame = _read_text(path, "prompt")
        if not frame.strip():
            raise InputError(f"prompt: '{path}' is empty")
        languages = raw.get("languages")
        for language in languages.values() if isinstance(languages, dict) else ():
            if isinstance(language, dict):
                language |= {"frame": frame, "frame_source": path.name}
    try:
        return Rubric.model_validate(raw)
    except ValidationError as error:
        raise InputError(_describe(source, error)) from error


@lru_cache(maxsize=1)
def _load_built_in() -> Rubric:
    return Rubric.model_validate(_built_in())


def _built_in() -> dict[str, Any]:
    raw = _read_yaml(_BUILT_IN / "rubric.yaml")
    raw |= {"languages": {}, "criteria": {}}
    for code in _LANGUAGES:
        text = _read_yaml(_BUILT_IN / f"text.{code}.yaml")
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
    user = _read_yaml(path)
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
    if isinstance(languages, list):
        if extends != "urs":
            raise InputError(
                f"{path}: languages: a list chooses among those of urs; here it must be a mapping"
            )
        base = _only(base, languages, path)
        del user["languages"]
        languages = None
    if languages is not None and not isinstance(languages, dict):
        raise InputError(f"{path}: languages: must be a mapping of language code to texts")
    for code, language in (languages or {}).items():
        if isinstance(language, dict) and "frame" in language:
            frame = path.parent / str(language["frame"])
            language |= {
                "frame": _read_text(frame, f"{path}: languages.{code}.frame"),
                "frame_source": frame.name,
            }
    if extends == "urs":
        return _merge(base, user)
    return user


def _only(base: dict[str, Any], codes: Sequence[object], path: Path) -> dict[str, Any]:
    """The built-in rubric with some of its languages only.

    A user then need not write texts in the others.
    """
    if not codes or not set(map(str, codes)) <= base["languages"].keys():
        raise InputError(
            f"{path}: languages: a list may name {choices(base['languages'])}, got {choices(codes)}"
        )
    return {
        **base,
        "languages": {code: texts for code, texts in base["languages"].items() if code in codes},
    }


def _merge(base: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in user.items():
        old = merged.get(key)
        merged[key] = value
        if isinstance(old, dict) and isinstance(value, dict):
            merged[key] = _merge(old, value)
    return merged


def _read_text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{what}: no file '{path}'") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{what}: cannot read '{path}' as UTF-8 text: {error}") from error


def _read_yaml(path: Path) -> dict[str, Any]:
    raw = read_yaml_file(path, "rubric")
    if not isinstance(raw, dict):
        raise InputError(
            f"rubric: '{path}' must hold a mapping with keys such as name, version, intents,"
            " criteria"
        )
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
    if len(loc) <= 1:
        return [*Rubric.model_fields, "extends"]
    if "final" in loc:
        return list(Name.model_fields)
    if loc[0] == "languages":
        return [key for key in Language.model_fields if key != "frame_source"]
    if loc[0] == "intents" and "text" not in loc:
        return list(Intent.model_fields)
    return list(Term.model_fields)
