"""What a cross-validation says, in words."""

from urs_inspect.reports.crossval.report import CrossvalReport, Grid, JudgedAnswers
from urs_inspect.reports.intent.page.formats import level_text
from urs_inspect.texts import counted

SIMULATION = "SIMULATION: models whose names begin with `urs_simulation/` are simulated; their scores mean nothing."

EQUATION = (
    "Rating bias (URS paper, Equation 1): mean rating that an evaluator gives to the answers of model B with the "
    "references by B, less the score of a reference, and the mean of that over all models B. Answer and reference are "
    "two outputs of one model, so that 0 is calibrated."
)
PREFERENCE = (
    "Preference: what an evaluator gives its own answers, less what the other evaluators give the same answers. "
    "Leniency: the same difference over answers of models that are neither of the two. Beyond leniency: the first less "
    "the second, which is what favouring oneself is. Paired by case; every other evaluator weighs the same. "
    "p is that of beyond leniency, after Holm's correction over all evaluators and references."
)


def conditions(grid: Grid) -> list[str]:
    """What the judgements of a grid have in common."""
    facts = grid.conditions
    return [
        f"Data: {facts.dataset} (sha256 {facts.dataset_sha256[:8]}), {counted(facts.cases, 'case')} in "
        f"{counted(facts.folds, 'fold')}.",
        f"Rubric: {facts.rubric}; prompts {facts.prompts_sha256[:8]}; a reference is worth {facts.reference_score:g}.",
        f"Evaluators: {', '.join(grid.evaluators)}. References by: {', '.join(grid.sources)}. Tested models: "
        f"{', '.join(grid.models)}.",
        *grid.notes,
    ]


def order(grid: Grid) -> list[str]:
    """Whether the order of the models is stable."""
    if len(grid.models) < 2:
        return ["Only one model was tested, so that there is no order."]
    if not grid.orders:
        return ["In no setting is there a case on which all models have a score."]
    settings = counted(len(grid.orders), "setting")
    lacking = len(grid.evaluators) * len(grid.sources) - len(grid.orders)
    left = [f"{counted(lacking, 'setting')} without a case on which all models have a score."] if lacking else []
    if not grid.reversals:
        same = f"From the best: {', '.join(grid.orders[0].models)}"
        stable = f"Stable: no two models change places over {settings}. {same}."
        return [stable if len(grid.orders) > 1 else f"One setting only. {same}.", *left]
    pairs = len(grid.models) * (len(grid.models) - 1) // 2
    contradicted = [one for one in grid.reversals if one.ahead_apart and one.behind_apart]
    verdict = (
        f"{counted(len(contradicted), 'pair')} can be told apart in both directions: there, who judges decides."
        if contradicted
        else "No pair can be told apart in both directions, so that chance may have done it."
    )
    said = [
        f"{one.first} is ahead of {one.second} in {counted(one.ahead, 'setting')} (told apart in {one.ahead_apart}) "
        f"and behind in {one.behind} (told apart in {one.behind_apart})."
        for one in grid.reversals
    ]
    return [
        f"Not stable: {len(grid.reversals)} of {counted(pairs, 'pair')} of models change places over {settings}. "
        f"{verdict}",
        *said,
        *left,
    ]


def copies(grid: Grid) -> list[str]:
    """Which judgements take no part in bias and preference."""
    return [
        f"{count} of {grid.conditions.cases} answers of {model} are word for word its references: these judgements "
        "take no part in rating bias and self-preference, because a text was judged against itself. Take the "
        "references from another run than the answers."
        for model, count in grid.copies.items()
    ]


def no_bias(grid: Grid) -> list[str]:
    """Why there is no rating bias, if there is none."""
    return [] if grid.biases else ["No model is both tested and a source of references, so that there is none."]


def no_preference(grid: Grid) -> list[str]:
    """Why there is no self-preference, if there is none."""
    if grid.preferences:
        return []
    if len(grid.evaluators) < 2:
        return ["There is only one evaluator, so that there is nobody to compare with."]
    return ["No evaluator is among the tested models, so that there is none."]


def judged(found: JudgedAnswers) -> list[str]:
    """What ordinary runs have in common whose answers several judges have judged."""
    return [
        f"Data: {found.dataset}, {counted(found.questions, 'question')}. Rubric: {found.rubric}; prompts "
        f"{found.prompts}; references: {found.references or 'those of the data'}.",
        f"Judges: {', '.join(found.judges)}. Answers of: {', '.join(sorted(found.models))}.",
        *found.notes,
    ]


def method(report: CrossvalReport) -> list[str]:
    """How the numbers were made."""
    grids = bool(report.grids)
    folds = (
        "± is the standard deviation of the means of the folds: how much parts of the cases differ, not how sure the "
        "mean is. It is left out where the folds do not differ."
    )
    apart = (
        "Models are told apart where the bootstrap p-value of their paired difference, after Holm's correction over "
        f"all pairs and settings of a grid, is below {1 - report.level:.2g}; > stands between such neighbours, ≥ "
        "between others."
    )
    return [
        f"Brackets are {level_text(report.level)} intervals of a bootstrap over cases (expanded percentiles, "
        f"{report.rounds:,} rounds, seed {report.seed}); epochs of a case are averaged first.",
        *([folds] if grids else []),
        "Judgements that failed have no score. Empty answers have the lowest score without a judge.",
        *([apart] if grids else []),
    ]
