"""How long judging takes in lm-eval, against what the judge itself takes.

A judge on the loopback replies after 50 ms, so that 500 answers at 32 calls a time take 0.8 s at
least. The bare client sends the same prompts without judging; what is left over it is our own.

    python -m benchmarks lmeval_judging
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks import Row, timed
from urs_inspect.judging import Answer, Message
from urs_inspect.lmeval_tasks._clients import open_endpoint
from urs_inspect.lmeval_tasks._judging import judge_answers
from urs_inspect.lmeval_tasks._settings import JudgeSettings, read_settings
from urs_inspect.lmeval_tasks._urs_task import load_cases


class _Judge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    delay = 0.05

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        time.sleep(self.delay)
        names = [
            list(json.loads(found)) for found in re.findall(r"\{[^{}]*<1-10>[^{}]*\}", prompt)
        ][-1]
        key = re.findall(r'"key": "([a-z]{8})"', prompt)[-1]
        text = json.dumps(dict.fromkeys(names, 7) | {"key": key}, ensure_ascii=False)
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        reply = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "j",
                "choices": [choice],
            }
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.encode())))
        self.end_headers()
        self.wfile.write(reply.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def _answers(number: int) -> list[Answer]:
    rows = list(load_cases(urs_dataset="sample")["test"])
    return [
        Answer(
            row["intent"],
            row["language"],
            row["question"],
            row["reference"],
            f"Answer {place}. " * 40,
        )
        for place, row in ((place, rows[place % len(rows)]) for place in range(number))
    ]


async def _bare(settings: JudgeSettings, prompts: Sequence[Sequence[Message]]) -> None:
    waiting = iter(prompts)
    async with open_endpoint(settings) as endpoint:

        async def work() -> None:
            for prompt in waiting:
                await endpoint.send(prompt)

        await asyncio.gather(*[work() for _ in range(settings.judge_concurrency)])


def _prompts(answers: Sequence[Answer]) -> list[list[Message]]:
    from urs_inspect.judging import PromptBuilder
    from urs_inspect.judging._ask import messages_of
    from urs_inspect.rubrics import load_rubric

    builder = PromptBuilder(load_rubric())
    return [
        messages_of(
            builder.build(
                one.intent,
                one.language,
                question=str(one.question),
                reference=one.reference,
                answer=str(one.text),
            )
        )
        for one in answers
    ]


def ratios(*, quick: bool) -> list[Row]:
    """Judging over the bare client."""
    number = 100 if quick else 500
    server = _Server(("127.0.0.1", 0), _Judge)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    metadata: dict[str, Any] = {
        "judge_model": "j",
        "judge_base_url": f"http://127.0.0.1:{server.server_address[1]}/v1",
        "judge_concurrency": 32,
        "judge_cache": False,
    }
    settings = read_settings(metadata)
    answers = _answers(number)
    prompts = _prompts(answers)

    def judge() -> None:
        records = judge_answers(answers, settings, lambda _: None)
        if any(record.scores is None for record in records):
            raise SystemExit("an answer was not judged: the time means nothing")

    works = {"bare client": lambda: asyncio.run(_bare(settings, prompts)), "judging": judge}
    costs = timed(works, 1 if quick else 3, time.perf_counter)
    server.shutdown()
    size = f"{number} answers, 32 calls at a time, {_Judge.delay * 1000:.0f} ms a reply"
    against = "the bare client with the same prompts"
    return [
        Row(
            "judging in lm-evaluation-harness",
            size,
            costs["judging"],
            costs["bare client"],
            against,
            "s",
        )
    ]
