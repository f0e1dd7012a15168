"""The rubric: the built-in one against the paper, and a user's file laid over it."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.judging import PromptBuilder, ScoreRecord, read_reply
from urs_inspect.rubrics import FINAL, Rubric, load_rubric, normalise_key

RUBRIC = load_rubric()

# The paper's tables, copied by hand.

TABLE_6 = {
    "Factual QA": "Factuality, User Satisfaction, Clarity, Completeness, Logical Coherence",
    "Solve Professional Problem": (
        "Factuality, User Satisfaction, Clarity, Logical Coherence, Completeness"
    ),
    "Text Assistant": "Clarity, User Satisfaction, Logical Coherence, Factivity, Creativity",
    "Usage through API": "Factuality, User Satisfaction, Clarity, Logical Coherence, Completeness",
    "Ask for Advice": (
        "User Satisfaction, Factuality, Fairness and Responsibility, Creativity, Richness"
    ),
    "Seek Creativity": "User Satisfaction, Logical Coherence, Creativity, Richness, Factuality",
    "Leisure": "User Satisfaction, Engagement, Appropriateness, Creativity, Factuality",
}
TABLE_8 = {
    "Factuality": "事实正确性",
    "User Satisfaction": "满足用户需求",
    "Logical Coherence": "逻辑连贯性",
    "Richness": "丰富度",
    "Creativity": "创造性",
    "Fairness and Responsibility": "公平与可负责程度",
    "Completeness": "完备性",
    "Clarity": "清晰度",
    "Engagement": "趣味性",
    "Appropriateness": "适宜性",
}
# Label in the published file -> column of Table 2; usage through the API counts as problem solving.
TABLE_2 = {
    "Factual_QA": "Factual QA",
    "Solve_Professional_Problem": "Solve Problem",
    "API": "Solve Problem",
    "Text_Assistant": "Text Assistant",
    "Ask_for_Advice": "Ask for Advice",
    "Seek_Creativity": "Seek Creativity",
    "Leisure": "Leisure",
}


# Contents against the paper.


def test_the_intents_are_those_of_table_6_and_the_groups_those_of_table_2():
    ours = {
        intent.text["en"].name: ", ".join(
            RUBRIC.criteria[criterion]["en"].name for criterion in intent.criteria
        )
        for intent in RUBRIC.intents.values()
    }
    # Table 6 says "Factivity" once; Table 8 defines only Factuality.
    assert ours == {
        name: criteria.replace("Factivity", "Factuality") for name, criteria in TABLE_6.items()
    }
    assert RUBRIC.keys_by_spelling[normalise_key("Factivity")] == "factuality"
    assert {intent.label: intent.group for intent in RUBRIC.intents.values()} == TABLE_2


def test_the_ten_criteria_have_the_names_of_table_8_and_the_ids_of_the_english_ones():
    assert {texts["en"].name: texts["zh"].name for texts in RUBRIC.criteria.values()} == TABLE_8
    assert list(RUBRIC.criteria) == [
        t["en"].name.lower().replace(" ", "_") for t in RUBRIC.criteria.values()
    ]
    assert RUBRIC.score_keys == (FINAL, *RUBRIC.criteria)


def test_bands_reference_dominant_criteria_and_languages_are_the_papers():
    assert RUBRIC.bands == ((1, 2), (3, 4), (5, 6), (7, 8), (9, 10))
    assert RUBRIC.reference_score == 8
    assert RUBRIC.dominant == ("factuality", "user_satisfaction")
    found = {
        code: (language.dataset_label, language.final.name)
        for code, language in RUBRIC.languages.items()
    }
    assert found == {"en": ("EN", "Final Score"), "zh": ("CN", "综合得分")}


@pytest.mark.parametrize(
    ("code", "written"), [("en", "[\x00-\x7f]+"), ("zh", "(?s:.*[\u4e00-\u9fff].*)")]
)
def test_every_text_is_in_its_language_and_none_is_used_twice(code: str, written: str):
    language, criteria = RUBRIC.languages[code], [texts[code] for texts in RUBRIC.criteria.values()]
    for terms in (criteria, [intent.text[code] for intent in RUBRIC.intents.values()]):
        for texts in ([term.name for term in terms], [term.definition for term in terms]):
            assert len(set(texts)) == len(texts)
            assert all(re.fullmatch(written, text) for text in texts)
    assert all(re.fullmatch(written, text) for text in (*language.bands, language.ask_again))
    assert len(set(language.bands)) == 5
    assert "{reason}" in language.ask_again


# Finding intents and languages.


@pytest.mark.parametrize(
    ("spelling", "intent"),
    [
        *(
            (spelling, "factual_qa")
            for spelling in ("Factual_QA", "factual_qa", "factual qa", " FACTUAL-QA ")
        ),
        ("API", "api"),
        ("Solve_Professional_Problem", "solve_professional_problem"),
    ],
)
def test_an_intent_is_found_by_id_and_label(spelling: str, intent: str):
    assert RUBRIC.intent_id(spelling) == intent


@pytest.mark.parametrize(
    ("spelling", "code"), [("en", "en"), ("EN", "en"), (" zh ", "zh"), ("CN", "zh"), ("cn", "zh")]
)
def test_a_language_is_found_by_code_and_label(spelling: str, code: str):
    assert RUBRIC.language_code(spelling) == code


@pytest.mark.parametrize("spelling", ["fr", "", "english", "e n"])
def test_an_unknown_intent_or_language_is_refused_with_those_that_exist(spelling: str):
    with pytest.raises(InputError, match=f"^unknown language '{spelling}'; allowed: en, zh$"):
        RUBRIC.language_code(spelling)
    with pytest.raises(
        InputError, match=f"^unknown intent '{spelling}'; allowed: {', '.join(RUBRIC.intents)}$"
    ):
        RUBRIC.intent_id(spelling)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Final Score", "finalscore"),
        ("final_score", "finalscore"),
        ("  FINAL-score: ", "finalscore"),
        ("Ｆｉｎａｌ Ｓｃｏｒｅ", "finalscore"),
        ("**Factuality**", "factuality"),
        ("事实正确性（Factuality）", "事实正确性factuality"),
        ("", ""),
        ("***", ""),
    ],
)
def test_keys_are_folded(text: str, folded: str):
    assert normalise_key(text) == folded


# A user's file.


def write(tmp_path: Path, text: str, name: str = "own.yaml") -> str:
    """Write a file; returns its path."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


