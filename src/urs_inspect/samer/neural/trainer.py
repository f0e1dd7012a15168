"""Trains heads on cached vectors (SaMer paper, section 5.1)."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from urs_inspect.errors import InputError
from urs_inspect.samer.heads import Heads, inner_widths
from urs_inspect.samer.neural.heads_module import DROPOUT, HeadsModule, as_tensor
from urs_inspect.samer.neural.losses import PAPER, Losses, LossSpec, PairLogits, samer_loss, selection_loss
from urs_inspect.samer.neural.optimiser import Optimiser
from urs_inspect.samer.training.epochs import EpochRecord
from urs_inspect.samer.training.pairs import ABSENT, PairLabels, check_split
from urs_inspect.samer.training.predictions import Accuracy, accuracy, predict_pairs
from urs_inspect.samer.training.vectors import PairVectors, Rows, unit_scale


@dataclass(frozen=True)
class TrainingSpec:
    """How heads are trained; the defaults are the paper's.

    Attributes:
        loss: Which losses.
        epochs: Epochs over all pairs.
        predictor_epochs: Epochs of the predictor alone before; section 5.1 has them, but not how many.
        batch: Pairs a step.
        learning_rate: Highest learning rate.
        betas: Of AdamW.
        weight_decay: Of AdamW.
        warmup: Share of the steps in which the learning rate rises; after that it falls to 0 along a cosine.
        dropout: Share of activations dropped.
        patience: Epochs without a better accuracy on held-out pairs before training ends; None to run all epochs.
        narrowing: Divides the published widths of the layers, for few data; 1 is as published.
        seed: Seed of weights, order and dropout.
    """

    loss: LossSpec = PAPER
    epochs: int = 3
    predictor_epochs: int = 1
    batch: int = 32
    learning_rate: float = 5e-5
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.1
    warmup: float = 0.1
    dropout: float = DROPOUT
    patience: int | None = 2
    narrowing: int = 1
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Trained:
    """Trained heads.

    Attributes:
        heads: The heads of the best epoch, or of the last if nothing was held out.
        best_epoch: That epoch.
        history: All epochs.
        spec: How they were trained.
    """

    heads: Heads
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

    The same arguments give the same heads on the same machine and number of threads; the global random state is left
    as it was. It keeps no checkpoints: with vectors cached, an epoch over 10,000 pairs is minutes on two cores, so an
    interrupted run is started again.

    Args:
        vectors: Vectors of n pairs.
        labels: Their labels.
        fit: Rows of the pairs to learn from.
        held_out: Rows of the pairs by which the best epoch is chosen; share no prompt with `fit`.
        spec: How; the paper's settings if left out.
        device: Where the heads are trained.
        on_epoch: Told of every epoch.

    Returns:
        The heads.

    Raises:
        InputError: If a setting is out of range, or the labels are of no use; see `check_split`.
    """
    spec = spec or TrainingSpec()
    _check(spec)
    check_split(labels, fit, held_out)
    with torch.random.fork_rng(devices=[torch.device(device)] if device.startswith("cuda") else []):
        torch.manual_seed(spec.seed)
        return _Trainer(vectors, labels, fit, held_out, spec, device, on_epoch).run()


def _check(spec: TrainingSpec) -> None:
    for name, value, least in (
        ("epochs", spec.epochs, 1),
        ("predictor_epochs", spec.predictor_epochs, 0),
        ("batch", spec.batch, 1),
        ("narrowing", spec.narrowing, 1),
    ):
        if value < least:
            raise InputError(f"{name}: {value}; allowed: {least} or more")
    if not spec.learning_rate > 0 or not 0 <= spec.dropout < 1 or not 0 <= spec.warmup < 1:
        raise InputError("learning_rate must be above 0, dropout and warmup from 0 to below 1")


