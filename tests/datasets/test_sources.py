"""Tests of `urs_inspect.datasets.sources`."""

import hashlib
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import httpx
import platformdirs
import pytest
import tenacity.nap

from urs_inspect._util import InputError
from urs_inspect.datasets import Vocabulary, load_urs
from urs_inspect.datasets.sources import (
    SOURCES,
    URS,
    PinnedFile,
    cache_dir,
    cache_path,
    fetch,
    find_source,
    git_id_of,
    is_pinned,
    locate,
    sha256_of,
)

COMMIT = re.compile(r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/.+")
GIT_IDS = {
    "flask": "0563a5769832269d52b8099406966fc127766b2f",
    "feedback_bench": "28919454bf5aba9e0c082a0171ee50ff278c5e18",
    "preference_bench": "8ec84131739db801757cb76107035650dce8dbd7",
    "alpaca_eval": "de4304dacfec51201d33970cf371c1074e78a3e1",
}
HERE = sorted(set(SOURCES) - set(GIT_IDS) - {"llmbar/Neighbor", "llmbar/GPTOut", "llmbar/Manual"})


def test_sources_are_known_by_their_names() -> None:
    assert SOURCES["urs"] is URS
    assert {name: source.name for name, source in SOURCES.items()} == {name: name for name in SOURCES}
    assert len({source.path for source in SOURCES.values()}) == len(SOURCES)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_source_is_pinned_by_commit_or_content_and_has_one_hash_a_relative_path_and_a_licence(
    source: PinnedFile,
) -> None:
    if source.git_id:
        assert source.url.endswith(f"/prometheus-eval/prometheus-eval/git/blobs/{source.git_id}")
    else:
        assert COMMIT.fullmatch(source.url)
        assert PurePosixPath(source.url).name == PurePosixPath(source.path).name
    assert source.git_id == GIT_IDS.get(source.name, "")
    assert re.fullmatch("" if source.git_id else "[0-9a-f]{64}", source.sha256)
    assert not PurePosixPath(source.path).is_absolute()
    assert ".." not in PurePosixPath(source.path).parts
    assert source.licence


def test_llmbar_is_laid_out_as_published() -> None:
    subsets = {name.removeprefix("llmbar/"): source for name, source in SOURCES.items() if name.startswith("llmbar/")}
    assert list(subsets) == ["Natural", "Neighbor", "GPTInst", "GPTOut", "Manual"]
    for subset, source in subsets.items():
        folder = subset if subset == "Natural" else f"Adversarial/{subset}"
        assert source.path == f"judge_bench/llmbar/{folder}/dataset.json"
        assert source.url.endswith(f"/Dataset/LLMBar/{folder}/dataset.json")


@pytest.mark.data
@pytest.mark.parametrize("name", HERE)
def test_the_copy_at_hand_is_the_pinned_one(name: str, data_dir: Path) -> None:
    source = SOURCES[name]
    assert fetch(source) == locate(source) == data_dir / source.path
    assert sha256_of(data_dir / source.path) == hashlib.sha256((data_dir / source.path).read_bytes()).hexdigest()
    assert sha256_of(data_dir / source.path) == source.sha256


# More than one chunk of the reader and of the downloader, so that hashing by chunks is put to the test.
CONTENT = b"question,reference_ans,user_intent,language\n" + b"0123456789abcdef" * 100_000
OTHER = b"something else entirely\n"


@dataclass
class Site:
    """A web server on the loopback interface whose answer a test can change, and which counts requests."""

    port: int
    status: int = 200
    body: bytes = CONTENT
    promised: int | None = None
    requests: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/data.csv"


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site = self.site
        site.requests += 1
        self.send_response(site.status)
        self.send_header("Content-Length", str(len(site.body) if site.promised is None else site.promised))
        self.end_headers()
        self.wfile.write(site.body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Server:
    """Starts and stops the server, so that a test can refuse connections."""

    def __init__(self) -> None:
        class Handler(_Handler):
            pass

        self._handler = Handler
        self._start(0)
        Handler.site = self.site = Site(self._server.server_address[1])

    def _start(self, port: int) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def start_again(self) -> None:
        self._start(self.site.port)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    running = _Server()
    yield running
    running.stop()


@pytest.fixture
def site(server: _Server) -> Site:
    return server.site


@pytest.fixture
def source(site: Site) -> PinnedFile:
    return PinnedFile(
        name="example",
        path="example/data.csv",
        url=site.url,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        licence="ours",
        instead="-T dataset=sample runs the small set",
    )


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between retries of the harness, which are recorded in place of being waited for."""
    recorded: list[float] = []
    monkeypatch.setattr(tenacity.nap, "time", SimpleNamespace(sleep=recorded.append))
    return recorded


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files_below(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


# --- a good download ---


def test_a_good_download_lands_in_the_cache_and_verifies(source: PinnedFile, tmp_path: Path) -> None:
    path = fetch(source)
    assert path == tmp_path / "cache" / "example" / "data.csv" == cache_path(source)
    assert path.read_bytes() == CONTENT
    assert locate(source) == path
    assert files_below(tmp_path / "cache") == {"example/data.csv": CONTENT}


def test_the_second_fetch_asks_no_server(source: PinnedFile, site: Site) -> None:
    assert fetch(source) == fetch(source)
    assert site.requests == 1


def test_a_cached_copy_serves_without_any_server(source: PinnedFile, server: _Server) -> None:
    path = fetch(source)
    server.stop()
    assert fetch(source) == path
    server.start_again()


@pytest.mark.parametrize(
    "damaged",
    [CONTENT[:-1], b"", CONTENT + b"\n", bytes([CONTENT[0] ^ 1]) + CONTENT[1:]],
    ids=["cut short", "empty", "one byte more", "one bit flipped"],
)
def test_a_damaged_copy_in_the_cache_counts_as_none_and_is_replaced(
    damaged: bytes, source: PinnedFile, site: Site
) -> None:
    path = put(cache_path(source), damaged)
    assert locate(source) is None
    assert fetch(source) == path
    assert path.read_bytes() == CONTENT
    assert site.requests == 1


def test_fetching_at_the_same_time_gives_everyone_the_whole_file(source: PinnedFile, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        paths = list(threads.map(fetch, [source] * 8))
    assert set(paths) == {cache_path(source)}
    assert files_below(tmp_path / "cache") == {"example/data.csv": CONTENT}


def test_what_a_killed_download_left_behind_does_no_harm(source: PinnedFile) -> None:
    left = put(cache_path(source).with_name("data.csv.0123abcd.partial"), CONTENT[:1000])
    assert fetch(source).read_bytes() == CONTENT
    assert left.read_bytes() == CONTENT[:1000]


# --- a bad download: nothing is replaced, the error says what to do, and a second try works ---


def _wrong_content(site: Site) -> None:
    site.body = OTHER


def _truncated(site: Site) -> None:
    site.body, site.promised = CONTENT[:100_000], len(CONTENT)


def _cut_but_complete_by_its_header(site: Site) -> None:
    site.body = CONTENT[:100_000]


def _empty(site: Site) -> None:
    site.body = b""


def _not_found(site: Site) -> None:
    site.status, site.body = 404, b"404: Not Found"


def _overloaded(site: Site) -> None:
    site.status, site.body = 503, b"later"


CAUSES = [
    (_wrong_content, hashlib.sha256(OTHER).hexdigest()),  # beside the expected hash, the actual one
    (_truncated, "RemoteProtocolError: peer closed connection"),
    (_cut_but_complete_by_its_header, hashlib.sha256(CONTENT[:100_000]).hexdigest()),
    (_empty, hashlib.sha256(b"").hexdigest()),
    (_not_found, "404 Not Found"),
    (_overloaded, "503 Service Unavailable"),
]


@pytest.mark.parametrize("older", [None, OTHER, CONTENT[:-1]], ids=["no copy", "another file", "a damaged copy"])
@pytest.mark.parametrize(("spoil", "cause"), CAUSES)
def test_a_failed_download_changes_nothing_and_says_why_and_what_to_do(
    spoil: Callable[[Site], None], cause: str, older: bytes | None, source: PinnedFile, site: Site, tmp_path: Path
) -> None:
    neighbour = put(cache_path(source).with_name("neighbour.csv"), b"mine")
    if older is not None:
        put(cache_path(source), older)
    before = files_below(tmp_path / "cache")
    spoil(site)
    with pytest.raises(InputError, match="cannot get the 'example' data") as caught:
        fetch(source)
    assert files_below(tmp_path / "cache") == before  # no stray .partial file either
    facts = (cause, site.url, source.sha256, "URS_INSPECT_DATA_DIR=<dir>", "<dir>/example/data.csv")
    for part in (*facts, "urs-inspect data fetch example", "-T dataset=sample"):
        assert part in str(caught.value)
    assert "RetryError" not in str(caught.value)

    site.status, site.body, site.promised = 200, CONTENT, None
    assert fetch(source).read_bytes() == CONTENT
    assert neighbour.read_bytes() == b"mine"


def test_a_missing_page_is_not_asked_for_again(source: PinnedFile, site: Site, waits: list[float]) -> None:
    _not_found(site)
    with pytest.raises(InputError):
        fetch(source)
    assert (site.requests, waits) == (1, [])


def test_an_overloaded_server_is_asked_again(source: PinnedFile, site: Site, waits: list[float]) -> None:
    _overloaded(site)
    with pytest.raises(InputError):
        fetch(source)
    assert site.requests > 1
    assert len(waits) == site.requests - 1


def test_a_refused_connection_is_an_error_and_a_second_try_works(
    source: PinnedFile, server: _Server, tmp_path: Path
) -> None:
    server.stop()
    try:
        with pytest.raises(InputError, match="ConnectError") as caught:
            fetch(source)
    finally:
        server.start_again()
    assert source.url in str(caught.value)
    assert files_below(tmp_path / "cache") == {}
    assert fetch(source).read_bytes() == CONTENT


def test_an_interrupted_download_leaves_the_cache_as_it_was(
    source: PinnedFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache_path(source), OTHER)

    def interrupted(response: httpx.Response, chunk_size: int | None = None) -> Iterator[bytes]:
        yield CONTENT[:1000]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(httpx.Response, "iter_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetch(source)
    assert files_below(tmp_path / "cache") == {"example/data.csv": OTHER}
    assert fetch(source).read_bytes() == CONTENT


def test_a_cache_that_cannot_be_written_is_an_error(
    source: PinnedFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(put(tmp_path / "a file", b"")))
    with pytest.raises(InputError, match="a file"):
        fetch(source)


# --- files already there: URS_INSPECT_DATA_DIR ---


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "own"))
    return tmp_path / "own"


def test_the_users_own_copy_comes_before_the_cache(source: PinnedFile, own: Path, site: Site, tmp_path: Path) -> None:
    put(cache_path(source), CONTENT)
    path = put(own / "example" / "data.csv", CONTENT)
    assert locate(source) == fetch(source) == path
    assert site.requests == 0
    path.unlink()
    assert locate(source) == fetch(source) == tmp_path / "cache" / "example" / "data.csv"


def test_the_users_own_copy_may_lie_below_the_home_directory(
    source: PinnedFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", "~/own")
    path = put(tmp_path / "own" / "example" / "data.csv", CONTENT)
    assert fetch(source) == path


def test_a_copy_of_the_user_with_another_hash_is_an_error_and_stays(
    source: PinnedFile, own: Path, site: Site, tmp_path: Path
) -> None:
    put(cache_path(source), CONTENT)  # a good copy elsewhere does not excuse it
    path = put(own / "example" / "data.csv", OTHER)
    for find in (locate, fetch):
        with pytest.raises(InputError) as caught:
            find(source)
        for part in (str(path), "URS_INSPECT_DATA_DIR", source.sha256, hashlib.sha256(OTHER).hexdigest()):
            assert part in str(caught.value)
    assert path.read_bytes() == OTHER
    assert site.requests == 0


def test_without_the_file_there_the_cache_is_used_and_filled(
    source: PinnedFile, own: Path, site: Site, tmp_path: Path
) -> None:
    put(own / "example" / "another.csv", OTHER)
    assert locate(source) is None
    assert fetch(source) == tmp_path / "cache" / "example" / "data.csv"
    assert site.requests == 1
    assert files_below(own) == {"example/another.csv": OTHER}


# --- where the cache is ---


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("URS_INSPECT_CACHE_DIR")
    assert cache_dir() == Path(platformdirs.user_cache_dir("urs_inspect"))


@pytest.mark.parametrize(("value", "expected"), [("~/here", "here"), ("", None)])
def test_the_cache_variable_names_the_directory_unless_it_is_empty(
    value: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", value)
    assert cache_dir() == (tmp_path / expected if expected else Path(platformdirs.user_cache_dir("urs_inspect")))


# --- files that are known by the id that git gives them ---


@pytest.fixture
def blob(source: PinnedFile) -> PinnedFile:
    return replace(source, sha256="", git_id=git_id_of(CONTENT), column="reference_ans")


@pytest.mark.parametrize("content", [b"", b"one\n", CONTENT])
def test_the_git_id_is_the_one_that_git_computes(content: bytes) -> None:
    git = subprocess.run(["git", "hash-object", "--stdin"], input=content, capture_output=True, check=True)
    assert git_id_of(content) == git.stdout.decode().strip()


@pytest.mark.data
def test_the_git_id_of_a_published_file(data_dir: Path) -> None:
    content = (data_dir / "judge_bench" / "vicuna_eval.json").read_bytes()
    assert git_id_of(content) == "0516bec3da48890d49bc55b73bc3642b0dd40130"


def test_a_content_is_downloaded_once_and_verified_by_its_git_id(blob: PinnedFile, site: Site, tmp_path: Path) -> None:
    assert locate(blob) is None
    path = fetch(blob)
    assert path == cache_path(blob) == fetch(blob) == locate(blob)
    assert site.requests == 1
    assert is_pinned(blob, path)
    assert files_below(tmp_path / "cache") == {"example/data.csv": CONTENT}


def test_a_copy_of_the_user_with_another_git_id_is_an_error(
    blob: PinnedFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "own"))
    put(tmp_path / "own" / "example" / "data.csv", b'{"reference_ans": "changed"}')
    with pytest.raises(InputError) as caught:
        fetch(blob)
    for part in ("own/example/data.csv", "'example'", f"expected git id {git_id_of(CONTENT)}"):
        assert part in str(caught.value)


def test_another_published_form_is_taken_and_is_not_the_pinned_one(
    blob: PinnedFile, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "own"))
    path = put(tmp_path / "own" / "example" / "data.csv", OTHER)
    assert fetch(blob) == locate(blob) == path
    assert not is_pinned(blob, path)
    assert site.requests == 0
    with pytest.raises(InputError):
        locate(replace(blob, column=""))


@pytest.mark.parametrize("fault", ["status", "cut short", "other content", "no server"])
def test_a_failed_download_of_a_content_leaves_nothing_and_is_reported(
    fault: str, blob: PinnedFile, server: _Server, tmp_path: Path
) -> None:
    server.site.status = 404 if fault == "status" else 200
    server.site.promised = len(CONTENT) + 1 if fault == "cut short" else None
    server.site.body = OTHER if fault == "other content" else CONTENT
    if fault == "no server":
        server.stop()
    try:
        with pytest.raises(InputError) as caught:
            fetch(blob)
    finally:
        if fault == "no server":
            server.start_again()
    for part in ("cannot get the 'example' data: ", blob.url, f"git id {blob.git_id}", "example/data.csv"):
        assert part in str(caught.value)
    assert files_below(tmp_path / "cache") == {}


def test_offline_with_an_empty_cache_there_is_one_error_that_says_everything(
    server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_is = Vocabulary(str, str)
    offline = replace(URS, url=server.site.url)
    monkeypatch.setattr("urs_inspect.datasets.cases.URS", offline)
    server.stop()
    try:
        with pytest.raises(InputError) as caught:
            load_urs("urs", as_is)
    finally:
        server.start_again()
    message = str(caught.value)
    assert message.splitlines()[0].startswith("cannot get the 'urs' data: ConnectError: ")
    for part in (offline.url, URS.sha256, "URS_INSPECT_DATA_DIR", "urs/data_all.csv", "-T dataset=sample"):
        assert part in message
    assert len(load_urs("sample", as_is).cases) == 42  # what the message promises


def test_an_unknown_source_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown data 'nope'; allowed: urs"):
        find_source("nope")


@pytest.mark.parametrize("content", [b"", b"a", b"a" * (1 << 20), CONTENT], ids=len)
def test_the_hash_of_a_file_is_that_of_its_whole_content(content: bytes, tmp_path: Path) -> None:
    assert sha256_of(put(tmp_path / "file", content)) == hashlib.sha256(content).hexdigest()
