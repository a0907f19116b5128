"""`almanac override`: records and lists people's corrections."""

import argparse
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pyarrow.compute as pc

from flows import terminal
from flows.home import edition_of, home_of
from schemas.documents import Document
from schemas.errors import AlmanacError, UsageError
from schemas.knowledge import Alias
from tasks.audit import find_facts
from tasks.text.names import normalise_name
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.lease import lease
from warehouse.overrides import find_entity, make_override, overrides_in_force, portray

SHOWN_CHARS = 160  # of a fact
SHOWN_NAMES = 10


def run(arguments: argparse.Namespace) -> int:
    """Journal a correction, or list those in force."""
    home = home_of(arguments)
    if arguments.action == "list":
        rows = overrides_in_force(home)
        if arguments.json:
            terminal.show_json(rows)
        elif rows:
            words = _rejected_facts(home, rows)
            shown = [[*row.values(), words.get(row["subject"])] for row in rows]
            terminal.table([*rows[0], "fact"], shown)
        else:
            terminal.say("No corrections are in force.")
        return 0
    edition = edition_of(home, None)
    if arguments.action == "merge":
        _show_both(edition, arguments)
    if arguments.action == "split":
        _check_split(edition, arguments.subject, arguments.object)
    with lease(home.path, f"override {arguments.action}"):
        override = make_override(
            home,
            edition,
            arguments.action,
            arguments.subject,
            getattr(arguments, "object", None),
            arguments.reason,
            getattr(arguments, "name", None),
            inverse=getattr(arguments, "inverse", None),
        )
    if arguments.json:
        terminal.show_json(override.model_dump(mode="json"))
    else:
        terminal.show(f"Noted as {override.override_id}; the next refresh honours it.")
    return 0


def _rejected_facts(home: Home, rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the words of rejected facts by id; only editions before the rejection have them."""
    wanted = {row["subject"] for row in rows if row["action"] == "reject"}
    words: dict[str, str] = {}
    for edition in reversed(home.editions.all()):
        missing = wanted - words.keys()
        with suppress(AlmanacError):  # a damaged edition, or one of an older version
            if missing:
                words |= {fact["fact_id"]: fact["fact"] for fact in find_facts(edition, missing)}
    return words


def _check_split(edition: Edition, subject: str, other: str) -> None:
    """Raise UsageError if nothing of the entity can be split off by this name or document."""
    entity_id = find_entity(edition, subject)
    aliases = edition.table(Alias)
    names = aliases.filter(pc.equal(aliases["entity_id"], entity_id))["alias"].to_pylist()
    documents = edition.table(Document)["document_id"]
    if normalise_name(other) in map(normalise_name, names):
        return
    if not pc.any(pc.equal(documents, other)).as_py():
        raise UsageError(
            f"{other!r} is no document's id and no name of this entity, whose names are: "
            f"{'; '.join(names[:SHOWN_NAMES])}."
        )


def _show_both(edition: Edition, arguments: argparse.Namespace) -> None:
    """Show the two entities to merge, and warn if their kinds differ."""
    both = [
        portray(edition, find_entity(edition, id_or_name))
        for id_or_name in (arguments.subject, arguments.object)
    ]
    if not arguments.json:
        for entity, role in zip(both, ("goes", "stays"), strict=True):
            terminal.show(
                f"{entity['name']} ({entity['kind'] or 'kind unknown'}, {entity['entity_id']}), "
                f"which {role}: {entity['facts']} facts"
            )
            for words in filter(None, [entity["description"], *entity["examples"]]):
                terminal.show(f"  {terminal.one_line(words)[:SHOWN_CHARS]}")
    kinds = [entity["kind"] for entity in both]
    if kinds[0] != kinds[1] and not {None, "", "unknown"} & set(kinds):
        terminal.say(
            f"Warning: {both[0]['name']} is a {kinds[0]} and {both[1]['name']} a {kinds[1]}. If "
            "they are two, take the correction back with `almanac override withdraw ID`."
        )
    if not arguments.json and not arguments.name and both[0]["name"] != both[1]["name"]:
        terminal.show("It will be called as most texts call it; --name chooses another name.")