def overlay(tmp_path: Path, text: str) -> Rubric:
    """The URS rubric with some YAML laid over it."""
    return load_rubric(write(tmp_path, f"name: own\nversion: '2'\n{text}"))


ADDITION = """
criteria:
  empathy:
    en: {name: Empathy, definition: Whether the user is taken seriously., aliases: [Warmth]}
    zh: {name: 同理心, definition: 回答是否认真体会用户的处境？}
intents:
  complaint:
    label: Complaint
    group: Complaints
    criteria: [empathy, user_satisfaction, clarity]
    text:
      en: {name: Complaint, definition: The user wants something put right.}
      zh: {name: 投诉, definition: 用户希望问题得到解决。}
"""


ENGLISH = "\n".join(line for line in ADDITION.splitlines() if "zh:" not in line)


def test_a_rubric_may_be_in_english_only(tmp_path: Path):
    rubric = overlay(tmp_path, f"languages: [en]\n{ENGLISH}")
    assert list(rubric.languages) == ["en"]
    assert "complaint" in rubric.intents and "empathy" in rubric.criteria
    with pytest.raises(InputError, match=r"no text.*'zh'"):
        overlay(tmp_path, ENGLISH)


@pytest.mark.parametrize("languages", ["[]", "[de]", "[en, de]"])
def test_a_list_names_only_languages_that_there_are(languages: str, tmp_path: Path):
    with pytest.raises(InputError, match=r"languages: .*en, zh"):
        overlay(tmp_path, f"languages: {languages}")


