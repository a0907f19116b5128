"""The messages that programs receive: one line per call, in the wire format of KnowledGPT.

A message is always one line, so that no name can pass for another message.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from tasks.programs.knowledge_bases.protocol import Fact

LONGEST_VALUE = 300  # characters of a value in a message
LONGEST_INFO = 2_000  # of a description
MOST_ALIASES = 20  # of one argument in a message
MOST_FACTS = 1_000  # in a message
MOST_VALUES = 200  # of one relation in a message
MOST_ATTRIBUTES = 40  # relations shown with a description
MOST_ATTRIBUTE_VALUES = 5

_BREAKS = re.compile("[\\r\\n\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]+")


def one_line(text: str, longest: int = LONGEST_VALUE) -> str:
    """Return a text without line breaks, cut if it is too long and otherwise unchanged."""
    flat = _BREAKS.sub(" ", text)
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def call_message(source: str, call: str, lists: Mapping[str, Sequence[str]], words: str) -> str:
    """Return the message of a call: the source, the call, and the words for its result."""
    arguments = []
    for name, aliases in lists.items():
        shown = [f"'{one_line(alias)}'" for alias in aliases[:MOST_ALIASES]]
        more = ["…"] if len(aliases) > MOST_ALIASES else []
        arguments.append(f"{name} = [{','.join(shown + more)}]")
    return f"[FROM {one_line(source)}][{call}({', '.join(arguments)}) -> ] {words}"


def info_message(source: str, info: str) -> str:
    """Return the message of a text about an entity."""
    return f"[FROM {one_line(source)}] {info}"


def facts_words(facts: Iterable[Fact]) -> str:
    """Return facts as `X, school: A, B`, grouped by entity, relation and direction."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fact in islice(facts, MOST_FACTS):
        groups.setdefault((fact.entity.name, _relation(fact)), []).append(_value(fact))
    return "; ".join(
        f"{one_line(name)}, {one_line(relation)}: {_listed(values, MOST_VALUES)}"
        for (name, relation), values in groups.items()
    )


def entity_words(name: str, description: str, facts: Iterable[Fact]) -> str:
    """Return `X: description Attributes: relation -> values, …`, without unknown parts.

    The attributes of an entity that is the head of no fact are those that lead to it.
    """
    around = list(facts)
    attributes: dict[str, list[str]] = {}
    for fact in [fact for fact in around if not fact.inverse] or around:
        relation = _relation(fact)
        if relation in attributes or len(attributes) < MOST_ATTRIBUTES:
            attributes.setdefault(relation, []).append(_value(fact))
    parts = [one_line(description, LONGEST_INFO)] if description else []
    if attributes:
        shown = ", ".join(
            f"{one_line(relation)} -> {_listed(values, MOST_ATTRIBUTE_VALUES)}"
            for relation, values in attributes.items()
        )
        parts.append(f"Attributes: {shown}")
    return f"{one_line(name)}: {' '.join(parts)}"


def _relation(fact: Fact) -> str:
    """Return a fact's relation with its direction; a statement is marked, since it is weaker."""
    relation = f"{fact.relation} (statement)" if fact.kind == "statement" else fact.relation
    return f"inverse of {relation}" if fact.inverse else relation


def _value(fact: Fact) -> str:
    return f"{fact.text} ({fact.time})" if fact.time else fact.text


def _listed(values: list[str], most: int) -> str:
    once = list(dict.fromkeys(values))
    shown = ", ".join(one_line(value) for value in once[:most])
    return shown if len(once) <= most else f"{shown} and {len(once) - most} more"
