"""Training on vectors whose labels can be read off them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.samer.training.made import learnable
from urs_inspect.errors import InputError
from urs_inspect.samer.heads import HEAD_KEYS, Heads
from urs_inspect.samer.neural.losses import PAPER, RELEASED, LossSpec
from urs_inspect.samer.neural.trainer import Trained, TrainingSpec, train
from urs_inspect.samer.training import ABSENT, PairLabels, PairVectors, accuracy, predict_pairs
from urs_inspect.samer.training.epochs import EpochRecord

QUICK = TrainingSpec(epochs=12, predictor_epochs=4, learning_rate=3e-3, narrowing=32, patience=None, batch=16)
FIT, HELD = np.arange(90), np.arange(90, 120)


def trained(spec: TrainingSpec = QUICK, **options: Any) -> Trained:
    vectors, labels = learnable()
    return train(vectors, labels, **{"fit": FIT, "held_out": HELD, "spec": spec, **options})


def same(one: Heads, other: Heads) -> bool:
    others = other.tensors()
    return all(np.array_equal(array, others[name]) for name, array in one.tensors().items())


@pytest.mark.parametrize("loss", [PAPER, RELEASED], ids=lambda loss: loss.name)
def test_it_learns_what_can_be_learnt(loss: LossSpec):
    found = trained(replace(QUICK, loss=loss, epochs=30))
    vectors, labels = learnable()
    predictions = predict_pairs(found.heads, vectors.take(HELD), loss.weights_at)
    held = accuracy(predictions, labels.take(HELD))
    assert held.overall > 0.75 and held.dimensions > 0.75  # guessing gives half
    # The query says which dimensions count.
    assert (predictions.selected == (labels.take(HELD).dimensions != ABSENT)).mean() > 0.95
    reported = next(record for record in found.history if (record.phase, record.epoch) == ("joint", found.best_epoch))
    assert reported.held_out == held


def test_the_best_epoch_is_kept():
    found = trained()
    joint = [record for record in found.history if record.phase == "joint"]
    reached = [record.held_out.mean for record in joint if record.held_out]
    assert len(reached) == 12
    assert reached[found.best_epoch - 1] == max(reached)
    assert [record.phase for record in found.history[:4]] == ["predictor"] * 4
    assert found.history[3].selection < found.history[0].selection


def test_the_same_seed_gives_the_same_heads_and_leaves_the_global_state_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = trained()
    assert torch.equal(torch.rand(1), expected)
    torch.manual_seed(99)
    assert same(first.heads, trained().heads)
    assert not same(first.heads, trained(replace(QUICK, seed=1)).heads)


def test_training_stops_when_nothing_gets_better():
    # At a rate of next to nothing the held-out accuracy stays where it is: the first epoch is the best.
    found = trained(replace(QUICK, learning_rate=1e-12, predictor_epochs=0, patience=2))
    assert found.best_epoch == 1 and len(found.history) == 3


def test_without_held_out_pairs_the_last_epoch_counts():
    found = trained(replace(QUICK, epochs=2, patience=1), held_out=None)
    assert found.best_epoch == 2
    assert all(record.held_out is None for record in found.history)


def test_held_out_pairs_teach_nothing():
    vectors, labels = learnable()
    spoilt = PairLabels(labels.overall.copy(), labels.dimensions.copy())
    spoilt.overall[HELD] *= -1
    one = train(vectors, labels, fit=FIT, spec=QUICK)
    other = train(vectors, spoilt, fit=FIT, spec=QUICK)
    assert same(one.heads, other.heads)


def test_the_scale_of_the_vectors_does_not_matter():
    vectors, labels = learnable()
    # A power of two changes no digit of any number.
    larger = PairVectors(vectors.table.astype(np.float32) * 256, vectors.queries, vectors.responses)
    small, large = (train(given, labels, fit=FIT, spec=QUICK).heads for given in (vectors, larger))
    first = HEAD_KEYS["scoring"][0]
    assert small.tensors()[first] == pytest.approx(large.tensors()[first] * 256, rel=1e-4, abs=1e-6)
    assert np.array_equal(small.scoring[1], large.scoring[1])


@pytest.mark.parametrize("loss", [PAPER, RELEASED], ids=lambda loss: loss.name)
def test_pairs_without_any_or_with_tied_labels_only_do_no_harm(loss: LossSpec):
    vectors, labels = learnable()
    overall, dimensions = labels.overall.copy(), labels.dimensions.copy()
    overall[:40], dimensions[:20] = ABSENT, ABSENT
    overall[40:60], dimensions[40:60] = 0, 0
    spec = replace(QUICK, loss=loss, batch=1, epochs=1, predictor_epochs=1)
    found = train(vectors, PairLabels(overall, dimensions), fit=np.arange(60), spec=spec)
    assert all(np.isfinite(array).all() for array in found.heads.tensors().values())
    assert all(math.isfinite(record.loss) for record in found.history)


def test_every_epoch_is_told():
    told: list[EpochRecord] = []
    found = trained(replace(QUICK, epochs=2, predictor_epochs=1), on_epoch=told.append)
    assert tuple(told) == found.history and len(told) == 3


def test_the_paper_is_the_default():
    spec = TrainingSpec()
    assert (spec.learning_rate, spec.betas, spec.weight_decay) == (5e-5, (0.9, 0.95), 0.1)
    assert (spec.warmup, spec.batch, spec.epochs, spec.loss) == (0.1, 32, 3, PAPER)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epochs": 0}, "epochs: 0; allowed: 1 or more"),
        ({"batch": 0}, "batch: 0"),
        ({"predictor_epochs": -1}, "predictor_epochs: -1; allowed: 0 or more"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"dropout": 1.0}, "dropout"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any], said: str):
    with pytest.raises(InputError, match=said):
        trained(replace(QUICK, **change))


def test_pairs_without_a_dimension_cannot_be_fitted():
    vectors, labels = learnable()
    bare = PairLabels(labels.overall, np.full_like(labels.dimensions, ABSENT))
    with pytest.raises(InputError, match="no pair to fit has a label on a dimension"):
        train(vectors, bare, fit=FIT, spec=QUICK)
