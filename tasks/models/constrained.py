"""Decoding that can only yield JSON valid for a schema: one llguidance matcher per batch row."""

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from schemas.errors import UsageError

LONGEST_STRING = 2_000  # characters, if the schema sets no lower bound, so that a loop ends
LONGEST_LIST = 500
# No white space between tokens, in which small models get stuck, and no escapes of control
# characters or of halves of characters, which no reply may contain.
_OPTIONS: Any = {"whitespace_flexible": False, "json_allowed_escapes": '"\\nt'}
_JSON_SIGNS = '{}[]":,\\'
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_SPACE = "\u2581"  # how SentencePiece writes a space


class Grammars:
    """A model's tokens, and the grammars of the schemas requested so far."""

    def __init__(self, tokenizer: Any, vocabulary: int, ends: Sequence[int]) -> None:
        """Read the tokens once; `vocabulary` is the number of the model's logits."""
        from llguidance import LLExecutor

        self.vocabulary = max(vocabulary, len(tokenizer))
        self.executor = LLExecutor()
        self._tokens = _tokens_of(tokenizer, self.vocabulary, list(ends))
        self._kept: dict[str, Any] = {}

    def matcher(self, schema: dict[str, Any]) -> Any:
        """Return a fresh matcher; raise ValueError for a schema without a grammar."""
        from llguidance import LLMatcher

        key = json.dumps(schema)
        if key not in self._kept:
            grammar = LLMatcher.grammar_from_json_schema(bounded(schema), overrides=_OPTIONS)
            matcher = LLMatcher(self._tokens, grammar, log_level=0)
            if matcher.is_error():
                raise ValueError(matcher.get_error().splitlines()[0][:200])
            self._kept[key] = matcher
        return self._kept[key].deep_copy()

    def text(self, tokens: list[int]) -> str:
        """Return the text of tokens as the matcher saw it, with all spaces."""
        return bytes(self._tokens.decode_bytes(tokens)).decode(errors="replace")


def bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in which every string and every list has a maximum length."""
    schema = deepcopy(schema)
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if part.get("type") == "string" and not {"enum", "const"} & part.keys():
            part["maxLength"] = min(part.get("maxLength", LONGEST_STRING), LONGEST_STRING)
        if part.get("type") == "array":
            part.setdefault("maxItems", LONGEST_LIST)
        waiting += [*part.get("properties", {}).values(), *part.get("anyOf", ())]
        waiting += [part["items"]] if isinstance(part.get("items"), dict) else []
    return schema


class ConstrainedReply:
    """One reply being generated: its grammar, its maximum length and how it ended."""

    def __init__(self, matcher: Any, room: int) -> None:
        """Begin a reply of at most `room` tokens, without its end token."""
        self.matcher, self.room = matcher, room
        self.written = 0
        self.finish: str | None = None  # stop, length, or broken

    def take(self, token: int, ends: frozenset[int]) -> None:
        """Record the next token of the reply."""
        if self.finish is not None:
            return
        if token in ends:
            self.finish = "stop"
            return
        self.written += 1
        if not self.matcher.consume_token(token):
            self.finish = "broken"
        elif self.matcher.is_stopped():
            self.finish = "broken" if self.matcher.is_error() else "stop"
        elif self.written >= self.room:
            self.finish = "length"


class Constraint:
    """Chooses the likeliest token that each row's grammar allows."""

    def __init__(
        self, rows: Sequence[ConstrainedReply], grammars: Grammars, ends: Sequence[int]
    ) -> None:
        """Begin one batch; a row whose grammar allows nothing ends with the first of `ends`."""
        from llguidance.numpy import allocate_token_bitmask

        self.rows, self._grammars, self._end = rows, grammars, ends[0]
        self._ends = frozenset(ends)
        self._allowed = allocate_token_bitmask(len(rows), grammars.vocabulary)

    def __call__(self, logits: Any, rows: Sequence[int]) -> tuple[Any, Sequence[bool]]:
        """Return the next token of each row, and whether its reply has ended."""
        self._fill(rows)
        chosen = logits.masked_fill(~self._spread(logits, rows), float("-inf")).argmax(-1)
        for row, token in zip(rows, chosen.tolist(), strict=True):
            self.rows[row].take(token, self._ends)
        return chosen, [self.rows[row].finish is not None for row in rows]

    def _fill(self, rows: Sequence[int]) -> None:
        """Write the tokens that each row allows next into the bit mask."""
        from llguidance.numpy import fill_next_token_bitmask_par

        going = [(self.rows[row].matcher, row) for row in rows]
        fill_next_token_bitmask_par(self._grammars.executor, going, self._allowed)
        for row in rows:
            if not self._allowed[row].any():
                self.rows[row].finish = "broken"
                self._allowed[row].view("uint32")[self._end // 32] = 1 << (self._end % 32)

    def _spread(self, logits: Any, rows: Sequence[int]) -> Any:
        """Return the bit mask as one boolean per logit, on the device of the logits."""
        import torch

        packed = torch.from_numpy(self._allowed[list(rows)].view("uint8")).to(logits.device)
        places = torch.arange(8, dtype=torch.uint8, device=logits.device)
        bits = (packed.unsqueeze(-1) >> places & 1).bool().flatten(1)
        return bits[:, : logits.shape[1]]


# -- tokens as bytes ---------------------------------------------------------------------------


def _tokens_of(tokenizer: Any, vocabulary: int, ends: list[int]) -> Any:
    """Return the tokens for llguidance, however the tokenizer represents bytes."""
    from llguidance import LLTokenizer
    from llguidance.hf import from_tokenizer

    try:
        return from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=ends)
    except ValueError:
        if not any(token.startswith(_SPACE) for token in tokenizer.get_vocab()):
            raise UsageError(
                "The model's tokenizer does not keep texts as they are, so that it cannot write "
                "JSON. Use a model with byte-level or SentencePiece tokens."
            ) from None
    from llguidance import TokenizerWrapper

    pieces = _Pieces(tokenizer, vocabulary, ends[0])
    return LLTokenizer(TokenizerWrapper(pieces), n_vocab=vocabulary, eos_token=ends)


