"""Bottom-up: every expert writes, and filters select the texts to be seen (Algorithm 1)."""

import hashlib
from collections.abc import Callable, Sequence
from itertools import zip_longest

from tasks.experts.integrate.decisions import Record, text_decision
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.knowledge import KnowledgeText

WriteTexts = Callable[[str, str], list[str]]  # expert, question


def bottom_up(
    question: str,
    experts: Sequence[str],
    write: WriteTexts,
    filters: Filters,
    record: Record,
) -> list[KnowledgeText]:
    """Return the texts that are kept, the best first (CooK, Algorithm 1).

    Each expert writes n1 texts; the n2 most relevant of all texts are pruned, and n3 of them are
    drawn by factuality. The decision on each text is recorded, in the order of their ranks.
    """
    written = [[KnowledgeText(e, text) for text in write(e, question)] for e in experts]
    if written:  # with filters off the first texts stay, so the first expert has to vary
        first = int.from_bytes(
            hashlib.sha256(question.encode("utf-8", "replace")).digest()[:4]
        ) % len(written)
        written = [*written[first:], *written[:first]]
    # One text of each expert in turn, so that none comes after all texts of the others.
    texts = [text for row in zip_longest(*written) for text in row if text is not None]
    filtered = filters.keep(question, texts)
    for text in filtered:
        record(text_decision(text))
    return [text for text in filtered if text.dropped is None]
