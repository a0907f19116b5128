"""Summaries of a job's result: a run's numbers for the terminal, Markdown for Prefect."""

from collections.abc import Iterator, Sequence
from typing import Any

from tasks.run import RunReport


def counted(run: RunReport) -> Iterator[tuple[str, str, int]]:
    """Yield stage, name and value of every count above zero."""
    for group, counts in run.counts.items():
        for what, number in counts.items():
            if number:
                yield group, what.replace("_", " "), number


YIELD_COLUMNS = ("source", "language", "sentences", "with a statement", "with a fact")


def yields(run: RunReport) -> Iterator[tuple[str, str, int, str, str]]:
    """Yield for every source and language the shares of sentences with a statement or a fact.

    Models extract facts but no statements, so of their sources the first share tells nothing.
    """
    for row in run.yields:
        stated, known = (row[w] / row["sentences"] for w in ("with_statement", "with_fact"))
        share = "–" if known and not stated else f"{stated:.0%}"
        yield row["source"], row["language"], row["sentences"], share, f"{known:.0%}"


def headline(run: RunReport) -> str:
    """Return the run's outcome in one sentence."""
    if run.published:
        return f"Edition {run.edition} is published."
    if run.outcome == "unchanged":
        return "Nothing has changed, so no new edition was needed."
    return f"The run ended with the outcome {run.outcome}."


def run_as_markdown(run: RunReport) -> str:
    """Return the run as Markdown: a sentence, the counts, the times, the notes."""
    lines = [f"# Run {run.run_id}", "", headline(run), ""]
    lines += ["| stage | what | number |", "| --- | --- | ---: |"]
    lines += [f"| {stage} | {what} | {number} |" for stage, what, number in counted(run)]
    if run.yields:
        lines += ["", table_as_markdown(YIELD_COLUMNS, list(yields(run)))]
    if "calls" in run.counts:
        lines += ["", "Cost: unknown." if run.cost is None else f"Cost: {run.cost:.4f}."]
    lines += ["", "| stage | seconds |", "| --- | ---: |"]
    lines += [f"| {stage} | {seconds:.1f} |" for stage, seconds in run.seconds.items()]
    if run.notes:
        lines += ["", *(f"* {note}" for note in run.notes)]
    return "\n".join(lines) + "\n"


def figures_as_markdown(figures: dict[str, Any], names: Sequence[str] | None = None) -> str:
    """Return metrics of a system and its baselines as a table, without the intervals."""
    if names is None:
        names = [name for name in figures["metrics"] if not name.endswith(("_low", "_high"))]
    rows = [
        [system["system"], system["items"], *(system["metrics"].get(name, "") for name in names)]
        for system in (figures, *figures["baselines"])
    ]
    return table_as_markdown([figures["dataset"], "items", *names], rows)


def learned_as_markdown(learned: Sequence[dict[str, Any]]) -> str:
    """Return what was learned, with a table for each kind, such as planners and gates."""
    tables = []
    for kind in dict.fromkeys(item["learned"] for item in learned):
        items = [item for item in learned if item["learned"] == kind]
        names = [name for name in items[0] if name not in ("learned", "thresholds")]
        tables.append(table_as_markdown(names, [[item[name] for name in names] for item in items]))
    return "\n".join(tables)


def table_as_markdown(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table with these columns."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (names, *rows)]
    lines.insert(1, "| --- " * len(names) + "|")
    return "\n".join([*lines, ""])
