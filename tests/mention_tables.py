"""Mentions and aliases of a few documents, and what resolving them returns."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from schemas.observations import EntityAnchor, Override
from tasks.publish.resolve.entities import Resolution, resolve

LOCAL = pa.schema(
    {
        "document_id": pa.string(),
        "title": pa.string(),
        "language": pa.string(),
        "name": pa.string(),
        "kind": pa.string(),
        "kind_stated": pa.bool_(),
        "mentions": pa.int64(),
        "first_said": pa.int64(),
        "as_title": pa.bool_(),
        "description": pa.string(),
        "context": pa.string(),
        "born": pa.string(),
        "died": pa.string(),
        "birth_places": pa.list_(pa.string()),
        "near_places": pa.list_(pa.string()),
        "ties": pa.list_(pa.string()),
        "laid_out": pa.bool_(),
    }
)
ALIASES = pa.schema(
    {
        "document_id": pa.string(),
        "name": pa.string(),
        "alias": pa.string(),
        "kind": pa.string(),
        "confidence": pa.float64(),
    }
)
PLANET = "the smallest planet of the Solar System and the one closest to the Sun"
METAL = "a chemical element, a heavy silvery metal that is liquid at room temperature"


def mention(document: str, name: str, kind: str = "unknown", **more: Any) -> dict[str, Any]:
    row = {"title": document, "language": "en", "mentions": 1, "description": None, "context": ""}
    row |= {"document_id": document, "name": name, "kind": kind} | more
    return row | {"as_title": row["title"] == name}


def alias(document: str, name: str, other: str, kind: str = "unknown") -> dict[str, Any]:
    return {
        "document_id": document,
        "name": name,
        "alias": other,
        "kind": kind,
        "confidence": 0.9,
    }


DISTINCT = pa.schema(dict.fromkeys(("document_id", "name", "other"), pa.string()))
MOVED = pa.schema([("document_id", pa.string()), ("earlier_document_id", pa.string())])


def run(
    rows: list[dict[str, Any]],
    aliases: list[dict[str, Any]] | None = None,
    anchors: list[dict[str, Any]] | None = None,
    overrides: list[dict[str, Any]] | None = None,
    moved: Mapping[str, str] | None = None,
    distinct: list[tuple[str, str, str]] | None = None,
) -> Resolution:
    return resolve(
        pa.Table.from_pylist(rows, schema=LOCAL),
        pa.Table.from_pylist(aliases or [], schema=ALIASES),
        EntityAnchor.to_table(anchors or []),
        Override.to_table(overrides or []),
        None,
        pa.Table.from_pylist(
            [
                {"document_id": new, "earlier_document_id": old}
                for new, old in (moved or {}).items()
            ],
            schema=MOVED,
        ),
        pa.Table.from_pylist(
            [dict(zip(DISTINCT.names, pair, strict=True)) for pair in distinct or ()],
            schema=DISTINCT,
        ),
    )


def journalled(result: Resolution, edition: str) -> list[dict[str, Any]]:
    return [row | {"edition": edition} for row in result.anchors.to_pylist()]


def correction(
    action: str, subject: str, other: str | None = None, number: int = 0
) -> dict[str, Any]:
    made_at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
    row = {"override_id": f"o{number}", "action": action, "subject": subject, "object": other}
    return row | {"reason": None, "made_at": made_at}


def ids(result: Resolution) -> dict[tuple[str, str], str]:
    return {(r["document_id"], r["name"]): r["entity_id"] for r in result.assignment.to_pylist()}


def groups(result: Resolution) -> set[frozenset[tuple[str, str]]]:
    found = defaultdict(set)
    for mention, entity_id in ids(result).items():
        found[entity_id].add(mention)
    return {frozenset(group) for group in found.values()}
