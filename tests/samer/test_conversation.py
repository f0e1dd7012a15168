"""Token ids: equal to transformers', a query is a prefix, and what users write makes no turns."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from tests.samer.checkpoints import BOS, CHAT_TEMPLATE, EOT, SPECIAL, change_json, write_tokenizer
from urs_inspect._util import InputError
from urs_inspect.samer._conversation import Conversations, OverlongError

LONG, CONFIG = 100_000, "tokenizer_config.json"
TEXTS = [
    "",
    "a",
    "the other thing",
    "  spaces \n\n around \t",
    "\n\n",
    "\n\nthe",
    "你好，世界 🙂",
    "<|",
    "{{ bos_token }}",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(path)
    return path


@pytest.fixture(scope="module")
def conversations(folder: Path) -> Conversations:
    return Conversations(folder)


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(folder)


def rendered(tokenizer: Any, *contents: str) -> str:
    roles = ("user", "assistant")
    messages = [
        {"role": role, "content": content} for role, content in zip(roles, contents, strict=False)
    ]
    return str(tokenizer.apply_chat_template(messages, tokenize=False))


@pytest.mark.parametrize("query", TEXTS)
@pytest.mark.parametrize("response", TEXTS)
def test_equal_to_transformers(
    conversations: Conversations, theirs: Any, query: str, response: str
) -> None:
    text = rendered(theirs, query, response)
    single = conversations.encode(query, response, LONG)
    double = conversations.encode(query, response, LONG, bos="double")
    assert conversations.render(query, response) == text
    assert list(single.ids) == theirs(text, add_special_tokens=False).input_ids  # as in training
    assert (
        list(double.ids) == theirs(text).input_ids
    )  # as in the released inference: the start token comes twice
    assert (
        list(single.query_ids)
        == theirs(rendered(theirs, query), add_special_tokens=False).input_ids
    )


@given(query=st.text(), response=st.text())
def test_a_query_is_a_prefix_and_turns_are_the_templates_own(
    conversations: Conversations, query: str, response: str
) -> None:
    encoded = conversations.encode(query, response, LONG)
    ends = [at for at, token in enumerate(encoded.ids) if token == conversations.end_of_turn]
    assert encoded.is_prefix
    assert encoded.ids[: len(encoded.query_ids)] == encoded.query_ids
    assert ends == [len(encoded.query_ids) - 1, len(encoded.ids) - 1]
    assert encoded.shortened == 0


PARTS = st.sampled_from(
    [*SPECIAL, "the", " ", "\n", "\ue0001\ue000", "0", EOT[:4], EOT[4:], EOT + BOS]
)


@given(
    query=st.lists(PARTS, max_size=8).map("".join),
    response=st.lists(PARTS, max_size=8).map("".join),
)
@example(query=f"{BOS}0{BOS}", response="")
def test_special_tokens_that_a_text_spells_out_are_text(
    conversations: Conversations, query: str, response: str
) -> None:
    encoded = conversations.encode(query, response, LONG)
    tokenizer = conversations._tokenizer
    special = {tokenizer.token_to_id(token) for token in SPECIAL}
    # The same special tokens at the same places as without any text, and between them the texts, to
    # the letter.
    empty = conversations.encode("", "", LONG)
    assert [one for one in encoded.ids if one in special] == [
        one for one in empty.ids if one in special
    ]
    decoded = tokenizer.decode([one for one in encoded.ids if one not in special])
    assert decoded == f"user\n\n{query.strip()}assistant\n\n{response.strip()}"
    assert encoded.is_prefix


def test_half_characters_do_no_harm(conversations: Conversations) -> None:
    assert (
        conversations.encode("q", "a\ud83db", LONG).ids
        == conversations.encode("q", "a?b", LONG).ids
    )


def test_too_long_cuts_the_responses_end_keeps_its_closing_token_and_leaves_one_free(
    conversations: Conversations,
) -> None:
    """vLLM 0.26 never finishes an input of exactly its length.

    One that fits without a cut is no different.
    """
    whole = conversations.encode("question", "x" * 50, LONG)
    length = len(whole.ids)
    for more, cut in ((1, 0), (0, 1), (-1, 2), (-7, 8)):
        found = conversations.encode("question", "x" * 50, length + more)
        assert found.shortened == cut and found.query_ids == whole.query_ids
        assert found.ids == (*whole.ids[: length - cut - 1], conversations.end_of_turn)
    with pytest.raises(OverlongError, match=f"have {length} tokens; allowed are {length - 1}"):
        conversations.encode("question", "x" * 50, length, overlong="error")
    assert conversations.encode("question", "x" * 50, length + 1, overlong="error") == whole


def test_a_length_has_room_for_the_template_a_query_and_a_response(
    conversations: Conversations,
) -> None:
    least = len(conversations.encode("q", "r", LONG).ids) + 1
    assert least > conversations.template_tokens
    assert [conversations.fitting_length(least), conversations.fitting_length(512, least)] == [
        least,
        least,
    ]
    encoded = conversations.encode("q", "r" * 50, least)
    assert encoded.ids == conversations.encode("q", "r", LONG).ids
    with pytest.raises(InputError, match=f"{least - 1} tokens; expected {least}"):
        conversations.fitting_length(least - 1)
    for wanted in (0, least - 1, 513):
        with pytest.raises(InputError, match=f"max_length {wanted}; allowed are {least} to 512"):
            conversations.fitting_length(512, wanted)


@pytest.mark.parametrize("bos", ["single", "double"])
def test_the_shortest_room_is_one_token_of_the_response(
    conversations: Conversations, bos: Any
) -> None:
    least = len(conversations.encode("question", "", LONG, bos=bos).ids)
    assert len(conversations.encode("question", "xyz", least + 2, bos=bos).ids) == least + 1
    with pytest.raises(OverlongError, match=r"no room.*response; allowed"):
        conversations.encode("question", "xyz", least + 1, bos=bos)
    assert len(conversations.encode("question", "", least + 1, bos=bos).ids) == least
    with pytest.raises(OverlongError, match=f"allowed are {least - 1} together"):
        conversations.encode("question", "", least, bos=bos)


def test_a_template_that_writes_a_query_differently_needs_two_passes(tmp_path: Path) -> None:
    template = (
        "{{ bos_token }}{% if messages | length == 1 %}only {% endif %}"
        + CHAT_TEMPLATE.removeprefix("{{ bos_token }}")
    )
    write_tokenizer(tmp_path, template=template)
    encoded = Conversations(tmp_path).encode("q", "r", LONG)
    assert not encoded.is_prefix
    assert encoded.query_ids != encoded.ids[: len(encoded.query_ids)]


@pytest.mark.parametrize(
    "template",
    [
        # As training kits write it; what is set within the block does not reach beyond it.
        (
            "{% set x = 1 %}{% for m in messages %}{{ m.role }}:\n"
            "{% generation %}\n"
            "{% set x = 2 %}{{ m.content }}{{ '<|eot_id|>' }}\n"
            "{% endgeneration %}\n"
            "{{ x }}{% endfor %}"
        ),
        (
            "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{%"
            " endgeneration %}{% else %}{{ m.content }}{% endif %}<|eot_id|>{% endfor %}"
        ),
    ],
)
def test_blocks_of_generation_are_read_as_transformers_reads_them(
    tmp_path: Path, template: str
) -> None:
    write_tokenizer(tmp_path, template=template)
    theirs: Any = AutoTokenizer.from_pretrained(tmp_path)
    assert Conversations(tmp_path).render("the question", "an answer") == rendered(
        theirs, "the question", "an answer"
    )


def test_the_date_of_a_template_is_the_same_on_every_day(tmp_path: Path) -> None:
    """Llama 3.2 falls back to this date.

    SmolLM3 calls the function without asking whether there is one.
    """
    template = "{% set d = strftime_now('%d %b %Y') %}{{ d }}" + CHAT_TEMPLATE
    write_tokenizer(tmp_path, template=template)
    assert Conversations(tmp_path).render("q").startswith("26 Jul 2024")


def test_a_template_in_a_file_of_its_own_and_one_of_several(folder: Path, tmp_path: Path) -> None:
    expected = Conversations(folder).encode("q", "r", LONG)
    own_file, several = tmp_path / "own_file", tmp_path / "several"
    for copy in (own_file, several):
        shutil.copytree(folder, copy)
    change_json(own_file / CONFIG, chat_template=None)
    (own_file / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    change_json(
        several / CONFIG,
        chat_template=[
            {"name": "tool_use", "template": "x"},
            {"name": "default", "template": CHAT_TEMPLATE},
        ],
    )
    change_json(several / CONFIG, bos_token={"content": BOS, "special": True})
    assert Conversations(own_file).encode("q", "r", LONG) == expected
    assert Conversations(several).encode("q", "r", LONG) == expected


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (None, "has no chat template"),
        ("  ", "has no chat template"),
        ("{% if %}", "not valid"),
        ("{{ raise_exception('no user') }}", "fails: no user"),
        ("{{ ''.__class__.__mro__ }}", "fails: .*'__class__'"),
        ("{{ messages.append(1) }}", "template fails"),
        (
            "{% for i in range(1000000000) %}{% endfor %}",
            "fails: .*number",
        ),
        ("{{ 'x' * 1000000000 }}", "fails: .*1,000,000,000 times"),
        ("{{ 'x' | center(1000000000) }}", "fails: .*number"),
        ("{{ '%1000000000d' % 1 }}", "fails: .*width"),
        ("{{ 9 ** 1000000000 }}", "fails: .*exponent"),
        ("{{ 9 ** -1000000000 }}", "fails: .*exponent"),
        ("{{ 2 ** 65 }}", "fails: .*65.* 64 at most"),
        ("{{ 2 ** 0.5 }}", "fails: .*exponent"),
        ("{{ 1000000000 * 'x' }}", "fails: .*1,000,000,000 times"),
        ("{{ [1] * 1000001 }}", "fails: .*1,000,001 times"),
        ("{{ 'xy' * 500001 }}", "fails: .*500,001 times"),
        ("{{ '%*d' % (9, 1) }}", "fails: .*width"),
        ("{{ '%1000000000d' | format(1) }}", "fails: .*width"),
        ("{{ 'x' | indent(1000000000) }}", "fails: .*number"),
        ("{{ 'x' | indent(width=-1000000000) }}", "fails: .*number"),
        ("{{ range(1000001) | length }}", "fails: .*1,000,001"),
        ("{% for i in range(2000) %}{{ 'x' * 1000 }}{% endfor %}", r"adds 1,999,9\d\d characters"),
        ("{{ 1 / 0 }}", "division by zero"),
    ],
)
def test_a_template_that_cannot_be_used(tmp_path: Path, template: str | None, message: str) -> None:
    write_tokenizer(tmp_path, template=template)
    with pytest.raises(InputError, match=message):
        Conversations(tmp_path).encode("q", "r", LONG)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("{{ 'x' | center(5) }}.", "  x  ."),
        ("{{ '%5d' | format(3) }}", "    3"),
        ("{{ '%s-%05.1f' % ('x', 2) }}", "x-002.0"),
        ("{{ 'a\\nb' | indent(2) }}", "a\n  b"),
        ("{{ 'ab' * 3 }}{{ 3 * 'c' }}", "abababccc"),
        ("{{ 2 ** 64 }} {{ 2 ** -1 }}", "18446744073709551616 0.5"),
        ("{{ [1, 2] * 2 }}", "[1, 2, 1, 2]"),
        ("{{ range(99999) | length }}", "99999"),
        ("{{ {'a': '核'} | tojson }}", '{"a": "核"}'),
    ],
)
def test_what_templates_compute_within_bounds_is_as_usual(
    tmp_path: Path, written: str, text: str
) -> None:
    write_tokenizer(tmp_path, template=f"{written}{CHAT_TEMPLATE}")
    assert Conversations(tmp_path).render("q").startswith(f"{text}<|begin_of_text|>")


@pytest.mark.parametrize(
    ("marks", "message"),
    [(None, r"makes \d+ tokens of <\|eot_id\|>.* 1$"), (False, "special token")],
)
def test_the_end_of_a_turn_is_one_special_token(
    tmp_path: Path, marks: bool | None, message: str
) -> None:
    write_tokenizer(tmp_path)
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    others = [token for token in content["added_tokens"] if token["content"] != EOT]
    [closing] = [token for token in content["added_tokens"] if token["content"] == EOT]
    if marks is not None:
        others.append({**closing, "special": marks})
    change_json(file, added_tokens=others)
    with pytest.raises(InputError, match=message):
        Conversations(tmp_path)


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "is missing"), ("{", ""), ("[]", ""), ('{"a":' + "[" * 100_000, "")],
)
def test_files_of_the_tokenizer_that_cannot_be_used(
    tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    write_tokenizer(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"{name}.*{message}"):
        Conversations(tmp_path)


def test_a_second_start_token_needs_one(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    change_json(tmp_path / CONFIG, bos_token=None)
    conversations = Conversations(tmp_path)
    assert conversations.encode("q", "r", LONG).ids
    with pytest.raises(InputError, match=r"bos_token.*bos=double.*bos=single"):
        conversations.encode("q", "r", LONG, bos="double")
