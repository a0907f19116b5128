"""Bearer tokens: who may read, judge and correct. Only their hashes are stored.

A token is 32 random bytes, so that one SHA-256 is enough: nobody can try them out, as passwords.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from schemas.errors import DamageError, NotFoundError, UsageError
from warehouse import durable

TOKENS_FILE = "tokens.json"
Scope = Literal["read", "feedback", "write"]


class Reader(BaseModel):
    """Who asks, and what is allowed to them."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(description="Unique.")
    scopes: tuple[Scope, ...] = Field(
        ("read",),
        description="read (see and ask), feedback (judge), write (correct as `almanac override`).",
    )
    labels: tuple[str, ...] = Field(
        (), description="Documents with labels are hidden unless all their labels are among these."
    )


class Token(Reader):
    """A token as it is stored."""

    sha256: str = Field(description="Of the token.")
    made_at: datetime = Field(description="When (UTC).")


_TOKENS = TypeAdapter(list[Token])


class Tokens:
    """The tokens in a file, which is read again when it changes, so that one removed is refused."""

    def __init__(self, file: Path) -> None:
        """Remember the file, which need not exist."""
        self.file = file
        self._read: tuple[tuple[int, int] | None, list[Token]] = (None, [])

    def all(self) -> list[Token]:
        """Return the tokens; raise DamageError if the file is none of ours."""
        try:
            state = self.file.stat()
        except FileNotFoundError:
            return []
        version = (state.st_mtime_ns, state.st_ino)
        if self._read[0] != version:
            try:
                self._read = version, _TOKENS.validate_json(self.file.read_bytes())
            except ValidationError as error:
                raise DamageError(
                    f"The file {self.file} does not hold tokens. Move it away, and add the tokens "
                    "again with `almanac tokens add`."
                ) from error
        return self._read[1]

    def reader_of(self, token: str) -> Reader | None:
        """Return whose token this is; every hash is compared, each in constant time."""
        given = hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
        found = [known for known in self.all() if hmac.compare_digest(known.sha256, given)]
        return found[0] if found else None

    def add(self, name: str, scopes: Iterable[Scope], labels: Iterable[str] = ()) -> str:
        """Store a new token's hash under a name, and return the token, which nobody can tell again.

        Raises UsageError if the name is taken.
        """
        known = self.all()
        if name in {token.name for token in known}:
            raise UsageError(f"There is a token {name!r} already; remove it, or choose a name.")
        token = secrets.token_urlsafe(32)
        row = Token(
            name=name,
            scopes=tuple(dict.fromkeys(scopes)),
            labels=tuple(dict.fromkeys(labels)),
            sha256=hashlib.sha256(token.encode()).hexdigest(),
            made_at=datetime.now(UTC),
        )
        self._write([*known, row])
        return token

    def remove(self, name: str) -> None:
        """Remove the token of this name; raise NotFoundError if there is none."""
        known = self.all()
        kept = [token for token in known if token.name != name]
        if len(kept) == len(known):
            names = ", ".join(token.name for token in known) or "none"
            raise NotFoundError(f"There is no token {name!r}. The tokens: {names}.")
        self._write(kept)

    def _write(self, tokens: list[Token]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        durable.write_json(self.file, _TOKENS.dump_python(tokens, mode="json"))
        self.file.chmod(0o600)
