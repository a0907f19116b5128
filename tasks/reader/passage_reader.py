"""Answer questions from the passages of an edition, with the sources."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from schemas.answers import MIN_SCORE, Evidence
from schemas.settings import EngineSettings
from tasks.models.span_reader.reader import trained_reader
from tasks.programs.knowledge_bases.protocol import Place
from tasks.reader.definition import describe, name_to_define
from tasks.reader.lists import is_item
from tasks.reader.named_subjects import name_subjects
from tasks.reader.reading import Reading
from tasks.reader.texts import ReaderAnswer, Source, Text, TextPart, evidence_from, pieces
from tasks.retrieval.search import Hit
from tasks.retrieval.search_edition import open_searcher
from tasks.text.code_lines import sentences_and_lines
from tasks.text.question import Question, analyse
from warehouse.editions import DUCKDB_FILE, Edition

PASSAGES_READ = 10  # passages that are read first
AROUND = 10_000  # characters before and after a place in which its list is sought
_MARKS = "*_ "
_LABELLED = re.compile(r"[^\W\d_][^:：]*[:：]\s*[^\s:：]")  # "Meeting point: the old gate"
FOLLOWED = 2  # passages about a name that the first round led to
_VALUES = r"""
with stating as (
    select distinct t.head, t.relation, t.tail, t.valid_from, t.valid_to
    from mentions m join asserted_triples t on t.triple_id = m.fact_id
    where m.fact_kind = 'triple' and t.graph = 'corpus' and m.document_id = $document
      and m.span_start >= $start and m.span_start < $end
)
select distinct if(t.head = s.head, t.tail, t.head),
       -- Who holds an office no more is asked for by the time, beside one who does.
       if(regexp_matches(t.relation, ' of$|\p{Han}')
              and ((t.valid_to is null) <> (s.valid_to is null)
                   or t.valid_to <= s.valid_from or s.valid_to <= t.valid_from),
          concat_ws(' ', 'from', t.valid_from, 'to', t.valid_to), t.relation),
       t.document_id
from stating s join asserted_triples t
  on t.graph = 'corpus' and t.relation = s.relation and (t.head = s.head or t.tail = s.tail)
where contains($answer, nullif(lower(if(t.head = s.head, s.tail, s.head)), ''))
  -- Further values of these are rivals.
  and (t.head <> s.head or not exists (
      from relations r where r.relation = t.relation and r.single_valued and r.graph = 'corpus'))
  and ($all or t.document_id in $documents)
