"""Pages beside the facts: sources, runs, rejections, evaluations, and editions with differences."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

import schemas
from schemas.documents import NOTES, REMEMBERED, cited_as
from schemas.row import Row
from tasks.gates.crossfit import BUDGETS
from tasks.report.charts import bars, curves
from tasks.report.links import Links
from tasks.report.templates import PAGES, page
from tasks.text.english_words import counted
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.live import latest

MOST_ROWS = 500  # of a table
EXAMPLES = 5  # of rejections with the same reason
MOST_BARS = 12

_YIELDS = """
select source, language, documents, sentences, with_statement, with_fact
from yields where sentences > 0
order by with_fact / sentences, source, language
limit ?
"""
_POOREST = f"""
with found as (select document_id, count(*) as facts from mentions group by document_id)
select document_id, title, uri, {REMEMBERED}, words, coalesce(facts, 0) as facts
from documents left join found using (document_id)
where words > 0
order by coalesce(facts, 0) / words, words desc, document_id
limit ?
"""
# What changed, with the place that each line leads to.
PLACED_CHANGES = f"""
with placed as (
    select triple_id as fact_id, document_id, span_start from triples
    union all select description_id, document_id, span_start from descriptions
    union all select aspect_id, document_id, span_start from aspects
)
select c.kind, c.fact_kind, c.fact_id, c.cause, d.document_id, d.title, p.span_start, e.entity_id,
       if(c.fact_kind = 'document' and d.source = '{NOTES}', d.text[:200], c.text) as text
from changes c
left join placed p on c.kind <> 'gone' and p.fact_id = c.fact_id
left join documents d on d.document_id = coalesce(p.document_id, c.document_id, c.fact_id)
left join entities e on c.kind <> 'gone' and c.fact_kind = 'entity' and e.entity_id = c.fact_id
"""
_CHANGES = f"{PLACED_CHANGES} order by c.fact_kind, c.kind, c.text limit ?"
_POLICIES = ("graph", "reached", "reached_at_random", "questions")
_GATES = ("task", "gate", "encoder", "seeds")
_EXPERTS = ("expert", "status", "texts", "perplexity", "share_right")
_THRESHOLDS = "select task, budget, value from thresholds order by task, budget"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below a heading; a cell is a value, or `{"words": …, "address": …}` for a link."""

    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    chart: str = ""


def record_page(
    name: str, con: duckdb.DuckDBPyConnection, home: Home, edition: Edition, links: Links
) -> str:
    """Return the page with one of the names in `RECORDS`; `con` is a connection to the edition.

    Runs, evaluations, changes and files that were refused concern the whole home: where an edition
    hides something, the page says that they are hidden.
    """
    hidden = name in ("runs", "rejections", "evaluations") and not edition.is_whole
    is_told = name == "rejections" or not hidden
    found = RECORDS[name](con, home, edition, links) if is_told else ()
    tables = [table for table in found if table.rows]
    return page("tables.html", links, title=PAGES[name], here=name, tables=tables, hidden=hidden)


def _sources(
    con: duckdb.DuckDBPyConnection, home: Home, edition: Edition, links: Links
) -> Iterator[Table]:
    """Yield how much of each source was understood, and which documents say least."""
    rows = _rows(con, _YIELDS, MOST_ROWS)
    shares = [(row, row["with_fact"] / row["sentences"]) for row in rows]
    yield Table(
        "How much was understood, the least first",
        ("Source", "Language", "Documents", "Sentences", "Why"),
        [
            (row["source"], row["language"], row["documents"], row["sentences"], _why(row))
            for row in rows
        ],
        "The share of sentences that gave a fact.",
        bars(
            "Share of sentences that gave a fact, by source",
            [
                (f"{r['source'].rsplit('/', 1)[-1]}, {r['language']}", share, _percent(share))
                for r, share in shares[:MOST_BARS]
            ],
        ),
    )
    yield Table(
        "Documents with the fewest facts for their length",
        ("Document", "Words", "Facts"),
        [
            (
                _link(
                    row["title"] or cited_as(row["uri"], row["remembered"]),
                    links.document(row["document_id"]),
                ),
                row["words"],
                row["facts"],
            )
            for row in _rows(con, _POOREST, 50)
        ],
    )


