"""The English engine: parse a batch of passages and read facts off the trees."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tasks.parser import load_english
from tasks.rules.clauses import find_clauses
from tasks.rules.coreference import learn_kinds, resolve_references
from tasks.rules.extracted import Extracted, Mention
from tasks.rules.find_names import TITLE_NOTE, find_names
from tasks.rules.passage import Name, Passage
from tasks.rules.tree import tree_of
from tasks.rules.triples import Triple, find_triples

if TYPE_CHECKING:
    from spacy.tokens import Doc

BATCH = 64


def extract_english(pieces: list[dict[str, Any]], pipeline: str | None) -> Iterator[Extracted]:
    """Yield what each piece says, in order."""
    nlp = load_english(pipeline)
    for piece, doc in zip(
        pieces, nlp.pipe((piece["text"] for piece in pieces), batch_size=BATCH), strict=True
    ):
        yield read_passage(piece, doc)


def read_passage(piece: dict[str, Any], doc: "Doc") -> Extracted:
    """Return everything that one parsed passage says."""
    tree = tree_of(doc)
    title = TITLE_NOTE.sub("", piece["title"])
    passage = Passage(piece, tree, find_names(tree, piece["title"]), title)
    learn_kinds(passage)
    resolve_references(passage)
    clauses = find_clauses(tree)
    found = Extracted(piece["passage_id"])
    found.names = [_name_row(passage, name) for name in passage.names]
    seen: set[tuple[str, str, str]] = set()
    for triple in find_triples(passage, clauses):
        key = (triple.head.name, triple.relation, triple.tail.name)
        if key not in seen and triple.head.name != triple.tail.name:
            seen.add(key)
            found.triples.append(_triple_row(passage, triple, len(found.triples)))
    return found


def _name_row(passage: Passage, name: Name) -> Mention:
    return {
        "name": name.name,
        "kind": passage.kind(name.name),
        "span_start": name.start,
        "span_end": name.end,
    }


def _triple_row(passage: Passage, triple: Triple, ordinal: int) -> Mention:
    start, end = passage.tree.span(triple.tokens)
    named = triple.tail.named
    return {
        "ordinal": ordinal,
        "head": triple.head.name,
        "head_kind": triple.head.kind,
        "relation": triple.relation,
        "tail": triple.tail.name,
        "tail_kind": triple.tail.kind if named else "",
        "value_type": "entity" if named else triple.value.value_type,
        "number": triple.value.number,
        "unit": triple.value.unit,
        "date": triple.value.date,
        "valid_from": triple.valid_from or triple.value.valid_from,
        "valid_to": triple.valid_to or triple.value.valid_to,
        "span_start": start,
        "span_end": end,
        "confidence": 0.5,
    }
