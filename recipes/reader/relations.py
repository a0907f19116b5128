"""Questions for the other end of a relation, from open data sets of relations.

A question for a relation that the data do not state of an entity has no answer. Relations of
Re-DocRED count only within a sentence, since a window may hold no more.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from recipes.reader.examples import Question
from recipes.relation_examples import (
    HELD_OUT,
    SYMMETRIC,
    Example,
    Label,
    conll04,
    meanings,
    redocred,
    spans_file,
)
from tasks.models.span_reader.relation_question import relation_question
from tasks.text.sentences import sentences

SETS = {"wiki80_en": "wiki80", "fewrel_val_wiki_en": "fewrel", "knowledgenet_en": "knowledgenet"}
MOST = 18_000  # questions of all sets
# Ontologies of Text2KGBench (Mihindukulasooriya et al. 2023) for training; others are for tests.
ONTOLOGIES = ("1_movie", "2_music", "3_sport", "4_book", "5_military", "6_computer")
UNSTATED = 0.6  # questions without an answer for each that has one


def relation_questions(data: Path, ontologies: Path | None, most: int = MOST) -> list[Question]:
    """Return the questions of all sets; `ontologies` is a set of Text2KGBench, if at hand."""
    drawn = random.Random(11)
    known = meanings(data)
    folder = data / "more" / "re"
    rows: list[Question] = []
    for name, universe in SETS.items():
        examples = list(spans_file(folder / f"{name}.jsonl.gz", universe))
        examples = [row for row in examples if not row.held_out]
        rows += _questions(examples, known, drawn)
    documents = [row for row in redocred(data) if not row.held_out]
    rows += _questions((part for row in documents for part in _sentences(row)), known, drawn)
    rows += _questions(conll04(data / "relations" / "conll04" / "train.txt.gz"), known, drawn)
    for name in ONTOLOGIES if ontologies else ():
        assert ontologies
        rows += _questions(_ontology(ontologies, name, known), known, drawn)
    rows = [row for row in rows if row.question[0].isupper() or row.question[0].isdigit()]
    return drawn.sample(rows, min(most, len(rows)))


def _questions(
    examples: Iterable[Example], known: dict[str, tuple[str, str]], drawn: random.Random
) -> Iterator[Question]:
    """Yield a question for each stated relation, and others that the text does not answer."""
    examples = list(examples)
    universe = sorted({label[2] for row in examples for label in row.labels if label[2] in known})
    for row in examples:
        answers = defaultdict(set)
        for head, tail, relation in row.labels:
            if relation in known:
                answers[head, relation].update(row.entities[tail])
        for (head, relation), spans in sorted(answers.items()):
            yield _question(row, head, known[relation], sorted(spans), drawn)
            if drawn.random() < UNSTATED:
                other = drawn.choice(universe)
                if (head, other) not in answers and other not in HELD_OUT:
                    yield _question(row, head, known[other], [], drawn)
        for _, tail, relation in row.labels:
            turned = (tail, relation) not in answers and relation not in SYMMETRIC
            if turned and relation in known and drawn.random() < UNSTATED / 2:
                yield _question(row, tail, known[relation], [], drawn)


def _question(
    row: Example,
    head: int,
    relation: tuple[str, str],
    spans: list[tuple[int, int]],
    drawn: random.Random,
) -> Question:
    start, end = max(row.entities[head], key=lambda span: span[1] - span[0])
    meaning = relation[1] if drawn.random() < 0.5 else ""
    question = relation_question(row.text[start:end], relation[0], meaning)
    return Question(row.universe, row.id, row.text, question, tuple(spans))


def _sentences(row: Example) -> Iterator[Example]:
    """Yield the sentences of a document with the entities and relations inside them."""
    for start, end in sentences(row.text):
        inside = [
            [(a - start, b - start) for a, b in mentions if start <= a and b <= end]
            for mentions in row.entities
        ]
        labels = [label for label in row.labels if inside[label[0]] and inside[label[1]]]
        if labels:
            yield Example(row.id, row.text[start:end], inside, labels, row.universe)


def _ontology(folder: Path, name: str, known: dict[str, tuple[str, str]]) -> Iterator[Example]:
    """Yield an ontology's training sentences, with the relations whose ends occur word for word."""
    described = json.loads((folder / "ontologies" / f"{name}_ontology.json").read_text("utf-8"))
    for relation in described["relations"]:
        known.setdefault(relation["pid"], (relation["label"], ""))
    lines = (folder / "train" / f"ont_{name}_train.jsonl").read_text("utf-8").splitlines()
    by_sentence = defaultdict(list)
    for line in lines:
        row = json.loads(line)
        by_sentence[row["sent"]].append(row)
    for text, rows in by_sentence.items():
        numbers: dict[str, int] = {}
        entities: list[list[tuple[int, int]]] = []
        labels: list[Label] = []
        for row in rows:
            places = [text.find(row[f"{end}_label"]) for end in ("sub", "obj")]
            if min(places) < 0:
                continue
            for end, place in zip(("sub", "obj"), places, strict=True):
                label = row[f"{end}_label"]
                if label not in numbers:
                    numbers[label] = len(entities)
                    entities.append([(place, place + len(label))])
            labels.append((numbers[row["sub_label"]], numbers[row["obj_label"]], row["rel"]))
        if labels:
            yield Example(f"{name}:{text}", text, entities, labels, name)
