"""`urs-inspect samer check` and `export`, and folders that are no backbone for `embed` and
`train`.
"""

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.samer.checkpoints import change_json, tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.samer.stubs import pair
from tests.samer.test_checkpoint import BAD, no_heads, rewrite
from tests.samer.test_weights import spoil
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.cli._first_screen import LINES
from urs_inspect.discrepancy._vector_cache import VectorCache
from urs_inspect.samer._checkpoint_check import open_backbone
from urs_inspect.samer._conversation import Conversations
from urs_inspect.samer._engines.vllm_server import stock_options
from urs_inspect.samer._pairs import write_training

_OF_HEADS = {
    "ArmoRM itself",
    "a plain classifier",
    "a plain Llama",
    "one weight is missing",
    "another hidden size",
    "widths that do not fit",
    "heads that differ",
    "41 dimensions",
    "NaN in a head",
    "GRM",
    "INF-ORM",
    "Nemotron",
    "a bias of a head",
    "parts of its own",
}
"""Folders that lack nothing but heads; vectors can be made of them."""
_OTHERWISE = {
    "wrapped by torch.compile": "weights of the backbone are missing",
    "wrapped by data parallelism": "weights of the backbone are missing",
    "too small a vocabulary": r"embed_tokens.weight has shape \(270, 64\); expected \(269, 64\)",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_checkpoint(tmp_path / "m", inner_widths=SMALL, shards=3)


def test_check_shows_what_it_looked_at(run: Run, folder: Path) -> None:
    result = run("samer", "check", str(folder))
    assert result.exit_code == 0
    rows = dict(
        line.strip().split("  ", 1) for line in result.output.splitlines() if "  " in line.strip()
    )
    facts = {name: value.strip() for name, value in rows.items()}
    assert facts["architecture"] == "LlamaForSequenceClassification (llama)"
    assert facts["hidden size"] == "64"
    assert facts["num hidden layers"] == "2"
    assert facts["dimensions"] == "42"
    assert facts["dtype"] == "F32"
    assert facts["max position embeddings"] == "512"
    assert facts["end of turn"] == "<|eot_id|> = 269"
    assert facts["tokenizer"] == "270 tokens"
    assert facts["weights"].startswith("33 tensors in 3 files")
    assert facts["layout"] == "released"
    assert tells(result.output, "note: ... (24, 16, 16, 16)")
    assert result.output.rstrip().endswith("ok: a SaMer checkpoint")
    assert len(result.output.splitlines()) <= LINES


def test_check_fails_and_lists_the_faults(run: Run, folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "model-00003-of-00003.safetensors").unlink()
    result = run("samer", "check", str(folder))
    assert result.exit_code == 1
    assert tells(result.output, "1 of 3 weight files ... model-00003-of-00003.safetensors")
    assert "tokenizer.json is missing" in result.output
    assert result.output.count("error:") == 2
    assert "ok:" not in result.output


def test_check_reads_every_weight_unless_it_should_be_quick(run: Run, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "m", inner_widths=SMALL)
    assert "all finite" in run("samer", "check", folder).output
    spoil(folder, "model.layers.1.mlp.up_proj.weight")
    result = run("samer", "check", folder)
    assert result.exit_code == 1
    assert tells(result.output, "model.layers.1.mlp.up_proj.weight has 1 values of 8,192")
    quick = run("samer", "check", folder, "--quick")
    assert quick.exit_code == 0 and "all finite" not in quick.output


def test_export_says_what_it_wrote_by_whole_paths(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is for a shell that need not stand in the same folder."""
    monkeypatch.chdir(tmp_path)
    result = run("samer", "export", "m", "made/out")
    assert result.exit_code == 0, result.output
    out = Path.cwd() / "made" / "out"
    assert f"backbone:  {out}\n" in result.output
    assert f"heads:     {out / 'samer_heads' / 'heads.safetensors'}\n" in result.output
    [command] = [line for line in result.output.splitlines() if line.startswith("serve:")]
    assert shlex.split(command)[1:] == [
        "vllm",
        "serve",
        str(out),
        *stock_options(Conversations(folder).end_of_turn),
    ]
    assert run("samer", "check", str(out)).exit_code == 0
    again = run("samer", "export", "m", str(out))
    assert again.exit_code == 1
    assert tells(again.output, "already there ... empty folder")


# ## A folder that vectors are to be made of


@pytest.mark.parametrize("name", sorted(BAD))
def test_every_bad_backbone_is_named_and_heads_make_no_difference(name: str, folder: Path) -> None:
    break_it, message = BAD[name]
    break_it(folder)
    if name in _OF_HEADS:
        open_backbone(folder)
        return
    with pytest.raises(InputError, match=_OTHERWISE.get(name, message)) as caught:
        open_backbone(folder)
    assert str(caught.value).startswith(f"backbone {folder}") and "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["embed", "train"])
def test_a_bad_backbone_is_one_line_and_nothing_is_computed(
    command: str, run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VectorCache, "add", lambda *_: pytest.fail("vectors were computed"))
    write_training(data := tmp_path / "pairs.jsonl", [pair(number) for number in range(3)])
    (folder / "tokenizer.json").unlink()
    more = [str(tmp_path / "out")] if command == "train" else []
    done = run("samer", command, str(data), "-S", f"backbone={folder}", *more)
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit)
    [line] = [line for line in done.output.splitlines() if line.strip()]
    assert line.startswith(f"Error: backbone {folder}")


def test_names_without_their_prefix_and_biases_that_are_not_there_are_told(folder: Path) -> None:
    change_json(folder / "config.json", attention_bias=True)
    with pytest.raises(InputError, match=r"8 weights.*missing"):
        open_backbone(folder)
    change_json(folder / "config.json", attention_bias=False)
    rewrite(
        folder,
        lambda tensors: {
            name.removeprefix("model."): array for name, array in no_heads(tensors).items()
        },
    )
    with pytest.raises(InputError, match=r"lack 'model\.'.*model\.embed_tokens\.weight"):
        open_backbone(folder)
