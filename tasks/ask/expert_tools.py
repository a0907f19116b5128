"""Tools to ask experts, to filter their texts and to find evidence for their claims.

They are opened when needed; askers may share them.
"""

from functools import cached_property

import duckdb
import numpy as np

from schemas.documents import Passage
from schemas.learning import TrainingText
from schemas.settings import ExpertSettings
from tasks.ask.route import Resources
from tasks.experts.filters.evidence import EditionEvidence, first_found
from tasks.experts.filters.factuality import EvidenceOf, open_summary_verifier, open_verifier
from tasks.experts.filters.pruning import CheckpointSummarizer, ExtractiveSummarizer, Summarizer
from tasks.experts.filters.verifier import SummaryVerifier, Verifier
from tasks.experts.integrate.decisions import fields_of
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.integrate.writing import ExpertWriter
from tasks.experts.pool import ExpertPool, OpenExpert
from tasks.experts.registry import active_experts
from tasks.models.encoders.load import Encoder, load_encoder
from tasks.programs.knowledge_bases.web import Web
from tasks.programs.knowledge_bases.wikipedia import Wikipedia
from tasks.retrieval.search import Searcher
from tasks.text.languages import is_chinese, language_of

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


class ExpertEvidence:
    """Finds evidence for claims of experts; nothing is opened before it is needed."""

    def __init__(self, resources: Resources) -> None:
        """Look in the resources' edition and, where the settings allow it, in Wikipedia."""
        self._resources = resources
        self._of: dict[str, EvidenceOf] = {}

    def of(self, expert: str) -> EvidenceOf:
        """Return a function that finds evidence for an expert's claims outside its training."""
        if expert not in self._of:
            self._of[expert] = self._opened(expert)
        return self._of[expert]

    def _opened(self, expert: str) -> EvidenceOf:
        triples, passages, whole = self._trained_on(expert)
        edition = EditionEvidence(
            self._con,
            self._searcher,
            [g.arrays for name, g in self._resources.graphs.items() if name not in whole],
            excluded_triples=triples,
            excluded_passages=passages,
        )
        web = self._resources.web
        return first_found(edition.find, self._wikipedia(web)) if web else edition.find

    def _trained_on(self, expert: str) -> tuple[set[str], set[str], set[str]]:
        """Return the triples, passages and whole graphs that an expert was trained on."""
        if not self._resources.edition.rows(TrainingText):
            return set(), set(), set()
        named = {"expert": expert}
        graphs: dict[str, int] = dict(self._con.execute(_GRAPHS, named).fetchall())
        whole = {graph for graph, size in graphs.items() if size > MOST_EXCLUDED}
        triples = set() if whole else self._ids(_TRIPLES, named)
        return triples, self._ids(_PASSAGES, named), whole

    def _ids(self, query: str, named: dict[str, str]) -> set[str]:
        return {row[0] for row in self._con.execute(query, named).fetchall()}

    def _wikipedia(self, web: Web) -> EvidenceOf:
        settings = self._resources.settings.knowledge_bases

        def find(claim: str) -> list[str]:
            wikipedia = Wikipedia(web, settings, language_of(claim))
            pages = wikipedia.entity_linking(claim, [claim[:SEARCHED]])[:MOST_ARTICLES]
            texts = (wikipedia.get_entity_info(page.entity) for page in pages)
            return [text for text in texts if text.strip()]

        return find

    @cached_property
    def _con(self) -> duckdb.DuckDBPyConnection:
        return self._resources.edition.connect()

    @cached_property
    def _searcher(self) -> Searcher | None:
        edition, engine = self._resources.edition, self._resources.settings.engine
        if not edition.rows(Passage):
            return None
        chinese = load_encoder(engine.chinese_encoder)
        return Searcher(edition.path, load_encoder(engine.encoder), chinese)


class ExpertTools:
    """The experts of an edition, and the encoder, summarizer, verifier and evidence of filters."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._evidence = ExpertEvidence(resources)

    @cached_property
    def writer(self) -> ExpertWriter:
        """The writer of the experts' texts."""
        return ExpertPool(self._experts, device=self._device)

    def filters(self, settings: ExpertSettings) -> Filters:
        """Return the filters that these settings turn on."""
        summarizer = self._summarizer if settings.pruning else None
        verifier = self.verifier if settings.factuality else None
        return Filters(
            settings,
            self.encode,
            summarizer,
            verifier,
            self.evidence_for,
            fields_of({expert.name: expert.description for expert in self._experts}),
            self._summary_verifier if settings.factuality else None,
        )

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return the vectors of texts, by the first one's language."""
        return self._encoders[is_chinese(texts[0])].encode(texts)

    def evidence_for(self, expert: str) -> EvidenceOf:
        """Return a function that finds evidence for an expert's claims outside its training."""
        return self._evidence.of(expert)

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
        return open_summary_verifier(named, self._device) if named else None

    @cached_property
    def _summarizer(self) -> Summarizer:
        named = self._resources.settings.experts.summarizer
        return (
            CheckpointSummarizer(named, self._device)
            if named
            else ExtractiveSummarizer(self.encode)
        )

    @cached_property
    def _encoders(self) -> tuple[Encoder, Encoder]:
        """The encoder, and the one for Chinese; filters need one even where search has none."""
        english, chinese = map(load_encoder, self._resources.settings.engine.name_encoders)
        first = english or load_encoder("minilm")
        assert first is not None
        return first, chinese or first

    @property
    def _device(self) -> str | None:
        return self._resources.settings.engine.model.device
