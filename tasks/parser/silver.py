"""Silver data: raw prose cut into sentences and labelled by the teacher, and its word vectors."""

import gzip
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from tasks.parser.sentences import Sentence, open_text
from tasks.parser.teacher import LAYERS, NAME_TAGS, Encoder, Labels, Teacher, batches, collate
from tasks.parser.trees import best_tree

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Token

log = logging.getLogger(__name__)
_STARTERS = {
    *("The", "A", "An", "He", "She", "It", "They", "We", "His", "Her", "Its", "Their", "In", "On"),
    *("At", "As", "After", "During", "This", "These", "That", "For", "From", "When", "While", "By"),
    *("However", "Although", "There", "Since", "Some", "Many"),
}
_LONGEST_SENTENCE = 90
_FACTBOOK_LINES = 5
_HEADING_SHARE = 0.2


def read_prose(data: Path, share: float) -> Iterator[tuple[str, list[str]]]:
    """Yield (title, paragraphs) of encyclopedic texts, with `share` of the biggest collection."""
    folder = data / "multihop"
    for title, parts in _json(folder / "hotpotqa_corpus.json.gz").items():
        yield title, ["".join(parts)]
    for item in _json(folder / "musique_corpus.json.gz"):
        yield item["title"], [item["text"]]
    wiki = _json(folder / "2wiki_corpus.json.gz")
    for item in wiki[: int(len(wiki) * share)]:
        yield item["title"], [item["text"]]
    for file in sorted((data / "factbook").rglob("*.md")):
        lines = [line for line in open_text(file) if len(line.split()) >= 12]
        yield (
            "",
            [line for line in lines if line[0].isalpha() and line[-1] == "."][:_FACTBOOK_LINES],
        )


def prose_sentences(data: Path, share: float, nlp: "Language", seed: int = 0) -> list[Sentence]:
    """Bare sentences of `read_prose`; some titles become headings above their text."""
    random = Random(seed)
    sentences: list[Sentence] = []
    for number, (title, paragraphs) in enumerate(read_prose(data, share)):
        document = f"prose-{number}"
        if title and random.random() < _HEADING_SHARE:
            words = tuple(t.text for t in nlp.make_doc(title) if not t.is_space)
            sentences.append(Sentence(document, words, (True,) * len(words), new_paragraph=True))
        for paragraph in paragraphs:
            sentences += cut_sentences(paragraph, document, nlp)
    return sentences


