"""Training of the heads."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softmax

from urs_inspect._arguments import Count, Natural, Positive, check
from urs_inspect._util import InputError, choices
from urs_inspect.samer._evaluation import (
    HEAD_KEYS,
    PUBLISHED_WIDTHS,
    Heads,
    WeightsAt,
    inner_widths,
)
from urs_inspect.samer._pairs import ABSENT, PairLabels, Rows, check_split
from urs_inspect.samer._vectors import (
    EpochRecord,
    PairVectors,
    accuracy,
    predict_pairs,
    unit_scale,
)

DROPOUT = 0.1


class HeadsModule(nn.Module):
    """Scorer, predictor and weighter: bias-free layers with SiLU between (SaMer paper, section 4).

    Each takes vectors of shape (n, hidden) and gives logits of shape (n, dimensions). Dropout
    stands after the first and the last activation, as in the released code, so that the names of
    the weights are the released ones without their prefix `score.`. `widths` are those of the
    layers between, by head.
    """

    def __init__(
        self,
        hidden_size: int,
        dimensions: int,
        *,
        widths: Mapping[str, Sequence[int]] = PUBLISHED_WIDTHS,
        dropout: float = DROPOUT,
    ) -> None:
        super().__init__()
        self.scoring_layer = _network([hidden_size, *widths["scoring"], dimensions], dropout)
        self.dimpred_layer = _network([hidden_size, *widths["predictor"], dimensions], dropout)
        self.weighting_layer = _network([hidden_size, *widths["weighter"], dimensions], dropout)

    def export(self, scale: float = 1.0) -> Heads:
        """A copy of the heads in float32.

        `scale` is what vectors were multiplied with before the heads saw them; it goes into the
        first layers, so that the copy takes vectors as they are.
        """
        state = {
            f"score.{name}": tensor.detach().cpu().float().numpy().copy()
            for name, tensor in self.named_parameters()
        }
        for names in HEAD_KEYS.values():
            state[names[0]] *= np.float32(scale)
        return Heads(state)


def _network(widths: Sequence[int], dropout: float) -> nn.Sequential:
    layers: list[nn.Module] = []
    last = len(widths) - 2
    for place, (inside, out) in enumerate(pairwise(widths)):
        layers.append(nn.Linear(inside, out, bias=False))
        if place < last:
            layers.append(nn.SiLU())
            if place in {0, last - 1}:
                layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers)


def as_tensor(array: npt.NDArray[np.generic], device: str = "cpu") -> Tensor:
    """A numpy array as a tensor on a device."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


MARGIN = 0.3  # gamma of Equations 2 and 3 (section 5.1)


@dataclass(frozen=True)
class LossSpec:
    """Which losses are added up."""

    name: str
    # of the predictor: Equation 1, or the mean binary cross-entropy
    selection: Literal["zlpr", "bce"]
    ties: Literal["absolute", "squared"]  # the norm in Equations 2 and 3 is `absolute`
    # what the overall score sums up; section 4.3 has logits
    overall_of: Literal["logits", "sigmoid"]
    # `pair`: sum over the dimensions of a pair, mean over pairs (Equation 2); `element`: mean over
    # all labels.
    reduction: Literal["pair", "element"]
    weights_at: WeightsAt  # users of the heads must read there as well
    margin: float = MARGIN
    lambda_dimensions: float = 1.0  # Equation 4
    lambda_overall: float = 1.0  # Equation 4


PAPER = LossSpec("paper", "zlpr", "absolute", "logits", "pair", "query")
RELEASED = LossSpec("released", "bce", "squared", "sigmoid", "element", "response")
_SPECS = {spec.name: spec for spec in (PAPER, RELEASED)}


def loss_spec(name: str, weights_at: WeightsAt | None = None) -> LossSpec:
    """Losses by name, `paper` or `released`.

    The weighter reads elsewhere if `weights_at` is given.
    """
    if name not in _SPECS:
        raise InputError(f"unknown loss '{name}'; allowed: {choices(_SPECS)}")
    return replace(_SPECS[name], weights_at=weights_at or _SPECS[name].weights_at)


