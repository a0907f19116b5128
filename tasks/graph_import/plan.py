"""Which files an import reads, and how."""

from collections.abc import Sequence
from pathlib import Path

from schemas.errors import UsageError
from tasks.graph_import.formats import FORMATS, Reading, guess_format
from tasks.graph_import.mapping import FileMapping, Mapping, load_mapping


def plan(
    source: Path, format: str, mapping: Path | None, languages: Sequence[str]
) -> tuple[list[Reading], str | None]:
    """Return what is to be read and the language the mapping tells, if it does.

    Raises UsageError if a file is missing or nothing tells how to read it.
    """
    whole = load_mapping(mapping) if mapping else Mapping()
    files: Sequence[FileMapping] = whole.files or [whole]
    if mapping is None and source.is_dir():
        raise UsageError(f"{source} is a folder; say with --mapping which of its files to read.")
    return [_reading(source, part, format, languages) for part in files], whole.language


def _reading(source: Path, part: FileMapping, format: str, languages: Sequence[str]) -> Reading:
    path = _inside(source, part.file) if part.file else source
    chosen = part.format or (None if format == "auto" else format) or guess_format(path)
    if chosen not in FORMATS:
        raise UsageError(f"{chosen!r} is no format; there are {', '.join(FORMATS)}.")
    return Reading(path, chosen, part, tuple(languages))


def _inside(folder: Path, name: str) -> Path:
    """Return a file of the folder; a mapping may come from elsewhere and reach no further."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"The mapping's file {name!r} lies outside {folder}.")
    if not path.is_file():
        raise UsageError(f"The mapping's file {path} does not exist.")
    return path
