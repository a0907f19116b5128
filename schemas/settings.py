"""Settings: frozen, typed once, read from `settings.toml` in the home and from the command line."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReadSettings(_Settings):
    """What is accepted from sources."""

    max_file_bytes: int = Field(100_000_000, ge=1, description="Larger files are refused, unread.")
    max_dump_bytes: int = Field(
        100_000_000_000, ge=1, description="The same for files of many records, which are streamed."
    )
    max_text_chars: int = Field(5_000_000, ge=1, description="Longer texts are refused.")
    max_expansion: int = Field(
        200, ge=1, description="A compressed input may grow this many times."
    )
    max_seconds: float = Field(
        30.0, gt=0, description="A document, page or record may take so long."
    )
    text_column: str = Field("text", description="Column of CSV, TSV, Parquet, JSON records.")
    passage_tokens: int = Field(160, ge=1, description="Budget of a passage, in words and signs.")


class EngineSettings(_Settings):
    """Who does the language work."""

    engine: Literal["rules", "openai", "transformers"] = "rules"
    english_pipeline: str | None = Field(
        None, description="Name or path of a spaCy pipeline, such as en_core_web_sm."
    )
    encoder: str = Field(
        "minilm", description="minilm (packaged), a sentence-transformers name or path, or none."
    )
    chinese_encoder: str | None = Field(
        None, description="A multilingual encoder for Chinese; lexical matching without one."
    )


class PublishSettings(_Settings):
    """When an edition may be published and how long it is kept."""

    max_delete: float = Field(
        0.2, ge=0, le=1, description="Share of documents a refresh may delete unasked."
    )
    free_deletions: int = Field(10, ge=0, description="So many deletions never need asking.")
    max_rejected: float = Field(
        0.5, ge=0, le=1, description="Share of passages whose extraction may fail."
    )
    max_shrink: float = Field(
        0.5, ge=0, le=1, description="A fact table may shrink by this share unasked."
    )
    keep_editions: int = Field(5, ge=1, description="Editions always kept.")
    keep_days: float = Field(7.0, ge=0, description="Younger editions are kept too.")


class SqlSettings(_Settings):
    """Limits of a query that people write."""

    seconds: float = Field(60.0, gt=0, description="A query that runs longer is ended.")
    memory_mb: int = Field(2048, ge=1, description="A query that needs more is ended.")
    threads: int = Field(2, ge=1, description="Threads of a query.")


class Settings(_Settings):
    """Everything that can be set."""

    read: ReadSettings = ReadSettings()
    engine: EngineSettings = EngineSettings()
    publish: PublishSettings = PublishSettings()
    sql: SqlSettings = SqlSettings()
    workers: int = Field(2, ge=1, description="Processes that extract.")
    runner: Literal["threads", "dask"] = Field("threads", description="Prefect's task runner.")
    dask_address: str | None = Field(None, description="A running cluster; local if none.")


def load_settings(home: Path) -> Settings:
    """Return the settings of a home; a missing file means defaults, an unknown key an error."""
    import tomllib

    path = home / "settings.toml"
    if not path.exists():
        return Settings()
    return Settings.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
