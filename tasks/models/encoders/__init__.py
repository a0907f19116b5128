"""Questions as vectors for gates: hidden states of any model, sentence encoders, endpoints."""

from tasks.models.encoders.choice import EncoderChoice, Pooling
from tasks.models.encoders.opening import open_question_encoder

__all__ = ["EncoderChoice", "Pooling", "open_question_encoder"]
