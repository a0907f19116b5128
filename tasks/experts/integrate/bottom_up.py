"""Bottom-up: every expert writes, and filters keep what the answering model sees (Algorithm 1)."""

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
    """Return the texts that were kept, the best first (CooK, Algorithm 1).

    Each expert writes n1 texts; n2 of all texts are relevant; they are pruned; n3 are drawn by
    factuality. The fate of each text is recorded, in the order in which they are ranked.
    """
    written = [[KnowledgeText(e, text) for text in write(e, question)] for e in experts]
    if written:  # where filters are off, the first texts stay: no expert is first throughout
        first = int.from_bytes(
            hashlib.sha256(question.encode("utf-8", "replace")).digest()[:4]
        ) % len(written)
        written = [*written[first:], *written[:first]]
    # One of each expert after another, so that none stands behind all texts of the others.
    texts = [text for row in zip_longest(*written) for text in row if text is not None]
    filtered = filters.keep(question, texts)
    for text in filtered:
        record(text_decision(text))
    return [text for text in filtered if text.dropped is None]
