"""The popularity of the subjects of questions, according to a graph (Mallen et al. 2023).

The paper counts how often people read the page of a subject. Here popularity is measured by a
graph: the number of its triples or, for the corpus, how often documents mention it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import is_normalized

import numpy as np

from tasks.graphs.graph import Graph
from tasks.graphs.name_keys import keys_of, normal_form
from tasks.text.function_words import ARTICLES, FUNCTION_WORDS
from tasks.text.languages import HAN
from tasks.text.names import MAX_NAME
from tasks.text.question import (
    LONGEST_GRAPH_NAME,
    Question,
    Span,
    name_spans,
    word_spans,
)

BATCH = 64  # questions looked up at once
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\.?")
_SENTENCE_ENDS = ".?!:;"
# Text between two capitalised words of one name.
_OF_ONE_NAME = re.compile(r"\s*(?:(?:of|the|a|an|de|la|du|von|van)\s+)*")


class KnownName(NamedTuple):
    """A span of a question that is a name, and the range of its bearers in `Graph.key_nodes`."""

    start: int
    end: int
    low: int
    high: int


def subject_popularity(
    questions: Sequence[Question], graph: Graph, known: np.ndarray | None = None
) -> np.ndarray:
    """Return the popularity of each question's subject, float64 (n,); NaN without a known subject.

    `known` float64 (nodes,) is the popularity of each node, NaN for a node that is no subject; by
    default it is the number of an entity's triples. If several nodes have the same name, the
    most popular one counts.
    """
    known = triples_of(graph) if known is None else known
    popularity = np.full(len(questions), np.nan)
    for place, names in enumerate(known_names(questions, graph)):
        bearers = {name: graph.key_nodes[name.low : name.high] for name in names}
        most = {name: float(np.fmax.reduce(known[nodes])) for name, nodes in bearers.items()}
        candidates = [name for name in names if not np.isnan(most[name])]
        subject = subject_of(questions[place], candidates)
        if subject is not None:
            popularity[place] = most[subject]
    return popularity


def triples_of(graph: Graph) -> np.ndarray:
    """Return the number of each entity's triples, float64 (nodes,); NaN for values."""
    counts = np.diff(graph.out_offsets) + np.diff(graph.in_offsets)
    return np.where(graph.entities, counts, np.nan)


# -- the names in questions -----------------------------------------------------------------------


def known_names(questions: Sequence[Question], graph: Graph) -> list[list[KnownName]]:
    """Return the names in each question that the graph knows, longest first, none overlapping."""
    names: list[list[KnownName]] = []
    for first in range(0, len(questions), BATCH):
        names += _names_in_batch(questions[first : first + BATCH], graph)
    return names


def _names_in_batch(questions: Sequence[Question], graph: Graph) -> list[list[KnownName]]:
    spans = [
        (number, start, end, _normal_form(question.text[start:end]))
        for number, question in enumerate(questions)
        for start, end in name_spans(
            question.text, longest_chinese=LONGEST_GRAPH_NAME, shortest_chinese=1
        )
        if end - start <= MAX_NAME
    ]
    normals = list({normal for *_, normal in spans})
    keys = keys_of(normals)
    low = np.searchsorted(graph.key_hashes, keys, "left")
    high = np.searchsorted(graph.key_hashes, keys, "right")
    bearers = {normals[n]: (int(low[n]), int(high[n])) for n in np.flatnonzero(high > low)}
    names: list[list[KnownName]] = [[] for _ in questions]
    for number, start, end, normal in spans:
        if normal in bearers:
            names[number].append(KnownName(start, end, *bearers[normal]))
    return [_without_overlaps(candidates) for candidates in names]


def _normal_form(name: str) -> str:
    """Return `normal_form(name)`, joined from cached forms of its words if the result is equal."""
    if HAN.fullmatch(name):
        return name if is_normalized("NFKC", name) else normal_form(name)
    *before, last = name.split()
    forms = [_forms_of(word) for word in before]
    _, ending, joins = _forms_of(last)
    if joins or any(form[2] for form in forms) or (before and before[0].lower() in ARTICLES):
        return normal_form(name)
    return " ".join([*(form[0] for form in forms), ending])


@lru_cache(maxsize=1 << 15)
def _forms_of(word: str) -> tuple[str, str, bool]:
    """Return the normal form of a word within a name, its form at the end of one, and a flag.

    The flag is true if normalisation may join the word to its neighbour, as it does with initials,
    or if either form is empty.
    """
    joins = bool(_INITIALS.fullmatch(word) or HAN.search(word))
    within, ending = normal_form(f"xx {word} xx")[3:-3], normal_form(f"xx {word}")[3:]
    return within, ending, joins or not within or not ending


def _without_overlaps(names: list[KnownName]) -> list[KnownName]:
    """Return the names, longest first, without those that overlap a longer one.

    Names that differ only in an article count once: of spans with the same end and the same nodes,
    the shortest is kept.
    """
    names = list({(name.end, name.low): name for name in names}.values())
    names.sort(key=lambda name: (name.start - name.end, name.start))
    kept: list[KnownName] = []
    taken: set[int] = set()
    for name in names:
        if name.start not in taken and name.end - 1 not in taken:  # kept ones are no shorter
            taken.update(range(name.start, name.end))
            kept.append(name)
    return kept


# -- the subject ----------------------------------------------------------------------------------


def subject_of(question: Question, names: Sequence[KnownName]) -> KnownName | None:
    """Return the known name that is the subject of a question; None if the subject is not known.

    It is the longest name, or the first of the longest; the others say what is asked about it, or
    where. If words within a sentence are capitalised, only a whole capitalised name can be the
    subject: in `Who was the producer of Man of the Year?` neither `producer` nor `Man`.
    """
    text = question.text
    if not question.is_chinese:
        capitals = list(_capitals(text))
        if any(_says_something(text, word) for word in capitals):
            names = [name for name in names if _is_whole(text, name, capitals)]
    return max(names, key=lambda name: (name.end - name.start, -name.start), default=None)


def _capitals(text: str) -> Iterator[Span]:
    """Yield capitalised words, except for articles and the first word of a sentence."""
    begins = True
    for start, end in word_spans(text):
        if not begins and text[start].isupper() and text[start:end].lower() not in ARTICLES:
            yield start, end
        begins = text[end : end + 1] in _SENTENCE_ENDS  # also at the very end


def _says_something(text: str, word: Span) -> bool:
    return text[slice(*word)].lower() not in FUNCTION_WORDS


def _is_whole(text: str, name: KnownName, capitals: Sequence[Span]) -> bool:
    """Return whether a name has capitalised words and is not part of a longer such name."""
    before = [word for word in capitals if word[1] <= name.start][-1:]
    after = [word for word in capitals if word[0] >= name.end][:1]
    within = [word for word in capitals if word[0] < name.end and name.start < word[1]]
    between = [text[end : name.start] for _, end in before]
    between += [text[name.end : start] for start, _ in after]
    return any(_says_something(text, word) for word in within) and not any(
        map(_OF_ONE_NAME.fullmatch, between)
    )
