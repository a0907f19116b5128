"""The three templates that phrase the extracted edges for a prompt (KnowGPT, section 3.6).

Names are untrusted, so each stays on one line and has a limited length. A text states as many edges
as fit, the best first. A model's text is used only if `invented` finds no problem.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import orjson

from tasks.experts.verbalize.phrasing import Phrasing, Phrasings, relation_words
from tasks.graphs.graph import Graph
from tasks.ingest.formats.cleaning import clean_line
from tasks.models.client import BlockingClient
from tasks.models.prompts.prompt import load_prompt
from tasks.models.prompts.replies import Text as TextReply
from tasks.models.tokens import estimate_tokens
from tasks.paths.descriptions import invented
from tasks.paths.path import Extracted
from tasks.programs.messages import one_line
from tasks.text.languages import is_chinese, language_of

Template = Literal["triples", "sentences", "description"]
TEMPLATES: tuple[Template, ...] = ("triples", "sentences", "description")
LONGEST_NAME = 160  # characters of a name in a prompt
MOST_DESCRIBED = 40  # edges that a model is asked to describe at once
_DELIMITERS = re.compile(r'[(),"]')
_NAMELESS, _RELATED = "?", "related to"

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Limit:
    """The maximum length of a text; tokens are counted by `count`, an estimate by default."""

    tokens: int | None = None
    characters: int | None = None
    count: Callable[[str], int] = estimate_tokens

    def holds(self, text: str) -> bool:
        """Return whether a text is within the limit."""
        if self.characters is not None and len(text) > self.characters:
            return False
        return self.tokens is None or self.count(text) <= self.tokens


@dataclass(frozen=True, slots=True)
class Phrased:
    """A text for a prompt, and the number of edges that it states, the best first."""

    text: str
    edges: int
    by_model: bool = False


class Templates:
    """Phrases the edges of one graph; if a model is given, it writes the descriptions."""

    def __init__(self, graph: Graph, model: BlockingClient | None = None) -> None:
        """Take a graph and a model; nothing is read yet."""
        self._graph, self._model = graph, model

    def phrase(self, template: Template, extracted: Extracted, limit: Limit) -> Phrased:
        """Return the best edges, phrased by a template, as many as the limit allows.

        Raises AlmanacError if a model is to describe them and cannot reply.
        """
        triples = self._triples(extracted.edges)
        if template == "description":
            described = self._described(triples, limit)
            if described is not None:
                return described
        phrase = {
            "triples": as_triples,
            "sentences": self._sentences,
            "description": self._description,
        }[template]
        return _longest(phrase, triples, limit)

    def _triples(self, edges: np.ndarray) -> list[Triple]:
        """Return edges as triples of names that are safe for a prompt."""
        nodes = {int(node) for node in edges[:, [0, 2]].ravel()}
        names = {node: prompt_name(self._graph.label(node)) or _NAMELESS for node in nodes}
        return [
            (names[head], self._relations[relation], names[tail])
            for head, relation, tail in edges.tolist()
        ]

    @cached_property
    def _relations(self) -> list[str]:
        # A brace would be a slot in a phrasing.
        braces = str.maketrans("{}", "()")
        names = (prompt_name(relation).translate(braces) for relation in self._graph.relations)
        return [name if re.search(r"\w", name) else _RELATED for name in names]

    @cached_property
    def _phrasings(self) -> Phrasings:
        return Phrasings(self._relations)

    def _phrasing(self, triple: Triple) -> Phrasing:
        head, relation, tail = triple
        return self._phrasings.of(relation, language_of(head + tail))

    # -- sentences ---------------------------------------------------------------------------

    def _sentences(self, triples: Sequence[Triple]) -> str:
        """Return the triples as sentences, one for all tails of a head and relation."""
        return _joined(self._leaving(triples))

    def _leaving(self, triples: Sequence[Triple]) -> list[str]:
        grouped: dict[tuple[str, str], list[Triple]] = {}
        for triple in triples:
            grouped.setdefault(triple[:2], []).append(triple)
        return [
            self._phrasing(group[0]).sentence(head, [tail for _, _, tail in group])
            for (head, _), group in grouped.items()
        ]

    def _entering(self, triples: Sequence[Triple]) -> list[str]:
        """Return sentences that begin with the tail, if the relation's phrasing has such a form."""
        return [self._phrasing(triple).inverse_sentence(triple[0], triple[2]) for triple in triples]

    # -- descriptions ------------------------------------------------------------------------

    def _description(self, triples: Sequence[Triple]) -> str:
        """Return the facts around the entity with most of them, then those around the next."""
        lines: list[str] = []
        rest = list(triples)
        while rest:
            degrees = Counter(
                name for head, _, tail in rest for name in dict.fromkeys((head, tail))
            )
            centre = max(degrees, key=lambda name: degrees[name])  # the first of equals
            around = [triple for triple in rest if centre in (triple[0], triple[2])]
            rest = [triple for triple in rest if centre not in (triple[0], triple[2])]
            leaving = [triple for triple in around if triple[0] == centre]
            entering = [triple for triple in around if triple[0] != centre]
            lead = _lead(centre, len(around), first=not lines)
            lines.append(_joined([lead, *self._leaving(leaving), *self._entering(entering)]))
        return "\n".join(lines)

    def _described(self, triples: Sequence[Triple], limit: Limit) -> Phrased | None:
        """Return a model's description of the best edges; None if it cannot be used."""
        if self._model is None:
            return None
        count = min(MOST_DESCRIBED, _longest(self._description, triples, limit).edges)
        if not count:
            return None
        shown = [
            (
                head.replace("|", "/"),
                relation_words(relation).replace("|", "/"),
                tail.replace("|", "/"),
            )
            for head, relation, tail in _distinct(triples[:count])
        ]
        listing = "\n".join(map(" | ".join, shown))
        request = load_prompt("describe_graph", language_of(listing)).request(
            {"triples": listing}, most_tokens=64 + 2 * estimate_tokens(listing)
        )
        reply: Any = self._model.ask(request).reply
        if not isinstance(reply, TextReply):
            return None
        text = clean_line(reply.text, len(reply.text))
        known = self._sentences(shown) + self._description(_distinct(triples[:count]))
        if invented(text, shown, known, self._graph) or not limit.holds(text):
            return None
        return Phrased(text, count, by_model=True)


