"""Random tiny reward models of several architectures, and their scores computed the slow way."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForSequenceClassification,
    Gemma2Config,
    GPT2Config,
    LlamaConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
)

from tests.samer.checkpoints import BOS, CHAT_TEMPLATE, EOT, write_tokenizer

PLAIN = "{{ bos_token }}Q: {{ messages[0].content }}\nA: {{ messages[1].content }}\n"
_SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 512,
}


def tiny_reward_model(
    path: Path,
    architecture: str = "llama",
    *,
    labels: int = 1,
    padding: str | None = "other",
    template: str | None = CHAT_TEMPLATE,
    seed: int = 0,
) -> Path:
    """Write a random classifier; `padding`: `eos` (which closes a turn), `other` (a token of its
    own) or None.
    """
    path.mkdir(parents=True)
    size = write_tokenizer(path, template=template)
    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(path)
    ids = {
        "eos": tokenizer.convert_tokens_to_ids(EOT),
        "other": tokenizer.convert_tokens_to_ids("<|end_of_text|>"),
    }
    facts = {
        "vocab_size": size,
        "num_labels": labels,
        "pad_token_id": None if padding is None else ids[padding],
        "bos_token_id": tokenizer.convert_tokens_to_ids(BOS),
        "eos_token_id": ids["eos"],
    }
    config: Any = {
        "llama": lambda: LlamaConfig(**_SIZES, **facts),
        "qwen2": lambda: Qwen2Config(**_SIZES, **facts),
        "gemma2": lambda: Gemma2Config(**_SIZES, head_dim=32, attn_logit_softcapping=1.0, **facts),
        "gpt2": lambda: GPT2Config(n_embd=64, n_layer=2, n_head=2, n_positions=512, **facts),
    }[architecture]()
    torch.manual_seed(seed)
    model = AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():  # the library's own start makes all texts nearly equal
            parameter.add_(torch.randn_like(parameter) * 0.3 / max(1, parameter.shape[-1]) ** 0.25)
    model.save_pretrained(path)
    return path


def describe(folder: Path, **description: object) -> Path:
    """Write the description of a model's outputs."""
    (folder / "reward.yaml").write_text(json.dumps(description), encoding="utf-8")
    return folder


class SlowReference:
    """`AutoModelForSequenceClassification` called by hand, one text at a time, nothing padded."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(folder)
        self.model: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, dtype=torch.float32
        ).eval()

    @torch.inference_mode()
    def logits(self, query: str, response: str, template: str | None = None) -> list[float]:
        messages = [{"role": "user", "content": query}, {"role": "assistant", "content": response}]
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, chat_template=template)
        ids = self.tokenizer(text, add_special_tokens=False).input_ids
        return [float(number) for number in self.model(input_ids=torch.tensor([ids])).logits[0]]
