"""Parse YAML into lists, mappings and strings; no scalar is converted to another type.

So `NO` stays Norway's code and `007` keeps its zeros. Nesting is bounded, and an alias refers to
the same object, so a bomb of aliases takes no memory.
"""

from typing import Any

from schemas.errors import AlmanacError

MAX_DEPTH = 50


class YamlMapping(dict[str, Any]):
    """A mapping with the number of its first line, from 1, and whether a key stands there twice."""

    line: int = 0
    repeats: bool = False


def parse_yaml(data: bytes, name: str) -> Any:
    """Return the first document of a YAML file; raise AlmanacError if it cannot be read."""
    import yaml

    builder, has_ended = _Builder(), False
    try:
        for event in yaml.parse(data, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            if has_ended:
                break  # only now is it known that nothing else stands behind the document
            has_ended = isinstance(event, yaml.DocumentEndEvent)
            builder.take(event)
    except (yaml.YAMLError, UnicodeDecodeError, _TooDeepError, KeyError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        what = getattr(error, "problem", None) or str(error)
        raise AlmanacError(f"{name} is not YAML that can be read{where}: {what}.") from None
    return builder.value


class _TooDeepError(ValueError):
    """The document is nested too deeply."""


class _Builder:
    """Builds values from YAML's events without recursion."""

    def __init__(self) -> None:
        self.value: Any = None
        self._open: list[Any] = []
        self._keys: list[str | None] = []  # of each open mapping, the key that waits for its value
        self._anchors: dict[str, Any] = {}

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "ScalarEvent":
            self._put(event.value, event.anchor)
        elif kind == "AliasEvent":
            self._put(self._anchors[event.anchor], None)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._begin(event, kind)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
            self._keys.pop()

    def _begin(self, event: Any, kind: str) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _TooDeepError(f"it is nested more than {MAX_DEPTH} levels deep")
        value: Any = []
        if kind == "MappingStartEvent":
            value = YamlMapping()
            value.line = event.start_mark.line + 1
        self._put(value, event.anchor)
        self._open.append(value)
        self._keys.append(None)

    def _put(self, value: Any, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = value
        if not self._open:
            self.value = value
        elif isinstance(self._open[-1], list):
            self._open[-1].append(value)
        elif self._keys[-1] is None:
            self._keys[-1] = value if isinstance(value, str) else str(value)[:100]
        else:
            self._open[-1].repeats |= self._keys[-1] in self._open[-1]
            self._open[-1][self._keys[-1]] = value
            self._keys[-1] = None
