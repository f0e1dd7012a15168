"""Who may talk to the page."""

import socket

import pytest

from urs_inspect._util import InputError
from urs_inspect.annotation._access import (
    SECURITY_HEADERS,
    TOKEN_VARIABLE,
    Guard,
    choose_token,
    is_loopback,
)

TOKEN = "a token of enough characters"
HERE = Guard(port=1)
OPEN = Guard("0.0.0.0", TOKEN, 7580)


def post(**headers: str) -> dict[str, str]:
    usual = {"host": "127.0.0.1:1", "x-urs-inspect": "1", "content-length": "10"}
    return {**usual, **{name.replace("_", "-"): value for name, value in headers.items()}}


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.8.8", "localhost", "LOCALHOST", "::1", "[::1]"]
)
def test_loopback(host: str) -> None:
    assert is_loopback(host)
    assert (
        HERE.refusal("GET", {"host": f"[{host}]:1" if host == "::1" else f"{host}:1"}, {}) is None
    )
    assert HERE.refusal("GET", {"host": "localhost"}, {}) is None


@pytest.mark.parametrize(
    "host",
    [
        "0.0.0.0",
        "::",
        "192.168.0.1",
        "evil.test",
        "127.0.0.1.evil.test",
        "localhost.evil.test",
        "",
        "[",
    ],
)
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(InputError, match=r"other machines.*token"):
        Guard(host)
    for rebound in (host, f"{host}:1"):
        assert HERE.refusal("GET", {"host": rebound}, {}) == "host"
    assert HERE.refusal("GET", {}, {}) == "host"


def test_an_open_server_answers_to_its_addresses_only() -> None:
    passes = {OPEN.cookie: OPEN.cookie_value}
    for host in (
        "192.168.0.1:7580",
        "[2001:db8::1]:7580",
        f"{socket.gethostname()}:7580",
        "localhost",
    ):
        assert OPEN.refusal("GET", {"host": host}, passes) is None
    assert OPEN.refusal("GET", {"host": "evil.test"}, passes) == "host"
    assert Guard("votes.test", TOKEN).refusal("GET", {"host": "votes.test"}, {}) == "token"


@pytest.mark.parametrize(
    ("bound", "asked"),
    [
        ("Votes.Test", "votes.test:7580"),
        ("votes.test", "VOTES.test"),
        ("[2001:DB8::1]", "[2001:db8::1]:7580"),
        ("[::1]", "[::1]:7580"),
    ],
)
def test_names_go_by_any_case_and_addresses_with_and_without_brackets(
    bound: str, asked: str
) -> None:
    guard = Guard(bound, TOKEN, 7580)
    assert guard.refusal("GET", {"host": asked}, {}) == "token"
    assert guard.refusal("GET", {"host": asked}, {guard.cookie: guard.cookie_value}) is None
    assert guard.refusal("GET", {"host": "other.test"}, {}) == "host"


def test_an_open_server_demands_the_cookie() -> None:
    host = {"host": "192.168.0.1:7580"}
    assert OPEN.refusal("GET", host, {}) == "token"
    assert (
        OPEN.refusal("GET", host, {OPEN.cookie: TOKEN}) == "token"
    )  # the token itself is not the pass
    assert OPEN.refusal("GET", host, {OPEN.cookie: "ü"}) == "token"
    assert OPEN.refusal("POST", {**post(), **host}, {}) == "token"
    assert OPEN.refusal("POST", {**post(), **host}, {OPEN.cookie: OPEN.cookie_value}) is None
    assert OPEN.is_token(TOKEN)
    assert not OPEN.is_token(TOKEN + "x")
    assert not OPEN.is_token("\udcff")
    assert TOKEN not in repr(OPEN)


@pytest.mark.parametrize(
    "headers",
    [
        *(post(origin=origin) for origin in ("http://evil.test", "null", "http://127.0.0.1:2")),
        *(post(sec_fetch_site=site) for site in ("cross-site", "same-site")),
        {"host": "127.0.0.1:1", "content-length": "10"},
    ],
)
def test_what_changes_something_must_come_from_the_page(headers: dict[str, str]) -> None:
    assert HERE.refusal("POST", headers, {}) == "origin"
    assert HERE.refusal("DELETE", headers, {}) == "origin"
    assert (
        HERE.refusal("POST", post(origin="http://127.0.0.1:1", sec_fetch_site="same-origin"), {})
        is None
    )


@pytest.mark.parametrize("length", ["8193", "", "-1", "1e3", "١"])
def test_bodies_are_small(length: str) -> None:
    assert HERE.refusal("POST", post(content_length=length), {}) == "size"
    assert HERE.refusal("POST", post(content_length="8192"), {}) is None


def test_the_token_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    assert choose_token("127.0.0.1") == ""
    one, two = choose_token("0.0.0.0"), choose_token("0.0.0.0")
    assert one != two
    assert len(one) >= 43  # 32 bytes in base64
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert choose_token("127.0.0.1") == choose_token("0.0.0.0") == TOKEN
    monkeypatch.setenv(TOKEN_VARIABLE, "just 16 of them.")
    assert choose_token("0.0.0.0") == "just 16 of them."
    for short in ("short", "only 15 of them"):
        monkeypatch.setenv(TOKEN_VARIABLE, short)
        with pytest.raises(InputError, match=f"URS_INSPECT_TOKEN.*{len(short)} characters.*16"):
            choose_token("127.0.0.1")


def test_the_policy_allows_nothing_but_our_own() -> None:
    policy = dict(
        part.split(" ", 1) for part in SECURITY_HEADERS["Content-Security-Policy"].split("; ")
    )
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert set(policy.values()) == {"'none'", "'self'"}
