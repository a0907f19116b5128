"""Retrieve the passages and notes for a question: by words, by vectors and by the graph."""

import json
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import schemas
from tasks.models.encoders.load import Encoder
from tasks.retrieval.linked_names import LinkedName, link_names
from tasks.retrieval.passage_graph import PassageGraph, Walker
from tasks.retrieval.texts import OF_CORPUS
from tasks.retrieval.words import EntityNameIndex, WordIndex
from tasks.text.names import normalise_name
from tasks.text.question import Question, analyse, content_words
from tasks.text.word_index import open_table

WORD_SHARE = 0.5  # weight of word scores (at most 1) beside cosines (at most about 0.7)
LEAST_ALIKE = 0.25  # cosine; below it a text that shares no word with the question is no match
FAINT = 1e-9  # weight of likeness beside the walk: it orders the passages that no walk reaches
USUAL = 0.5  # share of its uses as a name from which a name may be written in lower case
CANDIDATES = 1000  # texts with the best word scores
RANKED = 50  # first places of a ranking that count in a union
RANK = 2  # makes the first places of a ranking more alike
WALKED = 3.0  # weight of the walk's ranking; chosen with RANK on halves of ten sets, flat around
SEEDS = 20  # passages from which the walk starts
SEED_WEIGHT = 0.08  # starting weight of all passages together; all names together have 1
CHUNK = 16_384  # vectors compared at a time
CONVERTED = 128  # vectors in half precision converted at a time, which stay in the nearest cache
ENCODED = 8  # questions whose vectors are kept
KEPT = 200_000  # most vectors of which a copy is kept that is faster to compare (300 MB)


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved text: its row, its fields (`tasks.retrieval.texts`), its score (over 0 up to 1).

    `cosine` is that of its vector with the question's, 0 if they have none; `has_word` is whether
    it shares a word with the question.
    """

    row: int
    fields: dict[str, Any]
    score: float
    cosine: float = 0.0
    has_word: bool = False

    @property
    def matches(self) -> bool:
        """Whether it has a word of the question or a similar meaning, as not all nearest have."""
        return self.has_word or self.cosine >= LEAST_ALIKE


@dataclass(frozen=True, slots=True)
class Scores:
    """How well each text of a kind matches a question: in all, 0 to 1, by vectors and by words."""

    likeness: np.ndarray
    cosines: np.ndarray
    by_words: np.ndarray


class Searcher:
    """Search over one edition.

    Opening it maps its texts, words and vectors into memory; only the graph is read, which takes
    half a second for two million links.
    """

    def __init__(
        self, edition: Path, encoder: Encoder | None, chinese_encoder: Encoder | None = None
    ) -> None:
        """Open the edition's search folder; an encoder that did not make its vectors is ignored.

        If one encoder made the vectors of all texts, a question is compared with those in other
        languages, too.
        """
        folder = edition / "search"
        about = json.loads((folder / "search.json").read_text(encoding="utf-8"))
        self._edition = edition
        self._texts = {
            "passages": open_table(folder / "passages.arrow"),
            "notes": open_table(folder / "notes.arrow"),
        }
        parts = _parts(folder, about, "statements")
        self._statements = [(at, open_table(path)) for at, path in parts]
        self._words = {name: WordIndex(folder / "words" / name) for name in self._texts}
        self.names = EntityNameIndex(folder / "words" / "names")
        self._questions: dict[str, _QuestionVectors] = {}
        self._dense: dict[str, _Vectors] = {}
        for name, one, made_by in (
            ("vectors", encoder, about["encoder"]),
            ("chinese_vectors", chinese_encoder, about["chinese_encoder"]),
        ):
            if one and one.id == made_by:
                questions = self._questions.setdefault(one.id, _QuestionVectors(one))
                self._dense[name] = _Vectors(*open_vectors(folder, name), questions)
        self._walker = Walker(PassageGraph.load(folder / "graph.npz"))
        self._latest: tuple[tuple[str, str], Scores] | None = None
        self._found_in: dict[str, np.ndarray] | None = None  # whether each text may be found

    def within(self, documents: Collection[str]) -> "Searcher":
        """Return the same search, which finds texts of these documents alone."""
        restricted, ids = copy(self), pa.array(sorted(documents), pa.string())
        restricted._latest = None
        restricted._found_in = {
            kind: pc.is_in(texts["document_id"], ids).to_numpy()
            for kind, texts in self._texts.items()
        }
        return restricted

    @cached_property
    def _entities(self) -> dict[str, list[str]]:
        path = self._edition / f"{schemas.Entity.table}.parquet"
        columns: dict[str, list[str]] = pq.read_table(
            path, columns=["entity_id", "kind", "description"], filters=OF_CORPUS
        ).to_pydict()
        return columns

    def entity_id(self, row: int) -> str:
        """Return the id of an entity by its row."""
        return self._entities["entity_id"][row]

    def kind_of(self, row: int) -> str:
        """Return an entity's kind by its row."""
        return self._entities["kind"][row]

    def description_of(self, row: int) -> str:
        """Return an entity's description by its row, empty if it has none."""
        return self._entities["description"][row] or ""

    def rarity(self, word: str) -> float:
        """Return a word's inverse document frequency over passages: log(1 + N / (1 + n))."""
        passages = len(self._texts["passages"])
        return float(np.log(1 + passages / (1 + self._words["passages"].frequency(word))))

    def passages_with(self, words: str) -> int:
        """Return how many passages have all words of a text, function words aside."""
        return self._words["passages"].having(content_words(words))

    def link(self, question: Question) -> list[LinkedName]:
        """Return the names of entities in the question.

        Words in lower case are a name only if texts mostly use them as one.
        """
        names = link_names(question, self.names)
        return [n for n in names if not n.text.islower() or self.share_as_name(n) >= USUAL]

    def share_as_name(self, name: LinkedName) -> float:
        """Return in which share of the passages with its words a name is one, over 0 up to 1.

        Mihalcea and Csomai 2007 call it "keyphraseness". A name that no passage has counts as 1.
        """
        having = self.passages_with(name.text)
        named = sum(int(self._walker.passages_of[bearer.entity]) for bearer in name.bearers)
        return min(1.0, named / having) if having else 1.0

    def names_in(self, text: str) -> list[LinkedName]:
        """Return the names of entities in a text."""
        return link_names(analyse(text), self.names)

    def encode(self, questions: Sequence[Question]) -> None:
        """Encode questions that will be asked; together it takes less time than one by one."""
        for vectors in self._questions.values():
            near = (q for q in questions if any(n.questions is vectors for n in self._near(q)))
            vectors.encode([question.text for question in near])

    def passages(self, question: Question, k: int = 8) -> list[Hit]:
        """Return the k passages that help most to answer, best first."""
        scores = self.scores("passages", question)
        time = self._walked(question, scores, None)
        ranked = time + FAINT * scores.likeness if time.any() else scores.likeness
        return self._hits("passages", ranked, scores, k)

    def union(
        self, question: Question, k: int = 16, names: Sequence[LinkedName] | None = None
    ) -> list[Hit]:
        """Return the k passages that rank first by words, by vectors or by the walk, best first.

        A place in a ranking counts 1 / (RANK + place), in that of the walk WALKED times as much,
        and the places of a passage are added (reciprocal rank fusion; Cormack, Clarke, Büttcher
        2009): no ranking alone fills the list.
        """
        scores = self.scores("passages", question)
        walked = self._walked(question, scores, names)
        rankings = [(1.0, scores.by_words), (1.0, scores.cosines), (WALKED, walked)]
        return self._hits("passages", _fused(rankings), scores, k)

    def neighbours(self, hit: Hit) -> list[Hit]:
        """Return the passages before and after a passage in its document that have words."""
        texts = self._texts["passages"]
        first = max(0, hit.row - 1)
        rows = enumerate(texts.slice(first, 3 if hit.row else 2).to_pylist(), first)
        return [
            Hit(row, fields, hit.score)
            for row, fields in rows
            if row != hit.row
            and fields["document_id"] == hit.fields["document_id"]
            and fields["text"]
        ]

    def alike(self, question: Question, k: int = 8) -> list[Hit]:
        """Return the k passages most similar to the question, without the graph."""
        scores = self.scores("passages", question)
        return self._hits("passages", scores.likeness, scores, k)

    def notes(self, question: Question, k: int = 8) -> list[Hit]:
        """Return the k descriptions and aspects most similar to the question, best first."""
        scores = self.scores("notes", question)
        return self._hits("notes", scores.likeness, scores, k)

    def stated(self, passage: int) -> list[dict[str, Any]]:
        """Return the statements of a passage, given its row, as rows of the table `statements`."""
        before = [at for at, _ in self._statements if at <= passage]
        if not before:
            return []
        first, statements = self._statements[len(before) - 1]
        place = passage - first
        start, end = np.searchsorted(self._stating[len(before) - 1], [place, place + 1])
        rows: list[dict[str, Any]] = statements.slice(start, end - start).to_pylist()
        return rows

    @cached_property
    def _stating(self) -> list[np.ndarray]:
        """The passage of each statement, by part."""
        return [statements["passage"].to_numpy() for _, statements in self._statements]

    def about(self, name: str) -> Hit | None:
        """Return the first passage of a document whose title is the name, if there is one."""
        titled = self._walker.graph.titled
        for bearer in self.names.bearers(normalise_name(name)):
            rows = titled[titled[:, 0] == bearer.entity, 1]
            if self._found_in is not None:
                rows = rows[self._found_in["passages"][rows]]
            if len(rows):
                row = int(rows[0])
                return Hit(row, self._texts["passages"].slice(row, 1).to_pylist()[0], 1.0)
        return None

    def _walked(
        self, question: Question, scores: Scores, names: Sequence[LinkedName] | None
    ) -> np.ndarray:
        """Return the share of time that a walk from the question spends at each passage."""
        start = self._start_entities(self.link(question) if names is None else names)
        walked = self._walker.walk(start, _start_passages(scores.likeness))
        return walked if self._found_in is None else walked * self._found_in["passages"]

    def _start_entities(self, names: Sequence[LinkedName]) -> dict[int, float]:
        """Return the starting weights of entities; those in fewer passages weigh more.

        A name weighs less if its words mostly are no name ("hours", beside a magazine Hours).
        """
        start: dict[int, float] = {}
        for name in names:
            share = self.share_as_name(name)
            for bearer in name.bearers[:3]:
                commonness = np.sqrt(max(1, self._walker.passages_of[bearer.entity]))
                weight = share * bearer.weight / commonness / len(names)
                start[bearer.entity] = start.get(bearer.entity, 0.0) + weight
        return start

    def scores(self, kind: str, question: Question) -> Scores:
        """Return the scores of all texts of a kind.

        A question is often asked of texts twice, with the graph and without: the latest is kept.
        """
        latest, key = self._latest, (kind, question.text)
        if latest is None or latest[0] != key:
            latest = self._latest = key, self._compared(kind, question)
        return latest[1]

    def _compared(self, kind: str, question: Question) -> Scores:
        texts = self._texts[kind]
        found_in = self._found_in[kind] if self._found_in else None
        by_words, cosines = np.zeros(len(texts)), np.zeros(len(texts))
        most = CANDIDATES if found_in is None else max(1, len(texts))
        rows, word_scores = self._words[kind].search(question.content_words, most)
        if found_in is not None:
            rows, word_scores = rows[found_in[rows]], word_scores[found_in[rows]]
        if len(rows):
            by_words[rows] = WORD_SHARE * word_scores / word_scores[0]
        first = 0 if kind == "passages" else len(self._texts["passages"])
        for dense in self._near(question):
            cosines += dense.likeness(question.text, first, first + len(texts))
        cosines = cosines if found_in is None else cosines * found_in
        return Scores((by_words + cosines) / (WORD_SHARE + 1), cosines, by_words)

    def _near(self, question: Question) -> list["_Vectors"]:
        """Return the vectors with which a question is compared."""
        if len(self._dense) > len(self._questions):  # one encoder for all languages
            return list(self._dense.values())
        named = self._dense.get("chinese_vectors" if question.is_chinese else "vectors")
        return [named] if named else []

    def _hits(self, kind: str, ranked: np.ndarray, scores: Scores, k: int) -> list[Hit]:
        texts = self._texts[kind]
        hits = (
            Hit(
                int(row),
                texts.slice(int(row), 1).to_pylist()[0],
                float(ranked[row]),
                float(scores.cosines[row]),
                bool(scores.by_words[row]),
            )
            for row in _best(ranked, k)
            if ranked[row] > 0
        )
        return [hit for hit in hits if hit.fields["text"]]  # some have no words of their own


