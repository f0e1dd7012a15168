"""Tables of answers made by hand."""

import math
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pandas as pd
from inspect_ai.log import EvalLog

from urs_inspect.reports.numbers._answers import Answers, read_answers
from urs_inspect.reports.numbers._leaderboard import Ranking, make_leaderboard
from urs_inspect.stats import Estimate

JUDGE = "p/judge"


def row(model: str, question: str, final: float, **others: Any) -> dict[str, Any]:
    """An answer as the table has it.

    The id of a question names its intent and language, as in `leisure-en-1`.
    """
    parts = question.split("-")
    intent, language = (parts[0], parts[1]) if len(parts) == 3 else ("leisure", "en")
    groups = {"leisure": "Leisure", "factual_qa": "Factual QA", "api": "Solve Problem"}
    outcome = "unscored_refusal" if math.isnan(final) else "judged"
    given: dict[str, Any] = {
        "log": f"/logs/{model}.eval",
        "model": model,
        "base_model": model,
        "task": "urs_inspect/urs",
        "dataset": "d",
        "dataset_sha256": "a" * 64,
        "references": "",
        "task_version": "1-A",
        "question": question,
        "epoch": 1,
        "intent": intent,
        "group": groups.get(intent, "Solve Problem"),
        "language": language,
        "country": "",
        "cluster": "",
        "final": final,
        "criterion/clarity": final,
        "criterion/factuality": math.nan,
        "not_shown": "",
        "outcome": outcome,
        "cut_off": str(others.get("outcome", "")).endswith("_cut_off"),
        "judges": JUDGE,
        "earlier_finals": (),
        "earlier_judge_finals": (),
        "reply_counts": {},
        "judge_temperatures": "0",
        "self_judged": False,
        "structured": 0.0,
        "judge_language": language,
        "prompt_sha256": f"{intent}/{language}",
        "rubric": "urs 1",
        "answer_length": 100.0,
        "answer_digest": f"{model} {question} {others.get('epoch', 1)}",
        "input_tokens": 10.0,
        "output_tokens": 20.0,
        "judge_input_tokens": 30.0,
        "judge_output_tokens": 40.0,
        "cost": math.nan,
        "judge_cost": 0.5,
        "seconds": 2.0,
        "error": "",
        **others,
    }
    return {"judge_finals": {name: final for name in given["judges"].split(", ") if name}, **given}


def rows(model: str, finals: Mapping[str, float], **others: Any) -> list[dict[str, Any]]:
    """Answers of a model, question -> final score."""
    return [row(model, question, final, **others) for question, final in finals.items()]


def answers(*models: list[dict[str, Any]], left_out: tuple[str, ...] = ()) -> Answers:
    """The answers of several models."""
    return Answers(pd.DataFrame([one for rows in models for one in rows]), {}, left_out)


def answers_of(finals: Mapping[str, Iterable[float]], names: Sequence[str] = ()) -> Answers:
    """The answers of several models to the same questions, by default of one intent: model -> final
    scores.
    """
    given = {model: [float(value) for value in values] for model, values in finals.items()}
    ids = names or [f"leisure-en-{number:03}" for number in range(max(map(len, given.values())))]
    return answers(
        *(rows(model, dict(zip(ids, values, strict=False))) for model, values in given.items())
    )


def ranking_of(found: Answers, **options: Any) -> Ranking:
    """The first ranking of answers, with few rounds of the bootstrap."""
    return make_leaderboard(found, **{"rounds": 200, **options}).rankings[0]


def ranking_of_log(log: EvalLog) -> Ranking:
    """The ranking of the model of a log."""
    return ranking_of(read_answers([log.location]))


class ModelFacts(SimpleNamespace):
    """What a ranking holds about a model: facts and means by their names."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def models_of(ranking: Ranking) -> list[ModelFacts]:
    """The models of a ranking, in order."""
    return [_facts(ranking, name) for name in ranking.compared.names]


def model_of(found: Answers | Ranking, name: str = "", **options: Any) -> ModelFacts:
    """One model of answers or of a ranking; the only one if no name is given."""
    ranking = found if isinstance(found, Ranking) else ranking_of(found, **options)
    return _facts(ranking, name or ranking.compared.names[0])


def _facts(ranking: Ranking, name: str) -> ModelFacts:
    facts = {str(key): value for key, value in ranking.compared.models.loc[name].to_dict().items()}
    ranks = (facts["rank_from"], facts["rank_to"])
    columns = ranking.columns

    def means(keys: Iterable[str]) -> dict[str, Estimate]:
        known = {key: ranking.compared.mean(name, key) for key in keys}
        return {key: mean for key, mean in known.items() if mean.n}

    return ModelFacts(
        **{key: value for key, value in facts.items() if not key.startswith("outcome/")},
        model=name,
        ranks=None if ranks[0] is None else ranks,
        all=ranking.compared.mean(name),
        by_group=means(columns.groups),
        by_part=means(columns.parts),
        by_language=means(columns.languages),
        by_cell=means(columns.cells),
        by_country=means(columns.countries),
        by_criterion={
            key: ranking.compared.mean(name, f"criterion/{key}") for key in ranking.criteria
        },
        outcomes={
            key[8:]: count for key, count in facts.items() if key.startswith("outcome/") and count
        },
        bins=list(ranking.lengths[ranking.lengths["model"] == name].itertuples()),
    )