def test_a_file_adds_a_criterion_and_an_intent(tmp_path: Path):
    rubric = overlay(tmp_path, ADDITION)
    assert (rubric.name, rubric.version) == ("own", "2")
    assert list(rubric.intents) == [*RUBRIC.intents, "complaint"]
    assert rubric.score_keys == (*RUBRIC.score_keys, "empathy")
    # What a file does not name stays.
    assert (
        rubric.intents.items() >= RUBRIC.intents.items()
        and rubric.criteria.items() >= RUBRIC.criteria.items()
    )
    assert (rubric.languages, rubric.bands) == (RUBRIC.languages, RUBRIC.bands)
    assert rubric.intent_id("Complaint") == "complaint"
    prompt = PromptBuilder(rubric).build("complaint", "zh", question="q", reference="r", answer="a")
    assert "1. 同理心：回答是否认真体会用户的处境？\n2. 满足用户需求：" in prompt.instructions
    assert read_reply(
        '{"Warmth": 4, "同理心(Empathy)": 4, "Final Score": 5}', rubric, ["empathy"]
    ) == ScoreRecord(5, {"empathy": 4})


def test_loading_a_file_does_not_change_the_built_in_rubric(tmp_path: Path):
    before = RUBRIC.sha256
    overlay(tmp_path, "criteria: {clarity: {en: {name: Clearness}}}")
    load_rubric(prompt=write(tmp_path, "{{ question }} {{ answer }}", "own.jinja"))
    assert load_rubric().sha256 == before
    assert load_rubric().criteria["clarity"]["en"].name == "Clarity"


def test_a_file_replaces_single_texts(tmp_path: Path):
    rubric = overlay(
        tmp_path,
        """
criteria: {clarity: {en: {definition: Whether it is clear at once.}}}
intents: {leisure: {criteria: [engagement, clarity], text: {zh: {name: 娱乐}}}}
languages: {en: {final: {name: Verdict}, bands: [bad, good]}, zh: {bands: [差, 好]}}
bands: [[1, 5], [6, 10]]
reference_score: 7
dominant: [clarity]
""",
    )
    clarity = rubric.criteria["clarity"]
    assert (clarity["en"].definition, clarity["en"].name) == (
        "Whether it is clear at once.",
        "Clarity",
    )
    assert clarity["zh"] == RUBRIC.criteria["clarity"]["zh"]
    leisure, english = rubric.intents["leisure"], rubric.languages["en"]
    assert leisure.criteria == ("engagement", "clarity")  # a list replaces a list
    assert (leisure.text["zh"].name, leisure.label) == ("娱乐", "Leisure")
    assert (english.final.name, english.bands, rubric.bands) == (
        "Verdict",
        ("bad", "good"),
        ((1, 5), (6, 10)),
    )
    assert english.frame == RUBRIC.languages["en"].frame
    assert (rubric.reference_score, rubric.dominant) == (7, ("clarity",))


GERMAN_FRAME = (
    "Urteile nach: {{ criteria | map(attribute='name') | join(', ') }}\n"
    "<frage>{{ question }}</frage>\n"
    "{{ answer }}"
)


def term(key: str) -> dict[str, Any]:
    return {"de": {"name": f"{key} auf Deutsch", "definition": f"Was {key} heißt."}}


def language(frame: str, bands: list[str]) -> dict[str, Any]:
    named = {
        "name": "Deutsch",
        "dataset_label": "DE",
        "final": {"name": "Gesamtnote", "aliases": ["Endnote"]},
    }
    return {**named, "ask_again": "Noch einmal: {reason}", "bands": bands, "frame": frame}


GERMAN = {
    "name": "urs-de",
    "version": "1",
    "languages": {
        "de": language(
            "frames/de.jinja", ["sehr schlecht", "schlecht", "mittel", "gut", "sehr gut"]
        )
    },
    "criteria": {criterion: term(criterion) for criterion in RUBRIC.criteria},
    "intents": {intent: {"text": term(intent)} for intent in RUBRIC.intents},
}


def load_dict(tmp_path: Path, raw: object, prompt: str | None = None) -> Rubric:
    """Load a rubric from data."""
    return load_rubric(
        write(tmp_path, yaml.safe_dump(raw, allow_unicode=True, sort_keys=False)), prompt
    )


