"""The journal's tables: observations, which are never edited; editions are built from them.

Offsets in mentions count characters from the start of their *passage*, because a passage that
occurs in several documents, or moves within one, is extracted once.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from schemas.imports import IMPORTED
from schemas.learning import CALIBRATED, EXPERT_ROWS, PolicyTraining
from schemas.row import Row
from schemas.statements import (
    ARGUMENTS,
    ATTRIBUTION,
    MODALITY,
    OBJECT,
    PLACE,
    POLARITY,
    PREDICATE,
    RIGHTNESS,
    SUBJECT,
    SUBJECT_NAME,
    TIME,
    USEFULNESS,
)
from schemas.verdicts import CONFIDENCE, Verdict

PASSAGE = Field(description="The passage from which it was extracted.")
ENGINE = Field(description="rules, openai or transformers.")
PROMPT = Field(description="Version of the prompt, or of the rules and their pipeline.")
START = Field(description="First character, counted from the start of the passage.")
END = Field(description="One past the last character.")
RUN = Field(description="The run that wrote it.")


class Scan(Row, table="scans", key=("scan_id",)):
    """One listing of a source; only a complete one may delete documents."""

    scan_id: str = Field(description="Unique.")
    run_id: str = RUN
    source: str = Field(description="The source as given, normalised.")
    complete: bool = Field(description="True only if every item of the source was listed.")
    items: int = Field(description="Items listed.")
    error: str | None = Field(None, description="Why the listing was not complete.")
    sensitivity: str | None = Field(
        None, description="normal, or sensitive if the refresh marked it so."
    )
    labels: list[str] | None = Field(
        None, description="The labels that the source has from now on; null if it keeps its own."
    )
    scanned_at: datetime = Field(description="When it ended (UTC).")


class ContainerRead(Row, table="container_reads", key=("source", "container", "scan_id")):
    """A file that was read completely; it is not read again until its fingerprint changes."""

    source: str = Field(description="The source as given, normalised.")
    container: str = Field(description="The file.")
    fingerprint: str = Field(description="A cheap sign that the file has not changed.")
    records: int = Field(description="Inputs found in it.")
    outcome: Literal["read", "gone"] = Field(
        description="gone: a complete scan no longer found it."
    )
    run_id: str = RUN
    scan_id: str = Field(description="The scan that found it.")


class Read(Row, table="reads", key=("source", "uri", "read_at")):
    """The outcome of reading one input; the last row of a (source, uri) is its current state."""

    source: str = Field(description="The source as given, normalised.")
    uri: str = Field(description="The input; `#` introduces a record inside a file.")
    container: str = Field(description="The file that holds it: the uri without its record.")
    version: str = Field(description="The version the source gave, or empty.")
    sha256: str = Field(description="SHA-256 of the bytes read; empty if none were.")
    content_id: str | None = Field(None, description="Its text in `contents`, if it was ingested.")
    metadata: str | None = Field(
        None,
        description="What the input says of itself, as in `documents`, with the list `labels` of "
        "its front matter; null in old rows.",
    )
    outcome: Literal["ingested", "refused", "removed"] = Field(description="What became of it.")
    reason: str | None = Field(None, description="Reason code of a refusal or removal.")
    sensitivity: str = Field(description="normal or sensitive.")
    run_id: str = RUN
    scan_id: str = Field(description="The scan that found it.")
    read_at: datetime = Field(description="When (UTC).")


class Content(Row, table="contents", key=("content_id",)):
    """A cleaned text; two inputs with the same title and text share it."""

    content_id: str = Field(description="SHA-256 of title and text.")
    title: str = Field(description="The title found in the text, else made from the uri.")
    language: str = Field(description="ISO 639-1 code, `und` if unclear.")
    text: str = Field(description="The cleaned text.")
    words: int = Field(description="Words (characters for Chinese).")
    minhash: bytes = Field(description="64 little-endian uint32 minima, for near duplicates.")
    page_starts: list[int] | None = Field(
        None, description="Character at which each page begins; null for formats without pages."
    )


class PassageBlock(BaseModel):
    """A part of a passage: what it is, its characters, and what introduces it."""

    kind: str
    start: int
    end: int
    lead: str | None  # null: the same as of the block before


class PassageSentence(BaseModel):
    """The characters of a passage that are one sentence."""

    start: int
    end: int


class SplitPassage(Row, table="pieces", key=("content_id", "splitter", "span_start")):
    """A passage and its place in the content from which it was cut."""

    content_id: str = Field(description="The text from which it is cut.")
    splitter: str = Field(description="Version of the splitter and its token budget.")
    passage_id: str = Field(
        description="Made from its text, its document's title, its headings and what is before it."
    )
    span_start: int = Field(description="First character in the content's text.")
    span_end: int = Field(description="One past the last character.")
    text: str = Field(description="Exactly the content's text from start to end.")
    title: str = Field(description="The content's title.")
    subject: str = Field(description="The title if the text uses it as a name, else empty.")
    headings: str = Field(description="The headings above it, outermost first, joined by ` > `.")
    before: str | None = Field(
        None,
        description="The passages before it below its heading, if it says he or she, whom they may "
        "name; else empty. Null in old rows.",
    )
    language: str = Field(description="The content's language.")
    blocks: list[PassageBlock] = Field(
        description="What the passage consists of: prose, item, pair, quotation, "
        "footnote, code, metadata, navigation, image, markup, page, or row of a table, whose kind "
        "says which column it is about; each with its span in the passage and what leads to it."
    )


class _FoundInPassage(Row, key=("passage_id", "engine", "prompt_sha", "ordinal")):
    """What one engine, with one prompt, found in a passage."""

    passage_id: str = PASSAGE
    engine: str = ENGINE
    prompt_sha: str = PROMPT


class Extraction(
    _FoundInPassage, table="extractions", key=("passage_id", "engine", "prompt_sha", "extracted_at")
):
    """One engine's attempt to extract from a passage, even if it yielded nothing."""

    outcome: Literal["complete", "failed"] = Field(
        description="failed: it is tried again, but not after three runs without a usable reply."
    )
    reason: str | None = Field(None, description="Why it failed, or why nothing could be found.")
    triples: int = Field(description="Triples found.")
    descriptions: int = Field(description="Descriptions found.")
    aspects: int = Field(description="Notes found.")
    aliases: int = Field(description="Aliases found.")
    names: int = Field(description="Names found.")
    statements: int | None = Field(None, description="Statements found; null in old rows.")
    sentences: list[PassageSentence] | None = Field(
        None, description="The whole sentences of its running text; null in old rows."
    )
    run_id: str = RUN
    extracted_at: datetime = Field(description="When (UTC).")


