"""A graph of an edition with its vectors, grounding, policy and extraction strategies.

paths/vectors/KEY                vectors, one folder per content of a graph (`graph_vectors`)
paths/policies/GRAPH/VERSION     policies (`policy.store`)
paths/training/GRAPH             the checkpoint of a training

Vectors and policies are kept beside the editions, since editions share unchanged graphs.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from schemas.errors import UsageError
from schemas.learning import PathPolicy
from tasks.graphs.graph import Graph, graphs_of
from tasks.paths.extraction.shortest_paths import ShortestPaths
from tasks.paths.extraction.subgraph import SubgraphExtraction
from tasks.paths.extraction.walks import PolicyWalks
from tasks.paths.graph_vectors import GraphVectors, graph_vectors
from tasks.paths.grounding import Grounder
from tasks.paths.path import Strategy
from tasks.paths.policy.store import is_of_this_format, load_policy
from tasks.paths.policy.train import TrainedPolicy
from warehouse.editions import Edition
from warehouse.home import Home


@dataclass(frozen=True, eq=False)
class PathGraph:
    """A graph, its vectors, and the policy that was trained for it or for another graph."""

    graph: Graph
    vectors: GraphVectors
    policy: TrainedPolicy | None = None
    origin: str = ""  # what a bandit's rewards hold for: the encoder and the policy's version

    @cached_property
    def walks(self) -> PolicyWalks | None:
        """The walks of the policy, if there is one."""
        if self.policy is None:
            return None
        return PolicyWalks.over(self.graph, self.vectors, self.policy)

    @cached_property
    def grounder(self) -> Grounder:
        """The grounder, which finds the nodes that texts name."""
        return Grounder(self.graph, self.vectors)

    @cached_property
    def extractions(self) -> dict[str, Strategy]:
        """The extraction strategies by name; `walks` needs a policy."""
        strategies: list[Strategy] = [self.walks] if self.walks else []
        strategies.append(SubgraphExtraction(self.graph, self.vectors))
        strategies.append(ShortestPaths(self.graph, self.vectors))
        return {strategy.name: strategy for strategy in strategies}


def open_path_graph(home: Home, edition: Edition, name: str, encoder: str = "") -> PathGraph:
    """Return a graph of an edition with its vectors, which are made if they are missing.

    Its policy is the one trained for it or, without one, the newest for another graph, since a
    policy reads the names and vectors of relations. A policy for another vector space is not used,
    nor one in the format of an earlier release, which has to be trained again. The default
    `encoder` is the one of the graph's own policy, or else depends on the size of the graph. Raises
    UsageError without such a graph, UnsafePolicyError for a policy whose files are not those that
    were registered.
    """
    graph = edition_graph(edition, name)
    rows = edition.table(PathPolicy).to_pylist() if edition.rows(PathPolicy) else []
    own = [row for row in rows if row["graph"] == name]
    encoder = encoder or (own[0]["encoder"] if own else "")
    vectors = graph_vectors(graph, home.path / "paths" / "vectors", encoder)
    alike = [row for row in rows if row["encoder"] == vectors.encoder_name]
    newest = sorted(alike, key=lambda row: row["trained_at"], reverse=True)
    for row in own or newest:
        folder = home.path / row["path"]
        if not is_of_this_format(folder):
            continue
        policy, manifest = load_policy(folder, row["sha256"])
        if manifest.encoder == vectors.space:
            origin = f"{vectors.encoder_name} {row['version']}"
            return PathGraph(graph, vectors, policy, origin)
    return PathGraph(graph, vectors, origin=vectors.encoder_name)


def edition_graph(edition: Edition, name: str) -> Graph:
    """Return a graph of an edition; raises UsageError, listing all graphs, without it."""
    graphs = graphs_of(edition)
    if name not in graphs:
        known = ", ".join(graphs) or "none"
        raise UsageError(f"There is no graph {name!r}. The graphs: {known}.")
    return graphs[name]


def policies_folder(home: Home, graph: str) -> Path:
    """Return the folder with the policies of a graph; its name is a hash of the graph's name."""
    return home.path / "paths" / "policies" / _folder_name(graph)


def training_folder(home: Home, graph: str) -> Path:
    """Return the folder with the checkpoint of the training for a graph."""
    return home.path / "paths" / "training" / _folder_name(graph)


def _folder_name(graph: str) -> str:
    return sha256(graph.encode()).hexdigest()[:16]
