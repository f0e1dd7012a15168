"""Tables and sentences of the page, and how numbers and names are written."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from urs_inspect._util import counted
from urs_inspect.judging import SCORED_OUTCOMES
from urs_inspect.reports.intent.report import UNSCORED_ALERT, Best, Block, ModelReport, PairedDifference, Verdict
from urs_inspect.stats import Estimate

NONE = "–"
"""Stands where there is no number."""
UNKNOWN = "not known"
"""Stands where there is a number that nobody wrote down."""
ALERT = "!"
"""Stands beside a share of answers without a score that needs attention."""
_MINUS = "−"
_SMALLEST_P = 0.001
_MINUTE, _HOUR = 60, 3600


def mean_text(value: float) -> str:
    """A score, 1 to 10."""
    return NONE if math.isnan(value) else f"{value:.2f}"


def interval_text(low: float, high: float) -> str:
    """An interval of scores."""
    return "" if math.isnan(low) or math.isnan(high) else f"{low:.2f}–{high:.2f}"


def signed_text(value: float) -> str:
    """A difference or a correlation with its sign."""
    if math.isnan(value):
        return NONE
    text = f"{abs(value):.2f}"
    return text if float(text) == 0 else ("+" if value > 0 else _MINUS) + text


def signed_interval(estimate: Estimate) -> str:
    """An interval that may hold negative numbers."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return ""
    return f"{signed_text(estimate.low)} to {signed_text(estimate.high)}"


def p_text(p: float) -> str:
    """A p-value."""
    return NONE if math.isnan(p) else f"<{_SMALLEST_P}" if p < _SMALLEST_P else f"{p:.3f}"


def count_text(number: float) -> str:
    """A number of things."""
    return UNKNOWN if math.isnan(number) else f"{number:,.0f}"


def share_text(share: float) -> str:
    """A share of 1 in percent; never 0% or 100% of what is only nearly that."""
    if math.isnan(share):
        return NONE
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def rank_text(ranks: tuple[int, int] | None) -> str:
    """Ranks that a model may have; of one that is not ranked none."""
    if ranks is None:
        return NONE
    first, last = ranks
    return f"{first}" if first == last else f"{first}–{last}"


def unscored_text(share: float) -> str:
    """A share of answers without a score, one that needs attention with a mark."""
    text = f"{share:.1%}" if 0 < share < 0.1 else share_text(share)
    return f"{text} {ALERT}" if share > UNSCORED_ALERT else text


def money_text(dollars: float) -> str:
    """US dollars, small sums with two digits that say something."""
    if math.isnan(dollars):
        return UNKNOWN
    if dollars == 0 or dollars >= 1:
        return f"${dollars:,.2f}"
    digits = min(6, max(2, 1 - math.floor(math.log10(dollars))))
    return f"${dollars:.{digits}f}"


def duration_text(seconds: float) -> str:
    """A time span in two units at most."""
    if math.isnan(seconds):
        return UNKNOWN
    if seconds < _MINUTE:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    minutes = round(seconds / _MINUTE)
    return f"{minutes // 60:,} h {minutes % 60} min"


def level_text(level: float) -> str:
    """A confidence level in percent."""
    return f"{100 * level:.10g}%"


@dataclass(frozen=True)
class Name:
    """A model's name in two parts.

    Attributes:
        provider: Up to the last slash before any settings; may be empty.
        rest: What follows.
    """

    provider: str
    rest: str

    def __html__(self) -> str:
        """Markup in which the part that tells models apart stands out; it may break between the two."""
        if not self.provider:
            return str(Markup('<span class="name">{}</span>').format(self.rest))
        text = Markup('<span class="provider">{}<wbr></span><span class="name">{}</span>')
        return str(text.format(self.provider, self.rest))