def _json(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def cut_sentences(text: str, document: str, nlp: "Language") -> Iterator[Sentence]:
    """Tokenise a paragraph and cut it into bare sentences at clear boundaries."""
    tokens = [t for t in nlp.make_doc(text) if not t.is_space]
    start, first = 0, True
    for i in range(len(tokens)):
        if i + 1 == len(tokens) or _ends_sentence(tokens, start, i):
            if i - start < _LONGEST_SENTENCE:
                part = tokens[start : i + 1]
                words = tuple(t.text for t in part)
                spaces = tuple(bool(t.whitespace_) for t in part)
                yield Sentence(document, words, spaces, new_paragraph=first)
            start, first = i + 1, False


def _ends_sentence(tokens: list["Token"], start: int, i: int) -> bool:
    mark, following = tokens[i], tokens[i + 1]
    closing = mark.text in {'"', "”", ")", "''"} and i > start
    last = tokens[i - 1] if closing else mark
    if following.text in {'"', "”", ")", "''", ",", ";", ":"} and not mark.whitespace_:
        return False
    depth = sum((t.text == "(") - (t.text == ")") for t in tokens[start : i + 1])
    if depth > 0:
        return False
    opens = following.text[0].isupper() or following.text[0].isdigit() or following.is_quote
    if last.text in {".", "?", "!", "..."}:
        return opens
    return last.text.endswith(".") and len(last) > 1 and following.text in _STARTERS


def label(
    model: Teacher,
    encode: Encoder,
    labels: Labels,
    sentences: list[Sentence],
    vectors: "WordVectors",
    pieces: int = 4000,
) -> list[Sentence]:
    """Fill every layer that a sentence lacks as the teacher would, and count its words' vectors."""
    items = encode(sentences)
    done: list[Sentence] = list(sentences)
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        for turn, group in enumerate(batches(items, pieces, None)):
            batch = collate([items[i] for i in group])
            scores = model(batch)
            names = model.names(scores["words"], 0).float().argmax(-1).numpy()
            layers = {n: scores[n].float().argmax(-1).numpy() for n in LAYERS}
            arcs = scores["heads"].double().numpy()
            trees = np.zeros(batch["mask"].shape, dtype=np.int64)
            for row, i in enumerate(group):
                n = len(sentences[i].words)
                trees[row, :n] = best_tree(arcs[row, :n, : n + 1])
            deps = model.relations(scores, torch.from_numpy(trees)).float().argmax(-1).numpy()
            states = scores["words"].float().numpy()
            for row, i in enumerate(group):
                n = len(sentences[i].words)
                numbers = {k: v[row, :n] for k, v in layers.items()} | {"deps": deps[row, :n]}
                done[i] = _complete(sentences[i], numbers, trees[row, :n], names[row, :n], labels)
                vectors.add(sentences[i].words, states[row, :n])
            if turn % 50 == 0:
                log.info("labelled batch %d", turn)
    return done


def _complete(
    sentence: Sentence,
    numbers: dict[str, NDArray[np.int64]],
    tree: NDArray[np.int64],
    names: NDArray[np.int64],
    labels: Labels,
) -> Sentence:
    given: dict[str, Any] = {}
    if sentence.heads is None:
        for layer, values in numbers.items():
            inventory = getattr(labels, layer)
            given[layer] = tuple(inventory[v] for v in values)
        given["heads"] = tuple(i if h == 0 else int(h) - 1 for i, h in enumerate(tree))
        given["deps"] = tuple(
            "ROOT" if h == 0 else ("dep" if d == "ROOT" else d)
            for h, d in zip(tree, given["deps"], strict=True)
        )
    if sentence.names is None:
        given["names"] = tuple(repair_names([NAME_TAGS[v] for v in names]))
    return replace(sentence, **given)


def repair_names(tags: list[str]) -> Iterator[str]:
    """Open a name wherever an inside tag follows nothing it could continue."""
    previous = "O"
    for tag in tags:
        if tag.startswith("I-") and previous[2:] != tag[2:]:
            tag = "B-" + tag[2:]
        yield tag
        previous = tag


class WordVectors:
    """Means of the teacher's contextual vectors by surface form."""

    def __init__(self, width: int = 384) -> None:
        """Start with no words."""
        self.counts: Counter[str] = Counter()
        self.rows: dict[str, int] = {}
        self.sums = np.zeros((1024, width), dtype=np.float32)

    def add(self, words: Iterable[str], states: NDArray[np.float32]) -> None:
        """Count one vector for each word."""
        for word, state in zip(words, states, strict=True):
            row = self.rows.setdefault(word, len(self.rows))
            if row == len(self.sums):
                self.sums = np.concatenate([self.sums, np.zeros_like(self.sums)])
            self.sums[row] += state
            self.counts[word] += 1

    def reduced(self, most: int, dimensions: int, least: int = 2) -> dict[str, NDArray[np.float32]]:
        """The `most` frequent forms with vectors cut to principal components of unit variance."""
        words = [w for w, c in self.counts.most_common(most) if c >= least]
        matrix = np.stack([self.sums[self.rows[w]] / self.counts[w] for w in words])
        matrix -= matrix.mean(0)
        _, _, directions = np.linalg.svd(matrix, full_matrices=False)
        small = matrix @ directions[:dimensions].T
        small = small / small.std()
        return dict(zip(words, small.astype(np.float32), strict=True))


def write_sentences(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences as gzipped JSON lines."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for sentence in sentences:
            file.write(json.dumps(asdict(sentence), ensure_ascii=False) + "\n")


def read_sentences(path: Path) -> list[Sentence]:
    """Read what `write_sentences` wrote."""
    found: list[Sentence] = []
    for line in open_text(path):
        raw = json.loads(line)
        found.append(
            Sentence(**{k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()})
        )
    return found
