"""`urs` over many synthetic cases against a faulty server on the loopback, killed three times and
resumed.

    python -m benchmarks.soak [--cases 20000] [--resume eval-set|eval-retry] [--deadline 1500]

The server answers for the model and for the judge. By a hash of each request and its attempt it
refuses some (429, 500), answers some late or never, and cuts some connections. The judge's score is
a function of the case, so that a score that was lost, invented or given to another case is found.
The process of the harness is killed (SIGKILL) when a quarter, a half and three quarters of the
cases are judged, and continued: by the same `inspect eval-set`, or by `inspect eval-retry`, which
reads the whole log into memory. Its memory is read every second. Everything stops at the deadline.
Simulated: no model is called.
"""

import argparse
import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil  # type: ignore[import-untyped]
from tests.servers import LoopbackServer, Response, fails, says

FAULTS = {
    "429": 0.02,
    "500": 0.02,
    "cut before a reply": 0.01,
    "cut within a reply": 0.01,
    "slow": 0.02,
    "hung": 0.001,
}
SLOW = 3.0
HUNG = 120.0
PATIENCE = 15  # seconds; the harness gives up an attempt after PATIENCE
INSPECT = (sys.executable, "-c", "from inspect_ai._cli.main import main; main()")
MODELS = ("--model", "openai-api/local/subject", "--model-role", "grader=openai-api/local/judge")
OPTIONS = (
    "--display",
    "none",
    "--max-connections",
    "48",
    "--attempt-timeout",
    str(PATIENCE),
    "--log-buffer",
    "100",
)


