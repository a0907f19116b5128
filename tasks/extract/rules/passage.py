"""One passage being worked on: its tree, its names, and who is meant by a word."""

import re
from dataclasses import dataclass, field
from typing import Any

from tasks.extract.extracted import Mention, evidence_columns
from tasks.extract.rules.tree import Tree

_TURN = re.compile(r"\s*[A-Z][\w.’'-]*(?: (?:and|[A-Z][\w.’'-]*)){0,4}:\s")


@dataclass(slots=True)
class NameSpan:
    """A name in the passage: its tokens from `first` up to `last`, exclusive.

    `capital_tells` is false where a word of the dictionary may owe its capital to its place.
    """

    first: int
    last: int
    name: str
    kind: str
    start: int
    end: int
    capital_tells: bool = True


@dataclass(slots=True)
class ParsedPassage:
    """A passage with its tree and names; `entities` maps a token to the name it is part of.

    `referents` maps a pronoun's or a description's token ("he", "the film") to the name it
    stands for, `kinds` a name to its kind as far as the passage tells; `stated_kinds` holds the
    names whose kind is no guess. `antecedents` maps a pronoun that no name is sure for to the words
    of a subject that its sentence goes on about.
    """

    row: dict[str, Any]
    tree: Tree
    names: list[NameSpan]
    title: str
    entities: dict[int, NameSpan] = field(default_factory=dict)
    referents: dict[int, str] = field(default_factory=dict)
    antecedents: dict[int, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    stated_kinds: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Index the names by token; the most telling kind of a name is kept."""
        for name in self.names:
            for token in range(name.first, name.last):
                self.entities[token] = name
            if self.kinds.get(name.name, "unknown") == "unknown":
                self.kinds[name.name] = name.kind

    def kind(self, name: str) -> str:
        """Return the kind of a name, `unknown` if nothing tells."""
        return self.kinds.get(name, "unknown")

    def stretch(self, first: int, last: int, confidence: float) -> Mention:
        """Return the text of a stretch of tokens and the columns of its evidence.

        White space around the tokens is left out.
        """
        start, end = self.tree.start[first], self.tree.end[last - 1]
        words = self.tree.text[start:end]
        span = end - len(words.lstrip()), start + len(words.rstrip())
        return {"text": words.strip(), **evidence_columns(span, confidence)}

    def is_quoted(self, token: int) -> bool:
        """Return whether quotation marks, or "Jane Smith:", give a token to somebody else."""
        text, end = self.tree.text, self.tree.start[token]
        before = text[max(text.rfind("\n\n", 0, end), 0) : end]
        return (
            bool(_TURN.match(before))
            or before.count("“") > before.count("”")
            or before.count('"') % 2 == 1
        )

    def sentence_of(self, token: int) -> tuple[int, int]:
        """Return the token range of the sentence that a token stands in."""
        for start, end in self.tree.sentences:
            if start <= token < end:
                return start, end
        return 0, len(self.tree.words)
