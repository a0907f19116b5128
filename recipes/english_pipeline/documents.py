"""Training documents: several sentences joined into one spaCy Doc, with light augmentation."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING, Any

from recipes.english_pipeline.sentences import AnnotatedSentence

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_QUOTE_STYLES = (("“", "”"), ('"', '"'), ("``", "''"), ("‘", "’"), ("«", "»"))
_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-"}
_ALONE = 0.4
_DASHES = ("-", "--", "–", "—")
_LAYERS = ("tags", "pos", "morphs", "lemmas", "deps", "names")


def group_sentences(
    sentences: list[AnnotatedSentence], random: Random, most: int = 5
) -> list[list[AnnotatedSentence]]:
    """Cut every document into runs of 1 to `most` consecutive sentences; many stand alone."""
    groups: list[list[AnnotatedSentence]] = []
    for _, members in groupby(sentences, key=lambda s: s.document):
        rest = list(members)
        while rest:
            size = 1 if random.random() < _ALONE else random.randint(2, most)
            groups.append(rest[:size])
            rest = rest[size:]
    return groups


def augment(sentence: AnnotatedSentence, random: Random) -> AnnotatedSentence:
    """Vary quotes, brackets, dashes, case and the last full stop of some sentences."""
    if random.random() < 0.25:
        sentence = _restyle_marks(sentence, random)
    draw = random.random()
    if draw < 0.03:
        sentence = replace(sentence, words=tuple(w.lower() for w in sentence.words))
    elif draw < 0.04:
        sentence = replace(sentence, words=tuple(w.upper() for w in sentence.words))
    if random.random() < 0.03:
        sentence = drop_final_stop(sentence)
    return sentence


def _restyle_marks(sentence: AnnotatedSentence, random: Random) -> AnnotatedSentence:
    opening, closing = random.choice(_QUOTE_STYLES)
    tokenised = opening == "``"
    dash = random.choice(_DASHES)
    words: list[str] = []
    inside = False
    for word in sentence.words:
        if word in {'"', "“", "”", "``", "''"}:
            word = closing if inside else opening
            inside = not inside
        elif word in {"--", "–", "—"}:
            word = dash
        elif tokenised:
            word = _BRACKETS.get(word, word)
        words.append(word)
    spaces = (True,) * len(words) if tokenised else sentence.spaces
    return replace(sentence, words=tuple(words), spaces=spaces)


def drop_final_stop(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """Remove a sentence-final full stop, as headings and captions do."""
    last = len(sentence.words) - 1
    if last < 2 or sentence.words[last] != ".":
        return sentence
    if sentence.heads is not None and last in sentence.heads:
        return sentence
    layers = {n: v[:last] for n in _LAYERS if (v := getattr(sentence, n)) is not None}
    heads = sentence.heads[:last] if sentence.heads is not None else None
    spaces = (*sentence.spaces[: last - 1], True)
    return replace(sentence, words=sentence.words[:last], spaces=spaces, heads=heads, **layers)


def join(sentences: list[AnnotatedSentence], vocab: "Vocab", breaks: Random | None = None) -> "Doc":
    """Join sentences that have the same layers of annotation into one Doc.

    With `breaks`, a sentence that opens a paragraph is often preceded by a line-break token, as in
    text read from files.
    """
    from spacy.tokens import Doc

    first = sentences[0]
    known = [n for n in _LAYERS if getattr(first, n) is not None]
    words: list[str] = []
    spaces: list[bool] = []
    heads: list[int] = []
    starts: list[bool] = []
    layers: dict[str, list[str]] = {n: [] for n in known}
    for sentence in sentences:
        if breaks is not None and words and sentence.new_paragraph and breaks.random() < 0.6:
            spaces[-1] = False
            words.append(breaks.choice(("\n", "\n\n", "\n\n")))
            spaces.append(False)
            starts.append(False)
            heads.append(len(words) - 2)
            for name in known:
                layers[name].append(_line_break(name, words[-1]))
        offset = len(words)
        words.extend(sentence.words)
        spaces.extend(sentence.spaces)
        starts.extend(i == 0 for i in range(len(sentence.words)))
        if sentence.heads is not None:
            heads.extend(h + offset for h in sentence.heads)
        for name in known:
            layers[name].extend(getattr(sentence, name))
    given: dict[str, Any] = {{"names": "ents"}.get(n, n): v for n, v in layers.items()}
    given |= {"sent_starts": starts} if first.heads is None else {"heads": heads}
    return Doc(vocab, words=words, spaces=spaces, **given)


def _line_break(layer: str, text: str) -> str:
    values = {"tags": "_SP", "pos": "SPACE", "morphs": "", "lemmas": text, "deps": "dep"}
    return values.get(layer, "O")


def training_documents(
    sentences: list[AnnotatedSentence], vocab: "Vocab", random: Random
) -> Iterator["Doc"]:
    """Yield one epoch of augmented documents in random order."""
    groups = group_sentences(sentences, random)
    random.shuffle(groups)
    for group in groups:
        yield join([augment(s, random) for s in group], vocab, breaks=random)
