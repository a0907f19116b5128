"""Answers that are computed from the rows of a table: an extreme, a number, a sum, a list."""

import re
from collections.abc import Collection
from functools import cached_property, lru_cache

from tasks.extract.rules.layout import NO_VALUE, TOTAL
from tasks.ingest.prose import words_of
from tasks.ingest.table_rows import (
    Cell,
    are_compared,
    cells_of,
    is_one_cell,
    key_column,
    parts_of_name,
)
from tasks.programs.knowledge_bases.protocol import Place
from tasks.programs.planner.rows import Column, Rows, computed
from tasks.reader.texts import ReaderAnswer, evidence_from
from tasks.text.question import Question
from tasks.text.stems import words_of as stems_of
from warehouse.editions import Edition

SURE = 0.95  # how likely an answer is right, as measured
MOST_DOCUMENTS = 50  # whose tables are asked, those with the most words of a question
MOST_ROWS = 5_000  # of a table, whose cells take a millisecond each to compare
MOST_CITED = 10  # rows
# In time that grows with the text: the first bar of a line is the only one that is looked for.
_ROW = r"([^|\n]*\|.*)\n?"
_HEADS = r"(?m)^(?:#+ (.*)\n\s*)?([^|\n]*\|.*)\n[ |:]*-[ |:-]*\n"
_ALL_HEADS = """
select document_id, title || ' ' || array_to_string(regexp_extract_all(text, $heads), ' ')
from documents where contains(text, '|') and regexp_matches(text, $heads)
"""
_TEXT = "select title, uri, text from documents where document_id = $document"
_Located = tuple[str, Place]  # a row's words, and where they stand


class Tables:
    """The tables of an edition; they are read when a question may be about them."""

    def __init__(self, edition: Edition, documents: Collection[str] | None = None) -> None:
        """Take an edition, and the documents that may be read, None for all."""
        self._edition, self._documents = edition, documents
        self._of = lru_cache(MOST_DOCUMENTS)(self._read)

    def answer(self, question: Question) -> ReaderAnswer:
        """Return what a question asks of one table; nothing if several give other answers."""
        stems = stems_of(question.text)
        alike = {one: len(words & stems) for one, words in self._words.items() if words & stems}
        found = {
            tuple(answers): (title, lines, kept)
            for document in sorted(alike, key=lambda one: -alike[one])[:MOST_DOCUMENTS]
            for title, rows, lines in self._of(document)
            for answers, kept in computed(question, rows)
        }
        if len(found) != 1:
            return ReaderAnswer()
        [(answers, (title, lines, kept))] = found.items()
        summary = f"{len(kept)} of the {len(lines)} rows of {title}"
        cited = [(*lines[row], "passage") for row in kept[:MOST_CITED]]
        if len(answers) != len(kept):
            cited.insert(0, (summary, lines[kept[0]][1], "program"))
        evidence = [evidence_from(words, kind, at, SURE) for words, at, kind in cited]
        return ReaderAnswer(list(answers), evidence, summary, SURE)

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        """The stems of the titles and heads of each document with tables."""
        with self._edition.connect() as con:
            found = con.execute(_ALL_HEADS, {"heads": _HEADS}).fetchall()
        known = self._documents
        return {one: stems_of(words) for one, words in found if known is None or one in known}

    def _read(self, document: str) -> list[tuple[str, Rows, list[_Located]]]:
        """Return the tables of a document whose columns tell of rows, each with its title."""
        with self._edition.connect() as con:
            [(title, uri, text)] = con.execute(_TEXT, {"document": document}).fetchall()
        tables = []
        for match in re.finditer(rf"{_HEADS}((?:{_ROW})*)", text):
            titles = [one for one in (title, match[1]) if one]
            heads = [words_of(head).text.strip() for head, _, _ in cells_of(match[2])]
            rows: list[list[Cell]] = []
            lines: list[_Located] = []
            for line in re.compile(_ROW).finditer(text, *match.span(3)):
                cells = list(cells_of(line[1]))
                is_total = TOTAL.fullmatch(cells[0][0])
                if len(cells) <= len(heads) and not is_one_cell(cells) and not is_total:
                    rows.append(cells)
                    lines.append((line[1], Place(document, uri, *line.span(1))))
            if 0 < len(rows) <= MOST_ROWS and not are_compared(heads, rows):
                columns = [_column(head, n, rows) for n, head in enumerate(heads)]
                if parts := parts_of_name(heads):
                    names = zip(*(columns[n].raw for n in parts), strict=True)
                    columns.insert(0, Column("name", [" ".join(filter(None, n)) for n in names]))
                table = Rows(titles, columns, key_column(heads, rows))
                tables.append((" > ".join(titles), table, lines))
        return tables


def _column(head: str, number: int, rows: list[list[Cell]]) -> Column:
    raw = [words_of(row[number][0]).text.strip() if number < len(row) else "" for row in rows]
    return Column(head, ["" if NO_VALUE.fullmatch(cell) else cell for cell in raw])
