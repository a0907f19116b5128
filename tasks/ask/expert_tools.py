"""Tools to ask experts, to filter their texts and to find evidence for their claims.

They are opened when needed.
"""

from functools import cached_property

import duckdb

from schemas.documents import Passage
from schemas.learning import TrainingText
from schemas.settings import ExpertSettings
from tasks.ask.route import Resources
from tasks.experts.filters.evidence import EditionEvidence
from tasks.experts.filters.factuality import EvidenceOf, open_verifier
from tasks.experts.filters.pruning import CheckpointSummarizer, ExtractiveSummarizer, Summarizer
from tasks.experts.filters.verifier import CheckpointSummaryVerifier, SummaryVerifier, Verifier
from tasks.experts.integrate.decisions import fields_of
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.pool import ExpertPool, OpenExpert
from tasks.experts.registry import active_experts
from tasks.programs.knowledge_bases.wikipedia import Wikipedia
from tasks.retrieval.search import Searcher
from tasks.retrieval.search_edition import open_searcher
from tasks.text.languages import language_of

SEARCHED = 100  # characters of a claim that Wikipedia is searched for, as in CooK's code
MOST_ARTICLES = 3
MOST_EXCLUDED = 1_000_000  # triples; a graph that an expert has seen more of is left out whole

_TRIPLES = "select distinct unnest(triple_ids) from training_texts where expert = $expert"
_PASSAGES = """
select distinct passage_id from training_texts where expert = $expert and passage_id is not null
"""
_GRAPHS = """
select graph, sum(len(triple_ids)) from training_texts where expert = $expert group by graph
"""


class ExpertTools:
    """The experts of an edition, and the summarizer, verifiers and evidence of filters."""

    def __init__(self, resources: Resources) -> None:
        """Look for evidence in the edition and, where the resources have the web, in Wikipedia."""
        self._resources = resources
        self._evidence: dict[str, EvidenceOf] = {}

    @cached_property
    def writer(self) -> ExpertPool:
        """The experts, which write texts."""
        return ExpertPool(self._experts, device=self._device)

    def filters(self, settings: ExpertSettings) -> Filters:
        """Return the filters that these settings turn on."""
        summarizer = self._summarizer if settings.pruning else None
        verifier = self.verifier if settings.factuality else None
        return Filters(
            settings,
            self._resources.encode,
            summarizer,
            verifier,
            self.evidence_for,
            fields_of({expert.name: expert.description for expert in self._experts}),
            self._summary_verifier if settings.factuality else None,
        )

    @cached_property
    def verifier(self) -> Verifier:
        """The verifier of claims against evidence."""
        return open_verifier(self._resources.settings.experts.verifier, self._device)

    @cached_property
    def _experts(self) -> list[OpenExpert]:
        return active_experts(self._resources.home, self._resources.edition)

    @cached_property
    def _summary_verifier(self) -> SummaryVerifier | None:
        """The verifier of pruned texts; None where that of claims reads them, too."""
        named = self._resources.settings.experts.summary_verifier
        return CheckpointSummaryVerifier(named, self._device) if named else None

    @cached_property
    def _summarizer(self) -> Summarizer:
        named = self._resources.settings.experts.summarizer
        return (
            CheckpointSummarizer(named, self._device)
            if named
            else ExtractiveSummarizer(self._resources.encode)
        )

    @property
    def _device(self) -> str | None:
        return self._resources.settings.engine.model.device

    # -- evidence -----------------------------------------------------------------------------

    def evidence_for(self, expert: str) -> EvidenceOf:
        """Return a function that finds evidence for an expert's claims outside its training."""
        if expert not in self._evidence:
            triples, passages, whole = self._trained_on(expert)
            graphs = self._resources.graphs
            edition = EditionEvidence(
                self._con,
                self._searcher,
                [graph.arrays for name, graph in graphs.items() if name not in whole],
                excluded_triples=triples,
                excluded_passages=passages,
            )
            self._evidence[expert] = lambda claim: edition.find(claim) or self._wikipedia(claim)
        return self._evidence[expert]

    def _trained_on(self, expert: str) -> tuple[set[str], set[str], set[str]]:
        """Return the triples, passages and whole graphs that an expert was trained on."""
        if not self._resources.edition.rows(TrainingText):
            return set(), set(), set()
        named = {"expert": expert}
        graphs: dict[str, int] = dict(self._con.execute(_GRAPHS, named).fetchall())
        whole = {graph for graph, size in graphs.items() if size > MOST_EXCLUDED}
        triples, passages = (
            {row[0] for row in self._con.execute(query, named).fetchall()}
            for query in (_TRIPLES, _PASSAGES)
        )
        return set() if whole else triples, passages, whole

    def _wikipedia(self, claim: str) -> list[str]:
        """Return the texts of articles that a claim may name; none where there is no web."""
        web, settings = self._resources.web, self._resources.settings.knowledge_bases
        if web is None:
            return []
        wikipedia = Wikipedia(web, settings, language_of(claim))
        pages = wikipedia.entity_linking(claim, [claim[:SEARCHED]])[:MOST_ARTICLES]
        texts = (wikipedia.get_entity_info(page.entity) for page in pages)
        return [text for text in texts if text.strip()]

    @cached_property
    def _con(self) -> duckdb.DuckDBPyConnection:
        return self._resources.edition.connect()

    @cached_property
    def _searcher(self) -> Searcher | None:
        """A search of its own, since others are used by other threads."""
        edition = self._resources.edition
        has_passages = edition.rows(Passage) > 0
        return open_searcher(edition, self._resources.settings.engine) if has_passages else None
