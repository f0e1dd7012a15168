"""Addition: how many two-digit numbers can a model add up in a row?"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.solver import generate
from inspect_ai.viewer import ViewerConfig

from urs_inspect._arguments import Count, Lengths, Natural, Text, checked
from urs_inspect.datasets._addition import (
    AdditionChain,
    AdditionPrompt,
    addition_chains,
    addition_lengths,
    addition_prompt,
)
from urs_inspect.datasets._published import load_published_urs
from urs_inspect.studies._exact_sum import RIGHT, SUMMANDS, exact_sum
from urs_inspect.tasks._viewer import SHARE, sample_list, wide

URS_ADDITION_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when scores do, the letter when
arguments do.
"""


@task
@checked
def urs_addition(
    lengths: Lengths = "2-20", per_length: Count = 10, language: Text = "en", seed: Natural = 0
) -> Task:
    """Chains of two-digit numbers to add up without tools (URS paper, appendix D.5).

    Sums must be exact. The headline is the accuracy over chains of 2 to 9 numbers; `longest` is the
    paper's Max L, the longest chains of which 80% are right.

    Args:
        lengths: How many numbers a chain has: ranges and single lengths, separated by commas, such
            as `2-9,15`; from 2 to 100.
        per_length: Chains of each length.
        language: Language of the question: `en` or `zh`.
        seed: Seed of the numbers.

    Returns:
        A task with one sample per chain.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    prompt = addition_prompt(language)
    chains = addition_chains(addition_lengths(lengths), per_length, seed)
    return Task(
        dataset=MemoryDataset(
            [_to_sample(chain, prompt, language) for chain in chains], name="addition"
        ),
        solver=generate(),
        scorer=exact_sum(),
        version=URS_ADDITION_VERSION,
        headline_metric=HeadlineMetric(scorer="exact_sum", metric="accuracy"),
        display_name="Addition",
        metadata={"prompt_version": prompt.version, "prompt_sha256": prompt.sha256, **_published()},
        viewer=_viewer(),
    )


def _to_sample(chain: AdditionChain, prompt: AdditionPrompt, language: str) -> Sample:
    facts = {"numbers": list(chain.numbers), "language": language}
    return Sample(id=chain.id, input=prompt.fill(chain), target=str(chain.total), metadata=facts)


def _published() -> dict[str, object]:
    """Table 7, for readers of the log.

    Its models had the paper's questions, which it does not print.
    """
    table = load_published_urs().table(7)
    rows = {
        model: f"Max L {length:g}, accuracy {share:g}%"
        for model, (length, share) in table.rows.items()
    }
    return {"published in the URS paper, Table 7": rows}


def _viewer() -> ViewerConfig:
    """Chains, the shortest first, with the sum (the target), the number that was read, and whether
    it is right.
    """
    return sample_list(
        "Addition",
        [f"exact_sum.{SUMMANDS}", "target", "answer", f"exact_sum.{RIGHT}", "input"],
        labels={SUMMANDS: wide("Numbers"), RIGHT: "Right"},
        scales={RIGHT: SHARE},
        sort=[f"exact_sum.{SUMMANDS}"],
    )
