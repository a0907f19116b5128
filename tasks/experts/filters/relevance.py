"""The relevance filter (CooK, section 2.2): the texts nearest to the question in vector space."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tasks.experts.knowledge import KnowledgeText


def keep_relevant(
    question: np.ndarray, texts: Sequence[KnowledgeText], vectors: np.ndarray, k: int | None
) -> list[KnowledgeText]:
    """Return all texts with their relevance; all but the best k are dropped.

    `question` (h) and `vectors` (texts, h) need not have length one: relevance is their cosine, and
    0 for a vector of zeros. Components that are not finite count as 0. Ties are broken in favour of
    the earlier text. With k None nothing is dropped. Texts that were dropped before are scored, but
    do not count towards k.
    """
    scores = cosines(question, vectors)
    scored = [
        replace(text, relevance=float(score)) for text, score in zip(texts, scores, strict=True)
    ]
    if k is None:
        return scored
    order = sorted(range(len(scored)), key=lambda place: -scores[place])
    kept = set([place for place in order if scored[place].dropped is None][: max(0, k)])
    return [text if n in kept else text.drop("relevance") for n, text in enumerate(scored)]


def drop_unusable(texts: Sequence[KnowledgeText]) -> list[KnowledgeText]:
    """Return all texts; those without words, and repetitions of an earlier text, are dropped.

    If an expert wrote several texts, `agreement` is set to the share of them that equal this text
    (self-consistency, Wang et al. 2022): an expert that remembers a fact repeats itself, one that
    guesses does not.
    """
    keys = [" ".join(text.text.casefold().split()) for text in texts]
    written = Counter(text.expert for text in texts)
    repeated = Counter((text.expert, key) for text, key in zip(texts, keys, strict=True))
    seen: set[str] = set()
    checked = []
    for text, key in zip(texts, keys, strict=True):
        if not any(character.isalnum() for character in key):
            checked.append(text.drop("empty"))
            continue
        if written[text.expert] > 1:
            share = repeated[text.expert, key] / written[text.expert]
            text = replace(text, agreement=share)
        checked.append(text.drop("repeated") if key in seen else text)
        if text.dropped is None:
            seen.add(key)
    return checked


def cosines(question: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the cosine (texts) of a vector (h) with each row (texts, h), as float64."""
    question = np.nan_to_num(np.asarray(question, np.float64), posinf=0.0, neginf=0.0)
    rows = np.nan_to_num(
        np.asarray(vectors, np.float64).reshape(-1, len(question)), posinf=0.0, neginf=0.0
    )
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(question)
    products = rows @ question
    return np.divide(products, lengths, out=np.zeros(len(rows)), where=lengths > 0)
