"""Grounding: the nodes that a question and its candidate answers name.

Every run of words is looked up among names and aliases, and by the stems of its words, so that
"went to the stores" names "go to store". In Chinese, which does not separate words, every run of
characters is looked up; a character that is no word of its own counts only if nothing else is
named. Runs of function words alone, and of more than LONGEST_CONCEPT content words, name nothing. A
candidate that is no name as a whole stands for the names in it or, without any, for the nodes with
the nearest vectors. Nodes of whole candidates are no sources: a question that mentions its answer
would otherwise reach it without a step.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np
import pyarrow as pa

from tasks.graphs.graph import Graph, Nodes
from tasks.graphs.name_keys import name_keys, ranges_of
from tasks.paths.graph_vectors import GraphVectors
from tasks.paths.name_words import LONGEST_CONCEPT, is_function_word, stem_hash, stems_key
from tasks.paths.path import GroundedQuestion
from tasks.text.chinese_words import STOP_WORDS, segmenter
from tasks.text.languages import HAN_CLASS
from tasks.text.question import LONGEST_CHINESE_NAME, LONGEST_QUESTION

MOST_BEARERS = 3
"""Nodes per mention by exact name, and by stems: the most likely bearers of the name."""

_UNIT = re.compile(rf"[{HAN_CLASS}]|[^\W_{HAN_CLASS}]+")  # a Chinese character or another word
_LONGEST_RUN = 2 * LONGEST_CONCEPT  # words, function words included
_NEAREST = 2  # nodes for a text without names
_LEAST_LIKENESS = 0.5  # cosine; nodes below it are unrelated to the text
_ROWS = 1 << 16
_NONE: Nodes = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run of words that names nodes; `whole` if the rest of the text has only function words.

    `edges` is the highest degree of the nodes.
    """

    first: int
    last: int  # one past
    whole: bool
    nodes: Nodes
    edges: int


@dataclass(frozen=True, slots=True)
class _WordRun:
    """A run of words that may be a name, with the key of their stems, 0 in Chinese.

    A `fallback` counts only in a text that names nothing else.
    """

    first: int
    last: int
    whole: bool
    name: str
    stems: int
    fallback: bool = False

    def inside(self, other: NamedRun) -> bool:
        longer = other.last - other.first > self.last - self.first
        return longer and other.first <= self.first and self.last <= other.last


class Grounder:
    """Finds the nodes of one graph that texts name, for many texts at once."""

    def __init__(self, graph: Graph, vectors: GraphVectors) -> None:
        self.graph, self.vectors = graph, vectors
        self._degrees = np.diff(graph.out_offsets) + np.diff(graph.in_offsets)

    def ground(
        self, questions: Sequence[str], candidates: Sequence[Sequence[str]]
    ) -> list[GroundedQuestion]:
        """Return the questions with their sources and the targets of their candidate answers."""
        mentions = self.mentions([*questions, *chain.from_iterable(candidates)])
        answers = iter(mentions[len(questions) :])
        offered = [[next(answers) for _ in texts] for texts in candidates]
        targets = [[_nodes(_whole(named) or named) for named in one] for one in offered]
        wholes = [_nodes(chain.from_iterable(map(_whole, one))) for one in offered]
        sources = [
            _without(_nodes(named), whole)
            for named, whole in zip(mentions[: len(questions)], wholes, strict=True)
        ]
        self._fill_targets(targets, candidates)
        contexts = self.vectors.encode(list(questions))
        self._fill_sources(sources, targets, contexts)
        return [
            GroundedQuestion(*row[:3], tuple(row[3]))
            for row in zip(questions, contexts, sources, targets, strict=True)
        ]

    def _fill_targets(
        self, targets: list[list[Nodes]], candidates: Sequence[Sequence[str]]
    ) -> None:
        """Set the targets of candidates that name nothing to the nodes nearest to them."""
        unnamed = [
            (place, k)
            for place, offered in enumerate(targets)
            for k, nodes in enumerate(offered)
            if len(nodes) == 0
        ]
        texts = [candidates[place][k] for place, k in unnamed]
        found = self._nearest(self.vectors.encode(texts)) if texts else []
        for (place, k), nodes in zip(unnamed, found, strict=True):
            targets[place][k] = nodes

    def _fill_sources(
        self, sources: list[Nodes], targets: list[list[Nodes]], contexts: np.ndarray
    ) -> None:
        """Set the sources of questions that name nothing to the nearest nodes except targets."""
        unnamed = [place for place, nodes in enumerate(sources) if len(nodes) == 0]
        found = self._nearest(contexts[unnamed]) if unnamed else []
        for place, nodes in zip(unnamed, found, strict=True):
            sources[place] = _without(nodes, np.concatenate([_NONE, *targets[place]]))

    def mentions(self, texts: Sequence[str]) -> list[list[NamedRun]]:
        """Return the mentions in each text, from left to right.

        A name inside a longer one counts only if its node has more edges: "map" in "treasure map"
        is useful, but "knight" inside the title of a film is not.
        """
        runs = [_runs(text[:LONGEST_QUESTION]) for text in texts]
        every = list(chain.from_iterable(runs))
        exact = ranges_of(self.graph.key_hashes, _keys([run.name for run in every]))
        stems = np.array([run.stems for run in every], np.uint64)
        alike = ranges_of(self.vectors.stem_keys, stems)
        alike[:, stems == 0] = 0
        places = iter(np.concatenate([exact, alike]).T.tolist())
        found = []
        for own in runs:
            kept: list[NamedRun] = []
            sure = False
            for run, (low, high, first, last) in zip(own, places, strict=False):
                if (low == high and first == last) or (run.fallback and sure):
                    continue
                sure = not run.fallback
                nodes = self._bearers(slice(low, high), slice(first, last))
                edges = int(self._degrees[nodes].max())
                if not any(run.inside(other) and edges <= other.edges for other in kept):
                    kept.append(NamedRun(run.first, run.last, run.whole, nodes, edges))
            found.append(sorted(kept, key=lambda mention: mention.first))
        return found

    def _bearers(self, exact: slice, alike: slice) -> Nodes:
        """Return the most likely nodes with a name, and those with its stems and more edges."""
        named = self.graph.key_nodes[exact][:MOST_BEARERS]
        others = self.vectors.stem_nodes[alike]
        others = others[self._degrees[others] > self._degrees[named].max(initial=0)]
        others = others[np.argsort(-self._degrees[others], kind="stable")[:MOST_BEARERS]]
        return np.concatenate([named, others])

    def _nearest(self, vectors: np.ndarray) -> list[Nodes]:
        """Return the nodes nearest to each vector (texts, d); none below the least cosine."""
        likeness = np.full((len(vectors), _NEAREST), _LEAST_LIKENESS, np.float32)
        nodes = np.full((len(vectors), _NEAREST), -1, np.int64)
        for start in range(0, self.graph.nodes, _ROWS):
            block = self.vectors.nodes[start : start + _ROWS].astype(np.float32)
            numbers = np.broadcast_to(
                np.arange(start, start + len(block)), (len(vectors), len(block))
            )
            likeness = np.concatenate([likeness, vectors @ block.T], axis=1)
            nodes = np.concatenate([nodes, numbers], axis=1)
            best = np.argpartition(-likeness, _NEAREST - 1, axis=1)[:, :_NEAREST]
            likeness = np.take_along_axis(likeness, best, axis=1)
            nodes = np.take_along_axis(nodes, best, axis=1)
        return [row[row >= 0].astype(np.int32) for row in nodes]


