"""Golden master: what every task scores and every command writes, with simulated models and fixed
seeds.

A change of the code that is meant to change no result is checked by recording before and after:

    python -m tests.golden_master record before.json
    python -m tests.golden_master record after.json
    python -m tests.golden_master compare before.json after.json

`compare` lists what differs and exits with 1. The published data are found through
`URS_INSPECT_DATA_DIR`. Recorded are, of each log, the values and metadata keys of all scores, the
metrics, and the hashes of prompts; of each command, the CSV files that it writes, its JSON, and the
numbers that it prints. Every float is rounded to six digits. Times, paths, names of logs, ids of
runs and the order of keys are not recorded; the seconds that `table` prints are.
"""

import csv
import io
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SIM = "urs_simulation/"
JUDGE = SIM + "judge"
PANEL = [JUDGE, SIM + "quality-8-lenient-0.5"]
MODELS = [SIM + name for name in ("strong", "weak", "quality-7.2", "quality-5")]
DIGITS = 6
_NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?%?")
_LOG_NAME = re.compile(r"\d{4}-\d\d-\d\dT[\d-]+_[\w-]+?_\w{22}(?:\.eval)?")
_VOLATILE = re.compile(
    r"(time|seconds|date|path|location|log|command|file|sha256_of_log|version|run_id|created)",
    re.IGNORECASE,
)


def main(arguments: list[str]) -> int:
    """Record or compare."""
    match arguments:
        case ["record", target]:
            found = record()
            Path(target).write_text(
                json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False), encoding="utf-8"
            )
            sys.stdout.write(
                f"{sum(1 for _ in leaves(found)):,} values of {len(found)} parts are in {target}\n"
            )
            return 0
        case ["compare", before, after]:
            one, other = (
                json.loads(Path(path).read_text(encoding="utf-8")) for path in (before, after)
            )
            differing = list(differences(one, other))
            sys.stdout.writelines(f"{line}\n" for line in differing[:200])
            sys.stdout.write(f"{len(differing)} differences\n")
            return int(bool(differing))
        case _:
            sys.stderr.write((__doc__ or "").split("\n\n")[1] + "\n")
            return 2


def record() -> dict[str, Any]:
    """Run everything in a directory of its own, and describe what came out."""
    os.environ["COLUMNS"] = "120"
    os.environ.setdefault("INSPECT_DISPLAY", "none")
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            return {**_tasks(), **_commands()}
        finally:
            os.chdir(before)


# --- tasks ---


def _task(name: str) -> Any:
    """A task of a satellite."""
    from urs_inspect._satellites import at, satellites

    for satellite in satellites():
        if name in satellite.tasks:
            return at(satellite.tasks[name])
    raise KeyError(name)


