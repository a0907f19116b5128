"""The factuality filter (CooK, section 2.4): how likely a text is to be true.

`s = (s_sum + s_fact) / 2`: s_sum is how well the original supports its pruned form, s_fact how well
the evidence supports the claim, as the maximum over the pieces of evidence that decide. Support,
refute and unknown stay separate: a claim without evidence is unknown, not half true.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tasks.experts.filters.embedded_verifier import EmbeddedVerifier
from tasks.experts.filters.verifier import (
    REFUTE,
    SUPPORT,
    UNKNOWN,
    CheckpointVerifier,
    SummaryVerifier,
    Verifier,
    truth_shares,
)
from tasks.experts.knowledge import KnowledgeText
from tasks.text.sentences import sentences

MOST_SENTENCES = 8  # of a pruned text that are checked against the original
NOTHING = np.array([0.0, 0.0, 1.0])  # no evidence: unknown

EvidenceOf = Callable[[str], list[str]]


def open_verifier(name: str, device: str | None = None) -> Verifier:
    """Return the verifier of that name: `embedded`, or a checkpoint's folder or hub name."""
    return EmbeddedVerifier() if name == "embedded" else CheckpointVerifier(name, device)


def score_factuality(
    texts: Sequence[KnowledgeText],
    verifier: Verifier,
    evidence_of: EvidenceOf | None,
    summary_verifier: SummaryVerifier | None = None,
) -> list[KnowledgeText]:
    """Return all texts with summary, support, refute, unknown and score; none is dropped.

    `evidence_of` finds evidence for a claim; with None all claims are unknown. `summary_verifier`
    compares pruned texts with their originals, by default the verifier of claims. Texts that were
    dropped before are not scored.
    """
    standing = [place for place, text in enumerate(texts) if text.dropped is None]
    changed = [place for place in standing if texts[place].words != texts[place].text]
    pruned = [(texts[place].text, texts[place].words) for place in changed]
    summaries = summary_factuality(pruned, summary_verifier or verifier)
    known = dict(zip(changed, summaries, strict=True))
    verdicts = verify_claims([texts[place].words for place in standing], verifier, evidence_of)
    scored = list(texts)
    for place, verdict, fact in zip(standing, verdicts, truth_shares(verdicts), strict=True):
        summary = known.get(place, 1.0)  # nothing was pruned
        scored[place] = replace(
            texts[place],
            summary=summary,
            support=float(verdict[SUPPORT]),
            refute=float(verdict[REFUTE]),
            unknown=float(verdict[UNKNOWN]),
            score=(summary + float(fact)) / 2,
        )
    return scored


def verify_claims(
    claims: Sequence[str], verifier: Verifier, evidence_of: EvidenceOf | None
) -> np.ndarray:
    """Return verdicts (claims, 3), each from the best piece of evidence; unknown without any."""
    evidence = [evidence_of(claim) if evidence_of else [] for claim in claims]
    pairs = [
        (piece, claim) for claim, pieces in zip(claims, evidence, strict=True) for piece in pieces
    ]
    verified = verifier.verify(pairs) if pairs else np.zeros((0, 3))
    verdicts, place = np.tile(NOTHING, (len(claims), 1)), 0
    for row, pieces in enumerate(evidence):
        if pieces:
            verdicts[row] = speaking_verdict(verified[place : place + len(pieces)])
            place += len(pieces)
    return verdicts


def speaking_verdict(verdicts: np.ndarray) -> np.ndarray:
    """Return the verdict (3) with the highest share of truth among those (pieces, 3) that decide.

    A piece of evidence decides if its most probable verdict is not unknown; if none decides, all
    are compared. So irrelevant evidence does not hide a refutation.
    """
    deciding = np.flatnonzero(verdicts.argmax(axis=1) != UNKNOWN)
    rows = verdicts[deciding] if len(deciding) else verdicts
    best: np.ndarray = rows[int(np.argmax(truth_shares(rows)))]
    return best


def summary_factuality(
    summaries: Sequence[tuple[str, str]], verifier: SummaryVerifier
) -> list[float]:
    """Return the faithfulness of each (original, summary), 0 to 1: the mean over its sentences."""
    parts = [
        [summary[a:b] for a, b in sentences(summary)[:MOST_SENTENCES]] for _, summary in summaries
    ]
    pairs = [
        (original, part)
        for (original, _), each in zip(summaries, parts, strict=True)
        for part in each
    ]
    shares = iter(verifier.faithful(pairs) if pairs else ())
    return [float(np.mean([next(shares) for _ in each])) if each else 0.0 for each in parts]
