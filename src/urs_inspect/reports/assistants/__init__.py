"""Answers of models, search engines and translators to the same questions -> how they compare (URS paper, D.6)."""
