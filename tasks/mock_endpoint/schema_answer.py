"""A value for a JSON schema that nobody here knows: valid, and as empty as it may be."""

from dataclasses import dataclass
from typing import Any

DEEPEST = 20
MOST_VALUES = 10_000  # in one answer; a schema can ask for more than there is memory
SIMPLEST: dict[str, Any] = {"boolean": False, "null": None, "object": {}, "array": []}


def example_of(schema: dict[str, Any]) -> Any:
    """Return the simplest value that a schema allows; bounds on lengths and numbers are kept."""
    return _Maker(schema).value(schema, DEEPEST)


@dataclass(slots=True)
class _Maker:
    """Makes values for one schema, up to a number and a depth."""

    root: dict[str, Any]
    left: int = MOST_VALUES

    def value(self, schema: Any, depth: int) -> Any:
        self.left -= 1
        if not isinstance(schema, dict) or not depth or self.left < 0:
            return None
        if "$ref" in schema:
            return self.value(self._target(str(schema["$ref"])), depth - 1)
        for name in ("const", "default"):
            if name in schema:
                return schema[name]
        if schema.get("enum"):
            return schema["enum"][0]
        for name in ("anyOf", "oneOf", "allOf"):
            if schema.get(name):
                return self.value(schema[name][0], depth - 1)
        return self._of_type(schema, depth)

    def _of_type(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        kind = kind[0] if isinstance(kind, list) and kind else kind
        if kind == "object":
            properties = schema.get("properties") or {}
            names = schema.get("required") or []
            return {name: self.value(properties.get(name), depth - 1) for name in names}
        if kind == "array":
            least = min(int(schema.get("minItems", 0)), max(0, self.left))
            return [self.value(schema.get("items"), depth - 1) for _ in range(least)]
        if kind == "string":
            return "x" * min(int(schema.get("minLength", 0)), MOST_VALUES)
        if kind in ("integer", "number"):
            return _number(schema)
        return SIMPLEST.get(str(kind))

    def _target(self, reference: str) -> Any:
        found: Any = self.root
        for part in reference.removeprefix("#").strip("/").split("/"):
            if part:
                found = found.get(part) if isinstance(found, dict) else None
        return found


def _number(schema: dict[str, Any]) -> float:
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    if least is None:
        return min(0, schema.get("maximum", 0))
    step: float = 1 if "exclusiveMinimum" in schema else 0
    return float(least) + step if isinstance(least, float) else int(least) + int(step)
