"""`urs-inspect samer embed`, `train` and `weights` from a file to heads that an engine reads."""

import errno
import json
import os
import resource
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tests.samer.checkpoints import CHAT_TEMPLATE, head_tensors, tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.samer.stubs import pair
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.cli import main
from urs_inspect.discrepancy import _similarity as similarity
from urs_inspect.discrepancy._vector_cache import VectorCache
from urs_inspect.samer import _evaluation as heads_module
from urs_inspect.samer import _training_commands as training_command
from urs_inspect.samer import _weights as tensor_file
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._checkpoint_check import open_checkpoint
from urs_inspect.samer._evaluation import Heads, load_heads, save_heads
from urs_inspect.samer._neural.transformers_engine import BackboneEmbedder
from urs_inspect.samer._pairs import TrainingPair, read_training, write_training
from urs_inspect.samer._vectors import pair_vectors, predict_pairs

SETTINGS = (
    "-S",
    "narrowing=64",
    "-S",
    "epochs=3",
    "-S",
    "learning_rate=1e-3",
    "-S",
    "held_out=0.2",
    "-S",
    "patience=0",
)


class Letters:
    """How often each of eight letters occurs."""

    name = "letters"
    costly = True

    def __init__(self) -> None:
        self.texts = 0

    def encode(self, texts: Sequence[str]) -> Any:
        self.texts += len(texts)
        return np.array(
            [[text.count(letter) + 0.1 for letter in "abcdefgh"] for text in texts], np.float32
        )


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> Iterator[Letters]:
    model = Letters()
    monkeypatch.setitem(similarity._MAKERS, "letters", lambda argument: model)
    yield model


def made(number: int) -> TrainingPair:
    return pair(
        number,
        prompt=f"prompt {number % 15}",
        response_a="a" * (number % 7),
        response_b="b" * (number % 5),
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write_training(path, [made(number) for number in range(30)])
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["samer", *map(str, arguments)])


