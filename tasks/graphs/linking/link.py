"""Link a name to nodes of one graph: candidates ranked by similarity, context and popularity.

Candidates compete with each other and with the outcome that the name means none of them, as in a
multinomial logit. Whether the name means any of them is decided in `acceptance.py`.
`recipes/linking_weights.py` fits the weights on names that `benchmarks/linking.py` does not use.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tasks.graphs.graph import Graph
from tasks.graphs.linking.acceptance import ACCEPTED, Alike, gather, probability
from tasks.graphs.linking.context import Context, content_stems
from tasks.graphs.linking.descriptions import DescriptionIndex
from tasks.graphs.linking.likeness import MEASURES, likenesses
from tasks.graphs.linking.name_index import NameIndex
from tasks.graphs.name_keys import normal_form
from tasks.text.chinese_words import simplified
from tasks.text.languages import HAN

# Features beside the similarity of names: whether the strings are equal, the weight of the name for
# the node, the node's connectivity relative to the best candidate (which has 0), and how well the
# question fits the node.
OTHERS = ("exact", "weight", "popularity", "fit")
FEATURES = (*MEASURES, *OTHERS)
WEIGHTS = np.array([0.825, 2.971, 6.729, 0.337, 6.259, 0.546, 2.5, 2.243, 0.7, 0.956])
BIAS = -9.284


def logits(features: np.ndarray) -> np.ndarray:
    """Return each candidate's log-odds against none, from float64 (candidates, len(FEATURES))."""
    result: np.ndarray = features @ WEIGHTS + BIAS
    return result


MOST_ALIASES = 8
ALIAS_PLACE = 0.1  # log-odds subtracted per place of an alias in the list
COMPARED = 12  # candidates whose neighbourhood is compared with the question
LEAST = -6.0  # log-odds that the other candidates need
KNOWN = 0.5  # probability below which descriptions are searched as well
WORDS = 2  # content words of a text that may describe a node instead of naming it
DESCRIBES = 0.8  # share of the words, by rarity, that a description must have
DESCRIBED = 0.3  # the highest score of a node found by its description alone


class Link(NamedTuple):
    """A node that a name may mean, and how likely that is, 0 to 1."""

    node: int
    score: float


class Candidates(NamedTuple):
    """Nodes that a name may mean: float64 (nodes, len(FEATURES)), and the names of each."""

    nodes: list[int]
    features: np.ndarray
    names: list[Alike]


