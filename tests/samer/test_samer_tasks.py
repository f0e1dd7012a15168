"""SaMer in the tasks, with a tiny random checkpoint and a real engine.

Numbers compared with a plain computation.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.log import EvalLog, EvalSample, read_eval_log

from tests.reports.json_files import write_rows
from tests.samer.checkpoints import tiny_checkpoint
from tests.samer.pooling_server import fails, pooling_server, says, step_script
from tests.samer.reference import Reference
from tests.tasks.commands import refused, succeed
from tests.tasks.contests import Field, compete, outcomes, pool_file, rows
from tests.tasks.scripted import judge_numbers, metric_values, run, samples_of
from tests.telling import tells
from urs_inspect._util import InputError
from urs_inspect.judges._judges import read_judge
from urs_inspect.samer import load_taxonomy
from urs_inspect.samer._conversation import Conversations
from urs_inspect.samer._evaluation import RawOutputs, evaluate
from urs_inspect.samer._report import read_weights
from urs_inspect.tasks import judge_pairwise, mad, md_eval, urs

DIMENSIONS = load_taxonomy().dimensions


def options(checkpoint: Path, **more: Any) -> dict[str, Any]:
    """The argument `samer`."""
    return {"model": str(checkpoint), "engine": "transformers", **more}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny checkpoint that takes long texts, since its tokens are bytes."""
    return tiny_checkpoint(tmp_path_factory.mktemp("samer") / "checkpoint", max_positions=8192)


def plain(
    reference: Reference, query: str, response: str, weights_at: str = "response"
) -> RawOutputs:
    """Outputs by two passes of a plain transformers model and torch heads."""
    found = reference.outputs(reference.ids(query), reference.ids(query, response), weights_at)
    return RawOutputs(**found)


def score_of(sample: EvalSample, name: str = "samer") -> Any:
    assert sample.scores is not None and sample.error is None
    return sample.scores[name]


def answered(
    log_dir: Path, samer: dict[str, Any], *, limit: int = 4, grader: Any = None, **arguments: Any
) -> EvalLog:
    task = urs(dataset="sample", samer=samer, **{"scorer": "samer", **arguments})
    log = run(task, log_dir, model="urs_simulation/weak", grader=grader, limit=limit)
    assert log.status == "success", log.error
    return log


# ## urs


@pytest.mark.parametrize("weights_at", ["response", "query"])
def test_urs_by_samer_has_the_numbers_of_a_plain_computation(
    weights_at: str, checkpoint: Path, tmp_path: Path
) -> None:
    log = answered(tmp_path, options(checkpoint, weights_at=weights_at))
    reference = Reference(checkpoint)
    for sample in samples_of(log):
        score = score_of(sample)
        expected = evaluate(
            plain(reference, str(sample.input), sample.output.completion, weights_at)
        )
        assert score.metadata["overall"] == pytest.approx(expected.overall, abs=1e-5)
        assert score.value["overall"] == round(score.metadata["overall"], 4)
        for at, name in enumerate(DIMENSIONS):
            wanted = expected.scores[at] if expected.selected[at] else math.nan
            assert score.value[name] == pytest.approx(wanted, abs=6e-5, nan_ok=True)  # four places
        weights = [score.metadata["weights"].get(name, 0.0) for name in DIMENSIONS]
        np.testing.assert_allclose(weights, expected.weights, atol=1e-5)
    assert log.results is not None and log.results.headline is not None
    assert (log.results.headline.scorer, log.results.headline.metric) == ("samer", "overall")
    assert {
        score_of(sample, "samer_outcome").value["evaluation"] for sample in samples_of(log)
    } == {"scored"}
    assert "intent_judge" not in (samples_of(log)[0].scores or {})


