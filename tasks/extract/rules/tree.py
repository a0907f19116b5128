"""From a text to its dependency tree: parentheses removed, sentences split by rule, plain lists.

Parentheses are removed before parsing because dates and alternative spellings mislead parsers. The
parse is copied into lists because the rules access it millions of times.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tasks.extract.english_pipeline.load import SHIPPED_MODEL
from tasks.text.english_words import verb_lemma
from tasks.text.sentences import sentences

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc

# Not "501(c)(3)", which is a number, nor "f(x)", where the parentheses belong to the name.
ASIDE = re.compile(
    r"(?<![\w)])\([^()\n]{0,200}\)|[ \t]\([^()\n]{0,200}\)|\([^()\n]{4,200}\)"
    # Not "the [paths] section", where an article has no other word.
    r"|(?<!\b[Tt]he)(?<!\b[Tt]he )(?<!\b[Aa])(?<!\b[Aa] )[ \t]?\[[^\[\]\n]{0,40}\]"
    # More than one space, also where a paragraph is indented: the parser takes them for words.
    r"|(?<=\S )[ \t]+(?=\S)|(?<=\S\n)[ \t]+(?=[^\s\-*+•·|#>])(?!\d{1,3}[.)])"
)
# A line break inside a paragraph replaces a space; the parser was not trained on such tokens.
SOFT_BREAK = re.compile(r"(?<![\n ])\n(?![ \t]*(?:[-*+•·|#>]|\d{1,3}[.)]|\n))")


class Reduced:
    """A text without parentheses, line breaks and wide gaps, with offsets in the whole text."""

    def __init__(self, whole: str) -> None:
        """Remove innermost parentheses and brackets of moderate length, and all but one space."""
        self.whole = whole
        kept: list[str] = []
        self._starts: list[int] = [0]
        self._shifts: list[int] = [0]
        at = length = removed = 0
        for aside in ASIDE.finditer(whole):
            kept.append(whole[at : aside.start()])
            length += aside.start() - at
            at = aside.end()
            removed += aside.end() - aside.start()
            self._starts.append(length)
            self._shifts.append(removed)
        kept.append(whole[at:])
        self.text = SOFT_BREAK.sub(" ", "".join(kept))

    def in_whole(self, offset: int) -> int:
        """Return the offset in the whole text of an offset in the reduced text."""
        return offset + self._shifts[bisect_right(self._starts, offset) - 1]


@dataclass(slots=True)
class Tree:
    """Words and dependencies of one passage; every list has one entry per token.

    `dep` holds Universal Dependencies labels, `start` and `end` character offsets in the text,
    `children` the dependents in order, `sentences` the token ranges of sentences, `names` the token
    ranges of recognised names with their labels, and `units` those of names that contain a list.
    `states` are the states of the shipped pipeline's encoder, (tokens, 96) float32; they are empty
    for other pipelines, whose states would mean something else.
    """

    text: str
    words: list[str]
    lower: list[str]
    lemma: list[str]
    pos: list[str]
    tag: list[str]
    dep: list[str]
    head: list[int]
    start: list[int]
    end: list[int]
    sentences: list[tuple[int, int]]
    names: list[tuple[int, int, str]]
    units: list[tuple[int, int]] = field(default_factory=list)
    states: Any = ()
    children: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        """Compute `children`."""
        self.index()

    def index(self) -> None:
        """Compute `children` from `head`; call it after changing a head."""
        self.children = [[] for _ in self.words]
        for token, head in enumerate(self.head):
            if head != token:
                self.children[head].append(token)

    def tokens_of(self, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the token ranges of the character spans that begin and end at token boundaries."""
        by_start = {start: token for token, start in enumerate(self.start)}
        by_end = {end: token + 1 for token, end in enumerate(self.end)}
        return [(by_start[a], by_end[b]) for a, b in spans if a in by_start and b in by_end]

    def child(self, token: int, *labels: str) -> int | None:
        """Return the first dependent with one of the labels, or None."""
        for child in self.children[token]:
            if self.dep[child] in labels:
                return child
        return None

    def depth(self, token: int) -> int:
        """Return the number of ancestors of a token."""
        depth = 0
        while self.head[token] != token:
            token = self.head[token]
            depth += 1
        return depth

    def touches(self, token: int) -> bool:
        """Return whether no space separates a token from both its neighbours."""
        return self.end[token - 1] == self.start[token] and self.end[token] == self.start[token + 1]

    def subtree(self, token: int) -> list[int]:
        """Return a token and all its descendants in order."""
        tokens, waiting = [], [token]
        while waiting:
            node = waiting.pop()
            tokens.append(node)
            waiting.extend(self.children[node])
        return sorted(tokens)

    def span(self, tokens: list[int]) -> tuple[int, int]:
        """Return the character span from the first to the last of the ordered tokens."""
        return self.start[tokens[0]], self.end[tokens[-1]]

    def join(self, tokens: list[int]) -> str:
        """Return the tokens' words, spaced as in the text; a gap is a space, but before a comma.

        A bracket that they open is closed if the next token does: sleep(3).
        """
        parts: list[str] = []
        last = None
        for token in tokens:
            apart = last is not None and (token != last + 1 or self.start[token] > self.end[last])
            if apart and self.words[token] not in (",", ";"):
                parts.append(" ")
            parts.append(self.words[token])
            last = token
        text = "".join(parts)
        closes = last is not None and self.words[last + 1 : last + 2] == [")"]
        return text + ")" if closes and text.count("(") > text.count(")") else text

    def phrase(self, tokens: list[int]) -> str:
        """Return the tokens' words on one line."""
        return " ".join(self.join(tokens).split())


