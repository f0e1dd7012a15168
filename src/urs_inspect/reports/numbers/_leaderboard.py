"""Answers -> leaderboard: rankings of models with their means, differences and other facts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError
from urs_inspect.datasets._published import PublishedUrs, load_published_urs
from urs_inspect.judging._failures import NO_RESPONSE
from urs_inspect.logs._files import short_name
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports.numbers._answers import (
    CRITERION,
    ERROR,
    NOT_SENT,
    Answers,
    Run,
    judge_scores,
)
from urs_inspect.reports.numbers._comparison import (
    ROUNDS,
    ComparedModels,
    LostLead,
    compare_table,
    without_intents,
)
from urs_inspect.reports.numbers._conditions import (
    BlockAnswers,
    Conditions,
    Reason,
    Unlike,
    blocks_of,
)
from urs_inspect.reports.numbers._corrected import CorrectedMeans, correct_means
from urs_inspect.reports.numbers._human_data import HumanRatings
from urs_inspect.reports.numbers._judge_checks import (
    JudgeFact,
    JudgeShifts,
    LeftOut,
    judge_checks,
    read_judge_facts,
    read_shifts,
)
from urs_inspect.reports.numbers._lengths import (
    LengthLead,
    LengthRegression,
    length_leads,
    length_ratios,
    length_regression,
    people_slope,
)
from urs_inspect.reports.numbers._matching import Matched, match_blocks, unused
from urs_inspect.reports.numbers._scores import (
    ALL,
    Columns,
    ScoreTable,
    clusters_of,
    columns_of,
    in_order,
    order_models,
    score_table,
    with_shares,
)
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.rubrics import FINAL, HIGHEST, Rubric, Term, load_rubric
from urs_inspect.scorers._metrics import CLUSTER
from urs_inspect.stats import Estimate, interval_alpha
from urs_inspect.stats._bootstrap import LEVEL, SEED, Resampling, number_clusters, pooled_deviation
from urs_inspect.stats._correlation import CORRELATIONS, rank_correlation
from urs_inspect.stats._means import effective_number
from urs_inspect.stats._variance_components import (
    VarianceComponents,
    difference_components,
    variance_components,
)

_BINS = 10
_CORRELATION_ROUNDS = 1000
"""Ranks must be computed again in every round, which takes a hundred times as long as a mean."""
_LANGUAGES = {
    "en": "English",
    "zh": "Chinese",
}
OUTCOME = "outcome/"
"""Prefix of the columns with numbers of answers by outcome."""
WITHOUT = "without/"
"""Prefix of the columns with the share of answers that a judge of a panel did not score."""
_FEWEST = 10
"""Fewest scores of a judge for a warning that they are all alike."""
_TOP_SHARE = 0.98
"""Share of top marks from which on a judge can hardly tell answers apart."""
_EQUAL_SHARE = 0.1
"""Share of equal answers of two models from which on a report names them."""
_USAGE = (
    "input_tokens",
    "output_tokens",
    "judge_input_tokens",
    "judge_output_tokens",
    "cost",
    "judge_cost",
    "seconds",
)


@dataclass(frozen=True)
class Traffic:
    """The user's own share of kinds of questions: kind -> id -> share."""

    source: str  # file
    shares: dict[str, dict[str, float]]
    effective_questions: float  # Kish's effective number of questions under the weights


@dataclass(frozen=True)
class FlatJudge:
    """A judge whose scores hardly differ."""

    name: str
    scores: int
    top: int  # how many of them are the highest mark
    only: float  # the one score that it gave every answer; NaN if it gave several


@dataclass(frozen=True)
class EqualAnswers:
    """Two models with answers that are word for word the same."""

    first: str
    second: str
    equal: int
    both: int  # that both gave


