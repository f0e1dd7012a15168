"""Do variance components predict intervals of other designs, and does that of effective judges hold
the truth?

    URS_INSPECT_DATA_DIR=DIR python benchmarks/variance_split.py [--simulations 1000]

Simulated scores have known components; a study of 60 or 200 questions estimates them and predicts
the half-width of the 95% interval now, with twice the questions, one more epoch and one more judge.
`width`: the mean predicted half-width over the true one; `coverage`: the chance that a fresh mean
of that design lies within it of the truth. Real labels (GPT-4's, three for each answer of Vicuna
and MT-Bench; GPT-4, GPT-4o and SaMer as three judges on Vicuna) are split at random: components of
one half predict the interval of the other half, from all or fewer of its labels. Verdicts of
simulated judges with shared errors give the coverage of the effective number of judges.

Exits with 1 if a coverage is outside 93 to 97%.
"""

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from urs_inspect.reports.numbers._panels import panel_of
from urs_inspect.reports.words._panels import panel_section
from urs_inspect.stats._bootstrap import Floats
from urs_inspect.stats._panels import best_panel, effective_judges
from urs_inspect.stats._variance_components import (
    COMPONENTS,
    VarianceComponents,
    difference_components,
    variance_components,
)

TRUTHS = {
    "questions": (1.5, 0.1, 0.2, 0.6, 0.1, 0.2),
    "judges": (0.5, 0.4, 0.6, 0.3, 0.3, 0.3),
}
"""Components in the order of `COMPONENTS`, by what is largest."""
DESIGNS = ((60, 2, 3, 2), (200, 2, 2, 1), (60, 3, 1, 1), (200, 1, 3, 1), (60, 1, 1, 3))
"""Questions, epochs, judges and judgements."""
GOAL = (0.93, 0.97)


def draw(generator: np.random.Generator, truth: Any, design: Any, missing: float) -> pd.DataFrame:
    """Scores, a share of them missing at random."""
    questions, epochs, judges, _ = design
    sizes = [
        (questions, 1, 1, 1),
        (1, 1, judges, 1),
        (questions, 1, judges, 1),
        (questions, epochs, 1, 1),
    ]
    sizes += [(questions, epochs, judges, 1), design]
    score = sum(
        math.sqrt(part) * generator.standard_normal(size)
        for part, size in zip(truth, sizes, strict=True)
    )
    rows = judgements_of(np.asarray(score))
    return rows.loc[generator.random(len(rows)) >= missing]


def judgements_of(table: Floats) -> pd.DataFrame:
    """Scores by question, answer, judge and judgement, as rows."""
    question, answer, judge, _ = np.indices(table.shape).reshape(4, -1)
    return pd.DataFrame(
        {"question": question, "answer": answer, "judge": judge, "score": table.ravel()}
    )


def simulated(simulations: int) -> Iterator[tuple[str, str, float, float]]:
    """Rows of truth and design, the predicted design, width and coverage."""
    for (name, truth), design, missing in product(TRUTHS.items(), DESIGNS, (0.0, 0.15)):
        generator = np.random.default_rng([17, *design, int(100 * missing), len(name)])
        q, e, j, r = design
        true = VarianceComponents(q, e, j, dict(zip(COMPONENTS, truth, strict=True)))
        targets: dict[str, dict[str, float]] = {
            "now": {},
            "twice the questions": {"questions": 2 * q},
        }
        targets |= {"one more epoch": {"epochs": e + 1}} if e > 1 else {}
        targets |= {"one more judge": {"judges": j + 1}} if j > 1 else {}
        targets |= {"judged once more": {"judgements": 2}} if r > 1 else {}
        rows: dict[str, list[tuple[float, float]]] = {target: [] for target in targets}
        for _ in range(simulations):
            split = variance_components(draw(generator, truth, design, missing))
            for target, change in targets.items():
                asked = {"questions": q, "epochs": e, "judges": j} | change  # whatever is missing
                margin = split.margin(**asked)
                error = math.sqrt(sum(true.parts(**asked).values()))
                held = math.erf(
                    margin / error / math.sqrt(2)
                )  # chance that a fresh mean lies within
                rows[target].append((margin / true.margin(**asked), held))
        label = f"{name}; {q} x {e} x {j} x {r}" + (f", {missing:.0%} missing" if missing else "")
        for target, values in rows.items():
            width, coverage = np.mean(values, axis=0)
            yield label, target, float(width), float(coverage)


