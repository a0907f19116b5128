"""`almanac override`: people's corrections."""

import argparse

from flows import terminal
from flows.home import edition_of, home_of
from warehouse.lease import lease
from warehouse.overrides import make_override, overrides_in_force


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
    with lease(home.path, f"override {arguments.action}"):
        override = make_override(
            home,
            edition,
            arguments.action,
            arguments.subject,
            getattr(arguments, "object", None),
            arguments.reason,
        )
    if arguments.json:
        terminal.show_json(override.model_dump(mode="json"))
    else:
        terminal.show(f"Noted as {override.override_id}; the next refresh honours it.")
    return 0