def _runs(text: str) -> list[_WordRun]:
    """Return the runs of a text that may be names, the longest first, fallbacks last."""
    units = [(match.start(), match.end()) for match in _UNIT.finditer(text)]
    words = [text[start:end] for start, end in units]
    is_han = [bool(re.match(f"[{HAN_CLASS}]", word)) for word in words]
    stems = [0 if han else stem_hash(word.lower()) for word, han in zip(words, is_han, strict=True)]
    content = [
        0,
        *accumulate(
            han or not is_function_word(word.lower())
            for word, han in zip(words, is_han, strict=True)
        ),
    ]
    chinese = [0, *accumulate(is_han)]
    alone = _single_characters(text) if any(is_han) else frozenset()
    runs = []
    for first, (start, _) in enumerate(units):
        for last in range(first + 1, min(first + LONGEST_CHINESE_NAME, len(units)) + 1):
            name, length = text[start : units[last - 1][1]], last - first
            meant = content[last] - content[first]
            whole = length == len(units) or (0 < meant == content[-1])
            if chinese[last] > chinese[first]:
                key, valid = 0, name not in STOP_WORDS
            else:
                key = stems_key(stems[first:last])
                valid = 0 < meant <= LONGEST_CONCEPT and length <= _LONGEST_RUN
            if valid or length == len(units):
                part_of_word = length == 1 and is_han[first] and start not in alone
                runs.append(_WordRun(first, last, whole, name, key, part_of_word))
    return sorted(runs, key=lambda run: (run.fallback, run.first - run.last))


def _single_characters(text: str) -> frozenset[int]:
    """Return the positions of Chinese characters that are words of their own."""
    return frozenset(start for _, start, end in segmenter().tokenize(text) if end == start + 1)


def _keys(names: list[str]) -> np.ndarray:
    """Return the keys of names, uint64 (names,); each distinct name is hashed once."""
    coded = pa.array(names, pa.large_string()).dictionary_encode()
    keys = name_keys(coded.dictionary.to_pylist())
    found: np.ndarray = keys[coded.indices.to_numpy()]
    return found


def _whole(mentions: Iterable[NamedRun]) -> list[NamedRun]:
    return [mention for mention in mentions if mention.whole]


def _nodes(mentions: Iterable[NamedRun]) -> Nodes:
    """Return the distinct nodes of mentions, in their order."""
    nodes = np.concatenate([_NONE, *(mention.nodes for mention in mentions)])
    _, first = np.unique(nodes, return_index=True)
    return nodes[np.sort(first)]


def _without(nodes: Nodes, others: Nodes) -> Nodes:
    return nodes[~np.isin(nodes, others)]
