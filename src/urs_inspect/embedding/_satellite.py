"""What embedding adds: similarities by a model of embeddings."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    offers={
        "similarities": {
            "openai": "embedding._embeddings:make_openai",
            "model2vec": "embedding._embeddings:make_model2vec",
            "sentence_transformers": "embedding._embeddings:make_sentence_transformers",
            "minilm": "embedding._bert:make_minilm",
            "bert": "embedding._bert:bert_encoder",
            "bert_score": "embedding._bert:make_bert_score",
        }
    },
)
