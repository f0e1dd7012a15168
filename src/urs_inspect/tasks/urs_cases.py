"""Which URS cases a run is about, in which order, and against which references."""

from dataclasses import dataclass
from logging import getLogger

from urs_inspect.datasets import UrsCase, UrsData, Vocabulary, in_proportion, load_urs, select
from urs_inspect.datasets.references import References, unusable, with_references
from urs_inspect.errors import InputError
from urs_inspect.reports.references import read_references
from urs_inspect.rubrics import Rubric
from urs_inspect.tasks import arguments
from urs_inspect.tasks.asked_cases import asked_cases

logger = getLogger(__name__)

_SOME_CASES = (
    "A run of some cases needs references for these alone where `inspect eval` chooses them by `--limit` or "
    "`--sample-id`, without `--sample-shuffle` or `--run-config`; in a script, name a file of these cases as `dataset`"
)


@dataclass(frozen=True)
class CaseChoice:
    """A choice of cases, checked as far as that goes without the data.

    Attributes:
        dataset: As for `load_urs`.
        vocabulary: How labels in the data become ids.
        languages: Languages of the cases; None for all.
        intents: Intents of the cases; None for all.
        seed: Seed of the order.
        lenient: Whether faulty rows of a user's own file are left out.
        references: Reference answers in place of those of the data; None for those.
    """

    dataset: str
    vocabulary: Vocabulary
    languages: list[str] | None
    intents: list[str] | None
    seed: int
    lenient: bool
    references: References | None

    def load(self, *, need_references: bool = True, only_asked: bool = False) -> tuple[UrsData, list[UrsCase]]:
        """Read the data.

        Args:
            need_references: Whether every case needs a reference.
            only_asked: Whether cases that the running command leaves out need none in `references`. Where some have
                none, the cases that are left out are none of the chosen ones.

        Returns:
            The data, and the chosen cases in their order.

        Raises:
            InputError: If the data cannot be had or is faulty, no case is left, or a reference is missing.
        """
        needed = need_references and self.references is None
        data = load_urs(self.dataset, self.vocabulary, lenient=self.lenient, need_references=needed)
        if data.skipped:
            logger.warning(f"{len(data.skipped)} faulty rows of {data.name} were skipped, the first: {data.skipped[0]}")
        ordered = in_proportion(select(data.cases, languages=self.languages, intents=self.intents), self.seed)
        return data, ordered if self.references is None else self._with(self.references, ordered, only_asked)

    def _with(self, references: References, cases: list[UrsCase], only_asked: bool) -> list[UrsCase]:
        if not only_asked or not unusable(cases, references):
            return with_references(cases, references)
        try:
            return with_references(asked_cases(cases), references)
        except InputError as error:
            raise InputError(f"{error}. {_SOME_CASES}") from error


def choose_cases(
    rubric: Rubric,
    *,
    dataset: object,
    language: object,
    intents: object,
    seed: object,
    lenient: object,
    references: object = None,
) -> CaseChoice:
    """Check the arguments of a task that say which cases it is about; `references` is read.

    Raises:
        InputError: If one cannot be used.
    """
    source = arguments.optional_text(references, "references")
    return CaseChoice(
        dataset=arguments.text(dataset, "dataset"),
        vocabulary=Vocabulary(rubric.intent_id, rubric.language_code),
        languages=arguments.names(language, "language", rubric.language_code),
        intents=arguments.names(intents, "intents", rubric.intent_id),
        seed=arguments.whole(seed, "seed", least=0),
        lenient=arguments.flag(lenient, "lenient"),
        references=None if source is None else read_references(source),
    )