@dataclass(frozen=True, eq=False)
class PairLogits:
    """Logits of the heads for a batch of n pairs on D dimensions, shape (n, D) each."""

    gates: Tensor  # predictor on the query
    scores_a: Tensor
    scores_b: Tensor
    weights_a: Tensor  # the same as `weights_b` if the weighter reads the query
    weights_b: Tensor


@dataclass(frozen=True, eq=False)
class Losses:
    """The loss of a batch and its parts, each a mean over pairs without its factor."""

    total: Tensor  # Equation 4
    selection: Tensor  # Equation 1
    dimensions: Tensor  # Equation 2
    overall: Tensor  # Equation 3


def samer_loss(logits: PairLogits, overall: Tensor, dimensions: Tensor, spec: LossSpec) -> Losses:
    """The loss of a batch (Equation 4).

    It is finite, and so is its gradient, whatever labels are missing.

    `overall`, shape (n,), and `dimensions`, shape (n, D), hold preferences: 1, -1, 0 or `ABSENT`.
    The labelled dimensions are those that the predictor shall select and that the overall score
    sums up.
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
    """Loss of the predictor, mean over pairs with a labelled dimension; 0 if there is none."""
    rows = known.any(dim=1)
    if not bool(rows.any()):
        # Zero, with the graph that a constant would not have; a mean over nothing would be NaN.
        return gates[:0].sum()
    if spec.selection == "zlpr":
        return zlpr(gates[rows], known[rows]).mean()
    return binary_cross_entropy_with_logits(gates[rows], known[rows].to(gates.dtype))


def zlpr(gates: Tensor, wanted: Tensor) -> Tensor:
    """Zero-bounded log-sum-exp and pairwise rank-based loss, shape (n,).

    It is Equation 1 of the SaMer paper, after Su et al. 2022.

    log(1 + sum over the wanted dimensions P of exp(-gate)) + log(1 + sum over the others of
    exp(gate)).
    """
    nothing = torch.full_like(gates, -torch.inf)
    zero = torch.zeros_like(gates[:, :1])
    inside = torch.cat([zero, torch.where(wanted, -gates, nothing)], dim=1)
    outside = torch.cat([zero, torch.where(wanted, nothing, gates)], dim=1)
    return torch.logsumexp(inside, dim=1) + torch.logsumexp(outside, dim=1)


def preference_loss(difference: Tensor, labels: Tensor, spec: LossSpec) -> Tensor:
    """Margin ranking where a response is better, closeness where there is a tie.

    These are Equations 2 and 3.

    Differences (score of response a less that of response b) and labels have the shape (n, K); each
    entry is masked by its own label. 0 if every label is absent.
    """
    ranked = labels.abs() == 1
    tied = labels == 0
    sign = torch.where(ranked, labels, torch.zeros_like(labels)).to(difference.dtype)
    margin = torch.where(
        ranked, torch.relu(spec.margin - sign * difference), torch.zeros_like(difference)
    )
    # The norm of one number is its absolute value; written as a root of a square its gradient at 0
    # would be NaN.
    distance = difference.abs() if spec.ties == "absolute" else difference.square()
    closeness = torch.where(tied, distance, torch.zeros_like(difference))
    labelled = ranked | tied
    if spec.reduction == "pair":
        labelled = labelled.any(dim=1)
    return (margin + closeness).sum() / labelled.sum().clamp(min=1)


def _overall(scores: Tensor, weights: Tensor, known: Tensor, spec: LossSpec) -> Tensor:
    """Weighted sum over the labelled dimensions, shape (n,); 0 where there are none."""
    # A finite filling: a softmax over nothing but -inf is NaN, and poisons the gradient of every
    # other row's weights.
    lowest = torch.finfo(weights.dtype).min
    shares = softmax(weights.masked_fill(~known, lowest), dim=1) * known
    values = scores
    if spec.overall_of == "sigmoid":
        values = torch.sigmoid(scores)
    return (shares * values).sum(dim=1)


class Optimiser:
    """Takes steps of AdamW on the weights of a module; the learning rate follows `rate`."""

    def __init__(self, module: nn.Module, steps: int, spec: "TrainingSpec") -> None:
        self._adam = torch.optim.AdamW(
            module.parameters(),
            lr=spec.learning_rate,
            betas=spec.betas,
            weight_decay=spec.weight_decay,
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._adam, lambda step: rate(step, steps, spec.warmup)
        )

    def step(self, loss: Tensor) -> None:
        """Go down the gradient of a loss."""
        self._adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step()
        self._schedule.step()


def rate(step: int, steps: int, warmup: float) -> float:
    """Share of the highest learning rate at a step, from 0.

    It is a linear rise in the share `warmup`, then half a cosine.
    """
    rising = math.ceil(warmup * steps)
    if step < rising:
        return (step + 1) / rising
    falling = max(1, steps - rising)
    angle = math.pi * (step - rising) / falling
    return 0.5 * (1 + math.cos(angle))


_Share = Annotated[float, Field(ge=0, lt=1)]


@dataclass(frozen=True)
class TrainingSpec:
    """How heads are trained; the defaults are the paper's."""

    loss: LossSpec = PAPER  # which losses
    epochs: Count = 3  # epochs over all pairs
    # epochs of the predictor alone before; section 5.1 has them, but not how many
    predictor_epochs: Natural = 1
    batch: Count = 32  # pairs per step
    learning_rate: Positive = 5e-5  # highest learning rate
    betas: tuple[float, float] = (0.9, 0.95)  # of AdamW
    weight_decay: float = 0.1  # of AdamW
    # share of the steps in which the learning rate rises; after that it falls to 0 along a cosine
    warmup: _Share = 0.1
    dropout: _Share = DROPOUT  # share of activations dropped
    # epochs without a better accuracy on held-out pairs before training ends; None to run all
    # epochs
    patience: int | None = 2
    # divides the published widths of the layers, for few data; 1 is as published
    narrowing: Count = 1
    seed: int = 0  # seed of weights, order and dropout


