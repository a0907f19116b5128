"""A small S3 server for tests, with conditional writes and faults.

It keeps objects in memory, serves the requests that Almanac makes (path style), and follows
https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html. Faults hit a share
of the requests: `busy` (503, nothing done), `lost` (done, but no reply) and `cut` (the connection
ends within the body; an upload that was cut is no object).
"""

import hashlib
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

FAULTS = ("busy", "lost", "cut")
PAGE = 1000  # keys of one listing


class Bucket:
    """Objects by key, and what happens to requests for them."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.lock = threading.Lock()
        self.requests: list[tuple[str, str]] = []  # method and key
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.fault_share, self.random = 0.0, random.Random(0)
        self.planned: list[str] = []  # faults of the next writes, in order
        self.headers: list[dict[str, str]] = []

    def fault(self, method: str) -> str | None:
        """Return what happens to this request, None if nothing."""
        with self.lock:
            if self.planned and method == "PUT":
                return self.planned.pop(0)
            if self.random.random() < self.fault_share:
                return self.random.choice(FAULTS)
        return None


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    bucket: ClassVar[Bucket]

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Keep the tests' output clean."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        key = unquote(parts.path).lstrip("/").partition("/")[2]
        self.query = {name: values[0] for name, values in parse_qs(parts.query, True).items()}
        fault = self.bucket.fault(self.command)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length // 2 if fault == "cut" else length)
        with self.bucket.lock:
            self.bucket.requests.append((self.command, key))
            self.bucket.headers.append(dict(self.headers))
        if fault == "cut" and length:
            self.close_connection = True
            return
        if fault == "busy":
            self._reply(503, b"<Error><Code>SlowDown</Code></Error>")
            return
        with self.bucket.lock:
            status, data, headers = getattr(self, f"_{self.command.lower()}")(key, body)
        if fault == "lost":
            self.close_connection = True
            return
        self._reply(status, data, cut=fault == "cut", **headers)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _serve  # noqa: N815

    def _reply(self, status: int, data: bytes, *, cut: bool = False, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", headers.get("size") or str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut

    # -- requests, each under the bucket's lock: status, body and headers -----------------------

    def _get(self, key: str, _: bytes) -> tuple[int, bytes, dict[str, str]]:
        if self.query.get("list-type"):
            return 200, self._listed(), {}
        data = self.bucket.objects.get(key)
        if data is None:
            return 404, b"<Error><Code>NoSuchKey</Code></Error>", {}
        if self.headers.get("If-None-Match") == etag_of(data):
            return 304, b"", {"ETag": etag_of(data)}
        return 200, data, {"ETag": etag_of(data), **MODIFIED}

    def _head(self, key: str, _: bytes) -> tuple[int, bytes, dict[str, str]]:
        data = self.bucket.objects.get(key)
        if data is None:
            return 404, b"", {}
        return 200, b"", {"ETag": etag_of(data), "size": str(len(data)), **MODIFIED}

    def _put(self, key: str, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        if "uploadId" in self.query:
            self.bucket.uploads[self.query["uploadId"]][int(self.query["partNumber"])] = body
            return 200, b"", {"ETag": etag_of(body)}
        now = self.bucket.objects.get(key)
        wanted = self.headers.get("If-Match")
        if wanted and now is None:
            return 404, b"<Error><Code>NoSuchKey</Code></Error>", {}
        if (wanted and etag_of(now or b"") != wanted) or (
            self.headers.get("If-None-Match") == "*" and now is not None
        ):
            return 412, b"<Error><Code>PreconditionFailed</Code></Error>", {}
        self.bucket.objects[key] = body
        return 200, b"", {"ETag": etag_of(body)}

    def _post(self, key: str, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        if "delete" in self.query:
            keys = [part.partition("</Key>")[0] for part in body.decode().split("<Key>")[1:]]
            for one in keys:
                self.bucket.objects.pop(one, None)
            rows = "".join(f"<Deleted><Key>{one}</Key></Deleted>" for one in keys)
            return 200, f"<DeleteResult>{rows}</DeleteResult>".encode(), {}
        if "uploads" in self.query:
            upload = f"upload-{len(self.bucket.uploads)}"
            self.bucket.uploads[upload] = {}
            answer = f"<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>{escape(key)}</Key>"
            answer += f"<UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
            return 200, answer.encode(), {}
        parts = self.bucket.uploads.pop(self.query["uploadId"], {})
        data = b"".join(parts[number] for number in sorted(parts))
        self.bucket.objects[key] = data
        answer = f"<CompleteMultipartUploadResult><ETag>{escape(etag_of(data))}</ETag>"
        return 200, f"{answer}</CompleteMultipartUploadResult>".encode(), {}

    def _delete(self, key: str, _: bytes) -> tuple[int, bytes, dict[str, str]]:
        self.bucket.uploads.pop(self.query.get("uploadId", ""), None)
        self.bucket.objects.pop(key, None)
        return 204, b"", {}

    def _listed(self) -> bytes:
        prefix = self.query.get("prefix", "")
        after = self.query.get("continuation-token") or self.query.get("start-after", "")
        keys = sorted(k for k in self.bucket.objects if k.startswith(prefix) and k > after)
        shown = keys[:PAGE]
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-01T00:00:00.000Z"
            f"</LastModified><ETag>{escape(etag_of(self.bucket.objects[key]))}</ETag>"
            f"<Size>{len(self.bucket.objects[key])}</Size></Contents>"
            for key in shown
        )
        more = len(keys) > len(shown)
        token = (
            f"<NextContinuationToken>{escape(shown[-1])}</NextContinuationToken>" if more else ""
        )
        return (
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}{rows}"
            "</ListBucketResult>"
        ).encode()


MODIFIED = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}


def etag_of(data: bytes) -> str:
    """Return the ETag that S3 gives an object."""
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


@contextmanager
def object_server() -> Iterator[tuple[str, Bucket]]:
    """Serve one bucket on this machine while the body runs; yield the endpoint and the bucket."""
    bucket = Bucket()
    handler = type("BucketHandler", (Handler,), {"bucket": bucket})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", bucket
    finally:
        server.shutdown()
        server.server_close()
