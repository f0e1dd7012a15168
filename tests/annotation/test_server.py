"""The pages for votes over HTTP, without a browser."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from tests.annotation.samples import ballot, ballots
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.annotation._access import HEADER, SECURITY_HEADERS, Guard
from urs_inspect.annotation._campaign import Campaign
from urs_inspect.annotation._pages import Page
from urs_inspect.annotation._server import create_app, listen, serve
from urs_inspect.annotation._vote_page import VotePage
from urs_inspect.annotation._votes import read_votes
from urs_inspect.discrepancy._ballots import Ballot

TOKEN = "a token of enough characters"
SENT = {HEADER: "1"}


@contextmanager
def visiting_page(
    page: Page[Any], base: str = "http://127.0.0.1", **options: Any
) -> Iterator[TestClient]:
    app = create_app(page, **options)
    with closing(page.campaign), TestClient(app, base_url=base, follow_redirects=False) as client:
        yield client


def visiting(made: Campaign, *base: str, **options: Any) -> AbstractContextManager[TestClient]:
    return visiting_page(VotePage(made), *base, **options)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Three ballots for `me`."""
    with visiting(Campaign(ballots(3), tmp_path / "votes", ["me"])) as found:
        yield found


def page_of(tmp_path: Path, **ballot: Any) -> str:
    """The page about one ballot."""
    responses = {"a": "x", "b": "y"} | ballot.pop("responses", {})
    with visiting(
        Campaign([Ballot.between("i", "q", responses, **ballot)], tmp_path, ["me"])
    ) as client:
        return client.get("/vote/me").text


def cast(client: TestClient, number: int, choice: str = "left", **changes: object) -> Any:
    body = {"ballot": ballot(number).id, "choice": choice, "seconds": 1.5, **changes}
    return client.post("/vote/me/cast", json=body, headers=SENT)


def test_one_person_is_led_to_a_page_that_names_no_model(client: TestClient) -> None:
    assert client.get("/").status_code == 303
    assert client.get("/").headers["location"] == "/vote/me?language=en"
    page = client.get("/vote/me").text
    assert all(words in page for words in ("First answer 0.", "Second answer 0.", 'lang="en"'))
    assert not any(model in page for model in ("apple", "pear"))


@pytest.mark.parametrize(
    ("code", "document", "page_language"),
    [
        ("ja", "ja", "en"),
        ("pt-BR", "pt-BR", "en"),
        ("zh", "zh", "zh"),
        ("", "en", "en"),
        ('"><script>', "en", "en"),
    ],
)
def test_the_document_has_the_language_of_questions_that_the_page_has_no_texts_in(
    code: str, document: str, page_language: str, tmp_path: Path
) -> None:
    page = page_of(tmp_path, language=code)
    assert f'<html lang="{document}">' in page
    assert f'<body lang="{page_language}">' in page


def test_the_answers_stand_where_the_vote_says(client: TestClient, tmp_path: Path) -> None:
    for number in range(3):
        page = client.get("/vote/me").text
        first_is_left = page.index(f"First answer {number}.") < page.index(
            f"Second answer {number}."
        )
        cast(client, number)
        vote = read_votes([tmp_path / "votes" / "me.jsonl"]).votes[number]
        assert vote.choice == vote.left == ("a" if first_is_left else "b")


def test_a_vote_answers_with_the_next_pair(client: TestClient) -> None:
    response = cast(client, 0, "tie")
    assert response.status_code == 200
    assert f'data-ballot="{ballot(1).id}"' in response.text
    assert f'data-last="{ballot(0).id}"' in response.text
    assert "1 of 3 done" in response.text
    cast(client, 1, "cannot_tell")
    assert "All done" in cast(client, 2).text
    undone = client.post("/vote/me/undo", json={"ballot": ballot(2).id}, headers=SENT)
    assert f'data-ballot="{ballot(2).id}"' in undone.text
    assert "2 of 3 done" in undone.text


def test_the_reference_is_folded(tmp_path: Path) -> None:
    page = page_of(tmp_path, reference="the *truth*")
    folded = page[page.index('<details class="card reference">') : page.index("the <em>truth</em>")]
    assert "Reference answer" in folded
    assert "Reference answer" not in page_of(tmp_path / "without")


def test_a_page_is_chinese_where_all_questions_are_or_a_visitor_asks(
    tmp_path: Path, client: TestClient
) -> None:
    assert "哪个回答更好" in client.get("/vote/me?language=zh").text
    assert "Which answer" in client.get("/vote/me?language=xx").text
    body = {"ballot": ballot(0).id, "choice": "tie", "seconds": 1}
    assert "已完成" in client.post("/vote/me/cast?language=zh", json=body, headers=SENT).text
    pairs = [replace(each, language="zh") for each in ballots(3)]
    with visiting(Campaign(pairs, tmp_path / "zh", ["me"])) as other:
        assert "哪个回答更好" in other.get("/vote/me").text
    with visiting(Campaign([*pairs, ballot(3)], tmp_path / "both", ["me"])) as other:
        assert "Which answer" in other.get("/vote/me").text


