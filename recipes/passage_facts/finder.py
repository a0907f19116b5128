"""Find the facts of a passage: heads, tails, which belong together, their relation and its words.

The network scores all spans as heads and as tails by their first and last token (compare Yu et al.
2020; Su et al. 2022), the likely ones in pairs, and for each pair the relation and the words of the
text that express it.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from recipes.passage_facts.network import FactNetwork, allowed_spans, best_spans
from recipes.passage_facts.relations import relation_names
from recipes.passage_facts.windows import PassageTokens, Span

LIKELY = -2.0  # score from which a span is paired
HEADS, TAILS = 12, 24  # spans that are paired at most
LONGEST_CUE = 12  # tokens of the words of a relation
LEAST = 0.05  # probability of a fact that is kept


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact: its spans, the probability that it is one, its relation and the words for it.

    `relation` is empty where no known one is likeliest; `cue` is None where no words say it.
    """

    head: Span
    tail: Span
    probability: float
    relation: str
    cue: Span | None


@torch.no_grad()
def found_facts(network: FactNetwork, tokens: PassageTokens) -> list[FoundFact]:
    """Return the facts of a window of a passage, the most probable first."""
    ids = torch.tensor([tokens.ids])
    states = network.states(ids, ids)
    scores = network.span_scores(states, allowed_spans([tokens], len(tokens.ids)))[0]
    heads, tails = best_spans(scores[0], HEADS, LIKELY), best_spans(scores[1], TAILS, LIKELY)
    pairs = [(head, tail) for head in heads for tail in tails if not _overlap(head, tail)]
    if not pairs:
        return []
    both = torch.tensor(pairs)
    vectors = network.pairs(states[0], both[:, 0], both[:, 1])
    probabilities = network.link(vectors)[:, 0].sigmoid().tolist()
    relations = network.relation(vectors).argmax(1).tolist()
    cues = network.cue_scores(states[0], vectors)
    facts: list[FoundFact] = []
    for row in sorted(range(len(pairs)), key=lambda row: -probabilities[row]):
        head, tail = pairs[row]
        known = any(_overlap(f.head, head) and _overlap(f.tail, tail) for f in facts)
        if probabilities[row] < LEAST or known:
            continue
        relation = relation_names()[relations[row]]
        facts.append(FoundFact(head, tail, probabilities[row], relation, _cue(cues[:, row])))
    return facts


def _cue(scores: Tensor) -> Span | None:
    """Return the best span by scores (2, tokens) of first and last tokens, None for no words."""
    start, end = scores
    apart = torch.arange(len(start))[None] - torch.arange(len(start))[:, None]
    closed = (apart < 0) | (apart >= LONGEST_CUE)
    both = (start[:, None] + end[None]).masked_fill(closed, -torch.inf)
    first, last = divmod(int(both.argmax()), len(start))
    return (first, last) if first else None


def _overlap(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