def test_a_file_adds_a_language_with_a_frame_beside_it(tmp_path: Path):
    (tmp_path / "frames").mkdir()
    write(tmp_path, GERMAN_FRAME, "frames/de.jinja")
    rubric = load_dict(tmp_path, GERMAN)
    assert list(rubric.languages) == ["en", "zh", "de"]
    assert rubric.language_code("DE") == "de"
    assert rubric.languages["de"].frame == GERMAN_FRAME
    assert rubric.languages["de"].frame_source == "de.jinja"
    prompt = PromptBuilder(rubric).build(
        "leisure", "de", question="Was?", reference="", answer="Das."
    )
    assert prompt.case.startswith(
        "Urteile nach: user_satisfaction auf Deutsch, engagement auf Deutsch,"
    )
    assert prompt.case.endswith("<frage>Was?</frage>\nDas.")
    # A judge may answer in any language of the rubric.
    assert read_reply(
        '{"clarity auf Deutsch": 6, "Endnote": 5}', rubric, ["clarity"]
    ) == ScoreRecord(5, {"clarity": 6})


def test_a_frame_of_one_language_leaves_the_other_alone_and_a_prompt_file_wins(tmp_path: Path):
    write(tmp_path, "{{ question }} {{ answer }}", "mine.jinja")
    rubric = overlay(tmp_path, "languages: {en: {frame: mine.jinja}}")
    assert rubric.languages["en"].frame == "{{ question }} {{ answer }}"
    assert rubric.languages["zh"].frame == RUBRIC.languages["zh"].frame
    other = write(tmp_path, "B {{ question }} {{ answer }}", "other.jinja")
    rubric = load_rubric(str(tmp_path / "own.yaml"), prompt=other)
    assert {language.frame for language in rubric.languages.values()} == {
        "B {{ question }} {{ answer }}"
    }
    # Another folder is no part of what an error message calls the file.
    assert {language.frame_source for language in rubric.languages.values()} == {"other.jinja"}


def test_a_file_may_start_from_nothing(tmp_path: Path):
    write(tmp_path, "{{ question }} {{ answer }}", "mine.jinja")
    joke = {"label": "Joke", "group": "Joke", "criteria": ["wit"], "text": term("Joke")}
    tiny = {
        "extends": "nothing",
        "name": "tiny",
        "version": "1",
        "reference_score": 5,
        "bands": [[1, 10]],
    }
    texts = {
        "languages": {"de": language("mine.jinja", ["alles"])},
        "criteria": {"wit": term("Wit")},
    }
    rubric = load_dict(tmp_path, {**tiny, **texts, "intents": {"joke": joke}})
    assert list(rubric.intents) == ["joke"]
    assert rubric.score_keys == ("final", "wit")
    assert "factuality" not in rubric.keys_by_spelling and rubric.dominant == ()
    for missing in ({}, {"languages": None}):
        with pytest.raises(
            InputError, match=r"own\.yaml: languages: (Field required|Input should be)"
        ):
            load_dict(tmp_path, {**tiny, **missing}, prompt=str(tmp_path / "mine.jinja"))


def test_an_edited_file_is_read_again(tmp_path: Path):
    assert overlay(tmp_path, "reference_score: 7").reference_score == 7
    assert overlay(tmp_path, "reference_score: 6").reference_score == 6


def test_a_path_may_start_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path, "name: mine\nversion: '1'")
    assert load_rubric("~/own.yaml").name == "mine"


def test_the_hash_of_the_rubric_names_its_whole_content(tmp_path: Path):
    assert re.fullmatch("[0-9a-f]{64}", RUBRIC.sha256)
    same = overlay(tmp_path, "")
    hashes = {
        RUBRIC.sha256,
        same.sha256,  # another name and version
        overlay(tmp_path, "reference_score: 7").sha256,
        overlay(tmp_path, "criteria: {clarity: {zh: {aliases: [清楚]}}}").sha256,
        overlay(tmp_path, "languages: {en: {ask_again: Again.}}").sha256,
        load_rubric(prompt=write(tmp_path, "{{ question }} {{ answer }}", "own.jinja")).sha256,
    }
    assert len(hashes) == 6
    assert overlay(tmp_path, "").sha256 == same.sha256


# Mistakes, what a file says, and what the message then names beside the file: the key and what is
# allowed.

