"""The entities of a parsed passage: its names with all their mentions, and its dates."""

from dataclasses import dataclass, field

import numpy as np

from tasks.extract.rules.clauses import Clause
from tasks.extract.rules.modality import standing_of
from tasks.extract.rules.passage import ParsedPassage
from tasks.text.names import normalise_name
from tasks.text.values import Value, find_values


@dataclass(slots=True)
class Entity:
    """An entity of a passage: a name with its mentions, or a date; spans are in characters."""

    name: str
    kind: str
    mentions: list[tuple[int, int]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)  # one per mention
    value: Value | None = None


def entities_of(passage: ParsedPassage) -> list[Entity]:
    """Return the names of a passage with all their mentions, and its dates."""
    tree = passage.tree
    by_name: dict[str, Entity] = {}
    for span in passage.names:
        key = normalise_name(span.name)
        entity = by_name.setdefault(key, Entity(span.name, passage.kind(span.name)))
        entity.mentions.append((span.start, span.end))
        entity.tokens.append(span.first)
    for token, name in passage.referents.items():
        known = by_name.get(normalise_name(name))
        if known:
            known.mentions.append((tree.start[token], tree.end[token]))
            known.tokens.append(token)
    entities = list(by_name.values())
    starts = np.array(tree.start)
    for start, end, value in find_values(tree.text, "en"):
        if value.is_point and not any(
            a < end and start < b for entity in entities for a, b in entity.mentions
        ):
            token = max(int(np.searchsorted(starts, start, "right")) - 1, 0)
            entities.append(Entity(tree.text[start:end], "date", [(start, end)], [token], value))
    return entities


def is_asserted(passage: ParsedPassage, clauses: list[Clause], first: int, second: int) -> bool:
    """Return whether the smallest clause around two tokens is positive and asserted.

    Without such a clause the result is true.
    """
    tree = passage.tree
    around = [
        clause for clause in clauses if {first, second} <= set(tree.subtree(clause.predicate))
    ]
    if not around:
        return True
    clause = min(around, key=lambda clause: len(tree.subtree(clause.predicate)))
    standing = standing_of(passage, clause)
    return standing.polarity == "positive" and standing.modality == "asserted"
