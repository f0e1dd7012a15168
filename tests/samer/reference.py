"""SaMer computed the plain way, for comparison: torch modules with the released indices, one pass
for each text.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn

from urs_inspect.samer._weights import Array


class ReferenceHeads(nn.Module):
    """The heads as the released training builds them, dropout included, so that the state dict fits
    by its names.
    """

    def __init__(self, hidden: int, dimensions: int = 42) -> None:
        super().__init__()

        def linear(inside: int, out: int) -> nn.Linear:
            return nn.Linear(inside, out, bias=False)

        def drop() -> nn.Dropout:
            return nn.Dropout(0.1)

        self.scoring_layer = nn.Sequential(
            linear(hidden, 2048), nn.SiLU(), drop(), linear(2048, 1024), nn.SiLU(), linear(1024, 1024), nn.SiLU(),
            linear(1024, 1024), nn.SiLU(), drop(), linear(1024, dimensions),
        )  # fmt: skip
        self.dimpred_layer, self.weighting_layer = (
            nn.Sequential(
                linear(hidden, 1024), nn.SiLU(), drop(), linear(1024, 1024), nn.SiLU(), linear(1024, 1024), nn.SiLU(),
                drop(), linear(1024, dimensions),
            )
            for _ in range(2)
        )  # fmt: skip


class Reference:
    """A checkpoint in one file, in float32 on the CPU."""

    def __init__(self, folder: Path) -> None:
        # Here, because they take two seconds to import, in every process that collects the tests.
        from transformers import AutoTokenizer, LlamaModel

        tensors = load_file(folder / "model.safetensors")
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.backbone: Any = LlamaModel.from_pretrained(folder, dtype=torch.float32).eval()
        self.heads = ReferenceHeads(self.backbone.config.hidden_size)
        self.heads.load_state_dict(
            {
                name.removeprefix("score."): value.float()
                for name, value in tensors.items()
                if name.startswith("score.")
            }
        )
        self.heads.eval()

    def ids(self, *contents: str) -> list[int]:
        """Token ids of a query, or of a query and a response, as in training."""
        roles = ("user", "assistant")
        messages = [
            {"role": role, "content": content}
            for role, content in zip(roles, contents, strict=False)
        ]
        text = self.tokenizer.apply_chat_template(messages, tokenize=False)
        return list(self.tokenizer(text, add_special_tokens=False).input_ids)

    @torch.inference_mode()
    def outputs(
        self, query: list[int], whole: list[int], weights_at: str = "response"
    ) -> dict[str, Array]:
        """Scores, gates and weights of one query and response, each text in a pass of its own."""
        at_query, at_response = (
            self.backbone(input_ids=torch.tensor([ids])).last_hidden_state[:, -1]
            for ids in (query, whole)
        )
        outputs = {
            "scores": self.heads.scoring_layer(at_response),
            "gates": self.heads.dimpred_layer(at_query),
            "weights": self.heads.weighting_layer(
                at_query if weights_at == "query" else at_response
            ),
        }
        return {name: np.asarray(value[0].numpy(), np.float32) for name, value in outputs.items()}
