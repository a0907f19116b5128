"""CooK's two ways to consult experts: bottom-up (Algorithm 1) and top-down (Algorithm 2)."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Literal

from tasks.experts.filters.selection import Encode
from tasks.experts.integrate.decisions import (
    Decision,
    Record,
    down_the_hierarchy,
    nearest_experts,
    text_decision,
)
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.integrate.model_decider import ModelDecider
from tasks.experts.knowledge import KnowledgeText

ENOUGH_VOTES = 0.5  # share of yes votes; models overrate their knowledge

WriteTexts = Callable[[str, str], list[str]]  # expert, question
WriteTurn = Callable[[str, str, int], list[str]]  # expert, question, turn


def bottom_up(
    question: str, experts: Sequence[str], write: WriteTexts, filters: Filters, record: Record
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


def top_down(
    question: str,
    descriptions: Mapping[str, str],
    parents: Mapping[str, str],
    decider: ModelDecider,
    write: WriteTurn,
    filters: Filters,
    record: Record,
    *,
    mode: Literal["automatic", "explicit"],
    encode: Encode,
    iterations: int = 1,
) -> list[KnowledgeText]:
    """Return the texts that the decider asked for, in order (CooK, Algorithm 2).

    Each round begins by asking the decider whether it needs more. Rounds end at no, without a valid
    reply, if no expert is chosen, or after `iterations`. In mode `automatic` the decider states the
    information that it needs, and the expert with the most similar description writes; in mode
    `explicit` it names the expert. Either choice goes down the hierarchy, from a field to its
    parts. The most factual of the expert's texts is kept. `descriptions` are those of the experts,
    and `parents` the experts that contain them, by name.
    """
    kept: list[KnowledgeText] = []
    for turn in range(iterations):
        known = [text.words for text in kept]
        share = decider.needs_more(question, known)
        more = share is not None and share >= ENOUGH_VOTES
        reason = "no_reply" if share is None else "votes"
        record(Decision("need", "yes" if more else "no", reason, score=share))
        if not more:
            break
        expert: str | None
        if mode == "explicit":
            choose = partial(decider.choose, question, known)
            way = down_the_hierarchy(descriptions, parents, choose)
            expert = way[-1] if way else None
            record(Decision("expert", expert or "none", "named", expert))
        else:
            wanted = decider.wanted(question, known)
            record(Decision("wanted", wanted or "", None if wanted else "no_reply"))
            near = nearest_experts(encode, wanted or question, descriptions, parents)
            expert, likeness = near[-1]
            record(Decision("expert", expert, "nearest", expert, likeness))
        if expert is None:
            break
        texts = [KnowledgeText(expert, text) for text in write(expert, question, turn)]
        filtered = filters.keep_best(question, texts, known)
        for text in filtered:
            record(text_decision(text))
        kept += [text for text in filtered if text.dropped is None]
    return kept
