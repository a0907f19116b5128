"""Text tables without quotes: TSV, `|` as in MetaQA, ` ||| ` as in NLPCC, and ConceptNet."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.graphs.formats.batch import (
    LONG_TAIL,
    GraphBatch,
    add_aliases,
    add_triples,
    as_weight,
    renamed,
)
from tasks.graphs.formats.columns import Columns, detect_columns, mapped_places
from tasks.graphs.formats.lines import Lines, blocks_of_lines, split_lines
from tasks.graphs.formats.mapping import FileMapping

SAMPLE = 10_000  # lines from which the columns are identified
# Relations of encyclopaedias whose tails are other names of their heads.
ALIAS_RELATIONS = ("别名", "又名", "简称", "中文名", "中文名称", "外文名", "英文名", "本名")
DELIMITERS = {"tsv": "\t", "pipe": "|", "nlpcc": "|||"}


def read_separated(
    file: BinaryIO, delimiter: str, mapping: FileMapping | None = None
) -> Iterator[GraphBatch]:
    """Yield the triples, or entities and aliases, of a table with one of them per line.

    One space on each side of `|||` belongs to the delimiter. Raises UsageError if the columns
    cannot be identified.
    """
    columns: Columns | None = None
    for lines in blocks_of_lines(file):
        if columns is None and len(lines.numbers):
            columns = find_columns(sample_rows(lines, delimiter), mapping)
            if columns.header:
                lines = lines.where(np.arange(len(lines.numbers)) > 0)
        if columns is not None and len(lines.numbers):
            _read_lines(lines, delimiter, columns, mapping)
        yield lines.batch


def sample_rows(lines: Lines, delimiter: str) -> list[list[str]]:
    """Return the fields of the first lines."""
    rows = pc.split_pattern(lines.text[:SAMPLE], delimiter).to_pylist()
    if delimiter == "|||":
        rows = [[field.strip(" ") for field in row] for row in rows]
    return rows


def find_columns(rows: list[list[str]], mapping: FileMapping | None) -> Columns:
    """Return the columns' meanings, from the mapping or else from the rows."""
    if mapping and mapping.columns:
        places, header = mapped_places(rows[0], mapping.columns)
        return Columns(places, len(rows[0]), header)
    return detect_columns(rows)


def _read_lines(
    lines: Lines, delimiter: str, columns: Columns, mapping: FileMapping | None
) -> None:
    places, *fields = split_lines(lines, delimiter, columns.width)
    if delimiter == "|||":
        fields = [
            _without_blanks(field, place, columns.width) for place, field in enumerate(fields)
        ]
    add_fields(lines.batch, lines.numbers[places], fields, columns, mapping)


def add_fields(
    batch: GraphBatch,
    numbers: np.ndarray,
    fields: list[pa.Array],
    columns: Columns,
    mapping: FileMapping | None,
) -> None:
    """Add the rows of a table, given by column, to the batch."""
    at = {part: fields[place] for part, place in columns.places.items()}
    if "alias" in at:
        add_aliases(batch, numbers, at["entity"], at["alias"])
        return
    relation = renamed(at["relation"], mapping.relations if mapping else {})
    naming = pa.array([*ALIAS_RELATIONS, *(mapping.alias_relations if mapping else [])])
    named = pc.and_(pc.is_in(relation, value_set=naming), pc.not_equal(at["head"], at["tail"]))
    for name in (at["head"], at["tail"]):
        length = pc.utf8_length(name)
        fits = pc.and_(pc.greater(length, 0), pc.less_equal(length, LONG_TAIL))
        named = pc.and_(named, fits)
    places = np.flatnonzero(pc.fill_null(named, False).to_numpy(zero_copy_only=False))
    add_aliases(batch, numbers[places], at["head"].take(places), at["tail"].take(places))
    weight = as_weight(at["weight"]) if "weight" in at else None
    add_triples(batch, numbers, at["head"], relation, at["tail"], weight=weight)


def _without_blanks(field: pa.Array, place: int, width: int) -> pa.Array:
    """Remove one space from each side that borders on a delimiter."""
    if place > 0:
        field = pc.if_else(pc.starts_with(field, " "), pc.utf8_slice_codeunits(field, 1), field)
    if place < width - 1:
        field = pc.if_else(pc.ends_with(field, " "), pc.utf8_slice_codeunits(field, 0, -1), field)
    return field


DEFAULT_LANGUAGES = ("en", "zh")
_WIDTH = 5
_TERM = r"^/c/(?P<language>[a-z-]{2,12})/(?P<word>[^/]+)"
_SURE = 2.0  # the weight of an expert's resource; that of a single contributor is 1


def read_conceptnet(
    file: BinaryIO, languages: Sequence[str], mapping: FileMapping | None = None
) -> Iterator[GraphBatch]:
    """Yield the assertions whose terms are both in these languages; the others are left out.

    All senses of a term are one entity; underscores become spaces.
    """
    for lines in blocks_of_lines(file):
        if len(lines.numbers):
            _read(lines, languages or DEFAULT_LANGUAGES, mapping.relations if mapping else {})
        yield lines.batch


def _read(lines: Lines, languages: Sequence[str], relations: dict[str, str]) -> None:
    places, _, relation, start, end, details = split_lines(lines, "\t", _WIDTH, rest=True)
    chosen = pa.array(languages, pa.string())
    terms = [pc.extract_regex(term, _TERM) for term in (start, end)]
    wanted = [
        pc.is_in(pc.struct_field(term, "language"), value_set=chosen, skip_nulls=True)
        for term in terms
    ]
    keep = pc.and_(*wanted)
    lines.batch.left_out += len(keep) - (pc.sum(keep).as_py() or 0)
    words = [
        pc.replace_substring(pc.struct_field(term.filter(keep), "word"), "_", " ") for term in terms
    ]
    weight = pc.struct_field(
        pc.extract_regex(details.filter(keep), r'"weight": ?(?P<weight>[0-9.]+)'), "weight"
    )
    name = pc.replace_substring_regex(relation.filter(keep), "^/r/", "")
    add_triples(
        lines.batch,
        lines.numbers[places][np.asarray(keep)],
        words[0],
        renamed(name, relations),
        words[1],
        weight=as_weight(pc.divide(as_weight(weight, most=1e9), _SURE)),
    )