class _Trainer:
    def __init__(
        self,
        vectors: PairVectors,
        labels: PairLabels,
        fit: Rows,
        held_out: Rows | None,
        spec: TrainingSpec,
        device: str,
        on_epoch: Callable[[EpochRecord], None] | None,
    ) -> None:
        self._vectors, self._labels, self._fit, self._spec = vectors, labels, fit, spec
        self._held_out = held_out if held_out is not None and len(held_out) else None
        self._device, self._tell = device, on_epoch
        widths, dimensions = inner_widths(spec.narrowing), labels.dimensions.shape[1]
        self._heads = HeadsModule(vectors.hidden_size, dimensions, widths=widths, dropout=spec.dropout).to(device)
        self._scale = unit_scale(vectors.take(fit[:1024]))
        self._random = np.random.default_rng(spec.seed)
        self._history: list[EpochRecord] = []

    def run(self) -> Trained:
        spec = self._spec
        if spec.predictor_epochs:
            self._warm_up()
        optimiser = self._optimiser(self._heads, spec.epochs)
        best: tuple[float, int, Heads] | None = None
        for epoch in range(1, spec.epochs + 1):
            sums = np.zeros(4)
            for losses in self._steps(optimiser):
                sums += [part.item() for part in (losses.total, losses.selection, losses.dimensions, losses.overall)]
            heads = self._heads.export(self._scale)
            loss, selection, dimensions, overall = (sums / self._steps_an_epoch).tolist()
            record = EpochRecord(epoch, "joint", loss, selection, dimensions, overall, self._measure(heads))
            self._note(record)
            reached = record.held_out.mean if record.held_out else epoch
            if best is None or reached > best[0]:
                best = (reached, epoch, heads)
            if record.held_out and spec.patience is not None and epoch - best[1] >= spec.patience:
                break
        assert best is not None  # noqa: S101 - there is at least one epoch
        return Trained(best[2], best[1], tuple(self._history), spec)

    def _warm_up(self) -> None:
        """The predictor by itself, on Equation 1."""
        optimiser = self._optimiser(self._heads.dimpred_layer, self._spec.predictor_epochs)
        for epoch in range(1, self._spec.predictor_epochs + 1):
            total = 0.0
            self._heads.train()
            for rows in self._batches():
                queries = self._tensors(rows)[0]
                known = as_tensor(self._labels.take(rows).dimensions != ABSENT, self._device)
                loss = selection_loss(self._heads.select(queries), known, self._spec.loss)
                optimiser.step(loss)
                total += loss.item()
            mean = total / self._steps_an_epoch
            self._note(EpochRecord(epoch, "predictor", mean, mean))

    def _steps(self, optimiser: Optimiser) -> Iterator[Losses]:
        self._heads.train()
        for rows in self._batches():
            labels = self._labels.take(rows)
            overall, dimensions = (
                as_tensor(codes.astype(np.int64), self._device) for codes in (labels.overall, labels.dimensions)
            )
            losses = samer_loss(self._forward(*self._tensors(rows)), overall, dimensions, self._spec.loss)
            optimiser.step(losses.total)
            yield losses

    def _forward(self, queries: Tensor, first: Tensor, second: Tensor) -> PairLogits:
        # Both responses in one call: half as many matrix products, each twice as large.
        both, count = torch.cat([first, second]), len(first)
        scores = self._heads.score(both)
        if self._spec.loss.weights_at == "query":
            weights = self._heads.weigh(queries)
            return PairLogits(self._heads.select(queries), scores[:count], scores[count:], weights, weights)
        weights = self._heads.weigh(both)
        return PairLogits(self._heads.select(queries), scores[:count], scores[count:], weights[:count], weights[count:])

    def _batches(self) -> Iterator[Rows]:
        order = self._fit[self._random.permutation(len(self._fit))]
        for start in range(0, len(order), self._spec.batch):
            yield order[start : start + self._spec.batch]

    def _tensors(self, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        one, two, three = (as_tensor(part, self._device) * self._scale for part in self._vectors.take(rows).gather())
        return one, two, three

    @property
    def _steps_an_epoch(self) -> int:
        return math.ceil(len(self._fit) / self._spec.batch)

    def _optimiser(self, module: nn.Module, epochs: int) -> Optimiser:
        spec = self._spec
        return Optimiser(
            module,
            epochs * self._steps_an_epoch,
            learning_rate=spec.learning_rate,
            betas=spec.betas,
            weight_decay=spec.weight_decay,
            warmup=spec.warmup,
        )

    def _measure(self, heads: Heads) -> Accuracy | None:
        if self._held_out is None:
            return None
        found = predict_pairs(heads, self._vectors.take(self._held_out), self._spec.loss.weights_at)
        return accuracy(found, self._labels.take(self._held_out))

    def _note(self, record: EpochRecord) -> None:
        self._history.append(record)
        if self._tell:
            self._tell(record)