def labelled(data: Path) -> dict[str, Floats]:
    """Name -> scores by model, question and label, shape (4, 80, 3).

    The last one has a judge per label.
    """
    tables = {}
    for name in ("vicuna", "mt_bench"):
        rows = json.loads((data / "judge_bench" / f"{name}_eval.json").read_text(encoding="utf-8"))
        tables[name] = table_of(rows, lambda row: row["gpt4_score"])
    gpt, samer = (
        json.loads(
            (data / "judge_bench" / "vicuna_predictions" / f"{file}.json").read_text(
                encoding="utf-8"
            )
        )
        for file in ("gpt-4o", "SaMer")
    )
    first, second = (
        table_of(rows, lambda row: [row["ground_truth"][0], row["pred_score"]])
        for rows in (gpt, samer)
    )
    tables["vicuna, three judges"] = np.concatenate([first, 1 + 4 * second[:, :, 1:]], axis=2)
    return tables


def table_of(rows: list[dict[str, Any]], scores: Any) -> Floats:
    """Rows of a file as a table; rows without a number count as missing questions."""
    models = sorted({row["response_source"] for row in rows})
    questions = sorted({row["idx"] for row in rows})
    size = len(scores(rows[0]))
    table = np.full((len(models), len(questions), size), np.nan)
    for row in rows:
        given = [math.nan if value is None else float(value) for value in scores(row)]
        table[models.index(row["response_source"]), questions.index(row["idx"])] = given
    return table[:, ~np.isnan(table).any(axis=(0, 2))]


def real(data: Path, splits: int) -> Iterator[tuple[str, str, float, float, float, float]]:
    """Rows of data and what is predicted: ratio of predicted to measured half-width, all data and
    split by split.
    """
    for name, table in labelled(data).items():
        judges = name.endswith("judges")
        half = table.shape[1] // 2
        shape = (-1, 1, 3, 1) if judges else (-1, 1, 1, 3)
        means = [(m,) for m in range(len(table))]
        pairs = list(combinations(range(len(table)), 2))
        generator = np.random.default_rng(11)

        def split(
            scores: Floats, which: tuple[int, ...], shape: tuple[int, ...] = shape
        ) -> VarianceComponents:
            given = [judgements_of(scores[model].reshape(shape)) for model in which]
            return (
                variance_components(given[0]) if len(given) == 1 else difference_components(*given)
            )

        def predict(
            parts: VarianceComponents, labels: int, questions: int = half, judges: bool = judges
        ) -> float:
            return parts.margin(
                questions=questions, **{"judges" if judges else "judgements": labels}
            )

        predicted: dict[tuple[tuple[int, ...], int], list[float]] = {}
        measured: dict[tuple[tuple[int, ...], int], list[float]] = {}
        for _ in range(splits):
            order = generator.permutation(table.shape[1])
            there = table[:, order[half : 2 * half]]
            for which in (*means, *pairs):
                parts = split(table[:, order[:half]], which)
                scores = there[which[0]] - (there[which[1]] if len(which) > 1 else 0)
                for labels in (1, 2, 3):
                    chosen = [
                        scores[:, list(subset)].mean(axis=1)
                        for subset in combinations(range(3), labels)
                    ]
                    width = float(
                        stdtrit(half - 1, 0.975)
                        * math.sqrt(np.var(chosen, axis=1, ddof=1).mean() / half)
                    )
                    predicted.setdefault((which, labels), []).append(predict(parts, labels))
                    measured.setdefault((which, labels), []).append(width)
        kinds: dict[str, list[tuple[int, ...]]] = {"mean": list(means), "difference": list(pairs)}
        for (kind, models), labels in product(kinds.items(), (1, 2, 3)):
            widths = {which: measured[which, labels] for which in models}
            whole = [
                predict(split(table, which), labels) / float(np.mean(widths[which]))
                for which in models
            ]
            ratios = np.array(
                [np.divide(predicted[which, labels], widths[which]) for which in models]
            )
            worst = max(whole, key=lambda ratio: abs(ratio - 1))
            within = float((np.abs(ratios - 1) <= 0.1).mean())
            yield (
                name,
                f"{kind}, {labels} of 3",
                float(np.mean(whole)),
                worst,
                float(ratios.mean()),
                within,
            )


