"""Phrase a relation of an entity as a question for its other end (Levy et al. 2017).

Training and extraction phrase it in the same way.
"""

LONGEST_MEANING = 16  # words


def relation_question(name: str, relation: str, meaning: str = "") -> str:
    """Return the question for the other end of a relation of the named entity."""
    words = meaning.split()[:LONGEST_MEANING]
    return f"{name}: {relation} ({' '.join(words)})?" if words else f"{name}: {relation}?"
