"""`almanac search`: finds the passages and notes that match some words best."""

import argparse

from flows import terminal
from flows.home import edition_of, home_of, reading_settings_of

QUOTED_CHARS = 400


def run(arguments: argparse.Namespace) -> int:
    """Show the best passages and notes with their sources."""
    from tasks.search import search

    home = home_of(arguments)
    settings = reading_settings_of(home).engine
    with edition_of(home, arguments.edition).pinned() as edition:
        hits = search(edition, " ".join(arguments.words), settings, limit=arguments.limit)
    if arguments.json:
        terminal.show_json(hits)
        return 0
    for hit in hits:
        terminal.show(f"{hit['score']:.2f}  {hit['kind']}: {terminal.one_line(hit['title'])}")
        terminal.show(f"      {terminal.quoted(hit['text'], QUOTED_CHARS)}")
        place = terminal.one_line(hit["uri"] or hit["document_id"] or "")
        terminal.show(f"      — {place}, characters {hit['span_start']} to {hit['span_end']}")
    if not hits:
        terminal.show("Nothing in the edition matches these words.")
    return 0
