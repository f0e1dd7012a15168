"""Judge twins: what does a judge pay for changes that add nothing, and does it notice flaws?"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from logging import getLogger
from random import Random
from statistics import median
from typing import Any, NamedTuple

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.viewer import ScoreColorScale, ViewerConfig

from urs_inspect._arguments import (
    Count,
    Names,
    Natural,
    Paths,
    Structured,
    as_list,
    checked,
    names,
    required,
)
from urs_inspect._util import InputError, choices, counted
from urs_inspect.judges._judged import (
    INTENT_JUDGE,
    RATING_AGREEMENT,
    JudgedAnswer,
    Judging,
    read_judged_answers,
)
from urs_inspect.judges._twins import Kind, Original, chosen_kinds, make_twin
from urs_inspect.judges._twins_scorer import (
    DOUBLINGS,
    FACTS,
    JUDGE_LANGUAGE,
    JUDGED_BY,
    ORIGINAL,
    PAIR,
    SCALE,
    TWIN,
    judged_again,
    twin_shifts,
)
from urs_inspect.judging import PromptBuilder
from urs_inspect.judging._scores import last_score
from urs_inspect.logs._files import short_name
from urs_inspect.rubrics import FINAL, HIGHEST, LOWEST, load_rubric
from urs_inspect.scorers import intent_judge, judge_outcome, rating_agreement
from urs_inspect.scorers._rating_agreement import RATING
from urs_inspect.solvers import give_rating
from urs_inspect.solvers._answers import ANSWER, recorded_answer
from urs_inspect.solvers._give_rating import load_named_rubric, scale_of
from urs_inspect.solvers._preflight import preflight_setup
from urs_inspect.solvers._role_models import GRADER, models_with, roles_known
from urs_inspect.tasks._urs_cases import rubric_facts
from urs_inspect.tasks._viewer import sample_list, wide

logger = getLogger(__name__)

JUDGE_TWINS_VERSION = "4-D"
"""The number changes when twins or prompts do, the letter when arguments do."""
_DRAWS = 3
"""How often an answer is drawn at most."""
_LONGER = 1.25
"""How many times as long as others a model's answers must be for it to write most."""


@task
@checked
def judge_twins(
    answers: Paths | None = None,
    kinds: Names = "padded",
    n: Count = 90,
    structured: Structured = "auto",
    seed: Natural = 0,
) -> Task:
    """Judge answers of your models beside twins of them, made by rule.

    A twin is the same answer with one change that adds nothing for the user (said again, praise,
    an invented authority, an order to the judge) or that is a flaw (a digit changed, a sentence
    negated). The mean difference of twin and original is what the judge pays for the change.

    Run it with `--model none --model-role grader=...`. Each of `n` answers is judged once as it is
    and once for each kind of twin, in random order. A twin that would equal its answer is left out.
    Answers are judged by the scorer of their logs, with the rubric, prompt and language that these
    name; those of `judge_rating` by the model under test. Prompts that have changed since then, by
    their hashes in the log, are refused.

    Args:
        answers: Logs, or directories of logs, with answers that `intent_judge`, `judge_rating`,
            `model_graded_qa`, `model_graded_fact` or another scorer with a grader has scored.
        kinds: `all`, `padded` (half as long again, and twice as long), or names of kinds,
            separated by commas.
        n: How many answers, at most, spread over the scores of each model; of several models, the
            one that clearly writes most gives what the others lack. Where there are fewer,
            answers are drawn up to three times.
        structured: Whether judges are asked by a JSON schema of their reply: `true`, `false`, or
            `auto`.
        seed: Seed of the choice of answers, of the twins, and of their order.

    Returns:
        A task whose samples are the answers that have a twin, and their twins, in random order.

    Raises:
        InputError: If an argument or a file cannot be used.
    """
    chosen = chosen_kinds(names(kinds, "kinds"))
    places = as_list(required(answers, "answers", "logs with judged answers, separated by commas"))
    notes: list[str] = []
    found = read_judged_answers(places, notes)
    for note in notes:
        logger.warning(f"answers: {note}")
    judging = found[0].judging
    make = {INTENT_JUDGE: _by_intents, RATING_AGREEMENT: _by_rating}.get(judging.name, _by_scorer)
    run = make(found, structured)
    drawn = draw_answers(found, n, seed)
    samples, equal = _samples(run, drawn, chosen, seed)
    _announce(samples, drawn, chosen, judging.name)
    Random(seed).shuffle(samples)  # noqa: S311 - an order, not a secret
    about = found[0].log.eval.metadata or {}
    return Task(
        dataset=MemoryDataset(samples, name=str(about.get("dataset", "answers"))),
        metrics=[twin_shifts([kind.name for kind in chosen])],
        version=JUDGE_TWINS_VERSION,
        headline_metric=HeadlineMetric(scorer=run.column.partition(".")[0], metric=chosen[0].name),
        display_name="Judge twins",
        metadata={
            "dataset": about.get("dataset"),
            "dataset_sha256": about.get("dataset_sha256"),
            **run.facts,
            JUDGED_BY: str(judging),
            JUDGE_LANGUAGE: judging.options.get("judge_language"),
            SCALE: list(run.scale),
            "equal_to_original": dict(equal),
        },
        viewer=_viewer(run.column, run.scale),
        **run.parts,
    )


