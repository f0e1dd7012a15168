"""Equations 1 to 4, three ways each: by hand, by a slow loop, by a property."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import margin_ranking_loss, mse_loss

from urs_inspect.errors import InputError
from urs_inspect.samer.neural.losses import (
    PAPER,
    RELEASED,
    LossSpec,
    PairLogits,
    loss_spec,
    preference_loss,
    samer_loss,
    selection_loss,
    zlpr,
)

ABSENT = 2


def batch(pairs: int = 9, dimensions: int = 5, seed: int = 0) -> tuple[PairLogits, Tensor, Tensor]:
    """Random outputs and labels; the first pair has no label at all, the second no overall one, the third is a tie."""
    random = torch.Generator().manual_seed(seed)
    outputs = [torch.randn(pairs, dimensions, generator=random) for _ in range(5)]
    overall = torch.randint(-1, 2, (pairs,), generator=random)
    labels = torch.randint(-1, 3, (pairs, dimensions), generator=random)
    labels[0], overall[0], overall[1], overall[2] = ABSENT, ABSENT, ABSENT, 0
    return PairLogits(*outputs), overall, labels


def turned(labels: Tensor) -> Tensor:
    """The labels of the same pairs with their responses exchanged."""
    return torch.where(labels == ABSENT, labels, -labels)


# --- Equation 1 ---


def test_zlpr_by_hand():
    # P = {0}: log(1 + e^-1) + log(1 + e^2 + e^-3) = 0.313262 + log(8.438843) = 0.313262 + 2.132845.
    found = zlpr(torch.tensor([[1.0, 2.0, -3.0]]), torch.tensor([[True, False, False]]))
    assert found.item() == pytest.approx(0.313262 + 2.132845, abs=1e-5)


def test_zlpr_by_a_loop():
    gates = torch.randn(20, 7, generator=torch.Generator().manual_seed(1))
    wanted = torch.rand(20, 7, generator=torch.Generator().manual_seed(2)) < 0.5
    for row in range(20):
        inside = sum(math.exp(-gate) for gate, want in zip(gates[row].tolist(), wanted[row], strict=True) if want)
        outside = sum(math.exp(gate) for gate, want in zip(gates[row].tolist(), wanted[row], strict=True) if not want)
        assert zlpr(gates, wanted)[row].item() == pytest.approx(math.log(1 + inside) + math.log(1 + outside), rel=1e-5)


def test_zlpr_is_finite_where_all_or_no_dimensions_are_wanted_and_gates_are_large():
    gates = torch.full((2, 42), 80.0, requires_grad=True)
    loss = zlpr(gates, torch.tensor([[True], [False]]).expand(2, 42)).sum()
    loss.backward()
    assert torch.isfinite(loss) and gates.grad is not None and torch.isfinite(gates.grad).all()
    # All wanted: log(1 + 42 e^-80) + log(1) = 0; none wanted: 80 + log 42.
    assert loss.item() == pytest.approx(80 + math.log(42), abs=1e-4)


def test_zlpr_pushes_wanted_gates_up_and_others_down():
    gates = torch.zeros(1, 3, requires_grad=True)
    zlpr(gates, torch.tensor([[True, False, True]])).sum().backward()
    assert gates.grad is not None
    assert (gates.grad < 0).tolist() == [[True, False, True]]


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
    # Margin 0.3. Labels 1, -1, tie, absent on differences 0.1, 0.1, -0.5, 9:
    # 0.3 - 0.1 = 0.2;  0.3 + 0.1 = 0.4;  |-0.5| = 0.5;  nothing. Sum over one pair: 1.1.
    difference, labels = torch.tensor([[0.1, 0.1, -0.5, 9.0]]), torch.tensor([[1, -1, 0, ABSENT]])
    assert preference_loss(difference, labels, PAPER).item() == pytest.approx(1.1)
    # Released: margins 0.2 and 0.4 and the squared tie 0.25, divided by the three labels.
    assert preference_loss(difference, labels, RELEASED).item() == pytest.approx((0.2 + 0.4 + 0.25) / 3)


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
    assert preference_loss(scores_a - scores_b, labels, RELEASED).item() == pytest.approx(wanted.item(), rel=1e-5)


def test_a_difference_beyond_the_margin_costs_nothing():
    difference = torch.tensor([[0.31, -0.31]], requires_grad=True)
    loss = preference_loss(difference, torch.tensor([[1, -1]]), PAPER)
    loss.backward()
    assert loss.item() == 0 and difference.grad is not None and (difference.grad == 0).all()


def slow_preference(differences: list[list[float]], labels: list[list[int]], spec: LossSpec) -> float:
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
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_whole_loss_by_loops(spec: LossSpec, seed: int):
    logits, overall, labels = batch(seed=seed)
    spec = replace(spec, lambda_dimensions=0.7, lambda_overall=1.9)
    found = samer_loss(logits, overall, labels, spec)
    given = labels.tolist()
    on_dimensions = slow_preference((logits.scores_a - logits.scores_b).tolist(), given, spec)
    differences, reachable = [], []
    for row in range(len(given)):
        some = any(label != ABSENT for label in given[row])
        first = slow_overall(logits.scores_a[row], logits.weights_a[row], given[row], spec) if some else 0.0
        second = slow_overall(logits.scores_b[row], logits.weights_b[row], given[row], spec) if some else 0.0
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
    swapped = PairLogits(logits.gates, logits.scores_b, logits.scores_a, logits.weights_b, logits.weights_a)
    one = samer_loss(logits, overall, labels, spec)
    other = samer_loss(swapped, turned(overall), turned(labels), spec)
    assert one.total.item() == pytest.approx(other.total.item(), rel=1e-6)
    wrong = samer_loss(swapped, overall, labels, spec)
    assert wrong.total.item() != pytest.approx(one.total.item(), rel=1e-3)


@pytest.mark.parametrize("spec", [PAPER, RELEASED], ids=lambda spec: spec.name)
def test_the_order_of_pairs_changes_nothing(spec: LossSpec):
    logits, overall, labels = batch()
    order = torch.randperm(len(overall), generator=torch.Generator().manual_seed(4))
    moved = PairLogits(
        *[getattr(logits, name)[order] for name in ("gates", "scores_a", "scores_b", "weights_a", "weights_b")]
    )
    one, other = samer_loss(logits, overall, labels, spec), samer_loss(moved, overall[order], labels[order], spec)
    assert one.total.item() == pytest.approx(other.total.item(), rel=1e-6)


def test_a_dimension_is_masked_by_its_own_label_and_not_by_the_overall_one():
    # The released code drops the dimensions of a pair that is a tie as a whole, and ranks dimensions that are ties.
    difference = torch.tensor([[-0.5, -0.5]])
    zeros = torch.zeros(1, 2)
    logits = PairLogits(zeros, difference, zeros, zeros, zeros)
    tie_overall = samer_loss(logits, torch.tensor([0]), torch.tensor([[1, ABSENT]]), RELEASED)
    assert tie_overall.dimensions.item() == pytest.approx(0.8)
    tie_on_a_dimension = samer_loss(logits, torch.tensor([1]), torch.tensor([[0, ABSENT]]), RELEASED)
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


def test_losses_are_found_by_name():
    assert loss_spec("paper") == PAPER and loss_spec("released") == RELEASED
    assert loss_spec("paper", "response").weights_at == "response"
    assert (PAPER.margin, PAPER.lambda_dimensions, PAPER.lambda_overall) == (0.3, 1, 1)
    with pytest.raises(InputError, match="unknown loss 'best'; allowed: paper, released"):
        loss_spec("best")
