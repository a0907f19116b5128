"""One passage during extraction: its tree, its names and its coreferences."""

import re
from dataclasses import dataclass, field
from typing import Any

from tasks.extract.extracted import Mention, evidence_columns
from tasks.extract.rules.tree import Tree

_TURN = re.compile(r"\s*[A-Z][\w.’'-]*(?: (?:and|[A-Z][\w.’'-]*)){0,4}:\s")


@dataclass(slots=True)
class NameSpan:
    """A name in the passage: its tokens from `first` up to `last`, exclusive.

    `capital_tells` is false if a dictionary word may be capitalised only because of its position.
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
    """A passage with its tree and names; `entities` maps a token to the name that it is part of.

    `referents` maps the token of a pronoun or description ("he", "the film") to the name that it
    refers to, and `kinds` a name to its kind as far as the passage shows it; `stated_kinds` holds
    the names whose kind is not guessed. `antecedents` maps a pronoun without a referent to the
    words of the noun phrase that is its likely antecedent.
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
        """Index the names by token; a name keeps the first kind that is not `unknown`."""
        for name in self.names:
            for token in range(name.first, name.last):
                self.entities[token] = name
            if self.kinds.get(name.name, "unknown") == "unknown":
                self.kinds[name.name] = name.kind

    def kind(self, name: str) -> str:
        """Return the kind of a name, `unknown` if the passage does not show it."""
        return self.kinds.get(name, "unknown")

    def owns_within_name(self, owner: int) -> bool:
        """Return whether a possessor and what it owns are in one name: "King's Cross station"."""
        name = self.entities.get(owner)
        return name is not None and self.tree.subtree(owner)[-1] + 1 < name.last

    def stretch(self, first: int, last: int, confidence: float) -> Mention:
        """Return the text of a token range, and the columns of its evidence.

        White space around the tokens is left out.
        """
        start, end = self.tree.start[first], self.tree.end[last - 1]
        words = self.tree.text[start:end]
        span = end - len(words.lstrip()), start + len(words.rstrip())
        return {"text": words.strip(), **evidence_columns(span, confidence)}

    def is_quoted(self, token: int) -> bool:
        """Return whether a token is another's words, in quotation marks or after "Jane Smith:"."""
        text, end = self.tree.text, self.tree.start[token]
        before = text[max(text.rfind("\n\n", 0, end), 0) : end]
        return (
            bool(_TURN.match(before))
            or before.count("“") > before.count("”")
            or before.count('"') % 2 == 1
        )

    def sentence_of(self, token: int) -> tuple[int, int]:
        """Return the token range of a token's sentence."""
        for start, end in self.tree.sentences:
            if start <= token < end:
                return start, end
        return 0, len(self.tree.words)
