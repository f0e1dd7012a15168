"""The first valid question, and what is none."""

import pytest

from urs_inspect.datasets.survey.languages import detect_language
from urs_inspect.datasets.survey.questions import NoQuestion, fault_of, first_question
from urs_inspect.datasets.survey.transcripts import Turn, read_transcript


@pytest.mark.parametrize(
    "text",
    ["hello", "Hello!", "Hi ChatGPT", "hey there :)", "Good morning!!", "你好", "你好！", "您好，在吗？",
     "hello 你好", "Thanks", "ok, thank you",
     "继续", "测试", "HELLO 👋", "Ｈｅｌｌｏ", "你好 文心一言"],
)  # fmt: skip
def test_greetings_ask_nothing(text: str) -> None:
    assert fault_of(text) == "only a greeting or courtesy"


@pytest.mark.parametrize(
    "text",
    ["Hello, what is bitcoin?", "你好，请问今天天气如何", "1+1", "hi5 meaning", "test results of the Turing test",
     "继续写第二段", "雪山",
     "https://example.org is this safe?", "Who are you?", "你是谁"],
)  # fmt: skip
def test_questions(text: str) -> None:
    assert fault_of(text) == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("?", "fewer than two letters or digits"),
        ("👍👍", "fewer than two letters or digits"),
        ("雪", "fewer than two letters or digits"),
        ("https://chat.example.org/share/1", "only a link, which is not fetched"),
        ("www.example.org\nhttp://x.org", "only a link, which is not fetched"),
    ],
)
def test_other_faults(text: str, fault: str) -> None:
    assert fault_of(text) == fault


def test_the_first_valid_turn_of_the_user_counts() -> None:
    turns = read_transcript("User: 你好\nAssistant: 你好！有什么可以帮你？\nUser: 推荐一首歌\nUser: 再来一首")
    assert first_question(turns) == "推荐一首歌"


def test_without_one_all_faults_are_named() -> None:
    turns = [Turn("user", "hi"), Turn("assistant", "What can I do?"), Turn("user", "?"), Turn("user", "hello")]
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
        ("12 + 34", ""),
        ("", ""),
    ],
)
def test_language_by_script(text: str, language: str) -> None:
    assert detect_language(text) == language
