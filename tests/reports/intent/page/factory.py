"""Reports made by hand: plausible numbers by a seeded rule, no log behind them."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from urs_inspect.reports.intent.report import (
    Best,
    Block,
    Conditions,
    IntentReport,
    LengthBin,
    Lengths,
    ModelReport,
    PairedDifference,
    Run,
    Traffic,
    Usage,
    Verdict,
)
from urs_inspect.stats import Estimate, rank_intervals

GROUPS = ("Solve Problem", "Factual QA", "Text Assistant", "Ask for Advice", "Seek Creativity", "Leisure")
PARTS = ("Solve Problem: api", "Solve Problem: solve_professional_problem")
LANGUAGES = ("en", "zh")
CRITERIA = (
    "factuality",
    "user_satisfaction",
    "logical_coherence",
    "richness",
    "creativity",
    "fairness_and_responsibility",
    "completeness",
    "clarity",
    "engagement",
    "appropriateness",
)
TITLES = {"en": "English", "zh": "Chinese", PARTS[0]: "Solve Problem: Usage through API"} | {
    c: c.replace("_", " ").capitalize() for c in CRITERIA
}
COUNTS = {
    "all": 1846,
    "Solve Problem": 556,
    "Factual QA": 455,
    "Text Assistant": 186,
    "Ask for Advice": 300,
    "Seek Creativity": 170,
    "Leisure": 179,
    "en": 1014,
    "zh": 832,
}
COUNTS |= {f"{g}/en": round(COUNTS[g] * 0.55) for g in GROUPS} | {f"{g}/zh": round(COUNTS[g] * 0.45) for g in GROUPS}
JUDGE = "example/judge-large"
NAN = math.nan
ROUNDS, SEED = 10_000, 7

_QUALITIES = (8.43, 8.21, 7.53, 7.44, 6.52, 5.57)
_FIRST_NAMES = (
    "openai/gpt-large",
    "anthropic/claude-medium-2025-06-01",
    "qwen/通义千问-max",
    "together/meta-llama/Llama-70B-Instruct",
    "deepseek/deepseek-chat",
    "tiny",
)


def name_of(number: int) -> str:
    """The name of a model."""
    return _FIRST_NAMES[number] if number < len(_FIRST_NAMES) else f"example/model-{number:02d}"


def estimate(value: float, questions: int = 300, spread: float = 1.4) -> Estimate:
    """A mean with an interval of a likely width."""
    half = 1.96 * spread / math.sqrt(questions)
    return Estimate(value, value - half, value + half, questions, questions, 0.95, ROUNDS, SEED)


def lengths(random: np.random.Generator, level: float) -> Lengths:
    """Ten bins with a slight slope."""
    middles = 60 * 2.0 ** np.linspace(0, 5, 10) * random.uniform(0.8, 1.2)
    bins = [LengthBin(float(m), float(level + 0.05 * i + random.normal(0, 0.1)), 184) for i, m in enumerate(middles)]
    rho = float(random.normal(0.08, 0.04))
    return Lengths(float(np.median(middles)), Estimate(rho, rho - 0.05, rho + 0.05, 1846, 1846), tuple(bins))


def make_model(number: int, level: float) -> ModelReport:
    """A model whose means lie around a level."""
    random = np.random.default_rng([11, number])

    def about(key: str, spread: float = 0.3, questions: int = 300) -> Estimate:
        return estimate(level + float(random.normal(0, spread)), COUNTS.get(key, questions))

    return ModelReport(
        model=name_of(number),
        simulated=False,
        all=estimate(level, 1846),
        by_group={group: about(group) for group in GROUPS},
        by_part={part: about(part, questions=28 if part.endswith("api") else 528) for part in PARTS},
        by_language={code: about(code, 0.1) for code in LANGUAGES},
        by_group_and_language={(g, c): about(f"{g}/{c}", 0.35) for g in GROUPS for c in LANGUAGES},
        by_country={},
        by_criterion={criterion: about(criterion, 0.4, 800) for criterion in CRITERIA},
        ranks=(1, 1),
        unscored_share=7 / 1846,
        mean_scored=level + 0.003,
        mean_lowest=level - 0.01,
        mean_highest=level + 0.02,
        questions=1846,
        answers=1846,
        epochs=1,
        outcomes={"judged": 1839 - number, "no_response": number, "unscored_truncated": 7},
        unscored=7,
        empty=number,
        errors=0,
        self_judged=0.0,
        epoch_deviation=NAN,
        judge_deviation=NAN,
        lengths=lengths(random, level),
        usage=Usage(
            412_345 + number, 1_034_567 * (1 + number), 5_678_901 + number, 1_234_567, 3.4567 * (number + 1), 41.5, 7263
        ),
        log=f"2025-11-21T10-00-00_urs_{number}.eval",
    )


def levels(models: int) -> list[float]:
    """True levels, the best first."""
    if models <= len(_QUALITIES):
        return list(_QUALITIES[:models])
    return [8.4 - 3 * number / (models - 1) + 0.01 * (number % 3) for number in range(models)]


def difference(first: ModelReport, second: ModelReport, pairs: int, key: str = "all") -> PairedDifference:
    """A comparison of which the standard error is 0.04."""
    value = _mean(first, key) - _mean(second, key)
    p = math.erfc(abs(value) / 0.04 / math.sqrt(2))
    found = Estimate(value, value - 0.08, value + 0.08, 1839, 1839, 0.95, ROUNDS, SEED)
    verdict: Verdict = "significant" if p * pairs < 0.05 else "not distinguishable"
    corrected = min(1.0, p * pairs)
    return PairedDifference(first.model, second.model, found, p, corrected, corrected, verdict, {}, 1839)


def _mean(model: ModelReport, key: str) -> float:
    found = model.all if key == "all" else (model.by_group | model.by_language).get(key)
    return NAN if found is None else found.value


def rank(models: list[ModelReport]) -> tuple[list[ModelReport], list[PairedDifference], dict[str, Best]]:
    """Ranks and differences of models, and the best of each column."""
    number = len(models) * (len(models) - 1) // 2
    pairs = [difference(a, b, number) for a, b in combinations(models, 2)]
    names = [model.model for model in models]
    better = [(names.index(pair.first), names.index(pair.second)) for pair in pairs if pair.significant]
    ranks = rank_intervals(len(models), better)
    best = {"all": Best(names[0], tuple(pair for pair in pairs if pair.first == names[0]))}
    for key in (*GROUPS, *LANGUAGES):
        known = [model for model in models if not math.isnan(_mean(model, key))]
        if not known:
            best[key] = Best("", ())
            continue
        top = max(known, key=lambda model: _mean(model, key))
        best[key] = Best(top.model, tuple(difference(top, other, number, key) for other in known if other is not top))
    return [replace(model, ranks=found) for model, found in zip(models, ranks, strict=True)], pairs, best


def make_conditions(judge: str = JUDGE) -> Conditions:
    """Conditions under some judge."""
    return Conditions((judge,), "urs", "0123456789abcdef" * 4, "urs 1", "a1b2c3d4", "", "1")


def make_block(models: list[ModelReport], judge: str = JUDGE, because: tuple[str, ...] = ()) -> Block:
    """A ranking of models, the best first."""
    ranked, pairs, best = rank(models)
    return Block(
        conditions=make_conditions(judge),
        apart_because=because,
        models=tuple(ranked),
        differences=tuple(pairs),
        best=best,
        questions=1846,
        asked=1846,
        groups=GROUPS,
        parts=PARTS,
        languages=LANGUAGES,
        countries=(),
        criteria=CRITERIA,
        titles=TITLES,
        question_counts=COUNTS,
        traffic=None,
        notes=(),
    )


def make_run(model: ModelReport, judge: str = JUDGE) -> Run:
    """The run of a model."""
    return Run(
        log=model.log,
        model=model.model,
        judges=(judge,),
        command=f"inspect eval urs_inspect/urs --model {model.model} --model-role grader={judge}",
        created="2025-11-21T10:00:00+00:00",
        dataset_sha256="0123456789abcdef" * 4,
        rubric_sha256="fedcba9876543210" * 4,
        prompts="a1b2c3d4",
        package="0.3.285",
        samples=1846,
    )


def make_report(*blocks: Block, simulated: bool = False, left_out: tuple[str, ...] = ()) -> IntentReport:
    """A report of some rankings."""
    return IntentReport(
        blocks=blocks,
        runs=tuple(make_run(model, block.conditions.judges[0]) for block in blocks for model in block.models),
        left_out=left_out,
        simulated=simulated,
        level=0.95,
        rounds=ROUNDS,
        seed=SEED,
        command="urs-inspect report logs/urs -o report/",
    )


def make_models(number: int) -> list[ModelReport]:
    """Models, the best first."""
    return [make_model(place, level) for place, level in enumerate(levels(number))]


def rich_report() -> IntentReport:
    """A report in which everything occurs that a page may show."""
    models = make_models(6)
    models[2] = replace(
        models[2],
        self_judged=0.251,
        epochs=3,
        answers=5538,
        epoch_deviation=0.4321,
        judge_deviation=0.2143,
        errors=2,
        simulated=False,
    )
    models[3] = replace(models[3], usage=Usage(NAN, NAN, NAN, NAN, NAN, NAN, NAN), lengths=_unknown_lengths())
    models[4] = replace(
        models[4],
        by_group={g: e for g, e in models[4].by_group.items() if g != "Leisure"}
        | {"Leisure": Estimate(NAN, NAN, NAN, 0, 0)},
        by_group_and_language={k: e for k, e in models[4].by_group_and_language.items() if k[0] != "Leisure"},
    )
    first = with_countries(with_missing(make_block(models), 5))
    first = replace(first, notes=("Two questions that tiny never attempted are left out.",))
    others = [replace(make_model(number, level), log=f"other_{number}.eval") for number, level in ((6, 7.9), (1, 7.7))]
    second = make_block(
        others, "urs_simulation/judge", ("Another judge: urs_simulation/judge instead of example/judge-large.",)
    )
    second = replace(second, models=tuple(replace(model, simulated=True) for model in second.models))
    third = make_block([make_model(9, 6.6)], because=("Other data: 40 of the questions occur in no other log.",))
    third = replace(third, traffic=make_traffic())
    return make_report(
        first, second, third, simulated=True, left_out=("1 log of another task: gpqa.eval.", "3 logs that did not end.")
    )


def with_missing(block: Block, number: int) -> Block:
    """The same with a model that lacks a tenth of its scores, on which the comparisons with it depend."""
    lacking = replace(
        block.models[number],
        unscored=185,
        unscored_share=185 / 1846,
        mean_lowest=5.11,
        mean_highest=6.02,
        questions=1661,
    )

    def open_(pair: PairedDifference) -> PairedDifference:
        if lacking.model not in (pair.first, pair.second) or not pair.significant:
            return pair
        return replace(
            pair, p_worst=0.31, verdict="depends on unscored answers", depends_on={lacking.model: lacking.unscored}
        )

    best = {key: replace(one, others=tuple(map(open_, one.others))) for key, one in block.best.items()}
    models = (*block.models[:number], lacking, *block.models[number + 1 :])
    return replace(
        block, models=models, differences=tuple(map(open_, block.differences)), best=best, questions=1655, asked=1846
    )


def odd_report() -> IntentReport:
    """A report that asks for much room: endless names and commands, many columns, a model without any score."""
    names = ["p/" + "x" * 120, "提供者/" + "模型" * 40, "a-b" * 30, "p/model (" + "setting=value, " * 8 + "z=1)"]
    models = [replace(model, model=name) for model, name in zip(make_models(4), names, strict=True)]
    nothing = Estimate(NAN, NAN, NAN, 0, 0)
    last = replace(make_model(5, 5.0), model="none", all=nothing, by_group={}, by_language={}, by_criterion={})
    block = with_countries(make_block(models), tuple(f"A country with a long name {n}" for n in range(14)))
    languages = ("en", "zh", "de", "fr", "pt-br")
    last = replace(last, ranks=None, questions=0, self_judged=NAN, by_group_and_language={}, lengths=_unknown_lengths())
    conditions = replace(
        block.conditions,
        judges=tuple(f"provider/{'judge' * 12}-{n}" for n in range(4)),
        references="y" * 150,
        dataset="z" * 100 + ".csv",
    )
    block = replace(
        block,
        conditions=conditions,
        models=(*block.models, last),
        languages=languages,
        notes=("w" * 300,),
    )
    report = make_report(block, left_out=("v" * 300,))
    return replace(report, command="urs-inspect report " + "u" * 300)


def make_traffic() -> Traffic:
    """Shares of intents and languages."""
    shares = {
        "intents": {"Leisure": 0.5, "Factual QA": 0.125, "Solve Problem": 0.375},
        "languages": {"en": 0.9, "zh": 0.1},
    }
    return Traffic("my_mix.yaml", shares, 812.4)


def with_countries(block: Block, names: tuple[str, ...] = ("China", "United States", "Brasil", "the rest")) -> Block:
    """The same with countries."""
    models = [
        replace(model, by_country={n: estimate(model.all.value + i / 10, 200) for i, n in enumerate(names)})
        for model in block.models
    ]
    counts = dict(zip(names, (811, 402, 33, 600, *range(100, 120)), strict=False))
    return replace(block, models=tuple(models), countries=names, question_counts=COUNTS | counts)


def _unknown_lengths() -> Lengths:
    return Lengths(NAN, Estimate(NAN, NAN, NAN, 0, 0), ())
