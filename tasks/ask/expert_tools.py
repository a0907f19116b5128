"""Tools to ask experts and to filter their texts, opened when needed; askers may share them."""

from functools import cached_property

import numpy as np

from schemas.settings import ExpertSettings
from tasks.ask.expert_evidence import ExpertEvidence
from tasks.ask.route import Resources
from tasks.experts.filters.factuality import EvidenceOf, open_verifier
from tasks.experts.filters.pruning import CheckpointSummarizer, ExtractiveSummarizer, Summarizer
from tasks.experts.filters.verifier import Verifier
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.integrate.writing import Writer
from tasks.experts.pool import ExpertPool
from tasks.experts.registry import active_experts
from tasks.models.encoders.load import Encoder, load_encoder
from tasks.text.languages import is_chinese


class ExpertTools:
    """The experts of an edition, and the encoder, summarizer, verifier and evidence of filters."""

    def __init__(self, resources: Resources) -> None:
        """Open nothing yet."""
        self._resources = resources
        self._evidence = ExpertEvidence(resources)

    @cached_property
    def writer(self) -> Writer:
        """The writer of the experts' texts."""
        experts = active_experts(self._resources.home, self._resources.edition)
        return ExpertPool(experts, device=self._device)

    def filters(self, settings: ExpertSettings) -> Filters:
        """Return the filters that these settings turn on."""
        summarizer = self._summarizer if settings.pruning else None
        verifier = self.verifier if settings.factuality else None
        return Filters(settings, self.encode, summarizer, verifier, self.evidence_for)

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
        engine = self._resources.settings.engine
        first = load_encoder(engine.encoder) or load_encoder("minilm")
        assert first is not None
        return first, load_encoder(engine.chinese_encoder) or first

    @property
    def _device(self) -> str | None:
        return self._resources.settings.engine.model.device
