"""The JSON schema of a reply in the form that strict endpoints and constrained decoding need."""

from functools import cache
from typing import Any

from pydantic import BaseModel

_KEPT = {"type", "properties", "items", "enum", "const", "anyOf"}
_LENGTHS = {"minItems", "maxItems", "maxLength"}


@cache
def strict_schema(reply: type[BaseModel], *, lengths: bool = False) -> dict[str, Any]:
    """Return a reply's JSON schema: references inlined, every key required, no other allowed.

    It has no titles or descriptions, and `lengths` only for constrained decoding: not all endpoints
    accept limits on lengths, and they cost tokens in every call. Replies are validated against
    these limits in any case.
    """
    schema = reply.model_json_schema(mode="serialization")
    kept = _KEPT | _LENGTHS if lengths else _KEPT
    return _strict(schema, schema.get("$defs", {}), kept)


def _strict(schema: dict[str, Any], definitions: dict[str, Any], kept: set[str]) -> dict[str, Any]:
    if "$ref" in schema:
        return _strict(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions, kept)
    strict = {key: value for key, value in schema.items() if key in kept}
    if "properties" in strict:
        strict["properties"] = {
            name: _strict(inner, definitions, kept) for name, inner in strict["properties"].items()
        }
        strict["required"] = list(strict["properties"])
        strict["additionalProperties"] = False
    if "prefixItems" in schema:  # a row of a fixed number of texts
        strict["items"] = schema["prefixItems"][0]
    if "items" in strict:
        strict["items"] = _strict(strict["items"], definitions, kept)
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(option, definitions, kept) for option in strict["anyOf"]]
    return strict
