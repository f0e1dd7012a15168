"""Evolution: a small file of seeds becomes a large pool of instructions."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from urs_inspect.discrepancy.pools.pool_file import check_output
from urs_inspect.discrepancy.pools.seed_file import draw_seeds, load_seeds
from urs_inspect.errors import InputError
from urs_inspect.judging.evolution_prompt import evolution_intent
from urs_inspect.scorers import evolved
from urs_inspect.solvers import evolve_instruction
from urs_inspect.solvers.evolve_instruction import GENERATOR
from urs_inspect.solvers.model_calls import preflight_setup
from urs_inspect.solvers.role_models import models_with, roles_known
from urs_inspect.tasks import arguments
from urs_inspect.tasks.evolution_source import EvolutionSource

EVOLVE_VERSION = "1-B"
"""Comparability and interface of the task."""

_HIDDEN = ("target", "tokens", "duration", "epoch", "limit", "retries", "error", "sampleUuid")


@task
def evolve(
    seeds: str,
    scenario: str,
    rounds: int = 10,
    output: str = "pool.jsonl",
    duplicates: float = 0.9,
    limit_seeds: int | None = None,
    preflight: bool = True,
    seed: int = 0,
) -> Task:
    """Grow a pool of instructions out of seeds (MAD paper, section 3.1 and appendix C).

    Run it with `--model none --model-role 'generator=[a, b, c]'`. Several generators take turns, so that no model's
    habits rule the pool. A round makes one new instruction out of the youngest one of every seed's line; the round ends
    when all are there. Those that nearly repeat a seed or anything kept so far are then left out. Where nothing was
    kept, the same instruction is evolved again in the next round, by the next generator. Samples are called
    `<seed>-r<round>`; a sample's metadata say what its `parent` was.

    The pool is written when the last round has ended. `urs` and `mad` read it; but instructions of the scenario
    `writing` have no answers, and `urs` refuses cases without a reference answer. `inspect eval-retry` goes on with a
    run that was broken off and repeats no call that is in its log; the harness writes samples to the log ten at a time,
    or one by one with `--log-buffer 1`. Use `limit_seeds` for a small run: at the harness's
    own `--limit` the run ends before the pool is written.

    Args:
        seeds: Path of a `.jsonl` or `.csv` file with the columns instruction (or question), and optionally reference
            (or answer), id, language and user_intent.
        scenario: `understanding`, `reasoning`, `writing` or `coding` (Tables 10 to 13).
        rounds: How often each seed is evolved; the paper has 10.
        output: Path of the pool file, `.jsonl`; it must not exist.
        duplicates: Cosine of character n-grams from which an instruction repeats another.
        limit_seeds: How many seeds are drawn at most; null for all.
        preflight: Send each generator one tiny request before the first call: a server that refuses it (401, 403,
            404) ends the run before anything is spent.
        seed: Seed of the draw and of who writes first for which seed.

    Returns:
        The task.
    """
    _check_roles()
    intent = evolution_intent(arguments.text(scenario, "scenario"))
    number = arguments.whole(rounds, "rounds", least=1)
    limit = None if limit_seeds is None else arguments.whole(limit_seeds, "limit_seeds", least=1)
    order = arguments.whole(seed, "seed", least=0)
    target = Path(arguments.text(output, "output")).expanduser()
    check_output(target)
    if isinstance(duplicates, bool) or not isinstance(duplicates, (int, float)):
        raise InputError(f"duplicates: must be a number above 0 and at most 1, got {duplicates!r}")
    found = load_seeds(Path(arguments.text(seeds, "seeds")).expanduser(), intent)
    drawn = draw_seeds(found, limit, order)
    return Task(
        dataset=EvolutionSource(drawn, scenario, rounds=number, duplicates=float(duplicates), output=target),
        solver=evolve_instruction(),
        scorer=evolved(),
        version=EVOLVE_VERSION,
        headline_metric="evolved.usable",
        display_name=f"Evolve: {scenario}",
        metadata={"seeds": len(drawn), "scenario": scenario},
        viewer=_viewer(),
        setup=preflight_setup(preflight, [GENERATOR]),
    )


def _check_roles() -> None:
    """Refuse roles without a generator early, where they are known, which they are not before `eval()` is called."""
    if roles_known():
        models_with(GENERATOR)


def _viewer() -> ViewerConfig:
    """What was given beside what came of it; what was refused is red."""
    columns = [TaskSamplesColumn(id=name) for name in ("sampleStatus", "sampleId", "input", "answer")]
    return ViewerConfig(
        task_samples_view=TaskSamplesView(
            name="Evolution",
            columns=[
                *columns,
                TaskSamplesColumn.score("evolved", "usable"),
                *[TaskSamplesColumn(id=name, visible=False) for name in _HIDDEN],
            ],
            score_labels={"usable": "Usable"},
            score_color_scales={"usable": ScoreColorScale(palette="good-high", min=0, max=1)},
            color_scales_enabled=True,
            compact_scores=True,
            multiline=False,
        )
    )
