"""Personal data is found and masked; numbers and names of other kinds are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.survey import _personal as libraries
from urs_inspect.survey._personal import Finding, find_personal, kinds, mask


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("Mail me at jane.roe+x@mail.example.co.uk, please", "e-mail", "jane.roe+x@mail.example.co.uk"),
        ("我的邮箱是abc123@example.com。", "e-mail", "abc123@example.com"),
        ("call +44 20 7946 0958 today", "telephone number", "+44 20 7946 0958"),
        ("my number: 020 7946 0958", "telephone number", "020 7946 0958"),
        ("我的电话是13812345678，谢谢", "telephone number", "13812345678"),
        ("call 555-123-4567 after six", "telephone number", "555-123-4567"),
        ("reach me on (555) 123-4567.", "telephone number", "(555) 123-4567"),
        ("fax: 555.123.4567", "telephone number", "555.123.4567"),
        ("my phone number is 555 123 4567", "telephone number", "555 123 4567"),
        ("card 4111 1111 1111 1111 declined", "card number", "4111 1111 1111 1111"),
        ("pay to GB82 WEST 1234 5698 7654 32 now", "account number", "GB82 WEST 1234 5698 7654 32"),
        ("身份证 11010519491231002X 怎么查", "identity number", "11010519491231002X"),
        ("My SSN is 536-90-4399.", "identity number", "536-90-4399"),
        ("身份证号：A1234567，如何补办", "identity document", "A1234567"),
        ("my passport number is X1234567 and", "identity document", "X1234567"),
        ("Hi, my name is Jane Roe and I need", "name", "Jane Roe"),
        ("My name's Steve", "name", "Steve"),
        ("你好，我叫张小明，今年", "name", "张小明"),
        ("Thanks!\nBest regards,\nJane Roe", "name", "Jane Roe"),
        ("I live at 12 Old Mill Road, Springfield", "postal address", "12 Old Mill Road, Springfield"),
        ("寄到北京市朝阳区某某东大街6号", "postal address", "寄到北京市朝阳区某某东大街6号"),
        ("see linkedin.com/in/jane-roe-1 for", "profile page", "linkedin.com/in/jane-roe-1"),
        ("我的微信号：jane_roe88", "messenger account", "jane_roe88"),
        ("我的生日是1990年1月2日", "date of birth", "1990年1月2"),
        ("I was born on 2 March 1990", "date of birth", "2 March 1990"),
        ("git clone https://jane:secret@host.example/x", "login in address", "https://jane:secret@host.example/x"),
    ],
)  # fmt: skip
def test_found(text: str, kind: str, found: str) -> None:
    language = "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en"
    hits = {(one.kind, text[one.start : one.end]) for one in find_personal(text, language)}
    assert (kind, found) in hits


@pytest.mark.parametrize(
    "text",
    [
        "INT_MAX is 2147483647, why?",
        "1000000007 is a prime",
        "What is 12345678 * 87654321?",
        "Tell me about Albert Einstein, born on 14 March 1879.",
        "@property\ndef x(self): ...",
        "a @ b in numpy",
        "我叫不出名字",
        "my name is not important",
        "Call me Ishmael? no: call me maybe",
        "https://example.org/path?x=1",
        "3.14159265358979323846",
        "0000000000000000",
        "求 1234567890123456 的约数",
        "the years 2023-12-31 and 2024-01-01",
        "from 2023-2024, pages 200-300 and 1990-2000",
        "The game ended 102-98, the series 4-3, and sets 6-4, 7-6",
        "add 200 300 4000 to the list",
        "ranges 100-200-3000 and 250.000.0000.1",
        "ISBN 978-316-148410-0, version 3.141.5926 and address 192.168.100.1000",
        "part 555-123-4567-89 and row 2-555-123-4567",
        "call 300 times",
        "北京的路况如何",
        "How far is it from Main Street to the station?",
    ],
)
def test_not_found(text: str) -> None:
    expected = (
        ("name",) if "Ishmael" in text else ()
    )  # a name in a quotation is a name for the rules
    assert kinds(find_personal(text, "en")) == expected


def test_the_country_says_how_telephone_numbers_look() -> None:
    text = "Ruf an: 030 901820"
    assert kinds(find_personal(text, "en", "DE")) == ("telephone number",)
    assert kinds(find_personal(text, "en", "Germany")) == ()


def test_kinds_are_in_the_order_in_which_they_come_first() -> None:
    found = [Finding(0, 1, "name"), Finding(1, 2, "e-mail"), Finding(3, 4, "name")]
    assert kinds(found) == ("name", "e-mail")
    assert kinds(reversed(found[:2])) == ("e-mail", "name")
    assert kinds([]) == ()


def test_masking_joins_what_overlaps() -> None:
    text = "abcdefghij"
    assert mask(text, [Finding(1, 4, "x"), Finding(3, 6, "y"), Finding(8, 9, "z")]) == "a[x]gh[z]j"
    assert mask(text, []) == text
    # What lies within another one, beside it, or begins where it does.
    assert mask(text, [Finding(1, 8, "x"), Finding(3, 5, "y")]) == "a[x]ij"
    assert mask(text, [Finding(1, 4, "x"), Finding(4, 6, "y")]) == "a[x][y]ghij"
    assert mask(text, [Finding(1, 6, "y"), Finding(1, 4, "x")]) == "a[x]ghij"


@pytest.mark.parametrize(
    ("text", "country", "found"),
    [
        ("call 020 7946 0958", "", ("telephone number",)),  # of London
        ("call (212) 555-2368", "", ("telephone number",)),
        ("call 2125552368", "", ()),  # ten digits in a row are mostly a number
        ("call +12125552368", "", ("telephone number",)),
        ("拨打13812345678", "", ("telephone number",)),
        ("call 13812345678", "CN", ("telephone number",)),
        ("call 020 7946 0958", "XX", ("telephone number",)),
        ("call 030 901820", " de ", ("telephone number",)),
        ("身份证 11010519491231002x 怎么查", "", ("identity number",)),
        ("身份证 110105194912310021 怎么查", "", ()),
        ("card 4111111111111111", "", ("card number",)),
        ("card 4111111111111112", "", ()),  # a wrong check digit
        ("card 4444444444444444", "", ()),
        ("card 1234567812345670", "", ()),  # no card begins with 1
    ],
)
def test_numbers_of_people_and_of_nobody(text: str, country: str, found: tuple[str, ...]) -> None:
    language = "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en"
    assert kinds(find_personal(text, language, country)) == found


@given(st.text(max_size=80))
def test_any_text_can_be_searched_and_masked(text: str) -> None:
    found = find_personal(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    masked = mask(text, found)
    assert (masked == text) == (not found)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(libraries, "import_module", missing)
    with pytest.raises(InputError) as caught:
        libraries.check_libraries()
    assert tells(str(caught.value), "datasketch ... pip install 'urs-inspect[cases]'")


def test_long_texts_take_no_long() -> None:
    for piece in ("a.", "a@", "1 ", "A ", "市", "12 A ", "http://a", "my name is ", "A1"):
        find_personal(piece * 4000)
