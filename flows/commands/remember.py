"""`almanac remember`: keeps a text or a file, and extracts from it at once."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.jobs import OWN_LABELS, Configured, Runner, operand, switch
from flows.terminal import Shown, one_line
from schemas.errors import UsageError
from schemas.labels import GivenLabels

if TYPE_CHECKING:
    from schemas.settings import Settings
    from tasks.remember import Note


class Remember(Configured):
    """Add a text or a file; it can be asked about at once."""

    said: str = operand("TEXT", "A text, a file, or - for standard input.")
    sensitive: bool = switch("Never send it to a remote model.")
    labels: GivenLabels = OWN_LABELS

    def work(self, runner: Runner) -> dict[str, Any]:
        """Keep the text or the file, extract from it, publish, and return the facts found."""
        from tasks.extract.batches import check_engine
        from tasks.remember import remember

        home, settings = self.place, self.chosen_settings
        check_engine(home, settings.engine)
        note = self._keep(settings)
        remembered = remember(home, note, settings, runner.report)
        run = remembered.run
        return {
            "source": "remember",
            "uri": note.uri,
            "new": note.new,
            "document_id": remembered.document_id,
            "facts": remembered.facts,
            "run_id": run.run_id,
            "outcome": run.outcome,
            "published": run.published,
            "edition": remembered.edition,
            "notes": run.notes,
            "seconds": round(sum(run.seconds.values()), 3),
        }

    def _keep(self, settings: "Settings") -> "Note":
        from tasks.remember import keep_file, keep_text, looks_like_a_path

        text, home = self.said, self.place
        marks = [*self.labels, *(["sensitive"] if self.sensitive else [])]
        if text == "-":
            return keep_text(home, sys.stdin.read(), settings, marks)
        try:
            path = Path(text).expanduser()
            exists = bool(text) and path.exists()
        except (OSError, RuntimeError, ValueError):
            exists = False  # too long for a file name, no such user, or a NUL: it is a text
        if exists:
            return keep_file(home, path, settings, marks)
        if looks_like_a_path(text):
            raise UsageError(f"There is no file {text}. A text of several words needs no file.")
        return keep_text(home, text, settings, marks)

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the facts that were found."""
        if not result["new"]:
            yield "That was known already; it is kept once."
        for fact in result["facts"]:
            yield "  " + " — ".join(one_line(fact[part]) for part in ("head", "relation", "tail"))
        if not result["facts"]:
            yield "Remembered. No facts were found in it, but its text can be searched."
        yield from (f"Note: {note}." for note in result["notes"])
        if result["published"]:
            yield f"Edition {result['edition']} is published; ask away."


COMMAND = Remember
