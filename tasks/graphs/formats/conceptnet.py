"""ConceptNet: tables of assertions with the languages of their terms."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.graphs.formats.batch import GraphBatch, add_triples, as_weight, renamed
from tasks.graphs.formats.lines import Lines, blocks_of_lines, split_lines
from tasks.graphs.formats.mapping import FileMapping

_WIDTH = 5
_TERM = r"^/c/(?P<language>[a-z-]{2,12})/(?P<word>[^/]+)"
_SURE = 2.0  # the weight of an expert's resource; that of a single contributor is 1


def read_conceptnet(
    file: BinaryIO, languages: Sequence[str], mapping: FileMapping
) -> Iterator[GraphBatch]:
    """Yield the assertions whose terms are both in these languages; the others are left out.

    All senses of a term are one entity; underscores become spaces.
    """
    for lines in blocks_of_lines(file):
        if len(lines.numbers):
            _read(lines, languages, mapping.relations)
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
