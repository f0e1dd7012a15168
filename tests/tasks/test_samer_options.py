"""What `-T` says of SaMer reaches the engine and the log."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from tests.samer.checkpoints import declaring, tiny_checkpoint
from tests.samer.conftest import SMALL
from tests.tasks.commands import succeed
from tests.tasks.scripted import run, samples_of
from urs_inspect._util import InputError
from urs_inspect.tasks import judge_pairwise, mad, md_eval, urs

ENGINE: dict[str, Any] = {"engine": "transformers"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny checkpoint whose heads were trained with weights read at the query."""
    folder = tmp_path_factory.mktemp("samer") / "told"
    return declaring(tiny_checkpoint(folder, inner_widths=SMALL, max_positions=8192), "query")


def facts(log: EvalLog) -> Any:
    [sample] = samples_of(log)
    assert sample.scores is not None
    return (sample.scores["samer"].metadata or {})["samer"]


@pytest.mark.parametrize(
    ("given", "dtype", "weights_at"),
    [({}, "float32", "query"), ({"dtype": "bfloat16", "weights_at": "response"}, "bfloat16", "response")],
)
def test_urs_hands_type_and_reading_on(
    given: dict[str, Any], dtype: str, weights_at: str, told: Path, tmp_path: Path
) -> None:
    task = urs(dataset="sample", scorer="samer", samer=str(told), **ENGINE, **given)
    log = run(task, tmp_path, model="urs_simulation/weak", grader=None, limit=1)
    assert log.status == "success", log.error
    assert (facts(log)["dtype"], facts(log)["weights_at"]) == (dtype, weights_at)


@pytest.mark.parametrize("make", [md_eval, lambda **given: judge_pairwise("absent.jsonl", **given), mad])
def test_pair_tasks_hand_the_type_on(make: Any, told: Path) -> None:
    with pytest.raises(InputError, match="dtype 'half'; allowed: auto, float32, bfloat16, float16"):
        make(judge="samer", samer=str(told), dtype="half", **ENGINE)
    for given in ({"dtype": "float32"}, {"weights_at": "response"}):
        with pytest.raises(InputError, match="folder, dtype: only with judge=samer"):
            make(judge="baseline/longest", **given)


def test_the_type_is_an_option_of_the_command(told: Path, tmp_path: Path) -> None:
    engine = ("-T", f"samer={told}", "-T", "engine=transformers", "-T", "dtype=bfloat16")
    task = ("urs_inspect/urs", "--model", "urs_simulation/weak", "-T", "dataset=sample", "-T", "scorer=samer")
    succeed("eval", *task, *engine, "--limit", "1", "--display", "none", "--log-dir", str(tmp_path), tmp_path=tmp_path)
    [path] = tmp_path.glob("*.eval")
    assert facts(read_eval_log(str(path)))["dtype"] == "bfloat16"
    again = ("urs_inspect/samer", "-S", f"model={told}", "-S", "engine=transformers", "-S", "dtype=float16")
    out = tmp_path / "again.eval"
    more = ("--action", "overwrite", "--output-file", str(out))
    succeed("score", str(path), "--scorer", *again, *more, tmp_path=tmp_path)
    assert facts(read_eval_log(str(out)))["dtype"] == "float16"
