"""A value for a JSON schema that nobody here knows: valid, and as empty as it may be."""

from typing import Any

DEEPEST = 20
SIMPLEST: dict[str, Any] = {"boolean": False, "null": None, "object": {}, "array": []}


def example_of(schema: dict[str, Any]) -> Any:
    """Return the simplest value that a schema allows; bounds on lengths and numbers are kept."""
    return _example(schema, schema, DEEPEST)


def _example(schema: Any, root: dict[str, Any], depth: int) -> Any:
    if not isinstance(schema, dict) or not depth:
        return None
    if "$ref" in schema:
        return _example(_target(str(schema["$ref"]), root), root, depth - 1)
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if schema.get("enum"):
        return schema["enum"][0]
    for name in ("anyOf", "oneOf", "allOf"):
        if schema.get(name):
            return _example(schema[name][0], root, depth - 1)
    return _of_type(schema, root, depth)


def _of_type(schema: dict[str, Any], root: dict[str, Any], depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        properties = schema.get("properties") or {}
        names = schema.get("required") or []
        return {name: _example(properties.get(name), root, depth - 1) for name in names}
    if kind == "array":
        least = min(int(schema.get("minItems", 0)), 100)
        return [_example(schema.get("items"), root, depth - 1) for _ in range(least)]
    if kind == "string":
        return "x" * min(int(schema.get("minLength", 0)), 10_000)
    if kind in ("integer", "number"):
        return _number(schema)
    return SIMPLEST.get(str(kind))


def _number(schema: dict[str, Any]) -> float:
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    if least is None:
        return min(0, schema.get("maximum", 0))
    step: float = 1 if "exclusiveMinimum" in schema else 0
    return float(least) + step if isinstance(least, float) else int(least) + int(step)


def _target(reference: str, root: dict[str, Any]) -> Any:
    found: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(part) if isinstance(found, dict) else None
    return found