def _tasks() -> dict[str, Any]:
    from urs_inspect import tasks

    found: dict[str, Any] = {}

    def run(name: str, task: Any, folder: str = "", model: Any = "none", **options: Any) -> str:
        import inspect_ai

        logs = inspect_ai.eval(
            task,
            model=model,
            log_dir=f"logs/{folder or name}",
            log_format="eval",
            display="none",
            **options,
        )
        for log in logs:
            assert log.status == "success", (name, log.error)
            found[f"log {name} {log.eval.model}"] = describe_log(log.location)
        return str(logs[0].location)

    judge = {"grader": JUDGE}
    for model in MODELS:
        run("urs", tasks.urs(dataset="sample"), model=model, model_roles=judge)
    run(
        "urs panel",
        tasks.urs(dataset="sample"),
        model=MODELS[0],
        model_roles={"grader": PANEL},
        epochs=2,
    )
    run("urs self", tasks.urs(dataset="sample", language="en"), model=MODELS[1])
    run("urs real", tasks.urs(), model=MODELS[:3], model_roles=judge, limit=40)
    run("probe", tasks.urs_probe(), model_roles=judge)
    for place, model in enumerate(MODELS[:2]):
        run("references", tasks.urs_references(dataset="sample"), f"references{place}", model)
        written = ("references", f"logs/references{place}", "-o", f"refs{place}.jsonl")
        found[f"command references{place}"] = command(*written)
    run(
        "crossval",
        tasks.urs_crossval(
            answers="logs/urs",
            references="refs0.jsonl,refs1.jsonl",
            evaluators=PANEL,
            dataset="sample",
            cases=20,
        ),
        model_roles={"grader": PANEL},
    )
    for model in MODELS[:2]:
        run("addition", _task("urs_addition")(lengths="2-6", per_length=4), model=model)
    _write_pages()
    run(
        "search",
        _task("urs_assistants")(
            {"kind": "search", "search": "folder:pages"}, dataset="sample", cases=4
        ),
        folder="assistants",
        model_roles=judge,
    )
    run(
        "model beside",
        _task("urs_assistants")(dataset="sample", cases=4),
        "assistants",
        MODELS[0],
        model_roles=judge,
    )
    _write_survey()
    found["command cases import"] = command(
        "cases", "import", "survey.csv", "-o", "cases.jsonl", "--report", "out.csv"
    )
    run("case review", _task("urs_case_review")(dataset="cases.jsonl"), model_roles=judge)
    run(
        "md_eval", tasks.md_eval(orders="both"), folder="judges", model=[JUDGE, MODELS[1]], limit=30
    )
    run(
        "md_eval one by one",
        tasks.md_eval(protocol="per_dimension"),
        folder="judges",
        model=JUDGE,
        limit=6,
    )
    run("md_eval longest", tasks.md_eval(judge="baseline/longest"), folder="judges", limit=30)
    run(
        "pairwise",
        tasks.judge_pairwise("llmbar/Natural"),
        folder="judges",
        model=[JUDGE, MODELS[1]],
        limit=30,
    )
    run("rating", tasks.judge_rating("vicuna"), folder="judges", model=[JUDGE, MODELS[1]], limit=40)
    contestants = {"contestant": MODELS[:3], "grader": JUDGE}
    run("mad", tasks.mad(pool="sample", k=4), model_roles=contestants)
    run(
        "mad adaptive",
        tasks.mad(responses="logs/urs", allocation={"rule": "adaptive", "budget": 16}),
        model_roles=judge,
    )
    run("mad logs", tasks.mad(responses="logs/urs", k=3), model_roles=judge)
    run("mad people", tasks.mad(responses="logs/urs", k=2, judge="human"))
    _write_seeds()
    run(
        "evolve",
        _task("evolve")(
            seeds="seeds.jsonl", scenario="understanding", rounds=2, output="pool.jsonl"
        ),
        model_roles={"generator": MODELS[:2]},
    )
    from tests.samer.checkpoints import tiny_checkpoint

    tiny_checkpoint(Path("samer"), max_positions=8192)
    samer = {"model": "samer", "engine": "transformers"}
    run(
        "urs samer",
        tasks.urs(dataset="sample", scorer="samer", samer=samer),
        model=MODELS[0],
        limit=8,
    )
    run("md_eval samer", tasks.md_eval(judge="samer", samer=samer), limit=4)
    return found


def describe_log(location: str) -> dict[str, Any]:
    """Scores, metrics and prompts of a log, without what differs from run to run."""
    from inspect_ai.log import read_eval_log

    log = read_eval_log(location)
    values: dict[str, Any] = {}
    keys: dict[str, set[str]] = {}
    prompts: set[str] = set()
    for sample in log.samples or []:
        for name, score in (sample.scores or {}).items():
            values[f"{sample.id}/{sample.epoch}/{name}"] = plain(score.value)
            keys.setdefault(name, set()).update(score.metadata or {})
            prompts.update(_prompts(score.metadata or {}))
    metrics = {
        f"{scores.name} {scores.reducer or ''} {name}".replace("  ", " "): plain(metric.value)
        for scores in (log.results.scores if log.results else [])
        for name, metric in scores.metrics.items()
    }
    return {
        "values": values,
        "metadata keys": {name: sorted(found) for name, found in keys.items()},
        "log metadata keys": sorted(log.eval.metadata or {}),
        "metrics": metrics,
        "prompts": sorted(prompts),
    }


