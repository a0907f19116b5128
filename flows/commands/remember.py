"""`almanac remember`: adds a text or a file, which can be asked about at once."""

import argparse
import sys
from pathlib import Path
from typing import Any

from flows import progress, terminal
from flows.home import home_of, settings_of
from flows.model_options import check_model
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.remember import Note, Remembered, keep_file, keep_text, looks_like_a_path, remember
from warehouse.home import Home


def run(arguments: argparse.Namespace) -> int:
    """Keep the text or the file, extract from it, publish, and show the facts found."""
    home = home_of(arguments)
    settings = settings_of(home)
    check_model(home, settings.engine)
    note = _keep(home, arguments.said, settings)
    with progress.shown() as report:
        remembered = remember(
            home,
            note,
            settings,
            sensitive=arguments.sensitive,
            wait_seconds=arguments.wait,
            report=report,
        )
    if arguments.json:
        terminal.show_json(as_json(remembered))
    else:
        _show(remembered)
    return 0


def _keep(home: Home, text: str, settings: Settings) -> Note:
    if text == "-":
        return keep_text(home, sys.stdin.read(), settings)
    try:
        path = Path(text).expanduser()
        exists = bool(text) and path.exists()
    except (OSError, RuntimeError, ValueError):
        exists = False  # too long for a file name, no such user, or a NUL: it is a text
    if exists:
        return keep_file(home, path, settings)
    if looks_like_a_path(text):
        raise UsageError(f"There is no file {text}. A text of several words needs no file.")
    return keep_text(home, text, settings)


def as_json(remembered: Remembered) -> dict[str, Any]:
    """Return what `--json` prints."""
    run = remembered.run
    return {
        "source": "remember",
        "uri": remembered.note.uri,
        "new": remembered.note.new,
        "document_id": remembered.document_id,
        "facts": remembered.facts,
        "run_id": run.run_id,
        "outcome": run.outcome,
        "edition": remembered.edition,
        "notes": run.notes,
        "seconds": round(sum(run.seconds.values()), 3),
    }


def _show(remembered: Remembered) -> None:
    if not remembered.note.new:
        terminal.show("That was known already; it is kept once.")
    for fact in remembered.facts:
        words = " — ".join(terminal.one_line(fact[part]) for part in ("head", "relation", "tail"))
        terminal.show(f"  {words}")
    if not remembered.facts:
        terminal.show("Remembered. No facts were found in it, but its text can be searched.")
    for note in remembered.run.notes:
        terminal.show(f"Note: {note}.")
    if remembered.run.published:
        terminal.show(f"Edition {remembered.run.edition} is published; ask away.")
