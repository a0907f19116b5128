"""The route `paths`: paths between a question and its candidate answers in a graph (KnowGPT)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock

import pyarrow.parquet as pq

from schemas.answers import Evidence, GraphPath
from schemas.errors import UsageError
from schemas.knowledge import CORPUS, Triple
from schemas.learning import PathPolicy
from tasks.ask.context import Item
from tasks.ask.parts import reader_name
from tasks.ask.path_reader import PathReader
from tasks.ask.programs_route import ProgramsRoute
from tasks.ask.route import AnswerRoute, QuestionState, Resources, RouteResult
from tasks.paths.bandit.bandit import Bandit, open_bandit
from tasks.paths.bandit.context import AskedQuestion
from tasks.paths.path import Extracted, GroundedQuestion, Path, Step
from tasks.paths.path_graph import open_path_graph
from tasks.paths.policy.beam import Proposal
from tasks.text.question import Question
from warehouse.disk_errors import warned_of_refusals
from warehouse.editions import Edition

MOST_CANDIDATES = 5  # answers to an open question to which paths are sought
MOST_EVIDENCE = 10  # paths, or edges where the strategy does not walk

Proposed = tuple[str, list[Proposal], Extracted]  # a graph, answers in it, and paths to them


class PathsRoute(AnswerRoute):
    """Answers from the paths between the entities in a question and its answers.

    A policy that was trained walks from the entities of an open question to answers of its own.
    Where there is none, the answers are those of the route `programs`, with the paths to them as
    evidence. Of choices, the likeliest to which a path leads is the answer. If a bandit was trained
    for the graph and the answering model, it chooses how the graph is searched and how paths are
    phrased; open questions without a model have nothing to phrase, and no bandit is asked.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources, self._programs = resources, ProgramsRoute(resources)
        self._lock = Lock()
        self._refusals: list[str] = []

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about choices that could not be recorded, and those of the programs."""
        return [*dict.fromkeys(self._refusals), *self._programs.warnings]

    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return the best answer, with the paths to it and to others as evidence."""
        choices = state.hints.choices
        is_read = state.conversation is not None and not self._resources.speaks_for_itself
        if not choices and not is_read:
            return self._open_answer(question, state)
        candidates = choices or self._candidates(question, state)
        with self._lock:  # questions that are answered at once share graphs and bandits
            name, grounded = self._grounded(question, candidates)
            reader = self._readers[name]
            arm, around = self._arm(name, reader, grounded, state)
        answer, probability, extracted = reader.answer(
            arm, question, grounded, choices, state.conversation, around
        )
        return RouteResult(
            "paths",
            [answer] if answer else [],
            _evidence(name, reader, extracted, question.text, arm),
            probability if answer else None,
        )

    def _open_answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return the ends of the likeliest walks or, without a policy, the answers of programs."""
        proposed = self._proposed(question)
        if proposed is None:
            candidates = self._programs.answer(question, state).answers[:MOST_CANDIDATES]
            with self._lock:
                name, grounded = self._grounded(question, candidates)
                reader = self._readers[name]
            [extracted] = reader.extract(reader.usual_arm, [grounded])
            evidence = _evidence(name, reader, extracted, question.text)
            return RouteResult("paths", candidates, evidence)
        if not proposed:
            return RouteResult("paths")
        name, proposals, paths = proposed
        reader, best = self._readers[name], proposals[0]
        evidence = _evidence(name, reader, paths, question.text)
        return RouteResult("paths", _names(reader, best), evidence, best.probability)

    def _candidates(self, question: Question, state: QuestionState) -> Sequence[str]:
        """Return the answers that an open question may have, the likeliest first."""
        proposed = self._proposed(question)
        if proposed is None:
            return self._programs.answer(question, state).answers[:MOST_CANDIDATES]
        if not proposed:
            return ()
        reader = self._readers[proposed[0]]
        names = (name for proposal in proposed[1] for name in _names(reader, proposal))
        return list(dict.fromkeys(names))[:MOST_CANDIDATES]

    def _proposed(self, question: Question) -> Proposed | tuple[()] | None:
        """Return the graph whose policy is surest of an answer, its answers, and paths to them.

        They are empty if no walk starts from the question, None if no graph has a policy.
        """
        with self._lock:
            walking = {n: r.paths.walks for n, r in self._readers.items() if r.paths.walks}
            if not walking:
                return None
            found: list[Proposed] = []
            for name, walks in walking.items():
                [grounded] = self._readers[name].paths.grounder.ground([question.text], [()])
                proposals, paths = walks.propose(grounded)
                found += [(name, proposals, paths)] if proposals else []
        return max(found, key=lambda proposed: proposed[1][0].probability, default=())

    def items(self, question: Question, state: QuestionState) -> list[Item]:
        """Return the paths to a question's choices, phrased, for a model that reads.

        Without choices there are none, and without a trained policy: they would be chance finds.
        """
        choices = state.hints.choices
        if not choices:
            return []
        with self._lock:
            name, grounded = self._grounded(question, choices)
            reader = self._readers[name]
            if reader.paths.policy is None:
                return []
            arm, _ = self._arm(name, reader, grounded, state)
            [extracted] = reader.extract(arm, [grounded])
            words = reader.phrase(arm, extracted).text
            stated = _evidence(name, reader, extracted, question.text, arm)
        whole = Evidence(text=words, kind="path", graph=name, score=1.0)
        item = Item(words, whole, "paths", f"Paths in the graph {name}", stated_by=tuple(stated))
        return [item] if words and stated else []

    def _grounded(
        self, question: Question, candidates: Sequence[str]
    ) -> tuple[str, GroundedQuestion]:
        """Return the graph that names most of the candidates, and the question grounded in it."""
        grounded = {
            name: reader.paths.grounder.ground([question.text], [candidates])[0]
            for name, reader in self._readers.items()
        }
        best = max(grounded, key=lambda name: _named(grounded[name]))
        return best, grounded[best]

    def _arm(
        self, name: str, reader: PathReader, grounded: GroundedQuestion, state: QuestionState
    ) -> tuple[str, Extracted | None]:
        """Return the arm that the bandit chooses; the usual one if its choice could not be played.

        The subgraph is returned too if the bandit had to see it. A bandit may have learned in an
        edition with a policy that this one lacks, or does not have any more.
        """
        bandit = self._bandits[name]
        if bandit is None or "bandit" in self._resources.options.without:
            return reader.usual_arm, None
        bandit.refresh()
        learned_here = reader.paths.origin.startswith(bandit.encoding.encoder)
        if not learned_here or not set(bandit.plan.arms) <= set(reader.arms):
            return reader.usual_arm, None
        score = state.gating.score if state.gating else None
        around = reader.around(grounded)
        features = AskedQuestion(grounded.text, grounded.context, score, len(around.edges))
        with warned_of_refusals(
            self._resources.home.path,
            "the bandit's choice was not recorded.",
            self._refusals.append,
        ):
            decided = bandit.decide({state.question_id: features})
            return decided[state.question_id].arm, around
        return reader.usual_arm, around

    @cached_property
    def _readers(self) -> dict[str, PathReader]:
        """The graphs that may be searched: the named one, those with a policy, or all imported."""
        home, edition = self._resources.home, self._resources.edition
        named = self._resources.options.graph
        trained = (
            [row["graph"] for row in edition.table(PathPolicy).to_pylist()]
            if edition.rows(PathPolicy)
            else []
        )
        imported = [name for name in self._resources.graphs if name != CORPUS]
        names = [named] if named else [n for n in trained if n in self._resources.graphs]
        names = names or imported or list(self._resources.graphs)
        withholds = self._resources.settings.engine.withholds_sensitive
        if CORPUS in names and withholds and _has_sensitive_facts(edition):
            names.remove(CORPUS)
            if not names:
                raise UsageError(
                    "Some facts of the corpus are sensitive, so its paths may not be shown to an "
                    "endpoint. Name an imported graph with --graph, or ask without the endpoint."
                )
        if not names:
            raise UsageError("There is no graph to find paths in. Import one, or refresh.")
        model = self._resources.model
        writer = None if model is None or model.client.is_small else model
        graphs = {name: open_path_graph(home, edition, name) for name in names}
        if (given := self._resources.policies) is not None:
            graphs = {
                name: replace(g, policy=given.get(name), origin="") for name, g in graphs.items()
            }
        return {name: PathReader(g, self._resources.encode, writer) for name, g in graphs.items()}

    @cached_property
    def _bandits(self) -> dict[str, Bandit | None]:
        model = reader_name(self._resources.settings)
        return {name: open_bandit(self._resources.home.live, name, model) for name in self._readers}


def _has_sensitive_facts(edition: Edition) -> bool:
    path = edition.path / f"{Triple.table}.parquet"
    sensitive = [("graph", "=", CORPUS), ("sensitivity", "=", "sensitive")]
    return pq.read_table(path, columns=["graph"], filters=sensitive).num_rows > 0


def _names(reader: PathReader, proposal: Proposal) -> list[str]:
    return list(dict.fromkeys(map(reader.paths.graph.label, proposal.nodes.tolist())))


def _named(grounded: GroundedQuestion) -> tuple[int, int]:
    return sum(len(nodes) > 0 for nodes in grounded.targets), len(grounded.sources)


def _evidence(
    name: str, reader: PathReader, extracted: Extracted, question: str, arm: str | None = None
) -> list[Evidence]:
    """Return the paths, best first; edges of a strategy that does not walk are paths of one edge.

    At most `MOST_EVIDENCE` are returned. Paths are scored by their relatedness or, without rewards,
    by the likeness of their words to the question.
    """
    paths = extracted.paths or tuple(
        Path(head, (Step(relation, False, tail),))
        for head, relation, tail in extracted.edges[:MOST_EVIDENCE].tolist()
    )
    paths = paths[:MOST_EVIDENCE]
    graph, texts = reader.paths.graph, [reader.sentence(path) for path in paths]
    scores = [path.rewards.relatedness for path in paths if path.rewards]
    if len(scores) < len(paths):
        scores = reader.likeness(question, texts)
    return [
        Evidence(
            text=text,
            kind="path" if path.rewards else "triple",
            graph=name,
            score=min(1.0, max(0.0, score)),
            path=GraphPath(
                nodes=[graph.label(node) for node in path.nodes],
                relations=[graph.relations[step.relation] for step in path.steps],
                inverse=[step.inverse for step in path.steps],
                relatedness=path.rewards.relatedness if path.rewards else None,
                conciseness=path.rewards.conciseness if path.rewards else None,
                reward=path.rewards.total if path.rewards else None,
                arm=arm,
            ),
        )
        for path, text, score in zip(paths, texts, scores, strict=True)
    ]