def _prompts(facts: Any) -> Iterable[str]:
    """Hashes of prompts, wherever a score's metadata has them."""
    if isinstance(facts, dict):
        for key, value in facts.items():
            if key.startswith("prompt") and isinstance(value, str):
                yield f"{key} {value}"
            else:
                yield from _prompts(value)
    elif isinstance(facts, list):
        for value in facts:
            yield from _prompts(value)


# --- commands ---


def _commands() -> dict[str, Any]:
    _write_people()
    reports: dict[str, tuple[str, ...]] = {
        "table": ("table", "logs/urs", "logs/urs panel"),
        "report": ("report", "logs/urs", "-o", "out/report"),
        "report traffic": (
            "report",
            "logs/urs",
            "-o",
            "out/traffic",
            "--traffic",
            "mix.yaml",
        ),
        "judges": ("judges", "logs/judges"),
        "crossval": ("crossval", "logs/crossval", "-o", "out/crossval"),
        "agreement": (
            *(
                "agreement",
                "logs/urs",
                "--human",
                "ratings.csv",
                "--satisfaction",
                "satisfaction.csv",
            ),
            *("--votes", "votes.jsonl", "-o", "out/agreement"),
        ),
        "agreement json": (
            "agreement",
            "logs/urs",
            "--human",
            "ratings.csv",
            "--json",
        ),
        "assistants": ("paper", "assistants", "logs/assistants", "-o", "out/assistants"),
        "addition": ("paper", "addition", "logs/addition", "-o", "out/addition"),
        "rank log": ("rank", "logs/mad", "--json"),
        "rank votes": ("rank", "votes.jsonl", "--json"),
        "estimate": (
            *(
                "estimate",
                "urs",
                "--model",
                MODELS[0],
                "--model-role",
                f"grader={JUDGE}",
                "-T",
                "dataset=sample",
            ),
            "--json",
        ),
        "estimate measured": (
            *(
                "estimate",
                "urs",
                "--model",
                MODELS[0],
                "--model-role",
                f"grader={JUDGE}",
                "-T",
                "dataset=sample",
            ),
            *("--from", "logs/urs", "--json"),
        ),
        "case review": (
            "cases",
            "review",
            str(next(Path("logs/case review").glob("*.eval"))),
            "-o",
            "kept.jsonl",
            "--report",
            "faults.csv",
        ),
        "samer check": ("samer", "check", "samer"),
        "samer score": (
            "samer",
            "score",
            "rows.jsonl",
            "scored.jsonl",
            "--model",
            "samer",
            "-S",
            "engine=transformers",
        ),
        "samer weights": ("samer", "weights", "logs/urs samer"),
    }
    found = {f"command {name}": command(*arguments) for name, arguments in reports.items()}
    for file in sorted([*Path("out").rglob("*.csv"), Path("faults.csv"), Path("out.csv")]):
        found[f"file {file}"] = [[plain(_parsed(cell)) for cell in row] for row in _csv(file)]
    for name in ("cases.jsonl", "kept.jsonl", "refs0.jsonl", "pool.jsonl", "scored.jsonl"):
        lines = Path(name).read_text(encoding="utf-8").splitlines()
        found[f"file {name}"] = [plain(json.loads(line)) for line in lines]
    return found


def command(*arguments: str) -> Any:
    """What a command prints: its JSON, or else all numbers in it, in order."""
    from click.testing import CliRunner

    from urs_inspect.cli import main as urs_inspect

    result = CliRunner().invoke(urs_inspect, list(arguments))
    assert result.exit_code == 0, (arguments, result.output, result.exception)
    if "--json" in arguments:
        return plain(json.loads(result.output[result.output.index("{") :]))
    lines = [_LOG_NAME.sub("LOG", line) for line in result.output.splitlines()]
    return [number for line in lines for number in _NUMBER.findall(line)]


# --- material ---


def _write_pages() -> None:
    Path("pages").mkdir()
    Path("pages/all.txt").write_text(
        "the of is in a what why how who when where 什么 多少 怎么 为什么", encoding="utf-8"
    )


