"""The tables as they are: JSON lines, a data set for Hugging Face's library, sources for dbt."""

from pathlib import Path
from typing import Any

import yaml

from schemas import EDITION
from schemas.row import Row
from tasks.export.contents import TABLES, Contents
from tasks.export.destination import MARK
from warehouse.quoting import quoted_name

CARD = """
# An Almanac

Edition {edition} of a knowledge base that Almanac made from texts: entities, facts and the
characters of the documents that state them. Add the licence of the documents to the head of this
file before you share it.

    from datasets import load_dataset
    facts = load_dataset("FOLDER", "triples", split="train")

{tables}"""


def write_json_lines(contents: Contents, folder: Path) -> None:
    """Write a folder with a file per table, a row a line."""
    folder.mkdir()
    for row in TABLES:
        # Tables take no parameters; their names are those of the classes in `schemas`.
        query = f"select concat(to_json(one), chr(10)) from {quoted_name(row.table)} as one"
        with (folder / f"{row.table}.jsonl").open("wb") as file:
            contents.write_texts(query, file)


def write_data_set(contents: Contents, folder: Path) -> None:
    """Write a folder with a card and Parquet files, a configuration per table that has rows."""
    (folder / "data").mkdir(parents=True)
    configurations, languages = [], _languages(contents)
    for row in TABLES:
        table = contents.connection.table(row.table)
        if not table.limit(1).fetchall():
            continue  # a split without rows cannot be loaded
        file = f"data/{row.table}.parquet"
        table.write_parquet(str(folder / file), compression="zstd")
        configurations.append({"config_name": row.table, "data_files": file})
    described = "\n".join(
        row.describe()
        for row in TABLES
        if any(one["config_name"] == row.table for one in configurations)
    )
    head: dict[str, Any] = {
        "pretty_name": f"Almanac {contents.edition.id}",
        "language": languages,
        "tags": ["knowledge-graph", "almanac"],
        "configs": configurations,
    }
    text = CARD.format(edition=contents.edition.id, tables=described)
    (folder / "README.md").write_text(f"---\n{_yaml(head)}---\n{text}", encoding="utf-8")


def write_dbt_sources(contents: Contents, path: Path) -> None:
    """Write a file of sources: the edition's tables and columns with what they mean.

    They are tables of a DuckDB file, attached as `almanac`.
    """
    source = {
        "name": "almanac",
        "database": "almanac",
        "schema": "main",
        "description": f"Edition {contents.edition.id} of an almanac.",
        "tables": [_dbt_table(row) for row in EDITION],
    }
    text = _yaml({"version": 2, "sources": [source]})
    path.write_text(f"# {MARK}\n{text}", encoding="utf-8")


def _dbt_table(row: type[Row]) -> dict[str, Any]:
    columns = []
    for field in row.arrow_schema():
        column: dict[str, Any] = {
            "name": field.name,
            "description": row.model_fields[field.name].description,
        }
        tests = ["unique"] if row.key == (field.name,) else []
        tests += [] if field.nullable else ["not_null"]
        columns.append(column | ({"data_tests": tests} if tests else {}))
    return {
        "name": row.table,
        "description": " ".join((row.__doc__ or "").split()),
        "columns": columns,
    }


def _languages(contents: Contents) -> list[str]:
    """Return the documents' languages by their codes, as a card names them."""
    query = """select distinct language from documents
        where regexp_full_match(language, '[a-z]{2,3}') and language <> 'und' order by all"""
    return [language for (language,) in contents.connection.sql(query).fetchall()]


def _yaml(value: dict[str, Any]) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100))
