"""The texts that the reader reads: passages and facts in words, with the places that state them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace

from duckdb import DuckDBPyConnection

from schemas.answers import Evidence
from tasks.programs.knowledge_bases.protocol import Place
from tasks.retrieval.linked_names import LinkedName
from tasks.retrieval.search import Searcher
from tasks.text.languages import is_chinese
from tasks.text.names import normalise_name
from tasks.text.question import Question

_DATES = "select metadata->>'modified', metadata->>'date' from documents where document_id = $id"
PIECE = 400  # characters of a text that are read at a time, after its introduction


@dataclass(frozen=True, slots=True)
class TextPart:
    """A sentence or a fact within a text: its characters, and where it is stated.

    Of a triple, `relation` is the known end with the relation that starts there, and `value` is the
    other end. `lead_in` is the line that introduces the list to which a part belongs, or what the
    row of a table says before it.
    """

    start: int
    end: int
    evidence: Evidence
    relation: tuple[str, ...] = ()
    value: str = ""
    lead_in: str = ""

    def scored(self, score: float) -> Evidence:
        """Return the evidence with a score."""
        return self.evidence.model_copy(update={"score": round(min(score, 1.0), 4)})


@dataclass(frozen=True, slots=True)
class Text:
    """A text to read; an answer lies within one of its parts.

    The words before the first part introduce the text. `subject` says what it is about: its title
    and headings, or an entity. `led` is the sentence that led to the text, None in the first round.
    `whole` is the evidence that is shown if there is no answer. `cosine` compares the vectors of
    its passage and of the question, 0 if they have none.
    """

    words: str
    parts: tuple[TextPart, ...]
    whole: Evidence | None = None
    led: TextPart | None = None
    cosine: float = 0.0
    subject: str = ""

    def part_at(self, start: int) -> TextPart | None:
        """Return the part that holds a character, None outside all parts."""
        return next((part for part in self.parts if part.start <= start < part.end), None)

    def introduced(self, part: TextPart) -> str:
        """Return the words of a part after the introduction of its text and of its list."""
        introduction = f"{self.words[: self.parts[0].start]} {part.lead_in}"
        return f"{introduction} {self.words[part.start : part.end]}"


class Source(ABC):
    """Where texts come from, passages or facts, and the names and words in an edition's index."""

    _searcher: Searcher
    _con: DuckDBPyConnection

    @abstractmethod
    def near(self, question: Question) -> list[Text]:
        """Return the texts that may answer a question, the most similar first."""

    @abstractmethod
    def about(self, names: Sequence[tuple[str, str]]) -> list[list[Text]]:
        """Return the texts about each name; `names` are pairs of a name and what is asked of it."""

    @abstractmethod
    def values_beside(self, part: TextPart, answer: str, since: str) -> list[tuple[str, str]]:
        """Return values of the relations that state an answer, from `since` on; "" is asked for."""

    @abstractmethod
    def around(self, place: Evidence) -> tuple[str, int]:
        """Return the text of a document around a place, and where in it the place begins."""

    def date_of(self, document_id: str | None) -> str:
        """Return the day, month or year of which a document is, empty if it does not say so."""
        dates = self._con.execute(_DATES, {"id": document_id}).fetchone()
        return next(filter(None, dates or ()), "")[: len("2026-11-22")]

    def names_in(self, text: str) -> Sequence[LinkedName]:
        """Return the known names in a text."""
        return self._searcher.names_in(text)

    def kinds_of(self, name: str) -> list[str]:
        """Return the kinds of the entities that bear a name."""
        bearers = self._searcher.names.bearers(normalise_name(name))
        return [self._searcher.kind_of(bearer.entity) for bearer in bearers]

    def description_of(self, name: str) -> str:
        """Return the descriptions of the entities that bear a name, empty if there are none."""
        bearers = self._searcher.names.bearers(normalise_name(name))
        return " ".join(self._searcher.description_of(bearer.entity) for bearer in bearers)

    def rarity(self, word: str) -> float:
        """Return a word's inverse document frequency over passages."""
        return self._searcher.rarity(word)

    def is_said(self, name: str) -> bool:
        """Return whether a passage has all words of a name, which Chinese does not separate."""
        return not is_chinese(name) and self._searcher.passages_with(name) > 0


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """A reader's answers, best first, with their evidence.

    Without answers, `evidence` holds the nearest texts. `probability` is that of the first answer
    being right, None if unknown, `stated` the sentence that states it, after title and headings.
    `others` are less probable rivals of an only answer, `earlier` what older documents say instead.
    `program` is the last one that retrieved texts of the knowledge reader.
    """

    answers: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    program: str | None = None
    probability: float | None = None
    stated: str = ""
    others: list[str] = field(default_factory=list)
    earlier: list[Evidence] = field(default_factory=list)


def evidence_from(
    text: str, kind: str, place: Place | None, score: float, graph: str = "corpus"
) -> Evidence:
    """Return a supporting text as evidence, with the place where a document states it."""
    where = asdict(place) if place else {}
    return Evidence(text=text, kind=kind, graph=graph, score=round(score, 4), **where)


def one_text(facts: Iterable[tuple[str, TextPart]], subject: str = "") -> Text | None:
    """Return facts about something as one text, a paragraph each; None if there are none."""
    lines: list[str] = []
    parts: list[TextPart] = []
    start = 0
    for words, fact in facts:
        line = " ".join(words.split())
        line = line if line.endswith((".", "。", "!", "?")) else f"{line}."
        parts.append(TextPart(start, start + len(line), fact.evidence, fact.relation, fact.value))
        lines.append(line)
        start += len(line) + 2
    return Text("\n\n".join(lines), tuple(parts), subject=subject) if parts else None


def pieces(text: Text, led: TextPart | None = None) -> list[Text]:
    """Return the pieces of a text that are read at a time.

    Each comes after its subject, or after the sentence that led to it, and after the line that
    introduces the list in which it begins. A piece begins with the last sentence of the one before.
    """
    subject = " ".join((led.evidence.text if led else text.subject).split()) + "\n\n"
    cut: list[list[TextPart]] = []
    for part in text.parts:
        if not cut or part.end - cut[-1][0].start > PIECE:
            cut.append(cut[-1][-1:] if cut and part.end - cut[-1][-1].start <= PIECE else [])
        cut[-1].append(part)

    def piece(parts: list[TextPart]) -> Text:
        lead_in = parts[0].lead_in
        before = subject + (f"{lead_in}\n" if lead_in else "")
        by = len(before) - parts[0].start
        moved = [replace(part, start=part.start + by, end=part.end + by) for part in parts]
        words = before + text.words[parts[0].start : parts[-1].end]
        return replace(text, words=words, parts=tuple(moved), led=led)

    return list(map(piece, cut))
