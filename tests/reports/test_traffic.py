"""The user's own mix: what a file may say, and what is wrong with it."""

from pathlib import Path

import pandas as pd
import pytest

from urs_inspect._util import InputError
from urs_inspect.reports.numbers._traffic import read_traffic
from urs_inspect.rubrics import Rubric


def write(path: Path, text: str) -> Path:
    file = path / "mix.yaml"
    file.write_text(text, encoding="latin-1")
    return file


def questions(*kinds: tuple[str, str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(kinds, columns=["intent", "group", "language", "country"])


def test_names_may_be_those_of_the_data_or_ids(tmp_path: Path, rubric: Rubric) -> None:
    file = write(
        tmp_path,
        "intents: {Factual_QA: 0.5, leisure: 0.3, Solve Problem: 0.2}\n"
        "languages: {EN: 1, zh: 0}\n"
        "countries: {chile: 0.25, 'NO': 0.75}\n",
    )
    mix = read_traffic(file, rubric, ["Chile", "NO", "NO"])
    assert mix.source == str(file)
    assert mix.shares == {
        "intents": {"factual_qa": 0.5, "leisure": 0.3, "Solve Problem": 0.2},
        "languages": {"en": 1.0, "zh": 0.0},
        "countries": {"Chile": 0.25, "NO": 0.75},
    }


def test_shares_become_margins(tmp_path: Path, rubric: Rubric) -> None:
    mix = read_traffic(
        write(tmp_path, "intents: {Solve Problem: 0.75, leisure: 0.25, factual_qa: 0}"), rubric
    )
    found = questions(
        ("api", "Solve Problem", "en", ""),
        ("solve_professional_problem", "Solve Problem", "zh", ""),
        ("leisure", "Leisure", "en", ""),
        ("factual_qa", "Factual QA", "en", ""),
        ("text_assistant", "Text Assistant", "en", ""),
    )
    [margin] = mix.margins(found)
    assert margin.category.tolist() == [0, 0, 1, -1, -1]
    assert margin.shares.tolist() == [0.75, 0.25]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("intents: {leisure: 0.5, factual_qa: 0.4}", "intents: .*0.9$"),
        ("intents: {leisure: 0.5, factual_qa: 0.50001}", "must add up to 1"),
        ("intents: {leisure: 1.2, factual_qa: -0.2}", "intents.leisure: .* 0 to 1, is 1.2"),
        ("intents: {leisure: half, factual_qa: 0.5}", "intents.leisure: .* 0 to 1, is 'half'"),
        ("intents: {leisure: true}", "is True"),
        ("intents: {leisure: .nan}", "is nan"),
        ("intents: {gossip: 1}", "'gossip'; allowed: factual_qa, .*, or the reported intents"),
        ("intents: {leisure: 0.5, Leisure: 0.5}", "'Leisure' names 'leisure' a second time"),
        ("intents: {api: 0.5, Solve Problem: 0.5}", "'api' is a part of 'Solve Problem'"),
        ("languages: {fr: 1}", "languages: .*'fr'"),
        ("countries: {Peru: 1}", "countries: .*'Peru'; allowed: Chile, NO"),
        ("countries: {NO: 1}", "countries: .*False; put it into quotation marks"),
        ("intent: {leisure: 1}", "'intent'; allowed: intents, languages, countries"),
        ("intents: [leisure]", "intents: must be a mapping"),
        ("intents: {}", "intents: must be a mapping"),
        ("- intents", "mapping with one or more of: intents, languages, countries"),
        ("", "mapping with one or more of"),
        ("{}", "mapping with one or more of"),
        ("intents: {leisure: 1", "is not valid YAML"),
        ("intents: {leisure: 0.5, leisure: 1}", "'leisure' is there twice"),
        ("\xff\xfe\xff", "as UTF-8 text"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, rubric: Rubric, text: str, said: str) -> None:
    with pytest.raises(InputError, match=rf"(?s)mix\.yaml.*{said}"):
        read_traffic(write(tmp_path, text), rubric, ["Chile", "NO"])


def test_countries_need_countries(tmp_path: Path, rubric: Rubric) -> None:
    with pytest.raises(InputError, match="no country"):
        read_traffic(write(tmp_path, "countries: {Chile: 1}"), rubric)


def test_shares_may_be_off_by_rounding(tmp_path: Path, rubric: Rubric) -> None:
    read_traffic(
        write(tmp_path, "intents: {leisure: 0.3333333, factual_qa: 0.3333333, api: 0.3333334}"),
        rubric,
    )


@pytest.mark.parametrize(
    ("share", "is_whole"), [("0.5000009", True), ("0.4999991", True), ("0.500002", False)]
)
def test_shares_add_up_to_1_within_a_millionth(
    tmp_path: Path, rubric: Rubric, share: str, is_whole: bool
) -> None:
    file = write(tmp_path, f"intents: {{leisure: 0.5, factual_qa: {share}}}")
    if is_whole:
        assert sum(read_traffic(file, rubric).shares["intents"].values()) != 1
        return
    with pytest.raises(InputError, match="must add up to 1"):
        read_traffic(file, rubric)


def test_a_file_must_be_there(tmp_path: Path, rubric: Rubric) -> None:
    with pytest.raises(InputError, match=r"no file 'none\.yaml'"):
        read_traffic(Path("none.yaml"), rubric)


def test_a_kind_without_questions_is_an_error(tmp_path: Path, rubric: Rubric) -> None:
    mix = read_traffic(write(tmp_path, "intents: {leisure: 0.5, factual_qa: 0.5}"), rubric)
    with pytest.raises(InputError, match=r"question of 'factual_qa'.*allowed: Leisure, leisure"):
        mix.margins(questions(("leisure", "Leisure", "en", "")))