def tree_of(doc: "Doc", reduced: Reduced | None = None) -> Tree:
    """Return a parsed document as a tree; the offsets are those of the whole, unreduced text."""
    columns = doc.to_array(["LOWER", "LEMMA", "POS", "TAG", "DEP", "HEAD", "IDX", "LENGTH"])
    strings = doc.vocab.strings
    known: dict[int, str] = {}

    def named(column: int) -> list[str]:
        keys = columns[:, column].tolist()
        for key in keys:
            if key not in known:
                known[key] = strings[key] if key else ""
        return [known[key] for key in keys]

    pos, tag, lemma = named(2), named(3), named(1)
    lower = [word.replace("’", "'") for word in named(0)]
    lemma = [
        verb_lemma(lower[token], tag[token]) if kind in ("VERB", "AUX") else lemma[token]
        for token, kind in enumerate(pos)
    ]
    heads = columns[:, 5].astype("int64").tolist()
    starts = columns[:, 6].tolist()
    ends = (columns[:, 6] + columns[:, 7]).tolist()
    if reduced is not None and len(reduced.text) != len(reduced.whole):
        starts = [reduced.in_whole(start) for start in starts]
        ends = [reduced.in_whole(end - 1) + 1 for end in ends]
    return Tree(
        text=reduced.whole if reduced else doc.text,
        words=[token.text for token in doc],
        lower=lower,
        lemma=lemma,
        pos=pos,
        tag=tag,
        dep=named(4),
        head=[token + offset for token, offset in enumerate(heads)],
        start=starts,
        end=ends,
        sentences=[(sentence.start, sentence.end) for sentence in doc.sents],
        names=[(name.start, name.end, name.label_) for name in doc.ents],
        states=doc.tensor,
    )


TEXTS_A_CALL = 64


def parse(nlp: "Language", texts: Iterable[str]) -> Iterator["Doc"]:
    """Yield the parsed texts in order; batching does not change the result of any text."""
    for doc in nlp.pipe((_bounded(nlp, text) for text in texts), batch_size=TEXTS_A_CALL):
        if nlp.path != SHIPPED_MODEL:
            doc.tensor = doc.tensor[:0]
        yield doc


def _bounded(nlp: "Language", text: str) -> "Doc":
    import numpy as np
    from spacy.attrs import SENT_START

    doc = nlp.make_doc(text)
    if len(doc):
        begins = [start for start, _ in sentences(text, "en")]
        starts = np.where(np.isin(doc.to_array("IDX"), begins), 1, -1)
        starts[0] = 1
        column: Any = starts.astype("int64").astype("uint64").reshape(-1, 1)
        doc.from_array([SENT_START], column)
    return doc