def _why(row: dict[str, Any]) -> str:
    """Return in words what became of the sentences of a source."""
    silent = row["sentences"] - row["with_statement"]
    loose = row["with_statement"] - row["with_fact"]
    return (
        f"{_percent(row['with_fact'] / row['sentences'])} gave a fact; "
        f"{counted(loose, 'sentence')} gave only a statement, as no thing or no "
        f"relation in it is known; {silent:,} gave nothing."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _runs(
    con: duckdb.DuckDBPyConnection, home: Home, edition: Edition, links: Links
) -> Iterator[Table]:
    """Yield the runs of flows, the last first."""
    runs = latest(home.live, schemas.Run).sort_by([("started_at", "descending")])
    yield Table(
        "Runs, the last first",
        ("Began (UTC)", "Flow", "Outcome", "Seconds", "Counts", "Edition", "Why it failed"),
        [
            (
                f"{row['started_at']:%Y-%m-%d %H:%M}",
                row["flow"],
                row["outcome"],
                row["ended_at"] and round((row["ended_at"] - row["started_at"]).total_seconds()),
                ", ".join(f"{name} {number}" for name, number in json.loads(row["counts"]).items()),
                row["edition"],
                row["error"],
            )
            for row in runs.slice(0, MOST_ROWS).to_pylist()
        ],
    )


def _rejections(
    con: duckdb.DuckDBPyConnection, home: Home, edition: Edition, links: Links
) -> Iterator[Table]:
    """Yield what was kept out, counted by reason, with examples.

    A reader who does not see the whole home sees examples from their documents alone.
    """
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    documents = {row["document_id"] for row in _rows(con, "select document_id from documents")}
    for table in home.live.tables(schemas.Rejection):
        for row in table.to_pylist():
            key = row["stage"], row["reason"]
            seen = row["document_id"] in documents
            if not (edition.is_whole or seen):
                continue
            counts[key] += 1
            if len(examples[key]) < EXAMPLES:
                address = links.document(row["document_id"]) if seen else ""
                examples[key].append(row | {"address": address})
    yield Table(
        "By reason",
        ("Stage", "Reason", "Rejected"),
        [(*key, number) for key, number in counts.most_common()],
    )
    for (stage, reason), rows in examples.items():
        yield Table(
            f"{reason}, while {stage} was at work",
            ("What", "Why", "Text"),
            [(_link(row["item_id"], row["address"]), row["detail"], row["text"]) for row in rows],
        )


def _evaluations(
    con: duckdb.DuckDBPyConnection, home: Home, edition: Edition, links: Links
) -> Iterator[Table]:
    """Yield figures by data set, gates, paths, and experts, and how routes were used."""
    yield from _measured(home)
    yield _gates(con, edition)
    policies = _stored(edition, schemas.PathPolicy, _POLICIES)
    yield Table(
        "Policies of paths",
        ("Graph", "Answers reached", "Reached at random", "Questions"),
        [tuple(row.values()) for row in policies],
        chart=bars(
            "Share of answers that a policy reaches",
            [(r["graph"], r["reached"] or 0.0, _percent(r["reached"] or 0.0)) for r in policies],
        ),
    )
    yield Table(
        "Experts",
        ("Expert", "Status", "Texts", "Perplexity", "Share right"),
        [tuple(row.values()) for row in _stored(edition, schemas.Expert, _EXPERTS)],
    )
    rewards = _arm_rewards(home)
    yield Table(
        "Arms of bandits",
        ("Arm", "Mean reward", "Rewards"),
        rewards,
        chart=bars("Mean reward of each arm", [(a, mean, f"{mean:.2f}") for a, mean, _ in rewards]),
    )


def _gates(con: duckdb.DuckDBPyConnection, edition: Edition) -> Table:
    """Return how gates were calibrated: the threshold that keeps to each budget."""
    curve_of: dict[str, dict[float, float]] = defaultdict(dict)
    for row in _rows(con, _THRESHOLDS):
        curve_of[row["task"]][round(row["budget"], 2)] = row["value"]
    return Table(
        "Gates",
        ("Task", "Gate", "Encoder", "Seeds", *(f"At most {_percent(b)}" for b in BUDGETS.values())),
        [
            (*row.values(), *(curve_of[row["task"]].get(b) for b in BUDGETS.values()))
            for row in _stored(edition, schemas.TaskGate, _GATES)
        ],
        "Seeds are the questions of the calibration. A question whose score is below the threshold "
        "fetches knowledge; with that of a budget, at most this share of questions do.",
        curves(
            "Thresholds of gates",
            {task: list(points.items()) for task, points in curve_of.items()},
            "share of questions that may fetch",
            "threshold",
        ),
    )


def _measured(home: Home) -> Iterator[Table]:
    """Yield a table of figures with their intervals for each data set, the first as bars."""
    rows = latest(home.live, schemas.Evaluation).sort_by("measured_at").to_pylist()
    data_sets: dict[str, dict[tuple[str, str], dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        data_sets[row["dataset"]][row["metric"], row["system"]] = row
    for data_set, known in list(data_sets.items())[:MOST_ROWS]:
        figures = [key for key in known if not key[0].endswith(("_low", "_high"))]
        first = [key for key in figures if key[0] == figures[0][0]]
        values = [(key[1], known[key]["value"], f"{known[key]['value']:.3g}") for key in first]
        yield Table(
            data_set,
            ("Figure", "System", "Value", "95 %", "Items", "Measured"),
            [
                (
                    *key,
                    known[key]["value"],
                    _interval(*(known.get((f"{key[0]}_{end}", key[1])) for end in ("low", "high"))),
                    known[key]["items"],
                    f"{known[key]['measured_at']:%Y-%m-%d}",
                )
                for key in sorted(figures)
            ],
            chart=bars(
                f"{figures[0][0]} on {data_set}",
                values[:MOST_BARS],
                max(1.0, *(value for _, value, _ in values)),
            )
            if len(values) > 1
            else "",
        )


def _interval(low: dict[str, Any] | None, high: dict[str, Any] | None) -> str:
    return f"{low['value']:.3g} to {high['value']:.3g}" if low and high else ""


def _arm_rewards(home: Home) -> list[tuple[str, float, int]]:
    """Return each arm that was rewarded with its mean reward and their number."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in latest(home.live, schemas.bandits.BanditReward).to_pylist():
        if row["arm"]:
            found[row["arm"]].append(row["reward"])
    return [(arm, sum(rewards) / len(rewards), len(rewards)) for arm, rewards in found.items()]


def _editions(
    con: duckdb.DuckDBPyConnection, home: Home, edition: Edition, links: Links
) -> Iterator[Table]:
    """Yield what changed in this edition, each line with its sentence, and all editions."""
    yield Table(
        f"What changed in {edition.id}",
        ("Change", "Of a", "What", "Because of"),
        [
            (row["kind"], row["fact_kind"], _changed(row, links), row["cause"])
            for row in _rows(con, _CHANGES, MOST_ROWS)
        ],
        f"At most {MOST_ROWS} lines; the table changes has all.",
    )
    editions = reversed(home.editions.all()) if edition.is_whole else [edition]
    yield Table(
        "Editions, the last first",
        ("Edition", "Built (UTC)", "State", "Documents", "Things", "Facts", "Changes"),
        [
            (
                it.id,
                f"{it.built_at:%Y-%m-%d %H:%M}",
                home.editions.state(it),
                *(it.rows(row) for row in (schemas.Document, schemas.Entity, schemas.Triple)),
                it.rows(schemas.Change) if it.is_whole else "hidden",
            )
            for it in editions
        ],
    )


def _changed(row: dict[str, Any], links: Links) -> Any:
    """Return a change as a link to its sentence, its thing or its document, or as words."""
    if row["entity_id"]:
        return _link(row["text"], links.entity(row["entity_id"]))
    if row["document_id"] and row["span_start"] is not None:
        return _link(row["text"], links.place(row["document_id"], row["span_start"]))
    return _link(row["text"], links.document(row["document_id"]) if row["document_id"] else "")


def _link(words: str, address: str) -> Any:
    return {"words": words, "address": address} if address else words


def _rows(con: duckdb.DuckDBPyConnection, query: str, *values: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = con.sql(query, params=list(values)).to_arrow_table().to_pylist()
    return rows


def _stored(edition: Edition, row: type[Row], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return some columns of a table by the first; those that an older version lacks are null."""
    found = edition.table(row).select(columns).sort_by(columns[0]) if edition.rows(row) else None
    return list(found.to_pylist()) if found else []


RECORDS = {
    "sources": _sources,
    "runs": _runs,
    "rejections": _rejections,
    "evaluations": _evaluations,
    "editions": _editions,
}
