"""BERT and BERTScore as similarities of `mad`: `minilm`, `bert/<folder>`, `bert_score/<name>`."""
