"""Writes docs/real_judges.md and its picture: what is promised about judges, on real verdicts.

    URS_INSPECT_DATA_DIR=DIR python -m benchmarks.real_judges [--draws 400] [--seed 1]
        [--processes 2] [--output docs/real_judges.md --picture docs/images/real_judges.png]

Every verdict and label is real and published; only draws are random. The tables are those of
`real_means.py`, `real_votes.py`, `real_panels.py` and `real_queue.py`, which name the data.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import altair
import pandas as pd
import vl_convert

from benchmarks.real_means import (
    LABELS,
    QUESTIONS,
    Found,
    Study,
    Verdicts,
    judges_by_agreement,
    means_table,
    read_triviaqa,
    try_judge,
    with_coin,
)
from benchmarks.real_panels import panels_table
from benchmarks.real_queue import RATED, queue_table
from benchmarks.real_votes import corrected_table, prior_table, read_vicuna80
from benchmarks.sample_efficiency import Workers
from urs_inspect.datasets._sources import SOURCES, fetch

SHOWN = ("GPT-4", "Mistral-7B")
"""Judges of the picture: the best one, and one in the middle."""
WAYS = ("people alone", "judge alone", "judge corrected by people")
COLOURS = ("#7f7f7f", "#d97a1e", "#2f7fc9")
PICTURED = (10, 20, 40, 70, 100, 150, 200)
"""Numbers of labels of the picture."""


def measure(
    given: Verdicts, judges: Sequence[str], labels: Sequence[int], seeds: range, workers: Workers
) -> list[Found]:
    """What draws show of each judge with each number of labels."""
    found = []
    for judge in judges:
        for number in labels:
            found.append(try_judge(Study(given, judge, number), seeds, workers))
            print(*means_table(found[-1:]), sep="\n", flush=True)
    return found


def draw_picture(found: Sequence[Found], path: Path) -> None:
    """Error by number of labels."""
    rows = []
    for one in found:
        for way, error in zip(("judge alone", "people alone", WAYS[2]), one.errors, strict=True):
            study = one.study
            rows.append((f"{study.judge} as the judge", study.labels, way, 100 * error))
    data = pd.DataFrame(rows, columns=["judge", "labels", "way", "error"])
    chart = (
        altair.Chart(data)
        .mark_line(point=True)
        .encode(
            x=altair.X("labels:Q", title="answers of each model that a person labelled"),
            y=altair.Y("error:Q", title="error of a mean, percentage points"),
            color=altair.Color(
                "way:N",
                scale=altair.Scale(domain=list(WAYS), range=list(COLOURS)),
                legend=altair.Legend(title=None, orient="top"),
            ),
        )
        .properties(width=300, height=220)
        .facet(column=altair.Column("judge:N", title=None, sort=list(data["judge"].unique())))
    )
    path.write_bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=2))


PAGE = """\
# Real judges beside people

