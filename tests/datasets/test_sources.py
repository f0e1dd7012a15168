"""Tests of `urs_inspect.datasets._sources`."""

import hashlib
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
from urs_inspect.datasets._collections import COLLECTIONS, fetch_collection
from urs_inspect.datasets._sources import (
    SOURCES,
    URS,
    PinnedFile,
    cache_dir,
    cache_path,
    fetch,
    git_id_of,
    is_pinned,
    locate,
    sha256_of,
)

COMMIT = re.compile(r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/.+")
ELSEWHERE = ("llmbar/Neighbor", "llmbar/GPTOut", "llmbar/Manual")
HERE = sorted(name for name, source in SOURCES.items() if source.sha256 and name not in ELSEWHERE)


def test_sources_are_known_by_their_names() -> None:
    assert SOURCES["urs"] is URS
    assert {name: source.name for name, source in SOURCES.items()} == {
        name: name for name in SOURCES
    }
    assert len({source.path for source in SOURCES.values()}) == len(SOURCES)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_source_is_pinned_by_commit_or_content_and_has_one_hash_a_relative_path_and_a_licence(
    source: PinnedFile,
) -> None:
    path = PurePosixPath(source.path)
    if source.git_id:
        assert source.url.endswith(f"/prometheus-eval/prometheus-eval/git/blobs/{source.git_id}")
    else:
        assert COMMIT.fullmatch(source.url)
        assert PurePosixPath(source.url).name == path.name
    assert re.fullmatch("[0-9a-f]{40}" if source.git_id else "", source.git_id)
    assert re.fullmatch("" if source.git_id else "[0-9a-f]{64}", source.sha256)
    assert not path.is_absolute() and ".." not in path.parts
    assert source.licence


def test_llmbar_is_laid_out_as_published() -> None:
    subsets = {
        name.removeprefix("llmbar/"): source
        for name, source in SOURCES.items()
        if name.startswith("llmbar/")
    }
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
    assert hashlib.sha256((data_dir / source.path).read_bytes()).hexdigest() == source.sha256


@pytest.mark.data
@pytest.mark.parametrize("name", COLLECTIONS)
def test_copies_of_a_folder_at_hand_are_the_pinned_ones(name: str, data_dir: Path) -> None:
    collection = COLLECTIONS[name]
    found = fetch_collection(name)
    assert list(found) == list(collection.files)
    for path, file in found.items():
        assert file == data_dir / collection.folder / path
        assert COMMIT.fullmatch(collection.files[path].url)


def test_an_unknown_folder_is_refused() -> None:
    with pytest.raises(InputError, match="real_judges/vicuna80"):
        fetch_collection("real_judges/vicuna")


# More than one chunk of the reader and of the downloader, so that hashing by chunks is put to the
# test.
CONTENT = b"question,reference_ans,user_intent,language\n" + b"0123456789abcdef" * 100_000
OTHER = b"something else entirely\n"


@dataclass
class Site:
    """A web server on the loopback interface whose answer a test can change, and which counts
    requests.
    """

    port: int
    status: int = 200
    body: bytes = CONTENT
    promised: int | None = None
    requests: int = 0
    accepted: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/data.csv"


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site = self.site
        site.requests += 1
        site.accepted = self.headers.get("Accept", "")
        self.send_response(site.status)
        self.send_header(
            "Content-Length", str(len(site.body) if site.promised is None else site.promised)
        )
        self.end_headers()
        with suppress(BrokenPipeError):  # who asked has read enough
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
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
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


KINDS = ("sha256", "git id")


def pinned(source: PinnedFile, kind: str) -> PinnedFile:
    """The source, known by this kind of hash."""
    return source if kind == "sha256" else replace(source, sha256="", git_id=git_id_of(CONTENT))


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between retries of the harness, which are recorded in place of being waited
    for.
    """
    recorded: list[float] = []
    monkeypatch.setattr(tenacity.nap, "time", SimpleNamespace(sleep=recorded.append))
    return recorded


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files_below(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


# --- a good download ---


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_download_lands_in_the_cache_and_serves_without_a_server(
    kind: str, source: PinnedFile, server: _Server, tmp_path: Path
) -> None:
    source = pinned(source, kind)
    assert locate(source) is None
    path = fetch(source)
    # Without it, GitHub would wrap a file that is known by its git id in JSON.
    assert ("raw" in server.site.accepted) == (kind == "git id")
    assert path == tmp_path / "cache" / "example" / "data.csv" == cache_path(source)
    server.stop()
    assert fetch(source) == locate(source) == path
    server.start_again()
    assert is_pinned(source, path)
    assert server.site.requests == 1
    assert files_below(tmp_path / "cache") == {"example/data.csv": CONTENT}


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


def test_fetching_at_the_same_time_gives_everyone_the_whole_file(
    source: PinnedFile, tmp_path: Path
) -> None:
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


CAUSES: list[tuple[Callable[[Site], None], str | bytes]] = [
    (_wrong_content, OTHER),  # beside the expected hash, the actual one
    (_truncated, "RemoteProtocolError: peer closed connection"),
    (_cut_but_complete_by_its_header, CONTENT[:100_000]),
    (_empty, b""),
    (_not_found, "404 Not Found"),
    (_overloaded, "503 Service Unavailable"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("spoil", "cause"), CAUSES)
def test_a_failed_download_changes_nothing_and_says_why_and_what_to_do(
    spoil: Callable[[Site], None],
    cause: str | bytes,
    kind: str,
    source: PinnedFile,
    site: Site,
    tmp_path: Path,
) -> None:
    source = pinned(source, kind)
    if isinstance(cause, bytes):
        cause = hashlib.sha256(cause).hexdigest() if kind == "sha256" else git_id_of(cause)
    neighbour = put(cache_path(source).with_name("neighbour.csv"), b"mine")
    spoil(site)
    for older in (None, CONTENT[:-1]):
        if older is not None:
            put(cache_path(source), older)
        before = files_below(tmp_path / "cache")
        with pytest.raises(InputError, match="cannot get the 'example' data: ") as caught:
            fetch(source)
        assert files_below(tmp_path / "cache") == before  # no stray .partial file either
        facts = (
            cause,
            site.url,
            source.expected,
            "URS_INSPECT_DATA_DIR=<dir>",
            "<dir>/example/data.csv",
        )
        for part in (*facts, "urs-inspect data fetch example", "-T dataset=sample"):
            assert part in str(caught.value)
        assert "RetryError" not in str(caught.value)

    site.status, site.body, site.promised = 200, CONTENT, None
    assert fetch(source).read_bytes() == CONTENT
    assert neighbour.read_bytes() == b"mine"


@pytest.mark.parametrize(("spoil", "again"), [(_not_found, False), (_overloaded, True)])
def test_an_overloaded_server_is_asked_again_for_a_page_and_one_that_misses_it_is_not(
    spoil: Callable[[Site], None], again: bool, source: PinnedFile, site: Site, waits: list[float]
) -> None:
    spoil(site)
    with pytest.raises(InputError):
        fetch(source)
    assert (site.requests > 1) == again
    assert len(waits) == site.requests - 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_connection_is_an_error_and_a_second_try_works(
    kind: str, source: PinnedFile, server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = replace(pinned(source, kind), instead=URS.instead)
    monkeypatch.setattr("urs_inspect.datasets._cases.URS", source)
    as_is = Vocabulary(str, str)
    server.stop()
    try:
        with pytest.raises(
            InputError, match=r"^cannot get the 'example' data: ConnectError: "
        ) as caught:
            load_urs("urs", as_is)
    finally:
        server.start_again()
    for part in (
        source.url,
        source.expected,
        "URS_INSPECT_DATA_DIR",
        source.path,
        "-T dataset=sample",
    ):
        assert part in str(caught.value)
    assert len(load_urs("sample", as_is).cases) == 42  # what the message promises
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
    monkeypatch.setenv("URS_INSPECT_CACHE_DIR", str(put(tmp_path / "a file", b"")))
    with pytest.raises(InputError, match="a file"):  # a cache that cannot be written
        fetch(source)


# --- files already there: URS_INSPECT_DATA_DIR ---


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", str(tmp_path / "own"))
    return tmp_path / "own"


def test_the_users_own_copy_comes_before_the_cache(
    source: PinnedFile, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("URS_INSPECT_DATA_DIR", "~/own")
    path = put(tmp_path / "own" / "example" / "data.csv", CONTENT)
    assert locate(source) == fetch(source) == path
    assert site.requests == 0
    path.rename(path.with_name("another.csv"))
    assert locate(source) is None
    assert fetch(source) == locate(source) == tmp_path / "cache" / "example" / "data.csv"
    assert site.requests == 1
    assert files_below(tmp_path / "own") == {"example/another.csv": CONTENT}


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_of_the_user_with_another_hash_is_an_error_and_stays(
    kind: str, source: PinnedFile, own: Path, site: Site
) -> None:
    source = pinned(source, kind)
    changed = b'{"reference_ans": "changed"}'
    actual = (
        f"sha256 {hashlib.sha256(changed).hexdigest()}"
        if kind == "sha256"
        else f"git id {git_id_of(changed)}"
    )
    put(cache_path(source), CONTENT)  # a good copy elsewhere does not excuse it
    path = put(own / "example" / "data.csv", changed)
    for find in (locate, fetch):
        with pytest.raises(InputError) as caught:
            find(source)
        for part in (
            str(path),
            "URS_INSPECT_DATA_DIR",
            "'example'",
            f"expected {source.expected}",
            actual,
        ):
            assert part in str(caught.value)
    assert path.read_bytes() == changed
    assert site.requests == 0


# --- where the cache is ---


@pytest.mark.parametrize(("value", "expected"), [("~/here", "here"), ("", None), (None, None)])
def test_the_cache_variable_names_the_directory_in_place_of_the_platforms(
    value: str | None, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("URS_INSPECT_CACHE_DIR")
    if value is not None:
        monkeypatch.setenv("URS_INSPECT_CACHE_DIR", value)
    assert cache_dir() == (
        tmp_path / expected if expected else Path(platformdirs.user_cache_dir("urs_inspect"))
    )


# --- files that are known by the id that git gives them ---


@pytest.mark.parametrize("content", [b"", b"one\n", b"a" * (1 << 20), CONTENT], ids=len)
def test_hashes_are_those_of_the_whole_content(content: bytes, tmp_path: Path) -> None:
    git = subprocess.run(
        ["git", "hash-object", "--stdin"], input=content, capture_output=True, check=True
    )
    assert git_id_of(content) == git.stdout.decode().strip()
    assert sha256_of(put(tmp_path / "file", content)) == hashlib.sha256(content).hexdigest()
