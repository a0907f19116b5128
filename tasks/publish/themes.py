"""Find the themes of the corpus: clusters of documents and entities, summed up without a model.

The Leiden algorithm (Traag, Waltman, van Eck 2019) maximises the modularity of the graph in which
documents are linked with the words and entities that tell them apart, and entities with those that
triples relate them to.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.knowledge import Theme
from tasks.ingest.prose import line_of_words
from tasks.text.chinese_words import STOP_WORDS, nested_words
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import HAN
from tasks.text.sentences import on_one_line, sentences
from tasks.text.stems import words_of
from warehouse.derivation import Derivation

RESOLUTION = 0.7  # of modularity; lower values give fewer, larger themes
SEED = 1
WORDS, NAMES = 3, 2  # in the name of a theme
TITLES = 5  # of documents in a summary
ENTITIES = 3
SENTENCES = 2  # each from another document
SENTENCE = range(25, 320)  # characters; a Chinese one counts twice
_KINDS = ("word", "entity", "document")
_ENDS = (".", "!", "。", "！")
# How many documents, their titles, names, and what stands between names; in Chinese first.
_WORDS = {
    "zh": ("{}篇文档：{}。", "名称：{}。", "；", "（{}）"),
    "": ("Documents ({}): {}.", "Names: {}.", "; ", " ({})"),
}


def find_themes(derivation: Derivation) -> pa.Table:
    """Return the rows of `themes`, for n documents at most 1.6 times the root of n."""
    derivation.hand_over("function_words", pa.table({"word": sorted(FUNCTION_WORDS)}))
    derivation.hand_over("chinese_words", _chinese_words(derivation))
    derivation.step("theme_links")
    derivation.hand_over("theme_parts", _parts(derivation))
    derivation.step("themes")
    details = _by_theme(derivation.table("theme_details"))
    texts = _by_theme(derivation.table("theme_texts"))
    return Theme.to_table(
        _theme(group, details[group["theme"]], texts[group["theme"]])
        for group in derivation.table("theme_groups").to_pylist()
    )


def _chinese_words(derivation: Derivation) -> pa.Table:
    """Return how often Chinese documents have each word of two characters or more."""
    rows: list[tuple[str, str, int]] = []
    texts = derivation.query("select document_id, text from documents where language = 'zh'")
    for row in texts.to_pylist():
        words = Counter(word for word, _ in nested_words(row["text"]) if HAN.match(word))
        rows += [
            (row["document_id"], word, times)
            for word, times in sorted(words.items())
            if len(word) > 1 and word not in STOP_WORDS
        ]
    types = {"document_id": pa.string(), "word": pa.string(), "times": pa.int64()}
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, types.values(), strict=True)],
        names=list(types),
    )


def _parts(derivation: Derivation) -> pa.Table:
    """Return the theme of each node, and the weight of its links there.

    Nodes of different languages share no theme.
    """
    languages = derivation.table("theme_nodes").sort_by("node")["language"].to_numpy()
    links = derivation.table("theme_links")
    one, other, weight = (links[name].to_numpy() for name in ("one", "other", "weight"))
    theme = np.arange(len(languages))  # what is linked with nothing is a theme of its own
    starts = np.unique(languages, return_index=True)[1].tolist()
    for first, end in pairwise([*starts, len(languages)]):
        own = slice(*np.searchsorted(one, [first, end]))
        parts = _clusters(one[own] - first, other[own] - first, weight[own], end - first)
        for node, part in parts.items():
            theme[first + node] = first + part
    inside = theme[one] == theme[other]
    ends, weights = np.concatenate([one[inside], other[inside]]), np.tile(weight[inside], 2)
    central = np.bincount(ends, weights, len(theme)).astype(np.int64)
    return pa.table({"node": np.arange(len(theme)), "theme": theme, "weight": central})


def _clusters(one: np.ndarray, other: np.ndarray, weight: np.ndarray, nodes: int) -> dict[int, int]:
    """Return the cluster of each node, given the ends and weights of links, each listed once."""
    from graspologic_native import leiden_csr

    if not len(one):
        return {}
    left, right = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.lexsort((right, left))
    _, parts = leiden_csr(
        np.searchsorted(left[order], np.arange(nodes + 1)),  # where the links of each node begin
        right[order].astype(np.int32),
        np.concatenate([weight, weight])[order].astype(np.float64),
        nodes,
        resolution=RESOLUTION,
        seed=SEED,
    )
    clusters: dict[int, int] = parts
    return clusters


def _by_theme(table: pa.Table) -> dict[int, list[dict[str, Any]]]:
    rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_pylist():
        rows[row["theme"]].append(row)
    return rows


def _theme(
    group: dict[str, Any],
    details: Sequence[dict[str, Any]],
    texts: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    quoted = _central_sentences([row for row in details if row["kind"] != "document"], texts)
    documents = group["documents"]
    return {
        "theme_id": hashlib.sha256("\n".join(sorted(documents)).encode()).hexdigest()[:32],
        "name": _name(details),
        "language": group["language"],
        "entities": group["entities"],
        "documents": documents,
        "summary": _summary(group["language"], len(documents), details, quoted),
        "sentences": [text for _, _, text in quoted],
        "sources": [document for document, _, _ in quoted],
        "starts": [start for _, start, _ in quoted],
        "sensitivity": "normal" if group["is_open"] else "sensitive",
    }


def _name(details: Sequence[dict[str, Any]]) -> str:
    """Return the most central words that are part of no name, then names, none alike.

    A theme without any is named after its first document.
    """
    by_kind = {kind: [row["name"] for row in details if row["kind"] == kind] for kind in _KINDS}
    known = set().union(*map(words_of, by_kind["entity"]))
    words = _unlike(by_kind["word"], known)[:WORDS]
    names = _unlike(by_kind["entity"], set())[:NAMES]
    return ", ".join([*words, *names] or map(on_one_line, by_kind["document"][:1]))


def _unlike(names: Sequence[str], known: set[str]) -> list[str]:
    """Return the names that share no word with those before, or with the known words."""
    chosen = []
    for name in names:
        if known.isdisjoint(words_of(name)):
            chosen.append(name)
            known |= words_of(name)
    return chosen


def _summary(
    language: str,
    documents: int,
    details: Sequence[dict[str, Any]],
    quoted: Sequence[tuple[str, int, str]],
) -> str:
    """Return titles, the most central entities with what they are, and central sentences."""
    listed, named, between, in_brackets = _WORDS.get(language, _WORDS[""])
    titles = [on_one_line(row["name"]) for row in details if row["kind"] == "document"]
    entities = [
        row["name"] + (in_brackets.format(known) if (known := _known(row)) else "")
        for row in details
        if row["kind"] == "entity"
    ]
    parts = [listed.format(documents, between.join(titles[:TITLES]))]
    if entities:
        parts.append(named.format(between.join(entities[:ENTITIES])))
    return " ".join([*parts, *(line_of_words(text) for _, _, text in quoted)])


def _known(entity: dict[str, Any]) -> str:
    """Return what an entity is: its description, else its kind; empty if nothing is known."""
    kind = entity["entity_kind"]
    return on_one_line(entity["description"] or ("" if kind == "unknown" else kind)).rstrip(".。")


def _central_sentences(
    telling: Sequence[dict[str, Any]], texts: Sequence[dict[str, Any]]
) -> list[tuple[str, int, str]]:
    """Return sentences with the most central words for their length, one of each document.

    Each comes with its document and the first character there. A sentence that several documents
    have word for word is left out.
    """
    terms = [(words_of(row["name"]), row["weight"]) for row in telling]
    sentences: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for block in texts:
        sentences[block["document_id"]] += _sentences_of(block)
    documents = Counter(words for own in sentences.values() for words in {text for _, text in own})
    chosen = []
    for document, own in sentences.items():
        scored = [
            (_centrality(words, terms), -start, words)
            for start, words in own
            if documents[words] == 1
        ]
        score, start, words = max(scored, default=(0.0, 0, ""))
        if score > 0:
            chosen.append((document, -start, words))
    return chosen[:SENTENCES]


def _sentences_of(block: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield whole sentences with their first characters in the document."""
    for start, end in sentences(block["text"], block["language"]):
        words = block["text"][start:end]
        width = len(words) * (2 if block["language"] == "zh" else 1)
        if width in SENTENCE and words.endswith(_ENDS):
            yield block["start"] + start, words


def _centrality(sentence: str, terms: Sequence[tuple[frozenset[str], int]]) -> float:
    words = words_of(sentence)
    return sum(weight for term, weight in terms if term <= words) / sqrt(len(words) or 1)
