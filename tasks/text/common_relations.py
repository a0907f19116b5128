"""Common relations by their Wikidata property: names, wordings, inverses, kinds of ends."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class CommonRelation:
    """A relation whose facts read "head name tail".

    `wordings` lead from head to tail, `reversed` from tail to head; `inverse` is the first of
    these, empty without any. `head_kinds` and `tail_kinds` are the kinds of entities that may stand
    there, `date` among them; empty for any. `single` if a head has at most one tail.
    """

    id: str
    name: str
    description: str
    wordings: tuple[str, ...]
    reversed: tuple[str, ...]
    head_kinds: frozenset[str]
    tail_kinds: frozenset[str]
    single: bool
    symmetric: bool = False

    @property
    def inverse(self) -> str:
        """Return the name of the relation from tail to head, empty if it has none."""
        return self.reversed[0] if self.reversed else ""


@cache
def common_relations() -> dict[str, CommonRelation]:
    """Return the relations of relations.toml by their Wikidata property."""
    text = files(__package__).joinpath("relations.toml").read_text(encoding="utf-8")
    return {
        property_id: CommonRelation(
            id=property_id,
            name=row["name"],
            description=row["description"],
            wordings=_phrases(row["wordings"]),
            reversed=_phrases(row["reversed"]),
            head_kinds=frozenset(row["head"].split()),
            tail_kinds=frozenset(row["tail"].split()),
            single=row["single"],
            symmetric=row.get("symmetric", False),
        )
        for property_id, row in tomllib.loads(text).items()
    }


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(";") if phrase.strip())
