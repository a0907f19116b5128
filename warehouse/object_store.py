"""A store of objects, such as S3: requests with retries, and changes that one writer alone wins.

Credentials come from the environment, as the library `obstore` reads it, and are neither kept nor
shown. An object is there whole or not at all. A conditional put whose reply was lost is told from
a lost race by reading back: what is put conditionally has a token of its own.
"""

import logging
import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import orjson

from schemas.errors import DamageError, StoreError, UsageError
from warehouse import durable

SCHEMES = ("s3", "gs", "az")
STORE_MARK = "store.json"  # in a folder that mirrors a home in a store: its address
ATTEMPTS = 6  # of a request that fails; waits 0.1 to 3.2 s grow between them, with jitter
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0  # seconds
SILENCE = 10.0  # seconds for which those who can go on without the store wait for it
AWAY_SECONDS = 30.0  # that they then go on without asking it again
THREADS = 16  # requests at once
KEPT_TOKENS = 64  # of the last changes of an object, by which a writer finds its own
KEPT = "Nothing is lost: finished work is kept on this machine and is sent at the next run."
_CHUNK = 1 << 20
_STATUS = re.compile(r"status code: (\d{3} ?[\w ]*)")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

log = logging.getLogger(__name__)

_can_do_without: ContextVar[bool] = ContextVar("can_do_without", default=False)

State = dict[str, Any]
R = TypeVar("R")


def checked_address(text: str) -> str:
    """Return an address in its plain form; raise UsageError, without repeating it, if unusable."""
    parts = urlsplit(text)
    if parts.username or parts.password or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageError(
            f"The address of a home in an object store is {parts.scheme}://BUCKET/FOLDER and no "
            "more. Credentials come from the environment, such as AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY."
        )
    steps = [step for step in parts.path.split("/") if step]
    if not parts.netloc or {".", ".."}.intersection(steps):
        raise UsageError(f"{text} does not name a bucket: write {parts.scheme}://BUCKET/FOLDER.")
    return "/".join([f"{parts.scheme.lower()}://{parts.netloc}", *steps])


