"""Which model an engine runs: its files, and for a server its name and what it answers."""

from pathlib import Path

import anyio
import numpy as np
import pytest

from tests.samer.checkpoints import tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.samer.engines.pooling_server import Body, PoolingServer, fails, pooling_server, replies, says, step_rows
from tests.samer.stubs import StubEngine
from tests.servers import Response
from urs_inspect.errors import InputError
from urs_inspect.samer.bulk import score_file
from urs_inspect.samer.bulk_rows import check_rows
from urs_inspect.samer.conversation import Conversations
from urs_inspect.samer.engines import load_engine
from urs_inspect.samer.engines.identity import model_identity
from urs_inspect.samer.engines.protocol import Engine
from urs_inspect.samer.fingerprint import fingerprint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("model") / "m", inner_widths=SMALL)


class Backbone:
    """A stock server's script; `noise` moves every vector by that share of its length, as rounding does."""

    def __init__(self, folder: Path) -> None:
        self.eot = Conversations(folder).end_of_turn
        self.noise, self.turn, self.random = np.float32(0), 0, np.random.default_rng(1)
        self.answering = 10_000

    def __call__(self, number: int, body: Body) -> Response:
        if number >= self.answering:
            return fails(500)
        found = [step_rows([*ids], self.eot, 64) for ids in body["input"]]
        if self.turn:  # another backbone of the same width
            found = [np.roll(rows, self.turn, axis=1) for rows in found]
        return replies(
            body, [rows + self.noise * self.random.standard_normal(rows.shape, np.float32) for rows in found]
        )


def engine_for(server: PoolingServer, folder: Path) -> Engine:
    return load_engine(server.url, engine="server", folder=str(folder), attempts=1)


def test_a_folder_is_known_by_its_fingerprint(folder: Path) -> None:
    assert anyio.run(model_identity, StubEngine(model=str(folder))) == {"fingerprint": fingerprint(folder)}
    assert anyio.run(model_identity, StubEngine(model="elsewhere")) == {}


def test_a_server_is_known_by_name_files_and_numbers(folder: Path) -> None:
    with pooling_server(Backbone(folder)) as server:
        found = anyio.run(model_identity, engine_for(server, folder))
        assert len(server.asked) == 2  # one of them when the engine was opened
    assert (found["served"], found["fingerprint"]) == ("samer", fingerprint(folder))
    assert len(found["probe"]) == 126 and np.isfinite(found["probe"]).all()


def test_a_server_that_gives_no_numbers_is_refused(folder: Path) -> None:
    script = Backbone(folder)
    script.answering = 1
    with pooling_server(script) as server:
        engine = engine_for(server, folder)
        with pytest.raises(InputError, match=rf"samer={server.url}: status 500: scripted \(unreachable\)"):
            anyio.run(model_identity, engine)


def test_a_server_that_comes_back_with_another_model_is_not_mixed_in(folder: Path, tmp_path: Path) -> None:
    rows, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows.write_text("".join(f'{{"query": "Why {n}?", "response": "So."}}\n' for n in range(8)), encoding="utf-8")
    script = Backbone(folder)
    with pooling_server(script) as server:

        def run() -> int:
            engine = engine_for(server, folder)
            try:
                return anyio.run(lambda: score_file(check_rows(rows), out, engine)).resumed
            finally:
                script.answering = 10_000

        script.answering = 5
        with pytest.raises(InputError, match=r"stopped with 3 of 8 rows done: 5 got no answer \(unreachable"):
            run()
        server.models = says({"data": [{"id": "renamed", "max_model_len": 512}]})
        with pytest.raises(InputError, match=r"another model at .*: the server has another name for it; go on"):
            run()
        server.models = says({"data": [{"id": "samer", "max_model_len": 512}]})
        script.turn = 3
        with pytest.raises(InputError, match=r"another model at .*: its numbers for a fixed text are others; go on"):
            run()
        script.turn, script.noise = 0, np.float32(0.002)
        assert run() == 3
