"""Answers -> leaderboard: rankings of models with their means, differences and other facts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError
from urs_inspect.judging._failures import NO_RESPONSE
from urs_inspect.logs._files import short_name
from urs_inspect.logs._scores import SIMULATED
from urs_inspect.reports.numbers._agreement import CORRELATIONS, Matched, match_blocks, unused
from urs_inspect.reports.numbers._answers import CRITERION, ERROR, NOT_SENT, Answers, Run
from urs_inspect.reports.numbers._comparison import (
    ROUNDS,
    ComparedModels,
    WithoutIntent,
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
    judge_checks,
    read_judge_facts,
    read_largest_twins,
)
from urs_inspect.reports.numbers._lengths import (
    LengthLead,
    LengthRegression,
    length_leads,
    length_ratios,
    length_regression,
    people_slope,
)
from urs_inspect.reports.numbers._noise import Noise, noise_of
from urs_inspect.reports.numbers._scores import (
    ALL,
    Columns,
    ScoreTable,
    Weights,
    clusters_of,
    columns_of,
    in_order,
    order_models,
    score_table,
    with_shares,
)
from urs_inspect.reports.numbers._traffic import TrafficMix
from urs_inspect.reports.numbers._twins import Twins
from urs_inspect.rubrics import FINAL, Rubric, load_rubric
from urs_inspect.scorers._metrics import CLUSTER
from urs_inspect.stats import Estimate, interval_alpha
from urs_inspect.stats._bootstrap import LEVEL, SEED, Resampling, number_clusters, pooled_deviation
from urs_inspect.stats._correlation import rank_correlation
from urs_inspect.stats._means import effective_number

_BINS = 10
_CORRELATION_ROUNDS = 1000
"""Ranks must be computed again in every round, which takes a hundred times as long as a mean."""
_LANGUAGES = {
    "en": "English",
    "zh": "Chinese",
}
WITHOUT = "without/"
"""Prefix of the columns with the share of answers that a judge of a panel did not score."""
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


@dataclass(frozen=True, kw_only=True)
class Ranking(ComparedModels):
    """Models that may be ranked together; `models` has the facts of `_facts` as well.

    `means` has a key for each column and each `criterion/<id>`.
    """

    conditions: Conditions
    differs_from_first: tuple[Reason, ...]  # why they are not in it; empty for the first ranking
    lengths: (
        pd.DataFrame
    )  # model, median length in characters, mean score and number of answers of about that length
    columns: Columns
    criteria: tuple[str, ...]  # ids, in the order of the rubric
    titles: dict[str, str]  # id of an intent, language or criterion -> its English name
    traffic: Traffic | None
    noise: Noise
    answers: pd.DataFrame  # rows of the table of answers that the ranking is about
    unlike: Unlike
    about_answers: AboutAnswers
    corrected: CorrectedMeans | None = None  # by people's ratings, where they were given
    without_intents: tuple[
        WithoutIntent, ...
    ] = ()  # where a lead or the leader is another without one intent
    regression: LengthRegression | None = None  # of scores on length, where it was asked for
    judge_checks: tuple[JudgeFact, ...] = ()
    twins: Twins | None = None  # what the judge pays for changes of an answer, if that was measured
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
class Leaderboard:
    """Rankings, the one of most models first, and how they were made."""

    rankings: tuple[Ranking, ...]
    runs: tuple[Run, ...]
    skipped: tuple[str, ...]  # what was skipped and why, one sentence each, with counts
    resampling: Resampling
    command: str  # the command that made the report

    @property
    def simulated(self) -> bool:
        """Whether any model or judge is a simulation."""
        return any(ranking.models["simulated"].any() for ranking in self.rankings)


def make_leaderboard(
    answers: Answers,
    *,
    rubric: Rubric | None = None,
    traffic: TrafficMix | None = None,
    countries: int | None = None,
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
        countries: Most countries with a column of their own, the rest together; None for all.
        human: People's ratings of some answers, by which means are corrected.
        control: `length` for a table of a regression of scores on length, with its warning.
        rounds: Rounds of the bootstrap, in which whole questions are drawn.
        level: Confidence level of all intervals, between 0 and 1.
        seed: Seed of the bootstrap.
        command: The command that makes the report.

    Raises:
        InputError: If no weights of the questions of the first ranking give the shares of the
            traffic, or no rating is about an answer. A later ranking for which there are no weights
            is skipped.
    """
    rubric = rubric or load_rubric()
    resampling = Resampling(rounds, level, seed)
    rankings: list[Ranking] = []
    skipped = list(answers.left_out)
    blocks = blocks_of(answers.table)
    matched: list[Matched] = []
    if human:
        matched = match_blocks(answers.table, blocks, human)
        skipped += unused(human, matched)
    panels = [block.conditions.judges for block in blocks]
    facts = read_judge_facts(answers, panels, resampling, skipped)
    runs = dict(zip(answers.table["log"].unique(), answers.runs, strict=False))
    languages: dict[str, str] = {}
    for run in answers.runs:
        languages |= run.languages
    for place, block in enumerate(blocks):
        rated = (human, matched[place]) if human else None
        try:
            logs = set(block.table["log"])
            twins = read_largest_twins(answers, block.conditions.judges, logs, skipped)
            ranking = _ranking(
                block, rubric, languages, traffic, countries, resampling, rated, control, twins
            )
            checks = judge_checks(
                block.conditions, block.table, rated, facts, resampling, runs, twins
            )
            rankings.append(replace(ranking, judge_checks=checks))
        except InputError as error:
            if not rankings:
                raise
            models = ", ".join(block.models)
            skipped.append(f"The ranking of {models} was left out: {error.message}.")
    return Leaderboard(tuple(rankings), answers.runs, tuple(skipped), resampling, command)


