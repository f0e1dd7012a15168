"""The voting page over HTTP, without a browser."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.annotation.samples import ballot, ballots
from urs_inspect._util import InputError
from urs_inspect.annotation.access import HEADER, SECURITY_HEADERS, Guard
from urs_inspect.annotation.campaign import Campaign
from urs_inspect.annotation.server import create_app, listen
from urs_inspect.annotation.votes import read_votes
from urs_inspect.discrepancy.ballots import Ballot

TOKEN = "a token of enough characters"
SENT = {HEADER: "1"}


@contextmanager
def visiting(
    directory: Path,
    *annotators: str,
    made: tuple[Ballot, ...] = ballots(3),
    base: str = "http://127.0.0.1",
    **options: Any,
) -> Iterator[TestClient]:
    campaign = Campaign(made, directory, annotators)
    with TestClient(create_app(campaign, **options), base_url=base, follow_redirects=False) as client:
        yield client
    campaign.close()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with visiting(tmp_path, "me") as found:
        yield found


def cast(client: TestClient, number: int, choice: str = "left", **changes: object) -> Any:
    body = {"ballot": ballot(number).id, "choice": choice, "seconds": 1.5, **changes}
    return client.post("/vote/me/cast", json=body, headers=SENT)


def test_one_person_is_led_to_the_booth(client: TestClient) -> None:
    response = client.get("/")
    assert (response.status_code, response.headers["location"]) == (303, "/vote/me?language=en")


def test_the_page_names_no_model(client: TestClient) -> None:
    page = client.get("/vote/me").text
    assert "First answer 0." in page
    assert "Second answer 0." in page
    assert "apple" not in page
    assert "pear" not in page
    assert 'lang="en"' in page


def test_the_answers_stand_where_the_vote_says(client: TestClient, tmp_path: Path) -> None:
    for number in range(3):
        page = client.get("/vote/me").text
        first_is_left = page.index(f"First answer {number}.") < page.index(f"Second answer {number}.")
        cast(client, number)
        vote = read_votes([tmp_path / "me.jsonl"]).votes[number]
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


def test_chinese_is_asked_for_or_set(tmp_path: Path, client: TestClient) -> None:
    assert "哪个回答更好" in client.get("/vote/me?language=zh").text
    assert "Which answer" in client.get("/vote/me?language=xx").text
    assert (
        "已完成"
        in client.post(
            "/vote/me/cast?language=zh", json={"ballot": ballot(0).id, "choice": "tie", "seconds": 1}, headers=SENT
        ).text
    )
    with visiting(tmp_path / "zh", "me", language="zh") as other:
        assert "哪个回答更好" in other.get("/vote/me").text


@pytest.mark.parametrize("path", ["/", "/vote/me", "/report", "/static/vote.js", "/none", "/vote/..%2fme", "/docs"])
def test_every_response_has_the_security_headers(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert {name: response.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS


def test_pages_carry_no_script_and_no_style_of_their_own(client: TestClient) -> None:
    for path in ("/vote/me", "/report", "/none"):
        page = client.get(path).text
        assert re.findall(r"<script(?![^>]*src=)", page) == []
        assert re.findall(r"<[^>]* (?:style|on\w+)=", page) == []
        assert re.findall(r"""(?:src|href|action)=["']?(?![/"'])[^\s>]+""", page) == []


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"ballot": "0" * 16}, 409, "no ballot '0000000000000000' here; the vote was not recorded"),
        ({"choice": "a"}, 422, "choice"),
        ({"seconds": -1}, 422, "seconds"),
        ({"seconds": "x"}, 422, "seconds"),
        ({"ballot": "x" * 101}, 422, "ballot"),
        ({"ballot": "x" * 9000}, 413, "too large"),
    ],
)
def test_what_is_no_vote_is_refused_with_words(
    client: TestClient, tmp_path: Path, changes: dict[str, Any], status: int, words: str
) -> None:
    response = cast(client, 0, **changes)
    assert response.status_code == status
    assert words in response.json()["problem"]
    assert (tmp_path / "me.jsonl").read_bytes() == b""


def test_foreign_pages_cannot_vote(client: TestClient, tmp_path: Path) -> None:
    body = {"ballot": ballot(0).id, "choice": "left", "seconds": 1}
    for headers in ({}, {**SENT, "Origin": "http://evil.test"}, {**SENT, "Sec-Fetch-Site": "cross-site"}):
        assert client.post("/vote/me/cast", json=body, headers=headers).status_code == 403
    assert client.get("/vote/me", headers={"Host": "evil.test"}).status_code == 421
    assert client.options("/vote/me/cast", headers={"Origin": "http://evil.test"}).status_code == 403
    assert "access-control-allow-origin" not in client.get("/vote/me", headers={"Origin": "http://evil.test"}).headers
    assert (tmp_path / "me.jsonl").read_bytes() == b""