def _start_passages(scores: np.ndarray) -> dict[int, float]:
    best = _best(scores, SEEDS + 1)
    above = scores[best] - scores[best[-1]] if len(best) else np.zeros(0)
    total = above.sum()
    if total <= 0:
        return {}
    return {int(row): SEED_WEIGHT * value / total for row, value in zip(best, above, strict=True)}


def _fused(rankings: Sequence[tuple[float, np.ndarray]]) -> np.ndarray:
    """Return scores, 0 to 1, that add up the places in weighted rankings, each given by scores."""
    fused = np.zeros(len(rankings[0][1]))
    for weight, scores in rankings:
        rows = _best(scores, RANKED)
        rows = rows[scores[rows] > 0]
        fused[rows] += weight / (RANK + 1 + np.arange(len(rows)))
    return fused * (RANK + 1) / sum(weight for weight, _ in rankings)


def _best(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the rows of the k largest scores, the largest first, ties by row."""
    if k < len(scores):
        rows = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
    else:
        rows = np.arange(len(scores))
    return rows[np.argsort(-scores[rows], kind="stable")][:k]


class _QuestionVectors:
    """Vectors of the latest questions."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = getattr(encoder, "questions", encoder)
        self._encoded: dict[str, np.ndarray] = {}

    def encode(self, questions: list[str]) -> None:
        """Encode questions; the vectors of the latest are kept."""
        new = [text for text in dict.fromkeys(questions) if text not in self._encoded]
        vectors = self._encoder.encode(new)
        while len(self._encoded) + len(new) > ENCODED and self._encoded:
            del self._encoded[next(iter(self._encoded))]
        self._encoded.update(zip(new, vectors, strict=True))

    def vector(self, question: str) -> np.ndarray:
        """Return the vector of a question."""
        if question not in self._encoded:
            self.encode([question])
        return self._encoded[question]


class _Vectors:
    """Vectors of some texts, searched exhaustively."""

    def __init__(
        self, parts: list[np.ndarray], rows: np.ndarray, questions: "_QuestionVectors"
    ) -> None:
        self._parts, self._rows, self.questions = parts, rows, questions

    def likeness(self, question: str, first: int, end: int) -> np.ndarray:
        """Return the cosine of the question with each row from first to end; 0 without a vector."""
        query = self.questions.vector(question)
        low, high = np.searchsorted(self._rows, [first, end])
        scores = np.zeros(end - first)
        if low == high:
            return scores
        before = 0
        for vectors in [self._single] if len(self._rows) <= KEPT else self._parts:
            last = min(high, before + len(vectors))
            for start in range(max(low, before), last, CHUNK):
                end_of_chunk = min(start + CHUNK, last)
                chunk = vectors[start - before : end_of_chunk - before]
                half = chunk.dtype == np.float16
                likeness = _products(chunk, query) if half else chunk @ query
                scores[self._rows[start:end_of_chunk] - first] = likeness
            before += len(vectors)
        return np.minimum(scores, 1.0)  # rounded vectors may be longer than one

    @cached_property
    def _single(self) -> np.ndarray:
        """The vectors in single precision; converting them takes longer than comparing them."""
        return np.concatenate(self._parts, dtype=np.float32)


def _products(vectors: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the product of each vector in half precision with a query in single, float32 (rows,).

    Shifted by 13 bits, a number in half precision is one in single precision times 2 ** -112. This
    takes a third of the time of a conversion, and gives the same.
    """
    halves, query = vectors.view(np.int16), query * np.float32(2.0**112)
    products = np.empty(len(vectors), np.float32)
    space = np.empty((CONVERTED, len(query)), np.int32)
    for start in range(0, len(vectors), CONVERTED):
        part = halves[start : start + CONVERTED]
        bits = space[: len(part)]
        bits[...] = part
        bits <<= 13
        bits &= ~(7 << 28)  # three copies of the sign
        products[start : start + CONVERTED] = bits.view(np.float32) @ query
    return products


def open_vectors(folder: Path, name: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the vectors of a search folder in parts, float16 (texts, dimensions), and their rows.

    `name` is vectors or chinese_vectors.
    """
    about = json.loads((folder / "search.json").read_text(encoding="utf-8"))
    parts = _parts(folder, about, name)
    vectors = [np.load(path, mmap_mode="r", allow_pickle=False) for _, path in parts]
    rows = [np.load(path.with_suffix(".rows.npy"), allow_pickle=False) + at for at, path in parts]
    return vectors, np.concatenate([np.empty(0, np.int64), *rows])


def _parts(folder: Path, about: dict[str, Any], name: str) -> list[tuple[int, Path]]:
    """Return first row and file of each part."""
    return [(first, folder / name / file) for first, file in about["parts"][name]]
