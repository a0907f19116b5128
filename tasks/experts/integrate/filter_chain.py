"""The filters in the order in which they run; the settings can switch off each of them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from schemas.settings import ExpertSettings
from tasks.experts.filters.factuality import EvidenceOf, score_factuality
from tasks.experts.filters.pruning import Summarizer, prune
from tasks.experts.filters.selection import (
    Encode,
    drop_repeated,
    drop_unusable,
    keep_relevant,
    relevance,
    sample_factual,
)
from tasks.experts.filters.verifier import SummaryVerifier, Verifier
from tasks.experts.integrate.decisions import fit_knowledge
from tasks.experts.knowledge import KnowledgeText

EvidenceFor = Callable[[str], EvidenceOf | None]


class Filters:
    """Decides which of the experts' texts the answering model sees.

    All texts are returned, dropped ones with the reason. Threads may share the filters and take
    turns.
    """

    def __init__(
        self,
        settings: ExpertSettings,
        encode: Encode,
        summarizer: Summarizer | None = None,
        verifier: Verifier | None = None,
        evidence_for: EvidenceFor = lambda expert: None,
        fields: Mapping[str, str] | None = None,
        summary_verifier: SummaryVerifier | None = None,
    ) -> None:
        """Take the settings in [experts], and what the filters that are on need.

        `evidence_for` returns the source of evidence for an expert's claims, without that expert's
        own training data; `fields` are the experts' descriptions. A `summary_verifier`, such as
        FactKB, compares pruned texts with their originals in place of the verifier of claims.
        """
        self._settings, self._encode, self._evidence_for = settings, encode, evidence_for
        self._summarizer = summarizer if settings.pruning else None
        self._verifier = verifier if settings.factuality else None
        self._fields, self._summary_verifier = fields or {}, summary_verifier
        self._lock = Lock()

    def keep(self, question: str, texts: Sequence[KnowledgeText]) -> list[KnowledgeText]:
        """Return the texts of all experts, of which at most n3 are kept (CooK, Algorithm 1)."""
        settings = self._settings
        return self._chosen(
            question,
            texts,
            settings.relevant,
            settings.kept,
            pool=settings.pool,
            temperature=settings.temperature,
            seed=_seed(settings.seed, question),
            greedy=settings.greedy,
        )

    def keep_best(
        self, question: str, texts: Sequence[KnowledgeText], known: Sequence[str]
    ) -> list[KnowledgeText]:
        """Return the texts of one expert, of which the most factual is kept (CooK, Algorithm 2).

        Texts that are equal to a `known` one are dropped as repeated.
        """
        return self._chosen(question, texts, None, 1, known, pool=1, greedy=True)

    def score(self, question: str, texts: Sequence[KnowledgeText]) -> list[KnowledgeText]:
        """Return the texts in their order with relevance and factuality; none is dropped."""
        with self._lock:
            return self._verified(self._with_relevance(question, texts, None))

    def _chosen(
        self,
        question: str,
        texts: Sequence[KnowledgeText],
        relevant: int | None,
        kept: int,
        known: Sequence[str] = (),
        **sampling: Any,
    ) -> list[KnowledgeText]:
        """Return the texts after all filters; `sampling` are options of `sample_factual`."""
        with self._lock:
            usable = drop_unusable(question, texts, known)
            pruned = prune(
                question, self._with_relevance(question, usable, relevant), self._summarizer
            )
            scored = self._verified(drop_repeated(pruned, known))
            if self._settings.factuality:
                chosen = sample_factual(scored, kept, **sampling)
            else:
                chosen = self._best_by_relevance(scored, kept)
        return fit_knowledge(chosen, self._settings.knowledge_tokens)

    def _with_relevance(
        self, question: str, texts: Sequence[KnowledgeText], most: int | None
    ) -> list[KnowledgeText]:
        if not self._settings.relevance or not texts:
            return list(texts)
        scores = relevance(question, texts, self._encode, self._fields)
        return keep_relevant(texts, scores, most)

    def _verified(self, texts: Sequence[KnowledgeText]) -> list[KnowledgeText]:
        """Return the texts with their factuality scores, using each expert's own evidence."""
        if self._verifier is None:
            return list(texts)
        scored = list(texts)
        for expert in dict.fromkeys(text.expert for text in texts if text.dropped is None):
            places = [place for place, text in enumerate(texts) if text.expert == expert]
            own = [texts[place] for place in places]
            evidence = self._evidence_for(expert)
            verified = score_factuality(own, self._verifier, evidence, self._summary_verifier)
            for place, text in zip(places, verified, strict=True):
                scored[place] = text
        return scored

    def _best_by_relevance(self, texts: Sequence[KnowledgeText], most: int) -> list[KnowledgeText]:
        """Drop all but the most relevant texts, or the first ones if relevance is not measured."""
        standing = [place for place, text in enumerate(texts) if text.dropped is None]
        standing.sort(key=lambda place: -(texts[place].relevance or 0.0))
        kept = set(standing[:most])
        reason = "relevance" if self._settings.relevance else "budget"
        return [
            text if place in kept else text.drop(reason)  # type: ignore[arg-type]
            for place, text in enumerate(texts)
        ]


def _seed(seed: int, question: str) -> int:
    """Return a seed for a question; one seed for all would always favour the same places."""
    digest = hashlib.sha256(f"{seed} {question}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "little")