def errors(
    generator: np.random.Generator, judges: int, prompts: int, shared: float, of_prompt: float
) -> Any:
    """Wrong verdicts on one to three pairs per prompt, and their prompts.

    Shares of a latent variable are common.
    """
    prompt = np.repeat(np.arange(prompts), generator.integers(1, 4, prompts))
    items = len(prompt)
    common = math.sqrt(1 - of_prompt) * generator.standard_normal(items)
    common += math.sqrt(of_prompt) * generator.standard_normal(prompts)[prompt]
    latent = math.sqrt(shared) * common + math.sqrt(1 - shared) * generator.standard_normal(
        (judges, items)
    )
    cuts = np.linspace(0.4, 1.0, judges)[:, None]  # error rates of 34 to 16%
    return (latent > cuts).astype(np.float64), prompt


def panels(simulations: int) -> Iterator[tuple[str, float, float, float]]:
    """Rows of a setting: true effective number, mean estimate and coverage."""
    settings = (
        (3, 100, 0.5),
        (5, 60, 0.3),
        (5, 350, 0.6),
        (9, 350, 0.8),
        (9, 100, 0.1),
        (5, 350, 0.0),
    )
    for judges, prompts, shared in settings:
        generator = np.random.default_rng([33, judges, prompts, int(100 * shared)])
        big, _ = errors(generator, judges, 400_000, shared, 0.3)
        correlation = np.corrcoef(big)[np.triu_indices(judges, 1)].mean() if shared else 0.0
        truth = judges / (1 + (judges - 1) * correlation)
        votes = [
            effective_judges(*errors(generator, judges, prompts, shared, 0.3)).votes
            for _ in range(simulations)
        ]
        held = [vote.low <= truth + 1e-9 and truth - 1e-9 <= vote.high for vote in votes]
        label = f"{judges} judges, {prompts} prompts, latent share {shared}"
        yield (
            label,
            float(truth),
            float(np.mean([vote.value for vote in votes])),
            float(np.mean(held)),
        )


def chosen_panels(simulations: int) -> Iterator[tuple[str, float, float, float]]:
    """Rows of a setting: score on the half that chose, held-out score, and true score of the panel
    chosen on all.
    """
    for judges, prompts in ((5, 60), (9, 100), (9, 350)):
        generator = np.random.default_rng([5, judges, prompts])
        big, _ = errors(generator, judges, 200_000, 0.4, 0.3)
        rows = []
        for _ in range(simulations):
            wrong, prompt = errors(generator, judges, prompts, 0.4, 0.3)
            best = best_panel(1 - wrong, None, prompt, splits=50)
            rows.append(
                (
                    best.apparent,
                    best.held_out,
                    float((big[list(best.panel)].mean(axis=0) < 0.5).mean()),
                )
            )
        apparent, held, true = map(float, np.mean(rows, axis=0))
        yield f"{judges} judges, {prompts} prompts", apparent, held, true


