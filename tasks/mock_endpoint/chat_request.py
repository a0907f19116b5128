"""The request for a chat completion, parsed and validated."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, Field, model_validator

from tasks.mock_endpoint.options import EndpointOptions
from tasks.mock_endpoint.replies import ApiError, RequestSummary, read_body
from tasks.models.prompts import purpose_of
from tasks.models.tokens import estimate_tokens

MESSAGE_TOKENS = 4  # tokens billed per message in addition to its text
MOST_RIVALS = 20
FIRST = 2  # messages that a second attempt repeats: system and user
Room = Annotated[int, Field(ge=1, strict=True)]


class JsonSchema(BaseModel):
    """The schema of a reply."""

    value: dict[str, Any] = Field(alias="schema")


class ResponseFormat(BaseModel):
    """The form that a reply must have."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None

    @model_validator(mode="after")
    def _has_its_schema(self) -> "ResponseFormat":
        if self.type == "json_schema" and self.json_schema is None:
            raise ValueError("json_schema.schema must be an object")
        return self


class ChatRequest(BaseModel):
    """The body of a request as in OpenAI's API, without the fields that are not used here."""

    model: str
    messages: list[dict[str, Any]] = Field(min_length=1)
    response_format: ResponseFormat | None = None
    n: Literal[1] | None = None
    max_completion_tokens: Room | None = None
    max_tokens: Room | None = None
    stream: Any = None
    stream_options: Any = None
    logprobs: Annotated[bool, Field(strict=True)] | None = None
    top_logprobs: Annotated[int, Field(strict=True, ge=0, le=MOST_RIVALS)] | None = None

    @model_validator(mode="after")
    def _names_rivals_only_with_logprobs(self) -> "ChatRequest":
        if self.top_logprobs is not None and not self.logprobs:
            raise ValueError("top_logprobs needs logprobs to be true")
        return self

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """The role and the text of each message."""
        return _texts_of(self.messages)

    @cached_property
    def sha(self) -> str:
        """The hash of the conversation."""
        return _sha(self.texts)

    @cached_property
    def first_sha(self) -> str:
        """The hash of its first messages, which a second attempt at a bad reply repeats."""
        return _sha(self.texts[:FIRST])

    @property
    def purpose(self) -> str | None:
        """The purpose of the prompt, if it is one of Almanac's."""
        return purpose_of(self.system)

    @property
    def form(self) -> str:
        """The form of the reply: text, json_object or json_schema."""
        return self.response_format.type if self.response_format else "text"

    @property
    def reply_schema(self) -> dict[str, Any] | None:
        """The schema of the reply, if its form is json_schema."""
        given = self.response_format.json_schema if self.response_format else None
        return given.value if given and self.form == "json_schema" else None

    @property
    def most_tokens(self) -> int | None:
        """The largest number of tokens that the reply may have."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def includes_usage(self) -> bool:
        """Whether the usage is sent at the end of a stream."""
        options = self.stream_options
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def rivals(self) -> int | None:
        """How many alternatives to list per token; None: no probabilities at all."""
        return (self.top_logprobs or 0) if self.logprobs else None

    @property
    def system(self) -> str:
        """The first message's text, if it is an instruction."""
        role, text = self.texts[0]
        return text if role in ("system", "developer") else ""

    @property
    def user(self) -> str:
        """The first text of the user."""
        return next((text for role, text in self.texts if role == "user"), "")

    def prompt_tokens(self) -> int:
        """Return the number of tokens in the messages and the schema."""
        system, schema = self.system, self.reply_schema
        fixed = [system, orjson.dumps(schema).decode(errors="replace") if schema else ""]
        texts = [text for _, text in self.texts if text is not system]
        tokens = sum(map(_fixed_tokens, fixed)) + sum(map(estimate_tokens, texts))
        return tokens + MESSAGE_TOKENS * len(self.texts)

    def summary(self) -> RequestSummary:
        """Return the summary that the ledger keeps."""
        return RequestSummary(self.purpose, self.sha, self.first_sha, None, self.model)


def read_chat(body: bytes | dict[str, Any], options: EndpointOptions) -> ChatRequest:
    """Parse a body; raise RefusedError for a request that a real endpoint would refuse too."""
    chat = read_body(ChatRequest, body)
    form = chat.form
    if (options.plain and form != "text") or (options.json_only and form == "json_schema"):
        raise ApiError(
            400, f"response_format {form} is not supported here", param="response_format"
        )
    return chat


def messages_sha(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of a conversation in the ledger: SHA-256 of its roles and texts."""
    return _sha(_texts_of(messages))


def _sha(texts: Sequence[tuple[str, str]]) -> str:
    data = b"\x1f".join(part.encode(errors="replace") for pair in texts for part in pair)
    return hashlib.sha256(data).hexdigest()


def _texts_of(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(str(message.get("role")), _text_of(message.get("content"))) for message in messages]


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


@lru_cache(maxsize=256)
def _fixed_tokens(text: str) -> int:
    return estimate_tokens(text)
