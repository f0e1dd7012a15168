"""Similarities of `mad` by models of embeddings: an API, static ones, transformers, BERTScore."""
