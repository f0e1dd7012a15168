"""Ballots: one id and one order of models, whoever makes them."""

import json
from pathlib import Path

import pytest

from tests.annotation.samples import ballot, ballots
from tests.ballot_files import write_ballots
from urs_inspect._util import InputError
from urs_inspect.discrepancy._ballots import Ballot, ballot_id, read_ballots


def test_the_id_does_not_depend_on_which_model_is_named_first() -> None:
    assert ballot_id("i1", "x", "y") == ballot_id("i1", "y", "x")
    # sha256 of '["i1", "x", "y"]' worked out with coreutils' sha256sum
    assert ballot_id("i1", "x", "y") == "983b6bc49bea69c0"
    assert (
        len(
            {
                ballot_id(i, a, b)
                for i in ("i1", "i2")
                for a, b in (("x", "y"), ("x", "z"), ("xy", ""))
            }
        )
        == 6
    )


def test_models_stand_in_order_with_their_own_responses() -> None:
    made = Ballot.between("i", "q", {"zebra": "from zebra", "ant": "from ant"})
    assert (made.model_a, made.response_a) == ("ant", "from ant")
    assert (made.model_b, made.response_b) == ("zebra", "from zebra")
    assert made == Ballot.between("i", "q", {"ant": "from ant", "zebra": "from zebra"})


@pytest.mark.parametrize("models", [(), ("one",), ("one", "two", "three")])
def test_a_ballot_is_between_two(models: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=f"two models, got {len(models)}"):
        Ballot.between("i", "q", dict.fromkeys(models, "r"))


def test_it_comes_back_from_a_file(tmp_path: Path) -> None:
    made = (
        *ballots(3),
        Ballot.between(
            "i", "问\u2028题\n", {"a": "", "b": "</script>"}, reference="r", language="zh"
        ),
    )
    write_ballots(made, tmp_path / "ballots.jsonl")
    assert read_ballots(tmp_path / "ballots.jsonl") == made


def test_the_id_may_be_left_out_and_other_keys_do_no_harm() -> None:
    values = ballot(1).to_dict()
    del values["id"]
    assert Ballot.from_dict({**values, "note": 1}) == ballot(1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "0" * 16}, "id is '0000000000000000', but that of this instruction"),
        (
            {"model_a": "pear", "model_b": "apple"},
            "model_a must be the one that sorts first: 'apple' comes before",
        ),
        ({"model_b": "apple"}, "compares 'apple' with itself"),
        ({"model_a": ""}, "needs the names of both models"),
        ({"response_a": None}, "response_a must be text, got NoneType"),
        ({"language": 3}, "language must be text, got int"),
    ],
)
def test_a_ballot_that_would_turn_votes_round_is_refused(
    change: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=rf"^line 3: .*{words}"):
        Ballot.from_dict({**ballot(1).to_dict(), **change}, "line 3")
    with pytest.raises(InputError, match="ballot: missing instruction, response_b"):
        Ballot.from_dict({"instruction_id": "i", "model_a": "a", "model_b": "b", "response_a": "r"})


@pytest.mark.parametrize(("values", "kind"), [([], "list"), ("a", "str"), (None, "NoneType")])
def test_what_is_no_object_is_no_ballot(values: object, kind: str) -> None:
    with pytest.raises(InputError, match=rf"^line 9: .*JSON object.*{kind}$"):
        Ballot.from_dict(values, "line 9")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no ballot.*JSON"),
        (b"\n{]\n", "line 2: not JSON"),
        (b"[1]\n", "line 1: not a JSON object"),
        (b"\xff\n", "byte 0 is not UTF-8"),
        (b"[" * 100_000, "line 1: not readable as JSON"),
        (None, r"no data file.*ballots\.jsonl"),
    ],
)
def test_a_file_that_is_none_is_one_line(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "ballots.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=words) as refused:
        read_ballots(path)
    assert "\n" not in str(refused.value)


def test_the_same_ballot_twice_is_one_and_two_of_an_id_are_none(tmp_path: Path) -> None:
    path = tmp_path / "ballots.jsonl"
    write_ballots([ballot(1), ballot(2), ballot(1)], path)
    assert read_ballots(path) == (ballot(1), ballot(2))
    other = {**ballot(1).to_dict(), "response_a": "changed"}
    path.write_text(path.read_text("utf-8") + json.dumps(other) + "\n", "utf-8")
    with pytest.raises(InputError, match=r"line 4:.*\w{16} differs.*line 1"):
        read_ballots(path)


def test_a_ballot_of_a_log_without_intents_is_the_same_as_one_with_it(tmp_path: Path) -> None:
    path = tmp_path / "ballots.jsonl"
    known = {**ballot(1).to_dict(), "intent": "advice"}
    path.write_text(f"{json.dumps(ballot(1).to_dict())}\n{json.dumps(known)}\n", "utf-8")
    assert len(read_ballots(path)) == 1