MISTAKES = r"""
intents: {leisure: {group: all}} => intents.leisure.group + 'all' + taken
intents: {leisure: {group: en}} => intents.leisure.group + 'en' + taken
critera: {} => critera: unknown key + allowed: name, version, reference_score
intents: {leisure: {criterion: [clarity]}} => intents.leisure.criterion: unknown key + allowed: label, group, criteria
criteria: {clarity: {en: {title: x}}} => criteria.clarity.en.title: unknown key + allowed: name, definition
intents: {leisure: {text: {en: {title: x}}}} => intents.leisure.text.en.title: unknown key + allowed: name, definition
languages: {en: {prompt: x}} => languages.en.prompt: unknown key + allowed: name, dataset_label, final, ask_again
languages: {en: {final: {title: x}}} => languages.en.final.title: unknown key + allowed: name, aliases
extends: mt-bench => extends: unknown rubric 'mt-bench' + allowed: urs, nothing
intents: {leisure: {criteria: [fun]}} => intents.leisure.criteria: unknown criterion 'fun' + allowed: factuality
dominant: [fun] => dominant: unknown criterion 'fun' + allowed: factuality
intents: {leisure: {criteria: [clarity, clarity]}} => intents.leisure.criteria: a criterion is listed twice
intents: {leisure: {criteria: []}} => intents.leisure.criteria: + at least 1 item
intents: {leisure: {criteria: clarity}} => intents.leisure.criteria: + tuple
intents: {chat: {group: g, criteria: [clarity], text: {}}} => intents.chat.label: Field required
intents: {leisure: 3} => intents.leisure:
criteria: {Good Humour: {}} => criteria.Good Humour + ^[a-z][a-z0-9_]*$
criteria: {final: {}} => criteria.final: the name is taken
criteria: {wit: {en: {name: Wit, definition: b}}} => criteria.wit: no text in language 'zh'
intents: {chat: {label: C, group: g, criteria: [clarity], text: {en: {name: a, definition: b}}}} => chat.text + 'zh'
criteria: {clarity: {en: {name: ''}}} => criteria.clarity.en.name: + at least 1 character
languages: {en: {bands: [a, b]}} => languages.en.bands: 2 texts, but there are 5 bands
bands: [[1, 2], [4, 5], [6, 7], [8, 9], [10, 10]] => bands: bands must cover 1 to 10 once each, lowest first
bands: [[1, 2], [2, 10]] => bands: bands must cover 1 to 10 once each
bands: [[6, 10], [1, 5]] => bands: bands must cover 1 to 10 once each
bands: [[1, 1000000000000]] => bands: bands must cover 1 to 10 once each
bands: [[0, 10]] => bands: bands must cover 1 to 10 once each
bands: [[1]] => bands.0.1: Field required
reference_score: 11 => reference_score: + less than or equal to 10
reference_score: high => reference_score: + valid integer
intents: {leisure: {label: Factual_QA}} => intents.leisure.label: 'Factual_QA' also names intent 'factual_qa'
intents: {leisure: {label: factual qa}} => intents.leisure.label: 'factual qa' also names intent 'factual_qa'
languages: {zh: {dataset_label: en}} => languages.zh.dataset_label: 'en' also names language 'en'
criteria: {richness: {en: {name: Clarity}}} => criteria.clarity: 'clarity' also names criteria.richness
criteria: {richness: {en: {aliases: [logic]}}} => criteria.richness: 'logic' also names criteria.logical_coherence
criteria: {richness: {en: {name: Final score}}} => criteria.richness: 'Final score' also names the final score
languages: {english: {name: x}} => languages.english
languages: {no: {name: Norsk}} => languages. + valid string
languages: [de] => languages: a list may name en, zh, got de
version: 3 => version: + valid string
languages: {en: {frame: nowhere.jinja}} => languages.en.frame: no file + nowhere.jinja
""".strip().splitlines()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused_with_file_key_and_what_is_allowed(mistake: str, tmp_path: Path):
    text, _, named = mistake.partition(" => ")
    head = "" if text.startswith("version") else "version: '1'\n"
    path = write(tmp_path, f"name: own\n{head}{text}")
    with pytest.raises(InputError) as caught:
        load_rubric(path)
    assert [part for part in (path, *named.split(" + ")) if part not in str(caught.value)] == []


def test_an_intent_a_language_and_a_criterion_may_share_a_name(tmp_path: Path):
    english = ENGLISH.replace("Complaint\n", "EN\n").replace("Warmth", "zh")
    rubric = overlay(tmp_path, f"languages: [en]\n{english}")
    assert rubric.intent_id("en") == "complaint"
    assert rubric.language_code("en") == "en"
    chinese = ADDITION.replace("Complaint\n", "cn\n").replace("Warmth", "EN")
    rubric = overlay(tmp_path, chinese)
    assert (rubric.intent_id("CN"), rubric.language_code("CN")) == ("complaint", "zh")
    assert rubric.keys_by_spelling[normalise_key("EN")] == "empathy"


