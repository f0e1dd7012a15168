"""Tests of `urs_inspect.samer._neural.trainer`."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import margin_ranking_loss, mse_loss

from tests.samer.stubs import learnable
from urs_inspect._util import InputError
from urs_inspect.samer._evaluation import HEAD_KEYS, PUBLISHED_WIDTHS, Heads
from urs_inspect.samer._neural.trainer import (
    PAPER,
    RELEASED,
    HeadsModule,
    LossSpec,
    Optimiser,
    PairLogits,
    Trained,
    TrainingSpec,
    loss_spec,
    preference_loss,
    rate,
    samer_loss,
    selection_loss,
    train,
    zlpr,
)
from urs_inspect.samer._pairs import ABSENT, PairLabels
from urs_inspect.samer._vectors import EpochRecord, PairVectors, accuracy, predict_pairs

SMALL = {head: tuple(width // 64 for width in widths) for head, widths in PUBLISHED_WIDTHS.items()}


def test_names_and_shapes_are_the_released_ones():
    state = HeadsModule(384, 42).state_dict()
    assert {f"score.{name}" for name in state} == {
        name for names in HEAD_KEYS.values() for name in names
    }
    scoring = [tuple(state[name.removeprefix("score.")].shape) for name in HEAD_KEYS["scoring"]]
    assert scoring == [(2048, 384), (1024, 2048), (1024, 1024), (1024, 1024), (42, 1024)]
    for head in ("predictor", "weighter"):
        shapes = [tuple(state[name.removeprefix("score.")].shape) for name in HEAD_KEYS[head]]
        assert shapes == [(1024, 384), (1024, 1024), (1024, 1024), (42, 1024)]


@pytest.mark.parametrize("scale", [1.0, 19.5])
def test_numpy_computes_the_same_with_the_scale_inside(scale: float):
    torch.manual_seed(0)
    module = HeadsModule(24, 5, widths=SMALL).eval()
    vectors = np.random.default_rng(0).normal(size=(9, 24)).astype(np.float32)
    heads = module.export(scale)
    with torch.no_grad():  # after the export, which leaves the module as it is
        given = torch.from_numpy(vectors) * scale
        layers = (module.scoring_layer, module.dimpred_layer, module.weighting_layer)
        for part, found in zip(layers, (heads.score, heads.select, heads.weigh), strict=True):
            assert found(vectors) == pytest.approx(part(given).numpy(), abs=1e-5)


def test_dropout_acts_in_training_only():
    torch.manual_seed(0)
    module, vectors = HeadsModule(8, 3, widths=SMALL, dropout=0.5), torch.ones(1, 8)
    assert not torch.equal(module.scoring_layer(vectors), module.scoring_layer(vectors))
    module.eval()
    assert torch.equal(module.scoring_layer(vectors), module.scoring_layer(vectors))


def batch(pairs: int = 9, dimensions: int = 5, seed: int = 0) -> tuple[PairLogits, Tensor, Tensor]:
    """Random outputs and labels.

    The first pair has no label at all, the second no overall one, the third is a tie.
    """
    random = torch.Generator().manual_seed(seed)
    outputs = [torch.randn(pairs, dimensions, generator=random) for _ in range(5)]
    overall = torch.randint(-1, 2, (pairs,), generator=random)
    labels = torch.randint(-1, 3, (pairs, dimensions), generator=random)
    labels[0], overall[0], overall[1], overall[2] = ABSENT, ABSENT, ABSENT, 0
    return PairLogits(*outputs), overall, labels


# --- Equation 1 ---


def test_zlpr_by_hand_and_by_a_loop():
    # P = {0}: log(1 + e^-1) + log(1 + e^2 + e^-3) = 0.313262 + log(8.438843) = 0.313262 + 2.132845.
    found = zlpr(torch.tensor([[1.0, 2.0, -3.0]]), torch.tensor([[True, False, False]]))
    assert found.item() == pytest.approx(0.313262 + 2.132845, abs=1e-5)
    gates = torch.randn(20, 7, generator=torch.Generator().manual_seed(1))
    wanted = torch.rand(20, 7, generator=torch.Generator().manual_seed(2)) < 0.5
    for row in range(20):
        inside = sum(
            math.exp(-gate)
            for gate, want in zip(gates[row].tolist(), wanted[row], strict=True)
            if want
        )
        outside = sum(
            math.exp(gate)
            for gate, want in zip(gates[row].tolist(), wanted[row], strict=True)
            if not want
        )
        assert zlpr(gates, wanted)[row].item() == pytest.approx(
            math.log(1 + inside) + math.log(1 + outside), rel=1e-5
        )


def test_zlpr_is_finite_where_all_or_no_dimensions_are_wanted_and_gates_are_large():
    gates = torch.full((2, 42), 80.0, requires_grad=True)
    loss = zlpr(gates, torch.tensor([[True], [False]]).expand(2, 42)).sum()
    loss.backward()
    assert torch.isfinite(loss) and gates.grad is not None and torch.isfinite(gates.grad).all()
    # All wanted: log(1 + 42 e^-80) + log(1) = 0; none wanted: 80 + log 42.
    assert loss.item() == pytest.approx(80 + math.log(42), abs=1e-4)


@pytest.mark.parametrize("spec", [PAPER, RELEASED], ids=lambda spec: spec.name)
def test_pairs_without_labels_teach_the_predictor_nothing(spec: LossSpec):
    gates = torch.randn(3, 4, requires_grad=True)
    known = torch.tensor([[True, False, True, False], [False] * 4, [True] * 4])
    loss = selection_loss(gates, known, spec)
    assert loss.item() == pytest.approx(selection_loss(gates[[0, 2]], known[[0, 2]], spec).item())
    loss.backward()
    assert gates.grad is not None and (gates.grad[1] == 0).all() and (gates.grad[0] != 0).all()


# --- Equations 2 and 3 ---


def test_preference_loss_by_hand():
    # Margin 0.3. Labels 1, -1, tie, absent, 1 on differences 0.1, 0.1, -0.5, 9, 0.31: 0.3 - 0.1 =
    # 0.2;  0.3 + 0.1 = 0.4;  |-0.5| = 0.5;  nothing; beyond the margin nothing. Sum over one pair:
    # 1.1.
    difference, labels = (
        torch.tensor([[0.1, 0.1, -0.5, 9.0, 0.31]]),
        torch.tensor([[1, -1, 0, ABSENT, 1]]),
    )
    assert preference_loss(difference, labels, PAPER).item() == pytest.approx(1.1)
    # Released: margins 0.2, 0.4 and 0 and the squared tie 0.25, divided by the four labels.
    assert preference_loss(difference, labels, RELEASED).item() == pytest.approx(
        (0.2 + 0.4 + 0.25) / 4
    )


@pytest.mark.parametrize("shape", [(6, 5), (6, 1)])
def test_the_released_loss_weighs_ranked_labels_and_ties_by_their_numbers(shape: tuple[int, int]):
    """As the released code writes it: two means, each times its share of the labels."""
    random = torch.Generator().manual_seed(3)
    scores_a, scores_b = torch.randn(shape, generator=random), torch.randn(shape, generator=random)
    labels = torch.randint(-1, 3, shape, generator=random)
    ranked, tied = labels.abs() == 1, labels == 0
    ranking = margin_ranking_loss(scores_a[ranked], scores_b[ranked], labels[ranked], margin=0.3)
    ties = mse_loss(scores_a[tied], scores_b[tied])
    number, of_ties = int(ranked.sum()), int(tied.sum())
    assert number and of_ties and number != of_ties
    wanted = number / (number + of_ties) * ranking + of_ties / (number + of_ties) * ties
    assert preference_loss(scores_a - scores_b, labels, RELEASED).item() == pytest.approx(
        wanted.item(), rel=1e-5
    )


def slow_preference(
    differences: list[list[float]], labels: list[list[int]], spec: LossSpec
) -> float:
    margins, ties, rows = [], [], 0
    for row, given in zip(differences, labels, strict=True):
        rows += any(label != ABSENT for label in given)
        for difference, label in zip(row, given, strict=True):
            if abs(label) == 1:
                margins.append(max(0.0, spec.margin - label * difference))
            elif label == 0:
                ties.append(abs(difference) if spec.ties == "absolute" else difference**2)
    if spec.reduction == "pair":
        return (sum(margins) + sum(ties)) / max(1, rows)
    return (sum(margins) + sum(ties)) / max(1, len(margins) + len(ties))


def slow_overall(scores: Tensor, weights: Tensor, labels: list[int], spec: LossSpec) -> float:
    known = [place for place, label in enumerate(labels) if label != ABSENT]
    powers = [math.exp(weights[place].item()) for place in known]
    values = [scores[place].item() for place in known]
    if spec.overall_of == "sigmoid":
        values = [1 / (1 + math.exp(-value)) for value in values]
    return sum(power * value for power, value in zip(powers, values, strict=True)) / sum(powers)


@pytest.mark.parametrize("spec", [PAPER, RELEASED], ids=lambda spec: spec.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_whole_loss_by_loops(spec: LossSpec, seed: int):
    logits, overall, labels = batch(seed=seed)
    spec = replace(spec, lambda_dimensions=0.7, lambda_overall=1.9)
    found = samer_loss(logits, overall, labels, spec)
    given = labels.tolist()
    on_dimensions = slow_preference((logits.scores_a - logits.scores_b).tolist(), given, spec)
    differences, reachable = [], []
    for row in range(len(given)):
        some = any(label != ABSENT for label in given[row])
        first = (
            slow_overall(logits.scores_a[row], logits.weights_a[row], given[row], spec)
            if some
            else 0.0
        )
        second = (
            slow_overall(logits.scores_b[row], logits.weights_b[row], given[row], spec)
            if some
            else 0.0
        )
        differences.append([first - second])
        reachable.append([int(overall[row]) if some else ABSENT])
    as_a_whole = slow_preference(differences, reachable, spec)
    assert found.dimensions.item() == pytest.approx(on_dimensions, rel=1e-5)
    assert found.overall.item() == pytest.approx(as_a_whole, rel=1e-4)
    total = found.selection.item() + 0.7 * on_dimensions + 1.9 * as_a_whole
    assert found.total.item() == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("spec", [PAPER, RELEASED], ids=lambda spec: spec.name)
def test_swapping_responses_and_labels_changes_nothing(spec: LossSpec):
    logits, overall, labels = batch()
    swapped = PairLogits(
        logits.gates, logits.scores_b, logits.scores_a, logits.weights_b, logits.weights_a
    )
    one = samer_loss(logits, overall, labels, spec)
    turned = [torch.where(codes == ABSENT, codes, -codes) for codes in (overall, labels)]
    other = samer_loss(swapped, turned[0], turned[1], spec)
    assert one.total.item() == pytest.approx(other.total.item(), rel=1e-6)
    wrong = samer_loss(swapped, overall, labels, spec)
    assert wrong.total.item() != pytest.approx(one.total.item(), rel=1e-3)


def test_a_dimension_is_masked_by_its_own_label_and_not_by_the_overall_one():
    # The released code drops the dimensions of a pair that is a tie as a whole, and ranks
    # dimensions that are ties.
    difference = torch.tensor([[-0.5, -0.5]])
    zeros = torch.zeros(1, 2)
    logits = PairLogits(zeros, difference, zeros, zeros, zeros)
    tie_overall = samer_loss(logits, torch.tensor([0]), torch.tensor([[1, ABSENT]]), RELEASED)
    assert tie_overall.dimensions.item() == pytest.approx(0.8)
    tie_on_a_dimension = samer_loss(
        logits, torch.tensor([1]), torch.tensor([[0, ABSENT]]), RELEASED
    )
    assert tie_on_a_dimension.dimensions.item() == pytest.approx(0.25)


@pytest.mark.parametrize("spec", [PAPER, RELEASED], ids=lambda spec: spec.name)
@pytest.mark.parametrize(
    ("overall", "labels"),
    [
        ([ABSENT], [[ABSENT, ABSENT]]),  # nothing at all: the released code's softmax over nothing
        ([0], [[0, 0]]),  # ties only: its ranking loss over nothing
        ([ABSENT, 0], [[1, ABSENT], [ABSENT, ABSENT]]),
        ([1, 1], [[ABSENT, ABSENT], [1, 0]]),
    ],
)
def test_no_label_makes_a_loss_or_gradient_that_is_not_finite(
    spec: LossSpec, overall: list[int], labels: list[list[int]]
):
    tensors = [torch.zeros(len(overall), 2, requires_grad=True) for _ in range(5)]
    found = samer_loss(PairLogits(*tensors), torch.tensor(overall), torch.tensor(labels), spec)
    found.total.backward()
    assert torch.isfinite(found.total)
    for tensor in tensors:
        assert tensor.grad is not None and torch.isfinite(tensor.grad).all()


def test_only_labelled_dimensions_carry_weight():
    logits, _, labels = batch()
    weights = logits.weights_a.clone().requires_grad_()
    given = PairLogits(logits.gates, logits.scores_a, logits.scores_b, weights, logits.weights_b)
    # A margin that is never reached, so that every pair with a label as a whole has a gradient.
    spec = replace(PAPER, margin=50.0)
    samer_loss(given, torch.ones(len(labels), dtype=torch.int64), labels, spec).overall.backward()
    assert weights.grad is not None
    assert (weights.grad[labels == ABSENT] == 0).all()
    several = (labels != ABSENT).sum(dim=1) > 1
    assert (weights.grad[several][labels[several] != ABSENT] != 0).all()


def test_losses_are_found_by_name_and_the_paper_is_the_default():
    spec = TrainingSpec()
    assert (spec.learning_rate, spec.betas, spec.weight_decay) == (5e-5, (0.9, 0.95), 0.1)
    assert (spec.warmup, spec.batch, spec.epochs, spec.loss) == (0.1, 32, 3, PAPER)
    assert loss_spec("paper") == PAPER and loss_spec("released") == RELEASED
    assert loss_spec("paper", "response").weights_at == "response"
    assert (PAPER.margin, PAPER.lambda_dimensions, PAPER.lambda_overall) == (0.3, 1, 1)
    with pytest.raises(InputError, match="loss 'best'; allowed: paper, released"):
        loss_spec("best")


def test_the_rate_rises_and_falls():
    # 20 steps, 10 % of them rising: 1/2, 1, then half a cosine over 18.
    rates = [rate(step, 20, 0.1) for step in range(20)]
    assert rates[:3] == [0.5, 1.0, 1.0]
    assert rates[11] == pytest.approx(0.5)
    assert sorted(rates[1:], reverse=True) == rates[1:]
    assert rate(20, 20, 0.1) == pytest.approx(0)
    assert rate(0, 1, 0.0) == 1


def test_a_step_goes_as_far_as_the_rate_says():
    # AdamW's first step is the rate itself in the direction of the sign, after a decay of rate *
    # decay * weight.
    weight = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        weight.weight.fill_(2.0)
    optimiser = Optimiser(
        weight, 20, TrainingSpec(learning_rate=0.1, betas=(0.9, 0.95), weight_decay=0.5, warmup=0.1)
    )
    optimiser.step(3 * weight.weight.sum())
    first = 0.1 * 0.5  # half of the highest rate, in the first of two rising steps
    assert weight.weight.item() == pytest.approx(2.0 - first * 0.5 * 2.0 - first, abs=1e-6)
    before = weight.weight.item()
    optimiser.step(
        3 * weight.weight.sum()
    )  # the same gradient: again the rate itself, now the highest
    assert weight.weight.item() == pytest.approx(before - 0.1 * 0.5 * before - 0.1, abs=1e-6)
    assert math.isfinite(weight.weight.item())


QUICK = TrainingSpec(
    epochs=12, predictor_epochs=4, learning_rate=3e-3, narrowing=32, patience=None, batch=16
)
FIT, HELD = np.arange(90), np.arange(90, 120)


def trained(spec: TrainingSpec = QUICK, **options: Any) -> Trained:
    vectors, labels = learnable()
    return train(vectors, labels, **{"fit": FIT, "held_out": HELD, "spec": spec, **options})


def same(one: Heads, other: Heads) -> bool:
    others = other.tensors
    return all(np.array_equal(array, others[name]) for name, array in one.tensors.items())


@pytest.mark.parametrize("loss", [PAPER, RELEASED], ids=lambda loss: loss.name)
def test_it_learns_what_can_be_learnt(loss: LossSpec):
    found = trained(replace(QUICK, loss=loss, epochs=30))
    vectors, labels = learnable()
    predictions = predict_pairs(found.heads, vectors.take(HELD), loss.weights_at)
    held = accuracy(predictions, labels.take(HELD))
    assert held.overall > 0.75 and held.dimensions > 0.75  # guessing gives half
    # The query says which dimensions count.
    assert (predictions.selected == (labels.take(HELD).dimensions != ABSENT)).mean() > 0.95
    reported = next(
        record
        for record in found.history
        if (record.phase, record.epoch) == ("joint", found.best_epoch)
    )
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


def test_the_seed_decides_the_order_of_the_pairs_as_well_as_the_weights(
    monkeypatch: pytest.MonkeyPatch,
):
    start_anew = torch.manual_seed
    monkeypatch.setattr(torch, "manual_seed", lambda seed: start_anew(5))
    one, other = (trained(replace(QUICK, seed=seed)).heads for seed in (0, 1))
    assert not same(one, other)


def test_training_stops_when_nothing_gets_better():
    # At a rate of next to nothing the held-out accuracy stays where it is: the first epoch is the
    # best.
    found = trained(replace(QUICK, learning_rate=1e-12, predictor_epochs=0, patience=2))
    assert found.best_epoch == 1 and len(found.history) == 3
    told: list[EpochRecord] = []
    found = trained(
        replace(QUICK, epochs=2, predictor_epochs=1, patience=1),
        held_out=None,
        on_epoch=told.append,
    )
    assert (
        found.best_epoch == 2 and tuple(told) == found.history
    )  # nothing held out: the last epoch
    assert [record.phase for record in told] == ["predictor", "joint", "joint"]
    assert all(record.held_out is None for record in told)


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
    assert small.tensors[first] == pytest.approx(large.tensors[first] * 256, rel=1e-4, abs=1e-6)
    assert np.array_equal(small.layers("scoring")[1], large.layers("scoring")[1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epochs": 0}, "epochs: must be .* at least 1, got 0"),
        ({"batch": 0}, "batch: .* got 0"),
        ({"predictor_epochs": -1}, "predictor_epochs: must be .* at least 0, got -1"),
        ({"learning_rate": 0.0}, "learning_rate: must be a number above 0"),
        ({"dropout": 1.0}, "dropout"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any], said: str):
    with pytest.raises(InputError, match=said):
        trained(replace(QUICK, **change))
    vectors, labels = learnable()
    bare = PairLabels(labels.overall, np.full_like(labels.dimensions, ABSENT))
    with pytest.raises(InputError, match=r"pair to fit.*dimension"):
        train(vectors, bare, fit=FIT, spec=QUICK)
