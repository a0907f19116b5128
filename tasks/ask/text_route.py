"""Answers from an edition's passages and themes; these and notes as items of a context."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock

from schemas.answers import Evidence
from schemas.documents import Passage
from schemas.knowledge import CORPUS
from tasks.ask.broad_questions import (
    asks_nothing_else,
    is_about_the_corpus,
    sides_of,
    theme_items,
)
from tasks.ask.context import Item, alternating
from tasks.ask.documents import DocumentFacts
from tasks.ask.route import AnswerRoute, QuestionState, Resources, RouteResult
from tasks.ask.stated_values import StatedValues, is_among
from tasks.ask.tables import Tables
from tasks.reader.asked_names import lone_pronoun
from tasks.reader.passage_reader import PassageReader
from tasks.reader.texts import ReaderAnswer
from tasks.retrieval.search import Hit, Searcher
from tasks.text.question import Question, analyse

PASSAGES = 16  # fetched for a question
SURROUNDED = 2  # of them that are read with the passages before and after
NOTES = 4
NOTE_ALIKE = 0.2  # least cosine of a note, which may share common words with any question
THEMES = 10  # named in an answer without a model
_DAY = len("2026-11-22")


class TextRoute(AnswerRoute):
    """Answers from the passages of an edition."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._edition, self._engine = resources.edition, resources.settings.engine
        self._min_score = resources.options.min_score
        self._lock = Lock()  # questions that are answered at once share one reader

    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return the answer from passages, or the names of themes; none without passages."""
        if themes := self._about_the_corpus(question)[:THEMES]:
            return _named(themes)
        with self._lock:
            if self._reader is None or lone_pronoun(question):
                return RouteResult("text")
            answer = self._read(question, self._reader)
        found = answer.answers, answer.evidence, answer.probability
        return RouteResult(
            "text", *found, program=answer.program, others=answer.others, earlier=answer.earlier
        )

    def items(self, question: Question, state: QuestionState) -> list[Item]:
        """Return the passages that may answer a question, best first, then notes.

        What a question says may be understood only from the one before it, so that passages for
        both together are fetched as well; for a comparison, those for each side. Themes come first
        if a question is about the whole corpus, and alone if it asks for nothing else.
        """
        searcher = self._resources.searcher
        if searcher is None:
            return []
        themes = self._about_the_corpus(question)
        if themes and asks_nothing_else(question):
            return themes
        sides = sides_of(question)
        searches = [*sides, question]
        if state.history:
            searches.append(analyse(f"{question.text} {state.history[-1].words}"))
        with self._lock:
            found = [searcher.union(one, PASSAGES) for one in searches]
            best = {hit.row for hits in found[: len(sides) or 1] for hit in hits[:SURROUNDED]}
            ranked = [
                one
                for hit in alternating(found)
                for one in (hit, *_beside(hit, searcher, is_best=hit.row in best))
            ]
            notes = searcher.notes(question, NOTES)
        hits = list({hit.row: hit for hit in ranked}.values())
        documents = self._resources.described.about(
            {hit.fields["document_id"] for hit in (*hits, *notes) if hit.fields["document_id"]}
        )
        shown = [hit for hit in hits if not self._withheld(documents[hit.fields["document_id"]])]
        bearers = Counter(
            documents[one].named for one in {hit.fields["document_id"] for hit in shown}
        )
        passages = [_passage(hit, documents[hit.fields["document_id"]], bearers) for hit in shown]
        worded = [
            _note(hit, documents.get(hit.fields["document_id"]))
            for hit in notes
            if _is_near(hit) and not self._withheld(documents.get(hit.fields["document_id"]))
        ]
        return [*themes, *passages, *worded]

    def _about_the_corpus(self, question: Question) -> list[Item]:
        """Return all themes for a question about the corpus that names nothing known, else none."""
        searcher = self._resources.searcher
        if searcher is None or self._resources.documents is not None:  # themes are of all of them
            return []
        if not is_about_the_corpus(question) or searcher.link(question):
            return []
        return theme_items(
            self._edition,
            self._resources.described,
            open_only=self._engine.withholds_sensitive,
        )

    def _withheld(self, document: DocumentFacts | None) -> bool:
        """Return whether an item must not reach the endpoint; one of unknown origin must not."""
        is_closed = document is None or document.sensitive
        return is_closed and self._engine.withholds_sensitive

    @cached_property
    def _reader(self) -> PassageReader | None:
        if not self._edition.rows(Passage):
            return None
        return PassageReader(self._edition, self._engine, self._resources.documents)

    def _read(self, question: Question, reader: PassageReader) -> ReaderAnswer:
        """Return what tables give, else the value that a record states, else what is read.

        A value of another relation than the one that a question asks for does not answer it.
        """
        computed = self._tables.answer(question)
        if computed.answers and (computed.probability or 0.0) >= self._min_score:
            return computed
        values = self._stated_values
        records = values.records(question) if values else []
        if values and records:
            stated = values.answer(question, records)
            if (stated.probability or 0.0) >= self._min_score and stated.answers:
                return stated
        answer = reader.answer(question, self._min_score)
        if answer.answers and is_among(records, answer.evidence[0]):
            return ReaderAnswer([], answer.evidence)
        return answer

    @cached_property
    def _tables(self) -> Tables:
        return Tables(self._edition, self._resources.documents)

    @cached_property
    def _stated_values(self) -> StatedValues | None:
        resources = self._resources
        graph, searcher = resources.graphs.get(CORPUS), resources.searcher
        return StatedValues(graph, searcher, resources) if graph and searcher else None


def _named(themes: Sequence[Item]) -> RouteResult:
    """Return the names of themes, each cited by a place."""
    names = [theme.title for theme in themes]
    text = "; ".join(f"{name} [{number}]" for number, name in enumerate(names, 1))
    return RouteResult("text", names, [t.stated_by[0] for t in themes], found="yes", text=text)


def _beside(hit: Hit, searcher: Searcher, *, is_best: bool) -> list[Hit]:
    """Return the neighbours of one of the best, else what a passage introduces, or is led in by."""
    return [
        one
        for one in searcher.neighbours(hit)
        if is_best or _introduces(one if one.row < hit.row else hit)
    ]


def _introduces(hit: Hit) -> bool:
    return hit.fields["text"].rstrip("*_ ").endswith((":", "："))


def _is_near(note: Hit) -> bool:
    """Return whether a note means something like the question; one without a vector has a word."""
    return note.cosine >= NOTE_ALIKE if note.cosine else note.has_word


def _passage(hit: Hit, document: DocumentFacts, bearers: Mapping[str, int]) -> Item:
    """Return a passage below its title, headings, date and, if others have the title, its file."""
    fields = hit.fields
    date = f" ({document.date[:_DAY]})" if document.date else ""
    title, headings = fields["title"] or "", fields["headings"] or ""
    repeats = headings == title or headings.startswith(f"{title} > ")
    inner = headings[len(title) :].removeprefix(" > ") if repeats else headings
    above = " > ".join(filter(None, (document.named, inner)))
    file = f", {document.uri}" if bearers[document.named] > 1 else ""
    evidence = _evidence("passage", hit, document)
    starts = ((0, fields["span_start"]),)
    return Item(fields["text"], evidence, "text", f"{above}{date}{file}", starts, row=hit.row)


def _note(hit: Hit, document: DocumentFacts | None) -> Item:
    fields = hit.fields
    aspect = f", {fields['aspect']}" if fields.get("aspect") else ""
    title = f"{fields['entity']}{aspect}"
    return Item(fields["text"], _evidence(fields["kind"], hit, document), "text", title)


def _evidence(kind: str, hit: Hit, document: DocumentFacts | None) -> Evidence:
    fields = hit.fields
    return Evidence(
        text=fields["text"],
        kind=kind,
        document_id=fields["document_id"],
        uri=document.uri if document else None,
        span_start=fields["span_start"],
        span_end=fields["span_end"],
        score=round(min(1.0, hit.score), 4),
    )
