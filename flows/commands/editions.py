"""`almanac editions`: lists, compares, publishes and prunes editions; it starts no server."""

import argparse
from typing import Any

from flows import terminal
from flows.home import home_of, reading_settings_of
from schemas import Document, Entity, Triple
from schemas.errors import DamageError, UsageError
from warehouse.comparison import compare
from warehouse.editions import Edition, Editions
from warehouse.home import Home
from warehouse.lease import lease

SHOWN = 10  # differences of one kind
ALL = 1_000_000
LONGEST_LINE = 300  # characters


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action."""
    action = {
        "list": _list,
        "diff": _diff,
        "rollback": _rollback,
        "publish": _publish,
        "prune": _prune,
    }[arguments.action]
    home = home_of(arguments)
    if arguments.action != "list" and not home.exists:
        raise UsageError(f"There is no almanac in {home.path}; name its folder with --home.")
    action(home, arguments)
    return 0


def _list(home: Home, arguments: argparse.Namespace) -> None:
    editions = home.editions
    rows = [_described(editions, edition) for edition in editions.all()]
    if arguments.json:
        terminal.show_json(rows)
        return
    if not rows:
        terminal.say("There are no editions yet.")
        return
    terminal.table(list(rows[0]), [list(row.values()) for row in rows])
    hold = editions.pointer()["hold"]
    if hold:
        terminal.show(
            f"Publishing has been held since {hold['since']}: {hold['reason']}. "
            "`almanac editions publish` ends that."
        )


def _described(editions: Editions, edition: Edition) -> dict[str, Any]:
    return {
        "edition": edition.id,
        "state": editions.state(edition),
        "built_at": edition.manifest["built_at"],
        "parent": edition.manifest["parent"],
        "documents": edition.rows(Document),
        "entities": edition.rows(Entity),
        "triples": edition.rows(Triple),
    }


def _diff(home: Home, arguments: argparse.Namespace) -> None:
    old, new = _two_editions(home, arguments)
    with old.pinned(), new.pinned():
        differences = compare(old, new, examples=ALL if arguments.json else SHOWN)
    if arguments.json:
        tables = [difference.as_dict() for difference in differences]
        terminal.show_json({"old": old.id, "new": new.id, "tables": tables})
        return
    terminal.show(f"From {old.id} to {new.id}:")
    terminal.table(
        ["table", "before", "after", "changed", "added", "gone"],
        [
            [d.table, d.before, d.after, d.changed_in_all]
            + [d.added_in_all - d.changed_in_all, d.gone_in_all - d.changed_in_all]
            for d in differences
        ],
    )
    for d in differences:
        _show_examples(d.table, "changed", d.changed, d.changed_in_all)
        _show_examples(d.table, "added", d.added, d.added_in_all - d.changed_in_all)
        _show_examples(d.table, "gone", d.gone, d.gone_in_all - d.changed_in_all)


def _show_examples(table: str, what: str, texts: list[str], in_all: int) -> None:
    if not texts:
        return
    terminal.show(f"\n{table}, {what}:")
    for text in texts:
        terminal.show(f"  {terminal.one_line(text)[:LONGEST_LINE]}")
    if in_all > len(texts):
        terminal.show(f"  … and {in_all - len(texts)} more (--json lists all)")


def _two_editions(home: Home, arguments: argparse.Namespace) -> tuple[Edition, Edition]:
    """Return the editions to compare: by default the newest one and the one it was made from."""
    editions = home.editions.all()
    if not editions:
        raise UsageError("There are no editions to compare yet.")
    new = home.editions.open(arguments.new) if arguments.new else editions[-1]
    if arguments.old:
        return home.editions.open(arguments.old), new
    if not new.manifest["parent"]:
        raise UsageError(f"Edition {new.id} is the first, so there is nothing to compare it with.")
    return home.editions.open(new.manifest["parent"]), new


def _rollback(home: Home, arguments: argparse.Namespace) -> None:
    with lease(home.path, "editions rollback"):
        edition = home.editions.open(arguments.edition) if arguments.edition else _one_before(home)
        _refuse_if_damaged(edition)
        home.editions.roll_back(edition, hold=arguments.reason)
    _say_current(
        home,
        arguments,
        f"Edition {edition.id} is current. Refreshes build new editions but do not publish them "
        "until `almanac editions publish`.",
    )


def _one_before(home: Home) -> Edition:
    edition = home.editions.one_before()
    if edition is None:
        raise UsageError("There is no earlier published edition to go back to.")
    return edition


def _refuse_if_damaged(edition: Edition) -> None:
    """Raise DamageError for an edition that nobody could read if it were current."""
    damaged = edition.damaged()
    if damaged:
        raise DamageError(
            f"Edition {edition.id} stays as it is, because it is damaged: {', '.join(damaged)}. "
            "Name another one of `almanac editions list`, or refresh to build a new edition."
        )


def _publish(home: Home, arguments: argparse.Namespace) -> None:
    with lease(home.path, "editions publish"):
        editions = home.editions.all()
        if not editions:
            raise UsageError("There are no editions to publish yet.")
        edition = home.editions.open(arguments.edition) if arguments.edition else editions[-1]
        _refuse_if_damaged(edition)
        home.editions.publish(edition)
        home.editions.release()
    _say_current(home, arguments, f"Edition {edition.id} is current; refreshes publish again.")


def _prune(home: Home, arguments: argparse.Namespace) -> None:
    settings = reading_settings_of(home).publish
    keep, days = arguments.keep, arguments.days
    if keep is None and days is None:
        keep, days = settings.keep_editions, settings.keep_days
    with lease(home.path, "editions prune"):
        # Where only one limit is given, it decides alone.
        removed = home.editions.prune(
            keep=1 if keep is None else keep, days=days or 0.0, dry_run=arguments.dry_run
        )
    ids = [edition.id for edition in removed]
    if arguments.json:
        terminal.show_json({"removed": ids, "dry_run": arguments.dry_run})
    else:
        would = "would be removed" if arguments.dry_run else "removed"
        terminal.show(f"{len(ids)} {would}" + (f": {', '.join(ids)}" if ids else "."))


def _say_current(home: Home, arguments: argparse.Namespace, words: str) -> None:
    if arguments.json:
        pointer = home.editions.pointer()
        terminal.show_json({"edition": pointer["edition"], "hold": pointer["hold"]})
    else:
        terminal.show(words)