class NameMention(
    _FoundInPassage, table="name_mentions", key=("passage_id", "engine", "prompt_sha", "span_start")
):
    """A name in a passage, with or without facts about it."""

    name: str = Field(description="The name, cleaned of articles, possessives and line breaks.")
    kind: str = Field(description="person, place, organisation, work, event, thing or unknown.")
    kind_stated: bool | None = Field(
        None, description="Whether the text or the name itself shows the kind; else it is a guess."
    )
    kind_scores: list[float] | None = Field(
        None,
        description="The logarithms of the probabilities of person, place, organisation, work, "
        "event and thing, from this mention alone; null where no model scores them.",
    )
    capital_tells: bool | None = Field(
        None,
        description="False where a word of the dictionary may owe its capital to its place: at "
        "the start of a sentence, or in a line like a heading.",
    )
    span_start: int = START
    span_end: int = END


class TripleMention(_FoundInPassage, table="triple_mentions"):
    """A triple as a passage states it; names are not resolved yet."""

    ordinal: int = Field(description="Place among the passage's triples.")
    head: str = Field(description="Name of the subject; pronouns are replaced by it.")
    head_kind: str = Field(description="Its kind, or unknown.")
    relation: str = Field(description="The predicate, lemmatised, without the tail's words.")
    tail: str = Field(description="The object as written, without articles where it is a name.")
    tail_kind: str = Field(
        description="Kind of the tail if it is an entity, unknown if it may name one, else empty."
    )
    value_type: str = Field(description="entity, text, number, quantity, date or year.")
    number: float | None = Field(None, description="The tail's number, in `unit`.")
    unit: str | None = Field(None, description="The number's unit, in its common short form.")
    date: str | None = Field(None, description="The tail's date, ISO 8601, as stated, to the day.")
    valid_from: str | None = Field(None, description="Since when it holds, if stated.")
    valid_to: str | None = Field(None, description="Until when it holds, if stated.")
    polarity: str | None = Field(None, description="positive or negative; null is positive.")
    modality: str | None = Field(
        None, description="How it is meant, as in `statements`; null is asserted."
    )
    span_start: int = START
    span_end: int = END
    confidence: float = CONFIDENCE


class StatementMention(_FoundInPassage, table="statement_mentions"):
    """A clause as a passage states it, in its own words; a triple as a language model states it."""

    ordinal: int = Field(description="Place among the passage's statements.")
    subject: str = SUBJECT
    subject_name: str = SUBJECT_NAME
    predicate: str = PREDICATE
    object: str = OBJECT
    arguments: list[str] = ARGUMENTS
    time: str = TIME
    place: str = PLACE
    polarity: str = POLARITY
    modality: str = MODALITY
    attribution: str = ATTRIBUTION
    span_start: int = START
    span_end: int = END
    confidence: float = RIGHTNESS
    usefulness: float | None = USEFULNESS


