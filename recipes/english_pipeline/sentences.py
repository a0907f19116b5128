"""Annotated sentences, read from CoNLL-U treebanks and from CoNLL name files."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

NAME_LABELS = ("PERSON", "LOC", "ORG", "MISC")
_NAME_MAP = {
    "PER": "PERSON", "PERSON": "PERSON", "PEOP": "PERSON",
    "LOC": "LOC", "LOCATION": "LOC",
    "ORG": "ORG", "CORPORATION": "ORG", "GROUP": "ORG",
    "MISC": "MISC", "OTHER": "MISC", "PRODUCT": "MISC", "CREATIVE-WORK": "MISC",
}  # fmt: skip
_WIKIGOLD_TRAINING_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class AnnotatedSentence:
    """One sentence with as much annotation as its source has (None = this layer is unknown).

    `heads` are indices inside the sentence (a root points at itself); `names` are BIO tags.
    """

    document: str
    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    new_paragraph: bool = False
    tags: tuple[str, ...] | None = None
    pos: tuple[str, ...] | None = None
    morphs: tuple[str, ...] | None = None
    lemmas: tuple[str, ...] | None = None
    heads: tuple[int, ...] | None = None
    deps: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None


def open_text(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, gzipped or not, without their line ends."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\r\n")


def read_treebank(path: Path) -> list[AnnotatedSentence]:
    """Read a CoNLL-U file: words, spacing, XPOS, UPOS, features, lemmas and basic dependencies."""
    sentences: list[AnnotatedSentence] = []
    document, new_paragraph = "", True
    rows: list[list[str]] = []
    for line in [*open_text(path), ""]:
        if line.startswith("#"):
            if line.startswith("# newdoc"):
                document = line.partition("=")[2].strip()
            new_paragraph |= line.startswith(("# newpar", "# newdoc"))
        elif line:
            rows.append(line.split("\t"))
        elif rows:
            sentences.append(_treebank_sentence(rows, document, new_paragraph))
            rows, new_paragraph = [], False
    return sentences


def _treebank_sentence(
    rows: list[list[str]], document: str, new_paragraph: bool
) -> AnnotatedSentence:
    glued: set[int] = set()
    words: list[list[str]] = []
    for row in rows:
        if "-" in row[0]:
            first, last = map(int, row[0].split("-"))
            glued.update(range(first, last))
            if "SpaceAfter=No" in row[9]:
                glued.add(last)
        elif "." not in row[0]:
            words.append(row)
            if "SpaceAfter=No" in row[9]:
                glued.add(int(row[0]))
    columns = list(zip(*words, strict=True))
    heads = tuple(int(h) - 1 if h != "0" else i for i, h in enumerate(columns[6]))
    return AnnotatedSentence(
        document=document,
        new_paragraph=new_paragraph,
        words=columns[1],
        spaces=tuple(int(i) not in glued for i in columns[0]),
        lemmas=columns[2],
        pos=columns[3],
        tags=columns[4],
        morphs=tuple("" if f == "_" else f for f in columns[5]),
        heads=heads,
        deps=tuple("ROOT" if d == "root" else d for d in columns[7]),
    )


def read_names(path: Path) -> list[AnnotatedSentence]:
    """Read a two-column name file (word, IO or BIO tag); `-DOCSTART-` lines separate documents.

    Spacing is restored by rule, since these files hold tokens only.
    """
    sentences: list[AnnotatedSentence] = []
    number, new_paragraph = 0, True

    def is_token(fields: list[str]) -> bool:
        return len(fields) >= 2 and fields[0] != "-DOCSTART-"

    for tokens, lines in groupby(map(str.split, open_text(path)), is_token):
        if tokens:
            pairs = [(fields[0], fields[-1]) for fields in lines]
            sentences.append(_name_sentence(f"{path.name}-{number}", pairs, new_paragraph))
            new_paragraph = False
        elif breaks := sum(map(bool, lines)):
            number, new_paragraph = number + breaks, True
    return sentences


def read_relation_names(path: Path) -> list[AnnotatedSentence]:
    """Read the name tags of CoNLL04 (columns: number, word, BIO tag, relations, heads)."""
    sentences: list[AnnotatedSentence] = []
    for comments, lines in groupby(open_text(path), lambda line: line.startswith("#")):
        if not comments:
            rows = [line.split("\t") for line in lines]
            document = f"{path.name}-{len(sentences)}"
            sentences.append(_name_sentence(document, [(row[1], row[2]) for row in rows], True))
    return sentences


def _name_sentence(
    document: str, pairs: list[tuple[str, str]], new_paragraph: bool
) -> AnnotatedSentence:
    """Return the sentence of some pairs of a word and its name tag."""
    words, tags = zip(*pairs, strict=True)
    spaces, names = restore_spaces(words), tuple(to_bio(tags))
    return AnnotatedSentence(document, words, spaces, new_paragraph, names=names)


def to_bio(tags: Iterable[str]) -> Iterator[str]:
    """Map any source's IO or BIO tags to BIO over PERSON, LOC, ORG and MISC."""
    previous = ""
    for tag in tags:
        mark, _, kind = tag.partition("-")
        label = _NAME_MAP.get(kind.upper(), "")
        if not label:
            yield "O"
        else:
            yield ("I-" if mark == "I" and previous == label else "B-") + label
        previous = label


_NO_SPACE_BEFORE = frozenset(".,;:!?)]}%'…") | {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "''"}
_NO_SPACE_AFTER = frozenset("([{$£€#") | {"``"}


def restore_spaces(words: Sequence[str]) -> tuple[bool, ...]:
    """Guess, for each token of a tokenised sentence, whether a space follows it."""
    spaces: list[bool] = []
    quote_open = False
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        if word == '"':
            quote_open = not quote_open
        closes = following == '"' and quote_open
        opens = word == '"' and quote_open
        spaces.append(
            not (following in _NO_SPACE_BEFORE or word in _NO_SPACE_AFTER or closes or opens)
        )
    return tuple(spaces)


def split_wikigold(
    sentences: list[AnnotatedSentence],
) -> tuple[list[AnnotatedSentence], list[AnnotatedSentence]]:
    """Split WikiGold by document: the first four fifths to train on, the last fifth to measure."""
    documents = list(dict.fromkeys(s.document for s in sentences))
    kept = set(documents[: int(len(documents) * _WIKIGOLD_TRAINING_SHARE)])
    training = [s for s in sentences if s.document in kept]
    return training, [s for s in sentences if s.document not in kept]


def rename_document(sentences: list[AnnotatedSentence], prefix: str) -> list[AnnotatedSentence]:
    """Give every sentence a document of its own (messages that do not belong together)."""
    return [replace(s, document=f"{prefix}-{i}") for i, s in enumerate(sentences)]


def write_sentences(path: Path, sentences: Iterable[AnnotatedSentence]) -> None:
    """Write sentences as gzipped JSON lines."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for sentence in sentences:
            file.write(json.dumps(asdict(sentence), ensure_ascii=False) + "\n")


def read_sentences(path: Path) -> list[AnnotatedSentence]:
    """Read what `write_sentences` wrote."""
    rows: list[dict[str, Any]] = [
        {name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(line).items()}
        for line in open_text(path)
    ]
    return [AnnotatedSentence(**row) for row in rows]