def _viewer(column: str, scale: tuple[float, float]) -> ViewerConfig:
    """The score of a twin, in a column `scorer.key`; the id names its answer and kind."""
    key = column.rpartition(".")[2]
    return sample_list(
        "Judge twins",
        [column, "input", "answer"],
        labels={key: wide("Score")},
        scales={key: ScoreColorScale(palette="good-high", min=scale[0], max=scale[1])},
        sort=[],
    )


class _Run(NamedTuple):
    """How twins are judged, as their answers were."""

    sample: Callable[[JudgedAnswer, str, str], Sample]  # of an answer, the text instead, its id
    column: str  # scorer and key of the score
    scale: tuple[float, float]  # lowest and highest score
    parts: dict[str, Any]  # of the task
    facts: Mapping[str, object] = {}  # what identifies the prompts, for the log


def _by_intents(found: Sequence[JudgedAnswer], structured: Structured) -> _Run:
    """Judged by the criteria of their intents, as by the task `urs`."""
    options = found[0].judging.options
    loaded = load_rubric(options.get("rubric"), options.get("prompt"))
    builder = PromptBuilder(loaded)
    for answer in found:
        facts = answer.sample.metadata
        intent = loaded.intent_id(facts["intent"])
        language = loaded.language_code(options.get("judge_language") or facts["language"])
        prompt = builder.build(intent, language, question="", reference="", answer="")
        judged = last_score(answer.sample, INTENT_JUDGE)
        if judged and judged.metadata:
            _refuse_other(answer, judged.metadata.get("prompt_sha256"), prompt.sha256)
    judge = intent_judge(**options, structured=structured)
    return _Run(
        sample=lambda answer, text, id: _recorded(answer, text, id, answer.sample.metadata),
        column=f"{INTENT_JUDGE}.{FINAL}",
        scale=(LOWEST, HIGHEST),
        facts=rubric_facts(loaded),
        parts={
            "solver": recorded_answer(),
            "scorer": [judge, judge_outcome()],
            "setup": preflight_setup([GRADER], structured=structured),
        },
    )


def _by_scorer(found: Sequence[JudgedAnswer], _structured: Structured) -> _Run:
    """Judged by a scorer that is not ours, as its log names it."""
    judging = found[0].judging
    finals = {answer.final for answer in found}
    scale = (min(finals), max(finals))
    if finals <= {0.0, 0.5, 1.0}:
        scale = (0.0, 1.0)
    return _Run(
        sample=lambda answer, text, id: _recorded(
            answer, text, id, {FACTS: answer.sample.metadata}
        ),
        column=f"judged_again.{FINAL}",
        scale=scale,
        parts={
            "solver": recorded_answer(),
            "scorer": judged_again(judging.scorer, dict(judging.options)),
            "setup": preflight_setup([GRADER]),
        },
    )


def _by_rating(found: Sequence[JudgedAnswer], structured: Structured) -> _Run:
    """Rated by the model under test, as by the task `judge_rating`."""
    options = {"lowest": 1, "highest": 5, "rubric": None, **found[0].judging.options}
    loaded = load_named_rubric(options["rubric"])
    if loaded is not None:
        for answer in found:
            about = answer.log.eval.metadata or {}
            _refuse_other(answer, about.get("rubric_sha256"), loaded.sha256)
    return _Run(
        sample=_rated,
        column=f"{RATING_AGREEMENT}.{RATING}",
        scale=scale_of(loaded, options["lowest"], options["highest"]),
        facts=rubric_facts(loaded) if loaded else {},
        parts={
            "solver": give_rating(**options, structured=structured),
            "scorer": rating_agreement(**options),
            "setup": preflight_setup([], under_test=True, structured=structured),
            "config": GenerateConfig(temperature=0),
        },
    )


def _refuse_other(answer: JudgedAnswer, before: str | None, now: str) -> None:
    """Raise if an answer was judged by another text than now, by the hashes of both."""
    if before and before != now:
        options = answer.judging.options
        files = [options[name] for name in ("rubric", "prompt") if options.get(name)]
        raise InputError(
            f"answers: {choices(files) or 'the built-in rubric'} (sha256 {now[:8]}) is not what"
            f" {short_name(answer.log.location)} was judged by (sha256 {before[:8]}); twins must be"
            " judged as their answers were"
        )


def _rated(answer: JudgedAnswer, text: str, id: str) -> Sample:
    """A text in place of a response, in the prompt by which that was rated."""
    asked = answer.sample
    prompt = str(asked.input).replace(answer.text, text)
    facts = {**asked.metadata, "response": text}
    return Sample(id=id, input=prompt, target=asked.target, metadata=facts)


