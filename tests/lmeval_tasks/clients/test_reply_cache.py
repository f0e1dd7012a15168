import sqlite3
from pathlib import Path

import pytest

from urs_inspect.errors import InputError
from urs_inspect.judging import Message, Reply
from urs_inspect.lmeval_tasks.clients import ReplyCache
from urs_inspect.lmeval_tasks.clients.reply_cache import key_of


def test_replies_are_kept_as_they_are_but_errors_are_none(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "replies.sqlite3"
    cache = ReplyCache(file)
    cache.put("a", Reply("", "stop", "error"))
    assert cache.get("a") is None
    cache.put("a", Reply("cut off", "max_tokens"))
    cache.put("b", Reply("whole"))
    cache.close()
    again = ReplyCache(file)
    assert again.get("a") == Reply("cut off", "max_tokens")
    again.drop("a")
    assert again.get("a") is None and again.get("b") == Reply("whole")
    again.close()
    assert ReplyCache(None).get("a") is None


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TABLE bills (a)", "a database of something else"),
        ("CREATE TABLE replies (key, reply)", "has the columns key, reply"),
    ],
)
def test_a_database_of_something_else_is_refused(tmp_path: Path, statement: str, said: str) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute(statement)
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(InputError, match=f"judge_cache: cannot use .*other.db.*{said}"):
        ReplyCache(tmp_path / "other.db")
    if "bills" in statement:
        assert (tmp_path / "other.db").read_bytes() == before


def test_what_cannot_be_found_is_a_miss(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = ReplyCache(tmp_path / "replies.sqlite3")
    assert isinstance(cache._connection, sqlite3.Connection)
    cache._connection.execute("INSERT INTO replies VALUES ('a', X'ff00', 'stop')")
    assert cache.get("a") is None
    cache._connection.execute("DROP TABLE replies")
    assert cache.get("b") is None and cache.get("c") is None
    assert caplog.text.count("judge_cache: replies may not be kept or found") == 1
    cache.close()


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be read as one" * 30)
    with pytest.raises(InputError, match=r"judge_cache: cannot use .*notes\.txt"):
        ReplyCache(tmp_path / "notes.txt")


def test_a_full_disk_loses_no_judgement(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "replies.sqlite3")
    assert isinstance(cache._connection, sqlite3.Connection)
    cache._connection.close()
    cache.put("a", Reply("whole"))  # does not raise


def test_a_key_depends_on_all_that_a_reply_depends_on() -> None:
    base = {"model": "m", "temperature": 0.0}
    message = [Message("user", "Case.")]
    keys = {
        key_of(base, message),
        key_of({**base, "temperature": 0.1}, message),
        key_of({**base, "model": "n"}, message),
        key_of(base, [Message("user", "Case")]),
        key_of(base, [Message("system", "Case.")]),
        key_of(base, [*message, *message]),
        key_of(base, [Message("user", "\ud800")]),
    }
    assert len(keys) == 7