class Linker:
    """Links names to the nodes of one graph."""

    def __init__(
        self,
        names: NameIndex,
        graph: Graph | None = None,
        descriptions: DescriptionIndex | None = None,
    ) -> None:
        """Link by names and, if given, by the graph and the descriptions of its nodes."""
        self.names, self.graph, self.descriptions = names, graph, descriptions

    @classmethod
    def open(cls, folder: Path, graph: Graph | None = None) -> "Linker":
        """Open the indexes in a folder."""
        described = (folder / "descriptions.arrow").exists()
        descriptions = DescriptionIndex(folder) if described else None
        return cls(NameIndex(folder), graph, descriptions)

    def link(self, query: str, aliases: Sequence[str], k: int = 10) -> list[Link]:
        """Return at most `k` nodes that the aliases may mean in a query, likeliest first.

        The list is empty if nothing fits. The first alias is the likeliest name.
        """
        aliases = [alias for alias in aliases[:MOST_ALIASES] if alias.strip()]
        chinese = [alias for alias in aliases if HAN.search(alias)]
        aliases += [plain for alias in chinese if (plain := simplified(alias)) != alias]
        found = self.candidates(query, aliases)
        scores = self._scores(found, logits(found.features)) if found.nodes else {}
        if max(scores.values(), default=0.0) < KNOWN and self.descriptions:
            for alias in (a for a in aliases if len(content_stems(a)) >= WORDS):
                for node, share in self.descriptions.search(alias, COMPARED):
                    if share >= DESCRIBES:
                        scores[node] = max(scores.get(node, 0.0), DESCRIBED * share**2)
        ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        return [Link(node, score) for node, score in ranked[:k]]

    def candidates(self, query: str, aliases: Sequence[str]) -> Candidates:
        """Return the nodes with a name like an alias, in the order in which they were found."""
        best: dict[int, tuple[float, np.ndarray, Alike]] = {}
        for place, alias in enumerate(aliases):
            for node, row, alike in self._similar_names(alias):
                logit = float(logits(row)) - place * ALIAS_PLACE
                if node not in best or logit > best[node][0]:
                    best[node] = (logit, row, alike)
        nodes = list(best)
        features = np.array([best[n][1] for n in nodes]).reshape(-1, len(FEATURES))
        features[:, FEATURES.index("popularity")] = self._popularity(nodes)
        features[:, FEATURES.index("fit")] = self._fit(query, aliases, nodes, logits(features))
        return Candidates(nodes, features, [best[node][2] for node in nodes])

    def _scores(self, found: Candidates, odds: np.ndarray) -> dict[int, float]:
        """Return how likely each node is meant; nothing if probably none of them is.

        The bearers of a best name share its probability; the others share the remainder with the
        outcome that none is meant.
        """
        values, bearers = gather(found.names, odds, self.names.rarity)
        likely = probability(values)
        if likely < ACCEPTED:
            return {}
        shares = np.exp(odds - odds.max())
        none = np.exp(-odds.max())
        shares[bearers] *= likely / shares[bearers].sum()
        shares[~bearers] *= (1 - likely) / (shares[~bearers].sum() + none)
        most = shares[bearers].max() * np.exp(odds - odds.max())  # ranked as by the odds
        shares[~bearers] = np.minimum(shares, most)[~bearers]
        return {
            node: float(share)
            for node, share, odd in zip(found.nodes, shares, odds, strict=True)
            if odd >= LEAST
        }

    def _similar_names(self, alias: str) -> list[tuple[int, np.ndarray, Alike]]:
        """Return nodes with names similar to an alias, and features; popularity and fit are 0."""
        spellings = [*self.names.bearers(alias), *self.names.near(alias)]
        normal = normal_form(alias)
        measures = likenesses(
            normal, [spelling.normal for spelling in spellings], self.names.rarity
        )
        others = np.zeros((len(spellings), len(OTHERS)))
        others[:, 0] = [spelling.name == alias for spelling in spellings]
        # A short form must not score higher than a name that equals the alias exactly.
        shortened = measures[:, MEASURES.index("shortened")]
        shortened[others[:, 0] == 1] = shortened.max(initial=0.0)
        others[:, 1] = [spelling.weight for spelling in spellings]
        rows = np.hstack([measures, others])
        return [
            (spelling.node, row, Alike(normal, spelling.normal))
            for spelling, row in zip(spellings, rows, strict=True)
        ]

    def _popularity(self, nodes: list[int]) -> np.ndarray:
        """Return the nodes' connectivity relative to the best of them, from -1 to 0.

        Nothing is known about a node without edges, so it gets the mean of the others.
        """
        if self.graph is None or not nodes:
            return np.zeros(len(nodes))
        rows = np.array(nodes)
        degrees = np.zeros(len(nodes))
        for offsets in (self.graph.out_offsets, self.graph.in_offsets):
            degrees += offsets[rows + 1] - offsets[rows]
        logs = np.log1p(degrees)
        return _filled(logs / max(1.0, float(logs.max())) - 1.0, degrees > 0)

    def _fit(
        self, query: str, aliases: Sequence[str], nodes: list[int], before: np.ndarray
    ) -> np.ndarray:
        """Return how well the question fits the likeliest nodes, 0 to 1; 0 for the others."""
        fits = np.zeros(len(nodes))
        context = Context(query, aliases, self.graph, self.descriptions)
        if len(nodes) > 1 and context:
            rows = np.argsort(-before, kind="stable")[:COMPARED]
            values = [context.fit(nodes[row]) for row in rows]
            known = np.array([fit is not None for fit in values])
            fits[rows] = _filled(np.array([fit or 0.0 for fit in values]), known)
        return fits


def _filled(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the values with unknown ones replaced by the mean of the known ones."""
    return np.where(known, values, values[known].mean() if known.any() else 0.0)
