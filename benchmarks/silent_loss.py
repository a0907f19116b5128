"""What is lost when replies are cut short or calls fail: nothing, and every repair is counted.

    python -m benchmarks.silent_loss [--documents 40] [--villages 7]

The faults are those that rivals were measured with: a fifth of the first replies is truncated, a
tenth is a 429 and a twentieth a 500. Tables are compared row by row with those of a run without
faults, kept replies with its replies. Then endpoints that never answer three requests in ten well:
what they did not answer is rejected with its reason, and the next refresh asks for that alone.
"""

import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.command import parser_of, report, run_command
from benchmarks.crash import rows_of
from benchmarks.model_run import KEY, model_settings
from benchmarks.standing_endpoint import standing
from benchmarks.villages import write_corpus
from schemas.observations import ModelReply
from schemas.operations import Change, ModelCall, Rejection
from tasks.refresh import refresh
from warehouse.home import Home

MIXTURES: dict[str, list[tuple[str, float]]] = {
    "truncated_20_percent": [("body_truncated_length", 0.2)],
    "truncated_throttled_failing": [
        ("body_truncated_length", 0.2),
        ("h429_after_2", 0.1),
        ("h500", 0.05),
    ],
}


def replies_of(home: Home) -> dict[str, str]:
    """Return the replies that a home keeps, by request."""
    table = home.journal.table(ModelReply)
    return dict(zip(table["request_sha"].to_pylist(), table["reply"].to_pylist(), strict=True))


def lost(home: Home, clean: Home) -> dict[str, int]:
    """Return the differences from the undisturbed home, whatever their cause."""
    wanted, found = rows_of(clean), rows_of(home)
    del wanted[Change.table]
    kept = replies_of(clean)
    return {
        "rows": sum(rows.total() for rows in wanted.values()),
        "rows_lost": sum((rows - found[table]).total() for table, rows in wanted.items()),
        "rows_added": sum((found[table] - rows).total() for table, rows in wanted.items()),
        "bad_replies_kept": sum(kept.get(sha, r) != r for sha, r in replies_of(home).items()),
    }


def outcomes(home: Home) -> dict[str, int]:
    """Return how the calls of a home ended."""
    return dict(Counter(home.live.table(ModelCall)["outcome"].to_pylist()))


def one_mixture(
    folder: Path, source: Path, clean: Home, mixture: list[tuple[str, float]]
) -> dict[str, Any]:
    """Refresh against an endpoint with these faults on first tries; return what was lost."""
    home = Home(folder / "home")
    with standing(folder / "endpoint", latency=0.02, faults=mixture) as endpoint:
        run = refresh(home, [str(source)], model_settings(endpoint.base_url, 16))
        calls = endpoint.calls(0)
    return {
        **lost(home, clean),
        "faults_served": dict(Counter(call.fault for call in calls if call.fault)),
        "calls_at_the_endpoint": len(calls),
        "calls_noted": len(home.live.table(ModelCall)),
        "outcomes": outcomes(home),
        "rejected": run.counts["extraction"].get("failed", 0),
    }


def healed(folder: Path, source: Path, clean: Home, fault: str) -> dict[str, Any]:
    """Refresh where some requests are never answered well, then where all are."""
    home = Home(folder / "home")
    with standing(folder / "bad", faults=[(f"{fault}!", 0.3)]) as endpoint:
        run = refresh(home, [str(source)], model_settings(endpoint.base_url, 16))
    meanwhile, reasons = lost(home, clean), home.live.table(Rejection)["reason"].to_pylist()
    with standing(folder / "good") as endpoint:
        again = refresh(home, [str(source)], model_settings(endpoint.base_url, 16))
        calls = len(endpoint.calls())
    return {
        "passages_rejected_first": run.counts["extraction"]["failed"],
        "rejections_noted": Counter(reasons)["extraction_failed"],
        "calls_cut_in_half": run.counts["calls"].get("calls cut in half", 0),
        "rows_missing_meanwhile": meanwhile["rows_lost"],
        "bad_replies_kept_meanwhile": meanwhile["bad_replies_kept"],
        "passages_asked_again": again.counts["extraction"]["passages"],
        "calls_of_the_next_refresh": calls,
        "passages_rejected_then": again.counts["extraction"].get("failed", 0),
        **lost(home, clean),
    }


def main() -> bool:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__, documents=40)
    parser.add_argument("--villages", type=int, default=7, help="made-up villages a document")
    arguments = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = KEY
    figures: dict[str, Any] = {"documents": arguments.documents}
    with tempfile.TemporaryDirectory(prefix="almanac-silent-loss-") as name:
        folder = Path(name)
        source, clean = folder / "corpus", Home(folder / "clean")
        write_corpus(source, arguments.documents, villages=arguments.villages)
        with standing(folder / "sound") as endpoint:
            refresh(clean, [str(source)], model_settings(endpoint.base_url, 16))
            figures["calls_without_faults"] = len(endpoint.calls())
        for name, mixture in MIXTURES.items():
            figures[name] = one_mixture(folder / name, source, clean, mixture)
        wrong_shape = healed(folder / "shape", source, clean, "body_wrong_schema")
        no_room = healed(folder / "room", source, clean, "body_truncated_length")
        # Asked in parts, with less around each, a model answers otherwise.
        no_room["rows_otherwise"] = no_room.pop("rows_lost")
        figures.update(never_of_the_right_shape=wrong_shape, never_enough_room=no_room)
    report("silent-loss", figures)
    parts = [part for part in figures.values() if isinstance(part, dict)]
    kept = ("rows_lost", "bad_replies_kept", "bad_replies_kept_meanwhile", "passages_rejected_then")
    return any(part.get(name, 0) for part in parts for name in kept)


if __name__ == "__main__":
    run_command(main)
