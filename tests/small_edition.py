"""An edition made by hand for the tests of search and answers: few tables, no extraction."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import schemas
from warehouse.derivation import build_database
from warehouse.editions import SCHEMA_VERSION, Edition

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make_edition(
    folder: Path,
    texts: dict[str, str],
    entities: dict[str, tuple[str, list[str]]],
    facts: Sequence[tuple[str, str, str, str]] = (),
    descriptions: Mapping[str, str] | None = None,
) -> Edition:
    """Write an edition: title -> text, name -> (kind, other names), facts (title, head, rel, tail).

    A passage is a whole document; it names an entity where one of the names stands in it.
    """
    rows: dict[type[schemas.Row], list[dict[str, Any]]] = {row: [] for row in schemas.EDITION}
    for number, (title, text) in enumerate(texts.items()):
        rows[schemas.Document].append(_document(f"d{number}", title, text))
        rows[schemas.Passage].append({
            "passage_id": f"p{number}", "document_id": f"d{number}", "span_start": 0,
            "span_end": len(text), "text": text, "subject": "", "headings": "", "blocks": [],
        })  # fmt: skip
    for name, (kind, others) in entities.items():
        rows[schemas.Entity].append(_entity(name, kind, (descriptions or {}).get(name)))
        for alias in (name, *others):
            rows[schemas.Alias].append({"alias": alias, "entity_id": _id(name), "weight": 1.0})
        for number, (title, text) in enumerate(texts.items()):
            if any(alias in f"{title} {text}" for alias in (name, *others)):
                rows[schemas.EntityPassage].append({
                    "entity_id": _id(name), "document_id": f"d{number}",
                    "passage_id": f"p{number}", "times": 1,
                })  # fmt: skip
    for number, fact in enumerate(facts):
        _add_fact(rows, list(texts), texts, number, fact, set(entities))
    folder.mkdir(parents=True, exist_ok=True)
    for row, made in rows.items():
        key = row.key[0]
        table = row.to_table(sorted(made, key=lambda one: str(one[key])))
        pq.write_table(table, folder / f"{row.table}.parquet")
    build_database(folder)
    manifest = {"edition": "test", "sequence": 1, "tables": {}, "files": {}}
    return Edition(folder, {**manifest, "schema_version": SCHEMA_VERSION})


def indexed_edition(folder: Path, *tables: Any) -> Edition:
    """Write an edition as `make_edition` does, with the index that a search needs."""
    from tasks.retrieval.index import build_index

    edition = make_edition(folder, *tables)
    build_index(folder, None)
    return edition


def _id(name: str) -> str:
    return "e-" + name


def _document(document_id: str, title: str, text: str) -> dict[str, Any]:
    return {
        "document_id": document_id, "source": "test", "uri": f"test/{title}", "title": title,
        "language": "en", "text": text, "sha256": "", "version": "", "sensitivity": "normal",
        "read_at": NOW, "near_duplicate_of": None, "duplicates": [], "words": len(text.split()),
    }  # fmt: skip


def _entity(name: str, kind: str, description: str | None) -> dict[str, Any]:
    return {
        "entity_id": _id(name), "name": name, "kind": kind, "language": "en", "graph": "corpus",
        "mentions": 1, "documents": 1, "description": description,
    }  # fmt: skip


def _add_fact(
    rows: dict[type[schemas.Row], list[dict[str, Any]]],
    titles: list[str],
    texts: dict[str, str],
    number: int,
    fact: tuple[str, str, str, str],
    names: set[str],
) -> None:
    title, head, relation, tail = fact
    start = texts[title].index(tail)
    place = {
        "document_id": f"d{titles.index(title)}",
        "passage_id": f"p{titles.index(title)}",
        "span_start": start,
        "span_end": start + len(tail),
        "confidence": 0.8,
    }
    rows[schemas.Triple].append({
        "triple_id": f"t{number}", "graph": "corpus", "head_id": _id(head), "head": head,
        "relation": relation, "tail_id": _id(tail) if tail in names else None, "tail": tail,
        "value_type": "entity" if tail in names else "text", "polarity": "positive",
        "modality": "asserted", "support": 1, "mentions": 1, **place,
    })  # fmt: skip
    rows[schemas.Mention].append({
        "fact_kind": "triple", "fact_id": f"t{number}", "engine": "rules", "prompt_sha": "",
        "engine_confidence": 0.8, "extracted_at": NOW, **place,
    })  # fmt: skip
