"""Strings that come in pieces, numbered together: each different one is kept once."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as places among the different strings of one piece."""

    piece: int
    places: np.ndarray  # int32


class Vocabulary:
    """The different strings of many columns: first all are added, then numbered, then asked."""

    def __init__(self) -> None:
        """Begin without any."""
        self._pieces: list[pa.Array] = []
        self._numbers: list[np.ndarray] = []

    def add(self, coded: pa.DictionaryArray) -> Coded:
        """Take in a dictionary-encoded column of strings without nulls."""
        # Offsets of 64 bits: all strings together may have more than two gigabytes.
        self._pieces.append(coded.dictionary.cast(pa.large_string()))
        return Coded(len(self._pieces) - 1, coded.indices.to_numpy())

    def settle(self) -> pa.Array:
        """Return the different strings, numbered as they came."""
        if not any(map(len, self._pieces)):
            return pa.array([], pa.large_string())
        whole = pa.chunked_array(self._pieces).dictionary_encode().combine_chunks()
        ends = np.cumsum([len(piece) for piece in self._pieces])
        self._numbers = np.split(whole.indices.to_numpy(), ends[:-1])
        self._pieces = []
        return whole.dictionary

    def renumber(self, order: np.ndarray) -> None:
        """Number the strings anew, by their places in this order of them."""
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        self._numbers = [places[numbers] for numbers in self._numbers]

    def numbers(self, coded: Coded) -> np.ndarray:
        """Return the number of each string of a column, int32."""
        if not len(coded.places):
            return np.empty(0, np.int32)
        return self._numbers[coded.piece][coded.places]
