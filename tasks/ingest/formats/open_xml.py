"""Packages of Open XML (ECMA-376, Transitional and Strict): parts, relations, properties.

Elements, attributes and kinds of relations are known by their local names, which the two editions
share. What a part names that is not there is an empty part.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO
from urllib.parse import unquote

from tasks.ingest.formats.inputs import Reason, RefusalError
from tasks.ingest.formats.metadata import Metadata, described
from tasks.ingest.formats.names import sensible_title
from tasks.ingest.formats.parsed_text import ParserLimits
from tasks.ingest.formats.unpacking import open_package, parse_entry, stream_entry
from tasks.ingest.formats.xml_elements import local_name

_NOBODY = ("python-docx", "openpyxl", "PowerPoint Presentation")
# Elements whose words readers do not see.
_UNSEEN = frozenset(
    {"del", "moveFrom", "rt", "instrText", "delText", "delInstrText", "rPr", "pPr", "sdtPr"}
    | {"tblPr", "tblGrid", "trPr", "tcPr", "sectPr", "spPr", "bodyPr", "lstStyle", "nvPr"}
)


class OpenXml:
    """A package; its parts are named by their paths, and the package itself by an empty one."""

    def __init__(self, file: BinaryIO, limits: ParserLimits, kind: str, format_name: str) -> None:
        """Open a package whose main part has the root `kind`; any other raises `RefusalError`."""
        self.limits = replace(limits, compression="")  # of files within it
        self._package = open_package(file, limits, format_name)
        self._entries = {_path("", path).lower(): path for path in self._package.namelist()}
        self._relations: dict[str, dict[str, tuple[str, str]]] = {}
        self.main = self.related("", "officeDocument")
        if local_name(self.part(self.main)) != kind:
            raise RefusalError(Reason.BAD_FORMAT, f"It is not {format_name}.")

    def part(self, path: str) -> Any:
        """Return the root of a part; an empty element if there is no such part."""
        return parse_entry(self._package, self._entries.get(path.lower(), path))

    def taken(self, path: str) -> bytes:
        """Return a part as it stands, once, however many elements name it; then it is empty."""
        entry = self._entries.pop(path.lower(), "")
        return self._package.read(entry) if entry else b""

    def elements(self, path: str, *names: str) -> Iterator[Any]:
        """Yield the elements of some names of a part, each until the next is wanted."""
        if entry := self._entries.get(path.lower()):
            yield from stream_entry(self._package, entry, *names)

    def related(self, path: str, kind: str) -> str:
        """Return the path of the first part of a kind to which a part is related, else ""."""
        return next((to for what, to in self._of(path).values() if what == kind), "")

    def named_by(self, element: Any, path: str, kind: str) -> str:
        """Return the path of the part of a kind that an element of a part names, else ""."""
        relations = self._of(path)
        for attribute, value in element.attrib.items():
            what, to = relations.get(value, ("", ""))
            if what == kind and attribute.partition("}")[0].endswith("/relationships"):
                return to
        return ""

    def properties(self) -> tuple[str, Metadata]:
        """Return the title and the metadata, without the placeholders that libraries write."""
        core = self.part(self.related("", "core-properties"))
        fields = [(local_name(field), field.text or "") for field in core]
        stated = (
            (name, value)
            for name, value in fields
            if value not in _NOBODY and not value.startswith("generated ")
        )
        return sensible_title(dict(fields).get("title", "")), described(stated, only_known=True)

    def _of(self, path: str) -> dict[str, tuple[str, str]]:
        """Return the kind and the path of each relation of a part, by its identifier."""
        if path not in self._relations:
            folder, _, name = path.rpartition("/")
            self._relations[path] = {
                relation.get("Id", ""): (
                    relation.get("Type", "").rpartition("/")[2],
                    _path(folder, unquote(relation.get("Target", ""))),
                )
                for relation in self.part(f"{folder}/_rels/{name}.rels".lstrip("/"))
                if relation.get("TargetMode") != "External"
            }
        return self._relations[path]


def _path(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target.replace("\\", "/"))).lstrip("/")


def children(element: Any) -> Iterator[tuple[str, Any]]:
    """Yield the children that readers see, each with its name: the first of alternatives.

    A content control that shows what to enter holds no words yet.
    """
    for child in element:
        name = local_name(child)
        if name == "AlternateContent":
            yield from children(child[0] if len(child) else child)
        elif name == "sdt" and child.find("{*}sdtPr/{*}showingPlcHdr") is not None:
            continue
        elif name not in _UNSEEN:
            yield name, child


def within(element: Any, *names: str) -> Iterator[Any]:
    """Yield the outermost elements of some names inside another, in whatever they are wrapped."""
    for name, child in children(element):
        if name in names:
            yield child
        else:
            yield from within(child, *names)