def test_a_blank_reference_is_none(tmp_path: Path) -> None:
    without = page_of(tmp_path / "1", reference="")
    assert page_of(tmp_path / "2", reference=" \n") == without
    assert page_of(tmp_path / "3", reference="So.") != without


def test_only_the_files_of_the_page_are_served(client: TestClient) -> None:
    assert client.get("/static/vote.js").status_code == 200
    for name in ("none.js", "..%2f_server.py", "_server.py", "vote.JS"):
        assert client.get(f"/static/{name}").status_code == 404


def test_a_server_writes_no_address_down_and_believes_no_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[uvicorn.Config, Any]] = []

    def run(server: uvicorn.Server, sockets: Any) -> None:
        started.append((server.config, sockets))

    monkeypatch.setattr(uvicorn.Server, "run", run)
    with (
        closing(Campaign(ballots(1), tmp_path, ["me"])) as made,
        closing(listen("127.0.0.1", 0)) as listener,
    ):
        app = create_app(VotePage(made))
        serve(app, listener)
    [(config, sockets)] = started
    assert config.app is app and sockets == [listener]
    assert not config.access_log  # addresses may hold the token
    assert not config.proxy_headers and not config.server_header


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/me",
        "/report",
        "/static/vote.js",
        "/static/session.js",
        "/none",
        "/vote/..%2fme",
        "/docs",
    ],
)
def test_every_response_is_protected_and_carries_no_script_or_style_of_its_own(
    client: TestClient, path: str
) -> None:
    check_protection(client.get("/vote/me" if path == "/me" else path), path)


def check_protection(response: Any, path: str) -> None:
    """A response has the headers that protect it, and no script or style of its own."""
    assert {name: response.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
    if not path.endswith(".js"):
        assert re.findall(r"<script(?![^>]*src=)", response.text) == []
        assert re.findall(r"<[^>]* (?:style|on\w+)=", response.text) == []
        assert re.findall(r"""(?:src|href|action)=["']?(?![/"'])[^\s>]+""", response.text) == []


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"ballot": "0" * 16}, 409, "'0000000000000000' ... not recorded"),
        ({"choice": "a"}, 422, "choice"),
        ({"seconds": -1}, 422, "seconds"),
        ({"seconds": "x"}, 422, "seconds"),
        ({"ballot": "x" * 101}, 422, "ballot"),
        ({"ballot": "x" * 9000}, 413, "too large"),
    ],
)
def test_what_does_not_fit_is_refused_with_words(
    client: TestClient,
    tmp_path: Path,
    changes: dict[str, Any],
    status: int,
    words: str,
) -> None:
    response = cast(client, 0, **changes)
    assert response.status_code == status
    assert tells(response.json()["problem"], words)
    assert [path.read_bytes() for path in tmp_path.rglob("me.jsonl")] == [b""]


def test_foreign_pages_cannot_vote(client: TestClient, tmp_path: Path) -> None:
    body = {"ballot": ballot(0).id, "choice": "left", "seconds": 1}
    for headers in (
        {},
        {**SENT, "Origin": "http://evil.test"},
        {**SENT, "Sec-Fetch-Site": "cross-site"},
    ):
        assert client.post("/vote/me/cast", json=body, headers=headers).status_code == 403
    assert client.get("/vote/me", headers={"Host": "evil.test"}).status_code == 421
    assert (
        client.options("/vote/me/cast", headers={"Origin": "http://evil.test"}).status_code == 403
    )
    assert (
        "access-control-allow-origin"
        not in client.get("/vote/me", headers={"Origin": "http://evil.test"}).headers
    )
    assert (tmp_path / "votes" / "me.jsonl").read_bytes() == b""


