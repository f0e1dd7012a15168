"""How many independent judges panels of real judges are worth, and what the best small one gains.

TriviaQA: nine judges of 3,200 answers (Thakur et al., "Judging the Judges", 2024). LLMBar: GPT-4,
ChatGPT and LLaMA2 with four prompts each, on 419 pairs in both orders, which are two items of one
prompt (Zeng et al., "Evaluating Large Language Models at Evaluating Instruction Following", 2023).
A reply without a verdict is wrong. Numbers are those of `urs-inspect judges`.
`benchmarks/real_judges.py` makes a table of them.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from benchmarks.real_means import Verdicts
from urs_inspect.datasets._collections import fetch_collection
from urs_inspect.stats._bootstrap import Floats, Integers
from urs_inspect.stats._panels import best_panel, effective_judges, panel_error

MODELS = ("GPT-4", "ChatGPT", "LLaMA2")
PROMPTS = ("Vanilla", "CoT", "Metrics_Reference", "Swap")
ORDERS = ("swap = False", "swap = True")


@dataclass(frozen=True)
class Panel:
    """Judges of the same items."""

    name: str
    judges: Sequence[str]
    right: Floats  # 1 for a right verdict, 0 for a wrong one, shape (judges, items)
    clusters: Integers  # number of the prompt of each item

    def only(self, name: str, judges: Sequence[str]) -> "Panel":
        """Some of the judges."""
        places = [self.judges.index(judge) for judge in judges]
        return Panel(name, judges, self.right[places], self.clusters)


def triviaqa_panel(given: Verdicts) -> Panel:
    """The nine judges of TriviaQA."""
    questions, models = given.person.shape
    right = [(verdicts == given.person).ravel() for verdicts in given.judges.values()]
    return Panel(
        "TriviaQA, all",
        tuple(given.judges),
        np.array(right, dtype=np.float64),
        np.repeat(np.arange(questions), models),
    )


def llmbar_rows() -> dict[tuple[str, str], dict[str, list[dict[str, Any]]]]:
    """Published pairs with verdicts, by model and prompt of the judge, and by subset."""
    found: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = defaultdict(dict)
    for path, file in sorted(fetch_collection("real_judges/llmbar_verdicts").items()):
        subset, _, rest = path.partition("/evaluators/")
        model, prompt, _ = rest.split("/")
        found[model, prompt][subset] = json.loads(file.read_text(encoding="utf-8"))
    return found


def winner(row: dict[str, Any], order: str) -> str | None:
    """The better answer by a judge, 1 or 2; None where its reply has no verdict."""
    found: str | None = row["results"][-1][order]["winner"]
    return found


def llmbar_panel() -> Panel:
    """Three judges with four prompts each."""
    rows = llmbar_rows()
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for judge, by_subset in rows.items():
        found[judge] = {
            subset: [_right(row, order) for row in pairs for order in ORDERS]
            for subset, pairs in by_subset.items()
        }
    judges = list(product(MODELS, PROMPTS))
    right = [
        [value for subset in sorted(found[judge]) for value in found[judge][subset]]
        for judge in judges
    ]
    return Panel(
        "LLMBar, all",
        tuple(f"{model} {prompt}" for model, prompt in judges),
        np.array(right),
        np.repeat(np.arange(len(right[0]) // len(ORDERS)), len(ORDERS)),
    )


def _right(row: dict[str, Any], order: str) -> float:
    return float(winner(row, order) == str(row["label"]))


def panels(given: Verdicts) -> Iterator[Panel]:
    """The panels of the table."""
    triviaqa = triviaqa_panel(given)
    llmbar = llmbar_panel()
    yield triviaqa
    yield triviaqa.only("TriviaQA, small", ("Llama3-8B", "Llama-7B", "Mistral-7B"))
    yield triviaqa.only("TriviaQA, strong", ("GPT-4", "Llama3-70B"))
    yield llmbar
    yield llmbar.only("LLMBar, one prompt", tuple(f"{model} Vanilla" for model in MODELS))
    yield llmbar.only("LLMBar, GPT-4 only", tuple(f"GPT-4 {prompt}" for prompt in PROMPTS))


def panels_table(given: Verdicts) -> Iterator[str]:
    """What panels are worth."""
    yield (
        "| panel | judges | worth | correlation of errors | best judge | majority |"
        " best three of the other half | less the best judge there |"
    )
    yield "|---" * 8 + "|"
    for panel in panels(given):
        worth = effective_judges(1 - panel.right, panel.clusters)
        best = panel.right.mean(axis=1).max()
        cells = [
            f"{worth.votes.value:.1f} ({worth.votes.low:.1f} to {worth.votes.high:.1f})",
            f"{worth.correlation.value:.2f}",
            f"{best:.3f}",
        ]
        if len(panel.judges) > 2:
            cells.append(f"{1 - panel_error(panel.right, None):.3f}")
            held = best_panel(panel.right, None, panel.clusters)
            low, high = held.gain
            cells.append(f"{held.held_out:.3f}")
            cells.append(f"{held.held_out - held.single:+.3f} ({low:+.3f} to {high:+.3f})")
        else:
            cells += ["", "", ""]
        yield f"| {panel.name} | {len(panel.judges)} | {' | '.join(cells)} |"
