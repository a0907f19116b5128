"""Training rows of several whole texts each, so that hardly any place is left empty.

Texts are packed by best fit, in shuffled order, within windows. Packing the longest first would
fill rows slightly better, but would group texts of similar length, which are also of a similar
kind; in measurements, held-out loss then fell more slowly. Only a text longer than a row is cut.
Attention stays within a text: its positions start from 0, from which transformers derives a
block-diagonal mask (`find_packed_sequence_indices`), for every architecture that uses
`create_causal_mask`, as long as it gets no cache. Where that fails, as with recurrent models, each
row has one text. Concatenating all texts and cutting at the end of each row, as in CooK's released
code, fills rows as well but splits most texts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.experts.training.tokens import Tokens

WINDOW = 4096  # texts packed together: rows are 97 to 99 % full, and memory stays small
IGNORED = -100  # the label that torch's cross entropy ignores
Piece = tuple[int, int, int]  # the number of a text, and the start and end of the piece in it


def packed_rows(
    lengths: np.ndarray, size: int, seed: int, epoch: int, alone: bool = False
) -> Iterator[list[Piece]]:
    """Yield an epoch's rows of at most `size` tokens, in an order given by seed and epoch.

    With `alone` each row has one piece of a text, sorted by length within a window. Consecutive
    pieces of a text that is cut share one token, so that each token that is not given is predicted
    once.
    """
    random = np.random.default_rng((seed, epoch))
    order = random.permutation(len(lengths))
    for begin in range(0, len(order), WINDOW):
        window = order[begin : begin + WINDOW]
        pieces = [
            (int(text), start, min(start + size, int(lengths[text])))
            for text in window
            for start in range(0, max(int(lengths[text]) - 1, 1), size - 1)
        ]
        if alone:
            yield from ([piece] for piece in sorted(pieces, key=_length))
            continue
        rows = fit(pieces, size)
        for row in random.permutation(len(rows)):
            yield rows[row]


def fit(pieces: Sequence[Piece], size: int) -> list[list[Piece]]:
    """Return rows made by placing each piece in turn into the fullest row with room for it."""
    rows: list[list[Piece]] = []
    with_room: list[list[int]] = [[] for _ in range(size + 1)]  # row numbers by remaining room
    rooms = 0  # bit n is set if a row has room n, so that the best fit is found at once
    for piece in pieces:
        length = _length(piece)
        fitting = rooms >> length
        if fitting:
            room = length + (fitting & -fitting).bit_length() - 1
            row = with_room[room].pop()
            if not with_room[room]:
                rooms ^= 1 << room
        else:
            room, row = size, len(rows)
            rows.append([])
        rows[row].append(piece)
        with_room[room - length].append(row)
        rooms |= 1 << (room - length)
    return rows


def _length(piece: Piece) -> int:
    return piece[2] - piece[1]


@dataclass(frozen=True, slots=True)
class PackedPart:
    """Rows that are computed in one batch, as int64 arrays of shape (rows, tokens).

    `labels` are the tokens to predict, IGNORED elsewhere; `positions` count from the start of each
    piece.
    """

    ids: np.ndarray
    positions: np.ndarray
    labels: np.ndarray

    @property
    def targets(self) -> int:
        """The number of tokens to predict."""
        return int((self.labels != IGNORED).sum())


def part_of(rows: Sequence[Sequence[Piece]], tokens: Tokens, padding: int) -> PackedPart:
    """Return rows as arrays, padded to the longest of them."""
    width = max(sum(end - begin for _, begin, end in row) for row in rows)
    ids = np.full((len(rows), width), padding, np.int64)
    positions = np.zeros_like(ids)  # each padded place is a text of its own, seen by none
    labels = np.full_like(ids, IGNORED)
    for number, row in enumerate(rows):
        place = 0
        for text, begin, end in row:
            after = place + end - begin
            ids[number, place:after] = tokens.piece(text, begin, end)
            positions[number, place:after] = np.arange(end - begin)
            first = place + max(int(tokens.given[text]) - begin, 1)
            labels[number, first:after] = ids[number, first:after]
            place = after
    return PackedPart(ids, positions, labels)


def texts_mix(model: Any) -> bool:
    """Return whether a text in a packed row changes the model's logits for the next one.

    Recurrent models, for example, ignore positions and carry their state into the next text.
    """
    import torch

    first, second = torch.tensor([[7, 3, 5, 2]]), torch.tensor([[4, 6, 3, 1, 5]])
    positions = torch.tensor([[*range(4), *range(5)]])
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        device = next(model.parameters()).device
        alone = model(input_ids=second.to(device), use_cache=False).logits[0]
        packed = model(
            input_ids=torch.cat([first, second], dim=1).to(device),
            position_ids=positions.to(device),
            use_cache=False,
        ).logits[0, first.shape[1] :]
    model.train(was_training)
    return not torch.allclose(alone, packed, atol=1e-3 * float(alone.abs().max()), rtol=1e-2)