def test_a_full_disk_is_said_and_the_vote_not_counted(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        response = cast(client, 0)
    assert (response.status_code, response.json()) == (507, {"problem": "No space left on device"})
    assert "0 of 3 done" in client.get("/vote/me").text
    assert cast(client, 0).status_code == 200


def test_a_fault_of_ours_is_one_line_with_headers(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("secret path")

    monkeypatch.setattr("urs_inspect.annotation._pages.Page.session_page", fail)
    response = client.get("/vote/me")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert response.headers["content-security-policy"]


def test_anybody_may_come_if_nobody_is_named(tmp_path: Path) -> None:
    with visiting(Campaign(ballots(3), tmp_path)) as client:
        assert 'name="annotator"' in client.get("/").text
        # Opening an address makes no file; signing in does.
        response = client.get("/vote/小 明")
        assert response.status_code == 303
        assert 'value="小 明"' in client.get(response.headers["location"]).text
        assert list(tmp_path.iterdir()) == []
        entered = client.post("/enter", json={"annotator": "小 明"}, headers=SENT)
        page = client.get(entered.json()["address"])
        assert "Voting as 小 明" in page.text
        assert [path.name for path in tmp_path.iterdir()] == ["小 明.jsonl"]


@pytest.mark.parametrize("name", ["../me", "", "/etc/passwd", "a/b", "..", "x" * 41])
def test_names_that_are_paths_are_refused(tmp_path: Path, name: str) -> None:
    with visiting(Campaign(ballots(3), tmp_path / "votes")) as client:
        response = client.post("/enter", json={"annotator": name}, headers=SENT)
        assert response.status_code == 409
        assert "allowed are 1 to 40 letters" in response.json()["problem"]
    assert list(tmp_path.iterdir()) == []


def test_those_named_are_listed_and_others_refused(tmp_path: Path) -> None:
    with visiting(Campaign(ballots(3), tmp_path, ["me", "you"])) as client:
        start = client.get("/").text
        assert 'href="/vote/me?language=en"' in start
        assert 'href="/vote/you?language=en"' in start
        refused = client.get("/vote/eve")
        assert refused.status_code == 409
        assert tells(refused.text, "may not vote")


SCRIPT = "</script><script>alert(1)</script>"
IMAGE = "![x](http://evil.test)"


def test_hostile_names_and_texts_are_escaped(tmp_path: Path) -> None:
    asked = Ballot.between("i", SCRIPT, {"a": SCRIPT, "b": IMAGE}, language='en" onclick="x')
    with visiting(Campaign([asked], tmp_path)) as client:
        check_escaped(client)


def check_escaped(client: TestClient) -> None:
    """Pages on which a name, a question and an answer are `SCRIPT` and `IMAGE`."""
    assert "<script>q" not in client.get("/?annotator=%22%3E%3Cscript%3Eq").text
    address = client.post("/enter", json={"annotator": "me"}, headers=SENT).json()["address"]
    page = client.get(address).text
    assert not any(markup in page for markup in ("<script>alert", "<img", 'onclick="'))
    assert "alert(1)" in unescape(page)
    assert "<script>" not in client.get("/report?annotator=%22%3E%3Cscript%3E").text


def test_an_empty_answer_is_shown_as_one(tmp_path: Path) -> None:
    assert "(empty answer)" in page_of(tmp_path, responses={"a": " \n"})


def test_the_report_shows_people_and_no_models(tmp_path: Path) -> None:
    with visiting(Campaign(ballots(3), tmp_path, ["me", "you"])) as client:
        assert "No votes yet" in client.get("/report").text
        for name in ("me", "you"):
            for number, choice in enumerate(("tie", "tie", "cannot_tell")):
                body = {"ballot": ballot(number).id, "choice": choice, "seconds": 3}
                assert client.post(f"/vote/{name}/cast", json=body, headers=SENT).status_code == 200
        page = client.get("/report").text
        assert [f'<p class="number">{value}</p>' in page for value in ("100%", "1.00", "6")] == [
            True
        ] * 3
        assert "apple" not in page
        assert "一致" in client.get("/report?language=zh").text


def test_an_open_server_wants_the_token_first(tmp_path: Path) -> None:
    guard = Guard("0.0.0.0", TOKEN, 7580)
    with visiting(
        Campaign(ballots(3), tmp_path, ["me"]), "http://192.168.0.7:7580", guard=guard
    ) as client:
        for path in (
            "/",
            "/vote/me",
            "/report",
            "/static/vote.js",
            "/?token=wrong",
            "/vote/me?token=",
        ):
            response = client.get(path)
            assert response.status_code == 401
            assert "First answer" not in response.text
        assert tells(client.get("/?token=wrong").text, "token ... not right")
        assert client.get("/static/page.css").status_code == 200
        assert cast(client, 0).status_code == 401

        entered = client.get("/", params={"token": TOKEN})
        cookie = entered.headers["set-cookie"].lower()
        assert entered.status_code == 200
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert TOKEN not in cookie
        assert 'content="0; url=/?language=en"' in entered.text
        assert TOKEN not in entered.text
        assert client.get("/vote/me").status_code == 200
        assert cast(client, 0).status_code == 200


def test_a_port_in_use_is_one_line() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        for host, number, words in (
            (
                "127.0.0.1",
                port,
                f"cannot listen at 127.0.0.1 port {port}: .*choose another with --address",
            ),
            ("127.0.0.1", 99999, r"cannot listen at 127\.0\.0\.1 port 99999"),
            ("no.such.host.invalid", 0, r"cannot listen at no\.such\.host\.invalid"),
        ):
            with pytest.raises(InputError, match=words):
                listen(host, number)
