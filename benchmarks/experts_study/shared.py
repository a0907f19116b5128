"""Tools that many rows share, so that each text is written and each claim verified only once."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tasks.ask.expert_tools import ExpertTools
from tasks.ask.route import Resources
from tasks.experts.competence import Certainty
from tasks.experts.filters.factuality import EvidenceOf
from tasks.experts.filters.verifier import Verifier
from tasks.experts.pool import NEW_TOKENS, TEMPERATURE, ExpertPool
from tasks.text.question import Question


class RememberingWriter(ExpertPool):
    """Writes each text once: a prompt's k-th text is the same, however many are requested."""

    def __init__(self, writer: ExpertPool) -> None:
        super().__init__([])  # the other one writes
        self._writer = writer
        self._written: dict[tuple[str, str, int, int, float], list[str]] = {}

    def write(
        self,
        expert: str,
        prompts: Sequence[str],
        count: int = 1,
        seed: int = 0,
        *,
        max_new_tokens: int = NEW_TOKENS,
        temperature: float = TEMPERATURE,
    ) -> list[list[str]]:
        """Return `count` continuations of each prompt."""
        keys = [(expert, prompt, seed, max_new_tokens, temperature) for prompt in prompts]
        few = [key for key in dict.fromkeys(keys) if len(self._written.get(key, ())) < count]
        if few:
            written = self._writer.write(
                expert, [key[1] for key in few], count, seed,
                max_new_tokens=max_new_tokens, temperature=temperature,
            )  # fmt: skip
            self._written.update(zip(few, written, strict=True))
        return [self._written[key][:count] for key in keys]

    def certainty(self, expert: str, question: Question, answers: Sequence[str]) -> Certainty:
        """Return how sure an expert is of its answers to a question."""
        return self._writer.certainty(expert, question, answers)


class RememberingVerifier:
    """Verifies each pair of evidence and claim once."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier, self.id = verifier, verifier.id
        self._verdicts: dict[tuple[str, str], np.ndarray] = {}
        self._faithful: dict[tuple[str, str], float] = {}

    def verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return float (pairs, 3): support, refute, unknown."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._verdicts]
        if new:
            self._verdicts.update(zip(new, self._verifier.verify(new), strict=True))
        return np.array([self._verdicts[pair] for pair in pairs]).reshape(-1, 3)

    def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return (pairs) from 0 to 1: the faithfulness of each sentence to its original."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._faithful]
        if new:
            self._faithful.update(zip(new, self._verifier.faithful(new).tolist(), strict=True))
        return np.array([self._faithful[pair] for pair in pairs])


class SharedTools(ExpertTools):
    """The tools of an edition, which cache their results."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._found: dict[tuple[str, str], list[str]] = {}

    @cached_property
    def writer(self) -> ExpertPool:
        """The writer of texts as an expert."""
        return RememberingWriter(super().writer)

    @cached_property
    def verifier(self) -> Verifier:
        """The verifier of claims against evidence."""
        return RememberingVerifier(super().verifier)

    def evidence_for(self, expert: str) -> EvidenceOf:
        """Return the function that finds evidence for an expert's claims, caching its results."""
        search = super().evidence_for(expert)

        def find(claim: str) -> list[str]:
            if (expert, claim) not in self._found:
                self._found[expert, claim] = search(claim)
            return self._found[expert, claim]

        return find
