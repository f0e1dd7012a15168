"""URS: does a model serve the people who come with this kind of need, in their language?"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.scorer import Scorer
from inspect_ai.solver import generate
from inspect_ai.viewer import ViewerConfig

from urs_inspect.datasets import UrsCase, UrsData
from urs_inspect.datasets.references import References
from urs_inspect.rubrics import Rubric, load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome, samer_outcome
from urs_inspect.scorers import samer as samer_scorer
from urs_inspect.scorers.metrics import HEADLINE
from urs_inspect.solvers.preflight import preflight_setup
from urs_inspect.tasks import arguments
from urs_inspect.tasks.arguments import samer_options
from urs_inspect.tasks.urs_cases import choose_cases
from urs_inspect.tasks.viewer import intent_viewer, samer_viewer, with_samer

URS_VERSION = "2-A"
"""Comparability and interface of the task: the number changes when scores do, the letter when arguments do."""


@task
def urs(
    dataset: str = "urs",
    language: str | list[str] = arguments.ALL,
    intents: str | list[str] = arguments.ALL,
    rubric: str | None = None,
    prompt: str | None = None,
    judge_language: str | None = None,
    judge_attempts: int = 2,
    judge_temperature: float | None = 0.0,
    judge_cache: bool = False,
    preflight: bool = True,
    lenient: bool = False,
    seed: int = 0,
    references: str | None = None,
    scorer: str = "judge",
    samer: str | None = None,
    engine: str = "auto",
    weights_at: str | None = None,
    bos: str = "single",
    overlong: str = "shorten",
    max_length: int | None = None,
    folder: str | None = None,
    dtype: str = "auto",
) -> Task:
    """Questions that real users reported, judged by the criteria of each user's intent (URS paper, section 4).

    The judge is the model, or the panel of models, with the role `grader`; SaMer needs none.

    Args:
        dataset: `urs` (1,846 published cases), `sample` (42 embedded ones), or the path of a CSV or JSON Lines file
            with the columns question, reference_ans, user_intent, language and optionally id and country.
        language: `all`, or languages of the cases: `en`, `zh`.
        intents: `all`, or intents of the cases, separated by commas.
        rubric: Path of a YAML file with intents, criteria or languages of your own.
        prompt: Path of a Jinja file that replaces the frame of the judge's prompt.
        judge_language: Language of the judge's prompt; by default that of each case.
        judge_attempts: How often a judge is asked at most when its reply cannot be read.
        judge_temperature: Temperature of the judge; null for the provider's default.
        judge_cache: Let the harness answer repeated judgements from its cache.
        preflight: Send each judge one tiny request before the first answer: a server that refuses it (401, 403, 404)
            ends the run before anything is spent.
        lenient: Leave faulty rows of your own file out, with a warning that counts them.
        seed: Seed of the order. Every beginning of the list holds intents and languages in proportion, so that
            `--limit` gives a fair small run.
        references: Reference answers in place of those of the data: a file of `urs-inspect references`, or the log of a
            run of `urs_references`. The data then needs none. Every case that is asked needs one: with `--limit` or
            `--sample-id` of `inspect eval` those that they choose, else all.
        scorer: `judge`, `samer` (the scorer of that name; arguments of the judge are not used), or `both`.
        samer: Folder of a SaMer checkpoint, or address of a vLLM server.
        engine: What runs SaMer: `vllm`, `server`, `transformers`; by default what fits and is installed.
        weights_at: Where SaMer reads weights: at the end of the `response` (released code) or of the `query` (paper);
            by default where its heads say, else `response`.
        bos: Start tokens of SaMer: `single`, or `double` as in the released inference.
        overlong: More tokens than SaMer takes: `shorten` cuts the end of the response, `error` is a failure.
        max_length: Length that SaMer is run with, by default its limit; an item has one token less at most.
        folder: For a server on another machine: a folder with SaMer's tokeniser and heads.
        dtype: Type that SaMer computes in where no server does: `float32`, `bfloat16`, `float16`; `auto`: that of its
            weights, but with `transformers` on a CPU `float32`.

    Returns:
        The task.
    """
    loaded = load_rubric(arguments.optional_text(rubric, "rubric"), arguments.optional_text(prompt, "prompt"))
    # Everything is checked before the data is fetched, so that a slip costs neither time nor traffic.
    choice = choose_cases(
        loaded,
        dataset=dataset,
        language=language,
        intents=intents,
        seed=seed,
        lenient=lenient,
        references=references,
    )
    with_judge, samer_too = _scorers(scorer)
    options = samer_options(
        samer_too, "scorer=samer or both", samer, engine, weights_at, bos, overlong, max_length, folder, dtype
    )
    scorers: list[Scorer] = []
    if with_judge:
        judge = intent_judge(
            rubric=rubric,
            prompt=prompt,
            judge_language=judge_language,
            attempts=judge_attempts,
            temperature=judge_temperature,
            cache=arguments.flag(judge_cache, "judge_cache"),
        )
        scorers += [judge, judge_outcome()]
    if options is not None:
        scorers += [samer_scorer(**options), samer_outcome()]
    data, cases = choice.load(only_asked=True)
    return Task(
        dataset=MemoryDataset([case_to_sample(case, loaded) for case in cases], name=data.name),
        solver=generate(),
        scorer=scorers,
        version=URS_VERSION,
        headline_metric=HEADLINE if with_judge else HeadlineMetric(scorer="samer", metric="overall"),
        display_name="URS",
        metadata=data_facts(data, loaded, choice.references),
        viewer=_viewer(loaded, with_judge, samer_too),
        setup=preflight_setup(preflight, ["grader"] if with_judge else []),
    )


def _scorers(value: object) -> tuple[bool, bool]:
    """Whether the judge scores, and whether SaMer does."""
    chosen = arguments.one_of(value, "scorer", ("judge", "samer", "both"))
    return chosen != "samer", chosen != "judge"


def _viewer(rubric: Rubric, with_judge: bool, samer_too: bool) -> ViewerConfig:
    if not with_judge:
        return samer_viewer("URS")
    config = intent_viewer(rubric, "URS")
    return with_samer(config) if samer_too else config


def case_to_sample(case: UrsCase, rubric: Rubric) -> Sample:
    """Map a case to a sample; the model is asked the question without edge whitespace."""
    return Sample(
        id=case.id,
        input=case.question.strip(),
        target=case.reference.strip(),
        metadata={
            "intent": case.intent,
            "intent_group": rubric.intents[case.intent].group,
            "language": case.language,
            **({"country": case.country} if case.country else {}),
        },
    )


def data_facts(data: UrsData, rubric: Rubric, references: References | None = None) -> dict[str, object]:
    """What identifies the data, the rubric and, if they are not those of the data, the references of a run."""
    return {
        "dataset": data.name,
        "dataset_sha256": data.sha256,
        "dataset_skipped_rows": len(data.skipped),
        "rubric": f"{rubric.name} {rubric.version}",
        "rubric_sha256": rubric.sha256,
        **({} if references is None else {"references": references.label, "references_sha256": references.sha256}),
    }
