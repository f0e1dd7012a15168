"""Lengths that logs tell, model by model and judge by judge, worked out by hand."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.reports.intent.judged_logs import answered, judgement, tokens, write_judged
from urs_inspect.errors import InputError
from urs_inspect.reports.estimate import Amount, Lengths, assumed_lengths, measured_lengths, read_actual

NO_REFERENCE = Amount.exactly(0)
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def log(
        model: str,
        judges: list[str],
        *usages: Mapping[str, int],
        grader: int | None = None,
        language: str = "en",
        rescored: bool = False,
    ) -> str:
        """A log with an answer for each usage, model -> tokens received; those of the role are the judges' together."""
        samples = []
        for place, usage in enumerate(usages):
            judged = judgement(5, judge_finals=[[name, 5.0] for name in judges])
            together = sum(usage[name] for name in set(judges)) if grader is None else grader
            samples.append(
                answered(
                    f"q{place}",
                    *[judged] * (2 if rescored else 1),
                    metadata={"language": language},
                    model_usage={name: tokens(100, received) for name, received in usage.items()},
                    role_usage={"grader": tokens(100, together)},
                )
            )
        file = f"{model}{language}{judges}".replace("/", "-")
        return write_judged(tmp_path / "logs" / f"{file}.eval", *samples, model=model, roles={"grader": judges})

    return log


def measured(*logs: str, models: tuple[str, ...] = (), judges: tuple[str, ...] = ()) -> Lengths:
    return measured_lengths(logs, assumed_lengths(), models=models, judges=judges)


def answer(found: Lengths, model: str, language: str = "en") -> float:
    return found.answer(model, language, NO_REFERENCE).expected


def test_each_model_has_its_own_answers_and_others_the_mean_of_models(write: Write) -> None:
    # p/m answers with 10 and 20 tokens, p/n with 95 twice: 15 and 95, and (15 + 95) / 2 = 55 for another.
    logs = [
        write("p/m", ["p/j"], {"p/m": 10, "p/j": 200}, {"p/m": 20, "p/j": 200}),
        write("p/n", ["p/j"], {"p/n": 95, "p/j": 200}, {"p/n": 95, "p/j": 200}),
    ]
    found = measured(*logs, models=("p/m", "p/x"), judges=("p/j",))
    assert (answer(found, "p/m"), answer(found, "p/n"), answer(found, "p/x")) == (15, 95, 55)
    pooled = found.answer("p/x", "en", NO_REFERENCE)
    assert pooled.low <= 15 and pooled.high == 95
    assert found.about_answers[:2] == (
        "Answers of p/m are taken to be as long as measured: en 15 tokens.",
        "Answers of p/x, which the logs do not have, are taken to be as long as those of p/m, p/n, pooled: en 55 "
        "tokens.",
    )
    assert found.about_judgements == ("Replies of p/j are taken to be as long as measured: en 200 tokens.",)


def test_each_judge_of_a_panel_has_its_own_tokens(write: Write) -> None:
    log = write("p/m", ["p/j", "p/k"], {"p/m": 10, "p/j": 100, "p/k": 300}, {"p/m": 10, "p/j": 120, "p/k": 300})
    found = measured(log, judges=("p/j", "p/k", "p/x"))
    assert [found.judgement(judge, "en").expected for judge in ("p/j", "p/k", "p/x")] == [110, 300, 205]
    assert not any("as a whole" in sentence for sentence in found.about_judgements)
    assert "Replies of p/x, which the logs do not have," in found.about_judgements[2]


def test_a_judge_that_judges_itself_is_charged_without_its_answers(write: Write) -> None:
    # Of p/m's 60 tokens 10 are its answer: the usage of all models less that of the role.
    log = write("p/m", ["p/m", "p/k"], {"p/m": 60, "p/k": 300}, grader=350)
    found = measured(log)
    assert answer(found, "p/m") == 10
    assert [found.judgement(judge, "en").expected for judge in ("p/m", "p/k")] == [50, 300]


def test_a_panel_that_is_counted_as_a_whole_is_divided_and_that_is_said(write: Write) -> None:
    log = write("p/m", ["p/j", "p/j"], {"p/m": 10, "p/j": 200})
    found = measured(log, models=("p/m",), judges=("p/j",))
    assert found.judgement("p/j", "en").expected == 100
    assert found.about_judgements[-1] == (
        "The log counts the panel of p/j as a whole: an equal share of its tokens is taken for each judge."
    )
    # Usage of models that does not add up to that of the role is not relied on.
    odd = measured(write("p/n", ["p/j", "p/k"], {"p/n": 10, "p/j": 70, "p/k": 20}, grader=400))
    assert odd.judgement("p/j", "en").expected == odd.judgement("p/k", "en").expected == 200


def test_a_language_that_no_log_has_is_assumed_and_that_is_said(write: Write) -> None:
    found = measured(write("p/m", ["p/j"], {"p/m": 10, "p/j": 200}), models=("p/m",), judges=("p/j",))
    assert found.answer("p/m", "zh", Amount.exactly(40)).expected == 40
    assert found.judgement("p/j", "zh") == assumed_lengths().judgement("p/j", "zh")
    assert "The logs have answers in one language" in found.about_answers[1]


def test_judges_of_a_log_that_was_judged_again_are_not_known(write: Write) -> None:
    found = measured(write("p/m", ["p/j"], {"p/m": 10, "p/j": 200}, rescored=True), judges=("p/j",))
    assert found.judgement("p/j", "en") == assumed_lengths().judgement("p/j", "en")
    assert found.about_judgements[0] == "Replies: the logs count no tokens of them."


def test_logs_without_usage_are_an_error(tmp_path: Path) -> None:
    log = write_judged(tmp_path / "log.eval", answered("q", judgement(5)))
    with pytest.raises(InputError, match="--from: no usage of tokens in"):
        measured(log)


def test_what_a_panel_took_stands_judge_by_judge(tmp_path: Path) -> None:
    from inspect_ai import eval as inspect_eval

    from urs_inspect.tasks import urs

    judges = ["urs_simulation/judge", "urs_simulation/quality-8"]
    [log] = inspect_eval(
        urs(dataset="sample"),
        model="urs_simulation/quality-8",
        model_roles={"grader": judges},
        limit=4,
        log_dir=str(tmp_path),
        display="none",
    )
    found = {(one.role, one.model): one for one in read_actual([str(tmp_path)], "urs").roles}
    assert list(found) == [("model", judges[1]), *[("grader", judge) for judge in judges]]
    assert all(one.samples == 4 for one in found.values())
    used = log.stats.model_usage
    both = found["model", judges[1]].output_tokens + found["grader", judges[1]].output_tokens
    assert both == used[judges[1]].output_tokens
    together = sum(found["grader", judge].output_tokens for judge in judges)
    assert together == log.stats.role_usage["grader"].output_tokens