class ObjectStore:
    """The objects below an address; keys are relative to it."""

    def __init__(self, address: str) -> None:
        """Make no request yet; raises UsageError if the address or the environment is unusable."""
        import obstore
        from obstore import store

        self.address = checked_address(address)
        self._library, self._errors = obstore, obstore.exceptions
        options: dict[str, Any] = {
            "client_options": {
                "allow_http": _plain_http_is_allowed(),
                "connect_timeout": timedelta(seconds=5),
                "timeout": timedelta(seconds=120),
            },
            "retry_config": {"max_retries": 0},  # the retries are ours, as they read back
        }
        if self.address.startswith("s3:") and os.environ.get("AWS_PROFILE"):
            options["credential_provider"] = _profile()
        try:
            self._patient = store.from_url(self.address, **options)
            options["client_options"] |= {"read_timeout": timedelta(seconds=SILENCE)}
            self._impatient = store.from_url(self.address, **options)
        except (self._errors.BaseError, ValueError) as error:
            what = str(error).partition("\n")[0]
            raise UsageError(f"{self.address} cannot be opened: {what}.") from None

        self._away_until = 0.0

    @property
    def is_away(self) -> bool:
        """Whether the store failed a moment ago somebody who can go on without it."""
        return time.monotonic() < self._away_until

    @property
    def _store(self) -> Any:
        """The client for a request; StoreError if it would be waited for in vain."""
        if not _can_do_without.get():
            return self._patient
        if self.is_away:
            raise StoreError(f"{self.address} did not answer a moment ago.")
        return self._impatient

    # -- requests -----------------------------------------------------------------------------

    def get(self, key: str, unless: str | None = None) -> tuple[bytes, str] | None:
        """Return an object's bytes and ETag; None if there is none, or it still has this ETag."""

        def request() -> tuple[bytes, str]:
            options: Any = {"if_none_match": unless} if unless else {}
            reply = self._library.get(self._store, key, options=options)
            return bytes(reply.bytes()), str(reply.meta["e_tag"])

        try:
            return self._tried("read", key, request)
        except (FileNotFoundError, self._errors.NotModifiedError):
            return None

    def fetch(self, key: str, path: Path, sha256: str) -> None:
        """Write an object to a file, whole or not at all; raise DamageError unless it has the hash.

        FileNotFoundError is raised if there is no such object.
        """
        temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.{os.getpid()}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)

        def request() -> None:
            reply = self._library.get(self._store, key)
            with temporary.open("wb") as file:
                for chunk in reply.stream(min_chunk_size=_CHUNK):
                    file.write(chunk)

        try:
            self._tried("read", key, request)
            if durable.sha256_file(temporary) != sha256:
                raise DamageError(f"{self.address}/{key} is not what was written there.")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def put(self, key: str, data: bytes | Path) -> str:
        """Write an object and return its ETag; large ones are sent in parts."""
        return str(self._tried("write", key, lambda: self._put(key, data))["e_tag"])

    def create(self, key: str, data: bytes) -> bool:
        """Write an object if there is none; return False if somebody else's is there.

        The data must hold a token, so that they differ from what anybody else writes.
        """
        try:
            self._tried("write", key, lambda: self._put(key, data, "create"))
            return True
        except (self._errors.AlreadyExistsError, self._errors.PreconditionError):
            found = self.get(key)
            # Without an object, a conflict of two requests was refused: nobody has won yet.
            return self.create(key, data) if found is None else found[0] == data

    def change(self, key: str, change: Callable[[State], State]) -> State:
        """Change a JSON object, {} if there is none, as if nobody else did at the same time.

        `change` is called again with the new state if somebody else was faster, and may raise to
        give up. `version` of the state counts the changes.
        """
        token, losses, since = uuid4().hex, 0, time.monotonic()
        while True:
            found = self.get(key)
            state = self.state(key, found[0]) if found else {}
            tokens = state.get("tokens", [])
            if token in tokens:
                return state  # an earlier attempt won, and its reply was lost
            changed = {
                **change(state),
                "version": state.get("version", 0) + 1,
                "tokens": [*tokens[1 - KEPT_TOKENS :], token],
            }
            mode = {"e_tag": found[1]} if found else "create"
            try:
                self._put(key, orjson.dumps(changed), mode)
                return changed
            except (self._errors.AlreadyExistsError, self._errors.PreconditionError):
                losses = 0  # somebody was faster, so somebody goes on
                _wait(0)
            except (self._errors.BaseError, OSError) as error:
                losses += 1
                self._give_up_or_wait("write", key, error, losses, since)

    def listing(self, prefix: str, after: str | None = None) -> dict[str, str]:
        """Return the ETags of the objects whose keys begin with a prefix that ends in /, by key.

        Keys are in order; only those `after` one are returned if it is given.
        """

        def request() -> dict[str, str]:
            pages = self._library.list(self._store, prefix, offset=after)
            return {one["path"]: str(one["e_tag"]) for page in pages for one in page}

        return dict(sorted(self._tried("list", prefix, request).items()))

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the bytes of each object whose key begins with a prefix that ends in /, by key."""

        def request() -> dict[str, int]:
            pages = self._library.list(self._store, prefix)
            return {one["path"]: int(one["size"]) for page in pages for one in page}

        return self._tried("list", prefix, request)

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects; those that are not there are no error."""
        listed = list(keys)
        with suppress(FileNotFoundError):
            self._tried("delete", "", lambda: self._library.delete(self._store, listed))

    def all_of(self, work: Callable[[Any], R], items: Iterable[Any]) -> list[R]:
        """Return the results of requests for items, many at once, in order."""
        listed = list(items)
        if len(listed) < 2:
            return [work(item) for item in listed]
        haste = (_can_do_without.get(),)
        with ThreadPoolExecutor(
            THREADS, initializer=_can_do_without.set, initargs=haste
        ) as threads:
            return list(threads.map(work, listed))

    def _put(self, key: str, data: bytes | Path, mode: Any = None) -> Any:
        return self._library.put(self._store, key, data, mode=mode)

    def state(self, key: str, data: bytes) -> State:
        """Return the state that `change` wrote to an object; raise DamageError if it is none."""
        with suppress(ValueError, TypeError):
            state = dict(orjson.loads(data))
            if "version" in state:
                return state
        raise DamageError(
            f"{self.address}/{key} is not what was written there. Put an earlier version of it "
            "back, which a bucket that keeps versions has."
        )

    # -- failures -----------------------------------------------------------------------------

    def _tried(self, what: str, key: str, request: Callable[[], R]) -> R:
        """Return the result of a request, repeated while that may help."""
        failures, since = 0, time.monotonic()
        while True:
            try:
                return request()
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error):
                    raise UsageError(f"There is no bucket for {self.address}.") from None
                raise
            except (
                self._errors.AlreadyExistsError,
                self._errors.PreconditionError,
                self._errors.NotModifiedError,
            ):
                raise
            except (self._errors.BaseError, OSError) as error:
                failures += 1
                self._give_up_or_wait(what, key, error, failures, since)

    def _give_up_or_wait(
        self, what: str, key: str, error: Exception, failures: int, since: float
    ) -> None:
        impatient = _can_do_without.get()
        refused = (self._errors.PermissionDeniedError, self._errors.UnauthenticatedError)
        again, end = ("", "") if impatient else (", then run the command again", f" {KEPT}")
        status = _STATUS.search(str(error))
        words = status[1].strip() if status else "no reply"
        place = f"{self.address}/{key}"
        late = impatient and time.monotonic() - since >= SILENCE
        last = late or failures >= ATTEMPTS
        if impatient and (last or isinstance(error, refused)):
            self._away_until = time.monotonic() + AWAY_SECONDS
        if isinstance(error, refused):
            raise StoreError(
                f"{place}: the store refused to {what} it ({words}). Check the credentials in the "
                f"environment, and what they may do in this bucket.{end}"
            ) from None
        if last:
            attempts = f"{failures} attempt{'s' * (failures > 1)}"
            raise StoreError(
                f"{place}: the store could not {what} it ({words}, {attempts}). Check the "
                f"network, the region and AWS_ENDPOINT_URL{again}.{end}"
            ) from None
        _wait(failures)


