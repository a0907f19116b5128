"""Query the word indexes of an edition: BM25 over texts, exact matches over names."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tasks.text.chinese_words import STOP_WORDS, nested_words, simplified
from tasks.text.languages import HAN
from tasks.text.stems import english_stem
from tasks.text.word_index import open_word_index
from tasks.text.words import words_in_chinese, words_outside_chinese

FIELDS = ["title", "text", "chinese_title", "chinese_text"]
FAINT = 0.01  # weight of words that only break ties


class WordIndex:
    """BM25 over one of the indexes of texts (Robertson and Zaragoza 2009, k1 1.2 and b 0.75)."""

    def __init__(self, folder: Path) -> None:
        """Open the index; its files are mapped into memory."""
        self._opened = open_word_index(folder)
        self._index, self._searcher = self._opened.index, self._opened.searcher

    def search(self, question: str, limit: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and scores of the best texts, best first, ties by row."""
        words = " ".join([words_outside_chinese(question), *self._chinese(question)]).strip()
        if not words or not self._searcher.num_docs:
            return np.zeros(0, np.int64), np.zeros(0)
        query, _ = self._index.parse_query_lenient(words, FIELDS)
        hits = self._searcher.search(query, limit, count=False).hits
        rows = np.array(self._opened.rows(hits), np.int64)
        scores = np.array([score for score, _ in hits])
        order = np.lexsort((rows, -scores))
        return rows[order], scores[order]

    def _chinese(self, question: str) -> Iterator[str]:
        """Yield the Chinese words of a question with their weights, in the syntax of queries.

        Words inside a longer one that texts have, and those without a meaning of their own, are
        faint: else one long name would outweigh all that is asked about it.
        """
        runs = HAN.findall(question)
        if not runs:
            return
        for word, inside in nested_words(" ".join(runs)):
            yield f"{word}^{FAINT}" if word in STOP_WORDS else word
            faint = self.frequency(word) > 0
            yield from (f"{short}^{FAINT}" if faint else short for short in inside)

    def frequency(self, word: str) -> int:
        """Return how many texts have a word, in any inflection."""
        if HAN.search(word):
            return int(self._searcher.doc_freq("chinese_text", simplified(word)))
        return int(self._searcher.doc_freq("text", english_stem(word.lower())))

    def having(self, words: str) -> int:
        """Return how many texts have all these words, in any inflection."""
        import tantivy

        terms = [("text", english_stem(word)) for word in words_outside_chinese(words).split()]
        terms += [("chinese_text", word) for word in words_in_chinese(words).split()]
        if len(terms) == 1:
            return int(self._searcher.doc_freq(*terms[0]))
        query, schema = tantivy.Query, self._index.schema
        parts = [(tantivy.Occur.Must, query.term_query(schema, *term, "basic")) for term in terms]
        return int(self._searcher.search(query.boolean_query(parts), 1).count or 0)


@dataclass(frozen=True, slots=True)
class Name:
    """An entity that bears a name: its row, and its share of the name's uses."""

    entity: int
    weight: float


class EntityNameIndex:
    """The names of the edition's entities."""

    def __init__(self, folder: Path) -> None:
        """Open the index; its files are mapped into memory."""
        import tantivy

        self._query = tantivy.Query
        self._opened = open_word_index(folder)
        self._index, self._searcher = self._opened.index, self._opened.searcher

    def bearers(self, key: str, limit: int = 20) -> list[Name]:
        """Return the entities with exactly this normalised name, most frequent bearer first."""
        names = self._searcher.doc_freq("key", key)
        if not names:  # a search takes longer, and most spans are none
            return []
        query = self._query.term_query(self._index.schema, "key", key, "basic")
        hits = self._searcher.search(query, names, count=False).hits
        best: dict[int, float] = {}
        rows, addresses = self._opened.rows(hits), [address for _, address in hits]
        weights = self._searcher.fast_field_values("weight", addresses)
        for row, weight in zip(rows, weights, strict=True):
            best[row] = max(weight, best.get(row, 0.0))
        rows = sorted(best, key=lambda row: (-best[row], row))
        return [Name(row, best[row]) for row in rows[:limit]]