class DescriptionMention(_FoundInPassage, table="description_mentions"):
    """A description as a passage gives it."""

    ordinal: int = Field(description="Place among the passage's descriptions.")
    entity: str = Field(description="Name of the entity described.")
    kind: str = Field(description="Its kind, or unknown.")
    text: str = Field(description="The description, in the passage's words.")
    span_start: int = START
    span_end: int = END
    confidence: float = CONFIDENCE


class AspectMention(_FoundInPassage, table="aspect_mentions"):
    """A note on an aspect of an entity, as a passage gives it."""

    ordinal: int = Field(description="Place among the passage's notes.")
    entity: str = Field(description="Name of the entity.")
    kind: str = Field(description="Its kind, or unknown.")
    aspect: str = Field(description="The aspect that the note covers.")
    text: str = Field(description="The note, at most three sentences from the passage.")
    question: str = Field(description="A question that the note answers.")
    span_start: int = START
    span_end: int = END
    confidence: float = CONFIDENCE


class AliasMention(_FoundInPassage, table="alias_mentions"):
    """Two names that mean the same entity, according to a passage."""

    ordinal: int = Field(description="Place among the passage's aliases.")
    name: str = Field(description="The fuller name.")
    alias: str = Field(description="The other name.")
    kind: str = Field(description="Kind of the entity, or unknown.")
    span_start: int = START
    span_end: int = END
    confidence: float = CONFIDENCE


class ModelReply(Row, table="model_replies", key=("request_sha",)):
    """A language model's reply that passed all checks; answered requests are not sent again."""

    request_sha: str = Field(
        description="Hash of purpose, endpoint, model, prompt version and input."
    )
    purpose: str = Field(description="extract, link, program, answer …")
    model: str = Field(description="The model that was asked.")
    prompt_sha: str = Field(description="Version of the prompt.")
    passage_ids: list[str] = Field(description="The passages it was about, in order.")
    reply: str = Field(description="The reply, JSON in the purpose's reply schema.")
    call_id: str = Field(description="The call that returned it.")
    replied_at: datetime = Field(description="When (UTC).")


class Vector(Row, table="vectors", key=("encoder", "text_sha")):
    """The vector that an encoder computed for a text."""

    encoder: str = Field(description="Name and hash of the encoder.")
    text_sha: str = Field(description="SHA-256 of the text.")
    vector: bytes = Field(description="Unit vector in little-endian float16, or float32.")


class Override(Row, table="overrides", key=("override_id",)):
    """A person's correction, which every later edition applies."""

    override_id: str = Field(description="Unique.")
    action: Literal["merge", "split", "reject", "exclude", "relation", "withdraw"] = Field(
        description="merge two entities, split one, reject a fact, exclude a run or document, "
        "name a relation, withdraw a correction."
    )
    subject: str = Field(
        description="Id of the entity, fact, document, run or correction; a relation's wording."
    )
    object: str | None = Field(
        None,
        description="merge: the entity that stays; split: a name; relation: the relation that the "
        "wording means, null if it is one by itself.",
    )
    name: str | None = Field(None, description="merge: the name of the merged entity.")
    inverse: bool | None = Field(
        None, description="relation: whether the wording says it from the tail."
    )
    reason: str | None = Field(None, description="Why, in the person's words.")
    made_at: datetime = Field(description="When (UTC).")


class EntityAnchor(Row, table="entity_anchors", key=("anchor", "entity_id")):
    """An assigned entity id, which stays with the names to which it was assigned."""

    anchor: str = Field(description="Graph, normalised name and document that received the id.")
    entity_id: str = Field(description="The id.")
    edition: str = Field(description="The edition that assigned it.")


class RelationName(Row, table="relation_names", key=("wording", "tail", "edition")):
    """The relation that a wording means, as an edition decided; later editions keep to it."""

    wording: str = Field(description="The relation as stated.")
    tail: str = Field(description="What its tails are: thing, time or measure.")
    relation: str = Field(description="The relation that it means.")
    turned: bool = Field(description="Whether it says the relation from the tail.")
    vocabulary: str = Field(description="The version of the vocabulary of common relations.")
    edition: str = Field(description="The edition that decided it.")


EXTRACTED: tuple[type[Row], ...] = (
    NameMention,
    TripleMention,
    StatementMention,
    DescriptionMention,
    AspectMention,
    AliasMention,
)
JOURNAL: tuple[type[Row], ...] = (
    Scan,
    ContainerRead,
    Read,
    Content,
    SplitPassage,
    Extraction,
    *EXTRACTED,
    ModelReply,
    Vector,
    Override,
    Verdict,
    EntityAnchor,
    RelationName,
    *IMPORTED,
    *CALIBRATED,
    *EXPERT_ROWS,
    PolicyTraining,
)