def test_a_full_disk_is_said_and_the_vote_not_counted(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        response = cast(client, 0)
    assert (response.status_code, response.json()) == (507, {"problem": "No space left on device"})
    assert "0 of 3 done" in client.get("/vote/me").text
    assert cast(client, 0).status_code == 200


def test_a_fault_of_ours_is_one_line_with_headers(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("secret path")

    monkeypatch.setattr("urs_inspect.annotation.pages.session_page", fail)
    response = client.get("/vote/me")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert response.headers["content-security-policy"]


def test_anybody_may_come_if_nobody_is_named(tmp_path: Path) -> None:
    with visiting(tmp_path) as client:
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
    with visiting(tmp_path / "votes") as client:
        response = client.post("/enter", json={"annotator": name}, headers=SENT)
        assert response.status_code == 409
        assert "allowed are 1 to 40 letters" in response.json()["problem"]
    assert not (tmp_path / "votes").exists()
    assert list(tmp_path.iterdir()) == []


def test_those_named_are_listed_and_others_refused(tmp_path: Path) -> None:
    with visiting(tmp_path, "me", "you") as client:
        start = client.get("/").text
        assert 'href="/vote/me?language=en"' in start
        assert 'href="/vote/you?language=en"' in start
        refused = client.get("/vote/eve")
        assert refused.status_code == 409
        assert "may not vote here" in refused.text


def test_hostile_names_and_texts_are_escaped(tmp_path: Path) -> None:
    made = (
        Ballot.between("i", "<script>q</script>", {"a": "</script><script>1</script>", "b": "![x](http://evil.test)"}),
    )
    with visiting(tmp_path, made=made) as client:
        assert "<script>q" not in client.get("/?annotator=%22%3E%3Cscript%3Eq").text
        client.post("/enter", json={"annotator": "me"}, headers=SENT)
        page = client.get("/vote/me").text
        assert "<script>q" not in page
        assert "<script>1" not in page
        assert "<img" not in page
        report = client.get("/report?annotator=%22%3E%3Cscript%3E").text
        assert "<script>" not in report


def test_the_language_of_a_ballot_is_escaped(tmp_path: Path) -> None:
    made = (Ballot.between("i", "q", {"a": "x", "b": "y"}, language='en" onclick="x'),)
    with visiting(tmp_path, "me", made=made) as client:
        assert 'onclick="' not in client.get("/vote/me").text


def test_an_empty_answer_is_shown_as_one(tmp_path: Path) -> None:
    made = (Ballot.between("i", "q", {"a": " \n", "b": "y"}),)
    with visiting(tmp_path, "me", made=made) as client:
        assert "(empty answer)" in client.get("/vote/me").text


def test_the_reference_is_folded(tmp_path: Path) -> None:
    made = (Ballot.between("i", "q", {"a": "x", "b": "y"}, reference="the *truth*"),)
    with visiting(tmp_path, "me", made=made) as client:
        page = client.get("/vote/me").text
        folded = page[page.index('<details class="card reference">') : page.index("the <em>truth</em>")]
        assert "Reference answer" in folded
    with visiting(tmp_path, "you") as client:
        assert "Reference answer" not in client.get("/vote/you").text


def test_the_report_shows_people_and_no_models(tmp_path: Path) -> None:
    with visiting(tmp_path, "me", "you") as client:
        assert "No votes yet" in client.get("/report").text
        for name in ("me", "you"):
            for number, choice in enumerate(("tie", "tie", "cannot_tell")):
                body = {"ballot": ballot(number).id, "choice": choice, "seconds": 3}
                assert client.post(f"/vote/{name}/cast", json=body, headers=SENT).status_code == 200
        page = client.get("/report").text
        assert '<p class="number">100%</p>' in page
        assert '<p class="number">1.00</p>' in page
        assert '<p class="number">6</p>' in page
        assert "apple" not in page
        assert "一致" in client.get("/report?language=zh").text


def test_an_open_server_wants_the_token_first(tmp_path: Path) -> None:
    guard = Guard("0.0.0.0", TOKEN, 7580)
    with visiting(tmp_path, "me", base="http://192.168.0.7:7580", guard=guard) as client:
        for path in ("/", "/vote/me", "/report", "/static/vote.js", "/?token=wrong", "/vote/me?token="):
            response = client.get(path)
            assert response.status_code == 401
            assert "First answer" not in response.text
        assert "This token is not right" in client.get("/?token=wrong").text
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
        with pytest.raises(InputError, match=f"cannot listen at 127.0.0.1 port {port}: .*choose another with --port"):
            listen("127.0.0.1", port)
    with pytest.raises(InputError, match=r"cannot listen at 127\.0\.0\.1 port 99999"):
        listen("127.0.0.1", 99999)
    with pytest.raises(InputError, match=r"cannot listen at no\.such\.host\.invalid"):
        listen("no.such.host.invalid", 0)