@dataclass(frozen=True, kw_only=True)
class AboutAnswers:
    """What must be known of the answers of a ranking."""

    answers: int
    without_share: int  # questions of kinds that have no share in the traffic
    clusters: int  # that the questions come from, such as their users; 0 if none is named
    in_several_clusters: int  # questions for which logs name different clusters
    cut_off: dict[str, int]  # model -> answers cut off at the token limit
    not_shown: dict[str, int]  # part of a question that the judge could not see -> answers
    temperature_not_sent: int  # answers whose judge ran at its default temperature
    temperatures: tuple[str, ...]  # of the judges
    without_country: int  # questions
    silent_judges: tuple[str, ...]  # of a panel, those that scored no answer while others did
    flat_judges: tuple[FlatJudge, ...]
    equal_answers: tuple[EqualAnswers, ...]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Models that may be ranked together.

    `compared.models` has the facts of `_facts` as well, and `compared.means` a key for each column
    and each `criterion/<id>`.
    """

    compared: ComparedModels
    conditions: Conditions
    differs_from_first: tuple[Reason, ...]  # why they are not in it; empty for the first ranking
    lengths: (
        pd.DataFrame
    )  # model, median length in characters, mean score and number of answers of about that length
    columns: Columns
    criteria: tuple[str, ...]  # ids, in the order of the rubric
    traffic: Traffic | None
    # kind, first, second, design, components (`variance_` and one of `COMPONENTS`), shares,
    # half-widths; empty without anything to split
    noise: pd.DataFrame
    answers: pd.DataFrame  # rows of the table of answers that the ranking is about
    unlike: Unlike
    about_answers: AboutAnswers
    # id of an intent, language or criterion -> its English name
    titles: Mapping[str, str] = field(default_factory=dict)
    corrected: CorrectedMeans | None = None  # by people's ratings, where they were given
    without_intents: tuple[LostLead, ...] = ()  # leads of the first model
    regression: LengthRegression | None = None  # of scores on length, where it was asked for
    judge_checks: tuple[JudgeFact, ...] = ()
    # what changes of answers move the judge by, if that was measured
    judge_shifts: JudgeShifts | None = None
    people_slope: Estimate | None = (
        None  # what it pays for length beyond people's ratings, if known
    )
    leads_by_length: tuple[LengthLead, ...] = ()  # of the first model

    @property
    def trusted(self) -> CorrectedMeans | None:
        """The corrected means, if there are any with which a report may begin."""
        if self.corrected is None or not self.corrected.trusted:
            return None
        return self.corrected

    def title(self, key: str) -> str:
        """English name of a column."""
        return self.titles.get(key, key)


@dataclass(frozen=True)
class NotRanked:
    """Models of a later ranking for which no weights give the shares of the traffic."""

    models: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Leaderboard:
    """Rankings, the one of most models first, and how they were made."""

    rankings: tuple[Ranking, ...]
    runs: tuple[Run, ...]
    skipped: tuple[LeftOut, ...]  # what was skipped and why
    resampling: Resampling
    command: str  # the command that made the report
    not_ranked: tuple[NotRanked, ...] = ()
    published: PublishedUrs = field(default_factory=load_published_urs)  # results of the URS paper
    urs_rubric: Rubric = field(default_factory=load_rubric)  # that of the paper's criteria

    @property
    def simulated(self) -> bool:
        """Whether any model or judge is a simulation."""
        return any(ranking.compared.models["simulated"].any() for ranking in self.rankings)


def make_leaderboard(  # noqa: PLR0913 - all but the answers have defaults
    answers: Answers,
    *,
    rubric: Rubric | None = None,
    traffic: TrafficMix | None = None,
    human: HumanRatings | None = None,
    control: str | None = None,
    rounds: int = ROUNDS,
    level: float = LEVEL,
    seed: int = SEED,
    command: str = "",
) -> Leaderboard:
    """Rank the models of answers.

    Args:
        answers: The answers, as from `read_answers`.
        rubric: Names and order of intents, languages and criteria; by default that of URS.
        traffic: Shares by which all means and intervals are weighted.
        human: People's ratings of some answers, by which means are corrected.
        control: `length` for a table of a regression of scores on length, with its warning.
        rounds: Rounds of the bootstrap, in which whole questions are drawn.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Returns:
        The leaderboard: a ranking for each group of answers that can be compared, the one of most
        models first, and what was skipped.

    Raises:
        InputError: If no weights of the questions of the first ranking give the shares of the
            traffic, or no rating is about an answer. A later ranking for which there are no weights
            is skipped.
    """
    rubric = rubric or load_rubric()
    resampling = Resampling(rounds, level, seed)
    rankings: list[Ranking] = []
    not_ranked: list[NotRanked] = []
    skipped: list[LeftOut] = list(answers.left_out)
    blocks = blocks_of(answers.table)
    matched: list[Matched] = []
    if human:
        matched = match_blocks(answers.table, blocks, human)
        skipped += unused(human, matched)
    panels = [block.conditions.judges for block in blocks]
    facts = read_judge_facts(answers, panels, resampling, skipped)
    for place, block in enumerate(blocks):
        rated = None
        if human:
            rated = (human, matched[place])
        try:
            logs = set(block.table["log"])
            shifts = read_shifts(answers, block.conditions.judges, logs, skipped)
            ranking = _ranking(block, rubric, traffic, resampling, rated, control, shifts)
        except InputError as error:
            if not rankings:
                raise
            not_ranked.append(NotRanked(block.models, error.message))
            continue
        titles = _titles(ranking, rubric, answers.runs.values())
        checks = judge_checks(
            block.conditions, block.table, rated, facts, resampling, answers.runs, shifts
        )
        rankings.append(replace(ranking, titles=titles, judge_checks=checks))
    runs = tuple(answers.runs.values())
    return Leaderboard(
        tuple(rankings), runs, tuple(skipped), resampling, command, tuple(not_ranked)
    )


def _ranking(
    block: BlockAnswers,
    rubric: Rubric,
    mix: TrafficMix | None,
    resampling: Resampling,
    rated: tuple[HumanRatings, Matched] | None,
    control: str | None,
    shifts: JudgeShifts | None,
) -> Ranking:
    """The ranking of a block, without titles and checks of the judge."""
    every = score_table(block.table, block.models)
    scores = order_models(with_shares(every, mix), mix)
    table = scores.table
    columns = columns_of(table.facts, rubric)
    tested = [ALL, *columns.groups, *columns.languages]
    if len(columns.languages) > 1:
        tested += columns.cells
    compared = compare_table(scores, columns.questions, tested, resampling, together=False)
    answers = block.table[block.table["question"].isin(table.facts.index)]
    judges = block.conditions.judges
    by_people = people_slope(answers, *rated) if rated else None
    paid = by_people if shifts is None else shifts.slope
    corrected = None
    if rated is not None:
        corrected = correct_means(scores, columns, *rated, compared, resampling)
    regression = None
    if control:
        regression = length_regression(scores, answers, compared.means[ALL], resampling)
    traffic = None
    if mix is not None:
        effective = effective_number(scores.common_weights.values)
        traffic = Traffic(mix.source, mix.shares, effective)
    models = compared.models.join(_facts_of_models(answers, table.models, judges, resampling))
    models = models.join(length_ratios(scores, answers).astype(object))
    common = answers[answers["question"].isin(table.facts.index[scores.common])]
    return Ranking(
        compared=replace(compared, models=models),
        conditions=block.conditions,
        differs_from_first=block.differs_from_first,
        lengths=_length_bins(answers, table.models),
        columns=columns,
        criteria=tuple(in_order(table.criteria, rubric.criteria)),
        traffic=traffic,
        noise=noise_of(common, table.models[: scores.ranked], resampling.level),
        answers=answers,
        unlike=block.unlike,
        about_answers=_about_answers(answers, table, judges, len(every.facts) - len(table.facts)),
        corrected=corrected,
        without_intents=without_intents(scores, columns, compared, resampling),
        judge_shifts=shifts,
        people_slope=by_people,
        leads_by_length=length_leads(scores, answers, resampling.level, None if mix else paid),
        regression=regression,
    )


# --- facts of models ---


def _facts_of_models(
    answers: pd.DataFrame, names: Sequence[str], judges: Sequence[str], resampling: Resampling
) -> pd.DataFrame:
    """Facts of models by their answers to the questions of the ranking, epochs included; unknown
    numbers are NaN.
    """
    by_model = dict(iter(answers.groupby("model", sort=False)))
    rows = [_facts(by_model[name], [name, *judges], resampling) for name in names]
    facts = pd.DataFrame(rows, list(names), dtype=object)
    of_model = answers["model"]
    used = answers.groupby(of_model)[list(_USAGE)].mean()
    # The mean of the known numbers stands for the others.
    sums = used.mul(of_model.value_counts(), axis=0)
    outcomes = pd.crosstab(of_model, answers["outcome"]).add_prefix(OUTCOME)
    facts = facts.join([sums, outcomes])
    if len(judges) > 1:
        lacking = judge_scores(answers).reindex(columns=list(judges)).isna()
        # An answer that no judge was asked about lacks no score.
        lacking[answers["outcome"].isin(NO_RESPONSE)] = False
        shares = lacking.groupby(of_model).mean()
        facts = facts.join(shares.loc[:, shares.any()].add_prefix(WITHOUT))
    return facts.astype(object)


def _facts(answers: pd.DataFrame, names: Sequence[str], resampling: Resampling) -> dict[str, Any]:
    """Facts of one model; `names` are its own and those of the judges."""
    scored = answers.dropna(subset=FINAL)
    judged = []
    for final, earlier in zip(scored[FINAL], scored["earlier_finals"], strict=True):
        judged.append([final, *earlier])
    finals = judge_scores(scored)
    alpha = math.nan
    if len(finals.columns) > 1:
        alpha = interval_alpha(finals.to_numpy().T.tolist())
    logs = dict.fromkeys(map(short_name, answers["log"].unique()))
    return {
        "simulated": any(name.startswith(SIMULATED) for name in names),
        "questions": scored["question"].nunique(),
        "epochs": int(answers["question"].value_counts().max()),
        "empty": int(answers["outcome"].isin(NO_RESPONSE).sum()),  # have the lowest score
        "errors": int((answers["outcome"] == ERROR).sum()),
        "cut_off": int(answers["cut_off"].sum()),
        "self_judged": float(scored["self_judged"].mean()),
        "judge_alpha": alpha,
        "epoch_deviation": pooled_deviation(
            [list(given) for _, given in scored.groupby("question")[FINAL]]
        ),
        "judge_deviation": pooled_deviation(judged),
        "median_length": float(answers["answer_length"].median()),
        "length_correlation": _length_correlation(answers, resampling),
        "log": ", ".join(logs),
    }


def _length_correlation(answers: pd.DataFrame, resampling: Resampling) -> Estimate:
    """Spearman's rho of length and final score over questions."""
    questions = answers.groupby("question", sort=True)
    means = questions[["answer_length", FINAL]].mean()
    rho = rank_correlation(
        means["answer_length"].to_numpy(),
        means[FINAL].to_numpy(),
        number_clusters(clusters_of(answers).tolist()),
        rounds=min(resampling.rounds, _CORRELATION_ROUNDS),
        level=resampling.level,
        seed=resampling.seed,
    )
    return rho.reported(CORRELATIONS)


