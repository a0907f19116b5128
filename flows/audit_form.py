"""A file of facts to judge: written for people, filled in by them, and read back."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from flows.commands.sql import no_formula
from schemas.errors import UsageError
from schemas.verdicts import Judgement

KEYS: dict[str, Judgement] = {"u": "useful", "n": "useless", "w": "wrong"}
COLUMNS = ("verdict", "kind", "fact", "title", "text", "source") + (
    "fact_id",
    "audit_id",
    "scope",
    "stratum",
    "population",
    "edition",
)
AS_CSV, AS_JSON = (".csv",), (".jsonl", ".ndjson", ".json")
NEEDED = ("verdict", "fact_id", "audit_id", "scope", "stratum", "population", "edition")
MOST_FAULTS = 5  # shown at once


def write_form(path: Path, facts: Iterable[dict[str, Any]]) -> int:
    """Write facts with an empty verdict, as JSON Lines or CSV by its ending; return how many.

    Texts that a spreadsheet would evaluate get a ' before them. Raises UsageError for another
    ending, and if the file exists, since it may hold verdicts.
    """
    if path.suffix.lower() not in (*AS_CSV, *AS_JSON):
        endings = f"{', '.join(AS_CSV)} as CSV, {', '.join(AS_JSON)} as JSON Lines"
        raise UsageError(f"{path} cannot be written; the ending says the format: {endings}.")
    rows = [
        {"verdict": "", "kind": fact["fact_kind"]} | {c: fact[c] for c in COLUMNS[2:]}
        for fact in facts
    ]
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            _write(file, rows, as_json=_is_json(path))
    except FileExistsError:
        raise UsageError(
            f"{path} exists already, perhaps with verdicts. Read it with `almanac audit --read "
            f"{path}`, or choose another name."
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
    return len(rows)


def _write(file: TextIO, rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows([no_formula(row[column]) for column in COLUMNS] for row in rows)


def read_form(path: Path) -> list[tuple[dict[str, Any], Judgement]]:
    """Return the rows with a verdict. Raises UsageError that names rows, columns and remedies."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text. Save it as CSV UTF-8.") from None
    faults: list[str] = []
    judged: dict[str, tuple[dict[str, Any], Judgement]] = {}
    rows = list(_rows(path, text))
    if not rows:
        raise UsageError(f"{path} has no rows; `almanac audit --write` writes a file to fill in.")
    for number, row in rows:
        word = str(row.get("verdict") or "").strip().lower()
        missing = [column for column in NEEDED if row.get(column) is None]
        if missing:
            faults.append(
                f"row {number} lacks the column {missing[0]}; keep all columns of the written file"
            )
        elif word and word not in KEYS and word not in KEYS.values():
            faults.append(
                f"row {number}, column verdict: {word[:40]!r} is no verdict; write useful (u), "
                "useless (n) or wrong (w), or leave it empty"
            )
        elif word and not str(row["population"]).isdecimal():
            faults.append(f"row {number}, column population: it must be as it was written")
        elif word:
            verdict = next(v for key, v in KEYS.items() if word in (key, v))
            judged[str(row["fact_id"])] = (row | {"population": int(row["population"])}, verdict)
    if faults:
        more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
        raise UsageError(
            f"{path}: {'; '.join(faults[:MOST_FAULTS])}{more}. No verdict of the file was kept."
        )
    return list(judged.values())


def _rows(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows with their numbers, as an editor or a spreadsheet counts them."""
    if not _is_json(path):
        first = text.partition("\n")[0]
        separator = ";" if first.count(";") > first.count(",") else ","
        try:
            reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
            yield from enumerate(reader, 2)
        except csv.Error as error:
            raise UsageError(f"{path} is no CSV file: {error}.") from error
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise UsageError(f"{path}, row {number} is no JSON: {error.msg}.") from error
        if not isinstance(row, dict):
            raise UsageError(f"{path}, row {number} is no JSON object.")
        yield number, row


def _is_json(path: Path) -> bool:
    return path.suffix.lower() in AS_JSON
