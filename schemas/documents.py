"""Documents and their passages, as analysts see them in an edition."""

from datetime import datetime

from pydantic import Field

from schemas.row import Row

NOTES = "remember"  # the source of what the user had remembered


class Document(Row, table="documents", key=("document_id",)):
    """A text of the corpus in its current version; exact duplicates are stored once."""

    document_id: str = Field(description="Stable over versions: made from source and uri.")
    source: str = Field(description="The source from which it was read.")
    uri: str = Field(description="Its location; `#` introduces the record inside a file.")
    title: str = Field(description="The title in the text, else from the uri; empty for a note.")
    language: str = Field(description="ISO 639-1 code detected from the text, `und` if unclear.")
    text: str = Field(description="The cleaned text; all spans count its characters.")
    sha256: str = Field(description="SHA-256 of the bytes read; of a streamed table, of its text.")
    version: str = Field(
        description="The version that the source gave, else the start of `sha256`."
    )
    sensitivity: str = Field(description="`normal`, or `sensitive` if its source is marked so.")
    read_at: datetime = Field(description="When this version was first read (UTC).")
    near_duplicate_of: str | None = Field(
        None, description="An earlier document with nearly the same text, if there is one."
    )
    duplicates: list[str] = Field(description="Other uris that hold exactly this text.")
    words: int = Field(description="Words of the text (characters for Chinese).")
    page_starts: list[int] | None = Field(
        None, description="Character at which each page begins; null for formats without pages."
    )
    metadata: str | None = Field(
        None,
        description="What the document says of itself, as JSON: `metadata->>'author'` (several are "
        "joined by `; `), `date`, `modified`, `language`, `description`, `publisher`, `license`, "
        "further fields of its front matter, and the list `tags`; null if nothing, or if it was "
        "read by a version without metadata.",
    )
    labels: list[str] | None = Field(
        None,
        description="Its own labels and those of its source: readers who lack a label do not "
        "see it (`--label`). Null in editions of versions without labels.",
    )


def remembered_on(source: str, read_at: datetime) -> str | None:
    """Return the day (UTC, ISO 8601) on which a document was remembered; None if it was not."""
    return f"{read_at:%Y-%m-%d}" if source == NOTES else None


# The same of a row of `documents`, in SQL.
REMEMBERED = (
    f"if(source = '{NOTES}', strftime(make_timestamp(epoch_us(read_at)), '%Y-%m-%d'), null) "
    "as remembered"
)


def cited_as(uri: str | None, remembered: str | None) -> str:
    """Return how readers are shown a document: its location, or when it was remembered.

    `remembered` is that day, None for other documents. A remembered file is shown by its name, too.
    """
    if remembered is None:
        return uri or ""
    file = (uri or "").partition("/")[2]
    return ", ".join(filter(None, (file, f"remembered on {remembered}")))


class Passage(Row, table="passages", key=("document_id", "span_start")):
    """A part of a document's text, cut at sentence ends within a token budget."""

    passage_id: str = Field(description="Made from its text, its document's title and headings.")
    document_id: str = Field(description="The document that it is from.")
    span_start: int = Field(description="First character in the document's text.")
    span_end: int = Field(description="One past the last character.")
    text: str = Field(description="Exactly the document's text from start to end.")
    headings: str = Field(description="The headings above it, outermost first, joined by ` > `.")
    page: int | None = Field(
        None, description="Page on which it begins, from 1; null for formats without pages."
    )
    sensitivity: str | None = Field(
        None, description="`sensitive` if its text occurs in a sensitive document."
    )


class SourceYield(Row, table="yields", key=("source", "language")):
    """How much of a source's running text became knowledge, by language.

    Notes are left out: they quote sentences whether or not these were understood. Passages
    extracted before sentences were counted are left out too, until they are extracted again.
    """

    source: str = Field(description="The source.")
    language: str = Field(description="The documents' language.")
    documents: int = Field(description="Documents with at least one whole sentence.")
    sentences: int = Field(description="Whole sentences of running text.")
    with_statement: int = Field(
        description="Sentences of which a statement was read, whether it is published or not."
    )
    with_fact: int = Field(
        description="Sentences that gave a published triple, description or alias."
    )
    read_statements: int = Field(
        0, description="Statements that were read of the documents, published or not."
    )
    about_us: int = Field(0, description="Of these, those about “we” or something of ours.")
