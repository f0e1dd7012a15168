"""Real vLLM engines and servers on the CPU of a small machine."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket

import httpx

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "OMP_NUM_THREADS": "2",
    "NO_PROXY": "127.0.0.1",
}
"""What vLLM needs on a small machine without a network."""

EAGER = {"enforce_eager": True, "seed": 0}
"""Options of `vllm.LLM` that leave the compiler out, which takes longer than all tests."""


@contextmanager
def vllm_server(model: Path, log: Path, *arguments: str) -> Iterator[str]:
    """Run vLLM's server on the loopback until the block ends; gives its address at once, before it is ready."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Not the command `vllm`, which fails where the package has another name.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    command += ["--max-model-len", "512", "--enforce-eager", *arguments]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, env=os.environ | ENVIRONMENT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_ready(url: str, log: Path, timeout: float = 300.0) -> None:
    """Wait until a server answers; if it does not in time, fail with the end of its log."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        try:
            if httpx.get(f"{url}/health", timeout=5, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    raise AssertionError(f"{url} is not ready after {timeout:g} s:\n{log.read_text(errors='replace')[-3000:]}")
