"""What heads are trained on: labelled pairs and their vectors.

Also how predictions are compared with labels.
"""

from urs_inspect.samer._training.pairs import (
    ABSENT,
    PairLabels,
    Preference,
    TrainingPair,
    balance,
    check_split,
    fold_numbers,
    label_pairs,
    read_training,
    split_off,
    write_training,
)
from urs_inspect.samer._training.vectors import (
    Accuracy,
    PairEmbedder,
    PairPredictions,
    PairVectors,
    TextEmbedder,
    accuracy,
    fill_cache,
    pair_vectors,
    predict_pairs,
)

__all__ = [
    "ABSENT",
    "Accuracy",
    "PairEmbedder",
    "PairLabels",
    "PairPredictions",
    "PairVectors",
    "Preference",
    "TextEmbedder",
    "TrainingPair",
    "accuracy",
    "balance",
    "check_split",
    "fill_cache",
    "fold_numbers",
    "label_pairs",
    "pair_vectors",
    "predict_pairs",
    "read_training",
    "split_off",
    "write_training",
]
