"""A relation of a thing as a question, so that the reader finds its other end (Levy et al. 2017).

Training and extraction ask alike.
"""

LONGEST_MEANING = 16  # words


def relation_question(name: str, relation: str, meaning: str = "") -> str:
    """Return the question for the other end of a relation of the thing with a name."""
    words = meaning.split()[:LONGEST_MEANING]
    return f"{name}: {relation} ({' '.join(words)})?" if words else f"{name}: {relation}?"
