"""URS cases as a dataset of lm-eval."""

from typing import Any

from datasets import Dataset
from urs_inspect.datasets import UrsCase, Vocabulary, in_proportion, load_urs, select
from urs_inspect.lmeval_tasks.settings import read_settings
from urs_inspect.rubrics import load_rubric

_SEED = 0


def load_cases(language: str | None = None, **metadata: Any) -> dict[str, Dataset]:
    """The split `test`: cases in the order of the task of inspect-ai, so that the same `--limit` takes the same cases.

    `language` is one of the rubric's, None for all; of the task's metadata, `urs_dataset` and `judge_rubric` are used.
    """
    settings = read_settings(metadata)
    rubric = load_rubric(settings.judge_rubric, settings.judge_prompt)
    data = load_urs(settings.urs_dataset, Vocabulary(rubric.intent_id, rubric.language_code))
    languages = None if language is None else [rubric.language_code(language)]
    cases = in_proportion(select(data.cases, languages=languages, intents=None), _SEED)

    def row(case: UrsCase) -> dict[str, str]:
        return {
            "id": case.id,
            "question": case.question.strip(),
            "reference": case.reference.strip(),
            "intent": case.intent,
            "intent_group": rubric.intents[case.intent].group,
            "language": case.language,
            "dataset_sha256": data.sha256,
        }

    return {"test": Dataset.from_list([row(case) for case in cases])}