@dataclass
class Mirror:
    """A folder on this machine, the store that it mirrors, and the lease of this process."""

    folder: Path
    store: ObjectStore
    fence: int = 0  # the fencing number of the lease; 0 without one
    leases: int = 0  # taken by this process; after each, the store is looked at again


@contextmanager
def doing_without() -> Iterator[None]:
    """Have requests of the body fail soon, with StoreError, if the store does not answer."""
    token = _can_do_without.set(True)
    try:
        yield
    finally:
        _can_do_without.reset(token)


@contextmanager
def falling_back(store: ObjectStore, is_known: Callable[[], bool]) -> Iterator[None]:
    """Go on, with one warning, if the store fails in the body and this machine has what is read.

    So it does if what the store has is damaged.
    """
    if not is_known():
        yield
        return
    was_away = store.is_away
    try:
        with doing_without():
            yield
    except (StoreError, DamageError) as error:
        if not was_away:
            log.warning("Read is what this machine has. %s", error)


def _wait(failures: int) -> None:
    """Sleep before the next attempt, for a random time that grows (full jitter, Brooker 2015)."""
    time.sleep(random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2**failures)))


def _plain_http_is_allowed() -> bool:
    """Return whether the endpoint is on this machine, or the environment allows plain http.

    Raises UsageError for plain http to another machine, which would show the data to the network.
    """
    allowed = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("true", "1")
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        endpoint = urlsplit(os.environ.get(name, ""))
        if endpoint.scheme == "http" and endpoint.hostname not in _LOOPBACK and not allowed:
            raise UsageError(
                f"{name} is plain http to {endpoint.hostname}: what is sent could be read on the "
                "way. Use https, or set AWS_ALLOW_HTTP=true if the network is your own."
            )
        allowed = allowed or endpoint.scheme == "http"
    return allowed


def _profile() -> Any:
    """Return the credentials of the AWS profile that the environment names, kept fresh."""
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ModuleNotFoundError:
        raise UsageError(
            "AWS_PROFILE needs the library boto3: `pip install boto3` adds it. Or set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead."
        ) from None
    return Boto3CredentialProvider()
