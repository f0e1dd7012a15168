"""A source sees when the harness begins a run anew."""

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalError, EvalSample

from urs_inspect.tasks.competition import RunAttempt

ERROR = EvalError(message="gone", traceback="", traceback_ansi="")


def ended(name: str, epoch: int = 1, error: EvalError | None = None) -> EvalSample:
    return EvalSample(id=name, epoch=epoch, input="?", target="", error=error)


def test_the_course_of_one_attempt_is_no_new_one() -> None:
    attempt = RunAttempt()
    assert not attempt.past
    attempt.issue([Sample(id="a", input="?"), Sample(id="b", input="?"), Sample(id="c", input="?")])
    for sample in (ended("a"), ended("a", epoch=2), ended("b", error=ERROR)):
        assert not attempt.repeats(sample)
        attempt.ended(sample)
    attempt.abandoned(Sample(id="c", input="?"))
    assert not attempt.past
    assert not attempt.repeats(ended("b"))  # run again by hand


def test_what_ended_well_and_ends_again_is_a_new_attempt() -> None:
    attempt = RunAttempt()
    attempt.ended(ended("a"))
    assert attempt.repeats(ended("a"))
    assert not attempt.repeats(ended("a", epoch=2))


def test_being_asked_while_something_is_under_way_or_all_was_given_is_a_new_attempt() -> None:
    attempt = RunAttempt()
    attempt.issue([Sample(id="a", input="?")])
    assert attempt.past
    over = RunAttempt()
    over.issue([])
    assert over.past