class _Pieces:
    """The tokens of a SentencePiece model without byte tokens, such as T5's.

    T5's vocabulary lacks braces and the backslash. JSON characters without a token get one of the
    spare tokens (<extra_id_0> ...), which are not used in replies.
    """

    def __init__(self, tokenizer: Any, vocabulary: int, end: int) -> None:
        self.eos_token_id, self.bos_token_id = end, tokenizer.bos_token_id
        self.tokens = [b""] * vocabulary
        added = tokenizer.added_tokens_decoder.items()
        special = {*tokenizer.all_special_ids, *(n for n, token in added if token.special)}
        for text, number in tokenizer.get_vocab().items():
            self.tokens[number] = text.encode() if number in special else _bytes_of(text)
        reserved = {tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id, end}
        spare = sorted(special - reserved - {tokenizer.bos_token_id})
        known = {t for n, t in enumerate(self.tokens) if n not in special}
        for sign in _JSON_SIGNS:
            if sign.encode() not in known:
                if not spare:
                    raise UsageError(f"The model has no token for {sign}, which JSON needs.")
                number = spare.pop(0)
                special.discard(number)
                self.tokens[number] = sign.encode()
        self.special_token_ids = sorted(special)
        self._numbers = {t: n for n, t in enumerate(self.tokens) if t and n not in special}
        self._longest = max(map(len, self._numbers))

    def __call__(self, text: str | bytes) -> list[int]:
        """Return the tokens of a text, taking the longest matching token at each position.

        llguidance calls this to tokenise text that the grammar forces; the tokenizer itself would
        put a space before it.
        """
        rest = text.encode() if isinstance(text, str) else text
        tokens: list[int] = []
        while rest:
            sizes = range(min(self._longest, len(rest)), 0, -1)
            size = next((n for n in sizes if rest[:n] in self._numbers), None)
            if size is None:
                break  # no token for this byte, so the model cannot continue
            tokens.append(self._numbers[rest[:size]])
            rest = rest[size:]
        return tokens


def _bytes_of(piece: str) -> bytes:
    byte = _BYTE.fullmatch(piece)
    return bytes([int(byte.group(1), 16)]) if byte else piece.replace(_SPACE, " ").encode()