def _length_bins(answers: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Answers of each model from the shortest to the longest in up to ten equal parts."""
    rows = []
    for name in names:
        known = answers[answers["model"] == name].dropna(subset=["answer_length", FINAL])
        by_length = known.sort_values("answer_length", kind="stable")
        lengths = by_length["answer_length"].to_numpy(dtype=np.float64)
        finals = by_length[FINAL].to_numpy(dtype=np.float64)
        for part in np.array_split(np.arange(len(known)), min(_BINS, len(known)) or 1):
            if len(part):
                rows.append((np.median(lengths[part]), finals[part].mean(), len(part), name))
    return pd.DataFrame(rows, columns=["length", "score", "answers", "model"])


# --- where noise comes from ---

NOISE = {
    "question": ("question",),
    "answering": ("answer",),
    "judges": ("question_judge", "answer_judge"),
    "judging": ("judgement",),
}
"""What noise comes from, and its components."""


def noise_of(answers: pd.DataFrame, models: Sequence[str], level: float) -> pd.DataFrame:
    """Split the variance of the means of models, the best one first, and of the differences of the
    others from it.

    The answers are those to the questions that count. Empty without epochs, panel or repeated
    judgements.
    """
    scored = answers.dropna(subset=FINAL)
    judges = list(map(str, judge_scores(scored)))
    answered_again = scored.duplicated(["model", "question"]).any()
    judged_again = scored["earlier_judge_finals"].map(len).any()
    if not models or not (answered_again or judged_again or len(judges) > 1):
        return pd.DataFrame()
    judgements = _judgements(scored, judges)
    scores = {str(name): rows for name, rows in judgements.groupby("model")}
    best, *others = models
    splits = {("mean", name, ""): variance_components(scores[name]) for name in models}
    for name in others:
        split = difference_components(scores[best], scores[name])
        splits["difference", best, name] = split
    rows = []
    for (kind, first, second), split in splits.items():
        named = {"kind": kind, "first": first, "second": second}
        rows.append({**named, **_noise_of_split(split, level)})
    return pd.DataFrame(rows)


def _judgements(scored: pd.DataFrame, judges: Sequence[str]) -> pd.DataFrame:
    """Each judgement of each answer by a judge of the panel.

    An answer that no judge was asked about has its score from all of them.
    """
    question = pd.factorize(scored["question"])[0]
    columns = (scored[name] for name in ("model", FINAL, "judge_finals", "earlier_judge_finals"))
    rows = []
    for place, (model, final, last, earlier) in enumerate(zip(*columns, strict=True)):
        given = []
        for finals in (last, *earlier):
            given += [(judge, score) for judge, score in finals.items() if not math.isnan(score)]
        for judge, score in given or [(judge, final) for judge in judges]:
            if judge in judges:
                rows.append((model, question[place], place, judges.index(judge), score))
    return pd.DataFrame(rows, columns=["model", "question", "answer", "judge", "score"])


def _noise_of_split(split: VarianceComponents, level: float) -> dict[str, float]:
    """Numbers, components, shares of sources, and half-widths of the interval with more data; NaN
    where the variance that more data would lessen is not known.
    """
    components = split.components
    row: dict[str, float] = {
        "questions": split.questions,
        "epochs": split.epochs,
        "judges": split.judges,
    }
    for name, value in components.items():
        row[f"variance_{name}"] = value
    parts = pd.Series(split.parts())
    whole = parts.sum()
    for source, names in NOISE.items():
        is_known = whole > 0 and not math.isnan(parts[names[0]])
        row[f"share_{source}"] = parts[list(names)].sum() / whole if is_known else math.nan
    row["margin"] = split.margin(level)
    row["twice_the_questions"] = split.margin(level, questions=2 * split.questions)
    more: dict[str, tuple[str, dict[str, float]]] = {
        "one_more_epoch": ("answer", {"epochs": split.epochs + 1}),
        "one_more_judge": ("judge", {"judges": split.judges + 1}),
        "judged_once_more": ("judgement", {"judgements": 2}),
    }
    for name, (component, numbers) in more.items():
        is_known = not math.isnan(components[component])
        row[name] = split.margin(level, **numbers) if is_known else math.nan
    return row


# --- notes and titles ---


def _about_answers(
    answers: pd.DataFrame, table: ScoreTable, judges: Sequence[str], without_share: int
) -> AboutAnswers:
    named = answers[answers[CLUSTER] != ""]
    several = named.groupby("question")[CLUSTER].nunique() > 1
    clusters = 0
    if table.clusters is not None:
        clusters = int(table.clusters.max()) + 1
    temperatures = answers["judge_temperatures"]
    not_sent = temperatures.str.contains(NOT_SENT, regex=False)
    different = {text.replace(NOT_SENT, "") for text in temperatures.unique()}
    speaking = judge_scores(answers).notna().any()
    silent = [judge for judge in judges if not speaking.get(judge, False)]
    return AboutAnswers(
        answers=len(answers),
        without_share=without_share,
        clusters=clusters,
        in_several_clusters=int(several.sum()),
        cut_off=_counts(answers.loc[answers["cut_off"], "model"]),
        not_shown=_counts(answers.loc[answers["not_shown"] != "", "not_shown"]),
        temperature_not_sent=int(not_sent.sum()),
        temperatures=tuple(sorted(different - {""})),
        without_country=int((table.facts["country"] == "").sum()),
        silent_judges=tuple(silent) if speaking.any() else (),
        flat_judges=flat_judges(answers),
        equal_answers=equal_answers(answers, table.models),
    )


def flat_judges(answers: pd.DataFrame) -> tuple[FlatJudge, ...]:
    """Judges that gave all answers the same score, or nearly all of them the highest one."""
    flat = []
    for judge, scores in judge_scores(answers).items():
        given = scores.dropna()
        if len(given) < _FEWEST:
            continue
        top = int((given == HIGHEST).sum())
        only = math.nan
        if given.nunique() == 1:
            only = float(given.iloc[0])
        if not math.isnan(only) or top >= _TOP_SHARE * len(given):
            flat.append(FlatJudge(str(judge), len(given), top, only))
    return tuple(flat)


def equal_answers(answers: pd.DataFrame, names: Sequence[str]) -> tuple[EqualAnswers, ...]:
    """Pairs of models, in this order, with many answers that are word for word the same."""
    given = answers[answers["answer_digest"] != ""]
    texts = given.drop_duplicates(["question", "epoch", "model"]).pivot(
        index=["question", "epoch"], columns="model", values="answer_digest"
    )
    pairs = []
    for first, second in combinations([name for name in names if name in texts], 2):
        both = texts[[first, second]].dropna()
        equal = int((both[first] == both[second]).sum())
        if equal > 1 and equal >= _EQUAL_SHARE * len(both):
            pairs.append(EqualAnswers(first, second, equal, len(both)))
    return tuple(pairs)


def _counts(values: "pd.Series[str]") -> dict[str, int]:
    """How often each value occurs, the most frequent first."""
    return {str(value): int(count) for value, count in values.value_counts().items()}


def _titles(ranking: Ranking, rubric: Rubric, runs: Iterable[Run]) -> dict[str, str]:
    """Id of a part, intent, language or criterion -> its English name, or the id with blanks for
    underlines.

    Languages that the rubric lacks have the names that the logs give by code.
    """
    columns = ranking.columns
    titles = {group: group for group in columns.groups}
    for name in ranking.answers["intent"].unique():
        intent = rubric.intents.get(name)
        titles[name] = _english(name, intent.text if intent else {})
    for part in columns.parts:
        group, _, name = part.rpartition(": ")
        titles[part] = f"{group}: {titles[name]}"
    languages: dict[str, str] = {}
    for run in runs:
        languages |= run.languages
    languages |= {code: language.name for code, language in rubric.languages.items()}
    languages |= _LANGUAGES
    for code in columns.languages:
        titles[code] = languages.get(code, code)
    for name in ranking.criteria:
        titles[CRITERION + name] = _english(name, rubric.criteria.get(name, {}))
    return titles


def _english(name: str, texts: Mapping[str, Term]) -> str:
    if "en" in texts:
        return texts["en"].name
    return name.replace("_", " ").capitalize()


# --- all means ---

_OVER_ALL = (
    "rank_from",
    "rank_to",
    "unscored_share",
    "mean_scored",
    "mean_lowest",
    "mean_highest",
)


def means_frame(ranking: Ranking, place: int) -> pd.DataFrame:
    """Every mean, one row per model and column; ranks and bounds in the rows of all questions."""
    columns = ranking.columns
    keys_of_kinds = {
        "all": (ALL,),
        "intent": columns.groups,
        "part": columns.parts,
        "language": columns.languages,
        "intent and language": columns.cells,
        "country": columns.countries,
        "criterion": [CRITERION + name for name in ranking.criteria],
    }
    kinds = {key: kind for kind, keys in keys_of_kinds.items() for key in keys}
    rows = []
    for (number, name), (key, kind) in product(enumerate(ranking.compared.names), kinds.items()):
        row = {
            "block": place,
            "model": name,
            "kind": kind,
            "column": key.removeprefix(CRITERION),
            "mean": ranking.compared.means[key][number],
            "beside_best": _beside_best(ranking, key, name),
            **dict.fromkeys(_OVER_ALL),
        }
        if kind == "all":
            row |= ranking.compared.models.loc[name, list(_OVER_ALL)]
        rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _beside_best(ranking: Ranking, key: str, name: str) -> str:
    """`best`, the verdict on the difference from the best, or nothing where it is not tested."""
    best = ranking.compared.best_in[key]
    if key in ranking.compared.comparisons and name == best.model:
        return "best"
    verdicts = {pair.second: str(pair.verdict) for pair in best.pairs}
    return verdicts.get(name, "")
