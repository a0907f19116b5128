"""Training texts as tokens in memory-mapped files, which may be larger than memory."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tasks.experts.knowledge import prompt_of
from warehouse import durable

TEXTS_A_CALL = 1000  # of the tokenizer, which encodes them in parallel


@dataclass(frozen=True, slots=True)
class Tokens:
    """Texts as tokens: `ids` concatenates all texts, `ends` has the end of each text (int64).

    `given` is the number of tokens at the start of each text that are not predicted (int64): the
    first token, or all tokens of the question that the text answers. The arrays are mapped from
    files. `sha256` is the hash of the texts in their order.
    """

    ids: np.ndarray
    ends: np.ndarray
    given: np.ndarray
    sha256: str

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens of each text."""
        return np.diff(self.ends, prepend=np.int64(0))

    @property
    def targets(self) -> int:
        """The number of tokens to predict: all except the given ones of each text."""
        return len(self.ids) - int(self.given.sum())

    def piece(self, text: int, begin: int, end: int) -> np.ndarray:
        """Return the tokens of a text from `begin` to `end`."""
        first = int(self.ends[text - 1]) if text else 0
        return self.ids[first + begin : first + end]


@dataclass(frozen=True, slots=True)
class TextTokenizer:
    """Turns texts into tokens; each text begins with `before` and ends with `after`.

    Control tokens that are spelled out in a text are encoded as ordinary tokens.
    """

    tokenizer: Any  # of the library tokenizers
    before: tuple[int, ...]
    after: int

    @classmethod
    def of(cls, tokenizer: Any) -> "TextTokenizer":
        """Return the encoder of a fast transformers tokenizer that has an end token."""
        backend = tokenizer.backend_tokenizer
        return cls(backend, opening(tokenizer), tokenizer.eos_token_id)

    def __call__(self, texts: list[str]) -> list[list[int]]:
        """Return the tokens of each text."""
        # Each call of the transformers tokenizer around this one resets these options.
        self.tokenizer.encode_special_tokens = True
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        plain = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [[*self.before, *encoded.ids, self.after] for encoded in plain]

    def given(self, texts: list[str]) -> list[int]:
        """Return how many tokens at the start of each text are given: one, or its question.

        An expert is always given the question. The words of a question, above all of a loose one,
        are no knowledge, and learning to predict them would take most of a training.
        """
        prompts = self([prompt_of(text) for text in texts])
        return [max(len(prompt) - 1, 1) for prompt in prompts]


def opening(tokenizer: Any) -> tuple[int, ...]:
    """Return the tokens at the start of each text: the tokenizer's own, else the end token.

    GPT-2 and most of its relatives were trained with the end token as the first token. Without it,
    the first word of a text could not be predicted.
    """
    alone = tokenizer("", add_special_tokens=True)["input_ids"]
    own = [token for token in alone if token != tokenizer.eos_token_id]
    return tuple(own) or (tokenizer.eos_token_id,)


def write_tokens(texts: Iterable[str], encode: TextTokenizer, folder: Path, name: str) -> Tokens:
    """Write texts as tokens to files in a folder and return them as mapped arrays."""
    vocabulary = encode.tokenizer.get_vocab_size(with_added_tokens=True)
    kind = np.dtype("<u2" if vocabulary <= 1 << 16 else "<u4")
    folder.mkdir(parents=True, exist_ok=True)
    sha256, position, count = hashlib.sha256(), 0, 0
    with (
        (folder / f"{name}.ids").open("wb") as ids,
        (folder / f"{name}.ends").open("wb") as ends,
        (folder / f"{name}.given").open("wb") as given,
    ):
        rest = iter(texts)
        while some := list(islice(rest, TEXTS_A_CALL)):
            for text in some:
                data = text.encode()
                sha256.update(len(data).to_bytes(8, "little") + data)
            encoded = encode(some)
            ids.write(np.concatenate(encoded).astype(kind).tobytes())
            lengths = np.array([len(tokens) for tokens in encoded], "<i8")
            ends.write((position + lengths.cumsum()).tobytes())
            given.write(np.array(encode.given(some), "<i8").tobytes())
            position, count = position + int(lengths.sum()), count + len(some)
    about = {"kind": kind.str, "texts": count, "tokens": position, "sha256": sha256.hexdigest()}
    durable.write_sealed_json(folder / f"{name}.json", about)  # last: what it describes is complete
    return read_tokens(folder, name)


def read_tokens(folder: Path, name: str) -> Tokens:
    """Return tokens that were written before; raise DamageError if their record is damaged."""
    about = durable.read_sealed_json(folder / f"{name}.json", "Train again.")
    return Tokens(
        _mapped(folder / f"{name}.ids", about["kind"], about["tokens"]),
        _mapped(folder / f"{name}.ends", "<i8", about["texts"]),
        _mapped(folder / f"{name}.given", "<i8", about["texts"]),
        about["sha256"],
    )


def _mapped(path: Path, kind: str, count: int) -> np.ndarray:
    if not count:  # an empty file cannot be mapped
        return np.zeros(0, kind)
    return np.memmap(path, kind, mode="r", shape=(count,))
