"""From a text to its tree: parentheses out, sentence boundaries by rule, the parse as plain lists.

Parentheses are taken out before parsing, as dates and other spellings lead parsers astray. The
parse is copied into lists because rules that ask millions of times must ask cheaply.
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

# "501(c)(3)" is a number, and "f(x)" what it is called.
ASIDE = re.compile(
    r"(?<![\w)])\([^()\n]{0,200}\)|[ \t]\([^()\n]{0,200}\)|\([^()\n]{4,200}\)"
    r"|[ \t]?\[[^\[\]\n]{0,40}\]"
)
# Inside a paragraph a line ends where a space would stand; the parser knows no such words.
SOFT_BREAK = re.compile(r"(?<![\n ])\n(?![ \t]*(?:[-*+•·|#>]|\d{1,3}[.)]|\n))")


class Reduced:
    """A text without parentheses and line breaks, whose offsets lead back to the whole text."""

    def __init__(self, whole: str, units: Iterable[tuple[int, int]] = ()) -> None:
        """Take out every innermost parenthesis of moderate length; keep where `units` are."""
        self.whole = whole
        self.units = list(units)
        kept: list[str] = []
        self._starts: list[int] = [0]
        self._shifts: list[int] = [0]
        at = length = removed = 0
        for aside in ASIDE.finditer(whole) if "(" in whole or "[" in whole else ():
            kept.append(whole[at : aside.start()])
            length += aside.start() - at
            at = aside.end()
            removed += aside.end() - aside.start()
            self._starts.append(length)
            self._shifts.append(removed)
        kept.append(whole[at:])
        self.text = SOFT_BREAK.sub(" ", "".join(kept))

    def in_whole(self, offset: int) -> int:
        """Return where a character of the reduced text stands in the whole text."""
        return offset + self._shifts[bisect_right(self._starts, offset) - 1]


@dataclass(slots=True)
class Tree:
    """Words and dependencies of one passage; every list has one entry a token.

    `dep` holds Universal Dependencies labels, `start` and `end` character offsets in the text,
    `children` the dependents in order, `sentences` the token ranges of sentences, `names` the
    token ranges of recognised names with their labels, and `units` those of titles and terms that
    the text sets apart. `states` are those of the shipped pipeline's encoder, (tokens, 96) float32;
    another pipeline's mean something else, so that there are none.
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
        """Index the heads."""
        self.index()

    def index(self) -> None:
        """Turn the heads round; to be called when one was changed."""
        self.children = [[] for _ in self.words]
        for token, head in enumerate(self.head):
            if head != token:
                self.children[head].append(token)

    def tokens_of(self, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the tokens of those spans of characters that begin and end with a token."""
        by_start = {start: token for token, start in enumerate(self.start)}
        by_end = {end: token + 1 for token, end in enumerate(self.end)}
        return [(by_start[a], by_end[b]) for a, b in spans if a in by_start and b in by_end]

    def child(self, token: int, *labels: str) -> int | None:
        """Return the first dependent with one of the labels."""
        for child in self.children[token]:
            if self.dep[child] in labels:
                return child
        return None

    def depth(self, token: int) -> int:
        """Return how many tokens stand above a token."""
        depth = 0
        while self.head[token] != token:
            token = self.head[token]
            depth += 1
        return depth

    def touches(self, token: int) -> bool:
        """Whether no space parts a token from those beside it."""
        return self.end[token - 1] == self.start[token] and self.end[token] == self.start[token + 1]

    def subtree(self, token: int) -> list[int]:
        """Return a token and all below it in order."""
        tokens, waiting = [], [token]
        while waiting:
            node = waiting.pop()
            tokens.append(node)
            waiting.extend(self.children[node])
        return sorted(tokens)

    def span(self, tokens: list[int]) -> tuple[int, int]:
        """Return the characters from the first to the last of tokens in order."""
        return self.start[tokens[0]], self.end[tokens[-1]]

    def join(self, tokens: list[int]) -> str:
        """Return the tokens' words, spaced as in the text; words left out leave one space."""
        parts: list[str] = []
        last = None
        for token in tokens:
            if last is not None and (token != last + 1 or self.start[token] > self.end[last]):
                parts.append(" ")
            parts.append(self.words[token])
            last = token
        return "".join(parts)

    def phrase(self, tokens: list[int]) -> str:
        """Return the tokens' words on one line."""
        return " ".join(self.join(tokens).split())


def tree_of(doc: "Doc", reduced: Reduced | None = None) -> Tree:
    """Return a parsed document as a tree; one of a reduced text gets the whole text's offsets."""
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
    tree = Tree(
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
    if reduced is not None and reduced.units:
        tree.units = tree.tokens_of(reduced.units)
    return tree


BATCH = 64


def parse(nlp: "Language", texts: Iterable[str]) -> Iterator["Doc"]:
    """Yield the parsed texts in order; a batch is parsed at once, with the same result for each."""
    for doc in nlp.pipe((_bounded(nlp, text) for text in texts), batch_size=BATCH):
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
