"""`md_eval` in lm-eval gives the numbers that it gives in inspect-ai."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage

from tests.lmeval_tasks import runs
from tests.lmeval_tasks.scripted_lm import ScriptedLM
from tests.tasks.scripted import Script, judge_numbers, run
from urs_inspect._util import InputError
from urs_inspect.lmeval_tasks.md_eval_task import load_pairs
from urs_inspect.lmeval_tasks.measured_task import ratio, ratio_high, ratio_low
from urs_inspect.tasks import md_eval

_PAIRS = 16
_WORDS = ("1", "2", "tie", "2", "neither")


def _verdict(text: str) -> str:
    """A verdict that depends on what is shown; one in five cannot be read."""
    return _WORDS[sum(map(ord, text)) % len(_WORDS)]


def _reply(instructions: str, case: str) -> str:
    names = re.findall(r"^- (.+?): ", instructions, re.MULTILINE)
    if len(case) % 9 == 0:
        return "I cannot say."
    if "Overall" not in instructions:
        return json.dumps({"comparison": "x", "winner": _verdict(instructions + case)})
    verdicts = {name: {"comparison": "x\n\ny", "winner": _verdict(name + case)} for name in [*names, "Overall"]}
    return "Compared.\n\n" + json.dumps(verdicts)


def _lm(**kwargs: Any) -> ScriptedLM:
    return ScriptedLM(lambda messages: _reply(messages[0]["content"], messages[-1]["content"]), **kwargs)


def _of_messages(messages: list[ChatMessage]) -> str:
    return _reply(messages[0].text, messages[-1].text)


def _run(lm: ScriptedLM, limit: int = _PAIRS, **options: Any) -> dict[str, Any]:
    found = runs.run("md_eval", lm, {f"md_eval_{name}": value for name, value in options.items()}, limit=limit)
    return dict(found["results"]["md_eval"])


@pytest.mark.data
@pytest.mark.parametrize(("protocol", "orders"), [("joint", "both"), ("overall", "seeded"), ("per_dimension", "ab")])
def test_the_numbers_are_those_of_the_task_of_inspect(data_dir: Path, tmp_path: Path, protocol: str, orders: str):
    limit = 4 if protocol == "per_dimension" else _PAIRS
    script, lm = Script(_of_messages), _lm()
    log = run(md_eval(protocol=protocol, orders=orders), tmp_path, model=script.model(), limit=limit)
    assert log.status == "success", log.error
    expected = judge_numbers(log)
    found = _run(lm, limit, protocol=protocol, orders=orders)

    asked = [[message["content"] for message in messages] for messages in lm.seen]
    assert sorted(asked) == sorted([message.text for message in messages] for messages in script.seen)
    measures = ["accuracy_all", "accuracy", "unread"] + (["flips"] if orders == "both" else [])
    names = {f"overall_{name}": f"overall {name}" for name in measures}
    names |= {f"overall_{name}": f"overall {name}" for name in ("three_way_all", "longer_preference")}
    names |= {"overall_first_preference": "overall first_preference"}
    names |= {"baseline_longest_overall_accuracy": "baseline longest overall accuracy"}
    if protocol != "overall":
        names |= {f"dimension_{name}": f"dimension {name}" for name in measures}
        ends = {"lower": "low", "upper": "high"}
        names |= {f"dimension_accuracy_all_ci_{end}": f"dimension accuracy_all {our}" for end, our in ends.items()}
        names |= {"baseline_longest_dimension_accuracy": "baseline longest dimension accuracy"}
    compared = 0
    for name, other in names.items():
        if other.endswith((" low", " high")) and other not in expected:  # too few pairs for an interval in inspect
            continue
        if f"{name},none" in found:  # no case had it: in inspect there is no such row, either
            assert found[f"{name},none"] == pytest.approx(expected[other], nan_ok=True), name
            compared += 1
        else:
            assert other not in expected, name
    assert compared >= len(names) - 2
    assert lm.settings[0]["until"] == [] and lm.settings[0]["temperature"] == 0


@pytest.mark.data
def test_two_processes_find_the_same(data_dir: Path):
    options = {"md_eval_orders": "both"}
    alone = runs.numbers(runs.run("md_eval", _lm(), options, _PAIRS), "md_eval")
    several = runs.numbers(runs.run_in_two("md_eval", _lm, options, _PAIRS), "md_eval")
    assert {name: several[name] for name in alone} == pytest.approx(alone)


@pytest.mark.data
def test_a_plain_text_model_sees_instructions_and_case_and_a_user_s_instruction_comes_first(data_dir: Path):
    lm = ScriptedLM(lambda messages: "")
    found = runs.run("md_eval", lm, limit=2, apply_chat_template=False)["results"]["md_eval"]
    assert [message["role"] for message in lm.seen[0]] == ["user"]
    assert "<response_2>" in lm.seen[0][0]["content"] and "You are" in lm.seen[0][0]["content"]
    # An empty reply is a verdict on nothing, and never half right.
    assert found["overall_unread,none"] == found["dimension_unread,none"] == 1
    assert found["overall_accuracy_all,none"] == 0 and "overall_accuracy,none" not in found
    lm = _lm()
    runs.run("md_eval", lm, limit=1, system_instruction="Be brief.")
    assert [message["role"] for message in lm.seen[0]] == ["system", "user"]
    assert lm.seen[0][0]["content"].startswith("Be brief.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"md_eval_order": "both"}, "unknown 'md_eval_order'; allowed: .*md_eval_orders"),
        ({"md_eval_orders": "ba"}, "md_eval_orders: .*'both'.*got 'ba'"),
        ({"md_eval_scenarios": "chat"}, "chat"),
        ({"md_eval_seed": -1}, "md_eval_seed: .*greater than or equal to 0"),
    ],
)
def test_bad_options_are_named_before_the_data_is_fetched(options: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        load_pairs(**options)


def test_without_data_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    from urs_inspect.datasets import benches as source

    def unreachable(*args: Any) -> None:
        raise InputError("md_eval cannot be downloaded; set URS_INSPECT_DATA_DIR")

    monkeypatch.setattr(source, "read_published", unreachable)
    lm = _lm()
    with pytest.raises(InputError, match="URS_INSPECT_DATA_DIR"):
        runs.run("md_eval", lm)
    assert lm.seen == []


# --- ratios ---


def test_a_ratio_by_hand():
    # 3 + 1 + 0 of 4 + 2 + 0.
    assert ratio([[3, 4, 0], [1, 2, 1], [0, 0, 2]]) == pytest.approx(4 / 6)
    assert str(ratio([[0, 0, 0]])) == "nan"


def test_bounds_of_a_ratio_lie_around_it_and_need_two_clusters():
    parts = [[place % 3, 3, place] for place in range(30)]
    assert ratio_low(parts) < ratio(parts) < ratio_high(parts)
    assert str(ratio_low([[1, 2, 0], [2, 2, 0]])) == "nan"
    # Clusters that agree leave nothing open.
    assert ratio_low([[1, 2, 0], [1, 2, 1]]) == ratio_high([[1, 2, 0], [1, 2, 1]]) == 0.5
