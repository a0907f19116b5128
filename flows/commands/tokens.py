"""`almanac tokens`: makes, lists and removes the tokens of `almanac serve`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from flows.jobs import Command, Runner, operand, option
from flows.terminal import Shown

if TYPE_CHECKING:
    from tasks.service.tokens import Tokens


class _OfTokens(Command):
    @property
    def tokens(self) -> "Tokens":
        """The home's tokens."""
        from tasks.service.tokens import TOKENS_FILE, Tokens

        return Tokens(self.place.path / TOKENS_FILE)


class ListTokens(_OfTokens):
    """List the tokens: names, scopes and labels."""

    none_yet = "There are no tokens yet; `almanac tokens add NAME` makes one."

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the tokens, without their hashes."""
        return [
            {
                "name": token.name,
                "scopes": ", ".join(token.scopes),
                "labels": ", ".join(token.labels),
                "made_at": token.made_at.isoformat(timespec="seconds"),
            }
            for token in self.tokens.all()
        ]


class AddToken(_OfTokens):
    """Make a token and print it; only its hash is kept."""

    name: str = operand("NAME", "Whose it is.", min_length=1, max_length=100)
    scope: list[Literal["read", "feedback", "write"]] = option(
        None,
        "read (see and ask), feedback (judge) or write (correct); may be repeated (read).",
        ["read"],
    )
    label: list[str] = option(
        "LABEL", "A label whose documents it may see; may be repeated (none).", []
    )

    def work(self, runner: Runner) -> dict[str, Any]:
        """Store the token's hash and return the token; raise UsageError for an unknown label."""
        from flows.home import edition_of
        from tasks.publish.for_reader import check_labels
        from warehouse.labels import known_labels

        scopes, labels = ("read", *self.scope), [label.casefold() for label in self.label]
        if labels:
            check_labels(labels, known_labels(self.place, edition_of(self.place, None)))
        return {"name": self.name, "token": self.tokens.add(self.name, scopes, labels)}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the token."""
        yield result["token"]


class RemoveToken(_OfTokens):
    """Remove a token; a running service refuses it at once."""

    name: str = operand("NAME", "Whose it is.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Remove the token."""
        self.tokens.remove(self.name)
        return {"removed": self.name}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield that it is gone."""
        yield f"The token {result['removed']} is removed."


COMMAND = {"list": ListTokens, "add": AddToken, "remove": RemoveToken}