def _ranking(
    block: BlockAnswers,
    rubric: Rubric,
    languages: Mapping[str, str],
    mix: TrafficMix | None,
    countries: int | None,
    resampling: Resampling,
    rated: tuple[HumanRatings, Matched] | None,
    control: str | None,
    twins: Twins | None,
) -> Ranking:
    every = score_table(block.table, block.models)
    scores = order_models(with_shares(every, mix), mix)
    table = scores.table
    without_share = len(every.facts) - len(table.facts)
    names = table.models
    columns = columns_of(table.facts, rubric, countries)
    tested = [ALL, *columns.groups, *columns.languages]
    if len(columns.languages) > 1:
        tested += columns.cells
    compared = compare_table(scores, columns.questions, tested, resampling, together=False)
    answers = block.table[block.table["question"].isin(table.facts.index)]
    judges = block.conditions.judges
    by_model = dict(iter(answers.groupby("model", sort=False)))
    ratios: Any = length_ratios(scores, answers).to_dict("index")
    models: list[dict[str, Any]] = []
    length_bins = []
    row: Any
    for name, row in zip(names, compared.models.to_dict("records"), strict=True):
        answers_of_model = by_model[name]
        facts = _facts(answers_of_model, [name, *judges], resampling)
        lacking = _without_judges(answers_of_model, judges)
        models.append({**row, **facts, **lacking, **ratios[name]})
        length_bins.append(_length_bins(answers_of_model).assign(model=name))
    criteria = tuple(in_order(table.criteria, rubric.criteria))
    by_people = people_slope(answers, *rated) if rated else None
    paid = by_people if twins is None else twins.slope
    common_questions = table.facts.index[scores.common]
    common = answers[answers["question"].isin(common_questions)]
    corrected = None
    if rated is not None:
        corrected = correct_means(scores, columns, *rated, compared, resampling)
    regression = None
    if control:
        regression = length_regression(scores, answers, compared.means[ALL], resampling)
    return Ranking(
        **_fields_of(compared) | {"models": _object_frame(models, names)},
        conditions=block.conditions,
        differs_from_first=block.differs_from_first,
        lengths=pd.concat(length_bins, ignore_index=True),
        columns=columns,
        criteria=criteria,
        titles=_titles(columns, table.facts, criteria, rubric, languages),
        traffic=_traffic(mix, scores.common_weights),
        noise=noise_of(common, names[: scores.ranked], resampling.level),
        answers=answers,
        unlike=block.unlike,
        about_answers=_about_answers(answers, table, judges, without_share),
        corrected=corrected,
        without_intents=without_intents(scores, columns, compared, resampling),
        twins=twins,
        people_slope=by_people,
        leads_by_length=length_leads(scores, answers, resampling.level, None if mix else paid),
        regression=regression,
    )


