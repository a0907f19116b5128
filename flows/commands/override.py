"""`almanac override`: records and lists people's corrections."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator

from flows import terminal
from flows.jobs import Call, Command, Runner, operand, option, switch
from flows.terminal import Shown
from schemas.errors import AlmanacError
from tasks.text.english_words import counted

if TYPE_CHECKING:
    from warehouse.editions import Edition
    from warehouse.home import Home

SHOWN_CHARS = 160  # of a fact
ENTITY = operand(
    "SUBJECT", "The entity's id, or its name if that is unique; `almanac show NAME` tells both."
)


class ListOverrides(Command):
    """List the corrections in force."""

    none_yet = "No corrections are in force."

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the corrections in force, with the words of rejected facts."""
        from warehouse.overrides import overrides_in_force

        rows = overrides_in_force(self.place)
        words = _rejected_facts(self.place, rows)
        return [{**row, "fact": words.get(row["subject"])} for row in rows]


class _Correction(Command):
    """A correction, which every later edition applies."""

    action: ClassVar[str]
    subject: str = ENTITY
    reason: str | None = option("WORDS", "The reason to record (none).", None)

    def check(self, edition: "Edition") -> None:
        """Raise UsageError if the correction makes no sense in the current edition."""

    def work(self, runner: Runner) -> dict[str, Any]:
        """Record the correction and return it."""
        from flows.home import edition_of
        from tasks.ingest.formats.cleaning import clean_line
        from warehouse.lease import lease
        from warehouse.overrides import make_override

        home, edition = self.place, edition_of(self.place, None)
        self.check(edition)
        stated = (getattr(self, "object", None), self.reason, getattr(self, "name", None))
        with lease(home.path, f"override {self.action}"):
            override = make_override(
                home,
                edition,
                self.action,
                self.subject,
                *(words and clean_line(words, len(words)) for words in stated),
                inverse=getattr(self, "inverse", None),
            )
        return override.model_dump(mode="json")

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the correction's id."""
        yield f"Noted as {result['override_id']}; the next refresh honours it."


class Merge(_Correction):
    """Merge an entity, SUBJECT, into another, OBJECT, which remains."""

    action = "merge"
    object: str = operand("OBJECT", "The entity that remains, by id or unique name.")
    name: str | None = option(
        "NAME", "The name of the merged entity (the one that most texts use).", None
    )

    def run(self, call: Call) -> int:
        """Show the two entities first, and warn if their kinds differ."""
        from flows.home import edition_of
        from warehouse.overrides import find_entity, portray

        edition = edition_of(self.place, None)
        both = [
            portray(edition, find_entity(edition, id_or_name))
            for id_or_name in (self.subject, self.object)
        ]
        if not call.json:
            terminal.print_shown(self._portraits(both))
        kinds = [entity["kind"] for entity in both]
        if kinds[0] != kinds[1] and not {None, "", "unknown"} & set(kinds):
            terminal.say(
                f"Warning: the kind of {both[0]['name']} is {kinds[0]}, that of {both[1]['name']} "
                f"is {kinds[1]}. If they are two, take the correction back with `almanac override "
                "withdraw ID`."
            )
        return super().run(call)

    def _portraits(self, both: list[dict[str, Any]]) -> Iterator[Shown]:
        for entity, role in zip(both, ("goes", "stays"), strict=True):
            yield (
                f"{entity['name']} ({entity['kind'] or 'kind unknown'}, {entity['entity_id']}), "
                f"which {role}: {counted(entity['facts'], 'fact')}"
            )
            for words in filter(None, [entity["description"], *entity["examples"]]):
                yield f"  {terminal.one_line(words)[:SHOWN_CHARS]}"
        if not self.name and both[0]["name"] != both[1]["name"]:
            yield "It will be called as most texts call it; --name chooses another name."


class Split(_Correction):
    """Split an entity in two."""

    action = "split"
    object: str = operand(
        "OBJECT", "The name, or the id of the document, that means the other entity."
    )

    def check(self, edition: "Edition") -> None:
        """Raise UsageError if nothing can be split off by this name or document."""
        from tasks.publish.resolve.overrides import check_split

        check_split(edition, self.subject, self.object)


class Reject(_Correction):
    """Reject a wrong fact."""

    action = "reject"
    subject: str = operand("SUBJECT", "The fact's id.")


class Exclude(_Correction):
    """Leave a document, or all that a run read, out of later editions."""

    action = "exclude"
    subject: str = operand(
        "SUBJECT", "The document's or the run's id, from the tables `documents` or `runs`."
    )


class NameRelation(_Correction):
    """Say which relation a wording means."""

    action = "relation"
    subject: str = operand(
        "SUBJECT", "The relation as texts state it; all tenses and modifiers of it follow."
    )
    object: str | None = option(
        "RELATION", "The relation it means (none: give --apart).", None, name="--as"
    )
    apart: bool = switch("Keep it as a separate relation.")
    inverse: bool = switch("The wording says it from the tail to the head.")

    @model_validator(mode="after")
    def _says_what(self) -> "NameRelation":
        """Refuse a call that says neither or both."""
        if self.apart == (self.object is not None):
            raise ValueError("give either --as RELATION or --apart")
        return self

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the correction's id, how facts will read, and whether the relation is a new one."""
        from flows.home import edition_of
        from schemas import Relation
        from tasks.text.relations.vocabulary import Meaning, known_relations, meaning_of

        yield from super().shown(result)
        if self.object is None:
            return
        known: dict[str, Meaning] = {}
        for row in edition_of(self.place, None).table(Relation).to_pylist():
            known |= dict.fromkeys(row["inverse_wordings"], Meaning(row["relation"], True))
            known |= dict.fromkeys(row["wordings"], Meaning(row["relation"], False))
            known.setdefault(row["relation"], Meaning(row["relation"], False))
        new = Meaning(self.object, False)
        meant = known.get(self.object) or meaning_of(self.object) or new
        head, tail = ("Y", "X") if meant.turned != self.inverse else ("X", "Y")
        yield f"“X {self.subject} Y” will be “{head} {meant.name} {tail}”."
        if meant.name not in {*known, *known_relations()}:
            yield f"No relation is called {meant.name!r} yet, so it will be a new one."


class Withdraw(_Correction):
    """Withdraw a correction."""

    action = "withdraw"
    subject: str = operand("SUBJECT", "The correction's id.")


def _rejected_facts(home: "Home", rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the words of rejected facts by id; only editions before the rejection have them."""
    from tasks.audit import find_facts

    wanted = {row["subject"] for row in rows if row["action"] == "reject"}
    words: dict[str, str] = {}
    for edition in reversed(home.editions.all()):
        missing = wanted - words.keys()
        with suppress(AlmanacError):  # a damaged edition, or one of an older version
            if missing:
                words |= {fact["fact_id"]: fact["fact"] for fact in find_facts(edition, missing)}
    return words


COMMAND = {
    "list": ListOverrides,
    "merge": Merge,
    "split": Split,
    "reject": Reject,
    "exclude": Exclude,
    "relation": NameRelation,
    "withdraw": Withdraw,
}
