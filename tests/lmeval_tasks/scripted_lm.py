"""A model of lm-eval that answers as scripted, alone or as one process of several."""

import threading
from collections.abc import Callable
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

Messages = list[dict[str, str]]
Answer = Callable[[Messages], str]
Chance = Callable[[Messages, str], float]


class Together:
    """What the processes of a run share: here threads."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size, timeout=60)
        self.given: dict[int, Any] = {}


class ScriptedLM(LM):  # type: ignore[misc]  # lm-eval has no types
    """Answers by functions of the messages, which it keeps."""

    tokenizer_name = "scripted"

    def __init__(
        self,
        answer: Answer | None = None,
        chance: Chance | None = None,
        rank: int = 0,
        together: Together | None = None,
    ) -> None:
        super().__init__()
        self._answer, self._chance, self._together = answer, chance, together or Together(1)
        self._rank, self._world_size = rank, self._together.size
        self._shown: dict[str, Messages] = {}
        self.seen: list[Messages] = []
        self.settings: list[dict[str, Any]] = []

    def apply_chat_template(self, chat_history: Messages, add_generation_prompt: bool = True) -> str:
        """Write messages down as a text, from which they can be found again."""
        text = "\n".join(f"<{message['role']}>{message['content']}" for message in chat_history)
        self._shown[text] = chat_history
        return text

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Answer."""
        assert self._answer is not None
        found = []
        for request in requests:
            text, settings = request.args
            self.seen.append(self._shown.get(text, [{"role": "user", "content": text}]))
            self.settings.append(settings)
            found.append(self._answer(self.seen[-1]))
        return found

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Weigh a choice."""
        assert self._chance is not None
        found = []
        for request in requests:
            text, choice = request.args
            self.seen.append(self._shown.get(text, [{"role": "user", "content": text}]))
            found.append((self._chance(self.seen[-1], choice), False))
        return found

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Not used."""
        raise NotImplementedError

    device = "cpu"

    def all_gather(self, tensor: Any) -> Any:
        """Of numbers of requests."""
        import torch

        return torch.stack(self._exchange(tensor))

    def gather_object(self, obj: Any, dst: int = 0) -> Any:
        """What each process gives, for one of them."""
        found = self._exchange(obj)
        return found if self._rank == dst else None

    def barrier(self) -> None:
        """Wait for the others."""
        self._together.barrier.wait()

    def _exchange(self, given: Any) -> list[Any]:
        self._together.given[self._rank] = given
        self._together.barrier.wait()
        found = [self._together.given[rank] for rank in range(self._world_size)]
        self._together.barrier.wait()
        return found


def answering(answer: Callable[[str], str], **kwargs: Any) -> ScriptedLM:
    """A model that answers by a function of the last message."""
    return ScriptedLM(lambda messages: answer(messages[-1]["content"]), **kwargs)