order by all
"""


class PassageReader(Source):
    """Answers questions from the passages of one edition; a source of texts for the reader."""

    def __init__(
        self,
        edition: Edition,
        settings: EngineSettings | None = None,
        documents: Collection[str] | None = None,
    ) -> None:
        """Open the edition's indexes and its database, read-only; read these documents alone.

        Raises DamageError if they are not what the edition's manifest says.
        """
        edition.check(DUCKDB_FILE)
        settings = settings or EngineSettings()
        self._con = edition.connect()
        searcher = open_searcher(edition, settings)
        self._searcher = searcher if documents is None else searcher.within(documents)
        self._within = {"all": documents is None, "documents": sorted(documents or ())}

    def answer(self, question: Question, min_score: float = MIN_SCORE) -> ReaderAnswer:
        """Return the answer with its evidence.

        If no text supports an answer with at least the probability `min_score`, there is none, and
        the evidence is the nearest passages.
        """
        name = name_to_define(question, self._searcher.link(question))
        if name and (found := describe(name, question, self._searcher, self._con, self._within)):
            return ReaderAnswer([found[0].text], found)
        return Reading(self, trained_reader(), min_score).answer(question)

    # -- a source of texts ------------------------------------------------------------------------

    def near(self, question: Question) -> list[Text]:
        """Return the passages that may answer a question, in pieces, each after its heading."""
        hits = self._searcher.union(question, PASSAGES_READ)
        read = [[*self._labelled_heading(hit), *pieces(self._passage(hit))] for hit in hits]
        once = {(text.words, str(text.whole)): text for text in chain(*read)}
        return list(once.values())

    def about(self, names: Sequence[tuple[str, str]]) -> list[list[Text]]:
        """Return the passages about each name that are most similar to what is asked of it."""
        questions = [analyse(f"{asked} {name}") for name, asked in names]
        self._searcher.encode(questions)
        texts = []
        for question, (name, _) in zip(questions, names, strict=True):
            hits = self._searcher.alike(question, FOLLOWED)
            titled = self._searcher.about(name)
            hits += [titled] if titled else []
            texts.append(list({hit.row: self._passage(hit) for hit in hits}.values()))
        return texts

    def values_beside(self, part: TextPart, answer: str, since: str) -> list[tuple[str, str]]:
        """Return all values of the relations by which a sentence states an answer.

        With each is the relation, or the time of an office that the answer has at another time.
        """
        place = part.evidence
        span = {"document": place.document_id, "start": place.span_start, "end": place.span_end}
        values = {**span, "answer": answer.lower(), **self._within}
        rows = self._con.execute(_VALUES, values).fetchall()
        known = {one for *_, one in rows}
        late = {one for one in known if not since or (self.date_of(one) or since) >= since}
        return list(dict.fromkeys((value, how) for value, how, one in rows if one in late))

    def around(self, place: Evidence) -> tuple[str, int]:
        """Return the text of a document around a place, and where in it the place begins.

        It has more than the passage, as a list may go on in the next one.
        """
        assert place.span_start is not None
        first = max(0, place.span_start - AROUND)
        rows = self._con.execute(
            "select text[$first + 1 : $first + $length] from documents where document_id = $id",
            {"id": place.document_id, "first": first, "length": 2 * AROUND},
        ).fetchall()
        return (rows[0][0] if rows else place.text), place.span_start - first

    def _labelled_heading(self, hit: Hit) -> list[Text]:
        """Return a passage's heading as a text of its own if it may be a label and its value."""
        *above, heading = hit.fields["headings"].split(" > ")
        if not _LABELLED.search(heading):
            return []
        around, place = self.around(_evidence(hit, 0, 0))
        at = around.rfind(heading, 0, place)
        if at < 0:  # it has marks
            return []
        start = hit.fields["span_start"] - place + at
        stated = replace(hit, fields={**hit.fields, "text": heading, "span_start": start})
        subject = " > ".join((hit.fields["title"], *above)) + "\n\n"
        evidence = _evidence(stated, 0, len(heading))
        part = TextPart(len(subject), len(subject) + len(heading), evidence)
        return [Text(subject + heading, (part,), evidence, cosine=hit.cosine)]

    def _passage(self, hit: Hit) -> Text:
        """Return a passage to read, with names for pronouns; its evidence has its own words."""
        text, title = hit.fields["text"], hit.fields["title"]
        clauses = self._searcher.stated(hit.row)
        named = name_subjects(text, hit.fields["span_start"], title, clauses)
        spans = list(sentences_and_lines(text))
        parts = (
            TextPart(named.moved(a), named.moved(b), _evidence(hit, a, b), lead_in=lead_in)
            for (a, b), lead_in in zip(spans, _lead_ins(text, spans), strict=True)
        )
        whole, subject = _evidence(hit, 0, len(text)), f"{title}: {hit.fields['headings']}"
        return Text(named.words, tuple(parts), whole, cosine=hit.cosine, subject=subject)


def _lead_ins(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield for each sentence the line that introduces its list, or what its row says before it."""
    above: list[tuple[int, str]] = []  # lines that introduce lists within lists, with their depths
    introduces, line_before, depth, lead_in = False, -1, 0, ""
    for start, end in spans:
        line = text.rfind("\n", 0, start) + 1
        if line == line_before:
            del above[len(above) - introduces :]
        else:
            depth = (
                len(text[line:end]) - len(text[line:end].lstrip()) if is_item(text, line) else -1
            )
            above = [one for one in above if one[0] < depth]
            lead_in = above[-1][1] if above else ""
        yield text[line:start] if text[line] == "|" else lead_in
        introduces = text[start:end].rstrip(_MARKS).endswith((":", "："))
        above += [(depth, text[start:end])] if introduces else []
        line_before = line


def _evidence(hit: Hit, start: int, end: int) -> Evidence:
    fields = hit.fields
    first = fields["span_start"]
    place = Place(fields["document_id"], fields["uri"], first + start, first + end)
    return evidence_from(fields["text"][start:end], "passage", place, hit.score)