def as_triples(triples: Sequence[Triple]) -> str:
    """Return "(head, relation, tail), …"; names with brackets, commas or quotes are in quotes."""
    return ", ".join(
        f"({_quoted(head)}, {_quoted(relation_words(relation))}, {_quoted(tail)})"
        for head, relation, tail in triples
    )


def prompt_name(text: str) -> str:
    """Return a name on one line, without invisible characters or marks of text direction."""
    return one_line(clean_line(text, LONGEST_NAME + 1), LONGEST_NAME)


def _longest(
    phrase: Callable[[Sequence[Triple]], str], triples: Sequence[Triple], limit: Limit
) -> Phrased:
    """Return the phrasing of as many triples, from the first on, as fit a limit."""
    # Each further triple takes at least one character, and so at least one token.
    most = min(len(triples), *(n for n in (limit.tokens, limit.characters) if n is not None), 10**9)
    text = phrase(_distinct(triples[:most]))
    if limit.holds(text):
        return Phrased(text, most)
    best, low, high = Phrased("", 0), 0, most - 1
    while low < high:
        middle = (low + high + 1) // 2
        text = phrase(_distinct(triples[:middle]))
        if limit.holds(text):
            best, low = Phrased(text, middle), middle
        else:
            high = middle - 1
    return best


def _distinct(triples: Sequence[Triple]) -> list[Triple]:
    """Return the triples without duplicates, which entities of the same name can cause."""
    return list(dict.fromkeys(triples))


def _quoted(name: str) -> str:
    return orjson.dumps(name).decode() if _DELIMITERS.search(name) else name


def _lead(centre: str, facts: int, *, first: bool) -> str:
    if is_chinese(centre):
        return f"{centre}{'是中心，' if first else ''}有{facts}条{'' if first else '其他'}事实。"
    words = f"{'' if first else 'other '}fact{'s' if facts > 1 else ''}"
    return f"{centre} {'is at the centre of' if first else 'has'} {facts} {words}."


def _joined(sentences: Iterable[str]) -> str:
    """Return sentences as one text, without spaces after Chinese punctuation."""
    return re.sub("(?<=[。？！]) ", "", " ".join(sentences))
