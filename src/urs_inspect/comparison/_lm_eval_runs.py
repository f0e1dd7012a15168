"""Scores of one run in the samples that lm-eval saved."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from urs_inspect._util import InputError, counted
from urs_inspect.comparison._scored_runs import (
    Query,
    ScoredRun,
    TaskRuns,
    one_task,
    refuse_different,
    row_of,
    table_of,
    texts,
)
from urs_inspect.logs import _files as files
from urs_inspect.logs._files import first_few
from urs_inspect.logs._lm_eval_files import SAVED, saved_results, task_and_date
from urs_inspect.logs._scores import SIMULATED

_NO_METRICS = frozenset(
    [
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "doc_hash",
        "prompt_hash",
        "target_hash",
    ]
)
"""Keys of a sample that former versions of lm-eval wrote beside those of the metrics."""


def saved_files(names: Iterable[str]) -> list[Path]:
    """Files of samples at paths, as lm-eval names them."""
    listed: list[Path] = []
    for name in names:
        path = Path(files.local_path(name)).resolve()
        if path.is_dir():
            listed += sorted(path.rglob("samples_*.jsonl"))
        else:
            listed.append(path)
    return [file for file in dict.fromkeys(listed) if SAVED.search(file.name)]


def task_of_lm_eval(saved: Sequence[Path], task: str | None) -> str:
    """The task that is meant, among those of files."""
    return one_task(Counter(task_and_date(file)[0] for file in saved), task)


def runs_of_lm_eval(
    saved: Sequence[Path], query: Query, chosen: list[str], left_out: list[str]
) -> TaskRuns:
    """The runs of a task in files of samples of lm-eval; sentences as for `runs_of_inspect`."""
    task = task_of_lm_eval(saved, query.task)
    of_task = [file for file in saved if task_and_date(file)[0] == task]
    of_task.sort(key=lambda file: (task_and_date(file)[1], file))
    if others := len(saved) - len(of_task):
        left_out.append(
            f"{counted(others, 'file')} of samples of other tasks than {task} were left out."
        )
    skipped = list[str]()
    lines = _readable_lines(of_task, query, skipped)
    why = [*left_out, *first_few(skipped, "file")]
    what = _saved_metric(task, lines.values(), query, chosen, why)
    metric = what.rpartition(",")[0]
    lines = {file: _with_metric(frame, what) for file, frame in lines.items()}
    every = pd.concat(lines.values())
    known = set(every.loc[every["has_metric"], "sample"])
    samples = every["sample"].nunique()
    if samples > len(known):
        left_out.append(
            f"{samples - len(known):,} of {counted(samples, 'sample')} have no {what} in any file"
            " and were left out."
        )
    versions = list[tuple[str, str]]()
    upwards = set[bool | None]()
    runs = list[ScoredRun]()
    for file, frame in lines.items():
        if not frame["has_metric"].any():
            skipped.append(f"{file.name} was left out: it has no {what}.")
            continue
        results = saved_results(file)
        version = results.get("versions", {}).get(task)
        version_text = ""
        if version is not None:
            version_text = str(version)
        versions.append((version_text, str(file)))
        upwards_of_task = results.get("higher_is_better", {}).get(task) or {}
        upwards.add(upwards_of_task.get(metric))
        lines_of_known = frame[frame["sample"].isin(known)]
        runs.append(_saved_run(file, results, what, lines_of_known))
    left_out += first_few(skipped, "file")
    upwards.discard(None)
    return TaskRuns(
        task,
        what,
        runs,
        refuse_different("task versions", versions),
        higher_is_better=upwards.pop() if len(upwards) == 1 else None,
    )


def _readable_lines(
    saved: Iterable[Path], query: Query, skipped: list[str]
) -> dict[Path, pd.DataFrame]:
    """The lines of each file that can be read, as from `_saved_lines`."""
    lines = dict[Path, pd.DataFrame]()
    for file in saved:
        try:
            lines[file] = _saved_lines(file, query)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            skipped.append(
                f"{file.name} was left out: it cannot be read as samples of lm-eval"
                f" ({type(error).__name__}: {error})."
            )
    return lines


def _with_metric(lines: pd.DataFrame, what: str) -> pd.DataFrame:
    """The lines of the filter of a metric, with its values, and whether it is there at all."""
    metric, _, filter_ = what.rpartition(",")
    lines = lines[lines["filter"] == filter_]
    has_metric = [metric in metrics for metrics in lines["metrics"]]
    raw = lines["metrics"].str.get(metric)
    return lines.assign(raw=raw, has_metric=np.array(has_metric, bool))


def _saved_lines(file: Path, query: Query) -> pd.DataFrame:
    """The lines of a file as for `table_of`, with filter, metrics and keys of the document."""
    rows = []
    with file.open(encoding="utf-8") as opened:
        for line in map(json.loads, filter(str.strip, opened)):
            doc = {}
            if isinstance(line["doc"], dict):
                doc = line["doc"]
            text = line.get("doc_hash", "")
            row = row_of(line["doc_id"], None, doc, text, query)
            row["filter"] = line.get("filter", "none")
            others = [name for name in line if name not in _NO_METRICS]
            names = line.get("metrics", others)  # former versions name none
            row["metrics"] = {name: line[name] for name in names}
            row["keys"] = tuple(doc)
            rows.append(row)
    if not rows:
        raise ValueError("no samples")
    return pd.DataFrame(rows, dtype=object)


def _saved_metric(
    task: str,
    lines: Iterable[pd.DataFrame],
    query: Query,
    chosen: list[str],
    left_out: Sequence[str],
) -> str:
    """Metric with its filter."""
    wanted = query.scorer or query.value
    metrics = dict[str, str]()
    for frame in lines:
        for filter_, names in zip(frame["filter"], frame["metrics"], strict=True):
            metrics |= {f"{name},{filter_}": name for name in names}
    named = []
    for name, metric in metrics.items():
        if wanted in (None, name, metric):
            named.append(name)
    if wanted is None and len(named) > 1:
        chosen.append(f"The first metric of {task}: {named[0]}.")
    elif len(named) != 1:
        problem = (
            f"scorer: {'several' if named else 'no'} '{wanted or ''}' in samples of {task}; there"
            f" are: {'; '.join(metrics) or 'none'}"
        )
        raise InputError("\n".join([problem, *left_out]))
    return named[0]


def _saved_run(file: Path, results: Mapping[str, Any], what: str, lines: pd.DataFrame) -> ScoredRun:
    task, date = task_and_date(file)
    config = results.get("config", {})
    given = config.get("model_args") or {}
    if isinstance(given, str):
        pairs = [part.partition("=") for part in given.split(",")]
        given = {name: value for name, _, value in pairs}
    arguments = {
        "num_fewshot": results.get("n-shot", {}).get(task),
        "gen_kwargs": config.get("gen_kwargs"),
    }
    model = str(results.get("model_name") or file.parent.name)
    return ScoredRun(
        file=str(file),
        of=model,
        created=date,
        table=table_of(lines, what, str(file)),
        keys=frozenset[str]().union(*lines["keys"]),
        settings=texts(given),
        arguments=texts(arguments),
        simulated=model.startswith(SIMULATED),
    )
