"""Tests of `urs_inspect.survey._questions`."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.survey._questions import (
    NoQuestion,
    Turn,
    detect_language,
    first_question,
    problem_of,
    read_transcript,
)

GREETINGS = (
    "hello", "Hello!", "Hi ChatGPT", "hey there :)", "Good morning!!", "你好", "你好！", "您好，在吗？", "hello 你好",
    "Thanks", "ok, thank you", "继续", "测试", "HELLO 👋", "Ｈｅｌｌｏ", "你好 文心一言",
)  # fmt: skip
QUESTIONS = (
    "Hello, what is bitcoin?", "你好，请问今天天气如何", "1+1", "hi5 meaning", "test results of the Turing test",
    "继续写第二段", "雪山", "https://example.org is this safe?", "Who are you?", "你是谁",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *((text, "only a greeting or courtesy") for text in GREETINGS),
        *((text, "") for text in QUESTIONS),
        *((text, "empty") for text in ("", " \n")),
        *((text, "fewer than two letters or digits") for text in ("?", "👍👍", "雪")),
        *(
            (text, "only a link, which is not fetched")
            for text in ("https://x.org/1", "www.x.org\nhttp://x.org")
        ),
    ],
)
def test_what_is_a_question(text: str, problem: str) -> None:
    assert problem_of(text) == problem


def test_the_first_valid_turn_of_the_user_counts() -> None:
    turns = read_transcript(
        "User: 你好\nAssistant: 你好！有什么可以帮你？\nUser: 推荐一首歌\nUser: 再来一首"
    )
    assert first_question(turns) == "推荐一首歌"


def test_without_one_all_faults_are_named() -> None:
    turns = [
        Turn("user", "hi"),
        Turn("assistant", "What can I do?"),
        Turn("user", "?"),
        Turn("user", "hello"),
    ]
    assert first_question(turns) == NoQuestion(
        "the user's turns: only a greeting or courtesy, fewer than two letters or digits"
    )
    assert first_question([Turn("assistant", "x y")]) == NoQuestion("the user says nothing")
    assert first_question([]) == NoQuestion("empty")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Why is the sky blue?", "en"),
        ("天为什么是蓝的", "zh"),
        ("國小數學在學什麼", "zh"),
        ("用Python写一个quick sort", "zh"),
        # Instructions first: the language is theirs, whatever the text is that they are about.
        ("翻译下面文本 " + "The crisis has reignited public interest. " * 10, "zh"),
        ("How do you write the character 天 by hand?", "en"),
        ("Data scientist 的职责是什么", "zh"),
        ("Quel est le plus long fleuve ?", "en"),  # Latin letters; told apart by a column only
        ("12 + 34 = x", "en"),
        ("Sei α der Winkel", "en"),
        ("空はなぜ青いのですか", ""),
        ("日本語の質問です。東京都の人口は?", ""),
        ("하늘은 왜 파란가요?", ""),
        ("Почему небо голубое?", ""),
        ("Who wrote Война и мир, the novel?", "en"),  # more Latin letters than Cyrillic
        ("Кто написал War?", ""),
        ("12 + 34", ""),
        ("", ""),
    ],
)
def test_language_by_script(text: str, language: str) -> None:
    assert detect_language(text) == language


Q, A = "Why is the sky blue?", "Because of scattering."
BOTH = (Turn("user", Q), Turn("assistant", A))


@pytest.mark.parametrize(
    "text",
    [
        f"User: {Q}\nAssistant: {A}",
        f"user:{Q}\n\nassistant:{A}",
        f"Human: {Q}\nAI: {A}",
        f"Me: {Q}\nChatGPT: {A}",
        f"**User:** {Q}\n\n**Assistant:** {A}",
        f"### User: {Q}\n### Assistant: {A}",
        f"> User: {Q}\n> Assistant: {A}",
        f"[User]: {Q}\n[Assistant]: {A}",
        f"You said:\n{Q}\nChatGPT said:\n{A}",
        f"You\n{Q}\nChatGPT\n{A}",
        f"Question: {Q}\nAnswer: {A}",
        f"Question 1: {Q}\nAnswer 1: {A}",
        f"Question: {Q} Answer: {A}",
        f"Q: {Q}\nA: {A}",
        f"Q: {Q}\nChatGPT: {A}",
        f"Prompt: {Q}\r\nResponse: {A}\r\n",
        f"\ufeff\nUser: {Q}\nAssistant: {A}",
        f"{Q}\nChatGPT: {A}",
        json.dumps([{"role": "user", "content": Q}, {"role": "assistant", "content": A}]),
        json.dumps({"messages": [{"role": "User", "content": Q}, {"role": "assistant", "content": A}]}),
        json.dumps({"conversations": [{"from": "human", "value": Q}, {"from": "gpt", "value": A}]}),
        json.dumps(
            [
                {"author": {"role": "user"}, "content": {"parts": [Q]}},
                {"role": "assistant", "content": [{"type": "text", "text": A}]},
            ]
        ),
        json.dumps([{"role": "user", "content": [{"type": "image_url", "image_url": {}}, {"type": "text", "text": Q}]},
                    {"role": "assistant", "content": A}]),
    ],
)  # fmt: skip
def test_one_question_and_its_answer(text: str) -> None:
    assert read_transcript(text) == BOTH


def test_a_picture_alone_is_a_message_without_text() -> None:
    picture = {"type": "image_url", "image_url": {"url": "x"}}
    for content in (picture, [picture], {"parts": [picture]}):
        turns = [{"role": "user", "content": content}, {"role": "user", "content": Q}]
        assert read_transcript(turns) == read_transcript([{"role": "user", "content": Q}])


@pytest.mark.parametrize(
    "text",
    [
        "用户：{}\n助手：{}", "【用户】：{}\n【助手】：{}", "我：{}\nAI助手: {}", "问：{}\n答：{}",
        "问题：{}\n回答：{}", "问题：{}回答：{}", "{}\n文心一言：{}", "用户\n{}\n助手\n{}",
    ],
)  # fmt: skip
def test_the_same_in_chinese(text: str) -> None:
    asked, said = "天为什么是蓝的？", "因为散射。"
    assert read_transcript(text.format(asked, said)) == (
        Turn("user", asked),
        Turn("assistant", said),
    )


@pytest.mark.parametrize(
    "text",
    [
        "Which is right?\nA: one\nB: two",
        "Complete the dialogue.\nAnswer: ...",
        "Explain the acronym\nAI: artificial intelligence",
        '[1, 2, 3] how do I sort this?',
        '{"role": "user"} is not valid here, why?',
        '[{"name": "x"}]',
        "{not json",
        "Translate: User: hello",
        "What does the user: field in docker-compose.yml do?",
    ],
)  # fmt: skip
def test_plain_text_is_one_question(text: str) -> None:
    assert read_transcript(text) == (Turn("user", text),)


def test_marks_of_another_form_do_not_cut() -> None:
    assert read_transcript("User: Which?\nA: one\nB: two\nAnswer:\nAssistant: A") == (
        Turn("user", "Which?\nA: one\nB: two\nAnswer:"),
        Turn("assistant", "A"),
    )
    assert read_transcript("Question: Which?\nA: one\nB: two\nAnswer: A")[0] == Turn(
        "user", "Which?\nA: one\nB: two"
    )


def test_several_turns_and_the_system() -> None:
    text = (
        "System: be nice\nUser: hi\nAssistant: hello\nUser: What is 2+2?\nin words\nAssistant: four"
    )
    assert [turn.role for turn in read_transcript(text)] == [
        "other",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert read_transcript(text)[3].text == "What is 2+2?\nin words"
    # Empty turns are left out.
    assert read_transcript("User:\nAssistant: hello") == (Turn("assistant", "hello"),)
    assert read_transcript("") == read_transcript(" \n ") == read_transcript([]) == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, 'list of messages'),
        (None, 'list of messages'),
        ({"text": "x"}, 'list of messages'),
        ([{"role": "user", "content": "x"}, {"role": "mage"}], "message 2: unknown role \"mage\"; allowed"),
        (["x"], "message 1: unknown role"),
        (json.dumps([{"role": "user", "content": "x"}, "y"]), 'message 2: unknown role'),
        ([{"role": "user"}], 'message 1: ... allowed: ... content'),
        ([{"role": "user", "content": 3}], "message 1: no text"),
    ],
)  # fmt: skip
def test_what_is_no_conversation_is_named(value: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_transcript(value)
    assert tells(str(caught.value), words)


WORDS = (
    st.text(st.sampled_from("abcß 你好天。？!?\n"), min_size=1, max_size=30)
    .map(str.strip)
    .filter(bool)
)
FORMS = [
    ("User: ", "Assistant: "),
    ("用户：", "助手："),
    ("Question: ", "Answer: "),
    ("问：", "答："),
    ("Q: ", "A: "),
    ("You said:\n", "ChatGPT said:\n"),
]


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4), st.sampled_from(FORMS))
def test_what_was_put_together_comes_apart(
    pairs: list[tuple[str, str]], form: tuple[str, str]
) -> None:
    turns = [
        turn for asked, said in pairs for turn in (Turn("user", asked), Turn("assistant", said))
    ]
    text = "\n".join(form[turn.role == "assistant"] + turn.text for turn in turns)
    assert read_transcript(text) == tuple(turns)
    listed = [{"role": turn.role, "content": turn.text} for turn in turns]
    assert read_transcript(listed) == read_transcript(json.dumps(listed)) == tuple(turns)


PIECES = st.sampled_from(
    ["User:", "Assistant：", "Q:", "A:", "Answer:", "问：", "You\n", "ChatGPT\n", "\n", " ", "**", "[{",
     '"role"', ":", "}]", "x", "你好"]
)  # fmt: skip


@settings(max_examples=100)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
def test_any_text_is_read_and_nothing_is_invented(text: str) -> None:
    try:
        turns = read_transcript(text)
    except InputError as error:
        assert str(error).startswith("message ")
        return
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    position = 0
    for turn in turns:
        assert turn.text and turn.text == turn.text.strip()
        if not text.lstrip().startswith(("[", "{")):
            position = plain.index(turn.text, position) + len(turn.text)


KEYS = st.sampled_from(["role", "content", "messages", "parts", "text", "author"])
PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=5)


@given(
    st.recursive(
        PLAIN,
        lambda one: st.lists(one, max_size=3) | st.dictionaries(KEYS, one, max_size=3),
        max_leaves=8,
    )
)
def test_any_value_is_read_or_refused(value: object) -> None:
    with contextlib.suppress(InputError):
        assert all(turn.text for turn in read_transcript(value))


def test_long_texts_take_no_long() -> None:
    piles = (
        "User: a\n" * 20_000,
        ">" * 200_000,
        "User" * 50_000,
        "Question: " + ". Answer " * 30_000,
        "[" * 50_000,
    )
    for text in piles:
        read_transcript(text)


@pytest.mark.parametrize(
    ("message", "role", "text"),
    [
        ({"role": "user", "content": " Why? "}, "user", "Why?"),
        ({"from": "human", "value": "Why?"}, "user", "Why?"),
        ({"author": {"role": "user"}, "content": {"parts": ["Why", "not?"]}}, "user", "Why\nnot?"),
        ({"speaker": "Assistant", "text": "So."}, "assistant", "So."),
        ({"sender": "system", "message": "Be brief."}, "other", "Be brief."),
        ({"role": None, "from": "gpt", "content": None, "text": "So."}, "assistant", "So."),
        ({"role": "user", "content": [{"text": "a"}, {"image": 1}, "b"]}, "user", "a\nb"),
    ],
)
def test_messages_in_the_forms_of_several_exports(
    message: dict[str, object], role: str, text: str
) -> None:
    for value in ([message], {"messages": [message]}, {"conversations": [message]}):
        assert read_transcript(value) == (Turn(role, text),)  # type: ignore[arg-type]
    assert read_transcript(json.dumps([message])) == (Turn(role, text),)  # type: ignore[arg-type]


def test_a_text_that_is_there_but_empty_hides_no_other_and_makes_no_turn() -> None:
    empty = {"role": "user", "content": "", "text": "Why?"}
    assert read_transcript([empty, {"role": "user", "content": "Who?"}]) == (Turn("user", "Who?"),)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "b": [2]}', "[1, 2, 3]", '[{"name": "x", "age": 3}]', '{"messages": []}', "["],
)
def test_a_question_may_be_json_itself(text: str) -> None:
    assert read_transcript(text) == (Turn("user", text),)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("a b c d 天", "zh"),  # just a fifth of the units are Han
        ("a b c d e 天", "en"),
        ("天 a b c d e f g", "zh"),  # the first letter decides
        ("1. 天 a b c d e f g", "zh"),
        ("a где", ""),
        ("what does где это находится mean", ""),
        ("你" * 29 + "の", ""),
        ("你" * 30 + "の", "zh"),  # beyond the first letters kana may be quoted
        ("ab・cd", "en"),
    ],
)
def test_shares_of_scripts_at_their_limits(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_links_beside_words_are_a_question() -> None:
    assert problem_of("Is https://example.org safe?") == ""
    assert "link" in problem_of(" https://example.org ")


@pytest.mark.parametrize(
    ("text", "valid"), [("a", False), ("ab", True), ("a1", True), ("a!", False)]
)
def test_a_question_has_two_letters_or_digits(text: str, valid: bool) -> None:
    assert (problem_of(text) == "") is valid
