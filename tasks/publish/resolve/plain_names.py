"""Find names that nothing in their document explains, shortens or joins with another name.

What two documents say of such a plain name differs at most in spelling, kind and language, so all
documents in which a name is plain share one object. A name that anything may touch is not plain.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.publish.resolve.local_entities import LocalEntity, Unit
from tasks.publish.resolve.short_forms import forms_of, full_form, sense_of
from tasks.text.names import disambiguator

MAX_NAMES = 5_000
"""Names per document among which short forms are searched."""

_KINDS = ("person", "place", "unknown")  # on which the form of a name depends


class Codes:
    """The values of a column of texts, and each row's value as a number; null is empty."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        encoded = pc.fill_null(column.combine_chunks().cast(pa.string()), "").dictionary_encode()
        self.rows = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        self.values: list[str] = encoded.dictionary.to_pylist()

    def take(self, rows: np.ndarray | slice) -> list[str]:
        """Return the values of some rows."""
        return [self.values[number] for number in self.rows[rows].tolist()]


def distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one row of each combination of values, and the combination of each row."""
    mixed = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        mixed = mixed * (int(column.max(initial=0)) + 1) + column
    _, first, combination = np.unique(mixed, return_index=True, return_inverse=True)
    return first, combination


def plain_rows(rows: pa.Table, joined: Iterable[tuple[str, str]]) -> np.ndarray:
    """Return which rows of `local_names`, with their believed kinds, have a plain name.

    `joined` are documents and names that aliases, pieces or added words join with others.
    """
    documents, names, kinds = (Codes(rows[name]) for name in ("document_id", "name", "kind"))
    first, pair = distinct(names.rows, kinds.rows)
    spelt = list(zip(names.take(first), kinds.take(first), strict=True))
    senses = [sense_of(*one) for one in spelt]
    whole = [
        not note and disambiguator(name)[0] == name
        for (name, _), (_, note) in zip(spelt, senses, strict=True)
    ]
    norms = {norm: number for number, norm in enumerate(dict(senses))}
    norm = np.array([norms[norm] for norm, _ in senses], np.int64)[pair]
    alone = _are_alone(documents.rows, norm) & np.array(whole, bool)[pair]
    beside = np.flatnonzero(~alone)  # a namesake with a note may change a name's kind
    other = [*joined, *zip(documents.take(beside), names.take(beside), strict=True)]
    number = {document: n for n, document in enumerate(documents.values)}
    known = {one: n for n, one in enumerate(spelt)}
    more = [
        (number[document], known.setdefault((name, kind), len(known)))
        for document, name in dict.fromkeys(other)
        if document in number
        for kind in _KINDS
    ]
    places, pairs = np.array(more, np.int64).reshape(-1, 2).T
    places, pairs = np.concatenate([documents.rows, places]), np.concatenate([pair, pairs])
    touched = _touched(places, pairs, list(known))[: len(rows)]
    few = np.bincount(places)[documents.rows] <= MAX_NAMES
    return alone & few & ~_has_title(rows, kinds, norms, norm) & ~_tells_more(rows) & ~touched


def _are_alone(*columns: np.ndarray) -> np.ndarray:
    _, combination = distinct(*columns)
    return np.bincount(combination)[combination] == 1


def _tells_more(rows: pa.Table) -> np.ndarray:
    """Return which rows tell more of a name than that it occurs."""
    tells = pc.not_equal(pc.fill_null(rows["description"], ""), "")
    tells = pc.or_(tells, pc.equal(rows["mentions"], 0))
    for told in {"born", "died", "birth_places"}.intersection(rows.schema.names):
        tells = pc.or_(tells, pc.is_valid(rows[told]))
    return tells.to_numpy().astype(bool)


def _has_title(rows: pa.Table, kinds: Codes, norms: dict[str, int], norm: np.ndarray) -> np.ndarray:
    """Return which names are their documents' titles."""
    titles = Codes(rows["title"])
    first, combination = distinct(titles.rows, kinds.rows)
    meant = zip(titles.take(first), kinds.take(first), strict=True)
    number = [norms.get(sense_of(title, kind)[0], -1) if title else -1 for title, kind in meant]
    as_title = pc.fill_null(rows["as_title"], False).to_numpy().astype(bool)
    return as_title | (np.array(number, np.int64)[combination] == norm)


