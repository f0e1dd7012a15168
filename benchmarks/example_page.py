"""The example page: what published labels and votes of people say, without a model call.

Three questions: how often rules that read nothing agree with people's labels, how people's votes
rank seven chatbots with and without length, and how many of the votes that takes. Labelled pairs
are found through URS_INSPECT_DATA_DIR or fetched; the votes are the folder
`outputs/eval/chatbot_arena` of github.com/weiji-Feng/MAD-Eval, whose content must lie in
mad/chatbot_arena below URS_INSPECT_DATA_DIR. The page has numbers only, no text of a prompt or an
answer.

    python benchmarks/example_page.py docs/example [--runs 400] [--processes 2]
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import pandas as pd

from benchmarks.sample_efficiency import (
    MARKS,
    Method,
    Workers,
    all_votes,
    arena_folder,
    arena_run,
    load_arena,
)
from urs_inspect.adjusting._adjusted import ControlledRanking, rank_controlled
from urs_inspect.adjusting._adjustments import styles_of
from urs_inspect.adjusting._report import controlled_section
from urs_inspect.datasets import load_md_eval
from urs_inspect.datasets._benches import load_pairs
from urs_inspect.datasets._sources import SOURCES
from urs_inspect.logs._battles import read_counted_votes
from urs_inspect.reports._texts import number
from urs_inspect.reports.layout._page import render_page
from urs_inspect.reports.layout._tables import Report, ReportKind, Section, Table
from urs_inspect.reports.words._rankings import ranking_report
from urs_inspect.samer import load_taxonomy
from urs_inspect.stats import (
    Battles,
    Ranking,
    battles_of,
    fit_bradley_terry,
    mean_interval,
    rank,
)
from urs_inspect.stats._bootstrap import Floats, Integers, number_clusters
from urs_inspect.stats._measures import (
    TIE,
    Codes,
    Verdicts,
    baseline_verdicts,
    encode,
    longer_response,
    measure,
)

EXAMPLE = ReportKind(
    "urs-inspect example",
    1,
    "python benchmarks/example_page.py docs/example",
    "example",
    more=("index.html",),
)
# name of the data -> name on the page; whether its file says which response is the first
BENCHES = {
    "md_eval": ("MD-Eval", True),
    "autoj": ("Auto-J Eval", True),
    "hhh": ("HHH Alignment", False),
    "llmbar/Natural": ("LLMBar Natural", True),
    "llmbar/GPTInst": ("LLMBar GPTInst", True),
}
VOTES = "Chatbot Arena votes"
SHORTCUTS = {
    "longest": "longer answer",
    "shortest": "shorter answer",
    "first": "first answer",
    "random": "coin",
}
RULES = {"uniform": "in turn", "adaptive": "where worth most"}
SEEDS = 1000  # the first seed of Table 1 of docs/appendix/sample_efficiency.md
PERCENT = number(1, percent=True)


@cache
def arena() -> tuple[Battles, Floats]:
    """The votes, and how much longer the first response is than the second one."""
    folder = str(arena_folder())
    votes = read_counted_votes([folder])
    return battles_of(vote.battle for vote in votes), styles_of(
        [vote.responses for vote in votes], ["length"], [folder]
    )


def labelled() -> Iterator[tuple[str, bool, list[str], Codes, Floats, Integers]]:
    """Of each bench: name, whether the order is known, ids, labels, lengths (only the larger one
    counts), clusters.
    """
    taxonomy = load_taxonomy()
    for name, (bench, ordered) in BENCHES.items():
        data = (
            load_md_eval(taxonomy.dimension, tuple(taxonomy.scenarios))
            if name == "md_eval"
            else load_pairs(name)
        )
        lengths = np.array(
            [(len(case.response_a), len(case.response_b)) for case in data.cases], dtype=np.float64
        )
        clusters = number_clusters([case.prompt for case in data.cases])
        yield (
            bench,
            ordered,
            [case.id for case in data.cases],
            encode(c.label for c in data.cases),
            lengths,
            clusters,
        )
    battles, longer = arena()
    labels = encode({1.0: "a", 0.5: "tie", 0.0: "b"}[outcome] for outcome in battles.outcome)
    lengths = np.hstack([longer, np.zeros_like(longer)])
    yield (
        VOTES,
        False,
        [str(place) for place in range(len(battles))],
        labels,
        lengths,
        battles.clusters,
    )


def shortcuts(rounds: int = 2000) -> pd.DataFrame:
    """One row per bench: pairs, ties, and how often each rule names the response that the labels
    prefer.
    """
    rows = []
    for bench, ordered, ids, labels, lengths, clusters in labelled():
        row: dict[str, object] = {
            "bench": bench,
            "pairs": len(labels),
            "ties": int((labels == TIE).sum()),
        }
        first = np.zeros(len(labels), dtype=np.int8)
        longer = longer_response(*lengths.T)
        for kind, column in SHORTCUTS.items():
            given = baseline_verdicts(
                kind, lengths_a=lengths[:, 0], lengths_b=lengths[:, 1], first=first, ids=ids
            )
            measured = measure(
                Verdicts(labels, given, clusters, longer, first), rounds=rounds
            ).reported()
            row[column] = measured.accuracy if ordered or kind != "first" else None
        rows.append(row)
    return pd.DataFrame(rows)


def subsampled(runs: int, processes: int) -> pd.DataFrame:
    """One row per number of votes: Kendall's tau to the order of all votes, and the share of runs
    with that order.
    """
    votes = load_arena(arena_folder())
    battles = all_votes(votes)
    jobs = [(Method(rule), seed) for rule in RULES for seed in range(SEEDS, SEEDS + runs)]
    workers = Workers(processes)
    curves = workers(partial(arena_run, votes, fit_bradley_terry(battles), battles.players), jobs)
    workers.close()
    table: dict[str, object] = {"votes": list(MARKS)}
    taus = np.array(curves).reshape(len(RULES), runs, len(MARKS))
    for rule, found in zip(RULES.values(), taus, strict=True):
        table[f"tau, {rule}"] = [
            mean_interval(column.tolist(), scale=(-1, 1)) for column in found.T
        ]
    for rule, found in zip(RULES.values(), taus, strict=True):
        exact = (found > 1 - 1e-9).astype(np.float64)
        table[f"exact order, {rule}"] = [
            mean_interval(column.tolist(), scale=(0, 1)) for column in exact.T
        ]
    return pd.DataFrame(table)


def example(runs: int, processes: int) -> Report:
    """The report."""
    battles, longer = arena()
    ranking = rank(battles)
    controlled = rank_controlled(battles, longer, ["length"])
    ranked = ranking_report(ranking, adjusted=[controlled_section(controlled)])
    rules = shortcuts()
    replayed = subsampled(runs, processes)
    ratings, neighbours, equal_length, win_rates = ranked.sections
    sections = [
        Section("In short", _findings(rules, ranking, controlled, replayed, runs)),
        _shortcut_section(rules),
        Section(
            f"Seven chatbots by {ranking.battles:,} votes of people",
            (
                (
                    "The following four parts are what `urs-inspect rank"
                    " $URS_INSPECT_DATA_DIR/mad/chatbot_arena --control length` prints."
                ),
                (
                    "The votes are those of Chatbot Arena in 2023 that the MAD paper used; the"
                    " models are of that time."
                ),
            ),
        ),
        _part(replace(ratings, title="Ratings"), ranking=["Bradley-Terry"]),
        _part(neighbours, neighbours=["difference"]),
        _part(equal_length, equal_length=["change"], length=[]),
        replace(win_rates, level=3),
        _votes_section(replayed, runs),
        _data_section(),
    ]
    facts = {
        "simulated": False,
        "resampled": ["votes"],
        "runs": runs,
        "first_seed": SEEDS,
        "ranking": ranked.facts,
    }
    return Report(EXAMPLE, "Real labels and votes, without a model call", sections, facts)


def _findings(
    rules: pd.DataFrame,
    ranking: Ranking,
    controlled: ControlledRanking,
    replayed: pd.DataFrame,
    runs: int,
) -> list[str]:
    """What the numbers say, and what they rest on."""
    longer = dict(zip(rules["bench"], rules["longer answer"], strict=True))
    most = max(longer, key=lambda name: longer[name].value)
    least = min(longer, key=lambda name: longer[name].value)
    significant = sum(gap.verdict == "significantly different" for gap in ranking.differences)
    changes = dict(zip(controlled.places.players, controlled.places.extra, strict=True))
    moved = max(changes, key=lambda name: abs(changes[name].value))
    order = (
        "no model changes its rank"
        if controlled.places.players == ranking.players
        else "the order changes"
    )
    taus = {rule: [tau.value for tau in replayed[f"tau, {rule}"]] for rule in RULES.values()}
    in_turn, adaptive = taus.values()
    enough = next(votes for votes, tau in zip(MARKS, adaptive, strict=True) if tau >= in_turn[-1])
    return [
        (
            "A rule that reads no answer, 'the longer answer wins', agrees with the labels on"
            f" {PERCENT(longer[most].value)} of the pairs of {most} and on"
            f" {PERCENT(longer[least].value)} of those of {least}: a judge's accuracy says little"
            " without the rules' accuracy on the same pairs."
        ),
        (
            f"{ranking.battles:,} votes rank seven chatbots; {significant} of the"
            f" {len(ranking.differences)} differences between neighbours are significant. A"
            f" regression on length, which cannot tell taste from substance, moves {moved} most, by"
            f" {number(0, sign=True)(changes[moved].value)} points, and {order}."
        ),
        (
            f"{enough} votes, each given to the pair of models where it is worth most, come as"
            f" close to the order of all votes as {MARKS[-1]} votes given to the pairs in turn"
            f" (RESAMPLED: {runs} random halves of the real votes)."
        ),
        f"Nothing here is simulated and no model was called. Made by `{EXAMPLE.command}`.",
    ]


def _shortcut_section(rules: pd.DataFrame) -> Section:
    shares = sorted(estimate.value for estimate in rules["longer answer"])
    notes = [
        (
            f"'The longer answer wins' agrees with the labels on {PERCENT(shares[0])} of the pairs"
            f" of one set and on {PERCENT(shares[-1])} of those of another."
        ),
        (
            "How often each rule names the response that the labels prefer, over the pairs whose"
            " label is no tie; of two responses of equal length the length rules name neither,"
            " which counts as wrong. Brackets: 95% intervals over resampled prompts."
        ),
        (
            "The labels of MD-Eval are GPT-4o's, verified by three students; those of the other"
            " sets are as their authors publish them."
        ),
        (
            "The first answer is that of the file; a dash where the files do not say which answer"
            " came first. The coin is seeded and differs from 50% by chance alone."
        ),
        (
            "Vicuna Bench and MT-Bench, which the package reads as well, are rated by GPT-4 and are"
            " therefore not here."
        ),
    ]
    formats = {"pairs": number(0), "ties": number(0), **dict.fromkeys(SHORTCUTS.values(), PERCENT)}
    table = Table(
        rules, formats, "shortcuts", estimates=list(SHORTCUTS.values()), bars=["longer answer"]
    )
    return Section("Trivial rules against labels", notes, [table])


def _part(section: Section, **tables: Sequence[str]) -> Section:
    """A section of the ranking as a part; name of each table -> the columns that the page draws."""
    named = zip(section.tables, tables.items(), strict=True)
    return replace(
        section,
        level=3,
        tables=[replace(table, name=name, bars=bars) for table, (name, bars) in named],
    )


def _votes_section(replayed: pd.DataFrame, runs: int) -> Section:
    columns = [str(column) for column in replayed][1:]
    formats = {name: number(3) if "tau" in name else number(0, percent=True) for name in columns}
    at = replayed.iloc[MARKS.index(210)]
    in_turn, adaptive = (
        number(0, percent=True)(at[f"exact order, {rule}"].value) for rule in RULES.values()
    )
    notes = [
        (
            f"With 210 votes {adaptive} of the runs find the order of all votes if each vote goes"
            f" where it is worth most, and {in_turn} if pairs get votes in turn."
        ),
        (
            f"RESAMPLED: each of {runs} seeded runs draws a random half of the real votes, spends"
            " them by a rule and ranks the models by what it has seen. Brackets: 95% intervals of"
            " the mean over the runs, which share the votes; they are about the draws, not about"
            " other people."
        ),
        (
            "In turn: every pair of models gets a vote before any gets a second one. Where worth"
            " most: the task `mad` with `allocation=adaptive`. Tau: Kendall's tau to the order of"
            " all votes. Exact order: runs that find this order."
        ),
    ]
    table = Table(replayed, {"votes": number(0), **formats}, "votes", bars=columns[:2])
    return Section("How many votes it takes", notes, [table])


def _data_section() -> Section:
    rows = [(bench, name, SOURCES[name].licence) for name, (bench, _) in BENCHES.items()]
    table = pd.DataFrame(
        [*rows, (VOTES, "–", "none in their repository")], columns=["data", "name", "licence"]
    )
    notes = [
        (
            "Numbers about the data only, no text of a prompt or an answer. `urs-inspect data list`"
            " has the address and hash of each name. The votes are `outputs/eval/chatbot_arena` of"
            " github.com/weiji-Feng/MAD-Eval, to be put in `mad/chatbot_arena` below"
            " `URS_INSPECT_DATA_DIR`."
        ),
    ]
    return Section("Data", notes, [Table(table, name="data")])


def main() -> None:
    """Write the page, its tables and its JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    report = example(arguments.runs, arguments.processes)
    for file in report.write(arguments.directory, {"index.html": lambda: render_page(report)}):
        print(file)


if __name__ == "__main__":
    main()
