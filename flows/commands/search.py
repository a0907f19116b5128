"""`almanac search`: finds the passages and notes that match some words best."""

from collections.abc import Iterator
from typing import Any

from flows import terminal
from flows.jobs import EDITION, READER, WHERE, Configured, Runner, operand, option
from schemas.documents import cited_as
from schemas.labels import HeldLabels, labels_of_reader

QUOTED_CHARS = 400


class Search(Configured):
    """Find passages and notes by words and meaning."""

    words: list[str] = operand("WORDS", "What to search for.")
    limit: int = option("N", "Show N passages and N notes.", 5, ge=1)
    where: str | None = WHERE
    reader: HeldLabels = READER
    edition: str | None = EDITION

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the best passages and notes with their sources."""
        from flows.home import edition_of, reading_settings_of
        from tasks.retrieval.search_edition import search

        settings = self.settings or reading_settings_of(self.place)
        words = " ".join(self.words)
        labels = labels_of_reader(self.reader)
        with edition_of(self.place, self.edition, labels=labels).pinned() as edition:
            return search(edition, words, settings.engine, limit=self.limit, where=self.where)

    def shown(self, result: list[dict[str, Any]]) -> Iterator[terminal.Shown]:
        """Yield each hit in three lines."""
        for hit in result:
            yield f"{hit['score']:.2f}  {hit['kind']}: {terminal.one_line(hit['title'])}"
            yield f"      {terminal.quoted(hit['text'], QUOTED_CHARS)}"
            place = terminal.one_line(
                cited_as(hit["uri"], hit["remembered"]) or hit["document_id"] or ""
            )
            yield f"      — {place}, characters {hit['span_start']} to {hit['span_end']}"
        if not result:
            yield "Nothing in the edition matches these words."


COMMAND = Search