def test_training_writes_heads_report_and_picture(letters: Letters, data: Path, tmp_path: Path):
    out = tmp_path / "out"
    first = call("embed", data, "-S", "backbone=letters")
    computed = letters.texts
    again = call("embed", data, "-S", "backbone=letters")
    assert first.exit_code == again.exit_code == 0 and "0 items computed" in again.output
    result = call("train", data, out, "-S", "backbone=letters", *SETTINGS)
    assert result.exit_code == 0, result.output
    assert letters.texts == computed > 0  # nothing twice
    assert "24 pairs to fit, 6 held out" in result.output and "weights_at=query" in result.output
    assert tells(result.output, "no engine ... 'letters'")
    heads = load_heads(out / "heads.safetensors")
    assert (heads.hidden_size, heads.dimensions) == (16, len(load_taxonomy().dimensions))
    report = json.loads((out / "training.json").read_text(encoding="utf-8"))
    assert report["weights_at"] == "query" and report["settings"]["loss"]["name"] == "paper"
    assert [record["phase"] for record in report["history"]] == [
        "predictor",
        "joint",
        "joint",
        "joint",
    ]
    assert set(report["held_out"]) == {"overall", "overall_with_equal_weights"}
    assert tells(
        result.output, f"equal weights ... {report['held_out']['overall_with_equal_weights']:.1%}"
    )

    again = call("train", data, tmp_path / "again", "-S", "backbone=letters", *SETTINGS)
    assert again.exit_code == 0
    for name in ("heads.safetensors", "training.json"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


def test_annotate_with_one_name_says_in_one_line_how_it_is_written(tmp_path: Path):
    result = call("annotate", tmp_path / "logs")
    assert result.exit_code == 1 and len(result.output.splitlines()) == 1
    assert tells(result.output, "missing ... urs-inspect samer annotate LOGS... OUT")


@pytest.mark.parametrize(
    ("trained_weights", "warned"), [(0.709, True), (0.718, False), (0.8, False)]
)
def test_trained_weights_that_lose_to_equal_ones_are_warned_of(
    trained_weights: float, warned: bool, capsys: pytest.CaptureFixture[str]
):
    training_command._say_equal_weights(trained_weights, 0.718)
    said = capsys.readouterr().out
    assert tells(said, f"overall {trained_weights:.1%}, ... 71.8%")
    assert (tells(said, "warning: equal weights")) is warned
    assert ("-S learning_rate=1e-3 -S epochs=12" in said) is warned


def test_the_released_codes_losses(letters: Letters, tmp_path: Path):
    write_training(
        data := tmp_path / "d.jsonl",
        [pair(number, dimensions={"Style": "tie"}) for number in range(20)],
    )
    result = call(
        "train",
        data,
        tmp_path / "o",
        "-S",
        "backbone=letters",
        "-S",
        "loss=released",
        *SETTINGS,
    )
    assert result.exit_code == 0, result.output
    assert "weights_at=response" in result.output
    assert "dimensions no labels" in result.output and "nan" not in result.output


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone whose name a shell and a terminal could take for something else."""
    return tiny_checkpoint(
        tmp_path_factory.mktemp("my [red]models") / "llama", inner_widths=SMALL, shards=3
    )


def trained(data: Path, llama: Path, out: Path, *options: str) -> Result:
    result = call(
        "train", data, out, "-S", f"backbone={llama}", "-S", "dtype=float32", *SETTINGS, *options
    )
    assert result.exit_code == 0, result.output
    return result


def test_heads_on_a_llama_become_a_model_that_scores(data: Path, llama: Path, tmp_path: Path):
    out, model, scores = tmp_path / "out", tmp_path / "model", tmp_path / "scores.jsonl"
    # The command that training names is the one that is given here.
    said = trained(data, llama, out).output
    [command] = [line for line in said.splitlines() if "samer assemble" in line]
    parts = shlex.split(command.partition(": ")[2])
    assert parts == ["urs-inspect", "samer", "assemble", str(llama), str(out), "MODEL"]
    assert tells(said, "samer score ... --model MODEL -S dtype=float32")
    assembled = call("assemble", *parts[3:5], model)
    assert assembled.exit_code == 0, assembled.output
    assert tells(assembled.output, "at the query") and "--dtype float32" in assembled.output
    assert call("check", model).exit_code == 0

    pairs = read_training(data, load_taxonomy())
    rows = [
        {"query": one.prompt, "response": text}
        for one in pairs
        for text in (one.response_a, one.response_b)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    options = ("-S", "engine=transformers", "-S", "dtype=float32")
    done = call("score", tmp_path / "rows.jsonl", scores, "--model", model, *options)
    assert done.exit_code == 0, done.output
    found = [
        json.loads(line)["overall"] for line in scores.read_text(encoding="utf-8").splitlines()
    ]
    cache = VectorCache(BackboneEmbedder(llama, dtype="float32", device="cpu").name)
    expected = predict_pairs(
        load_heads(out / "heads.safetensors"), pair_vectors(pairs, cache), "query"
    ).overall
    full = [bool(row["response"]) for row in rows]  # an empty response is 0 for a scorer
    assert np.array(found)[full] == pytest.approx(
        expected.reshape(-1)[full], abs=2e-3
    )  # vectors are kept in float16
    assert len(set(found)) > 10


def test_a_llama_that_has_heads_gets_the_others_and_loses_its_own(
    data: Path, llama: Path, tmp_path: Path
):
    trained(data, llama, tmp_path / "out")
    call("assemble", llama, tmp_path / "out" / "heads.safetensors", tmp_path / "model")
    weights = open_checkpoint(tmp_path / "model").weights
    assert len(weights.entries) == 20 and all(name.startswith("model.") for name in weights.entries)
    assert (tmp_path / "model" / weights.names[0]).samefile(llama / weights.names[0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda heads, llama: (llama / "chat_template.jinja").write_text(CHAT_TEMPLATE),
            "another backbone",
        ),
        (lambda heads, llama: (llama / "config.json").unlink(), "config.json is missing"),
        (lambda heads, llama: heads.unlink(), "no such file; ... heads"),
        (lambda heads, llama: heads.write_bytes(b"x" * 99), "not a safetensors"),
        (
            lambda heads, llama: save_heads(narrow_heads(), heads),
            "width 8; ... backbone",
        ),
        (
            lambda heads, llama: save_heads(
                load_heads(heads), heads, metadata={"backbone": "samer/beside/minilm"}
            ),
            "'samer/beside/minilm' ... no Llama",
        ),
    ],
)
def test_what_does_not_belong_together_is_refused(
    change: Any, said: str, data: Path, llama: Path, tmp_path: Path
):
    copy = Path(shutil.copytree(llama, tmp_path / "llama"))
    trained(data, llama, tmp_path / "out")
    change(tmp_path / "out" / "heads.safetensors", copy)
    result = call("assemble", copy, tmp_path / "out", tmp_path / "model")
    assert result.exit_code == 1 and tells(result.output, said)
    assert not (tmp_path / "model").exists()


def narrow_heads() -> Heads:
    return Heads(head_tensors(np.random.default_rng(0), 8, inner=SMALL))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (
            {"winner": None, "dimensions": {"Style": "tie"}},
            "4 held-out pairs ... no tie",
        ),
        (
            {"winner": "tie", "dimensions": {"Style": "tie"}},
            "4 held-out pairs ... no tie",
        ),
        ({"dimensions": {}}, "pair to fit ... dimension"),
    ],
)
def test_pairs_without_a_usable_label_are_refused_before_anything_is_computed(
    labels: dict[str, Any], said: str, letters: Letters, tmp_path: Path
):
    write_training(tmp_path / "pairs.jsonl", [pair(number, **labels) for number in range(20)])
    command = (
        "train",
        tmp_path / "pairs.jsonl",
        tmp_path / "out",
        "-S",
        "backbone=letters",
        *SETTINGS,
    )
    result = call(*command)
    assert result.exit_code == 1 and tells(result.output, said)
    assert letters.texts == 0 and not (tmp_path / "out").exists()
    result = call(*command, "-S", "held_out=0")
    assert ("Heads of epoch 3" in result.output) is bool(labels["dimensions"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-S", "backbone=word2vec"), "unknown similarity 'word2vec'"),
        (("-S", "backbone=llm/x"), "llm"),
        (("-S", "held_out=0.999"), "none to fit"),
        (("-S", "held_out=1"), "held_out ... less than 1"),
        (("-S", "learning_rate=0"), "learning_rate: ... above 0"),
        (("-S", "layout=above"), "layout: ... beside, joined"),
        (("-S", "loss=other"), "loss: ... paper, released"),
        (("-S", "epochs=0"), "epochs: ... at least 1"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    arguments: tuple[str, ...], said: str, letters: Letters, data: Path, tmp_path: Path
):
    result = call("train", data, tmp_path / "out", "-S", "backbone=letters", *arguments)
    assert result.exit_code == 1 and tells(result.output, said) and "Traceback" not in result.output
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x", encoding="utf-8")
    result = call("train", data, tmp_path / "out", "-S", "backbone=letters")
    assert result.exit_code == 1 and tells(result.output, "empty directory")


def test_a_full_disk_is_told_before_the_first_epoch(letters: Letters, data: Path, tmp_path: Path):
    """The system's own limit stands for the disk: no file of this process may grow beyond 64
    KiB.
    """
    out, before = tmp_path / "out", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        result = call("train", data, out, "-S", "backbone=letters", *SETTINGS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert result.exit_code == 1 and tells(result.output, f"{out / 'heads.safetensors'}: no room")
    assert os.strerror(errno.EFBIG) in result.output and "Traceback" not in result.output
    assert letters.texts > 0 and "epoch 1" not in result.output
    assert not out.exists()


@pytest.mark.parametrize("elsewhere", [True, False])
def test_heads_that_cannot_be_written_where_they_should_are_told_where_they_are(
    elsewhere: bool, letters: Letters, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out, temporary, write = tmp_path / "out", tmp_path / "temporary", tensor_file.write_tensors
    temporary.mkdir()

    def full(path: Path, *arguments: Any, **options: Any) -> None:
        if path.is_relative_to(out) or not elsewhere:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, *arguments, **options)

    call("train", data, tmp_path / "sound", "-S", "backbone=letters", *SETTINGS)
    monkeypatch.setattr(heads_module, "write_tensors", full)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    result = call("train", data, out, "-S", "backbone=letters", *SETTINGS)
    assert result.exit_code == 1 and "Traceback" not in result.output
    assert (
        f"{out / 'heads.safetensors'}: cannot be written ({os.strerror(errno.ENOSPC)})"
        in result.output
    )
    assert not out.exists()
    found = list(temporary.rglob("heads.safetensors"))
    if elsewhere:
        assert str(found[0]) in result.output
        assert found[0].read_bytes() == (tmp_path / "sound" / "heads.safetensors").read_bytes()
    else:
        assert not found and tells(result.output, "heads are lost")


def test_a_report_that_cannot_be_written_does_not_hide_the_heads(
    letters: Letters, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out, write = tmp_path / "out", Path.write_text

    def full(path: Path, *arguments: Any, **options: Any) -> int:
        if path.is_relative_to(out):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", full)
    result = call("train", data, out, "-S", "backbone=letters", *SETTINGS)
    assert result.exit_code == 1 and "Traceback" not in result.output
    assert f"{out / 'training.json'}: cannot be written" in result.output
    assert str(out / "heads.safetensors") in result.output
    assert load_heads(out / "heads.safetensors").hidden_size == 16


def test_missing_torch_is_one_line(
    letters: Letters, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in [name for name in sys.modules if name.startswith("urs_inspect.samer._neural")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    result = call("train", data, tmp_path / "out", "-S", "backbone=letters")
    assert result.exit_code == 1 and "pip install 'urs-inspect[samer]'" in result.output


def test_a_folder_of_results_is_made_with_those_above_it_and_goes_if_it_stays_empty(
    tmp_path: Path,
) -> None:
    out = tmp_path / "deep" / "er" / "out"
    with training_command._new_folder(out):
        assert out.is_dir()
    assert not out.exists()
    with training_command._new_folder(out):
        (out / "heads").touch()
    assert out.is_dir()
    (out / "heads").unlink()
    with training_command._new_folder(out):
        pass
    assert out.is_dir()  # it was there before
    (tmp_path / "file").touch()
    with (
        pytest.raises(InputError, match=r"file/out: cannot be made \(Not a directory"),
        training_command._new_folder(tmp_path / "file" / "out"),
    ):
        raise AssertionError


def test_a_backbone_without_vectors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "load_similarity", lambda spec: object())
    with pytest.raises(InputError, match="backbone 'rouge' gives no vectors"):
        training_command.load_embedder("rouge", "beside", "float32")