def _write_survey() -> None:
    rows = [
        ("p1", "ChatGPT", "Question: What is bitcoin?\nAnswer: Money.", "Factual QA", "GB", "4"),
        ("p1", "ChatGPT", "what is bitcoin", "Factual QA", "GB", "4"),
        ("p2", "New Bing", "用户：你好\n助手：你好！\n用户：推荐一首歌", "休闲娱乐", "China", "5"),
        ("p3", "Claude", "Who is jane@example.org?", "Leisure", "US", "3"),
        ("p4", "Claude", "Which film is best for a rainy day?", "Leisure", "", "3"),
    ]
    with Path("survey.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [("user", "service", "conversation", "intent", "country", "satisfaction"), *rows]
        )


def _write_seeds() -> None:
    texts = (
        "Why does the sea rise and fall twice a day?",
        "Which process turns iron red in damp air?",
    )
    rows = [
        {"id": f"s{n}", "instruction": text, "answer": "Because."} for n, text in enumerate(texts)
    ]
    _write_lines("seeds.jsonl", rows)


def _write_people() -> None:
    """People who rate, vote and are satisfied by rules of arithmetic."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    samples = read_eval_log(list_eval_logs("logs/urs")[0].name).samples or []
    lines = ["id,model,rating,rater"]
    for number, sample in enumerate(samples[:20]):
        for place, model in enumerate(MODELS[:3]):
            lines += [
                f"{sample.id},{model},{1 + (3 * number + 2 * place + who) % 10},r{who}"
                for who in range(2)
            ]
    Path("ratings.csv").write_text("\n".join(lines), encoding="utf-8")
    intents = ("factual_qa", "leisure", "text_assistant", "ask_for_advice")
    satisfied = [f"{intent},{3 + place / 4},{20 + place}" for place, intent in enumerate(intents)]
    Path("satisfaction.csv").write_text(
        "\n".join(["intent,satisfaction,n", *satisfied]), encoding="utf-8"
    )
    pairs = [(a, b) for a in range(len(MODELS)) for b in range(a + 1, len(MODELS))]
    votes = [
        {
            "model_a": MODELS[a],
            "model_b": MODELS[b],
            "winner": "tie" if n % 5 == 0 else MODELS[a if n % 3 else b],
            "instruction": f"i{n}",
        }
        for n in range(30)
        for a, b in pairs
    ]
    _write_lines("votes.jsonl", votes)
    Path("mix.yaml").write_text("languages: {en: 0.8, zh: 0.2}\n", encoding="utf-8")
    rows = [
        {
            "id": f"r{n}",
            "query": f"What is {n} and {n + 1}?",
            "response": f"{n} is a number. " * (n + 1),
        }
        for n in range(6)
    ]
    _write_lines("rows.jsonl", rows)


def _write_lines(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )


# --- values ---


def plain(value: Any) -> Any:
    """A value as it is compared: floats rounded, what differs from run to run left out."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        if math.isnan(value):
            return "NaN"
        return int(value) if float(value).is_integer() else float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {
            str(key): plain(inner) for key, inner in value.items() if not _VOLATILE.search(str(key))
        }
    return [plain(inner) for inner in value]


def _parsed(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


def _csv(file: Path) -> list[list[str]]:
    """The rows of a file, without its columns of times and names of logs."""
    rows = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8-sig"))))
    heads = rows[0] if rows else []
    kept = [place for place, head in enumerate(heads) if not _VOLATILE.fullmatch(head)]
    return [
        [_LOG_NAME.sub("LOG", row[place]) for place in kept if place < len(row)] for row in rows
    ]


def leaves(value: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    """All single values with their paths."""
    if isinstance(value, (dict, list)) and value:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from leaves(inner, f"{path} > {key}" if path else str(key))
    else:
        yield path, value


def differences(before: Any, after: Any) -> Iterable[str]:
    """A line for each value that is new, gone or another."""
    one, other = dict(leaves(before)), dict(leaves(after))
    for path in [*one, *(path for path in other if path not in one)]:
        if path not in other:
            yield f"- {path}: {one[path]!r}"
        elif path not in one:
            yield f"+ {path}: {other[path]!r}"
        elif one[path] != other[path]:
            yield f"! {path}: {one[path]!r} -> {other[path]!r}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
