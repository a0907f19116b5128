"""`almanac editions`: lists, compares, publishes and prunes editions; it starts no server."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flows import terminal
from flows.jobs import Call, Command, Configured, Runner, operand, option, switch
from flows.summary import rows_of
from flows.terminal import Shown
from schemas.errors import DamageError, UsageError

if TYPE_CHECKING:
    from warehouse.editions import Edition
    from warehouse.home import Home

SHOWN = 10  # differences of one kind
ALL = 1_000_000
LONGEST_LINE = 300  # characters


class ListEditions(Command):
    """List the editions."""

    none_yet = "There are no editions yet."

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the editions, the oldest first."""
        from schemas import Document, Entity, Triple

        editions = self.place.editions
        return [
            {
                "edition": edition.id,
                "state": editions.state(edition),
                "built_at": edition.manifest["built_at"],
                "parent": edition.manifest["parent"],
                "documents": edition.rows(Document),
                "entities": edition.rows(Entity),
                "triples": edition.rows(Triple),
            }
            for edition in editions.all()
        ]

    def shown(self, result: list[dict[str, Any]]) -> Iterator[Shown]:
        """Yield a table, and since when publishing is held."""
        yield from super().shown(result)
        hold = self.place.editions.pointer()["hold"] if result else None
        if hold:
            yield (
                f"Publishing has been held since {hold['since']}: {hold['reason']}. "
                "`almanac editions publish` ends that."
            )


class _OfAnAlmanac(Configured):
    """An action that needs an almanac."""

    @property
    def present(self) -> "Home":
        """The home; raises UsageError if there is none."""
        if not self.place.exists:
            raise UsageError(
                f"There is no almanac in {self.place.address}; name its folder with --home."
            )
        return self.place


class DiffEditions(_OfAnAlmanac):
    """Show what differs between two editions."""

    old: str | None = operand("OLD", "An edition (the new one's parent).", None)
    new: str | None = operand("NEW", "A later edition (the newest).", None)

    def run(self, call: Call) -> int:
        """Compare and print; people see only some examples of each difference."""
        self.print(self._compared(ALL if call.json else SHOWN), call)
        return 0

    def work(self, runner: Runner) -> dict[str, Any]:
        """Return the differences of each table, with all of their examples."""
        return self._compared(ALL)

    def _compared(self, examples: int) -> dict[str, Any]:
        from warehouse.comparison import compare

        old, new = self._editions()
        with old.pinned(), new.pinned():
            tables = [difference.as_dict() for difference in compare(old, new, examples)]
        return {"old": old.id, "new": new.id, "tables": tables}

    def _editions(self) -> "tuple[Edition, Edition]":
        """Return the editions to compare: by default the newest and the one it was made from."""
        editions = self.present.editions
        known = editions.all()
        if not known:
            raise UsageError("There are no editions to compare yet.")
        new = editions.open(self.new) if self.new else known[-1]
        if self.old:
            return editions.open(self.old), new
        if not new.manifest["parent"]:
            raise UsageError(
                f"Edition {new.id} is the first, so there is nothing to compare it with. Look at "
                f"it with `almanac sql QUERY --edition {new.id}`."
            )
        return editions.open(new.manifest["parent"]), new

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield how many rows differ, and examples; a changed fact is neither added nor gone."""
        yield f"From {result['old']} to {result['new']}:"
        tables = [
            {**d, "added": d["added"] - d["changed"], "gone": d["gone"] - d["changed"]}
            for d in result["tables"]
        ]
        yield rows_of(("table", "before", "after", "changed", "added", "gone"), tables)
        for table in tables:
            for what in ("changed", "added", "gone"):
                texts = table[f"examples_{what}"]
                if texts:
                    yield f"\n{table['table']}, {what}:"
                yield from (f"  {terminal.one_line(text)[:LONGEST_LINE]}" for text in texts)
                if texts and table[what] > len(texts):
                    yield f"  … and {table[what] - len(texts)} more (--json lists all)"


class _Move(_OfAnAlmanac):
    """A change of the edition that is current."""

    edition: str | None = operand("ID", "An edition (the newest).", None)

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield which edition is current, and whether refreshes publish."""
        yield f"Edition {result['edition']} is current" + (
            ". Refreshes build new editions but do not publish them until `almanac editions "
            "publish`."
            if result["hold"]
            else "; refreshes publish new ones."
        )

    def moved(self) -> dict[str, Any]:
        """Return which edition is current now, and why publishing is held if it is."""
        pointer = self.present.editions.pointer()
        return {"edition": pointer["edition"], "hold": pointer["hold"]}


class RollBack(_Move):
    """Make an earlier edition current and stop publishing new ones."""

    edition: str | None = operand("ID", "An earlier edition (the previous one).", None)
    reason: str = option("WORDS", "The reason to record.", "rolled back")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Make the edition current and hold publishing."""
        from warehouse.lease import lease

        editions = self.present.editions
        with lease(self.place.path, "editions rollback"):
            edition = editions.open(self.edition) if self.edition else editions.one_before()
            if edition is None:
                raise UsageError("There is no earlier published edition to go back to.")
            _refuse_if_damaged(edition)
            editions.roll_back(edition, hold=self.reason)
        return self.moved()


class Publish(_Move):
    """Make an edition current that was held back, or end a rollback's hold."""

    def work(self, runner: Runner) -> dict[str, Any]:
        """Make the edition current and end a hold."""
        from warehouse.lease import lease

        editions = self.present.editions
        with lease(self.place.path, "editions publish"):
            known = editions.all()
            if not known:
                raise UsageError("There are no editions to publish yet.")
            edition = editions.open(self.edition) if self.edition else known[-1]
            _refuse_if_damaged(edition)
            editions.publish(edition)
            editions.release()
        return self.moved()


def _refuse_if_damaged(edition: "Edition") -> None:
    """Raise DamageError for an edition that nobody could read if it were current."""
    damaged = edition.damaged()
    if damaged:
        raise DamageError(
            f"Edition {edition.id} stays as it is, because it is damaged: {', '.join(damaged)}. "
            "Name another one of `almanac editions list`, or refresh to build a new edition."
        )


class Prune(_OfAnAlmanac):
    """Remove old editions."""

    keep: int | None = option(
        "N", "Keep the last N editions (publish.keep_editions in settings.toml).", None, ge=1
    )
    days: float | None = option(
        "DAYS", "Keep editions younger than this (publish.keep_days in settings.toml).", None, ge=0
    )
    dry_run: bool = switch("Only list what would be removed.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Remove the editions and return their ids."""
        from flows.home import reading_settings_of
        from warehouse.lease import lease

        home, keep, days = self.present, self.keep, self.days
        settings = (self.settings or reading_settings_of(home)).publish
        if keep is None and days is None:
            keep, days = settings.keep_editions, settings.keep_days
        with lease(home.path, "editions prune"):
            # Where only one limit is given, it decides alone.
            removed = home.editions.prune(
                keep=1 if keep is None else keep, days=days or 0.0, dry_run=self.dry_run
            )
        return {"removed": [edition.id for edition in removed], "dry_run": self.dry_run}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the ids of what is or would be removed."""
        ids, would = result["removed"], "would be " if self.dry_run else ""
        yield f"{len(ids)} {would}removed" + (f": {', '.join(ids)}" if ids else ".")


COMMAND = {
    "list": ListEditions,
    "diff": DiffEditions,
    "rollback": RollBack,
    "publish": Publish,
    "prune": Prune,
}
