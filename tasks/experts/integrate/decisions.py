"""The decisions made while experts are consulted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from tasks.experts.filters.selection import Encode, cosines
from tasks.experts.knowledge import KnowledgeText
from tasks.models.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision: if more is needed, which information, which expert, or a text's fate."""

    kind: Literal["need", "wanted", "expert", "text"]
    decision: str
    reason: str | None = None
    expert: str | None = None
    score: float | None = None
    text: KnowledgeText | None = None
    decided_at: datetime = field(default_factory=lambda: datetime.now(UTC), compare=False)


Record = Callable[[Decision], None]


def text_decision(text: KnowledgeText) -> Decision:
    """Return the decision to keep or drop a text."""
    kept = "dropped" if text.dropped else "kept"
    return Decision("text", kept, text.dropped, text.expert, text.score, text)


def nearest_experts(
    encode: Encode,
    information: str,
    descriptions: Mapping[str, str],
    parents: Mapping[str, str],
) -> list[tuple[str, float]]:
    """Return the experts with the most similar descriptions down the hierarchy, with cosines.

    The last is the one to ask; those before it contain it.
    """
    likeness = dict(
        zip(descriptions, expert_likeness(encode, information, descriptions), strict=True)
    )
    way = down_the_hierarchy(
        descriptions, parents, lambda level: max(level, key=likeness.__getitem__, default=None)
    )
    return [(name, float(likeness[name])) for name in way]


def down_the_hierarchy(
    experts: Mapping[str, str],
    parents: Mapping[str, str],
    choose: Callable[[Mapping[str, str]], str | None],
) -> list[str]:
    """Return the experts that are chosen on the way from a whole field to a part of it.

    `experts` are descriptions by name; `parents` has the expert that contains another. `choose`
    first chooses among those that no other contains, then among the chosen one and its parts, until
    it chooses none of the parts. The last is the one to ask; it returns nothing if none is chosen.
    """
    chosen: list[str] = []
    level = {n: words for n, words in experts.items() if parents.get(n) not in experts}
    while (name := choose(level)) is not None and name not in chosen:
        chosen.append(name)
        parts = {n: words for n, words in experts.items() if parents.get(n) == name}
        if not parts:
            break
        level = {name: experts[name], **parts}
    return chosen


def expert_likeness(encode: Encode, text: str, descriptions: Mapping[str, str]) -> np.ndarray:
    """Return the cosine (experts) of a text with each expert's name and description."""
    vectors = encode([text, *fields_of(descriptions).values()])
    return cosines(vectors[0], vectors[1:])


def fields_of(descriptions: Mapping[str, str]) -> dict[str, str]:
    """Return the field of each expert in words: its name and its description."""
    return {name: f"{name.replace('_', ' ')}: {about}" for name, about in descriptions.items()}


def fit_knowledge(texts: Sequence[KnowledgeText], room: int) -> list[KnowledgeText]:
    """Return all texts, the best first; those that do not fit into `room` tokens are dropped.

    Texts are sorted by trust, then by relevance, then by their given order. The best text is
    kept whatever its length.
    """
    order = sorted(texts, key=lambda text: (-text.trust, -(text.relevance or 0.0)))
    fitted, used = [], 0
    for text in order:
        size = 0 if text.dropped else estimate_tokens(text.words)
        fits = not used or used + size <= room
        used += size if fits else 0
        fitted.append(text if fits else text.drop("budget"))
    return fitted
