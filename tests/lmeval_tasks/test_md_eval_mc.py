"""`md_eval_mc`: the probabilities of three letters are the verdict; one task a need, and their group."""

from pathlib import Path
from typing import Any

import pytest

from tests.lmeval_tasks import runs
from tests.lmeval_tasks.scripted_lm import ScriptedLM
from tests.samer.checkpoints import write_tokenizer
from urs_inspect.datasets import load_md_eval
from urs_inspect.judging.prompts import LETTERS, letter_prompt
from urs_inspect.samer import load_taxonomy

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
    assert found["results"]["md_eval_mc_safety"]["acc,none"] == pytest.approx(sided.count("b") / len(sided))
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


# --- a model of transformers ---


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
def test_a_tiny_local_model_runs(data_dir: Path, tmp_path: Path, chat: bool):
    from lm_eval.models.huggingface import HFLM

    _tiny_llama(tmp_path / "llama")
    lm = HFLM(pretrained=str(tmp_path / "llama"), device="cpu", dtype="float32", batch_size=1)
    found = runs.run("md_eval_mc_other", lm, apply_chat_template=chat, limit=2)
    samples = found["samples"]["md_eval_mc_other"]
    assert len(samples) == 2
    for sample in samples:
        chances = [chance for chance, _ in sample["filtered_resps"]]
        assert len(chances) == 3 and all(chance < 0 for chance in chances) and len(set(chances)) == 3
        contexts = {argument[0] for argument in sample["arguments"]}
        assert len(contexts) == 1 and {argument[1].strip() for argument in sample["arguments"]} == set(LETTERS)