def real_panels(data: Path) -> Iterator[tuple[str, str]]:
    """Rows of labelled data and what a panel of baselines (features of the answers) or of stored
    judges is worth.
    """
    pairs = json.loads((data / "md_eval" / "test.json").read_text(encoding="utf-8"))
    pairs = [pair for pair in pairs if pair["winner"] in ("model_a", "model_b")]
    features: dict[str, Callable[[str], float]] = {
        "longer": len,
        "more lines": lambda text: text.count("\n"),
        "more list items": lambda text: len(re.findall(r"(?m)^\s*(?:[-*]|\d+[.)])\s", text)),
        "more bold": lambda text: text.count("**"),
        "longer words": lambda text: float(np.mean([len(word) for word in text.split()] or [0])),
        "more different words": lambda text: len(set(text.lower().split())),
    }

    def right(pair: dict[str, str], feature: Callable[[str], float]) -> bool:
        a = feature(pair["response_a"])
        b = feature(pair["response_b"])
        return a > b if pair["winner"] == "model_a" else b > a

    verdicts = pd.DataFrame(
        {name: [float(right(p, feature)) for p in pairs] for name, feature in features.items()}
    )
    prompts = [pair["prompt"] for pair in pairs]
    yield (
        "MD-Eval, features of the answers",
        " ".join(panel_section(panel_of(verdicts, None, prompts)).notes),
    )
    rows = json.loads(
        (data / "judge_bench" / "vicuna_predictions" / "SaMer.json").read_text(encoding="utf-8")
    )
    gpt = json.loads(
        (data / "judge_bench" / "vicuna_predictions" / "gpt-4o.json").read_text(encoding="utf-8")
    )
    tables = table_of(
        rows,
        lambda row: [
            float(np.mean(row["ground_truth"])),
            row["pred_score"],
            float(np.log(1 + len(row["response"]))),
        ],
    )
    rated = np.concatenate(
        [tables, table_of(gpt, lambda row: [row["pred_score"]])], axis=2
    ).reshape(-1, 4)
    questions = np.tile(np.arange(tables.shape[1]), len(tables))
    section = panel_section(
        panel_of(
            pd.DataFrame(rated[:, 1:], columns=["SaMer", "length", "GPT-4o"]),
            rated[:, 0],
            questions,
        )
    )
    yield "Vicuna, SaMer, length and GPT-4o", " ".join(section.notes)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=1000)
    count = parser.parse_args().simulations
    data = os.environ.get("URS_INSPECT_DATA_DIR")
    off = []
    slack = 1.96 * math.sqrt(0.05 * 0.95 / count)
    print("| simulated judges: panel | true | mean estimate | coverage |\n|---|---:|---:|---:|")
    for label, truth, mean, coverage in panels(count):
        print(f"| {label} | {truth:.2f} | {mean:.2f} | {coverage:.1%} |", flush=True)
        # At independence the estimate cannot be above the truth, so that one tail is empty.
        off += (
            [label]
            if not GOAL[0] - slack <= coverage <= (1 if "0.0" in label else GOAL[1] + slack)
            else []
        )
    if data:
        for name, text in real_panels(Path(data)):
            print(f"\n{name}: {text}")
        print(
            "\n"
            "| real labels | predicted | all data: mean | worst | half by half: mean |"
            " within 10% |"
        )
        print("|---|---|---:|---:|---:|---:|")
        for name, what, whole, worst, mean, within in real(Path(data), max(100, count // 5)):
            print(
                f"| {name} | {what} | {whole:.3f} | {worst:.3f} | {mean:.3f} | {within:.0%} |",
                flush=True,
            )
    print(
        "\n"
        "| components; questions x epochs x judges x judgements | predicted | width |"
        " coverage |\n"
        "|---|---|---:|---:|"
    )
    for label, target, width, coverage in simulated(count):
        print(f"| {label} | {target} | {width:.3f} | {coverage:.1%} |", flush=True)
        off += [f"{label}, {target}"] if not GOAL[0] - slack <= coverage <= GOAL[1] + slack else []
    print(
        "\n"
        "| simulated judges: best majority of 3 | on the half that chose | held out |"
        " true |\n"
        "|---|---:|---:|---:|"
    )
    for label, apparent, held, true in chosen_panels(max(50, count // 5)):
        print(f"| {label} | {apparent:.1%} | {held:.1%} | {true:.1%} |", flush=True)
    print("\nOutside the goal: " + ("; ".join(off) or "none"))
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