@dataclass(frozen=True, eq=False)
class Trained:
    """Trained heads."""

    heads: Heads  # of the best epoch, or of the last if nothing was held out
    best_epoch: int
    history: tuple[EpochRecord, ...]
    spec: TrainingSpec = field(default_factory=TrainingSpec)


def train(
    vectors: PairVectors,
    labels: PairLabels,
    *,
    fit: Rows,
    held_out: Rows | None = None,
    spec: TrainingSpec | None = None,
    device: str = "cpu",
    on_epoch: Callable[[EpochRecord], None] | None = None,
) -> Trained:
    """Train heads in float32.

    Source: SaMer paper, section 4 (heads), Equations 1 to 4 (losses) and section 5.1 (settings).

    The same arguments give the same heads on the same machine and number of threads; the global
    random state is left as it was. It keeps no checkpoints: with vectors cached, an epoch over
    10,000 pairs is minutes on two cores, so an interrupted run is started again.

    Args:
        vectors: Vectors of n pairs, of width h: its `queries` have shape (n,), its `responses`
            (n, 2), both rows of its `table`, shape (m, h).
        labels: Preferences of the n pairs overall, shape (n,), and on D dimensions, shape (n, D).
        fit: Rows of the pairs to learn from, from 0 to n - 1, shape (k,).
        held_out: Rows of the pairs by which the best epoch is chosen, shape (l,), which should
            share no prompt with `fit`; None to keep the last epoch.
        spec: How; the paper's settings if left out.
        device: Where the heads are trained, as PyTorch names it.
        on_epoch: Called with the record of every epoch.

    Returns:
        The heads of the best epoch, which epoch that was, and the record of every epoch.

    Raises:
        InputError: If a setting is out of range, no pair in `fit` has a label on a dimension, or
            none in `held_out` has one that is no tie.
    """
    spec = spec or TrainingSpec()
    check("spec", vars(spec), TrainingSpec)
    check_split(labels, fit, held_out)
    devices = []
    if device.startswith("cuda"):
        devices.append(torch.device(device))
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(spec.seed)
        return _Trainer(vectors, labels, fit, spec, device).run(
            held_out, on_epoch or (lambda _: None)
        )


