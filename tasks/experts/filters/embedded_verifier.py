"""The embedded verifier: the shipped entailment model, on the telling part of the evidence."""

from collections.abc import Sequence

import numpy as np

from tasks.experts.filters.verifier import LONGEST, UNKNOWN
from tasks.models.entailment.entailment import entailment_id, shipped_entailment
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.languages import is_chinese
from tasks.text.sentences import sentences
from tasks.text.stems import stems_of, words_of

MOST_SENTENCES = 1000  # that are read of a piece of evidence
SENTENCES_JOINED = 2  # sentences of the evidence that are joined for a verdict
LONGEST_SENTENCE = 600  # characters


class EmbeddedVerifier:
    """Verifies English claims; the model was trained in English, so it leaves Chinese open."""

    def __init__(self) -> None:
        self.id = f"embedded-{entailment_id()}"

    def verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return float64 (pairs, 3): support, refute, unknown of each (evidence, claim).

        Only the two sentences of the evidence that share most words with the claim are read. The
        verdict is unknown if the claim or the evidence has no words or is Chinese.
        """
        read = [(telling_part(shown, claim), claim[:LONGEST_SENTENCE]) for shown, claim in pairs]
        verdicts = np.zeros((len(pairs), 3))
        verdicts[:, UNKNOWN] = 1.0
        places = [n for n, pair in enumerate(read) if all(map(_is_legible, pair))]
        if places:
            verdicts[places] = shipped_entailment().judge([read[place] for place in places])
        return verdicts

    def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return (pairs): the share of a sentence's bigrams and trigrams that its original has.

        On half of the articles of QAGS this agreed better with human judgements than the verdicts
        did, since most errors of summaries arise where they recombine words. A true paraphrase
        scores low.
        """
        shares = [copied_share(original[:LONGEST], part[:LONGEST]) for original, part in pairs]
        return np.array(shares).reshape(-1)


def _is_legible(text: str) -> bool:
    return any(map(str.isalnum, text)) and not is_chinese(text)


def telling_part(evidence: str, claim: str) -> str:
    """Return the sentences of the evidence, two at most, that cover most of the claim's words."""
    evidence = evidence[:LONGEST]
    spans = sentences(evidence)[:MOST_SENTENCES]
    parts = [evidence[a:b][:LONGEST_SENTENCE] for a, b in spans]
    if len(parts) <= 1:
        return "".join(parts)
    wanted = words_of(claim[:LONGEST_SENTENCE]) - FUNCTION_WORDS
    known = [words_of(part) for part in parts]
    chosen: list[int] = []
    for _ in range(SENTENCES_JOINED):
        gains = [len(wanted & words) for words in known]
        best = max(range(len(parts)), key=gains.__getitem__)
        if chosen and not gains[best]:
            break
        chosen.append(best)
        wanted -= known[best]
    return " ".join(parts[place] for place in sorted(set(chosen)))


def copied_share(original: str, part: str) -> float:
    """Return the mean share of the word bigrams and trigrams of a text that its original has."""
    words, known = ([word for _, _, word in stems_of(text)] for text in (part, original))
    shares = []
    for length in (2, 3):
        ours, theirs = (list(_runs(each, length)) for each in (words, known))
        stated = set(theirs)
        shares.append(sum(run in stated for run in ours) / len(ours) if ours else 1.0)
    return sum(shares) / len(shares)


def _runs(words: list[str], length: int) -> Sequence[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(length)), strict=False))
