"""The pieces of multilingual-e5-small's vocabulary that the reader knows.

The whole vocabulary, of a hundred languages, takes a second to load and 300 MB. These are the
pieces that English and Chinese texts have and all single characters, so that what is left out is
read in smaller pieces, a quarter of a percent of the tokens of texts that were not counted.
"""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tasks.models.encoders.e5 import e5_folder
from tasks.models.encoders.minilm import cached_file

KNOWN = Path(__file__).with_name("model") / "pieces.npy"  # a bit for each piece of the vocabulary


@cache
def known_rows() -> np.ndarray:
    """Return int64 (known pieces,), the rows of the encoder's vocabulary, by the reader's ids."""
    return np.flatnonzero(np.unpackbits(np.load(KNOWN, allow_pickle=False)))


@cache
def known_tokenizer() -> Any:
    """Return the encoder's tokeniser with the known pieces alone."""
    from tokenizers import Tokenizer

    version = hashlib.sha256(KNOWN.read_bytes()).hexdigest()[:16]
    file = cached_file(f"reader-pieces-{version}.json", _known_alone)
    return Tokenizer.from_buffer(file) if isinstance(file, bytes) else Tokenizer.from_file(file)


def _known_alone() -> bytes:
    """Return the file of the encoder's tokeniser with the known pieces alone."""
    whole = json.loads((e5_folder() / "tokenizer.json").read_bytes())
    pieces, rows = whole["model"]["vocab"], known_rows()
    whole["model"]["vocab"] = [pieces[row] for row in rows]
    special = dict(zip(rows.tolist(), range(len(rows)), strict=True))
    whole["added_tokens"] = [
        token | {"id": special[token["id"]]}
        for token in whole["added_tokens"]
        if token["id"] in special
    ]
    return json.dumps(whole, ensure_ascii=False).encode()
