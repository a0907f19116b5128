"""The part of an ontology that a language model is given with some passages."""

from collections import Counter
from math import log

from schemas.ontology import Ontology, OntologyRelation
from tasks.text.stems import stems_of, words_of

MOST_IN_PROMPT = 40
"""Relations in one prompt: beyond, models overlook some, and each call costs more than its text."""


def relations_line(ontology: Ontology, names: list[str]) -> str:
    """Return the relations as a line of a prompt."""
    only = "Use only these p" if ontology.mode == "strict" else "Prefer these p where one fits"
    listed = "; ".join(_in_words(name, ontology.relations[name]) for name in names)
    return f"\n{only}: {listed}" if listed else ""


def relevant_relations(ontology: Ontology, text: str) -> list[str]:
    """Return the relations that share most words with a text, in file order; rare words weigh more.

    A small ontology's relations are all returned.
    """
    if len(ontology.relations) <= MOST_IN_PROMPT:
        return list(ontology.relations)
    stems = {name: _stems(name, relation) for name, relation in ontology.relations.items()}
    frequency = Counter(stem for words in stems.values() for stem in words)
    shown = {word for _, _, word in stems_of(text)}
    weight = {stem: log(1 + len(stems) / times) for stem, times in frequency.items()}
    ranked = sorted(stems, key=lambda name: -sum(weight[stem] for stem in stems[name] & shown))
    chosen = set(ranked[:MOST_IN_PROMPT])
    return [name for name in ontology.relations if name in chosen]


def _stems(name: str, relation: OntologyRelation) -> frozenset[str]:
    return words_of(
        " ".join((name, relation.description, relation.inverse or "", *relation.wordings))
    )


def _in_words(name: str, relation: OntologyRelation) -> str:
    ends = " → ".join("/".join(kinds) or "any" for kinds in (relation.domain, relation.range))
    notes = [ends] if relation.domain or relation.range else []
    notes += [relation.description] if relation.description else []
    return f"{name} ({'; '.join(notes)})" if notes else name
