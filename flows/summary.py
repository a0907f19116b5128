"""Results in words and tables, the same for the terminal and for Prefect."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flows.terminal import Shown, Table

YIELD_COLUMNS = ("source", "language", "sentences", "with a statement", "with a fact")


def run_in_words(run: Mapping[str, Any]) -> Iterator[Shown]:
    """Yield a run's counts above zero, yields, times, cost, notes and outcome."""
    counts = counts_table(run["counts"])
    if counts.rows:
        yield counts
    if run["yields"]:
        yield Table(YIELD_COLUMNS, list(yields(run["yields"])))
    yield (
        "Time: "
        + ", ".join(f"{name} {spent:.1f} s" for name, spent in run["seconds"].items())
        + "."
    )
    if "calls" in run["counts"]:
        yield "Cost: unknown." if run["cost"] is None else f"Cost: {run['cost']:.4f}."
    yield from (f"Note: {note}." for note in run["notes"])
    if run["published"]:
        yield f"Edition {run['edition']} is published."
    elif run["outcome"] == "unchanged":
        yield "Nothing has changed, so no new edition was needed."
    else:
        yield f"The run ended with the outcome {run['outcome']}."


def counts_table(counts: Mapping[str, Mapping[str, int]]) -> Table:
    """Return what the stages of a run counted, without zeros."""
    rows = [
        [stage, what.replace("_", " "), number]
        for stage, counted in counts.items()
        for what, number in counted.items()
        if number
    ]
    return Table(["stage", "what", "number"], rows)


def yields(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, int, str, str]]:
    """Yield for every source and language the shares of sentences with a statement or a fact.

    Models extract facts but no statements, so of their sources the first share tells nothing.
    """
    for row in rows:
        stated, known = (row[w] / row["sentences"] for w in ("with_statement", "with_fact"))
        share = "–" if known and not stated else f"{stated:.0%}"
        yield row["source"], row["language"], row["sentences"], share, f"{known:.0%}"


def rows_of(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of some columns of rows."""
    return Table(columns, [[row[column] for column in columns] for row in rows])