class _Trainer:
    def __init__(
        self, vectors: PairVectors, labels: PairLabels, fit: Rows, spec: TrainingSpec, device: str
    ) -> None:
        self._vectors = vectors
        self._labels = labels
        self._fit = fit
        self._spec = spec
        self._device = device
        widths = inner_widths(spec.narrowing)
        dimensions = labels.dimensions.shape[1]
        self._heads = HeadsModule(
            vectors.hidden_size, dimensions, widths=widths, dropout=spec.dropout
        ).to(device)
        self._scale = unit_scale(vectors.take(fit[:1024]))
        self._random = np.random.default_rng(spec.seed)
        self._steps = math.ceil(len(fit) / spec.batch)  # of an epoch

    def run(self, held_out: Rows | None, on_epoch: Callable[[EpochRecord], None]) -> Trained:
        """First the predictor by itself, on Equation 1, then all heads."""
        spec = self._spec
        history = list[EpochRecord]()
        optimiser = Optimiser(self._heads.dimpred_layer, spec.predictor_epochs * self._steps, spec)
        for epoch in range(1, spec.predictor_epochs + 1):
            loss, selection = self._epoch(optimiser, joint=False)
            history.append(EpochRecord(epoch, "predictor", loss, selection))
            on_epoch(history[-1])
        optimiser = Optimiser(self._heads, spec.epochs * self._steps, spec)
        best: tuple[float, int, Heads] | None = None
        for epoch in range(1, spec.epochs + 1):
            loss, selection, dimensions, overall = self._epoch(optimiser, joint=True)
            heads = self._heads.export(self._scale)
            reached_accuracy = None
            if held_out is not None and len(held_out):
                predictions = predict_pairs(
                    heads, self._vectors.take(held_out), spec.loss.weights_at
                )
                reached_accuracy = accuracy(predictions, self._labels.take(held_out))
            history.append(
                EpochRecord(epoch, "joint", loss, selection, dimensions, overall, reached_accuracy)
            )
            on_epoch(history[-1])
            reached = reached_accuracy.mean if reached_accuracy else epoch
            if best is None or reached > best[0]:
                best = (reached, epoch, heads)
            if reached_accuracy and spec.patience is not None and epoch - best[1] >= spec.patience:
                break
        assert best is not None  # noqa: S101 - there is at least one epoch
        return Trained(best[2], best[1], tuple(history), spec)

    def _epoch(self, optimiser: Optimiser, *, joint: bool) -> list[float]:
        """A step for every batch; means of the loss and its parts.

        The predictor alone has one part.
        """
        sums = np.zeros(4 if joint else 2)
        order = self._fit[self._random.permutation(len(self._fit))]
        self._heads.train()
        for start in range(0, len(order), self._spec.batch):
            rows = order[start : start + self._spec.batch]
            labels = self._labels.take(rows)
            texts = [
                as_tensor(part, self._device) * self._scale
                for part in self._vectors.take(rows).gather()
            ]
            if joint:
                overall = as_tensor(labels.overall.astype(np.int64), self._device)
                dimensions = as_tensor(labels.dimensions.astype(np.int64), self._device)
                losses = samer_loss(self._forward(*texts), overall, dimensions, self._spec.loss)
                parts = [losses.total, losses.selection, losses.dimensions, losses.overall]
            else:
                known = as_tensor(labels.known, self._device)
                parts = [
                    selection_loss(self._heads.dimpred_layer(texts[0]), known, self._spec.loss)
                ] * 2
            optimiser.step(parts[0])
            sums += [part.item() for part in parts]
        means: list[float] = (sums / self._steps).tolist()
        return means

    def _forward(self, queries: Tensor, first: Tensor, second: Tensor) -> PairLogits:
        # Both responses in one call: half as many matrix products, each twice as large.
        both = torch.cat([first, second])
        count = len(first)
        at_query = self._spec.loss.weights_at == "query"
        # The predictor last: dropout draws in this order, which decides what a seed gives.
        scores = self._heads.scoring_layer(both)
        weights = self._heads.weighting_layer(queries if at_query else both)
        gates = self._heads.dimpred_layer(queries)
        sides = (weights, weights) if at_query else (weights[:count], weights[count:])
        return PairLogits(gates, scores[:count], scores[count:], *sides)
