"""Finds personal data by libraries and rules; nothing is sent anywhere and nothing is fetched."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from urs_inspect._util import InputError
from urs_inspect.survey._questions import load

_MODULES = ("datasketch", "phonenumbers", "stdnum")
_INSTALL = "pip install 'urs-inspect[cases]'"


def library(module: str) -> Any:
    """Import a module of an optional library; `InputError` says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"importing cases needs {module}, which cannot be imported: {_INSTALL}"
        ) from error


def check_libraries() -> None:
    """Raise `InputError` unless all optional libraries are installed."""
    for module in _MODULES:
        library(module)


_DIGITS = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w])")
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_CHINESE_ID = re.compile(r"(?<![0-9A-Za-z])\d{17}[\dXx](?![0-9A-Za-z])")
_SSN = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_REGIONS = {"zh": ("CN",), "en": ("US", "GB")}
_MOBILE = re.compile(r"1[3-9]\d{9}")
_CARD_STARTS = ("2", "3", "4", "5", "6")


@dataclass(frozen=True, order=True)
class Finding:
    """A piece of a text that may be personal."""

    start: int
    end: int  # just after its last character
    kind: str


def find_personal(text: str, language: str = "", country: str = "") -> tuple[Finding, ...]:
    """Find what may be personal data.

    Telephone numbers are found by the library phonenumbers (those valid in the country, or else
    where the language is spoken: CN, or US and GB; a number without country code must be written in
    groups or be a Chinese mobile number, for ten digits in a row are mostly a number and nothing
    else), numbers of cards (Luhn), of accounts (IBAN) and of Chinese and American identity (with
    their check digits or ranges) by the library python-stdnum, and e-mail addresses, profile pages,
    postal addresses, names after words such as "my name is", documents, accounts of messengers,
    dates of birth and North American telephone numbers that are not in use by the rules of
    `personal.yaml`. What no rule knows, such as a full name by
    itself, is not found.

    `language` is `en` or `zh`, or empty if not known; `country` counts if it is a code of two
    letters (ISO 3166-1). Findings are in the order of the text and may overlap.
    """
    telephones = _telephones(text, language, country.strip().upper())
    return tuple(sorted({*_numbers(text), *telephones, *_by_rules(text)}))


def mask(text: str, findings: Iterable[Finding]) -> str:
    """The text with `[kind]` in place of each finding; overlapping ones become one."""
    merged: list[Finding] = []
    for finding in sorted(findings):
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            end = max(last.end, finding.end)
            merged[-1] = Finding(last.start, end, last.kind)
        else:
            merged.append(finding)
    for finding in reversed(merged):
        text = f"{text[: finding.start]}[{finding.kind}]{text[finding.end :]}"
    return text


def kinds(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The kinds that occur, each once."""
    return tuple(dict.fromkeys(finding.kind for finding in findings))


def _numbers(text: str) -> Iterator[Finding]:
    chinese = library("stdnum.cn.ric")
    american = library("stdnum.us.ssn")
    for pattern, kind, is_valid in (
        (_CHINESE_ID, "identity number", lambda number: chinese.is_valid(number.upper())),
        (_SSN, "identity number", american.is_valid),
        (_DIGITS, "card number", _is_card),
        (_IBAN, "account number", library("stdnum.iban").is_valid),
    ):
        for match in pattern.finditer(text):
            if is_valid(match.group()):
                yield Finding(*match.span(), kind)


def _is_card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    return (
        digits[0] in _CARD_STARTS
        and len(set(digits)) > 1
        and bool(library("stdnum.luhn").is_valid(digits))
    )


def _telephones(text: str, language: str, country: str) -> Iterator[Finding]:
    phonenumbers = library("phonenumbers")
    regions: Sequence[str] = _REGIONS.get(language, ("US", "GB", "CN"))
    if country in phonenumbers.SUPPORTED_REGIONS:
        regions = (country,)
    for region in regions:
        for match in phonenumbers.PhoneNumberMatcher(
            text, region, leniency=phonenumbers.Leniency.VALID
        ):
            written = match.raw_string
            if "+" in written or not written.isdigit() or _MOBILE.fullmatch(written):
                yield Finding(match.start, match.end, "telephone number")


def _by_rules(text: str) -> Iterator[Finding]:
    for kind, pattern in _rules():
        for match in pattern.finditer(text):
            name = "found" if "found" in pattern.groupindex and match["found"] is not None else 0
            yield Finding(*match.span(name), kind)


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rules = load("personal.yaml")["rules"]
    return tuple((rule["kind"], re.compile(rule["pattern"])) for rule in rules)