def _touched(documents: np.ndarray, pairs: np.ndarray, spelt: list[tuple[str, str]]) -> np.ndarray:
    """Return which names of documents may be short forms of others there, or have some.

    `pairs` are the names' numbers in `spelt`, which has names and kinds.
    """
    forms: dict[str, int] = {}
    full = []
    for name, kind in spelt:
        norm, _ = sense_of(name, kind)
        own = {norm, full_form(name)} if kind in ("person", "unknown") else {norm}
        full.append([forms.setdefault(form, len(forms)) for form in own])
    known = [[forms[form] for form in _short(*one) if form in forms] for one in spelt]
    of_full, full_keys = _spread(documents, pairs, full, len(forms))
    of_short, short_keys = _spread(documents, pairs, known, len(forms))
    touched = np.zeros(len(pairs), bool)
    touched[of_full[np.isin(full_keys, short_keys)]] = True
    touched[of_short[np.isin(short_keys, full_keys)]] = True
    touched[of_full[~_are_alone(full_keys)]] = True
    return touched


def _short(name: str, kind: str) -> frozenset[str]:
    """Return all forms under which another name in the document may mean the same, or a part."""
    norm, _ = sense_of(name, kind)
    words = norm.split()
    ends = {*words[:1], *(" ".join(words[at:]) for at in range(1, len(words)))} - {norm}
    return forms_of(norm, name, kind == "person") | ends


def _spread(
    documents: np.ndarray, pairs: np.ndarray, forms: list[list[int]], several: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each form of each row the row, and the form in its document as a number."""
    lengths = np.array([len(own) for own in forms], np.int64)
    starts = np.cumsum(lengths) - lengths
    values = np.array([form for own in forms for form in own], np.int64)
    row = np.repeat(np.arange(len(pairs)), lengths[pairs])
    begun = np.cumsum(lengths[pairs]) - lengths[pairs]
    at = np.arange(len(row)) - begun[row] + starts[pairs[row]]
    return row, documents[row] * several + values[at]


@dataclass(slots=True, eq=False)
class PlainUnit(Unit):
    """A name in all documents of one language in which it is plain."""

    table: pa.Table = field(kw_only=True)
    rows: list[int] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    spelt: list[str] = field(default_factory=list)

    @property
    def places(self) -> Iterable[tuple[str, str]]:
        """Each document and the name as it is spelt there."""
        return zip(self.documents, self.spelt, strict=True)

    def singles(self) -> Iterator[Unit]:
        """Yield the name in each document."""
        for row in self.table.take(self.rows).to_pylist():
            names, kinds = (Counter({row[of]: row["mentions"]}) for of in ("name", "kind"))
            unit = Unit(row["document_id"], self.norm, "", names, kinds)
            unit.context, unit.language = row["context"] or "", self.language
            yield unit


def plain_entities(rows: pa.Table) -> list[LocalEntity]:
    """Return one entity for each normal form and language of rows of plain names."""
    columns = [Codes(rows[name]) for name in ("document_id", "name", "kind", "language")]
    values = (column.take(slice(None)) for column in columns)
    told = zip(*values, rows["mentions"].to_pylist(), strict=True)
    table = rows.select(["document_id", "name", "kind", "mentions", "context"])
    units: dict[tuple[str, str], PlainUnit] = {}
    for row, (document, name, kind, language, mentions) in enumerate(told):
        norm, _ = sense_of(name, kind)
        unit = units.get((norm, language))
        if unit is None:
            unit = PlainUnit(document, norm, "", language=language or "und", table=table)
            units[norm, language] = unit
        unit.names[name] += mentions
        unit.kinds[kind] += mentions
        unit.documents.append(document)
        unit.spelt.append(name)
        unit.rows.append(row)
    return [LocalEntity([unit]) for unit in units.values()]
