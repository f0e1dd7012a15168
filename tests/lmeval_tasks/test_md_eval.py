"""`md_eval` in lm-eval gives the numbers that it gives in inspect-ai; `md_eval_mc`."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage

from tests.lmeval_tasks import runs
from tests.lmeval_tasks.runs import ScriptedLM
from tests.samer.checkpoints import write_tokenizer
from tests.tasks.scripted import Script, judge_numbers, run
from urs_inspect._util import InputError
from urs_inspect.datasets import load_md_eval
from urs_inspect.judging._prompts import Orders, Protocol
from urs_inspect.lmeval_tasks._md_eval_task import LETTERS, letter_prompt, load_pairs
from urs_inspect.lmeval_tasks._measured_task import ratio, ratio_high, ratio_low
from urs_inspect.rubrics._taxonomy import load_taxonomy
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
    verdicts = {
        name: {"comparison": "x\n\ny", "winner": _verdict(name + case)}
        for name in [*names, "Overall"]
    }
    return "Compared.\n\n" + json.dumps(verdicts)


def _lm(**kwargs: Any) -> ScriptedLM:
    return ScriptedLM(
        lambda messages: _reply(messages[0]["content"], messages[-1]["content"]), **kwargs
    )


def _of_messages(messages: list[ChatMessage]) -> str:
    return _reply(messages[0].text, messages[-1].text)


def _run(lm: ScriptedLM, limit: int = _PAIRS, **options: Any) -> dict[str, Any]:
    found = runs.run(
        "md_eval", lm, {f"md_eval_{name}": value for name, value in options.items()}, limit=limit
    )
    return dict(found["results"]["md_eval"])


@pytest.mark.data
@pytest.mark.parametrize(
    ("protocol", "orders"), [("joint", "both"), ("overall", "seeded"), ("per_dimension", "ab")]
)
def test_the_numbers_are_those_of_the_task_of_inspect(
    data_dir: Path, tmp_path: Path, protocol: Protocol, orders: Orders
):
    limit = 4 if protocol == "per_dimension" else _PAIRS
    script, lm = Script(_of_messages), _lm()
    log = run(
        md_eval(protocol=protocol, orders=orders), tmp_path, model=script.model(), limit=limit
    )
    assert log.status == "success", log.error
    expected = judge_numbers(log)
    found = _run(lm, limit, protocol=protocol, orders=orders)

    asked = [[message["content"] for message in messages] for messages in lm.seen]
    assert sorted(asked) == sorted(
        [message.text for message in messages] for messages in script.seen
    )
    measures = ["accuracy_all", "accuracy", "unread"] + (["flips"] if orders == "both" else [])
    names = {f"overall_{name}": f"overall {name}" for name in measures}
    names |= {
        f"overall_{name}": f"overall {name}" for name in ("three_way_all", "longer_preference")
    }
    names |= {"overall_first_preference": "overall first_preference"}
    names |= {"baseline_longest_overall_accuracy": "baseline longest overall accuracy"}
    if protocol != "overall":
        names |= {f"dimension_{name}": f"dimension {name}" for name in measures}
        ends = {"lower": "low", "upper": "high"}
        names |= {
            f"dimension_accuracy_all_ci_{end}": f"dimension accuracy_all {our}"
            for end, our in ends.items()
        }
        names |= {"baseline_longest_dimension_accuracy": "baseline longest dimension accuracy"}
    compared = 0
    for name, other in names.items():
        if (
            other.endswith((" low", " high")) and other not in expected
        ):  # too few pairs for an interval in inspect
            continue
        if f"{name},none" in found:  # no case had it: in inspect there is no such row, either
            assert found[f"{name},none"] == pytest.approx(expected[other], nan_ok=True), name
            compared += 1
        else:
            assert other not in expected, name
    assert compared >= len(names) - 2
    assert lm.settings[0]["until"] == [] and lm.settings[0]["temperature"] == 0


def _chance(messages: list[dict[str, str]], choice: str) -> float:
    return -float(sum(map(ord, messages[-1]["content"])) * ord(choice.strip()) % 7)


@pytest.mark.data
@pytest.mark.parametrize("task", ["md_eval", "md_eval_mc_social"])
def test_two_processes_find_the_same(data_dir: Path, task: str):
    options = {"md_eval_orders": "both"}
    maker = _lm if task == "md_eval" else partial(ScriptedLM, chance=_chance)
    alone = runs.numbers(runs.run(task, maker(), options, 7), task)
    several = runs.numbers(runs.run_in_two(task, maker, options, 7), task)
    assert {name: several[name] for name in alone} == pytest.approx(alone)


@pytest.mark.data
def test_predict_only_keeps_replies_and_counts_nothing(data_dir: Path):
    found = runs.run("md_eval", _lm(), {"md_eval_orders": "both"}, limit=2, predict_only=True)
    [first, _] = found["samples"]["md_eval"]
    assert len(first["filtered_resps"]) == 2
    assert not any(name.startswith("overall") for name in found["results"]["md_eval"])


@pytest.mark.data
def test_a_plain_text_model_sees_instructions_and_case_and_a_user_s_instruction_comes_first(
    data_dir: Path,
):
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
        ({"md_eval_orders": "ba"}, "md_eval_orders: unknown value 'ba'; allowed: ab, seeded, both"),
        ({"md_eval_scenarios": "chat"}, "chat"),
        ({"md_eval_seed": -1}, "md_eval_seed: .*or equal to 0"),
    ],
)
def test_bad_options_are_named_before_the_data_is_fetched(options: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        load_pairs(**options)


def test_without_data_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    from urs_inspect.datasets import _benches as source

    def unreachable(*args: Any) -> None:
        raise InputError("md_eval cannot be downloaded; set URS_INSPECT_DATA_DIR")

    monkeypatch.setattr(source, "read_published", unreachable)
    lm = _lm()
    with pytest.raises(InputError, match="URS_INSPECT_DATA_DIR"):
        runs.run("md_eval", lm)
    assert lm.seen == []


# --- choices: the probabilities of three letters are the verdict; one task a need, and their group
# ---

_PREFERS = {"A": {"A": -1.0, "B": -2.0, "C": -3.0}, "B": {"A": -2.0, "B": -1.0, "C": -3.0}}


def _always(letter: str, **kwargs: Any) -> ScriptedLM:
    return ScriptedLM(chance=lambda messages, choice: _PREFERS[letter][choice.strip()], **kwargs)


def _cases() -> Any:
    taxonomy = load_taxonomy()
    return load_md_eval(taxonomy.dimension, tuple(taxonomy.scenarios)).cases


@pytest.mark.data
def test_the_group_is_the_accuracy_over_all_pairs_without_ties(data_dir: Path):
    lm = _always("B")
    found = runs.run("md_eval_mc", lm)
    # 201 of 342 labels that are no tie are for the second response, 255 for the longer one.
    group = found["results"]["md_eval_mc"]
    assert group["acc,none"] == pytest.approx(201 / 342)
    assert group["baseline_longest,none"] == pytest.approx(255 / 342)
    assert group["chose_first,none"] == group["chose_tie,none"] == 0
    leaves = [name for name in found["results"] if name != "md_eval_mc"]
    assert sorted(leaves) == sorted(f"md_eval_mc_{need}" for need in load_taxonomy().needs)
    assert sum(found["n-samples"][name]["effective"] for name in leaves) == 342
    by_hand = [case for case in _cases() if load_taxonomy().scenarios[case.group].need == "safety"]
    sided = [case.label for case in by_hand if case.label != "tie"]
    assert found["results"]["md_eval_mc_safety"]["acc,none"] == pytest.approx(
        sided.count("b") / len(sided)
    )
    assert len(lm.seen) == 342 * 3


@pytest.mark.data
def test_who_always_takes_the_first_is_right_on_nothing_in_both_orders(data_dir: Path):
    options = {"md_eval_orders": "both"}
    found = runs.run("md_eval_mc", _always("A"), options, limit=2)["results"]["md_eval_mc"]
    assert found["acc,none"] == 0 and found["flipped,none"] == 1 and found["chose_first,none"] == 1


@pytest.mark.data
def test_swapping_and_equal_chances(data_dir: Path):
    even = ScriptedLM(chance=lambda messages, choice: -1.0)
    found = runs.run("md_eval_mc_other", even, {"md_eval_orders": "both"}, limit=1)
    assert found["results"]["md_eval_mc_other"]["chose_tie,none"] == 1
    one, other = [each[-1]["content"] for each in (even.seen[0], even.seen[3])]
    doc = found["samples"]["md_eval_mc_other"][0]["doc"]
    assert one == letter_prompt(doc["prompt"], doc["response_a"], doc["response_b"]).case
    assert other == letter_prompt(doc["prompt"], doc["response_b"], doc["response_a"]).case


def _tiny_llama(folder: Path) -> None:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder.mkdir()
    vocabulary = write_tokenizer(folder, max_positions=16384)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=16384,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


@pytest.mark.data
@pytest.mark.parametrize("chat", [True, False])
def test_a_tiny_local_model_chooses(data_dir: Path, tmp_path: Path, chat: bool):
    from lm_eval.models.huggingface import HFLM

    _tiny_llama(tmp_path / "llama")
    lm = HFLM(pretrained=str(tmp_path / "llama"), device="cpu", dtype="float32", batch_size=1)
    found = runs.run("md_eval_mc_other", lm, apply_chat_template=chat, limit=2)
    samples = found["samples"]["md_eval_mc_other"]
    assert len(samples) == 2
    for sample in samples:
        chances = [chance for chance, _ in sample["filtered_resps"]]
        assert (
            len(chances) == 3 and all(chance < 0 for chance in chances) and len(set(chances)) == 3
        )
        contexts = {argument[0] for argument in sample["arguments"]}
        assert len(contexts) == 1 and {
            argument[1].strip() for argument in sample["arguments"]
        } == set(LETTERS)


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