def _traffic(mix: TrafficMix | None, weights: Weights) -> Traffic | None:
    if mix is None:
        return None
    return Traffic(mix.source, mix.shares, effective_number(weights.values))


def _fields_of(compared: ComparedModels) -> dict[str, Any]:
    return {field.name: getattr(compared, field.name) for field in fields(compared)}


def _object_frame(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> pd.DataFrame:
    """One row per model whose numbers keep their types.

    Counts of outcomes that do not occur are 0.
    """
    columns = list(dict.fromkeys(chain.from_iterable(rows)))
    values = [[row.get(key, 0) for key in columns] for row in rows]
    return pd.DataFrame(values, pd.Index(names), columns, dtype=object)


# --- facts of models ---


def _facts(answers: pd.DataFrame, names: Sequence[str], resampling: Resampling) -> dict[str, Any]:
    """Facts of a model by its answers to the questions of the ranking, epochs included; unknown
    numbers are NaN.
    """
    scored = answers.dropna(subset=FINAL)
    judged = []
    for final, earlier in zip(scored[FINAL], scored["earlier_finals"], strict=True):
        judged.append([final, *earlier])
    epochs = 0
    if len(answers):
        epochs = int(answers.groupby("question").size().max())
    self_judged = math.nan
    if len(scored):
        self_judged = float(scored["self_judged"].mean())
    outcomes = _counts(answers["outcome"])
    logs = dict.fromkeys(map(short_name, answers["log"].unique()))
    return {
        "simulated": any(name.startswith(SIMULATED) for name in names),
        "questions": int(scored["question"].nunique()),
        "answers": len(answers),
        "epochs": epochs,
        "unscored": len(answers) - len(scored),
        "empty": int(answers["outcome"].isin(NO_RESPONSE).sum()),  # have the lowest score
        "errors": outcomes.get(ERROR, 0),
        "cut_off": int(answers["cut_off"].sum()),
        "self_judged": self_judged,
        "judge_alpha": _judge_alpha(scored),
        "epoch_deviation": _epoch_deviation(scored),
        "judge_deviation": pooled_deviation(judged),
        "median_length": float(answers["answer_length"].median()),
        "length_correlation": _length_correlation(answers, resampling),
        **{name: _sum(answers[name]) for name in _USAGE},
        "log": ", ".join(logs),
        **{f"outcome/{name}": count for name, count in outcomes.items()},
    }


def _epoch_deviation(scored: pd.DataFrame) -> float:
    """Standard deviation of final scores between epochs of a question; NaN without several."""
    finals = [list(given) for _, given in scored.groupby("question")[FINAL]]
    if not any(len(given) > 1 for given in finals):
        return math.nan
    return pooled_deviation(finals)


def _without_judges(answers: pd.DataFrame, judges: Sequence[str]) -> dict[str, float]:
    """Share of a model's answers that each judge of a panel gave no score, for the judges of which
    there are any.

    An answer that no judge was asked about lacks no score.
    """
    if len(judges) < 2:
        return {}
    finals = pd.DataFrame(
        answers["judge_finals"].tolist(), columns=list(judges), index=answers.index
    )
    was_asked = ~answers["outcome"].isin(NO_RESPONSE).to_numpy()
    lacking = finals.isna() & was_asked[:, None]
    shares = lacking.mean()
    return {f"{WITHOUT}{judge}": float(shares[judge]) for judge in judges if shares[judge] > 0}


def _judge_alpha(scored: pd.DataFrame) -> float:
    judge_finals = list(scored["judge_finals"])
    judges = dict.fromkeys(chain.from_iterable(judge_finals))
    if len(judges) < 2:
        return math.nan
    ratings = []
    for judge in judges:
        ratings.append([finals.get(judge, math.nan) for finals in judge_finals])
    return interval_alpha(ratings)


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


def _length_bins(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers from the shortest to the longest in up to ten equal parts."""
    known = answers[["answer_length", FINAL]].dropna()
    by_length = known.sort_values("answer_length", kind="stable").to_numpy()
    bins = min(_BINS, len(by_length))
    rows = []
    for part in np.array_split(by_length, bins) if bins else ():
        length = float(np.median(part[:, 0]))
        score = float(part[:, 1].mean())
        rows.append((length, score, len(part)))
    return pd.DataFrame(rows, columns=["length", "score", "answers"])


def _sum(values: "pd.Series[float]") -> float:
    """Sum in which the mean of the known numbers stands for the others."""
    known = values.dropna()
    if not len(known):
        return math.nan
    return float(known.mean() * len(values))


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
        silent_judges=_silent_judges(answers, judges),
    )


def _counts(values: "pd.Series[str]") -> dict[str, int]:
    """How often each value occurs, the most frequent first."""
    return {str(value): int(count) for value, count in values.value_counts().items()}


def _silent_judges(answers: pd.DataFrame, judges: Sequence[str]) -> tuple[str, ...]:
    speaking = set()
    for finals in answers["judge_finals"]:
        speaking |= {judge for judge, final in finals.items() if not math.isnan(final)}
    if not speaking:
        return ()
    return tuple(judge for judge in judges if judge not in speaking)


def _titles(
    columns: Columns,
    facts: pd.DataFrame,
    criteria: Iterable[str],
    rubric: Rubric,
    known: Mapping[str, str],
) -> dict[str, str]:
    """Id of a part, intent, language or criterion -> its English name, or the id with blanks for
    underlines.

    Languages that the rubric lacks have their names in `known`, which the logs give by code.
    """

    def named(name: str, texts: Any) -> str:
        if "en" in texts:
            return str(texts["en"].name)
        return name.replace("_", " ").capitalize()

    titles = {group: group for group in columns.groups}
    intents = {}
    for name in facts["intent"]:
        intent = rubric.intents.get(name)
        intents[name] = named(name, intent.text if intent else {})
    titles |= intents
    for part in columns.parts:
        group, _, name = part.rpartition(": ")
        titles[part] = f"{group}: {intents[name]}"
    languages = dict(known)
    for code, language in rubric.languages.items():
        languages[code] = language.name
    languages |= _LANGUAGES
    for code in columns.languages:
        titles[code] = languages.get(code, code)
    for name in criteria:
        titles[CRITERION + name] = named(name, rubric.criteria.get(name, {}))
    return titles


# --- all means ---


def means_frame(ranking: Ranking, place: int) -> pd.DataFrame:
    """Every mean, one row per model and column; ranks and bounds in the rows of all questions."""
    columns = ranking.columns
    criteria = [CRITERION + name for name in ranking.criteria]
    kinds = {
        "all": (ALL,),
        "intent": columns.groups,
        "part": columns.parts,
        "language": columns.languages,
        "intent and language": columns.cells,
        "country": columns.countries,
        "criterion": criteria,
    }
    over_all = [
        "rank_from",
        "rank_to",
        "unscored_share",
        "mean_scored",
        "mean_lowest",
        "mean_highest",
    ]
    facts = ranking.models[over_all].to_dict("index")
    beside: dict[tuple[str, str], str] = {}
    for key in ranking.comparisons:
        best = ranking.best_in[key]
        beside[key, best.model] = "best"
        beside |= {(key, pair.second): pair.verdict for pair in best.pairs}
    nothing = dict.fromkeys(over_all)
    columns_of_kinds = []
    for kind, keys in kinds.items():
        columns_of_kinds += [(kind, key) for key in keys]
    rows: list[tuple[Any, ...]] = []
    for (number, name), (kind, key) in product(enumerate(ranking.names), columns_of_kinds):
        title = key.removeprefix(CRITERION)
        mean = ranking.means[key][number]
        verdict = beside.get((key, name), "")
        about = facts[name] if kind == "all" else nothing
        rows.append((place, name, kind, title, mean, verdict, *about.values()))
    names = ["block", "model", "kind", "column", "mean", "beside_best", *over_all]
    return pd.DataFrame(rows, columns=names, dtype=object)
