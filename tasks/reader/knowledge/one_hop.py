"""Answers a question that names its topic: its records are looked up and read."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import fsum

from tasks.programs.relation_matching import PERSONAL_THRESHOLD, lexical_similarity
from tasks.reader.knowledge.corpus import CorpusKnowledge
from tasks.reader.knowledge.lookup import Lookup
from tasks.reader.knowledge.support import Candidate, Support
from tasks.reader.reading import WeightedQuestion, read, weigh
from tasks.reader.sentence import Sentence
from tasks.retrieval.linked_names import LinkedName
from tasks.retrieval.words import Name
from tasks.text.expected_answer import ExpectedAnswer, asking_word
from tasks.text.names import normalise_name
from tasks.text.question import FUNCTION_WORDS, Question, analyse
from tasks.text.stems import stem, stems_of, words_of

MOST_READ = 40  # records
MOST_BRIDGES = 12  # records whose names are also looked up, and names from them
MOST_RELATIONS = 12  # words and pairs of words of a question that may be relations
LONGEST_NOUN = 8  # words between the asking word and the verb

_KIND_BEFORE = re.compile(r"\bthe\s+([\w-]+)\s+(?:of\s+)?$", re.I)
_WORD = re.compile(r"[\w-]+|[,;:]")
_PARTICIPLE = re.compile(r"\w{3,}ed|born|known|made|written|led|won|sung|held|built")
_COPULA = frozenset({"is", "was", "are", "were", "the", "a", "an", "name", "of"})
_BETWEEN = frozenset({"and", "or", ","})


def answer_one_hop(question: Question, expected: ExpectedAnswer, lookup: Lookup) -> list[Candidate]:
    """Return candidates from the records of the question's names and words, best first."""
    knowledge = lookup.knowledge
    short = _without_kinds(question, knowledge)
    names = knowledge.names_in_question(short, question.text)
    records = _records(short, expected, names, lookup)
    expected = with_noun(short, expected, knowledge.class_words(records))
    weighted = weigh(short, expected, _with_coreferent(names, lookup), knowledge.rarity)
    return Support(weighted, lookup).candidates(read(weighted, records, knowledge))


def _records(
    question: Question, expected: ExpectedAnswer, names: Sequence[LinkedName], lookup: Lookup
) -> list[Sentence]:
    """Return the records that cover most of a question.

    They belong to the entities that it names or describes, and to entities named in those records.
    """
    knowledge = lookup.knowledge
    weighted = weigh(question, expected, names, knowledge.rarity)
    texts = [name.text for name in names]
    entities = lookup.entities([*texts, question.text, *(f"about {text}" for text in texts)])
    near = _best(weighted, lookup.records_of(entities), MOST_BRIDGES)
    entities += lookup.entities(_bridges(near, knowledge))
    others = {b.entity for n in _with_coreferent(names, lookup) for b in n.bearers}
    others -= {b.entity for n in names for b in n.bearers}
    entities += lookup.entities(knowledge.ref(node).name for node in others)
    meant = {normalise_name(name.text): {b.entity for b in name.bearers} for name in names}
    entities = [e for e in dict.fromkeys(entities) if _is_meant(int(e.key), e.name, meant)]
    records = [r for r in lookup.records_of(entities) if not _is_of_namesake(r, meant)]
    records += lookup.records_near(question, records)
    relations = _possible_relations(weighted, names)
    facts = lookup.related(texts, relations)
    records = [_with_synonyms(record, relations, facts) for record in records]
    return [lookup.with_aliases(record) for record in _best(weighted, records, MOST_READ)]


def _best(question: WeightedQuestion, records: Sequence[Sentence], most: int) -> list[Sentence]:
    terms = question.terms
    weighted = [  # summed exactly, so that equal records keep their order
        (fsum(terms[w] for w in record.stems | record.title_stems if w in terms), record)
        for record in records
    ]
    weighted.sort(key=lambda pair: -pair[0])
    return [record for weight, record in weighted[:most] if weight > 0]


def _bridges(records: Iterable[Sentence], knowledge: CorpusKnowledge) -> list[str]:
    names = (name for record in records for name in record.names)
    leading = (name.text for name in names if not knowledge.is_hub(name.bearers[0].entity))
    return list(dict.fromkeys(leading))[:MOST_BRIDGES]


