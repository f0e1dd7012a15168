"""Access to the voting page: hosts, origin, token, and headers that keep answers harmless."""

import hashlib
import hmac
import ipaddress
import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from urs_inspect._util import InputError

TOKEN_VARIABLE = "URS_INSPECT_TOKEN"  # noqa: S105 - a name, not a secret
HEADER = "x-urs-inspect"  # of every request that changes something; a foreign page cannot send it
_LARGEST_BODY = 8_192  # bytes of a request
_SHORTEST_TOKEN = 16

SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
        " 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}  # of every response

Refusal = Literal["host", "token", "origin", "size"]


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def choose_token(host: str) -> str:
    """The token of the page: `URS_INSPECT_TOKEN` if set, else a random one.

    None for loopback addresses.
    """
    given = os.environ.get(TOKEN_VARIABLE, "")
    if given and len(given) < _SHORTEST_TOKEN:
        raise InputError(
            f"{TOKEN_VARIABLE} has {len(given)} characters; at least {_SHORTEST_TOKEN} are needed"
        )
    return given or ("" if is_loopback(host) else secrets.token_urlsafe(32))


@dataclass(frozen=True)
class Guard:
    """Decides about requests."""

    host: str = "127.0.0.1"  # address that the server binds to
    token: str = field(default="", repr=False)  # empty for none
    port: int = 0  # part of the cookie's name, because cookies do not know ports

    def __post_init__(self) -> None:
        """Refuse to be open to others without a token."""
        if not self.token and not is_loopback(self.host):
            raise InputError(
                f"host '{self.host}' can be reached from other machines; that needs a token"
            )

    @property
    def cookie(self) -> str:
        """Name of the cookie that holds the pass."""
        return f"urs_inspect_{self.port}"

    @property
    def cookie_value(self) -> str:
        """What the cookie holds: not the token itself."""
        return hashlib.sha256(b"urs-inspect annotate\n" + _bytes(self.token)).hexdigest()

    def is_token(self, offered: str) -> bool:
        """Compare a token in constant time."""
        return hmac.compare_digest(_bytes(offered), _bytes(self.token))

    def refusal(
        self, method: str, headers: Mapping[str, str], cookies: Mapping[str, str]
    ) -> Refusal | None:
        """Why a request is refused, None if it is allowed; names of headers are in lower case.

        In this order: "host": the address in it is not ours, as when a foreign name is made to
        point here (DNS rebinding); "token": the cookie is missing or wrong; "origin": it would
        change something, and comes from elsewhere (CSRF); "size": its body is too large or of
        unknown size.
        """
        if not self._is_ours(headers.get("host", "")):
            return "host"
        cookie = cookies.get(self.cookie, "").encode()
        expected = self.cookie_value.encode()
        if self.token and not hmac.compare_digest(cookie, expected):
            return "token"
        if method in {"GET", "HEAD"}:
            return None
        if HEADER not in headers or not self._same_origin(headers):
            return "origin"
        length = headers.get("content-length", "")
        known = length.isascii() and length.isdecimal()
        if known and int(length) <= _LARGEST_BODY:
            return None
        return "size"

    def _is_ours(self, host: str) -> bool:
        name = _name(host)
        own_host = self.host.strip("[]").lower()
        if name in {"localhost", own_host} or is_loopback(name):
            return True
        if is_loopback(self.host):
            return False
        # A rebound name is never a bare address, so that any of ours may be used.
        own_names = {socket.gethostname().lower(), socket.getfqdn().lower()}
        return _is_address(name) or name in own_names

    @staticmethod
    def _same_origin(headers: Mapping[str, str]) -> bool:
        origin = headers.get("origin")
        if origin is not None:
            host_of_origin = urlsplit(origin).netloc
            if host_of_origin.lower() != headers["host"].lower():
                return False
        return headers.get("sec-fetch-site", "same-origin") == "same-origin"


def _bytes(token: str) -> bytes:
    return token.encode("utf-8", "surrogateescape")


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
