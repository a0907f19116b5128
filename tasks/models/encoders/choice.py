"""The choice of a gate's encoder, in the form that an edition stores."""

import json
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from schemas.errors import UsageError

Pooling = Literal["mean", "last", "decoder_start_with_encoder", "first_token_official"]
HIDDEN, ENDPOINT = "hidden:", "endpoint:"


@dataclass(frozen=True, slots=True)
class EncoderChoice:
    """An encoder; for hidden states also the layer, and how its states are pooled.

    `name` is minilm, e5-small, hidden:FOLDER, hidden:HUB-NAME or hidden:PACKAGED (minilm, smollm2),
    endpoint:MODEL, or a sentence-transformers name or folder. Layer 0 is the embeddings, -1 the
    last layer; in a model with a decoder, layers are the decoder's.
    """

    name: str = "minilm"
    layer: int = -1
    pooling: Pooling = "mean"

    def __post_init__(self) -> None:
        """Raise UsageError for an invalid choice."""
        if self.pooling not in get_args(Pooling):
            raise UsageError(
                f"There is no pooling {self.pooling!r}; choose {', '.join(get_args(Pooling))}."
            )
        if self.name in ("", "none", HIDDEN, ENDPOINT):
            raise UsageError(
                "A gate needs an encoder: minilm, hidden:FOLDER-OR-HUB-NAME, endpoint:MODEL, or a "
                "sentence-transformers name or folder."
            )
        if not self.name.startswith(HIDDEN) and (self.layer, self.pooling) != (-1, "mean"):
            raise UsageError(
                f"Layer and pooling are for hidden states; {self.name} gives one vector per text. "
                f"Write {HIDDEN}{self.name} if it is a transformers model."
            )

    def to_json(self) -> str:
        """Return the choice as one JSON object."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "EncoderChoice":
        """Return the choice in a JSON object; raise UsageError if it has none."""
        try:
            value = json.loads(text)
            if isinstance(value["name"], str) and isinstance(value.get("layer", -1), int):
                return cls(**value)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"This is no choice of an encoder: {text[:200]}") from error
        raise UsageError(f"This is no choice of an encoder: {text[:200]}")
