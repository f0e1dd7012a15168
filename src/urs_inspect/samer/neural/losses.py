"""The losses of SaMer (paper, Equations 1 to 4), and those of the released code."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softmax

from urs_inspect.errors import InputError, choices
from urs_inspect.samer.evaluation import WeightsAt
from urs_inspect.samer.training.pairs import ABSENT

MARGIN = 0.3
"""Gamma of Equations 2 and 3 (section 5.1)."""


@dataclass(frozen=True)
class LossSpec:
    """Which losses are added up.

    Attributes:
        name: Its name.
        selection: Loss of the predictor: `zlpr` (Equation 1), or `bce`, the mean binary cross-entropy.
        ties: Loss of a tie: `absolute` (the norm in Equations 2 and 3), or `squared`.
        overall_of: What the overall score sums up: `logits` of the scores (section 4.3), or their `sigmoid`.
        reduction: `pair`: sum over the dimensions of a pair, mean over pairs (Equation 2); `element`: mean over all
            labels, ties included.
        weights_at: Where the weighter reads; who uses the heads must read there as well.
        margin: Gamma.
        lambda_dimensions: Factor of the loss on dimensions (Equation 4).
        lambda_overall: Factor of the overall loss (Equation 4).
    """

    name: str
    selection: Literal["zlpr", "bce"]
    ties: Literal["absolute", "squared"]
    overall_of: Literal["logits", "sigmoid"]
    reduction: Literal["pair", "element"]
    weights_at: WeightsAt
    margin: float = MARGIN
    lambda_dimensions: float = 1.0
    lambda_overall: float = 1.0


PAPER = LossSpec("paper", "zlpr", "absolute", "logits", "pair", "query")
RELEASED = LossSpec("released", "bce", "squared", "sigmoid", "element", "response")
_SPECS = {spec.name: spec for spec in (PAPER, RELEASED)}


def loss_spec(name: str, weights_at: WeightsAt | None = None) -> LossSpec:
    """Find losses by name.

    Args:
        name: `paper` or `released`.
        weights_at: Where the weighter reads, if not where these losses say.

    Raises:
        InputError: If there are none of that name.
    """
    if name not in _SPECS:
        raise InputError(f"unknown loss '{name}'; allowed: {choices(_SPECS)}")
    return replace(_SPECS[name], weights_at=weights_at or _SPECS[name].weights_at)


@dataclass(frozen=True, eq=False)
class PairLogits:
    """What the heads gave for a batch of n pairs on D dimensions, shape (n, D) each.

    Attributes:
        gates: Predictor on the query.
        scores_a: Scorer on the query with response a.
        scores_b: Scorer on the query with response b.
        weights_a: Weighter for response a.
        weights_b: Weighter for response b; the same as `weights_a` if it reads the query.
    """

    gates: Tensor
    scores_a: Tensor
    scores_b: Tensor
    weights_a: Tensor
    weights_b: Tensor


@dataclass(frozen=True, eq=False)
class Losses:
    """The loss of a batch and its parts, each without its factor.

    Attributes:
        total: Equation 4.
        selection: Equation 1, mean over pairs.
        dimensions: Equation 2, mean over pairs.
        overall: Equation 3, mean over pairs.
    """

    total: Tensor
    selection: Tensor
    dimensions: Tensor
    overall: Tensor


def samer_loss(logits: PairLogits, overall: Tensor, dimensions: Tensor, spec: LossSpec) -> Losses:
    """The loss of a batch (Equation 4). It is finite, and so is its gradient, whatever labels are missing.

    Args:
        logits: What the heads gave for n pairs.
        overall: Preferences as a whole: 1, -1, 0 or `ABSENT`, shape (n,).
        dimensions: Preferences on dimensions, likewise, shape (n, D). The labelled ones are those that the predictor
            shall select and that the overall score sums up.
        spec: Which losses.

    Returns:
        The loss and its parts, scalars.
    """
    known = dimensions != ABSENT
    any_known = known.any(dim=1)
    selection = selection_loss(logits.gates, known, spec)
    on_dimensions = preference_loss(logits.scores_a - logits.scores_b, dimensions, spec)
    difference = _overall(logits.scores_a, logits.weights_a, known, spec) - _overall(
        logits.scores_b, logits.weights_b, known, spec
    )
    # Without labelled dimensions there is no overall score either.
    reachable = torch.where(any_known, overall, torch.full_like(overall, ABSENT))
    as_a_whole = preference_loss(difference[:, None], reachable[:, None], spec)
    total = selection + spec.lambda_dimensions * on_dimensions + spec.lambda_overall * as_a_whole
    return Losses(total, selection, on_dimensions, as_a_whole)


def selection_loss(gates: Tensor, known: Tensor, spec: LossSpec) -> Tensor:
    """Loss of the predictor (Equation 1, or binary cross-entropy), mean over pairs with a labelled dimension.

    Args:
        gates: Logits, shape (n, D).
        known: Dimensions that should be selected, shape (n, D).
        spec: Which loss.

    Returns:
        A scalar; 0 if no pair has a labelled dimension.
    """
    rows = known.any(dim=1)
    if not bool(rows.any()):
        return gates.sum() * 0.0  # keeps the graph, where a mean over nothing would be NaN
    if spec.selection == "zlpr":
        return zlpr(gates[rows], known[rows]).mean()
    return binary_cross_entropy_with_logits(gates[rows], known[rows].to(gates.dtype))


def zlpr(gates: Tensor, wanted: Tensor) -> Tensor:
    """Zero-bounded log-sum-exp and pairwise rank-based loss (Equation 1; Su et al. 2022).

    Args:
        gates: Logits, shape (n, D).
        wanted: The dimensions P of each row, shape (n, D).

    Returns:
        log(1 + sum over P of exp(-gate)) + log(1 + sum over the others of exp(gate)), shape (n,).
    """
    nothing = torch.full_like(gates, -torch.inf)
    zero = torch.zeros_like(gates[:, :1])
    inside = torch.cat([zero, torch.where(wanted, -gates, nothing)], dim=1)
    outside = torch.cat([zero, torch.where(wanted, nothing, gates)], dim=1)
    return torch.logsumexp(inside, dim=1) + torch.logsumexp(outside, dim=1)


def preference_loss(difference: Tensor, labels: Tensor, spec: LossSpec) -> Tensor:
    """Margin ranking where a response is better, closeness where there is a tie (Equations 2 and 3).

    Args:
        difference: Score of response a less that of response b, shape (n, K).
        labels: 1, -1, 0 or `ABSENT`, shape (n, K); each entry is masked by its own label.
        spec: Margin, loss of ties and reduction.

    Returns:
        A scalar; 0 if every label is absent.
    """
    ranked, tied = labels.abs() == 1, labels == 0
    sign = torch.where(ranked, labels, torch.zeros_like(labels)).to(difference.dtype)
    margin = torch.where(ranked, torch.relu(spec.margin - sign * difference), torch.zeros_like(difference))
    # The norm of one number is its absolute value; written as a root of a square its gradient at 0 would be NaN.
    apart = difference.abs() if spec.ties == "absolute" else difference.square()
    closeness = torch.where(tied, apart, torch.zeros_like(difference))
    labelled = ranked | tied
    if spec.reduction == "pair":
        labelled = labelled.any(dim=1)
    return (margin + closeness).sum() / labelled.sum().clamp(min=1)


def _overall(scores: Tensor, weights: Tensor, known: Tensor, spec: LossSpec) -> Tensor:
    """Weighted sum over the labelled dimensions, shape (n,); 0 where there are none."""
    # A finite filling: a softmax over nothing but -inf is NaN, and poisons the gradient of every other row's weights.
    shares = softmax(weights.masked_fill(~known, torch.finfo(weights.dtype).min), dim=1) * known
    values = torch.sigmoid(scores) if spec.overall_of == "sigmoid" else scores
    return (shares * values).sum(dim=1)
