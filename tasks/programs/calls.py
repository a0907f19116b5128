"""The calls that programs make: their untrusted arguments, and their results."""

from dataclasses import dataclass
from typing import Any

from tasks.programs.knowledge_bases.protocol import EntityRef, Fact
from tasks.programs.limits import SandboxError

MOST_ALIASES = 20  # per entity or relation
MOST_TEXTS = 20_000  # in one argument, if calls returned them
LONGEST_ALIAS = 2_000  # characters


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """One call of a program: its arguments, and the sources of its result."""

    function: str
    entities: tuple[EntityRef, ...]
    facts: tuple[Fact, ...]  # those that the result was read from
    similarity: float  # of the matching relation or name, 0 to 1
    relations: tuple[str, ...] = ()  # around the entities
    description: str = ""  # a text that the result was read from
    results: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the call returned facts, or the requested description."""
        return bool(self.facts) or (self.function == "get_entity_info" and bool(self.results))


def read_aliases(given: Any, name: str) -> list[str]:
    """Return an argument as a list of texts; a single text counts as a list of one."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list | tuple):
        raise SandboxError(f"{name} must be a list of texts, not {type(given).__name__}")
    aliases = list(dict.fromkeys(text for text in given if isinstance(text, str) and text.strip()))
    if not aliases:
        raise SandboxError(f"{name} must hold at least one text")
    if len(aliases) > MOST_TEXTS:
        raise SandboxError(f"{name} holds {len(aliases)} texts; {MOST_TEXTS} are the most")
    if any(len(alias) > LONGEST_ALIAS for alias in aliases):
        raise SandboxError(f"{name} holds a text longer than {LONGEST_ALIAS} characters")
    return aliases
