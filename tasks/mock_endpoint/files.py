"""Files that clients leave with the endpoint, and those that batches write; kept in memory."""

import re
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tasks.mock_endpoint.exchange import HttpReply, HttpRequest, RefusedError, json_reply

MOST_IN_ALL = 1_000_000_000  # bytes
MOST_FILES = 10_000
_BOUNDARY = re.compile(r'boundary="?([^";,]{1,200})"?')
_FIELD = re.compile(rb'name="([^"]*)"(?:[^\r\n]*filename="([^"]*)")?', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file with what its owner said about it."""

    name: str
    purpose: str
    content: bytes
    id: str = field(default_factory=lambda: f"file-{uuid4().hex[:24]}")
    created: int = field(default_factory=lambda: int(time.time()))

    def as_object(self) -> dict[str, Any]:
        """Return the file as the API describes it."""
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created,
            "filename": self.name,
            "purpose": self.purpose,
            "status": "processed",
        }


class Files:
    """All files, by their ids."""

    def __init__(self) -> None:
        """Begin with none."""
        self._files: dict[str, StoredFile] = {}

    def keep(self, file: StoredFile) -> StoredFile:
        """Keep a file; raise RefusedError when there is no room left."""
        used = sum(len(one.content) for one in self._files.values())
        if used + len(file.content) > MOST_IN_ALL or len(self._files) >= MOST_FILES:
            raise RefusedError(413, "the mock endpoint has no room for more files")
        self._files[file.id] = file
        return file

    def get(self, file_id: str) -> StoredFile:
        """Return a file; raise RefusedError if there is none of that id."""
        if file_id not in self._files:
            raise RefusedError(404, f"no such file: {file_id[:100]}", "not_found")
        return self._files[file_id]

    def reply(self, request: HttpRequest, parts: list[str]) -> HttpReply:
        """Answer what is asked about files; `parts` is the path after /v1/files."""
        match request.method, parts:
            case "POST", []:
                return json_reply(self.keep(_uploaded(request)).as_object())
            case "GET", []:
                data = [file.as_object() for file in self._files.values()]
                return json_reply({"object": "list", "data": data, "has_more": False})
            case "GET", [file_id]:
                return json_reply(self.get(file_id).as_object())
            case "GET", [file_id, "content"]:
                content = self.get(file_id).content
                return HttpReply(body=content, content_type="application/octet-stream")
            case "DELETE", [file_id]:
                del self._files[self.get(file_id).id]
                return json_reply({"id": file_id, "object": "file", "deleted": True})
        raise RefusedError(404, "files are posted, listed, read and deleted")


def _uploaded(request: HttpRequest) -> StoredFile:
    """Return the file in a multipart form; raise RefusedError if there is none."""
    found = _BOUNDARY.search(request.headers.get("content-type", ""))
    if found is None:
        raise RefusedError(400, "a file is posted as multipart/form-data")
    fields = form_fields(request.body, found.group(1).encode("latin-1"))
    if "file" not in fields or "purpose" not in fields:
        raise RefusedError(400, "the form needs the fields file and purpose", param="file")
    name, content = fields["file"]
    return StoredFile(name, fields["purpose"][1].decode(errors="replace")[:64], content)


def form_fields(body: bytes, boundary: bytes) -> dict[str, tuple[str, bytes]]:
    """Return a multipart form's fields: by name, the file's name, if any, and the content."""
    fields: dict[str, tuple[str, bytes]] = {}
    mark = b"\r\n--" + boundary
    body = b"\r\n" + body
    start = body.find(mark)
    while start >= 0:
        start += len(mark)
        end = body.find(mark, start)
        if end < 0:
            break
        head, _, content = body[start:end].partition(b"\r\n\r\n")
        named = _FIELD.search(head)
        if named:
            name, file_name = (part or b"" for part in named.groups())
            fields[name.decode(errors="replace")] = (file_name.decode(errors="replace"), content)
        start = end
    return fields