def test_judge_and_samer_stand_side_by_side(checkpoint: Path, tmp_path: Path) -> None:
    log = answered(tmp_path, options(checkpoint), scorer="both", grader="urs_simulation/judge")
    for sample in samples_of(log):
        assert list(sample.scores or {}) == [
            "intent_judge",
            "judge_outcome",
            "samer",
            "samer_outcome",
        ]
        assert 1 <= score_of(sample, "intent_judge").value["final"] <= 10
        assert 0 <= score_of(sample).value["overall"] <= 1
    assert log.results is not None and log.results.headline is not None
    assert log.results.headline.scorer == "intent_judge"
    [view] = [log.eval.viewer.task_samples_view] if log.eval.viewer else []
    columns = [column.id for column in view.columns or []]  # type: ignore[union-attr]
    assert len(columns) == len(set(columns))


# ## inspect score, on the command line


def test_a_log_is_scored_afterwards(checkpoint: Path, tmp_path: Path) -> None:
    log = run(
        urs(dataset="sample"),
        tmp_path,
        model="urs_simulation/weak",
        grader="urs_simulation/judge",
        limit=2,
    )
    output = tmp_path / "scored.eval"
    given = (
        "-S",
        f"model={checkpoint}",
        "-S",
        "engine=transformers",
        "-S",
        "dtype=float16",
        "--action",
        "append",
    )
    succeed(
        *(
            "score",
            log.location,
            "--scorer",
            "urs_inspect/samer",
            *given,
            "--output-file",
            str(output),
        ),
        tmp_path=tmp_path,
    )
    for sample in samples_of(read_eval_log(str(output))):
        assert list(sample.scores or {}) == ["intent_judge", "judge_outcome", "samer"]
        assert 0 < score_of(sample).value["overall"] < 1
        assert score_of(sample).metadata["samer"]["dtype"] == "float16"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("model=empty", "engine=transformers"), "no weights; expected model.safetensors"),
        (("model=absent",), "samer 'absent': no such folder"),
        (("model=empty", "dtyp=auto"), "samer: ... 'dtyp'"),
        (("model=http://127.0.0.1:9x",), "not an address"),
    ],
)
def test_what_scoring_afterwards_refuses_is_said_in_our_words(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = run(
        urs(dataset="sample"),
        tmp_path,
        model="urs_simulation/weak",
        grader="urs_simulation/judge",
        limit=1,
    )
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    before = Path(log.location).read_bytes()
    given = [part for argument in arguments for part in ("-S", argument)]
    told = refused(
        *("score", log.location, "--scorer", "urs_inspect/samer", *given, "--overwrite"),
        monkeypatch=monkeypatch,
        capsys=capsys,
    )
    assert told.status == 1 and "Traceback" not in told.error
    assert tells(told.error, said) and told.error.startswith("Error: ")
    assert Path(log.location).read_bytes() == before


# ## Judging pairs


@pytest.mark.data
def test_md_eval_by_samer_is_reported_as_any_judge(
    checkpoint: Path, data_dir: Path, tmp_path: Path
) -> None:
    task = md_eval(judge="samer", samer=options(checkpoint), scenarios="title_generation,ranking")
    log = run(task, tmp_path, model="none/none", grader=None, limit=6)
    assert log.status == "success", log.error
    reference = Reference(checkpoint)
    for sample in samples_of(log):
        facts, given = score_of(sample, "pair_verdict").metadata, sample.metadata
        sides = [
            evaluate(plain(reference, given["prompt"], given[f"response_{side}"])) for side in "ab"
        ]
        verdicts = facts["verdicts"]["a"]
        assert set(verdicts) == {*given["dimensions"], "Overall"}
        assert verdicts["Overall"] == ("a" if sides[0].overall > sides[1].overall else "b")
        for name in given["dimensions"]:
            one, other = (side.scores[DIMENSIONS.index(name)] for side in sides)
            assert verdicts[name] == ("a" if one > other else "b")
        assert len(facts["weights"]) == 2
    metrics = judge_numbers(log)
    assert {
        "overall accuracy",
        "dimension accuracy",
        "baseline longest overall accuracy",
    } <= metrics.keys()
    assert metrics["overall unread"] == metrics["dimension unread"] == 0
    result = read_judge(log)
    assert result is not None and result.judge == "samer/checkpoint"
    [first, *_] = read_weights([log])
    assert sum(first.weights.values()) == pytest.approx(1, abs=1e-5)


def test_a_bench_of_pairs_is_judged(checkpoint: Path, tmp_path: Path) -> None:
    rows = [
        {"prompt": f"Why {n}?", "response_a": "Because.", "response_b": "So " * n, "label": "a"}
        for n in (1, 2)
    ]
    task = judge_pairwise(
        str(write_rows(tmp_path / "pairs.jsonl", *rows)), judge="samer", samer=options(checkpoint)
    )
    log = run(task, tmp_path / "logs", model="none/none")
    reference = Reference(checkpoint)
    for sample in samples_of(log):
        one, other = (
            evaluate(
                plain(reference, sample.metadata["prompt"], sample.metadata[f"response_{side}"])
            ).overall
            for side in "ab"
        )
        [verdict] = [
            found["Overall"]
            for found in score_of(sample, "pair_verdict").metadata["verdicts"].values()
        ]
        assert verdict == ("a" if one > other else "b")


# ## mad


def test_samer_ranks_contestants_without_a_grader(checkpoint: Path, tmp_path: Path) -> None:
    field = Field("ace", "poor")
    roles = {"contestant": field.roles()["contestant"]}
    task = mad(str(pool_file(tmp_path)), k=3, judge="samer", samer=options(checkpoint))
    log = compete(task, tmp_path / "logs", roles)
    assert log.status == "success", log.error
    reference = Reference(checkpoint)
    compared = [sample for sample in samples_of(log) if "ballot" in sample.metadata]
    assert len(compared) == 3
    expected = {}
    for sample in compared:
        ballot = sample.metadata["ballot"]
        one, other = (
            evaluate(plain(reference, ballot["instruction"], ballot[f"response_{side}"])).overall
            for side in "ab"
        )
        expected[ballot["id"]] = 1.0 if one > other else 0.0
        facts = score_of(sample, "pair_choice").metadata
        assert facts["judges"] == ["samer"] and facts["flips"] == 0
        assert len(facts["weights"]) == 2
        assert "#### mockllm/ace" in score_of(sample, "pair_choice").explanation
    assert outcomes(log) == expected
    assert rows(log)["comparisons"] == 3
    assert not field.judge.seen


# ## A server that fails


def test_a_fault_of_the_server_costs_the_samples_that_it_meets(
    checkpoint: Path, tmp_path: Path
) -> None:
    sound = step_script(Conversations(checkpoint).end_of_turn, 64)
    with pooling_server(
        lambda number, body: fails(401) if number and number % 2 else sound(number, body)
    ) as server:
        server.models = says({"data": [{"id": "samer", "max_model_len": 8192}]})
        log = answered(
            tmp_path, {"model": server.url, "engine": "server", "folder": str(checkpoint)}
        )
        assert len(server.asked) == 1 + len(samples_of(log))  # first it is asked once what it is
    outcome = [score_of(sample, "samer_outcome").value["evaluation"] for sample in samples_of(log)]
    assert sorted(outcome) == ["scored"] * 2 + ["unscored_refused"] * 2
    assert metric_values(log, "samer")["failures refused"] == 2
    assert all(sample.output.completion for sample in samples_of(log))  # no answer is lost


def test_a_server_that_is_down_is_one_line_before_any_call(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urs_inspect.samer._engines.vllm_server._wait", lambda *_: 0.0)
    with pytest.raises(InputError, match=r"samer=http://127\.0\.0\.1:9: no vLLM"):
        urs(
            dataset="sample",
            scorer="samer",
            samer={"model": "http://127.0.0.1:9", "folder": str(checkpoint)},
        )
