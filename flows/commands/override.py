"""`almanac override`: records and lists people's corrections."""

import argparse

from flows import terminal
from flows.home import edition_of, home_of
from warehouse.editions import Edition
from warehouse.lease import lease
from warehouse.overrides import find_entity, make_override, overrides_in_force, portray

SHOWN_CHARS = 160  # of a fact


def run(arguments: argparse.Namespace) -> int:
    """Journal a correction, or list those in force."""
    home = home_of(arguments)
    if arguments.action == "list":
        rows = overrides_in_force(home)
        if arguments.json:
            terminal.show_json(rows)
        elif rows:
            terminal.table(list(rows[0]), [list(row.values()) for row in rows])
        else:
            terminal.say("No corrections are in force.")
        return 0
    edition = edition_of(home, None)
    if arguments.action == "merge":
        _show_both(edition, arguments)
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
    if all(kinds) and kinds[0] != kinds[1]:
        terminal.say(
            f"Warning: {both[0]['name']} is a {kinds[0]} and {both[1]['name']} a {kinds[1]}. If "
            "they are two, take the correction back with `almanac override withdraw ID`."
        )
    if not arguments.json and not arguments.name and both[0]["name"] != both[1]["name"]:
        terminal.show("It will be called as most texts call it; --name chooses another name.")