def split_name(model: str) -> Name:
    """Take a name apart: `openai/gpt-4o (temperature=1)` -> `openai/` and `gpt-4o (temperature=1)`."""
    bare, bracket, settings = model.partition(" (")
    head, slash, tail = bare.rpartition("/")
    return Name(head + slash, tail + bracket + settings) if tail else Name("", model)


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Names without their providers, where that leaves no two equal."""
    short = {model: split_name(model).rest for model in models}
    counts = Counter(short.values())
    return {model: name if counts[name] == 1 else model for model, name in short.items()}


_VERDICTS: dict[Verdict, str] = {
    "significant": "significant",
    "not distinguishable": "cannot be distinguished",
    "depends on unscored answers": "depends on unscored answers",
    "not significant over all questions": "not significant over all questions",
    "not comparable": "not comparable",
}
SELF_JUDGED = "†"
"""Stands beside the rank of a model that judged answers of its own, where there is no room for words."""
MARKED = (
    "Bold: the best of a column and models that are not significantly worse; means over all questions, of intents and "
    "of languages are tested."
)
"""What the mark of a cell says."""
_MOST_NAMES = 4
_DIGITS = 9
"""Means that agree to so many decimals are equal; beyond is noise of summing."""


@dataclass(frozen=True)
class Headline:
    """What a ranking says at a glance.

    Attributes:
        first: The main sentence.
        more: What must be known beside it; may be empty.
    """

    first: Markup
    more: Markup


def headline(block: Block) -> Headline:
    """Say which model is best over all questions, and which ones cannot be distinguished from it."""
    ranked = [model for model in block.models if not math.isnan(model.all.value)]
    if not ranked:
        return Headline(Markup("No model has a score."), Markup(""))
    top = ranked[0]
    if len(ranked) == 1:
        name = short_names([model.model for model in block.models])[top.model]
        lacking = block.questions < block.asked
        over = f" over {block.questions:,} of {counted(block.asked, 'question')}" if lacking else ""
        said = Markup("{} has a mean score of {}{}.").format(_name(name), mean_text(top.all.value), over)
        more = Markup("{} {}No other model is ranked here.").format(_interval(top), _unscored(top))
        return Headline(said, more)
    more = Markup("Its mean score is {}. {}").format(mean_text(top.all.value), _interval(top))
    return Headline(best_sentence(block, "all"), more)


def column_sentences(block: Block) -> list[tuple[str, int, Markup]]:
    """For each reported intent and each language its title, number of questions, and who is best.

    Languages are left out where there is only one. Empty without two models to compare.
    """
    languages = block.languages if len(block.languages) > 1 else ()
    return [
        (block.titles.get(key, key), block.question_counts.get(key, 0), best_sentence(block, key))
        for key in (*block.groups, *languages)
        if key in block.best and sum(model.ranks is not None for model in block.models) > 1
    ]


def best_sentence(block: Block, key: str) -> Markup:
    """Say which model is best in a column, and which ones cannot be distinguished from it."""
    found, short = block.best.get(key, Best("", ())), short_names([model.model for model in block.models])
    if not found.model or not any(one.questions for one in found.others):
        return Markup("No question has a score of every ranked model.")
    said: dict[str, list[str]] = {}
    for one in found.others:
        said.setdefault(one.verdict, []).append(one.second)
    name, others = _name(short[found.model]), len(found.others)
    better, unclear = said.get("significant", []), said.get("not distinguishable", [])
    if len(better) == others:
        rest = "both others" if others == 2 else f"all {others} others" if others > 1 else _name(short[better[0]])
        return Markup("{} is best, significantly better than {}.").format(name, rest)
    equal = [one.second for one in found.others if round(one.difference.value, _DIGITS) == 0]
    if equal:
        text = Markup("{} share the highest mean score").format(listed([short[one] for one in (found.model, *equal)]))
        unclear = [one for one in unclear if one not in equal]
    else:
        text = Markup("{} has the highest mean score").format(name)
    if better:
        text += Markup(", significantly above {}").format(counted(len(better), "other"))
    if len(unclear) == others > 1:
        text += Markup(", but cannot be distinguished from any other model")
    elif unclear:
        text += Markup(", but cannot be distinguished from {}").format(listed([short[one] for one in unclear], "or"))
    if partly := said.get("not significant over all questions", []):
        text += Markup("; it is significantly above {} only over the {}, not over all that were asked").format(
            listed([short[one] for one in partly]), counted(found.others[0].questions, "common question")
        )
    if open_ := said.get("depends on unscored answers", []):
        lacking = dict.fromkeys(name for one in found.others for name in one.depends_on)
        text += Markup("; whether it is better than {} depends on unscored answers of {}").format(
            listed([short[one] for one in open_], "and"), listed([short[one] for one in lacking])
        )
    return text + Markup(".")


def _name(name: str) -> Markup:
    return Markup("<strong>{}</strong>").format(name)


def _interval(model: ModelReport) -> str:
    text = interval_text(model.all.low, model.all.high).replace("–", " to ")
    about = f"over {counted(model.all.n, 'question')}"
    return f"The {level_text(model.all.level)} interval is {text}, {about}." if text else f"It is {about}."


def _unscored(model: ModelReport) -> str:
    """What the mean of a model would be with its missing scores; empty where none is missing."""
    if not model.unscored:
        return ""
    return (
        f"{model.unscored:,} of {counted(model.answers, 'answer')} have no score: over all questions, the mean would "
        f"be {mean_text(model.mean_lowest)} if they got 1 and {mean_text(model.mean_highest)} if they got 10. "
    )


def listed(names: Sequence[str], joint: str = "and", *, most: int = _MOST_NAMES) -> Markup:
    """Names as part of a sentence, those beyond the most as a count.

    Args:
        names: At least one.
        joint: What stands before the last.
        most: How many are named before the rest is counted.
    """
    shown = [_name(name) for name in names]
    if len(names) > most + 1:
        shown = [*shown[:most], Markup("{} more").format(len(names) - most)]
    if len(shown) == 1:
        return shown[0]
    return Markup("{} {} {}").format(Markup(", ").join(shown[:-1]), joint, shown[-1])


def difference_of(block: Block, first: str, second: str) -> PairedDifference | None:
    """The comparison of two models, whichever is named first; None if there is none."""
    wanted = {first, second}
    return next((pair for pair in block.differences if {pair.first, pair.second} == wanted), None)


def verdict(pair: PairedDifference, block: Block) -> str:
    """What a comparison says, in words."""
    if not pair.depends_on:
        return _VERDICTS[pair.verdict]
    short = short_names([model.model for model in block.models])
    names = " and ".join(f"{short[name]} ({number:,})" for name, number in pair.depends_on.items())
    return f"{_VERDICTS[pair.verdict]} of {names}"


def traffic_sentence(block: Block) -> str:
    """By which shares a ranking is weighted, and what that costs; empty where it is not."""
    if block.traffic is None:
        return ""
    shares = "; ".join(
        f"{kind}: {', '.join(f'{name} {share_text(share)}' for name, share in given.items())}"
        for kind, given in block.traffic.shares.items()
    )
    return (
        f"Means and intervals are weighted by the mix of {block.traffic.source} ({shares}); the "
        f"{counted(block.questions, 'question')} then say as much as {block.traffic.effective_questions:,.0f} of equal "
        "weight."
    )


def methods(level: float) -> tuple[tuple[str, str], ...]:
    """How missing scores, tests, ranks and marks are dealt with, each with a title."""
    return (
        (
            "Missing scores",
            "A score may be missing because of the answer. Means, ranks and tests are over the questions for "
            "which every ranked model has a score; of several epochs of a question, the mean of those that have "
            "one. Which questions these are may depend on the answers as well. So a difference must hold over all "
            "questions that were asked, not only over those for which every ranked model has a score: it is "
            "significant only if it is so in the worst case too, over all questions, with each missing score "
            "of the better model taken as 1 and of the other one as 10. If it is not, and one of the two lacks "
            "scores, the verdict depends on unscored answers. If neither lacks a score, because those of a third "
            "model are missing, the verdict is: not significant over all questions. A sample that ended in an error "
            "has no score. Answers that are not in a log were not asked for and are not missing. A model with scores "
            "for fewer than half as many questions as the model that has most is not ranked.",
        ),
        (
            "Differences",
            "Models are compared question by question. The p-value is two-sided, from the bootstrap of the paired "
            "differences, and from their standard error where no round changes the sign. It is corrected by Holm's "
            "method over all pairs of a ranking, so that the chance of even one false difference stays below "
            f"{1 - level:.2g}. A difference is significant where the corrected p-value of the worst case is below "
            f"{1 - level:.2g}.",
        ),
        (
            "Ranks",
            "From 1 + the number of models that are significantly better to the number of ranked models less "
            "those that are significantly worse.",
        ),
        (
            "Intents, languages",
            "In each, the model with the highest mean is compared with each other one. p-values are corrected by "
            "Holm's method over these comparisons, and multiplied by half the number of models: each of them "
            "could have been the best one by chance. The correction is made within each intent or language, not "
            "over all of them.",
        ),
        ("Marks", MARKED),
    )


ALL = "all"
MOST_IN_WORDS = 7
"""Most models of which a matrix has room for words in each cell."""
_MOST_COLUMNS = 8
"""Most columns of a table by language: so many fit on a page of paper."""


@dataclass(frozen=True)
class ScoreColumn:
    """A column of scores.

    Attributes:
        key: As in `Block.best`.
        title: What stands over it.
        over: What stands over this and neighbouring columns together; may be empty.
        questions: Number of its questions; None if the report does not count them.
        main: Whether it sums up the others.
    """

    key: str
    title: str
    over: str = ""
    questions: int | None = None
    main: bool = False


@dataclass(frozen=True)
class ScoreCell:
    """A score.

    Attributes:
        estimate: The mean, 1 to 10, and its interval; None where the model has no question of the kind.
        marked: Whether it is the best of its column or cannot be distinguished from it; never in a column that is not
            tested.
        shade: 0 for the lowest score of the table to 1 for the highest; NaN without a score.
    """

    estimate: Estimate | None
    marked: bool
    shade: float


@dataclass(frozen=True)
class ScoreRow:
    """A model's scores, one a column."""

    model: ModelReport
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True)
class ScoreTable:
    """Scores of models.

    Attributes:
        columns: The columns.
        rows: The models, the best first.
        lowest: Lowest score of the table, 1 to 10; NaN without scores.
        highest: Highest score of it.
    """

    columns: tuple[ScoreColumn, ...]
    rows: tuple[ScoreRow, ...]
    lowest: float
    highest: float

    @property
    def over(self) -> list[tuple[str, int]]:
        """What stands over the columns, each with the number of columns that it spans; empty if nothing does."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and column.over and spans[-1][0] == column.over:
                spans[-1] = (column.over, spans[-1][1] + 1)
            else:
                spans.append((column.over, 1))
        return spans if any(title for title, _ in spans) else []


@dataclass(frozen=True)
class MatrixCell:
    """A model beside another one.

    Attributes:
        pair: Their comparison.
        sign: 1 if the row's model is the first of the pair, else -1.
        kind: `better`, `worse`, `same`, `unscored` (the verdict depends on unscored answers) or `partly` (significant
            over the common questions only) as seen from the row, or `none` if they cannot be compared.
    """

    pair: PairedDifference
    sign: int
    kind: str

    @property
    def value(self) -> float:
        """Mean of the row's scores less those of the column, on the same questions."""
        return self.sign * self.pair.difference.value


