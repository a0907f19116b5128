"""Compact a home: merge the many small parts of its journal and of its live records."""

import time
from typing import Any

from schemas import LIVE
from schemas.errors import AlmanacError
from schemas.observations import JOURNAL
from tasks.progress import Report, silent
from warehouse.compaction import compact, extent, is_due
from warehouse.home import Home


def compact_home(home: Home, files: int = 1, report: Report = silent) -> list[dict[str, Any]]:
    """Merge the parts of each table that will have so many files less; say what that changed.

    Returns a row for the journal and one for the live records: parts and bytes before and after,
    and the seconds. Raises DamageError if a part is damaged, BusyError beside another compaction.
    """
    done = []
    for journal, rows in ((home.journal, JOURNAL), (home.live, LIVE)):
        before, started = extent(journal), time.perf_counter()
        compact(journal, rows, files)
        after, seconds = extent(journal), time.perf_counter() - started
        done.append(
            {
                "records": journal.folder.name,
                "parts_before": before.files,
                "parts_after": after.files,
                "bytes_before": before.bytes,
                "bytes_after": after.bytes,
                "seconds": round(seconds, 3),
            }
        )
        report("compact", len(done), 2)
    return done


def compact_if_due(home: Home, files: int) -> tuple[dict[str, int], list[str]]:
    """Compact after a run, if a table would have so many files less.

    Returns the parts before and after, and a note if it failed, without harm to what the run did.
    """
    if not (is_due(home.journal, JOURNAL, files) or is_due(home.live, LIVE, files)):
        return {}, []
    try:
        done = compact_home(home, files)
    except (AlmanacError, OSError) as error:
        return {}, [f"the journal was not compacted: {error}"]
    counts = {name: sum(row[f"parts_{name}"] for row in done) for name in ("before", "after")}
    return counts, []
