import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urs_inspect._util import InputError
from urs_inspect.samer.engines.pooling import ReplyError
from urs_inspect.samer.engines.pooling_api import base_address, failure, pooling_body, read_replies, shape_of


@pytest.mark.parametrize(("given_", "wanted"), [
    ("http://host:8000", "http://host:8000"),
    ("http://host:8000/", "http://host:8000"),
    (" http://host:8000/v1/ ", "http://host:8000"),
    ("https://host/samer/v1", "https://host/samer"),
    ("http://[::1]:8000", "http://[::1]:8000"),
])  # fmt: skip
def test_addresses(given_: str, wanted: str) -> None:
    assert base_address(given_) == wanted


@pytest.mark.parametrize(
    "wrong", ["http://", "host:8000", "ftp://host", "http://host:x", "http://host:99999", "", "/a/b"]
)
def test_what_is_no_address(wrong: str) -> None:
    with pytest.raises(InputError, match=r"expected such as http://127\.0\.0\.1:8000"):
        base_address(wrong)


@pytest.mark.parametrize("secret", ["http://me:pass@host", "http://host?key=pass", "http://host#pass"])
def test_an_address_may_hold_no_secret_and_the_error_does_not_repeat_it(secret: str) -> None:
    with pytest.raises(InputError, match="set VLLM_API_KEY") as caught:
        base_address(secret)
    assert "pass" not in str(caught.value)


def test_bodies() -> None:
    assert pooling_body("m", [(1, 2)]) == {
        "model": "m", "input": [[1, 2]], "use_activation": False, "encoding_format": "float",
    }  # fmt: skip
    packed = pooling_body("m", [(1,), (2,)], "token_embed")
    assert (packed["input"], packed["task"], packed["encoding_format"]) == ([[1], [2]], "token_embed", "base64")
    assert (packed["embed_dtype"], packed["endianness"]) == ("float32", "little")


def test_replies_come_in_the_order_of_the_prompts() -> None:
    first, second = np.array([[1.5, -2.0]], "<f4"), np.array([[3.0], [0.25]], "<f4")
    body = {
        "data": [
            {"index": 1, "data": second.tolist()},
            {"index": 0, "data": base64.b64encode(first.tobytes()).decode()},
        ]
    }
    replies = read_replies(body, [(1, 2), (2, 1)])
    np.testing.assert_array_equal(replies[0], first)
    np.testing.assert_array_equal(replies[1], second)
    assert {reply.dtype for reply in replies} == {np.dtype(np.float32)}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "index", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(_JSON)
def test_any_json_is_read_or_refused(body: object) -> None:
    """Nothing but `ReplyError` comes out, whatever a server says."""
    try:
        replies = read_replies(body, [(2, 2)])
    except ReplyError as error:
        assert error.mode == "wrong_shape"
        assert "\n" not in error.detail
    else:
        assert [reply.shape for reply in replies] == [(2, 2)]


@given(st.text(max_size=300), st.sampled_from([302, 400, 401, 404, 413, 429, 500, 503]))
def test_any_error_text_becomes_one_short_line(text: str, status: int) -> None:
    error = failure(status, text)
    assert len(error.detail) < 230
    assert len(error.detail.splitlines()) == 1


@pytest.mark.parametrize(("text", "said"), [
    ('{"error": {"message": "a\\nb"}}', "status 400: a b"),
    ('{"detail": "not here"}', "status 400: not here"),
    ('{"error": "plain"}', "status 400: plain"),
    ("", "status 400: no message"),
    ("<html>x</html>", "status 400: <html>x</html>"),
])  # fmt: skip
def test_a_servers_own_words(text: str, said: str) -> None:
    assert failure(400, text).detail == said


def test_shapes() -> None:
    assert shape_of([[1, 2], [3, 4]]) == (2, 2)
    assert shape_of([1.0]) == (1,)
    for ragged in ([[1], [1, 2]], "text", [["a"]], {"a": 1}):
        with pytest.raises(ReplyError):
            shape_of(ragged)
