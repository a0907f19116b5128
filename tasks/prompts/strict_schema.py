"""The JSON schema of a reply in the form that strict endpoints and constrained decoding take."""

from copy import deepcopy
from functools import cache
from typing import Any

from pydantic import BaseModel

_KEPT = {"type", "properties", "items", "enum", "const", "anyOf"}


@cache
def strict_schema(reply: type[BaseModel]) -> dict[str, Any]:
    """Return a reply's JSON schema: references inlined, every key required, no other allowed.

    Titles, descriptions and bounds are left out: they cost tokens in every call, and the bounds are
    checked when the reply is read.
    """
    schema = reply.model_json_schema(mode="serialization")
    return _strict(schema, schema.get("$defs", {}))


def _strict(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _strict(deepcopy(definitions[schema["$ref"].rsplit("/", 1)[-1]]), definitions)
    strict = {key: value for key, value in schema.items() if key in _KEPT}
    if "properties" in strict:
        strict["properties"] = {
            name: _strict(inner, definitions) for name, inner in strict["properties"].items()
        }
        strict["required"] = list(strict["properties"])
        strict["additionalProperties"] = False
    if "items" in strict:
        strict["items"] = _strict(strict["items"], definitions)
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(one, definitions) for one in strict["anyOf"]]
    return strict