def test_every_mistake_is_reported_at_once(tmp_path: Path):
    with pytest.raises(InputError) as caught:
        overlay(tmp_path, "critera: {}\nreference_score: 0\nintents: {leisure: {labl: x}}")
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert all(line.startswith(str(tmp_path / "own.yaml")) for line in lines)


@pytest.mark.parametrize("missing", ["name", "version"])
def test_a_rubric_of_ones_own_needs_name_and_version(missing: str, tmp_path: Path):
    head = {"name": "name: own\n", "version": "version: '1'\n"}
    del head[missing]
    with pytest.raises(InputError, match=rf"own\.yaml: {missing}: missing"):
        load_rubric(write(tmp_path, "".join(head.values())))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name: [", "is not valid YAML"),
        (b"name: a\n\tversion: b", "is not valid YAML"),
        (b"name: a\nname\n", "is not valid YAML"),
        (b"name: a\nname: b\n", "key 'name' ... twice"),
        (b"\x00", "is not valid YAML"),
        (b"", "mapping with keys ... name, version"),
        (b"# only a comment\n", "hold a mapping"),
        (b"- a\n- b\n", "hold a mapping"),
        (b"just text", "hold a mapping"),
        (b"3", "hold a mapping"),
        ("name: Qualität".encode("latin-1"), "as UTF-8 text"),
        ("name: x".encode("utf-16"), "as UTF-8 text"),
    ],
)
def test_a_file_that_is_no_rubric_is_refused_by_name(content: bytes, message: str, tmp_path: Path):
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_rubric(str(path))
    assert str(path) in str(caught.value) and tells(str(caught.value), message)


def test_a_file_that_is_not_there_and_a_directory_are_refused_by_name(tmp_path: Path):
    with pytest.raises(InputError, match=r"^rubric: no file '.*nowhere\.yaml'$"):
        load_rubric(str(tmp_path / "nowhere.yaml"))
    with pytest.raises(InputError, match="cannot read"):
        load_rubric(str(tmp_path))


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:builtins.open [{canary}, w]",
        "!!python/object/apply:os.system ['touch {canary}']",
        "!!python/object/new:pathlib.Path [{canary}]",
        "!!python/name:os.system",
        "!own x",
    ],
)
def test_a_file_can_build_no_python_object(tag: str, tmp_path: Path):
    canary = tmp_path / "canary"
    path = write(
        tmp_path, f"name: own\nversion: '1'\nextra: {tag.replace('{canary}', str(canary))}\n"
    )
    with pytest.raises(InputError, match="not valid YAML"):
        load_rubric(path)
    assert not canary.exists()


def test_an_intent_with_another_label_is_found_by_both(tmp_path: Path) -> None:
    rubric = overlay(tmp_path, ADDITION.replace("label: Complaint", "label: Put right"))
    assert rubric.intent_id("complaint") == rubric.intent_id("Put right") == "complaint"


def test_the_example_of_the_documentation_loads(tmp_path: Path):
    page = Path(__file__).parents[2] / "docs" / "extending.md"
    example, *_ = re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    rubric = load_rubric(write(tmp_path, example))
    assert rubric.intent_id("Complaint") == "complaint"
    assert rubric.score_keys[-1] == "empathy"


def test_a_rubric_from_nothing_has_no_languages_to_choose_from(tmp_path: Path) -> None:
    path = write(tmp_path, "extends: nothing\nname: own\nversion: '1'\nlanguages: [en]\n")
    with pytest.raises(InputError, match=r"languages: .*mapping"):
        load_rubric(path)


def test_keys_that_the_program_sets_are_not_offered(tmp_path: Path) -> None:
    path = write(tmp_path, "name: own\nversion: '1'\nlanguages: {en: {prompt: x}}\n")
    with pytest.raises(InputError) as caught:
        load_rubric(path)
    assert "frame" in str(caught.value) and "frame_source" not in str(caught.value)
