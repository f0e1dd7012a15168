"""Judgements by several evaluators and sources of references -> how stable results are, and whom evaluators favour."""