def share(text: str) -> float:
    """A number from 0 to 1 that a text always gets."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def expected(case: str) -> int:
    """The score of a case."""
    return 1 + int(10 * share(f"score of {case}"))


class Server(LoopbackServer):
    """Model and judge; counts requests, faults, and cases that were judged."""

    def __init__(self) -> None:
        super().__init__()
        self.attempts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.judged: set[str] = set()

    def get(self, path: str) -> Response:
        """The counts."""
        counts = {
            "requests": self.attempts.total(),
            "judged": len(self.judged),
            "faults": self.faults,
        }
        return Response(body=json.dumps(counts).encode())

    def post(self, path: str, body: dict[str, Any], key: str | None) -> Response:
        """A reply or a fault."""
        text = "\n".join(str(message["content"]) for message in body["messages"])
        case = re.findall(r"case-\d{6}", text)[-1]
        request = f"{body['model']} {case}"
        self.attempts[request] += 1
        left = share(f"{request} {self.attempts[request]}")
        fault = ""
        for name, probability in FAULTS.items():
            if 0 <= left < probability:
                fault = name
                self.faults[name] += 1
            left -= probability
        if fault.isdigit():
            return fails(int(fault))
        if fault == "cut before a reply":
            return Response(drop=True)
        delay = {"slow": SLOW, "hung": HUNG}.get(fault, 0.0)
        reply = says(f"What is to be said about {case}. " * 20)
        if body["model"] == "judge":
            names = [
                list(json.loads(found)) for found in re.findall(r"\{[^{}]*<1-10>[^{}]*\}", text)
            ][-1]
            record = dict.fromkeys(names, expected(case)) | {
                "key": re.findall(r'"key": "([a-z]{8})"', text)[-1]
            }
            reply = says("It keeps to the reference. " * 20 + json.dumps(record))
            if not fault or fault == "slow":
                self.judged.add(case)
        missing = 20 if fault == "cut within a reply" else 0
        return self.delayed(Response(body=reply.body, delay=delay, missing=missing))


def write_cases(file: Path, count: int) -> dict[str, int]:
    """Synthetic cases in English and Chinese; the score that each must get."""
    names = [f"case-{number:06}" for number in range(count)]
    with file.open("w", encoding="utf-8") as out:
        for number, name in enumerate(names):
            intent = ("Factual QA", "Leisure", "Ask for Advice")[number % 3]
            language = ("en", "zh")[number % 2]
            row = {
                "id": name,
                "question": f"What about {name}? " * 8,
                "reference_ans": f"This of {name}. " * 15,
            }
            out.write(json.dumps(row | {"user_intent": intent, "language": language}) + "\n")
    return {name: expected(name) for name in names}


def watch(
    command: tuple[str, ...], url: str, kill_at: float, deadline: float, output: Path
) -> dict[str, Any]:
    """Run the harness until so many cases are judged or it ends; what it took."""
    begun = time.monotonic()
    curve = []
    with output.open("ab") as file:
        running = subprocess.Popen(
            [*INSPECT, *command], stdout=file, stderr=file, start_new_session=True
        )
    try:
        while running.poll() is None and time.monotonic() < deadline:
            with urlopen(f"{url}/counts") as reply:  # noqa: S310 - the loopback
                judged = json.load(reply)["judged"]
            curve.append((judged, psutil.Process(running.pid).memory_info().rss / 2**20))
            if judged >= kill_at:
                break
            time.sleep(1)
    finally:
        late = running.poll() is None
        if late:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    peak = max(mb for _, mb in curve)
    return {
        "judged": curve[-1][0],
        "seconds": time.monotonic() - begun,
        "peak_mb": peak,
        "killed": late,
    }


def check(folder: Path, scores: dict[str, int]) -> str:
    """Hold the last log against what every case must have; empty if all is well."""
    from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries

    done = [
        file
        for file in list_eval_logs(str(folder))
        if read_eval_log(file, header_only=True).status == "success"
    ]
    if len(done) != 1:
        return f"{len(done)} logs are finished"
    found = [
        (str(one.id), (one.scores or {}).get("intent_judge"))
        for one in read_eval_log_sample_summaries(done[0])
    ]
    times = Counter(name for name, _ in found)
    given = {
        name: score and isinstance(score.value, dict) and score.value.get("final")
        for name, score in found
    }
    wrong = [name for name, score in scores.items() if given.get(name) != score]
    twice = [name for name, count in times.items() if count > 1]
    if set(times) == set(scores) and not wrong and not twice:
        return ""
    return (
        f"{len(set(scores) - set(times))} cases missing, {len(twice)} twice, {len(wrong)} with a"
        " wrong score or none"
    )


def main() -> None:
    """Run, kill, resume, check; exit with 1 if a case was lost, doubled or scored otherwise."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--resume", choices=("eval-set", "eval-retry"), default="eval-set")
    parser.add_argument(
        "--deadline", type=float, default=1500, help="seconds after which everything stops"
    )
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        server = Server()
        server.start()
        print(server.address, flush=True)
        sys.stdin.read()  # until the parent is gone
        return
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit("stopped")
    )  # so that what was started ends as well
    deadline = time.monotonic() + options.deadline
    command = [sys.executable, "-m", "benchmarks.soak", "--one"]
    serving = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with tempfile.TemporaryDirectory() as room, serving:
        folder = Path(room)
        url = str(serving.stdout and serving.stdout.readline()).strip()
        os.environ.update(
            LOCAL_BASE_URL=f"{url}/v1",
            LOCAL_API_KEY="none",
            URS_INSPECT_PREFLIGHT="false",
            NO_PROXY="127.0.0.1",
            no_proxy="127.0.0.1",
        )
        os.environ.update(XDG_DATA_HOME=f"{room}/data", INSPECT_CACHE_DIR=f"{room}/cache")
        scores = write_cases(folder / "cases.jsonl", options.cases)
        task = (
            "urs_inspect/urs",
            "-T",
            f"dataset={folder / 'cases.jsonl'}",
        )
        words: tuple[str, ...] = (
            "eval" if options.resume == "eval-retry" else "eval-set",
            *task,
            *MODELS,
        )
        print("| part | ended by | cases judged so far | seconds | peak memory, MB |")
        print("|---|---|---|---|---|")
        for number, mark in enumerate(options.cases * part for part in (0.25, 0.5, 0.75, math.inf)):
            part = watch(
                (*words, *OPTIONS, "--log-dir", f"{room}/logs"),
                url,
                mark,
                deadline,
                folder / "output",
            )
            ended = "SIGKILL" if part["killed"] else "itself"
            print(f"| {number + 1} | {ended} | {part['judged']:,} | {part['seconds']:.0f} | {part['peak_mb']:.0f} |",
                  flush=True)  # fmt: skip
            logs = sorted((folder / "logs").glob("*.eval"))
            if not logs or (part["killed"] and time.monotonic() >= deadline):
                raise SystemExit(
                    (folder / "output").read_text("utf-8")[-3000:]
                    + "\nstopped: no log, or the deadline"
                )
            if options.resume == "eval-retry":
                words = ("eval-retry", str(logs[-1]))
        with urlopen(f"{url}/counts") as reply:  # noqa: S310 - the loopback
            counts = json.load(reply)
        serving.terminate()
        fault = check(folder / "logs", scores)
    print(f"\n{options.cases:,} cases, {counts['requests']:,} requests, faults {counts['faults']}")
    print(fault or f"every one of {options.cases:,} cases is in the last log once, with its score")
    raise SystemExit(bool(fault))


if __name__ == "__main__":
    main()
