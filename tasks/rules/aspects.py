"""Entity-aspect notes: what triples and descriptions leave out, in whole sentences.

Sentences are taken where they hold the most words not yet said, up to a share of the passage;
neighbours about one entity make one note of at most three sentences. A heading names the aspect,
otherwise what the sentences are mostly about does.
"""

from collections import Counter
from dataclasses import dataclass

from tasks.rules.clauses import SUBJECTS
from tasks.rules.passage import Passage
from tasks.rules.topics import topic_of_lemma

MOST_SENTENCES = 3
LARGEST_SHARE = 0.6
CONTENT = frozenset(["NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV"])
NEW_WORDS = 2


@dataclass(frozen=True, slots=True)
class Note:
    """A stretch of sentences about one side of an entity, with the question it answers."""

    entity: str
    kind: str
    aspect: str
    question: str
    first: int
    last: int
    confidence: float


def find_notes(passage: Passage, said: set[str]) -> list[Note]:
    """Return notes on what is not among the words `said` (lower case), in order."""
    groups: list[tuple[str, list[int]]] = []
    for number in _choose(passage, said):
        entity = _entity(passage, number)
        if groups and _joins(groups[-1], entity, number):
            groups[-1][1].append(number)
        else:
            groups.append((entity, [number]))
    return [_note(passage, entity, group) for entity, group in groups if entity]


def _joins(group: tuple[str, list[int]], entity: str, number: int) -> bool:
    owner, numbers = group
    return entity == owner and number == numbers[-1] + 1 and len(numbers) < MOST_SENTENCES


def _choose(passage: Passage, said: set[str]) -> list[int]:
    """Return the sentences with the most unsaid words for their length, within the budget."""
    budget = LARGEST_SHARE * len(passage.tree.text.split())
    fresh = [_fresh_words(passage, number, said) for number in range(len(passage.tree.sentences))]
    lengths = [_word_count(passage, number) for number in range(len(fresh))]
    chosen: list[int] = []
    covered: set[str] = set()
    while True:
        gains = [
            (len(words - covered) / (length + 3), -number)
            for number, (words, length) in enumerate(zip(fresh, lengths, strict=True))
            if number not in chosen and length <= budget and len(words - covered) >= NEW_WORDS
        ]
        if not gains:
            return sorted(chosen)
        best = -max(gains)[1]
        budget -= lengths[best]
        covered |= fresh[best]
        chosen.append(best)


def _fresh_words(passage: Passage, number: int, said: set[str]) -> set[str]:
    tree = passage.tree
    start, end = tree.sentences[number]
    words = {
        tree.lower[t]: tree.lemma[t].lower() for t in range(start, end) if tree.pos[t] in CONTENT
    }
    return {lemma for word, lemma in words.items() if word not in said and lemma not in said}


def _word_count(passage: Passage, number: int) -> int:
    tree = passage.tree
    start, end = tree.sentences[number]
    return len(tree.text[tree.start[start] : tree.end[end - 1]].split())


def _entity(passage: Passage, number: int) -> str:
    """Return what a sentence is about: the title under a heading, else its subject's name."""
    tree = passage.tree
    if passage.title and passage.piece["headings"]:
        return passage.title
    start, end = tree.sentences[number]
    for token in range(start, end):
        if tree.dep[token] in SUBJECTS and tree.dep[tree.head[token]] == "ROOT":
            name = passage.entities.get(token)
            if name is not None:
                return name.name
            if token in passage.referents:
                return passage.referents[token]
    if passage.title:
        return passage.title
    named = [passage.entities[t].name for t in range(start, end) if t in passage.entities]
    return named[0] if named else ""


def _note(passage: Passage, entity: str, group: list[int]) -> Note:
    tree = passage.tree
    first, last = tree.sentences[group[0]][0], tree.sentences[group[-1]][1]
    heading = passage.piece["headings"].rsplit(" > ", 1)[-1].strip()
    aspect = heading or _topic(passage, entity, first, last)
    lowered = aspect if any(c.isupper() for c in aspect[1:]) else aspect.lower()
    question = question_of(lowered, entity, article=not heading and aspect != "history")
    confidence = 0.85 if heading else 0.7
    return Note(entity, passage.kind(entity), lowered, question, first, last, confidence)


def question_of(aspect: str, entity: str, *, article: bool) -> str:
    """Return the question that a note on an aspect answers."""
    return f"What is known about {'the ' if article else ''}{aspect} of {entity}?"


def _topic(passage: Passage, entity: str, first: int, last: int) -> str:
    """Return the side that verbs and nouns speak for, else the most telling noun."""
    tree = passage.tree
    votes: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    own = {word.lower() for word in entity.split()}
    for token in range(first, last):
        lemma = tree.lemma[token].lower()
        topic = topic_of_lemma(lemma)
        if topic:
            votes[topic] += 1
        common = tree.pos[token] == "NOUN" and tree.words[token].islower()
        if common and lemma not in own and token not in passage.entities:
            closeness = 2 if tree.dep[token] in (*SUBJECTS, "obj", "ROOT") else 1
            nouns[lemma] += closeness
    if votes:
        return votes.most_common(1)[0][0]
    return nouns.most_common(1)[0][0] if nouns else "description"
