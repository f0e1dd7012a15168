"""What BERT adds: similarities."""

from urs_inspect._satellites import Satellite

SATELLITE = Satellite(
    offers={
        "similarities": {
            "minilm": "bert._bert:make_minilm",
            "bert": "bert._bert:bert_encoder",
            "bert_score": "bert._bert:make_bert_score",
        }
    },
)
