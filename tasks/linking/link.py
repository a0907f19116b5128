"""Candidates for a name in one graph, ranked by likeness, context and popularity."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tasks.graphs.graph import Graph
from tasks.linking.build_names import normal_form
from tasks.linking.context import Context
from tasks.linking.descriptions import DescriptionIndex
from tasks.linking.likeness import likeness
from tasks.linking.name_index import NameIndex, Spelling

MOST_ALIASES = 8
COMPARED = 20  # candidates whose surroundings are compared with the question
FITS = 0.5  # a likeness below it is no candidate
DESCRIBED = 0.55  # at most: found by its description alone


class Link(NamedTuple):
    """A node that a name may mean, and how likely that is, 0 to 1."""

    node: int
    score: float


class Linker:
    """What links names to the nodes of one graph."""

    def __init__(
        self,
        names: NameIndex,
        graph: Graph | None = None,
        descriptions: DescriptionIndex | None = None,
    ) -> None:
        """Link by names alone, or also by what the graph and descriptions tell of nodes."""
        self.names, self.graph, self.descriptions = names, graph, descriptions

    @classmethod
    def open(cls, folder: Path, graph: Graph | None = None) -> "Linker":
        """Open the indexes that lie in a folder."""
        described = (folder / "descriptions.arrow").exists()
        return cls(NameIndex(folder), graph, DescriptionIndex(folder) if described else None)

    def link(self, query: str, aliases: Sequence[str], k: int = 10) -> list[Link]:
        """Return at most `k` nodes that the aliases may mean in a query, likeliest first.

        None where nothing fits. The first alias is taken for the likeliest name.
        """
        aliases = [alias for alias in aliases[:MOST_ALIASES] if alias.strip()]
        alike = self._alike(aliases)
        if max(alike.values(), default=0.0) < DESCRIBED and self.descriptions:
            for alias in aliases:
                for node, share in self.descriptions.search(alias, COMPARED):
                    alike[node] = max(alike.get(node, 0.0), DESCRIBED * share)
        fitting = {node: like for node, like in alike.items() if like >= FITS}
        return self._ranked(fitting, query, aliases)[:k]

    def _alike(self, aliases: Sequence[str]) -> dict[int, float]:
        """Return the likeness of every candidate to the alias that it is likest to."""
        best: dict[int, float] = {}
        for place, alias in enumerate(aliases):
            for spelling in [*self.names.bearers(alias), *self.names.near(alias)]:
                score = _likeness(alias, spelling) * 0.99**place
                if score > best.get(spelling.node, 0.0):
                    best[spelling.node] = score
        return best

    def _ranked(self, alike: dict[int, float], query: str, aliases: Sequence[str]) -> list[Link]:
        nodes = list(alike)
        popularity = self._popularity(nodes)
        scores = {
            node: alike[node] * (0.8 + 0.2 * popular)
            for node, popular in zip(nodes, popularity, strict=True)
        }
        first = sorted(nodes, key=lambda node: (-scores[node], node))
        context = Context(query, aliases, self.graph, self.descriptions)
        if len(first) > 1 and context:
            for node in first[:COMPARED]:
                scores[node] *= 0.8 + 0.2 * context.fit(node)
            for node in first[COMPARED:]:
                scores[node] *= 0.8
        return [Link(n, float(scores[n])) for n in sorted(nodes, key=lambda n: (-scores[n], n))]

    def _popularity(self, nodes: list[int]) -> np.ndarray:
        """Return from 0 to 1 how well connected nodes are beside the best of them."""
        if self.graph is None or not nodes:
            return np.zeros(len(nodes))
        rows = np.array(nodes)
        degrees = sum(
            offsets[rows + 1] - offsets[rows]
            for offsets in (self.graph.out_offsets, self.graph.in_offsets)
        )
        return np.log1p(degrees) / max(1.0, float(np.log1p(degrees).max()))


def _likeness(alias: str, spelling: Spelling) -> float:
    like = likeness(normal_form(alias), spelling.normal)
    exactly = 1.0 if alias == spelling.name else 0.99
    return like * exactly * (0.95 + 0.05 * spelling.weight)