# -- names in the question ------------------------------------------------------------------------


def _without_kinds(question: Question, knowledge: CorpusKnowledge) -> Question:
    """Return a question without kinds before its names, as in `the country of Georgia`."""
    text = question.text
    names = knowledge.names_in_question(question)
    for name in sorted(names, key=lambda name: -name.start):
        before = _KIND_BEFORE.search(text[: name.start])
        descriptions = (knowledge.description_of(bearer.entity) for bearer in name.bearers)
        if before and any(stem(before[1]) in words_of(words) for words in descriptions):
            text = text[: before.start()] + text[name.start :]
    return question if text == question.text else analyse(text)


def _with_coreferent(names: Sequence[LinkedName], lookup: Lookup) -> list[LinkedName]:
    coreferent, widened = lookup.coreferent(), []
    for name in names:
        known = {bearer.entity: bearer for bearer in name.bearers}
        nodes = [n for node in known for n in (node, *sorted(coreferent.get(node, ())))]
        bearers = [known.get(node, Name(node, 0.0)) for node in dict.fromkeys(nodes)]
        widened.append(replace(name, bearers=bearers))
    return widened


def _is_of_namesake(record: Sentence, meant: Mapping[str, set[int]]) -> bool:
    """Return whether a triple is about a namesake of what the question means."""
    if record.fact is None or record.fact.kind != "triple":
        return False
    return not all(_is_meant(name.bearers[0].entity, name.text, meant) for name in record.names)


def _is_meant(node: int, name: str, meant: Mapping[str, set[int]]) -> bool:
    """Return whether the question means this bearer of a name, or does not have the name."""
    return node in meant.get(normalise_name(name), {node})


# -- the expected kind and relation ---------------------------------------------------------------


def with_noun(
    question: Question, expected: ExpectedAnswer, class_words: Collection[str]
) -> ExpectedAnswer:
    """Return the expected answer with the noun that the question asks for, if it has one.

    `class_words` are the words for classes of things, so that the verb in `which recurring
    character makes` is not taken for the noun.
    """
    asking = asking_word(question.text)
    if expected.form != "name" or expected.noun or not asking:
        return expected
    if asking[1].lower() not in ("what", "which"):
        return expected
    nouns = [word for word in _noun_stems(question.text[asking.end() :]) if word in class_words]
    return replace(expected, noun=nouns[-1]) if nouns else expected


def _noun_stems(text: str) -> list[str]:
    """Return the stems of the words up to the first function word or participle."""
    words = _WORD.findall(text.lower())
    while words and words[0] in _COPULA:
        words.pop(0)
    stems: list[str] = []
    for word in words[:LONGEST_NOUN]:
        if word in _BETWEEN:
            continue
        if word in FUNCTION_WORDS or (stems and _PARTICIPLE.fullmatch(word)):
            break
        stems.append(stem(word))
    return stems


def _possible_relations(question: WeightedQuestion, names: Sequence[LinkedName]) -> list[str]:
    """Return the words of a question that may be relations, and adjacent pairs of them."""
    text = question.question.text
    spans = [
        (start, end)
        for start, end, word in stems_of(text)
        if word in question.terms
        and not any(name.start <= start and end <= name.end for name in names)
    ]
    words = [text[start:end] for start, end in spans]
    pairs = [text[a:d] for (a, b), (c, d) in pairwise(spans) if 0 <= c - b <= 1]
    return list(dict.fromkeys([*words, *pairs]))[:MOST_RELATIONS]


def _with_synonyms(record: Sentence, relations: Sequence[str], facts: frozenset[str]) -> Sentence:
    """Return a record with the asked relations as synonyms of its own: `作者` for `写下`.

    `facts` are the ids of the facts that a program found for the relations.
    """
    fact = record.fact
    if fact is None or fact.kind != "triple" or fact.fact_id not in facts:
        return record
    meant = [r for r in relations if lexical_similarity(r, fact.relation) >= PERSONAL_THRESHOLD]
    words = {word for relation in meant for _, _, word in stems_of(relation)} - record.stems
    if not words:
        return record
    at = max(record.text.find(fact.relation), 0)
    return replace(record, synonyms=[(at, at + len(fact.relation), word) for word in sorted(words)])
