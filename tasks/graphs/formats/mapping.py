"""The mapping file: a few lines of YAML that tell a reader what it cannot guess.

Its rules turn records into entities, aliases and triples.
"""

import re
from collections.abc import Mapping as Words
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from schemas.errors import UsageError
from tasks.text.plain_yaml import parse_yaml

MAX_BYTES = 1_000_000
Templates = str | list[str]


class RecordPart(BaseModel):
    """A part of a mapping file; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MatchingRule(RecordPart):
    """A rule for records that match."""

    match: dict[str, re.Pattern[str]] = Field(
        {}, description="Applies where these paths match as a whole; named groups become fields."
    )


class EntityRule(MatchingRule):
    """An entity in a record; the first of several templates that can be filled is used."""

    key: Templates
    name: Templates | None = None
    kind: str | None = None
    description: Templates | None = None
    aliases: list[str] = []


class TripleRule(MatchingRule):
    """A triple in a record; `[head, relation, tail]` for short."""

    head: Templates
    relation: str
    tail: Templates
    value: bool = Field(False, description="Whether the tail is a value, not an entity.")

    @model_validator(mode="before")
    @classmethod
    def _from_three(cls, given: Any) -> Any:
        if isinstance(given, list) and len(given) == 3:
            return dict(zip(("head", "relation", "tail"), given, strict=True))
        return given


class RecordRule(MatchingRule):
    """The rows made from a record, and from the records inside it."""

    entities: list[EntityRule] = []
    triples: list[TripleRule] = []
    each: list["InnerRule"] = []

    @property
    def says_something(self) -> bool:
        """Whether the rule makes any rows."""
        return bool(self.entities or self.triples or self.each)


class InnerRule(RecordRule):
    """The records at a path of another record."""

    path: str


RecordRule.model_rebuild()


class TableMapping(RecordPart):
    """A table of words and their meanings, read from the records of a file."""

    file: str
    key: str
    value: str


Table = Annotated[TableMapping | dict[str, str], Field(union_mode="left_to_right")]


class FileMapping(RecordRule):
    """How to read one file."""

    file: str | None = Field(None, description="Its path, from the folder that is imported.")
    format: str | None = Field(None, description="As --format; guessed if not given.")
    delimiter: str | None = Field(None, description="The text between columns.")
    columns: dict[str, int | str] | None = Field(
        None, description="head, relation, tail, weight, or entity and alias: number or header."
    )
    relations: dict[str, str] = Field({}, description="Other names for relations.")
    alias_relations: list[str] = Field(
        [], description="Relations whose tails are other names of their heads."
    )
    records: str | None = Field(None, description="Where the records lie in YAML or JSON.")

    @field_validator("columns", mode="before")
    @classmethod
    def _numbers_of_columns(cls, columns: Any) -> Any:
        if not isinstance(columns, Words):
            return columns
        return {
            k: int(v) if isinstance(v, str) and v.isdecimal() else v for k, v in columns.items()
        }


class Mapping(FileMapping):
    """A mapping file for one file, or for the files in a folder."""

    language: str | None = Field(None, description="Language of the names.")
    files: list[FileMapping] = Field([], description="The folder's files.")
    tables: dict[str, Table] = Field({}, description="Tables in which templates look words up.")


def load_mapping(path: Path) -> Mapping:
    """Return a mapping file's content; raise UsageError if it is wrong."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"The mapping {path} cannot be read: {error.strerror}.") from error
    if len(text) > MAX_BYTES:
        raise UsageError(f"The mapping {path} is larger than {MAX_BYTES} bytes.")
    content = parse_yaml(text, str(path))
    if not isinstance(content, Words):
        raise UsageError(f"The mapping {path} must be a YAML mapping, such as `columns: ...`.")
    try:
        return Mapping.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise UsageError(f"The mapping {path} is wrong at {where}: {first['msg']}.") from None
