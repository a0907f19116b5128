"""Plan an import: the files to read and their formats, given or guessed from their first bytes."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schemas.errors import UsageError
from schemas.plug_ins import plug_in, plug_ins
from tasks.graphs.formats.batch import GraphBatch
from tasks.graphs.formats.conceptnet import read_conceptnet
from tasks.graphs.formats.json_lines import read_json_lines
from tasks.graphs.formats.lines import Opened, opened
from tasks.graphs.formats.mapping import FileMapping, Mapping, TableMapping, load_mapping
from tasks.graphs.formats.ntriples import read_ntriples
from tasks.graphs.formats.parquet_table import read_parquet
from tasks.graphs.formats.plug_in_format import GROUP, read_plug_in
from tasks.graphs.formats.records import load_tables, read_records
from tasks.graphs.formats.templates import Tables
from tasks.graphs.formats.text_table import DELIMITERS, read_table
from tasks.graphs.formats.wikidata import read_wikidata

FORMATS = (*DELIMITERS, "csv", "jsonl", "nt", "parquet", "conceptnet", "wikidata", "records")
Progress = Callable[[int, int], None]  # bytes read, bytes in all
DEFAULT_LANGUAGES = ("en", "zh")
_START = 1 << 16  # bytes from which a format is guessed
_SAMPLE = 20  # lines
_BY_NAME = {
    ".nt": "nt",
    ".nq": "nt",
    ".ntriples": "nt",
    ".nquads": "nt",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_BY_LINE = (
    ("conceptnet", r"/a/\[/r/[^\t]*\t/r/"),
    ("wikidata", r'\[?\s*\{.*"type": ?"(item|property)"|\[\s*$'),
    ("jsonl", r"\{.*\}\s*$"),
    ("nt", r"(<[^<>\s]*>|_:\S+)\s*<[^<>\s]*>\s*[<\"_]|#"),
    ("nlpcc", r".*\|\|\|.*\|\|\|"),
    ("tsv", r".*\t"),
    ("pipe", r".*\|.*\|"),
    ("csv", r".*[,;].*[,;]"),
)


@dataclass(frozen=True)
class Reading:
    """One file to read, with its format and options."""

    path: Path
    format: str
    mapping: FileMapping
    languages: tuple[str, ...]
    tables: Tables = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # entities that a mapping's rules described


def read_file(
    reading: Reading, report: Progress, spill: Path | None = None
) -> Iterator[GraphBatch]:
    """Yield a file's batches; data that exceeds memory goes to the folder `spill`."""
    with opened(reading.path) as file:
        for batch in _reader(reading, file, spill):
            report(file.done, file.size)
            yield batch


def _reader(reading: Reading, file: Opened, spill: Path | None) -> Iterator[GraphBatch]:
    path, mapping, languages = reading.path, reading.mapping, reading.languages
    match reading.format:
        case "jsonl":
            return read_json_lines(file.data, mapping)
        case "nt":
            return read_ntriples(file, path, languages, mapping, spill)
        case "parquet":
            return read_parquet(path, mapping)
        case "conceptnet":
            return read_conceptnet(file.data, languages, mapping)
        case "wikidata":
            return read_wikidata(file, path, languages, mapping)
        case "records":
            return read_records(file, path, mapping, reading.tables, reading.seen)
    if reading.format not in FORMATS and (found := plug_in(GROUP, reading.format)):
        return read_plug_in(found, file.data)
    delimiter = mapping.delimiter or DELIMITERS.get(reading.format, "")
    return read_table(file.data, delimiter, mapping, quoted=reading.format == "csv")


def guess_format(path: Path) -> str:
    """Return the format of a file, from its name or its first lines.

    Raises UsageError if neither shows it.
    """
    with opened(path) as file:
        start = file.data.read(_START)
    if start.startswith(b"PAR1"):
        return "parquet"
    suffixes = [suffix for suffix in path.suffixes if suffix not in (".gz", ".bz2")]
    if suffixes and suffixes[-1].lower() in _BY_NAME:
        return _BY_NAME[suffixes[-1].lower()]
    sample = [line for line in start.decode("utf-8", "replace").splitlines() if line][:_SAMPLE]
    for name, pattern in _BY_LINE:
        if sum(bool(re.match(pattern, line)) for line in sample) > len(sample) / 2:
            return name
    if suffixes[-1:] == [".csv"]:
        return "csv"
    raise UsageError(
        f"The format of {path} cannot be recognised; give it with --format. {_formats_known()}"
    )


def plan(
    source: Path, format: str, mapping: Path | None, languages: Sequence[str]
) -> tuple[list[Reading], str | None]:
    """Return the files to read and the language that the mapping names, if any.

    Raises UsageError if a file is missing or its format is unknown.
    """
    whole = load_mapping(mapping) if mapping else Mapping()
    files: Sequence[FileMapping] = whole.files or [whole]
    if mapping is None and source.is_dir():
        raise UsageError(f"{source} is a folder; choose the files to read in a --mapping.")
    for table in whole.tables.values():
        if isinstance(table, TableMapping):
            _inside(source, table.file)
    tables, seen = load_tables(whole.tables, source), set[str]()
    readings, spoken = [], tuple(languages) or DEFAULT_LANGUAGES
    for part in files:
        path = _inside(source, part.file) if part.file else source
        chosen = _format(part, format, path)
        readings.append(Reading(path, chosen, part, spoken, tables, seen))
    return readings, whole.language


def _format(part: FileMapping, format: str, path: Path) -> str:
    if part.says_something:
        return "records"
    chosen = part.format or (guess_format(path) if format == "auto" else format)
    if chosen not in FORMATS and plug_in(GROUP, chosen) is None:
        raise UsageError(f"{chosen!r} is no format. {_formats_known()}")
    return chosen


def _formats_known() -> str:
    names = ", ".join([*FORMATS, *plug_ins(GROUP)])
    return f"There are {names}; RDF is read as nt, N-Triples or N-Quads."


def _inside(folder: Path, name: str) -> Path:
    """Return a file in the folder; a stranger's mapping must not lead outside of it."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"The mapping's file {name!r} lies outside {folder}.")
    if not path.is_file():
        raise UsageError(f"The mapping's file {path} does not exist.")
    return path