def _recorded(answer: JudgedAnswer, text: str, id: str, facts: Mapping[str, Any]) -> Sample:
    """A text in place of an answer."""
    asked = answer.sample
    facts = {**facts, ANSWER: text}
    return Sample(id=id, input=asked.input, target=asked.target, metadata=facts)


def draw_answers(found: Sequence[JudgedAnswer], n: int, seed: int) -> list[JudgedAnswer]:
    """At most n answers, those of each model spread evenly over its scores."""
    by_model: dict[str, list[JudgedAnswer]] = defaultdict(list)
    mixed = list(found)
    Random(seed).shuffle(mixed)  # noqa: S311 - a choice, not a secret
    for answer in mixed:
        by_model[answer.model].append(answer)
    taken = []
    for model, number in _numbers(by_model, n).items():
        ranked = sorted(by_model[model], key=lambda answer: answer.final)  # ties in random order
        taken += [ranked[int((step + 0.5) * len(ranked) / number)] for step in range(number)]
    return taken


def _numbers(by_model: Mapping[str, Sequence[JudgedAnswer]], n: int) -> dict[str, int]:
    """How many answers of each model are drawn.

    As many of each but the one that clearly writes most, which gives what the others lack: whether
    a model leads because it writes more is seen by what the judge pays others for length.
    """
    lengths = {model: median(len(answer.text) for answer in by_model[model]) for model in by_model}
    models = sorted(by_model, key=lambda model: (lengths[model], model))
    last = []
    if len(models) > 1 and lengths[models[-1]] > _LONGER * lengths[models[-2]]:
        last = [models.pop()]
    models.sort(key=lambda model: len(by_model[model]))  # what one lacks, the next ones have
    numbers = {}
    left = n
    for place, model in enumerate([*models, *last]):
        share = math.ceil(left / max(1, len(models) - place))
        numbers[model] = min(_DRAWS * len(by_model[model]), share)
        left -= numbers[model]
    return numbers


def _samples(
    run: _Run, answers: Sequence[JudgedAnswer], kinds: Sequence[Kind], seed: int
) -> tuple[list[Sample], Counter[str]]:
    """One sample for each answer that has a twin, and for each twin.

    Also how many twins equal their answer and were left out, by kind and language.
    """
    judge = _judge_name(answers[0].judging)
    samples: list[Sample] = []
    equal: Counter[str] = Counter()
    for place, answer in enumerate(answers):
        original = Original(answer.text, answer.language, judge, _other_text(answers, place))
        texts = {ORIGINAL: answer.text}
        for kind in kinds:
            name = kind.name
            twin = make_twin(kind, original, f"{seed}/{place}/{answer.model}/{answer.id}/{name}")
            if twin is None:
                equal[f"{name}/{answer.language}"] += 1
            else:
                texts[name] = twin
        if len(texts) == 1:
            continue
        for name, text in texts.items():
            sample = run.sample(answer, text, f"{place}:{name}")
            sample.metadata = (sample.metadata or {}) | {
                TWIN: name,
                PAIR: place,
                "model": answer.model,
                "question": answer.id,
                DOUBLINGS: math.log2(len(text) / len(answer.text)),
            }
            samples.append(sample)
    return samples, equal


def _other_text(answers: Sequence[JudgedAnswer], place: int) -> str:
    """The next answer to another question in the same language; empty if there is none."""
    own = answers[place]
    others = [*answers[place + 1 :], *answers[:place]]
    texts = (each.text for each in others if each.id != own.id and each.language == own.language)
    return next(texts, "")


def _judge_name(judging: Judging) -> str:
    """The judge of this run; empty where a script makes the task before it is known."""
    if not roles_known():
        return ""
    if judging.name != RATING_AGREEMENT:
        return str(models_with(GRADER)[0])
    return str(get_model())


def _announce(
    samples: Sequence[Sample], answers: Sequence[JudgedAnswer], kinds: Sequence[Kind], scorer: str
) -> None:
    """Say how many calls a run takes, and what was left out; refuse a run without twins."""
    if not samples:
        languages = sorted({answer.language or "another language" for answer in answers})
        raise InputError(
            f"kinds: no twin of {counted(len(answers), 'answer')} (in {choices(languages)}) differs"
            f" from its answer: {choices(kind.name for kind in kinds)}; kinds=all has some for"
            " every language"
        )
    facts = [sample.metadata or {} for sample in samples]
    made = Counter(known[TWIN] for known in facts)
    different = len({(known["model"], known["question"]) for known in facts})
    logger.warning(
        f"judge_twins: {counted(made[ORIGINAL], 'answer')} ({different:,} different) and"
        f" {counted(len(samples) - made[ORIGINAL], 'twin')}:"
        f" {counted(len(samples), 'judge call')} in each epoch, by {scorer}"
    )
