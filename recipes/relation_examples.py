"""Texts with entities and the relations between them, from open data sets, in one form."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Span = tuple[int, int]  # characters
Label = tuple[int, int, str]  # head, tail (numbers of entities), relation

# Relations of data sets whose names are not those of Wikidata: its property, and whether the ends
# change places.
KNOWLEDGE_NET = {
    "employee or member of": ("P108", False), "place of residence": ("P551", False),
    "spouse": ("P26", False), "place of birth": ("P19", False), "child of": ("P40", True),
    "educated at": ("P69", False), "headquarters": ("P159", False),
    "date of birth": ("P569", False), "founded by": ("P112", False), "ceo": ("P169", False),
    "political affiliation": ("P102", False), "nationality": ("P27", False),
    "date of death": ("P570", False), "subsidiary of": ("P749", False),
    "date founded": ("P571", False),
}  # fmt: skip
CONLL04 = {
    "Work_For": ("P108", False), "Live_In": ("P551", False), "OrgBased_In": ("P159", False),
    "Located_In": ("P131", False), "Kill": ("P157", True),
}  # fmt: skip
KIND_OF_TYPE = {
    "PER": "person", "LOC": "place", "ORG": "organisation", "MISC": "other", "TIME": "date",
    "NUM": "number", "Peop": "person", "Loc": "place", "Org": "organisation", "Other": "other",
}  # fmt: skip
# Relations that nobody trains on, to measure how unseen ones are named.
HELD_OUT = ("P931", "P177", "P59", "P412", "P1435", "P466", "P105", "P2094", "P991", "P1408")
SYMMETRIC = {"P26", "P3373", "P460", "P190", "P47"}
_CLOSING = re.compile(r"[.,;:!?)\]%’]|'s$|n't$|'$")


@dataclass(slots=True)
class Example:
    """A text, its entities as lists of mentions, and the relations that `universe` states."""

    id: str
    text: str
    entities: list[list[Span]]
    labels: list[Label]
    universe: str
    held_out: bool = False
    kinds: list[str] = field(default_factory=list)


def joined(sentences: list[list[str]]) -> tuple[str, list[list[Span]]]:
    """Return tokens as running text, and where each of them stands."""
    text, spans, quoted, glued = "", [], False, True
    for words in sentences:
        row = []
        for word in words:
            closing = (word == '"' and quoted) or bool(_CLOSING.match(word))
            if not (glued or closing):
                text += " "
            quoted ^= word == '"'
            row.append((len(text), len(text) + len(word)))
            text += word
            glued = word in ("(", "[", "$") or (word == '"' and quoted)
        spans.append(row)
    return text, spans


def is_measured(title: str) -> bool:
    """Whether a document is kept for measuring: a third, by the hash of its title."""
    return hashlib.sha1(title.encode()).digest()[0] % 3 == 0


def redocred(data: Path) -> Iterator[Example]:
    """Yield the documents of Re-DocRED's development part."""
    packed = (data / "relations" / "redocred" / "dev_revised.json.gz").read_bytes()
    for document in json.loads(gzip.decompress(packed)):
        text, spans = joined(document["sents"])
        entities = [
            [
                (spans[m["sent_id"]][m["pos"][0]][0], spans[m["sent_id"]][m["pos"][1] - 1][1])
                for m in mentions
            ]
            for mentions in document["vertexSet"]
        ]
        labels = sorted({(label["h"], label["t"], label["r"]) for label in document["labels"]})
        title = document["title"]
        kinds = [KIND_OF_TYPE[mentions[0]["type"]] for mentions in document["vertexSet"]]
        yield Example(
            f"redocred:{title}", text, entities, labels, "redocred", is_measured(title), kinds
        )


def conll04(path: Path) -> Iterator[Example]:
    """Yield the sentences of CoNLL04, of news."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as stream:
        for part in stream.read().split("#doc ")[1:]:
            number, *lines = part.strip().split("\n")
            rows = [line.split("\t") for line in lines if line.count("\t") == 4]
            text, [spans] = joined([[row[1] for row in rows]])
            entities: list[list[Span]] = []
            kinds: list[str] = []
            last_of: dict[int, int] = {}
            for place, row in enumerate(rows):
                if row[2].startswith("B-"):
                    entities.append([spans[place]])
                    kinds.append(KIND_OF_TYPE[row[2][2:]])
                elif row[2].startswith("I-") and entities:
                    entities[-1][0] = (entities[-1][0][0], spans[place][1])
                if row[2] != "O":
                    last_of[place] = len(entities) - 1
            labels: list[Label] = []
            for place, row in enumerate(rows):
                names, ends = re.findall(r"'(\w+)'", row[3]), re.findall(r"\d+", row[4])
                for name, end in zip(names, ends, strict=False):
                    if name in CONLL04 and place in last_of and int(end) in last_of:
                        relation, swapped = CONLL04[name]
                        head, tail = last_of[place], last_of[int(end)]
                        labels.append((tail, head, relation) if swapped else (head, tail, relation))
            if len(entities) > 1:
                yield Example(f"conll04:{number}", text, entities, labels, "conll04", kinds=kinds)


def spans_file(path: Path, universe: str) -> Iterator[Example]:
    """Yield the texts of a file whose relations carry the spans of their ends."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            numbers: dict[Span, int] = {}
            labels = []
            for relation in row["relations"]:
                head, tail = (
                    numbers.setdefault(
                        (relation[f"{end}_start"], relation[f"{end}_end"]), len(numbers)
                    )
                    for end in ("head", "tail")
                )
                property_id, swapped = _property(universe, relation)
                labels.append((tail, head, property_id) if swapped else (head, tail, property_id))
            if labels:
                entities = [[span] for span in numbers]
                held_out = any(label[2] in HELD_OUT for label in labels)
                yield Example(row["id"], row["text"], entities, labels, universe, held_out)


def _property(universe: str, relation: dict[str, Any]) -> tuple[str, bool]:
    if universe == "knowledgenet":
        return KNOWLEDGE_NET[relation["relation"]]
    return relation["relation_id"], False


def meanings(data: Path) -> dict[str, tuple[str, str]]:
    """Return name and description of every relation by its id."""
    folder = data / "more" / "re"
    known = json.loads((folder / "wikidata_pid2name_fewrel.json").read_text("utf-8"))
    names = {key: (row[0], row[1]) for key, row in known.items() if row[0]}
    for key, name in json.loads((folder / "docred_rel_info.json").read_text("utf-8")).items():
        names.setdefault(key, (name, ""))
    return names
