"""Raw English prose for the teacher to label, cut into bare sentences by rule."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from recipes.english_pipeline.sentences import AnnotatedSentence, open_text

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Token

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


def prose_sentences(
    data: Path, share: float, nlp: "Language", seed: int = 0
) -> list[AnnotatedSentence]:
    """Bare sentences of `read_prose`; some titles become headings above their text."""
    random = Random(seed)
    sentences: list[AnnotatedSentence] = []
    for number, (title, paragraphs) in enumerate(read_prose(data, share)):
        document = f"prose-{number}"
        if title and random.random() < _HEADING_SHARE:
            words = tuple(t.text for t in nlp.make_doc(title) if not t.is_space)
            sentences.append(
                AnnotatedSentence(document, words, (True,) * len(words), new_paragraph=True)
            )
        for paragraph in paragraphs:
            sentences += cut_sentences(paragraph, document, nlp)
    return sentences


def _json(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def cut_sentences(text: str, document: str, nlp: "Language") -> Iterator[AnnotatedSentence]:
    """Tokenise a paragraph and cut it into bare sentences at clear boundaries."""
    tokens = [t for t in nlp.make_doc(text) if not t.is_space]
    start, first = 0, True
    for i in range(len(tokens)):
        if i + 1 == len(tokens) or _ends_sentence(tokens, start, i):
            if i - start < _LONGEST_SENTENCE:
                part = tokens[start : i + 1]
                words = tuple(t.text for t in part)
                spaces = tuple(bool(t.whitespace_) for t in part)
                yield AnnotatedSentence(document, words, spaces, new_paragraph=first)
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
