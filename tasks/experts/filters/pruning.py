"""The pruning filter (CooK, section 2.3), which shortens each text.

A summarizer is any sequence-to-sequence checkpoint with greedy decoding, as PEGASUS in the paper.
The extractive summarizer keeps the sentences nearest to the question and to the centroid of the
text, so it adds nothing that the text does not say.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from schemas.errors import UsageError
from tasks.experts.filters.selection import Encode, cosines
from tasks.experts.knowledge import KnowledgeText
from tasks.models.decoding import Draw, decode
from tasks.models.loaded_model import LoadedModel, load_model
from tasks.text.languages import is_chinese
from tasks.text.sentences import sentences

SHORT = 120  # characters; shorter texts are left as they are, as in the paper's code
LONGEST = 20_000  # characters that are read of each text
LONGEST_WORD = 60  # characters
MOST_SENTENCES = 64  # that are compared of each text
SHORTEST_SUMMARY, LONGEST_SUMMARY = 10, 30  # tokens, as in the paper's code
CENTRE = 0.5  # weight of the similarity to the text; that to the question has weight one


class ExtractiveSummarizer:
    """Keeps the sentences nearest to the question and to the text's centroid, in their order."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def shorten(self, question: str, texts: Sequence[str], most_words: int) -> list[str]:
        """Return each text's best sentences within `most_words`; if none fits, the best is cut."""
        parts = [
            [text[a:b] for a, b in sentences(text)[:MOST_SENTENCES]] or [text] for text in texts
        ]
        if not parts:
            return []
        vectors = self._encode([question, *(part for each in parts for part in each)])
        shortened, place = [], 1
        for each in parts:
            rows = vectors[place : place + len(each)]
            place += len(each)
            scores = cosines(vectors[0], rows) + CENTRE * cosines(rows.mean(axis=0), rows)
            shortened.append(_chosen(each, scores, most_words))
        return shortened


def _chosen(parts: list[str], scores: np.ndarray, most_words: int) -> str:
    room, kept = most_words, []
    for place in np.argsort(-scores, kind="stable"):
        size = _words(parts[place])
        if size <= room:
            kept.append(int(place))
            room -= size
    if kept:
        return " ".join(parts[place] for place in sorted(kept))
    return _cut(parts[int(np.argmax(scores))], most_words)


def _words(text: str) -> int:
    """Return the number of words; in writing without spaces, two characters count as a word."""
    return sum(
        (len(word) + 1) // 2 if len(word) > LONGEST_WORD or is_chinese(word) else 1
        for word in text.split()
    )


def _cut(text: str, most_words: int) -> str:
    kept: list[str] = []
    room = most_words
    for word in text.split():
        size = _words(word)
        kept.append(word if size <= room else word[: 2 * room] if size > 1 else "")
        room -= size
        if room <= 0:
            break
    return " ".join(filter(None, kept))


class CheckpointSummarizer:
    """Summarizes by any sequence-to-sequence checkpoint of transformers, with greedy decoding."""

    def __init__(self, name: str, device: str | None = None, batch: int = 8) -> None:
        """Load a checkpoint by its folder or hub name.

        Raises UsageError if it is no sequence-to-sequence model.
        """
        self._loaded: LoadedModel = load_model(name, device)
        if not self._loaded.sequence_to_sequence:
            raise UsageError(
                f"{name} does not summarize: pruning needs a sequence-to-sequence model, such as "
                "PEGASUS, BART or T5. Leave the summarizer out to keep the best sentences."
            )
        self._batch = batch

    def shorten(self, question: str, texts: Sequence[str], most_words: int) -> list[str]:
        """Return summaries of 10 to 30 tokens, as in the paper's code, cut to `most_words`."""
        shortened: list[str] = []
        for start in range(0, len(texts), self._batch):
            shortened.extend(self._summaries(list(texts[start : start + self._batch])))
        return [_cut(text, most_words) for text in shortened]

    def _summaries(self, texts: list[str]) -> list[str]:
        limit = min(self._loaded.context, 1024)
        prompts = self._loaded.tokenizer(
            [self._loaded.harmless(text) for text in texts], truncation=True, max_length=limit
        )["input_ids"]
        noise = np.zeros((len(texts), LONGEST_SUMMARY))  # not used by greedy decoding
        draw = Draw(self._loaded, noise, least=SHORTEST_SUMMARY)
        written = decode(self._loaded, prompts, draw, LONGEST_SUMMARY)
        return list(self._loaded.tokenizer.batch_decode(written, skip_special_tokens=True))


Summarizer = ExtractiveSummarizer | CheckpointSummarizer


def prune(
    question: str,
    texts: Sequence[KnowledgeText],
    summarizer: Summarizer | None,
    most_words: int = 40,
) -> list[KnowledgeText]:
    """Return all texts, with `pruned` set where one was shortened.

    Texts that were dropped or have at most 120 characters are left as they are, and so are all
    texts if `summarizer` is None. A text without any words left is dropped as empty.
    """
    if summarizer is None:
        return list(texts)
    places = [n for n, t in enumerate(texts) if t.dropped is None and len(t.text) > SHORT]
    short = summarizer.shorten(question, [texts[n].text[:LONGEST] for n in places], most_words)
    pruned = list(texts)
    for place, words in zip(places, short, strict=True):
        words = " ".join(words.split())
        text = replace(texts[place], pruned=words)
        pruned[place] = text if any(map(str.isalnum, words)) else text.drop("empty")
    return pruned