What this package promises about judges, tried on published verdicts of real judges beside people's labels of the same answers. Every verdict and label is real; only the draws are random. The page is written by
`{command}`; [where the data are from](#data).

## Corrected means

Eight models answered 400 questions of TriviaQA; nine judges and a person said of each answer whether it is right. A draw takes {questions} questions with replacement; of so many `labels` of them, the same for all models, the person's verdicts are known. The truth is the share of a model's 400 answers that the person
calls right. Corrected means are those of `urs-inspect compare --human` and `report --human`.

![Error of a mean by number of labels](images/real_judges.png)

{means}

- `agrees`: share of the person's verdicts that the judge gives as well. `bias`: mean error of its own means. `error`: root mean square error of a mean over {draws} draws and eight models.
- `coverage`: share of 95% intervals of means, and of differences of two models, that hold the truth; uncertain by about 1 point. `no bounds`: intervals without an end. `width`: beside people alone.
- `saved`: share of the labels that the judge saves, 1 less the ratio of the mean squared errors.

{about_means}

## A judge as a prior

Kendall's tau between a ranking and that by all votes, after so many votes of people, the most useful pair first: by the votes alone (`none`), and with a judge as a prior (`urs-inspect rank --prior`). Mean of {runs} orders of the votes. Of "longest" the longer answer wins.

{prior}

{about_prior}

## Votes corrected by a judge

`urs-inspect rank --judge`: some comparisons have one person's vote, all a verdict. Error of a rating in points, mean of {runs} draws; `worth`: as many votes alone as one vote with this judge equals, by the command's own estimate.

{corrected}

{about_corrected}

## Panels

How many independent judges a panel is worth (`urs-inspect judges`), with the 95% interval over prompts; the share of right verdicts of its best judge and of its majority; and the best three judges of one half of the prompts, measured on the other half, beside the best single judge, chosen in the same way.

{panels}

{about_panels}

## Bias beside people's own

GPT-4 prefers the first place and its own answers more than people do, Bard the first place, Claude length; the others are not clearly apart ([tables, and simulations](appendix/judge_bias.md), made by `python benchmarks/judge_bias.py`).

## Which answers to label

What drawing some answers up to three times as often saves of the squared error of corrected means, {rated} labels of each model, {queue_draws} draws, ± the standard error. The truth is what the person says of all {questions} answers of a model. `urs-inspect annotate` draws where judges of a panel disagree.

{queue}

{about_queue}

## Data

| data | what | from |
|---|---|---|
| `real_judges/triviaqa` | 3,200 answers of eight models, verdicts of nine judges and a person | Thakur et al., "Judging the Judges", 2024 |
| `real_judges/vicuna80` | answers of five models to 80 questions, 7,040 votes of people on nine models, verdicts of five judges in both orders | Li, Patel and Du, "PRD", 2023 |
| `real_judges/guanaco_answers`, `_verdicts` | answers of four models more, GPT-4's verdicts on eight models in both orders | Dettmers et al., "QLoRA", 2023 |
| `real_judges/llmbar_verdicts` | verdicts of three judges with four prompts, both orders, on 419 pairs labelled by people | Zeng et al., "LLMBar", 2023 |

`urs-inspect data fetch NAME` gets each of them, by commit, and checks every file by its hash.
"""


ABOUT = {
    "about_means": """\
- With 40 labels or more, intervals of means and of differences hold the truth in 94% to 97% with every judge. With 20 they hold it in 94% to 99%, differences with a useless judge in 93%: the few errors of a strong judge may not be among so few labels, so intervals are wider there on purpose.
- With GPT-4 as the judge 40 labels are as precise as people alone with three times as many. A judge that is 20 points wrong in every mean saves a quarter of the labels, a useless one costs up to 4%.
- Corrected means come closer to the truth than the judge's own, except GPT-4's below 100 labels and those of the next best judge at 20. Without labels nobody would know which judge this is.""",
    "about_prior": """\
Every judge helps while votes are few: GPT-4 makes 15 votes on five models worth about 50, and 15 on eight close ones about 55. GPT-4 in one order only, whose own ranking has nothing to do with people's, costs next to nothing. That "longest" does as well says something about these votes: the longer answer has 72.0% and 75.4% of them.""",
    "about_corrected": """\
It gains little, since two people agree on only 63% of the comparisons that both decide, so that within a pair of models there is little to predict. It is for a claim that must not rest on the judge; where the judge may help, `--prior` gains more.""",
    "about_panels": """\
Many judges are worth few, and prompts of one judge hardly more than one. A majority was never clearly better than the best judge; where most judges are weak it is far worse.""",
    "about_queue": """\
A judge's own surprises are no reason to label an answer. Where a strong judge disagrees it pays to label more often, and where only weak judges disagree it costs.""",
}


def main() -> None:
    """Print the tables, and write the page and its picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--runs", type=int, default=150, help="draws of votes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    workers = Workers(options.processes)
    published = read_triviaqa(fetch(SOURCES["real_judges/triviaqa"]))
    given = with_coin(published, options.seed)
    seeds = range(options.seed * 100_000, options.seed * 100_000 + options.draws)
    queue_draws = options.draws // 2
    found = measure(given, judges_by_agreement(given), LABELS, seeds, workers)
    vicuna = read_vicuna80()
    tables = {
        "means": means_table(found),
        "prior": prior_table(vicuna, options.runs, options.seed, workers),
        "corrected": corrected_table(vicuna, options.runs, options.seed, workers),
        "panels": panels_table(published),
        "queue": queue_table(published, queue_draws, options.seed, workers),
    }
    texts = {}
    for name, lines in tables.items():
        texts[name] = "\n".join(lines)
        print(texts[name], flush=True)
    if options.picture:
        more = [number for number in PICTURED if number not in LABELS]
        shown = [one for one in found if one.study.judge in SHOWN]
        shown += measure(given, SHOWN, more, seeds, workers)
        draw_picture(shown, options.picture)
    if options.output:
        command = (
            f"python -m benchmarks.real_judges --draws {options.draws} --runs {options.runs}"
            f" --seed {options.seed}"
        )
        page = PAGE.format(
            command=command,
            questions=QUESTIONS,
            draws=options.draws,
            runs=options.runs,
            rated=RATED,
            queue_draws=queue_draws,
            **texts,
            **ABOUT,
        )
        options.output.write_text(page, encoding="utf-8")
    workers.close()


if __name__ == "__main__":
    main()
