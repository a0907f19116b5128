"""The index of the report's search box: script files, because a page from disk can fetch nothing.

A small edition is one file with everything: things, documents, notes with their questions, facts.
Of a large edition, things and documents alone are listed, in files by the beginnings of their
words, of which the script loads those that a search needs.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from schemas.documents import REMEMBERED, cited_as
from tasks.report.links import Links
from tasks.report.reading import read

WHOLE_INDEX = 20_000  # entries in one file
SHARD = 3_000  # entries to a file, the best known first, where a beginning can be no longer
LONGEST_BEGINNING = 5

# An entry: what it is, its name, further words, and where it leads.
THINGS = f"""
select 'thing' as kind, e.entity_id, null as document_id, null as span_start, name as label,
       concat_ws(' · ', nullif(e.kind, 'unknown'), nullif(graph, 'corpus'), description) as detail,
       names.words as words, documents as weight, null as remembered
from entities e join (
    select entity_id, string_agg(alias, ' ' order by alias) as words
    from aliases group by entity_id
) names using (entity_id)
union all
select 'document', null, document_id, 0, title, uri, title, 1, {REMEMBERED}
from documents
"""
TEXTS = f"""
select 'note' as kind, entity_id, document_id, span_start, question as label, text as detail,
       question || ' ' || text as words, 0 as weight, null as remembered
from aspects where document_id is not null
union all
select 'fact', head_id, document_id, span_start, concat_ws(' ', head, relation, tail), uri,
       concat_ws(' ', head, relation, tail), 0, {REMEMBERED}
from asserted_triples join documents using (document_id)
"""
# A Chinese character counts as a word.
WORDS = r"""
select distinct on (word, entity_id, document_id) left(word, $longest) as beginning, things.*
from things, unnest(regexp_extract_all(lower(words), '\p{Han}|[^\s\p{Han}\p{P}]+')) as t(word)
"""
NUMBERED = f"""
select number, words.* from words join numbered using (beginning)
qualify row_number() over (partition by number order by weight desc, label) <= {SHARD}
order by number, weight desc, label
"""


def write_search(con: duckdb.DuckDBPyConnection, folder: Path, links: Links) -> None:
    """Write the index into a folder, which is made."""
    folder.mkdir(exist_ok=True)
    total = con.sql(
        "select (select count(*) from entities) + (select count(*) from documents) "
        "+ (select count(*) from aspects) + (select count(*) from asserted_triples)"
    ).fetchall()[0][0]
    if total <= WHOLE_INDEX:
        # Both queries are constants of this module.
        rows = read(con, f"{THINGS} union all {TEXTS} order by weight desc, label")
        _write(folder, 0, rows, links)
        beginnings = [""]
    else:
        beginnings = _write_shards(con, folder, links)
    listed = json.dumps(beginnings, ensure_ascii=False)
    (folder / "shards.js").write_text(f"almanac.shards({listed});\n", encoding="utf-8")


def _write_shards(con: duckdb.DuckDBPyConnection, folder: Path, links: Links) -> list[str]:
    """Write a file for each beginning; return the beginnings, whose places number the files."""
    values = {"longest": LONGEST_BEGINNING}
    # Both queries are constants of this module.
    con.execute(f"create temp table things as {THINGS}")
    con.execute(f"create temp table words as {WORDS}", values)
    counted = con.execute("select beginning, count(*) from words group by beginning").fetchall()
    shards = list(_shards(sorted(counted), 1))
    numbers = [
        {"beginning": word, "number": number}
        for number, (_, words) in enumerate(shards)
        for word in words
    ]
    con.register("numbered", pa.Table.from_pylist(numbers))
    rows = read(con, NUMBERED)
    for number, group in groupby(rows, itemgetter("number")):
        _write(folder, number, group, links)
    return [beginning for beginning, _ in shards]


def _shards(counted: Iterable[tuple[str, int]], length: int) -> Iterator[tuple[str, list[str]]]:
    """Yield beginnings of so many characters or more, each with the counted words that it covers.

    They are as short as they can be for SHARD entries; the words must be sorted.
    """
    for beginning, group in groupby(counted, lambda pair: pair[0][:length]):
        words = list(group)
        if len(words) == 1 or sum(count for _, count in words) <= SHARD:
            yield beginning, [word for word, _ in words]
        else:
            yield from _shards(words, length + 1)


def _write(folder: Path, number: int, rows: Iterable[dict[str, Any]], links: Links) -> None:
    """Write one file of entries, as a call that the page's script answers."""
    with (folder / f"{number}.js").open("w", encoding="utf-8") as file:
        file.write(f"almanac.entries({number}, [\n")
        for row in rows:
            file.write(json.dumps(_entry(row, links), ensure_ascii=False) + ",\n")
        file.write("]);\n")


def _entry(row: dict[str, Any], links: Links) -> list[str]:
    """Return what it is, its name, what is said of it, its further words, and where it leads."""
    if row["kind"] == "thing":
        address = links.entity(row["entity_id"])
    elif row["kind"] == "document":
        address = links.document(row["document_id"])
    else:
        address = links.place(row["document_id"], row["span_start"])
    words, detail = row["words"] or "", cited_as(row["detail"], row["remembered"])
    label = row["label"] or detail
    further = " ".join(dict.fromkeys(words.split())) if row["kind"] == "thing" else ""
    return [row["kind"], label, detail, "" if further == label else further, address]
