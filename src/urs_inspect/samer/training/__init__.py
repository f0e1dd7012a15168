"""What heads are trained on: labelled pairs, their vectors, and how predictions are held against labels."""

from urs_inspect.samer.training.folds import fold_numbers, split_off
from urs_inspect.samer.training.pairs import ABSENT, PairLabels, Preference, TrainingPair, check_split, label_pairs
from urs_inspect.samer.training.predictions import Accuracy, PairPredictions, accuracy, predict_pairs
from urs_inspect.samer.training.records import read_training, write_training
from urs_inspect.samer.training.selection import Balance, balance
from urs_inspect.samer.training.vectors import PairEmbedder, PairVectors, TextEmbedder, fill_cache, pair_vectors

__all__ = [
    "ABSENT",
    "Accuracy",
    "Balance",
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
