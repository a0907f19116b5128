"""Turn records in YAML, JSON, JSON lines, CSV and TSV into a graph by a mapping's rules."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import AlmanacError
from tasks.graphs.formats.batch import GraphBatch, RowBuffer
from tasks.graphs.formats.lines import Opened, blocks_of_lines, opened
from tasks.graphs.formats.mapping import (
    EntityRule,
    FileMapping,
    MatchingRule,
    RecordRule,
    TableMapping,
    TripleRule,
)
from tasks.graphs.formats.templates import Scope, Tables, fill, follow
from tasks.graphs.formats.text_table import CsvRows
from tasks.text.plain_yaml import YamlMapping, parse_yaml

MAX_WHOLE = 200_000_000  # bytes of YAML or JSON, which are read as a whole
BATCH_ROWS = 50_000
Numbered = tuple[int, str | None, Any]  # line or number of a record, its key, the record


def read_records(
    file: Opened, path: Path, mapping: FileMapping, tables: Tables, seen: set[str]
) -> Iterator[GraphBatch]:
    """Yield the rows that the mapping's rules make from a file's records.

    `seen` holds the entities that were already described. Raises AlmanacError if the content does
    not match the file's name.
    """
    batch, collector = GraphBatch(), RuleRows(tables, seen)
    for line, key, record in _records(file, path, mapping.records, batch):
        batch.left_out += not collector.apply(mapping, Scope(record, key), line)
        if len(collector.rows) >= BATCH_ROWS:
            collector.rows.into(batch)
            yield batch.drained()
    collector.rows.into(batch)
    yield batch.drained()


def load_tables(
    given: Mapping[str, TableMapping | dict[str, str]], folder: Path
) -> dict[str, dict[str, str]]:
    """Return the mapping's tables; some are read from files."""
    tables: dict[str, dict[str, str]] = {}
    for name, table in given.items():
        if not isinstance(table, TableMapping):
            tables[name] = table
            continue
        path, tables[name] = folder / table.file, {}
        with opened(path) as file:
            for _, key, record in _records(file, path, None, GraphBatch()):
                scope = Scope(record, key)
                word, meaning = (fill(t, scope, {}) for t in (table.key, table.value))
                if word and meaning:
                    tables[name][word] = meaning
    return tables


def _records(file: Opened, path: Path, where: str | None, batch: GraphBatch) -> Iterator[Numbered]:
    kind = path.name.removesuffix(".gz").removesuffix(".bz2").rpartition(".")[2].lower()
    if kind in ("csv", "tsv"):
        return _from_table(file, "," if kind == "csv" else "\t", batch)
    if kind in ("jsonl", "ndjson"):
        return _from_json_lines(file, batch)
    if kind in ("json", "yaml", "yml"):
        return _from_whole(file, path, where)
    raise AlmanacError(f"{path} holds no records: csv, tsv, jsonl, json and yaml files do.")


def _from_whole(file: Opened, path: Path, where: str | None) -> Iterator[Numbered]:
    data = file.data.read(MAX_WHOLE + 1)
    if len(data) > MAX_WHOLE:
        raise AlmanacError(f"{path} has more than {MAX_WHOLE} bytes; make it JSON lines or CSV.")
    if ".json" in path.name.lower():
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise AlmanacError(f"{path} is not JSON: {error}.") from None
    else:
        value = parse_yaml(data, str(path))
    for number, (key, record) in enumerate(children(follow(value, where) if where else value), 1):
        yield record.line if isinstance(record, YamlMapping) else number, key, record


def _from_json_lines(file: Opened, batch: GraphBatch) -> Iterator[Numbered]:
    for lines in blocks_of_lines(file.data):
        batch.absorb(lines.batch)
        for number, line in zip(lines.numbers.tolist(), lines.text.to_pylist(), strict=True):
            try:
                yield number, None, orjson.loads(line)
            except orjson.JSONDecodeError:
                batch.refuse(number, "not-json", line)


def _from_table(file: Opened, delimiter: str, batch: GraphBatch) -> Iterator[Numbered]:
    rows = table_rows(file, delimiter, batch)
    _, header = next(rows, (0, []))
    for number, row in rows:
        if len(row) != len(header):
            batch.refuse(number, f"not-{len(header)}-fields", delimiter.join(row))
        else:
            yield number, None, dict(zip(header, row, strict=True))


def table_rows(file: Opened, delimiter: str, batch: GraphBatch) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text table, with quotes, and the line of each."""
    rows = CsvRows(delimiter)
    for lines in blocks_of_lines(file.data, empty=True):
        yield from rows.take(lines)
        batch.absorb(lines.batch)
    yield from rows.end(batch)


class RuleRows:
    """Applies a mapping's rules to records and collects the rows."""

    def __init__(self, tables: Tables, seen: set[str]) -> None:
        """Use these tables of the mapping; entities in `seen` are not described again."""
        self._tables, self._seen = tables, seen
        self.rows = RowBuffer()

    def apply(self, rule: RecordRule, scope: Scope, line: int) -> bool:
        """Add the rows that a rule makes from a record; tell whether it had what they need."""
        inner = self._matched(rule, scope)
        if inner is None:
            return True
        made = [self._add_entity(entity, inner, line) for entity in rule.entities]
        made += [self._add_triple(triple, inner, line) for triple in rule.triples]
        for deeper in rule.each:
            for key, record in children(follow(inner.record, deeper.path)):
                made.append(self.apply(deeper, Scope(record, key, inner), line))
        return any(made)

    def _matched(self, rule: MatchingRule, scope: Scope) -> Scope | None:
        """Return the scope with the groups of a rule's patterns, None if a pattern does not fit."""
        groups: dict[str, str] = {}
        for path, pattern in rule.match.items():
            match = pattern.fullmatch(scope.find(path) or "")
            if not match:
                return None
            groups |= {name: text for name, text in match.groupdict().items() if text}
        record = scope.record
        fields = dict(record) if isinstance(record, Mapping) else {"$value": record}
        return Scope({**fields, **groups}, scope.key, scope.around)

    def _add_entity(self, rule: EntityRule, outer: Scope, line: int) -> bool:
        scope = self._matched(rule, outer)
        key = fill(rule.key, scope, self._tables) if scope else None
        if scope is None or key is None:
            return False
        name = fill(rule.name, scope, self._tables) if rule.name else None
        if key not in self._seen:
            self._seen.add(key)
            text = fill(rule.description, scope, self._tables) if rule.description else None
            row = {"entity": key, "name": name or key, "kind": rule.kind, "description": text}
            self.rows.entities.append((line, row))
        aliases = (fill(template, scope, self._tables) for template in rule.aliases)
        named = filter(None, dict.fromkeys([name, *aliases]))
        self.rows.aliases.extend((line, key, alias) for alias in named)
        return True

    def _add_triple(self, rule: TripleRule, outer: Scope, line: int) -> bool:
        scope = self._matched(rule, outer)
        if scope is None:
            return False
        parts = [fill(part, scope, self._tables) for part in (rule.head, rule.relation, rule.tail)]
        head, relation, tail = parts
        if head and relation and tail:
            self.rows.triples.append((line, head, relation, tail, rule.value, None, None))
        return all(parts)


def children(value: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield the items of a list or mapping with their keys; any other value is the only child."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        for item in value:
            yield None, item
    elif value is not None:
        yield None, value