@dataclass(frozen=True)
class MatrixRow:
    """A model beside all others.

    Attributes:
        model: The model.
        cells: One per model; None for itself, and where there is no comparison.
        unclear: Models that it cannot be distinguished from.
        depends: Models from which it differs significantly only if the missing scores are like the others.
    """

    model: ModelReport
    cells: tuple[MatrixCell | None, ...]
    unclear: tuple[str, ...]
    depends: tuple[str, ...]


def leaderboard(block: Block) -> ScoreTable:
    """All questions and each reported intent."""
    columns = [_column(block, ALL, "All", main=True)]
    columns += [_column(block, group, _title(block, group)) for group in block.groups]
    return _table(
        block,
        columns,
        lambda model: [model.all, *(model.by_group.get(group) for group in block.groups)],
    )


def languages(block: Block) -> tuple[ScoreTable, ...]:
    """Each language, then each intent in each language, in parts as in Tables 12 and 13 of the URS paper."""
    keys: list[tuple[str, str]] = [(ALL, code) for code in block.languages]
    keys += [(group, code) for group in block.groups for code in block.languages]
    at_once = max(1, _MOST_COLUMNS // max(1, len(block.languages))) * max(1, len(block.languages))
    return tuple(_by_language(block, keys[start : start + at_once]) for start in range(0, len(keys), at_once))


def _by_language(block: Block, keys: Sequence[tuple[str, str]]) -> ScoreTable:
    columns = [
        _column(block, code, _title(block, code), over="All", main=True)
        if group == ALL
        else _column(block, f"{group}/{code}", _title(block, code), over=_title(block, group))
        for group, code in keys
    ]
    return _table(
        block,
        columns,
        lambda model: [
            model.by_language.get(code) if group == ALL else model.by_group_and_language.get((group, code))
            for group, code in keys
        ],
    )


def parts(block: Block) -> ScoreTable:
    """Each intent that shares its reported group with another one."""
    columns = []
    for part in block.parts:
        group, _, intent = _title(block, part).rpartition(": ")
        columns.append(_column(block, part, intent, over=group))
    return _table(block, columns, lambda model: [model.by_part.get(part) for part in block.parts])


def countries(block: Block) -> ScoreTable:
    """Each country."""
    columns = [_column(block, country, _title(block, country)) for country in block.countries]
    return _table(block, columns, lambda model: [model.by_country.get(country) for country in block.countries])


def criteria(block: Block) -> ScoreTable:
    """Each criterion."""
    columns = [_column(block, criterion, _title(block, criterion)) for criterion in block.criteria]
    return _table(block, columns, lambda model: [model.by_criterion.get(key) for key in block.criteria])


def matrix(block: Block) -> tuple[MatrixRow, ...]:
    """Every model beside every other one, the best first."""
    rows: list[MatrixRow] = []
    for model in block.models:
        cells = tuple(_cell(block, model.model, other.model) for other in block.models)
        beside = [(other.model, cell.kind if cell else "none") for other, cell in zip(block.models, cells, strict=True)]
        unclear = tuple(name for name, kind in beside if kind in ("same", "partly", "none") and name != model.model)
        depends = tuple(name for name, kind in beside if kind == "unscored")
        rows.append(MatrixRow(model, cells, unclear, depends))
    return tuple(rows)


def outcomes(models: Iterable[ModelReport]) -> tuple[str, ...]:
    """Ways in which judging ended that occur, what went well first."""
    found = dict.fromkeys(name for model in models for name, count in model.outcomes.items() if count)
    first = SCORED_OUTCOMES
    return tuple(sorted(found, key=lambda name: (first.index(name) if name in first else len(first), name)))


def several_judgements(models: Iterable[ModelReport]) -> bool:
    """Whether the same judge judged the same answers of any model more than once."""
    return any(not math.isnan(model.judge_deviation) for model in models)


def _title(block: Block, key: str) -> str:
    return block.titles.get(key, key)


def _column(block: Block, key: str, title: str, *, over: str = "", main: bool = False) -> ScoreColumn:
    return ScoreColumn(key, title, over, block.question_counts.get(key), main)


def _table(
    block: Block,
    columns: Sequence[ScoreColumn],
    scores: Callable[[ModelReport], Sequence[Estimate | None]],
) -> ScoreTable:
    found = {model.model: scores(model) for model in block.models}
    values = [e.value for row in found.values() for e in row if e is not None and not math.isnan(e.value)]
    lowest, highest = (min(values), max(values)) if values else (math.nan, math.nan)
    marked = [block.best[column.key].marked if column.key in block.best else frozenset() for column in columns]
    rows = [
        ScoreRow(
            model,
            tuple(
                ScoreCell(estimate, model.model in names, _shade(estimate, lowest, highest))
                for estimate, names in zip(found[model.model], marked, strict=True)
            ),
        )
        for model in block.models
    ]
    return ScoreTable(tuple(columns), tuple(rows), lowest, highest)


def _shade(estimate: Estimate | None, lowest: float, highest: float) -> float:
    if estimate is None or math.isnan(estimate.value):
        return math.nan
    return (estimate.value - lowest) / (highest - lowest) if highest > lowest else 0.5


def column_tests(block: Block) -> list[tuple[str, PairedDifference]]:
    """Title of each intent and language, with the best model beside each other one."""
    keys = (key for key in (*block.groups, *block.languages) if key in block.best)
    return [(_title(block, key), pair) for key in keys for pair in block.best[key].others]


def _cell(block: Block, row: str, column: str) -> MatrixCell | None:
    pair = None if row == column else difference_of(block, row, column)
    if pair is None:
        return None
    sign = 1 if pair.first == row else -1
    if pair.significant:
        return MatrixCell(pair, sign, "better" if sign > 0 else "worse")
    kinds = {
        "not distinguishable": "same",
        "depends on unscored answers": "unscored",
        "not significant over all questions": "partly",
    }
    return MatrixCell(pair, sign, kinds.get(pair.verdict, "none"))
